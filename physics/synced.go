package physics

import (
	"math"

	"github.com/evertick/evertick/internal/stagger"
	"github.com/evertick/evertick/native/rigid"
)

// syncedPoses is what Sync has written last to the columns of the entities, an element per
// body.
type syncedPoses struct{ rigid.Written }

func newSyncedPoses(capacity int) syncedPoses {
	var s syncedPoses
	step := stagger.Stride(4 * capacity)
	arena := stagger.Bytes(step*len(s.columns()), len(new(Columns).floatColumns())+workColumns)
	for i, c := range s.columns() {
		*c = stagger.View[float32](arena[i*step : i*step+4*capacity])
	}
	for i := range s.X {
		s.X[i] = floatNaN
	}
	return s
}

var floatNaN = float32(math.NaN())

func (s *syncedPoses) columns() [4]*[]float32 {
	return [...]*[]float32{&s.X, &s.Y, &s.HalfSin, &s.HalfCos}
}

func (s *syncedPoses) clear(i int) { s.X[i], s.Y[i], s.HalfSin[i], s.HalfCos[i] = floatNaN, 0, 0, 0 }

func (s *syncedPoses) put(i int, x, y, sin, cos float32) {
	s.X[i], s.Y[i], s.HalfSin[i], s.HalfCos[i] = x, y, sin, cos
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

// rebuild looks at all slots anew.
func (u *slotUse) rebuild(slots []uint32) {
	u.shared = false
	clear(u.used)
	for _, slot := range slots {
		u.add(slot)
	}
}
