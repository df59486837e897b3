package evertick_test

import (
	"context"
	"errors"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/loop"
)

func TestAdvance(t *testing.T) {
	s := newSim(t, small())
	advance := func(ns int64) loop.Frame {
		t.Helper()
		f, err := s.Advance(ns)
		if err != nil {
			t.Fatal(err)
		}
		if f.Tick != s.Ticks() {
			t.Errorf("frame at tick %d, Sim at %d", f.Tick, s.Ticks())
		}
		return f
	}
	if f := advance(10_000_000); f.Steps != 0 || s.Ticks() != 0 || f.Alpha < 0.59 || f.Alpha > 0.61 {
		t.Errorf("10 ms at 60 Hz: %+v", f)
	}
	if f := advance(10_000_000); f.Steps != 1 || s.Ticks() != 1 || f.Dropped != 0 {
		t.Errorf("20 ms at 60 Hz: %+v", f)
	}
	// 0.25 s are 15 steps: 5 run, the cap drops 10, and none comes later.
	if f := advance(250_000_000); f.Steps != 5 || f.Dropped != 10 || !f.CapHit || s.Ticks() != 6 {
		t.Errorf("a stall of 0.25 s: %+v", f)
	}
	if f := advance(0); f.Steps != 0 || f.Backlog != 0 || f.DroppedTotal != 10 || s.Ticks() != 6 {
		t.Errorf("after the stall: %+v", f)
	}
}

func TestAdvanceStopsAtAnError(t *testing.T) {
	s := newSim(t, small())
	add(t, s, evertick.AfterIndex, "failing", func(tick *evertick.Tick) error {
		if tick.N == 2 {
			return errSystem
		}
		return nil
	})
	_, err := s.Advance(70_000_000) // 4 steps
	wantError(t, err, errSystem, "tick 2", "failing")
	if s.Ticks() != 2 {
		t.Errorf("%d ticks completed, want 2", s.Ticks())
	}
	if f, _ := s.Advance(0); f.Tick-uint64(f.Steps) != 2 || f.Steps+int(f.Dropped) != 2 {
		t.Errorf("after the error: %+v; two ticks are still due", f)
	}
}

// Every dropped tick is counted where the host can see it.
func TestFrame(t *testing.T) {
	s := newSim(t, small())
	if _, err := s.Advance(250_000_000); err != nil {
		t.Fatal(err)
	}
	f, err := s.Advance(20_000_000)
	if err != nil || s.Frame() != f || f.DroppedTotal != 10 || f.Tick != s.Ticks() {
		t.Errorf("%+v, %v; Frame gives %+v", f, err, s.Frame())
	}
}

// Run takes exactly one step for each sixtieth of a second on the clock, and
// returns when the context is done.
func TestRun(t *testing.T) {
	clock := ticking()
	c := small()
	c.Clock = clock
	s := newSim(t, c)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	add(t, s, evertick.AfterIndex, "stop", func(tick *evertick.Tick) error {
		if want := int64((1_000_000_000*(tick.N+1) + 59) / 60); clock.Now() != want {
			t.Errorf("tick %d at %d ns, want %d", tick.N, clock.Now(), want)
		}
		if tick.N == 119 {
			cancel()
		}
		return nil
	})
	if err := s.Run(ctx); !errors.Is(err, context.Canceled) {
		t.Errorf("Run returns %v", err)
	}
	if s.Ticks() != 120 {
		t.Errorf("%d ticks, want 120", s.Ticks())
	}
}

func TestRunReturnsTheError(t *testing.T) {
	c := small()
	c.Clock = ticking()
	s := newSim(t, c)
	add(t, s, evertick.AfterIndex, "failing", func(*evertick.Tick) error { return errSystem })
	wantError(t, s.Run(t.Context()), errSystem, "tick 0", "failing")
}
