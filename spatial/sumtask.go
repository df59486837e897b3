package spatial

import (
	"math"
	"math/bits"
	"unsafe"

	"github.com/evertick/evertick/native"
)

// sumChunk is the number of centres that a worker takes at a time. Their rows stay in its L1 cache
// until they are summed, if they have some thirty neighbours. It must not depend on the number of
// workers.
const sumChunk = 64

// sumRoom is the number of results for which a worker has room at first: more than those of a chunk
// and the candidates of one centre, in most batches.
const sumRoom = 16384

// sumTask is the native.Task of Sum and SumSelf. A worker finds the rows of a chunk of centres, in
// memory of its own, and reduces them. Values come from records, in which those of one point are
// together.
type sumTask struct {
	ix       *Index
	s        *Sums
	searcher searcher
	centres  int
	radius   []float32   // of each query
	self     *selfSearch // of SumSelf, else nil
	byPlace  bool        // rows have places, otherwise slots
	byHit    bool        // the records are those of a row's elements; otherwise those of all points
	withKey  bool

	groups  []sumGroup
	columns []sumColumn // of the terms
	weights uint8       // that are in use, a bit each
	workers []sumWorker
	gather  recordTask
}

// sumGroup is up to native.RecordLen different values, and what terms do with them.
type sumGroup struct {
	of, own [native.RecordLen][]float32
	values  int
	ones    bool                 // all values are 1
	want    [native.SumOps]uint8 // weights for each operation, a bit each
	records []native.Record
}

// sumColumn is where the result of a term is.
type sumColumn struct{ group, value int }

// sumWorker is the memory of a worker.
type sumWorker struct {
	rows    native.Rows
	ends    [sumChunk]uint32
	centres [sumChunk]uint32 // rows of columns
	own     [sumChunk]native.Record
	weights [native.Weights][]float32
	sums    [native.SumOps][native.Weights][]native.Record
	hits    []native.Record

	radius [1]float32 // of all rows, in SumSelf
	end    [1]uint32
}

func (t *sumTask) begin(ix *Index, s *Sums, searcher searcher, centres int) {
	t.ix, t.s, t.searcher, t.centres = ix, s, searcher, centres
	t.radius, t.self, t.byPlace = nil, nil, false
	if len(t.workers) != ix.cfg.Workers {
		t.workers = make([]sumWorker, ix.cfg.Workers)
	}
	t.plan()
}

// plan finds the different values of the terms.
func (t *sumTask) plan() {
	for i := range t.groups {
		t.groups[i] = sumGroup{records: t.groups[i].records}
	}
	groups := t.groups[:0]
	t.columns, t.weights = t.columns[:0], 0
	for i := range t.s.Terms {
		term := &t.s.Terms[i]
		at, found := sumColumn{}, false
		for g := 0; g < len(groups) && !found; g++ {
			if at.value, found = groups[g].find(term); found {
				at.group = g
			}
		}
		if !found {
			if len(groups) == 0 || groups[len(groups)-1].values == native.RecordLen {
				groups = growByOne(groups)
			}
			at.group = len(groups) - 1
			at.value = groups[at.group].add(term)
		}
		groups[at.group].want[term.op()] |= 1 << term.Weight
		t.weights |= 1 << term.Weight
		t.columns = append(t.columns, at)
	}
	t.weights &^= 1 << Uniform
	t.groups = groups
	t.withKey = t.weights != 0 || len(t.s.Nearest) > 0 || len(t.s.NearestDist2) > 0
}

// growByOne appends an element, with the memory that it had before.
func growByOne(groups []sumGroup) []sumGroup {
	if n := len(groups); n < cap(groups) {
		return groups[:n+1]
	}
	return append(groups, sumGroup{})
}

func (g *sumGroup) find(t *Term) (value int, found bool) {
	for i := range g.values {
		if unsafe.SliceData(g.of[i]) == unsafe.SliceData(t.Of) && unsafe.SliceData(g.own[i]) == unsafe.SliceData(t.Own) {
			return i, true
		}
	}
	return 0, false
}

func (g *sumGroup) add(t *Term) int {
	i := g.values
	g.of[i], g.own[i] = t.Of, t.Own
	g.ones = (i == 0 || g.ones) && t.Of == nil
	g.values++
	return i
}

func (t *Term) op() native.SumOp {
	switch t.Reduce {
	case Min:
		return native.Min
	case Max:
		return native.Max
	}
	return native.Add
}

