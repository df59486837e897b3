package guide_test

import (
	"fmt"

	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics3"
)

func Example_spaceRestore() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	w, err := physics3.New(physics3.Config{Capacity: 100, Gravity: [3]float32{0, -10, 0}})
	check(err)
	def, shape := physics3.DefaultBodyDef(), physics3.DefaultShapeDef()
	floor, err := w.CreateBody(def)
	check(err)
	_, err = w.CreateBox(floor, shape, physics3.Box{Half: [3]float32{50, 0.5, 50}})
	check(err)
	for i := range 60 { // a heap
		def.Type, def.Position = physics3.DynamicBody, [3]float32{float32(i % 3), 2 + float32(i/6), float32(i / 3 % 2)}
		def.Rotation = [4]float32{float32(i), 7, 3, 20}
		b, err := w.CreateBody(def)
		check(err)
		_, err = w.CreateBox(b, shape, physics3.Box{Half: [3]float32{0.4, 0.3, 0.2}})
		check(err)
	}
	run := func(w *physics3.World, steps int) {
		for range steps {
			check(w.Step(1. / 60))
		}
	}
	run(w, 60)
	data, err := w.Snapshot(nil) // in the middle of the fall
	check(err)
	run(w, 120)

	// Another world, in plain Go and with two workers, continues with the same bits.
	other, err := physics3.New(physics3.Config{Capacity: 100, Level: native.Go, Workers: 2})
	check(err)
	check(other.Restore(data))
	run(other, 120)
	fmt.Println("same hash:", w.Hash() == other.Hash())

	data[len(data)/2] ^= 1 // a damaged snapshot is refused, and the world stays
	fmt.Println("damaged:", other.Restore(data) != nil, other.Hash() == w.Hash())
	// Output:
	// same hash: true
	// damaged: true true
}
