package loop_test

import (
	"errors"
	"math"
	"testing"

	"github.com/evertick/evertick/loop"
)

const ms = 1_000_000 // nanoseconds

// The constants of each preset, as they are documented.
func TestPresets(t *testing.T) {
	arcade := loop.Config{
		RateNum: 60, RateDen: 1, MaxSteps: 4, CapScales: true, MaxDeltaNs: 33 * ms, ClipTime: true,
		StallNs: 200 * ms, MaxAccumNs: 250 * ms, Policy: loop.DropAll,
	}
	arcade.Channels[loop.Juice] = loop.ChannelConfig{Min: 0.1, Max: 1, Rest: 1}
	for _, tc := range []struct {
		name      string
		got, want loop.Config
	}{
		{"Classic", loop.Classic(), loop.Config{RateNum: 60, RateDen: 1, MaxSteps: 5, MaxDeltaNs: 250 * ms, Policy: loop.DropToCap}},
		{"Arcade", loop.Arcade(), arcade},
		{"Modules", loop.Modules(), loop.Config{RateNum: 60, RateDen: 1, MaxSteps: 5, MaxDeltaNs: 250 * ms, Policy: loop.DropToCap}},
		{"Show", loop.Show(), loop.Config{RateNum: 120, RateDen: 1, MaxSteps: 30, MaxDeltaNs: 250 * ms, Policy: loop.DropToCap}},
		{"Training", loop.Training(), loop.Config{RateNum: 120, RateDen: 1, MaxSteps: 1, Batch: true}},
	} {
		if tc.got != tc.want {
			t.Errorf("%s:\n got %+v\nwant %+v", tc.name, tc.got, tc.want)
		}
		if err := tc.got.Validate(); err != nil {
			t.Errorf("%s: %v", tc.name, err)
		}
	}
	if show, training := mustNew(t, loop.Show()), mustNew(t, loop.Training()); show.Dt() != training.Dt() || show.Dt() != float32(1)/120 {
		t.Errorf("a step of Show is %v s, of Training %v s; want 1/120 s", show.Dt(), training.Dt())
	}
}

// The zero Config is Classic, frame by frame.
func TestZeroConfigIsClassic(t *testing.T) {
	zero, classic := mustNew(t, loop.Config{}), mustNew(t, loop.Classic())
	if *zero != *classic {
		t.Error("the Loops differ")
	}
}

// frame is what a table expects of one.
type frame struct {
	elapsed  int64
	steps    int
	alphaNum uint64
	dropped  uint64 // total, whole steps
	raw      int64
	capHit   bool
	stalled  bool
}

func checkFrames(t *testing.T, name string, l *loop.Loop, frames []frame) {
	t.Helper()
	for i, want := range frames {
		f := l.Advance(want.elapsed)
		got := frame{want.elapsed, f.Steps, f.AlphaNum, f.DroppedTotal, f.RawNs, f.CapHit, f.Stalled}
		if got != want || f.AlphaRest != 0 || f.Backlog != 0 {
			t.Errorf("%s: frame %d\n got %+v (%+v)\nwant %+v", name, i, got, f, want)
		}
	}
}

func TestClassic(t *testing.T) {
	checkFrames(t, "a step is 1/60 s, 50 ms are three", mustNew(t, loop.Classic()), []frame{
		{elapsed: 16_666_666, alphaNum: 999_999_960, raw: 16_666_666},
		{elapsed: 1, steps: 1, alphaNum: 20, raw: 1},
		{elapsed: 33_333_333, steps: 2, alphaNum: 0, raw: 33_333_333},
	})
	checkFrames(t, "cap of 5", mustNew(t, loop.Classic()), []frame{
		{elapsed: 99 * ms, steps: 5, alphaNum: 940_000_000, raw: 99 * ms},
		{elapsed: 84 * ms, steps: 5, alphaNum: 980_000_000, raw: 84 * ms},
		{elapsed: 84 * ms, steps: 5, alphaNum: 20_000_000, dropped: 1, raw: 84 * ms, capHit: true},
	})
	checkFrames(t, "clamp at 0.25 s", mustNew(t, loop.Classic()), []frame{
		{elapsed: 250 * ms, steps: 5, dropped: 10, raw: 250 * ms, capHit: true},
		{elapsed: 3600 * 1000 * ms, steps: 5, dropped: 10 + 3600*60 - 5, raw: 250 * ms, capHit: true},
	})
}

