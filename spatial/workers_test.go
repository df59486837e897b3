package spatial_test

import (
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/spatial"
)

// The number of workers changes between queries, which reuse their memory, and no result with it.
func TestSetWorkers(t *testing.T) {
	const n = 3000
	rng := rand.New(rand.NewPCG(5, 5))
	x, y, z, slots := make([]float32, n), make([]float32, n), make([]float32, n), make([]uint32, n)
	radius := make([]float32, n)
	for i := range n {
		x[i], y[i], z[i], slots[i], radius[i] = 30*rng.Float32(), 30*rng.Float32(), 30*rng.Float32(), uint32(i), 2
	}
	ix, err := spatial.New(spatial.Config{})
	if err != nil {
		t.Fatal(err)
	}
	q := &spatial.Queries{X: x, Y: y, Z: z, Radius: radius}
	var want, got, self spatial.Result
	for _, workers := range []int{1, 4, 2, 1, 3} {
		if err := ix.SetWorkers(workers); err != nil {
			t.Fatal(err)
		}
		if err := ix.Build(x, y, z, slots); err != nil {
			t.Fatal(err)
		}
		if want.Len() == 0 {
			if err := ix.Radius(q, &want); err != nil {
				t.Fatal(err)
			}
		}
		if err := ix.Radius(q, &got); err != nil {
			t.Fatal(err)
		}
		if err := sameResult("workers", &got, &want, false); err != nil {
			t.Error(err)
		}
		if err := ix.Pairs(&spatial.Self{Radius: 2}, &self); err != nil {
			t.Fatal(err)
		}
	}
	mustBe(t, ix.SetWorkers(0), spatial.ErrRange, "spatial: SetWorkers: workers = 0: out of range")
	mustBe(t, ix.SetWorkers(1025), spatial.ErrRange, "spatial: SetWorkers: workers = 1025: out of range")
}
