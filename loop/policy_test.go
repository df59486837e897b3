package loop_test

import (
	"errors"
	"math"
	"testing"

	"github.com/evertick/evertick/loop"
)

// One overload under each policy: 3 steps a frame at most, 10 Hz, and frames
// that owe 5.5, 0.2, 0 and 3.4 steps.
func TestPolicies(t *testing.T) {
	type row struct {
		tick              uint64
		steps             int
		backlog, dropped  uint64
		alphaNum, lostNum uint64
	}
	const half = 500_000_000
	for policy, want := range map[loop.Policy][4]row{
		loop.DropToCap:  {{3, 3, 0, 2, half, 0}, {3, 0, 0, 2, 7e8, 0}, {3, 0, 0, 2, 7e8, 0}, {6, 3, 0, 3, 1e8, 0}},
		loop.Keep:       {{3, 3, 2, 0, half, 0}, {5, 2, 0, 0, 7e8, 0}, {5, 0, 0, 0, 7e8, 0}, {8, 3, 1, 0, 1e8, 0}},
		loop.DropAll:    {{3, 3, 0, 2, 0, half}, {3, 0, 0, 2, 2e8, half}, {3, 0, 0, 2, 2e8, half}, {6, 3, 0, 2, 6e8, half}},
		loop.SlowMotion: {{3, 3, 0, 2, half, 0}, {3, 0, 0, 2, 618_750_000, 0}, {3, 0, 0, 2, 618_750_000, 0}, {5, 2, 0, 2, 690_625_000, 0}},
		loop.CatchUp:    {{3, 3, 2, 0, half, 0}, {5, 2, 0, 0, 7e8, 0}, {5, 0, 0, 0, 7e8, 0}, {8, 3, 1, 0, 1e8, 0}},
		loop.KeepAll:    {{3, 3, 2, 0, half, 0}, {5, 2, 0, 0, 7e8, 0}, {5, 0, 0, 0, 7e8, 0}, {8, 3, 1, 0, 1e8, 0}},
		loop.Realtime:   {{5, 3, 0, 2, half, 0}, {5, 0, 0, 2, 7e8, 0}, {5, 0, 0, 2, 7e8, 0}, {9, 3, 0, 3, 1e8, 0}},
	} {
		l := mustNew(t, loop.Config{RateNum: 10, MaxSteps: 3, MaxDeltaNs: 1e9, Policy: policy})
		for i, ns := range []int64{550 * ms, 20 * ms, 0, 340 * ms} {
			f := l.Advance(ns)
			if got := (row{f.Tick, f.Steps, f.Backlog, f.DroppedTotal, f.AlphaNum, f.DroppedNum}); got != want[i] {
				t.Errorf("%v, frame %d:\n got %+v\nwant %+v", policy, i, got, want[i])
			}
		}
	}
}

// What the clamp, a stall and the bound cut off is lost, but not under the
// policies that lose nothing.
func TestPoliciesThatCountEverything(t *testing.T) {
	c := loop.Config{RateNum: 10, MaxSteps: 3, MaxDeltaNs: 1e9, ClipTime: true, StallNs: 2e9, MaxAccumNs: 5e8}
	for _, policy := range []loop.Policy{loop.CatchUp, loop.Realtime} {
		c.Policy = policy
		f := mustNew(t, c).Advance(100e9)
		if f.Tick+f.Backlog != 1000 || f.Stalled || f.Clamped || f.RawNs != 100e9 || f.Steps != 3 {
			t.Errorf("%v: %+v", policy, f)
		}
	}
}

// All means the millionths of a unit, too.
func TestDropAllDropsMillionths(t *testing.T) {
	l := mustNew(t, loop.Config{RateNum: 1, MaxSteps: 1, MaxDeltaNs: math.MaxInt64, Policy: loop.DropAll})
	must(t, l.SetScale(loop.Speed, "test", 0.3, loop.Forever))
	f := l.Advance(7_000_000_001) // 2.1 steps and 0.3 of a unit
	if !f.CapHit || f.AlphaNum != 0 || f.AlphaRest != 0 || f.DroppedTotal != 1 || f.DroppedNum != 100_000_000 || f.DroppedRest != 300_000 {
		t.Errorf("%+v", f)
	}
}

func TestCatchUpRunsEverything(t *testing.T) {
	l := mustNew(t, loop.Config{Policy: loop.CatchUp})
	f := l.Advance(3600e9)
	frames, steps := 1, f.Steps
	for ; f.Backlog > 0; frames++ {
		f = l.Advance(0)
		steps += f.Steps
	}
	if steps != 216000 || f.Tick != 216000 || frames != 216000/5 || f.DroppedTotal != 0 {
		t.Errorf("%d steps in %d frames, %+v", steps, frames, f)
	}
}

