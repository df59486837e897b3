package loop_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/evertick/evertick/loop"
)

func TestScaleErrors(t *testing.T) {
	l := mustNew(t, loop.Config{})
	must(t, l.SetScale(loop.Speed, "menu", 2, loop.Forever))
	before := *l
	for _, tc := range []struct {
		call func() error
		is   error
		text string
	}{
		{func() error { return l.SetScale(loop.MaxChannels, "a", 1, 0) }, loop.ErrRange, "loop: SetScale: channel = 8: out of range"},
		{func() error { return l.SetScale(255, "a", 1, 0) }, loop.ErrRange, "loop: SetScale: channel = 255: out of range"},
		{func() error { return l.SetScale(loop.Juice, "", 1, 0) }, loop.ErrRange, `loop: SetScale: owner = "": out of range`},
		{func() error { return l.SetScale(loop.Juice, "a", math.NaN(), 0) }, loop.ErrNotFinite, "loop: SetScale: value = NaN: not finite"},
		{func() error { return l.SetScale(loop.Juice, "a", math.Inf(1), 0) }, loop.ErrNotFinite, "loop: SetScale: value = +Inf: not finite"},
		{func() error { return l.SetScale(loop.Juice, "a", math.Inf(-1), 0) }, loop.ErrNotFinite, "loop: SetScale: value = -Inf: not finite"},
		{func() error { return l.SetScale(loop.Juice, "a", -0.5, 0) }, loop.ErrRange, "loop: SetScale: value = -0.5: out of range"},
		{func() error { return l.SetScale(loop.Juice, "a", 1, -1) }, loop.ErrRange, "loop: SetScale: forNs = -1: out of range"},
		{func() error { return l.SetScale(loop.Speed, "boss", 1, 0) }, loop.ErrHeld, `loop: SetScale: Speed, for "boss": held by another: "menu"`},
		{func() error { return l.ReleaseScale(loop.Speed, "boss") }, loop.ErrHeld, `loop: ReleaseScale: Speed, for "boss": held by another: "menu"`},
		{func() error { return l.ReleaseScale(9, "boss") }, loop.ErrRange, "loop: ReleaseScale: channel = 9: out of range"},
		{func() error { return l.ReleaseScale(loop.Speed, "") }, loop.ErrRange, `loop: ReleaseScale: owner = "": out of range`},
		{func() error { return l.Freeze(-1) }, loop.ErrRange, "loop: Freeze: ns = -1: out of range"},
		{func() error { return l.SetPhase(64) }, loop.ErrRange, "loop: SetPhase: phase = 64: out of range"},
		{func() error { return l.StartTimer(16, loop.Wall, 1) }, loop.ErrRange, "loop: StartTimer: id = 16: out of range"},
		{func() error { return l.StartTimer(1, 2, 1) }, loop.ErrRange, "loop: StartTimer: clock = 2: out of range"},
		{func() error { return l.StartTimer(1, loop.UI, -1) }, loop.ErrRange, "loop: StartTimer: ns = -1: out of range"},
	} {
		if err := tc.call(); !errors.Is(err, tc.is) || err.Error() != tc.text {
			t.Errorf("got %v, want %q", err, tc.text)
		}
		if *l != before {
			t.Errorf("%s: the Loop has changed", tc.text)
		}
	}
}

func TestGettersPanic(t *testing.T) {
	l := mustNew(t, loop.Config{})
	for want, call := range map[string]func(){
		"loop: Scale: no such channel":   func() { l.Scale(loop.MaxChannels) },
		"loop: TimerLeft: no such timer": func() { l.TimerLeft(loop.MaxTimers) },
		"loop: Loop not made by New":     func() { new(loop.Loop).UntilNext() },
		"loop: Loop not made by New ":    func() { new(loop.Loop).AdvanceTo(1) },
		"loop: Loop not made by New  ":   func() { new(loop.Loop).Advance(1) },
	} {
		func() {
			defer func() {
				if got := recover(); got != strings.TrimRight(want, " ") {
					t.Errorf("panic %v, want %q", got, want)
				}
			}()
			call()
		}()
	}
}

