package physics

import (
	"github.com/evertick/evertick/internal/batch"
	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/rigid"
)

// Probes is a batch of queries with forms at positions, one query per index.
type Probes struct {
	// Forms holds one form for all queries, or one for each.
	Forms []Form
	// X and Y are the position of the origin of each form, in metres.
	X, Y []float32
	// Angle in radians, up to 65536 either way. Nil: 0.
	Angle []float32
	QueryFilter
}

// Validate reports the first fault of the batch: a value that is NaN or infinite
// (ErrNotFinite), a coordinate of more than 2^60, an angle of more than 65536, or a zero Form
// (ErrRange); or a span as in Rays.Validate. It panics if slices differ in length.
func (q *Probes) Validate() error {
	n := len(q.X)
	if len(q.Y) != n || q.Angle != nil && len(q.Angle) != n || len(q.Forms) != n && len(q.Forms) != 1 {
		panic("physics: Probes: Forms, X, Y or Angle differ in length")
	}
	if err := q.check(n); err != nil {
		return err
	}
	for i := range q.Forms {
		if q.Forms[i].shape.Count == 0 {
			return fault.Element(ErrRange, "physics: Probes.Forms", i, "no form")
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
	if err := checkCoordinate("physics: Probes.X", i, q.X[i]); err != nil {
		return err
	}
	if err := checkCoordinate("physics: Probes.Y", i, q.Y[i]); err != nil {
		return err
	}
	if q.Angle == nil {
		return nil
	}
	switch a := q.Angle[i]; {
	case !fault.Finite(a):
		return fault.Element(ErrNotFinite, "physics: Probes.Angle", i, a)
	case a > rigid.MaxAngle || a < -rigid.MaxAngle:
		return check.Because(fault.Element(ErrRange, "physics: Probes.Angle", i, a), "more than 65536 rad")
	}
	return nil
}

// fill sets all fields of a probe except its translation.
func (q *Probes) fill(p *rigid.ShapeQuery, i int, skipInside bool) {
	p.Shape = &q.Forms[0].shape
	if len(q.Forms) > 1 {
		p.Shape = &q.Forms[i].shape
	}
	p.X, p.Y, p.Cos, p.Sin = q.X[i], q.Y[i], 1, 0
	if q.Angle != nil {
		p.Sin, p.Cos = rigid.SinCos(q.Angle[i])
	}
	p.DX, p.DY, p.MaxT, p.Flags = 1, 0, 0, q.flags(skipInside)
	p.Category, p.Mask, p.Exclude = q.forQuery(i)
	q.setSpan(&p.Ray, i)
}

// Casts is a batch of forms that move without rotation: from their positions by up to
// MaxFraction times (DX, DY) metres.
type Casts struct {
	Probes
	DX, DY []float32
	// MaxFraction is the fraction at which each cast ends. Nil: 1.
	MaxFraction []float32
	// SkipInside leaves out shapes that a form overlaps at its start. Otherwise it hits
	// them at the fraction 0, with a zero normal, at its origin.
	SkipInside bool
}

// Validate reports the first fault of the batch: those of Probes.Validate, and those
// of Rays.Validate for the translations.
func (q *Casts) Validate() error {
	if err := q.Probes.Validate(); err != nil {
		return err
	}
	n := len(q.X)
	if len(q.DX) != n || len(q.DY) != n || q.MaxFraction != nil && len(q.MaxFraction) != n {
		panic("physics: Casts: X, DX, DY or MaxFraction differ in length")
	}
	for i := range n {
		if err := checkTranslation("physics: Casts", i, q.X[i], q.Y[i], q.DX[i], q.DY[i], fractionAt(q.MaxFraction, i)); err != nil {
			return err
		}
	}
	return nil
}

// CastClosest finds the first shape that each form hits; of several at the same
// fraction the one with the lowest index. Like RayClosest, it may find none. The point is the point of the
// shape that touches the form. rigid.QueryTree.CastShapeClosest defines when they touch.
//
// Errors are those of Casts.Validate and of RayClosest.
func (w *World) CastClosest(q *Casts, out *RayHits) error {
	t, err := w.beginCasts(q, out)
	if err != nil {
		return err
	}
	return t.Closest(len(q.X))
}

// CastAll finds all shapes that each form hits. Errors are those of CastClosest, and
// ErrRange for more than 2^31-1 hits, with out empty.
func (w *World) CastAll(q *Casts, out *RayHits) error {
	t, err := w.beginCasts(q, out)
	if err != nil {
		return err
	}
	return t.All("physics: CastAll: hits", len(q.X))
}

// probeChunk is the number of forms that a worker takes at a time.
const probeChunk = 16

// probeTask is a batch of casts, or of queries for the nearest shape.
type probeTask struct {
	batch.Batch[rigid.ShapeHit]
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
	if err := w.prepareQueries(&q.QueryFilter, len(q.X), goCost); err != nil {
		return nil, err
	}
	t := &w.solver.queries.probes
	t.s, t.q, t.casts, t.out = w.solver, &q.Probes, q, out
	t.Begin(w.solver.pool, probeChunk, t)
	return t, nil
}

// cast prepares the probe of a cast.
func (t *probeTask) cast(i int, p *rigid.ShapeQuery) {
	q := t.casts
	q.fill(p, i, q.SkipInside)
	p.DX, p.DY, p.MaxT = q.DX[i], q.DY[i], fractionAt(q.MaxFraction, i)
	p.Prepare()
}

func (t *probeTask) Answer(_, lo, hi int) {
	var p rigid.ShapeQuery
	for i := lo; i < hi; i++ {
		if t.casts == nil {
			t.q.fill(&p, i, false)
			p.MaxT = t.within[i]
			p.Prepare()
			f := t.s.queries.tree.Nearest(&p)
			t.near.put(i, t.s.handle(f.Shape), &f)
			continue
		}
		t.cast(i, &p)
		f := t.s.queries.tree.CastShapeClosest(&p)
		if f.Shape == rigid.NoShape {
			f.Point = rigid.Vec{X: p.X + float32(f.T*p.DX), Y: p.Y + float32(f.T*p.DY)}
		}
		t.Put(i, i, &f)
	}
}

func (t *probeTask) Rows(_, lo, hi int, ends []uint32, to []rigid.ShapeHit) []rigid.ShapeHit {
	var p rigid.ShapeQuery
	for i := lo; i < hi; i++ {
		t.cast(i, &p)
		to = t.s.queries.tree.CastShapeAll(&p, to)
		ends[i-lo] = uint32(len(to))
	}
	return to
}

func (t *probeTask) Resize(rows, n int) []uint32 {
	t.out.resize(rows, n)
	return t.out.Offsets
}

func (t *probeTask) Put(_, at int, f *rigid.ShapeHit) {
	t.out.put(at, t.s.handle(f.Shape), f.T, f.Normal, f.Point)
}

// Overlapping holds the shapes that forms overlap: row i is Shapes[Offsets[i]:Offsets[i+1]],
// in ascending order of the index. The zero value is ready; reuse it, like RayHits.
type Overlapping struct {
	Offsets []uint32
	Shapes  []Shape
}

// Row returns the shapes of row i.
func (o *Overlapping) Row(i int) []Shape {
	from, to := o.Offsets[i], o.Offsets[i+1]
	return o.Shapes[from:to:to]
}

// Overlaps finds the shapes that each form overlaps or touches: those whose distance is zero
// or less. A Box at angle 0 queries an axis-aligned box. Errors are those of
// Probes.Validate and of RayAll.
func (w *World) Overlaps(q *Probes, out *Overlapping) error {
	if err := q.Validate(); err != nil {
		return err
	}
	if err := w.prepareQueries(&q.QueryFilter, len(q.X), goCost); err != nil {
		return err
	}
	t := &w.solver.queries.overlaps
	t.s, t.q, t.out = w.solver, q, out
	t.Begin(w.solver.pool, probeChunk, t)
	return t.All("physics: Overlaps: shapes", len(q.X))
}

// overlapTask is a batch of overlaps.
type overlapTask struct {
	batch.Batch[uint32]
	s   *solver
	q   *Probes
	out *Overlapping
}

func (t *overlapTask) Answer(int, int, int) {}

func (t *overlapTask) Rows(_, lo, hi int, ends []uint32, to []uint32) []uint32 {
	var p rigid.ShapeQuery
	for i := lo; i < hi; i++ {
		t.q.fill(&p, i, false)
		p.Prepare()
		to = t.s.queries.tree.OverlapShape(&p, to)
		ends[i-lo] = uint32(len(to))
	}
	return to
}

func (t *overlapTask) Resize(rows, n int) []uint32 {
	t.out.Offsets, t.out.Shapes = buffer.Resized(t.out.Offsets, rows), resizedWithRoom(t.out.Shapes, n)
	return t.out.Offsets
}

func (t *overlapTask) Put(_, at int, shape *uint32) { t.out.Shapes[at] = t.s.handle(*shape) }
