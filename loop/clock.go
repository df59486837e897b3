package loop

import (
	"context"
	"math"
	"runtime"
	"sync"
	"time"
)

// Clock is the only way in which wall time reaches a Loop.
type Clock interface {
	// Now returns monotonic nanoseconds since an origin that the clock chooses.
	// They are not negative.
	Now() int64
	// Sleep returns nil once Now() >= untilNs, at once if that is already so. If ctx is
	// done, before or while it waits, it returns ctx.Err(). It may wake early: the next
	// frame then has no step to run.
	Sleep(ctx context.Context, untilNs int64) error
}

// SystemClock is the monotonic clock of package time; its origin is its first
// use. The zero value is ready. It keeps one timer, so sleeping does not
// allocate after the first time, and it serves one goroutine only.
type SystemClock struct{ mono monotonic }

// Now returns the nanoseconds since the first use of c.
func (c *SystemClock) Now() int64 { return c.mono.now() }

// Sleep implements [Clock]. It wakes as late as the runtime's timers do, on
// Linux up to about a millisecond; no lateness carries over to the next target.
// On js and wasip1 a Sleep that has nothing to wait for lets other goroutines, and
// the page, run for a millisecond if none has waited for 10 ms.
func (c *SystemClock) Sleep(ctx context.Context, untilNs int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	return c.mono.wait(ctx, untilNs)
}

// Method implements [PacingClock].
func (c *SystemClock) Method() string { return methodTimer }

// ManualClock is a clock that tests move by hand. The zero value stands at 0
// and is ready; it is safe for concurrent use.
type ManualClock struct {
	// Jump makes Sleep move the clock to its target instead of waiting, so
	// that a run takes no wall time. Set it before the first use.
	Jump bool

	mu     sync.Mutex
	now    int64
	moved  chan struct{} // closed by the next move; nil while nobody waits
	breaks breaks
}

// Method implements [PacingClock].
func (c *ManualClock) Method() string {
	if c.Jump {
		return "jump"
	}
	return "by hand"
}

// Now returns the time last set, in nanoseconds.
func (c *ManualClock) Now() int64 {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

// Set moves the clock to ns, forwards or backwards, and wakes the sleepers
// whose time has come.
func (c *ManualClock) Set(ns int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.move(ns)
}

// Add moves the clock by ns nanoseconds, as Set does.
func (c *ManualClock) Add(ns int64) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.move(c.now + ns)
}

// move sets the time and wakes every sleeper to check it. c.mu is held.
func (c *ManualClock) move(ns int64) {
	c.now = ns
	if c.moved != nil {
		close(c.moved)
		c.moved = nil
	}
}

// Sleep implements [Clock]: it waits for Set or Add, or jumps. On js and wasip1 a clock that jumps
// lets other goroutines, and the page, run for a millisecond after each 10 ms.
func (c *ManualClock) Sleep(ctx context.Context, untilNs int64) error {
	if c.Jump {
		c.breaks.takeIfDue()
	}
	for {
		if err := ctx.Err(); err != nil {
			return err
		}
		moved := c.reach(untilNs)
		if moved == nil {
			return nil
		}
		select {
		case <-moved:
		case <-ctx.Done():
		}
	}
}

// reach returns nil if the clock is at untilNs or later, or jumps there; otherwise
// it returns a channel that the next move closes.
func (c *ManualClock) reach(untilNs int64) <-chan struct{} {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.Jump && c.now < untilNs {
		c.move(untilNs)
	}
	if c.now >= untilNs {
		return nil
	}
	if c.moved == nil {
		c.moved = make(chan struct{})
	}
	return c.moved
}

// These are the results of Method of the clocks.
const (
	methodTimer     = "timer"
	methodTimerSpin = "timer and spin"
	methodNanosleep = "clock_nanosleep and spin"
	methodSpin      = "spin"
)

// monotonic is the monotonic clock of package time since its first use, with two
// ways to wait for it. The zero value is ready.
type monotonic struct {
	origin time.Time
	timer  *time.Timer
	moving bool // the clock was seen to move
	still  bool // it was seen not to
	breaks breaks
}

func (m *monotonic) now() int64 {
	if m.origin.IsZero() {
		m.origin = time.Now()
	}
	return int64(time.Since(m.origin))
}

