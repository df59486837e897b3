package spatial

import (
	"math"
	"slices"
	"sync"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/native"
)

// A scratch is what one call of Count, Overlap, RayClosest or RayAll needs to
// work with. The index keeps those of earlier calls, so that calls allocate
// nothing once there have been as many at a time as there will be.
type scratch struct {
	pool, alone *native.Pool
	count       countTask
	rows        rowsTask
	closest     closestTask
	spheres     native.Spheres
}

// scratches are those that are not in use.
type scratches struct {
	mu   sync.Mutex
	free []*scratch
}

func (ix *Index) borrow() *scratch {
	s := &ix.scratches
	s.mu.Lock()
	defer s.mu.Unlock()
	if last := len(s.free) - 1; last >= 0 {
		b := s.free[last]
		s.free = s.free[:last]
		return b
	}
	b := &scratch{pool: native.NewPool(ix.cfg.Workers), alone: native.NewPool(1)}
	b.rows.workers = make([]collector, ix.cfg.Workers)
	b.closest.tracers = make([]native.Tracer, ix.cfg.Workers)
	return b
}

func (ix *Index) giveBack(b *scratch) {
	s := &ix.scratches
	s.mu.Lock()
	defer s.mu.Unlock()
	s.free = append(s.free, b)
}

// run cuts n queries into chunks and runs the task on them, on one worker where
// others do not pay.
func (ix *Index) run(b *scratch, n, chunk int, task native.Task) error {
	chunks := (n + chunk - 1) / chunk
	if chunks < ix.parallelFrom {
		return b.alone.Run(chunks, task)
	}
	return b.pool.Run(chunks, task)
}

// A search answers queries from..to, as many as fit, into h and returns how many.
type search interface {
	search(w *collector, from, to int, h *native.Hits) int
}

// rowsTask answers a batch of queries by rows: it collects the rows of each
// chunk with the worker that took it, and puts them behind each other at the end.
type rowsTask struct {
	ix      *Index
	what    string // for errors
	search  search
	n, size int // queries, and queries of a chunk
	order   Order
	withT   bool
	offsets []uint32
	workers []collector
	chunks  []chunk

	overlap overlapSearch
	rays    raySearch
}

// collector has the rows of a worker's chunks, one behind the other.
type collector struct {
	hits native.Hits
	t    []float32 // as long as hits.Slots; hits.T is this, or nil
	keys []uint64
	err  error

	tracer native.Tracer
}

func (b *rowsTask) begin(offsets []uint32) {
	b.offsets = resize(offsets, b.n+1)
	b.chunks = resize(b.chunks, (b.n+b.size-1)/b.size)
	for i := range b.workers {
		w := &b.workers[i]
		w.hits.Fill, w.hits.T, w.err = 0, nil, nil
		if b.withT {
			w.t = resize(w.t, len(w.hits.Slots))
			w.hits.T = w.t
		}
	}
}

// Do answers one chunk of queries; it implements native.Task.
func (b *rowsTask) Do(number, c int) {
	w := &b.workers[number]
	lo := c * b.size
	hi := min(lo+b.size, b.n)
	from := w.hits.Fill
	for at := lo; at < hi && w.err == nil; {
		w.hits.Ends = b.offsets[at+1 : hi+1]
		if at += b.search.search(w, at, hi, &w.hits); at < hi {
			w.grow(b.what, b.ix.n, b.withT)
		}
	}
	if w.err == nil {
		w.sort(b.order, from, b.offsets[lo+1:hi+1])
	}
	b.chunks[c] = chunk{number, from, w.hits.Fill}
}

// grow makes room for one more row of all points, at least doubling.
func (w *collector) grow(what string, points int, withT bool) {
	h := &w.hits
	need := h.Fill + points + native.Pad
	if len(h.Slots) >= maxResults {
		w.err = fault.Field(ErrRange, "spatial: "+what+": number of results", need)
		return
	}
	size := min(max(need, 2*len(h.Slots)), maxResults)
	slots := make([]uint32, size)
	copy(slots, h.Slots[:h.Fill])
	h.Slots = slots
	if withT {
		w.t = make([]float32, size)
		copy(w.t, h.T[:h.Fill])
		h.T = w.t
	}
}

// sort puts the rows that begin at from and end at ends into an order. What is
// compared as a distance is not negative, nor -0, so that its bits order as it
// does.
func (w *collector) sort(order Order, from int, ends []uint32) {
	if order == Grid {
		return
	}
	for _, end := range ends {
		slots := w.hits.Slots[from:end]
		if order == BySlot {
			slices.Sort(slots)
		} else {
			t := w.hits.T[from:end]
			w.keys = resize(w.keys, len(slots))
			for i, s := range slots {
				w.keys[i] = uint64(math.Float32bits(t[i]))<<32 | uint64(s)
			}
			slices.Sort(w.keys)
			for i, k := range w.keys {
				slots[i], t[i] = uint32(k), math.Float32frombits(uint32(k>>32))
			}
		}
		from = int(end)
	}
}

// merge puts the chunks behind each other, in their order, at the front of slots
// and t, and returns these.
func (b *rowsTask) merge(slots []uint32, t []float32) ([]uint32, []float32, error) {
	total := 0
	for i := range b.workers {
		if err := b.workers[i].err; err != nil {
			return slots, t, err
		}
		total += b.workers[i].hits.Fill
	}
	if total > maxResults {
		return slots, t, fault.Field(ErrRange, "spatial: "+b.what+": number of results", total)
	}
	slots, t = resize(slots, total), t[:0]
	if b.withT {
		t = resize(t, total)
	}
	b.offsets[0] = 0
	at := 0
	for c, ch := range b.chunks {
		h := &b.workers[ch.worker].hits
		copy(slots[at:], h.Slots[ch.from:ch.to])
		if b.withT {
			copy(t[at:], h.T[ch.from:ch.to])
		}
		ends := b.offsets[c*b.size+1 : min((c+1)*b.size, b.n)+1]
		for i := range ends {
			ends[i] = uint32(int(ends[i]) - ch.from + at)
		}
		at += ch.to - ch.from
	}
	return slots, t, nil
}
