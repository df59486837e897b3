package loop_test

import (
	"math"
	"math/big"
	"testing"

	"pgregory.net/rapid"

	"github.com/evertick/evertick/loop"
)

func mustNew(t testing.TB, c loop.Config) *loop.Loop {
	t.Helper()
	l, err := loop.New(c)
	if err != nil {
		t.Fatal(err)
	}
	return l
}

func TestDefaults(t *testing.T) {
	const ms = 1_000_000
	for _, tc := range []struct {
		name                string
		elapsed             int64
		steps               int
		dropped             uint64
		alphaNum            uint64
		capHit, stalled     bool
		backlog             uint64
		alphaBelow, atLeast float64
	}{
		{name: "nothing", elapsed: 0, alphaBelow: 1},
		{name: "one ns short of a step", elapsed: 16_666_666, alphaNum: 999_999_960, alphaBelow: 1, atLeast: 0.9999},
		{name: "one step", elapsed: 16_666_667, steps: 1, alphaNum: 20, alphaBelow: 1e-7},
		{name: "50 ms are exactly three", elapsed: 50 * ms, steps: 3, alphaBelow: 1e-300},
		{name: "five, not yet the cap", elapsed: 84 * ms, steps: 5, alphaNum: 40_000_000, alphaBelow: 0.041, atLeast: 0.04},
		{name: "six", elapsed: 100 * ms, steps: 5, dropped: 1, capHit: true, alphaBelow: 1},
		{name: "0.25 s", elapsed: 250 * ms, steps: 5, dropped: 10, capHit: true, alphaBelow: 1},
		{name: "0.25 s and 1 ns", elapsed: 250*ms + 1, steps: 5, dropped: 10, alphaNum: 60, capHit: true, stalled: true, alphaBelow: 1e-7},
		{name: "an hour", elapsed: 3_600_000 * ms, steps: 5, dropped: 3600*60 - 5, capHit: true, stalled: true, alphaBelow: 1},
	} {
		l := mustNew(t, loop.Config{})
		f := l.Advance(tc.elapsed)
		want := loop.Frame{
			Tick: uint64(tc.steps), Steps: tc.steps, Alpha: f.Alpha, AlphaNum: tc.alphaNum, AlphaDen: 1e9,
			Dropped: tc.dropped, DroppedTotal: tc.dropped, CapHit: tc.capHit, Stalled: tc.stalled,
		}
		if f != want {
			t.Errorf("%s:\n got %+v\nwant %+v", tc.name, f, want)
		}
		if f.Alpha < tc.atLeast || f.Alpha >= tc.alphaBelow {
			t.Errorf("%s: Alpha = %v, want in [%v, %v)", tc.name, f.Alpha, tc.atLeast, tc.alphaBelow)
		}
	}
	l := mustNew(t, loop.Config{})
	if l.Dt() != float32(1)/60 {
		t.Errorf("Dt = %v, want 1/60", l.Dt())
	}
	if l.Tick() != 0 || l.UntilNext() != 16_666_667 {
		t.Errorf("a new Loop: Tick %d, UntilNext %d", l.Tick(), l.UntilNext())
	}
}

func TestTickCountsSteps(t *testing.T) {
	l := mustNew(t, loop.Config{RateNum: 10})
	for i, want := range []struct {
		elapsed     int64
		first, tick uint64
	}{{250e6, 0, 2}, {10e6, 2, 2}, {40e6, 2, 3}, {-5, 3, 3}} {
		f := l.Advance(want.elapsed)
		if f.FirstTick() != want.first || f.Tick != want.tick || l.Tick() != want.tick {
			t.Errorf("frame %d: first %d, Tick %d, Loop.Tick %d; want %d, %d", i, f.FirstTick(), f.Tick, l.Tick(), want.first, want.tick)
		}
	}
}

// At a low rate the clamp, not the cap, is what limits a stalled frame.
func TestClampBelowCap(t *testing.T) {
	l := mustNew(t, loop.Config{RateNum: 10})
	f := l.Advance(10_050_000_000)
	if f.Steps != 2 || f.Dropped != 98 || f.CapHit || !f.Stalled || f.Alpha != 0.5 {
		t.Errorf("%+v; want 2 steps, 98 dropped, alpha 0.5", f)
	}
	// A step longer than MaxDeltaNs still gets done.
	l = mustNew(t, loop.Config{RateNum: 1})
	if f := l.Advance(2e9); f.Steps != 1 || f.Dropped != 1 {
		t.Errorf("1 Hz, 2 s: %+v; want 1 step, 1 dropped", f)
	}
}

