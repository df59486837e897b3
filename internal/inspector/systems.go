package inspector

import (
	"context"

	"github.com/evertick/evertick"
)

// systemsView is the answer: durations in nanoseconds since the Sim was made, or ResetStats.
type systemsView struct {
	Tick     uint64      `json:"tick"`
	BudgetNs int64       `json:"budget_ns"`
	Step     stepView    `json:"step"`
	Phases   []phaseView `json:"phases"`
}

type stepView struct {
	P50   int64  `json:"p50_ns"`
	P95   int64  `json:"p95_ns"`
	P99   int64  `json:"p99_ns"`
	Max   int64  `json:"max_ns"`
	Last  int64  `json:"last_ns"`
	Count uint64 `json:"count"`
}

// phaseView is a phase. Share is its median as a part of the sum of all medians.
type phaseView struct {
	Name  string  `json:"name"`
	P50   int64   `json:"p50_ns"`
	P95   int64   `json:"p95_ns"`
	P99   int64   `json:"p99_ns"`
	Max   int64   `json:"max_ns"`
	Last  int64   `json:"last_ns"`
	Count uint64  `json:"count"`
	Share float64 `json:"share"`
}

// viewSystems makes the answer from the figures of a Sim.
func viewSystems(m *evertick.Metrics, budgetNs int64) systemsView {
	v := systemsView{
		Tick: m.Ticks, BudgetNs: budgetNs, Phases: make([]phaseView, 0, len(m.Phases)),
		Step: stepView{m.Step.P50, m.Step.P95, m.Step.P99, m.Step.Max, m.StepNs, m.Step.Count},
	}
	last := map[string]int64{}
	for _, t := range m.Timings {
		last[t.Phase] = t.Ns
	}
	sum := 0.0
	for _, p := range m.Phases {
		v.Phases = append(v.Phases, phaseView{p.Phase, p.P50, p.P95, p.P99, p.Max, last[p.Phase], p.Count, 0})
		sum += float64(p.P50)
	}
	for i := range v.Phases {
		if p := &v.Phases[i]; sum > 0 {
			p.Share = float64(p.P50) / sum
		}
	}
	return v
}

// systems answers GET systems. For a live Sim it does not wait.
func (in *Inspector) systems(ctx context.Context, r *Request, s subject) Answer {
	if l, ok := s.(*live); ok {
		m := l.metrics.Get().(*evertick.Metrics)
		defer l.metrics.Put(m)
		l.monitor.Read(m)
		return JSON(viewSystems(m, l.fixed.BudgetNs))
	}
	return askJSON(ctx, s, r.key(), func(sim *evertick.Sim) (systemsView, error) {
		m := evertick.Metrics{Ticks: sim.Ticks()}
		m.Timings, m.StepNs = sim.Timings()
		m.Phases, m.Step = sim.Stats()
		return viewSystems(&m, sim.Config().BudgetNs), nil
	})
}
