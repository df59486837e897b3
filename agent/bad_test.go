package agent_test

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/agent"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/worldlog"
)

// act encodes an action as in answer.go.
func act(kind, target, after uint64, data string, args ...float32) (b []byte) {
	for _, v := range []uint64{kind, target, after, uint64(len(args))} {
		b = binary.AppendUvarint(b, v)
	}
	for _, v := range args {
		b = binary.LittleEndian.AppendUint32(b, math.Float32bits(v))
	}
	b = binary.AppendUvarint(b, uint64(len(data)))
	return append(b, data...)
}

// waiting is a park with an agent that waits for decision 1, and the hash of its perception.
func waiting(t testing.TB) (*park, uint64) {
	t.Helper()
	p := mustPark(t, parkConfig{number: 1, spec: agent.Spec{IntervalTicks: 1000}, agents: agent.Config{Mode: agent.Replay, Providers: one(mustNotAsk(t))}})
	p.step(t, 1)
	rec := p.agents.Records(nil, 0)
	if len(rec) != 2 || rec[1].Type != agent.Issued {
		t.Fatalf("%v", rec)
	}
	return p, rec[1].Hash
}

func (p *park) push(t testing.TB, seq uint64, data []byte) {
	t.Helper()
	if err := p.sim.Push(evertick.Input{Source: agent.DefaultSource, Kind: agent.DefaultKind, Seq: seq, Data: data}); err != nil {
		t.Fatal(err)
	}
}

// busyAnswer is the answer of a provider that asks for time, with the bytes of the ticks.
func busyAnswer(hash uint64, ticks ...byte) []byte {
	b := answer(1, 1, hash)[:26]
	b[1] = byte(agent.ProviderBusy)
	return append(b, ticks...)
}

