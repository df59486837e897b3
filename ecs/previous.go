package ecs

import (
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/stagger"
	"github.com/evertick/evertick/native"
)

// Transforms is a position, a rotation and a scale a row.
type Transforms struct {
	Position Vec3
	Rotation Quat
	Scale    Vec3
}

// NewTransforms returns transforms of n rows, all zero, staggered as the columns
// of a World are.
func NewTransforms(n int) *Transforms {
	t := &Transforms{}
	columns := t.columns()
	step := stagger.Stride(4 * n)
	arena := stagger.Bytes(step*len(columns), len(columns))
	for i, c := range columns {
		*c = stagger.View[float32](arena[i*step : i*step+4*n : i*step+4*n])
	}
	return t
}

func (t *Transforms) columns() [10]*[]float32 {
	p, r, s := &t.Position, &t.Rotation, &t.Scale
	return [...]*[]float32{&p.X, &p.Y, &p.Z, &r.X, &r.Y, &r.Z, &r.W, &s.X, &s.Y, &s.Z}
}

// Previous returns the transforms as they were when KeepPrevious was called last,
// with the capacity of the world as length; nil unless Config.Previous is set.
// They are for drawing between two ticks: no part of the snapshot or the hash.
func (w *World) Previous() *Transforms { return w.previous }

// KeepPrevious copies Position, Rotation and Scale to Previous, and forgets who
// has jumped. A driver calls it before each tick. It does nothing unless
// Config.Previous is set.
func (w *World) KeepPrevious() {
	if w.previous == nil {
		return
	}
	now := Transforms{w.Position, w.Rotation, w.Scale}
	from := now.columns()
	for i, to := range w.previous.columns() {
		copy((*to)[:w.high], *from[i])
	}
	clear(w.jumped)
}

// Jump says that an entity has not moved to where it is now but was put there: until
// the next KeepPrevious, its Previous does not count. Entities spawned since then
// have jumped, and after a Restore or CopyFrom all have. It reports false if there
// is no such entity.
func (w *World) Jump(id ID) bool {
	slot, ok := w.Slot(id)
	if ok && w.previous != nil {
		w.jumped[slot>>6] |= 1 << (slot & 63)
	}
	return ok
}

// JumpAt is Jump for the entity in a slot.
func (w *World) JumpAt(slot Slot) bool {
	id, ok := w.ID(slot)
	return ok && w.Jump(id)
}

// Jumped returns who has jumped as a bitmap, in the form of Query.Mask; nil unless
// Config.Previous is set. It is the memory of the world itself: it is to be read
// only, and changes with the next call.
func (w *World) Jumped() []uint64 { return w.jumped }

// Interpolate computes where to draw the entities at a time between Previous, alpha 0,
// and now, alpha 1, which is native.Ops.Lerp of positions and scales and Nlerp of
// rotations; who has jumped is drawn where it is. out has at least HighWater rows, one
// per slot. The error is ErrUnsupported unless Config.Previous is set, or that of
// native.Ops, by which it is computed: in the rows that ops.Live names, if not nil.
func (w *World) Interpolate(ops *native.Ops, alpha float32, out *Transforms) error {
	if w.previous == nil {
		return fault.Field(ErrUnsupported, "ecs: Interpolate: Config.Previous", false)
	}
	now := Transforms{w.Position, w.Rotation, w.Scale}
	to, prev, cur := out.columns(), w.previous.columns(), now.columns()
	for _, c := range to {
		if len(*c) < w.high {
			panic("ecs: Interpolate: out has fewer rows than HighWater")
		}
	}
	for i := range to {
		if i >= rotationColumn && i < scaleColumn {
			continue
		}
		if err := ops.Lerp((*to[i])[:w.high], (*prev[i])[:w.high], (*cur[i])[:w.high], alpha, w.jumped); err != nil {
			return err
		}
	}
	return ops.Nlerp(out.Rotation.below(w.high), w.previous.Rotation.below(w.high), w.Rotation.below(w.high), alpha, w.jumped)
}

// below returns rows [0, n) for package native.
func (q Quat) below(n int) native.Quat {
	return native.Quat{X: q.X[:n], Y: q.Y[:n], Z: q.Z[:n], W: q.W[:n]}
}

// jumpAll is for when everything was replaced.
func (w *World) jumpAll() {
	for i := range w.jumped {
		w.jumped[i] = full
	}
}
