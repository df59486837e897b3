package agent_test

import (
	"context"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/agent"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/worldlog"
)

// Hybrid: a replay up to a tick, and live from there on. Decisions in flight are requested again with
// their old perceptions.
func TestHybrid(t *testing.T) {
	dir := t.TempDir()
	hashes, _ := recordLive(t, liveConfig(), dir, 100)
	synctest.Test(t, func(t *testing.T) {
		var p *park
		player, err := replay.Play(dir, scenario(liveConfig(), &p), nil)
		if err != nil {
			t.Fatal(err)
		}
		for range 60 {
			if err := player.Step(); err != nil {
				t.Fatal(err)
			}
		}
		inFlight := 0
		for _, id := range p.ids {
			if p.agents.InFlight(id) != 0 {
				inFlight++
			}
		}
		if p.agents.Live().Calls != 0 || inFlight == 0 || p.sim.Hash() != hashes[59] {
			t.Fatalf("%+v, %d in request", p.agents.Live(), inFlight)
		}
		sim, err := player.Live()
		if err != nil || sim != p.sim {
			t.Fatal(err)
		}
		before := p.agents.Stats()
		p.step(t, 1)
		if got := p.agents.Live().Calls; got < uint64(inFlight) {
			t.Errorf("%d calls, %d were in request", got, inFlight)
		}
		runLive(t, p, 60)
		if s := p.agents.Stats(); s.Accepted < before.Accepted+uint64(inFlight) || s.Reason(agent.Orphaned) != 0 {
			t.Errorf("%+v", s)
		}
		shut(t, p)
	})
}

// After a snapshot perceptions are not known: decisions in flight are cancelled, and the
// agents go on. A fork records that, and verifies.
func TestForkAndOrphans(t *testing.T) {
	dir, forked := t.TempDir(), t.TempDir()
	recordLive(t, liveConfig(), dir, 100)
	synctest.Test(t, func(t *testing.T) {
		var p *park
		rec, sim, err := replay.Fork(dir, scenario(liveConfig(), &p), 60, forked, replay.Options{Log: worldlog.Options{Durability: worldlog.None}})
		if err != nil {
			t.Fatal(err)
		}
		if sim != p.sim {
			t.Fatal("another Sim")
		}
		runLive(t, p, 80)
		if s := p.agents.Stats(); p.agents.Live().Calls == 0 || s.Applied == 0 {
			t.Errorf("%+v", s)
		}
		if err := rec.Close(); err != nil {
			t.Fatal(err)
		}
		shut(t, p)
	})
	rep, err := replay.Verify(forked, scenario(replayConfig(t), nil), replay.VerifyOptions{})
	if err != nil || rep.Ticks != 141 {
		t.Errorf("%+v, %v", rep, err)
	}
	// And by a Restore of a snapshot into a Sim built anew.
	synctest.Test(t, func(t *testing.T) {
		a := mustPark(t, liveConfig())
		runLive(t, a, 30)
		data, err := a.sim.Snapshot(nil)
		if err != nil {
			t.Fatal(err)
		}
		b := mustPark(t, liveConfig())
		if err := b.sim.Restore(data); err != nil {
			t.Fatal(err)
		}
		if len(b.agents.Records(nil, 0)) != 0 {
			t.Error("records of another life")
		}
		b.sim.DropInputs()
		runLive(t, b, 2)
		if s := b.agents.Stats(); s.Reason(agent.Orphaned) == 0 {
			t.Errorf("%+v", s)
		}
		runLive(t, b, 60)
		if s := b.agents.Stats(); s.Accepted == 0 {
			t.Errorf("%+v", s)
		}
		shut(t, a)
		shut(t, b)
	})
}

// Modes that call no provider.
func TestModes(t *testing.T) {
	c := replayConfig(t)
	c.agents.Mode = agent.Replay
	p := mustPark(t, c)
	p.step(t, 20)
	if p.agents.Live().Calls != 0 || p.agents.Stats().Issued == 0 {
		t.Errorf("%+v", p.agents.Stats())
	}
	synctest.Test(t, func(t *testing.T) {
		c := liveConfig()
		c.agents.LiveFrom = 10
		p := mustPark(t, c)
		p.step(t, 10)
		if p.agents.Live().Calls != 0 {
			t.Error("live too early")
		}
		p.step(t, 1)
		if p.agents.Live().Calls == 0 {
			t.Error("not live")
		}
		calls := p.agents.Live().Calls
		p.agents.SetMode(agent.Replay)
		runLive(t, p, 30)
		if p.agents.Live().Calls != calls {
			t.Error("asked in mode Replay")
		}
		shut(t, p)
	})
}

