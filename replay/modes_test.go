package replay_test

import (
	"errors"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/replay"
)

// missions is a scenario whose inputs set the mode. In mode 1 a body moves and a timer drains.
var missions = replay.Scenario{Name: "missions", New: func(seed uint64) (*evertick.Sim, error) {
	sim, err := evertick.New(evertick.Config{Capacity: 16, Seed: seed, PhysicsModes: 0b10})
	if err != nil {
		return nil, err
	}
	id, err := sim.World.Spawn()
	if err != nil {
		return nil, err
	}
	def := physics.DefaultBodyDef()
	def.Type, def.LinearVelocity = physics.KinematicBody, [2]float32{1, 0}
	_, bodyErr := sim.CreateBody(id, def)
	timer, timerErr := sim.AddTimer("mission", 0b10)
	if err := errors.Join(bodyErr, timerErr); err != nil {
		return nil, err
	}
	timer.Set(30)
	timer.Start()
	return sim, errors.Join(
		sim.Add(evertick.BeforePhysics, "input", func(t *evertick.Tick) error {
			for _, in := range t.Inputs() {
				if err := sim.SetMode(uint8(in.Kind)); err != nil {
					return err
				}
			}
			return nil
		}),
		sim.AddSystem(evertick.System{Name: "mission", Stage: evertick.AfterCommands, Modes: 0b10, Run: func(*evertick.Tick) error {
			if timer.Expired() {
				sim.World.Position.Z[0]++
			}
			return nil
		}}))
}}

// A log of a run that changes its mode verifies, and the state after any tick has its mode.
func TestModesInALog(t *testing.T) {
	dir := t.TempDir() + "/run"
	sim, err := missions.New(1)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := replay.Record(dir, missions.Name, sim, replay.Options{SnapshotTicks: 16})
	if err != nil {
		t.Fatal(err)
	}
	var modes []uint8
	for tick := range uint64(120) {
		if tick%9 == 4 {
			if err := sim.Push(evertick.Input{Tick: tick, Seq: tick, Kind: uint32(tick / 9 % 3)}); err != nil {
				t.Fatal(err)
			}
		}
		if err := sim.Step(); err != nil {
			t.Fatal(err)
		}
		modes = append(modes, sim.Mode())
	}
	if sim.World.Position.Z[0] != 1 {
		t.Fatalf("the timer expired %g times", sim.World.Position.Z[0])
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	if rep, err := replay.Verify(dir, missions, replay.VerifyOptions{}); err != nil || rep.Ticks != 120 || rep.Hash != sim.Hash() {
		t.Errorf("verified %+v, %v", rep, err)
	}
	for tick := uint64(0); tick < 120; tick += 7 {
		then, err := replay.Seek(dir, missions, tick, nil)
		if err != nil || then.Mode() != modes[tick] {
			t.Fatalf("after tick %d: %v, mode %d, want %d", tick, err, then.Mode(), modes[tick])
		}
	}
}
