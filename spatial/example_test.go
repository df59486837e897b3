package spatial_test

import (
	"fmt"

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