func TestArcade(t *testing.T) {
	checkFrames(t, "raw is at most 33 ms, and what is cut off is not made up for", mustNew(t, loop.Arcade()), []frame{
		{elapsed: 33 * ms, steps: 1, alphaNum: 980_000_000, raw: 33 * ms},
		{elapsed: 200 * ms, steps: 2, alphaNum: 960_000_000, raw: 33 * ms},
		{elapsed: 5 * ms, steps: 1, alphaNum: 260_000_000, raw: 5 * ms},
	})
	checkFrames(t, "0.2 s is no stall, one nanosecond more is", mustNew(t, loop.Arcade()), []frame{
		{elapsed: 15 * ms, alphaNum: 900_000_000, raw: 15 * ms},
		{elapsed: 200*ms + 1, dropped: 12, stalled: true}, // 12 + 0.9 steps and a bit
		{elapsed: 16_666_667, steps: 1, alphaNum: 20, dropped: 12, raw: 16_666_667},
	})
}

// arcade returns a Loop at a speed.
func arcade(t *testing.T, speed float64) *loop.Loop {
	t.Helper()
	l := mustNew(t, loop.Arcade())
	if err := l.SetScale(loop.Speed, "test", speed, loop.Forever); err != nil {
		t.Fatal(err)
	}
	return l
}

func TestArcadeCap(t *testing.T) {
	for _, tc := range []struct {
		speed    float64
		elapsed  int64
		steps    int
		capHit   bool
		alphaNum uint64
	}{
		{1, 33 * ms, 1, false, 980_000_000},
		{0.5, 33 * ms, 0, false, 990_000_000}, // the cap does not fall below 4
		{2, 33 * ms, 3, false, 960_000_000},
		// 0.25 s of simulated time are 15 steps: the bound, then the cap.
		{3, 33 * ms, 5, false, 940_000_000}, // cap 12
		{7.6, 33 * ms, 15, false, 0},        // 15.048 steps, bounded to 15; cap ceil(30.4)
		{100, 33 * ms, 15, false, 0},        // cap 400
	} {
		f := arcade(t, tc.speed).Advance(tc.elapsed)
		if f.Steps != tc.steps || f.CapHit != tc.capHit || f.AlphaNum != tc.alphaNum {
			t.Errorf("speed %v: %+v; want %d steps, cap hit: %v, alpha %d", tc.speed, f, tc.steps, tc.capHit, tc.alphaNum)
		}
	}
}

// When the cap is hit with a step still due, the accumulator drains to zero;
// with exactly the cap due, it does not.
func TestArcadeDrains(t *testing.T) {
	c := loop.Arcade()
	c.MaxDeltaNs = 150 * ms
	for _, tc := range []struct {
		speed    float64
		elapsed  int64
		steps    int
		capHit   bool
		alphaNum uint64
	}{
		{1, 80 * ms, 4, false, 800_000_000},     // 4.8 steps
		{1, 84 * ms, 4, true, 0},                // 5.04: one still due, and all goes
		{1.01, 100 * ms, 5, true, 0},            // 6.06; cap ceil(4.04) = 5
		{1.01, 83 * ms, 5, false, 29_800_000},   // 5.0298
		{1.25, 81 * ms, 5, true, 0},             // 6.075; cap exactly 5
		{1.250_001, 80 * ms, 6, false, 4_800},   // cap ceil(5.000004) = 6
		{1.25, 66_666_667, 5, false, 25},        // 5 and a bit
		{0.25, 150 * ms, 2, false, 250_000_000}, // 2.25
	} {
		l := mustNew(t, c)
		if err := l.SetScale(loop.Speed, "test", tc.speed, loop.Forever); err != nil {
			t.Fatal(err)
		}
		f := l.Advance(tc.elapsed)
		if f.Steps != tc.steps || f.CapHit != tc.capHit || f.AlphaNum != tc.alphaNum {
			t.Errorf("speed %v, %d ms: %+v; want %d steps, cap hit: %v, alpha %d",
				tc.speed, tc.elapsed/ms, f, tc.steps, tc.capHit, tc.alphaNum)
		}
		if gone := f.DroppedTotal > 0 || f.DroppedNum > 0; gone != tc.capHit {
			t.Errorf("speed %v: dropped %d + %d", tc.speed, f.DroppedTotal, f.DroppedNum)
		}
	}
}

// The scale is the product of the three channels, Juice from 0.1 to 1.
func TestArcadeScale(t *testing.T) {
	for _, tc := range []struct {
		dilation, speed, juice float64
		want                   uint64
	}{
		{1, 1, 1, 1_000_000},
		{0.5, 2, 1, 1_000_000},
		{0.5, 1, 0.5, 250_000},
		{1, 1, 0, 100_000},
		{1, 1, 0.099, 100_000},
		{1, 1, 7, 1_000_000},
		{0, 3, 1, 0},
	} {
		l := mustNew(t, loop.Arcade())
		for ch, value := range []float64{tc.dilation, tc.speed, tc.juice} {
			if err := l.SetScale(loop.Channel(ch), "test", value, loop.Forever); err != nil {
				t.Fatal(err)
			}
		}
		if f := l.Advance(0); f.ScaleMillionths != tc.want {
			t.Errorf("%v: scale %d", tc, f.ScaleMillionths)
		}
	}
}

