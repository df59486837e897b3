package rigid

// Kernels are tested with any number of rows.
func init() { fewRows = 0 }

// HullsApart returns the distance of two shapes without their radii, where a is moved by the given vector.
func HullsApart(a, b *Shape, move Vec) (distance float32, direction Vec) {
	var p, q shapeProxy
	p.set(a)
	q.set(b)
	for i := range p.n {
		p.x[i], p.y[i] = p.x[i]+move.X, p.y[i]+move.Y
	}
	distance, x, y := gjkDistance(&p, &q)
	return distance, Vec{x, y}
}

// Core returns the core of a shape.
func (s *Shape) Core() (vertices []Vec, radius float32) {
	var o shapeProxy
	o.setCore(s)
	for i := range o.n {
		vertices = append(vertices, Vec{o.x[i], o.y[i]})
	}
	return vertices, o.radius
}

// Turned returns the angle by which a body turned in the step, as far as the sweep knows.
func (w *ContinuousSolver) Turned(body uint32) float32 {
	var p sweep
	w.sweepOf(&p, body)
	return p.angle
}

// SolveNormals solves two points, whose rows are given by column.
func SolveNormals(old, kept, v, mass [2]float32, coupling float32) (x, y float32) {
	return solveNormals(&normalRow{old[0], kept[0], v[0], mass[0]}, &normalRow{old[1], kept[1], v[1], mass[1]}, coupling)
}

// TwoPointScale is twoPointScale.
const TwoPointScale = twoPointScale
