package native

import (
	"runtime"
	"sync"
	"sync/atomic"
)

// oneThread reports that one thread runs all goroutines: on js and wasip1. A second worker would
// only wait for the first. And since nothing interrupts a goroutine there, the goroutines of a Team
// would pile up in a program that never waits.
const oneThread = runtime.GOARCH == "wasm"

// Task is work that is cut into independent chunks.
type Task interface {
	// Do runs one chunk. Any worker calls it, once per chunk; no two calls with the same worker number run at the
	// same time.
	Do(worker, chunk int)
}

// Pool runs tasks on a fixed number of workers. The scheduler decides which worker takes which chunk. So a task
// writes the result of each chunk to a place of its own and merges in chunk order, and the size of a chunk must not
// depend on the number of workers.
//
// The zero Pool has one worker; on js and wasip1, which have one thread, one worker does all the
// work of any Pool. A Pool runs one task at a time. It has no goroutines between runs and needs no
// closing; a run allocates nothing.
type Pool struct {
	workers int
	work    func() // p.worker, bound once

	task   Task
	chunks int64
	next   atomic.Int64
	number atomic.Int64 // of the next worker to start
	done   sync.WaitGroup
	envErr atomic.Pointer[error]
	panics atomic.Pointer[any]
}

// Workers returns the number of workers, at least one; a nil Pool has one.
func (p *Pool) Workers() int {
	if p == nil {
		return 1
	}
	return max(p.workers, 1)
}

// NewPool returns a pool of that many workers, at least one.
func NewPool(workers int) *Pool {
	p := &Pool{workers: max(workers, 1)}
	p.work = p.worker
	return p
}

// Run calls task.Do for every chunk in [0, chunks) and returns when all are done. The calling goroutine is one of the
// workers; with one worker the chunks run in order. If the thread of a worker has an altered floating-point
// environment, the error wraps ErrFloatEnv and the results must not be used. If a chunk panics, Run passes the panic
// on after the other workers have stopped.
func (p *Pool) Run(chunks int, task Task) error {
	if chunks <= 0 {
		return nil
	}
	if p.workers <= 1 || chunks == 1 || oneThread {
		if err := CheckFloatEnv(); err != nil {
			return err
		}
		for c := range chunks {
			task.Do(0, c)
		}
		return nil
	}
	p.task, p.chunks = task, int64(chunks)
	p.next.Store(0)
	p.number.Store(0)
	p.envErr.Store(nil)
	p.panics.Store(nil)
	helpers := min(p.workers, chunks) - 1
	p.done.Add(helpers + 1)
	for range helpers {
		go p.work()
	}
	p.worker()
	p.done.Wait()
	p.task = nil
	if v := p.panics.Load(); v != nil {
		panic(*v)
	}
	if err := p.envErr.Load(); err != nil {
		return *err
	}
	return nil
}

func (p *Pool) worker() {
	defer p.done.Done()
	defer func() {
		if v := recover(); v != nil {
			p.panicked(v)
		}
	}()
	worker := int(p.number.Add(1) - 1)
	if err := CheckFloatEnv(); err != nil {
		p.failed(err)
		return
	}
	for c := p.next.Add(1) - 1; c < p.chunks; c = p.next.Add(1) - 1 {
		p.task.Do(worker, int(c))
	}
}

// failed and panicked stop the other workers at their next chunk. They are functions so that their arguments escape
// to the heap here, not in every run.

func (p *Pool) failed(err error) {
	p.envErr.Store(&err)
	p.next.Store(p.chunks)
}

func (p *Pool) panicked(v any) {
	p.panics.Store(&v)
	p.next.Store(p.chunks)
}