// Invalid answers change nothing but the counts, and the decision that they answer.
func TestHostileInputs(t *testing.T) {
	nan := float32(math.NaN())
	for _, c := range []struct {
		name   string
		data   func(hash uint64) []byte
		reason agent.Reason
		free   bool // the agent waits no longer
	}{
		{"empty", func(uint64) []byte { return nil }, agent.Malformed, false},
		{"short", func(h uint64) []byte { return answer(1, 1, h)[:20] }, agent.Malformed, false},
		{"version", func(h uint64) []byte { b := answer(1, 1, h); b[0] = 2; return b }, agent.Malformed, false},
		{"reason", func(h uint64) []byte { b := answer(1, 1, h); b[1] = 200; return b }, agent.Malformed, false},
		{"nobody", func(h uint64) []byte { return answer(1, 0, h) }, agent.Malformed, false},
		{"another agent", func(h uint64) []byte { return answer(1, 99, h) }, agent.Late, false},
		{"decision to come", func(h uint64) []byte { return answer(2, 1, h) }, agent.Unasked, false},
		{"decision 0", func(h uint64) []byte { return answer(0, 1, h) }, agent.Unasked, false},
		{"other perception", func(h uint64) []byte { return answer(1, 1, h+1) }, agent.StaleAnswer, false},
		{"no count", func(h uint64) []byte { return answer(1, 1, h)[:26] }, agent.Malformed, true},
		{"trailing", func(h uint64) []byte { return append(answer(1, 1, h), 0) }, agent.Malformed, true},
		{"long form", func(h uint64) []byte { return append(answer(1, 1, h)[:26], 0x80, 0) }, agent.Malformed, true},
		{"a million actions", func(h uint64) []byte { return binary.AppendUvarint(answer(1, 1, h)[:26], 1_000_000) }, agent.TooManyActions, true},
		{"count beyond all", func(h uint64) []byte { return binary.AppendUvarint(answer(1, 1, h)[:26], math.MaxUint64) }, agent.Malformed, true},
		{"one of two", func(h uint64) []byte {
			return append(binary.AppendUvarint(answer(1, 1, h)[:26], 2), act(goTo, 0, 0, "", 1, 1)...)
		}, agent.Malformed, true},
		{"unknown", func(h uint64) []byte { return answer(1, 1, h, act(3, 0, 0, "")) }, agent.UnknownAction, true},
		{"unknown behind a good one", func(h uint64) []byte { return answer(1, 1, h, act(goTo, 0, 0, "", 1, 1), act(99, 0, 0, "")) }, agent.UnknownAction, true},
		{"NaN", func(h uint64) []byte { return answer(1, 1, h, act(goTo, 0, 0, "", nan, 1)) }, agent.NotFinite, true},
		{"bounds", func(h uint64) []byte { return answer(1, 1, h, act(goTo, 0, 0, "", 4, 1)) }, agent.BadArgs, true},
		{"arguments", func(h uint64) []byte { return answer(1, 1, h, act(goTo, 0, 0, "", 1, 1, 1)) }, agent.BadArgs, true},
		{"sixty-five arguments", func(h uint64) []byte { return answer(1, 1, h, act(goTo, 0, 0, "", make([]float32, 65)...)) }, agent.Malformed, true},
		{"target", func(h uint64) []byte { return answer(1, 1, h, act(touch, 0, 0, "")) }, agent.BadTarget, true},
		{"delay", func(h uint64) []byte { return answer(1, 1, h, act(say, 0, agent.MaxAfter+1, "")) }, agent.BadDelay, true},
		{"data of 33 characters", func(h uint64) []byte { return answer(1, 1, h, act(say, 0, 0, strings.Repeat("漢", 33))) }, agent.TooLarge, true},
		{"data that is no text", func(h uint64) []byte { return answer(1, 1, h, act(say, 0, 0, strings.Repeat("\xff", 33))) }, agent.TooLarge, true},
		{"data", func(h uint64) []byte { return answer(1, 1, h, act(say, 0, 0, strings.Repeat("x", 33))) }, agent.TooLarge, true},
		{"length beyond the end", func(h uint64) []byte { b := answer(1, 1, h, act(say, 0, 0, "xx")); b[len(b)-3] = 3; return b }, agent.Malformed, true},
		{"large", func(h uint64) []byte { return append(answer(1, 1, h), make([]byte, 20<<10)...) }, agent.TooLarge, true},
		{"long text", func(h uint64) []byte {
			b := answer(1, 1, h)[:26]
			b[1] = byte(agent.ProviderError)
			return append(b, make([]byte, 257)...)
		}, agent.TooLarge, true},
		{"busy without ticks", func(h uint64) []byte { return busyAnswer(h) }, agent.Malformed, true},
		{"ticks in a long form", func(h uint64) []byte { return busyAnswer(h, 0x81, 0) }, agent.Malformed, true},
		{"ticks beyond all", func(h uint64) []byte { return busyAnswer(h, 0x81, 0x80, 0x80, 0x80, 4) }, agent.Malformed, true},
		{"long text of ticks", func(h uint64) []byte { return append(busyAnswer(h, 5), make([]byte, 257)...) }, agent.TooLarge, true},
		{"most ticks", func(h uint64) []byte { return append(busyAnswer(h, 0x80, 0x80, 0x80, 0x80, 4), make([]byte, 256)...) }, agent.ProviderBusy, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			p, hash := waiting(t)
			p.push(t, 1, c.data(hash))
			p.step(t, 3)
			s := p.agents.Stats()
			if s.Rejected != 1 || s.Reason(c.reason) != 1 || s.Accepted+s.Applied != 0 || p.agents.Waiting() != 0 || p.vx[0] != 0 {
				t.Errorf("%+v", s)
			}
			if free := p.agents.InFlight(1) == 0; free != c.free {
				t.Errorf("waits no longer: %t", free)
			}
			if c.free {
				return
			}
			p.push(t, 2, answer(1, 1, hash, act(goTo, 0, 0, "", 1, -2)))
			p.step(t, 1)
			if s := p.agents.Stats(); s.Applied != 1 || p.vx[0] != 1 || p.vz[0] != -2 {
				t.Errorf("and a good one: %+v", s)
			}
		})
	}
}