// A hit-freeze lasts its wall time to the nanosecond, whatever the frames;
// timers go on, and dilation returns to the multiplier of the test run.
func TestArcadeHitFreeze(t *testing.T) {
	const invert = loop.TimerID(3)
	for _, rest := range []float64{0, 0.5} { // 0: 1
		for _, cut := range []int64{1 * ms, 7 * ms, 16_666_667, 25 * ms, 33 * ms} {
			c := loop.Arcade()
			c.Channels[loop.Dilation].Rest = rest
			l := mustNew(t, c)
			if err := l.SetScale(loop.Dilation, "bullet time", 0.2, loop.Forever); err != nil {
				t.Fatal(err)
			}
			if err := l.Freeze(80 * ms); err != nil {
				t.Fatal(err)
			}
			if err := l.StartTimer(invert, loop.UI, 50*ms); err != nil {
				t.Fatal(err)
			}
			var alpha, steps, inverted uint64
			for at := int64(0); at < 100*ms; {
				ns := min(cut, 100*ms-at)
				at += ns
				f := l.Advance(ns)
				steps += uint64(f.Steps)
				if f.Frozen != (at < 80*ms) || f.Frozen && (f.Steps != 0 || f.AlphaNum != 0) {
					t.Fatalf("frames of %d ns, at %d: %+v", cut, at, f)
				}
				if f.Timers != 0 {
					if f.Timers != 1<<invert || at < 50*ms || at-ns >= 50*ms {
						t.Errorf("frames of %d ns, at %d: timers %b", cut, at, f.Timers)
					}
					inverted++
				}
				if f.UINs != uint64(at) || f.WallNs != uint64(at) {
					t.Errorf("at %d: UI %d, wall %d", at, f.UINs, f.WallNs)
				}
				alpha = f.AlphaNum
			}
			// 20 ms are left at the scale to which dilation returned.
			want := uint64(20 * ms * 60)
			if rest == 0.5 {
				want /= 2
			}
			if got := steps*1e9 + alpha; got != want || inverted != 1 {
				t.Errorf("frames of %d ns, rest %v: %d units, want %d; inverted %d times", cut, rest, got, want, inverted)
			}
		}
	}
}

// The part of a frame that is counted is its end, so a freeze that ended in the
// part that was cut off holds nothing back.
func TestArcadeFreezeInALongFrame(t *testing.T) {
	for _, tc := range []struct {
		freeze int64
		units  uint64
	}{
		{60 * ms, 33 * ms * 60}, // over before the last 33 ms of 100 ms
		{80 * ms, 20 * ms * 60},
		{100 * ms, 0},
		{120 * ms, 0},
	} {
		l := mustNew(t, loop.Arcade())
		if err := l.Freeze(tc.freeze); err != nil {
			t.Fatal(err)
		}
		f := l.Advance(100 * ms)
		if got := uint64(f.Steps)*1e9 + f.AlphaNum; got != tc.units || l.Frozen() != max(0, tc.freeze-100*ms) {
			t.Errorf("freeze of %d ms: %+v, %d left", tc.freeze/ms, f, l.Frozen())
		}
	}
}

func TestArcadeMenu(t *testing.T) {
	l := mustNew(t, loop.Arcade())
	l.Advance(10 * ms)
	must(t, l.Freeze(30*ms))
	must(t, l.SetScale(loop.Speed, "test", 2, 40*ms))
	must(t, l.StartTimer(0, loop.UI, 20*ms))
	must(t, l.StartTimer(1, loop.Wall, 500*ms))
	l.SetMenu(true)
	for _, ns := range []int64{16 * ms, 400 * ms} { // 0.4 s are no stall in a menu
		f := l.Advance(ns)
		if !f.Menu || f.Stalled || f.Steps != 0 || f.AlphaNum != 600_000_000 || f.UINs != 10*ms || f.RawNs != 0 || f.Timers != 0 {
			t.Errorf("in the menu: %+v", f)
		}
	}
	if l.Frozen() != 30*ms || l.TimerLeft(0) != 20*ms || l.TimerLeft(1) != 84*ms || l.Scale(loop.Speed) != 2 {
		t.Errorf("frozen %d, timers %d and %d, speed %v", l.Frozen(), l.TimerLeft(0), l.TimerLeft(1), l.Scale(loop.Speed))
	}
	l.SetMenu(false)
	l.Advance(30 * ms)                                                      // the freeze
	if f := l.Advance(12 * ms); f.Steps != 1 || f.AlphaNum != 920_000_000 { // 10 ms at 2, 2 ms at 1
		t.Errorf("after the menu: %+v", f)
	}
}

