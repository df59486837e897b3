package physics

import "math"

// synced is what Sync has written last to the columns of the entities, an element per
// body: the position, and the components of the quaternion that are not zero. X is NaN
// where it has written nothing yet.
type synced struct {
	x, y, sin, cos []float32
}

func newSynced(capacity int) synced {
	f := func() []float32 { return make([]float32, capacity) }
	s := synced{f(), f(), f(), f()}
	for i := range s.x {
		s.x[i] = never
	}
	return s
}

var never = float32(math.NaN())

func (s *synced) columns() [4]*[]float32 { return [...]*[]float32{&s.x, &s.y, &s.sin, &s.cos} }

func (s *synced) clear(i int) { s.x[i], s.y[i], s.sin[i], s.cos[i] = never, 0, 0, 0 }

func (s *synced) put(i int, x, y, sin, cos float32) {
	s.x[i], s.y[i], s.sin[i], s.cos[i] = x, y, sin, cos
}

// slotUse knows whether two bodies drive one slot.
type slotUse struct {
	used   bitset
	shared bool // may be true without need, but not false
}

// maxSlot is the first slot that is not looked after: with one of those they count as
// shared.
const maxSlot = 1 << 24

func (u *slotUse) add(slot uint32) {
	if slot == NoSlot || u.shared {
		return
	}
	if slot >= maxSlot {
		u.shared = true
		return
	}
	for int(slot/64) >= len(u.used) {
		u.used = append(u.used, 0)
	}
	u.shared = u.used.has(int(slot))
	u.used.add(int(slot))
}

func (u *slotUse) remove(slot uint32) {
	if !u.shared && int(slot/64) < len(u.used) {
		u.used[slot/64] &^= 1 << (slot % 64)
	}
}

// of looks at all slots anew.
func (u *slotUse) of(slots []uint32) {
	u.shared = false
	clear(u.used)
	for _, slot := range slots {
		u.add(slot)
	}
}
