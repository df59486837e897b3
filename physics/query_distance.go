package physics

import (
	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/rigid"
)

// Distances holds the distances between shapes, one element per query. The zero value is ready; reuse
// it, like RayHits.
type Distances struct {
	Shapes   []Shape   // found by Nearest, or A of Distances; the zero Shape if none was in range
	Distance []float32 // in metres; negative: the length of the least translation that separates them
	// NormalX and NormalY are the unit vector from A to B, or from the shape to the form.
	NormalX, NormalY []float32
	AX, AY, BX, BY   []float32 // the nearest points of the two surfaces
}

func (d *Distances) resize(n int) {
	d.Shapes = buffer.Resized(d.Shapes, n)
	for _, c := range [...]*[]float32{&d.Distance, &d.NormalX, &d.NormalY, &d.AX, &d.AY, &d.BX, &d.BY} {
		*c = buffer.Resized(*c, n)
	}
}

func (d *Distances) put(i int, s Shape, f *rigid.ShapeHit) {
	d.Shapes[i], d.Distance[i] = s, f.T
	d.NormalX[i], d.NormalY[i] = f.Normal.X, f.Normal.Y
	d.AX[i], d.AY[i] = f.Point.X, f.Point.Y
	d.BX[i], d.BY[i] = f.Point.X+float32(f.Normal.X*f.T), f.Point.Y+float32(f.Normal.Y*f.T)
}

// Nearest finds the shape that is nearest to each form, at most within[i] metres away; of several at the same
// distance the one with the lowest index. If there is none, the Shape is zero, the distance is within[i], and the
// rest is zero. It panics if within and q.X differ in length. Errors are those of Probes.Validate; ErrNotFinite or
// ErrRange for an element of within that is not finite, negative or more than 2^60; and those of RayClosest.
func (w *World) Nearest(q *Probes, within []float32, out *Distances) error {
	if len(within) != len(q.X) {
		panic("physics: Nearest: within and Probes.X differ in length")
	}
	if err := q.Validate(); err != nil {
		return err
	}
	for i, v := range within {
		if err := checkCoordinate("physics: Nearest: within", i, v); err != nil {
			return err
		}
		if v < 0 {
			return fault.Element(ErrRange, "physics: Nearest: within", i, v)
		}
	}
	if err := w.prepareQueries(&q.QueryFilter, len(q.X), goCost); err != nil {
		return err
	}
	out.resize(len(q.X))
	t := &w.solver.queries.probes
	t.s, t.q, t.casts, t.within, t.near = w.solver, q, nil, within, out
	t.Begin(w.solver.pool, probeChunk, t)
	if err := t.Each(len(q.X)); err != nil {
		out.resize(0)
		return err
	}
	for i, s := range out.Shapes {
		if s == (Shape{}) {
			out.AX[i], out.AY[i], out.BX[i], out.BY[i] = 0, 0, 0, 0
		}
	}
	return nil
}

// Distances measures the distance between a[i] and b[i]. They may belong to the same body or to disabled bodies, and
// may be sensors. It panics if a and b differ in length. Errors: ErrStale for a destroyed shape; ErrRange for a shape
// whose body has coordinates beyond 2^60; and those of RayClosest.
func (w *World) Distances(a, b []Shape, out *Distances) error {
	if len(a) != len(b) {
		panic("physics: Distances: a and b differ in length")
	}
	for i := range a {
		if !w.ValidShape(a[i]) {
			return fault.Element(ErrStale, "physics: Distances: a", i, a[i])
		}
		if !w.ValidShape(b[i]) {
			return fault.Element(ErrStale, "physics: Distances: b", i, b[i])
		}
	}
	if err := w.prepareQueries(&QueryFilter{}, 0, 0); err != nil {
		return err
	}
	s := w.solver
	for i := range a {
		for _, shape := range [2]Shape{a[i], b[i]} {
			if body := w.shapes.Owner[shape.index]; !poseInRange(&s.queries.poses, body) {
				return check.Because(fault.Element(ErrRange, "physics: Distances: pair", i, shape), "the pose of its body is out of range")
			}
		}
	}
	out.resize(len(a))
	for i := range a {
		sa, sb := s.centredShape(a[i]), s.centredShape(b[i])
		d := rigid.Distance(&sa, &sb, w.shapes.Owner[a[i].index], w.shapes.Owner[b[i].index], &s.queries.poses)
		out.put(i, a[i], &rigid.ShapeHit{T: d.Distance, Normal: d.Normal, Point: d.PointA})
	}
	return nil
}

// poseInRange reports whether queries can compute with the pose of a body.
func poseInRange(p *rigid.Poses, body uint32) bool {
	x, y, cos, sin := p.X[body], p.Y[body], p.Cos[body], p.Sin[body]
	return max(x, -x, y, -y) <= maxQueryCoordinate && max(cos, -cos, sin, -sin) <= 2
}

// centredShape returns a shape relative to the centre of mass of its body, which may be disabled.
func (s *solver) centredShape(shape Shape) rigid.Shape {
	i := shape.index
	body := s.shapeTable.Owner[i]
	return s.shapes.local[i].Transformed(rigid.Vec{X: -s.cols.CentreX[body], Y: -s.cols.CentreY[body]}, 1, 0)
}
