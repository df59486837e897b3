package physics3

import (
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/handle"
)

// MoveSlots is for programs that move the rows of their entities, as ecs.World.Reorder does: a body that drives row s
// drives row to[s] from now on. It drives none if to[s] is NoSlot, or if to has no element s. TakeTeleported returns the
// new slots. The program moves the rows of the Transforms, with what Sync has written there, in the same way before the
// next Sync or Pull.
//
// If a body would drive a slot that CreateBody refuses, MoveSlots returns ErrRange, which names the index in to, and changes
// nothing. It allocates nothing once slots as high were in use.
func (w *World) MoveSlots(to []uint32) error {
	slots := w.cols.Slot[:w.Rows()]
	for _, slot := range slots {
		if s := handle.MovedSlot(slot, to); w.slotOutOfRange(s) {
			return fault.Element(ErrRange, "physics3: MoveSlots to", int(slot), s)
		}
	}
	for i, slot := range slots {
		if slots[i] = handle.MovedSlot(slot, to); slots[i] == NoSlot && slot != NoSlot {
			w.lastSync.clear(i)
		}
	}
	w.slots.Rebuild(slots)
	w.teleports.Move(to)
	return nil
}
