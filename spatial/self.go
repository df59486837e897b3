package spatial

import (
	"math/bits"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/neighbours"
	"github.com/evertick/evertick/native"
)

// Self makes every point of an index the centre of a query, all with one
// radius, by the test of Queries.
type Self struct {
	Radius float32 // metres
	// Order of each row.
	Order Order
	// SkipDist2 leaves Result.Dist2 empty, which saves a little time.
	SkipDist2 bool
	// IncludeSelf keeps the centre itself in its row, at distance 0.
	IncludeSelf bool
	// Mask is a column with a set of categories for each centre, by its slot, and Live a bitmap of
	// the points that may be neighbours. They filter as in Queries: neighbours are left out,
	// centres are not. A filtered query takes the time of Radius. Nil leaves out nothing.
	Mask []uint32
	Live []uint64
	// RowsInGridOrder leaves the rows in the order in which the index stores the
	// points: by cell z, y, x, then slot. That is the fastest, and neighbouring rows
	// belong to neighbouring points. Otherwise row i belongs to the i-th of the
	// slots that were built, which is slot i where they have no gaps.
	RowsInGridOrder bool
}

// Validate returns ErrNotFinite for a radius that is NaN or infinite, and
// ErrRange for a negative one or an unknown order.
func (q *Self) Validate() error {
	switch {
	case !fault.Finite(q.Radius):
		return fault.Field(ErrNotFinite, "spatial: Self.Radius", q.Radius)
	case q.Radius < 0:
		return fault.Field(ErrRange, "spatial: Self.Radius", q.Radius)
	case q.Order > Grid:
		return fault.Field(ErrRange, "spatial: Self.Order", q.Order)
	}
	return nil
}

// RadiusSelf finds, for every point of the index, the points within the radius: one row a point,
// with its slot in out.Of. It returns the same rows as Radius with a query at each point. With
// Order Grid and RowsInGridOrder it is about twice as fast or more; other orders spend much of
// their time on sorting and moving rows. Errors are those of Self.Validate, with out as it was;
// ErrRange if there are more than 2^31-1 results, and ErrFloatEnv, with out empty.
func (ix *Index) RadiusSelf(q *Self, out *Result) error {
	return ix.self("RadiusSelf", q, q.keep(), out)
}

// keep is which points a row of RadiusSelf holds.
func (q *Self) keep() neighbours.Keep {
	if q.IncludeSelf {
		return neighbours.KeepAll
	}
	return neighbours.KeepOthers
}

// Pairs finds every pair of points within the radius of each other once: the row
// of slot a, which out.Of contains, has the slots b > a. It is RadiusSelf without the
// other half; IncludeSelf has no effect, and a Mask applies to a. Errors are those of RadiusSelf.
func (ix *Index) Pairs(q *Self, out *Result) error {
	return ix.self("Pairs", q, neighbours.KeepAbove, out)
}

// selfChunk is the number of points that a worker takes at a time: about ten
// microseconds of work, whose rows stay in its cache until they are sorted and
// copied. It must not depend on the number of workers.
const selfChunk = 256

// selfParallelFrom divides the number of chunks from which a second worker pays in
// Radius: here fewer are enough.
const selfParallelFrom = 4

// checkSelf validates a self query. It panics if the index was not made by New, or if a filter is too short.
func (ix *Index) checkSelf(q *Self) error {
	ix.checkLive(q.Live)
	if q.Mask != nil && len(q.Mask) < ix.points.Limit {
		panic("spatial: Self: Mask is shorter than the columns of Build")
	}
	return q.Validate()
}

