package spatial

import (
	"math"
	"math/bits"

	"github.com/evertick/evertick/internal/neighbours"
)

// sumChunk is the number of centres that a worker takes at a time. Their rows stay in its L1 cache
// until they are summed, if they have some thirty neighbours. It must not depend on the number of
// workers.
const sumChunk = 64

// sumRoom is the number of results for which a worker has room at first. In most batches a chunk has fewer, even with
// the candidates of one more centre.
const sumRoom = 16384

// sumTask is the native.Task of Sum and SumSelf. A worker finds the rows of a chunk of centres, in
// memory of its own, and reduces them. Values come from records, in which the values of one point are
// together.
type sumTask struct {
	ix        *Index
	s         *Sums
	searcher  searcher
	centres   int
	radius    []float32   // of each query
	self      *selfSearch // of SumSelf, else nil
	byPlace   bool        // rows have places, otherwise slots
	byHit     bool        // the records are of a row's elements; otherwise of all points
	withDist2 bool        // something depends on distances
	byCentre  bool        // rows of columns are written or read for each centre

	groups  []sumGroup
	columns []sumColumn // of the terms
	weights uint8       // that are in use, a bit each
	workers []sumWorker
	place   []uint32 // of each slot, or NoSlot; in SumSelf
	fill    fillTask
	spread  spreadTask
}

// sumWorker is the memory of a worker.
type sumWorker struct {
	rows    neighbours.Rows
	found   neighbours.Rows // rows as the searcher gets them; a local variable would be allocated
	ends    [sumChunk]uint32
	centres [sumChunk]uint32 // rows of columns
	own     [sumChunk]neighbours.Record
	weights [neighbours.Weights][]float32
	hits    []neighbours.Record
	zeros   []uint32

	radius [1]float32 // of all rows, in SumSelf
	end    [1]uint32
}

func (t *sumTask) begin(ix *Index, s *Sums, centres int) {
	t.ix, t.s, t.centres = ix, s, centres
	if len(t.workers) != ix.cfg.Workers {
		t.workers = make([]sumWorker, ix.cfg.Workers)
	}
	t.plan()
}

func (t *sumTask) run(p *pools) error {
	err := t.compute(p)
	t.ix, t.s, t.searcher, t.radius, t.self = nil, nil, nil, nil, nil
	for i := range t.groups {
		g := &t.groups[i]
		clear(g.of[:])
		clear(g.own[:])
	}
	return err
}

func (t *sumTask) compute(p *pools) error {
	if t.centres == 0 {
		return nil
	}
	t.makeRoom()
	if err := t.fillRecords(p); err != nil {
		return err
	}
	if err := p.run(t.ix, t.centres, sumChunk, t); err != nil {
		return err
	}
	return t.spreadSums(p)
}

// makeRoom makes room for the results of all centres.
func (t *sumTask) makeRoom() {
	line := 0 // staggered, so that results do not compete for the same lines of the cache
	for i := range t.groups {
		g := &t.groups[i]
		for op := range g.want {
			for left := g.want[op]; left != 0; left &= left - 1 {
				sums := &g.sums[op][bits.TrailingZeros8(left)]
				*sums = aligned(*sums, t.centres, line)
				line++
			}
		}
	}
}

// Do computes the sums of a chunk; it implements native.Task.
func (t *sumTask) Do(worker, chunk int) {
	w := &t.workers[worker]
	last := min((chunk+1)*sumChunk, t.centres)
	for at := chunk * sumChunk; at < last; {
		w.rows.Ends, w.rows.Fill = w.ends[:last-at], 0
		done := t.search(worker, at, last)
		if done == 0 {
			w.grow(max(sumRoom, t.ix.n) + neighbours.Pad)
			continue
		}
		w.rows.Ends = w.ends[:done]
		t.reduce(w, at)
		at += done
	}
}

// search finds rows from centre number first on, as Radius does, and returns how many had room.
func (t *sumTask) search(worker, first, last int) int {
	w := &t.workers[worker]
	if w.rows.Slots == nil {
		w.grow(sumRoom)
	}
	w.found = w.rows
	if !t.withDist2 {
		w.found.Dist2 = nil
	}
	done := t.searcher.search(worker, first, last, &w.found)
	w.rows.Fill = w.found.Fill
	return done
}

