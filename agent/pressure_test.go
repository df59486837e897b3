package agent_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/agent"
	"github.com/evertick/evertick/ecs"
)

// asks counts the calls of each agent, and answers at once.
type asks struct {
	mu   sync.Mutex
	of   map[ecs.ID]int
	tick map[[2]uint64]int // by agent and tick
}

func (a *asks) Decide(_ context.Context, p *agent.Perception) (agent.Decision, error) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.of == nil {
		a.of, a.tick = map[ecs.ID]int{}, map[[2]uint64]int{}
	}
	a.of[p.Agent]++
	a.tick[[2]uint64{uint64(p.Agent), p.Tick}]++
	return agent.Decision{}, nil
}

// A due agent is asked once, even where the limits exceed the number of agents: a scheduler that cycles
// through its candidates until the limit is reached would ask twice.
func TestAskedOncePerTick(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a asks
		p := mustPark(t, parkConfig{number: 3, agents: agent.Config{Providers: []agent.ProviderConfig{{Provider: &a, StartsPerTick: 100}}}})
		for range 50 {
			p.step(t, 1)
			synctest.Wait()
		}
		for key, n := range a.tick {
			if n != 1 {
				t.Errorf("agent %v asked %d times in tick %d", ecs.ID(key[0]), n, key[1])
			}
		}
		if len(a.tick) != 150 || p.agents.Live().Calls != 150 {
			t.Errorf("%d turns, %d calls; want 150", len(a.tick), p.agents.Live().Calls)
		}
		shut(t, p)
	})
}

// An agent whose decision is in flight is not asked again.
func TestOneInFlight(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a asks
		slow := agent.Func(func(ctx context.Context, p *agent.Perception) (agent.Decision, error) {
			time.Sleep(10*tick + tick/2)
			return a.Decide(ctx, p)
		})
		p := mustPark(t, parkConfig{number: 2, agents: agent.Config{Providers: one(slow)}})
		runLive(t, p, 110)
		for id, n := range a.of {
			if n < 9 || n > 10 {
				t.Errorf("%v asked %d times in 110 ticks by a provider that takes 10.5", id, n)
			}
		}
		if s := p.agents.Stats(); s.ShedBusy == 0 || s.Due != 220 || s.Perceived != 220 {
			t.Errorf("%+v", s)
		}
		shut(t, p)
	})
}

// Where a limit turns agents away, each gets turns in proportion to its weight.
func TestWeights(t *testing.T) {
	weights := []uint32{8, 4, 2, 1, 1}
	for _, c := range []struct {
		name   string
		change func(*agent.Config)
	}{
		{"starts of the provider", func(c *agent.Config) { c.Providers[0].StartsPerTick = 1 }},
		{"starts of all", func(c *agent.Config) { c.StartsPerTick = 1 }},
		{"in request", func(c *agent.Config) { c.Providers[0].InFlight = 1 }},
		{"in request of all", func(c *agent.Config) { c.InFlight = 1 }},
	} {
		for _, shed := range []agent.Shed{agent.Skip, agent.Coalesce} {
			synctest.Test(t, func(t *testing.T) {
				var a asks
				cfg := agent.Config{Providers: one(&a)}
				c.change(&cfg)
				p := mustPark(t, parkConfig{number: len(weights), agents: cfg, setup: func(p *park) error {
					return reweigh(p, weights, shed)
				}})
				for range 1600 {
					p.step(t, 1)
					synctest.Wait()
				}
				for i, id := range p.ids {
					if want := 100 * int(weights[i]); a.of[id] < want-2 || a.of[id] > want+2 {
						t.Errorf("%s: weight %d: asked %d times of 1600, want %d", c.name, weights[i], a.of[id], want)
					}
				}
				if s := p.agents.Stats(); s.ShedLimit == 0 {
					t.Errorf("%s: %+v", c.name, s)
				}
				shut(t, p)
			})
		}
	}
}

