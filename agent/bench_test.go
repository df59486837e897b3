package agent_test

import (
	"context"
	"slices"
	"sync/atomic"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/agent"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/spatial"
)

// capstone is a world of the size of bench's scene of this name: 200 agents, 256 bodies that
// move, 2,000 entities in all on 200 m by 200 m, a radius of 15 m.
func capstone(t testing.TB, c agent.Config, s agent.Spec) (*evertick.Sim, *agent.Agents) {
	t.Helper()
	cfg := evertick.Config{Seed: 1}
	cfg.Physics.Plane, cfg.Physics.DisableSleep = physics.XZ, true
	cfg.Spatial = spatial.Config{CellSize: 15, Bounds: spatial.Bounds{Min: [3]float32{-100, 0, -100}, Max: [3]float32{100, 0, 100}}}
	sim, err := evertick.New(cfg)
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]ecs.ID, 2000)
	if err := sim.World.SpawnN(ids); err != nil {
		t.Fatal(err)
	}
	c.Tags = []string{"agent", "body", "scenery"}
	agents, err := agent.New(sim, c)
	if err != nil {
		t.Fatal(err)
	}
	for i, id := range ids {
		r := loop.NewRand(1, 0, uint64(id), 1)
		if err := sim.World.SetPosition(id, r.Range(-98, 98), 0, r.Range(-98, 98)); err != nil {
			t.Fatal(err)
		}
		kind := 2
		switch {
		case i < 200:
			kind = 0
			if err := agents.Add(id, s); err != nil {
				t.Fatal(err)
			}
		case i < 456:
			kind = 1
			body(t, sim, id, &r)
		}
		tag, err := sim.World.Tag(c.Tags[kind])
		if err != nil {
			t.Fatal(err)
		}
		tag.Set(id)
	}
	return sim, agents
}

func body(t testing.TB, sim *evertick.Sim, id ecs.ID, r *loop.Rand) {
	t.Helper()
	slot, _ := sim.World.Slot(id)
	def := physics.DefaultBodyDef()
	def.Type = physics.DynamicBody
	def.Position = [2]float32{sim.World.Position.X[slot], sim.World.Position.Z[slot]}
	def.LinearVelocity = [2]float32{r.Range(-3, 3), r.Range(-3, 3)}
	b, err := sim.CreateBody(id, def)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := sim.Physics.CreateCircle(b, physics.DefaultShapeDef(), physics.Circle{Radius: 0.5}); err != nil {
		t.Fatal(err)
	}
}

// never is a provider that returns when its context is done.
var never = agent.Func(func(ctx context.Context, p *agent.Perception) (agent.Decision, error) {
	<-ctx.Done()
	return agent.Decision{}, ctx.Err()
})

// BenchmarkPerceive200 steps the capstone with all 200 agents due in every tick: the batched
// query, the perceptions, their hashes, and admission. perceive-p95-ns is the system within steps;
// ns/op is the whole step. asked: in each tick one agent in five is asked and answers; otherwise all
// agents wait for their answers.
func BenchmarkPerceive200(b *testing.B) {
	for _, c := range []struct {
		name     string
		provider agent.Provider
		starts   int
	}{
		{"waiting", never, 0},
		{"asked", agent.Func(func(context.Context, *agent.Perception) (agent.Decision, error) { return agent.Decision{}, nil }), 40},
	} {
		b.Run(c.name, func(b *testing.B) {
			sim, agents := capstone(b, agent.Config{Providers: []agent.ProviderConfig{{Provider: c.provider, StartsPerTick: c.starts}}},
				agent.Spec{Radius: 15, Timeout: time.Hour, DeadlineTicks: 1 << 30})
			defer shutAgents(b, agents)
			if err := sim.StepN(100); err != nil {
				b.Fatal(err)
			}
			var ns []int64
			b.ReportAllocs()
			b.ResetTimer()
			for range b.N {
				if err := sim.Step(); err != nil {
					b.Fatal(err)
				}
				phases, _ := sim.Timings()
				for i := range phases {
					if phases[i].Phase == "agent.perceive" {
						ns = append(ns, phases[i].Ns)
					}
				}
			}
			b.StopTimer()
			slices.Sort(ns)
			b.ReportMetric(float64(ns[len(ns)/2]), "perceive-p50-ns")
			b.ReportMetric(float64(ns[len(ns)*95/100]), "perceive-p95-ns")
			b.ReportMetric(float64(agents.Stats().Perceived)/float64(sim.Ticks()), "perceptions/tick")
		})
	}
}

