package agent_test

import (
	"testing"
	"testing/synctest"

	"github.com/evertick/evertick"
)

// Agents perceive, decide and act the same in a Sim whose rows move, also while answers are under way.
func TestAgentsWhoseRowsMove(t *testing.T) {
	run := func(policy evertick.ReorderPolicy) (p *park) {
		synctest.Test(t, func(t *testing.T) {
			c := liveConfig()
			c.sim.Reorder = policy
			p = mustPark(t, c)
			runLive(t, p, 200)
			shut(t, p)
		})
		return p
	}
	still, moving := run(evertick.ReorderPolicy{}), run(evertick.ReorderPolicy{Every: 1})
	if still.agents.Stats().Applied < 20 || moving.sim.World.Generation() < 10 {
		t.Fatalf("%+v, %d reorders", still.agents.Stats(), moving.sim.World.Generation())
	}
	if a, b := still.agents.Stats(), moving.agents.Stats(); a != b || still.agents.Chain() != moving.agents.Chain() {
		t.Errorf("counts %+v\nwith reorders %+v", a, b)
	}
	for _, id := range still.ids {
		a, _ := still.sim.World.Slot(id)
		b, _ := moving.sim.World.Slot(id)
		if p, q := &still.sim.World.Position, &moving.sim.World.Position; p.X[a] != q.X[b] || p.Z[a] != q.Z[b] {
			t.Errorf("%v is at (%v, %v), with reorders at (%v, %v)", id, p.X[a], p.Z[a], q.X[b], q.Z[b])
		}
	}
}
