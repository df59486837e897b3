package loop

import (
	"context"
	"math"
	"testing"
)

// Where the system refuses its own sleep, the runtime's timers do.
func TestPreciseClockWithoutNativeSleep(t *testing.T) {
	if oneThread {
		t.Skip("not run: nothing spins where one thread runs everything")
	}
	c := PreciseClock{native: nativeSleep{refused: true}}
	for range 3 {
		until := c.Now() + 6_000_000
		if err := c.Sleep(t.Context(), until); err != nil || c.Now() < until {
			t.Errorf("%v, at %d, want %d", err, c.Now(), until)
		}
	}
	if c.Method() != methodTimerSpin || c.margin.sleeps == 0 {
		t.Errorf("method %q, %d sleeps", c.Method(), c.margin.sleeps)
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if err := c.Sleep(ctx, math.MaxInt64); err != context.Canceled {
		t.Error(err)
	}
}

func TestElapsed(t *testing.T) {
	const least, most = math.MinInt64, math.MaxInt64
	for _, c := range []struct{ from, to, want int64 }{
		{0, 0, 0}, {3, 5, 2}, {5, 3, -2}, {-1, 1, 2},
		{0, most, most}, {most, 0, -most}, {0, least, least}, {least, 0, most},
		{-1, most, most}, {most, -1, least}, {1, least, least}, {most, least, least}, {least, most, most},
	} {
		if got := elapsed(c.from, c.to); got != c.want {
			t.Errorf("from %d to %d: %d, want %d", c.from, c.to, got, c.want)
		}
	}
}
