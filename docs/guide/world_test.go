package guide_test

import (
	"fmt"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
)

func Example_world() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	sim, err := evertick.New(evertick.Config{Capacity: 100, Loop: loop.Config{RateNum: 10}}) // 10 ticks a second
	check(err)
	w := sim.World
	var c struct { // what entities have, besides a position, a rotation and a scale
		Fuel *ecs.Column[float32] // seconds that are left
		Lit  ecs.Tag
	}
	sim.Register(&c) // Step reports what is wrong with the set-up

	torches := make([]ecs.ID, 3)
	for i := range torches {
		id, slot, err := w.SpawnSlot() // the slot is for writing to the new row
		check(err)
		torches[i], c.Fuel.Values()[slot] = id, 0.3*float32(i+1)
	}
	check(c.Lit.SetAll(torches[:2])) // the third is not lit

	sim.Add(evertick.BeforePhysics, "burn", func(t *evertick.Tick) error {
		for slot := range w.Query(ecs.With(c.Lit)) {
			c.Fuel.Values()[slot] -= t.Dt
			if c.Fuel.Values()[slot] <= 0.001 {
				id, _ := w.ID(slot)
				t.Commands().Despawn(id) // at the end of the tick: while a query runs, entities stay
			}
		}
		c.Fuel.Touch() // a new version: caches of the column can see that it has changed
		return nil
	})
	w.OnDespawn(func(id ecs.ID, _ ecs.Slot) { fmt.Printf("tick %d: %v is burnt down\n", sim.Ticks(), id) })

	check(sim.StepN(10)) // one second
	fmt.Println(w.Len(), "left,", c.Lit.Count(), "lit")

	next, slot, err := w.SpawnSlot() // takes the lowest free row, under a new id
	check(err)
	_, alive := w.Slot(torches[0])
	fmt.Printf("%v is in slot %d; %v is there: %v; its fuel: %v\n", next, slot, torches[0], alive, c.Fuel.Values()[slot])

	// Output:
	// tick 2: ent_1 is burnt down
	// tick 5: ent_2 is burnt down
	// 1 left, 0 lit
	// ent_4 is in slot 0; ent_1 is there: false; its fuel: 0
}
