package agent_test

import (
	"bytes"
	"cmp"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/agent"
	"github.com/evertick/evertick/ecs"
	"pgregory.net/rapid"
)

// contender is an agent of the model.
type contender struct {
	agent.Spec
	id      ecs.ID
	since   uint64 // tick in which it is added
	pass    float64
	until   uint64 // tick in which its decision expires; 0: none is in flight
	pending bool
}

// contest is admission as the documentation has it, for decisions that nobody answers.
type contest struct {
	all, starts int
	of          []agent.ProviderConfig
	agents      []*contender
	least       map[[2]int]float64 // minimum passes, by priority and provider; -1: of all providers
	inFlight    map[int]int        // by provider; -1: all
	classes     map[uint8]*agent.ClassStats
}

// turn runs a tick, and returns the agents that are asked, in order.
func (c *contest) turn(t testing.TB, tick uint64) (asked []ecs.ID) {
	var candidates []*contender
	for _, a := range c.agents {
		if a.since == tick {
			a.pass = max(c.least[[2]int{int(a.Priority), -1}], c.least[[2]int{int(a.Priority), a.Provider}])
			c.classes[a.Priority] = cmp.Or(c.classes[a.Priority], &agent.ClassStats{Priority: a.Priority})
		}
		if a.until == tick && tick > 0 {
			a.until = 0
			c.inFlight[a.Provider]--
			c.inFlight[-1]--
		}
		due := tick >= a.since && tick%uint64(a.IntervalTicks) == uint64(a.Phase)
		switch {
		case due && a.until != 0:
			a.pending = a.pending || a.Shed == agent.Coalesce
		case due || a.pending && a.until == 0:
			a.pass = max(a.pass, c.least[[2]int{int(a.Priority), -1}], c.least[[2]int{int(a.Priority), a.Provider}])
			candidates = append(candidates, a)
		}
	}
	slices.SortFunc(candidates, func(a, b *contender) int {
		return cmp.Or(-cmp.Compare(a.Priority, b.Priority), cmp.Compare(a.pass, b.pass), cmp.Compare(a.id, b.id))
	})
	const full, fullOfAll = 1, 2
	refused, started := map[*contender]int{}, map[int]int{}
	for _, a := range candidates {
		p := &c.of[a.Provider]
		switch {
		case started[a.Provider] >= p.StartsPerTick || c.inFlight[a.Provider] >= p.InFlight:
			refused[a] = full
		case started[-1] >= c.starts || c.inFlight[-1] >= c.all:
			refused[a] = fullOfAll
		default:
			for _, key := range []int{a.Provider, -1} {
				started[key]++
				c.inFlight[key]++
			}
			a.until = tick + uint64(a.DeadlineTicks)
			asked = append(asked, a.id)
		}
	}
	for a, why := range refused { // order-free: only checks
		for _, b := range candidates {
			if refused[b] == 0 && b.Priority < a.Priority && (why == fullOfAll || b.Provider == a.Provider) {
				t.Fatalf("tick %d: %v is asked, and %v of a higher priority is not", tick, b.id, a.id)
			}
		}
	}
	c.charge(candidates, refused)
	return asked
}

// charge raises the passes of those that were asked instead of others of their class.
func (c *contest) charge(candidates []*contender, refused map[*contender]int) {
	stride, least := map[*contender]float64{}, map[[2]int]float64{}
	for _, a := range candidates {
		for _, b := range candidates {
			if b.Priority != a.Priority || refused[b] == 0 {
				continue
			}
			key := [2]int{int(a.Priority), -1}
			if refused[b] == 1 {
				key[1] = b.Provider
			}
			if key[1] != -1 && a.Provider != b.Provider {
				continue
			}
			if low, ok := least[key]; !ok || a.pass < low {
				least[key] = a.pass
			}
			if refused[a] == 0 {
				stride[a] = float64(1 << 20 / a.Weight)
			}
		}
	}
	for key, low := range least { // order-free: other keys
		c.least[key] = max(c.least[key], low)
	}
	for _, a := range candidates {
		a.pass += stride[a]
		a.pending = refused[a] != 0 && a.Shed == agent.Coalesce
		if n := c.classes[a.Priority]; refused[a] != 0 {
			n.ShedLimit++
		} else {
			n.Issued++
		}
	}
}

