package loop_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evertick/evertick/loop"
)

var errStep = errors.New("step failed")

// failAt returns a step function that fails at tick n.
func failAt(n uint64) func(uint64) error {
	return func(tick uint64) error {
		if tick == n {
			return errStep
		}
		return nil
	}
}

func TestRunDoesNotDrift(t *testing.T) {
	l, clock := mustNew(t, loop.Config{}), &loop.ManualClock{Jump: true}
	clock.Set(123_456_789)
	last := loop.Frame{}
	err := l.Run(t.Context(), clock, failAt(60*3600), func(f loop.Frame) {
		// The exact time of step n is n/60 s; the clock has whole nanoseconds.
		due := int64((f.Tick*1e9 + 59) / 60)
		if got := clock.Now() - 123_456_789; got != due || f.Steps != 1 {
			t.Fatalf("%+v at %d ns, want at %d ns", f, got, due)
		}
		last = f
	})
	if !errors.Is(err, errStep) || err.Error() != "loop: tick 216000: step failed" {
		t.Fatalf("err = %v", err)
	}
	if last.Tick != 60*3600 || last.DroppedTotal != 0 || last.Backwards != 0 {
		t.Errorf("%+v", last)
	}
}

// late is a clock that wakes up late, by a different time each time.
type late struct {
	loop.ManualClock
	wakes int64
}

func (c *late) Sleep(ctx context.Context, untilNs int64) error {
	c.wakes++
	return c.ManualClock.Sleep(ctx, untilNs+c.wakes*7919%3_000_000)
}

func TestRunLatenessDoesNotAddUp(t *testing.T) {
	l, clock := mustNew(t, loop.Config{}), &late{ManualClock: loop.ManualClock{Jump: true}}
	if err := l.Run(t.Context(), clock, failAt(6000), nil); !errors.Is(err, errStep) {
		t.Fatal(err)
	}
	// The step that failed, number 6001, was due at 6001/60 s.
	if now := clock.Now(); now < 100_016_666_666 || now > 100_016_666_667+3_000_000 {
		t.Errorf("step 6000 ran at %d ns", now)
	}
}

// A failed step and the rest of its frame are pending again.
func TestRunStepErrorDoesNotCount(t *testing.T) {
	for _, policy := range []loop.Policy{loop.DropToCap, loop.Keep} {
		l := mustNew(t, loop.Config{Policy: policy})
		clock := &stalling{stall: 100e6} // six steps, five of them granted
		var ran []uint64
		step := func(tick uint64) error {
			if tick != l.Tick() {
				t.Errorf("step %d while Tick() = %d", tick, l.Tick())
			}
			ran = append(ran, tick)
			return failAt(2)(tick)
		}
		err := l.Run(t.Context(), clock, step, func(loop.Frame) { t.Error("frame called") })
		if !errors.Is(err, errStep) || err.Error() != "loop: tick 2: step failed" {
			t.Fatalf("err = %v", err)
		}
		if l.Tick() != 2 || len(ran) != 3 || l.UntilNext() != 0 {
			t.Errorf("Tick %d after steps %v, UntilNext %d", l.Tick(), ran, l.UntilNext())
		}
		f := l.Advance(0)
		if f.FirstTick() != 2 || f.Tick+f.DroppedTotal+f.Backlog != 6 {
			t.Errorf("%v: next frame %+v", policy, f)
		}
		if want := map[loop.Policy]int{loop.DropToCap: 3, loop.Keep: 4}[policy]; f.Steps != want {
			t.Errorf("%v: %d steps, want %d", policy, f.Steps, want)
		}
	}
}

// stalling is a clock whose every sleep takes stall nanoseconds.
type stalling struct{ now, stall int64 }

func (c *stalling) Now() int64 { return c.now }

func (c *stalling) Sleep(ctx context.Context, _ int64) error {
	c.now += c.stall
	return ctx.Err()
}

func TestRunStepPanicDoesNotCount(t *testing.T) {
	l := mustNew(t, loop.Config{})
	func() {
		defer func() { _ = recover() }()
		_ = l.Run(t.Context(), &stalling{stall: 50e6}, func(tick uint64) error {
			if tick == 1 {
				panic("in step 1")
			}
			return nil
		}, nil)
	}()
	if f := l.Advance(0); f.FirstTick() != 1 || f.Tick != 3 {
		t.Errorf("%+v; want steps 1 and 2 pending", f)
	}
}

