package host_test

import (
	"errors"
	"path/filepath"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/host"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/worldlog"
)

// What docs/operations.md promises for upgrades, as far as one build can show it.

// recorded writes a log of 30 ticks, and returns its Sim.
func recorded(t *testing.T, dir string, snapshot bool) *evertick.Sim {
	t.Helper()
	sim, err := walkers.New(5)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := replay.Record(dir, walkers.Name, sim, replay.Options{})
	if err == nil {
		err = sim.StepN(30)
	}
	if err == nil && snapshot {
		err = rec.Snapshot()
	}
	if err = errors.Join(err, rec.Close()); err != nil {
		t.Fatal(err)
	}
	return sim
}

// counting is walkers with another rule, and with a count of the ticks that run.
func counting(ticks *int, rule float32) replay.Scenario {
	return replay.Scenario{Name: walkers.Name, New: func(seed uint64) (*evertick.Sim, error) {
		sim, err := walkers.New(seed)
		if err != nil {
			return nil, err
		}
		return sim, sim.Add(evertick.AfterPhysics, "count", func(*evertick.Tick) error {
			*ticks++
			sim.World.Position.Y[0] += rule
			return nil
		})
	}}
}

// A start after a last snapshot runs no tick again, and so notices no other rules; without the snapshot it does.
func TestRestart(t *testing.T) {
	for _, c := range []struct {
		snapshot bool
		rule     float32
		ran      int
		err      error
	}{{true, 0, 0, nil}, {true, 1, 0, nil}, {false, 0, 30, nil}, {false, 1, 1, fault.ErrDiverged}} {
		dir, ran := filepath.Join(t.TempDir(), "log"), 0
		recorded(t, dir, c.snapshot)
		rec, _, _, err := replay.Resume(dir, counting(&ran, c.rule), replay.Options{})
		if !errors.Is(err, c.err) || ran != c.ran {
			t.Errorf("%+v: %d ticks ran, %v", c, ran, err)
		}
		if err == nil {
			if err := rec.Close(); err != nil {
				t.Error(err)
			}
		}
		if _, err := replay.Verify(dir, counting(&ran, c.rule), replay.VerifyOptions{}); (err != nil) != (c.rule != 0) {
			t.Errorf("%+v: Verify: %v", c, err)
		}
	}
}

// A log of another SimVersion is refused, and its inputs can still be read.
func TestOtherSimVersion(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "log")
	log, err := worldlog.Create(dir, worldlog.Identity{Scenario: walkers.Name, SimVersion: evertick.SimVersion + 1}, worldlog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	err = errors.Join(log.Append(&worldlog.Record{Type: worldlog.Input, Source: 7}), log.Commit(0, 1, worldlog.Counts{}), log.Close())
	if err != nil {
		t.Fatal(err)
	}
	if _, _, _, err := replay.Resume(dir, walkers, replay.Options{}); !errors.Is(err, fault.ErrUnsupported) {
		t.Errorf("Resume: %v", err)
	}
	r, err := worldlog.OpenReader(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	if tick, err := r.Next(); err != nil || len(tick.Records) != 1 || tick.Records[0].Source != 7 {
		t.Errorf("%+v, %v", tick, err)
	}
}

// A new run begins with the entities of an old one, under another name, with a log from tick 0.
func TestNewRunFromAWorld(t *testing.T) {
	dir := t.TempDir()
	old := recorded(t, filepath.Join(dir, "old"), false)
	rows := old.World.Snapshot(nil)
	next := replay.Scenario{Name: "walkers 2", New: func(seed uint64) (*evertick.Sim, error) {
		sim, err := walkers.New(seed)
		if err != nil {
			return nil, err
		}
		return sim, sim.World.Restore(rows)
	}}
	sim, err := next.New(6)
	if err != nil {
		t.Fatal(err)
	}
	if x := sim.World.Position.X[0]; sim.Ticks() != 0 || x != old.World.Position.X[0] || x == 0 || sim.World.Len() != 1 {
		t.Fatalf("tick %d, x = %v", sim.Ticks(), x)
	}
	if _, ok := sim.World.Slot(ecs.ID(1)); !ok {
		t.Error("the entity has another id")
	}
	rec, err := replay.Record(filepath.Join(dir, "new"), next.Name, sim, replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	h := newHost(t, host.Config{Workers: 1, Budget: 100})
	if err := h.Add(host.World{Name: "w", Sim: sim, Scenario: next, Recorder: rec, EstimateNs: 1}); err != nil {
		t.Fatal(err)
	}
	until(t, "it runs", func() bool { return statsOf(t, h, "w").Ticks > 20 })
	if _, err := h.Remove(t.Context(), "w"); err != nil {
		t.Fatal(err)
	}
	if rep, err := replay.Verify(filepath.Join(dir, "new"), next, replay.VerifyOptions{}); err != nil || rep.Ticks < 20 {
		t.Errorf("%+v, %v", rep, err)
	}
	if _, _, _, err := replay.Resume(filepath.Join(dir, "old"), next, replay.Options{}); !errors.Is(err, fault.ErrUnsupported) {
		t.Errorf("the old log under the new name: %v", err)
	}
}
