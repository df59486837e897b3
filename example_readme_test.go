package evertick_test

import (
	"fmt"
	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

func Example_readme() {
	sim, err := evertick.New(evertick.Config{}) // 60 Hz, room for 16,384 entities
	if err != nil {
		panic(err)
	}
	x := sim.World.Position.X // a column: one float32 per entity
	speed, _ := ecs.AddColumn[float32](sim.World, "speed")
	for i := range 1000 { // a row of walkers, a metre apart
		sim.World.Spawn()
		x[i], speed.Values()[i] = float32(i), float32(i%7)-3
	}
	sim.Add(evertick.BeforePhysics, "walk", func(t *evertick.Tick) error {
		native.Integrate(sim.Level(), x, speed.Values(), t.Dt) // x += speed * dt
		return nil
	})
	for sim.Ticks() < 600 && sim.Step() == nil {
	}
	near, q := spatial.Result{}, spatial.Queries{X: []float32{500}, Y: []float32{0}, Z: []float32{0}, Radius: []float32{2.5}}
	fmt.Println(sim.Index.Radius(&q, &near), near.Row(0), sim.Hash()) // which are within 2.5 m of (500, 0, 0)?
	// Output:
	// <nil> [468 481 500 519 532] 14541534950089962638
}