// A clock that goes back is counted, and time goes on from where it stands.
func TestRunClockGoesBack(t *testing.T) {
	l, clock := mustNew(t, loop.Config{}), &stalling{now: 1e9, stall: -20e6}
	ctx, cancel := context.WithCancel(t.Context())
	frames := 0
	err := l.Run(ctx, clock, failAt(math.MaxUint64), func(f loop.Frame) {
		if frames++; frames == 3 {
			clock.stall = 20e6
		}
		if f.Tick == 2 {
			if f.Backwards != 3 || f.Steps != 1 {
				t.Errorf("%+v; want 3 backwards", f)
			}
			cancel()
		}
	})
	if err != context.Canceled {
		t.Errorf("err = %v", err)
	}
}

func TestRunKeepCatchesUpWithoutSleeping(t *testing.T) {
	l, clock := mustNew(t, loop.Config{Policy: loop.Keep}), &loop.ManualClock{Jump: true}
	var at []int64
	err := l.Run(t.Context(), clock, func(tick uint64) error {
		if tick == 0 {
			clock.Add(200e6) // the first step is slow: 12 steps become due
		}
		return failAt(13)(tick)
	}, func(f loop.Frame) { at = append(at, clock.Now()) })
	if !errors.Is(err, errStep) {
		t.Fatal(err)
	}
	// After the slow frame two full ones and the rest follow at the same time.
	const slow = 216_666_667
	if len(at) != 4 || at[0] != slow || at[1] != slow || at[2] != slow || at[3] != slow {
		t.Errorf("frames at %v", at)
	}
}

func TestRunStopsBeforeItStarts(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	for _, clock := range []loop.Clock{nil, &loop.ManualClock{Jump: true}, &loop.SystemClock{}, deaf{}} {
		l := mustNew(t, loop.Config{})
		if err := l.Run(ctx, clock, failAt(0), nil); err != context.Canceled {
			t.Errorf("%T: err = %v", clock, err)
		}
	}
}

// deaf is a clock that ignores its context.
type deaf struct{}

func (deaf) Now() int64                         { return 0 }
func (deaf) Sleep(context.Context, int64) error { return nil }

func TestRunCancelWhileSleeping(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l, clock := mustNew(t, loop.Config{}), &loop.ManualClock{}
		ctx, cancel := context.WithCancel(t.Context())
		done, frames := make(chan error, 1), 0
		go func() { done <- l.Run(ctx, clock, failAt(math.MaxUint64), func(loop.Frame) { frames++ }) }()
		synctest.Wait()
		clock.Add(16_666_666)
		synctest.Wait()
		if frames != 0 {
			t.Errorf("%d frames 1 ns before the first step is due", frames)
		}
		clock.Add(1)
		synctest.Wait()
		if frames != 1 {
			t.Errorf("%d frames when the first step is due", frames)
		}
		cancel()
		if err := <-done; err != context.Canceled {
			t.Errorf("err = %v", err)
		}
		if l.Tick() != 1 {
			t.Errorf("Tick = %d", l.Tick())
		}
	})
}

// The default clock, in a bubble where time is exact and takes no time.
func TestRunSystemClock(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := mustNew(t, loop.Config{})
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute+time.Nanosecond)
		defer cancel()
		start, first := time.Now(), time.Duration(0)
		err := l.Run(ctx, nil, func(tick uint64) error {
			if tick == 0 {
				first = time.Since(start)
			}
			return nil
		}, nil)
		if err != context.DeadlineExceeded {
			t.Errorf("err = %v", err)
		}
		if l.Tick() != 3600 || first != 16_666_667 {
			t.Errorf("%d steps in a minute, the first after %v", l.Tick(), first)
		}
		if took := time.Since(start); took != time.Minute+time.Nanosecond {
			t.Errorf("stopped after %v", took)
		}
	})
}