// The second answer to a decision counts for nothing, whether it comes in the same tick or later.
func TestAnsweredTwice(t *testing.T) {
	p, hash := waiting(t)
	p.push(t, 5, answer(1, 1, hash, act(goTo, 0, 0, "", 1, 0)))
	p.push(t, 6, answer(1, 1, hash, act(goTo, 0, 0, "", 2, 0)))
	p.step(t, 1)
	p.push(t, 7, answer(1, 1, hash, act(goTo, 0, 0, "", 3, 0)))
	p.step(t, 2)
	if s := p.agents.Stats(); s.Reason(agent.Duplicate) != 2 || s.Applied != 1 || p.vx[0] != 1 {
		t.Errorf("%+v, %v", s, p.vx[0])
	}
}

// Agents ignore other inputs.
func TestOtherInputs(t *testing.T) {
	p, hash := waiting(t)
	data := answer(1, 1, hash, act(goTo, 0, 0, "", 1, 0))
	for i, in := range []evertick.Input{{Source: agent.DefaultSource, Kind: 1}, {Source: 1, Kind: agent.DefaultKind}} {
		in.Seq, in.Data = uint64(i), data
		if err := p.sim.Push(in); err != nil {
			t.Fatal(err)
		}
	}
	p.step(t, 2)
	if s := p.agents.Stats(); s.Rejected+s.Accepted != 0 {
		t.Errorf("%+v", s)
	}
}

// A million waiting actions meet their limit, and no accepted action is lost.
func TestMillionActions(t *testing.T) {
	if testing.Short() {
		t.Skip("takes a second")
	}
	synctest.Test(t, func(t *testing.T) {
		many := make([]agent.Action, 1<<10)
		for i := range many {
			many[i] = agent.Action{Name: "say", After: 5}
		}
		applied := 0
		p := mustPark(t, parkConfig{number: 200, unison: true, spec: agent.Spec{IntervalTicks: 1000}, agents: agent.Config{
			MaxActions: 1 << 10, AgentQueue: 1 << 10, Queue: 100_000, Providers: one(does(many...)), ActionsPerTick: 30_000, AgentActionsPerTick: 1 << 10,
			Apply: func(*evertick.Tick, *agent.Queued) error { applied++; return nil }}})
		for range 1000 {
			if p.sim.Ticks() > 12 {
				break
			}
			p.step(t, 1)
			synctest.Wait()
		}
		if s := p.agents.Stats(); s.Accepted != 97 || s.Reason(agent.QueueFull) != 200-97 || applied != 97<<10 || s.Applied != 97<<10 || s.QueueHigh != 97<<10 || s.Deferred == 0 {
			t.Errorf("%d applied; %+v", applied, s)
		}
		shut(t, p)
	})
}

