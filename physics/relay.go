package physics

import "sync/atomic"

// relay does the second part of chunks in ascending order while workers do the first part
// of others: who finds that the next one is due takes the baton.
type relay struct {
	ready []atomic.Bool // first part is done
	next  int           // chunk; of who has the baton
	baton atomic.Bool   // is taken
}

// begin is for so many chunks.
func (r *relay) begin(chunks int) {
	r.ready = resized(r.ready, chunks)
	clear(r.ready)
	r.next = 0
	r.baton.Store(false)
}

// finish says that the first part of a chunk is done, and calls second for those that are
// due, unless someone else is about to.
func (r *relay) finish(chunk int, second func(chunk int)) {
	r.ready[chunk].Store(true)
	for r.baton.CompareAndSwap(false, true) {
		for r.next < len(r.ready) && r.ready[r.next].Load() {
			second(r.next)
			r.next++
		}
		next := r.next
		r.baton.Store(false)
		if next == len(r.ready) || !r.ready[next].Load() {
			return // else it became ready behind our back, and who did it has left
		}
	}
}
