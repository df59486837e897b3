package broad_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/native"
)

func columnsOf(n int) broad.Boxes {
	return broad.Boxes{MinX: make([]float32, n), MinY: make([]float32, n), MaxX: make([]float32, n), MaxY: make([]float32, n)}
}

// A grid finds those and only those boxes that overlap one, of any sizes, and of them those whose intervals overlap one.
func TestGridFindsAll(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 3))
	within := func(lo, hi float64) float64 { return lo + (hi-lo)*rng.Float64() }
	var grid broad.Grid
	for round := range 300 {
		n := rng.IntN(200)
		boxes, which := columnsOf(n), make([]uint64, n/64+1)
		f := broad.Filters{SpanMin: make([]float32, n), SpanMax: make([]float32, n)}
		draw := func() (x0, y0, x1, y1 float32) {
			size := math.Pow(10, within(-2, 2))
			x0, y0 = float32(within(-30, 30)), float32(within(-5, 5))
			return x0, y0, x0 + float32(size*rng.Float64()), y0 + float32(size*rng.Float64())
		}
		for i := range n {
			boxes.MinX[i], boxes.MinY[i], boxes.MaxX[i], boxes.MaxY[i] = draw()
			f.SpanMin[i] = float32(rng.IntN(9))
			f.SpanMax[i] = f.SpanMin[i] + float32(rng.IntN(3))
			if rng.IntN(8) > 0 {
				which[i/64] |= 1 << (i % 64)
			}
			if rng.IntN(20) == 0 {
				boxes.MaxX[i] = float32(math.Inf(-1))
			}
			if rng.IntN(20) == 0 {
				f.SpanMin[i] = float32(math.NaN())
			}
		}
		grid.Build(native.Levels()[rng.IntN(len(native.Levels()))], &boxes, which)
		for range 20 {
			x0, y0, x1, y1 := draw()
			least := float32(rng.IntN(9))
			most := least + float32(rng.IntN(2))
			var want, between []uint32
			for i := range n {
				if which[i/64]>>(i%64)&1 != 0 && boxes.MinX[i] <= boxes.MaxX[i] &&
					boxes.MinX[i] <= x1 && x0 <= boxes.MaxX[i] && boxes.MinY[i] <= y1 && y0 <= boxes.MaxY[i] {
					want = append(want, uint32(i))
					if f.SpanMin[i] <= most && least <= f.SpanMax[i] {
						between = append(between, uint32(i))
					}
				}
			}
			b, out := [4]float32{x0, y0, x1, y1}, make([]uint32, n)
			got := out[:grid.Query(&b, out)]
			slices.Sort(got)
			if !slices.Equal(got, want) {
				t.Fatalf("round %d: found %v, want %v", round, got, want)
			}
			if few := grid.Query(&b, out[:len(want)/2]); few != len(want)/2 {
				t.Fatalf("round %d: %d of %d in little room", round, few, len(want))
			}
			got = out[:grid.QueryBetween(&b, least, most, &f, out)]
			slices.Sort(got)
			if !slices.Equal(got, between) {
				t.Fatalf("round %d: found %v between %g and %g, want %v", round, got, least, most, between)
			}
			around, from, to, ok := grid.Bounds(n, &f)
			beyond := x1 < around[0] || around[2] < x0 || y1 < around[1] || around[3] < y0 || most < from || to < least
			if len(between) > 0 && (!ok || beyond) {
				t.Fatalf("round %d: found %v, but not within the bounds %v, %g to %g", round, got, around, from, to)
			}
		}
	}
	grid.Build(native.Go, &broad.Boxes{}, nil)
	if n := grid.Query(&[4]float32{-1, -1, float32(math.NaN()), 1}, make([]uint32, 10)); n != 0 {
		t.Errorf("a box that is none overlaps %d others", n)
	}
}
