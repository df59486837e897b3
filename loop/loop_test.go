package loop_test

import (
	"errors"
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"

	"github.com/evertick/evertick/internal/paritytest"
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
			Dropped: tc.dropped, DroppedTotal: tc.dropped, CapHit: tc.capHit, Clamped: tc.stalled,
		}
		if timeless(f) != want {
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

// timeless returns what f says about steps, without the clocks.
func timeless(f loop.Frame) loop.Frame {
	f.SimNs, f.ElapsedNs, f.RawNs, f.WallNs, f.UINs, f.LagNs, f.ScaleMillionths, f.FPS = 0, 0, 0, 0, 0, 0, 0, 0
	return f
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
	if f.Steps != 2 || f.Dropped != 98 || f.CapHit || !f.Clamped || f.Alpha != 0.5 {
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
	before := timeless(l.Advance(10_000_000))
	for i, ns := range []int64{-1, -1e9, math.MinInt64} {
		f := l.Advance(ns)
		want := before
		want.Backwards = uint64(i + 1)
		if timeless(f) != want {
			t.Errorf("Advance(%d)\n got %+v\nwant %+v", ns, f, want)
		}
	}
}

func TestLargestElapsed(t *testing.T) {
	for _, c := range []loop.Config{
		{RateNum: 60, RateDen: 1, MaxSteps: 5, MaxDeltaNs: 250e6},
		{RateNum: 1e8, RateDen: 100, MaxSteps: 1 << 30, MaxDeltaNs: math.MaxInt64, Policy: loop.Keep},
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

const day = 24 * 3600 * 1_000_000_000 // nanoseconds

// patterns are ways to cut time into frames, by the number of the frame.
var patterns = map[string]func(i uint64) int64{
	"half a year":    func(uint64) int64 { return 365 * day / 2 },
	"a day but 3 ns": func(uint64) int64 { return day - 3 },
	"odd minutes":    func(uint64) int64 { return 59_999_999_999 },
	"long and 1 ns":  func(i uint64) int64 { return 1 + int64(i%2)*7_777_777_777_777 },
	"random": func(i uint64) int64 {
		r := loop.NewRand(1, i, 0, 0)
		return 1 + int64(r.Uint64()>>20) // up to 4.9 hours
	},
}

func TestYearLosesNothing(t *testing.T) {
	for _, tc := range []struct {
		config loop.Config
		scale  float64
		want   uint64
	}{
		{loop.Config{MaxSteps: 1 << 30}, 1, 365 * 24 * 3600 * 60},
		{loop.Config{MaxSteps: 1 << 20, Policy: loop.Keep}, 1, 365 * 24 * 3600 * 60},
		{loop.Config{MaxSteps: 1 << 16, Policy: loop.CatchUp}, 0.3, 365 * 24 * 3600 * 18},
		{loop.Config{RateNum: 60000, RateDen: 1001, MaxSteps: 1 << 20, Policy: loop.CatchUp}, 1.001, 365 * 24 * 3600 * 60},
		{loop.Config{RateNum: 64, MaxSteps: 3, Policy: loop.Realtime}, 1, 365 * 24 * 3600 * 64},
	} {
		tc.config.MaxDeltaNs = math.MaxInt64
		for name, next := range patterns {
			l := mustNew(t, tc.config)
			must(t, l.SetScale(loop.Speed, "test", tc.scale, loop.Forever))
			var f loop.Frame
			var lost uint64
			for i, left := uint64(0), int64(365*day); left > 0; i++ {
				ns := min(next(i), left)
				left -= ns
				f = l.Advance(ns)
				lost += f.Dropped
			}
			for f.Backlog > 0 {
				f = l.Advance(0)
			}
			if f.Tick != tc.want || f.AlphaNum != 0 || f.AlphaRest != 0 || f.DroppedTotal != lost {
				t.Errorf("%v at %v, %s: %+v; want %d steps", tc.config.Policy, tc.scale, name, f, tc.want)
			}
			if lost > 0 && tc.config.Policy != loop.Realtime {
				t.Errorf("%v, %s: %d dropped", tc.config.Policy, name, lost)
			}
		}
	}
}

// Two hours on displays of several rates, each step taken in its frame.
func TestHoursOfFrames(t *testing.T) {
	for name, period := range map[string]int64{"60 Hz": 16_666_667, "59.94 Hz": 16_683_350, "144 Hz": 6_944_444, "30 Hz": 33_333_333} {
		l := mustNew(t, loop.Classic())
		var f loop.Frame
		for left := int64(day / 12); left > 0; left -= period {
			f = l.Advance(min(period, left))
		}
		if f.Tick != 2*3600*60 || f.AlphaNum != 0 || f.DroppedTotal != 0 || f.UINs != day/12 {
			t.Errorf("%s: %+v", name, f)
		}
	}
}

// A day of frames of 59.94 Hz display against 60000/1001 steps per second: 1001
// seconds make exactly 60000 steps.
func TestNTSC(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
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

func drawConfig(t *rapid.T) loop.Config {
	part := rapid.OneOf(rapid.Int64Range(1, 240), rapid.Int64Range(1, 1e8))
	den := rapid.OneOf(rapid.Just(int64(1)), rapid.Just(int64(1001)), part).Draw(t, "den")
	num := rapid.OneOf(rapid.SampledFrom([]int64{60, 64, 120, 60000}), part).Draw(t, "num")
	return loop.Config{
		RateNum:    min(num, 1e6*den),
		RateDen:    den,
		MaxSteps:   rapid.OneOf(rapid.IntRange(1, 8), rapid.IntRange(1, 1<<30)).Draw(t, "cap"),
		MaxDeltaNs: rapid.OneOf(rapid.Just(int64(250e6)), rapid.Int64Range(1, math.MaxInt64)).Draw(t, "clamp"),
		Policy:     loop.Policy(rapid.Uint8Range(0, uint8(loop.KeepAll)).Draw(t, "policy")),
	}
}

// drawRules adds all that a Config can say to one of drawConfig, or draws a
// preset.
func drawRules(t *rapid.T) loop.Config {
	if preset := rapid.IntRange(0, 9).Draw(t, "preset"); preset < 5 {
		c := []func() loop.Config{loop.Classic, loop.Arcade, loop.Modules, loop.Show, loop.Training}[preset]()
		if c.Batch {
			c.MaxDeltaNs = 250e6 // the default, which the oracle does not know
		}
		c.Phases = rapid.SampledFrom([]uint64{0, 0b101}).Draw(t, "phases")
		c.FreezeFrames = rapid.Bool().Draw(t, "freeze frames")
		return c
	}
	c := drawConfig(t)
	c.CapScales = rapid.Bool().Draw(t, "cap scales")
	c.ClipTime = rapid.Bool().Draw(t, "clip")
	bound := rapid.OneOf(rapid.Just(int64(0)), rapid.Int64Range(1, 1e9), rapid.Int64Range(1, math.MaxInt64))
	c.StallNs = bound.Draw(t, "stall")
	if c.MaxAccumNs = bound.Draw(t, "bound"); c.MaxAccumNs > 0 {
		c.MaxAccumNs = max(c.MaxAccumNs, (1e9*c.RateDen+c.RateNum-1)/c.RateNum)
	}
	c.Phases = rapid.OneOf(rapid.Just(uint64(0)), rapid.Uint64()).Draw(t, "phases")
	c.FreezeFrames = rapid.Bool().Draw(t, "freeze frames")
	c.Batch = rapid.IntRange(0, 9).Draw(t, "batch") == 0
	for i := range c.Channels {
		if !rapid.Bool().Draw(t, "bounded") {
			continue
		}
		low := rapid.IntRange(0, 100e6).Draw(t, "min")
		high := rapid.IntRange(max(1, low), 100e6).Draw(t, "max")
		rest := rapid.IntRange(max(1, low), high).Draw(t, "rest")
		c.Channels[i] = loop.ChannelConfig{Min: float64(low) / 1e6, Max: float64(high) / 1e6, Rest: float64(rest) / 1e6}
	}
	return c
}

// both is a Loop and its oracle, to which the same is done.
type both struct {
	*rapid.T
	l *loop.Loop
	o *oracle
}

var (
	times = rapid.OneOf(rapid.Int64Range(0, 40e6), rapid.Int64Range(0, 2e9), rapid.Int64Range(0, math.MaxInt64))
	signs = rapid.OneOf(times, times, times, rapid.Int64())
	chans = rapid.OneOf(rapid.Uint8Range(0, 2), rapid.Uint8Range(0, loop.MaxChannels-1))
	names = rapid.SampledFrom([]string{"hit", "boss"})
	scale = rapid.OneOf(rapid.SampledFrom([]int{0, 250_000, 500_000, 1_000_000, 2_000_000}), rapid.IntRange(0, 120e6))
)

func (b *both) advance() {
	ns := signs.Draw(b.T, "elapsed")
	if err := b.o.check(ns, b.l.Advance(ns)); err != nil {
		b.Fatalf("Advance(%d): %v", ns, err)
	}
}

func (b *both) advanceTo() {
	now := signs.Draw(b.T, "now")
	elapsed := new(big.Int).Sub(big.NewInt(now), b.o.last)
	b.o.last = big.NewInt(now)
	ns := int64(-1)
	if elapsed.Sign() >= 0 {
		ns = saturate(elapsed)
	}
	if err := b.o.check(ns, b.l.AdvanceTo(now)); err != nil {
		b.Fatalf("AdvanceTo(%d): %v", now, err)
	}
}

// drive runs the steps of a frame, of which one fails.
func (b *both) drive() {
	ns := times.Draw(b.T, "elapsed")
	runs := rapid.IntRange(0, 3).Draw(b.T, "steps that succeed")
	left := runs
	f, _ := b.l.Drive(ns, func(uint64) error {
		if left--; left < 0 {
			return errStep
		}
		return nil
	})
	if err := b.o.check(ns, f); err != nil {
		b.Fatalf("Drive(%d): %v", ns, err)
	}
	b.o.putBack(int64(max(0, f.Steps-runs)))
}

func (b *both) setScale() {
	ch, owner := loop.Channel(chans.Draw(b.T, "channel")), names.Draw(b.T, "owner")
	value := float64(scale.Draw(b.T, "millionths")) / 1e6
	forNs := rapid.OneOf(rapid.Just(int64(loop.Forever)), times).Draw(b.T, "for")
	b.accepted(b.l.SetScale(ch, owner, value, forNs), b.o.setScale(ch, owner, value, forNs))
	if got, want := b.l.Scale(ch), float64(b.o.channels[ch].value)/1e6; got != want {
		b.Fatalf("Scale(%v) = %v, want %v", ch, got, want)
	}
}

func (b *both) releaseScale() {
	ch, owner := loop.Channel(chans.Draw(b.T, "channel")), names.Draw(b.T, "owner")
	b.accepted(b.l.ReleaseScale(ch, owner), b.o.releaseScale(ch, owner))
}

func (b *both) accepted(err error, want bool) {
	if want && err != nil || !want && !errors.Is(err, loop.ErrHeld) {
		b.Fatalf("error %v, accepted by the oracle: %v", err, want)
	}
}

func (b *both) freeze() {
	ns := rapid.OneOf(rapid.Just(int64(0)), times).Draw(b.T, "freeze")
	if err := b.l.Freeze(ns); err != nil {
		b.Fatal(err)
	}
	b.o.freeze(ns)
	left := big.NewInt(b.o.frames)
	if b.o.thawAt != nil {
		left.Sub(b.o.thawAt, b.o.now)
	}
	if got := b.l.Frozen(); big.NewInt(got).Cmp(left) != 0 {
		b.Fatalf("Frozen = %d, want %v", got, left)
	}
}

func (b *both) startTimer() {
	id := loop.TimerID(rapid.Uint8Range(0, loop.MaxTimers-1).Draw(b.T, "timer"))
	ui := rapid.Bool().Draw(b.T, "UI")
	ns := times.Draw(b.T, "timer's time")
	clock, now := loop.Wall, b.o.wall
	if ui {
		clock, now = loop.UI, b.o.ui
	}
	if err := b.l.StartTimer(id, clock, ns); err != nil || b.l.TimerLeft(id) != ns {
		b.Fatalf("StartTimer: %v; %d left of %d", err, b.l.TimerLeft(id), ns)
	}
	b.o.timers[id] = oracleTimer{ui: ui}
	if ns > 0 {
		b.o.timers[id].until = after(now, ns)
	}
}

func (b *both) pause() {
	on := rapid.Bool().Draw(b.T, "pause")
	b.l.SetPaused(on)
	b.o.paused, b.o.stepsLeft = on, -1
}

func (b *both) runThenPause() {
	n := rapid.Uint64Range(0, 12).Draw(b.T, "then pause")
	b.l.RunThenPause(n)
	b.o.paused, b.o.stepsLeft = false, int64(n)
}

func (b *both) setMenu() {
	b.o.menu = rapid.Bool().Draw(b.T, "menu")
	b.l.SetMenu(b.o.menu)
}

func (b *both) setPhase() {
	b.o.phase = rapid.Uint8Range(0, 63).Draw(b.T, "phase")
	if err := b.l.SetPhase(b.o.phase); err != nil || b.l.Phase() != b.o.phase {
		b.Fatalf("Phase %d after SetPhase(%d): %v", b.l.Phase(), b.o.phase, err)
	}
}

func (b *both) reset() {
	if rapid.IntRange(0, 3).Draw(b.T, "reset") == 0 {
		b.l.StartNew()
		b.o.startNew()
	} else {
		b.l.ResetTiming()
		b.o.resetTiming()
	}
}

// Ten times the usual number of cases: there is much that can meet.
func TestLoopAgainstRationals(t *testing.T) {
	for range 10 {
		rapid.Check(t, checkLoop)
	}
}

func checkLoop(t *rapid.T) {
	c := drawRules(t)
	l, err := loop.New(c)
	if err != nil {
		t.Fatal(err)
	}
	if want, _ := big.NewRat(c.RateDen, c.RateNum).Float32(); l.Dt() != want {
		t.Fatalf("Dt = %v, want %v", l.Dt(), want)
	}
	b := &both{t, l, newOracle(c)}
	actions := []func(){
		b.setScale, b.setScale, b.releaseScale, b.freeze, b.startTimer, b.pause, b.runThenPause,
		b.setMenu, b.setPhase, b.reset, b.drive, b.advanceTo,
	}
	for range rapid.IntRange(1, 60).Draw(t, "actions") {
		if i := rapid.IntRange(0, 2*len(actions)).Draw(t, "action"); i < len(actions) {
			actions[i]()
		} else {
			b.advance()
		}
		b.checkUntilNext()
	}
}

// checkUntilNext looks at a copy: after UntilNext there is a step, and a
// nanosecond before there is none.
func (b *both) checkUntilNext() {
	wait := b.l.UntilNext()
	early := *b.l
	if early != *b.l {
		b.Fatal("a copy is not equal")
	}
	longest := int64(math.MaxInt64)
	if c := b.o.config; !c.Batch {
		if c.ClipTime {
			longest = c.MaxDeltaNs
		}
		if c.StallNs > 0 {
			longest = min(longest, c.StallNs)
		}
	}
	if wait == math.MaxInt64 {
		if f := early.Advance(min(longest, math.MaxInt64-1)); f.Steps != 0 {
			b.Fatalf("%d steps although UntilNext sees none", f.Steps)
		}
		return
	}
	if b.o.config.Policy == loop.SlowMotion {
		longest = min(longest, 1<<62) // the pace rises from frame to frame
	}
	for wait > longest && wait/longest < 100 && b.o.config.Policy != loop.SlowMotion {
		if f := early.Advance(longest); f.Steps != 0 {
			b.Fatalf("%d steps %d ns before UntilNext", f.Steps, wait-longest)
		}
		wait -= longest
	}
	if wait > longest {
		return
	}
	if late := early; wait > 0 {
		if f := late.Advance(wait - 1); f.Steps != 0 {
			b.Fatalf("%d steps 1 ns before UntilNext = %d", f.Steps, wait)
		}
	}
	if f := early.Advance(wait); f.Steps == 0 {
		b.Fatalf("no step after UntilNext = %d: %+v", wait, f)
	}
}

func TestAdvanceAgainstRationals(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawConfig(t)
		l, err := loop.New(c)
		if err != nil {
			t.Fatal(err)
		}
		o := newOracle(c)
		for i, ns := range rapid.SliceOfN(signs, 1, 60).Draw(t, "deltas") {
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

// FuzzLoop lets the fuzzer draw what TestLoopAgainstRationals draws.
func FuzzLoop(f *testing.F) { f.Fuzz(rapid.MakeFuzz(checkLoop)) }

func TestNothingAllocates(t *testing.T) {
	c := loop.Arcade()
	c.Policy, c.Phases = loop.SlowMotion, 3
	l := mustNew(t, c)
	n := testing.AllocsPerRun(1000, func() {
		_ = l.SetScale(loop.Dilation, "boss", 0.3, 20*ms)
		_ = l.SetScale(loop.Juice, "hit", 0.5, loop.Forever)
		_ = l.Freeze(3 * ms)
		_ = l.StartTimer(2, loop.UI, 5*ms)
		_ = l.SetPhase(1)
		l.Advance(17_000_003)
		l.SetPaused(true)
		l.AdvanceTo(5)
		l.RunThenPause(1)
		l.Advance(33 * ms)
		l.SetMenu(true)
		l.Advance(1)
		l.SetMenu(false)
		l.SetPaused(false)
		_ = l.ReleaseScale(loop.Juice, "hit")
		l.UntilNext()
		l.ResetTiming()
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// A copy goes its own way.
func TestCopyIsAFork(t *testing.T) {
	l := mustNew(t, loop.Arcade())
	l.Advance(10 * ms)
	must(t, l.SetScale(loop.Speed, "test", 2, 50*ms))
	fork := *l
	if fork != *l {
		t.Fatal("a copy is not equal")
	}
	a := l.Advance(20 * ms)
	must(t, fork.Freeze(5*ms))
	must(t, fork.ReleaseScale(loop.Speed, "test"))
	fork.SetPaused(true)
	fork.Advance(100 * ms)
	again := l.Advance(20 * ms)
	if a.Steps != 3 || again.Steps != 2 || l.Scale(loop.Speed) != 2 || fork.Tick() != 0 || l.Tick() != 5 {
		t.Errorf("%+v\n%+v\nfork at %d", a, again, fork.Tick())
	}
}

func TestRate(t *testing.T) {
	for _, tc := range [][4]int64{{60, 1, 60, 1}, {120000, 2002, 60000, 1001}, {1, 1e8, 1, 1e8}, {1e8, 100, 1e6, 1}} {
		l := mustNew(t, loop.Config{RateNum: tc[0], RateDen: tc[1]})
		if num, den := l.Rate(); num != tc[2] || den != tc[3] {
			t.Errorf("%v: %d/%d", tc, num, den)
		}
	}
}

// SimNs adds up to the time of Tick.
func TestSimNsAddsUp(t *testing.T) {
	l := mustNew(t, loop.Config{RateNum: 60000, RateDen: 1001})
	var sum int64
	for i := range int64(1000) {
		f := l.Advance(5*ms + i*12345)
		sum += f.SimNs
		if want := int64(f.Tick) * 1001 * 1e9 / 60000; sum != want {
			t.Fatalf("tick %d: %d ns, want %d", f.Tick, sum, want)
		}
	}
	// One step of three years, 300 times: more than an int64 holds.
	slow := mustNew(t, loop.Config{RateNum: 1, RateDen: 1e8, MaxSteps: 300, Batch: true})
	if f := slow.Advance(0); f.SimNs != math.MaxInt64 {
		t.Errorf("SimNs = %d", f.SimNs)
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

// Dt is the float32 nearest to the duration of a step, for parts of the rate of any size.
func TestDtIsNearest(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 5))
	for range 100_000 {
		c := loop.Config{RateNum: 1 + r.Int64N(1<<r.IntN(27)), RateDen: 1 + r.Int64N(1<<r.IntN(27))}
		if c.RateNum > 1_000_000*c.RateDen || c.RateNum > 100_000_000 || c.RateDen > 100_000_000 {
			continue
		}
		l, err := loop.New(c)
		if err != nil {
			continue // a step is too long
		}
		if want, _ := big.NewRat(c.RateDen, c.RateNum).Float32(); l.Dt() != want {
			t.Fatalf("%d/%d: Dt = %v, want %v", c.RateNum, c.RateDen, l.Dt(), want)
		}
	}
}
