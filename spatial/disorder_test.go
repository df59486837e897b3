package spatial_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/spatial"
)

// Disorder is what its definition says, computed from SortPermutation.
func TestDisorder(t *testing.T) {
	run := paritytest.Start(t, "Disorder")
	for range paritytest.Rounds(20) {
		for i := range paritytest.Families {
			s := paritytest.Families[i].Draw(run, 300, 1)
			ix := build(t, spatial.Config{CellSize: float32(s.Scale)}, s)
			perm := ix.SortPermutation(nil)
			want := 0.0
			if n := len(perm); n > 1 {
				sum := 0.0
				for i, slot := range perm[1:] {
					sum += math.Abs(float64(slot) - float64(perm[i]))
				}
				want = 3 * sum / (float64(n-1) * float64(slices.Max(perm)+2))
			}
			if got := ix.Disorder(); got != want {
				t.Fatalf("%s: %v, want %v", s.Name, got, want)
			}
		}
	}
}

func TestDisorderOfKnownOrders(t *testing.T) {
	const n = 4000
	x, y := make([]float32, n), make([]float32, n)
	rng := rand.New(rand.NewPCG(1, 2))
	for i := range x {
		x[i], y[i] = 100*rng.Float32(), 100*rng.Float32()
	}
	ix, err := spatial.New(spatial.Config{CellSize: 2})
	if err != nil {
		t.Fatal(err)
	}
	disorder := func() float64 {
		if err := ix.Build(x, y, nil, nil); err != nil {
			t.Fatal(err)
		}
		return ix.Disorder()
	}
	if d := disorder(); d < 0.95 || d > 1.05 {
		t.Errorf("rows in random order: %v", d)
	}
	nx, ny := make([]float32, n), make([]float32, n)
	for i, slot := range ix.SortPermutation(nil) {
		nx[i], ny[i] = x[slot], y[slot]
	}
	x, y = nx, ny
	if d := disorder(); d != 3.0/(n+1) {
		t.Errorf("rows in order: %v", d)
	}
	for i := range x {
		x[i] += 4 * rng.Float32()
		y[i] += 4 * rng.Float32()
	}
	if d := disorder(); d < 0.005 || d > 0.5 {
		t.Errorf("rows whose points have moved by two cells: %v", d)
	}
	if err := ix.Build(x, y, nil, []uint32{7}); err != nil || ix.Disorder() != 0 {
		t.Errorf("one point: %v, %v", ix.Disorder(), err)
	}
}
