package physics

import (
	"math/bits"

	"github.com/evertick/evertick/internal/fault"
)

// MoveSlots is for programs that move the rows of their entities, as ecs.World.Reorder does: a body that drives row s
// drives row to[s] from now on. It drives none if to[s] is NoSlot, or if to has no element s. TakeTeleported returns the
// new slots. The program moves the rows of the Transforms, with what Sync has written there, in the same way before the
// next Sync or Pull.
//
// If a body would drive a slot that CreateBody refuses, MoveSlots returns ErrRange, which names the index in to, and changes
// nothing. It allocates nothing once slots as high were in use.
func (w *World) MoveSlots(to []uint32) error {
	if w.failed != nil {
		return w.failed
	}
	slots := w.cols.Slot[:w.Rows()]
	for _, slot := range slots {
		if s := moved(slot, to); w.slotOutOfRange(s) {
			return fault.Element(ErrRange, "physics: MoveSlots to", int(slot), s)
		}
	}
	for i, slot := range slots {
		if slots[i] = moved(slot, to); slots[i] == NoSlot && slot != NoSlot {
			w.lastSync.clear(i)
		}
	}
	w.slots.rebuild(slots)
	w.moveTeleports(to)
	return nil
}

// moved returns the new slot of what had a slot.
func moved(slot uint32, to []uint32) uint32 {
	if uint64(slot) >= uint64(len(to)) {
		return NoSlot
	}
	return to[slot]
}

func (w *World) moveTeleports(to []uint32) {
	if !w.teleported {
		return
	}
	w.teleports, w.movedTeleports = w.movedTeleports, w.teleports
	w.forgetTeleports()
	for i, word := range w.movedTeleports {
		for ; word != 0; word &= word - 1 {
			w.markTeleportedSlot(moved(uint32(i<<6|bits.TrailingZeros64(word)), to))
		}
	}
}
