package spatial

import (
	"math"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/neighbours"
)

// MostNeighbours is the largest K of a batch.
const MostNeighbours = neighbours.MostNeighbours

// NearestQueries is a batch of centres, one query an index. The answer to a query
// is the first K points by squared distance, then slot, where the
// squared distance is, in float32 and with every operation rounded,
//
//	(dx*dx + dy*dy) + dz*dz
//
// and d = point - centre. Where it overflows it is +Inf: such points come last,
// by slot. Nothing else decides.
type NearestQueries struct {
	X, Y, Z []float32 // a nil Z is zero everywhere
	// K is the number of points to find, 1 to MostNeighbours. A row is shorter only if
	// fewer points pass the filters. Index.Nearest does not read it.
	K int
	// Radius in metres leaves out, for each query, the points that Index.Radius
	// would not find. Nil, or a radius whose square overflows, leaves out none.
	Radius []float32
	// Exclude has for each query a slot whose point is left out, or NoSlot. Nil: none.
	Exclude []uint32
	// Mask leaves out, for each query, the points that are in none of its
	// categories. A mask of 0 leaves out all. Nil: none.
	Mask []uint32
	// Live leaves out the points whose bit is zero: bit s%64 of Live[s/64] belongs to
	// slot s. Nil: none.
	Live []uint64
	// SkipDist2 leaves Result.Dist2 empty.
	SkipDist2 bool
}

// Validate returns the first fault of the batch: K, a value that is NaN or
// infinite (ErrNotFinite), or a negative radius (ErrRange). It panics if the
// slices differ in length.
func (q *NearestQueries) Validate() error {
	if q.K < 1 || q.K > MostNeighbours {
		return fault.Field(ErrRange, "spatial: NearestQueries.K", q.K)
	}
	return q.validate()
}

func (q *NearestQueries) validate() error {
	n, z := len(q.X), q.z()
	const unequal = "spatial: NearestQueries: X, Y, Z and Radius differ in length"
	mustBeLong(unequal, n, q.Y, z)
	if q.Radius != nil {
		mustBeLong(unequal, n, q.Radius)
	}
	mustBeLongOrNil("spatial: NearestQueries: Exclude, Mask and X differ in length", n, q.Exclude, q.Mask)
	if allFinite(anyValue, q.X, q.Y, z) && allFinite(0, q.Radius) {
		return nil
	}
	inRange := func(int) error { return nil }
	if err := firstFault("NearestQueries.X NearestQueries.Y NearestQueries.Z", inRange, q.X, q.Y, z); err != nil {
		return err
	}
	return firstFault("NearestQueries.Radius", negative("NearestQueries.Radius", q.Radius), q.Radius)
}

func (q *NearestQueries) z() []float32 { return planar(q.Z, len(q.X)) }

// NearestResult holds one point per query. The zero NearestResult is ready. Reuse it:
// after a few batches queries allocate nothing more.
type NearestResult struct {
	Slots []uint32  // NoSlot where no point passes
	Dist2 []float32 // in square metres; +Inf where no point passes

	task  nearestTask
	pools pools
}

// knnSearch is the searcher of KNN.
type knnSearch struct {
	ix   *Index
	q    *NearestQueries
	k    int
	box  [2][3]float32 // of the points
	live liveBits
}

func (s *knnSearch) begin(ix *Index, q *NearestQueries, k int) {
	s.ix, s.q, s.k, s.box = ix, q, k, [2][3]float32{ix.box.Min, ix.box.Max}
	s.live.set(ix, q.Live)
}

// part returns queries lo to hi-1 for package native.
func (s *knnSearch) part(lo, hi int) neighbours.NearestQueries {
	q := s.q
	part := neighbours.NearestQueries{X: q.X[lo:hi], Y: q.Y[lo:hi], Z: q.z()[lo:hi], K: s.k, Box: &s.box,
		Exclude: cut(q.Exclude, lo, hi), Mask: cut(q.Mask, lo, hi), Live: s.live.bits}
	if q.Radius != nil {
		part.Radius = q.Radius[lo:hi]
	}
	return part
}