// wait sleeps by a timer of the runtime.
func (m *monotonic) wait(ctx context.Context, untilNs int64) error {
	now := m.now()
	if untilNs <= now { // first: the difference to a time long past can overflow
		m.breaks.takeIfDue()
		return nil
	}
	d := time.Duration(untilNs - now)
	if m.timer == nil {
		m.timer = time.NewTimer(d)
	} else {
		m.timer.Reset(d)
	}
	select {
	case <-m.timer.C:
		m.breaks.reset()
		return nil
	case <-ctx.Done():
		m.timer.Stop()
		return ctx.Err()
	}
}

// breaks lets other goroutines, and a page, run where one thread runs everything. Nothing interrupts
// a late run there, so without breaks even its context would not end it. Elsewhere it does nothing.
type breaks struct{ last time.Time }

// takeIfDue sleeps for a millisecond if the last break ended 10 ms ago or more. A page runs only while
// every goroutine waits, and timers there have a resolution of a millisecond.
func (b *breaks) takeIfDue() {
	switch {
	case !oneThread:
	case b.last.IsZero():
		b.reset()
	case time.Since(b.last) >= 10*time.Millisecond:
		time.Sleep(time.Millisecond)
		b.reset()
	}
}

// reset is called at the end of a break, or of a sleep in which others could run.
func (b *breaks) reset() {
	if oneThread {
		b.last = time.Now()
	}
}

// stillReads is a number of readings that takes longer, at some nanoseconds each,
// than the clock of any system needs to change its value: 16 ms on Windows.
const stillReads = 1 << 22

// advances reports whether the clock advances while the program only reads it, and may be
// waited for in this way. It does not in a bubble of testing/synctest, where time is simulated:
// spinning there would never end. The first call finds this out.
func (m *monotonic) advances() bool {
	if oneThread {
		return false
	}
	if m.moving || m.still {
		return m.moving
	}
	start := m.now()
	for range stillReads {
		if m.now() != start {
			m.moving = true
			return true
		}
	}
	m.still = true
	return false
}

const (
	// aloneNs is the time before a target in which spin does not yield its processor:
	// another goroutine may keep the processor for longer than that.
	aloneNs = 100_000
	// yieldNs is the time between two yields before that. At each yield the runtime wakes
	// a thread to look for work; yields without a pause between them would take a second
	// CPU.
	yieldNs = 1_000_000
	// ctxReads is the number of readings between two checks of the context. They
	// take less than a millisecond, unless other goroutines take the CPU.
	ctxReads = 64
)

// spin reads the clock until it says untilNs.
func (m *monotonic) spin(ctx context.Context, untilNs int64) error {
	yield := int64(math.MinInt64)
	for reads := 0; ; reads++ {
		if reads%ctxReads == 0 {
			if err := ctx.Err(); err != nil {
				return err
			}
		}
		now := m.now()
		if now >= untilNs {
			return nil
		}
		if now >= yield && untilNs-now > aloneNs {
			runtime.Gosched()
			yield = now + yieldNs
		}
	}
}

// SpinClock is the monotonic clock of package time with a Sleep that never
// sleeps: it reads the clock until the target is reached. That takes a whole CPU
// and is as precise as the reading of the clock, some 50 ns, as long as nothing
// else gets that CPU. Once a millisecond, but not in the last 0.1 ms, it lets other
// goroutines run; one that does not return in time makes the frame late.
//
// In a bubble of testing/synctest, where time does not pass for a goroutine that
// spins, and on js and wasip1 (see [Pacing.Effective]), it waits by a timer. Method
// reports it. Its origin is its first use, and the zero value is ready. It serves one goroutine.
type SpinClock struct{ mono monotonic }

// Now returns the nanoseconds since the first use of c.
func (c *SpinClock) Now() int64 { return c.mono.now() }

// Sleep implements [Clock]. It never wakes early, and looks at ctx every few
// microseconds.
func (c *SpinClock) Sleep(ctx context.Context, untilNs int64) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	if !c.mono.advances() {
		return c.mono.wait(ctx, untilNs)
	}
	return c.mono.spin(ctx, untilNs)
}

// Method implements [PacingClock].
func (c *SpinClock) Method() string {
	if !c.mono.advances() {
		return methodTimer
	}
	return methodSpin
}
