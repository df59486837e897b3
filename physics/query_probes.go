package physics

import (
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/native/rigid"
)

// Probes is a batch of forms at places, one query an index.
type Probes struct {
	// Forms has one form for all queries, or one for each.
	Forms []Form
	// X and Y are where the origin of each form is, in metres.
	X, Y []float32
	// Angle in radians, up to 65536 either way. Nil: 0.
	Angle []float32
	QueryFilter
}

// Validate reports the first fault of the batch: a value that is NaN or infinite
// (ErrNotFinite), a coordinate of more than 2^60, an angle of more than 65536, or a zero Form
// (ErrRange). It panics if slices differ in length.
func (q *Probes) Validate() error {
	n := len(q.X)
	if len(q.Y) != n || q.Angle != nil && len(q.Angle) != n || len(q.Forms) != n && len(q.Forms) != 1 {
		panic("physics: Probes: Forms, X, Y or Angle differ in length")
	}
	q.check(n)
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
		return because(fault.Element(ErrRange, "physics: Probes.Angle", i, a), "more than 65536 rad")
	}
	return nil
}

// fill sets all of a probe but its way.
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
}

// Casts is a batch of forms that are moved without turning: from their places by up to
// MaxFraction times (DX, DY) metres.
type Casts struct {
	Probes
	DX, DY []float32
	// MaxFraction is where each way ends. Nil: at 1.
	MaxFraction []float32
	// SkipInside leaves out shapes that a form overlaps where it begins. Otherwise it meets
	// them at the fraction 0, with a zero normal, at its origin.
	SkipInside bool
}

// Validate reports the first fault of the batch: those of Probes.Validate, and of ways those
// of Rays.Validate.
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

// CastClosest finds the shape that each form meets first on its way: of several at the same
// fraction the one of the lowest index, or none, as RayClosest. The point is that of the
// shape which touches the form. When that is is said at rigid.QueryTree.CastShapeClosest.
//
// Errors are those of Casts.Validate, and else as in RayClosest.
func (w *World) CastClosest(q *Casts, out *RayHits) error {
	t, err := w.beginCasts(q, out)
	if err != nil {
		return err
	}
	return t.closest(len(q.X))
}

// CastAll finds all shapes that each form meets on its way, with errors as in CastClosest, and
// ErrRange for more than 2^31-1 of them, with out empty.
func (w *World) CastAll(q *Casts, out *RayHits) error {
	t, err := w.beginCasts(q, out)
	if err != nil {
		return err
	}
	return t.all("physics: CastAll: hits", len(q.X))
}

// probeChunk is the number of forms that a worker takes at a time.
const probeChunk = 16

// probeTask is a batch of casts, or of forms whose nearest shape is wanted.
type probeTask struct {
	batch[rigid.ShapeHit]
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
	t.q, t.casts, t.out = &q.Probes, q, out
	t.begin(w.solver, probeChunk, t)
	return t, nil
}

// cast makes the probe of a cast.
func (t *probeTask) cast(i int, p *rigid.ShapeQuery) {
	q := t.casts
	q.fill(p, i, q.SkipInside)
	p.DX, p.DY, p.MaxT = q.DX[i], q.DY[i], fractionAt(q.MaxFraction, i)
	p.Prepare()
}

func (t *probeTask) answer(_, lo, hi int) {
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
		t.put(i, i, &f)
	}
}

func (t *probeTask) rows(_, lo, hi int, ends []uint32, to []rigid.ShapeHit) []rigid.ShapeHit {
	var p rigid.ShapeQuery
	for i := lo; i < hi; i++ {
		t.cast(i, &p)
		to = t.s.queries.tree.CastShapeAll(&p, to)
		ends[i-lo] = uint32(len(to))
	}
	return to
}

func (t *probeTask) resize(rows, n int) []uint32 {
	t.out.resize(rows, n)
	return t.out.Offsets
}

func (t *probeTask) put(_, at int, f *rigid.ShapeHit) {
	t.out.put(at, t.s.handle(f.Shape), f.T, f.Normal, f.Point)
}

// Overlapping holds the shapes that forms overlap: row i is Shapes[Offsets[i]:Offsets[i+1]],
// ascending by index. The zero value is ready; reuse it, as RayHits.
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
// or less. A Box at angle 0 asks for an axis-aligned box. Errors are those of
// Probes.Validate, and else as in RayAll.
func (w *World) Overlaps(q *Probes, out *Overlapping) error {
	if err := q.Validate(); err != nil {
		return err
	}
	if err := w.prepareQueries(&q.QueryFilter, len(q.X), goCost); err != nil {
		return err
	}
	t := &w.solver.queries.overlaps
	t.q, t.out = q, out
	t.begin(w.solver, probeChunk, t)
	return t.all("physics: Overlaps: shapes", len(q.X))
}

// overlapTask is a batch of overlaps.
type overlapTask struct {
	batch[uint32]
	q   *Probes
	out *Overlapping
}

func (t *overlapTask) answer(int, int, int) {}

func (t *overlapTask) rows(_, lo, hi int, ends []uint32, to []uint32) []uint32 {
	var p rigid.ShapeQuery
	for i := lo; i < hi; i++ {
		t.q.fill(&p, i, false)
		p.Prepare()
		to = t.s.queries.tree.OverlapShape(&p, to)
		ends[i-lo] = uint32(len(to))
	}
	return to
}

func (t *overlapTask) resize(rows, n int) []uint32 {
	t.out.Offsets, t.out.Shapes = resized(t.out.Offsets, rows), resizedWithRoom(t.out.Shapes, n)
	return t.out.Offsets
}

func (t *overlapTask) put(_, at int, shape *uint32) { t.out.Shapes[at] = t.s.handle(*shape) }