func TestKeepDrainsBacklog(t *testing.T) {
	l := mustNew(t, loop.Config{Policy: loop.Keep})
	for i, want := range []struct {
		elapsed          int64
		steps            int
		backlog, dropped uint64
	}{
		{1e9, 5, 10, 45}, // 60 due, 45 of them excess
		{0, 5, 5, 0},
		{50e6, 5, 3, 0}, // 3 more
		{0, 3, 0, 0},
		{250e6, 5, 10, 0}, {250e6, 5, 15, 5}, // 25 pending, 15 may stay
	} {
		f := l.Advance(want.elapsed)
		if f.Steps != want.steps || f.Backlog != want.backlog || f.Dropped != want.dropped {
			t.Errorf("frame %d: %+v; want %+v", i, f, want)
		}
		if (f.Backlog > 0) != (l.UntilNext() == 0) {
			t.Errorf("frame %d: backlog %d, UntilNext %d", i, f.Backlog, l.UntilNext())
		}
	}
}

func TestNegativeElapsed(t *testing.T) {
	l := mustNew(t, loop.Config{})
	before := l.Advance(10_000_000)
	for i, ns := range []int64{-1, -1e9, math.MinInt64} {
		f := l.Advance(ns)
		want := before
		want.Backwards = uint64(i + 1)
		if f != want {
			t.Errorf("Advance(%d)\n got %+v\nwant %+v", ns, f, want)
		}
	}
}

func TestLargestElapsed(t *testing.T) {
	for _, c := range []loop.Config{
		{RateNum: 60, RateDen: 1, MaxSteps: 5, MaxDeltaNs: 250e6},
		{RateNum: 1e8, RateDen: 1, MaxSteps: 1 << 30, MaxDeltaNs: math.MaxInt64, Policy: loop.Keep},
		{RateNum: 1e8 - 1, RateDen: 1e8, MaxSteps: 1, MaxDeltaNs: math.MaxInt64, Policy: loop.Keep},
		{RateNum: 1, RateDen: 1e8, MaxSteps: 1, MaxDeltaNs: 1},
	} {
		l, o := mustNew(t, c), newOracle(c)
		for range 50 {
			if err := o.check(math.MaxInt64, l.Advance(math.MaxInt64)); err != nil {
				t.Fatalf("%+v: %v", c, err)
			}
		}
	}
}

// A denominator of alpha above 2^53 makes the quotient round to 1.
func TestAlphaNeverRoundsToOne(t *testing.T) {
	c := loop.Config{RateNum: 1, RateDen: 1e8, MaxSteps: 5, MaxDeltaNs: math.MaxInt64}
	l, o := mustNew(t, c), newOracle(c)
	f := l.Advance(1e17 - 1)
	if err := o.check(1e17-1, f); err != nil {
		t.Fatal(err)
	}
	if f.Alpha != math.Nextafter(1, 0) || f.Alpha32() != math.Nextafter32(1, 0) || f.Steps != 0 {
		t.Errorf("%+v, Alpha32 %v; want the neighbours of 1", f, f.Alpha32())
	}
	if f = l.Advance(1); f.Alpha != 0 || f.Steps != 1 {
		t.Errorf("%+v; want 1 step and alpha 0", f)
	}
}

func TestYearLosesNothing(t *testing.T) {
	const year = 365 * 24 * 3600 * 1_000_000_000
	for _, c := range []loop.Config{
		{MaxSteps: 1 << 30, MaxDeltaNs: math.MaxInt64},
		{MaxSteps: 1 << 20, MaxDeltaNs: math.MaxInt64, Policy: loop.Keep},
	} {
		for _, delta := range []int64{year / 2, 86_399_999_999_997, 3_333_333_333_331, 17_000_000_000_029} {
			l := mustNew(t, c)
			var f loop.Frame
			steps := uint64(0)
			for left := int64(year); left > 0; left -= delta {
				f = l.Advance(min(delta, left))
				steps += uint64(f.Steps)
			}
			for f.Backlog > 0 {
				f = l.Advance(0)
				steps += uint64(f.Steps)
			}
			if steps != 365*24*3600*60 || f.Tick != steps || f.AlphaNum != 0 || f.DroppedTotal != 0 {
				t.Errorf("%v, frames of %d ns: %d steps, %+v", c.Policy, delta, steps, f)
			}
		}
	}
}

// A day of frames of 59.94 Hz display against 60000/1001 steps per second: 1001
// seconds make exactly 60000 steps.
func TestNTSC(t *testing.T) {
	l := mustNew(t, loop.Config{RateNum: 120000, RateDen: 2002})
	const total = 86 * 1001 * 1_000_000_000
	var f loop.Frame
	for left := int64(total); left > 0; left -= 16_683_351 {
		f = l.Advance(min(16_683_351, left))
	}
	if f.Tick != 86*60000 || f.AlphaNum != 0 || f.AlphaDen != 1001e9 || f.DroppedTotal != 0 {
		t.Errorf("%+v; want %d steps and alpha 0", f, 86*60000)
	}
	want, _ := big.NewRat(1001, 60000).Float32()
	if l.Dt() != want {
		t.Errorf("Dt = %v, want %v", l.Dt(), want)
	}
}

