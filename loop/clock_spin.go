package loop

import "context"

// SpinClock is the monotonic clock of package time with a Sleep that never
// sleeps: it reads the clock until the target is reached. That takes a whole CPU
// and is as precise as the reading of the clock, some 50 ns, as long as nothing
// else gets that CPU. Once a millisecond, and not in the last 0.1 ms, it lets other
// goroutines run; one that does not return in time makes the frame late.
//
// In a bubble of testing/synctest, where time stands still for who spins, it
// waits by a timer. Its origin is its first use, and the zero value is ready. It
// serves one goroutine.
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