func (ix *Index) self(query string, q *Self, keep neighbours.Keep, out *Result) error {
	if err := ix.checkSelf(q); err != nil {
		return err
	}
	w := scratchOf(&out.scratch)
	s := &w.self
	s.begin(ix, q, keep)
	s.of = resize(out.Of, ix.n)
	t := task{
		searcher: s, ix: ix, query: query, rows: ix.n, chunk: s.chunkLen(), order: q.Order, withKey: !q.SkipDist2,
		parallel: (ix.parallelFrom + selfParallelFrom - 1) / selfParallelFrom,
	}
	if q.RowsInGridOrder {
		t.of = s.of
	} else {
		t.numberer = s
		s.countRanks()
	}
	err := w.rows.collect(t, &out.Offsets, &out.Slots, &out.Dist2)
	out.Of = s.of
	if err != nil {
		out.Of = out.Of[:0]
	} else if !q.RowsInGridOrder {
		s.setOf()
	}
	s.end()
	return err
}

// selfSearch is the searcher of RadiusSelf and Pairs. Row i belongs to point i in grid
// order.
type selfSearch struct {
	ix     *Index
	query  neighbours.SelfQuery
	packed []neighbours.Packed // one a worker
	of     []uint32            // the slot of each row

	mask     []uint32 // Self.Mask
	live     liveBits
	filtered []filteredSelf // one a worker, if there are filters

	fewer int // points of a chunk, if not selfChunk

	indexed []uint64 // a bit for each slot that is indexed; unused if all are
	ranks   []uint32 // indexed slots before each word of indexed
}

func (s *selfSearch) begin(ix *Index, q *Self, keep neighbours.Keep) {
	s.ix, s.query = ix, neighbours.SelfQuery{Radius: q.Radius, Keep: keep}
	s.mask = q.Mask
	s.live.set(ix, q.Live)
	if s.hasFilters() {
		if len(s.filtered) != ix.cfg.Workers {
			s.filtered = make([]filteredSelf, ix.cfg.Workers)
		}
	} else if len(s.packed) != ix.cfg.Workers {
		s.packed = make([]neighbours.Packed, ix.cfg.Workers)
	}
}

func (s *selfSearch) end() { s.ix, s.of, s.mask = nil, nil, nil }

// hasFilters reports whether filteredSelf must answer: the kernel has no filters.
func (s *selfSearch) hasFilters() bool { return s.mask != nil || s.live.bits != nil }

func (s *selfSearch) chunkLen() int {
	if s.fewer > 0 {
		return s.fewer
	}
	return selfChunk
}

func (s *selfSearch) search(worker, first, last int, rows *neighbours.Rows) int {
	if s.hasFilters() {
		return s.filtered[worker].search(s, first, last, rows)
	}
	return neighbours.Self(s.ix.level, &s.ix.grid, &s.ix.points, &s.query, first, last, rows, &s.packed[worker])
}

// number numbers the rows from first on by the rank of their slots among all indexed slots.
func (s *selfSearch) number(first int, numbers []uint32) {
	for i := range numbers {
		_, _, _, slot := s.ix.point(first + i)
		if !s.dense() {
			slot = s.ranks[slot>>6] + uint32(bits.OnesCount64(s.indexed[slot>>6]&(1<<(slot&63)-1)))
		}
		numbers[i] = slot
	}
}

// dense reports whether every slot below Limit is indexed: row i is slot i.
func (s *selfSearch) dense() bool { return s.ix.n == s.ix.points.Limit }

// countRanks prepares number: it marks the slots that are indexed and counts them.
func (s *selfSearch) countRanks() {
	if s.dense() {
		return
	}
	s.indexed = resize(s.indexed, (s.ix.points.Limit+63)/64)
	s.ranks = resize(s.ranks, len(s.indexed))
	clear(s.indexed)
	for at := range s.ix.n {
		_, _, _, slot := s.ix.point(at)
		s.indexed[slot>>6] |= 1 << (slot & 63)
	}
	sum := uint32(0)
	for i, word := range s.indexed {
		s.ranks[i] = sum
		sum += uint32(bits.OnesCount64(word))
	}
}

// setOf sets the slot of each row, where rows are numbered by slot.
func (s *selfSearch) setOf() {
	if s.dense() {
		for i := range s.of {
			s.of[i] = uint32(i)
		}
		return
	}
	s.of = native.RowsOf(s.of, s.indexed)
}