// Redecide gives perceptions to another provider: the same one agrees with itself, another one
// does not, and the run follows the log in any case.
func TestRedecide(t *testing.T) {
	dir := t.TempDir()
	hashes, live := recordLive(t, liveConfig(), dir, 120)
	answers, err := agent.ReadAnswers(dir, nil, agent.Config{Actions: parkActions()})
	if err != nil || uint64(len(answers)) != live.agents.Stats().Accepted {
		t.Fatalf("%d answers, %v", len(answers), err)
	}
	for _, c := range []struct {
		name     string
		provider agent.Provider
		same     bool
	}{
		{"itself", agent.Random{Seed: 5, MaxActions: 3}, true},
		{"recorded", agent.NewRecorded(answers), true},
		{"another", agent.Random{Seed: 6, MaxActions: 3}, false},
		{"fails", agent.Func(func(context.Context, *agent.Perception) (agent.Decision, error) {
			return agent.Decision{}, errors.New("no")
		}), false},
	} {
		var got []agent.Comparison
		var p *park
		sc := scenario(replayConfig(t), &p)
		build := sc.New
		sc.New = func(seed uint64) (*evertick.Sim, error) {
			sim, err := build(seed)
			if err == nil {
				p.agents.Redecide(t.Context(), c.provider, func(c agent.Comparison) { got = append(got, c) })
			}
			return sim, err
		}
		rep, err := replay.Verify(dir, sc, replay.VerifyOptions{})
		if err != nil || rep.Hash != hashes[119] {
			t.Fatalf("%s: %v", c.name, err)
		}
		same := 0
		for _, g := range got {
			if g.Same {
				same++
			}
		}
		if len(got) != len(answers) || c.same != (same == len(got)) || !c.same && same > len(got)/2 {
			t.Errorf("%s: %d of %d the same; %d answers", c.name, same, len(got), len(answers))
		}
		for _, g := range got {
			i := slices.IndexFunc(answers, func(a agent.Answer) bool { return a.Decision == g.Decision })
			if i < 0 || answers[i].Agent != g.Agent || !slices.EqualFunc(g.Was.Actions, answers[i].Actions, func(a, b agent.Action) bool { return a.Name == b.Name && a.Target == b.Target }) {
				t.Fatalf("%s: %+v is not of an answer in the log", c.name, g)
			}
		}
	}
	if _, err := agent.NewRecorded(nil).Decide(t.Context(), &agent.Perception{}); !errors.Is(err, agent.ErrUnknown) {
		t.Errorf("%v", err)
	}
}

// Under Rollback answers go through Advance, and a run with late inputs ends as one in which
// they came in time.
func TestRollback(t *testing.T) {
	run := func(late bool) (hash uint64, calls uint64) {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			var sent []evertick.Input
			c := parkConfig{number: 6, spec: agent.Spec{IntervalTicks: 6, Radius: 8, LatencyTicks: 12}, agents: agent.Config{
				Providers: one(agent.Random{Seed: 3, MaxActions: 2}),
				Send: func(in evertick.Input) error {
					mu.Lock()
					defer mu.Unlock()
					sent = append(sent, in)
					return nil
				}}}
			c.setup = func(p *park) error {
				return p.sim.Add(evertick.BeforePhysics, "shove", func(t *evertick.Tick) error {
					for _, in := range t.Inputs() {
						if in.Kind == 1 {
							slot, _ := p.sim.World.Slot(p.ids[int(in.Seq)%len(p.ids)])
							p.vx[slot] += 0.25
						}
					}
					return nil
				})
			}
			p := mustPark(t, c)
			r, err := replay.NewRollback(p.sim, replay.RollbackConfig{Frames: 8})
			if err != nil {
				t.Fatal(err)
			}
			var held []evertick.Input
			for n := range uint64(90) {
				synctest.Wait()
				mu.Lock()
				in := slices.Clone(sent)
				sent = sent[:0]
				mu.Unlock()
				if n%5 == 0 {
					shove := evertick.Input{Tick: n, Source: 1, Seq: n, Kind: 1}
					if late {
						held = append(held, shove)
					} else {
						in = append(in, shove)
					}
				}
				if late && n%5 == 3 {
					in = append(in, held...)
					held = nil
				}
				if err := r.Advance(in...); err != nil {
					t.Fatal(err)
				}
			}
			if late && r.Rolled() == 0 {
				t.Error("nothing was late")
			}
			for _, o := range p.agents.Records(nil, 0) {
				if o.Type == agent.Expired {
					t.Errorf("%v", &o)
				}
			}
			if p.agents.Stats().Applied == 0 {
				t.Error("nothing applied")
			}
			calls = p.agents.Live().Calls
			hash = p.sim.World.Hash() // the state of agents has records of answers that were sent twice
			shut(t, p)
		})
		return hash, calls
	}
	inTime, _ := run(false)
	late, calls := run(true)
	if inTime != late {
		t.Errorf("in time %x, late %x", inTime, late)
	}
	if calls == 0 {
		t.Error("nobody was asked")
	}
}