// A pause keeps what has accumulated; resuming starts from there and not from
// the time that passed meanwhile.
func TestArcadePause(t *testing.T) {
	l := mustNew(t, loop.Arcade())
	l.Advance(10 * ms)
	must(t, l.StartTimer(0, loop.UI, 40*ms))
	l.SetPaused(true)
	timers := uint16(0)
	for range 100 {
		f := l.Advance(33 * ms)
		if f.Steps != 0 || f.AlphaNum != 600_000_000 || !f.Paused {
			t.Fatalf("paused: %+v", f)
		}
		timers |= f.Timers
	}
	if timers != 1 {
		t.Error("the UI timer stood still")
	}
	l.SetPaused(false)
	if f := l.Advance(7 * ms); f.Steps != 1 || f.AlphaNum != 20_000_000 || f.Paused || f.UINs != 3317*ms {
		t.Errorf("resumed: %+v", f)
	}
}

func TestArcadePhases(t *testing.T) {
	const intro, play, results = 0, 1, 2
	c := loop.Arcade()
	c.Phases = 1 << play
	l := mustNew(t, c)
	for _, tc := range []struct {
		phase uint8
		steps int
	}{{intro, 0}, {play, 1}, {results, 0}, {play, 1}, {63, 0}} {
		must(t, l.SetPhase(tc.phase))
		if f := l.Advance(16_666_667); f.Steps != tc.steps || f.Gated != (tc.steps == 0) || f.Paused {
			t.Errorf("phase %d: %+v", tc.phase, f)
		}
	}
	// Without a mask every phase runs.
	l = mustNew(t, loop.Arcade())
	must(t, l.SetPhase(63))
	if f := l.Advance(16_666_667); f.Steps != 1 || f.Gated {
		t.Errorf("no mask: %+v", f)
	}
}

// Run makes frames while time stands, so that UI time and timers go on and
// somebody can end the pause.
func TestRunGoesOnInAPause(t *testing.T) {
	l, clock := mustNew(t, loop.Arcade()), &loop.ManualClock{Jump: true}
	must(t, l.StartTimer(0, loop.UI, 100*ms))
	l.SetPaused(true)
	err := l.Run(t.Context(), clock, failAt(0), func(f loop.Frame) {
		if f.ElapsedNs > 16_666_667 || f.Tick != 0 {
			t.Fatalf("%+v", f)
		}
		if f.Timers != 0 {
			l.SetPaused(false)
		}
	})
	if !errors.Is(err, errStep) || clock.Now() < 100*ms+16_666_666 || clock.Now() > 140*ms {
		t.Errorf("%v at %d ns", err, clock.Now())
	}
}

// In slow motion the next step is farther off than the clamp, and one step of a
// slow loop is longer than a stall: Run loses no time to either.
func TestRunLosesNothing(t *testing.T) {
	slow := loop.Arcade()
	slow.RateNum, slow.RateDen, slow.MaxAccumNs = 1, 3, 4000*ms
	for name, tc := range map[string]struct {
		config loop.Config
		speed  float64
		due    int64
	}{
		"slow motion":     {loop.Arcade(), 0.01, 16_666_666_667},
		"slow loop":       {slow, 1, 30_000 * ms},
		"slow everything": {slow, 0.125, 240_000 * ms},
	} {
		l, clock := mustNew(t, tc.config), &loop.ManualClock{Jump: true}
		must(t, l.SetScale(loop.Speed, "test", tc.speed, loop.Forever))
		err := l.Run(t.Context(), clock, failAt(9), func(f loop.Frame) {
			if f.Clamped || f.Stalled || f.DroppedTotal != 0 {
				t.Fatalf("%s: %+v", name, f)
			}
		})
		if !errors.Is(err, errStep) || clock.Now() != tc.due {
			t.Errorf("%s: %v at %d ns, want %d", name, err, clock.Now(), tc.due)
		}
	}
}

