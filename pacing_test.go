package evertick_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/loop"
)

// Without a clock the pacing of the loop decides, and phases are timed anyway.
func TestRunByPacing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	s := newSim(t, evertick.Config{Capacity: 64, Loop: loop.Config{Pacing: loop.Uncapped}})
	add(t, s, evertick.AfterIndex, "end", func(tk *evertick.Tick) error {
		if tk.N == 599 {
			cancel()
		}
		return nil
	})
	if err := s.Run(ctx); err != context.Canceled || s.Ticks() != 600 {
		t.Errorf("%v after %d ticks", err, s.Ticks())
	}
	if f := s.Frame(); f.WallNs != 10e9 || f.Steps != 1 {
		t.Errorf("%+v", f)
	}
	if _, ns := s.Timings(); ns <= 0 {
		t.Errorf("the last step took %d ns", ns)
	}
}

func TestRunExternal(t *testing.T) {
	s := newSim(t, evertick.Config{Capacity: 64, Loop: loop.Config{Pacing: loop.External}})
	if err := s.Run(t.Context()); !errors.Is(err, evertick.ErrUnsupported) {
		t.Error(err)
	}
	if f, err := s.Advance(20e6); err != nil || f.Steps != 1 || s.Ticks() != 1 {
		t.Errorf("%v, %+v", err, f)
	}
}

// A Sim that rehearses computes what one does that does not, and Run calls what Config names.
func TestRunRehearsesATwin(t *testing.T) {
	config := evertick.Config{Capacity: 64, Seed: 5, Loop: loop.Config{RateNum: 500, Pacing: loop.Precise, SpinBudget: 1000}}
	twin := newSim(t, config)
	rehearsals := 0
	config.Rehearse = func() {
		rehearsals++
		if err := twin.Step(); err != nil {
			t.Error(err)
		}
	}
	s := newSim(t, config)
	start := time.Now()
	if err := s.Add(evertick.BeforePhysics, "until", func(tick *evertick.Tick) error {
		if rehearsals > 2 && tick.N > 20 || time.Since(start) > 2*time.Minute {
			return loop.ErrStop
		}
		return nil
	}); err != nil {
		t.Fatal(err)
	}
	if err := s.Run(t.Context()); err != nil {
		t.Fatal(err)
	}
	if rehearsals == 0 || uint64(rehearsals) != twin.Ticks() {
		t.Errorf("%d rehearsals, %d ticks of the twin, %d of the Sim", rehearsals, twin.Ticks(), s.Ticks())
	}
	for twin.Ticks() < s.Ticks() {
		if err := twin.Step(); err != nil {
			t.Fatal(err)
		}
	}
	for twin.Ticks() > s.Ticks() {
		if err := s.Step(); err != nil && !errors.Is(err, loop.ErrStop) {
			t.Fatal(err)
		}
	}
	if s.Hash() != twin.Hash() {
		t.Errorf("hash %016x, of the twin %016x", s.Hash(), twin.Hash())
	}
}
