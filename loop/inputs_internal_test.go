package loop

import (
	"errors"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// input is an exported method of Loop that changes what later frames are.
type input struct {
	name string
	// draw returns a call of it with drawn arguments. The call returns the
	// frames that it made.
	draw func(t *rapid.T) func(*Loop) []Frame
}

// setter makes the draw of an input that makes no frame. Whether the arguments
// are valid is left to chance.
func setter(draw func(t *rapid.T) func(*Loop)) func(*rapid.T) func(*Loop) []Frame {
	return func(t *rapid.T) func(*Loop) []Frame {
		call := draw(t)
		return func(l *Loop) []Frame { call(l); return nil }
	}
}

// drawElapsed draws the time of a frame: mostly one of a display.
func drawElapsed(t *rapid.T) int64 {
	switch rapid.IntRange(0, 9).Draw(t, "kind of frame") {
	case 0:
		return rapid.Int64().Draw(t, "any elapsed")
	case 1:
		return rapid.Int64Range(-10, 2e9).Draw(t, "elapsed")
	}
	return nsPerSecond/60 + rapid.Int64Range(-300_000, 300_000).Draw(t, "jitter")
}

func drawOwner(t *rapid.T) string {
	return rapid.SampledFrom([]string{"", "a", "hit"}).Draw(t, "owner")
}

func drawChannel(t *rapid.T) Channel {
	return Channel(rapid.IntRange(0, MaxChannels).Draw(t, "channel"))
}

// frames lists the inputs that pass time.
var frames = []input{
	{"Advance", func(t *rapid.T) func(*Loop) []Frame {
		ns := drawElapsed(t)
		return func(l *Loop) []Frame { return []Frame{l.Advance(ns)} }
	}},
	{"AdvanceTo", func(t *rapid.T) func(*Loop) []Frame {
		ns := drawElapsed(t)
		return func(l *Loop) []Frame { return []Frame{l.AdvanceTo(l.last + ns)} }
	}},
	{"Drive", func(t *rapid.T) func(*Loop) []Frame {
		ns := drawElapsed(t)
		good := rapid.IntRange(0, 9).Draw(t, "steps that succeed")
		end := rapid.SampledFrom([]any{errStep, ErrStop, "a panic"}).Draw(t, "and then")
		middle := setters[rapid.IntRange(0, len(setters)-1).Draw(t, "input of a step")]
		between := middle.draw(t)
		return func(l *Loop) (list []Frame) {
			ahead := l.Fork()
			list = []Frame{ahead.Advance(ns)} // known even if a panic passes
			defer func() { _ = recover() }()
			n := 0
			_, _ = l.Drive(ns, func(uint64) error {
				if n == 0 {
					between(l)
				}
				if n++; n <= good {
					return nil
				}
				if err, ok := end.(error); ok {
					return err
				}
				panic(end)
			})
			return list
		}
	}},
}

var errStep = errors.New("the step failed")

// shown is Advance by each of some frames of a display.
var shown = input{"Advance", func(t *rapid.T) func(*Loop) []Frame {
	hz := rapid.SampledFrom([]float64{60, 60.1, 120, 30, 144}).Draw(t, "hz")
	scatter := rapid.SampledFrom([]int64{0, 100_000, 2_000_000}).Draw(t, "scatter")
	n := rapid.IntRange(1, 60).Draw(t, "frames shown")
	raw := display(hz, n, scatter, rapid.Uint64().Draw(t, "seed"), nil)
	return func(l *Loop) (list []Frame) {
		for _, ns := range raw {
			list = append(list, l.Advance(ns))
		}
		return list
	}
}}

// setters lists the others.
var setters = []input{
	{"StartNew", setter(func(*rapid.T) func(*Loop) { return (*Loop).StartNew })},
	{"ResetTiming", setter(func(*rapid.T) func(*Loop) { return (*Loop).ResetTiming })},
	{"Resume", setter(func(*rapid.T) func(*Loop) { return (*Loop).Resume })},
	{"SetPaused", setter(func(t *rapid.T) func(*Loop) {
		on := rapid.Bool().Draw(t, "paused")
		return func(l *Loop) { l.SetPaused(on) }
	})},
	{"RunThenPause", setter(func(t *rapid.T) func(*Loop) {
		n := rapid.Uint64Range(0, 20).Draw(t, "steps until the pause")
		return func(l *Loop) { l.RunThenPause(n) }
	})},
	{"SetMenu", setter(func(t *rapid.T) func(*Loop) {
		on := rapid.Bool().Draw(t, "menu")
		return func(l *Loop) { l.SetMenu(on) }
	})},
	{"SetPhase", setter(func(t *rapid.T) func(*Loop) {
		phase := rapid.Uint8Range(0, 70).Draw(t, "phase")
		return func(l *Loop) { _ = l.SetPhase(phase) }
	})},
	{"Freeze", setter(func(t *rapid.T) func(*Loop) {
		ns := rapid.Int64Range(-1, 100e6).Draw(t, "freeze")
		return func(l *Loop) { _ = l.Freeze(ns) }
	})},
	{"StartTimer", setter(func(t *rapid.T) func(*Loop) {
		id := TimerID(rapid.IntRange(0, MaxTimers).Draw(t, "timer"))
		clock := TimerClock(rapid.IntRange(0, 2).Draw(t, "clock"))
		ns := rapid.Int64Range(-1, 200e6).Draw(t, "until")
		return func(l *Loop) { _ = l.StartTimer(id, clock, ns) }
	})},
	{"SetScale", setter(func(t *rapid.T) func(*Loop) {
		ch, owner := drawChannel(t), drawOwner(t)
		value := rapid.OneOf(rapid.Just(1.0), rapid.Float64Range(-0.1, 4), rapid.Float64()).Draw(t, "scale")
		ns := rapid.Int64Range(-1, 100e6).Draw(t, "expires")
		return func(l *Loop) { _ = l.SetScale(ch, owner, value, ns) }
	})},
	{"ReleaseScale", setter(func(t *rapid.T) func(*Loop) {
		ch, owner := drawChannel(t), drawOwner(t)
		return func(l *Loop) { _ = l.ReleaseScale(ch, owner) }
	})},
}

// drawInput draws one of the inputs, mostly a frame, but for those named.
func drawInput(t *rapid.T, without ...string) (string, func(*Loop) []Frame) {
	list := []input{shown}
	switch rapid.IntRange(0, 3).Draw(t, "what") {
	case 0:
		list = setters
	case 1, 2:
		list = frames
	}
	list = slices.DeleteFunc(slices.Clone(list), func(in input) bool { return slices.Contains(without, in.name) })
	in := list[rapid.IntRange(0, len(list)-1).Draw(t, "input")]
	return in.name, in.draw(t)
}

// drawLoopConfig draws any of the policies, presets and rates.
func drawLoopConfig(t *rapid.T) Config {
	preset := rapid.SampledFrom([]func() Config{Classic, Arcade, Modules, Show, Training}).Draw(t, "preset")
	c := preset()
	if rapid.Bool().Draw(t, "own") {
		c.Policy = Policy(rapid.IntRange(0, int(policies)-1).Draw(t, "policy"))
		c.RateNum = rapid.SampledFrom([]int64{60, 120, 60_000, 64, 7}).Draw(t, "num")
		c.RateDen = rapid.SampledFrom([]int64{1, 1001, 13}).Draw(t, "den")
		c.MaxSteps = rapid.IntRange(1, 9).Draw(t, "cap")
		c.MaxDeltaNs = rapid.Int64Range(1, 1e9).Draw(t, "clamp")
		c.StallNs = rapid.SampledFrom([]int64{0, 200e6}).Draw(t, "stall")
		c.MaxAccumNs = rapid.SampledFrom([]int64{0, 6}).Draw(t, "bound") * (nsPerSecond*c.RateDen/c.RateNum + 1)
		c.CapScales = rapid.Bool().Draw(t, "cap scales")
		c.ClipTime = rapid.Bool().Draw(t, "clip")
		c.Phases = rapid.SampledFrom([]uint64{0, 5}).Draw(t, "phases")
	}
	c.OnFault = FaultPolicy(rapid.IntRange(0, int(faultPolicies)-1).Draw(t, "on fault"))
	c.JitterFix = rapid.SampledFrom([]int{0, 50, 500}).Draw(t, "jitter fix")
	c.SmoothDelta = rapid.Bool().Draw(t, "smooth")
	return c
}

// position returns all simulated time that l has been given: what was granted,
// what is due and what was dropped.
func (l *Loop) position() span {
	p := l.accumulator()
	p.steps += l.tick - uint64(int64(l.jitter.lead))
	if l.config.Policy != Realtime { // where the ticks contain what was skipped
		p = l.add(p, l.dropped)
	}
	return p
}

// A step that runs early or late is the only thing that the jitter fix changes:
// beside a loop without it, given the same, all time is accounted for, exactly.
func TestJitterFixLoopLaw(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawLoopConfig(t)
		if c.Policy == SlowMotion { // whose pace follows from the steps of each frame
			c.Policy = DropToCap
		}
		fixed, plain := newLoopPair(t, c, rapid.SampledFrom([]int{50, 500}).Draw(t, "jitter fix on"))
		without := []string{"RunThenPause", "Drive"} // which count steps, too
		if c.Policy == Realtime {
			without = append(without, "ResetTiming") // drops steps that are not skipped
		}
		for range rapid.IntRange(1, 60).Draw(t, "inputs") {
			name, call := drawInput(t, without...)
			checkLoopLaw(t, name, fixed, plain, call(fixed), call(plain))
		}
	})
	leads := [3]int{}
	fixed, plain := newLoopPair(t, Classic(), 50)
	for _, hz := range []float64{30, 60, 60.1, 120} {
		for _, ns := range display(hz, 600, 2_000_000, 1, nil) {
			f := fixed.Advance(ns)
			checkLoopLaw(t, "Advance", fixed, plain, []Frame{f}, []Frame{plain.Advance(ns)})
			leads[f.Lead+1]++
		}
	}
	if slices.Contains(leads[:], 0) {
		t.Errorf("frames by lead -1, 0, 1: %d, so this test shows nothing", leads)
	}
}

