package evertick_test

import (
	"fmt"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/spatial"
)

// A mouse runs along the x axis at 3 m/s; the cat that sits at 5 m notices it
// when it comes within a metre.
func ExampleNew() {
	sim, err := evertick.New(evertick.Config{Capacity: 100, Loop: loop.Config{RateNum: 10}})
	if err != nil {
		panic(err)
	}
	speed, err := ecs.AddColumn[float32](sim.World, "speed") // m/s, one for each slot
	if err != nil {
		panic(err)
	}
	mouse, _ := sim.World.Spawn()
	cat, _ := sim.World.Spawn()
	slot, _ := sim.World.Slot(mouse)
	speed.Values()[slot] = 3
	if err := sim.World.SetPosition(cat, 5, 0, 0); err != nil {
		panic(err)
	}

	x, v := sim.World.Position.X, speed.Values()
	_ = sim.Add(evertick.BeforePhysics, "run", func(t *evertick.Tick) error {
		for slot := range sim.World.Query() {
			x[slot] += float32(v[slot] * t.Dt) // the conversion keeps the product from being fused
		}
		return nil
	})

	self, _ := sim.World.Slot(cat)
	around := spatial.Queries{X: []float32{5}, Y: []float32{0}, Z: []float32{0}, Radius: []float32{1}, Exclude: []uint32{self}}
	var seen spatial.Result
	_ = sim.Add(evertick.AfterIndex, "watch", func(t *evertick.Tick) error {
		if err := sim.Index.Radius(&around, &seen); err != nil {
			return err
		}
		for _, slot := range seen.Row(0) {
			id, _ := sim.World.ID(slot)
			fmt.Printf("tick %d: %s sees %s at %.1f m\n", t.N, cat, id, x[slot])
		}
		return nil
	})

	for range 15 {
		if err := sim.Step(); err != nil {
			panic(err)
		}
	}
	fmt.Println(sim.Ticks(), "ticks of", sim.Dt(), "s")
	// Output:
	// tick 13: ent_2 sees ent_1 at 4.2 m
	// tick 14: ent_2 sees ent_1 at 4.5 m
	// 15 ticks of 0.1 s
}
