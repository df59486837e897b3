package host

import (
	"cmp"
	"container/heap"
	"context"
	"sync"

	"github.com/evertick/evertick/loop"
)

// world is one that was admitted.
type world struct {
	World
	demand // p95Ns is the estimate, and then that of the last windowTicks
	number uint64

	gate   sync.Mutex // held while an input is pushed, or the log is closed
	shut   bool       // no input is taken any more
	closed bool       // the log

	// The rest is guarded by Host.mu, but for what the turn of the world itself reads.
	place   place
	index   int  // in its heap
	leaving bool // it is being taken out, by one goroutine
	ended   bool // by itself
	settled bool // and its recorder is closed
	err     error

	last, due     int64   // the times of the last frame and of the next
	start, finish float64 // tags: see Host.virtual

	window   loop.Histogram // of ticks since p95Ns was taken
	measured bool           // p95Ns is of a window, and no estimate
	counts
}

// place says where a world is.
type place uint8

const (
	joining place = iota // admitted, not scheduled yet
	out                  // does not run any more
	timed                // in Host.timers
	claimed              // a worker sleeps until it is due
	ready                // in Host.ready
	running
	gone // not in the Host any more
)

// queue is a heap of worlds.
type queue struct {
	worlds []*world
	less   func(a, b *world) bool
}

func (q *queue) Len() int           { return len(q.worlds) }
func (q *queue) Less(i, j int) bool { return q.less(q.worlds[i], q.worlds[j]) }

func (q *queue) Swap(i, j int) {
	q.worlds[i], q.worlds[j] = q.worlds[j], q.worlds[i]
	q.worlds[i].index, q.worlds[j].index = i, j
}

// Push implements heap.Interface.
func (q *queue) Push(w any) {
	q.worlds = append(q.worlds, w.(*world))
	q.worlds[len(q.worlds)-1].index = len(q.worlds) - 1
}

// Pop implements heap.Interface.
func (q *queue) Pop() any {
	last := len(q.worlds) - 1
	w := q.worlds[last]
	q.worlds[last] = nil
	q.worlds = q.worlds[:last]
	return w
}

// first removes the first world; nil: there is none.
func (q *queue) first() *world {
	if len(q.worlds) == 0 {
		return nil
	}
	return heap.Pop(q).(*world)
}

// earlier orders worlds by the time at which they are due, and then by admission.
func earlier(a, b *world) bool {
	return cmp.Or(cmp.Compare(a.due, b.due), cmp.Compare(a.number, b.number)) < 0
}

// less orders worlds that are due by their start tags.
func less(a, b *world) bool { return a.start < b.start || a.start == b.start && earlier(a, b) }

// schedule puts a world that waits for its time into the timers, or out if it is to leave. h.mu is held.
func (h *Host) schedule(w *world) {
	if w.leaving || h.closed {
		w.place = out
		h.changed.Broadcast()
		return
	}
	w.place = timed
	heap.Push(&h.timers, w)
}

// takeOut removes a world from its heap, and reports whether it is out. If not, its worker sees that it is leaving.
// h.mu is held.
func (h *Host) takeOut(w *world) bool {
	switch w.place {
	case timed:
		heap.Remove(&h.timers, w.index)
		w.place = out
	case ready:
		heap.Remove(&h.ready, w.index)
		w.place = out
	}
	return w.place == out
}

// next returns the world whose turn it is; it waits until there is one. nil: the Host is closed.
func (h *Host) next(clock *workerClock) *world {
	h.mu.Lock()
	defer h.mu.Unlock()
	for !h.closed {
		h.makeReady(clock.now())
		if w := h.ready.first(); w != nil {
			w.place = running
			h.virtual = max(h.virtual, w.start)
			return w
		}
		h.wait(clock)
	}
	return nil
}

// makeReady moves the worlds that are due to those that wait for a worker. h.mu is held.
func (h *Host) makeReady(now int64) {
	for len(h.timers.worlds) > 0 && h.timers.worlds[0].due <= now {
		w := h.timers.first()
		w.start = max(w.finish, h.virtual)
		w.place = ready
		heap.Push(&h.ready, w)
	}
}

// wait sleeps until the next world is due for which no other worker sleeps yet, or h.wake is called. A worker that puts a
// world back looks for the next one itself, so a world never waits for a worker that sleeps for a later one.
// h.mu is held, but not while it sleeps.
func (h *Host) wait(clock *workerClock) {
	w, ctx := h.timers.first(), h.sleeping
	if w != nil {
		w.place = claimed
	}
	h.mu.Unlock()
	if w != nil {
		_ = clock.sleep(ctx, w.due) // it may wake early
	} else {
		<-ctx.Done()
	}
	h.mu.Lock()
	if w != nil {
		h.schedule(w)
	}
}

// wake ends all sleeps. h.mu is held.
func (h *Host) wake() {
	h.awake()
	h.sleeping, h.awake = context.WithCancel(context.Background())
}
