package spatial

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/evertick/evertick/internal/neighbours"
	"github.com/evertick/evertick/internal/pace"
	"github.com/evertick/evertick/native"
)

// A searcher finds rows.
type searcher interface {
	// search appends rows [first, last) of a batch, in grid order, as far as there is room, and
	// returns their number. Room for all points and neighbours.Pad more is always enough for one row;
	// so is task.longest. Two calls with one worker number never run at the same time.
	search(worker, first, last int, rows *neighbours.Rows) int
}

// A numberer assigns each row its number in the result.
type numberer interface {
	number(first int, numbers []uint32) // of the rows from first on
}

// task is the input of a collector.
type task struct {
	searcher
	ix       *Index
	query    string // in errors
	rows     int
	chunk    int // rows that a worker takes at a time; it must not depend on the number of workers
	order    Order
	withKey  bool     // Dist2, or T of rays, is part of the result
	parallel int      // number of chunks from which a second worker pays
	longest  int      // room that is enough for one row; 0: all points and neighbours.Pad
	of       []uint32 // unless nil, receives for each row the slot of the point with its number
	numberer numberer // nil: rows stay in the order in which they are found
}

// collector collects the rows of a batch from several workers, in order. Any worker takes a
// chunk of rows and finds them in memory of its own. As soon as all chunks before it are
// done, the offset of a chunk in the result is known and the worker copies it there, while
// it is in its cache. A worker that is alone writes to the result directly.
type collector struct {
	task
	slots   []uint32
	keys    []float32 // as long as slots, or nil
	offsets []uint32
	ends    []uint32 // of rows: in the result, or in the memory of workers

	pools   pools
	workers []workerRows
	step    func(c *collector, worker, chunk int)

	commit sync.Mutex
	chunks []chunkRows
	next   int // the offset of chunks below is known
	total  int // results of these

	countEarlier int // subtracted from countFrom, by tests

	numbers []uint32 // of rows, from the numberer
	ownEnds []uint32 // room for ends
}

// workerRows has the rows of a worker's chunks, one after the other.
type workerRows struct {
	rows    neighbours.Rows
	keys    []float32 // as long as rows.Slots; rows.Dist2 is this, or nil
	sorter  neighbours.Sorter
	pending []int // chunks that are not copied to the result yet, ascending
	err     error
}

// chunkRows locates the rows of a chunk: from..to of its worker's rows, and base in the
// result.
type chunkRows struct {
	worker         int
	from, to, base int
	done           bool
}

// countFrom is the number of results from which a batch is counted before memory is allocated, so
// that a batch with too many results is refused before it exhausts memory.
const countFrom = 1 << 26

// collect runs a task. It stores the rows in offsets, slots and keys, whose memory it
// uses where it is large enough; all are empty after an error.
func (c *collector) collect(t task, offsets, slots *[]uint32, keys *[]float32) error {
	c.begin(t, *offsets, *slots, *keys)
	c.ends = c.offsets[1:]
	var err error
	switch {
	case t.numberer != nil:
		err = c.collectByNumber()
	case c.pools.all.Workers() == 1 || len(c.chunks) < t.parallel:
		err = c.collectAlone()
	default:
		err = c.collectParallel()
	}
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
		c.workers = make([]workerRows, t.ix.cfg.Workers)
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
	c.chunks = resize(c.chunks, (t.rows+t.chunk-1)/t.chunk)
	clear(c.chunks)
	c.next, c.total = 0, 0
	for i := range c.workers {
		g := &c.workers[i]
		g.rows.Fill, g.err, g.pending = 0, nil, slices.Grow(g.pending[:0], len(c.chunks))
	}
}

// Do runs the present step on a chunk; it implements native.Task.
func (c *collector) Do(worker, chunk int) { c.step(c, worker, chunk) }