// A Sim whose queue of inputs is full gets the answers as soon as there is room.
func TestUnsent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := parkConfig{number: 10, spec: agent.Spec{IntervalTicks: 40}, agents: agent.Config{Providers: one(does(agent.Action{Name: "say"}))}}
		c.sim.Inputs.Capacity = 3
		p := mustPark(t, c)
		for i := range uint64(3) {
			if err := p.sim.Push(evertick.Input{Tick: 30, Source: 1, Seq: i}); err != nil {
				t.Fatal(err)
			}
		}
		runLive(t, p, 29)
		if l := p.agents.Live(); l.Unsent == 0 {
			t.Fatalf("%+v", l)
		}
		runLive(t, p, 31)
		if s := p.agents.Stats(); p.agents.Live().Unsent != 0 || s.Applied < 10 || s.Expired != 0 {
			t.Errorf("%+v; %+v", p.agents.Live(), s)
		}
		shut(t, p)
	})
}

// Ticks that run again are in the log once, with their records.
func TestLogOfStepBack(t *testing.T) {
	dir := t.TempDir()
	synctest.Test(t, func(t *testing.T) {
		c := liveConfig()
		c.sim.History = evertick.HistoryConfig{Keep: 8, Every: 5}
		p := mustPark(t, c)
		rec, err := replay.Record(dir, "park", p.sim, replay.Options{Log: worldlog.Options{Durability: worldlog.None}})
		if err != nil {
			t.Fatal(err)
		}
		p.agents.LogTo(rec.Log())
		runLive(t, p, 40)
		if err := p.sim.StepBack(17); err != nil {
			t.Fatal(err)
		}
		if err := p.sim.Forward(17); err != nil {
			t.Fatal(err)
		}
		runLive(t, p, 10)
		if err := rec.Close(); err != nil {
			t.Fatal(err)
		}
		shut(t, p)
	})
	r, err := worldlog.OpenReader(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	n := uint64(0)
	for tick, err := range r.Ticks(0) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range tick.Records {
			if typ := tick.Records[i].Type; typ != worldlog.Decision && typ != worldlog.Intent {
				continue
			}
			rec, err := agent.ParseRecord(&tick.Records[i])
			if n++; err != nil || rec.Seq != n || rec.Tick != tick.Tick {
				t.Fatalf("tick %d: record %d is %v, %v", tick.Tick, n, &rec, err)
			}
		}
	}
	if n < 50 {
		t.Errorf("%d records", n)
	}
	if _, err := replay.Verify(dir, replay.Scenario{Name: "park", New: func(uint64) (*evertick.Sim, error) {
		p, err := newPark(replayConfig(t))
		return p.sim, err
	}}, replay.VerifyOptions{}); err != nil {
		t.Error(err)
	}
}

// Perceptions are part of the hash of each tick, whether agents are asked or not.
func TestPerceptionsAreHashed(t *testing.T) {
	run := func(limit int) (hash uint64) {
		p := mustPark(t, parkConfig{number: 30, spec: agent.Spec{Radius: 20}, agents: agent.Config{MaxNeighbours: limit}})
		p.step(t, 3)
		return p.sim.Hash()
	}
	if a, b, c := run(3), run(64), run(64); a == b || b != c {
		t.Errorf("hashes %x, %x, %x", a, b, c)
	}
}
