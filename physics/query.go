package physics

import (
	"bytes"
	"strconv"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/native"
)

// QueryFilter selects the shapes that the queries of a batch find. The zero value finds all
// solid shapes. Queries do not find the shapes of a disabled body.
type QueryFilter struct {
	// Category is the category of a query, and Mask the categories that it finds, as in the Filter of a shape: it
	// finds a shape if the mask of each has a bit of the category of the other. 0
	// means all bits. Queries ignore groups.
	Category, Mask uint64
	// Categories and Masks replace Category and Mask with one value for each query. Nil: no replacement.
	Categories, Masks []uint64
	// Exclude holds for each query a body whose shapes it does not find. The zero Body means
	// none. Nil: none.
	Exclude []Body
	// Sensors makes queries find sensors, too.
	Sensors bool
	// Span is the interval of a query along the third axis: a query finds the shapes whose span overlaps it. Zero: the
	// whole axis. Spans replaces it with one value for each query. Nil: no replacement.
	Span  Span
	Spans []Span
}

// check returns the first fault of the spans. It panics unless each slice is nil or has n elements.
func (f *QueryFilter) check(n int) error {
	if f.Categories != nil && len(f.Categories) != n || f.Masks != nil && len(f.Masks) != n ||
		f.Exclude != nil && len(f.Exclude) != n || f.Spans != nil && len(f.Spans) != n {
		panic("physics: QueryFilter: Categories, Masks, Exclude or Spans have another length than the queries")
	}
	if err := f.Span.check("physics: QueryFilter.Span"); err != nil {
		return err
	}
	for i, span := range f.Spans {
		if span.Min <= span.Max {
			continue
		}
		if err := span.check("physics: QueryFilter.Spans[" + strconv.Itoa(i) + "]"); err != nil {
			return err
		}
	}
	return nil
}

// checkExclude returns ErrStale for the first body that is destroyed.
func (w *World) checkExclude(f *QueryFilter) error {
	for i, b := range f.Exclude {
		if b != (Body{}) && !w.Valid(b) {
			return fault.Element(ErrStale, "physics: QueryFilter.Exclude", i, b)
		}
	}
	return nil
}

// forQuery returns the filter of query i, without its span.
func (f *QueryFilter) forQuery(i int) (category, mask uint64, exclude uint32) {
	category, mask, exclude = f.Category, f.Mask, rigid.NoShape
	if f.Categories != nil {
		category = f.Categories[i]
	}
	if f.Masks != nil {
		mask = f.Masks[i]
	}
	if f.Exclude != nil && f.Exclude[i] != (Body{}) {
		exclude = f.Exclude[i].index
	}
	return allIfZero(category), allIfZero(mask), exclude
}

// spanned reports whether queries have spans.
func (f *QueryFilter) spanned() bool { return f.Spans != nil || f.Span != (Span{}) }

// setSpan sets the span of query i.
func (f *QueryFilter) setSpan(r *rigid.Ray, i int) {
	span := f.Span
	if f.Spans != nil {
		span = f.Spans[i]
	}
	if span != (Span{}) {
		r.SpanMin, r.SpanMax = span.Min, span.Max
		r.Flags |= rigid.WithSpan
	}
}

func allIfZero(bits uint64) uint64 {
	if bits == 0 {
		return ^uint64(0)
	}
	return bits
}

// flags returns the flags of a rigid.Ray, without the flag of setSpan.
func (f *QueryFilter) flags(skipInside bool) (flags uint32) {
	if f.Sensors {
		flags |= rigid.IncludeSensors
	}
	if skipInside {
		flags |= rigid.SkipInside
	}
	return flags
}

// maxQueryCoordinate bounds coordinates and lengths of queries in metres, so that no square
// overflows.
const maxQueryCoordinate = 1 << 60

// checkCoordinate checks a coordinate of a query.
func checkCoordinate(field string, i int, v float32) error {
	switch {
	case !fault.Finite(v):
		return fault.Element(ErrNotFinite, field, i, v)
	case v > maxQueryCoordinate || v < -maxQueryCoordinate:
		return check.Because(fault.Element(ErrRange, field, i, v), "more than 2^60")
	}
	return nil
}

