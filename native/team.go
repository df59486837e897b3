package native

import (
	"sync"
	"sync/atomic"
)

// MaxWorkers is the largest number of workers that a configuration may ask for.
const MaxWorkers = 1024

// Team is a group of workers that run the stages of a computation side by side, with a barrier after each
// stage. Each worker is one goroutine for the whole of a Run: where a Run has more than a hundred stages of
// some microseconds, starting goroutines for each stage, as Pool does, would cost more than the stages.
//
// The caller of Run leads: it runs its own function, and calls Parallel where there is work to share. All workers
// that have arrived by then run the same job, which calls Worker.For for each of its stages. Workers take the
// chunks of a stage as they become free, and a stage is over when its chunks are done, even if some workers
// are missing. So a worker that the system has taken off its CPU delays the others by at most one
// chunk, and one that arrives late finds the stages done.
//
// The zero Team is ready to use.
type Team struct {
	workers int // of this run; 1 between runs
	job     func(*Worker)
	stages  []stage
	epoch   atomic.Int64 // odd while there is a job; grows from run to run
	inside  atomic.Int64 // helpers that may be running the job
	ended   atomic.Bool  // the run has ended

	members []Worker     // the first is the leader
	arrived atomic.Int64 // helpers, in this run
	work    func()       // t.help, bound once
	gate    atomic.Int64 // helpers at work; far below zero while the gate is shut

	mu     sync.Mutex
	woken  sync.Cond
	asleep atomic.Int32 // goroutines that wait for woken

	check  func() error // nil: CheckFloatEnv
	envErr atomic.Pointer[error]
	panics atomic.Pointer[any]
}

// stage counts the chunks of a stage, in a cache line of its own.
type stage struct {
	taken atomic.Uint64 // chunks taken from the front, plus fromBack times those taken from the back
	done  atomic.Int64
	_     [48]byte
}

const fromBack = 1 << 32

// Worker is one worker of a Team while it runs a job.
type Worker struct {
	team *Team
	next int  // stage
	back bool // takes chunks from the back
}

// shut is the value of a shut gate, plus the helpers that are about to see it.
const shut = -1 << 40

// errBroken is the panic of workers that wait for one that panicked.
const errBroken = "native: another worker has panicked"

// Workers returns the number of workers of the run in progress, and 1 between runs.
func (t *Team) Workers() int { return max(t.workers, 1) }

// Run calls lead, with up to workers-1 helpers for its calls of Parallel. On js and wasip1, which have one thread,
// there are no helpers. The error is that of a helper whose floating-point environment is altered: such a helper does
// no work. Run passes on the panic of a helper.
func (t *Team) Run(workers int, lead func()) error {
	for len(t.members) < workers {
		t.members = append(t.members, Worker{team: t, back: len(t.members)%2 != 0})
	}
	if oneThread {
		workers = 1
	}
	if t.workers = workers; workers == 1 {
		lead()
		return nil
	}
	t.open(workers)
	t.attempt(lead)
	t.close()
	t.workers = 1
	if v := t.panics.Load(); v != nil {
		panic(*v)
	}
	if err := t.envErr.Load(); err != nil {
		return *err
	}
	return nil
}

func (t *Team) open(workers int) {
	if t.work == nil {
		t.work = t.help
		t.woken.L = &t.mu
		t.gate.Store(shut)
	}
	t.arrived.Store(0)
	t.ended.Store(false)
	t.envErr.Store(nil)
	t.panics.Store(nil)
	t.gate.Add(-shut)
	for range workers - 1 {
		go t.work()
	}
}

// close waits until no helper is at work.
func (t *Team) close() {
	t.ended.Store(true)
	t.wake()
	t.await(func() bool { return t.gate.CompareAndSwap(0, shut) })
	t.epoch.Add(t.epoch.Load() & 1) // if a job was interrupted
}

// help is the goroutine of a helper. A helper that finds the gate shut has nothing to do; one of an
// earlier run may help with this one, if this one lacks helpers.
func (t *Team) help() {
	if t.gate.Add(1) > 0 {
		if err := t.checkFloatEnv(); err != nil {
			t.failed(err)
		} else if i := int(t.arrived.Add(1)); i < len(t.members) {
			t.serve(&t.members[i])
		}
	}
	t.gate.Add(-1)
	t.wake()
}

func (t *Team) checkFloatEnv() error {
	if t.check != nil {
		return t.check()
	}
	return CheckFloatEnv()
}

// serve runs the jobs of a run.
func (t *Team) serve(w *Worker) {
	for last := int64(0); ; {
		now := int64(0)
		t.await(func() bool {
			now = t.epoch.Load()
			return now&1 != 0 && now != last || t.ended.Load()
		})
		if t.ended.Load() {
			return
		}
		last = now
		t.inside.Add(1)
		if t.epoch.Load() == now {
			w.next = 0
			t.attempt(func() { t.job(w) })
		}
		t.inside.Add(-1)
		t.wake()
	}
}

