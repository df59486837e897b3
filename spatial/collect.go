package spatial

import (
	"math"
	"slices"
	"sync"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/native"
)

// A searcher finds rows.
type searcher interface {
	// search appends rows [first, last) of a batch, in grid order, as far as there is
	// room, and returns how many. Room for all points and native.Pad more is always
	// enough for one row. No two calls with one worker number run at the same time.
	search(worker, first, last int, rows *native.Rows) int
}

// A numberer gives rows numbers: each from 0 to the number of rows, once.
type numberer interface {
	number(first int, numbers []uint32) // of the rows from first on
}

// task tells a collector what to collect.
type task struct {
	searcher
	ix       *Index
	what     string // for errors
	rows     int
	chunk    int // rows that a worker takes at a time; it must not depend on the number of workers
	order    Order
	withKey  bool     // Dist2, or what else is sorted by, is part of the result
	parallel int      // number of chunks from which a second worker pays
	of       []uint32 // gets the slot in the place that has the number of each row, unless nil
}

// collector gathers the rows of a batch from several workers, in order. Chunks of
// rows are taken by any worker and found in memory of its own; as soon as all
// chunks before it are done, a chunk has its place in the result and is copied
// there, while it is in the worker's cache. A worker that is alone writes to the
// result at once.
type collector struct {
	task
	slots   []uint32
	keys    []float32 // as long as slots, or nil
	offsets []uint32
	ends    []uint32 // of rows: in the result, or in the memory of workers

	pools   pools
	workers []gatherer
	step    func(c *collector, worker, chunk int)

	commit sync.Mutex
	spans  []span
	next   int // chunks below have their place
	total  int // results of these

	sooner int // taken off countFrom, by tests

	numberer numberer
	numbers  []uint32 // of rows
	ownEnds  []uint32 // room for ends
}

// gatherer has the rows of a worker's chunks, one behind the other.
type gatherer struct {
	rows    native.Rows
	keys    []float32 // as long as rows.Slots; rows.Dist2 is this, or nil
	sorter  native.Sorter
	pending []int // chunks that are not in their place yet, ascending
	err     error
}

// span tells where the rows of a chunk are: from..to of its worker's rows, and in
// the end at base.
type span struct {
	worker         int
	from, to, base int
	done           bool
}

// countFrom is the number of results from which they are counted before memory
// is reserved, so that a batch with too many is refused and not swapped.
const countFrom = 1 << 26

// collect runs a task. Its rows go to offsets, slots and keys, whose memory is
// used where it is large enough; all are empty after an error.
func (c *collector) collect(t task, offsets, slots *[]uint32, keys *[]float32) error {
	c.begin(t, *offsets, *slots, *keys)
	c.ends = c.offsets[1:]
	var err error
	if c.pools.all.Workers() == 1 || len(c.spans) < t.parallel {
		err = c.inPlace()
	} else {
		err = c.inParallel()
	}
	c.end(err, offsets, slots, keys)
	return err
}

// collectNumbered is collect for rows that go where their number says: all are
// found, and then copied one by one.
func (c *collector) collectNumbered(t task, n numberer, offsets, slots *[]uint32, keys *[]float32) error {
	c.begin(t, *offsets, *slots, *keys)
	clear(c.offsets)
	c.ownEnds, c.numbers = resize(c.ownEnds, t.rows), resize(c.numbers, t.rows)
	c.ends, c.numberer = c.ownEnds, n
	err := c.inNumbers()
	c.numberer = nil
	c.end(err, offsets, slots, keys)
	return err
}

func (c *collector) end(err error, offsets, slots *[]uint32, keys *[]float32) {
	*offsets, *slots, *keys = c.offsets, c.slots, (*keys)[:0]
	if c.withKey {
		*keys = c.keys
	}
	c.task, c.slots, c.keys, c.offsets, c.ends = task{}, nil, nil, nil, nil
	if err != nil {
		*offsets, *slots, *keys = (*offsets)[:0], (*slots)[:0], (*keys)[:0]
	}
}

