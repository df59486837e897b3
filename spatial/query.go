package spatial

import (
	"math"
	"slices"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/native"
)

// Order is the order of the slots within a row. Each is total, so a row has one
// form on every machine.
type Order uint8

const (
	BySlot     Order = iota // ascending slots
	ByDistance              // ascending squared distance, then slot
	Grid                    // cells by z, y, x, then slot: free, and a function of the points, CellSize and Bounds
)

// Queries is a batch of centres and radii in metres, one query an index. A
// point is within when, in float32 and with every operation rounded,
//
//	(dx*dx + dy*dy) + dz*dz <= r*r
//
// where d = point - centre. Nothing else decides. A radius whose square
// overflows therefore takes in every point.
type Queries struct {
	X, Y, Z, Radius []float32
	// Exclude names for each query a slot that is left out, or NoSlot. Nil: none.
	Exclude []uint32
	// Order of each row.
	Order Order
	// SkipDist2 leaves Result.Dist2 empty, which saves a little time.
	SkipDist2 bool
}

// Validate reports the first fault of the batch: a value that is NaN or
// infinite (ErrNotFinite), a negative radius or an unknown order (ErrRange). It
// panics if the slices differ in length.
func (q *Queries) Validate() error {
	n := len(q.X)
	if len(q.Y) != n || len(q.Z) != n || len(q.Radius) != n {
		panic("spatial: Queries: X, Y, Z and Radius differ in length")
	}
	if q.Exclude != nil && len(q.Exclude) != n {
		panic("spatial: Queries: Exclude and X differ in length")
	}
	if q.Order > Grid {
		return fault.Field(ErrRange, "spatial: Queries.Order", q.Order)
	}
	for i := range n {
		switch {
		case !fault.Finite(q.X[i]):
			return fault.Element(ErrNotFinite, "spatial: Queries.X", i, q.X[i])
		case !fault.Finite(q.Y[i]):
			return fault.Element(ErrNotFinite, "spatial: Queries.Y", i, q.Y[i])
		case !fault.Finite(q.Z[i]):
			return fault.Element(ErrNotFinite, "spatial: Queries.Z", i, q.Z[i])
		case !fault.Finite(q.Radius[i]):
			return fault.Element(ErrNotFinite, "spatial: Queries.Radius", i, q.Radius[i])
		case q.Radius[i] < 0:
			return fault.Element(ErrRange, "spatial: Queries.Radius", i, q.Radius[i])
		}
	}
	return nil
}

// Result holds one row per query, in compressed sparse rows: row i is
// Slots[Offsets[i]:Offsets[i+1]], and Dist2 has the squared distances of the
// same places. The zero Result is ready; reuse it, and after a few batches
// nothing is allocated any more. Rows are valid until the next batch.
type Result struct {
	Offsets []uint32
	Slots   []uint32
	Dist2   []float32
	// Of has the slot to which each row belongs, after RadiusSelf and Pairs.
	Of []uint32

	batch batch
	self  selfBatch
}

// Len returns the number of rows.
func (r *Result) Len() int { return max(0, len(r.Offsets)-1) }

// Row returns the slots of row i.
func (r *Result) Row(i int) []uint32 { return r.Slots[r.Offsets[i]:r.Offsets[i+1]] }

// Dist2Row returns the squared distances of row i, in square metres.
func (r *Result) Dist2Row(i int) []float32 { return r.Dist2[r.Offsets[i]:r.Offsets[i+1]] }

// maxResults bounds the length of Slots, so that it fits an int32 everywhere.
const maxResults = math.MaxInt32

// chunkQueries is the number of queries that a worker takes at a time: about ten
// microseconds of work, so that workers finish together, against nanoseconds to
// take the next. It must not depend on the number of workers.
const chunkQueries = 64

// parallelFrom is the number of chunks from which a second worker pays. Waking it
// costs as much as a few hundred queries: in BenchmarkWorkers on two cores it loses
// at 128, gains little or nothing at 256 and 512, and a quarter to a third at 1,024;
// within a whole step, where the other core has work of its own, it lost at 200.
const parallelFrom = 16

// batch answers the queries of one call in chunks.
type batch struct {
	ix      *Index
	q       *Queries
	offsets []uint32
	pool    *native.Pool
	alone   *native.Pool // one worker
	workers []worker
	chunks  []chunk
}

// worker collects the rows of its chunks, one behind the other.
type worker struct {
	rows  native.Rows
	dist2 []float32 // as long as rows.Slots; rows.Dist2 is this, or nil
	keys  []uint64
	err   error
}

// chunk tells where its rows are: from..to of a worker's rows.
type chunk struct{ worker, from, to int }

