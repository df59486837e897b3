package main

import (
	"fmt"
	"io"
	"runtime"
	"strings"
	"time"

	"github.com/evertick/evertick/internal/pace"
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
	Serial  []string    `json:"serial"` // phases that the workers do not share
	Share   float64     `json:"serial_share"`
	Amdahl  float64     `json:"amdahl"` // the gain if the workers shared all other phases evenly
}

const (
	sharedSteps = 40   // in which sharedPhases looks for helpers
	helpersPart = 0.25 // of the CPU time of a phase, at least, if it is shared
	helpersRest = 200 * time.Microsecond

	leastGain = 1.1 // of a phase that is shared
)

// sharedPhases reports for each phase whether helpers do a part of its work: whether threads other than that of the caller
// take CPU time in it. That does not depend on how busy the machine is. It is nil where the system does not report these
// times.
func sharedPhases(s *stepper) (map[string]bool, error) {
	if _, ok := threadTime(); !ok || s.watch == nil {
		return nil, nil
	}
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	defer func(was bool) { pace.Always = was }(pace.Always)
	pace.Always = true // else a busy machine gets no helpers
	var own, all time.Duration
	helped, total := map[string]time.Duration{}, map[string]time.Duration{}
	stop := s.watch(func() {
		for from, _ := threadTime(); own < from+helpersRest; { // until the helpers of the phase before no longer look for work
			own, _ = threadTime()
		}
		all, _ = processTime()
		own, _ = threadTime()
	}, func(phase string) {
		allNow, _ := processTime()
		ownNow, _ := threadTime()
		helped[phase] += allNow - all - (ownNow - own)
		total[phase] += allNow - all
	})
	defer stop()
	for range sharedSteps {
		if err := s.step(); err != nil {
			return nil, err
		}
	}
	shared := map[string]bool{}
	for phase, t := range total {
		shared[phase] = float64(helped[phase]) >= helpersPart*float64(t)
	}
	return shared, nil
}

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
	shared, err := sharedPhases(&sims[1])
	return compareWorkers(o.workers, times[0].cost(n), times[1].cost(n), shared), err
}

// compareWorkers finds what phases that are not shared leave to gain. If it is not known which are, those are that gain a
// tenth.
func compareWorkers(workers int, one, several cost, shared map[string]bool) *workerTurns {
	t := &workerTurns{N: one.N, Workers: workers, One: one.Phases, Several: several.Phases, Gain: float64(one.P50) / float64(max(several.P50, 1))}
	serial := int64(0)
	for i, p := range one.Phases {
		is := shared[p.Name]
		if shared == nil {
			is = float64(p.P50) > leastGain*float64(several.Phases[i].P50)
		}
		if !is {
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
		fmt.Fprintf(w, "Phases that stay serial are %.1f %% of it with one:\n%s.\n", 100*t.Share, strings.Join(t.Serial, ", "))
	}
	fmt.Fprintf(w, "If the workers shared all others evenly, it would be %.2f times as fast.\n", t.Amdahl)
}
