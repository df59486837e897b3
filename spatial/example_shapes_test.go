package spatial_test

import (
	"fmt"
	"math"

	"github.com/evertick/evertick/spatial"
)

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