// reweigh gives the agents of a park their weights.
func reweigh(p *park, weights []uint32, shed agent.Shed) error {
	i := 0
	return p.sim.Add(evertick.BeforePhysics, "reweigh", func(t *evertick.Tick) error {
		for ; i < len(weights); i++ {
			p.agents.Remove(t, p.ids[i])
			if err := p.agents.Add(p.ids[i], agent.Spec{Weight: weights[i], Shed: shed}); err != nil {
				return err
			}
		}
		return nil
	})
}

// An agent that was asked for long while there was room for all does not pay for it later, and one that was
// away does not make up for it.
func TestWeightsWithoutMemory(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a asks
		heavy := agent.Spec{Weight: 8}
		p := mustPark(t, parkConfig{number: 3, agents: agent.Config{Providers: []agent.ProviderConfig{{Provider: &a, StartsPerTick: 2}}},
			setup: func(p *park) error {
				return p.sim.Add(evertick.BeforePhysics, "change", func(t *evertick.Tick) error {
					switch t.N {
					case 0: // two agents, room for both
						p.agents.Remove(t, p.ids[0])
						p.agents.Remove(t, p.ids[1])
						p.agents.Remove(t, p.ids[2])
						return errors.Join(p.agents.Add(p.ids[0], heavy), p.agents.Add(p.ids[1], agent.Spec{}))
					case 500: // another comes
						return p.agents.Add(p.ids[2], agent.Spec{})
					}
					return nil
				})
			}})
		for range 600 {
			p.step(t, 1)
			synctest.Wait()
		}
		// From tick 500 on two of three are asked: the heavy one always, the others by turns.
		if x, y, z := a.of[p.ids[0]], a.of[p.ids[1]], a.of[p.ids[2]]; x < 590 || y < 545 || y > 556 || z < 45 || z > 55 {
			t.Errorf("asked %d, %d, %d times", x, y, z)
		}
		shut(t, p)
	})
}

// Each Shed handles lost turns in its own way.
func TestShed(t *testing.T) {
	for _, shed := range []agent.Shed{agent.Skip, agent.Coalesce, agent.Fallback} {
		synctest.Test(t, func(t *testing.T) {
			var when []uint64
			slow := agent.Func(func(_ context.Context, p *agent.Perception) (agent.Decision, error) {
				when = append(when, p.Tick)
				time.Sleep(12*tick + tick/2) // asked in tick n, free in tick n+13
				return agent.Decision{}, nil
			})
			fell := 0
			p := mustPark(t, parkConfig{number: 1, spec: agent.Spec{IntervalTicks: 10, Shed: shed}, agents: agent.Config{Providers: one(slow),
				Fallback: func(p *agent.Perception, dst []agent.Action) []agent.Action {
					fell++
					return append(dst, agent.Action{Name: "go", Args: []float32{1, 0}})
				}}})
			runLive(t, p, 45)
			want := map[agent.Shed]string{agent.Skip: "[0 20 40]", agent.Coalesce: "[0 13 26 39]", agent.Fallback: "[0 20 40]"}[shed]
			if got := fmt.Sprint(when); got != want {
				t.Errorf("shed %d: asked in ticks %s, want %s", shed, got, want)
			}
			s := p.agents.Stats()
			if shed == agent.Fallback != (fell > 0) || s.Fallbacks != uint64(fell) || s.Applied != uint64(fell) || s.ShedBusy == 0 {
				t.Errorf("shed %d: %d falls; %+v", shed, fell, s)
			}
			if shed == agent.Fallback && p.vx[0] != 1 {
				t.Error("the fallback has not moved it")
			}
			shut(t, p)
		})
	}
}

