package evertick_test

import (
	"errors"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
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