func (c *collector) run(pool *native.Pool, n int, step func(c *collector, worker, chunk int)) error {
	pace.Name(step)
	c.step = step
	if err := pool.Run(n, c); err != nil {
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

// prepare gives a worker room for the keys, if they are needed at all.
func (c *collector) prepare(g *workerRows) {
	g.rows.Dist2 = nil
	if !c.withKey && c.order != ByDistance {
		return
	}
	if g.keys = resize(g.keys, len(g.rows.Slots)); g.keys == nil {
		g.keys = []float32{} // nil stands for none
	}
	g.rows.Dist2 = g.keys
}

// find appends the rows of a chunk to the rows of a worker, in the order of the task,
// and sets their ends.
func (c *collector) find(worker, chunk int) { c.findInto(worker, chunk, false) }

// findInto is find. If the room is fixed it returns false when it is too small.
func (c *collector) findInto(worker, chunk int, fixed bool) bool {
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
		neighbours.SortRows(c.ix.level, neighbours.RowOrder(c.order), c.ix.points.Limit, from, ends, g.rows.Slots, g.rows.Dist2, &g.sorter)
	}
	for at := first; c.of != nil && at < last; { // now, while the points are in the cache
		at += copy(c.of[at:last], c.ix.points.Blocks[at/neighbours.BlockLen].Slot[at%neighbours.BlockLen:])
	}
	s := &c.chunks[chunk]
	s.worker, s.from, s.to = worker, from, g.rows.Fill
	return true
}

// grow makes room for one more row of all points. It doubles the room, or, where a single worker
// has done a good part of the rows, makes the room that the rest will need at this rate.
func (c *collector) grow(g *workerRows, worker, done int) error {
	longest := cmp.Or(c.longest, c.ix.n+neighbours.Pad)
	need := g.rows.Fill + longest
	size := max(need, 2*len(g.rows.Slots))
	if done > c.rows/64 && c.pools.all.Workers() == 1 {
		size = max(need, int(float64(g.rows.Fill)/float64(done)*float64(c.rows)*1.1))
	}
	if size > countFrom-c.countEarlier {
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
	rows := neighbours.Rows{Ends: make([]uint32, c.chunk), Slots: make([]uint32, cmp.Or(c.longest, c.ix.n+neighbours.Pad))}
	if c.withKey { // a search may need room for them
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

func (c *collector) tooMany(results int) error { return tooManyResults(c.query, results) }

// collectAlone finds the rows with one worker, which writes to the result.
func (c *collector) collectAlone() error {
	g := &c.workers[0]
	ownSlots, ownKeys := g.rows.Slots, g.keys
	g.rows.Slots = c.slots
	if c.withKey {
		g.keys = c.keys
	}
	c.prepare(g)
	err := c.run(c.pools.alone, len(c.chunks), (*collector).find)
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

func (c *collector) collectParallel() error {
	for i := range c.workers {
		c.prepare(&c.workers[i])
	}
	if err := c.run(c.pools.all, len(c.chunks), (*collector).findAndCopy); err != nil {
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
	err := c.run(c.pools.all, len(c.workers), (*collector).copyRest)
	for i := range c.workers {
		if short { // they held all rows; next time the result has room
			c.workers[i].rows.Slots, c.workers[i].keys = nil, nil
		}
	}
	return err
}

func (c *collector) findAndCopy(worker, chunk int) {
	g := &c.workers[worker]
	if !c.findInResult(worker, chunk) {
		c.find(worker, chunk)
		g.pending = append(g.pending, chunk)
	}
	c.commit.Lock()
	c.chunks[chunk].done = true
	for ; c.next < len(c.chunks) && c.chunks[c.next].done; c.next++ {
		s := &c.chunks[c.next]
		s.base = c.total
		c.total += s.to - s.from
	}
	next := c.next
	c.commit.Unlock()
	c.copyPending(g, next)
}

// findInResult finds the rows of a chunk directly in the result, if all chunks before it are done,
// so that its offset is known, and if there is room. It returns false if not. It may overwrite the
// memory after its rows, which no other worker uses yet.
func (c *collector) findInResult(worker, chunk int) bool {
	if !c.withKey && c.order == ByDistance { // the result has no room for the keys
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
	g.rows = neighbours.Rows{Slots: c.slots[base:]}
	if c.withKey {
		g.rows.Dist2 = c.keys[base:]
	}
	found := c.findInto(worker, chunk, true)
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

func (c *collector) copyRest(_, worker int) { c.copyPending(&c.workers[worker], c.next) }

// copyPending copies the pending chunks of a worker whose offset is known to the result, as
// far as there is room.
func (c *collector) copyPending(g *workerRows, next int) {
	n := 0
	for ; n < len(g.pending) && g.pending[n] < next && g.err == nil; n++ {
		s := &c.chunks[g.pending[n]]
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

// collectByNumber finds all rows, and then copies them in the order of their numbers.
func (c *collector) collectByNumber() error {
	clear(c.offsets)
	c.ownEnds, c.numbers = resize(c.ownEnds, c.rows), resize(c.numbers, c.rows)
	c.ends = c.ownEnds
	for i := range c.workers {
		c.prepare(&c.workers[i])
	}
	pool := c.pools.all
	if len(c.chunks) < c.parallel {
		pool = c.pools.alone
	}
	if err := c.run(pool, len(c.chunks), (*collector).findAndNumber); err != nil {
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
	c.slots = enlarge(c.slots[:0], total)
	if c.withKey {
		c.keys = enlarge(c.keys[:0], total)
	}
	return c.run(pool, len(c.chunks), (*collector).scatter)
}

// findAndNumber finds the rows of a chunk and stores the length of row number i in
// offsets[i+1].
func (c *collector) findAndNumber(worker, chunk int) {
	c.find(worker, chunk)
	if c.workers[worker].err != nil {
		return
	}
	first, last := c.limits(chunk)
	numbers := c.numbers[first:last]
	c.numberer.number(first, numbers)
	begin := uint32(c.chunks[chunk].from)
	for i, end := range c.ends[first:last] {
		c.offsets[numbers[i]+1] = end - begin
		begin = end
	}
}

// scatter copies the rows of a chunk to the offsets of their numbers.
func (c *collector) scatter(_, chunk int) {
	s := &c.chunks[chunk]
	first, last := c.limits(chunk)
	from := c.workers[s.worker].rows
	from.Ends = c.ends[first:last]
	to := neighbours.RowsTo{Offsets: c.offsets, Slots: c.slots}
	if c.withKey {
		to.Dist2 = c.keys
	}
	neighbours.ScatterRows(c.ix.level, &from, s.from, c.numbers[first:last], &to)
}
