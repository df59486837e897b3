package physics

import (
	"sync"
	"sync/atomic"

	"github.com/evertick/evertick/native"
)

// crew is workers that go through a step side by side: a goroutine each for the whole of
// it. A step has more than a hundred stages of some microseconds, too short to start
// goroutines for each.
//
// One leads: it runs the step, and calls do where there is work to share. All who are
// there by then run the same job, which calls shift.do for each of its stages. The
// chunks of a stage go to who comes first, and a stage is over when they are done,
// whoever is missing: so a worker that the system has taken off its CPU keeps up the
// others with the one chunk that it was at, if any, and one that comes late finds the
// stages done.
type crew struct {
	workers int // of this run; 1 between runs
	job     func(*shift)
	stages  []stage
	epoch   atomic.Int64 // odd while there is a job; grows from run to run
	inside  atomic.Int64 // helpers who may be at the job
	ended   atomic.Bool  // the run is

	shifts []shift      // one for each who comes; the first is the leader's
	came   atomic.Int64 // helpers, in this run
	work   func()       // c.help, bound once
	gate   atomic.Int64 // helpers at work; far below zero when there is nothing to help with

	mu     sync.Mutex
	woken  sync.Cond
	asleep atomic.Int32 // who wait for woken

	check  func() error // nil: native.CheckFloatEnv
	envErr atomic.Pointer[error]
	panics atomic.Pointer[any]
}

// stage counts chunks of a stage, in a cache line of its own.
type stage struct {
	taken atomic.Uint64 // from the front, and fromBack times those from the back
	done  atomic.Int64
	_     [48]byte
}

const fromBack = 1 << 32

// shift is a worker's way through the stages of a job.
type shift struct {
	crew *crew
	next int  // stage
	back bool // takes chunks from the back
}

// shut is the gate less the helpers who are about to see it.
const shut = -1 << 40

// errBroken is the panic of those who wait for one who panicked.
const errBroken = "physics: another worker has panicked"

// run calls lead, with up to workers-1 helpers for its calls of do. The error is that of a
// helper with an altered floating-point environment, who has then left; a panic of one
// is passed on.
func (c *crew) run(workers int, lead func()) error {
	for len(c.shifts) < workers {
		c.shifts = append(c.shifts, shift{crew: c, back: len(c.shifts)%2 != 0})
	}
	if c.workers = workers; workers == 1 {
		lead()
		return nil
	}
	c.open(workers)
	c.attempt(lead)
	c.close()
	c.workers = 1
	if v := c.panics.Load(); v != nil {
		panic(*v)
	}
	if err := c.envErr.Load(); err != nil {
		return *err
	}
	return nil
}

func (c *crew) open(workers int) {
	if c.work == nil {
		c.work = c.help
		c.woken.L = &c.mu
		c.gate.Store(shut)
	}
	c.came.Store(0)
	c.ended.Store(false)
	c.envErr.Store(nil)
	c.panics.Store(nil)
	c.gate.Add(-shut)
	for range workers - 1 {
		go c.work()
	}
}

// close returns when no helper is at work.
func (c *crew) close() {
	c.ended.Store(true)
	c.wake()
	c.await(func() bool { return c.gate.CompareAndSwap(0, shut) })
	c.epoch.Add(c.epoch.Load() & 1) // if a job was broken off
}

// help is a helper. One who comes when the gate is shut has nothing to do; one from an
// earlier run may help with this one, if not all are there.
func (c *crew) help() {
	if c.gate.Add(1) > 0 {
		if err := c.checkFloatEnv(); err != nil {
			c.failed(err)
		} else if i := int(c.came.Add(1)); i < len(c.shifts) {
			c.serve(&c.shifts[i])
		}
	}
	c.gate.Add(-1)
	c.wake()
}

func (c *crew) checkFloatEnv() error {
	if c.check != nil {
		return c.check()
	}
	return native.CheckFloatEnv()
}

// serve does the jobs of a run.
func (c *crew) serve(s *shift) {
	for last := int64(0); ; {
		now := int64(0)
		c.await(func() bool {
			now = c.epoch.Load()
			return now&1 != 0 && now != last || c.ended.Load()
		})
		if c.ended.Load() {
			return
		}
		last = now
		c.inside.Add(1)
		if c.epoch.Load() == now {
			s.next = 0
			c.attempt(func() { c.job(s) })
		}
		c.inside.Add(-1)
		c.wake()
	}
}

func (c *crew) attempt(f func()) {
	defer func() {
		if v := recover(); v != nil && v != errBroken {
			c.panicked(v)
		}
	}()
	f()
}

// failed and panicked are functions so that their arguments move to the heap here, not
// in every run.

func (c *crew) failed(err error) { c.envErr.CompareAndSwap(nil, &err) }

func (c *crew) panicked(v any) {
	c.panics.CompareAndSwap(nil, &v)
	c.wake()
}

// do has a job of up to that many stages done by all who are there, and returns when it is
// done and they have left it. Only the leader calls it.
func (c *crew) do(stages int, job func(*shift)) {
	leader := &c.shifts[0]
	leader.next = 0
	if c.workers <= 1 {
		job(leader)
		return
	}
	if cap(c.stages) < stages {
		c.stages = make([]stage, stages)
	}
	c.stages = c.stages[:stages]
	clear(c.stages)
	c.job = job
	c.epoch.Add(1)
	c.wake()
	job(leader)
	c.epoch.Add(1)
	c.await(func() bool { return c.inside.Load() == 0 })
}

// do does what is left of the next stage, over [lo, hi) in chunks, and returns when all
// of it is done. One who works alone does it in one go. Every other worker begins at the
// back, so that from stage to stage most of what one works on is in its own cache.
func (s *shift) do(lo, hi, size int, f func(lo, hi int)) { s.each(lo, hi, size, s.back, f) }

// inOrder is do with chunks that are begun in ascending order.
func (s *shift) inOrder(lo, hi, size int, f func(lo, hi int)) { s.each(lo, hi, size, false, f) }

func (s *shift) each(lo, hi, size int, back bool, f func(lo, hi int)) {
	if s.crew.workers <= 1 {
		if lo < hi {
			f(lo, hi)
		}
		return
	}
	st := &s.crew.stages[s.next]
	s.next++
	chunks := int64((hi - lo + size - 1) / size)
	for i := st.take(chunks, back); i >= 0; i = st.take(chunks, back) {
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

// take returns a chunk that nobody has taken, or -1.
func (st *stage) take(chunks int64, back bool) int64 {
	step := uint64(1)
	if back {
		step = fromBack
	}
	if taken := st.taken.Load(); int64(taken%fromBack+taken/fromBack) >= chunks {
		return -1
	}
	taken := st.taken.Add(step) - step
	front, behind := int64(taken%fromBack), int64(taken/fromBack)
	switch {
	case front+behind >= chunks:
		return -1
	case back:
		return chunks - 1 - behind
	}
	return front
}

// patience is how often one looks in vain before going to sleep: some tens of
// microseconds, which is longer than what the leader does alone, and about what it takes
// to wake up.
const patience = 20000

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
