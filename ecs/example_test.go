package ecs_test

import (
	"fmt"

	"github.com/evertick/evertick/ecs"
)

func Example() {
	w, err := ecs.New(ecs.Config{Capacity: 1000})
	if err != nil {
		panic(err)
	}
	speed, err := ecs.AddColumn[float32](w, "speed")
	if err != nil {
		panic(err)
	}
	frozen, err := w.Tag("frozen")
	if err != nil {
		panic(err)
	}

	ids := make([]ecs.ID, 3)
	if err := w.SpawnN(ids); err != nil {
		panic(err)
	}
	for i, s := range w.LiveSlots(nil) {
		speed.Values()[s] = float32(10 * i)
	}
	frozen.Set(ids[1])

	const dt = 1.0 / 4
	x, v := w.Position.X, speed.Values()
	for s := range w.Query(ecs.Without(frozen)) {
		x[s] += float32(v[s] * dt) // the conversion keeps the product from being fused
	}

	saved, hash := w.Snapshot(nil), w.Hash()
	w.Despawn(ids[0])
	w.Spawn() // takes the free slot; ids[0] stays dead
	if err := w.Restore(saved); err != nil {
		panic(err)
	}
	for id := range w.IDs() {
		s, _ := w.Slot(id)
		fmt.Println(id, x[s], frozen.Has(id))
	}
	fmt.Println(w.Hash() == hash)
	// Output:
	// ent_1 0 false
	// ent_2 0 true
	// ent_3 5 false
	// true
}
