package spatial

import (
	"cmp"
	"math"
	"math/bits"

	"github.com/evertick/evertick/internal/neighbours"
	"github.com/evertick/evertick/native"
)

// RadiusOnce answers one batch of queries over points without a Build: out gets the bytes
// that Build, SetCategories and Radius would give. RadiusOnce neither reads nor changes the
// points of the index; it uses only its Config. Any number of goroutines may call it at the
// same time, also during a Build, each with a Result of its own.
//
// For few queries, RadiusOnce builds no grid over the points: it lays a grid over the
// queries, and streams the points past it. It chooses the strategy with the least estimated
// cost, from the numbers of points and queries and a sample of up to 64 points. Rows in the
// order Grid need the cells of the points, and for these it always builds. out keeps the
// memory of the work, at worst as much as an index.
//
// Errors are those of Build first, then those of Queries.Validate, both with out as it was;
// then ErrRange if there are more than 2^31-1 results, and ErrFloatEnv, with out empty. It
// panics if X, Y and Z differ in length, if Category is shorter, or where Radius panics.
func (ix *Index) RadiusOnce(points Columns, q *Queries, out *Result) error {
	ix.mustBeInitialized()
	n := len(points.X)
	points.Z, points.Slots = planar(points.Z, n), rowsOf(points.Slots, n)
	if len(points.Y) != n || len(points.Z) != n {
		panic("spatial: RadiusOnce: X, Y and Z differ in length")
	}
	if limit := min(n, native.MaxSlots); points.Category != nil && len(points.Category) < limit {
		panic("spatial: RadiusOnce: Category is shorter than X, Y and Z")
	} else if q.Live != nil && len(q.Live) < (limit+63)/64 {
		panic(shortLive)
	}
	o := &scratchOf(&out.scratch).once
	o.columns = neighbours.Columns{X: points.X, Y: points.Y, Z: points.Z, Slots: points.Slots, Category: points.Category, Live: q.Live}
	defer o.release()
	if err := q.Validate(); err != nil {
		return cmp.Or(o.pointFault(ix), err)
	}
	if least := leastResults(q, len(points.Slots)); least > maxResults {
		if err := o.pointFault(ix); err != nil {
			return err
		}
		out.empty()
		return tooManyResults("RadiusOnce", least)
	}
	if q.Order == Grid || !o.layGrid(ix, q) {
		return o.build(ix, q, out)
	}
	return o.stream(ix, q, out)
}

// leastResults is a lower bound on the number of results, from the queries that include
// all points.
func leastResults(q *Queries, points int) int {
	if q.Mask != nil || q.Live != nil {
		return 0
	}
	n := 0
	for _, r := range q.Radius {
		if float32(r*r) > math.MaxFloat32 {
			n++
		}
	}
	return n * max(0, points-1) // without the excluded one
}

// chunkPoints is the number of points that a worker takes at a time: about ten
// microseconds of work. It must not depend on the number of workers.
const chunkPoints = 8192

// maxHits bounds the hits that are kept while streaming, twelve bytes each, over
// all workers. Further hits are only counted, and if their total is no error,
// RadiusOnce builds an index after all.
const maxHits = 1 << 26

// strategy is a way to answer a batch.
type strategy uint8

const (
	cheapest strategy = iota
	streaming
	building
)

// onceBatch is the memory of RadiusOnce besides the result.
type onceBatch struct {
	columns   neighbours.Columns
	grid      neighbours.Sieve
	noQueries neighbours.Sieve // a grid without queries, which only checks the points
	level     native.Level
	index     *Index // for batches that are answered by building
	pools     pools
	workers   []workerHits
	chunks    []chunkHits
	sorter    neighbours.Sorter

	fewerHits int // subtracted from maxHits, by tests
	force     strategy
}

// chunkHits locates the hits of a chunk: from..to of a worker's hits.
type chunkHits struct{ worker, from, to int }

// workerHits has the hits of the chunks of one worker, one after the other.
type workerHits struct {
	hits   neighbours.Hits
	beyond int // hits that were counted and not kept
	bad    int // the index of the first invalid point, or -1
	maxOwn int // hits that this worker may keep
}

func (o *onceBatch) release() { o.columns = neighbours.Columns{} }