// grow makes room for n results. Kernels may read neighbours.Pad more.
func (w *sumWorker) grow(n int) {
	w.rows.Slots, w.rows.Dist2 = make([]uint32, n+neighbours.Pad)[:n], make([]float32, n+neighbours.Pad)[:n]
}

// reduce computes the results of the centres from number first on, from their rows.
func (t *sumTask) reduce(w *sumWorker, first int) {
	index := w.rows.Slots[:w.rows.Fill]
	if t.byCentre {
		t.findCentres(w, first)
		t.countRows(w, w.centres[:len(w.rows.Ends)])
		t.findNearest(w, w.centres[:len(w.rows.Ends)])
	}
	t.weigh(w, first)
	if t.byHit {
		w.hits = resize(w.hits, len(index))
		index = rowsOf(nil, len(index))
	}
	for i := range t.groups {
		g := &t.groups[i]
		records, index := g.records, index
		if g.ones {
			index = w.zeroIndex(len(index))
		} else if t.byHit {
			records = w.hits
			gather(records, &g.of, g.values, 1, w.rows.Slots[:w.rows.Fill])
		}
		sums := neighbours.RowSums{Records: records, Index: index, Ends: w.rows.Ends, Own: t.own(w, g, first)}
		for op := range g.want {
			sums.Op = neighbours.SumOp(op)
			t.sumRows(w, g, &sums, first)
		}
	}
}

// own returns what is subtracted from the values of the neighbours of the centres from number first
// on. Where all values are differences of one column, these are the records of the centres.
func (t *sumTask) own(w *sumWorker, g *sumGroup, first int) []neighbours.Record {
	n := len(w.rows.Ends)
	if g.differences && t.byPlace {
		return g.records[first : first+n]
	}
	own := w.own[:n]
	gather(own, &g.own, g.values, 0, w.centres[:n])
	return own
}

// zeroIndex returns n zeros: the numbers of the records if all elements of the rows have the same.
func (w *sumWorker) zeroIndex(n int) []uint32 {
	if len(w.zeros) < n {
		w.zeros = make([]uint32, n+n/4)
	}
	return w.zeros[:n]
}

// findCentres finds the rows of columns that belong to the centres from number first on.
func (t *sumTask) findCentres(w *sumWorker, first int) {
	for i := range w.rows.Ends {
		if w.centres[i] = uint32(first + i); t.self != nil {
			_, _, _, w.centres[i] = t.ix.point(first + i)
		}
	}
}

// sumRows computes the sums of one operation, with each of the weights that are wanted.
func (t *sumTask) sumRows(w *sumWorker, g *sumGroup, sums *neighbours.RowSums, first int) {
	room, want, last := &g.sums[sums.Op], g.want[sums.Op], first+len(sums.Ends)
	plain := want&(1<<Uniform) != 0
	for want &^= 1 << Uniform; plain || want != 0; want &= want - 1 {
		sums.PlainValues, sums.WeightedValues = 0, 0
		if plain {
			sums.PlainValues, sums.PlainMeans = g.wanted(sums.Op, int(Uniform))
			sums.Plain = room[Uniform][first:last]
		}
		if want != 0 {
			weight := bits.TrailingZeros8(want)
			sums.WeightedValues, sums.WeightedMeans = g.wanted(sums.Op, weight)
			sums.Weighted, sums.Weights = room[weight][first:last], w.weights[weight]
		}
		neighbours.SumRows(t.ix.level, sums)
		plain = false
	}
}

// countRows writes the numbers of neighbours.
func (t *sumTask) countRows(w *sumWorker, centres []uint32) {
	if len(t.s.Counts) == 0 {
		return
	}
	from := uint32(0)
	for i, row := range centres {
		t.s.Counts[row], from = w.rows.Ends[i]-from, w.rows.Ends[i]
	}
}

// findNearest writes the nearest neighbours.
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
		w.weights[weight] = resize(w.weights[weight], n+neighbours.Pad)
		neighbours.Weigh(t.ix.level, neighbours.Weight(weight), t.s.Softening, radius, ends, w.rows.Dist2[:n+neighbours.Pad], w.weights[weight])
	}
}
