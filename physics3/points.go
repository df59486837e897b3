package physics3

import (
	"math"

	"github.com/evertick/evertick/internal/rigid3"
)

// The methods of this file convert between body coordinates and world coordinates, and return velocities of points and boxes around shapes. Their
// arguments must be finite and below 2^63.

// WorldPoint converts a point from the coordinates of b to world coordinates, in metres. Errors: ErrStale, ErrNotFinite and ErrRange.
func (w *World) WorldPoint(b Body, local [3]float32) ([3]float32, error) {
	i, err := w.pointRow(b, "physics3: WorldPoint: local", local)
	if err != nil {
		return [3]float32{}, err
	}
	return arrayOf(canonical(w.solver.worldPoint(i, local))), nil
}

// LocalPoint is the inverse of WorldPoint.
func (w *World) LocalPoint(b Body, point [3]float32) ([3]float32, error) {
	i, err := w.pointRow(b, "physics3: LocalPoint: point", point)
	if err != nil {
		return [3]float32{}, err
	}
	s := w.solver
	return arrayOf(canonical(s.rotation(i).Inverse().Rotate(vecOf(point).Sub(s.position(i))))), nil
}

// WorldVector rotates a vector from the axes of b to those of the world. Errors are those of WorldPoint.
func (w *World) WorldVector(b Body, local [3]float32) ([3]float32, error) {
	i, err := w.pointRow(b, "physics3: WorldVector: local", local)
	if err != nil {
		return [3]float32{}, err
	}
	return arrayOf(canonical(w.solver.rotation(i).Rotate(vecOf(local)))), nil
}

// LocalVector is the inverse of WorldVector.
func (w *World) LocalVector(b Body, vector [3]float32) ([3]float32, error) {
	i, err := w.pointRow(b, "physics3: LocalVector: vector", vector)
	if err != nil {
		return [3]float32{}, err
	}
	return arrayOf(canonical(w.solver.rotation(i).Inverse().Rotate(vecOf(vector)))), nil
}

// WorldPointVelocity returns the velocity in m/s of that point of b which is at point, in world coordinates. Errors are those of WorldPoint.
func (w *World) WorldPointVelocity(b Body, point [3]float32) ([3]float32, error) {
	i, err := w.pointRow(b, "physics3: WorldPointVelocity: point", point)
	if err != nil {
		return [3]float32{}, err
	}
	return arrayOf(canonical(w.solver.speedAt(i, point))), nil
}

// LocalPointVelocity is WorldPointVelocity for a point in the coordinates of b.
func (w *World) LocalPointVelocity(b Body, local [3]float32) ([3]float32, error) {
	i, err := w.pointRow(b, "physics3: LocalPointVelocity: local", local)
	if err != nil {
		return [3]float32{}, err
	}
	return arrayOf(canonical(w.solver.speedAt(i, arrayOf(w.solver.worldPoint(i, local))))), nil
}

// pointRow returns the index of b, and checks a point or a vector.
func (w *World) pointRow(b Body, field string, v [3]float32) (int, error) {
	i, err := w.row(b)
	if err == nil {
		err = checkVector(field, v)
	}
	return i, err
}

func (s *solver) worldPoint(i int, local [3]float32) rigid3.Vec {
	return s.position(i).Add(s.rotation(i).Rotate(vecOf(local)))
}

// speedAt is the velocity of a body at a point of the world.
func (s *solver) speedAt(i int, point [3]float32) rigid3.Vec {
	return s.linearVelocity(i).Add(s.angularVelocity(i).Cross(s.leverArm(i, point)))
}

// ShapeBounds returns the corners of the box along the axes of the world around a shape where its body is now, in metres. ErrStale if s is destroyed.
func (w *World) ShapeBounds(s Shape) (low, high [3]float32, err error) {
	i, err := w.shapeRow(s)
	if err != nil {
		return low, high, err
	}
	l, h := w.solver.boundsOf(i, int(w.shapes.Owner[i]))
	return arrayOf(l), arrayOf(h), nil
}

// BodyBounds is ShapeBounds for all shapes of b, sensors included; that of a body without shapes is its position. ErrStale if b is destroyed.
func (w *World) BodyBounds(b Body) (low, high [3]float32, err error) {
	i, err := w.row(b)
	if err != nil {
		return low, high, err
	}
	if w.shapes.First(i) == 0 {
		at := arrayOf(w.solver.position(i))
		return at, at, nil
	}
	l, h := noBounds.Times(-1), noBounds
	for shape := range w.shapes.Of(i) {
		from, to := w.solver.boundsOf(shape, i)
		l = rigid3.Vec{X: min(l.X, from.X), Y: min(l.Y, from.Y), Z: min(l.Z, from.Z)}
		h = rigid3.Vec{X: max(h.X, to.X), Y: max(h.Y, to.Y), Z: max(h.Z, to.Z)}
	}
	return arrayOf(l), arrayOf(h), nil
}

// noBounds is the upper corner of a box that contains nothing, and the opposite of its lower one.
var noBounds = rigid3.Vec{X: -math.MaxFloat32, Y: -math.MaxFloat32, Z: -math.MaxFloat32}

// boundsOf returns the corners of the box around a shape.
func (s *solver) boundsOf(shape, body int) (low, high rigid3.Vec) {
	boxes := &s.present.boxes
	boxes.Resize(1)
	s.poses[body] = s.pose(body)
	rigid3.Bounds(s.level, s.shapes.shape[shape:shape+1], &s.contents.Hulls, s.shapes.filters.Body[shape:shape+1], s.poses, 0, boxes)
	return rigid3.Vec{X: boxes.Min[0][0], Y: boxes.Min[1][0], Z: boxes.Min[2][0]}, rigid3.Vec{X: boxes.Max[0][0], Y: boxes.Max[1][0], Z: boxes.Max[2][0]}
}