// newLoopPair returns a Loop with the jitter fix, and one without.
func newLoopPair(t rapid.TB, c Config, fix int) (fixed, plain *Loop) {
	c.JitterFix = fix
	fixed, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	c.JitterFix = 0
	plain, _ = New(c)
	return fixed, plain
}

// checkLoopLaw compares a loop with the fix and one without after an input that made
// the frames f of the one and p of the other.
func checkLoopLaw(t rapid.TB, name string, fixed, plain *Loop, f, p []Frame) {
	if fixed.position() != plain.position() {
		t.Fatalf("%s: %+v with lead %d, without the fix %+v", name, fixed.position(), fixed.jitter.lead, plain.position())
	}
	for i := range f {
		if a := f[i].Alpha; a < 0 || a >= 1 || f[i].AlphaNum >= f[i].AlphaDen || p[i].Lead != 0 {
			t.Fatalf("%+v\nwithout %+v", f[i], p[i])
		}
		if bad := misplaced(fixed, f[i], p[i]); bad != "" {
			t.Fatalf("%s\n%+v\nwithout %+v", bad, f[i], p[i])
		}
		if f[i].RawNs != p[i].RawNs || f[i].UINs != p[i].UINs {
			t.Fatalf("RawNs %d, UINs %d, without the fix %d, %d", f[i].RawNs, f[i].UINs, p[i].RawNs, p[i].UINs)
		}
	}
}

