package evertick_test

import (
	"context"
	"errors"
	"testing"

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
