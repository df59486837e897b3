package spatial

import (
	"testing"

	"github.com/evertick/evertick/internal/neighbours"
)

// GridOf returns the geometry of the last Build.
func GridOf(ix *Index) neighbours.Grid { return ix.grid }

// AlwaysParallel makes the index use its workers for batches of any size, so that
// tests need no large ones.
func AlwaysParallel(ix *Index) { ix.parallelFrom = 2 }

// BytesOf returns the memory that the arrays of an index take.
func BytesOf(ix *Index) int {
	return 4*cap(ix.points.Start) + 256*cap(ix.points.Blocks) + 4*cap(ix.cellOf) + 4*cap(ix.category)
}

// CountSooner makes answers into out and hits count their results before more than
// n are kept.
func CountSooner(out *Result, hits *RayHits, n int) {
	scratchOf(&out.scratch).rows.countEarlier = countFrom - n
	scratchOf(&hits.scratch).rows.countEarlier = countFrom - n
}

// MostResults lowers the number of results from which on queries refuse a batch, until the test ends: the errors then need
// no billions of tests.
func MostResults(tb testing.TB, n int) {
	was := maxResults
	maxResults = n
	tb.Cleanup(func() { maxResults = was })
}

// PointsOf returns the points as the last Build sorted them.
func PointsOf(ix *Index) *neighbours.Points { return &ix.points }

// SmallChunks makes the self queries that go to a Result work in chunks of n
// points, so that tests need no large sets.
func SmallChunks(out *Result, n int) { scratchOf(&out.scratch).self.fewer = n }

// Strategies of RadiusOnce.
const (
	Cheapest  = cheapest
	Streaming = streaming
	Building  = building
)

// Force makes RadiusOnce into out use a strategy, and keep only so many hits while
// streaming.
func Force(out *Result, p strategy, most int) {
	out.scratch = &scratch{once: onceBatch{force: p, fewerHits: maxHits - most}}
}

// MostHits is the default number of hits that RadiusOnce keeps.
const MostHits = maxHits

// Streams reports whether RadiusOnce streamed, and did not build, when it last
// answered into out.
func Streams(out *Result) bool { return out.scratch.once.index == nil }

// FirstBad is the fault that is reported when workers have found these, -1 for none.
func FirstBad(found ...int) int {
	o := &onceBatch{}
	for _, at := range found {
		o.workers = append(o.workers, workerHits{bad: at})
	}
	return o.firstBad()
}

// The oracles, which users have as level Go.

func (ix *Index) CountOracle(q *Queries, counts []uint32) error  { return ix.countOracle(q, counts) }
func (ix *Index) KNNOracle(q *NearestQueries, out *Result) error { return ix.knnOracle(q, out) }
func (ix *Index) OverlapOracle(q *Boxes, out *Result) error      { return ix.overlapOracle(q, out) }
func (ix *Index) RadiusSelfOracle(q *Self, out *Result) error    { return ix.radiusSelfOracle(q, out) }
func (ix *Index) PairsOracle(q *Self, out *Result) error         { return ix.pairsOracle(q, out) }
func (ix *Index) SumOracle(q *Queries, s *Sums) error            { return ix.sumOracle(q, s) }
func (ix *Index) SumSelfOracle(q *Self, s *Sums) error           { return ix.sumSelfOracle(q, s) }
func (ix *Index) RayAllOracle(radius []float32, q *Rays, out *RayHits) error {
	return ix.rayAllOracle(radius, q, out)
}
func (ix *Index) RayClosestOracle(radius []float32, q *Rays, slots []uint32, t []float32) error {
	return ix.rayClosestOracle(radius, q, slots, t)
}