// Radius answers a batch of queries on the index's level. Errors are those of
// Queries.Validate, with out as it was; ErrRange if there are more than 2^31-1
// results, and ErrFloatEnv, with out empty.
func (ix *Index) Radius(q *Queries, out *Result) error {
	if err := q.Validate(); err != nil {
		return err
	}
	out.Of = out.Of[:0]
	b := &out.batch
	if b.pool == nil || b.pool.Workers() != ix.cfg.Workers {
		b.pool, b.alone = native.NewPool(ix.cfg.Workers), native.NewPool(1)
		b.workers = make([]worker, ix.cfg.Workers)
	}
	n := len(q.X)
	b.ix, b.q = ix, q
	b.offsets = resize(out.Offsets, n+1)
	b.chunks = resize(b.chunks, (n+chunkQueries-1)/chunkQueries)
	for i := range b.workers {
		b.workers[i].begin(q)
	}
	pool := b.pool
	if len(b.chunks) < ix.parallelFrom {
		pool = b.alone
	}
	err := pool.Run(len(b.chunks), b)
	if err == nil {
		err = b.merge(out)
	}
	b.ix, b.q = nil, nil
	if err != nil {
		out.Offsets, out.Slots, out.Dist2 = out.Offsets[:0], out.Slots[:0], out.Dist2[:0]
	}
	return err
}

func (w *worker) begin(q *Queries) {
	w.rows.Fill, w.err = 0, nil
	w.rows.BySlot = q.Order == BySlot
	w.rows.Dist2 = nil
	if !q.SkipDist2 || q.Order == ByDistance {
		if w.dist2 == nil || len(w.dist2) < len(w.rows.Slots) {
			w.dist2 = make([]float32, len(w.rows.Slots))
		}
		w.rows.Dist2 = w.dist2
	}
}

// Do answers one chunk of queries; it implements native.Task.
func (b *batch) Do(number, c int) {
	w := &b.workers[number]
	lo := c * chunkQueries
	hi := min(lo+chunkQueries, len(b.q.X))
	from := w.rows.Fill
	for at := lo; at < hi && w.err == nil; {
		part := native.Queries{X: b.q.X[at:hi], Y: b.q.Y[at:hi], Z: b.q.Z[at:hi], Radius: b.q.Radius[at:hi]}
		if b.q.Exclude != nil {
			part.Exclude = b.q.Exclude[at:hi]
		}
		w.rows.Ends = b.offsets[at+1 : hi+1]
		done := native.Radius(b.ix.level, &b.ix.grid, &b.ix.points, &part, &w.rows)
		if at += done; at < hi {
			w.err = w.grow(b.ix.n)
		}
	}
	if b.q.Order == ByDistance && w.err == nil {
		w.sortByDistance(from, b.offsets[lo+1:hi+1])
	}
	b.chunks[c] = chunk{number, from, w.rows.Fill}
}

// grow makes room for one more row of all points, at least doubling.
func (w *worker) grow(points int) error {
	need := w.rows.Fill + points + native.Pad
	if len(w.rows.Slots) >= maxResults {
		return fault.Field(ErrRange, "spatial: Radius: number of results", need)
	}
	size := min(max(need, 2*len(w.rows.Slots)), maxResults)
	slots := make([]uint32, size)
	copy(slots, w.rows.Slots[:w.rows.Fill])
	w.rows.Slots = slots
	if w.rows.Dist2 != nil {
		w.dist2 = make([]float32, size)
		copy(w.dist2, w.rows.Dist2[:w.rows.Fill])
		w.rows.Dist2 = w.dist2
	}
	return nil
}

// sortByDistance sorts the rows that begin at from and end at ends. Squared
// distances are not negative, so that their bits order as they do.
func (w *worker) sortByDistance(from int, ends []uint32) {
	for _, end := range ends {
		slots, dist2 := w.rows.Slots[from:end], w.rows.Dist2[from:end]
		w.keys = resize(w.keys, len(slots))
		for i, s := range slots {
			w.keys[i] = uint64(math.Float32bits(dist2[i]))<<32 | uint64(s)
		}
		slices.Sort(w.keys)
		for i, k := range w.keys {
			slots[i], dist2[i] = uint32(k), math.Float32frombits(uint32(k>>32))
		}
		from = int(end)
	}
}

// merge puts the chunks behind each other, in their order.
func (b *batch) merge(out *Result) error {
	total := 0
	for i := range b.workers {
		if err := b.workers[i].err; err != nil {
			return err
		}
		total += b.workers[i].rows.Fill
	}
	if total > maxResults {
		return fault.Field(ErrRange, "spatial: Radius: number of results", total)
	}
	out.Offsets = b.offsets
	out.Slots = resize(out.Slots, total)
	if b.q.SkipDist2 {
		out.Dist2 = out.Dist2[:0]
	} else {
		out.Dist2 = resize(out.Dist2, total)
	}
	out.Offsets[0] = 0
	at := 0
	for c, ch := range b.chunks {
		rows := &b.workers[ch.worker].rows
		copy(out.Slots[at:], rows.Slots[ch.from:ch.to])
		if !b.q.SkipDist2 {
			copy(out.Dist2[at:], rows.Dist2[ch.from:ch.to])
		}
		ends := out.Offsets[c*chunkQueries+1 : min((c+1)*chunkQueries, len(b.q.X))+1]
		for i := range ends {
			ends[i] = uint32(int(ends[i]) - ch.from + at)
		}
		at += ch.to - ch.from
	}
	return nil
}
