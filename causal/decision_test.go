package causal_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"testing"
	"testing/synctest"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/agent"
	"github.com/evertick/evertick/causal"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/skill"
	"github.com/evertick/evertick/worldlog"
)

const otherSource = 99

// calls makes calls whose inputs all differ, and keeps the decision that each of them carries out.
type calls struct {
	made int
	want map[uint64]skill.AgentDecision // by the hash of the input
	kind map[string]int
}

func (c *calls) input(kind string, d skill.AgentDecision) []byte {
	c.made++
	c.kind[kind]++
	data := fmt.Appendf(nil, `{"id":"ent_1","position":[0,%d,0]}`, c.made)
	c.want[statehash.Bytes(data, 1, false)] = d
	return data
}

// Every call that carries out a decision belongs to it, under any name and by any method. No other call belongs to one,
// though its actor is called like an entity and it has a cause. The log says the same.
func TestCallsBelongToTheirDecisions(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := loop.NewRand(paritytest.Seed(), 0, 0, 0)
		sim, err := evertick.New(evertick.Config{Capacity: 8})
		if err != nil {
			t.Fatal(err)
		}
		skills, err := skill.New(sim, skill.Config{Rate: skill.Unlimited})
		if err != nil {
			t.Fatal(err)
		}
		c := &calls{want: map[uint64]skill.AgentDecision{}, kind: map[string]int{}}
		names := []string{"ent_1", "ent_2", "ent_3", "crowd", "watched", "stranger"}
		act := func(source uint32, apply skill.Applier) func(*evertick.Tick, *agent.Queued) error {
			return func(tick *evertick.Tick, q *agent.Queued) error {
				d := skill.AgentDecision{Source: source, Number: q.Decision}
				name := names[r.IntN(len(names))]
				if r.IntN(4) == 0 {
					_, err := skills.CallOf(tick, skill.Actor{Name: name, Profile: skill.Admin}, "ecs.updateComponent", c.input("CallOf", d), d)
					return err
				}
				own := "as another"
				if name == q.Agent.String() {
					own = "as itself"
				}
				return apply(tick, name, "ecs_updateComponent", c.input(own, d), q.Decision)
			}
		}
		config := agent.Config{
			Actions: []agent.ActionDef{{Name: "act"}},
			Providers: []agent.ProviderConfig{{Provider: agent.Func(func(context.Context, *agent.Perception) (agent.Decision, error) {
				return agent.Decision{Actions: []agent.Action{{Name: "act"}, {Name: "act", After: 1}}}, nil
			})}},
			Apply: act(0, skills.Apply),
		}
		agents, err := agent.New(sim, config)
		if err != nil {
			t.Fatal(err)
		}
		config.Name, config.Source, config.Apply = "others", otherSource, act(otherSource, skills.ApplierOf(otherSource))
		others, err := agent.New(sim, config)
		if err != nil {
			t.Fatal(err)
		}
		if err := errors.Join(skill.Standard(skills), skill.Approvals(skills),
			skills.AddProfile(skill.Profile{Name: "watched", Permissions: []string{"*"}, Approval: []string{"*"}})); err != nil {
			t.Fatal(err)
		}
		for i := range 3 {
			id, err := sim.World.Spawn()
			group := agents
			if i == 2 {
				group = others
			}
			if err = errors.Join(err, group.Add(id, agent.Spec{IntervalTicks: 2})); err != nil {
				t.Fatal(err)
			}
		}
		for _, name := range names[:5] {
			a := skill.Actor{Name: name, Profile: skill.Admin}
			if name == "watched" {
				a.Profile = "watched"
			}
			if err := skills.AddActor(a); err != nil {
				t.Fatal(err)
			}
		}
		if err := sim.Add(evertick.BeforePhysics, "caller", func(tick *evertick.Tick) error {
			_, err := skills.Call(tick, skill.Actor{Name: "ent_1", Profile: skill.Admin}, "ecs.updateComponent", c.input("system", skill.AgentDecision{}), 1+r.Uint64()%5)
			return err
		}); err != nil {
			t.Fatal(err)
		}
		dir := t.TempDir()
		rec, err := replay.Record(dir, "decisions", sim, replay.Options{Log: worldlog.Options{Durability: worldlog.None}})
		if err != nil {
			t.Fatal(err)
		}
		var lines bytes.Buffer
		met := map[string]int{}
		check := func(s *causal.Step) error {
			if s.Event == nil || s.Event.Skill != "ecs.updateComponent@1" {
				return nil
			}
			want := c.want[s.Event.Input]
			source, number, ok := s.Decision()
			if want.Source == 0 {
				want.Source = agent.DefaultSource
			}
			if ok != (want.Number != 0) || ok && (source != want.Source || number != want.Number) {
				return fmt.Errorf("%+v: decision %d of %d: %v, want %+v", s.Event, number, source, ok, want)
			}
			if s.Event.Held != 0 && ok {
				met["held"]++
			}
			if ok && bytes.Contains(s.AppendJSON(nil), fmt.Appendf(nil, `"decision":"%d","decision_source":99,`, number)) != (source == otherSource) {
				return fmt.Errorf("%s: of source %d", s.AppendJSON(nil), source)
			}
			return nil
		}
		print := causal.JSONLines(&lines)
		tap := causal.Attach(sim, rec.Log(), func(s *causal.Step) error { return errors.Join(check(s), print(s)) })
		agents.LogTo(tap)
		others.LogTo(tap)
		skills.LogTo(tap)
		outside, err := skills.Caller(skill.Actor{Name: "ent_2", Profile: skill.Admin})
		if err != nil {
			t.Fatal(err)
		}
		boss, err := skills.Caller(skill.Actor{Name: "boss", Profile: skill.Admin})
		if err != nil {
			t.Fatal(err)
		}
		for range 40 {
			_, err := outside.Submit("ecs.updateComponent", c.input("outside", skill.AgentDecision{}), 1+r.Uint64()%5)
			events, _ := skills.Trace(nil, "watched")
			for _, e := range events {
				if e.Code == skill.PendingApproval && e.Tick+1 == sim.Ticks() {
					_, err2 := boss.Submit([]string{"skills.approve", "skills.reject"}[r.IntN(2)], fmt.Appendf(nil, `{"call":%d}`, e.Seq), 0)
					err = errors.Join(err, err2)
				}
			}
			if err = errors.Join(err, sim.Step()); err != nil {
				t.Fatal(err)
			}
			synctest.Wait()
		}
		if err := errors.Join(rec.Close(), agents.Close(t.Context()), others.Close(t.Context())); err != nil {
			t.Fatal(err)
		}
		var again bytes.Buffer
		if err := causal.Read(dir, nil, causal.JSONLines(&again)); err != nil {
			t.Fatal(err)
		}
		compare(t, "log", lines.Bytes(), again.Bytes())
		for _, kind := range []string{"CallOf", "as itself", "as another", "system", "outside"} {
			if c.kind[kind] == 0 {
				t.Errorf("no call %s: %v", kind, c.kind)
			}
		}
		if met["held"] == 0 {
			t.Error("no held call of a decision has ended")
		}
	})
}
