package physics3

import (
	"github.com/evertick/evertick/internal/batch"
	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/rigid3"
)

// Form is a shape without a body, for queries. SphereForm, CapsuleForm, BoxForm and HullForm make one; the zero Form is none.
type Form struct{ geometry geometry }

// SphereForm is a ball. Errors are those of World.CreateSphere.
func SphereForm(s Sphere) (Form, error) { return formOf(s.geometry()) }

// CapsuleForm is a segment with a radius. Errors are those of World.CreateCapsule.
func CapsuleForm(c Capsule) (Form, error) { return formOf(c.geometry()) }

// BoxForm is a cuboid, which its radius rounds. Errors are those of World.CreateBox.
func BoxForm(b Box) (Form, error) { return formOf(b.geometry()) }

// HullForm is a hull at a place. Errors are those of World.CreateHull.
func HullForm(h *Hull, at Placement) (Form, error) { return formOf(h.placed(&at)) }

func formOf(g geometry, err error) (Form, error) {
	if err != nil {
		return Form{}, err
	}
	return Form{g}, nil
}

// Probes is a batch of queries with forms at positions, one query per index.
type Probes struct {
	// Forms holds one form for all queries, or one for each.
	Forms []Form
	// X, Y and Z are the position of the origin of each form, in metres.
	X, Y, Z []float32
	// Rotations are quaternions x, y, z, w of any length above zero. Nil: no form is rotated.
	Rotations [][4]float32
	QueryFilter
}

// Validate reports the first fault of the batch: a value that is NaN or infinite (ErrNotFinite), or a coordinate of more than 2^60, a rotation that is
// zero, or a zero Form (ErrRange). It panics if slices differ in length.
func (q *Probes) Validate() error {
	n := len(q.X)
	if len(q.Y) != n || len(q.Z) != n || q.Rotations != nil && len(q.Rotations) != n || len(q.Forms) != n && len(q.Forms) != 1 {
		panic("physics3: Probes: Forms, X, Y, Z or Rotations differ in length")
	}
	q.check(n)
	for i := range q.Forms {
		if q.Forms[i].geometry.Kind == rigid3.KindNone {
			return fault.Element(ErrRange, "physics3: Probes.Forms", i, "no form")
		}
	}
	for i := range n {
		if err := q.fault(i); err != nil {
			return err
		}
	}
	return nil
}

func (q *Probes) fault(i int) error {
	if err := checkQueryCoordinate("physics3: Probes.X", i, q.X[i]); err != nil {
		return err
	}
	if err := checkQueryCoordinate("physics3: Probes.Y", i, q.Y[i]); err != nil {
		return err
	}
	if err := checkQueryCoordinate("physics3: Probes.Z", i, q.Z[i]); err != nil {
		return err
	}
	if q.Rotations == nil {
		return nil
	}
	r := q.Rotations[i]
	for _, v := range r {
		if !fault.Finite(v) {
			return fault.Element(ErrNotFinite, "physics3: Probes.Rotations", i, r)
		}
	}
	if r == [4]float32{} {
		return check.Because(fault.Element(ErrRange, "physics3: Probes.Rotations", i, r), "the length is zero")
	}
	return nil
}

// fill sets all fields of a query except for its translation.
func (q *Probes) fill(p *rigid3.ShapeQuery, i int, skipInside bool) {
	f := &q.Forms[0]
	if len(q.Forms) > 1 {
		f = &q.Forms[i]
	}
	if p.Shape, p.Hull = &f.geometry.Shape, nil; f.geometry.hull != nil {
		p.Hull = f.geometry.hull.core
	}
	p.Pose = rigid3.Pose{P: rigid3.Vec{X: q.X[i], Y: q.Y[i], Z: q.Z[i]}, Q: rigid3.Identity}
	if q.Rotations != nil {
		p.Pose.Q = unitRotation(q.Rotations[i])
	}
	p.D, p.MaxT = rigid3.Vec{X: 1}, 0
	q.set(&p.Ray, i, skipInside)
}

// Casts is a batch of forms that move without rotation: from their positions by up to MaxFraction times (DX, DY, DZ) metres.
type Casts struct {
	Probes
	DX, DY, DZ []float32
	// MaxFraction is the fraction at which each cast ends. Nil: 1.
	MaxFraction []float32
	// SkipInside leaves out shapes that a form overlaps at its start, and of a mesh the triangles that it touches there. Otherwise it hits them at the fraction 0, with a zero normal, at its origin.
	SkipInside bool
}

// Validate reports the first fault of the batch: those of Probes.Validate, and those of Rays.Validate for the translations.
func (q *Casts) Validate() error {
	if err := q.Probes.Validate(); err != nil {
		return err
	}
	return checkTranslations("physics3: Casts", [3][]float32{q.X, q.Y, q.Z}, [3][]float32{q.DX, q.DY, q.DZ}, q.MaxFraction)
}

// CastClosest finds the first shape that each form hits; of several at the same fraction the one with the lowest index. Like RayClosest, it may find none.
// The point is the point of the shape that touches the form.
//
// A form hits a shape where its way leads it to within a micrometre of the surface; it is never inside then, but for the rounding of the fraction. A form
// that begins in touch with a shape overlaps it, see Casts.SkipInside; one that begins closer than a micrometre, without touching, hits it at once if it moves
// towards it.
//
// It hits the front of a triangle of a mesh if its middle begins in front of the plane, or at most 5 mm behind. It hits a two-sided mesh from either
// side.
//
// Errors are those of Casts.Validate and of RayClosest.
func (w *World) CastClosest(q *Casts, out *RayHits) error {
	t, err := w.beginCasts(q, out)
	if err != nil {
		return err
	}
	return t.Closest(len(q.X))
}

