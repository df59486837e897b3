package command

import (
	"fmt"
	"io"
	"time"
)

// phaseCost is the median of a phase, in nanoseconds.
type phaseCost struct {
	Name string `json:"name"`
	P50  int64  `json:"p50_ns"`
}

// stepTimes collects the times of steps and of their phases, in nanoseconds.
type stepTimes struct {
	steps  []int64
	names  []string
	phases [][]int64 // by phase, then step
}

// add runs a step and keeps its times, if it counts.
func (t *stepTimes) add(s *stepper, counts bool) error {
	start := time.Now()
	if err := s.step(); err != nil || !counts {
		return err
	}
	t.steps = append(t.steps, int64(time.Since(start)))
	if s.phases == nil {
		return nil
	}
	for i, p := range s.phases() {
		if i == len(t.names) {
			t.names, t.phases = append(t.names, p.Phase), append(t.phases, nil)
		}
		t.phases[i] = append(t.phases[i], p.Ns)
	}
	return nil
}

// cost returns the quantiles of the times, which were measured with n entities.
func (t *stepTimes) cost(n int) cost {
	q := QuantilesOf(t.steps)
	c := cost{N: n, Steps: len(t.steps), P50: q.P50, P95: q.P95}
	for i, name := range t.names {
		c.Phases = append(c.Phases, phaseCost{name, QuantilesOf(t.phases[i]).P50})
	}
	return c
}

// scaledPhase is a phase at the size that a report shows, and how it grows with the size.
type scaledPhase struct {
	phaseCost
	N     int     `json:"n"`
	Share float64 `json:"share"` // of the medians of all phases
	Power *power  `json:"power"` // nil: too few sizes, or it takes no time
}

// scaledPhases returns the phases at one of the costs, fitted over all of them.
func scaledPhases(costs []cost, at *cost) (all []scaledPhase) {
	total := sumOf(at.Phases)
	for i, p := range at.Phases {
		s := scaledPhase{phaseCost: p, N: at.N, Share: float64(p.P50) / float64(max(total, 1))}
		if fit, ok := fitPowerOf(costs, func(c *cost) int64 { return c.Phases[i].P50 }); ok {
			s.Power = &fit
		}
		all = append(all, s)
	}
	return all
}

func sumOf(phases []phaseCost) (ns int64) {
	for _, p := range phases {
		ns += p.P50
	}
	return ns
}

func (r *scaleReport) writePhases(w io.Writer) {
	if len(r.phases) == 0 {
		return
	}
	t := TextTable(fmt.Sprintf("phases of %s %s", Count(r.phases[0].N), r.unit), "p50, µs", "share", "ns each", "grows with the power")
	for _, p := range r.phases {
		grows := any(nil)
		if p.Power != nil {
			grows = p.Power.String()
		}
		t.Add(p.Name, micros(p.P50), fmt.Sprintf("%.1f %%", 100*p.Share), float64(p.P50)/float64(p.N), grows)
	}
	t.WriteText(w)
}
