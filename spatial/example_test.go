package spatial_test

import (
	"fmt"
	"math"

	"github.com/evertick/evertick/spatial"
)

// Example finds, for each of two agents, the points within three metres.
func Example() {
	// Columns by slot, as a world holds them; slot 2 is not in use.
	x := []float32{0, 1, 0, 4, 9}
	y := []float32{0, 0, 0, 0, 0}
	z := []float32{0, 2, 0, 0, 9}
	live := []uint32{0, 1, 3, 4}

	index, err := spatial.New(spatial.Config{CellSize: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := index.Build(x, y, z, live); err != nil {
		fmt.Println(err)
		return
	}
	agents := &spatial.Queries{
		X: []float32{0, 4}, Y: []float32{0, 0}, Z: []float32{0, 1}, Radius: []float32{3, 3.5},
		Exclude: []uint32{0, spatial.NoSlot}, // the first agent is the entity in slot 0
		Order:   spatial.ByDistance,
	}
	var near spatial.Result
	if err := index.Radius(agents, &near); err != nil {
		fmt.Println(err)
		return
	}
	for i := range near.Len() {
		fmt.Println("agent", i, "slots", near.Row(i), "squared distances", near.Dist2Row(i))
	}
	// Output:
	// agent 0 slots [1] squared distances [5]
	// agent 1 slots [3 1] squared distances [1 10]
}

// Two guards look for living intruders.
func Example_filters() {
	const guard, intruder = 1, 2
	// Columns by slot, as a world holds them; slot 4 is free.
	x := []float32{0, 10, 2, 3, 0, 8}
	y, z := make([]float32, 6), make([]float32, 6)
	slots := []uint32{0, 1, 2, 3, 5}
	category := []uint32{guard, guard, intruder, intruder, 0, intruder}

	index, err := spatial.New(spatial.Config{CellSize: 5})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := index.Build(x, y, z, slots); err != nil {
		fmt.Println(err)
		return
	}
	index.SetCategories(category) // after each Build

	live := []uint64{1<<0 | 1<<1 | 1<<2 | 1<<5} // slot 3 died since
	var near spatial.Result
	err = index.Radius(&spatial.Queries{
		X: x[:2], Y: y[:2], Z: z[:2], Radius: []float32{5, 5}, // the guards are slots 0 and 1
		Mask: []uint32{intruder, intruder}, Live: live, Order: spatial.ByDistance,
	}, &near)
	if err != nil {
		fmt.Println(err)
		return
	}
	for guard := range near.Len() {
		fmt.Println("guard", guard, "sees", near.Row(guard), near.Dist2Row(guard))
	}

	err = index.KNN(&spatial.NearestQueries{
		X: x[:2], Y: y[:2], Z: z[:2], K: 2,
		Exclude: []uint32{0, 1}, Live: live, // not themselves
	}, &near)
	if err != nil {
		fmt.Println(err)
		return
	}
	for guard := range near.Len() {
		fmt.Println("guard", guard, "is nearest to", near.Row(guard))
	}
	// Output:
	// guard 0 sees [2] [4]
	// guard 1 sees [5] [4]
	// guard 0 is nearest to [2 5]
	// guard 1 is nearest to [5 2]
}

// ExampleIndex_SumSelf computes, for each of four boids, how many others it sees within three metres, the way to their
// middle and their mean speed.
func ExampleIndex_SumSelf() {
	x, y, speed := []float32{0, 2, 3, 9}, []float32{0, 0, 1, 0}, []float32{1, 2, 6, 5}
	index, err := spatial.New(spatial.Config{CellSize: 3})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := index.Build(x, y, nil, nil); err != nil {
		fmt.Println(err)
		return
	}
	wayX, wayY, mean := make([]float32, 4), make([]float32, 4), make([]float32, 4)
	sums := spatial.Sums{ // kept from tick to tick
		Terms: []spatial.Term{
			{Of: x, Own: x, Reduce: spatial.Mean, To: wayX}, {Of: y, Own: y, Reduce: spatial.Mean, To: wayY},
			{Of: speed, Reduce: spatial.Mean, To: mean},
		},
		Counts: make([]uint32, 4),
	}
	if err := index.SumSelf(&spatial.Self{Radius: 3}, &sums); err != nil {
		fmt.Println(err)
		return
	}
	for boid := range x {
		fmt.Printf("boid %d sees %d, their middle is %+g %+g away, their mean speed %g\n", boid, sums.Counts[boid], wayX[boid], wayY[boid], mean[boid])
	}
	// Output:
	// boid 0 sees 1, their middle is +2 +0 away, their mean speed 2
	// boid 1 sees 2, their middle is -0.5 +0.5 away, their mean speed 3.5
	// boid 2 sees 1, their middle is -1 -1 away, their mean speed 2
	// boid 3 sees 0, their middle is +0 +0 away, their mean speed 0
}

// ExampleIndex_Sum adds up, at two places, the heat of what is within four metres, less of it with the distance, and
// finds the hottest source that is not excluded.
func ExampleIndex_Sum() {
	x, zero, heat := []float32{0, 1, 5}, make([]float32, 3), []float32{8, 4, 100}
	index, err := spatial.New(spatial.Config{CellSize: 4})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := index.Build(x, zero, nil, nil); err != nil {
		fmt.Println(err)
		return
	}
	felt, hottest := make([]float32, 2), make([]float32, 2)
	err = index.Sum(
		&spatial.Queries{X: []float32{0, 3}, Y: []float32{0, 0}, Radius: []float32{4, 4}, Exclude: []uint32{spatial.NoSlot, 2}},
		&spatial.Sums{Terms: []spatial.Term{
			{Of: heat, Weight: spatial.Linear, To: felt},
			{Of: heat, Reduce: spatial.Max, To: hottest},
		}})
	fmt.Println(felt, hottest, err)
	// Output:
	// [11 4] [8 8] <nil>
}

// ExampleIndex_RayClosest shoots two rays at three balls.
func ExampleIndex_RayClosest() {
	x, y, z := []float32{5, 10, 0}, []float32{0, 0, 8}, []float32{0, 0.5, 0}
	radius := []float32{1, 2, 0.5} // by slot, like the columns
	index, err := spatial.New(spatial.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := index.Build(x, y, z, []uint32{0, 1, 2}); err != nil {
		fmt.Println(err)
		return
	}
	rays := &spatial.Rays{
		OX: []float32{0, 0}, OY: []float32{0, 0}, OZ: []float32{0, 0},
		DX: []float32{1, 0}, DY: []float32{0, 2}, DZ: []float32{0, 0}, // the second is two metres long
		MaxT: []float32{math.MaxFloat32, 3},
	}
	slots, t := make([]uint32, 2), make([]float32, 2)
	if err := index.RayClosest(radius, rays, slots, t); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("closest", slots[0], t[0])
	fmt.Println("none within reach", slots[1] == spatial.NoSlot, t[1])
	var all spatial.RayHits
	if err := index.RayAll(radius, rays, &all); err != nil {
		fmt.Println(err)
		return
	}
	fmt.Println("all", all.Row(0), all.TRow(0)[0])
	// Output:
	// closest 0 4
	// none within reach true 3
	// all [0 1] 4
}

// ExampleIndex_Overlap finds what stands in a box, and counts what is near.
func ExampleIndex_Overlap() {
	x, y, z := []float32{0, 1, 2, 3}, []float32{0, 0, 0, 0}, []float32{0, 1, 2, 3}
	index, err := spatial.New(spatial.Config{CellSize: 1})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := index.Build(x, y, z, []uint32{0, 1, 2, 3}); err != nil {
		fmt.Println(err)
		return
	}
	var inside spatial.Result
	err = index.Overlap(&spatial.Boxes{
		MinX: []float32{1}, MinY: []float32{-1}, MinZ: []float32{0},
		MaxX: []float32{3}, MaxY: []float32{1}, MaxZ: []float32{2}, // closed: 2 is inside
	}, &inside)
	fmt.Println(inside.Row(0), err)
	counts := make([]uint32, 1)
	err = index.Count(&spatial.Queries{X: []float32{1}, Y: []float32{0}, Z: []float32{1}, Radius: []float32{1.5}}, counts)
	fmt.Println(counts, err)
	// Output:
	// [1 2] <nil>
	// [3] <nil>
}

// ExampleIndex_KNN finds, for each of two agents, the two nearest points.
func ExampleIndex_KNN() {
	x, zero := []float32{0, 1, 3, 7}, make([]float32, 4)
	index, err := spatial.New(spatial.Config{})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := index.Build(x, zero, zero, []uint32{0, 1, 2, 3}); err != nil {
		fmt.Println(err)
		return
	}
	agents := &spatial.NearestQueries{
		X: []float32{0, 2}, Y: []float32{0, 0}, Z: []float32{0, 0}, K: 2,
		Exclude: []uint32{0, spatial.NoSlot}, // the first agent is the entity in slot 0
	}
	var near spatial.Result
	if err := index.KNN(agents, &near); err != nil {
		fmt.Println(err)
		return
	}
	for i := range near.Len() {
		fmt.Println("agent", i, "slots", near.Row(i), "squared distances", near.Dist2Row(i))
	}
	// Output:
	// agent 0 slots [1 2] squared distances [1 9]
	// agent 1 slots [1 2] squared distances [1 1]
}
