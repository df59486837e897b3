package evertick_test

import (
	"context"
	"errors"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/loop"
)

// Run ends, without an error, behind the tick in which a system asked for it.
func TestRunStops(t *testing.T) {
	c := small()
	c.Clock = ticking()
	s := newSim(t, c)
	add(t, s, evertick.BeforePhysics, "stop", func(tick *evertick.Tick) error {
		if tick.N == 6 {
			return loop.ErrStop
		}
		return nil
	})
	if err := s.Run(t.Context()); err != nil {
		t.Errorf("Run returns %v", err)
	}
	if s.Ticks() != 7 {
		t.Errorf("%d ticks, want 7", s.Ticks())
	}
	// The Sim is whole: another Run goes on from there.
	ctx, cancel := context.WithCancel(t.Context())
	s.AddHooks(evertick.Hooks{AfterTick: func(tick *evertick.Tick) error {
		if tick.N == 9 {
			cancel()
		}
		return nil
	}})
	if err := s.Run(ctx); !errors.Is(err, context.Canceled) || s.Ticks() != 10 {
		t.Errorf("Run returns %v after %d ticks", err, s.Ticks())
	}
}

// What the loop is told to do about panics it does about those of systems, alone and
// side by side; a Restore heals the Sim, Resume the loop.
func TestOnFaultOfALoop(t *testing.T) {
	for _, recovers := range []bool{false, true} {
		broken := true
		boom := func(tick *evertick.Tick) error {
			if tick.N == 2 && broken {
				panicky()
			}
			return nil
		}
		s := three(t, evertick.Config{Workers: 2, Recover: recovers, Loop: loop.Config{OnFault: loop.Halt}}, nothing, boom, nothing)
		const tick = 16_666_667
		for range 2 {
			if _, err := s.Advance(tick); err != nil {
				t.Fatal(err)
			}
		}
		saved, err := s.Snapshot(nil)
		if err != nil {
			t.Fatal(err)
		}
		_, err = s.Advance(tick)
		var p *loop.PanicError
		if !errors.As(err, &p) || p.Tick != 2 || p.System != "b" || p.Value != "gone" {
			t.Fatalf("Recover %t: %v", recovers, err)
		}
		if err := s.Restore(saved); err != nil {
			t.Fatal(err)
		}
		broken = false
		if _, err := s.Advance(tick); !errors.As(err, &p) {
			t.Errorf("Recover %t: a halted loop goes on: %v", recovers, err)
		}
		s.Loop().Resume()
		if f, err := s.Advance(0); err != nil || f.Steps != 1 || s.Ticks() != 3 {
			t.Errorf("Recover %t: %+v, %v, %d ticks", recovers, f, err, s.Ticks())
		}
	}
}

// The loop's switches work through the Sim.
func TestLoopOfASim(t *testing.T) {
	s := newSim(t, small())
	if err := s.Loop().SetScale(loop.Speed, "test", 2, loop.Forever); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Advance(50_000_000); err != nil || s.Ticks() != 5 { // 6 are due, 5 the cap
		t.Errorf("%d ticks in 50 ms at twice the speed, %v", s.Ticks(), err)
	}
	s.Loop().SetPaused(true)
	if f, err := s.Advance(50_000_000); err != nil || s.Ticks() != 5 || !f.Paused {
		t.Errorf("%d ticks, %+v, %v", s.Ticks(), f, err)
	}
}
