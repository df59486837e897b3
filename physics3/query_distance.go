package physics3

import (
	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/rigid3"
	"github.com/evertick/evertick/native"
)

// Distances holds the distances between shapes, one element per query. The zero value is ready; reuse it, like RayHits.
type Distances struct {
	Shapes   []Shape   // found by Nearest, or A of Distances; the zero Shape if none was in range
	Distance []float32 // in metres; negative: the length of the least translation that separates them
	// NormalX, NormalY and NormalZ are the unit vector from A to B, or from the shape to the form.
	NormalX, NormalY, NormalZ []float32
	AX, AY, AZ, BX, BY, BZ    []float32 // the nearest points of the two surfaces
	Triangles                 []uint32  // of meshes, height fields and terrains: the number of the nearest triangle; 0 for other shapes
}

func (d *Distances) resize(n int) {
	d.Shapes, d.Triangles = buffer.Resized(d.Shapes, n), buffer.Resized(d.Triangles, n)
	for _, c := range [...]*[]float32{&d.Distance, &d.NormalX, &d.NormalY, &d.NormalZ, &d.AX, &d.AY, &d.AZ, &d.BX, &d.BY, &d.BZ} {
		*c = buffer.Resized(*c, n)
	}
}

// put writes what Nearest has found.
func (d *Distances) put(i int, s *solver, f *rigid3.ShapeHit) {
	r := rigid3.DistanceResult{Distance: f.T}
	if f.Shape != rigid3.NoShape {
		r.Normal, r.PointA, r.PointB = f.Normal, f.Point, f.Other()
	}
	d.set(i, s.presentHandle(f.Shape), &r)
	d.Triangles[i], _ = s.triangle(f.Shape, f.Face)
}

func (d *Distances) set(i int, s Shape, r *rigid3.DistanceResult) {
	d.Shapes[i], d.Distance[i] = s, r.Distance
	d.NormalX[i], d.NormalY[i], d.NormalZ[i] = r.Normal.X, r.Normal.Y, r.Normal.Z
	d.AX[i], d.AY[i], d.AZ[i] = r.PointA.X, r.PointA.Y, r.PointA.Z
	d.BX[i], d.BY[i], d.BZ[i] = r.PointB.X, r.PointB.Y, r.PointB.Z
}

// Nearest finds the shape that is nearest to each form, at most within[i] metres away; of several at the same distance the one with the lowest index. If there
// is none, the Shape is zero, the distance is within[i], and the rest is zero. It panics if within and q.X differ in length. Errors are those of
// Probes.Validate; ErrNotFinite or ErrRange for an element of within that is not finite, negative or more than 2^60; and those of RayClosest.
func (w *World) Nearest(q *Probes, within []float32, out *Distances) error {
	if len(within) != len(q.X) {
		panic("physics3: Nearest: within and Probes.X differ in length")
	}
	if err := q.Validate(); err != nil {
		return err
	}
	for i, v := range within {
		if err := checkQueryCoordinate("physics3: Nearest: within", i, v); err != nil {
			return err
		}
		if v < 0 {
			return fault.Element(ErrRange, "physics3: Nearest: within", i, v)
		}
	}
	if err := w.prepareQueries(&q.QueryFilter, len(q.X)); err != nil {
		return err
	}
	out.resize(len(q.X))
	t := &w.solver.queries.probes
	t.s, t.q, t.casts, t.within, t.near = w.solver, q, nil, within, out
	t.Begin(w.solver.pool, probeChunk, t)
	err := t.Each(len(q.X))
	if err != nil {
		out.resize(0)
	}
	return err
}

// Distances measures the distance between a[i] and b[i]. That from a mesh is the least of those from its triangles, whichever side they show; where the
// other shape overlaps some, it is the greatest length of a least translation that separates it from one of them. They may belong to the same body or to disabled bodies, and may be sensors. It panics if a and b
// differ in length. Errors: ErrStale for a destroyed shape; ErrUnsupported for two surfaces; ErrRange for a shape whose body has coordinates that are not finite or beyond 2^60; ErrFloatEnv;
// and that which has stopped the world. They leave out unchanged.
func (w *World) Distances(a, b []Shape, out *Distances) error {
	if len(a) != len(b) {
		panic("physics3: Distances: a and b differ in length")
	}
	if w.failed != nil {
		return w.failed
	}
	if err := native.CheckFloatEnv(); err != nil {
		return err
	}
	for i := range a {
		if err := w.checkDistance("physics3: Distances: a", i, a[i]); err != nil {
			return err
		}
		if err := w.checkDistance("physics3: Distances: b", i, b[i]); err != nil {
			return err
		}
		if s := &w.solver.shapes; s.surface[a[i].index] != nil && s.surface[b[i].index] != nil {
			return check.Because(fault.Element(ErrUnsupported, "physics3: Distances: b", i, b[i]), "both shapes are surfaces")
		}
	}
	s := w.solver
	out.resize(len(a))
	for i := range a {
		sa, sb := s.centredShape(a[i]), s.centredShape(b[i])
		pa, pb := s.queryPose(int(w.shapes.Owner[a[i].index])), s.queryPose(int(w.shapes.Owner[b[i].index]))
		d := rigid3.Distance(&sa, &sb, &s.contents.Hulls, &pa, &pb)
		out.set(i, a[i], &d)
		surface := a[i]
		if s.shapes.surface[surface.index] == nil {
			surface = b[i]
		}
		out.Triangles[i], _ = s.triangle(surface.index, d.Face)
	}
	return nil
}

// checkDistance returns the fault of a shape whose distance is asked for.
func (w *World) checkDistance(field string, i int, s Shape) error {
	if !w.ValidShape(s) {
		return fault.Element(ErrStale, field, i, s)
	}
	pose := w.solver.queryPose(int(w.shapes.Owner[s.index]))
	if !poseInRange(&pose) {
		return check.Because(fault.Element(ErrRange, field, i, s), "the pose of its body is out of range")
	}
	return nil
}

// centredShape returns a shape relative to the centre of mass of its body, which may be disabled.
func (s *solver) centredShape(shape Shape) rigid3.Shape {
	c := s.centre(int(s.shapeTable.Owner[shape.index]))
	return s.shapes.local[shape.index].Translated(rigid3.Vec{X: -c.X, Y: -c.Y, Z: -c.Z})
}
