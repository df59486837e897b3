package guide_test

import (
	"fmt"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/physics"
)

func Example_physics() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	sim, err := evertick.New(evertick.Config{Capacity: 100, Physics: physics.Config{Gravity: [2]float32{0, -10}}})
	check(err)
	w, p := sim.World, sim.Physics

	ground, err := p.CreateBody(physics.DefaultBodyDef()) // static, without an entity
	check(err)
	_, err = p.CreatePolygon(ground, physics.DefaultShapeDef(), physics.Box(50, 0.5)) // half of its size
	check(err)

	for i := range 5 { // a tower: each box is the body of an entity
		id, err := w.Spawn()
		check(err)
		def := physics.DefaultBodyDef()
		def.Type, def.Position = physics.DynamicBody, [2]float32{0, 1 + float32(i)}
		box, err := sim.CreateBody(id, def)
		check(err)
		_, err = p.CreatePolygon(box, physics.DefaultShapeDef(), physics.Box(0.5, 0.5))
		check(err)
	}
	check(sim.StepN(120))
	fmt.Printf("after 2 s the top is at %.1f m, awake: %v\n", w.Position.Y[4], p.AwakeCount() > 0)

	id, err := w.Spawn() // a ball comes from the left
	check(err)
	def := physics.DefaultBodyDef()
	def.Type, def.Position, def.LinearVelocity = physics.DynamicBody, [2]float32{-8, 3}, [2]float32{20, 3}
	ball, err := sim.CreateBody(id, def)
	check(err)
	shape := physics.DefaultShapeDef()
	shape.Density = 5
	_, err = p.CreateCircle(ball, shape, physics.Circle{Radius: 0.5})
	check(err)
	for len(p.Events().Begin) == 0 { // until two shapes begin to touch
		check(sim.Step())
	}
	at, err := p.Position(ball)
	check(err)
	touch := p.Events().Begin[0] // of two shapes
	hit, _ := sim.ShapeEntity(touch.A)
	fmt.Printf("tick %d: the ball hits %v at (%.1f, %.1f)\n", sim.Ticks(), hit, at[0], at[1])

	check(sim.StepN(180))
	for slot := range uint32(5) {
		fmt.Printf("box %d: (%.1f, %.1f)\n", slot, w.Position.X[slot], w.Position.Y[slot])
	}
	hits := physics.RayHits{}
	check(p.RayClosest(&physics.Rays{X: []float32{-20}, Y: []float32{1}, DX: []float32{40}, DY: []float32{0}}, &hits))
	fmt.Printf("a ray along the ground hits something at x = %.1f\n", hits.X[0])

	// Output:
	// after 2 s the top is at 5.0 m, awake: false
	// tick 142: the ball hits ent_3 at (-0.8, 3.4)
	// box 0: (2.5, 1.0)
	// box 1: (9.0, 1.0)
	// box 2: (22.4, 1.0)
	// box 3: (21.2, 1.0)
	// box 4: (5.2, 1.0)
	// a ray along the ground hits something at x = 2.0
}