// Limits hold, and what they turn away is counted.
func TestLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var mu sync.Mutex
		running, most := map[int]int{}, map[int]int{}
		slow := func(i int) agent.Provider {
			return agent.Func(func(context.Context, *agent.Perception) (agent.Decision, error) {
				mu.Lock()
				running[i]++
				running[9]++
				most[i], most[9] = max(most[i], running[i]), max(most[9], running[9])
				mu.Unlock()
				time.Sleep(5 * tick)
				mu.Lock()
				running[i]--
				running[9]--
				mu.Unlock()
				return agent.Decision{}, nil
			})
		}
		n := 0
		p := mustPark(t, parkConfig{number: 20, agents: agent.Config{InFlight: 6, StartsPerTick: 5,
			Providers: []agent.ProviderConfig{{Provider: slow(0), InFlight: 2}, {Provider: slow(1), InFlight: 5}}},
			setup: func(p *park) error {
				return p.sim.Add(evertick.BeforePhysics, "split", func(t *evertick.Tick) error {
					for ; n < 20; n += 2 {
						p.agents.Remove(t, p.ids[n])
						if err := p.agents.Add(p.ids[n], agent.Spec{Provider: 1}); err != nil {
							return err
						}
					}
					return nil
				})
			}})
		runLive(t, p, 100)
		if most[0] != 2 || most[1] > 5 || most[9] != 6 {
			t.Errorf("at once: %v", most)
		}
		if s := p.agents.Stats(); s.ShedLimit == 0 || s.Issued < 100 {
			t.Errorf("%+v", s)
		}
		shut(t, p)
	})
}

// The ticks that accept an answer and ask again may run before the goroutine of the call has ended: an
// answered call does not count against Abandoned, and the provider is asked. Send holds the goroutine.
func TestAskedAgainWhileTheCallEnds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leave := make(chan struct{})
		var p *park
		p = mustPark(t, parkConfig{number: 1, agents: agent.Config{
			Providers: []agent.ProviderConfig{{Provider: new(asks), InFlight: 1, Abandoned: 1}},
			Send: func(in evertick.Input) error {
				err := p.sim.Push(in)
				if in.Seq == 1 { // the first decision
					<-leave
				}
				return err
			}}})
		for range 4 {
			p.step(t, 1)
			synctest.Wait()
		}
		l := p.agents.Live()
		if s := p.agents.Stats(); s.Reason(agent.Abandoned) != 0 || s.Accepted != 3 || l.Calls != 4 || l.Running != 1 {
			t.Errorf("%+v, %+v", s, l)
		}
		close(leave)
		shut(t, p)
	})
}

// Actions beyond the limits of a tick wait, in their order; decisions beyond those of the queue
// are rejected whole.
func TestQueueLimits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		five := make([]agent.Action, 5)
		for i := range five {
			five[i] = agent.Action{Name: "go", Args: []float32{float32(i), 0}}
		}
		var order []string
		p := mustPark(t, parkConfig{number: 3, spec: agent.Spec{IntervalTicks: 1}, agents: agent.Config{
			Providers: one(agent.Func(func(context.Context, *agent.Perception) (agent.Decision, error) {
				return agent.Decision{Actions: five[:min(len(five), 3)]}, nil
			})),
			MaxActions: 3, AgentQueue: 4, Queue: 8, ActionsPerTick: 3, AgentActionsPerTick: 2,
			Apply: func(t *evertick.Tick, q *agent.Queued) error {
				order = append(order, fmt.Sprint(t.N, " ", q.Agent, " ", q.Decision, ".", q.Index))
				return nil
			}}})
		for range 20 {
			p.step(t, 1)
			synctest.Wait()
		}
		s := p.agents.Stats()
		if s.Deferred == 0 || s.Reason(agent.QueueFull) == 0 || s.QueueHigh > 8 || s.ShedQueue == 0 && s.Reason(agent.QueueFull) == 0 {
			t.Errorf("%+v", s)
		}
		if uint64(len(order)) != s.Applied || s.Applied+uint64(p.agents.Waiting()) != 3*s.Accepted {
			t.Errorf("%d applied and %d wait of %d decisions of three", s.Applied, p.agents.Waiting(), s.Accepted)
		}
		perTick := map[string]int{}
		for _, o := range order {
			perTick[o[:strings.IndexByte(o, ' ')]]++
		}
		for at, n := range perTick {
			if n > 3 {
				t.Errorf("tick %s: %d actions", at, n)
			}
		}
		first := strings.Join(order[:6], ", ")
		if want := "1 ent_1 1.0, 1 ent_1 1.1, 1 ent_2 2.0, 2 ent_1 1.2, 2 ent_2 2.1, 2 ent_2 2.2"; first != want {
			t.Errorf("order %s\nwant %s", first, want)
		}
		shut(t, p)
	})
}