func (s *knnSearch) search(_, first, last int, rows *neighbours.Rows) int {
	from := rows.Fill
	n := min(last-first, (len(rows.Slots)-from)/s.k) // queries for which there is room
	part := s.part(first, first+n)
	ends, slots, dist2 := rows.Ends[:n], rows.Slots[from:from+n*s.k], rows.Dist2
	if dist2 != nil {
		dist2 = dist2[from : from+n*s.k]
	}
	rows.Fill += neighbours.KNN(s.ix.level, &s.ix.grid, &s.ix.points, &part, ends, slots, dist2)
	for i := range ends {
		ends[i] += uint32(from)
	}
	return n
}

// KNN answers a batch of queries on the index's level; each row is sorted by
// squared distance, then slot. Errors are those of NearestQueries.Validate, with
// out as it was; ErrRange if K times the number of queries is more than 2^31-1,
// and ErrFloatEnv, with out empty.
func (ix *Index) KNN(q *NearestQueries, out *Result) error {
	if err := q.Validate(); err != nil {
		return err
	}
	ix.checkLive(q.Live)
	if err := tooMany(len(q.X), q.K); err != nil {
		out.empty()
		return err
	}
	w := scratchOf(&out.scratch)
	s := &w.knn
	s.begin(ix, q, min(q.K, max(1, ix.n)))
	out.Slots = resize(out.Slots, len(q.X)*s.k)
	if !q.SkipDist2 {
		out.Dist2 = resize(out.Dist2, len(q.X)*s.k)
	}
	err := w.rows.collect(task{
		searcher: s, ix: ix, query: "KNN", rows: len(q.X), chunk: chunkQueries, longest: s.k,
		order: Grid, withKey: !q.SkipDist2, parallel: ix.parallelFrom, // rows are sorted already
	}, &out.Offsets, &out.Slots, &out.Dist2)
	s.ix, s.q, out.Of = nil, nil, out.Of[:0]
	return err
}

func tooMany(n, k int) error {
	if int64(n)*int64(k) > int64(maxResults) {
		return fault.Field(ErrRange, "spatial: KNN: K times the number of queries", int64(n)*int64(k))
	}
	return nil
}

// Nearest answers a batch of queries with the first point of each, by squared distance,
// then slot; it ignores K and SkipDist2. Errors are those of NearestQueries.Validate for
// the rest, with out as it was, and ErrFloatEnv, with out empty.
func (ix *Index) Nearest(q *NearestQueries, out *NearestResult) error {
	if err := q.validate(); err != nil {
		return err
	}
	ix.checkLive(q.Live)
	t, n := &out.task, len(q.X)
	out.Slots, out.Dist2 = resize(out.Slots, n), resize(out.Dist2, n)
	t.begin(ix, q, 1)
	t.ends, t.slots, t.dist2 = resize(t.ends, n), out.Slots, out.Dist2
	err := out.pools.run(ix, n, chunkQueries, t)
	t.ix, t.q = nil, nil
	if err != nil {
		out.Slots, out.Dist2 = out.Slots[:0], out.Dist2[:0]
	}
	return err
}

// nearestTask answers the queries of one call of Nearest in chunks.
type nearestTask struct {
	knnSearch
	ends  []uint32 // within the chunk
	slots []uint32
	dist2 []float32
}

// Do answers one chunk of queries; it implements native.Task.
func (t *nearestTask) Do(_, c int) {
	lo, hi := c*chunkQueries, min((c+1)*chunkQueries, len(t.q.X))
	part := t.part(lo, hi)
	ends, slots, dist2 := t.ends[lo:hi], t.slots[lo:hi], t.dist2[lo:hi]
	if neighbours.KNN(t.ix.level, &t.ix.grid, &t.ix.points, &part, ends, slots, dist2) == len(ends) {
		return
	}
	for i := len(ends) - 1; i >= 0; i-- { // move the rows, of one point or none, to the indexes of their queries
		at := 0
		if i > 0 {
			at = int(ends[i-1])
		}
		if uint(ends[i]) > uint(at) {
			slots[i], dist2[i] = slots[at], dist2[at]
		} else {
			slots[i], dist2[i] = NoSlot, float32(math.Inf(1))
		}
	}
}
