package native

import (
	"sync/atomic"
	"time"

	"github.com/evertick/evertick/internal/pace"
	"github.com/evertick/evertick/internal/team"
)

// MaxWorkers is the largest number of workers that a configuration may ask for.
const MaxWorkers = team.MaxWorkers

// Task is work that is cut into independent chunks.
type Task interface {
	// Do runs one chunk. Any worker calls it, once per chunk; no two calls with the same worker number run at the
	// same time.
	Do(worker, chunk int)
}

// Pool runs tasks on a fixed number of workers, in one stage for each task. Each chunk is taken by a worker that
// is free; if helpers cost more time than they save, the caller does all chunks. So a task writes the result of each
// chunk to a place of its own and merges in chunk order, and the size of a chunk must not depend on the number of
// workers.
//
// The zero Pool has one worker; on js and wasip1, which have one thread, one worker does all the
// work of any Pool. A Pool runs one task at a time. It has no goroutines between runs and needs no
// closing; a run allocates nothing.
type Pool struct {
	workers int
	team    team.Team
	task    Task
	chunks  int
	lead    func()                   // p.shareChunks, bound once
	each    func(worker, lo, hi int) // p.do, bound once

	own, theirs chunkTimes // of the caller and of helpers
}

// chunkTimes are the number of chunks done, and their nanoseconds.
type chunkTimes struct{ n, took atomic.Int64 }

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
	p.lead, p.each, p.team.AloneTime = p.shareChunks, p.do, p.aloneTime
	return p
}

// Run calls task.Do for every chunk in [0, chunks) and returns when all are done. The calling goroutine is one of the
// workers; they begin the chunks in order. If the thread of a worker has an altered floating-point
// environment, the error wraps ErrFloatEnv and the results must not be used. If a chunk panics, Run passes the panic
// on after the other workers have stopped.
func (p *Pool) Run(chunks int, task Task) error {
	if chunks <= 0 {
		pace.Skip()
		return nil
	}
	if err := CheckFloatEnv(); err != nil {
		return err
	}
	pace.Name(task)
	if p.workers <= 1 || chunks == 1 || team.OneThread {
		watch := pace.Begin(task, chunks == 1)
		for c := range chunks {
			task.Do(0, c)
		}
		watch.End(1, 0, 0)
		return nil
	}
	p.task, p.chunks = task, chunks
	err := p.team.Run(min(p.workers, chunks), p.lead)
	p.task = nil
	return err
}

func (p *Pool) shareChunks() {
	for _, t := range [...]*chunkTimes{&p.own, &p.theirs} {
		t.n.Store(0)
		t.took.Store(0)
	}
	p.team.ForAscending(0, p.chunks, 1, p.each)
}

func (p *Pool) do(worker, lo, hi int) {
	times := &p.theirs
	if worker == 0 {
		times = &p.own
	}
	began := pace.Now()
	for c := lo; c < hi; c++ {
		p.task.Do(worker, c)
	}
	times.n.Add(int64(hi - lo))
	times.took.Add(int64(pace.Now() - began))
}

// aloneTime estimates how long the chunks of a run would have taken one worker. Tasks differ, so the times of other runs
// do not show this. If the chunks of one side took more than many times as long on average as the chunks of the other, the
// system interrupted some of them, and each counts as many times the average of the other side.
func (p *Pool) aloneTime() time.Duration {
	a, b := p.own.n.Load(), p.theirs.n.Load()
	own, theirs := p.own.took.Load(), p.theirs.took.Load()
	if a == 0 || b == 0 {
		return time.Duration(own + theirs)
	}
	const many = 4
	most := many * min(own/a, theirs/b)
	return time.Duration(min(own, a*most) + min(theirs, b*most))
}
