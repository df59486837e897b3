package loop_test

import (
	"context"
	"errors"
	"math"
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
