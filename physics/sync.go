package physics

import (
	"fmt"
	"iter"
	"math"

	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/internal/stagger"
)

// Transforms are the columns to which Sync writes: position and rotation of the entities, one
// slice per component, all of one length, indexed by BodyDef.Slot. The columns
// of package ecs fit, and so does any other set of slices.
type Transforms struct {
	X, Y, Z        []float32
	QX, QY, QZ, QW []float32
}

// Sync writes the position and the rotation of every body that has a Slot. Of the position it writes the two axes of
// the plane; the third axis belongs to the entity. The rotation is the unit quaternion with QW >= 0 that turns about
// +Z by the angle (XY), or about +Y by minus the angle (XZ). If two bodies drive one slot, the one with the higher
// index wins. For a slot outside the slices Sync returns ErrRange, which names the index of the body and the slot,
// and writes nothing. Sync allocates nothing; it panics if the slices differ in length.
func (w *World) Sync(t Transforms) error {
	n, ok := t.length()
	if !ok {
		panic("physics: Sync: slices of unequal length")
	}
	if w.failed != nil {
		return w.failed
	}
	slots := w.cols.Slot[:w.Rows()]
	if err := checkSlots("physics: Sync", slots, n); err != nil {
		return err
	}
	e, c := w.entities(&t), &w.cols
	rows := len(slots)
	o := rigid.Origins{X: c.X, Y: c.Y}
	e.Write(w.config.Level, &o, &rigid.Poses{Cos: c.Cos, Sin: c.Sin}, slots, &w.lastSync.Written, 0, rows)
	if w.slots.Shared {
		w.forgetOverwritten(&e, slots)
	}
	return nil
}

// entities returns the columns of t in the order of the plane.
func (w *World) entities(t *Transforms) rigid.Entities {
	if w.config.Plane == XZ {
		return rigid.Entities{X: t.X, Y: t.Z, QuatAxis: t.QY, QuatW: t.QW, QuatZero: [2][]float32{t.QX, t.QZ}, Flip: true}
	}
	return rigid.Entities{X: t.X, Y: t.Y, QuatAxis: t.QZ, QuatW: t.QW, QuatZero: [2][]float32{t.QX, t.QY}}
}

// forgetOverwritten clears lastSync of bodies whose slot another body has overwritten, so
// that Pull does not teleport them there.
func (w *World) forgetOverwritten(e *rigid.Entities, slots []uint32) {
	for i := range w.changedEntities(e, slots) {
		w.lastSync.clear(i)
	}
}

// changedEntities yields the bodies whose entities differ from what Sync has written last.
func (w *World) changedEntities(e *rigid.Entities, slots []uint32) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := 0; ; i++ {
			i = e.FirstChanged(w.config.Level, slots, &w.lastSync.Written, i, len(slots))
			if i == len(slots) || !yield(i) {
				return
			}
		}
	}
}

// length returns the length of the slices, and false if their lengths differ.
func (t *Transforms) length() (int, bool) {
	n := len(t.X)
	return n, len(t.Y) == n && len(t.Z) == n &&
		len(t.QX) == n && len(t.QY) == n && len(t.QZ) == n && len(t.QW) == n
}

func checkSlots(method string, slots []uint32, n int) error {
	if i := rigid.FirstOutOfRange(slots, n); i < len(slots) {
		return fmt.Errorf("%s: body %d drives slot %d, the slices have %d: %w", method, i, slots[i], n, ErrRange)
	}
	return nil
}

// syncedPoses holds what Sync has written last to the columns of the entities, one element per
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

// markTeleported records that a body was created or teleported.
func (w *World) markTeleported(i int) { w.teleports.Add(w.cols.Slot[i]) }

// TakeTeleported appends the slots of the bodies that were created or teleported by SetTransform, directly or by
// Commands, since its last call, in ascending order, and clears the list. A program that draws between two steps must
// not interpolate these. Slots from 1<<24 on are left out. Restore and CopyFrom clear the list, too. It is not part
// of the state.
func (w *World) TakeTeleported(dst []uint32) []uint32 { return w.teleports.Take(dst) }
