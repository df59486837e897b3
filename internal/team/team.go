// Package team shares the stages of a computation between workers.
package team

import (
	"math/bits"
	"runtime"
	"sync/atomic"
	"time"

	"github.com/evertick/evertick/internal/floatenv"
	"github.com/evertick/evertick/internal/pace"
)

// OneThread reports that one thread runs all goroutines: on js and wasip1. A second worker would
// only wait for the first. And since nothing interrupts a goroutine there, the goroutines of a Team
// would pile up in a program that never waits.
const OneThread = runtime.GOARCH == "wasm"

// MaxWorkers is the largest number of workers that a configuration may ask for.
const MaxWorkers = 1024

// Team is a group of workers that share the stages of a computation, one stage after the other.
//
// The caller of Run leads: it runs its own function, and calls For where there is work to share. Helpers, each a goroutine,
// look for chunks of the stage in progress. They end when there is nothing to do for a while, so runs that follow each other
// closely find them awake: to wake one takes longer than many a run. Between runs at a steady rate they sleep: see rhythm. The leader takes chunks as well,
// and waits only for those that helpers have taken. So the leader can do it all. A helper that arrives late, or
// that the system takes off its CPU, delays the others at most by the one chunk that it holds. Where even this costs more
// time than helpers save, since other programs need the CPUs, runs have no helpers for a while: see package pace.
//
// The zero Team is ready to use.
type Team struct {
	claims atomic.Uint64 // of the stage in progress
	stage  stage         // its owner is the leader, until a helper has claimed a chunk
	_      [56]byte      // the leader reads what follows while helpers read the claims

	done   atomic.Int64 // chunks that helpers have done
	helped atomic.Int64 // nanoseconds of these, if the stage is watched
	parked atomic.Bool  // the leader sleeps
	wakeup chan struct{}

	idle    atomic.Bool // between runs
	workers int         // of this run; 1 between runs
	chunks  int         // of this stage; after finishStage, those that were claimed
	own     int         // of them, those that the leader has claimed
	pace    pace.Pace
	rhythm

	help    func()       // t.serve, bound once
	helpers atomic.Int64 // goroutines that do not sleep
	most    atomic.Int64 // of these, that a run may have
	numbers [MaxWorkers / 64]atomic.Uint64

	// Record, if not nil, is called before each stage of a run of several workers, with its number of chunks, and after
	// each chunk, with 0. The leader then does all chunks alone. It is for predictions of what helpers would save, also of more workers than
	// GOMAXPROCS. RecordStep is the same for RunSteps: it is called before the first step, with -1 for the part, and after each border and each rest.
	Record     func(chunks int)
	RecordStep func(s *Steps, parts, steps, part, step int, border bool)

	// AloneTime estimates how long the last run, which had helpers, would have taken without them. Nil: as long as
	// earlier runs without helpers.
	AloneTime func() time.Duration

	check  func() error         // nil: floatenv.Check
	clock  func() time.Duration // nil: pace.Now
	envErr atomic.Pointer[error]
	panics atomic.Pointer[any]
}

// stage is a range in chunks of a size.
type stage struct {
	f            func(worker, lo, hi int)
	lo, hi, size int
	watched      bool // helpers count their time

	first, stride, chunks int // of shuffle; chunks 0: in their order
}

// run does a chunk.
func (s *stage) run(worker, chunk int) {
	if s.chunks > 0 {
		chunk = (s.first + chunk*s.stride) % s.chunks
	}
	at := s.lo + chunk*s.size
	s.f(worker, at, min(at+s.size, s.hi))
}

// Team.claims holds the chunks of a stage that nobody has claimed, [first, last), and whether all workers claim the first
// one. A claim depends on nothing else. So if the system takes a helper off its CPU before it claims a chunk, the claim is
// valid for the stage in progress then.
const (
	chunkBits = 24
	maxChunks = 1<<chunkBits - 1
	ascending = 1 << (2 * chunkBits) // all workers claim the first chunk
)

// claim returns a chunk that nobody has claimed, the last one if back and the stage allows it. It returns -1 if there is
// none.
func (t *Team) claim(back bool) int {
	if random, shuffled := draw(); shuffled {
		back = random&1 != 0
	}
	for {
		word := t.claims.Load()
		first, last := word&maxChunks, word>>chunkBits&maxChunks
		if first == last {
			return -1
		}
		if !back || word&ascending != 0 {
			if t.claims.CompareAndSwap(word, word+1) {
				return int(first)
			}
		} else if t.claims.CompareAndSwap(word, word-1<<chunkBits) {
			return int(last) - 1
		}
	}
}