// After a reset the next time is measured against zero.
func TestArcadeResets(t *testing.T) {
	const start = 1_000_000 * ms
	l := mustNew(t, loop.Arcade())
	reset := map[string]func(){"New": func() {}, "ResetTiming": l.ResetTiming, "StartNew": l.StartNew}
	for _, name := range []string{"New", "ResetTiming", "StartNew"} {
		reset[name]()
		if f := l.AdvanceTo(start); !f.Stalled || f.Steps != 0 || f.AlphaNum != 0 {
			t.Errorf("first time after %s: %+v", name, f)
		}
		if f := l.AdvanceTo(start + 20*ms); f.Stalled || f.Steps != 1 || f.ElapsedNs != 20*ms {
			t.Errorf("second time after %s: %+v", name, f)
		}
		reset[name]()
		if name == "New" {
			continue
		}
		if f := l.AdvanceTo(20 * ms); f.Stalled || f.Steps != 1 || f.AlphaNum != 200_000_000 {
			t.Errorf("a small time after %s: %+v", name, f)
		}
	}
}

func TestResetTimingKeepsTheRest(t *testing.T) {
	l := arcade(t, 2)
	l.Advance(20 * ms)
	must(t, l.Freeze(10*ms))
	l.SetPaused(true)
	l.ResetTiming()
	f := l.Advance(1)
	if f.Tick != 2 || f.AlphaNum != 0 || f.DroppedNum != 400_000_000 || !f.Paused || !f.Frozen || f.ScaleMillionths != 2_000_000 {
		t.Errorf("%+v", f)
	}
}

func TestStartNewIsNew(t *testing.T) {
	c := loop.Arcade()
	c.Phases, c.Policy = 5, loop.SlowMotion
	l, fresh := mustNew(t, c), mustNew(t, c)
	must(t, l.SetScale(loop.Speed, "test", 50, loop.Forever))
	l.AdvanceTo(33 * ms)
	must(t, l.Freeze(10*ms))
	must(t, l.SetPhase(2))
	must(t, l.StartTimer(3, loop.UI, 5))
	l.RunThenPause(3)
	l.SetMenu(true)
	l.Advance(-1)
	if *l == *fresh {
		t.Fatal("nothing has changed")
	}
	if l.StartNew(); *l != *fresh {
		t.Errorf("%+v\nis not\n%+v", *l, *fresh)
	}
}

func TestShow(t *testing.T) {
	checkFrames(t, "1/120 s, clamp at 0.25 s, 30 steps", mustNew(t, loop.Show()), []frame{
		{elapsed: 8_333_333, alphaNum: 999_999_960, raw: 8_333_333},
		{elapsed: 1, steps: 1, alphaNum: 80, raw: 1},
		{elapsed: 250 * ms, steps: 30, alphaNum: 80, raw: 250 * ms},
		{elapsed: 10_000 * ms, steps: 30, alphaNum: 80, dropped: 1170, raw: 250 * ms},
	})
}

func TestModules(t *testing.T) {
	checkFrames(t, "60 Hz, at most 5", mustNew(t, loop.Modules()), []frame{
		{elapsed: 16_666_667, steps: 1, alphaNum: 20, raw: 16_666_667},
		{elapsed: 100 * ms, steps: 5, alphaNum: 20, dropped: 1, raw: 100 * ms, capHit: true},
	})
}

// A trainer steps without a clock: time is only written down.
func TestTraining(t *testing.T) {
	for _, steps := range []int{1, 7} {
		c := loop.Training()
		c.MaxSteps = steps
		l := mustNew(t, c)
		wall := uint64(0)
		for i, ns := range []int64{0, 0, 5, 1e18, -3, math.MaxInt64} {
			f := l.Advance(ns)
			wall += uint64(max(0, ns))
			if f.Steps != steps || f.Tick != uint64((i+1)*steps) || f.Alpha != 0 || f.DroppedTotal != 0 || f.Backlog != 0 {
				t.Errorf("frame %d: %+v", i, f)
			}
			if f.WallNs != wall || f.UINs != 0 || f.RawNs != 0 || l.UntilNext() != 0 {
				t.Errorf("frame %d: %+v, UntilNext %d", i, f, l.UntilNext())
			}
		}
		must(t, l.Freeze(1e15)) // is about time, and there is none
		must(t, l.SetScale(loop.Speed, "test", 0, loop.Forever))
		if f := l.Advance(0); f.Steps != steps {
			t.Errorf("frozen: %+v", f)
		}
		l.SetPaused(true)
		if f := l.Advance(0); f.Steps != 0 || !f.Paused {
			t.Errorf("paused: %+v", f)
		}
		l.RunThenPause(1)
		if a, b := l.Advance(0), l.Advance(0); a.Steps != 1 || !a.Paused || b.Steps != 0 || a.Backlog != 0 {
			t.Errorf("one step: %+v, then %+v", a, b)
		}
	}
}

func must(t testing.TB, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}
