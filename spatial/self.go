package spatial

import (
	"math"
	"math/bits"
	"slices"
	"sync"

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
// rows as Radius with a query at each point, several times faster. Errors are those
// of Self.Validate, with out as it was; ErrRange if there are more than 2^31-1
// results, and ErrFloatEnv, with out empty.
func (ix *Index) RadiusSelf(q *Self, out *Result) error {
	keep := native.KeepOthers
	if q.IncludeSelf {
		keep = native.KeepAll
	}
	return ix.self(q, keep, out)
}

// Pairs finds every pair of points within the radius of each other once: the row
// of slot a, as out.Of names it, holds the slots b > a. It is RadiusSelf less the
// other half; IncludeSelf has no effect. Errors are those of RadiusSelf.
func (ix *Index) Pairs(q *Self, out *Result) error { return ix.self(q, native.KeepAbove, out) }

// selfChunk is the number of places that a worker takes at a time: about ten
// microseconds of work, whose rows stay in its cache until they are sorted and
// copied. It must not depend on the number of workers.
const selfChunk = 256

// selfParallelFrom is how many times fewer chunks than of Radius make a second
// worker pay.
const selfParallelFrom = 4

// countFrom is the number of results from which they are counted before memory
// is reserved, so that a set with too many is refused and not swapped.
const countFrom = 1 << 26

// selfBatch answers one RadiusSelf or Pairs. Its tasks are to search a chunk of
// places, and to put rows in their final place.
type selfBatch struct {
	ix       *Index
	q        *Self
	query    native.SelfQuery
	out      *Result
	step     func(b *selfBatch, worker, chunk int)
	chunkLen int // places
	pool     *native.Pool
	alone    *native.Pool // one worker
	workers  []selfWorker

	// Rows in grid order: chunks are given their place in the order of their number,
	// as soon as all before them are done.
	commit sync.Mutex
	chunks []selfSpan
	next   int // chunks below have their place
	total  int // results of these

	// Rows by slot.
	ends  []uint32 // of the row of each place, among its worker's rows
	row   []uint32 // in which the place's row will stand
	live  []uint64 // a bit for each slot that is indexed; unused if all are
	ranks []uint32 // live slots before each word of live
}

// selfWorker collects the rows of its chunks, one behind the other.
type selfWorker struct {
	rows    native.Rows
	dist2   []float32 // as long as rows.Slots; rows.Dist2 is this, or nil
	scratch *native.Packed
	sorter  rowSorter
	pending []int // chunks that are not in their place yet, ascending
	err     error
}

// selfSpan tells where the rows of a chunk are: from..to of its worker's rows, and
// in the end at base.
type selfSpan struct {
	from, to, base int
	worker         int
	done           bool
}

// Do runs the present step on a chunk; it implements native.Task.
func (b *selfBatch) Do(worker, chunk int) { b.step(b, worker, chunk) }

func (ix *Index) self(q *Self, keep native.Keep, out *Result) error {
	if err := q.Validate(); err != nil {
		return err
	}
	b := &out.self
	b.begin(ix, q, keep, out)
	var err error
	switch {
	case !q.RowsInGridOrder:
		err = b.bySlot()
	case b.pool.Workers() == 1 || len(b.chunks) < b.fewest():
		err = b.inPlace()
	default:
		err = b.committed()
	}
	if err != nil {
		out.Offsets, out.Slots, out.Dist2, out.Of = out.Offsets[:0], out.Slots[:0], out.Dist2[:0], out.Of[:0]
	}
	b.ix, b.q, b.out = nil, nil, nil
	return err
}

func (b *selfBatch) begin(ix *Index, q *Self, keep native.Keep, out *Result) {
	if b.pool == nil || b.pool.Workers() != ix.cfg.Workers {
		b.pool, b.alone = native.NewPool(ix.cfg.Workers), native.NewPool(1)
		b.workers = make([]selfWorker, ix.cfg.Workers)
	}
	if b.chunkLen == 0 {
		b.chunkLen = selfChunk
	}
	b.ix, b.q, b.out = ix, q, out
	b.query = native.SelfQuery{Radius: q.Radius, Keep: keep}
	b.chunks = resize(b.chunks, (ix.n+b.chunkLen-1)/b.chunkLen)
	clear(b.chunks)
	b.next, b.total = 0, 0
	for i := range b.workers {
		w := &b.workers[i]
		w.rows.Fill, w.err, w.pending = 0, nil, w.pending[:0]
		if w.scratch == nil {
			w.scratch = new(native.Packed)
		}
	}
	out.Offsets, out.Of = resize(out.Offsets, ix.n+1), resize(out.Of, ix.n)
	out.Offsets[0] = 0
}

// distances gives a worker room for squared distances if any are needed.
func (b *selfBatch) distances(w *selfWorker) {
	w.rows.Dist2 = nil
	if b.q.SkipDist2 && b.q.Order != ByDistance {
		return
	}
	if w.dist2 = resize(w.dist2, len(w.rows.Slots)); w.dist2 == nil {
		w.dist2 = []float32{} // nil stands for none
	}
	w.rows.Dist2 = w.dist2
}

// fewest is the number of chunks from which a second worker pays.
func (b *selfBatch) fewest() int {
	return (b.ix.parallelFrom + selfParallelFrom - 1) / selfParallelFrom
}

// run runs a step over chunks, with all workers where that pays.
func (b *selfBatch) run(chunks int, step func(b *selfBatch, worker, chunk int)) error {
	b.step = step
	pool := b.pool
	if len(b.chunks) < b.fewest() {
		pool = b.alone
	}
	if err := pool.Run(chunks, b); err != nil {
		return err
	}
	for i := range b.workers {
		if err := b.workers[i].err; err != nil {
			return err
		}
	}
	return nil
}

// places returns the places of a chunk.
func (b *selfBatch) places(c int) (first, last int) {
	return c * b.chunkLen, min((c+1)*b.chunkLen, b.ix.n)
}

// search appends the rows of a chunk to those of the worker, in the order asked
// for, and puts their ends into ends.
func (b *selfBatch) search(w *selfWorker, c int, ends []uint32) {
	first, last := b.places(c)
	from := w.rows.Fill
	for at := first; at < last && w.err == nil; {
		w.rows.Ends = ends[at-first : last-first]
		at += native.Self(b.ix.level, &b.ix.grid, &b.ix.points, &b.query, at, last, &w.rows, w.scratch)
		if at < last {
			w.err = b.grow(w, at)
		}
	}
	if w.err == nil {
		w.sorter.sort(b.ix.level, b.q.Order, b.ix.points.Limit, from, ends[:last-first], w.rows.Slots, w.rows.Dist2)
	}
	b.chunks[c].from, b.chunks[c].to = from, w.rows.Fill
	if b.q.RowsInGridOrder {
		blocks, of := b.ix.points.Blocks, b.out.Of
		for at := first; at < last; at++ {
			of[at] = blocks[at/native.BlockLen].Slot[at%native.BlockLen]
		}
	}
}

// grow makes room for one more row of all points: twice as much, or, where a
// good part of the places is done, what the rest will need at this rate.
func (b *selfBatch) grow(w *selfWorker, done int) error {
	n := b.ix.n
	need := w.rows.Fill + n + native.Pad
	size := max(need, 2*len(w.rows.Slots))
	if done > n/64 && b.pool.Workers() == 1 {
		size = max(need, int(float64(w.rows.Fill)/float64(done)*float64(n)*1.1))
	}
	if size > countFrom {
		total, err := b.count()
		if err != nil {
			return err
		}
		size = max(need, min(size, total+n+native.Pad))
	}
	if uint64(size) > math.MaxUint32 {
		return tooMany(size)
	}
	slots := make([]uint32, size)
	hugePages(slots)
	copy(slots, w.rows.Slots[:w.rows.Fill])
	w.rows.Slots = slots
	if w.rows.Dist2 != nil {
		w.dist2 = make([]float32, size)
		hugePages(w.dist2)
		copy(w.dist2, w.rows.Dist2[:w.rows.Fill])
		w.rows.Dist2 = w.dist2
	}
	return nil
}

// count returns the number of results, or ErrRange if there are too many.
func (b *selfBatch) count() (int, error) {
	n := b.ix.n
	rows := native.Rows{Ends: make([]uint32, b.chunkLen), Slots: make([]uint32, n+native.Pad)}
	scratch, total := new(native.Packed), 0
	for at := 0; at < n; total += rows.Fill {
		rows.Fill = 0
		at += native.Self(b.ix.level, &b.ix.grid, &b.ix.points, &b.query, at, min(at+b.chunkLen, n), &rows, scratch)
		if total+rows.Fill > maxResults {
			return 0, tooMany(total + rows.Fill)
		}
	}
	return total, nil
}

func tooMany(results int) error {
	return fault.Field(ErrRange, "spatial: RadiusSelf: number of results", results)
}

// inPlace has the one worker write to where the rows belong.
func (b *selfBatch) inPlace() error {
	w, out := &b.workers[0], b.out
	ownSlots, ownDist2 := w.rows.Slots, w.dist2
	w.rows.Slots = out.Slots[:cap(out.Slots)]
	if !b.q.SkipDist2 {
		w.dist2 = out.Dist2[:cap(out.Dist2)]
		room := min(len(w.rows.Slots), len(w.dist2))
		w.rows.Slots, w.dist2 = w.rows.Slots[:room], w.dist2[:room]
	}
	b.distances(w)
	err := b.run(len(b.chunks), (*selfBatch).searchInPlace)
	if err == nil && w.rows.Fill > maxResults {
		err = tooMany(w.rows.Fill)
	}
	out.Slots = w.rows.Slots[:w.rows.Fill]
	if out.Dist2 = out.Dist2[:0]; !b.q.SkipDist2 {
		out.Dist2, w.dist2 = w.dist2[:w.rows.Fill], ownDist2
	}
	w.rows.Slots, w.rows.Dist2 = ownSlots, nil
	return err
}

func (b *selfBatch) searchInPlace(worker, c int) {
	first, last := b.places(c)
	b.search(&b.workers[worker], c, b.out.Offsets[first+1:last+1])
}

// committed has each worker search into memory of its own and copy a chunk to its
// place as soon as the chunks before it are done, while it is in the cache.
func (b *selfBatch) committed() error {
	out := b.out
	out.Slots = out.Slots[:cap(out.Slots)]
	if out.Dist2 = out.Dist2[:0]; !b.q.SkipDist2 {
		out.Dist2 = out.Dist2[:cap(out.Dist2)]
		room := min(len(out.Slots), len(out.Dist2))
		out.Slots, out.Dist2 = out.Slots[:room], out.Dist2[:room]
	}
	for i := range b.workers {
		w := &b.workers[i]
		b.distances(w)
		w.pending = slices.Grow(w.pending, len(b.chunks))
	}
	if err := b.run(len(b.chunks), (*selfBatch).searchAndCommit); err != nil {
		return err
	}
	if b.total > maxResults {
		return tooMany(b.total)
	}
	short := b.total > len(out.Slots)
	out.Slots = enlarge(out.Slots, b.total)
	if !b.q.SkipDist2 {
		out.Dist2 = enlarge(out.Dist2, b.total)
	}
	if !short {
		for i := range b.workers {
			b.flush(&b.workers[i], b.next)
		}
		return nil
	}
	err := b.run(len(b.workers), (*selfBatch).commitRest)
	for i := range b.workers { // they held all rows, and will not again
		b.workers[i].rows.Slots, b.workers[i].dist2 = nil, nil
	}
	return err
}

// enlarge is resize, but keeps what s holds.
func enlarge[T float32 | uint32](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	larger := make([]T, n, n+n/8)
	hugePages(larger)
	copy(larger, s)
	return larger
}

func (b *selfBatch) searchAndCommit(worker, c int) {
	w := &b.workers[worker]
	first, last := b.places(c)
	b.search(w, c, b.out.Offsets[first+1:last+1])
	w.pending = append(w.pending, c)
	b.commit.Lock()
	b.chunks[c].done = true
	for ; b.next < len(b.chunks) && b.chunks[b.next].done; b.next++ {
		s := &b.chunks[b.next]
		s.base = b.total
		b.total += s.to - s.from
	}
	next := b.next
	b.commit.Unlock()
	b.flush(w, next)
}

func (b *selfBatch) commitRest(_, worker int) { b.flush(&b.workers[worker], b.next) }

// flush copies those pending chunks of a worker to their place that have one, as
// far as there is room.
func (b *selfBatch) flush(w *selfWorker, next int) {
	n := 0
	for ; n < len(w.pending) && w.pending[n] < next; n++ {
		c := w.pending[n]
		s := &b.chunks[c]
		end := s.base + s.to - s.from
		if end > len(b.out.Slots) || w.err != nil {
			break
		}
		copy(b.out.Slots[s.base:end], w.rows.Slots[s.from:s.to])
		if !b.q.SkipDist2 {
			copy(b.out.Dist2[s.base:end], w.rows.Dist2[s.from:s.to])
		}
		first, last := b.places(c)
		shift := uint32(s.base - s.from)
		ends := b.out.Offsets[first+1 : last+1]
		for i := range ends {
			ends[i] += shift
		}
	}
	w.pending = append(w.pending[:0], w.pending[n:]...)
	if len(w.pending) == 0 {
		w.rows.Fill = 0
	}
}

// bySlot searches all chunks, notes how long each row is, and then copies row by
// row.
func (b *selfBatch) bySlot() error {
	ix, out := b.ix, b.out
	b.rank()
	b.name()
	b.ends, b.row = resize(b.ends, ix.n), resize(b.row, ix.n)
	for i := range b.workers {
		b.distances(&b.workers[i])
	}
	if err := b.run(len(b.chunks), (*selfBatch).searchBySlot); err != nil {
		return err
	}
	total := 0
	for i := range b.workers {
		total += b.workers[i].rows.Fill
	}
	if total > maxResults {
		return tooMany(total)
	}
	sum := uint32(0)
	for i, n := range out.Offsets {
		sum += n
		out.Offsets[i] = sum
	}
	out.Slots = enlarge(out.Slots[:0], total)
	if out.Dist2 = out.Dist2[:0]; !b.q.SkipDist2 {
		out.Dist2 = enlarge(out.Dist2, total)
	}
	return b.run(len(b.chunks), (*selfBatch).scatter)
}

func (b *selfBatch) searchBySlot(worker, c int) {
	w := &b.workers[worker]
	first, last := b.places(c)
	ends, row := b.ends[first:last], b.row[first:last]
	begin := uint32(w.rows.Fill)
	b.chunks[c].worker = worker
	b.search(w, c, ends)
	if w.err != nil {
		return
	}
	blocks, offsets, dense := b.ix.points.Blocks, b.out.Offsets, b.dense()
	for i, end := range ends {
		at := first + i
		r := blocks[at/native.BlockLen].Slot[at%native.BlockLen]
		if !dense {
			r = b.rowOf(r)
		}
		row[i] = r
		offsets[r+1] = end - begin
		begin = end
	}
}

// scatter copies the rows of a chunk to their place.
func (b *selfBatch) scatter(_, c int) {
	s := &b.chunks[c]
	first, last := b.places(c)
	from := b.workers[s.worker].rows
	from.Ends = b.ends[first:last]
	to := native.RowsTo{Offsets: b.out.Offsets, Slots: b.out.Slots}
	if !b.q.SkipDist2 {
		to.Dist2 = b.out.Dist2
	}
	native.ScatterRows(b.ix.level, &from, s.from, b.row[first:last], &to)
}

// dense reports whether every slot below Limit is indexed: row i is slot i.
func (b *selfBatch) dense() bool { return b.ix.n == b.ix.points.Limit }

// rank prepares rowOf: it marks the slots that are indexed and counts them.
func (b *selfBatch) rank() {
	if b.dense() {
		return
	}
	p := &b.ix.points
	b.live = resize(b.live, (p.Limit+63)/64)
	b.ranks = resize(b.ranks, len(b.live))
	clear(b.live)
	for at := range b.ix.n {
		slot := p.Blocks[at/native.BlockLen].Slot[at%native.BlockLen]
		b.live[slot>>6] |= 1 << (slot & 63)
	}
	sum := uint32(0)
	for i, word := range b.live {
		b.ranks[i] = sum
		sum += uint32(bits.OnesCount64(word))
	}
}

// rowOf returns the number of indexed slots below a slot; dense is false.
func (b *selfBatch) rowOf(slot uint32) uint32 {
	return b.ranks[slot>>6] + uint32(bits.OnesCount64(b.live[slot>>6]&(1<<(slot&63)-1)))
}

// name fills in which slot each row belongs to, for rows by slot.
func (b *selfBatch) name() {
	of := b.out.Of
	if b.dense() {
		for i := range of {
			of[i] = uint32(i)
		}
		return
	}
	i := 0
	for w, word := range b.live {
		for ; word != 0; word &= word - 1 {
			of[i] = uint32(w<<6 | bits.TrailingZeros64(word))
			i++
		}
	}
}

// rowSorter sorts rows.
type rowSorter struct{ keys []uint64 }

// sort puts the rows that begin at from and end at ends into the order asked for.
func (s *rowSorter) sort(_ native.Level, by Order, _, from int, ends, slots []uint32, dist2 []float32) {
	if by == Grid {
		return
	}
	for _, end := range ends {
		row := slots[from:end]
		if dist2 == nil {
			slices.Sort(row)
			from = int(end)
			continue
		}
		d2 := dist2[from:end]
		s.keys = resize(s.keys, len(row))
		high, low := uint(32), uint(0)
		if by == ByDistance {
			high, low = 0, 32
		}
		for i, slot := range row {
			s.keys[i] = uint64(slot)<<high | uint64(math.Float32bits(d2[i]))<<low
		}
		slices.Sort(s.keys)
		for i, k := range s.keys {
			row[i], d2[i] = uint32(k>>high), math.Float32frombits(uint32(k>>low))
		}
		from = int(end)
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
