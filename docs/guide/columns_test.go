package guide_test

import (
	"fmt"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/native"
)

func Example_columns() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	w, err := ecs.New(ecs.Config{Capacity: 1000}) // package ecs alone: no loop, no bodies
	check(err)
	var c struct {
		Speed *ecs.Column[float32] // column "speed", in m/s
		Kills *ecs.Column[uint16]
		Bones *ecs.Column[[4]float32] // four numbers a row
	}
	check(w.Register(&c))
	check(w.SpawnN(make([]ecs.ID, 500)))

	x, v := w.Position.X, c.Speed.Values() // slices of length 1000 that never move

	for lo, hi := range w.Runs() { // the rows lo to hi-1 have entities
		for row := lo; row < hi; row++ {
			v[row] = float32(row % 10)
		}
	}
	c.Kills.Values()[7] = 3
	c.Bones.Values()[7][2] = 0.5

	dt := float32(1) / 60
	for range 60 {
		native.Integrate(native.Auto, x, v, dt) // x += v * dt, all rows, in a kernel
	}
	w.Position.Touch()
	fmt.Printf("%d columns of %d rows; x[7] = %.3f m\n", len(w.Describe().Columns), len(x), x[7])

	fast := w.NewQuery() // kernels take its bitmap
	ops := native.Ops{Live: fast.Mask()}
	check(ops.Clamp(x, 0, 5)) // live entities stay between 0 and 5 m
	lo, hi, err := ops.Bounds(x, w.Position.Y, w.Position.Z)
	check(err)
	fmt.Println("between", lo, "and", hi)

	before := w.Hash()
	saved := w.Snapshot(nil)
	c.Kills.Values()[7]++
	fmt.Println("changed:", w.Hash() != before)
	check(w.Restore(saved))
	fmt.Println("as before:", w.Hash() == before, "in", len(saved), "bytes")

	// Output:
	// 13 columns of 1000 rows; x[7] = 7.000 m
	// between [0 0 0] and [5 0 0]
	// changed: true
	// as before: true in 35430 bytes
}
