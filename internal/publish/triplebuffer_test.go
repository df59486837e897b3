package publish

import (
	"fmt"
	"testing"
)

// tripleRun is a run of a writer that publishes 1, 2, 3 … and of a reader, one atomic operation or
// access to an item at a time.
type tripleRun struct {
	buffer    tripleBuffer
	items     [3]int
	published int // by the writer's operations so far
	wrote     bool

	step int  // of the reader: see read
	took bool // fresh reported an item
	held int  // what the reader has read from its item
	due  int  // what it had to find, at least
}

// write does half of a publication.
func (r *tripleRun) write() error {
	if r.wrote = !r.wrote; r.wrote {
		r.items[r.buffer.back] = r.published + 1
		return nil
	}
	r.buffer.publish()
	r.published++
	return nil
}

// read does a quarter of a turn of the reader: ask, take, read, and read again later.
func (r *tripleRun) read() error {
	defer func() { r.step++ }()
	switch r.step % 4 {
	case 0:
		r.due = r.published
		if r.took = r.buffer.fresh(); !r.took && r.held != r.published {
			return fmt.Errorf("nothing fresh after %d, reader has %d", r.published, r.held)
		}
	case 1:
		if r.took {
			r.buffer.take()
		}
	case 2:
		got := r.items[r.buffer.front]
		if got < r.due || got < r.held || got > r.published || !r.took && got != r.held {
			return fmt.Errorf("the reader has %d after %d, and %d were published, %d when it asked", got, r.held, r.published, r.due)
		}
		r.held = got
	case 3:
		if got := r.items[r.buffer.front]; got != r.held {
			return fmt.Errorf("the item of the reader changed from %d to %d", r.held, got)
		}
	}
	return nil
}

// check holds for every state.
func (r *tripleRun) check() error {
	back, middle, front := r.buffer.back, r.buffer.middle.Load()&^unread, r.buffer.front
	if back == middle || middle == front || back == front || max(back, middle, front) > 2 {
		return fmt.Errorf("the writer has item %d, the reader %d, between them is %d", back, front, middle)
	}
	return nil
}

// Every interleaving of four publications and four turns of a reader keeps the rules.
func TestTripleBufferInterleavings(t *testing.T) {
	writes, reads := 2*4, 4*4
	if testing.Short() {
		writes, reads = 2*3, 4*3
	}
	runs := 0
	for order := range 1 << (writes + reads) { // bit i: operation i is one of the writer
		if ones(order) != writes {
			continue
		}
		runs++
		var r tripleRun
		r.buffer.init()
		for i := range writes + reads {
			operation := r.read
			if order>>i&1 != 0 {
				operation = r.write
			}
			if err := operation(); err != nil {
				t.Fatalf("order %b, operation %d: %v", order, i, err)
			}
			if err := r.check(); err != nil {
				t.Fatalf("order %b, after operation %d: %v", order, i, err)
			}
		}
	}
	if want := 735_471; !testing.Short() && runs != want { // 24 over 8
		t.Errorf("%d runs, want %d", runs, want)
	}
}

func ones(x int) (n int) {
	for ; x != 0; x &= x - 1 {
		n++
	}
	return n
}
