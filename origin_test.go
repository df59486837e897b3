package evertick_test

import (
	"context"
	"errors"
	"math"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics"
)

// farSim has a body on a slope of its plane, another one asleep and two entities without one, all around a point.
func farSim(t testing.TB, c evertick.Config, at [2]float32) *evertick.Sim {
	t.Helper()
	c.Capacity, c.Physics.Gravity = 64, [2]float32{8, -10}
	s := newSim(t, c)
	for i := range 4 {
		id := spawn(t, s)
		slot := slotOf(t, s, id)
		second, third := s.World.Position.Y, s.World.Position.Z
		if c.Physics.Plane == physics.XZ {
			second, third = third, second
		}
		s.World.Position.X[slot], second[slot], third[slot] = at[0]+float32(i), at[1]+0.5, 7
		if i > 1 {
			continue
		}
		d := physics.DefaultBodyDef()
		d.Type, d.Position, d.Asleep = physics.DynamicBody, [2]float32{at[0] + 8*float32(i), at[1] + 0.5}, i == 1
		b, err := s.CreateBody(id, d)
		if err == nil {
			_, err = s.Physics.CreatePolygon(b, physics.DefaultShapeDef(), physics.Box(0.5, 0.5))
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	d := physics.DefaultBodyDef()
	d.Position = [2]float32{at[0], at[1] - 1}
	ground, err := s.Physics.CreateBody(d)
	if err == nil {
		_, err = s.Physics.CreatePolygon(ground, physics.DefaultShapeDef(), physics.Box(100, 1))
	}
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// After a shift a Sim is the one that was made there: entities, bodies, and what they do then.
func TestShiftOrigin(t *testing.T) {
	at := [2]float32{65536, -100 * 1024}
	for _, plane := range []physics.Plane{physics.XY, physics.XZ} {
		c := evertick.Config{Previous: true, Physics: physics.Config{Plane: plane}}
		far, near := farSim(t, c, at), farSim(t, c, [2]float32{})
		if err := far.ShiftOrigin(at); err != nil {
			t.Fatal(err)
		}
		for tick := range 100 {
			hashes := map[string]uint64{}
			for _, h := range near.World.ColumnHashes() {
				hashes[h.Name] = h.Hash
			}
			for _, h := range far.World.ColumnHashes() {
				if h.Hash != hashes[h.Name] {
					t.Fatalf("%v, tick %d: %s differs", plane, tick, h.Name)
				}
			}
			step(t, far, 1)
			step(t, near, 1)
		}
		if far.Physics.AwakeCount() != 1 || near.Physics.Origin() != [2]float64{} || far.Physics.Origin() == near.Physics.Origin() {
			t.Errorf("%d bodies are awake, the origin is at %v", far.Physics.AwakeCount(), far.Physics.Origin())
		}
		if far.Hash() == near.Hash() {
			t.Error("the hash does not know the origin")
		}
		before := far.Hash()
		if err := far.ShiftOrigin([2]float32{1, 0}); !errors.Is(err, evertick.ErrRange) {
			t.Errorf("a shift by 1 m: %v", err)
		}
		step(t, near, 1)
		if far.Hash() != before || far.World.Position.X[3] != 3 {
			t.Error("a refused shift has moved something")
		}
	}
}

// A shift in a tick is no motion: neither Interpolate nor a Publisher draws entities between the old and the new origin.
func TestShiftOriginDrawsNoJump(t *testing.T) {
	at := [2]float32{65536, 1024}
	clock := manualClock()
	s := farSim(t, evertick.Config{Previous: true, Clock: clock}, at)
	shift := func(tick *evertick.Tick) error {
		if tick.N == 10 {
			return s.ShiftOrigin(at)
		}
		return nil
	}
	if err := s.Add(evertick.BeforePhysics, "shift", shift); err != nil {
		t.Fatal(err)
	}
	p := publish(t, s, evertick.PublishConfig{})
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	drawn, frames := ecs.NewTransforms(64), 0
	check := func(what string, now, to []float32) {
		for slot, x := range now {
			if math.Abs(float64(x-to[slot])) > 1 {
				t.Fatalf("tick %d: slot %d is at %v and %s at %v", s.Ticks(), slot, x, what, to[slot])
			}
		}
	}
	err := s.RunFrames(ctx, func(loop.Frame) {
		if s.Ticks() < 2 {
			return
		}
		frames++
		if err := s.Interpolate(drawn); err != nil {
			t.Fatal(err)
		}
		rows := s.World.HighWater()
		check("drawn", s.World.Position.X[:rows], drawn.Position.X)
		v := p.Acquire()
		check("published", v.Now.Position.X, v.Previous.Position.X)
		check("published", v.Now.Position.Y, v.Previous.Position.Y)
		if s.Ticks() > 20 {
			cancel()
		}
	})
	if !errors.Is(err, context.Canceled) || frames < 15 || s.Physics.Origin() == [2]float64{} {
		t.Errorf("%d frames, origin %v, %v", frames, s.Physics.Origin(), err)
	}
}

func TestShiftOriginKeepsNaN(t *testing.T) {
	s := farSim(t, evertick.Config{}, [2]float32{})
	bits := uint32(0x7fc12345)
	s.World.Position.X[3] = math.Float32frombits(bits)
	if err := s.ShiftOrigin([2]float32{1024, 0}); err != nil {
		t.Fatal(err)
	}
	if got := math.Float32bits(s.World.Position.X[3]); got != bits || s.World.Position.X[2] != 2-1024 {
		t.Errorf("%#x, %v", got, s.World.Position.X[2])
	}
}
