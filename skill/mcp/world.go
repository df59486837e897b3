package mcp

import (
	"context"
	"errors"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/skill"
	"github.com/evertick/evertick/worldlog"
)

// WorldName is the scenario of the worlds that Build makes, in logs.
const WorldName = "evertick-mcp"

// World is a running world with the standard skills.
type World struct {
	Sim    *evertick.Sim
	Skills *skill.Registry

	rec *replay.Recorder
}

// Build makes an empty world: the plane XY with gravity along -Y, and a floor, which is
// ent_1, whose upper side is at y = 0 from x = -100 to x = 100.
func Build(seed uint64) (*World, error) {
	sim, err := evertick.New(skill.Scene(evertick.Config{Seed: seed}))
	if err != nil {
		return nil, err
	}
	r, err := skill.New(sim, skill.Config{})
	if err != nil {
		return nil, err
	}
	if err := skill.Standard(r); err != nil {
		return nil, err
	}
	w := &World{Sim: sim, Skills: r}
	return w, w.floor()
}

func (w *World) floor() error {
	id, err := w.Sim.World.Spawn()
	if err != nil {
		return err
	}
	def := physics.DefaultBodyDef()
	def.Position = [2]float32{0, -1}
	body, err := w.Sim.CreateBody(id, def)
	if err != nil {
		return err
	}
	_, err = w.Sim.Physics.CreatePolygon(body, physics.DefaultShapeDef(), physics.Box(100, 1))
	if err != nil {
		return err
	}
	tag, err := w.Sim.World.Tag("floor")
	if err != nil {
		return err
	}
	tag.Set(id)
	return w.Sim.World.SetPosition(id, 0, -1, 0)
}

// Scenario returns the scenario by which a replay builds the world again.
func Scenario() replay.Scenario {
	return replay.Scenario{Name: WorldName, New: func(seed uint64) (*evertick.Sim, error) {
		w, err := Build(seed)
		if err != nil {
			return nil, err
		}
		return w.Sim, nil
	}}
}

// Record writes the world into a log from now on, before its first tick: inputs, hashes, and an
// event for every call.
func (w *World) Record(dir string) error {
	rec, err := replay.Record(dir, WorldName, w.Sim, replay.Options{SnapshotTicks: 3600, Log: worldlog.Options{}})
	if err != nil {
		return err
	}
	w.rec = rec
	w.Skills.LogTo(rec.Log())
	return nil
}

// Run runs the world in real time until ctx is done or it fails. Then it answers the waiting calls
// and closes the log.
func (w *World) Run(ctx context.Context) error {
	err := w.Sim.Run(ctx)
	if errors.Is(err, context.Canceled) {
		err = nil
	}
	w.Skills.Close(err)
	if w.rec != nil {
		err = errors.Join(err, w.rec.Close())
	}
	return err
}
