package loop

import (
	"context"
	"sync"
)

// Clock is the only way in which wall time reaches a Loop.
type Clock interface {
	// Now returns monotonic nanoseconds since an origin of the clock's own
	// choosing. They are not negative.
	Now() int64
	// Sleep returns nil once Now() >= untilNs, at once if that is so already.
	// If ctx is done, before or while it waits, it returns ctx.Err(). Waking
	// early is allowed: the frame that follows just has no step to run.
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

	mu    sync.Mutex
	now   int64
	moved chan struct{} // closed by the next move; nil while nobody waits
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

// move sets the time and lets every sleeper look at it. c.mu is held.
func (c *ManualClock) move(ns int64) {
	c.now = ns
	if c.moved != nil {
		close(c.moved)
		c.moved = nil
	}
}

// Sleep implements [Clock]: it waits for Set or Add, or jumps.
func (c *ManualClock) Sleep(ctx context.Context, untilNs int64) error {
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

// reach returns nil if the clock stands at untilNs or later, if need be after
// jumping there, and otherwise a channel that the next move closes.
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
