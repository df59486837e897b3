package spatial_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/spatial"
)

// ExampleIndex_SortPermutation reorders the rows of a world by position.
func ExampleIndex_SortPermutation() {
	x, y, z := []float32{90, 1, 92, 0, 91}, make([]float32, 5), make([]float32, 5)
	name := []string{"far", "near", "far", "near", "far"}
	index, err := spatial.New(spatial.Config{CellSize: 30})
	if err != nil {
		fmt.Println(err)
		return
	}
	if err := index.Build(x, y, z, []uint32{0, 1, 2, 3, 4}); err != nil {
		fmt.Println(err)
		return
	}
	perm := index.SortPermutation(nil)
	fmt.Println(perm)

	newX, newName := make([]float32, len(perm)), make([]string, len(perm))
	for i, old := range perm { // row i takes what row old had, in every column
		newX[i], newName[i] = x[old], name[old]
	}
	fmt.Println(newX, newName)
	// Output:
	// [1 3 0 2 4]
	// [1 0 90 92 91] [near near far far far]
}

// The permutation is the row in order Grid of a query that includes everything;
// and a world reordered by it is in order.
func TestSortPermutation(t *testing.T) {
	run := paritytest.Start(t, "SortPermutation")
	everything := &spatial.Queries{X: []float32{0}, Y: []float32{0}, Z: []float32{0}, Radius: []float32{math.MaxFloat32}, Order: spatial.Grid}
	var perm []uint32
	for range paritytest.Rounds(50) {
		for i := range paritytest.Families {
			s := paritytest.Families[i].Draw(run, 300, 1)
			cfg := spatial.Config{CellSize: []float32{0, s.Scale, float32(s.Scale / 3)}[run.IntN(3)]}
			ix := build(t, cfg, s)
			run.Case(ix.Level())
			perm = ix.SortPermutation(perm)
			var out spatial.Result
			run.Check(ix.Radius(everything, &out), paritytest.Bits(s.Name+": permutation", perm, out.Row(0)))

			ordered := &paritytest.Scene{}
			for i, old := range perm {
				at, _ := slices.BinarySearch(s.Slots, old)
				ordered.X, ordered.Y, ordered.Z = append(ordered.X, s.X[at]), append(ordered.Y, s.Y[at]), append(ordered.Z, s.Z[at])
				ordered.Slots = append(ordered.Slots, uint32(i))
			}
			again := build(t, cfg, ordered).SortPermutation(nil)
			run.Check(paritytest.Bits(s.Name+": permutation of the reordered world", again, ordered.Slots))
		}
	}
}

func TestSortPermutationAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	c := newCrowd(1000, 100)
	ix, err := spatial.New(spatial.Config{})
	if err != nil {
		t.Fatal(err)
	}
	if got := ix.SortPermutation(make([]uint32, 3)); len(got) != 0 {
		t.Errorf("an empty index has the permutation %v", got)
	}
	if err := ix.Build(c.x, c.y, c.z, c.slots); err != nil {
		t.Fatal(err)
	}
	perm := ix.SortPermutation(nil)
	if n := testing.AllocsPerRun(20, func() { perm = ix.SortPermutation(perm) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
