package causal_test

import (
	"context"
	"os"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/agent"
	"github.com/evertick/evertick/causal"
	"github.com/evertick/evertick/skill"
)

// An agent acts through a skill. The lines lead from what the call did back to what the agent perceived.
func Example() {
	sim, err := evertick.New(evertick.Config{Capacity: 16})
	if err != nil {
		panic(err)
	}
	skills, err := skill.New(sim, skill.Config{})
	if err != nil {
		panic(err)
	}
	if err := skill.Standard(skills); err != nil {
		panic(err)
	}
	model := agent.Func(func(context.Context, *agent.Perception) (agent.Decision, error) {
		return agent.Decision{Actions: []agent.Action{{Name: "ecs_updateComponent", Data: []byte(`{"id":"ent_1","position":[5,0,0]}`)}}}, nil
	})
	agents, err := agent.New(sim, agent.Config{
		Actions:   []agent.ActionDef{{Name: "ecs_updateComponent", MaxData: 1024}},
		Providers: []agent.ProviderConfig{{Provider: model}},
		Apply: func(t *evertick.Tick, q *agent.Queued) error {
			return skills.Apply(t, q.Agent.String(), q.Name, q.Data, q.Decision)
		},
	})
	if err != nil {
		panic(err)
	}
	// guide:begin tap
	tap := causal.Attach(sim, nil, causal.JSONLines(os.Stdout)) // nil: the log of a replay.Recorder, if there is one
	agents.LogTo(tap)
	skills.LogTo(tap)
	// guide:end

	id, err := sim.World.Spawn()
	if err != nil {
		panic(err)
	}
	if err := skills.AddActor(skill.Actor{Name: id.String(), Profile: skill.Player, Entity: id}); err != nil {
		panic(err)
	}
	if err := agents.Add(id, agent.Spec{IntervalTicks: 1000, LatencyTicks: 30}); err != nil {
		panic(err)
	}
	if err := sim.Step(); err != nil {
		panic(err)
	}
	for agents.Live().Returned == 0 { // a program would go on with its ticks
		time.Sleep(time.Millisecond)
	}
	if err := sim.StepN(40); err != nil {
		panic(err)
	}
	if err := agents.Close(context.Background()); err != nil {
		panic(err)
	}
	// Output:
	// {"id":"agent/1","kind":"perceived","tick":0,"time":0.000000000,"decision":"1","agent":"ent_1","hash":"7e7e63e9f41d2e16"}
	// {"id":"agent/2","kind":"issued","tick":0,"time":0.000000000,"cause":"agent/1","decision":"1","agent":"ent_1","provider":0,"hash":"7e7e63e9f41d2e16"}
	// {"id":"input/1/4294901857/1","kind":"input","tick":1,"time":0.016666666,"decision":"1","source":4294901857,"input_kind":1634168436,"seq":"1","late":0,"bytes":65,"hash":"2badb163fd37d214","of":"decision"}
	// {"id":"agent/3","kind":"accepted","tick":1,"time":0.016666666,"cause":"agent/2","decision":"1","agent":"ent_1","index":0,"actions":1,"hash":"a847989eaa9c45f4"}
	// {"id":"call/1","kind":"call","tick":30,"time":0.500000000,"decision":"1","actor":"ent_1","profile":"player","entity":"ent_1","skill":"ecs.updateComponent@1","code":"ok","input":"6f8f7883ceeccd16","output":"55b56360ab8a70b5"}
	// {"id":"agent/4","kind":"applied","tick":30,"time":0.500000000,"cause":"agent/3","decision":"1","agent":"ent_1","index":0,"actions":1}
}