// The agents that are asked, their order and the counts of classes are those of the model, for any
// priorities, weights, limits and times at which agents are added.
func TestPriorityModel(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		limit := rapid.IntRange(1, 6)
		c := contest{
			all: limit.Draw(rt, "in flight"), starts: limit.Draw(rt, "starts"),
			least: map[[2]int]float64{}, inFlight: map[int]int{}, classes: map[uint8]*agent.ClassStats{0: {}},
		}
		for range rapid.IntRange(1, 3).Draw(rt, "providers") {
			c.of = append(c.of, agent.ProviderConfig{
				Provider: mustNotAsk(t), InFlight: limit.Draw(rt, "in flight of it"), StartsPerTick: limit.Draw(rt, "starts of it"),
			})
		}
		number := rapid.IntRange(1, 24).Draw(rt, "agents")
		p := mustPark(t, parkConfig{number: number, agents: agent.Config{
			Providers: c.of, InFlight: c.all, StartsPerTick: c.starts, Mode: agent.Replay,
		}, setup: func(p *park) error {
			return p.sim.Add(evertick.BeforePhysics, "join", func(t *evertick.Tick) error {
				for _, a := range c.agents {
					if t.N == 0 {
						p.agents.Remove(t, a.id)
					}
					if t.N == a.since {
						if err := p.agents.Add(a.id, a.Spec); err != nil {
							return err
						}
					}
				}
				return nil
			})
		}})
		for _, id := range p.ids[:number] {
			every := rapid.Uint32Range(1, 4).Draw(rt, "interval")
			c.agents = append(c.agents, &contender{id: id, since: rapid.Uint64Range(0, 20).Draw(rt, "since"), Spec: agent.Spec{
				IntervalTicks: every, Phase: rapid.Uint32Range(0, every-1).Draw(rt, "phase"),
				Provider: rapid.IntRange(0, len(c.of)-1).Draw(rt, "provider"), Weight: rapid.Uint32Range(1, 4).Draw(rt, "weight"),
				Priority: rapid.SampledFrom([]uint8{0, 0, 1, 7, 255}).Draw(rt, "priority"), DeadlineTicks: rapid.Uint32Range(1, 5).Draw(rt, "deadline"),
				Shed: rapid.SampledFrom([]agent.Shed{agent.Skip, agent.Coalesce}).Draw(rt, "shed"),
			}})
		}
		seen := uint64(0)
		for tick := range uint64(60) {
			p.step(t, 1)
			want := c.turn(t, tick)
			var got []ecs.ID
			for _, r := range p.agents.Records(nil, seen) {
				if seen = r.Seq; r.Type == agent.Issued {
					got = append(got, r.Agent)
				}
			}
			if !slices.Equal(got, want) {
				rt.Fatalf("tick %d: asked %v, want %v", tick, got, want)
			}
		}
		classes := p.agents.Classes(nil)
		if len(classes) != len(c.classes) || !slices.IsSortedFunc(classes, func(a, b agent.ClassStats) int { return cmp.Compare(b.Priority, a.Priority) }) {
			rt.Fatalf("%v, want %v", classes, c.classes)
		}
		for _, got := range classes {
			if want := c.classes[got.Priority]; want == nil || got != *want {
				rt.Fatalf("%+v, want %+v", got, want)
			}
		}
		shut(t, p)
	})
}