// CastAll finds all shapes that each form hits. Errors are those of CastClosest, and ErrRange for more than 2^31-1 hits, with out empty.
func (w *World) CastAll(q *Casts, out *RayHits) error {
	t, err := w.beginCasts(q, out)
	if err != nil {
		return err
	}
	return t.All("physics3: CastAll: hits", len(q.X))
}

// probeChunk is the number of forms that a worker takes at a time.
const probeChunk = 16

// probeTask is a batch of casts, or of queries for the nearest shape.
type probeTask struct {
	batch.Batch[rigid3.ShapeHit]
	s      *solver
	q      *Probes
	casts  *Casts
	out    *RayHits
	within []float32
	near   *Distances
}

func (w *World) beginCasts(q *Casts, out *RayHits) (*probeTask, error) {
	if err := q.Validate(); err != nil {
		return nil, err
	}
	if err := w.prepareQueries(&q.QueryFilter, len(q.X)); err != nil {
		return nil, err
	}
	t := &w.solver.queries.probes
	t.s, t.q, t.casts, t.out = w.solver, &q.Probes, q, out
	t.Begin(w.solver.pool, probeChunk, t)
	return t, nil
}

// cast prepares the query of a cast.
func (t *probeTask) cast(i int, p *rigid3.ShapeQuery) {
	q := t.casts
	q.fill(p, i, q.SkipInside)
	p.D, p.MaxT = rigid3.Vec{X: q.DX[i], Y: q.DY[i], Z: q.DZ[i]}, fractionAt(q.MaxFraction, i)
	p.Prepare()
}

// Answer finds the first hit of each cast of a chunk, or the nearest shapes.
func (t *probeTask) Answer(worker, lo, hi int) {
	p := &t.s.queries.forms[worker]
	for i := lo; i < hi; i++ {
		if t.casts != nil {
			t.cast(i, p)
			f := t.s.queries.tree.CastShapeClosest(p)
			t.Put(i, i, &f)
			continue
		}
		t.q.fill(p, i, false)
		p.MaxT = t.within[i]
		p.Prepare()
		f := t.s.queries.tree.Nearest(p)
		t.near.put(i, t.s, &f)
	}
}

// Rows finds all hits of the casts of a chunk.
func (t *probeTask) Rows(worker, lo, hi int, ends []uint32, to []rigid3.ShapeHit) []rigid3.ShapeHit {
	p := &t.s.queries.forms[worker]
	for i := lo; i < hi; i++ {
		t.cast(i, p)
		to = t.s.queries.tree.CastShapeAll(p, to)
		ends[i-lo] = uint32(len(to))
	}
	return to
}

// Resize resizes the result.
func (t *probeTask) Resize(rows, n int) []uint32 { return t.out.resize(rows, n) }

// Put writes a hit to index at of the result.
func (t *probeTask) Put(_, at int, f *rigid3.ShapeHit) {
	t.out.put(at, t.s, f.Shape, f.Face, f.T, f.Normal, f.Point)
}

// Overlapping holds the shapes that forms overlap: row i is Shapes[Offsets[i]:Offsets[i+1]], in ascending order of the index. The zero value is ready;
// reuse it, like RayHits.
type Overlapping struct {
	Offsets []uint32
	Shapes  []Shape
}

// Row returns the shapes of row i.
func (o *Overlapping) Row(i int) []Shape {
	from, to := o.Offsets[i], o.Offsets[i+1]
	return o.Shapes[from:to:to]
}

// Overlaps finds the shapes that each form overlaps or touches: those whose distance is zero or less. The distance from a mesh is that from its
// triangles, whichever side they show; it has no inside. Errors are those of Probes.Validate and of RayAll.
func (w *World) Overlaps(q *Probes, out *Overlapping) error {
	if err := q.Validate(); err != nil {
		return err
	}
	if err := w.prepareQueries(&q.QueryFilter, len(q.X)); err != nil {
		return err
	}
	t := &w.solver.queries.overlaps
	t.s, t.q, t.out = w.solver, q, out
	t.Begin(w.solver.pool, probeChunk, t)
	return t.All("physics3: Overlaps: shapes", len(q.X))
}

// overlapTask is a batch of overlaps.
type overlapTask struct {
	batch.Batch[uint32]
	s   *solver
	q   *Probes
	out *Overlapping
}

// Answer does nothing: each query has a row.
func (t *overlapTask) Answer(int, int, int) {}

// Rows finds the shapes that the forms of a chunk overlap.
func (t *overlapTask) Rows(worker, lo, hi int, ends []uint32, to []uint32) []uint32 {
	p := &t.s.queries.forms[worker]
	for i := lo; i < hi; i++ {
		t.q.fill(p, i, false)
		p.Prepare()
		to = t.s.queries.tree.OverlapShape(p, to)
		ends[i-lo] = uint32(len(to))
	}
	return to
}

// Resize resizes the result.
func (t *overlapTask) Resize(rows, n int) []uint32 {
	t.out.Offsets, t.out.Shapes = buffer.Resized(t.out.Offsets, rows), buffer.Resized(t.out.Shapes, n)
	return t.out.Offsets
}

// Put writes a shape to index at of the result.
func (t *overlapTask) Put(_, at int, shape *uint32) { t.out.Shapes[at] = t.s.presentHandle(*shape) }