// The step that stops counts, and the rest of its frame is still due.
func TestStop(t *testing.T) {
	for _, stop := range []error{loop.ErrStop, fmt.Errorf("enough: %w", loop.ErrStop)} {
		step := func(tick uint64) error {
			if tick == 1 {
				return stop
			}
			return nil
		}
		l := mustNew(t, loop.Config{})
		err := l.Run(t.Context(), &stalling{stall: 70e6}, step, func(loop.Frame) { t.Error("frame called") })
		if f := l.Advance(0); err != nil || f.FirstTick() != 2 || f.Tick != 4 || f.DroppedTotal != 0 {
			t.Errorf("Run: %v, then %+v", err, f)
		}
		l = mustNew(t, loop.Config{})
		f, err := l.Drive(70e6, step)
		if err != stop || f.Steps != 4 || l.Tick() != 2 || l.UntilNext() != 0 {
			t.Errorf("Drive: %v, %+v, tick %d", err, f, l.Tick())
		}
	}
}

// What a step does to its own loop.
func TestStepActsOnItsLoop(t *testing.T) {
	for _, c := range []struct {
		name    string
		act     func(l *loop.Loop) // in step 1 of a frame with steps 0 to 3
		ran     string
		tick    uint64 // afterwards
		dropped uint64
		next    string // steps of the following frame, time going on by one step
	}{
		{"nothing", func(l *loop.Loop) {}, "[0 1 2 3]", 4, 0, "[4]"},
		{"pause", func(l *loop.Loop) { l.SetPaused(true) }, "[0 1]", 2, 0, "[]"},
		{"menu", func(l *loop.Loop) { l.SetMenu(true) }, "[0 1]", 2, 0, "[]"},
		{"phase", func(l *loop.Loop) { _ = l.SetPhase(1) }, "[0 1]", 2, 0, "[]"},
		{"freeze", func(l *loop.Loop) { _ = l.Freeze(1e9) }, "[0 1 2 3]", 4, 0, "[]"},
		{"pause and back", func(l *loop.Loop) { l.SetPaused(true); l.SetPaused(false) }, "[0 1 2 3]", 4, 0, "[4]"},
		{"run 0", func(l *loop.Loop) { l.RunThenPause(0) }, "[0 1]", 2, 0, "[]"},
		{"run 1", func(l *loop.Loop) { l.RunThenPause(1) }, "[0 1]", 2, 0, "[]"},
		{"run 2", func(l *loop.Loop) { l.RunThenPause(2) }, "[0 1 2]", 3, 0, "[]"},
		{"run 4", func(l *loop.Loop) { l.RunThenPause(4) }, "[0 1 2 3]", 4, 0, "[4]"},
		{"run 3, then pause", func(l *loop.Loop) { l.RunThenPause(3) }, "[0 1 2 3]", 4, 0, "[]"},
		{"reset", func(l *loop.Loop) { l.ResetTiming() }, "[0 1]", 2, 2, "[2]"},
		{"new", func(l *loop.Loop) { l.StartNew() }, "[0 1]", 0, 0, "[0]"},
		{"new, twice", func(l *loop.Loop) { l.StartNew(); l.ResetTiming(); l.StartNew() }, "[0 1]", 0, 0, "[0]"},
	} {
		// 64 Hz: a step is a whole number of nanoseconds.
		l := mustNew(t, loop.Config{RateNum: 64, Phases: 1})
		ran, acted := []uint64{}, false
		step := func(tick uint64) error {
			if tick != l.Tick() {
				t.Errorf("%s: step %d at tick %d", c.name, tick, l.Tick())
			}
			ran = append(ran, tick)
			if tick == 1 && !acted {
				acted = true
				c.act(l)
			}
			return nil
		}
		if _, err := l.Drive(62_500_000, step); err != nil {
			t.Fatal(err)
		}
		if fmt.Sprint(ran) != c.ran || l.Tick() != c.tick {
			t.Errorf("%s: ran %v, tick %d; want %s and %d", c.name, ran, l.Tick(), c.ran, c.tick)
		}
		ran = ran[:0]
		f, err := l.Drive(15_625_000, step)
		if err != nil || fmt.Sprint(ran) != c.next || f.DroppedTotal != c.dropped || f.AlphaNum != 0 {
			t.Errorf("%s: %v, then ran %v, want %s: %+v", c.name, err, ran, c.next, f)
		}
	}
}

