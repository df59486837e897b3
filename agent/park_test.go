package agent_test

import (
	"context"
	"encoding/binary"
	"errors"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/agent"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/spatial"
)

// park is a small world whose agents walk, tag each other and speak.
type park struct {
	sim    *evertick.Sim
	agents *agent.Agents
	ids    []ecs.ID
	vx, vz []float32
	tagged ecs.Tag
	said   []string // not part of the state
	tags   int
	refuse func(q *agent.Queued) error
}

// The actions of the park, by their index.
const (
	goTo = iota
	touch
	say
)

func parkActions() []agent.ActionDef {
	return []agent.ActionDef{
		{Name: "go", Doc: "walk on with this velocity in m/s", Args: []agent.ArgDef{{Name: "x", Min: -3, Max: 3}, {Name: "z", Min: -3, Max: 3}}},
		{Name: "touch", Target: agent.NeedTarget},
		{Name: "say", Target: agent.MayTarget, MaxData: 32},
	}
}

// parkConfig is changed by tests.
type parkConfig struct {
	sim    evertick.Config
	agents agent.Config
	spec   agent.Spec
	number int
	unison bool // all are due in the same ticks
	setup  func(*park) error
}

func newPark(c parkConfig) (*park, error) {
	p := new(park)
	if c.sim.Capacity == 0 {
		c.sim.Capacity = max(256, c.number)
	}
	if c.sim.Seed == 0 {
		c.sim.Seed = 7
	}
	c.sim.Spatial = spatial.Config{CellSize: 4}
	var err error
	if p.sim, err = evertick.New(c.sim); err != nil {
		return nil, err
	}
	w := p.sim.World
	vx, err := ecs.AddColumn[float32](w, "v.x")
	if err != nil {
		return nil, err
	}
	vz, err := ecs.AddColumn[float32](w, "v.z")
	if err != nil {
		return nil, err
	}
	p.vx, p.vz = vx.Values(), vz.Values()
	if p.tagged, err = w.Tag("tagged"); err != nil {
		return nil, err
	}
	c.agents.Actions = parkActions()
	if c.agents.Tags == nil {
		c.agents.Tags = []string{"tagged"}
	}
	if c.agents.Apply == nil {
		c.agents.Apply = p.do
	}
	if p.agents, err = agent.New(p.sim, c.agents); err != nil {
		return nil, err
	}
	p.ids = make([]ecs.ID, c.number)
	if err := w.SpawnN(p.ids); err != nil {
		return nil, err
	}
	for i, id := range p.ids {
		r := loop.NewRand(c.sim.Seed, 0, uint64(id), 1)
		if err := w.SetPosition(id, r.Range(-10, 10), 0, r.Range(-10, 10)); err != nil {
			return nil, err
		}
		s := c.spec
		if s.IntervalTicks > 1 && !c.unison {
			s.Phase = uint32(i) % s.IntervalTicks
		}
		if err := p.agents.Add(id, s); err != nil {
			return nil, err
		}
	}
	if err := p.sim.Add(evertick.BeforePhysics, "walk", p.walk); err != nil {
		return nil, err
	}
	if c.setup != nil {
		return p, c.setup(p)
	}
	return p, nil
}

func (p *park) do(t *evertick.Tick, q *agent.Queued) error {
	if p.refuse != nil {
		if err := p.refuse(q); err != nil {
			return err
		}
	}
	slot, _ := p.sim.World.Slot(q.Agent)
	switch q.Kind {
	case goTo:
		p.vx[slot], p.vz[slot] = q.Args[0], q.Args[1]
	case touch:
		p.tagged.Set(q.Target)
		p.tags++
		return p.agents.Notify(t, agent.Event{Kind: 1, Subject: q.Agent, Object: q.Target})
	case say:
		p.said = append(p.said, string(q.Data))
	}
	return nil
}

func (p *park) walk(t *evertick.Tick) error {
	w := p.sim.World
	for _, id := range p.ids {
		if s, ok := w.Slot(id); ok {
			if err := w.SetPosition(id, w.Position.X[s]+float32(p.vx[s]*t.Dt), 0, w.Position.Z[s]+float32(p.vz[s]*t.Dt)); err != nil {
				return err
			}
		}
	}
	return nil
}

func mustPark(t testing.TB, c parkConfig) *park {
	t.Helper()
	p, err := newPark(c)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func (p *park) step(t testing.TB, n int) {
	t.Helper()
	for range n {
		if err := p.sim.Step(); err != nil {
			t.Fatal(err)
		}
	}
}

// scenario builds parks for package replay, and keeps the last.
func scenario(c parkConfig, last **park) replay.Scenario {
	return replay.Scenario{Name: "park", New: func(seed uint64) (*evertick.Sim, error) {
		c := c
		c.sim.Seed = seed
		p, err := newPark(c)
		if err != nil {
			return nil, err
		}
		if last != nil {
			*last = p
		}
		return p.sim, nil
	}}
}

func shut(t testing.TB, p *park) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := p.agents.Close(ctx); err != nil {
		t.Error(err)
	}
}

// one is a provider list of one.
func one(p agent.Provider) []agent.ProviderConfig { return []agent.ProviderConfig{{Provider: p}} }

// mustNotAsk fails the test if it is called.
func mustNotAsk(t testing.TB) agent.Provider {
	return agent.Func(func(context.Context, *agent.Perception) (agent.Decision, error) {
		t.Error("a provider was asked")
		return agent.Decision{}, errors.New("asked")
	})
}

// jittery answers as Random, after a time that depends on agent and turn.
type jittery struct {
	agent.Random
	max time.Duration
}

func (j jittery) Decide(ctx context.Context, p *agent.Perception) (agent.Decision, error) {
	r := loop.NewRand(j.Seed, p.Turn, uint64(p.Agent), 99)
	select {
	case <-time.After(time.Duration(r.Uint64n(uint64(j.max)))):
	case <-ctx.Done():
		return agent.Decision{}, ctx.Err()
	}
	return j.Random.Decide(ctx, p)
}

// answer encodes the answer to a decision in flight, as agents do, with the layout in answer.go.
func answer(decision uint64, id ecs.ID, hash uint64, actions ...[]byte) []byte {
	le := binary.LittleEndian
	b := []byte{1, 0}
	b = le.AppendUint64(b, decision)
	b = le.AppendUint64(b, uint64(id))
	b = le.AppendUint64(b, hash)
	b = binary.AppendUvarint(b, uint64(len(actions)))
	for _, a := range actions {
		b = append(b, a...)
	}
	return b
}