func TestConfigValidate(t *testing.T) {
	if err := (agent.Config{}).Validate(); err != nil {
		t.Error(err)
	}
	bad := agent.Config{
		Name: strings.Repeat("n", 241), MaxNeighbours: -1, Events: -1, MaxEvents: -1, InFlight: -1, StartsPerTick: -1, Queue: -1, AgentQueue: -1,
		ActionsPerTick: -1, AgentActionsPerTick: -1, MaxAgents: -1, Records: -1, MaxActions: -1, MaxBytes: 1, DeadlineTicks: 1 << 31, Timeout: -1, Mode: 9,
		Actions:   []agent.ActionDef{{Name: "a b"}, {Name: "x", Target: 3, MaxData: -1, Args: []agent.ArgDef{{Name: "", Min: 2, Max: 1}, {Name: "target"}}}, {Name: "x"}},
		Providers: []agent.ProviderConfig{{InFlight: -1, StartsPerTick: -1, Abandoned: -1}},
		Tags:      []string{"", "a", "a"},
	}
	err := bad.Validate()
	for _, field := range []string{"Name", "MaxNeighbours", "Config.Events", "MaxEvents", "Config.InFlight", "Config.StartsPerTick", "Config.Queue", "AgentQueue",
		"Config.ActionsPerTick", "AgentActionsPerTick", "MaxAgents", "Records", "MaxActions", "MaxBytes", "DeadlineTicks", "Timeout", "Mode", "Actions[0].Name",
		"Actions[1].Target", "Actions[1].MaxData", "Actions[1].Args[0]", "Actions[1].Args[0].Name", "Actions[1].Args[1].Name", "Actions[2].Name",
		"Providers[0].Provider", "Providers[0].InFlight", "Providers[0].StartsPerTick", "Providers[0].Abandoned", "Tags[0]", "Tags[2]"} {
		if err == nil || !strings.Contains(err.Error(), field) {
			t.Errorf("not named: %s", field)
		}
	}
	if !errors.Is(err, fault.ErrRange) {
		t.Error(err)
	}
	sim, err := evertick.New(evertick.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := agent.New(sim, bad); !errors.Is(err, fault.ErrRange) {
		t.Error(err)
	}
	if _, err := agent.New(sim, agent.Config{}); err != nil {
		t.Error(err)
	}
	if _, err := agent.New(sim, agent.Config{}); !errors.Is(err, fault.ErrRange) {
		t.Errorf("two of one name: %v", err)
	}
}

func TestAddRefuses(t *testing.T) {
	p := mustPark(t, parkConfig{number: 2, agents: agent.Config{MaxAgents: 2, Providers: one(agent.Random{})}})
	id, err := p.sim.World.Spawn()
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		id   ecs.ID
		spec agent.Spec
		want error
		text string
	}{
		{p.ids[0], agent.Spec{}, fault.ErrRange, "ent_1"},
		{99, agent.Spec{}, fault.ErrStale, "ent_99"},
		{0, agent.Spec{}, fault.ErrStale, "entity"},
		{id, agent.Spec{}, fault.ErrCapacity, "MaxAgents"},
		{id, agent.Spec{Radius: -1}, fault.ErrRange, "Radius"},
		{id, agent.Spec{Radius: float32(math.Inf(1))}, fault.ErrNotFinite, "Radius"},
		{id, agent.Spec{Provider: 1}, fault.ErrRange, "Provider"},
		{id, agent.Spec{Weight: 1<<20 + 1}, fault.ErrRange, "Weight"},
		{id, agent.Spec{IntervalTicks: 5, Phase: 5}, fault.ErrRange, "Phase"},
		{id, agent.Spec{IntervalTicks: 1<<30 + 1}, fault.ErrRange, "IntervalTicks"},
		{id, agent.Spec{LatencyTicks: agent.MaxAfter + 1}, fault.ErrRange, "LatencyTicks"},
		{id, agent.Spec{DeadlineTicks: 1<<30 + 1}, fault.ErrRange, "DeadlineTicks"},
		{id, agent.Spec{Timeout: -1}, fault.ErrRange, "Timeout"},
		{id, agent.Spec{Shed: agent.Fallback}, fault.ErrRange, "Shed"},
		{id, agent.Spec{Shed: 9}, fault.ErrRange, "Shed"},
	} {
		if err := p.agents.Add(c.id, c.spec); !errors.Is(err, c.want) || !strings.Contains(err.Error(), c.text) {
			t.Errorf("%v, %+v: %v; want %v that names %s", c.id, c.spec, err, c.want, c.text)
		}
	}
	if p.agents.Len() != 2 {
		t.Errorf("%d agents", p.agents.Len())
	}
}