func (c *collector) begin(t task, offsets, slots []uint32, keys []float32) {
	if c.pools.fit(t.ix); len(c.workers) != t.ix.cfg.Workers {
		c.workers = make([]gatherer, t.ix.cfg.Workers)
	}
	c.task = t
	c.offsets = resize(offsets, t.rows+1)
	c.offsets[0] = 0
	c.slots, c.keys = slots[:cap(slots)], nil
	if t.withKey {
		c.keys = keys[:cap(keys)]
		room := min(len(c.slots), len(c.keys))
		c.slots, c.keys = c.slots[:room], c.keys[:room]
	}
	c.spans = resize(c.spans, (t.rows+t.chunk-1)/t.chunk)
	clear(c.spans)
	c.next, c.total = 0, 0
	for i := range c.workers {
		g := &c.workers[i]
		g.rows.Fill, g.err, g.pending = 0, nil, slices.Grow(g.pending[:0], len(c.spans))
	}
}

// Do runs the present step on a chunk; it implements native.Task.
func (c *collector) Do(worker, chunk int) { c.step(c, worker, chunk) }

func (c *collector) run(pool *native.Pool, chunks int, step func(c *collector, worker, chunk int)) error {
	c.step = step
	if err := pool.Run(chunks, c); err != nil {
		return err
	}
	for i := range c.workers {
		if err := c.workers[i].err; err != nil {
			return err
		}
	}
	return nil
}

// limits returns the rows of a chunk.
func (c *collector) limits(chunk int) (first, last int) {
	return chunk * c.chunk, min((chunk+1)*c.chunk, c.rows)
}

// prepare gives a worker room for what is sorted by, if it is needed at all.
func (c *collector) prepare(g *gatherer) {
	g.rows.Dist2 = nil
	if !c.withKey && c.order != ByDistance {
		return
	}
	if g.keys = resize(g.keys, len(g.rows.Slots)); g.keys == nil {
		g.keys = []float32{} // nil stands for none
	}
	g.rows.Dist2 = g.keys
}

// find appends the rows of a chunk to those of a worker, in the order asked for,
// and sets their ends.
func (c *collector) find(worker, chunk int) { c.findIn(worker, chunk, false) }

// findIn is find. If the room is fixed it returns false when that does not do.
func (c *collector) findIn(worker, chunk int, fixed bool) bool {
	g := &c.workers[worker]
	first, last := c.limits(chunk)
	ends := c.ends[first:last]
	from := g.rows.Fill
	for at := first; at < last && g.err == nil; {
		g.rows.Ends = ends[at-first:]
		if at += c.search(worker, at, last, &g.rows); at < last {
			if fixed {
				return false
			}
			g.err = c.grow(g, worker, at)
		}
	}
	if g.err == nil && c.order != Grid {
		native.SortRows(c.ix.level, native.RowOrder(c.order), c.ix.points.Limit, from, ends, g.rows.Slots, g.rows.Dist2, &g.sorter)
	}
	for at := first; c.of != nil && at < last; { // now, while the points are in the cache
		at += copy(c.of[at:last], c.ix.points.Blocks[at/native.BlockLen].Slot[at%native.BlockLen:])
	}
	s := &c.spans[chunk]
	s.worker, s.from, s.to = worker, from, g.rows.Fill
	return true
}

