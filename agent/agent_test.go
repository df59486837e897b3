package agent_test

import (
	"context"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/agent"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/worldlog"
)

const tick = time.Second / 60

// runLive steps at 60 Hz in the time of synctest.
func runLive(t testing.TB, p *park, ticks int) {
	t.Helper()
	for range ticks {
		p.step(t, 1)
		time.Sleep(tick)
		synctest.Wait()
	}
}

// recordLive records a run whose providers take up to 300 ms, and returns the hashes.
func recordLive(t *testing.T, c parkConfig, dir string, ticks int) (hashes []uint64, p *park) {
	synctest.Test(t, func(t *testing.T) {
		sim, err := scenario(c, &p).New(3)
		if err != nil {
			t.Fatal(err)
		}
		rec, err := replay.Record(dir, "park", sim, replay.Options{SnapshotTicks: 50, ColumnTicks: 1, Log: worldlog.Options{Durability: worldlog.None}})
		if err != nil {
			t.Fatal(err)
		}
		p.agents.LogTo(rec.Log())
		for range ticks {
			runLive(t, p, 1)
			hashes = append(hashes, sim.Hash())
		}
		if err := rec.Close(); err != nil {
			t.Fatal(err)
		}
		shut(t, p)
	})
	return hashes, p
}

func liveConfig() parkConfig {
	return parkConfig{number: 12, spec: agent.Spec{IntervalTicks: 7, Radius: 8, Shed: agent.Coalesce},
		agents: agent.Config{Providers: []agent.ProviderConfig{{Provider: jittery{agent.Random{Seed: 5, MaxActions: 3}, 300 * time.Millisecond}, InFlight: 5}}}}
}

// replayConfig is liveConfig with a provider that must not be called.
func replayConfig(t testing.TB) parkConfig {
	c := liveConfig()
	c.agents.Providers[0].Provider = mustNotAsk(t)
	return c
}

// A run with slow providers verifies without calling one, and has the same records.
func TestReplayAsksNobody(t *testing.T) {
	dir := t.TempDir()
	hashes, live := recordLive(t, liveConfig(), dir, 200)
	if s := live.agents.Stats(); s.Applied < 20 || live.agents.Live().Calls < 20 || s.ShedLimit == 0 {
		t.Fatalf("%+v", s)
	}
	var again *park
	rep, err := replay.Verify(dir, scenario(replayConfig(t), &again), replay.VerifyOptions{})
	if err != nil {
		t.Fatal(err)
	}
	if rep.Ticks != 200 || rep.Hash != hashes[199] {
		t.Errorf("%+v", rep)
	}
	if a, b := live.agents.Stats(), again.agents.Stats(); a != b {
		t.Errorf("counts %+v\nreplay %+v", a, b)
	}
	if live.agents.Chain() != again.agents.Chain() || !slices.Equal(live.agents.Records(nil, 0), again.agents.Records(nil, 0)) {
		t.Error("other records")
	}
	if again.agents.Live().Calls != 0 {
		t.Error("calls")
	}
	for _, at := range []uint64{0, 49, 50, 77, 151} {
		sim, err := replay.Seek(dir, scenario(replayConfig(t), nil), at, nil)
		if err != nil || sim.Hash() != hashes[at] {
			t.Errorf("tick %d: %v", at, err)
		}
	}
}