// misplaced says what is wrong with the alpha or the lag of f, beside p of a loop
// without the fix that has dropped as much.
func misplaced(l *Loop, f, p Frame) string {
	if f.DroppedTotal != p.DroppedTotal || f.DroppedNum != p.DroppedNum || f.DroppedRest != p.DroppedRest {
		return ""
	}
	if f.AlphaNum != [...]uint64{f.AlphaDen - 1, p.AlphaNum, 0}[f.Lead+1] {
		return "alpha"
	}
	// What one has granted and the other has not is what their lags differ by.
	ahead := int64(f.Tick-p.Tick) * l.ns(1, 0)
	if p.LagNs < 1<<62 && !within(p.LagNs-f.LagNs-ahead, int64(f.Tick)+2) {
		return "lag"
	}
	return ""
}

// leading returns a loop of 60 Hz with the given lead.
func leading(t *testing.T, c Config, lead int8) *Loop {
	t.Helper()
	c.JitterFix = 500
	l, err := New(c)
	if err != nil {
		t.Fatal(err)
	}
	const period = nsPerSecond / 60
	toStep, off := int64(1e6), int64(-400_000)
	if lead < 0 {
		toStep, off = period-1e6, +400_000
	}
	l.Advance(toStep)
	for range 20 {
		l.Advance(period)
	}
	for l.jitter.lead == 0 {
		l.Advance(period + off)
	}
	if l.jitter.lead != lead {
		t.Fatalf("lead %d, want %d", l.jitter.lead, lead)
	}
	return l
}

