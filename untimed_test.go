package evertick_test

import (
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/loop"
)

// A Sim that is not timed does the same, asks no clock, and says 0.
func TestUntimed(t *testing.T) {
	cfg := small()
	timed := newSim(t, cfg)
	asked := &askedClock{}
	cfg.Clock, cfg.Untimed, cfg.BudgetNs = asked, true, 1
	untimed := newSim(t, cfg)
	for _, s := range []*evertick.Sim{timed, untimed} {
		wander(t, s, 10)
		step(t, s, 5)
	}
	if timed.Hash() != untimed.Hash() {
		t.Errorf("hash %x, timed %x", untimed.Hash(), timed.Hash())
	}
	if asked.times != 0 {
		t.Errorf("the clock was asked %d times", asked.times)
	}
	phases, step := untimed.Stats()
	if len(phases) == 0 || step != (evertick.PhaseStats{}) {
		t.Errorf("%d phases, the step %+v", len(phases), step)
	}
	for _, p := range phases {
		if p != (evertick.PhaseStats{Phase: p.Phase}) {
			t.Errorf("%+v", p)
		}
	}
	if _, ns := untimed.Timings(); ns != 0 {
		t.Errorf("a step of %d ns", ns)
	}
	untimed.ResetStats()
	frame, err := untimed.Advance(1e9)
	if err != nil || frame.Steps == 0 || frame.Overrun.Ns != 0 {
		t.Errorf("%+v, %v", frame, err)
	}
}

// askedClock counts how often it is asked.
type askedClock struct {
	loop.SystemClock
	times int
}

func (c *askedClock) Now() int64 {
	c.times++
	return int64(c.times)
}