// grow makes room for one more row of all points: twice as much, or, where one
// worker has done a good part of the rows, what the rest will need at this rate.
func (c *collector) grow(g *gatherer, worker, done int) error {
	longest := c.ix.n + native.Pad
	need := g.rows.Fill + longest
	size := max(need, 2*len(g.rows.Slots))
	if done > c.rows/64 && c.pools.all.Workers() == 1 {
		size = max(need, int(float64(g.rows.Fill)/float64(done)*float64(c.rows)*1.1))
	}
	if size > countFrom-c.sooner {
		total, err := c.count(worker)
		if err != nil {
			return err
		}
		size = max(need, min(size, total+longest))
	}
	if uint64(size) > math.MaxUint32 {
		return c.tooMany(size)
	}
	slots := makeHuge[uint32](size)
	copy(slots, g.rows.Slots[:g.rows.Fill])
	g.rows.Slots = slots
	if g.rows.Dist2 != nil {
		g.keys = makeHuge[float32](size)
		copy(g.keys, g.rows.Dist2[:g.rows.Fill])
		g.rows.Dist2 = g.keys
	}
	return nil
}

// count returns the number of results, or ErrRange if there are too many.
func (c *collector) count(worker int) (int, error) {
	rows := native.Rows{Ends: make([]uint32, c.chunk), Slots: make([]uint32, c.ix.n+native.Pad)}
	if c.withKey { // a search may need a place for them
		rows.Dist2 = make([]float32, len(rows.Slots))
	}
	total := 0
	for at := 0; at < c.rows; total += rows.Fill {
		rows.Fill = 0
		at += c.search(worker, at, min(at+c.chunk, c.rows), &rows)
		if total+rows.Fill > maxResults {
			return 0, c.tooMany(total + rows.Fill)
		}
	}
	return total, nil
}

func (c *collector) tooMany(results int) error { return tooManyResults(c.what, results) }

// tooManyResults is the error of a batch with that many results, or more.
func tooManyResults(what string, results int) error {
	return fault.Field(ErrRange, "spatial: "+what+": results, at least", results)
}

// inPlace has one worker write to the result.
func (c *collector) inPlace() error {
	g := &c.workers[0]
	ownSlots, ownKeys := g.rows.Slots, g.keys
	g.rows.Slots = c.slots
	if c.withKey {
		g.keys = c.keys
	}
	c.prepare(g)
	err := c.run(c.pools.alone, len(c.spans), (*collector).find)
	if err == nil && g.rows.Fill > maxResults {
		err = c.tooMany(g.rows.Fill)
	}
	c.slots = g.rows.Slots[:g.rows.Fill]
	if c.withKey {
		c.keys, g.keys = g.keys[:g.rows.Fill], ownKeys
	}
	g.rows.Slots, g.rows.Dist2 = ownSlots, nil
	return err
}

func (c *collector) inParallel() error {
	for i := range c.workers {
		c.prepare(&c.workers[i])
	}
	if err := c.run(c.pools.all, len(c.spans), (*collector).findAndPlace); err != nil {
		return err
	}
	if c.total > maxResults {
		return c.tooMany(c.total)
	}
	short := c.total > len(c.slots)
	c.slots = enlarge(c.slots, c.total)
	if c.withKey {
		c.keys = enlarge(c.keys, c.total)
	}
	err := c.run(c.pools.all, len(c.workers), (*collector).placeRest)
	for i := range c.workers {
		if short { // they held all rows, and will not again
			c.workers[i].rows.Slots, c.workers[i].keys = nil, nil
		}
	}
	return err
}

// enlarge is resize, but keeps what s holds.
func enlarge[T float32 | uint32](s []T, n int) []T {
	if cap(s) >= n {
		return s[:n]
	}
	larger := makeHuge[T](n + n/8)[:n]
	copy(larger, s)
	return larger
}

func (c *collector) findAndPlace(worker, chunk int) {
	g := &c.workers[worker]
	if !c.findAtPlace(worker, chunk) {
		c.find(worker, chunk)
		g.pending = append(g.pending, chunk)
	}
	c.commit.Lock()
	c.spans[chunk].done = true
	for ; c.next < len(c.spans) && c.spans[c.next].done; c.next++ {
		s := &c.spans[c.next]
		s.base = c.total
		c.total += s.to - s.from
	}
	next := c.next
	c.commit.Unlock()
	c.place(g, next)
}

