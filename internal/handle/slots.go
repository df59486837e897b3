package handle

import (
	"math/bits"

	"github.com/evertick/evertick/internal/bitset"
)

// MaxSlot is the first slot that Slots and SlotSet do not track.
const MaxSlot = 1 << 24

// Slots tracks whether two bodies drive one slot: the row of an entity. A body that drives none has the slot None.
type Slots struct {
	Shared bool // may be true without such a slot, but never false with one; true if a body has a slot from MaxSlot on

	used bitset.Set
}

// Add adds the slot of a new body.
func (u *Slots) Add(slot uint32) {
	if slot == None || u.Shared {
		return
	}
	if slot >= MaxSlot {
		u.Shared = true
		return
	}
	for uint(slot/64) >= uint(len(u.used)) {
		u.used = append(u.used, 0)
	}
	u.Shared = u.used.Has(int(slot))
	u.used.Add(int(slot))
}

// Remove removes the slot of a destroyed body.
func (u *Slots) Remove(slot uint32) {
	if !u.Shared && uint(slot/64) < uint(len(u.used)) {
		u.used.Remove(int(slot))
	}
}

// Rebuild counts all slots again.
func (u *Slots) Rebuild(slots []uint32) {
	u.Shared = false
	clear(u.used)
	for _, slot := range slots {
		u.Add(slot)
	}
}

// MovedSlot returns the new slot of what had a slot, when row s of the entities moves to row to[s].
func MovedSlot(slot uint32, to []uint32) uint32 {
	if uint64(slot) >= uint64(len(to)) {
		return None
	}
	return to[slot]
}

// SlotSet is a set of slots, such as those of bodies that were teleported.
type SlotSet struct {
	slots, scratch bitset.Set
	any            bool
}

// Add adds a slot below MaxSlot.
func (s *SlotSet) Add(slot uint32) {
	if slot >= MaxSlot {
		return
	}
	for uint(slot/64) >= uint(len(s.slots)) {
		s.slots = append(s.slots, 0)
	}
	s.slots.Add(int(slot))
	s.any = true
}

// Clear removes all slots.
func (s *SlotSet) Clear() {
	clear(s.slots)
	s.any = false
}

// Take appends the slots in ascending order, and removes them.
func (s *SlotSet) Take(dst []uint32) []uint32 {
	if s.any {
		for i, word := range s.slots {
			for ; word != 0; word &= word - 1 {
				dst = append(dst, uint32(i<<6|bits.TrailingZeros64(word)))
			}
		}
		s.Clear()
	}
	return dst
}

// Move replaces each slot as MovedSlot does.
func (s *SlotSet) Move(to []uint32) {
	if !s.any {
		return
	}
	s.slots, s.scratch = s.scratch, s.slots
	s.Clear()
	for i, word := range s.scratch {
		for ; word != 0; word &= word - 1 {
			s.Add(MovedSlot(uint32(i<<6|bits.TrailingZeros64(word)), to))
		}
	}
}
