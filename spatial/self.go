package spatial

import (
	"math/bits"
	"slices"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/native"
)

// Self makes every point of an index the centre of a query, all with one
// radius. Which points are within says Queries.
type Self struct {
	Radius float32 // metres
	// Order of each row.
	Order Order
	// SkipDist2 leaves Result.Dist2 empty, which saves a little time.
	SkipDist2 bool
	// IncludeSelf keeps the centre itself in its row, at distance 0.
	IncludeSelf bool
	// RowsInGridOrder leaves the rows in the order in which the index holds the
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

// RadiusSelf answers, for every point of the index, which points are within the
// radius of it: one row a point, out.Of naming the slot of each. It gives the same
// rows as Radius with a query at each point, about twice as fast or more with Order
// Grid and RowsInGridOrder; other orders spend much of their time on sorting and
// placing rows. Errors are those
// of Self.Validate, with out as it was; ErrRange if there are more than 2^31-1
// results, and ErrFloatEnv, with out empty.
func (ix *Index) RadiusSelf(q *Self, out *Result) error {
	keep := native.KeepOthers
	if q.IncludeSelf {
		keep = native.KeepAll
	}
	return ix.self("RadiusSelf", q, keep, out)
}

// Pairs finds every pair of points within the radius of each other once: the row
// of slot a, as out.Of names it, holds the slots b > a. It is RadiusSelf less the
// other half; IncludeSelf has no effect. Errors are those of RadiusSelf.
func (ix *Index) Pairs(q *Self, out *Result) error { return ix.self("Pairs", q, native.KeepAbove, out) }

// selfChunk is the number of places that a worker takes at a time: about ten
// microseconds of work, whose rows stay in its cache until they are sorted and
// copied. It must not depend on the number of workers.
const selfChunk = 256

// selfParallelFrom is how many times fewer chunks than of Radius make a second
// worker pay.
const selfParallelFrom = 4

func (ix *Index) self(what string, q *Self, keep native.Keep, out *Result) error {
	ix.made()
	if err := q.Validate(); err != nil {
		return err
	}
	w := scratchOf(&out.scratch)
	s := &w.self
	s.begin(ix, q, keep)
	s.of = resize(out.Of, ix.n)
	t := task{
		searcher: s, ix: ix, what: what, rows: ix.n, chunk: s.chunkLen(), order: q.Order, withKey: !q.SkipDist2,
		parallel: (ix.parallelFrom + selfParallelFrom - 1) / selfParallelFrom,
	}
	var err error
	if q.RowsInGridOrder {
		t.of = s.of
		err = w.rows.collect(t, &out.Offsets, &out.Slots, &out.Dist2)
	} else {
		s.rank()
		err = w.rows.collectNumbered(t, s, &out.Offsets, &out.Slots, &out.Dist2)
	}
	if err == nil && !q.RowsInGridOrder {
		s.name()
	}
	out.Of = s.of
	if err != nil {
		out.Of = out.Of[:0]
	}
	s.ix, s.of = nil, nil
	return err
}

// selfSearch is the searcher of RadiusSelf and Pairs. Row i is that of place i.
type selfSearch struct {
	ix     *Index
	query  native.SelfQuery
	packed []native.Packed // one a worker
	of     []uint32        // the slot of each row

	fewer int // places of a chunk, if not selfChunk

	live  []uint64 // a bit for each slot that is indexed; unused if all are
	ranks []uint32 // live slots before each word of live
}

func (s *selfSearch) begin(ix *Index, q *Self, keep native.Keep) {
	s.ix, s.query = ix, native.SelfQuery{Radius: q.Radius, Keep: keep}
	if len(s.packed) != ix.cfg.Workers {
		s.packed = make([]native.Packed, ix.cfg.Workers)
	}
}

func (s *selfSearch) chunkLen() int {
	if s.fewer > 0 {
		return s.fewer
	}
	return selfChunk
}

func (s *selfSearch) search(worker, first, last int, rows *native.Rows) int {
	return native.Self(s.ix.level, &s.ix.grid, &s.ix.points, &s.query, first, last, rows, &s.packed[worker])
}

// number gives the rows from first on the numbers of their slots among all that
// are indexed.
func (s *selfSearch) number(first int, numbers []uint32) {
	for i := range numbers {
		_, _, _, slot := s.ix.point(first + i)
		if !s.dense() {
			slot = s.ranks[slot>>6] + uint32(bits.OnesCount64(s.live[slot>>6]&(1<<(slot&63)-1)))
		}
		numbers[i] = slot
	}
}

// dense reports whether every slot below Limit is indexed: row i is slot i.
func (s *selfSearch) dense() bool { return s.ix.n == s.ix.points.Limit }

// rank prepares number: it marks the slots that are indexed and counts them.
func (s *selfSearch) rank() {
	if s.dense() {
		return
	}
	s.live = resize(s.live, (s.ix.points.Limit+63)/64)
	s.ranks = resize(s.ranks, len(s.live))
	clear(s.live)
	for at := range s.ix.n {
		_, _, _, slot := s.ix.point(at)
		s.live[slot>>6] |= 1 << (slot & 63)
	}
	sum := uint32(0)
	for i, word := range s.live {
		s.ranks[i] = sum
		sum += uint32(bits.OnesCount64(word))
	}
}

// name fills in which slot each row belongs to, where rows are numbered by slot.
func (s *selfSearch) name() {
	if s.dense() {
		for i := range s.of {
			s.of[i] = uint32(i)
		}
		return
	}
	i := 0
	for w, word := range s.live {
		for ; word != 0; word &= word - 1 {
			s.of[i] = uint32(w<<6 | bits.TrailingZeros64(word))
			i++
		}
	}
}

// RadiusSelfOracle is the specification of RadiusSelf: RadiusOracle with a query
// at each point.
func (ix *Index) RadiusSelfOracle(q *Self, out *Result) error {
	if err := q.Validate(); err != nil {
		return err
	}
	queries := &Queries{Order: q.Order, SkipDist2: q.SkipDist2}
	of := make([]uint32, 0, ix.n)
	for _, at := range ix.rowOrder(q) {
		b, lane := &ix.points.Blocks[at/native.BlockLen], at%native.BlockLen
		queries.X, queries.Y, queries.Z = append(queries.X, b.X[lane]), append(queries.Y, b.Y[lane]), append(queries.Z, b.Z[lane])
		queries.Radius = append(queries.Radius, q.Radius)
		of = append(of, b.Slot[lane])
	}
	if !q.IncludeSelf {
		queries.Exclude = of
	}
	if err := ix.RadiusOracle(queries, out); err != nil {
		return err
	}
	out.Of = of
	return nil
}

// PairsOracle is the specification of Pairs: RadiusSelfOracle, less what is not
// above the slot of its row.
func (ix *Index) PairsOracle(q *Self, out *Result) error {
	all := *q
	all.SkipDist2 = false
	var r Result
	if err := ix.RadiusSelfOracle(&all, &r); err != nil {
		if q.Validate() == nil {
			out.Offsets, out.Slots, out.Dist2, out.Of = out.Offsets[:0], out.Slots[:0], out.Dist2[:0], out.Of[:0]
		}
		return err
	}
	out.Offsets, out.Slots, out.Dist2, out.Of = append(out.Offsets[:0], 0), out.Slots[:0], out.Dist2[:0], r.Of
	for i, own := range r.Of {
		for at, slot := range r.Row(i) {
			if slot <= own {
				continue
			}
			out.Slots = append(out.Slots, slot)
			if !q.SkipDist2 {
				out.Dist2 = append(out.Dist2, r.Dist2Row(i)[at])
			}
		}
		out.Offsets = append(out.Offsets, uint32(len(out.Slots)))
	}
	return nil
}

// rowOrder returns the place of the centre of each row.
func (ix *Index) rowOrder(q *Self) []int {
	places := make([]int, ix.n)
	for i := range places {
		places[i] = i
	}
	slot := func(at int) uint32 { return ix.points.Blocks[at/native.BlockLen].Slot[at%native.BlockLen] }
	if !q.RowsInGridOrder {
		slices.SortFunc(places, func(a, b int) int { return int(slot(a)) - int(slot(b)) })
	}
	return places
}
