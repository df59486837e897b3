package main

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"time"

	"github.com/evertick/evertick/native"
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

// add runs a step and, if it counts, keeps its times.
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

func (t *stepTimes) cost(n int) cost {
	q := quantilesOf(t.steps)
	c := cost{N: n, Steps: len(t.steps), P50: q.P50, P95: q.P95}
	for i, name := range t.names {
		c.Phases = append(c.Phases, phaseCost{name, quantilesOf(t.phases[i]).P50})
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
	t := textTable(fmt.Sprintf("phases of %s %s", count(r.phases[0].N), r.unit), "p50, µs", "share", "ns each", "grows with the power")
	for _, p := range r.phases {
		grows := any(nil)
		if p.Power != nil {
			grows = p.Power.String()
		}
		t.add(p.Name, micros(p.P50), fmt.Sprintf("%.1f %%", 100*p.Share), float64(p.P50)/float64(p.N), grows)
	}
	t.writeText(w)
}

// workerTurns compares one worker with several at one size, by turns.
type workerTurns struct {
	N       int         `json:"n"`
	Workers int         `json:"workers"`
	One     []phaseCost `json:"one_worker"`
	Several []phaseCost `json:"several_workers"`
	Gain    float64     `json:"gain"`   // of the median step
	Serial  []string    `json:"serial"` // phases that gain less than a tenth
	Share   float64     `json:"serial_share"`
	Amdahl  float64     `json:"amdahl"` // the gain if the workers shared all other phases evenly
}

// leastGain of a phase that counts as shared.
const leastGain = 1.1

func (o *options) takeWorkerTurns(s *sizeRange, n int, level native.Level, p patience, progress *progress) (*workerTurns, error) {
	one := *o
	one.workers = 1
	var sims [2]stepper
	var times [2]stepTimes
	for i, from := range []*options{&one, o} {
		var err error
		if sims[i], err = s.open(from, n, level); err != nil {
			return nil, err
		}
	}
	p.least /= turn
	err := p.rounds(2, func(i, round int) error {
		progress.show("%s -n %d: %d worker(s), turn %d", o.scene, n, []int{1, o.workers}[i], round)
		for range turn {
			if err := times[i].add(&sims[i], round >= 0); err != nil {
				return err
			}
		}
		return nil
	})
	if err != nil || len(times[0].phases) == 0 {
		return nil, err
	}
	return compareWorkers(o.workers, times[0].cost(n), times[1].cost(n)), nil
}

// compareWorkers finds the phases that stay serial, and what the others could gain.
func compareWorkers(workers int, one, several cost) *workerTurns {
	t := &workerTurns{N: one.N, Workers: workers, One: one.Phases, Several: several.Phases, Gain: float64(one.P50) / float64(max(several.P50, 1))}
	serial := int64(0)
	for i, p := range one.Phases {
		if float64(p.P50) < leastGain*float64(several.Phases[i].P50) || p.P50 == 0 {
			t.Serial = append(t.Serial, p.Name)
			serial += p.P50
		}
	}
	t.Share = float64(serial) / float64(max(sumOf(one.Phases), 1))
	t.Amdahl = 1 / (t.Share + (1-t.Share)/float64(workers))
	return t
}

func (t *workerTurns) write(w io.Writer) {
	table := textTable(fmt.Sprintf("by turns, %s", count(t.N)), "one worker, µs", fmt.Sprintf("%d workers, µs", t.Workers), "times as fast")
	for i, p := range t.One {
		gain := any(nil)
		if several := t.Several[i].P50; several > 0 {
			gain = fmt.Sprintf("%.2f", float64(p.P50)/float64(several))
		}
		table.add(p.Name, micros(p.P50), micros(t.Several[i].P50), gain)
	}
	fmt.Fprintln(w)
	table.writeText(w)
	fmt.Fprintf(w, "A step is %.2f times as fast with %d workers.\n", t.Gain, t.Workers)
	if len(t.Serial) > 0 {
		fmt.Fprintf(w, "Phases that gain less than a tenth are %.1f %% of it:\n%s.\n", 100*t.Share, strings.Join(slices.Sorted(slices.Values(t.Serial)), ", "))
	}
	fmt.Fprintf(w, "If the workers shared all others evenly, it would be %.2f times as fast.\n", t.Amdahl)
}