// A jump of years is one frame, clamped; the next target counts from there.
func TestRunClockJumpsYears(t *testing.T) {
	const years = 100 * 365 * 24 * 3600 * int64(1e9)
	l, clock := mustNew(t, loop.Config{}), &loop.ManualClock{Jump: true}
	var frames []loop.Frame
	err := l.Run(t.Context(), clock, func(tick uint64) error {
		if tick == 1 {
			clock.Add(years)
		}
		return failAt(9)(tick)
	}, func(f loop.Frame) { frames = append(frames, f) })
	if !errors.Is(err, errStep) {
		t.Fatal(err)
	}
	f := frames[2]
	if !f.Clamped || f.Steps != 5 || f.Tick != 7 || f.Tick+f.DroppedTotal != uint64(years/1e9)*60+2 || f.LateNs != years-16_666_666 {
		t.Errorf("%+v", f)
	}
	if f := frames[3]; f.Clamped || f.Steps != 1 || f.LateNs != 0 {
		t.Errorf("%+v", f)
	}
}

// Readings of a clock that keeps to nothing, not even to the sign.
type wild struct {
	readings []int64
	at       int
}

func (c *wild) Now() int64 { c.at++; return c.readings[c.at-1] }

func (c *wild) Sleep(context.Context, int64) error {
	if c.at == len(c.readings) {
		return errStep
	}
	return nil
}

func TestRunWildClock(t *testing.T) {
	clock := &wild{readings: []int64{math.MinInt64, math.MaxInt64, math.MinInt64, 0, math.MaxInt64, math.MaxInt64, -1}}
	l := mustNew(t, loop.Config{})
	var elapsed []int64
	err := l.Run(t.Context(), clock, failAt(math.MaxUint64), func(f loop.Frame) {
		elapsed = append(elapsed, f.ElapsedNs)
		if f.LateNs < 0 {
			t.Errorf("%+v", f)
		}
	})
	const most = math.MaxInt64
	if want := []int64{most, 0, most, most, 0, 0}; err != errStep || !slices.Equal(elapsed, want) || l.Advance(0).Backwards != 2 {
		t.Errorf("%v: elapsed %v, want %v", err, elapsed, want)
	}
}

// A frame says how late it began, whether the clock or the steps caused it.
func TestLateness(t *testing.T) {
	l, clock := mustNew(t, loop.Config{RateNum: 64}), &stalling{stall: 20e6}
	var lates []int64
	var h loop.Histogram
	step := func(tick uint64) error {
		if tick == 2 {
			clock.now += 40e6
			clock.stall = 0
		}
		return failAt(6)(tick)
	}
	err := l.RunWith(t.Context(), loop.Runner{Clock: clock, Step: step, Lateness: &h, Frame: func(f loop.Frame) {
		lates = append(lates, f.LateNs)
		if f.Tick == 6 {
			clock.stall = 20e6
		}
	}})
	if !errors.Is(err, errStep) {
		t.Fatal(err)
	}
	// Due at 15.625 ms, woken at 20; at 31.25, woken at 40, of which step 2 was
	// due at 46.875 and ran at 60; then steps 3 to 5 were due at 62.5, 78.125 and
	// 93.75, and all of them run at 100.
	if h.Count() != 4 || h.Max() != 37_500_000 || h.Mean() != 63_750_000/4 {
		t.Errorf("histogram: %d frames, at most %d, %d on average", h.Count(), h.Max(), h.Mean())
	}
	if want := []int64{4_375_000, 8_750_000, 13_125_000, 37_500_000}; !slices.Equal(lates, want) {
		t.Errorf("late by %v, want %v", lates, want)
	}
}

func TestDriveDoesNotAllocate(t *testing.T) {
	for _, policy := range []loop.FaultPolicy{loop.Propagate, loop.Halt, loop.Resume} {
		l := mustNew(t, loop.Config{OnFault: policy})
		var ran uint64
		step := func(tick uint64) error { ran++; return nil }
		n := testing.AllocsPerRun(100, func() { _, _ = l.Drive(35e6, step) })
		if n != 0 || ran != l.Tick() || ran < 100 {
			t.Errorf("%v: %v allocations a frame, %d steps", policy, n, ran)
		}
	}
}