// A time after UntilNext there is a step, and a nanosecond before there is none.
func TestUntilNextIsTight(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawConfig(t)
		c.MaxDeltaNs = math.MaxInt64
		l, err := loop.New(c)
		if err != nil {
			t.Fatal(err)
		}
		l.Advance(rapid.Int64Range(0, 1e12).Draw(t, "elapsed"))
		wait := l.UntilNext()
		if early := *l; wait > 0 {
			if f := early.Advance(wait - 1); f.Steps != 0 {
				t.Fatalf("%d steps 1 ns before UntilNext = %d", f.Steps, wait)
			}
		}
		if f := l.Advance(wait); f.Steps == 0 {
			t.Fatalf("no step after UntilNext = %d", wait)
		}
	})
}

func drawConfig(t *rapid.T) loop.Config {
	part := rapid.OneOf(rapid.Int64Range(1, 240), rapid.Int64Range(1, 1e8))
	return loop.Config{
		RateNum:    part.Draw(t, "num"),
		RateDen:    rapid.OneOf(rapid.Just(int64(1)), rapid.Just(int64(1001)), part).Draw(t, "den"),
		MaxSteps:   rapid.OneOf(rapid.IntRange(1, 8), rapid.IntRange(1, 1<<30)).Draw(t, "cap"),
		MaxDeltaNs: rapid.OneOf(rapid.Just(int64(250e6)), rapid.Int64Range(1, math.MaxInt64)).Draw(t, "clamp"),
		Policy:     rapid.SampledFrom([]loop.Policy{loop.DropToCap, loop.Keep}).Draw(t, "policy"),
	}
}

func TestAdvanceAgainstRationals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawConfig(t)
		l, err := loop.New(c)
		if err != nil {
			t.Fatal(err)
		}
		if want, _ := big.NewRat(c.RateDen, c.RateNum).Float32(); l.Dt() != want {
			t.Fatalf("Dt = %v, want %v", l.Dt(), want)
		}
		o := newOracle(c)
		deltas := rapid.SliceOfN(rapid.OneOf(
			rapid.Int64Range(0, 40e6), rapid.Int64Range(0, 2e9), rapid.Int64(),
		), 1, 60).Draw(t, "deltas")
		for i, ns := range deltas {
			if err := o.check(ns, l.Advance(ns)); err != nil {
				t.Fatalf("frame %d, elapsed %d: %v", i, ns, err)
			}
		}
	})
}

func FuzzAdvance(f *testing.F) {
	f.Add(int64(60), int64(1), 5, int64(250e6), uint8(0), int64(16_666_667), int64(250e6), int64(-1))
	f.Add(int64(60000), int64(1001), 1, int64(1), uint8(1), int64(1e9), int64(0), int64(math.MaxInt64))
	f.Add(int64(1), int64(1e8), 1<<30, int64(math.MaxInt64), uint8(1), int64(1e17-1), int64(1), int64(math.MinInt64))
	f.Fuzz(func(t *testing.T, num, den int64, steps int, clamp int64, policy uint8, a, b, c int64) {
		config := loop.Config{RateNum: num, RateDen: den, MaxSteps: steps, MaxDeltaNs: clamp, Policy: loop.Policy(policy)}
		l, err := loop.New(config)
		if (err == nil) != (config.Validate() == nil) {
			t.Fatalf("New: %v, Validate: %v", err, config.Validate())
		}
		if err != nil || num == 0 || den == 0 || steps == 0 || clamp == 0 {
			return // the oracle does not know the defaults
		}
		o := newOracle(config)
		for _, ns := range []int64{a, b, c, a, 0, b, c} {
			if err := o.check(ns, l.Advance(ns)); err != nil {
				t.Fatalf("%+v, elapsed %d: %v", config, ns, err)
			}
		}
	})
}

func TestAdvanceDoesNotAllocate(t *testing.T) {
	l := mustNew(t, loop.Config{Policy: loop.Keep})
	if n := testing.AllocsPerRun(1000, func() { l.Advance(17_000_003) }); n != 0 {
		t.Errorf("%v allocations per frame", n)
	}
}

func TestZeroLoopPanics(t *testing.T) {
	defer func() {
		if recover() != "loop: Loop not made by New" {
			t.Error("no panic, or another message")
		}
	}()
	new(loop.Loop).Advance(1)
}

func BenchmarkAdvance(b *testing.B) {
	l := mustNew(b, loop.Config{})
	b.ReportAllocs()
	for b.Loop() {
		l.Advance(16_666_667)
	}
}