// costs are the costs of steps, in nanoseconds, on a Zen 4 core: only ratios matter, and
// only for speed.
type costs struct {
	screen float64 // to read a point and find its cell
	pass   float64 // in addition, if a query reaches the cell
	test   float64 // for each such query
	wide   float64 // for each query that is not in cells
	ask    float64 // to answer a query from an index
	build  float64 // to index a point of few
	builds float64 // to index a point of a million
}

var (
	vectorCosts = costs{screen: 0.8, pass: 8, test: 0.5, wide: 0.15, ask: 100, build: 2.5, builds: 7.5}
	scalarCosts = costs{screen: 3.3, pass: 9, test: 3, wide: 1.2, ask: 250, build: 7, builds: 20}
)

// layCost is the cost of entering a query in the cells around it.
const layCost = 300

// index is the cost of Build and Radius. Up to 1<<17 points the cost per point is
// constant; it rises with each doubling, up to a million.
func (c *costs) index(points, queries int) float64 {
	doublings := min(max(bits.Len(uint(points))-18, 0), 3)
	each := c.build + float64(float64(doublings)/3*(c.builds-c.build))
	return float64(float64(points)*each) + float64(float64(queries)*c.ask)
}

// layGrid reports whether streaming is estimated to be cheaper than building, and
// if so has laid the grid. Streaming reads every point once, at about a tenth to
// a third of the cost of indexing it; in addition each query costs the laying, and
// each point near a query costs the tests. A sample of the points estimates how many are
// near. Sets so small that testing all pairs is cheapest are streamed too, past a grid in
// which all queries are wide.
func (o *onceBatch) layGrid(ix *Index, q *Queries) bool {
	c := &vectorCosts
	if ix.level == native.Go || ix.level == native.C {
		c = &scalarCosts
	}
	points, queries := len(o.columns.Slots), len(q.X)
	batch := neighbours.Queries{X: q.X, Y: q.Y, Z: q.z(), Radius: q.Radius, Exclude: q.Exclude, Mask: q.Mask}
	switch o.force {
	case building:
		return false
	case streaming:
		o.grid.Lay(&batch, 1<<20)
		return true
	}
	index := c.index(points, queries)
	pairs := float64(points) * (c.screen + float64(float64(queries)*c.wide))
	least := float64(float64(points)*c.screen) + float64(float64(queries)*layCost)
	if min(pairs, least) > index {
		return false
	}
	o.grid.Lay(&batch, points)
	passes, tests := o.grid.Sample(&o.columns)
	each := c.screen + float64(passes*c.pass) + float64(tests*c.test) + float64(float64(len(o.grid.Wide()))*c.wide)
	return float64(points)*each < index
}

// build answers from an index of its own.
func (o *onceBatch) build(ix *Index, q *Queries, out *Result) error {
	if o.index == nil || o.index.cfg != ix.cfg || o.index.level != ix.level {
		index, err := New(ix.cfg)
		if err != nil {
			return err
		}
		o.index = index
	}
	o.index.parallelFrom = ix.parallelFrom
	if err := o.index.Build(o.columns.X, o.columns.Y, o.columns.Z, o.columns.Slots); err != nil {
		return err
	}
	if o.columns.Category != nil {
		o.index.SetCategories(o.columns.Category)
	}
	return o.index.Radius(q, out)
}

// stream answers by streaming the points past the grid.
func (o *onceBatch) stream(ix *Index, q *Queries, out *Result) error {
	o.prepare(ix)
	err := o.pools.run(ix, max(1, len(o.columns.Slots)), chunkPoints, o)
	if err == nil {
		if at := o.firstBad(); at >= 0 {
			return o.badPoint(at)
		}
		total, kept := 0, true
		for i := range o.workers {
			total += o.workers[i].hits.Fill + o.workers[i].beyond
			kept = kept && o.workers[i].beyond == 0
		}
		switch {
		case total > maxResults:
			err = tooManyResults("RadiusOnce", total)
		case !kept:
			return o.build(ix, q, out)
		default:
			o.merge(q, total, out)
			return nil
		}
	}
	out.empty()
	return err
}

func (o *onceBatch) prepare(ix *Index) {
	o.level = ix.level
	if len(o.workers) != ix.cfg.Workers {
		o.workers = make([]workerHits, ix.cfg.Workers)
	}
	for i := range o.workers {
		w := &o.workers[i]
		w.hits.Fill, w.beyond, w.bad, w.maxOwn = 0, 0, -1, (maxHits-o.fewerHits)/len(o.workers)
	}
	o.chunks = resize(o.chunks, max(1, (len(o.columns.Slots)+chunkPoints-1)/chunkPoints))
}

