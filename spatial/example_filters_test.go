package spatial_test

import (
	"fmt"

	"github.com/evertick/evertick/spatial"
)

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
