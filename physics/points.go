package physics

import "github.com/evertick/evertick/internal/check"

// The methods of this file convert between body coordinates and world coordinates, and return velocities of points.
// Their arguments must be finite and below 2^63.

// WorldPoint converts a point from the coordinates of b to world coordinates, in metres. Errors: ErrStale,
// ErrNotFinite and ErrRange.
func (w *World) WorldPoint(b Body, local [2]float32) ([2]float32, error) {
	i, err := w.pointRow(b, "physics: WorldPoint: local", local)
	if err != nil {
		return [2]float32{}, err
	}
	x, y := w.cols.rotate(i, local[0], local[1])
	return canonicalNaN2(w.cols.X[i]+x, w.cols.Y[i]+y), nil
}

// LocalPoint is the inverse of WorldPoint.
func (w *World) LocalPoint(b Body, point [2]float32) ([2]float32, error) {
	i, err := w.pointRow(b, "physics: LocalPoint: point", point)
	if err != nil {
		return [2]float32{}, err
	}
	return canonicalNaN2(w.cols.rotateBack(i, point[0]-w.cols.X[i], point[1]-w.cols.Y[i])), nil
}

// WorldVector rotates a vector from the axes of b to those of the world. Errors are those of WorldPoint.
func (w *World) WorldVector(b Body, local [2]float32) ([2]float32, error) {
	i, err := w.pointRow(b, "physics: WorldVector: local", local)
	if err != nil {
		return [2]float32{}, err
	}
	return canonicalNaN2(w.cols.rotate(i, local[0], local[1])), nil
}

// LocalVector is the inverse of WorldVector.
func (w *World) LocalVector(b Body, vector [2]float32) ([2]float32, error) {
	i, err := w.pointRow(b, "physics: LocalVector: vector", vector)
	if err != nil {
		return [2]float32{}, err
	}
	return canonicalNaN2(w.cols.rotateBack(i, vector[0], vector[1])), nil
}

// WorldPointVelocity returns the velocity in m/s of that point of b which is at point, in world coordinates. Errors are
// those of WorldPoint, and ErrUnsupported from another engine.
func (w *World) WorldPointVelocity(b Body, point [2]float32) ([2]float32, error) {
	i, err := w.pointRow(b, "physics: WorldPointVelocity: point", point)
	if err == nil {
		err = w.engine.require()
	}
	if err != nil {
		return [2]float32{}, err
	}
	return canonicalNaN2(w.solver.speedAt(i, point)), nil
}

// LocalPointVelocity is WorldPointVelocity for a point in the coordinates of b.
func (w *World) LocalPointVelocity(b Body, local [2]float32) ([2]float32, error) {
	i, err := w.pointRow(b, "physics: LocalPointVelocity: local", local)
	if err == nil {
		err = w.engine.require()
	}
	if err != nil {
		return [2]float32{}, err
	}
	return canonicalNaN2(w.solver.speedAt(i, w.solver.worldPoint(i, local[0], local[1]))), nil
}

// pointRow returns the index of b, and checks a point or a vector.
func (w *World) pointRow(b Body, field string, v [2]float32) (int, error) {
	i, err := w.row(b)
	if err == nil {
		err = check.Vector(field, v[:])
	}
	if err == nil {
		err = check.Limited(field, v[:]...)
	}
	return i, err
}

// rotate converts a vector from body coordinates to world coordinates.
func (c *Columns) rotate(i int, x, y float32) (float32, float32) {
	cos, sin := c.Cos[i], c.Sin[i]
	return float32(cos*x) - float32(sin*y), float32(sin*x) + float32(cos*y)
}

// rotateBack is the reverse of rotate.
func (c *Columns) rotateBack(i int, x, y float32) (float32, float32) {
	cos, sin := c.Cos[i], c.Sin[i]
	return float32(cos*x) + float32(sin*y), float32(cos*y) - float32(sin*x)
}