// Giving up time drops the step that is held back, and lets the one that ran
// early keep its time.
func TestJitterFixGivenUp(t *testing.T) {
	for _, lead := range []int8{-1, +1} {
		for name, giveUp := range map[string]func(*Loop){
			"ResetTiming": (*Loop).ResetTiming,
			"stall":       func(l *Loop) { l.Advance(1e9) },
		} {
			l := leading(t, Config{StallNs: 200e6}, lead)
			before := *l
			want := l.position()
			if name == "stall" {
				want = l.add(want, l.spanOf(1e9, one))
			}
			giveUp(l)
			if got := l.position(); got != want {
				t.Errorf("%s, lead %d: %+v, want %+v", name, lead, got, want)
			}
			left, stay := l.accumulator(), lead > 0
			if stay != (l.jitter.lead == lead) || stay != (left == before.accumulator()) || !stay && left != (span{}) {
				t.Errorf("%s, lead %d: lead %d, %+v left of %+v", name, lead, l.jitter.lead, left, before.accumulator())
			}
		}
	}
}

// An early step that fails, or that a pause keeps from running, is not early any
// more.
func TestJitterFixEarlyStepDoesNotRun(t *testing.T) {
	l := leading(t, Config{}, +1)
	for l.jitter.lead > 0 { // back to where the next early step comes from
		l.Advance(nsPerSecond/60 + 100_000)
	}
	failed := false
	for !failed {
		_, err := l.Drive(nsPerSecond/60-400_000, func(uint64) error {
			if l.jitter.lead > 0 {
				return errStep
			}
			return nil
		})
		failed = err != nil
	}
	ahead := l.Fork()
	if wait := ahead.UntilNext(); wait <= 0 || ahead.Advance(wait).Steps != 1 {
		t.Errorf("no step after %d ns", wait)
	}
	l.SetPaused(true)
	if f := l.Advance(1e6); f.Lead != 0 || f.Backlog != 0 || f.LagNs <= 0 || f.Alpha == 0 {
		t.Errorf("%+v", f)
	}

	l, err := New(Config{JitterFix: 500})
	if err != nil {
		t.Fatal(err)
	}
	l.Advance(1e6)
	for range 20 {
		l.Advance(nsPerSecond / 30)
	}
	for {
		if next := l.Fork(); next.Advance(nsPerSecond/30-400_000).Lead > 0 {
			break
		}
		l.Advance(nsPerSecond/30 - 400_000)
	}
	l.RunThenPause(1)
	if f := l.Advance(nsPerSecond/30 - 400_000); f.Steps != 1 || f.Lead != 0 || f.Backlog != 0 || f.LagNs <= 0 {
		t.Errorf("%+v", f)
	}
}

// With the fix, too, UntilNext waits long enough for a step.
func TestJitterFixUntilNext(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		l := newFixedLoop(t, rapid.SampledFrom([]int{50, 500}).Draw(t, "fix"))
		for range rapid.IntRange(1, 40).Draw(t, "inputs") {
			name, call := drawInput(t)
			call(l)
			checkUntilNext(t, l, name)
		}
	})
	leads := [3]int{}
	for _, hz := range []float64{30, 60, 60.1, 120} {
		l := newFixedLoop(t, 50)
		for _, ns := range display(hz, 600, 2_000_000, 1, nil) {
			l.Advance(ns)
			checkUntilNext(t, l, "Advance")
			leads[l.jitter.lead+1]++
		}
	}
	if slices.Contains(leads[:], 0) {
		t.Errorf("waits by lead -1, 0, 1: %d, so this test shows nothing", leads)
	}
}

func newFixedLoop(t rapid.TB, fix int) *Loop {
	l, err := New(Config{Policy: CatchUp, JitterFix: fix})
	if err != nil {
		t.Fatal(err)
	}
	return l
}

// checkUntilNext checks that there is a step after the wait, if UntilNext returns one.
func checkUntilNext(t rapid.TB, l *Loop, after string) {
	wait := l.UntilNext()
	if wait == math.MaxInt64 {
		return
	}
	ahead := *l
	if f := ahead.Advance(wait); f.Steps == 0 {
		t.Fatalf("after %s: no step after %d ns, lead %d: %+v", after, wait, l.jitter.lead, f)
	}
}