// Invalid events are refused, and the last ones are kept.
func TestNotify(t *testing.T) {
	var seen []agent.Event
	p := mustPark(t, parkConfig{number: 1, spec: agent.Spec{Shed: agent.Fallback, Radius: 5}, agents: agent.Config{Events: 4, MaxEvents: 3,
		Fallback: func(p *agent.Perception, dst []agent.Action) []agent.Action {
			seen = slices.Clone(p.Events)
			return dst
		}},
		setup: func(p *park) error {
			return p.sim.Add(evertick.BeforePhysics, "notify", func(t *evertick.Tick) error {
				x, z := p.sim.World.Position.X[0], p.sim.World.Position.Z[0]
				near, far := [3]float32{x + 3, 4, z}, [3]float32{x + 3, 4.001, z}
				var errs []error
				for i, e := range []agent.Event{
					{Kind: 1, Position: near}, // gone: the fifth from the end
					{Kind: 2, Position: near}, {Kind: 3, Position: far}, {Kind: 4, Position: far, Object: p.ids[0]}, {Kind: 5, Position: far, Subject: p.ids[0], Value: 2},
				} {
					if err := p.agents.Notify(t, e); err != nil {
						errs = append(errs, fmt.Errorf("%d: %w", i, err))
					}
				}
				for _, e := range []agent.Event{{Value: float32(math.NaN())}, {Position: [3]float32{0, float32(math.Inf(1)), 0}}} {
					if err := p.agents.Notify(t, e); !errors.Is(err, fault.ErrNotFinite) {
						errs = append(errs, fmt.Errorf("%+v: %v", e, err))
					}
				}
				return errors.Join(errs...)
			})
		}})
	p.step(t, 2)
	kinds := ""
	for _, e := range seen {
		kinds += fmt.Sprint(e.Kind, "@", e.Tick, " ")
	}
	if kinds != "2@1 4@1 5@1 " {
		t.Errorf("events %s", kinds)
	}
}

// A perception equals that of a search through all entities.
func TestPerceptionModel(t *testing.T) {
	for _, limit := range []int{3, 64} {
		checked, unseen := 0, 0
		var p *park
		p = mustPark(t, parkConfig{number: 60, spec: agent.Spec{Shed: agent.Fallback, Radius: 6}, agents: agent.Config{MaxNeighbours: limit,
			Fallback: func(got *agent.Perception, dst []agent.Action) []agent.Action {
				checkPerception(t, p, got, limit)
				checked++
				unseen += got.Unseen
				r := loop.NewRand(4, got.Tick, uint64(got.Agent), 0)
				if d, _ := (agent.Random{Seed: 4}).Decide(context.Background(), got); len(d.Actions) > 0 && r.Bool() {
					dst = append(dst, d.Actions...)
				}
				return dst
			}}})
		p.step(t, 20)
		if checked != 1200 || limit == 3 == (unseen == 0) || p.tags == 0 {
			t.Errorf("%d perceptions, %d unseen, %d tags", checked, unseen, p.tags)
		}
	}
}

func checkPerception(t *testing.T, p *park, got *agent.Perception, limit int) {
	t.Helper()
	w := p.sim.World
	self, _ := w.Slot(got.Agent)
	type other struct {
		slot ecs.Slot
		d2   float32
	}
	var all []other
	for _, id := range p.ids {
		s, _ := w.Slot(id)
		dx, dy, dz := w.Position.X[s]-w.Position.X[self], w.Position.Y[s]-w.Position.Y[self], w.Position.Z[s]-w.Position.Z[self]
		if d2 := float32(float32(dx*dx)+float32(dy*dy)) + float32(dz*dz); s != self && d2 <= 36 {
			all = append(all, other{s, d2})
		}
	}
	slices.SortFunc(all, func(a, b other) int {
		if a.d2 != b.d2 {
			return int(math.Copysign(1, float64(a.d2-b.d2)))
		}
		return int(a.slot) - int(b.slot)
	})
	want := all[:min(len(all), limit)]
	if got.Tick != p.sim.Ticks() || len(got.Neighbours) != len(want) || got.Unseen != len(all)-len(want) || got.Radius != 6 || got.Hash == 0 {
		t.Fatalf("%v: %d neighbours, %d unseen; want %d of %d", got.Agent, len(got.Neighbours), got.Unseen, len(want), len(all))
	}
	for i, n := range got.Neighbours {
		s := want[i].slot
		id, _ := w.ID(s)
		tags := uint64(0)
		if p.tagged.Has(id) {
			tags = 1
		}
		if n.ID != id || n.Position != [3]float32{w.Position.X[s], w.Position.Y[s], w.Position.Z[s]} || n.Tags != tags || n.Distance != float32(math.Sqrt(float64(want[i].d2))) {
			t.Fatalf("%v: neighbour %d is %+v, want %v", got.Agent, i, n, id)
		}
	}
}