func (t *sumTask) run(p *pools) error {
	p.fit(t.ix)
	chunks := (t.centres + sumChunk - 1) / sumChunk
	pool, parallel := p.alone, t.ix.parallelFrom
	if chunks >= parallel {
		pool = p.all
	}
	err := t.gatherAll(p)
	if err == nil {
		err = pool.Run(chunks, t)
	}
	t.ix, t.s, t.searcher, t.radius, t.self = nil, nil, nil, nil, nil
	for i := range t.groups {
		g := &t.groups[i]
		clear(g.of[:])
		clear(g.own[:])
	}
	return err
}

// Do computes the sums of a chunk; it implements native.Task.
func (t *sumTask) Do(worker, chunk int) {
	w := &t.workers[worker]
	last := min((chunk+1)*sumChunk, t.centres)
	for at := chunk * sumChunk; at < last; {
		w.rows.Ends, w.rows.Fill = w.ends[:last-at], 0
		done := t.search(worker, at, last)
		if done == 0 {
			w.grow(max(sumRoom, t.ix.n) + native.Pad)
			continue
		}
		w.rows.Ends = w.ends[:done]
		t.reduce(w, at)
		at += done
	}
}

func (t *sumTask) search(worker, first, last int) int {
	w := &t.workers[worker]
	if w.rows.Slots == nil {
		w.grow(sumRoom)
	}
	rows := w.rows
	if !t.withKey {
		rows.Dist2 = nil
	}
	done := t.searcher.search(worker, first, last, &rows)
	w.rows.Fill = rows.Fill
	return done
}

// grow makes room for n results. Kernels may read native.Pad more.
func (w *sumWorker) grow(n int) {
	w.rows.Slots, w.rows.Dist2 = make([]uint32, n+native.Pad)[:n], make([]float32, n+native.Pad)[:n]
}

// reduce computes the results of the centres from number first on, from their rows.
func (t *sumTask) reduce(w *sumWorker, first int) {
	centres, index := w.centres[:len(w.rows.Ends)], w.rows.Slots[:w.rows.Fill]
	for i := range centres {
		if centres[i] = uint32(first + i); t.self != nil {
			_, _, _, centres[i] = t.ix.point(first + i)
		}
	}
	t.countRows(w, centres)
	t.findNearest(w, centres)
	t.weigh(w, first)
	if t.byHit {
		w.hits = resize(w.hits, len(index))
		index = rowsOf(nil, len(index))
	}
	for i := range t.groups {
		g := &t.groups[i]
		own := w.own[:len(centres)]
		gatherRecords(own, &g.own, g.values, 0, centres)
		records := g.records
		if t.byHit && !g.ones {
			records = w.hits
			gatherRecords(records, &g.of, g.values, 1, w.rows.Slots[:w.rows.Fill])
		}
		sums := native.RowSums{Records: records, Index: index, Ends: w.rows.Ends, Own: own, Values: g.values}
		for op, want := range g.want {
			sums.Op = native.SumOp(op)
			t.sumRows(w, &sums, want)
		}
		t.store(w, i, centres)
	}
}

// sumRows computes the sums of one operation, with each of the weights in want.
func (t *sumTask) sumRows(w *sumWorker, sums *native.RowSums, want uint8) {
	room := &w.sums[sums.Op]
	plain := want&(1<<Uniform) != 0
	for want &^= 1 << Uniform; plain || want != 0; want &= want - 1 {
		sums.Plain, sums.Weighted, sums.Weights = nil, nil, nil
		if plain {
			room[Uniform] = resize(room[Uniform], sumChunk)
			sums.Plain = room[Uniform][:len(sums.Ends)]
		}
		if want != 0 {
			weight := bits.TrailingZeros8(want)
			room[weight] = resize(room[weight], sumChunk)
			sums.Weighted, sums.Weights = room[weight][:len(sums.Ends)], w.weights[weight]
		}
		native.SumRows(t.ix.level, sums)
		plain = false
	}
}

// store writes the results of the terms of a group to their columns.
func (t *sumTask) store(w *sumWorker, group int, centres []uint32) {
	for i, at := range t.columns {
		if at.group != group {
			continue
		}
		term := &t.s.Terms[i]
		term.store(w.sums[term.op()][term.Weight], at.value, w.rows.Ends, centres)
	}
}

func (t *Term) store(sums []native.Record, value int, ends, centres []uint32) {
	if t.Reduce == Add {
		for i, row := range centres {
			t.To[row] = sums[i][value]
		}
		return
	}
	from := uint32(0)
	for i, row := range centres {
		v := sums[i][value]
		if n := ends[i] - from; n == 0 {
			v = 0
		} else if t.Reduce == Mean {
			v /= float32(n)
		}
		t.To[row], from = v, ends[i]
	}
}

