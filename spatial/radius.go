package spatial

import (
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/neighbours"
)

// Queries is a batch of centres and radii in metres, one query an index. A
// point is within when, in float32 and with every operation rounded,
//
//	(dx*dx + dy*dy) + dz*dz <= r*r
//
// where d = point - centre. Nothing else decides. Therefore a radius whose square
// overflows includes every point: for no limit use math.MaxFloat32.
type Queries struct {
	X, Y, Z, Radius []float32 // a nil Z is zero everywhere
	// Exclude has for each query a slot whose point is left out, or NoSlot. Nil: none.
	Exclude []uint32
	// Mask is a set of up to 32 categories for each query. It leaves out a point that is
	// in none of them, by Index.SetCategories; a mask of 0 leaves out all.
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

// Validate returns the first fault of the batch: a value that is NaN or
// infinite (ErrNotFinite), a negative radius or an unknown order (ErrRange). It
// panics if the slices differ in length.
func (q *Queries) Validate() error {
	n, z := len(q.X), q.z()
	mustBeLong("spatial: Queries: X, Y, Z and Radius differ in length", n, q.Y, z, q.Radius)
	mustBeLongOrNil("spatial: Queries: Exclude and X differ in length", n, q.Exclude)
	mustBeLongOrNil("spatial: Queries: Mask and X differ in length", n, q.Mask)
	if q.Order > Grid {
		return fault.Field(ErrRange, "spatial: Queries.Order", q.Order)
	}
	if allFinite(anyValue, q.X, q.Y, z) && allFinite(0, q.Radius) {
		return nil
	}
	return firstFault("Queries.X Queries.Y Queries.Z Queries.Radius", negative("Queries.Radius", q.Radius), q.X, q.Y, z, q.Radius)
}

func (q *Queries) z() []float32 { return planar(q.Z, len(q.X)) }

// part returns queries lo to hi-1 for package native.
func (q *Queries) part(lo, hi int, live []uint16) neighbours.Queries {
	return neighbours.Queries{X: q.X[lo:hi], Y: q.Y[lo:hi], Z: q.z()[lo:hi], Radius: q.Radius[lo:hi],
		Exclude: cut(q.Exclude, lo, hi), Mask: cut(q.Mask, lo, hi), Live: live}
}

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
	s.begin(ix, q)
	err := w.rows.collect(task{
		searcher: s, ix: ix, query: "Radius", rows: len(q.X), chunk: chunkQueries,
		order: q.Order, withKey: !q.SkipDist2, parallel: ix.parallelFrom,
	}, &out.Offsets, &out.Slots, &out.Dist2)
	s.end()
	out.Of = out.Of[:0]
	return err
}

// radiusSearch is the searcher of Radius.
type radiusSearch struct {
	ix     *Index
	q      *Queries
	live   liveBits // Queries.Live of all points, filtered before the search,
	filter []uint64 // or Queries.Live itself, to filter the results
}

// filterFirst is the number of points per query up to which Radius looks up all points
// in Queries.Live before the search. That takes half a nanosecond a point;
// filtering the results takes nearly one a hit, of which there are often about thirty.
const filterFirst = 48

func (s *radiusSearch) begin(ix *Index, q *Queries) {
	s.ix, s.q, s.filter = ix, q, nil
	if ix.n <= filterFirst*len(q.X) {
		s.live.set(ix, q.Live)
	} else {
		s.live.set(ix, nil)
		ix.checkLive(q.Live)
		s.filter = q.Live
	}
}

func (s *radiusSearch) end() { s.ix, s.q, s.filter = nil, nil, nil }

func (s *radiusSearch) search(_, first, last int, rows *neighbours.Rows) int {
	part := s.q.part(first, last, s.live.bits)
	from := rows.Fill
	done := neighbours.Radius(s.ix.level, &s.ix.grid, &s.ix.points, &part, rows)
	if s.filter != nil && done > 0 {
		neighbours.KeepLive(s.ix.level, s.filter, from, rows.Ends[:done], rows)
	}
	return done
}

// Count stores in counts[i] how many points are within radius i of q: the length of row i
// of Radius, with the same filters, without the row. It ignores q.Order and q.SkipDist2,
// but refuses an unknown order. Errors are those of Queries.Validate, with counts as they
// were, and ErrFloatEnv. It panics if counts and q.X differ in length.
func (ix *Index) Count(q *Queries, counts []uint32) error {
	if err := q.checkCounts(counts); err != nil {
		return err
	}
	b := ix.scratches.borrow()
	defer ix.scratches.giveBack(b)
	t := &b.count
	t.ix, t.q, t.counts = ix, q, counts
	t.live.set(ix, q.Live)
	err := b.pools.run(ix, len(q.X), chunkQueries, t)
	t.ix, t.q, t.counts = nil, nil, nil
	return err
}

func (q *Queries) checkCounts(counts []uint32) error {
	if len(counts) != len(q.X) {
		panic("spatial: Count: counts and Queries.X differ in length")
	}
	return q.Validate()
}

type countTask struct {
	radiusSearch
	counts []uint32
}

// Do answers one chunk of queries; it implements native.Task.
func (t *countTask) Do(_, c int) {
	lo, hi := c*chunkQueries, min((c+1)*chunkQueries, len(t.q.X))
	part := t.q.part(lo, hi, t.live.bits)
	neighbours.Count(t.ix.level, &t.ix.grid, &t.ix.points, &part, t.counts[lo:hi])
}