// Anything that differs in a perception differs in its hash.
func TestPerceptionHash(t *testing.T) {
	hashOf := func(change func(*park, *evertick.Tick) error) (hash uint64) {
		p := mustPark(t, parkConfig{number: 3, spec: agent.Spec{Shed: agent.Fallback, Radius: 100},
			agents: agent.Config{Fallback: func(p *agent.Perception, dst []agent.Action) []agent.Action {
				if p.Agent == 1 && p.Tick == 2 {
					hash = p.Hash
				}
				return dst
			}},
			setup: func(p *park) error {
				return p.sim.Add(evertick.BeforePhysics, "change", func(t *evertick.Tick) error {
					if t.N == 2 && change != nil {
						return change(p, t)
					}
					return nil
				})
			}})
		p.step(t, 3)
		return hash
	}
	seen := map[uint64]int{}
	for i, change := range []func(*park, *evertick.Tick) error{
		nil,
		func(p *park, _ *evertick.Tick) error { p.tagged.Set(2); return nil },
		func(p *park, _ *evertick.Tick) error { p.tagged.Set(3); return nil },
		func(p *park, _ *evertick.Tick) error { p.tagged.Set(1); return nil },
		func(p *park, _ *evertick.Tick) error {
			return p.sim.World.SetPosition(2, p.sim.World.Position.X[1], 1e-9, p.sim.World.Position.Z[1])
		},
		func(p *park, _ *evertick.Tick) error { p.sim.World.Despawn(2); return nil },
		func(p *park, t *evertick.Tick) error { return p.agents.Notify(t, agent.Event{Subject: 1}) },
		func(p *park, t *evertick.Tick) error { return p.agents.Notify(t, agent.Event{Subject: 1, Value: 1}) },
	} {
		h := hashOf(change)
		if was, there := seen[h]; there || h == 0 {
			t.Errorf("change %d: hash %x, as change %d", i, h, was)
		}
		seen[h] = i
	}
	if a, b := hashOf(nil), hashOf(nil); a != b {
		t.Error("no function")
	}
}

// midway is a park with everything in its state, and that state.
func midway(t testing.TB) (*park, []byte) {
	t.Helper()
	var p *park
	run := func(t testing.TB) {
		c := liveConfig()
		c.agents.Providers[0].Provider = agent.Random{Seed: 5, MaxActions: 3}
		c.agents.Events = 8
		p = mustPark(t, c)
		p.step(t, 1)
		for i, id := range p.ids[:6] {
			rec := p.agents.Records(nil, 0)
			at := slices.IndexFunc(rec, func(r agent.Record) bool { return r.Type == agent.Issued && r.Agent == id })
			if at < 0 {
				continue
			}
			p.push(t, uint64(1000+i), answer(rec[at].Decision, id, rec[at].Hash, act(goTo, 0, 9, "", 1, 1), act(say, 0, 3, "hello"), act(touch, 3, 0, "")))
		}
		p.step(t, 2)
	}
	run(t)
	shut(t, p)
	state := p.agents.AppendState(nil)
	if p.agents.Waiting() == 0 {
		t.Fatal("nothing waits")
	}
	return p, state
}