// The log has every record, and each leads back to a perception.
func TestRecordsInTheLog(t *testing.T) {
	dir := t.TempDir()
	_, live := recordLive(t, liveConfig(), dir, 120)
	r, err := worldlog.OpenReader(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	var all []agent.Record
	for tick, err := range r.Ticks(0) {
		if err != nil {
			t.Fatal(err)
		}
		for i := range tick.Records {
			if typ := tick.Records[i].Type; typ != worldlog.Decision && typ != worldlog.Intent {
				continue
			}
			rec, err := agent.ParseRecord(&tick.Records[i])
			if err != nil {
				t.Fatal(err)
			}
			if rec.Tick != tick.Tick {
				t.Fatalf("in tick %d: %v", tick.Tick, &rec)
			}
			all = append(all, rec)
		}
	}
	if want := live.agents.Records(nil, 0); !slices.Equal(all, want) {
		t.Fatalf("%d records in the log, not the %d that were kept", len(all), len(want))
	}
	chains := 0
	for _, rec := range all {
		if rec.Type != agent.Applied {
			continue
		}
		accepted := all[rec.Cause-1]
		issued := all[accepted.Cause-1]
		perceived := all[issued.Cause-1]
		if accepted.Type != agent.Accepted || issued.Type != agent.Issued || perceived.Type != agent.Perceived ||
			perceived.Hash != issued.Hash || perceived.Hash == 0 || perceived.Decision != rec.Decision || perceived.Agent != rec.Agent || perceived.Cause != 0 {
			t.Fatalf("%v <- %v <- %v <- %v", &rec, &accepted, &issued, &perceived)
		}
		chains++
	}
	if chains < 20 {
		t.Errorf("%d chains", chains)
	}
}

// A run does not depend on levels, workers, or the machine that recorded it.
func TestWorkersAndLevels(t *testing.T) {
	dir := t.TempDir()
	hashes, _ := recordLive(t, liveConfig(), dir, 60)
	for _, level := range native.Levels() {
		for _, workers := range []int{1, 2, 7} {
			c := replayConfig(t)
			c.sim.Level, c.sim.Workers = level, workers
			rep, err := replay.Verify(dir, scenario(c, nil), replay.VerifyOptions{})
			if err != nil || rep.Hash != hashes[59] {
				t.Errorf("%v, %d workers: %v", level, workers, err)
			}
		}
	}
}

// The order of answers between two ticks makes no difference.
func TestOrderOfArrival(t *testing.T) {
	run := func(order func([]ecs.ID)) (hash uint64) {
		synctest.Test(t, func(t *testing.T) {
			var mu sync.Mutex
			gates := map[ecs.ID]chan struct{}{}
			random := agent.Random{Seed: 1, MaxActions: 3}
			p := mustPark(t, parkConfig{number: 8, spec: agent.Spec{IntervalTicks: 5, Radius: 8}, agents: agent.Config{Providers: one(agent.Func(
				func(ctx context.Context, p *agent.Perception) (agent.Decision, error) {
					gate := make(chan struct{})
					mu.Lock()
					gates[p.Agent] = gate
					mu.Unlock()
					<-gate
					return random.Decide(ctx, p)
				}))}})
			for range 40 {
				p.step(t, 1)
				synctest.Wait()
				ids := make([]ecs.ID, 0, len(gates))
				for id := range gates {
					ids = append(ids, id)
				}
				slices.Sort(ids)
				order(ids)
				for _, id := range ids {
					close(gates[id])
					delete(gates, id)
					synctest.Wait() // one after the other
				}
			}
			shut(t, p)
			if p.agents.Stats().Applied == 0 {
				t.Error("nothing applied")
			}
			hash = p.sim.Hash()
		})
		return hash
	}
	want := run(func([]ecs.ID) {})
	if got := run(slices.Reverse[[]ecs.ID]); got != want {
		t.Errorf("hash %x, in the other order %x", want, got)
	}
	if got := run(func(ids []ecs.ID) { slices.Reverse(ids[:len(ids)/2]) }); got != want {
		t.Errorf("hash %x, in a mixed order %x", want, got)
	}
}

// Ticks that StepBack and Forward run again call no provider, and have the same hashes; a run that takes
// another course calls providers again.
func TestStepBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := liveConfig()
		c.sim.History = evertick.HistoryConfig{Keep: 16, Every: 10}
		p := mustPark(t, c)
		runLive(t, p, 60)
		hash, calls := p.sim.Hash(), p.agents.Live().Calls
		for _, n := range []uint64{1, 3, 17, 40} {
			if err := p.sim.StepBack(n); err != nil {
				t.Fatal(err)
			}
			if err := p.sim.Forward(n); err != nil {
				t.Fatal(err)
			}
			if p.sim.Hash() != hash {
				t.Fatalf("%d ticks back and forward: another hash", n)
			}
		}
		if got := p.agents.Live().Calls; got != calls {
			t.Errorf("%d calls of providers on ticks run again", got-calls)
		}
		if err := p.sim.StepBack(20); err != nil {
			t.Fatal(err)
		}
		before := p.agents.Stats()
		runLive(t, p, 100)
		after := p.agents.Stats()
		if after.Applied == before.Applied || p.agents.Live().Calls == calls {
			t.Errorf("the run does not go on: %+v, %+v", before, after)
		}
		if late := p.agents.Live(); late.Unsent != 0 {
			t.Errorf("%+v", late)
		}
		for _, id := range p.ids { // no answer is expected that cannot come
			if o, _ := p.agents.Last(id); o.Tick+60 < p.sim.Ticks() {
				t.Errorf("%v: last %+v at tick %d", id, o, p.sim.Ticks())
			}
		}
		shut(t, p)
	})
}

// Snapshots contain the whole state of agents.
func TestSyncTest(t *testing.T) {
	dir := t.TempDir()
	recordLive(t, liveConfig(), dir, 60)
	inputs := map[uint64][]evertick.Input{}
	for in, err := range replay.Inputs(dir, nil) {
		if err != nil {
			t.Fatal(err)
		}
		in.Input.Data = slices.Clone(in.Input.Data)
		inputs[in.At] = append(inputs[in.At], in.Input)
	}
	if len(inputs) == 0 {
		t.Fatal("no inputs")
	}
	err := replay.SyncTest(scenario(replayConfig(t), nil), 3, 60, func(tick uint64, dst []evertick.Input) ([]evertick.Input, error) {
		return append(dst, inputs[tick]...), nil
	})
	if err != nil {
		t.Error(err)
	}
}