// The product is rounded once, half to even, and bounded by 100.
func TestScaleProduct(t *testing.T) {
	for _, tc := range []struct {
		factors []float64
		want    uint64
	}{
		{[]float64{1, 1, 1}, 1_000_000},
		{[]float64{0.000_001, 0.5}, 0},                        // 0.5 millionths: to even
		{[]float64{0.000_003, 0.5}, 2},                        // 1.5
		{[]float64{0.000_005, 0.5}, 2},                        // 2.5
		{[]float64{0.000_001, 0.500_001}, 1},                  // above the tie
		{[]float64{0.000_001, 0.5, 1.000_002}, 1},             // above by what the last division does not see
		{[]float64{1.000_002, 0.5, 0.000_001}, 1},             // in any order
		{[]float64{0.000_001, 0.5, 1.000_001}, 1},             // a tie but for the seventh digit
		{[]float64{0.000_001, 0.5, 0.010_001, 99.990_001}, 1}, // a tie but for the twelfth
		{[]float64{0.000_001, 0.5, 0.999_999}, 0},             // below
		{[]float64{1.5, 1.5, 1.5}, 3_375_000},
		{[]float64{1.1, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1, 1.1}, 2_143_589}, // 2.14358881
		{[]float64{100, 0.01, 100, 0.01, 100, 0.01}, 1_000_000},        // no limit in between
		{[]float64{100, 100, 100, 100, 100, 100, 100, 100}, 100_000_000},
		{[]float64{100, 100, 100, 100, 100, 100, 100, 0}, 0},
		{[]float64{10, 10.000_001}, 100_000_000},
		{[]float64{1e300}, 100_000_000},
		{[]float64{0.000_000_4}, 0},
		{[]float64{0.000_000_6}, 1},
	} {
		l := mustNew(t, loop.Config{})
		for ch, v := range tc.factors {
			must(t, l.SetScale(loop.Channel(ch), "test", v, loop.Forever))
		}
		if got := l.Advance(0).ScaleMillionths; got != tc.want {
			t.Errorf("%v: %d, want %d", tc.factors, got, tc.want)
		}
	}
}

// The rest of a unit is carried: 2 ns at half speed are 1 ns.
func TestScaleCarriesMillionths(t *testing.T) {
	l := mustNew(t, loop.Config{RateNum: 1})
	must(t, l.SetScale(loop.Speed, "test", 0.5, loop.Forever))
	for i, want := range [][2]uint64{{0, 500_000}, {1, 0}, {1, 500_000}, {2, 0}} {
		if f := l.Advance(1); [2]uint64{f.AlphaNum, f.AlphaRest} != want {
			t.Errorf("frame %d: %d + %d millionths, want %v", i, f.AlphaNum, f.AlphaRest, want)
		}
	}
}

func TestScaleHolders(t *testing.T) {
	c := loop.Config{}
	c.Channels[5] = loop.ChannelConfig{Min: 0.5, Max: 4, Rest: 2}
	l := mustNew(t, c)
	const ch = loop.Channel(5)
	if l.Scale(ch) != 2 || l.Advance(0).ScaleMillionths != 2_000_000 {
		t.Errorf("at rest: %v", l.Scale(ch))
	}
	must(t, l.ReleaseScale(ch, "boss")) // nobody holds it
	must(t, l.SetScale(ch, "boss", 0, 10))
	if l.Scale(ch) != 0.5 {
		t.Errorf("below Min: %v", l.Scale(ch))
	}
	must(t, l.SetScale(ch, "boss", 9, 20)) // again, and for longer
	if l.Scale(ch) != 4 {
		t.Errorf("above Max: %v", l.Scale(ch))
	}
	l.Advance(19)
	if err := l.SetScale(ch, "menu", 1, 0); !errors.Is(err, loop.ErrHeld) {
		t.Errorf("held until 20 ns: %v", err)
	}
	l.Advance(1)
	if l.Scale(ch) != 2 {
		t.Errorf("expired: %v", l.Scale(ch))
	}
	must(t, l.SetScale(ch, "menu", 1, loop.Forever))
	l.Advance(math.MaxInt64)
	if l.Scale(ch) != 1 {
		t.Errorf("Forever: %v", l.Scale(ch))
	}
	must(t, l.ReleaseScale(ch, "menu"))
	if l.Scale(ch) != 2 {
		t.Errorf("released: %v", l.Scale(ch))
	}
}