// BenchmarkReflex200 measures a reflex of the 200 agents in the same world: everything within 15 m as rows; or three
// senses, of agents, of obstacles within 4 m, and of bodies. reflex-p50-ns is the system within steps.
func BenchmarkReflex200(b *testing.B) {
	for _, kind := range []string{"rows", "sums"} {
		b.Run(kind, func(b *testing.B) {
			sim, agents := capstone(b, agent.Config{}, agent.Spec{IntervalTicks: 1 << 20, Phase: 1 << 19})
			defer shutAgents(b, agents)
			x, z := sim.World.Position.X, sim.World.Position.Z
			senses := []*agent.Sense{{Radius: 15, FindRows: true}}
			if kind == "sums" {
				senses = []*agent.Sense{
					{Tags: []string{"agent"}, Radius: 15, Terms: []spatial.Term{{Of: x, Own: x, Reduce: spatial.Mean}, {Of: z, Own: z, Reduce: spatial.Mean}}},
					{Tags: []string{"agent", "scenery"}, Radius: 4, Terms: []spatial.Term{
						{Of: x, Own: x, Weight: spatial.InverseSquare}, {Of: z, Own: z, Weight: spatial.InverseSquare},
					}, Softening: 0.25},
					{Tags: []string{"body"}, Radius: 15, FindNearest: true},
				}
			}
			if err := agent.NewReflex(sim, agent.ReflexConfig{Tag: "agent", Senses: senses, React: func(*evertick.Tick, []ecs.Slot) error { return nil }}); err != nil {
				b.Fatal(err)
			}
			if err := sim.StepN(100); err != nil {
				b.Fatal(err)
			}
			var ns []int64
			b.ReportAllocs()
			for b.Loop() {
				if err := sim.Step(); err != nil {
					b.Fatal(err)
				}
				phases, _ := sim.Timings()
				for i := range phases {
					if phases[i].Phase == "reflex" {
						ns = append(ns, phases[i].Ns)
					}
				}
			}
			slices.Sort(ns)
			b.ReportMetric(float64(ns[len(ns)/2]), "reflex-p50-ns")
		})
	}
}

func shutAgents(t testing.TB, a *agent.Agents) {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), time.Minute)
	defer cancel()
	if err := a.Close(ctx); err != nil {
		t.Error(err)
	}
}

// A tick allocates nothing if no agent is due; and nothing if all are due and wait for their answers.
func TestTicksAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	for _, c := range []struct {
		name string
		spec agent.Spec
	}{
		{"nobody due", agent.Spec{Radius: 15, IntervalTicks: 1 << 20, Phase: 1 << 19, Timeout: time.Hour}},
		{"all waiting", agent.Spec{Radius: 15, Timeout: time.Hour, DeadlineTicks: 1 << 30}},
	} {
		var asked atomic.Int64
		sim, agents := capstone(t, agent.Config{Providers: one(agent.Func(func(ctx context.Context, p *agent.Perception) (agent.Decision, error) {
			asked.Add(1)
			return never(ctx, p)
		}))}, c.spec)
		if err := sim.StepN(64); err != nil {
			t.Fatal(err)
		}
		// Allocations of calls do not count: all calls run before counting starts.
		for end := time.Now().Add(time.Minute); asked.Load() < int64(agents.Stats().Issued) && time.Now().Before(end); {
			time.Sleep(time.Millisecond)
		}
		perceived := agents.Stats().Perceived
		n := testing.AllocsPerRun(50, func() {
			if err := sim.Step(); err != nil {
				t.Error(err)
			}
		})
		if n != 0 {
			t.Errorf("%s: %v allocations a tick", c.name, n)
		}
		if due := agents.Stats().Perceived > perceived; due != (c.spec.IntervalTicks == 0) {
			t.Errorf("%s: %d perceptions", c.name, agents.Stats().Perceived-perceived)
		}
		shutAgents(t, agents)
	}
}
