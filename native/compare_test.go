package native_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// comparisons are the definitions of the language.
var comparisons = map[native.Comparison]func(x, y float32) bool{
	native.Less:         func(x, y float32) bool { return x < y },
	native.LessEqual:    func(x, y float32) bool { return x <= y },
	native.Greater:      func(x, y float32) bool { return x > y },
	native.GreaterEqual: func(x, y float32) bool { return x >= y },
	native.Equal:        func(x, y float32) bool { return x == y },
	native.NotEqual:     func(x, y float32) bool { return x != y },
}

// comparison is one call: of x with y, or with limit if y is nil.
type comparison struct {
	x, y  []float32
	limit float32
	is    native.Comparison
	live  []uint64
}

func drawComparison(run *paritytest.Run, n int) *comparison {
	classes := columnClasses[run.IntN(len(columnClasses))]
	c := &comparison{x: make([]float32, n), is: native.Comparison(run.IntN(int(native.NotEqual) + 1)), live: drawBitmap(run, n)}
	run.Fill(c.x, classes...)
	near := func(v float32) float32 { // equal, or next to it
		switch run.IntN(4) {
		case 0:
			return run.Near(v)
		case 1:
			return run.Float(classes[run.IntN(len(classes))])
		}
		return v
	}
	if c.limit = near(0); n > 0 {
		c.limit = near(c.x[run.IntN(n)])
	}
	if run.IntN(2) == 0 {
		c.y = make([]float32, n)
		for i, v := range c.x {
			c.y[i] = near(v)
		}
	}
	return c
}

// brute compares row by row and leaves the other bits 0.
func (c *comparison) brute(words int) []uint64 {
	to := make([]uint64, words)
	for _, i := range namedRows(c.live, len(c.x)) {
		y := c.limit
		if c.y != nil {
			y = c.y[i]
		}
		if comparisons[c.is](c.x[i], y) {
			to[i/64] |= 1 << (i % 64)
		}
	}
	return to
}

func (c *comparison) run(o *native.Ops, to []uint64) error {
	if c.y != nil {
		return o.CompareColumns(to, c.x, c.is, c.y)
	}
	return o.Compare(to, c.x, c.is, c.limit)
}

// Each comparison, with a number and with a column, on every level: every length up to three vectors and one more and
// some above, every misalignment, both sides of guard pages, bitmaps of every kind, and a result that is Live itself.
func TestParityCompare(t *testing.T) {
	run := paritytest.Start(t, "Compare")
	rows := append(lengths()[:50], 63, 64, 65, 127, 128, 129, 200, 1023, 1024, 1100)
	most := slices.Max(rows)
	x, y := paritytest.NewInput[float32](t, most), paritytest.NewInput[float32](t, most)
	live, to := paritytest.NewInput[uint64](t, most/64+3), paritytest.NewInput[uint64](t, most/64+3)
	for range paritytest.Rounds(4) {
		for _, n := range rows {
			for gap := range paritytest.MaxGap + 1 {
				c := drawComparison(run, n)
				words := (n+63)/64 + run.IntN(3)
				want := c.brute(words)
				for _, level := range native.Levels() {
					for _, side := range paritytest.Sides {
						run.Case(level)
						placed := &comparison{x.Put(c.x, side, gap), y.Put(c.y, side, (gap+5)%(paritytest.MaxGap+1)), c.limit, c.is, live.Put(c.live, side, 0)}
						o := native.WithKernels(native.Ops{Level: level, Live: placed.live})
						got := to.Put(slices.Repeat([]uint64{0xdeaddeaddeaddead}, words), side, 0)
						err := placed.run(&o, got)
						what := fmt.Sprintf("n=%d gap=%d %d with %g, live=%x", n, gap, c.is, c.limit, c.live)
						run.Check(err, paritytest.Bits(what, got, want), to.Check(),
							x.Unchanged("x"), y.Unchanged("y"), live.Unchanged("live"))
						if c.live != nil {
							run.Check(placed.run(&o, placed.live), paritytest.Bits(what+", into Live", placed.live, want[:len(placed.live)]), live.Check())
						}
					}
				}
			}
		}
	}
}

// Several chunks, by any number of workers, give the same bits.
func TestParityCompareWorkers(t *testing.T) {
	const n = 3*native.OpChunk + 77
	run := paritytest.Start(t, "Compare by workers")
	to := make([]uint64, (n+63)/64)
	for range paritytest.Rounds(20) {
		c := drawComparison(run, n)
		want := c.brute(len(to))
		for _, level := range native.Levels() {
			for _, workers := range []int{1, 2, 7} {
				run.Case(level)
				o := native.Ops{Level: level, Pool: native.NewPool(workers), Live: c.live}
				run.Check(c.run(&o, to), paritytest.Bits(fmt.Sprintf("%d workers", workers), to, want))
			}
		}
	}
}

func TestCompareAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	run := paritytest.Start(t, "Compare without allocating")
	for _, n := range []int{10, 2*native.OpChunk + 1} {
		c, to := drawComparison(run, n), make([]uint64, (n+63)/64)
		for _, level := range native.Levels() {
			o := native.Ops{Level: level, Pool: native.NewPool(2), Live: c.live}
			if got := testing.AllocsPerRun(20, func() { c.run(&o, to) }); got != 0 {
				t.Errorf("%d rows, level %s: %g allocations", n, level, got)
			}
		}
	}
}

// What is promised for special values, in numbers, on every level.
func TestCompareSpecialValues(t *testing.T) {
	inf, nan, negZero := float32(math.Inf(1)), float32(math.NaN()), float32(math.Copysign(0, -1))
	const small = math.SmallestNonzeroFloat32
	for _, c := range []struct {
		x, y  float32
		holds string // of < <= > >= == !=
	}{
		{1, 2, "<l!"}, {2, 1, ">g!"}, {2, 2, "lg="}, {0, negZero, "lg="}, {negZero, 0, "lg="}, {small, 0, ">g!"}, {-small, small, "<l!"},
		{inf, inf, "lg="}, {-inf, inf, "<l!"}, {nan, 1, "!"}, {1, nan, "!"}, {nan, nan, "!"}, {nan, inf, "!"}, {-inf, nan, "!"},
	} {
		for is, sign := range "<l>g=!" {
			want := uint64(0)
			if slices.Contains([]rune(c.holds), sign) {
				want = 1<<37 - 1
			}
			for _, level := range native.Levels() {
				o, to := native.WithKernels(native.Ops{Level: level}), []uint64{math.MaxUint64}
				x, y := slices.Repeat([]float32{c.x}, 37), slices.Repeat([]float32{c.y}, 37)
				if err := o.Compare(to, x, native.Comparison(is), c.y); err != nil || to[0] != want {
					t.Errorf("level %s: %g %c %g: %x, %v", level, c.x, sign, c.y, to, err)
				}
				if err := o.CompareColumns(to, x, native.Comparison(is), y); err != nil || to[0] != want {
					t.Errorf("level %s, columns: %g %c %g: %x, %v", level, c.x, sign, c.y, to, err)
				}
			}
		}
	}
}

// A second comparison into the bitmap that is Live narrows it: here the rows of an interval stay.
func TestCompareNarrows(t *testing.T) {
	for _, level := range native.Levels() {
		x, bits := make([]float32, 300), make([]uint64, 5)
		for i := range x {
			x[i] = float32(i)
		}
		o := native.Ops{Level: level}
		if err := o.Compare(bits, x, native.GreaterEqual, 60); err != nil {
			t.Fatal(err)
		}
		o.Live = bits
		if err := o.Compare(bits, x, native.Less, 66); err != nil {
			t.Fatal(err)
		}
		if got := native.RowsOf(nil, bits); !slices.Equal(got, []uint32{60, 61, 62, 63, 64, 65}) {
			t.Errorf("level %s: %d", level, got)
		}
	}
}

func TestCompareMisuse(t *testing.T) {
	x, bits := make([]float32, 65), make([]uint64, 2)
	var o native.Ops
	const short = "native: Ops: a bitmap has no bit for each row"
	expectPanic(t, short, func() { o.Compare(bits[:1], x, native.Less, 1) })
	expectPanic(t, short, func() { o.Compare(nil, x, native.Less, 1) })
	expectPanic(t, short, func() { (&native.Ops{Live: bits[:1]}).Compare(bits, x, native.Less, 1) })
	expectPanic(t, short, func() { o.Select(x, bits[:1], x, x) })
	expectPanic(t, short, func() { o.Select(x, nil, x, x) })
	expectPanic(t, "native: Ops: unknown Comparison", func() { o.Compare(bits, x, native.NotEqual+1, 1) })
	expectPanic(t, "native: Ops.CompareColumns: x and y differ in length", func() { o.CompareColumns(bits, x, native.Less, x[:64]) })
	expectPanic(t, "native: the level cannot run here; see Resolve", func() { (&native.Ops{Level: 99}).Compare(bits, x, native.Less, 1) })
	if err := o.Integrate(x, make([]float32, 65), 1); err != nil { // and misuse leaves nothing in Ops
		t.Error(err)
	}
}

// A comparison with a limit that one row of ten reaches, in random order, and of two columns.
func BenchmarkCompare(b *testing.B) {
	for _, n := range []int{64, 256, 4096, 16384} {
		run := paritytest.Start(b, "Compare")
		columns, to := staggered(2, n), make([]uint64, (n+63)/64)
		for _, c := range columns {
			for i := range c {
				c[i] = run.Float32()
			}
		}
		for _, level := range native.Levels() {
			o := native.WithKernels(native.Ops{Level: level})
			b.Run(fmt.Sprintf("of=number/n=%d/level=%s", n, level), func(b *testing.B) {
				for b.Loop() {
					o.Compare(to, columns[0], native.GreaterEqual, 0.9)
				}
			})
			b.Run(fmt.Sprintf("of=columns/n=%d/level=%s", n, level), func(b *testing.B) {
				for b.Loop() {
					o.CompareColumns(to, columns[0], native.Less, columns[1])
				}
			})
		}
	}
}
