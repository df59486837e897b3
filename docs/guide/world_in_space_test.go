package guide_test

import (
	"fmt"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/physics3"
	"github.com/evertick/evertick/space"
)

func Example_worldInSpace() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	sim, err := evertick.New(evertick.Config{Capacity: 100, Previous: true})
	check(err)
	bodies, err := space.Attach(sim, physics3.Config{Gravity: [3]float32{0, -10, 0}})
	check(err)
	w := bodies.World()

	floor, err := w.CreateBody(physics3.DefaultBodyDef()) // static, without an entity
	check(err)
	_, err = w.CreateBox(floor, physics3.DefaultShapeDef(), physics3.Box{Half: [3]float32{50, 0.5, 50}})
	check(err)

	cube := physics3.Box{Half: [3]float32{0.5, 0.5, 0.5}}
	tower := make([]ecs.ID, 5) // each cube is the body of an entity
	check(sim.World.SpawnN(tower))
	for i, id := range tower {
		def := physics3.DefaultBodyDef()
		def.Type, def.Position = physics3.DynamicBody, [3]float32{0, 1 + float32(i), 0}
		body, err := bodies.Create(id, def)
		check(err)
		_, err = w.CreateBox(body, physics3.DefaultShapeDef(), cube)
		check(err)
	}
	check(sim.StepN(120))
	top, _ := sim.World.Slot(tower[4])
	fmt.Printf("after 2 s the top is at %.1f m, awake: %d\n", sim.World.Position.Y[top], w.AwakeCount())
	saved, err := sim.Snapshot(nil)
	check(err)

	throw := func() {
		ball, err := sim.World.Spawn()
		check(err)
		def := physics3.DefaultBodyDef()
		def.Type, def.Position, def.LinearVelocity = physics3.DynamicBody, [3]float32{-8, 3, 0.2}, [3]float32{20, 3, 0}
		body, err := bodies.Create(ball, def)
		check(err)
		heavy := physics3.DefaultShapeDef()
		heavy.Density = 5
		_, err = w.CreateSphere(body, heavy, physics3.Sphere{Radius: 0.5})
		check(err)
	}
	throw()
	for len(w.Events().Begin) == 0 { // until something touches the ball
		check(sim.Step())
	}
	hit, _ := bodies.ShapeEntity(w.Events().Begin[0].A)
	fmt.Println("the ball touches", hit)
	check(sim.StepN(60))
	fmt.Println("a second later the top has turned:", sim.World.Rotation.W[top] < 0.99) // the cosine of half of the angle
	hash := sim.Hash()

	check(sim.Restore(saved)) // and once more
	throw()
	for len(w.Events().Begin) == 0 {
		check(sim.Step())
	}
	check(sim.StepN(60))
	fmt.Println("the same again:", sim.Hash() == hash)

	check(sim.World.SetPosition(tower[4], 20, 5, 0)) // a program moves the body by the columns of its entity
	check(sim.Step())
	body, _ := bodies.Body(tower[4])
	at, err := w.Position(body)
	check(err)
	fmt.Printf("put at %.1f m\n", at[0])
	sim.World.Despawn(tower[4])
	fmt.Println("the body is there:", w.Valid(body))

	// Output:
	// after 2 s the top is at 5.0 m, awake: 0
	// the ball touches ent_3
	// a second later the top has turned: true
	// the same again: true
	// put at 20.0 m
	// the body is there: false
}
