package ecs

import (
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/stagger"
	"github.com/evertick/evertick/native"
)

// Vec3 is three columns, indexed by slot.
type Vec3 struct {
	X, Y, Z []float32

	version *changeVersion // nil outside a World
}

// Quat is a quaternion in four columns, indexed by slot; W is the real part.
type Quat struct {
	X, Y, Z, W []float32

	version *changeVersion
}

// Touch reports that columns of a World were written: it gives them a new Version.
// It panics on a Vec3 outside a World.
func (v Vec3) Touch() { v.version.must().touch() }

// Version returns the number of the last Touch; see World.LastTouch. It panics as
// Touch does.
func (v Vec3) Version() uint64 { return v.version.must().number }

// Touch is Touch of Vec3.
func (q Quat) Touch() { q.version.must().touch() }

// Version is Version of Vec3.
func (q Quat) Version() uint64 { return q.version.must().number }

func (v *changeVersion) must() *changeVersion {
	if v == nil {
		panic("ecs: Touch or Version of columns that belong to no World")
	}
	return v
}

// SetPosition writes the position of an entity, in metres. It is ErrStale if
// there is no such entity and ErrNotFinite if a value is NaN or infinite; the
// position is unchanged then. Hot loops write the columns directly.
func (w *World) SetPosition(id ID, x, y, z float32) error {
	return w.setVec3(&w.Position, "ecs: Position", id, x, y, z)
}

// SetScale writes the scale factors of an entity, with the errors of
// SetPosition. Zero and negative factors are allowed.
func (w *World) SetScale(id ID, x, y, z float32) error {
	return w.setVec3(&w.Scale, "ecs: Scale", id, x, y, z)
}

// SetRotation writes the rotation of an entity, with the errors of SetPosition.
// The quaternion is stored as given, not normalised.
func (w *World) SetRotation(id ID, x, y, z, qw float32) error {
	s, err := w.slotToWrite("ecs: Rotation", id, x, y, z, qw)
	if err != nil {
		return err
	}
	w.Rotation.X[s], w.Rotation.Y[s], w.Rotation.Z[s], w.Rotation.W[s] = x, y, z, qw
	w.Rotation.Touch()
	return nil
}

func (w *World) setVec3(c *Vec3, field string, id ID, x, y, z float32) error {
	s, err := w.slotToWrite(field, id, x, y, z)
	if err != nil {
		return err
	}
	c.X[s], c.Y[s], c.Z[s] = x, y, z
	c.Touch()
	return nil
}

// slotToWrite returns the slot of an entity, or an error if there is no such entity or a
// value is not finite.
func (w *World) slotToWrite(field string, id ID, values ...float32) (Slot, error) {
	s, ok := w.Slot(id)
	if !ok {
		return 0, fault.Field(ErrStale, field+" of", id)
	}
	return s, checkFinite(field, values)
}

func checkFinite(field string, values []float32) error {
	for i, v := range values {
		if !fault.Finite(v) {
			return fault.Field(ErrNotFinite, field+"."+"XYZW"[i:i+1], v)
		}
	}
	return nil
}

// Transforms has a position, a rotation and a scale in each row.
type Transforms struct {
	Position Vec3
	Rotation Quat
	Scale    Vec3
}

// NewTransforms returns transforms of n rows, all zero, staggered as the columns
// of a World are.
func NewTransforms(n int) *Transforms { return newTransforms(n, 10) }

// newTransforms staggers the columns from the given cache line on.
func newTransforms(n, line int) *Transforms {
	t := &Transforms{}
	columns := t.columns()
	step := stagger.Stride(4 * n)
	arena := stagger.Bytes(step*len(columns), line)
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

// KeepPrevious copies Position, Rotation and Scale to Previous, and clears Jumped.
// A driver calls it before each tick. It does nothing unless Config.Previous is set.
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

// Jump marks an entity as teleported: until the next KeepPrevious, Interpolate ignores its
// Previous. Entities spawned since the last KeepPrevious have jumped, and after a Restore
// or CopyFrom all have. It reports false if there is no such entity.
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

// Jumped returns the entities that have jumped as a bitmap, in the form of Query.Mask;
// nil unless Config.Previous is set. It is the memory of the world itself: only read it.
// It changes with the next call.
func (w *World) Jumped() []uint64 { return w.jumped }

// Interpolate computes the transforms to draw at a time between Previous, alpha 0,
// and now, alpha 1, into the rows of out: see Transforms.Interpolate. Entities that
// teleported get their present transform. out has at least HighWater rows, one per
// slot. The error is ErrUnsupported unless Config.Previous is set, or that of native.Ops.
func (w *World) Interpolate(ops *native.Ops, alpha float32, out *Transforms) error {
	if w.previous == nil {
		return fault.Field(ErrUnsupported, "ecs: Interpolate: Config.Previous", false)
	}
	now, previous := w.transforms().below(w.high), w.previous.below(w.high)
	return out.Interpolate(ops, &previous, &now, alpha, w.jumped)
}

// transforms returns the built-in columns.
func (w *World) transforms() *Transforms { return &Transforms{w.Position, w.Rotation, w.Scale} }

// below returns rows [0, n).
func (t *Transforms) below(n int) (cut Transforms) {
	to := cut.columns()
	for i, from := range t.columns() {
		*to[i] = (*from)[:n]
	}
	return cut
}

// Interpolate sets the rows of t to transforms between previous, alpha 0, and now, alpha
// 1, by native.Ops.Lerp for positions and scales and Nlerp for rotations. jumped is a bitmap in the
// form of Query.Mask, or nil: rows whose bits are set are copied from now. All columns of previous
// and now must have the same length, and those of t at least that length; otherwise Interpolate
// panics. Only the rows in ops.Live are computed, or all if it is nil. The error is that of native.Ops.
func (t *Transforms) Interpolate(ops *native.Ops, previous, now *Transforms, alpha float32, jumped []uint64) error {
	rows := len(now.Position.X)
	for _, c := range t.columns() {
		if len(*c) < rows {
			panic("ecs: Interpolate: the result has fewer rows than now")
		}
	}
	to, from, cur := t.below(rows), previous.columns(), now.columns()
	for i, c := range to.columns() {
		if i >= rotationColumn && i < scaleColumn {
			continue
		}
		if err := ops.Lerp(*c, *from[i], *cur[i], alpha, jumped); err != nil {
			return err
		}
	}
	return ops.Nlerp(to.Rotation.native(), previous.Rotation.native(), now.Rotation.native(), alpha, jumped)
}

// native returns the columns for package native.
func (q Quat) native() native.Quat { return native.Quat{X: q.X, Y: q.Y, Z: q.Z, W: q.W} }

// jumpAll marks all entities after the state was replaced.
func (w *World) jumpAll() {
	for i := range w.jumped {
		w.jumped[i] = full
	}
}
