package physics3

import (
	"fmt"
	"iter"
	"math"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/stagger"
)

// Transforms are the columns to which Sync writes: position and rotation of the entities, one slice per component, all of one length, indexed by
// BodyDef.Slot. The columns of package ecs fit, and so does any other set of slices.
type Transforms struct {
	X, Y, Z        []float32
	QX, QY, QZ, QW []float32
}

// syncedColumns is the number of columns of Transforms.
const syncedColumns = 7

func (t *Transforms) columns() [syncedColumns][]float32 {
	return [...][]float32{t.X, t.Y, t.Z, t.QX, t.QY, t.QZ, t.QW}
}

var transformNames = [syncedColumns]string{"X", "Y", "Z", "QX", "QY", "QZ", "QW"}

// Sync writes the position and the rotation of every body that has a Slot. If two bodies drive one slot, the one with the higher index wins. For a
// slot outside the slices Sync returns ErrRange, which names the index of the body and the slot, and writes nothing. Sync allocates nothing; it panics
// if the slices differ in length.
func (w *World) Sync(t Transforms) error {
	to, slots, err := w.transforms("Sync", &t)
	if err != nil {
		return err
	}
	from, last := w.cols.poses(), &w.lastSync.columns
	for k := range to {
		column, source, written := to[k], from[k][:len(slots)], last[k][:len(slots)]
		for i, slot := range slots {
			if slot != NoSlot {
				column[slot], written[i] = source[i], source[i]
			}
		}
	}
	if w.slots.Shared { // Pull must not teleport bodies to where others have overwritten their slot
		for i := range w.changedEntities(&to, slots) {
			w.lastSync.clear(i)
		}
	}
	return nil
}

// transforms returns the columns of the entities, and the slots of the bodies, all of which are in range.
func (w *World) transforms(method string, t *Transforms) (columns [syncedColumns][]float32, slots []uint32, err error) {
	columns, slots = t.columns(), w.cols.Slot[:w.Rows()]
	n := len(t.X)
	for _, c := range columns {
		if len(c) != n {
			panic("physics3: " + method + ": slices of unequal length")
		}
	}
	for i, slot := range slots {
		if slot != NoSlot && uint64(slot) >= uint64(n) {
			return columns, slots, fmt.Errorf("physics3: %s: body %d drives slot %d, the slices have %d: %w", method, i, slot, n, ErrRange)
		}
	}
	return columns, slots, nil
}

// changedEntities yields the bodies whose entities differ from what Sync has written last.
func (w *World) changedEntities(t *[syncedColumns][]float32, slots []uint32) iter.Seq[int] {
	return func(yield func(int) bool) {
		last := &w.lastSync.columns
		for i, slot := range slots {
			if slot == NoSlot || last[0][i] != last[0][i] && w.lastSync.unwritten(i) {
				continue
			}
			for k := range t {
				if bitsDiffer(t[k][slot], last[k][i]) {
					if !yield(i) {
						return
					}
					break
				}
			}
		}
	}
}

// syncedPoses holds what Sync has written last to the columns of the entities, by body. A body that it has not written has unwrittenMark in the first
// column.
type syncedPoses struct{ columns [syncedColumns][]float32 }

// unwrittenMark is a NaN that no computation makes.
const unwrittenMark = 0x7fc5a5a5

func newSyncedPoses(capacity int) (s syncedPoses) {
	step := stagger.Stride(4 * capacity)
	arena := stagger.Bytes(step*syncedColumns, floatColumns)
	for k := range s.columns {
		s.columns[k] = stagger.View[float32](arena[k*step : k*step+4*capacity])
	}
	for i := range capacity {
		s.clear(i)
	}
	return s
}

func (s *syncedPoses) unwritten(i int) bool {
	return math.Float32bits(s.columns[0][i]) == unwrittenMark
}

func (s *syncedPoses) clear(i int) {
	for k := range s.columns {
		s.columns[k][i] = 0
	}
	s.columns[0][i] = math.Float32frombits(unwrittenMark)
}

// Pull is the reverse of Sync: where the position or the rotation of an entity differs by any bit from what Sync has written last, a program has moved
// the entity, and Pull teleports its body there. The velocity stays, and so does the rotation where only the position was written, and the reverse.
// Pull ignores bodies that Sync has not written yet. If both the entity and the body have moved since, the entity wins. The length of a written
// rotation does not matter; the zero quaternion leaves the rotation unchanged.
//
// A written component that is not finite is ErrNotFinite, and one of 2^63 or more is ErrRange. Both errors name body, slot and column, and no body moves.
// Pull refuses slots outside the slices like Sync. Of bodies that share a slot, Pull moves the one that Sync has written. Pull allocates nothing; it
// panics if the slices differ in length.
func (w *World) Pull(t Transforms) error {
	from, slots, err := w.transforms("Pull", &t)
	if err != nil {
		return err
	}
	any := false
	for i := range w.changedEntities(&from, slots) {
		any = true
		if err := w.checkEntity(&from, i, slots[i]); err != nil {
			return err
		}
	}
	if !any {
		return nil
	}
	s, last := w.solver, &w.lastSync.columns
	for i := range w.changedEntities(&from, slots) {
		slot := slots[i]
		var v [syncedColumns]float32
		var moved, turned bool
		for k := range v {
			v[k] = from[k][slot]
			differs := bitsDiffer(v[k], last[k][i])
			moved, turned = moved || differs && k < 3, turned || differs && k >= 3
			last[k][i] = v[k]
		}
		p, q := s.position(i), s.rotation(i)
		if moved {
			p = vecOf([3]float32(v[:3]))
		}
		if written := [4]float32(v[3:]); turned && written != [4]float32{} {
			q = unitRotation(written)
		}
		s.setTransform(i, p, q)
	}
	return nil
}

// checkEntity refuses values of an entity that a body cannot have.
func (w *World) checkEntity(t *[syncedColumns][]float32, i int, slot uint32) error {
	for k := range t {
		v := t[k][slot]
		if check.InRange(v) {
			continue
		}
		err := ErrRange
		if !fault.Finite(v) {
			err = ErrNotFinite
		}
		b, _ := w.BodyAt(i)
		return fault.Element(err, "physics3: Pull: "+b.String()+": Transforms."+transformNames[k], int(slot), v)
	}
	return nil
}

// AppendWritten appends the slots of the bodies that Pull would teleport, in the order of the bodies. It appends none if Pull would refuse a slot. A program
// that draws between two steps must not interpolate these entities.
func (w *World) AppendWritten(dst []uint32, t Transforms) []uint32 {
	from, slots, err := w.transforms("AppendWritten", &t)
	if err != nil {
		return dst
	}
	for i := range w.changedEntities(&from, slots) {
		dst = append(dst, slots[i])
	}
	return dst
}

// markTeleported records that a body was created or teleported.
func (w *World) markTeleported(i int) { w.teleports.Add(w.cols.Slot[i]) }

// TakeTeleported appends the slots of the bodies that were created or teleported by SetTransform, directly or by Commands, since its last call, in ascending
// order, and clears the list. A program that draws between two steps must not interpolate these. Slots from 1<<24 on are left out. Restore and CopyFrom
// clear the list, too. It is not part of the state.
func (w *World) TakeTeleported(dst []uint32) []uint32 { return w.teleports.Take(dst) }
