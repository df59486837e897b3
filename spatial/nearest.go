package spatial

import (
	"math"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/native"
)

// MostNeighbours is the largest K of a batch.
const MostNeighbours = native.MostNeighbours

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
	// K is the number of points to find, 1 to MostNeighbours. Rows are shorter
	// only where no more points pass. Index.Nearest does not read it.
	K int
	// Radius in metres leaves out, for each query, the points that Index.Radius
	// would not find. Nil, or a radius whose square overflows, leaves out none.
	Radius []float32
	// Exclude has a slot for each query that is left out, or NoSlot. Nil: none.
	Exclude []uint32
	// Mask leaves out, for each query, the points that are in none of its
	// categories. A mask of 0 leaves out all. Nil: none.
	Mask []uint32
	// Live leaves out the points whose bit is zero: bit s%64 of Live[s/64] is that of
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
	if allFinite(q.X, q.Y, z, q.Radius) && allPositive(q.Radius) {
		return nil
	}
	inRange := func(int) error { return nil }
	if err := firstFault("NearestQueries.X NearestQueries.Y NearestQueries.Z", inRange, q.X, q.Y, z); err != nil {
		return err
	}
	return firstFault("NearestQueries.Radius", negative("NearestQueries.Radius", q.Radius), q.Radius)
}

func (q *NearestQueries) z() []float32 { return planar(q.Z, len(q.X)) }

// NearestResult holds one point per query. The zero NearestResult is ready; reuse
// it, and after a few batches nothing is allocated any more.
type NearestResult struct {
	Slots []uint32  // NoSlot where no point passes
	Dist2 []float32 // in square metres; +Inf where no point passes

	batch nearestBatch
}

// nearestBatch answers the queries of one call in chunks. Each query has room for k
// results of its own in slots and dist2, so that chunks do not overlap.
type nearestBatch struct {
	ix    *Index
	q     *NearestQueries
	live  []uint16
	k     int
	box   [2][3]float32 // of the points
	ends  []uint32      // within the chunk
	slots []uint32
	dist2 []float32 // nil with SkipDist2

	liveBits liveBits

	pools pools
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
	b, n := &scratchOf(&out.scratch).nearest, len(q.X)
	out.Of = out.Of[:0]
	err := tooMany(n, q.K)
	if err == nil {
		out.Offsets, out.Slots = resize(out.Offsets, n+1), resize(out.Slots, n*q.K)
		b.ends, b.slots, b.dist2 = out.Offsets[1:], out.Slots, nil
		if !q.SkipDist2 {
			out.Dist2 = resize(out.Dist2, n*q.K)
			b.dist2 = out.Dist2
		}
		err = b.run(ix, q, q.K)
	}
	if err != nil {
		out.empty()
		return err
	}
	out.Offsets[0] = 0
	total := closeGaps(out.Offsets[1:], out.Slots, out.Dist2, q)
	out.Slots = out.Slots[:total]
	out.Dist2 = out.Dist2[:min(total, len(out.Dist2))]
	if q.SkipDist2 {
		out.Dist2 = out.Dist2[:0]
	}
	return nil
}

func tooMany(n, k int) error {
	if int64(n)*int64(k) > maxResults {
		return fault.Field(ErrRange, "spatial: KNN: K times the number of queries", int64(n)*int64(k))
	}
	return nil
}

// closeGaps moves the rows of the chunks together, and returns their total length.
func closeGaps(ends, slots []uint32, dist2 []float32, q *NearestQueries) int {
	at := 0
	for lo := 0; lo < len(ends); lo += chunkQueries {
		rows := ends[lo:min(lo+chunkQueries, len(ends))]
		from, n := lo*q.K, int(rows[len(rows)-1])
		if at != from {
			copy(slots[at:], slots[from:from+n])
			if !q.SkipDist2 {
				copy(dist2[at:], dist2[from:from+n])
			}
		}
		for i := range rows {
			rows[i] += uint32(at)
		}
		at += n
	}
	return at
}

// Nearest answers a batch of queries with the first point of each, by squared
// distance, then slot; it ignores K and SkipDist2. Errors are those of
// NearestQueries.Validate for the rest, with out as it was, and ErrFloatEnv, with out
// empty.
func (ix *Index) Nearest(q *NearestQueries, out *NearestResult) error {
	if err := q.validate(); err != nil {
		return err
	}
	ix.checkLive(q.Live)
	b, n := &out.batch, len(q.X)
	out.Slots, out.Dist2 = resize(out.Slots, n), resize(out.Dist2, n)
	b.ends, b.slots, b.dist2 = resize(b.ends, n), out.Slots, out.Dist2
	if err := b.run(ix, q, 1); err != nil {
		out.Slots, out.Dist2 = out.Slots[:0], out.Dist2[:0]
		return err
	}
	for lo := 0; lo < n; lo += chunkQueries {
		hi := min(lo+chunkQueries, n)
		spread(b.ends[lo:hi], out.Slots[lo:hi], out.Dist2[lo:hi])
	}
	return nil
}

// spread moves rows of one or no point to the indexes of their queries.
func spread(ends, slots []uint32, dist2 []float32) {
	if int(ends[len(ends)-1]) == len(ends) {
		return
	}
	for i := len(ends) - 1; i >= 0; i-- {
		at := 0
		if i > 0 {
			at = int(ends[i-1])
		}
		if int(ends[i]) > at {
			slots[i], dist2[i] = slots[at], dist2[at]
		} else {
			slots[i], dist2[i] = NoSlot, float32(math.Inf(1))
		}
	}
}

func (b *nearestBatch) run(ix *Index, q *NearestQueries, k int) error {
	b.ix, b.q, b.k, b.live = ix, q, k, b.liveBits.of(ix, q.Live)
	b.box = [2][3]float32{ix.box.Min, ix.box.Max}
	err := b.pools.run(ix, len(q.X), chunkQueries, b)
	b.ix, b.q = nil, nil
	return err
}

// Do answers one chunk of queries; it implements native.Task.
func (b *nearestBatch) Do(_, c int) {
	lo := c * chunkQueries
	hi := min(lo+chunkQueries, len(b.q.X))
	part := native.NearestQueries{X: b.q.X[lo:hi], Y: b.q.Y[lo:hi], Z: b.q.z()[lo:hi], K: b.k}
	if b.q.Radius != nil {
		part.Radius = b.q.Radius[lo:hi]
	}
	part.Box = &b.box
	part.Exclude, part.Mask, part.Live = cut(b.q.Exclude, lo, hi), cut(b.q.Mask, lo, hi), b.live
	var dist2 []float32
	if b.dist2 != nil {
		dist2 = b.dist2[lo*b.k : hi*b.k]
	}
	native.KNN(b.ix.level, &b.ix.grid, &b.ix.points, &part, b.ends[lo:hi], b.slots[lo*b.k:hi*b.k], dist2)
}
