package spatial_test

import (
	"fmt"

	"github.com/evertick/evertick/spatial"
)

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