func (t *sumTask) countRows(w *sumWorker, centres []uint32) {
	if len(t.s.Counts) == 0 {
		return
	}
	from := uint32(0)
	for i, row := range centres {
		t.s.Counts[row], from = w.rows.Ends[i]-from, w.rows.Ends[i]
	}
}

func (t *sumTask) findNearest(w *sumWorker, centres []uint32) {
	if len(t.s.Nearest) == 0 && len(t.s.NearestDist2) == 0 {
		return
	}
	at := 0
	for i, row := range centres {
		nearest, least := NoSlot, float32(math.Inf(1))
		for end := int(w.rows.Ends[i]); at < end; at++ {
			if w.rows.Dist2[at] > least {
				continue
			}
			slot := w.rows.Slots[at]
			if t.byPlace {
				_, _, _, slot = t.ix.point(int(slot))
			}
			if w.rows.Dist2[at] < least || slot < nearest {
				nearest, least = slot, w.rows.Dist2[at]
			}
		}
		if len(t.s.Nearest) > 0 {
			t.s.Nearest[row] = nearest
		}
		if len(t.s.NearestDist2) > 0 {
			t.s.NearestDist2[row] = least
		}
	}
}

// weigh computes the weights of all elements of the rows. In SumSelf, where all have one radius, they
// are one row.
func (t *sumTask) weigh(w *sumWorker, first int) {
	n := w.rows.Fill
	radius, ends := t.radius, w.rows.Ends
	if t.self != nil {
		w.radius[0], w.end[0] = t.self.query.Radius, uint32(n)
		radius, ends = w.radius[:], w.end[:]
	} else {
		radius = radius[first : first+len(ends)]
	}
	for left := t.weights; left != 0; left &= left - 1 {
		weight := bits.TrailingZeros8(left)
		w.weights[weight] = resize(w.weights[weight], n+native.Pad)
		native.Weigh(t.ix.level, native.Weight(weight), t.s.Softening, radius, ends, w.rows.Dist2[:n+native.Pad], w.weights[weight])
	}
}

// recordChunk is the number of records that a worker gathers at a time.
const recordChunk = 4096

// recordTask gathers the records of all points.
type recordTask struct{ t *sumTask }

// hitsFirst is the number of points per query from which Sum gathers the values of each neighbour
// that it finds, and not those of all points.
const hitsFirst = 16

// gatherAll gathers the records of all points, unless those of the neighbours are fewer.
func (t *sumTask) gatherAll(p *pools) error {
	n := t.ix.points.Limit
	if t.byPlace {
		n = t.ix.n
	}
	t.byHit = t.self == nil && n > hitsFirst*t.centres
	for i := range t.groups {
		g := &t.groups[i]
		switch {
		case g.ones:
			g.records = resize(g.records, 1)
			gatherRecords(g.records, &g.of, g.values, 1, []uint32{0})
		case !t.byHit:
			g.records = aligned(g.records, n, 0)
		}
	}
	if t.byHit || len(t.groups) == 0 {
		return nil
	}
	t.gather.t = t
	return p.run(t.ix, n, recordChunk, &t.gather)
}

// Do gathers some records; it implements native.Task.
func (r *recordTask) Do(_, chunk int) {
	t := r.t
	for i := range t.groups {
		g := &t.groups[i]
		if g.ones {
			continue
		}
		last := min((chunk+1)*recordChunk, len(g.records))
		for at := chunk * recordChunk; at < last; at += native.BlockLen {
			records := g.records[at:min(at+native.BlockLen, last)]
			if t.byPlace {
				gatherRecords(records, &g.of, g.values, 1, t.ix.points.Blocks[at/native.BlockLen].Slot[:len(records)])
			} else {
				gatherRecords(records, &g.of, g.values, 1, rowsOf(nil, last)[at:at+len(records)])
			}
		}
	}
}

// gatherRecords sets value i of each record to that of the row in column i, or to none if the column
// is nil.
func gatherRecords(records []native.Record, columns *[native.RecordLen][]float32, values int, none float32, rows []uint32) {
	for i, column := range columns[:values] {
		if column == nil {
			for j := range records {
				records[j][i] = none
			}
			continue
		}
		for j := range records {
			records[j][i] = column[rows[j]]
		}
	}
}
