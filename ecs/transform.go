package ecs

import "github.com/evertick/evertick/internal/fault"

// Vec3 is three columns, indexed by slot.
type Vec3 struct {
	X, Y, Z []float32

	mark *mark // nil outside a World
}

// Quat is a quaternion in four columns, indexed by slot; W is the real part.
type Quat struct {
	X, Y, Z, W []float32

	mark *mark
}

// Touch says that columns of a World were written: it gives them a new Version.
// It panics on a Vec3 that is not of a World.
func (v Vec3) Touch() { v.mark.must().touch() }

// Version returns the number of the last Touch; see World.LastTouch. It panics as
// Touch does.
func (v Vec3) Version() uint64 { return v.mark.must().version }

// Touch is Touch of Vec3.
func (q Quat) Touch() { q.mark.must().touch() }

// Version is Version of Vec3.
func (q Quat) Version() uint64 { return q.mark.must().version }

func (m *mark) must() *mark {
	if m == nil {
		panic("ecs: Touch or Version of columns that belong to no World")
	}
	return m
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
	s, ok := w.Slot(id)
	if !ok {
		return fault.Field(ErrStale, "ecs: Rotation of", id)
	}
	v := [4]float32{x, y, z, qw}
	if err := checkFinite("ecs: Rotation", v[:]); err != nil {
		return err
	}
	w.Rotation.X[s], w.Rotation.Y[s], w.Rotation.Z[s], w.Rotation.W[s] = x, y, z, qw
	w.Rotation.Touch()
	return nil
}

func (w *World) setVec3(c *Vec3, field string, id ID, x, y, z float32) error {
	s, ok := w.Slot(id)
	if !ok {
		return fault.Field(ErrStale, field+" of", id)
	}
	v := [3]float32{x, y, z}
	if err := checkFinite(field, v[:]); err != nil {
		return err
	}
	c.X[s], c.Y[s], c.Z[s] = x, y, z
	c.Touch()
	return nil
}

func checkFinite(field string, values []float32) error {
	for i, v := range values {
		if !fault.Finite(v) {
			return fault.Field(ErrNotFinite, field+"."+"XYZW"[i:i+1], v)
		}
	}
	return nil
}
