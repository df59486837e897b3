package spatial

import (
	"math"
	"math/bits"

	"github.com/evertick/evertick/native"
)

// Columns are points, by slot: those of the slots in Slots, which ascend. As for
// Index.Build, a nil Z is zero everywhere, and nil Slots are all rows.
type Columns struct {
	X, Y, Z []float32 // metres
	Slots   []uint32
	// Category is what Index.SetCategories takes, or nil.
	Category []uint32
}

// RadiusOnce answers a batch of queries over points that are asked about once:
// out holds the bytes that Build, SetCategories and Radius would give. The points that the index holds are neither read nor changed; only its
// Config counts. Any number of goroutines may call it at the same time, also during a
// Build, each with a Result of its own.
//
// Where the queries are few, no grid over the points is built: one is laid over
// the queries, and the points are streamed past it. How the work is done is
// chosen by what it is expected to cost, from the numbers of points and queries and
// a sample of up to 64 points. Rows in the order Grid need the cells of the points, and
// are always answered by building. out keeps the memory of the work, at worst that of
// an index.
//
// Errors are those of Build first, then those of Queries.Validate, both with out
// as it was; then ErrRange if there are more than 2^31-1 results, and ErrFloatEnv,
// with out empty. It panics if X, Y and Z differ in length, if Category is shorter, or
// where Radius panics.
func (ix *Index) RadiusOnce(points Columns, q *Queries, out *Result) error {
	ix.made()
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
	o.columns = native.Columns{X: points.X, Y: points.Y, Z: points.Z, Slots: points.Slots, Category: points.Category, Live: q.Live}
	defer o.release()
	if err := q.Validate(); err != nil {
		if at, bad := o.firstFault(ix); bad {
			return o.fault(at)
		}
		return err
	}
	if everything(q, len(points.Slots)) > maxResults {
		if at, bad := o.firstFault(ix); bad {
			return o.fault(at)
		}
		out.empty()
		return tooManyResults("RadiusOnce", everything(q, len(points.Slots)))
	}
	if q.Order == Grid || !o.streams(ix, q) {
		return o.build(ix, q, out)
	}
	return o.stream(ix, q, out)
}

// everything is a lower bound on the results of the queries that take in all
// points.
func everything(q *Queries, points int) int {
	if q.Mask != nil || q.Live != nil {
		return 0
	}
	n := 0
	for _, r := range q.Radius {
		if float32(r*r) > math.MaxFloat32 {
			n++
		}
	}
	return n * max(0, points-1) // but for the one excluded
}

// chunkPoints is the number of points that a worker takes at a time: about ten
// microseconds of work. It must not depend on the number of workers.
const chunkPoints = 8192

// mostHits bounds the hits that are kept while streaming, twelve bytes each, over
// all workers. What goes beyond is counted, and if the total is no error, the
// points are indexed after all.
const mostHits = 1 << 26

// path is a way to answer.
type path uint8

const (
	cheapest path = iota
	streaming
	building
)

// once is what RadiusOnce needs besides the rows.
type once struct {
	columns native.Columns
	sieve   native.Sieve
	empty   native.Sieve // with which points are only looked at
	level   native.Level
	index   *Index // for batches that are answered by building
	pools   pools
	workers []streamer
	chunks  []chunk
	sorter  native.Sorter

	lessHits int // taken off mostHits, by tests
	force    path
}

// chunk tells where the hits of a chunk are: from..to of a worker's hits.
type chunk struct{ worker, from, to int }

// streamer collects the hits of the chunks of one worker, one behind the other.
type streamer struct {
	hits    native.Hits
	beyond  int // hits that were counted and not kept
	bad     int // the place of the first point at fault, or -1
	mostOwn int // hits that this worker may keep
}

func (o *once) release() { o.columns = native.Columns{} }

// costs are what work costs, in nanoseconds, on a Zen 4 core: only ratios matter, and only
// for speed.
type costs struct {
	screen float64 // to look at a point and find its cell
	pass   float64 // more, if a query reaches the cell
	test   float64 // with one more query
	wide   float64 // with a query that is not in cells
	ask    float64 // to answer a query from an index
	build  float64 // to index a point of few
	builds float64 // to index a point of a million
}

var (
	vectorCosts = costs{screen: 0.8, pass: 8, test: 0.5, wide: 0.15, ask: 100, build: 2.5, builds: 7.5}
	scalarCosts = costs{screen: 3.3, pass: 9, test: 3, wide: 1.2, ask: 250, build: 7, builds: 20}
)

// layQuery is what it costs to enter a query in the cells around it.
const layQuery = 300

// index is the cost of Build and Radius. Up to 1<<17 points a point costs the
// same; each doubling makes it dearer, up to a million.
func (c *costs) index(points, queries int) float64 {
	doublings := min(max(bits.Len(uint(points))-18, 0), 3)
	each := c.build + float64(float64(doublings)/3*(c.builds-c.build))
	return float64(float64(points)*each) + float64(float64(queries)*c.ask)
}