// A scale that expires inside a frame counts to the nanosecond: the sum does
// not depend on how time is cut into frames.
func TestScaleExpiresWithinAFrame(t *testing.T) {
	for _, cut := range []int64{1, 3, 1000, 7919, 100_000} {
		l := mustNew(t, loop.Config{MaxDeltaNs: math.MaxInt64})
		must(t, l.SetScale(loop.Dilation, "a", 0.25, 40_000))
		must(t, l.SetScale(loop.Speed, "b", 3, 70_001))
		must(t, l.Freeze(10_000))
		var f loop.Frame
		for at := int64(0); at < 100_000; at += cut {
			f = l.Advance(min(cut, 100_000-at))
		}
		// Frozen for 10,000 ns, after which dilation is at rest; then 60,001 ns
		// at 3 and 29,999 ns at 1.
		if want := uint64(60 * (60_001*3 + 29_999)); f.AlphaNum != want || f.AlphaRest != 0 {
			t.Errorf("frames of %d ns: %d units, want %d", cut, f.AlphaNum, want)
		}
	}
}

func TestFreeze(t *testing.T) {
	l := mustNew(t, loop.Config{})
	must(t, l.Freeze(50*ms))
	must(t, l.Freeze(20*ms)) // ends earlier
	if l.Frozen() != 50*ms || l.UntilNext() != 66_666_667 {
		t.Errorf("%d left, UntilNext %d", l.Frozen(), l.UntilNext())
	}
	must(t, l.SetScale(loop.Dilation, "test", 0.5, loop.Forever))
	must(t, l.Freeze(0))
	if l.Frozen() != 0 || l.Scale(loop.Dilation) != 1 {
		t.Errorf("%d left, dilation %v", l.Frozen(), l.Scale(loop.Dilation))
	}
}

// Steps that wait are not run while time is frozen or held.
func TestBacklogWaits(t *testing.T) {
	l := mustNew(t, loop.Config{Policy: loop.Keep})
	l.Advance(150 * ms) // 9 steps, 5 run
	must(t, l.Freeze(10*ms))
	if f := l.Advance(10*ms - 1); f.Steps != 0 || f.Backlog != 4 || l.UntilNext() != 1 {
		t.Errorf("frozen: %+v", f)
	}
	l.SetPaused(true)
	if f := l.Advance(10 * ms); f.Steps != 0 || f.Backlog != 4 || l.UntilNext() != math.MaxInt64 {
		t.Errorf("paused: %+v", f)
	}
	l.SetPaused(false)
	if f := l.Advance(0); f.Steps != 4 || f.LagNs != 0 {
		t.Errorf("resumed: %+v", f)
	}
}

func TestRunThenPause(t *testing.T) {
	for policy := loop.DropToCap; policy <= loop.Realtime; policy++ {
		l := mustNew(t, loop.Config{Policy: policy})
		l.SetPaused(true)
		l.RunThenPause(0)
		if f := l.Advance(50 * ms); f.Steps != 0 || !f.Paused || f.LagNs != 0 {
			t.Errorf("%v: none: %+v", policy, f)
		}
		l.RunThenPause(3)
		a := l.Advance(33_333_334)
		b := l.Advance(33_333_334) // the third, and one that stays due
		c := l.Advance(1000 * ms)
		if a.Steps != 2 || a.Paused || b.Steps != 1 || !b.Paused || b.Backlog != 1 || c.Steps != 0 || c.Tick != 3 || c.Backlog != 1 {
			t.Errorf("%v:\n%+v\n%+v\n%+v", policy, a, b, c)
		}
		l.SetPaused(false)
		if f := l.Advance(0); f.Steps != 1 || f.Tick != 4 || f.DroppedTotal != 0 || f.DroppedNum != 0 {
			t.Errorf("%v: resumed: %+v", policy, f)
		}
	}
}

