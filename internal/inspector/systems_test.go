package inspector

import (
	"context"
	"testing"

	"github.com/evertick/evertick"
)

func TestSystems(t *testing.T) {
	sim := newSim(t, evertick.Config{Capacity: 64}, 4)
	in := newInspector(t, sim, Config{})
	if err := sim.StepN(5); err != nil {
		t.Fatal(err)
	}
	v := decode[systemsView](t, in.Answer(context.Background(), request(t, "systems"))) // without a safe point
	phases, step := sim.Stats()
	timings, last := sim.Timings()
	if v.Tick != 5 || v.BudgetNs != sim.Config().BudgetNs || v.Step != (stepView{step.P50, step.P95, step.P99, step.Max, last, 5}) || len(v.Phases) != len(phases) {
		t.Fatalf("%+v, want %+v", v, step)
	}
	share := 0.0
	for i, p := range phases {
		got := v.Phases[i]
		share += got.Share
		got.Share = 0
		if got != (phaseView{p.Phase, p.P50, p.P95, p.P99, p.Max, timings[i].Ns, p.Count, 0}) {
			t.Errorf("phase %d is %+v, want %+v", i, got, p)
		}
	}
	if share < 0.999 || share > 1.001 {
		t.Errorf("the shares add up to %g", share)
	}
	none := viewSystems(&evertick.Metrics{Phases: []evertick.PhaseStats{{Phase: "x"}}}, 1)
	if none.Phases[0].Share != 0 {
		t.Errorf("without a tick: %+v", none)
	}
}
