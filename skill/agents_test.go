package skill_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/agent"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/skill"
	"github.com/evertick/evertick/worldlog"
)

// withAgents makes entities 1 and 2 agents, each of which may move only itself. Both try to move entity 1.
func withAgents(y *yard) error {
	decide := agent.Func(func(context.Context, *agent.Perception) (agent.Decision, error) {
		return agent.Decision{Actions: []agent.Action{{
			Name: skill.PlainName("ecs.updateComponent"), Data: []byte(`{"id":"ent_1","position":{"x":-8,"y":4,"z":0}}`),
		}}}, nil
	})
	agents, err := agent.New(y.sim, agent.Config{
		Actions:   []agent.ActionDef{{Name: "ecs_updateComponent", MaxData: 1024}},
		Providers: []agent.ProviderConfig{{Provider: decide}},
		Apply: func(t *evertick.Tick, q *agent.Queued) error {
			return y.r.Apply(t, q.Agent.String(), q.Name, q.Data, q.Decision)
		},
	})
	if err != nil {
		return err
	}
	for _, id := range y.ids[:2] {
		if err := y.r.AddActor(skill.Actor{Name: id.String(), Profile: skill.Player, Entity: id}); err != nil {
			return err
		}
		if err := agents.Add(id, agent.Spec{IntervalTicks: 4}); err != nil {
			return err
		}
	}
	return nil
}

// Agents act through skills, within their permissions, with their decisions as causes, and the
// log replays without their providers.
func TestAgents(t *testing.T) {
	y := newYard(t, yardConfig{})
	if err := withAgents(y); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	rec, err := replay.Record(dir, "agents", y.sim, replay.Options{Log: worldlog.Options{Durability: worldlog.None}})
	if err != nil {
		t.Fatal(err)
	}
	y.r.LogTo(rec.Log())
	codes := map[string]map[skill.Code]int{}
	for guard := time.Now().Add(time.Minute); len(codes) < 2 || codes["ent_1"][skill.OK] < 3 || codes["ent_2"][skill.Forbidden] < 3; {
		if time.Now().After(guard) {
			t.Fatalf("calls of agents: %v", codes)
		}
		y.step(t, 1)
		time.Sleep(time.Millisecond) // for the provider
		clear(codes)
		trace, _ := y.r.Trace(nil, "")
		for _, e := range trace {
			if e.Cause == 0 || e.Skill != "ecs.updateComponent@1" {
				t.Fatalf("%+v", e)
			}
			if codes[e.Actor] == nil {
				codes[e.Actor] = map[skill.Code]int{}
			}
			codes[e.Actor][e.Code]++
		}
	}
	if codes["ent_1"][skill.Forbidden]+codes["ent_2"][skill.OK] > 0 {
		t.Errorf("codes %v", codes)
	}
	slot, _ := y.sim.World.Slot(1)
	if x := y.sim.World.Position.X[slot]; x != -8 {
		t.Errorf("entity 1 at x = %v", x)
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	again := replay.Scenario{Name: "agents", New: func(seed uint64) (*evertick.Sim, error) {
		y, err := buildYard(seed, yardConfig{})
		if err != nil {
			return nil, err
		}
		return y.sim, withAgents(y)
	}}
	rep, err := replay.Verify(dir, again, replay.VerifyOptions{})
	if err != nil || rep.Hash != y.sim.Hash() {
		t.Error(fmt.Sprintf("%+v", rep), err)
	}
}
