package loop

import (
	"context"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
)

// The margin begins at the limit, then covers all but one of the last 64 sleeps
// and a quarter more, and forgets older ones.
func TestMargin(t *testing.T) {
	const limit = 300_000
	var m margin
	rng := rand.New(rand.NewPCG(1, 2))
	var late []int64
	for i := range 5000 {
		want := int64(limit)
		if i >= 64 {
			last := slices.Sorted(slices.Values(late[i-64:]))
			second := max(last[62], 0)
			want = min(second+second/4+marginReserve, limit)
		}
		if got := m.lead(limit, 16_000_000); got != want {
			t.Fatalf("after %d sleeps: %d, want %d", i, got, want)
		}
		ns := rng.Int64N(80_000) - 1000 // a sleep may end early, too
		if i/500%2 == 1 && rng.IntN(20) == 0 {
			ns += 10_000_000
		}
		late = append(late, ns)
		m.add(ns)
	}
	// Steady sleeps bring it down again, single outliers not up.
	m.add(5_000_000)
	for range 63 {
		m.add(20_000)
	}
	if got := m.lead(limit, 16_000_000); got != 25_000+marginReserve {
		t.Errorf("lead %d", got)
	}
}

// Waits that are shorter than the margin do not keep it from learning.
func TestMarginOfShortWaits(t *testing.T) {
	const limit, left = 300_000, 200_000
	var m margin
	if got := m.lead(limit, left); got != left/2 {
		t.Errorf("at first %d", got)
	}
	if got := m.lead(limit, 50_000); got != limit/4 {
		t.Errorf("of a very short wait %d", got)
	}
	for range 64 {
		m.add(1_000_000)
	}
	sleeps, waits := 0, 0
	for m.lead(limit, left) > 100_000 {
		if waits++; waits > 100_000 {
			t.Fatalf("after %d sleeps still %d", sleeps, m.lead(limit, left))
		}
		if m.lead(limit, left) >= left {
			m.spun(limit)
			continue
		}
		sleeps++
		m.add(60_000)
	}
	if sleeps < 63 || waits < 1000 {
		t.Errorf("recovered after %d sleeps in %d waits", sleeps, waits)
	}
}

// Where the system refuses its own sleep, the runtime's timers do.
func TestPreciseClockWithoutNativeSleep(t *testing.T) {
	c := PreciseClock{native: nativeSleep{refused: true}}
	for range 3 {
		until := c.Now() + 6_000_000
		if err := c.Sleep(t.Context(), until); err != nil || c.Now() < until {
			t.Errorf("%v, at %d, want %d", err, c.Now(), until)
		}
	}
	if c.Method() != methodTimerSpin || c.limit() != timerMargin || c.margin.sleeps == 0 {
		t.Errorf("method %q, limit %d, %d sleeps", c.Method(), c.limit(), c.margin.sleeps)
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
