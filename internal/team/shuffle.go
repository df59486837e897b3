package team

import "sync/atomic"

// shuffle is what SetShuffle has set.
var shuffle atomic.Pointer[func() uint64]

// SetShuffle has workers take chunks and steps in random order, for tests of results that must not depend on it. Before each, a worker calls
// random, on its own goroutine. It returns a random number, and may wait or let others run. nil ends that. Stages that begin in ascending
// order still do.
func SetShuffle(random func() uint64) {
	if random == nil {
		shuffle.Store(nil)
		return
	}
	shuffle.Store(&random)
}

// draw returns a random number if SetShuffle is in force.
func draw() (random uint64, shuffled bool) {
	if f := shuffle.Load(); f != nil {
		return (*f)(), true
	}
	return 0, false
}

// shuffle has the chunks of a stage run in another order: chunk i as number (first + i*stride) modulo chunks.
func (s *stage) shuffle(chunks int) {
	if s.first, s.stride, s.chunks = 0, 1, 0; chunks < 2 {
		return
	}
	random, shuffled := draw()
	if !shuffled {
		return
	}
	s.chunks, s.first, s.stride = chunks, int(random>>32)%chunks, 1+int(random&0xffff)%chunks
	for divisor(s.stride, chunks) > 1 {
		s.stride++
	}
}

// divisor returns the greatest common divisor.
func divisor(a, b int) int {
	for b != 0 {
		a, b = b, a%b
	}
	return a
}