// queries holds the search tree of the shapes as they were at the last query, and working
// memory.
type queries struct {
	tree     rigid.QueryTree
	built    bool
	spent    int    // cost of the queries since the last change, or -1 if the tree is built
	version  uint64 // of the shapes
	shifted  uint64 // of their spans
	poses    rigid.Poses
	centre   rigid.Poses // the present poses
	rays     rayTask
	probes   probeTask
	overlaps overlapTask
	movers   moverTask
	one      oneShape // of RayShape
}

// The cost of a query while the tree is not built: in a kernel, and in Go.
const (
	kernelCost = 1
	goCost     = 8
	moverCost  = 8 * goCost
)

// fewQueries is the cost of queries after a change up to which building the tree does not pay: building
// costs 70 ns or more per shape, and a ray in a kernel tests a box in half a nanosecond. Both
// are proportional to the number of shapes, which therefore does not matter.
const fewQueries = 64

// prepareQueries prepares the world for a batch of n queries with a cost each. It compares poses to detect
// motion, because a program may write to the columns at any time.
func (w *World) prepareQueries(f *QueryFilter, n, cost int) error {
	if err := w.requireRunning(); err != nil {
		return err
	}
	if err := w.checkExclude(f); err != nil {
		return err
	}
	if err := native.CheckFloatEnv(); err != nil {
		return err
	}
	if w.solver.level == native.Go {
		cost = max(cost, goCost)
	}
	w.solver.refresh(cost * min(n, fewQueries+1))
	return nil
}

// refresh updates the tree if a shape or a body has changed, and builds it
// once the queries since then have cost more than fewQueries. The results do not depend on that.
func (s *solver) refresh(cost int) {
	q, moved := &s.queries, s.updatePoses()
	moved = moved || q.shifted != s.shapes.shifted
	alike := q.built && q.version == s.shapes.version
	switch {
	case moved || !alike:
		q.spent = 0
	case q.spent < 0:
		return
	}
	q.spent += cost
	switch {
	case q.spent > fewQueries:
		q.tree.Build(s.level, s.queryScene())
		q.spent = -1
	case moved || !alike:
		q.tree.Refit(s.level, s.queryScene(), alike)
	}
	q.built, q.version, q.shifted = true, s.shapes.version, s.shapes.shifted
}

// updatePoses stores the poses of bodies, and reports whether they have changed.
func (s *solver) updatePoses() bool {
	q, n := &s.queries, s.rows
	now, p := &q.centre, &q.poses
	now.X, now.Y = buffer.Resized(now.X, n), buffer.Resized(now.Y, n)
	now.Cos, now.Sin = s.cols.Cos[:n], s.cols.Sin[:n]
	o := s.origins(n)
	o.UpdateCentresOfMass(s.level, now, 0, n)
	if sameBits(p.X, now.X) && sameBits(p.Y, now.Y) && sameBits(p.Cos, now.Cos) && sameBits(p.Sin, now.Sin) {
		return false
	}
	p.X, now.X = now.X, p.X
	p.Y, now.Y = now.Y, p.Y
	p.Cos, p.Sin = append(p.Cos[:0], now.Cos...), append(p.Sin[:0], now.Sin...)
	return true
}

// sameBits compares columns of one length.
func sameBits(a, b []float32) bool { return bytes.Equal(buffer.Bytes(a), buffer.Bytes(b)) }

// queryScene returns the shapes and poses that queries search.
func (s *solver) queryScene() *rigid.Scene {
	t := &s.shapes
	return &rigid.Scene{Shapes: t.shape, Poses: &s.queries.poses, Filters: &t.filters, Sensors: t.sensor}
}

// handle returns the handle of a shape, or the zero Shape for rigid.NoShape.
func (s *solver) handle(shape uint32) Shape {
	if shape == rigid.NoShape {
		return Shape{}
	}
	return Shape{shape, s.shapeTable.IDs.Generation[shape]}
}