// A state that was truncated, or altered in any byte, is refused and leaves the agents as they were, or is
// a valid state: then AppendState returns the same bytes.
func TestRestoreState(t *testing.T) {
	p, state := midway(t)
	if err := p.agents.RestoreState(state); err != nil {
		t.Fatal(err)
	}
	if got := p.agents.AppendState(nil); !bytes.Equal(got, state) {
		t.Fatal("not what was restored")
	}
	urgent := bytes.Clone(state) // of version 2, in which the agents have a priority
	urgent[0] = 2
	urgent = append(urgent, bytes.Repeat([]byte{7}, p.agents.Len())...)
	urgent = append(urgent, 1, 0, 0, 0, 7, 0, 0, 0)
	urgent = append(urgent, make([]byte, 2*8+2*8)...)
	if err := p.agents.RestoreState(urgent); err != nil {
		t.Fatal(err)
	}
	delayed := bytes.Clone(state) // of version 3, without priorities
	delayed[0] = 3
	delayed = append(delayed, make([]byte, p.agents.Len()+4)...)
	delayed = append(delayed, 2, 0, 0, 0, 0, 0, 0, 0, 99, 0, 0, 0, 0, 0, 0, 0)
	if err := p.agents.RestoreState(delayed); err != nil || p.agents.NotBefore(0) != 99 {
		t.Fatal(err)
	}
	check := func(what string, data []byte) {
		t.Helper()
		was := p.agents.AppendState(nil)
		err := p.agents.RestoreState(data)
		got := p.agents.AppendState(nil)
		switch {
		case err == nil && !bytes.Equal(got, data):
			t.Fatalf("%s: restored to something else", what)
		case err != nil && !bytes.Equal(got, was):
			t.Fatalf("%s: %v, and changed", what, err)
		case err != nil && !errors.Is(err, fault.ErrCorrupt) && !errors.Is(err, fault.ErrUnsupported) && !errors.Is(err, fault.ErrCapacity):
			t.Fatalf("%s: %v", what, err)
		}
	}
	for _, state := range [][]byte{state, urgent, delayed} {
		for n := range len(state) {
			if err := p.agents.RestoreState(state[:n]); err == nil {
				t.Fatalf("%d bytes of %d were restored", n, len(state))
			}
			check("cut", state[:n])
			data := bytes.Clone(state)
			data[n] ^= 1 << (n % 8)
			check(fmt.Sprint("bit in byte ", n), data)
			data[n] = 0xff
			check(fmt.Sprint("0xff in byte ", n), data)
		}
	}
}

func FuzzRestoreState(f *testing.F) {
	p, state := midway(f)
	f.Add(state)
	f.Add(state[:100])
	urgent := bytes.Clone(state) // version 2: no agent has a priority, but an earlier one had
	urgent[0] = 2
	urgent = append(urgent, make([]byte, p.agents.Len())...)
	urgent = append(urgent, 1, 0, 0, 0, 7, 0, 0, 0)
	f.Add(append(urgent, make([]byte, 2*8+2*8)...))
	f.Fuzz(func(t *testing.T, data []byte) {
		if err := p.agents.RestoreState(data); err == nil && !bytes.Equal(p.agents.AppendState(nil), data) {
			t.Error("restored to something else")
		}
	})
}

// FuzzAnswer: any answer is applied whole, or not at all and counted.
func FuzzAnswer(f *testing.F) {
	p, hash := waiting(f)
	save, err := p.sim.Snapshot(nil)
	if err != nil {
		f.Fatal(err)
	}
	f.Add(answer(1, 1, hash, act(goTo, 0, 0, "", 1, 1)))
	f.Add(answer(1, 1, hash, act(say, 1, 2, "hi"), act(touch, 1, 0, "")))
	f.Add(answer(1, 1, hash)[:26])
	f.Add(answer(2, 7, hash))
	f.Fuzz(func(t *testing.T, data []byte) {
		if len(data) > 1<<19 {
			t.Skip("does not fit into the inputs of the Sim")
		}
		if err := p.sim.Restore(save); err != nil {
			t.Fatal(err)
		}
		p.push(t, 1, data)
		p.step(t, 1)
		s := p.agents.Stats()
		if s.Accepted+s.Rejected+s.Expired+s.Cancelled == 0 {
			t.Errorf("lost: %+v", s)
		}
		if s.Accepted == 0 && (p.agents.Waiting() != 0 || s.Applied != 0) {
			t.Errorf("half: %+v", s)
		}
		if n, err := p.sim.Snapshot(nil); err != nil || p.sim.Restore(n) != nil {
			t.Errorf("its state cannot be restored: %v", err)
		}
	})
}