// Providers that misbehave delay no tick, and every call that returns ends its goroutine. In the time of
// synctest a tick that waited would be late.
func TestProvidersMisbehave(t *testing.T) {
	leave := make(chan struct{}) // of those who never heed their context
	for _, c := range []struct {
		name   string
		decide agent.Func
		reason agent.Reason
		typ    agent.RecordType
		open   bool // does not return
	}{
		{"slow", func(ctx context.Context, _ *agent.Perception) (agent.Decision, error) {
			time.Sleep(300 * time.Millisecond)
			return agent.Decision{}, nil
		}, agent.NoReason, agent.Applied, false},
		{"heeds its context", never, agent.TimedOut, agent.Expired, false},
		{"never answers", func(context.Context, *agent.Perception) (agent.Decision, error) {
			<-leave
			return agent.Decision{}, nil
		}, agent.TimedOut, agent.Expired, true},
		{"late", func(context.Context, *agent.Perception) (agent.Decision, error) {
			time.Sleep(2 * time.Second)
			return agent.Decision{Actions: []agent.Action{{Name: "go", Args: []float32{9, 9}}}}, nil
		}, agent.TimedOut, agent.Expired, false},
		{"error", func(context.Context, *agent.Perception) (agent.Decision, error) {
			return agent.Decision{}, errors.New("no")
		}, agent.ProviderError, agent.Rejected, false},
		{"panic", func(context.Context, *agent.Perception) (agent.Decision, error) { panic(strings.Repeat("oh ", 1000)) }, agent.ProviderPanic, agent.Rejected, false},
		{"panic with nil", func(context.Context, *agent.Perception) (agent.Decision, error) { panic(nil) }, agent.ProviderPanic, agent.Rejected, false},
		{"goexit", func(context.Context, *agent.Perception) (agent.Decision, error) {
			runtime.Goexit()
			return agent.Decision{}, nil
		}, agent.ProviderError, agent.Rejected, false},
		{"unknown action", does(agent.Action{Name: "fly"}), agent.UnknownAction, agent.Rejected, false},
		{"hostile name", does(agent.Action{Name: strings.Repeat("\x00go", 1<<16)}), agent.UnknownAction, agent.Rejected, false},
		{"NaN", does(agent.Action{Name: "go", Args: []float32{0, float32(math.NaN())}}), agent.NotFinite, agent.Rejected, false},
		{"infinite", does(agent.Action{Name: "go", Args: []float32{float32(math.Inf(-1)), 0}}), agent.NotFinite, agent.Rejected, false},
		{"out of bounds", does(agent.Action{Name: "go", Args: []float32{0, 3.001}}), agent.BadArgs, agent.Rejected, false},
		{"too few arguments", does(agent.Action{Name: "go", Args: []float32{0}}), agent.BadArgs, agent.Rejected, false},
		{"no target", does(agent.Action{Name: "touch"}), agent.BadTarget, agent.Rejected, false},
		{"target too many", does(agent.Action{Name: "go", Target: 1, Args: []float32{0, 0}}), agent.BadTarget, agent.Rejected, false},
		{"endless", does(agent.Action{Name: "say", After: math.MaxUint32}), agent.BadDelay, agent.Rejected, false},
		{"too large", does(agent.Action{Name: "say", Data: make([]byte, 33)}), agent.TooLarge, agent.Rejected, false},
		{"much too large", does(agent.Action{Name: "say", Data: make([]byte, 64<<20)}), agent.TooLarge, agent.Rejected, false},
		{"a million actions", does(make([]agent.Action, 1_000_000)...), agent.TooManyActions, agent.Rejected, false},
		{"one bad of two", does(agent.Action{Name: "go", Args: []float32{1, 1}}, agent.Action{Name: "fly"}), agent.UnknownAction, agent.Rejected, false},
		{"gone target", does(agent.Action{Name: "touch", Target: 77}), agent.StaleTarget, agent.Rejected, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				leave = make(chan struct{})
				begin := time.Now()
				p := mustPark(t, parkConfig{number: 2, spec: agent.Spec{IntervalTicks: 1000, Timeout: time.Second}, agents: agent.Config{Providers: one(c.decide)}})
				runLive(t, p, 80)
				if took := time.Since(begin); took != 80*tick {
					t.Errorf("80 ticks took %v", took)
				}
				if o, _ := p.agents.Last(p.ids[0]); o.Type != c.typ || o.Reason != c.reason || o.Decision != 1 {
					t.Errorf("last %+v, want %v, %v", o, c.typ, c.reason)
				}
				if s := p.agents.Stats(); c.reason != agent.NoReason && (s.Reason(c.reason) != 2 || s.Applied != 0) {
					t.Errorf("%+v", s)
				}
				if p.vx[0] != 0 || p.agents.InFlight(p.ids[0]) != 0 || p.agents.Waiting() != 0 {
					t.Error("something was done, or goes on")
				}
				if l := p.agents.Live(); c.open != (l.Abandoned == 2) && c.name != "late" {
					t.Errorf("%+v", l)
				}
				time.Sleep(2 * time.Second)
				synctest.Wait()
				if c.open {
					ctx, cancel := context.WithTimeout(context.Background(), time.Second)
					defer cancel()
					if err := p.agents.Close(ctx); !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "2 calls") {
						t.Errorf("Close: %v", err)
					}
					close(leave)
				}
				shut(t, p)
				if l := p.agents.Live(); l.Running != 0 || l.Abandoned != 0 || l.Calls != l.Returned {
					t.Errorf("%+v", l)
				}
			}) // synctest fails if a goroutine is left
		})
	}
}