// Do streams one chunk of points; it implements native.Task. A worker that has found a bad
// point skips those after it, but other workers continue with the points before.
func (o *onceBatch) Do(number, c int) {
	w := &o.workers[number]
	at := c * chunkPoints
	end := min(at+chunkPoints, len(o.columns.Slots))
	from := w.hits.Fill
	if w.bad < 0 {
		o.chunk(w, at, end)
	}
	o.chunks[c] = chunkHits{number, from, w.hits.Fill}
}

func (o *onceBatch) chunk(w *workerHits, from, to int) {
	s := &o.grid
	if w.hits.Fill+w.beyond > maxResults {
		s = &o.noQueries // too many results; but an invalid point is the earlier error
	}
	for at := from; ; {
		next, stop := neighbours.Stream(o.level, s, &o.columns, at, to, &w.hits)
		if stop == neighbours.Done {
			break
		}
		if stop == neighbours.Bad {
			w.bad = next
			return
		}
		at = next
		w.makeRoom(s.Room())
	}
	for p := (neighbours.Position{At: from}); !neighbours.Sweep(o.level, s, &o.columns, &p, to, &w.hits); {
		w.makeRoom(s.Room())
		if w.beyond > maxResults {
			return
		}
	}
}

// makeRoom grows the memory of the hits, or, if there are too many to keep, begins to
// overwrite them.
func (w *workerHits) makeRoom(n int) {
	h := &w.hits
	if w.beyond > 0 || h.Fill > w.maxOwn {
		w.beyond += h.Fill
		h.Fill = 0
	}
	if len(h.Slot)-h.Fill >= n {
		return
	}
	size := max(h.Fill+n, 2*len(h.Slot))
	h.Query = append(make([]uint32, 0, size), h.Query[:h.Fill]...)[:size]
	h.Slot = append(make([]uint32, 0, size), h.Slot[:h.Fill]...)[:size]
	h.Dist2 = append(make([]float32, 0, size), h.Dist2[:h.Fill]...)[:size]
}

// pointFault returns the error that Build returns for the points.
func (o *onceBatch) pointFault(ix *Index) error {
	at, stop := neighbours.Stream(ix.level, &o.noQueries, &o.columns, 0, len(o.columns.Slots), &neighbours.Hits{})
	if stop == neighbours.Bad {
		return o.badPoint(at)
	}
	return nil
}

func (o *onceBatch) firstBad() int {
	first := -1
	for i := range o.workers {
		if at := o.workers[i].bad; at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	return first
}

// badPoint is the error that Build returns for the point at an index of slots.
func (o *onceBatch) badPoint(at int) error {
	c := &o.columns
	return badPoint(c.X, c.Y, c.Z, c.Slots, at)
}

// merge sorts the hits by query with a counting sort: the hits of a query are in the order
// of the points already. Offsets serve as cursors, and are shifted back.
func (o *onceBatch) merge(q *Queries, total int, out *Result) {
	offsets := resize(out.Offsets, len(q.X)+1)
	clear(offsets)
	for i := range o.workers {
		h := &o.workers[i].hits
		for _, query := range h.Query[:h.Fill] {
			offsets[query+1]++
		}
	}
	sum := uint32(0)
	for i, n := range offsets {
		sum += n
		offsets[i] = sum
	}
	needDist2 := !q.SkipDist2 || q.Order == ByDistance
	out.Offsets, out.Slots, out.Dist2, out.Of = offsets, resize(out.Slots, total), out.Dist2[:0], out.Of[:0]
	if needDist2 {
		out.Dist2 = resize(out.Dist2, total)
	}
	for _, c := range o.chunks {
		h := &o.workers[c.worker].hits
		slots, dist2 := h.Slot[c.from:c.to], h.Dist2[c.from:c.to]
		for i, query := range h.Query[c.from:c.to] {
			at := offsets[query]
			offsets[query] = at + 1
			out.Slots[at] = slots[i]
			if needDist2 {
				out.Dist2[at] = dist2[i]
			}
		}
	}
	copy(offsets[1:], offsets)
	offsets[0] = 0
	if q.Order == ByDistance && total > 0 {
		neighbours.SortRows(o.level, neighbours.ByDistance, native.MaxSlots, 0, offsets[1:], out.Slots, out.Dist2, &o.sorter)
	}
	if q.SkipDist2 {
		out.Dist2 = out.Dist2[:0]
	}
}
