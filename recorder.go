package evertick

import (
	"math/bits"

	"github.com/evertick/evertick/loop"
)

// Timing is the duration of a phase in the last step, in nanoseconds.
type Timing struct {
	Phase string
	Ns    int64
}

// PhaseStats tells how long a phase has taken, in nanoseconds, over Count steps. The
// quantiles are off by at most 1/64 of themselves: see loop.Histogram.
type PhaseStats struct {
	Phase              string
	Count              uint64
	P50, P95, P99, Max int64
}

// histogram returns one, unless nothing is to be timed.
func (s *Sim) histogram() *loop.Histogram {
	if s.config.Untimed {
		return nil
	}
	return new(loop.Histogram)
}

// now is the time by the clock, unless nothing is to be timed.
func (s *Sim) now() int64 {
	if s.config.Untimed {
		return 0
	}
	return s.clock.Now()
}

// took records what a phase has taken in this step.
func (p *phase) took(ns int64) {
	p.ns = ns
	p.frame += ns
	if p.all != nil {
		p.all.Add(ns)
	}
}

// tookTick records what a step has taken.
func (s *Sim) tookTick(ns int64) {
	s.total = ns
	if s.totals != nil {
		s.totals.Add(ns)
	}
	s.spent += ns
	s.steps++
}

// Timings returns the duration of each phase of the last step, in the order in
// which they ran, and of the whole step. What the phases do not account for is
// spent between them, in hooks for instance; and phases that ran side by side add up to
// more than they took together. A system added since then is listed with 0 ns. The slice is the Sim's own and valid until the next step or Add.
func (s *Sim) Timings() (phases []Timing, stepNs int64) {
	s.list()
	for i, p := range s.phases {
		s.times[i] = Timing{p.name, p.ns}
	}
	return s.times, s.total
}

// Stats returns how long each phase has taken in the steps since New or ResetStats, in
// the order in which they run, and the same of the whole step, whose Phase is empty.
// A step that failed counts for the phases that it completed. The slice is the Sim's
// own and valid until the next call of Stats, or the next Add.
func (s *Sim) Stats() (phases []PhaseStats, step PhaseStats) {
	s.list()
	for i, p := range s.phases {
		s.stats[i] = statsOf(p.name, p.all)
	}
	return s.stats, statsOf("", s.totals)
}

func statsOf(name string, h *loop.Histogram) PhaseStats {
	if h == nil {
		return PhaseStats{Phase: name}
	}
	return PhaseStats{
		Phase: name, Count: h.Count(),
		P50: h.Quantile(0.5), P95: h.Quantile(0.95), P99: h.Quantile(0.99), Max: h.Max(),
	}
}

// ResetStats makes Stats begin anew.
func (s *Sim) ResetStats() {
	s.list()
	for _, p := range s.phases {
		if p.all != nil {
			p.all.Reset()
		}
	}
	if s.totals != nil {
		s.totals.Reset()
	}
}

// beginFrame makes ready to count what the steps of a frame take.
func (s *Sim) beginFrame() {
	s.spent, s.steps = 0, 0
	for _, p := range s.phases {
		p.frame = 0
	}
}

// endFrame returns the frame with the overrun of its steps.
func (s *Sim) endFrame(f loop.Frame) loop.Frame {
	hi, budget := bits.Mul64(uint64(s.config.BudgetNs), s.steps)
	if hi == 0 && uint64(s.spent) > budget {
		f.Overrun = loop.Overrun{System: s.suspect(), Ns: s.spent - int64(budget)}
	}
	return f
}

// suspect names the phase that took the most in this frame beyond what it takes in as
// many steps as a rule, by its median. If several did, it is the one that took most.
func (s *Sim) suspect() string {
	var name string
	var most, took int64
	for _, p := range s.phases {
		beyond := p.frame - int64(s.steps)*p.all.Quantile(0.5)
		if name == "" || beyond > most || beyond == most && p.frame > took {
			name, most, took = p.name, beyond, p.frame
		}
	}
	return name
}