func (t *Team) attempt(f func()) {
	defer func() {
		if v := recover(); v != nil && v != errBroken {
			t.panicked(v)
		}
	}()
	f()
}

// failed and panicked are functions so that their arguments move to the heap here, not
// in every run.

func (t *Team) failed(err error) { t.envErr.CompareAndSwap(nil, &err) }

func (t *Team) panicked(v any) {
	t.panics.CompareAndSwap(nil, &v)
	t.wake()
}

// Parallel has all workers that have arrived run a job of up to that many stages. It returns when the job is
// done and they have left it. Only the leader calls it.
func (t *Team) Parallel(stages int, job func(*Worker)) {
	leader := &t.members[0]
	leader.next = 0
	if t.workers <= 1 {
		job(leader)
		return
	}
	if cap(t.stages) < stages {
		t.stages = make([]stage, stages)
	}
	t.stages = t.stages[:stages]
	clear(t.stages)
	t.job = job
	t.epoch.Add(1)
	t.wake()
	job(leader)
	t.epoch.Add(1)
	t.await(func() bool { return t.inside.Load() == 0 })
}

// For does what is left of the next stage, over [lo, hi) in chunks of that size, and returns when all of the stage is
// done. A worker without helpers does the stage in one call of f. Every other worker takes chunks from the back, so
// that from stage to stage most of the data of a worker stays in its own cache.
func (w *Worker) For(lo, hi, size int, f func(lo, hi int)) { w.each(lo, hi, size, w.back, f) }

// ForAscending is For with chunks that begin in ascending order.
func (w *Worker) ForAscending(lo, hi, size int, f func(lo, hi int)) { w.each(lo, hi, size, false, f) }

func (w *Worker) each(lo, hi, size int, back bool, f func(lo, hi int)) {
	if w.team.workers <= 1 {
		if lo < hi {
			f(lo, hi)
		}
		return
	}
	st := &w.team.stages[w.next]
	w.next++
	chunks := int64((hi - lo + size - 1) / size)
	for i := st.take(chunks, back); i >= 0; i = st.take(chunks, back) {
		at := lo + int(i)*size
		f(at, min(at+size, hi))
		if st.done.Add(1) == chunks {
			w.team.wake()
		}
	}
	if st.done.Load() >= chunks {
		return
	}
	w.team.await(func() bool { return st.done.Load() >= chunks || w.team.panics.Load() != nil })
	if st.done.Load() < chunks {
		panic(errBroken)
	}
}

// take returns a chunk that no worker has taken, or -1.
func (st *stage) take(chunks int64, back bool) int64 {
	step := uint64(1)
	if back {
		step = fromBack
	}
	if taken := st.taken.Load(); int64(taken%fromBack+taken/fromBack) >= chunks {
		return -1
	}
	taken := st.taken.Add(step) - step
	front, rear := int64(taken%fromBack), int64(taken/fromBack)
	switch {
	case front+rear >= chunks:
		return -1
	case back:
		return chunks - 1 - rear
	}
	return front
}

// spins is how often a worker polls before it sleeps: some tens of microseconds. This is longer than the leader
// usually works alone, and about as long as waking up takes.
const spins = 20000

// await returns when ready reports true. It polls for a while; a worker that waits longer waits for
// one that is off its CPU, and may itself occupy that CPU, so it sleeps.
func (t *Team) await(ready func() bool) {
	for range spins {
		if ready() {
			return
		}
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	t.asleep.Add(1)
	defer t.asleep.Add(-1)
	for !ready() {
		t.woken.Wait()
	}
}

// wake wakes the goroutines that sleep in await. Call it after any change that one may wait for.
func (t *Team) wake() {
	if t.asleep.Load() != 0 {
		t.mu.Lock()
		t.woken.Broadcast()
		t.mu.Unlock()
	}
}

// SerialStage runs the second part of chunks in ascending order, one after the other, while workers do the first part
// of others. The worker that finds the next chunk ready runs its second part.
type SerialStage struct {
	ready []atomic.Bool // the first part is done
	next  int           // chunk; guarded by busy
	busy  atomic.Bool   // a worker runs second parts
}

// Begin prepares s for so many chunks.
func (s *SerialStage) Begin(chunks int) {
	if cap(s.ready) < chunks {
		s.ready = make([]atomic.Bool, chunks)
	}
	s.ready = s.ready[:chunks]
	clear(s.ready)
	s.next = 0
	s.busy.Store(false)
}

// Done marks the first part of a chunk as done. It calls second for the chunks whose turn it is, unless
// another worker is about to.
func (s *SerialStage) Done(chunk int, second func(chunk int)) {
	s.ready[chunk].Store(true)
	for s.busy.CompareAndSwap(false, true) {
		for s.next < len(s.ready) && s.ready[s.next].Load() {
			second(s.next)
			s.next++
		}
		next := s.next
		s.busy.Store(false)
		if next == len(s.ready) || !s.ready[next].Load() {
			return // else it became ready meanwhile, and its worker has left
		}
	}
}
