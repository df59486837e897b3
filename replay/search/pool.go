package search

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"iter"
	"runtime"
	"sync"

	"github.com/evertick/evertick/internal/fault"
)

// Pool does jobs.
type Pool interface {
	// Do does the jobs of a task, which are numbered from 0, and yields their results in this
	// order. A job may be done more than once. Do calls jobs from its own goroutine, some jobs ahead of the
	// results; a job must not change after that. A loop that ends early cancels the jobs that it has not seen.
	//
	// An error ends the results: the error of the lowest job that has one is a *JobError. It comes after the
	// results of all lower jobs. One that wraps evertick.ErrUnsupported comes from a worker that lacks a name or
	// the version of the task, one that wraps replay.ErrDiverged names a job that had two different results. That of
	// ctx is its cause.
	Do(ctx context.Context, task Task, jobs iter.Seq[[]byte]) iter.Seq2[[]byte, error]
}

// JobError is an error that a job has returned.
type JobError struct {
	Job uint64
	Err error
}

// Error implements error.
func (e *JobError) Error() string { return fmt.Sprintf("search: job %d: %v", e.Job, e.Err) }

// Unwrap returns the error of the job.
func (e *JobError) Unwrap() error { return e.Err }

// Local is a pool of goroutines. The zero value, with a Registry, works.
type Local struct {
	Registry *Registry
	Workers  int // goroutines. 0: runtime.GOMAXPROCS(0)
}

// Do implements Pool. It opens the task before the first job, once for each worker.
func (l Local) Do(ctx context.Context, task Task, jobs iter.Seq[[]byte]) iter.Seq2[[]byte, error] {
	workers := l.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}
	return func(yield func([]byte, error) bool) {
		if l.Registry == nil {
			panic("search: Local without a Registry")
		}
		works := make([]Work, workers)
		for i := range works {
			var err error
			if works[i], err = l.Registry.Open(task); err != nil {
				yield(nil, err)
				return
			}
		}
		InOrder(ctx, workers, jobs, func(ctx context.Context, worker int, _ uint64, job []byte) ([]byte, error) {
			return works[worker](ctx, job)
		})(yield)
	}
}

// ahead is how many jobs, times the width, InOrder begins before the lowest job that has not ended: a bound
// on the results that wait for that one.
const ahead = 16

// ended is a job that has a result.
type ended struct {
	n      uint64
	result []byte
	err    error
}

// InOrder helps to implement Pool.Do: it calls do from width goroutines, which are numbered from 0, and yields
// the results in the order of the jobs. All calls of do have returned when it ends.
func InOrder(ctx context.Context, width int, jobs iter.Seq[[]byte],
	do func(ctx context.Context, worker int, n uint64, job []byte) ([]byte, error)) iter.Seq2[[]byte, error] {
	return func(yield func([]byte, error) bool) {
		var running sync.WaitGroup
		defer running.Wait()
		ctx, cancel := context.WithCancel(ctx)
		defer cancel()
		type numbered struct {
			n   uint64
			job []byte
		}
		todo, done := make(chan numbered), make(chan ended)
		for worker := range width {
			running.Go(func() {
				for j := range todo {
					e := ended{n: j.n}
					e.result, e.err = do(ctx, worker, j.n, j.job)
					select {
					case done <- e:
					case <-ctx.Done():
					}
				}
			})
		}
		defer close(todo)
		next, stop := iter.Pull(jobs)
		defer stop()

		o := order{yield: yield, waiting: map[uint64]ended{}}
		j, more := numbered{}, false
		for j.job, more = next(); more || o.next < j.n; {
			send := todo
			if !more || j.n-o.next >= uint64(ahead*width) {
				send = nil
			}
			select {
			case <-ctx.Done():
				yield(nil, context.Cause(ctx))
				return
			case send <- j:
				j.n++
				j.job, more = next()
			case e := <-done:
				if e.err != nil && ctx.Err() != nil {
					e.err = nil // the job was cancelled
				} else if !o.put(e) {
					return
				}
			}
		}
	}
}

// order yields results in the order of their jobs.
type order struct {
	yield   func([]byte, error) bool
	next    uint64
	waiting map[uint64]ended // for a lower one
}

// put takes a result, and reports whether more are wanted.
func (o *order) put(e ended) bool {
	o.waiting[e.n] = e
	for {
		e, ok := o.waiting[o.next]
		if !ok {
			return true
		}
		if e.err != nil {
			o.yield(nil, &JobError{e.n, e.err})
			return false
		}
		delete(o.waiting, o.next)
		o.next++
		if !o.yield(e.result, nil) {
			return false
		}
	}
}

// Twice returns a pool that does each job twice. An error that wraps replay.ErrDiverged names the first job with two
// different results.
func Twice(p Pool) Pool { return twice{p} }

type twice struct{ pool Pool }

func (t twice) Do(ctx context.Context, task Task, jobs iter.Seq[[]byte]) iter.Seq2[[]byte, error] {
	doubled := func(yield func([]byte) bool) {
		for job := range jobs {
			for range 2 {
				if !yield(job) {
					return
				}
			}
		}
	}
	return func(yield func([]byte, error) bool) {
		var first []byte
		n := uint64(0)
		for result, err := range t.pool.Do(ctx, task, doubled) {
			var failed *JobError
			if errors.As(err, &failed) {
				job, second := failed.Job/2, failed.Job%2 == 1
				if err = error(&JobError{job, failed.Err}); second {
					err = Diverged(task, job)
				}
			}
			second := n%2 == 1
			if err == nil && second && !bytes.Equal(first, result) {
				err = Diverged(task, n/2)
			}
			if (err != nil || second) && (!yield(result, err) || err != nil) {
				return
			}
			first = result
			n++
		}
	}
}

// Diverged returns the error for a job with two different results.
func Diverged(task Task, job uint64) error {
	return fmt.Errorf("search: function %q: job %d: %w", task.Function, job, fault.ErrDiverged)
}
