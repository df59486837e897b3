package replay_test

import (
	"errors"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/replay"
)

// drove is a scenario whose rows move, by the policy and on request: entities wander, some by their bodies, and are born
// and die by inputs.
var drove = replay.Scenario{Name: "drove", New: func(seed uint64) (*evertick.Sim, error) {
	sim, err := evertick.New(evertick.Config{Capacity: 200, Seed: seed, Previous: true,
		Reorder: evertick.ReorderPolicy{Every: 5, Disorder: 0.1, Requests: true}})
	if err != nil {
		return nil, err
	}
	spawn := func(x float32, body bool) error {
		id, slot, err := sim.World.SpawnSlot()
		if err != nil {
			return err
		}
		sim.World.Position.X[slot] = x
		if !body {
			return nil
		}
		def := physics.DefaultBodyDef()
		def.Type, def.Position = physics.DynamicBody, [2]float32{x, 3}
		_, err = sim.CreateBody(id, def)
		return err
	}
	errs := []error{sim.Add(evertick.BeforePhysics, "wander", func(t *evertick.Tick) error {
		for _, in := range t.Inputs() {
			switch in.Kind {
			case despawn:
				t.Commands().Despawn(ecs.ID(1 + in.Seq%40))
			case evertick.ReorderKind:
			default:
				if err := spawn(float32(in.Seq%17), in.Kind == spawnBody); err != nil {
					return err
				}
			}
		}
		for slot := range sim.World.Query() {
			id, _ := sim.World.ID(slot)
			r := t.Rand(id, 0)
			if b, ok := sim.Body(id); ok {
				if err := sim.Physics.ApplyLinearImpulseToCenter(b, [2]float32{r.Range(-1, 1), r.Range(-1, 1)}); err != nil {
					return err
				}
			} else {
				sim.World.Position.X[slot] += r.Range(-1, 1)
			}
		}
		sim.World.Position.Touch()
		return nil
	})}
	for i := range 60 {
		errs = append(errs, spawn(float32(i*7%60), i%4 == 0))
	}
	return sim, errors.Join(errs...)
}}

const spawnBody = 77

// droveInputs returns what comes in at a tick.
func droveInputs(tick uint64, dst []evertick.Input) ([]evertick.Input, error) {
	r := loop.NewRand(7, tick, 0, 0)
	if r.IntN(3) == 0 {
		dst = append(dst, evertick.Input{Tick: tick, Source: 3, Seq: tick, Kind: []uint32{despawn, spawn, spawnBody}[r.IntN(3)]})
	}
	if r.IntN(20) == 0 {
		dst = append(dst, evertick.Input{Tick: tick, Source: evertick.ReorderKind, Kind: evertick.ReorderKind})
	}
	return dst, nil
}

// A log of a run whose rows move verifies, and any tick of it can be found.
func TestReorderInALog(t *testing.T) {
	const ticks = 150
	dir := t.TempDir() + "/run"
	sim, err := drove.New(1)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := replay.Record(dir, drove.Name, sim, replay.Options{SnapshotTicks: 40})
	if err != nil {
		t.Fatal(err)
	}
	var hashes []uint64
	for tick := range uint64(ticks) {
		inputs, _ := droveInputs(tick, nil)
		for _, in := range inputs {
			if in.Kind == evertick.ReorderKind {
				err = sim.Reorder()
			} else {
				err = sim.Push(in)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		if err := sim.Step(); err != nil {
			t.Fatal(err)
		}
		hashes = append(hashes, sim.Hash())
	}
	if sim.World.Generation() < 10 {
		t.Fatalf("%d reorders", sim.World.Generation())
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	if rep, err := replay.Verify(dir, drove, replay.VerifyOptions{}); err != nil || rep.Ticks != ticks || rep.Hash != sim.Hash() {
		t.Errorf("verified %+v, %v", rep, err)
	}
	for tick := uint64(0); tick < ticks; tick += 13 {
		if then, err := replay.Seek(dir, drove, tick, nil); err != nil || then.Hash() != hashes[tick] {
			t.Fatalf("tick %d: %v", tick, err)
		}
	}
}

// A run that is restored before every tick reorders as one that is not.
func TestReorderSyncTest(t *testing.T) {
	if err := replay.SyncTest(drove, 1, 120, droveInputs); err != nil {
		t.Error(err)
	}
}

// A run that guesses inputs and rolls back over reorders ends as one in which they came in time.
func TestReorderRollback(t *testing.T) {
	const ticks = 120
	want, err := drove.New(1)
	if err != nil {
		t.Fatal(err)
	}
	want.SetInputs(droveInputs)
	if err := want.StepN(ticks); err != nil {
		t.Fatal(err)
	}
	sim, err := drove.New(1)
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.NewRollback(sim, replay.RollbackConfig{Frames: 9})
	if err != nil {
		t.Fatal(err)
	}
	due := map[uint64][]evertick.Input{}
	for tick := range uint64(ticks) {
		in, _ := droveInputs(tick, nil)
		at := min(tick+tick%8, ticks-1)
		due[at] = append(due[at], in...)
		if err := r.Advance(due[tick]...); err != nil {
			t.Fatal(err)
		}
	}
	if sim.Hash() != want.Hash() || r.Rolled() < ticks || sim.World.Generation() < 50 {
		t.Errorf("hash %x, want %x; %d ticks run again, generation %d", sim.Hash(), want.Hash(), r.Rolled(), sim.World.Generation())
	}
}