// does is a provider that always decides the same.
func does(actions ...agent.Action) agent.Func {
	return func(context.Context, *agent.Perception) (agent.Decision, error) {
		return agent.Decision{Actions: actions}, nil
	}
}

// A deadline in ticks ends a decision in its tick, whatever the clock says.
func TestDeadline(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := mustPark(t, parkConfig{number: 1, spec: agent.Spec{IntervalTicks: 100, DeadlineTicks: 9, Timeout: time.Hour}, agents: agent.Config{Providers: one(never)}})
		p.step(t, 9)
		if p.agents.InFlight(p.ids[0]) != 1 {
			t.Fatal("not in request")
		}
		p.step(t, 1)
		if o, _ := p.agents.Last(p.ids[0]); p.agents.InFlight(p.ids[0]) != 0 || o != (agent.Outcome{Decision: 1, Tick: 9, Type: agent.Expired, Reason: agent.DeadlinePassed}) {
			t.Errorf("%+v", o)
		}
		synctest.Wait()
		if l := p.agents.Live(); l.Running != 0 {
			t.Errorf("its call was not cancelled: %+v", l)
		}
		shut(t, p)
	})
}

// A provider whose calls do not return is not called any more, until some do.
func TestAbandonedLimit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		leave := make(chan struct{})
		stuck := agent.Func(func(context.Context, *agent.Perception) (agent.Decision, error) {
			<-leave
			return agent.Decision{}, nil
		})
		p := mustPark(t, parkConfig{number: 4, spec: agent.Spec{Timeout: tick / 2}, agents: agent.Config{Providers: []agent.ProviderConfig{{Provider: stuck, Abandoned: 10}}}})
		runLive(t, p, 50)
		l := p.agents.Live()
		if l.Running != 10 || l.Abandoned != 10 {
			t.Errorf("%+v", l)
		}
		if s := p.agents.Stats(); s.Reason(agent.Abandoned) == 0 {
			t.Errorf("%+v", s)
		}
		calls := l.Calls
		close(leave)
		runLive(t, p, 10)
		if l := p.agents.Live(); l.Calls == calls || l.Abandoned != 0 {
			t.Errorf("%+v", l)
		}
		shut(t, p)
	})
}

// crowd counts the running calls of a provider.
type crowd struct {
	mu        sync.Mutex
	now, most int
	leave     chan struct{} // nil: calls return at once
}

func (c *crowd) count(by int) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.now += by
	c.most = max(c.most, c.now)
}

