package native_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// opCase is an operation of Ops in which each row is for itself.
type opCase struct {
	name    string
	out, in int // columns that it writes, and may read; columns that it only reads
	// numbers draws its other arguments. nil: of all kinds.
	numbers func(*paritytest.Run) [4]float32
	run     func(o *native.Ops, a *opArgs) error
}

// opArgs are the arguments of an operation.
type opArgs struct {
	out, in [][]float32
	numbers [4]float32
	named   []uint64 // a bitmap beside Ops.Live, such as teleported; or nil
}

func vec3(c [][]float32) native.Vec3 { return native.Vec3{X: c[0], Y: c[1], Z: c[2]} }
func quat(c [][]float32) native.Quat { return native.Quat{X: c[0], Y: c[1], Z: c[2], W: c[3]} }

// draw returns arguments of n rows of which some, or all, are common numbers.
func (c *opCase) draw(run *paritytest.Run, n int) *opArgs {
	classes := [][]paritytest.Class{{paritytest.Uniform}, paritytest.Finite, paritytest.AllClasses}[run.IntN(3)]
	a := &opArgs{out: make([][]float32, c.out), in: make([][]float32, c.in)}
	for _, columns := range [][][]float32{a.out, a.in} {
		for k := range columns {
			columns[k] = make([]float32, n)
			run.Fill(columns[k], classes...)
		}
	}
	if c.numbers != nil {
		a.numbers = c.numbers(run)
	} else {
		run.Fill(a.numbers[:], classes...)
	}
	a.named = drawBitmap(run, n)
	return a
}

// drawBitmap returns nil, or a bitmap of just the words that n rows need, with any
// bits behind the last row.
func drawBitmap(run *paritytest.Run, n int) []uint64 {
	kind := run.IntN(5)
	if kind == 0 {
		return nil
	}
	words := make([]uint64, (n+63)/64)
	for i := range words {
		switch r := run.Uint64(); {
		case kind == 1: // none
		case kind == 2 || kind == 3 && r%4 < 2:
			words[i] = math.MaxUint64
		case kind == 3 && r%4 == 2: // whole words, and few rows
			words[i] = 1 << (run.Uint32() % 64)
		case kind == 4:
			words[i] = run.Uint64()
		}
	}
	return words
}

func clone(columns [][]float32) [][]float32 {
	all := make([][]float32, len(columns))
	for k, c := range columns {
		all[k] = slices.Clone(c)
	}
	return all
}

// expect returns what the columns hold afterwards, by the Go loop over all rows: the
// rows that live does not name are put back.
func (c *opCase) expect(a *opArgs, live []uint64) ([][]float32, error) {
	after := &opArgs{out: clone(a.out), in: a.in, numbers: a.numbers, named: a.named}
	err := c.run(&native.Ops{Level: native.Go}, after)
	for k := range a.out {
		for i := range a.out[k] {
			if !isNamed(live, i) {
				after.out[k][i] = a.out[k][i]
			}
		}
	}
	return after.out, err
}

func isNamed(bitmap []uint64, i int) bool { return bitmap == nil || bitmap[i/64]>>(i%64)&1 != 0 }

// check returns an error unless the columns are as expected; NaN equals any NaN in the
// rows that were named only.
func (c *opCase) check(got, want [][]float32, live []uint64) error {
	for k := range want {
		if err := paritytest.Floats(fmt.Sprintf("column %d", k), got[k], want[k]); err != nil {
			return err
		}
		for i := range want[k] {
			if !isNamed(live, i) && math.Float32bits(got[k][i]) != math.Float32bits(want[k][i]) {
				return fmt.Errorf("column %d, row %d is not named and was written to", k, i)
			}
		}
	}
	return nil
}

// opGuard holds the arguments of an operation against guard pages.
type opGuard struct {
	columns     []*paritytest.Buffer[float32]
	live, named *paritytest.Buffer[uint64]
}

func newOpGuard(t *testing.T, c *opCase, most int) *opGuard {
	g := &opGuard{live: paritytest.NewBuffer[uint64](t, most/64+1), named: paritytest.NewBuffer[uint64](t, most/64+1)}
	for range c.out + c.in {
		g.columns = append(g.columns, paritytest.NewBuffer[float32](t, most))
	}
	return g
}

// place returns guarded copies of arguments and a bitmap, the first column gap
// elements away from the page, the others at any distance.
func (g *opGuard) place(run *paritytest.Run, a *opArgs, live []uint64, side paritytest.Side, gap int) (*opArgs, []uint64) {
	placed := &opArgs{numbers: a.numbers}
	for k, c := range slices.Concat(a.out, a.in) {
		c = g.columns[k].PlaceCopy(c, side, gap)
		if gap = run.IntN(paritytest.MaxGap + 1); k < len(a.out) {
			placed.out = append(placed.out, c)
		} else {
			placed.in = append(placed.in, c)
		}
	}
	if a.named != nil {
		placed.named = g.named.PlaceCopy(a.named, side, 0)
	}
	if live != nil {
		live = g.live.PlaceCopy(live, side, 0)
	}
	return placed, live
}

