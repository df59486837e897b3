package physics

import (
	"sync"
	"sync/atomic"

	"github.com/evertick/evertick/native"
)

// crew is workers that go through many short stages side by side: a goroutine each for
// the whole of it. A step has more than a hundred stages of some microseconds, too
// short to start goroutines for each.
//
// All run the same job, which calls do for each stage. The chunks of a stage go to who
// comes first, and a stage is over when they are done, whoever is missing: so a worker
// that the system has taken off its CPU keeps up the others with the one chunk that it
// was at, if any, and one that comes late finds the stages done.
type crew struct {
	job    func(*shift)
	stages []stage
	shifts []shift      // one for each who comes
	came   atomic.Int64 // in this run
	work   func()       // c.help, bound once
	gate   atomic.Int64 // helpers at work; far below zero when there is nothing to help with

	mu     sync.Mutex
	woken  sync.Cond
	asleep atomic.Int32 // who wait for woken

	envErr atomic.Pointer[error]
	panics atomic.Pointer[any]
}

// stage counts chunks of a stage, in a cache line of its own.
type stage struct {
	taken, done atomic.Int64
	_           [48]byte
}

// shift is a worker's way through the stages.
type shift struct {
	crew *crew
	next int // stage
}

// shut is the gate less the helpers who are about to see it.
const shut = -1 << 40

// errBroken is the panic of those who wait for one who panicked.
const errBroken = "physics: another worker has panicked"

// run has job done by the caller and up to workers-1 helpers; it has no more than that
// many stages. The error is that of a helper with an altered floating-point
// environment, who has then left; a panic of one is passed on.
func (c *crew) run(workers, stages int, job func(*shift)) error {
	if c.work == nil {
		c.work = c.help
		c.woken.L = &c.mu
		c.gate.Store(shut)
	}
	if cap(c.stages) < stages {
		c.stages = make([]stage, stages)
	}
	c.stages = c.stages[:stages]
	clear(c.stages)
	if len(c.shifts) < workers {
		c.shifts = make([]shift, workers)
	}
	c.came.Store(0)
	c.job = job
	c.envErr.Store(nil)
	c.panics.Store(nil)
	if workers > 1 {
		c.gate.Add(-shut)
		for range workers - 1 {
			go c.work()
		}
	}
	c.attempt()
	if workers > 1 {
		c.await(func() bool { return c.gate.CompareAndSwap(0, shut) })
	}
	if v := c.panics.Load(); v != nil {
		panic(*v)
	}
	if err := c.envErr.Load(); err != nil {
		return *err
	}
	return nil
}

// help is a helper. One who comes when the gate is shut has nothing to do; one from an
// earlier run may help with this one, if not all are there.
func (c *crew) help() {
	if c.gate.Add(1) > 0 {
		if err := native.CheckFloatEnv(); err != nil {
			c.failed(err)
		} else {
			c.attempt()
		}
	}
	c.gate.Add(-1)
	c.wake()
}

func (c *crew) attempt() {
	defer func() {
		if v := recover(); v != nil && v != errBroken {
			c.panicked(v)
		}
	}()
	if i := int(c.came.Add(1)) - 1; i < len(c.shifts) {
		c.shifts[i] = shift{crew: c}
		c.job(&c.shifts[i])
	}
}

// failed and panicked are functions so that their arguments move to the heap here, not
// in every run.

func (c *crew) failed(err error) { c.envErr.CompareAndSwap(nil, &err) }

func (c *crew) panicked(v any) {
	c.panics.CompareAndSwap(nil, &v)
	c.wake()
}

// do does what is left of the next stage, over [lo, hi) in chunks, and returns when all
// of it is done.
func (s *shift) do(lo, hi, size int, f func(lo, hi int)) {
	st := &s.crew.stages[s.next]
	s.next++
	chunks := int64((hi - lo + size - 1) / size)
	for st.taken.Load() < chunks {
		i := st.taken.Add(1) - 1
		if i >= chunks {
			break
		}
		at := lo + int(i)*size
		f(at, min(at+size, hi))
		if st.done.Add(1) == chunks {
			s.crew.wake()
		}
	}
	if st.done.Load() >= chunks {
		return
	}
	s.crew.await(func() bool { return st.done.Load() >= chunks || s.crew.panics.Load() != nil })
	if st.done.Load() < chunks {
		panic(errBroken)
	}
}

// patience is how often one looks in vain before going to sleep: about as long as a
// chunk takes.
const patience = 4000

// await returns when ready says so. It looks for a while; whoever waits longer waits for
// one that is off its CPU, and may be the one that keeps it off, so it sleeps.
func (c *crew) await(ready func() bool) {
	for range patience {
		if ready() {
			return
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.asleep.Add(1)
	defer c.asleep.Add(-1)
	for !ready() {
		c.woken.Wait()
	}
}

// wake wakes those who sleep, after something that they may wait for.
func (c *crew) wake() {
	if c.asleep.Load() != 0 {
		c.mu.Lock()
		c.woken.Broadcast()
		c.mu.Unlock()
	}
}
