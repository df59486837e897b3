package physics

import (
	"fmt"
	"iter"

	"github.com/evertick/evertick/native/rigid"
)

// Transforms is where Sync writes: position and rotation of the entities, one
// slice per component, all of one length, indexed by BodyDef.Slot. The columns
// of package ecs fit, as does any other set of slices.
type Transforms struct {
	X, Y, Z        []float32
	QX, QY, QZ, QW []float32
}

// Sync writes the position and the rotation of every body that has a Slot.
// Position: the two axes of the plane; the third, which is the entity's own, is left alone. Rotation: the
// unit quaternion with QW >= 0 that turns about +Z by the angle (XY), or about
// +Y by minus the angle (XZ). If two bodies drive one slot, the one with the
// higher index wins. A slot outside the slices is ErrRange, naming the body's
// index and the slot, and nothing is written. Sync allocates nothing; it panics
// if the slices differ in length.
func (w *World) Sync(t Transforms) error {
	n, ok := t.rows()
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
	if w.slots.shared {
		w.forgetOverwritten(&e, slots)
	}
	return nil
}

// entities are the columns of t as the plane has them.
func (w *World) entities(t *Transforms) rigid.Entities {
	if w.config.Plane == XZ {
		return rigid.Entities{X: t.X, Y: t.Z, QuatAxis: t.QY, QuatW: t.QW, QuatZero: [2][]float32{t.QX, t.QZ}, Flip: true}
	}
	return rigid.Entities{X: t.X, Y: t.Y, QuatAxis: t.QZ, QuatW: t.QW, QuatZero: [2][]float32{t.QX, t.QY}}
}

// forgetOverwritten takes note that bodies were overwritten by others with the same slot, so
// that Pull does not put them where those are.
func (w *World) forgetOverwritten(e *rigid.Entities, slots []uint32) {
	for i := range w.changedEntities(e, slots) {
		w.lastSync.clear(i)
	}
}

// changedEntities are the bodies whose entities are not where Sync has put them.
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

// rows returns the length of the slices, and false if they differ in it.
func (t *Transforms) rows() (int, bool) {
	n := len(t.X)
	return n, len(t.Y) == n && len(t.Z) == n &&
		len(t.QX) == n && len(t.QY) == n && len(t.QZ) == n && len(t.QW) == n
}

func checkSlots(who string, slots []uint32, n int) error {
	if i := rigid.FirstOutOfRange(slots, n); i < len(slots) {
		return fmt.Errorf("%s: body %d drives slot %d, the slices have %d: %w", who, i, slots[i], n, ErrRange)
	}
	return nil
}