// The last steps run, and Tick is the number of steps whose time has passed.
func TestRealtimeSkips(t *testing.T) {
	l := mustNew(t, loop.Config{RateNum: 10, MaxSteps: 3, Policy: loop.Realtime})
	var ran []uint64
	run := func(tick uint64) error {
		if ran = append(ran, tick); tick == 8 {
			return errStep
		}
		return nil
	}
	for _, ns := range []int64{550e6, 550e6, 0, 1000e6} {
		if f, err := l.Drive(ns, run); f.Tick+f.Backlog != f.WallNs/1e8 || err != nil && !errors.Is(err, errStep) {
			t.Errorf("%+v, %v", f, err)
		}
		if l.Tick() == 8 { // steps 8 to 10 were granted, and put back
			run = func(tick uint64) error { ran = append(ran, tick); return nil }
		}
	}
	want := []uint64{2, 3, 4, 8, 8, 9, 10, 18, 19, 20}
	if len(ran) != len(want) {
		t.Fatalf("ran %v, want %v", ran, want)
	}
	for i := range want {
		if ran[i] != want[i] {
			t.Fatalf("ran %v, want %v", ran, want)
		}
	}
}

// Skipping does not bring the pause nearer.
func TestRealtimeThenPause(t *testing.T) {
	l := mustNew(t, loop.Config{RateNum: 10, MaxSteps: 3, Policy: loop.Realtime})
	l.RunThenPause(5)
	a, b, c := l.Advance(1e9), l.Advance(1e9), l.Advance(1e9)
	if a.Steps != 3 || a.Paused || b.Steps != 2 || !b.Paused || b.Backlog != 1 || b.Tick != 19 || c.Steps != 0 || c.Tick != 19 {
		t.Errorf("%+v\n%+v\n%+v", a, b, c)
	}
}

// The pace falls by what was owed, to a quarter at least, and rises by 1/64.
func TestSlowMotionPace(t *testing.T) {
	l := mustNew(t, loop.Config{RateNum: 10, MaxSteps: 4, MaxDeltaNs: 10e9, Policy: loop.SlowMotion})
	const per = 1_000_000 / 64
	for i, step := range []struct {
		elapsed int64
		pace    uint64
	}{
		{1e8, 64},
		{5e8, 51},       // 5 steps for a cap of 4: 51.2/64
		{8e8, 34},       // 6.375 steps: 6 owed, 51 × 4/6
		{1e8, 35},       // fits
		{0, 35},         // no time, no word on the load
		{20e9, 16},      // 35 × 4/109, not below a quarter
		{20e9, 16},      // still
		{1e8, 17},       // fits
		{-5, 17},        // no time
		{1.6e9, 17 + 1}, // 4.25 steps and a bit: fits
	} {
		f := l.Advance(step.elapsed)
		if f.ScaleMillionths != step.pace*per {
			t.Errorf("frame %d: pace %d, want %d (%+v)", i, f.ScaleMillionths/per, step.pace, f)
		}
	}
	l.SetPaused(true)
	if f := l.Advance(1e9); f.ScaleMillionths != 18*per {
		t.Errorf("the pace rose in a pause: %+v", f)
	}
	l.SetPaused(false)
	for range 100 {
		l.Advance(1e6)
	}
	if f := l.Advance(0); f.ScaleMillionths != 1_000_000 {
		t.Errorf("the pace never recovered: %d", f.ScaleMillionths)
	}
	if l.Advance(9e9); l.Advance(0).ScaleMillionths == 1_000_000 {
		t.Fatal("no overload")
	}
	if l.ResetTiming(); l.Advance(0).ScaleMillionths != 1_000_000 {
		t.Error("ResetTiming kept the pace")
	}
}

// A host that cannot do more than the cap settles at a pace where nothing more
// is dropped, but for what the recovery tries.
func TestSlowMotionSettles(t *testing.T) {
	l := mustNew(t, loop.Config{MaxSteps: 2, Policy: loop.SlowMotion})
	var dropped [2]uint64
	for i := range 2000 { // frames of 50 ms: three steps each
		dropped[i/1000] += l.Advance(50 * ms).Dropped
	}
	plain := mustNew(t, loop.Config{MaxSteps: 2})
	for range 2000 {
		plain.Advance(50 * ms)
	}
	if all := plain.Advance(0).DroppedTotal; all != 2000 || dropped[1] > all/20 {
		t.Errorf("dropped %v with the governor, %d without", dropped, all)
	}
}

// The greatest int64 of nanoseconds, again and again, at the greatest rate and
// scale.
func TestLargestEverything(t *testing.T) {
	for policy := loop.DropToCap; policy <= loop.Realtime; policy++ {
		c := loop.Config{
			RateNum: 1e8, RateDen: 100, MaxSteps: 1 << 30, MaxDeltaNs: math.MaxInt64, CapScales: true,
			MaxAccumNs: math.MaxInt64, Policy: policy,
		}
		l, o := mustNew(t, c), newOracle(c)
		for ch := range loop.Channel(loop.MaxChannels) {
			must(t, l.SetScale(ch, "test", 1e300, loop.Forever))
			o.setScale(ch, "test", 100, loop.Forever)
		}
		for i := range 40 {
			if err := o.check(math.MaxInt64, l.Advance(math.MaxInt64)); err != nil {
				t.Fatalf("%v, frame %d: %v", policy, i, err)
			}
		}
	}
}
