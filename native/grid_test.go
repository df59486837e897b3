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