// findAtPlace finds the rows of a chunk where they belong, if all chunks before it
// are done, so that this is known, and if there is room; it returns false if not.
// What it writes behind the rows is nobody's yet.
func (c *collector) findAtPlace(worker, chunk int) bool {
	if !c.withKey && c.order == ByDistance { // the keys have no place
		return false
	}
	c.commit.Lock()
	base, known := c.total, c.next == chunk
	c.commit.Unlock()
	if !known || base >= len(c.slots) {
		return false
	}
	g := &c.workers[worker]
	own := g.rows
	g.rows = native.Rows{Slots: c.slots[base:]}
	if c.withKey {
		g.rows.Dist2 = c.keys[base:]
	}
	found := c.findIn(worker, chunk, true)
	g.rows = own
	if !found {
		return false
	}
	first, last := c.limits(chunk)
	for i := range c.ends[first:last] {
		c.ends[first+i] += uint32(base)
	}
	return true
}

func (c *collector) placeRest(_, worker int) { c.place(&c.workers[worker], c.next) }

// place copies those pending chunks of a worker that have a place to it, as far
// as there is room.
func (c *collector) place(g *gatherer, next int) {
	n := 0
	for ; n < len(g.pending) && g.pending[n] < next && g.err == nil; n++ {
		s := &c.spans[g.pending[n]]
		end := s.base + s.to - s.from
		if end > len(c.slots) {
			break
		}
		copy(c.slots[s.base:end], g.rows.Slots[s.from:s.to])
		if c.withKey {
			copy(c.keys[s.base:end], g.rows.Dist2[s.from:s.to])
		}
		first, last := c.limits(g.pending[n])
		shift := uint32(s.base - s.from)
		ends := c.ends[first:last]
		for i := range ends {
			ends[i] += shift
		}
	}
	g.pending = append(g.pending[:0], g.pending[n:]...)
	if len(g.pending) == 0 {
		g.rows.Fill = 0
	}
}

func (c *collector) inNumbers() error {
	for i := range c.workers {
		c.prepare(&c.workers[i])
	}
	pool := c.pools.all
	if len(c.spans) < c.parallel {
		pool = c.pools.alone
	}
	if err := c.run(pool, len(c.spans), (*collector).findAndNumber); err != nil {
		return err
	}
	total := 0
	for i := range c.workers {
		total += c.workers[i].rows.Fill
	}
	if total > maxResults {
		return c.tooMany(total)
	}
	sum := uint32(0)
	for i, n := range c.offsets {
		sum += n
		c.offsets[i] = sum
	}
	c.slots = resizeHuge(c.slots, total)
	if c.withKey {
		c.keys = resizeHuge(c.keys, total)
	}
	return c.run(pool, len(c.spans), (*collector).scatter)
}

// findAndNumber finds the rows of a chunk and puts their lengths behind the
// offsets of their numbers.
func (c *collector) findAndNumber(worker, chunk int) {
	c.find(worker, chunk)
	if c.workers[worker].err != nil {
		return
	}
	first, last := c.limits(chunk)
	numbers := c.numbers[first:last]
	c.numberer.number(first, numbers)
	begin := uint32(c.spans[chunk].from)
	for i, end := range c.ends[first:last] {
		c.offsets[numbers[i]+1] = end - begin
		begin = end
	}
}

// scatter copies the rows of a chunk to their place.
func (c *collector) scatter(_, chunk int) {
	s := &c.spans[chunk]
	first, last := c.limits(chunk)
	from := c.workers[s.worker].rows
	from.Ends = c.ends[first:last]
	to := native.RowsTo{Offsets: c.offsets, Slots: c.slots}
	if c.withKey {
		to.Dist2 = c.keys
	}
	native.ScatterRows(c.ix.level, &from, s.from, c.numbers[first:last], &to)
}
