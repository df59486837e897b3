// Package batch answers many queries at a time, on any number of workers, with results that do not depend on these.
package batch

import (
	"math"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/native"
)

// Answerer answers one kind of query.
type Answerer[T any] interface {
	// Answer writes the results of queries with one result each.
	Answer(worker, lo, hi int)
	// Rows appends the rows of queries, in order, and sets their ends.
	Rows(worker, lo, hi int, ends []uint32, to []T) []T
	// Resize resizes the offsets and the results, and returns the offsets.
	Resize(offsets, n int) []uint32
	// Put writes a result of a query to index at.
	Put(query, at int, found *T)
}

// Batch answers queries in chunks, whose size does not depend on the number of workers. Any worker answers a
// chunk. Rows go to memory of the worker first, and are then copied in order.
type Batch[T any] struct {
	answerer Answerer[T]
	pool     *native.Pool
	n, size  int
	step     batchStep
	found    []workerRows[T] // by worker
	spans    []rowSpan       // by chunk
	ends     []uint32        // of rows, in the memory of workers
	offsets  []uint32
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

// Begin sets the workers, the number of queries in a chunk, and what answers them.
func (b *Batch[T]) Begin(pool *native.Pool, size int, a Answerer[T]) {
	b.pool, b.size, b.answerer = pool, size, a
	if workers := pool.Workers(); len(b.found) != workers {
		b.found = make([]workerRows[T], workers)
	}
}

func (b *Batch[T]) run(n int, step batchStep) error {
	b.n, b.step = n, step
	return b.pool.Run((n+b.size-1)/b.size, b)
}

// Do works on one chunk; it implements native.Task.
func (b *Batch[T]) Do(worker, chunk int) {
	lo, hi := chunk*b.size, min((chunk+1)*b.size, b.n)
	switch b.step {
	case answerEach:
		b.answerer.Answer(worker, lo, hi)
	case findRows:
		b.find(worker, chunk, lo, hi)
	case placeRows:
		b.place(chunk, lo, hi)
	}
}

// Each answers n queries with one result each.
func (b *Batch[T]) Each(n int) error { return b.run(n, answerEach) }

// Closest is Each for a result that must be resized first.
func (b *Batch[T]) Closest(n int) error {
	b.answerer.Resize(0, n)
	err := b.Each(n)
	if err != nil {
		b.answerer.Resize(0, 0)
	}
	return err
}

// All answers n queries with any number of rows each. what names the rows in the error for too many.
func (b *Batch[T]) All(what string, n int) error {
	b.spans, b.ends = buffer.Resized(b.spans, (n+b.size-1)/b.size), buffer.Resized(b.ends, n)
	for i := range b.found {
		b.found[i].rows = b.found[i].rows[:0]
	}
	if err := b.run(n, findRows); err != nil {
		b.answerer.Resize(0, 0)
		return err
	}
	total := 0
	for i := range b.spans {
		s := &b.spans[i]
		s.base, total = total, total+s.to-s.from
	}
	if total > math.MaxInt32 {
		b.answerer.Resize(0, 0)
		return fault.Field(fault.ErrRange, what, total)
	}
	b.offsets = b.answerer.Resize(n+1, total)
	b.offsets[0] = 0
	return b.run(n, placeRows)
}

// find appends the rows of a chunk to the rows of its worker.
func (b *Batch[T]) find(worker, chunk, lo, hi int) {
	m := &b.found[worker]
	from := len(m.rows)
	m.rows = b.answerer.Rows(worker, lo, hi, b.ends[lo:hi], m.rows)
	b.spans[chunk] = rowSpan{worker: worker, from: from, to: len(m.rows)}
}

// place copies the rows of a chunk to the result.
func (b *Batch[T]) place(chunk, lo, hi int) {
	s := &b.spans[chunk]
	at, end := s.from, s.base
	found := b.found[s.worker].rows
	for query := lo; query < hi; query++ {
		for ; at < int(b.ends[query]); at++ {
			b.answerer.Put(query, end, &found[at])
			end++
		}
		b.offsets[query+1] = uint32(end)
	}
}
