package evertick_test

import (
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/physics"
)

// A system keeps the spans of bodies at the heights of their entities: a bird flies over a wall that stops a cart.
func TestSpansFollowEntities(t *testing.T) {
	check := func(err error) {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
	}
	sim, err := evertick.New(evertick.Config{Capacity: 10, Physics: physics.Config{Plane: physics.XZ}})
	check(err)
	w, p := sim.World, sim.Physics
	wall, err := p.CreateBody(physics.BodyDef{Position: [2]float32{5, 0}})
	check(err)
	def := physics.DefaultShapeDef()
	def.Span = physics.Span{Max: 3} // 3 m high
	_, err = p.CreatePolygon(wall, def, physics.Box(0.5, 5))
	check(err)
	var slots []uint32
	for range 2 {
		id, err := w.Spawn()
		check(err)
		body := physics.DefaultBodyDef()
		body.Type, body.LinearVelocity = physics.DynamicBody, [2]float32{4, 0}
		b, err := sim.CreateBody(id, body)
		check(err)
		_, err = p.CreateCircle(b, physics.DefaultShapeDef(), physics.Circle{Radius: 0.3})
		check(err)
		slot, _ := w.Slot(id)
		slots = append(slots, slot)
	}
	bird := slots[1]
	sim.Add(evertick.BeforePhysics, "climb", func(t *evertick.Tick) error {
		w.Position.Y[bird] += 4 * t.Dt
		return nil
	})
	sim.Add(evertick.BeforePhysics, "spans", func(*evertick.Tick) error {
		for slot := range w.Query() {
			id, _ := w.ID(slot)
			if b, ok := sim.Body(id); ok {
				height := w.Position.Y[slot]
				if err := p.SetSpan(b, physics.Span{Min: height, Max: height + 1}); err != nil {
					return err
				}
			}
		}
		return nil
	})
	check(sim.StepN(60))
	snap := snapshot(t, sim)
	check(sim.StepN(120))
	if x := w.Position.X[slots[0]]; x > 5 {
		t.Errorf("the cart is at %v, after the wall", x)
	}
	if x, y := w.Position.X[bird], w.Position.Y[bird]; x < 11 || y < 11 {
		t.Errorf("the bird is at %v and %v m high", x, y)
	}
	hash := sim.Hash()
	restore(t, sim, snap)
	check(sim.StepN(120))
	if sim.Hash() != hash {
		t.Error("another hash after a restore")
	}
}