func FuzzParseRecord(f *testing.F) {
	f.Add(byte(worldlog.Decision), uint64(5), make([]byte, 53))
	f.Add(byte(worldlog.Intent), uint64(5), append([]byte{1, 4}, make([]byte, 51)...))
	f.Fuzz(func(t *testing.T, typ byte, seq uint64, data []byte) {
		rec, err := agent.ParseRecord(&worldlog.Record{Type: worldlog.Type(typ), Seq: seq, Data: data})
		if err != nil && !errors.Is(err, fault.ErrCorrupt) && !errors.Is(err, fault.ErrUnsupported) {
			t.Error(err)
		}
		if err == nil && (rec.Seq != seq || rec.Type == 0 || strings.Contains(rec.String(), "Type(") || strings.Contains(rec.String(), "Reason(")) {
			t.Errorf("%v", &rec)
		}
	})
}

// The providers of this package are functions of their perceptions.
func TestProviders(t *testing.T) {
	ctx := t.Context()
	p := &agent.Perception{Agent: 3, Turn: 4, Actions: parkActions(), Neighbours: []agent.Neighbour{{ID: 8}, {ID: 9}}}
	r := agent.Random{Seed: 2, MaxActions: 4}
	some, kinds := 0, map[string]bool{}
	for turn := range uint64(200) {
		p.Turn = turn
		a, err := r.Decide(ctx, p)
		b, _ := r.Decide(ctx, p)
		if err != nil || fmt.Sprint(a) != fmt.Sprint(b) {
			t.Fatalf("%v, %v, %v", a, b, err)
		}
		some += len(a.Actions)
		for _, x := range a.Actions {
			kinds[x.Name] = true
			if x.Name == "touch" && x.Target != 8 && x.Target != 9 || x.Name == "go" && (x.Args[0] < -3 || x.Args[0] > 3) {
				t.Fatalf("%+v", x)
			}
		}
	}
	if some < 200 || len(kinds) != 3 {
		t.Errorf("%d actions, of %v", some, kinds)
	}
	if _, err := (agent.Random{MaxActions: -1}).Decide(ctx, p); !errors.Is(err, fault.ErrRange) {
		t.Error(err)
	}
	if d, err := r.Decide(ctx, &agent.Perception{}); err != nil || len(d.Actions) != 0 {
		t.Errorf("%v, %v", d, err)
	}
	one, two := agent.Decision{Actions: []agent.Action{{Name: "say"}}}, agent.Decision{Actions: []agent.Action{{Name: "go"}}}
	s := agent.Scripted{Script: []agent.Decision{one, two}, Scripts: map[ecs.ID][]agent.Decision{5: {two}}}
	for _, c := range []struct {
		id   ecs.ID
		turn uint64
		loop bool
		want string
	}{{3, 0, false, "say"}, {3, 1, false, "go"}, {3, 2, false, ""}, {3, 2, true, "say"}, {5, 0, false, "go"}, {5, 1, false, ""}, {5, 7, true, "go"}} {
		s.Loop = c.loop
		d, err := s.Decide(ctx, &agent.Perception{Agent: c.id, Turn: c.turn})
		got := ""
		if len(d.Actions) > 0 {
			got = d.Actions[0].Name
		}
		if err != nil || got != c.want {
			t.Errorf("%+v: %q, %v", c, got, err)
		}
	}
}

// Without providers agents perceive, and their lost turns are counted.
func TestNoProvider(t *testing.T) {
	p := mustPark(t, parkConfig{number: 2})
	p.step(t, 3)
	if s := p.agents.Stats(); s.Perceived != 6 || s.ShedLimit != 6 || s.Issued != 0 {
		t.Errorf("%+v", s)
	}
	if spec, ok := p.agents.Spec(1); !ok || spec.IntervalTicks != 1 || spec.Weight != 1 || spec.Timeout != 30*time.Second || spec.DeadlineTicks != 3600 {
		t.Errorf("%+v", spec)
	}
}