// check returns an error if anything that is only read, or lies around, was written to.
func (g *opGuard) check(placed, a *opArgs, placedLive, live []uint64) error {
	for k := range a.in {
		if err := paritytest.Bits(fmt.Sprintf("input %d", k), placed.in[k], a.in[k]); err != nil {
			return err
		}
	}
	for _, b := range g.columns {
		if err := b.Check(); err != nil {
			return err
		}
	}
	for _, err := range []error{g.live.Check(), g.named.Check(),
		paritytest.Bits("live", placedLive, live), paritytest.Bits("named", placed.named, a.named)} {
		if err != nil {
			return err
		}
	}
	return nil
}

// Every operation on every level, with kernels for any number of rows, is compared with
// its Go loop over all rows: every length up to three vectors and one more and some
// above, every misalignment, both sides of guard pages, bitmaps of every kind. NaN
// equals NaN, for the reason given at TestParityIntegrate.
func TestParityOps(t *testing.T) {
	rows := append(lengths()[:50], 63, 64, 65, 127, 129, 200, 1023, 1024, 1100, 1300)
	for _, c := range opCases {
		t.Run(c.name, func(t *testing.T) {
			run := paritytest.Start(t, c.name)
			guard := newOpGuard(t, &c, slices.Max(rows))
			for round := range paritytest.Rounds(2) {
				for _, n := range rows {
					for gap := range paritytest.MaxGap + 1 {
						if round > 0 || n < 64 || gap%8 == 0 {
							c.compare(run, guard, n, gap)
						}
					}
				}
			}
		})
	}
}

func (c *opCase) compare(run *paritytest.Run, guard *opGuard, n, gap int) {
	a, live := c.draw(run, n), drawBitmap(run, n)
	want, wantErr := c.expect(a, live)
	for _, level := range native.Levels() {
		for _, side := range paritytest.Sides {
			run.Case(level)
			placed, placedLive := guard.place(run, a, live, side, gap)
			o := native.WithKernels(native.Ops{Level: level, Live: placedLive})
			err := c.run(&o, placed)
			if fmt.Sprint(err) != fmt.Sprint(wantErr) {
				run.Check(fmt.Errorf("error %v, want %v", err, wantErr))
			}
			if err := c.check(placed.out, want, live); err != nil {
				run.Check(fmt.Errorf("n=%d gap=%d side=%d numbers=%g live=%x: %w", n, gap, side, a.numbers, live, err))
			}
			run.Check(guard.check(placed, a, placedLive, live))
		}
	}
}

// Several chunks, by any number of workers, give the same bits.
func TestParityOpsWorkers(t *testing.T) {
	const n = 3*native.OpChunk + 77
	for _, c := range opCases {
		t.Run(c.name, func(t *testing.T) {
			run := paritytest.Start(t, c.name+" by workers")
			for range paritytest.Rounds(3) {
				a, live := c.draw(run, n), drawBitmap(run, n)
				want, wantErr := c.expect(a, live)
				for _, level := range native.Levels() {
					for _, workers := range []int{1, 2, 7} {
						run.Case(level)
						got := &opArgs{out: clone(a.out), in: a.in, numbers: a.numbers, named: a.named}
						err := c.run(&native.Ops{Level: level, Pool: native.NewPool(workers), Live: live}, got)
						if fmt.Sprint(err) != fmt.Sprint(wantErr) {
							run.Check(fmt.Errorf("%d workers: error %v, want %v", workers, err, wantErr))
						}
						run.Check(c.check(got.out, want, live))
					}
				}
			}
		})
	}
}

func TestOpsAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	for _, c := range opCases {
		run := paritytest.Start(t, c.name+" without allocating")
		for _, n := range []int{10, 2*native.OpChunk + 1} {
			a := c.draw(run, n)
			if c.numbers == nil {
				a.numbers = [4]float32{1, 1, 1, 1}
			}
			for _, level := range native.Levels() {
				o := native.Ops{Level: level, Pool: native.NewPool(2)}
				if c.run(&o, a) != nil {
					t.Fatalf("%s: the arguments are refused", c.name)
				}
				if got := testing.AllocsPerRun(20, func() { c.run(&o, a) }); got != 0 {
					t.Errorf("%s, %d rows, level %s: %g allocations", c.name, n, level, got)
				}
			}
		}
	}
}

// Columns of unequal length, and bitmaps that are too short, are misuse.
func TestOpsMisuse(t *testing.T) {
	for _, c := range opCases {
		run := paritytest.Start(t, c.name+" misused")
		a := c.draw(run, 65)
		if c.numbers == nil {
			a.numbers = [4]float32{1, 1, 1, 1}
		}
		a.named = nil
		expectPanic(t, "native: Ops: a bitmap has no bit for each row", func() { c.run(&native.Ops{Live: make([]uint64, 1)}, a) })
		expectPanic(t, "native: the level cannot run here; see Resolve", func() { c.run(&native.Ops{Level: 99}, a) })
		for k := range c.out + c.in {
			if c.out+c.in == 1 {
				continue
			}
			b := *a
			b.out, b.in = slices.Clone(a.out), slices.Clone(a.in)
			if k < c.out {
				b.out[k] = b.out[k][:64]
			} else {
				b.in[k-c.out] = b.in[k-c.out][:64]
			}
			if got := panicOf(func() { c.run(&native.Ops{}, &b) }); got == nil {
				t.Errorf("%s: column %d is too short, and there is no panic", c.name, k)
			}
		}
	}
}

func panicOf(f func()) (got any) {
	defer func() { got = recover() }()
	f()
	return nil
}