// With room for two in a tick, an urgent agent is asked in each one, weights share what it leaves within the
// next class, and the lowest class starves.
func TestPriorityBesideWeights(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a asks
		specs := []agent.Spec{{Weight: 1}, {Weight: 1 << 20}, {Priority: 3, Weight: 8}, {Priority: 3, Weight: 1}, {Priority: 9}}
		p := mustPark(t, parkConfig{number: len(specs), agents: agent.Config{Providers: one(&a), StartsPerTick: 2}, setup: func(p *park) error {
			return p.sim.Add(evertick.BeforePhysics, "respec", func(t *evertick.Tick) error {
				for i := 0; t.N == 0 && i < len(specs); i++ {
					p.agents.Remove(t, p.ids[i])
					if err := p.agents.Add(p.ids[i], specs[i]); err != nil {
						return err
					}
				}
				return nil
			})
		}})
		for range 900 {
			p.step(t, 1)
			synctest.Wait()
		}
		var got []int
		for _, id := range p.ids[:len(specs)] {
			got = append(got, a.of[id])
		}
		if want := []int{0, 0, 800, 100, 900}; !slices.Equal(got, want) {
			t.Errorf("asked %v, want %v", got, want)
		}
		want := []agent.ClassStats{{9, 900, 0}, {3, 900, 900}, {0, 0, 1800}}
		if classes := p.agents.Classes(nil); !slices.Equal(classes, want) {
			t.Errorf("%+v, want %+v", classes, want)
		}
		shut(t, p)
	})
}

// A call in flight is not cancelled for an agent of a higher priority, which is asked as soon as there is room.
func TestPriorityWaitsForCalls(t *testing.T) {
	cfg := agent.Config{Providers: []agent.ProviderConfig{{Provider: mustNotAsk(t), InFlight: 1}}, Mode: agent.Replay}
	p := mustPark(t, parkConfig{number: 2, agents: cfg, spec: agent.Spec{DeadlineTicks: 10}, setup: func(p *park) error {
		return p.sim.Add(evertick.BeforePhysics, "respec", func(t *evertick.Tick) error {
			if t.N != 1 {
				return nil
			}
			p.agents.Remove(t, p.ids[1])
			return p.agents.Add(p.ids[1], agent.Spec{Priority: 1, Shed: agent.Coalesce, DeadlineTicks: 10, IntervalTicks: 4})
		})
	}})
	p.step(t, 12)
	var got string
	for _, r := range p.agents.Records(nil, 0) {
		got += fmt.Sprintf("%d %v %v; ", r.Tick, r.Agent, r.Type)
	}
	want := "0 ent_1 Perceived; 0 ent_1 Issued; 10 ent_1 Expired; 10 ent_2 Perceived; 10 ent_2 Issued; "
	if got != want {
		t.Errorf("%s\nwant %s", got, want)
	}
	shut(t, p)
}

// A state without priorities is of version 1; one with priorities is restored with its classes.
func TestPriorityState(t *testing.T) {
	build := func(priority uint8) *park {
		return mustPark(t, parkConfig{number: 8, spec: agent.Spec{Priority: priority, Weight: 3}, agents: agent.Config{
			Providers: []agent.ProviderConfig{{Provider: mustNotAsk(t), InFlight: 3}}, Mode: agent.Replay, DeadlineTicks: 2,
		}})
	}
	for priority, version := range map[uint8]byte{0: 1, 5: 2} {
		p := build(priority)
		p.step(t, 9)
		state := p.agents.AppendState(nil)
		if state[0] != version {
			t.Errorf("priority %d: version %d, want %d", priority, state[0], version)
		}
		q := build(priority)
		if err := q.agents.RestoreState(state); err != nil || !bytes.Equal(q.agents.AppendState(nil), state) {
			t.Errorf("priority %d: restored to something else: %v", priority, err)
		}
		if a, b := p.agents.Classes(nil), q.agents.Classes(nil); !slices.Equal(a, b) || a[0].ShedLimit == 0 {
			t.Errorf("priority %d: %v and %v", priority, a, b)
		}
		shut(t, p)
		shut(t, q)
	}
}