// Workers returns the number of workers of the run in progress, and 1 between runs.
func (t *Team) Workers() int { return max(t.workers, 1) }

// Run calls lead, with up to workers-1 helpers for its calls of For, and no more workers than GOMAXPROCS. On js and wasip1, which
// have one thread, there are no helpers. The error is that of a helper whose floating-point environment is altered: such a helper does
// no work. Run passes on the panic of a helper.
func (t *Team) Run(workers int, lead func()) error {
	if t.help == nil {
		t.help, t.wakeup = t.serve, make(chan struct{}, 1)
		t.numbers[0].Store(1) // the leader
	}
	if t.Record == nil {
		workers = usefulWorkers(workers)
	}
	if workers <= 1 {
		lead()
		return nil
	}
	began, next := t.now(), t.begin(pace.Now())
	t.most.Store(int64(workers - 1))
	helpers := t.Record != nil || t.pace.Allows()
	if helpers {
		if next != 0 {
			t.cpu.Store(int64(pace.CPU()))
		}
		t.open(workers)
		defer t.end()
	}
	lead()
	took, alone := t.now()-began, time.Duration(0)
	if helpers && t.AloneTime != nil {
		alone = t.AloneTime()
	}
	t.pace.Ran(helpers, took, alone)
	t.prepare(next)
	if err := t.envErr.Load(); err != nil {
		return *err
	}
	return nil
}

// usefulWorkers bounds the workers of a run by what runs at the same time. Helpers poll, so one too many would take the CPU that another
// one needs to finish its chunk.
func usefulWorkers(workers int) int {
	if OneThread {
		return 1
	}
	if workers <= 1 {
		return workers
	}
	n := runtime.GOMAXPROCS(0)
	cpus.Store(int64(n))
	if pace.Always {
		return workers
	}
	return min(workers, n)
}

// Of the helpers of all teams: those that run, and those that wait for a CPU to begin. cpus is what runs at the same time.
var running, waiting, cpus atomic.Int64

// givesWay reports whether an idle helper should end: its team is between runs, and the helper of another team waits for a CPU. A leader that
// uses two teams by turns would else wait for pollTime each time.
func (t *Team) givesWay() bool {
	return t.idle.Load() && waiting.Load() > 0 && running.Load()+1 >= cpus.Load()
}

func (t *Team) now() time.Duration {
	if t.clock != nil {
		return t.clock()
	}
	return pace.Now()
}

func (t *Team) open(workers int) {
	t.workers = workers
	t.idle.Store(false)
	t.envErr.Store(nil)
	t.panics.Store(nil)
	t.startHelpers()
}

// end ends a run. If the leader has panicked, it waits for the chunks that helpers have claimed.
func (t *Team) end() {
	t.finishStage()
	t.workers = 1
	t.idle.Store(true)
}

// startHelpers starts the helpers that are missing.
func (t *Team) startHelpers() {
	for t.Record == nil && t.envErr.Load() == nil && t.enlist() {
		waiting.Add(1)
		go t.help()
	}
}

// enlist counts the caller, or the goroutine that it is about to start, as a helper if one is missing.
func (t *Team) enlist() bool {
	for {
		n := t.helpers.Load()
		if n >= t.most.Load() {
			return false
		}
		if t.helpers.CompareAndSwap(n, n+1) {
			return true
		}
	}
}

// For calls f for [lo, hi), cut into chunks of that size, on any worker, and returns when all chunks are done. The number
// of a worker is below the most workers that a Run has had, since a helper may outlive its Run. No two calls with the same
// number run at the same time. If there is one chunk, or one worker, the leader makes one call. Every other worker takes chunks from the back, so that from stage to stage most of
// the data of a worker stays in its own cache. Only the leader calls For.
func (t *Team) For(lo, hi, size int, f func(worker, lo, hi int)) {
	t.each(stage{f: f, lo: lo, hi: hi, size: size}, 0)
}

// ForAscending is For with chunks that begin in ascending order.
func (t *Team) ForAscending(lo, hi, size int, f func(worker, lo, hi int)) {
	t.each(stage{f: f, lo: lo, hi: hi, size: size}, ascending)
}

