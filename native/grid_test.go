package native_test

import (
	"math"
	"testing"

	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/native/paritytest"
)

// ordered maps the bits of finite floats to integers in the same order.
func ordered(v float32) int64 {
	b := int64(math.Float32bits(v))
	if b >= 1<<31 {
		return 1<<31 - b
	}
	return b
}

func unordered(o int64) float32 {
	if o < 0 {
		return math.Float32frombits(uint32(1<<31 - o))
	}
	return math.Float32frombits(uint32(o))
}

// withTails turns some of the cells of a grid into such that lie outside its core.
func withTails(run *paritytest.Run, g *native.Grid) {
	for a, n := range g.N {
		if n < 2 || run.IntN(3) == 0 {
			continue
		}
		g.Low[a] = run.Int32N(min(n, 40))
		g.High[a] = run.Int32N(min(n-g.Low[a], 40))
		if g.Low[a]+g.High[a] > 0 {
			g.Tail[a] = 0x1p-23 * float32(math.Exp2(float64(run.IntN(9)-5)*0.7))
		}
	}
}

// In a grid with cells outside the core: their lengths, far points, and infinities.
func TestTailedCells(t *testing.T) {
	g := native.Grid{Min: [3]float32{10, 10, 10}, Inv: [3]float32{0.5, 0.5, 0.5}, N: [3]int32{20, 1, 1}}
	g.Low[0], g.High[0], g.Tail[0] = 6, 4, 0x1p-23 // a cell for each doubling
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		v    float32
		want int32
	}{
		{10, 6}, {11.9, 6}, {12, 7}, {29.9, 15}, {30, 16}, {31.9, 16}, {32, 17}, {35.9, 17}, {36, 18}, {43.9, 18}, {44, 19}, {1e30, 19}, {inf, 19},
		{9.9, 5}, {8.1, 5}, {7.9, 4}, {4.1, 4}, {3.9, 3}, {-3.9, 3}, {-4.1, 2}, {-1e30, 0}, {-inf, 0}, {float32(math.NaN()), 6},
	} {
		if got := g.Cell(0, c.v); got != c.want {
			t.Errorf("%g is in cell %d, not %d", c.v, got, c.want)
		}
	}
	for j, want := range map[int32]float32{6: 10, 7: 12, 16: 30, 17: 32, 18: 36, 19: 44, 5: 8, 4: 4, 3: -4} {
		if got := g.Edge(0, j); got != want {
			t.Errorf("cell %d begins at %g, not %g", j, got, want)
		}
	}
}

func TestCellIsMonotoneAndClamped(t *testing.T) {
	run := paritytest.Start(t, "Cell")
	for range 20000 {
		g := native.Grid{N: [3]int32{1 + run.Int32N(9), 1 << run.IntN(25), 1<<24 - run.Int32N(1<<10)}}
		for a := range 3 {
			g.Min[a] = run.Float(paritytest.Finite[run.IntN(len(paritytest.Finite))])
		}
		for a := range g.Inv {
			g.Inv[a] = max(math.SmallestNonzeroFloat32, float32(math.Abs(float64(run.Float(paritytest.Finite[run.IntN(len(paritytest.Finite))])))))
		}
		withTails(run, &g)
		lo, hi := run.Float(paritytest.AnyBits), run.Float(paritytest.AnyBits)
		if run.IntN(2) == 0 {
			hi = math.Nextafter32(lo, float32(math.Inf(1)))
		}
		if lo != lo || hi != hi {
			continue
		}
		if lo > hi {
			lo, hi = hi, lo
		}
		for a, n := range g.N {
			first, last := g.Cell(a, lo), g.Cell(a, hi)
			if first < 0 || first > last || last >= n {
				t.Fatalf("%+v axis %d: cells of %g and %g are %d and %d", g, a, lo, hi, first, last)
			}
		}
	}
}

// The farthest point that the membership test accepts, found by bisection over
// all floats, must lie within the reach.
func TestReachCoversWhatTheTestAccepts(t *testing.T) {
	run := paritytest.Start(t, "Reach")
	classes := append([]paritytest.Class{paritytest.Uniform, paritytest.Uniform}, paritytest.Finite...)
	for range 50000 {
		c := run.Float(classes[run.IntN(len(classes))])
		r := float32(math.Abs(float64(run.Float(classes[run.IntN(len(classes))]))))
		r2 := float32(r * r)
		accepts := func(p float32) bool { d := p - c; return float32(d*d) <= r2 }
		reach := native.Reach(r)
		if p := farthest(c, math.MaxFloat32, accepts); p > c+reach {
			t.Fatalf("centre %g, radius %g: accepts %g, beyond %g", c, r, p, c+reach)
		}
		if p := farthest(c, -math.MaxFloat32, accepts); p < c-reach {
			t.Fatalf("centre %g, radius %g: accepts %g, beyond %g", c, r, p, c-reach)
		}
	}
}

// farthest returns the float that is accepted and closest to end. What is
// accepted is an interval with c in it.
func farthest(c, end float32, accepts func(float32) bool) float32 {
	if accepts(end) {
		return end
	}
	in, out := ordered(c), ordered(end)
	for in-out > 1 || out-in > 1 {
		if mid := (in + out) / 2; accepts(unordered(mid)) {
			in = mid
		} else {
			out = mid
		}
	}
	return unordered(in)
}
