package physics

import "math/bits"

// markTeleported takes note that a body was put where it is.
func (w *World) markTeleported(i int) {
	slot := w.cols.Slot[i]
	if slot >= maxSlot {
		return
	}
	for int(slot/64) >= len(w.teleports) {
		w.teleports = append(w.teleports, 0)
	}
	w.teleports.add(int(slot))
	w.teleported = true
}

// TakeTeleported appends the slots of the bodies that were created, or that SetTransform has
// put elsewhere, directly or by Commands, since it was called last, ascending, and forgets
// them: who draws between two steps does not draw these on their way. Slots from 1<<24 on are left out. Restore and
// CopyFrom forget them too. They are no state.
func (w *World) TakeTeleported(dst []uint32) []uint32 {
	if !w.teleported {
		return dst
	}
	for i, word := range w.teleports {
		for ; word != 0; word &= word - 1 {
			dst = append(dst, uint32(i<<6|bits.TrailingZeros64(word)))
		}
	}
	w.forgetTeleports()
	return dst
}

func (w *World) forgetTeleports() {
	clear(w.teleports)
	w.teleported = false
}