// What smoothing makes of the elapsed times is what the loop counts: one without
// it that is given RawNs comes to stand where it stands.
func TestSmoothDeltaLoopLaw(t *testing.T) {
	changed := 0
	rapid.Check(t, func(t *rapid.T) {
		c := Config{Policy: CatchUp, SmoothDelta: true}
		smooth, err := New(c)
		if err != nil {
			t.Fatal(err)
		}
		c.SmoothDelta = false
		plain, _ := New(c)
		var wall uint64
		for range rapid.IntRange(1, 10).Draw(t, "inputs") {
			hz := rapid.SampledFrom([]float64{59.94, 60, 144, 47}).Draw(t, "hz")
			n := rapid.IntRange(1, 200).Draw(t, "frames")
			list := display(hz, n, 200_000, rapid.Uint64().Draw(t, "seed"), nil)
			list = append(list, rapid.SliceOfN(rapid.Int64Range(-5, 1e9), 0, 3).Draw(t, "odd")...)
			for _, ns := range list {
				f := smooth.Advance(ns)
				plain.Advance(f.RawNs)
				wall += uint64(max(ns, 0))
				if f.RawNs != f.ElapsedNs {
					changed++
				}
				if smooth.position() != plain.position() {
					t.Fatalf("%+v, one that is given the smoothed times %+v", smooth.position(), plain.position())
				}
				if f.WallNs != wall || f.UINs != plain.ui || int64(wall-f.UINs) != smooth.smoother.owed {
					t.Fatalf("wall time %d, want %d; UI time %d, want %d; %d owed", f.WallNs, wall, f.UINs, plain.ui, smooth.smoother.owed)
				}
			}
		}
	})
	if changed == 0 {
		t.Error("nothing was smoothed")
	}
}

// A freeze takes its time from smoothed frames as from others, up to what
// smoothing owes.
func TestSmoothDeltaFreeze(t *testing.T) {
	for seed := range uint64(20) {
		l, err := New(Config{Policy: CatchUp, SmoothDelta: true})
		if err != nil {
			t.Fatal(err)
		}
		var frozen, raw, given int64
		for i, ns := range display(60, 600, 1_000_000, seed, nil) {
			if i%50 == 49 {
				freeze := int64(i) * 200_000
				if err := l.Freeze(freeze); err != nil {
					t.Fatal(err)
				}
				frozen += freeze
			}
			f := l.Advance(ns)
			raw += f.RawNs
			given = l.ns(l.position().steps, l.position().units)
			const period = nsPerSecond / 60
			if off := raw - frozen - given; l.frozen == 0 && !within(off, (frozen/50_000_000+1)*period/4) {
				t.Fatalf("seed %d, frame %d: %d ns counted, %d frozen, %d given", seed, i, raw, frozen, given)
			}
		}
	}
}

// Both together make a display that keeps time with the steps show one step a
// frame, each of the same length, and cost no memory.
func TestSmoothDeltaAndJitterFix(t *testing.T) {
	l, err := New(Config{SmoothDelta: true, JitterFix: 100})
	if err != nil {
		t.Fatal(err)
	}
	if num, den := l.Refresh(); num != 0 || den != 0 {
		t.Errorf("a new Loop: Refresh %d/%d", num, den)
	}
	raw := display(60, 10_000, 300_000, 9, nil)
	for i, ns := range raw {
		f := l.Advance(ns)
		if i >= 200 && f.Steps != 1 {
			t.Errorf("frame %d runs %d steps", i, f.Steps)
		}
	}
	if num, den := l.Refresh(); num != 60 || den != 1 {
		t.Errorf("Refresh %d/%d, want 60", num, den)
	}
	if n := testing.AllocsPerRun(1000, func() { l.Advance(raw[0]) }); n != 0 {
		t.Errorf("%v allocations a frame", n)
	}
	l.smoother.owed = 1e6
	if l.ResetTiming(); l.smoother.owed != 0 {
		t.Error("ResetTiming leaves what smoothing owes")
	}
	l.StartNew()
	if fresh, _ := New(Config{SmoothDelta: true, JitterFix: 100}); *l != *fresh {
		t.Error("StartNew leaves something of before")
	}
}