// A step that failed does not count towards the pause.
func TestRunThenPauseAfterAnError(t *testing.T) {
	l := mustNew(t, loop.Config{})
	l.RunThenPause(2)
	if _, err := l.Drive(50*ms, failAt(1)); !errors.Is(err, errStep) || l.Tick() != 1 || l.Paused() {
		t.Errorf("%v, tick %d, paused %v", err, l.Tick(), l.Paused())
	}
	ran := 0
	f, err := l.Drive(0, func(uint64) error { ran++; return nil })
	if err != nil || ran != 1 || f.Tick != 2 || !l.Paused() || f.Backlog != 1 {
		t.Errorf("%v, ran %d, %+v", err, ran, f)
	}
}

func TestTimers(t *testing.T) {
	l := mustNew(t, loop.Config{MaxDeltaNs: 30 * ms, StallNs: 200 * ms})
	must(t, l.StartTimer(0, loop.Wall, 100*ms))
	must(t, l.StartTimer(1, loop.UI, 100*ms))
	must(t, l.StartTimer(2, loop.Wall, 500*ms))
	must(t, l.StartTimer(15, loop.UI, 30*ms))
	must(t, l.StartTimer(4, loop.Wall, 5*ms))
	must(t, l.StartTimer(4, loop.Wall, 0)) // stopped
	for i, want := range []struct {
		elapsed int64
		timers  uint16
	}{
		{99 * ms, 1 << 15}, // 30 ms on the UI clock
		{1*ms - 1, 0},
		{1, 1 << 0},
		{300 * ms, 0},   // a stall: the UI clock stands
		{68_999_998, 0}, // 30 more
		{40 * ms, 1 << 2},
		{9 * ms, 1 << 1}, // 30 + 1 + 30 + 30 + 9
		{1000 * ms, 0},
	} {
		if f := l.Advance(want.elapsed); f.Timers != want.timers {
			t.Errorf("frame %d: %b, want %b; %+v", i, f.Timers, want.timers, f)
		}
	}
	must(t, l.StartTimer(1, loop.UI, 7))
	must(t, l.StartTimer(1, loop.Wall, 9)) // again
	if l.TimerLeft(1) != 9 || l.TimerLeft(2) != 0 {
		t.Errorf("%d and %d left", l.TimerLeft(1), l.TimerLeft(2))
	}
}

func TestAdvanceTo(t *testing.T) {
	l := mustNew(t, loop.Config{})
	for i, want := range []struct {
		now, elapsed int64
		backwards    uint64
	}{
		{100 * ms, 100 * ms, 0},
		{117 * ms, 17 * ms, 0},
		{50 * ms, 0, 1},
		{60 * ms, 10 * ms, 1},
		{math.MinInt64, 0, 2},
		{math.MaxInt64, math.MaxInt64, 2}, // the difference does not fit
		{math.MinInt64, 0, 3},
		{0, math.MaxInt64, 3},
		{5, 5, 3},
	} {
		if f := l.AdvanceTo(want.now); f.ElapsedNs != want.elapsed || f.Backwards != want.backwards {
			t.Errorf("frame %d: elapsed %d, backwards %d; want %+v", i, f.ElapsedNs, f.Backwards, want)
		}
	}
}

func TestChannelString(t *testing.T) {
	for ch, want := range map[loop.Channel]string{
		loop.Dilation: "Dilation", loop.Speed: "Speed", loop.Juice: "Juice", 3: "Channel(3)",
	} {
		if got := ch.String(); got != want {
			t.Errorf("%d: %q, want %q", uint8(ch), got, want)
		}
	}
}