func TestRunDoesNotAllocatePerFrame(t *testing.T) {
	allocs := func(frames uint64) float64 {
		return testing.AllocsPerRun(5, func() {
			l, clock := mustNew(t, loop.Config{}), &loop.ManualClock{Jump: true}
			// Stopped by the context: the text of a step error allocates.
			ctx, cancel := context.WithCancel(t.Context())
			err := l.Run(ctx, clock, failAt(math.MaxUint64), func(f loop.Frame) {
				if f.Tick == frames {
					cancel()
				}
			})
			if err != context.Canceled {
				t.Error(err)
			}
		})
	}
	// An instrumented build allocates now and then by itself: count in frames.
	if few, many := allocs(10), allocs(3000); many-few > 100 {
		t.Errorf("%v allocations in 10 frames, %v in 3000", few, many)
	}
}

func TestRunNilStepPanics(t *testing.T) {
	defer func() {
		if recover() != "loop: Run: nil step" {
			t.Error("no panic, or another message")
		}
	}()
	_ = mustNew(t, loop.Config{}).Run(t.Context(), nil, nil, nil)
}

// A step that begins a frame would run the rest of its own frame twice, so Advance
// panics before anything changes. A copy may go on.
func TestStepMayNotBeginAFrame(t *testing.T) {
	none := func(uint64) error { return nil }
	for name, begin := range map[string]func(*loop.Loop){
		"Advance":   func(l *loop.Loop) { l.Advance(100 * ms) },
		"AdvanceTo": func(l *loop.Loop) { l.AdvanceTo(100 * ms) },
		"Drive":     func(l *loop.Loop) { _, _ = l.Drive(100*ms, none) },
		"Run": func(l *loop.Loop) {
			_ = l.Run(context.Background(), &loop.ManualClock{Jump: true}, none, nil)
		},
	} {
		l := mustNew(t, loop.Classic())
		var tape loop.Tape
		if err := l.Record(&tape); err != nil {
			t.Fatal(err)
		}
		var value any
		var ahead loop.Frame
		_, err := l.Drive(50*ms, func(tick uint64) error {
			if tick != 1 {
				return nil
			}
			plain := *l
			if ahead = plain.Advance(0); ahead != func() loop.Frame { f := l.Fork(); return f.Advance(0) }() {
				t.Errorf("%s: a copy and a fork differ", name)
			}
			defer func() { value = recover() }()
			begin(l)
			return nil
		})
		if err != nil || value != "loop: Advance called from a step" {
			t.Errorf("%s: panic %v, error %v", name, value, err)
		}
		if ahead.FirstTick() != 1 || ahead.Steps != 2 {
			t.Errorf("%s: a copy has %d steps from %d on, want 2 from 1", name, ahead.Steps, ahead.FirstTick())
		}
		f := l.Advance(0)
		if f.Tick != 3 || f.Steps != 0 || f.Backlog != 0 || f.DroppedTotal != 0 || f.WallNs != 50*uint64(ms) {
			t.Errorf("%s: afterwards %+v", name, f)
		}
		if err := tape.Replay(nil); err != nil {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// Rehearse is called between sleeps and steps, once a frame at most, by a clock that finds the time: on
// a machine that is busy that takes some frames. Other clocks do not call it.
func TestRunRehearses(t *testing.T) {
	for _, p := range []loop.Pacing{loop.Precise, loop.Sleep, loop.Spin} {
		l := mustNew(t, loop.Config{RateNum: 200, Pacing: p, SpinBudget: 1000})
		rehearses := p.Effective() == loop.Precise
		rehearsals, frames, since := 0, 0, 0
		start := time.Now()
		err := l.RunWith(t.Context(), loop.Runner{
			Step: func(tick uint64) error {
				since = 0
				if rehearsals > 2 || tick == 10 && !rehearses || time.Since(start) > 2*time.Minute {
					return loop.ErrStop
				}
				return nil
			},
			Rehearse: func() {
				rehearsals++
				if since++; since > 1 {
					t.Errorf("%v: %d rehearsals before one step", p, since)
				}
			},
			Frame: func(loop.Frame) { frames++; since = 0 },
		})
		if err != nil || (rehearsals > 0) != rehearses {
			t.Errorf("%v: %v, %d rehearsals in %d frames", p, err, rehearsals, frames)
		}
	}
}
