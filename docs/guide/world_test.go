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
	fuel, err := ecs.AddColumn[float32](w, "fuel") // seconds that are left, a row an entity
	check(err)
	lit, err := w.Tag("lit")
	check(err)

	torches := make([]ecs.ID, 3)
	check(w.SpawnN(torches))
	for i, id := range torches {
		slot, _ := w.Slot(id)
		fuel.Values()[slot] = 0.3 * float32(i+1)
	}
	check(lit.SetAll(torches[:2])) // the third is not lit

	check(sim.Add(evertick.BeforePhysics, "burn", func(t *evertick.Tick) error {
		for slot := range w.Query(ecs.With(lit)) {
			fuel.Values()[slot] -= t.Dt
			if fuel.Values()[slot] <= 0.001 {
				id, _ := w.ID(slot)
				t.Commands().Despawn(id) // at the end of the tick: while a query runs, entities stay
			}
		}
		fuel.Touch() // a new version: caches of the column can see that it has changed
		return nil
	}))
	w.OnDespawn(func(id ecs.ID, _ ecs.Slot) { fmt.Printf("tick %d: %v is burnt down\n", sim.Ticks(), id) })

	check(sim.StepN(10)) // one second
	fmt.Println(w.Len(), "left,", lit.Count(), "lit")

	next, err := w.Spawn() // takes the lowest free row, under a new id
	check(err)
	slot, _ := w.Slot(next)
	_, alive := w.Slot(torches[0])
	fmt.Printf("%v is in slot %d; %v is there: %v; its fuel: %v\n", next, slot, torches[0], alive, fuel.Values()[slot])

	// Output:
	// tick 2: ent_1 is burnt down
	// tick 5: ent_2 is burnt down
	// 1 left, 0 lit
	// ent_4 is in slot 0; ent_1 is there: false; its fuel: 0
}
