package loop

import (
	"context"
	"math"
	"runtime"
	"time"
)

// What Method of the clocks says.
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
		return nil
	case <-ctx.Done():
		m.timer.Stop()
		return ctx.Err()
	}
}

// stillReads are readings that take longer, at some nanoseconds each, than the
// clock of any system takes to its next value: 16 ms on Windows.
const stillReads = 1 << 22

// advances reports whether the clock goes on while nothing but it is looked at. It
// does not where time is simulated, in a bubble of testing/synctest: who spins
// there waits for ever. The first call finds it out.
func (m *monotonic) advances() bool {
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
	// aloneNs is the time before a target from which spin keeps its processor to
	// itself: what another goroutine might do with it takes longer than that.
	aloneNs = 100_000
	// yieldNs is how often it lends the processor before. Each time the runtime
	// wakes a thread to look for work, and by doing so all the time it would take
	// a second CPU.
	yieldNs = 1_000_000
	// ctxReads is the number of readings between two looks at the context. They
	// take less than a millisecond, as far as other goroutines let them.
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
