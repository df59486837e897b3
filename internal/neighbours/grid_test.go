package neighbours_test

import (
	"math"
	"testing"

	"github.com/evertick/evertick/internal/neighbours"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
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

// withTails turns some of the cells of a grid into such that lie outside its core, or divides axes into pieces.
func withTails(run *paritytest.Run, g *neighbours.Grid) {
	for a, n := range g.N {
		if run.IntN(3) == 0 {
			withPieces(run, g, a)
			continue
		}
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

// withPieces divides an axis into pieces: next to each other or far apart, with cells of one length or of any.
func withPieces(run *paritytest.Run, g *neighbours.Grid, axis int) {
	n, most, p := g.N[axis], 1+run.Int32N(neighbours.MaxPieces), &g.Piece[axis]
	size, at := 1/float64(g.Inv[axis]), g.Min[axis]
	k, first := int32(0), int32(0)
	for ; k < most && first < n; k++ {
		cells := 1 + run.Int32N(1+(n-first)/(1+run.Int32N(4)))
		p.Min[k], p.Inv[k], p.First[k] = at, g.Inv[axis], first
		if run.IntN(3) == 0 {
			p.Inv[k] = max(float32(float64(g.Inv[axis])*math.Exp2(float64(run.IntN(24)-12))), math.SmallestNonzeroFloat32)
		}
		if !(p.Inv[k] <= math.MaxFloat32) {
			p.Inv[k] = g.Inv[axis]
		}
		next := float32(float64(at) + float64(cells)*size*(0.5+run.ExpFloat64()*[]float64{0, 1, 100}[run.IntN(3)]))
		first += cells
		if next <= at {
			next = math.Nextafter32(at, float32(math.Inf(1)))
		}
		if at = next; !(at <= math.MaxFloat32) {
			k++
			break
		}
	}
	p.First[k], g.Pieces[axis], g.Tail[axis] = n, k, -1
}

// In an axis with pieces: their borders, what is between them, far points, and infinities.
func TestPiecedCells(t *testing.T) {
	g := neighbours.Grid{Min: [3]float32{10, 10, 10}, Inv: [3]float32{0.5, 0.5, 0.5}, N: [3]int32{9, 1, 1}, Tail: [3]float32{-1}, Pieces: [3]int32{3}}
	g.Piece[0].Min, g.Piece[0].Inv, g.Piece[0].First = [64]float32{10, 100, 1000}, [64]float32{0.5, 0.1, 2}, [65]int32{0, 4, 6, 9}
	inf := float32(math.Inf(1))
	for _, c := range []struct {
		v    float32
		want int32
	}{
		{-inf, 0}, {-1e30, 0}, {9, 0}, {10, 0}, {11.9, 0}, {12, 1}, {17.9, 3}, {18, 3}, {99.9, 3}, {100, 4}, {109.9, 4}, {110, 5},
		{120, 5}, {999.9, 5}, {1000, 6}, {1000.4, 6}, {1000.5, 7}, {1001, 8}, {1e30, 8}, {inf, 8}, {float32(math.NaN()), 0},
	} {
		if got := g.Cell(0, c.v); got != c.want {
			t.Errorf("%g is in cell %d, not %d", c.v, got, c.want)
		}
	}
	for j, want := range map[int32]float32{0: 10, 1: 12, 4: 100, 5: 110, 6: 1000, 8: 1001, 9: 1001.5} {
		if got := g.Edge(0, j); got != want {
			t.Errorf("cell %d begins at %g, not %g", j, got, want)
		}
	}
}

// Every query and Build refuse a grid whose pieces contradict each other, before a kernel reads beyond them.
func TestBadPieces(t *testing.T) {
	good := func() *neighbours.Grid {
		g := &neighbours.Grid{Inv: [3]float32{1, 1, 1}, N: [3]int32{6, 1, 1}, Tail: [3]float32{-1}, Pieces: [3]int32{2}}
		g.Piece[0].Min, g.Piece[0].Inv, g.Piece[0].First = [64]float32{1, 5}, [64]float32{1, 1}, [65]int32{0, 4, 6}
		return g
	}
	build := func(g *neighbours.Grid) (refused bool) {
		defer func() { refused = recover() != nil }()
		p := &neighbours.Points{Start: make([]uint32, 7), Blocks: make([]neighbours.Block, 1)}
		neighbours.Build(native.Go, g, []float32{1}, []float32{1}, []float32{1}, []uint32{0}, p, make([]uint32, 1))
		return false
	}
	if build(good()) {
		t.Fatal("a good grid is refused")
	}
	for name, spoil := range map[string]func(g *neighbours.Grid){ // order-free: each for itself
		"no pieces":         func(g *neighbours.Grid) { g.Pieces[0] = 0 },
		"too many":          func(g *neighbours.Grid) { g.Pieces[0] = neighbours.MaxPieces + 1 },
		"less than none":    func(g *neighbours.Grid) { g.Pieces[0] = -1 },
		"no mark":           func(g *neighbours.Grid) { g.Tail[0] = 0 },
		"a tail too":        func(g *neighbours.Grid) { g.Low[0] = 1 },
		"an empty piece":    func(g *neighbours.Grid) { g.Piece[0].First[1] = 0 },
		"first above zero":  func(g *neighbours.Grid) { g.Piece[0].First[0] = 1 },
		"too many cells":    func(g *neighbours.Grid) { g.Piece[0].First[2] = 7 },
		"cells of no width": func(g *neighbours.Grid) { g.Piece[0].Inv[1] = 0 },
		"in no order":       func(g *neighbours.Grid) { g.Piece[0].Min[1] = 1 },
		"NaN":               func(g *neighbours.Grid) { g.Piece[0].Min[1] = float32(math.NaN()) },
	} {
		if g := good(); true {
			if spoil(g); !build(g) {
				t.Errorf("%s: accepted", name)
			}
		}
	}
}

// In an axis with pieces: gaps never exceed the rounded distance of a point in the cell.
func TestPiecedGaps(t *testing.T) {
	run := paritytest.Start(t, "pieced gaps")
	far := 0
	for range 20000 {
		g := neighbours.Grid{N: [3]int32{1 + run.Int32N(40), 1, 1}, Inv: [3]float32{float32(math.Exp2(float64(run.IntN(12) - 6))), 1, 1}}
		g.Min[0] = (run.Float32() - 0.5) * 1000
		withPieces(run, &g, 0)
		p, i := &g.Piece[0], run.Int32N(g.Pieces[0])
		edge := p.Min[i] + float32(run.Int32N(p.First[i+1]-p.First[i]+1))/p.Inv[i]
		at, from := unordered(ordered(edge)+int64(run.IntN(9)-4)), edge+(run.Float32()-0.5)*float32(math.Exp2(float64(run.IntN(20)-5)))
		j := g.Cell(0, at)
		if gap := g.PiecedGap(0, j, from); gap > float32(math.Abs(float64(at-from))) {
			t.Fatalf("%d pieces: %g, in cell %d, is %g from %g, and the gap is %g", g.Pieces[0], at, j, float32(math.Abs(float64(at-from))), from, gap)
		} else if gap > 0 {
			far++
		}
	}
	if far < 1000 {
		t.Errorf("only %d gaps above zero", far)
	}
}

// In a grid with cells outside the core: their lengths, far points, and infinities.
func TestTailedCells(t *testing.T) {
	g := neighbours.Grid{Min: [3]float32{10, 10, 10}, Inv: [3]float32{0.5, 0.5, 0.5}, N: [3]int32{20, 1, 1}}
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
		g := neighbours.Grid{N: [3]int32{1 + run.Int32N(9), 1 << run.IntN(25), 1<<24 - run.Int32N(1<<10)}}
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
		reach := neighbours.Reach(r)
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