// streams tells whether streaming is expected to be cheaper than building, and
// if so has laid the sieve. Streaming reads every point once, at about a tenth to
// a third of what indexing it costs; it pays for each query that is laid, and for
// each point near one. How many are near is measured on a few of the points. Sets
// so small that testing all pairs is cheapest are streamed too, past a sieve in
// which all queries are wide.
func (o *once) streams(ix *Index, q *Queries) bool {
	c := &vectorCosts
	if ix.level == native.Go || ix.level == native.C {
		c = &scalarCosts
	}
	points, queries := len(o.columns.Slots), len(q.X)
	batch := native.Queries{X: q.X, Y: q.Y, Z: q.z(), Radius: q.Radius, Exclude: q.Exclude, Mask: q.Mask}
	switch o.force {
	case building:
		return false
	case streaming:
		o.sieve.Lay(&batch, 1<<20)
		return true
	}
	index := c.index(points, queries)
	pairs := float64(points) * (c.screen + float64(float64(queries)*c.wide))
	least := float64(float64(points)*c.screen) + float64(float64(queries)*layQuery)
	if min(pairs, least) > index {
		return false
	}
	o.sieve.Lay(&batch, points)
	passes, tests := o.sieve.Sample(&o.columns)
	each := c.screen + float64(passes*c.pass) + float64(tests*c.test) + float64(float64(len(o.sieve.Wide()))*c.wide)
	return float64(points)*each < index
}

// build answers from an index of its own.
func (o *once) build(ix *Index, q *Queries, out *Result) error {
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

// stream answers by streaming past the sieve.
func (o *once) stream(ix *Index, q *Queries, out *Result) error {
	o.prepare(ix)
	err := o.pools.run(ix, max(1, len(o.columns.Slots)), chunkPoints, o)
	if err == nil {
		if at := o.firstBad(); at >= 0 {
			return o.fault(at)
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

func (o *once) prepare(ix *Index) {
	o.level = ix.level
	if len(o.workers) != ix.cfg.Workers {
		o.workers = make([]streamer, ix.cfg.Workers)
	}
	for i := range o.workers {
		w := &o.workers[i]
		w.hits.Fill, w.beyond, w.bad, w.mostOwn = 0, 0, -1, (mostHits-o.lessHits)/len(o.workers)
	}
	o.chunks = resize(o.chunks, max(1, (len(o.columns.Slots)+chunkPoints-1)/chunkPoints))
}

// Do streams one chunk of points; it implements native.Task. A worker that has
// seen a bad point has no use for those behind it, but other workers go on
// with the points before.
func (o *once) Do(number, c int) {
	w := &o.workers[number]
	at := c * chunkPoints
	end := min(at+chunkPoints, len(o.columns.Slots))
	from := w.hits.Fill
	if w.bad < 0 {
		o.chunk(w, at, end)
	}
	o.chunks[c] = chunk{number, from, w.hits.Fill}
}

func (o *once) chunk(w *streamer, from, to int) {
	s := &o.sieve
	if w.hits.Fill+w.beyond > maxResults {
		s = &o.empty // an error: the points may still have an earlier one
	}
	for at := from; ; {
		next, stop := native.Stream(o.level, s, &o.columns, at, to, &w.hits)
		if stop == native.Done {
			break
		}
		if stop == native.Bad {
			w.bad = next
			return
		}
		at = next
		w.makeRoom(s.Room())
	}
	for p := (native.Position{At: from}); !native.Sweep(o.level, s, &o.columns, &p, to, &w.hits); {
		w.makeRoom(s.Room())
		if w.beyond > maxResults {
			return
		}
	}
}

// makeRoom grows the hits, or, if there are too many to keep, begins to overwrite
// them.
func (w *streamer) makeRoom(n int) {
	h := &w.hits
	if w.beyond > 0 || h.Fill > w.mostOwn {
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

// firstFault looks at the points only.
func (o *once) firstFault(ix *Index) (at int, bad bool) {
	at, stop := native.Stream(ix.level, &o.empty, &o.columns, 0, len(o.columns.Slots), &native.Hits{})
	return at, stop == native.Bad
}

func (o *once) firstBad() int {
	first := -1
	for i := range o.workers {
		if at := o.workers[i].bad; at >= 0 && (first < 0 || at < first) {
			first = at
		}
	}
	return first
}

// fault is the error that Build gives for the point at a place in slots.
func (o *once) fault(at int) error {
	c := &o.columns
	return badPoint(c.X, c.Y, c.Z, c.Slots, at)
}

// merge sorts the hits by query, by counting: those of a query are in the order
// of the points already. Offsets serve as cursors, and are shifted back.
func (o *once) merge(q *Queries, total int, out *Result) {
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
		native.SortRows(o.level, native.ByDistance, native.MaxSlots, 0, offsets[1:], out.Slots, out.Dist2, &o.sorter)
	}
	if q.SkipDist2 {
		out.Dist2 = out.Dist2[:0]
	}
}
