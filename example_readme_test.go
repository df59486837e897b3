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
	var c struct{ Speed *ecs.Column[float32] } // the columns and tags that your entities have besides a position
	sim.Register(&c)
	x, speed := sim.World.Position.X, c.Speed.Values() // one float32 per entity
	for i := range 1000 {
		_, slot, _ := sim.World.SpawnSlot() // a row of walkers, a metre apart
		x[slot], speed[slot] = float32(i), float32(i%7)-3
	}
	sim.Add(evertick.BeforePhysics, "walk", func(t *evertick.Tick) error {
		native.Integrate(sim.Level(), x, speed, t.Dt) // x += speed * dt
		return nil
	})
	if err := sim.StepN(600); err != nil { // also an error of Register or Add
		panic(err)
	}
	near, q := spatial.Result{}, spatial.Queries{X: []float32{500}, Y: []float32{0}, Z: []float32{0}, Radius: []float32{2.5}}
	fmt.Println(sim.Index.Radius(&q, &near), near.Row(0), sim.Hash()) // which are within 2.5 m of (500, 0, 0)?
	// Output:
	// <nil> [468 481 500 519 532] 14541534950089962638
}