func (t *Team) each(s stage, order uint64) {
	if s.lo >= s.hi {
		pace.Skip()
		return
	}
	watch := pace.Begin(s.f, s.hi-s.lo <= s.size)
	if t.workers <= 1 || s.hi-s.lo <= s.size {
		s.f(0, s.lo, s.hi)
		watch.End(1, 0, 0)
		return
	}
	s.watched = watch != nil
	for (s.hi-s.lo-1)/s.size >= maxChunks {
		s.size *= 2
	}
	t.startHelpers()
	chunks := (s.hi-s.lo-1)/s.size + 1
	if order != ascending {
		s.shuffle(chunks)
	}
	t.stage, t.own, t.chunks = s, 0, chunks
	t.done.Store(0)
	if s.watched {
		t.helped.Store(0)
	}
	t.record(t.chunks)
	t.claims.Store(order | uint64(t.chunks)<<chunkBits)
	for i := t.claim(false); i >= 0; i = t.claim(false) {
		t.own++
		s.run(0, i)
		t.record(0)
		if t.panics.Load() != nil {
			break
		}
	}
	watch.Found()
	t.finishStage()
	watch.End(t.chunks, t.chunks-t.own, time.Duration(t.helped.Load()))
	if v := t.panics.Load(); v != nil {
		panic(*v)
	}
}

func (t *Team) record(chunks int) {
	if t.Record != nil {
		t.Record(chunks)
	}
}

// finishStage removes the chunks that nobody has claimed, and waits until helpers have done those that they have claimed.
func (t *Team) finishStage() {
	word := t.claims.Swap(0)
	t.chunks -= int(word>>chunkBits&maxChunks) - int(word&maxChunks)
	theirs := int64(t.chunks - t.own)
	if t.poll(func() bool { return t.done.Load() == theirs }, false) {
		return
	}
	t.parked.Store(true)
	for t.done.Load() != theirs {
		<-t.wakeup
	}
	t.parked.Store(false)
}

// pollTime is how long a worker polls. It is longer than the leader usually works alone or waits for a chunk. If that
// takes longer, something else may need the CPU.
const pollTime = 100 * time.Microsecond

// poll returns true when ready does, and false if it does not for a while, or a helper should give way.
func (t *Team) poll(ready func() bool, helper bool) bool {
	for began := pace.Now(); ; {
		for range 256 {
			if ready() {
				return true
			}
		}
		now := pace.Now()
		if helper && (t.givesWay() || t.givesUp(now, now-began)) || !helper && now-began > pollTime {
			return false
		}
	}
}

// serve is the goroutine of a helper. It ends when there is nothing to do for a while, and no run is due.
func (t *Team) serve() {
	waiting.Add(-1)
	for t.assist(); t.doze() && t.enlist(); t.assist() {
	}
}

// assist does chunks until there is nothing to do for a while. The caller has been counted as a helper.
func (t *Team) assist() {
	running.Add(1)
	number, chunk := t.takeNumber(), -1
	defer func() {
		v := recover()
		running.Add(-1)
		if chunk >= 0 { // it did not return
			t.panicked(v)
			t.finish()
		}
		t.numbers[number/64].And(^(1 << (number % 64)))
		t.helpers.Add(-1)
	}()
	if err := t.checkFloatEnv(); err != nil {
		t.failed(err)
		return
	}
	claimed := func() bool {
		chunk = t.claim(number%2 != 0)
		return chunk >= 0
	}
	for t.poll(claimed, true) && chunk >= 0 {
		if s := &t.stage; s.watched {
			began := pace.Now()
			s.run(number, chunk)
			t.helped.Add(int64(pace.Now() - began))
		} else {
			s.run(number, chunk)
		}
		chunk = -1
		t.finish()
	}
}

// takeNumber returns the lowest number that no other helper has. It is below the number of workers, because a helper
// gives its number back before another one may start in its place.
func (t *Team) takeNumber() int {
	for k := 0; ; {
		used := t.numbers[k].Load()
		if i := bits.TrailingZeros64(^used); i == 64 {
			k++
		} else if t.numbers[k].CompareAndSwap(used, used|1<<i) {
			return 64*k + i
		}
	}
}

func (t *Team) checkFloatEnv() error {
	if t.check != nil {
		return t.check()
	}
	return floatenv.Check()
}

// finish marks a chunk of a helper as done.
func (t *Team) finish() {
	t.done.Add(1)
	if t.parked.Load() {
		select {
		case t.wakeup <- struct{}{}:
		default: // there is a token
		}
	}
}

// failed and panicked are functions so that their arguments move to the heap here, not
// in every run.

func (t *Team) failed(err error) { t.envErr.CompareAndSwap(nil, &err) }

// panicked keeps the first panic.
func (t *Team) panicked(v any) { t.panics.CompareAndSwap(nil, &v) }

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
