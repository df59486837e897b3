package evertick_test

import (
	"errors"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

func TestInterpolate(t *testing.T) {
	for _, previous := range []bool{false, true} {
		sim, err := evertick.New(evertick.Config{Previous: previous, Clock: new(loop.ManualClock)})
		if err != nil {
			t.Fatal(err)
		}
		id, _ := sim.World.Spawn()
		sim.Add(evertick.BeforePhysics, "walk", func(t *evertick.Tick) error {
			return sim.World.SetPosition(id, float32(t.N)*4, 0, 0)
		})
		out := ecs.NewTransforms(sim.World.Cap())
		frame, err := sim.Advance(54_166_667) // three ticks and a quarter
		if err != nil || frame.Steps != 3 {
			t.Fatal(frame, err)
		}
		err = sim.Interpolate(out)
		if !previous {
			if !errors.Is(err, evertick.ErrUnsupported) {
				t.Error(err)
			}
			continue
		}
		if x := out.Position.X[0]; err != nil || x < 4.99 || x > 5.01 {
			t.Errorf("drawn at %v, between 4 and 8: %v", x, err)
		}
	}
}

// Who is put elsewhere is drawn there, and not on the way; others are drawn on theirs. To
// draw changes nothing.
func TestInterpolateTeleports(t *testing.T) {
	type scene struct {
		sim  *evertick.Sim
		ids  [6]ecs.ID
		late ecs.ID
	}
	build := func(level native.Level, draws bool) *scene {
		c := small()
		c.Previous, c.Level, c.Clock = draws, level, new(loop.ManualClock)
		s := &scene{sim: newSim(t, c)}
		var bodies [6]physics.Body
		for i := range s.ids {
			s.ids[i] = spawn(t, s.sim)
			if i < 4 {
				def := physics.DefaultBodyDef()
				def.Type, def.LinearVelocity = physics.KinematicBody, [2]float32{6, 0}
				def.Position = [2]float32{float32(i), 0}
				var err error
				if bodies[i], err = s.sim.CreateBody(s.ids[i], def); err != nil {
					t.Fatal(err)
				}
			}
		}
		list := s.sim.Physics.NewCommands()
		add(t, s.sim, evertick.BeforePhysics, "teleport", func(tick *evertick.Tick) error {
			w := s.sim.World
			w.Position.X[slotOf(t, s.sim, s.ids[4])] += 0.1
			w.Position.X[slotOf(t, s.sim, s.ids[5])] += 0.1
			if tick.N != 4 {
				return nil
			}
			list.SetTransform(bodies[2], [2]float32{-200, 0}, 1)
			s.late = spawn(t, s.sim)
			w.Jump(s.ids[5])
			return errors.Join(s.sim.Physics.SetTransform(bodies[1], [2]float32{300, 0}, 2), s.sim.Physics.Apply(list),
				w.SetPosition(s.ids[5], 500, 0, 0), w.SetPosition(s.late, 600, 0, 0))
		})
		add(t, s.sim, evertick.AfterIndex, "teleport behind the bodies", func(tick *evertick.Tick) error {
			if tick.N == 3 { // is seen in the next tick
				return s.sim.Physics.SetTransform(bodies[3], [2]float32{400, 0}, 0)
			}
			return nil
		})
		return s
	}
	const half = 8_333_333 // ns, of a tick
	for _, level := range native.Levels() {
		s, blind := build(level, true), build(level, false)
		out := ecs.NewTransforms(s.sim.World.Cap())
		for range 8 {
			for range 2 {
				if _, err := s.sim.Advance(half + 1); err != nil {
					t.Fatal(err)
				}
				hash := s.sim.World.Hash()
				if err := s.sim.Interpolate(out); err != nil || hash != s.sim.World.Hash() {
					t.Fatalf("drawing changes the state, %v", err)
				}
			}
			step(t, blind.sim, 1)
			if s.sim.Hash() != blind.sim.Hash() {
				t.Fatalf("level %s, tick %d: who draws has another hash", level, s.sim.Ticks())
			}
			at := func(id ecs.ID) (drawn, now float32) {
				slot := slotOf(t, s.sim, id)
				return out.Position.X[slot], s.sim.World.Position.X[slot]
			}
			for i, id := range s.ids {
				drawn, now := at(id)
				jumps := s.sim.Ticks() == 5 && i != 0 && i != 4 || s.sim.Ticks() == 1 && i < 4 // which get a body
				if on := drawn < now && now-drawn < 0.11; jumps != (drawn == now) || !jumps && !on {
					t.Errorf("level %s, tick %d, entity %d: drawn at %g, is at %g", level, s.sim.Ticks(), i, drawn, now)
				}
			}
			if drawn, now := float32(0), float32(0); s.sim.Ticks() == 5 {
				if drawn, now = at(s.late); drawn != now || now != 600 {
					t.Errorf("who was spawned is drawn at %g, is at %g", drawn, now)
				}
			}
		}
	}
}