func (c *crowd) Decide(context.Context, *agent.Perception) (agent.Decision, error) {
	c.count(1)
	defer c.count(-1)
	if c.leave != nil {
		<-c.leave
	}
	return agent.Decision{}, nil
}

// Calls that have not returned never exceed Abandoned, however many agents are due and however short their
// timeouts; by default they never exceed InFlight + 64.
func TestAbandonedIsTheMost(t *testing.T) {
	for _, c := range []struct{ inFlight, abandoned, most int }{
		{0, 40, 40}, {256, 1, 1}, {7, 40, 40}, {0, 256, 256}, {30, 0, 94}, {0, 0, 320},
	} {
		synctest.Test(t, func(t *testing.T) {
			stuck := &crowd{leave: make(chan struct{})}
			p := mustPark(t, parkConfig{number: 1000, spec: agent.Spec{Timeout: 5 * time.Millisecond}, agents: agent.Config{
				InFlight: 1000, Providers: []agent.ProviderConfig{{Provider: stuck, InFlight: c.inFlight, Abandoned: c.abandoned}},
			}})
			for range 40 {
				p.step(t, 1)
				for range 4 { // within the tick, too
					time.Sleep(tick / 4)
					synctest.Wait()
					if l := p.agents.Live(); l.Running > c.most || l.Abandoned > l.Running {
						t.Fatalf("%+v: %+v", c, l)
					}
				}
			}
			l := p.agents.Live()
			if l.Abandoned != c.most || stuck.most != c.most || l.Calls != uint64(c.most) {
				t.Errorf("%+v: %+v, %d calls at once", c, l, stuck.most)
			}
			if s := p.agents.Stats(); s.Reason(agent.Abandoned) == 0 || s.Reason(agent.TimedOut) != uint64(c.most) {
				t.Errorf("%+v: %+v", c, s)
			}
			close(stuck.leave)
			runLive(t, p, 10)
			if l := p.agents.Live(); l.Calls <= uint64(c.most) || l.Abandoned != 0 {
				t.Errorf("%+v: nobody is asked any more: %+v", c, l)
			}
			shut(t, p)
		})
	}
}

// A small Abandoned does not reject calls of a provider that returns: InFlight is not greater.
func TestAbandonedSparesTheSound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		sound := &crowd{}
		p := mustPark(t, parkConfig{number: 1000, agents: agent.Config{
			InFlight: 1000, Providers: []agent.ProviderConfig{{Provider: sound, InFlight: 256, Abandoned: 40}},
		}})
		runLive(t, p, 20)
		if s, l := p.agents.Stats(), p.agents.Live(); s.Reason(agent.Abandoned) != 0 || l.Calls != 800 || sound.most > 40 {
			t.Errorf("%+v, %+v, %d calls at once", s, l, sound.most)
		}
		shut(t, p)
	})
}

// After Close no provider is called, decisions are cancelled, and the Sim goes on.
func TestClose(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := mustPark(t, parkConfig{number: 3, spec: agent.Spec{IntervalTicks: 4}, agents: agent.Config{Providers: one(never)}})
		runLive(t, p, 10)
		calls := p.agents.Live().Calls
		shut(t, p)
		runLive(t, p, 10)
		s := p.agents.Stats()
		if s.Reason(agent.Closed) < 6 || p.agents.Live().Calls != calls {
			t.Errorf("%+v; %+v", s, p.agents.Live())
		}
		shut(t, p)
	})
}

