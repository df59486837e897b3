package physics

import (
	"bytes"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/native/rigid"
)

// QueryFilter says which shapes the queries of a batch find. The zero value finds all that
// are solid. The shapes of a disabled body are not found.
type QueryFilter struct {
	// Category is what a query is, and Mask what it finds, as in the Filter of a shape: it
	// finds a shape if the mask of each has a bit of the category of the other. 0
	// stands for all bits. Groups mean nothing to queries.
	Category, Mask uint64
	// Categories and Masks are those of each query, in place of Category and Mask. Nil: none.
	Categories, Masks []uint64
	// Exclude names for each query a body whose shapes it does not find. The zero Body is
	// none. Nil: none.
	Exclude []Body
	// Sensors are found too.
	Sensors bool
}

// check panics if a slice has not an element for each of n queries.
func (f *QueryFilter) check(n int) {
	if f.Categories != nil && len(f.Categories) != n || f.Masks != nil && len(f.Masks) != n ||
		f.Exclude != nil && len(f.Exclude) != n {
		panic("physics: QueryFilter: Categories, Masks or Exclude have another length than the queries")
	}
}

// checkExclude returns ErrStale for the first body that is gone.
func (w *World) checkExclude(f *QueryFilter) error {
	for i, b := range f.Exclude {
		if b != (Body{}) && !w.Valid(b) {
			return fault.Element(ErrStale, "physics: QueryFilter.Exclude", i, b)
		}
	}
	return nil
}

// forQuery returns what query i finds.
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

func allIfZero(bits uint64) uint64 {
	if bits == 0 {
		return ^uint64(0)
	}
	return bits
}

// flags are those of rigid.Ray.
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

// checkCoordinate is what queries ask of a number in metres.
func checkCoordinate(field string, i int, v float32) error {
	switch {
	case !fault.Finite(v):
		return fault.Element(ErrNotFinite, field, i, v)
	case v > maxQueryCoordinate || v < -maxQueryCoordinate:
		return because(fault.Element(ErrRange, field, i, v), "more than 2^60")
	}
	return nil
}

// queries is what the queries of a world keep: the shapes as they were at the last of
// them, and room to work in.
type queries struct {
	tree     rigid.QueryTree
	built    bool
	spent    int    // what queries have cost since targets were taken for few of them, or -1
	version  uint64 // of the shapes
	poses    rigid.Poses
	centre   rigid.Poses // room for poses as they are now
	rays     rayTask
	probes   probeTask
	overlaps overlapTask
	movers   moverTask
}

// What a query costs where targets were taken for few of them: in a kernel, and in Go.
const (
	kernelCost = 1
	goCost     = 8
	moverCost  = 8 * goCost
)

// fewQueries is the cost up to which queries after a change count as few: to put shapes in order
// costs 70 ns and more for each, and a ray in a kernel tests a box in half a nanosecond. Both
// grow with the number of shapes, which therefore plays no part.
const fewQueries = 64

// prepareQueries makes the world ready for a batch of n queries at a cost each. Whether something
// has moved is seen by comparing: a program may write to the columns at any time.
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

// refresh takes the shapes anew if one of them, or a body, is not as it was, and puts them in order
// once queries have cost more than a few. What these find does not depend on that.
func (s *solver) refresh(cost int) {
	q, moved := &s.queries, s.updatePoses()
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
		q.tree.Build(s.level, s.scene())
		q.spent = -1
	case moved || !alike:
		q.tree.Refit(s.level, s.scene(), alike)
	}
	q.built, q.version = true, s.shapes.version
}

// updatePoses keeps the poses of bodies, and reports whether they are others than before.
func (s *solver) updatePoses() bool {
	q, n := &s.queries, s.rows
	now, p := &q.centre, &q.poses
	now.X, now.Y = resized(now.X, n), resized(now.Y, n)
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
func sameBits(a, b []float32) bool { return bytes.Equal(raw(a), raw(b)) }

// scene is what queries look at.
func (s *solver) scene() *rigid.Scene {
	t := &s.shapes
	return &rigid.Scene{Shapes: t.shape, Poses: &s.queries.poses, Filters: &t.filters, Sensors: t.sensor}
}

// handle is the shape of a number; the zero Shape of rigid.NoShape.
func (s *solver) handle(shape uint32) Shape {
	if shape == rigid.NoShape {
		return Shape{}
	}
	return Shape{shape, s.shapeTable.ids.generation[shape]}
}
