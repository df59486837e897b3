package spatial

import (
	"math"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/native"
)

// Order is the order of the slots within a row. Each is total, so a row has one
// form on every machine.
type Order uint8

const (
	BySlot     Order = iota // ascending slots
	ByDistance              // ascending squared distance, then slot
	Grid                    // cells by z, y, x, then slot: a function of the points, CellSize and Bounds; free, but RadiusOnce must build for it
)

// Queries is a batch of centres and radii in metres, one query an index. A
// point is within when, in float32 and with every operation rounded,
//
//	(dx*dx + dy*dy) + dz*dz <= r*r
//
// where d = point - centre. Nothing else decides. A radius whose square
// overflows therefore takes in every point: for no limit use math.MaxFloat32.
type Queries struct {
	X, Y, Z, Radius []float32 // a nil Z is zero everywhere
	// Exclude names for each query a slot that is left out, or NoSlot. Nil: none.
	Exclude []uint32
	// Mask is a set of up to 32 categories for each query: a point that is in none
	// of them, by Index.SetCategories, is left out, and a mask of 0 leaves out all.
	// Nil: no point is left out, not even one of no category.
	Mask []uint32
	// Live has a bit for each slot of the columns that the index was built from: bit
	// s%64 of Live[s/64]. A point whose bit is zero is left out. Nil: all points count.
	Live []uint64
	// Order of each row.
	Order Order
	// SkipDist2 leaves Result.Dist2 empty, which saves a little time.
	SkipDist2 bool
}

// Validate reports the first fault of the batch: a value that is NaN or
// infinite (ErrNotFinite), a negative radius or an unknown order (ErrRange). It
// panics if the slices differ in length.
func (q *Queries) Validate() error {
	n := len(q.X)
	if len(q.Y) != n || len(q.z()) != n || len(q.Radius) != n {
		panic("spatial: Queries: X, Y, Z and Radius differ in length")
	}
	if q.Exclude != nil && len(q.Exclude) != n {
		panic("spatial: Queries: Exclude and X differ in length")
	}
	if q.Mask != nil && len(q.Mask) != n {
		panic("spatial: Queries: Mask and X differ in length")
	}
	if q.Order > Grid {
		return fault.Field(ErrRange, "spatial: Queries.Order", q.Order)
	}
	z := q.z()
	for i := range n {
		switch {
		case !fault.Finite(q.X[i]):
			return fault.Element(ErrNotFinite, "spatial: Queries.X", i, q.X[i])
		case !fault.Finite(q.Y[i]):
			return fault.Element(ErrNotFinite, "spatial: Queries.Y", i, q.Y[i])
		case !fault.Finite(z[i]):
			return fault.Element(ErrNotFinite, "spatial: Queries.Z", i, z[i])
		case !fault.Finite(q.Radius[i]):
			return fault.Element(ErrNotFinite, "spatial: Queries.Radius", i, q.Radius[i])
		case q.Radius[i] < 0:
			return fault.Element(ErrRange, "spatial: Queries.Radius", i, q.Radius[i])
		}
	}
	return nil
}

func (q *Queries) z() []float32 { return planar(q.Z, len(q.X)) }

// Result holds one row per query, in compressed sparse rows: row i is
// Slots[Offsets[i]:Offsets[i+1]], and Dist2 has the squared distances of the
// same places. The zero Result is ready; reuse it, and after a few batches
// nothing is allocated any more. Rows are valid until the next call with this
// Result; Build does not touch them. Do not copy a Result that is still in use: the
// copy shares its memory.
type Result struct {
	Offsets []uint32
	Slots   []uint32
	Dist2   []float32
	// Of is the slot that each row belongs to, after RadiusSelf and Pairs; else empty.
	Of []uint32

	scratch *scratch
}

// Len returns the number of rows.
func (r *Result) Len() int { return max(0, len(r.Offsets)-1) }

// Row returns the slots of row i.
func (r *Result) Row(i int) []uint32 { return row(r.Offsets, r.Slots, i) }

// Dist2Row returns the squared distances of row i, in square metres; nil where
// they were not asked for.
func (r *Result) Dist2Row(i int) []float32 {
	if len(r.Dist2) == 0 {
		return nil
	}
	return row(r.Offsets, r.Dist2, i)
}

// row has no room behind it, so that who appends to it does not touch the next.
func row[T any](offsets []uint32, of []T, i int) []T {
	from, to := offsets[i], offsets[i+1]
	return of[from:to:to]
}

// empty takes all rows away.
func (r *Result) empty() {
	r.Offsets, r.Slots, r.Dist2, r.Of = r.Offsets[:0], r.Slots[:0], r.Dist2[:0], r.Of[:0]
}

// maxResults bounds the length of Slots, so that it fits an int32 everywhere.
const maxResults = math.MaxInt32

// chunkQueries is the number of queries that a worker takes at a time: about ten
// microseconds of work, so that workers finish together, against nanoseconds to
// take the next. It must not depend on the number of workers.
const chunkQueries = 64

// parallelFrom is the number of chunks from which a second worker pays. Waking it
// costs as much as a few hundred queries: in BenchmarkWorkers on two cores it loses
// at 128, gains little or nothing at 256 and 512, and a quarter to a third at 1,024;
// within a whole step, where the other core has work of its own, it lost at 200.
const parallelFrom = 16

// Radius answers a batch of queries on the index's level. Errors are those of
// Queries.Validate, with out as it was; ErrRange if there are more than 2^31-1
// results, and ErrFloatEnv, with out empty.
func (ix *Index) Radius(q *Queries, out *Result) error {
	if err := q.Validate(); err != nil {
		return err
	}
	w := scratchOf(&out.scratch)
	s := &w.radius
	s.ix, s.q, s.live, s.dead = ix, q, nil, nil
	if ix.n <= lanesForQueries*len(q.X) {
		s.live = s.lanes.of(ix, q.Live)
	} else {
		ix.checkLive(q.Live)
		s.dead = q.Live
	}
	err := w.rows.collect(task{
		searcher: s, ix: ix, what: "Radius", rows: len(q.X), chunk: chunkQueries,
		order: q.Order, withKey: !q.SkipDist2, parallel: ix.parallelFrom,
	}, &out.Offsets, &out.Slots, &out.Dist2)
	s.ix, s.q, s.dead, out.Of = nil, nil, nil, out.Of[:0]
	return err
}

// radiusSearch is the searcher of Radius.
type radiusSearch struct {
	ix    *Index
	q     *Queries
	live  []uint16 // where all points are looked up in the bitmap before the search,
	dead  []uint64 // or the bitmap itself, where those that were found are
	lanes lanes
}

// lanesForQueries is the number of points for each query up to which all of them are
// looked up in a bitmap before the search. That takes half a nanosecond a point, and
// filtering what was found most of one a hit, of which there are often about thirty.
const lanesForQueries = 48

func (s *radiusSearch) search(_, first, last int, rows *native.Rows) int {
	q := s.q
	part := native.Queries{X: q.X[first:last], Y: q.Y[first:last], Z: q.z()[first:last], Radius: q.Radius[first:last]}
	part.Exclude, part.Mask, part.Live = cut(q.Exclude, first, last), cut(q.Mask, first, last), s.live
	from := rows.Fill
	done := native.Radius(s.ix.level, &s.ix.grid, &s.ix.points, &part, rows)
	if s.dead != nil && done > 0 {
		native.KeepLive(s.ix.level, s.dead, from, rows.Ends[:done], rows)
	}
	return done
}
