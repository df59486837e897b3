package agent_test

import (
	"context"
	"fmt"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/agent"
	"github.com/evertick/evertick/ecs"
)

// An agent is asked on the tick, decides off the tick, and acts on a later tick; its records show
// which step caused which.
func Example() {
	sim, err := evertick.New(evertick.Config{Capacity: 16})
	if err != nil {
		panic(err)
	}
	model := agent.Func(func(_ context.Context, p *agent.Perception) (agent.Decision, error) {
		fmt.Printf("tick %d: %v sees %v %v m away\n", p.Tick, p.Agent, p.Neighbours[0].ID, p.Neighbours[0].Distance)
		return agent.Decision{Actions: []agent.Action{{Name: "go", Args: []float32{p.Neighbours[0].Distance - 1}}}}, nil
	})
	agents, err := agent.New(sim, agent.Config{
		Actions:   []agent.ActionDef{{Name: "go", Args: []agent.ArgDef{{Name: "x", Min: -5, Max: 5}}}},
		Providers: []agent.ProviderConfig{{Provider: model}},
		Apply: func(t *evertick.Tick, q *agent.Queued) error {
			slot, _ := t.Sim.World.Slot(q.Agent)
			return t.Sim.World.SetPosition(q.Agent, t.Sim.World.Position.X[slot]+q.Args[0], 0, 0)
		},
	})
	if err != nil {
		panic(err)
	}
	ids := make([]ecs.ID, 2)
	if err := sim.World.SpawnN(ids); err != nil {
		panic(err)
	}
	if err := sim.World.SetPosition(ids[1], 4, 0, 0); err != nil {
		panic(err)
	}
	if err := agents.Add(ids[0], agent.Spec{IntervalTicks: 1000, Radius: 10, LatencyTicks: 30}); err != nil {
		panic(err)
	}
	if err := sim.Step(); err != nil { // the agent is asked
		panic(err)
	}
	for agents.Live().Returned == 0 { // a program would go on with its ticks
		time.Sleep(time.Millisecond)
	}
	if err := sim.StepN(40); err != nil {
		panic(err)
	}
	fmt.Println("it stands at", sim.World.Position.X[0])
	for _, r := range agents.Records(nil, 0) {
		fmt.Printf("%d: tick %d: %v, caused by %d\n", r.Seq, r.Tick, r.Type, r.Cause)
	}
	if err := agents.Close(context.Background()); err != nil {
		panic(err)
	}
	// Output:
	// tick 0: ent_1 sees ent_2 4 m away
	// it stands at 3
	// 1: tick 0: Perceived, caused by 0
	// 2: tick 0: Issued, caused by 1
	// 3: tick 1: Accepted, caused by 2
	// 4: tick 30: Applied, caused by 3
}