// Removed agents and despawned entities lose their decisions and actions.
func TestAgentsGo(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		later := agent.Func(func(_ context.Context, p *agent.Perception) (agent.Decision, error) {
			return agent.Decision{Actions: []agent.Action{{Name: "go", Args: []float32{1, 0}, After: 20}}}, nil
		})
		p := mustPark(t, parkConfig{number: 4, spec: agent.Spec{IntervalTicks: 1}, agents: agent.Config{
			Providers: []agent.ProviderConfig{{Provider: later}, {Provider: never}}},
			setup: func(p *park) error {
				return p.sim.Add(evertick.BeforePhysics, "go", func(t *evertick.Tick) error {
					switch t.N {
					case 0:
						p.agents.Remove(t, p.ids[2])
						return p.agents.Add(p.ids[2], agent.Spec{Provider: 1})
					case 5:
						t.Commands().Despawn(p.ids[0])
						if !p.agents.Remove(t, p.ids[1]) || p.agents.Remove(t, p.ids[1]) || !p.agents.Cancel(t, p.ids[2]) || p.agents.Cancel(t, 99) {
							return errors.New("Remove or Cancel")
						}
					}
					return nil
				})
			}})
		for range 12 {
			p.step(t, 1)
			synctest.Wait()
		}
		s := p.agents.Stats()
		if p.agents.Len() != 2 || s.Reason(agent.Removed) == 0 || s.Reason(agent.Despawned) == 0 || s.Reason(agent.Withdrawn) != 1 {
			t.Errorf("%d agents; %+v", p.agents.Len(), s)
		}
		for _, r := range p.agents.Records(nil, 0) {
			if r.Type == agent.Applied && r.Agent < p.ids[2] {
				t.Errorf("%v", &r)
			}
		}
		p.step(t, 30)
		if s := p.agents.Stats(); s.Applied == 0 || p.vx[0] != 0 || p.vx[1] != 0 {
			t.Errorf("%+v", s)
		}
		shut(t, p)
	})
}

// LatencyTicks hides how fast a provider is: actions are due so many ticks after the request.
func TestLatency(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var at []uint64
		p := mustPark(t, parkConfig{number: 1, spec: agent.Spec{IntervalTicks: 50, LatencyTicks: 6}, agents: agent.Config{
			Providers: one(does(agent.Action{Name: "say"}, agent.Action{Name: "say", After: 2})),
			Apply: func(t *evertick.Tick, q *agent.Queued) error {
				at = append(at, t.N)
				return nil
			}}})
		for range 60 {
			p.step(t, 1)
			synctest.Wait()
		}
		if fmt.Sprint(at) != "[6 8 56 58]" {
			t.Errorf("applied in ticks %v", at)
		}
		shut(t, p)
	})
}

// An action that Apply refuses is recorded, and the rest of the decision is applied.
func TestApplyRefuses(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var said []string
		p := mustPark(t, parkConfig{number: 1, spec: agent.Spec{IntervalTicks: 50}, agents: agent.Config{
			Providers: one(does(agent.Action{Name: "say", Data: []byte("a")}, agent.Action{Name: "go", Args: []float32{1, 1}}, agent.Action{Name: "say", Data: []byte("b")})),
			OnFailure: func(r *agent.Record, text string) { said = append(said, fmt.Sprint(r.Reason, " ", r.Index, " ", text)) }}})
		p.refuse = func(q *agent.Queued) error {
			if q.Kind == goTo {
				return errors.New("no way")
			}
			return nil
		}
		p.step(t, 1)
		synctest.Wait()
		p.step(t, 2)
		if fmt.Sprint(p.said) != "[a b]" || fmt.Sprint(said) != "[handler_error 1 no way]" {
			t.Errorf("%q, %q", p.said, said)
		}
		if s := p.agents.Stats(); s.Applied != 2 || s.Rejected != 1 {
			t.Errorf("%+v", s)
		}
		shut(t, p)
	})
}

// An agent that returns from a long decision gets its share from then on, and does not make up
// for the turns in between.
func TestComesBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var a asks
		long := agent.Func(func(ctx context.Context, p *agent.Perception) (agent.Decision, error) {
			if p.Agent == 3 && p.Turn == 0 {
				time.Sleep(300*tick + tick/2)
			}
			return a.Decide(ctx, p)
		})
		p := mustPark(t, parkConfig{number: 3, agents: agent.Config{Providers: []agent.ProviderConfig{{Provider: long, StartsPerTick: 1}}}})
		runLive(t, p, 303)
		before := a.of[3]
		runLive(t, p, 90)
		if n := a.of[3] - before; n < 28 || n > 32 {
			t.Errorf("asked %d times in 90 ticks, as one of three", n)
		}
		shut(t, p)
	})
}
