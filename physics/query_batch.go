package physics

import (
	"math"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/fault"
)

// answerer answers one kind of query.
type answerer[T any] interface {
	// answer writes the results of queries with one result each.
	answer(worker, lo, hi int)
	// rows appends the rows of queries, in order, and sets their ends.
	rows(worker, lo, hi int, ends []uint32, to []T) []T
	// resize resizes the offsets and the results, and returns the offsets.
	resize(offsets, n int) []uint32
	// put writes a result of a query to index at.
	put(query, at int, found *T)
}

// batch answers queries in chunks, whose size does not depend on the number of workers. Any worker answers a
// chunk. Rows go to memory of the worker first, and are then copied in order.
type batch[T any] struct {
	answerer[T]
	s       *solver
	n, size int
	step    batchStep
	found   []workerRows[T] // by worker
	spans   []rowSpan       // by chunk
	ends    []uint32        // of rows, in the memory of workers
	offsets []uint32
}

// batchStep selects what Do does with a chunk.
type batchStep uint8

const (
	answerEach batchStep = iota
	findRows
	placeRows
)

// workerRows holds the rows that a worker has found, in a cache line of its own.
type workerRows[T any] struct {
	rows []T
	_    [40]byte
}

// rowSpan locates the rows of a chunk: rows [from, to) of a worker, which begin at base in
// the result.
type rowSpan struct{ worker, from, to, base int }

func (b *batch[T]) begin(s *solver, size int, a answerer[T]) {
	b.s, b.size, b.answerer = s, size, a
	if workers := s.pool.Workers(); len(b.found) != workers {
		b.found = make([]workerRows[T], workers)
	}
}

func (b *batch[T]) run(n int, step batchStep) error {
	b.n, b.step = n, step
	return b.s.pool.Run((n+b.size-1)/b.size, b)
}

// Do works on one chunk; it implements native.Task.
func (b *batch[T]) Do(worker, chunk int) {
	lo, hi := chunk*b.size, min((chunk+1)*b.size, b.n)
	switch b.step {
	case answerEach:
		b.answer(worker, lo, hi)
	case findRows:
		b.find(worker, chunk, lo, hi)
	case placeRows:
		b.place(chunk, lo, hi)
	}
}

// each answers n queries with one result each.
func (b *batch[T]) each(n int) error { return b.run(n, answerEach) }

// closest is each for a result that must be resized first.
func (b *batch[T]) closest(n int) error {
	b.resize(0, n)
	err := b.each(n)
	if err != nil {
		b.resize(0, 0)
	}
	return err
}

// all answers n queries with any number of rows each. what names the rows in the error for too many.
func (b *batch[T]) all(what string, n int) error {
	b.spans, b.ends = buffer.Resized(b.spans, (n+b.size-1)/b.size), buffer.Resized(b.ends, n)
	for i := range b.found {
		b.found[i].rows = b.found[i].rows[:0]
	}
	if err := b.run(n, findRows); err != nil {
		b.resize(0, 0)
		return err
	}
	total := 0
	for i := range b.spans {
		s := &b.spans[i]
		s.base, total = total, total+s.to-s.from
	}
	if total > math.MaxInt32 {
		b.resize(0, 0)
		return fault.Field(ErrRange, what, total)
	}
	b.offsets = b.resize(n+1, total)
	b.offsets[0] = 0
	return b.run(n, placeRows)
}

// find appends the rows of a chunk to those of its worker.
func (b *batch[T]) find(worker, chunk, lo, hi int) {
	m := &b.found[worker]
	from := len(m.rows)
	m.rows = b.rows(worker, lo, hi, b.ends[lo:hi], m.rows)
	b.spans[chunk] = rowSpan{worker: worker, from: from, to: len(m.rows)}
}

// place copies the rows of a chunk to the result.
func (b *batch[T]) place(chunk, lo, hi int) {
	s := &b.spans[chunk]
	at, end := s.from, s.base
	found := b.found[s.worker].rows
	for query := lo; query < hi; query++ {
		for ; at < int(b.ends[query]); at++ {
			b.put(query, end, &found[at])
			end++
		}
		b.offsets[query+1] = uint32(end)
	}
}
