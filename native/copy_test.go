package native_test

import (
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// A mover is a method of Ops that makes a column of others, with the same by brute
// force for some rows.
type mover struct {
	name    string
	columns int // that it reads
	width   int // elements written for a row
	// Whether the columns read, and the one written, have a length of their own.
	anySource, anyTarget bool

	run   func(o *native.Ops, out []float32, c [][]float32, index []uint32) error
	brute func(out []float32, c [][]float32, index []uint32, rows []int)
}

const filler = 1.5

var movers = []mover{
	{name: "Copy", columns: 1, width: 1,
		run: func(o *native.Ops, out []float32, c [][]float32, _ []uint32) error { return o.Copy(out, c[0]) },
		brute: func(out []float32, c [][]float32, _ []uint32, rows []int) {
			for _, i := range rows {
				out[i] = c[0][i]
			}
		}},
	{name: "Fill", width: 1,
		run: func(o *native.Ops, out []float32, _ [][]float32, _ []uint32) error { return o.Fill(out, filler) },
		brute: func(out []float32, _ [][]float32, _ []uint32, rows []int) {
			for _, i := range rows {
				out[i] = filler
			}
		}},
	{name: "Gather", columns: 1, width: 1, anySource: true,
		run: func(o *native.Ops, out []float32, c [][]float32, index []uint32) error {
			return o.Gather(out, c[0], index)
		},
		brute: func(out []float32, c [][]float32, index []uint32, rows []int) {
			for _, i := range rows {
				out[i] = c[0][index[i]]
			}
		}},
	{name: "Scatter", columns: 1, width: 1, anyTarget: true,
		run: func(o *native.Ops, out []float32, c [][]float32, index []uint32) error {
			return o.Scatter(out, c[0], index)
		},
		brute: func(out []float32, c [][]float32, index []uint32, rows []int) {
			for _, i := range rows {
				out[index[i]] = c[0][i]
			}
		}},
	{name: "Compose by column", columns: 10, width: 16,
		run: func(o *native.Ops, out []float32, c [][]float32, _ []uint32) error {
			return o.Compose(out, native.ColumnMajor, vec3(c), quat(c[3:]), vec3(c[7:]))
		},
		brute: func(out []float32, c [][]float32, _ []uint32, rows []int) { bruteCompose(out, c, rows, 1, 4) }},
	{name: "Compose by row", columns: 10, width: 16,
		run: func(o *native.Ops, out []float32, c [][]float32, _ []uint32) error {
			return o.Compose(out, native.RowMajor, vec3(c), quat(c[3:]), vec3(c[7:]))
		},
		brute: func(out []float32, c [][]float32, _ []uint32, rows []int) { bruteCompose(out, c, rows, 4, 1) }},
}

// moverCase holds the arguments of one call, and what out becomes.
type moverCase struct {
	out, want []float32
	columns   [][]float32
	index     []uint32
	live      []uint64
}

// draw returns a case of n rows. Indices of rows that are not named are any numbers.
func (m *mover) draw(run *paritytest.Run, n int) *moverCase {
	other := 1 + run.IntN(2*n+1)
	length := func(own bool) int {
		if own {
			return other
		}
		return n
	}
	c := &moverCase{live: drawBitmap(run, n), out: make([]float32, m.width*length(m.anyTarget)), index: make([]uint32, n)}
	classes := columnClasses[run.IntN(len(columnClasses))]
	run.Fill(c.out, classes...)
	for range m.columns {
		column := make([]float32, length(m.anySource))
		run.Fill(column, classes...)
		c.columns = append(c.columns, column)
	}
	for i := range c.index {
		c.index[i] = run.Uint32()
	}
	rows := namedRows(c.live, n)
	for _, i := range rows {
		c.index[i] = run.Uint32N(uint32(other))
	}
	c.want = slices.Clone(c.out)
	m.brute(c.want, c.columns, c.index, rows)
	return c
}

// same compares bit by bit what was moved, and up to the payload of NaN what was
// computed.
func (m *mover) same(what string, got, want []float32) error {
	if m.width == 1 {
		return paritytest.Bits(what, got, want)
	}
	return paritytest.Floats(what, got, want)
}

// moverBuffers hold the arguments against guard pages.
type moverBuffers struct {
	out     *paritytest.Buffer[float32]
	columns []*paritytest.Input[float32]
	index   *paritytest.Input[uint32]
	live    *paritytest.Input[uint64]
}

func TestParityMovers(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
	for _, m := range movers {
		t.Run(m.name, func(t *testing.T) {
			run := paritytest.Start(t, m.name)
			const most = 1025
			b := moverBuffers{paritytest.NewBuffer[float32](t, m.width*2*most), nil, paritytest.NewInput[uint32](t, most), paritytest.NewInput[uint64](t, most/64+1)}
			for range m.columns {
				b.columns = append(b.columns, paritytest.NewInput[float32](t, 2*most))
			}
			for range paritytest.Rounds(2) {
				for _, n := range lengths() {
					for gap := range paritytest.MaxGap + 1 {
						b.compare(run, &m, m.draw(run, n), gap)
					}
				}
			}
		})
	}
}

func (b *moverBuffers) compare(run *paritytest.Run, m *mover, c *moverCase, gap int) {
	is := make([][]float32, m.columns)
	for _, level := range native.Levels() {
		for _, side := range paritytest.Sides {
			run.Case(level)
			for k := range is {
				is[k] = b.columns[k].Put(c.columns[k], side, (gap+3*k)%(paritytest.MaxGap+1))
			}
			out := b.out.PlaceCopy(c.out, side, gap)
			o := native.WithKernels(native.Ops{Level: level, Live: b.live.Put(c.live, side, gap)})
			err := m.run(&o, out, is, b.index.Put(c.index, side, gap/2))
			what := fmt.Sprintf("n=%d gap=%d live=%x: out", len(c.index), gap, c.live)
			run.Check(err, m.same(what, out, c.want), b.out.Check(), b.live.Unchanged("live"), b.index.Unchanged("index"))
			for k := range is {
				run.Check(b.columns[k].Unchanged("column"))
			}
		}
	}
}

// Over several chunks, each number of workers gives the bits of brute force: with
// Scatter too, whose indices are not all different.
func TestParityMoversOfManyRows(t *testing.T) {
	for _, m := range movers {
		t.Run(m.name, func(t *testing.T) {
			run := paritytest.Start(t, m.name+" of many rows")
			for range paritytest.Rounds(3) {
				c := m.draw(run, run.IntN(4)*native.OpChunk+run.IntN(native.OpChunk))
				for _, level := range native.Levels() {
					for _, workers := range []int{1, 2, 7} {
						run.Case(level)
						out := slices.Clone(c.out)
						o := native.Ops{Level: level, Live: c.live, Pool: native.NewPool(workers)}
						err := m.run(&o, out, c.columns, c.index)
						run.Check(err, m.same(fmt.Sprintf("n=%d workers=%d: out", len(c.index), workers), out, c.want))
					}
				}
			}
		})
	}
}

func TestMoversAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	run := paritytest.Start(t, "Allocations of movers")
	for _, m := range movers {
		c := m.draw(run, 50000)
		for _, level := range native.Levels() {
			o := native.Ops{Level: level, Live: c.live, Pool: native.NewPool(2)}
			if n := testing.AllocsPerRun(20, func() { m.run(&o, c.out, c.columns, c.index) }); n != 0 {
				t.Errorf("%s, level %s: %g allocations", m.name, level, n)
			}
		}
	}
}

// An index out of range, wherever it stands, is named, the first of several; nothing
// is changed then. In a row that is not named it is none.
func TestIndexOutOfRange(t *testing.T) {
	run := paritytest.Start(t, "Index out of range")
	for range paritytest.Rounds(100) {
		n := 2 + run.IntN(2*native.OpChunk)
		if run.IntN(2) == 0 {
			n = 2 + run.IntN(200)
		}
		index, other := make([]uint32, n), 1+run.IntN(n)
		for i := range index {
			index[i] = run.Uint32N(uint32(other))
		}
		bad := run.IntN(n)
		index[bad] = []uint32{uint32(other), uint32(other) + 1, 1<<31 - 1, 1 << 31, 1<<32 - 1}[run.IntN(5)]
		if later := run.IntN(n); later > bad {
			index[later] = 1<<32 - 1
		}
		live := slices.Repeat([]uint64{^uint64(0)}, (n+63)/64)
		for _, level := range native.Levels() {
			for _, workers := range []int{1, 2, 7} {
				run.Case(level)
				o := native.Ops{Level: level, Pool: native.NewPool(workers), Live: live}
				run.Check(refused(&o, index, other, bad))
			}
		}
		for i := range index { // those that would be refused are not named
			if int(index[i]) >= other {
				live[i/64] &^= 1 << (i % 64)
			}
		}
		for _, level := range native.Levels() {
			run.Case(level)
			o := native.Ops{Level: level, Live: live}
			run.Check(o.Gather(make([]float32, n), make([]float32, other), index), o.Scatter(make([]float32, other), make([]float32, n), index))
		}
	}
}

// refused returns an error unless Gather and Scatter name the bad row and change
// nothing.
func refused(o *native.Ops, index []uint32, other, bad int) error {
	rows, column := make([]float32, len(index)), slices.Repeat([]float32{1}, other)
	errs := []error{o.Gather(rows, column, index)}
	errs = append(errs, paritytest.Bits("Gather changed dst", rows, make([]float32, len(index))))
	scattered := o.Scatter(column, rows, index)
	errs = append(errs, paritytest.Bits("Scatter changed dst", column, slices.Repeat([]float32{1}, other)))
	for k, err := range []error{errs[0], scattered} {
		method := []string{"Gather", "Scatter"}[k]
		want := fmt.Sprintf("native: Ops.%s: index[%d] = %d: out of range", method, bad, index[bad])
		if !errors.Is(err, native.ErrRange) || err.Error() != want {
			errs = append(errs, fmt.Errorf("got %v, want %s", err, want))
		}
	}
	return errors.Join(errs[1:]...)
}

// Where no row is named there need be nothing to take from or to put to.
func TestIndexOfNothing(t *testing.T) {
	for _, level := range native.Levels() {
		index, rows := make([]uint32, 300), make([]float32, 300)
		none := &native.Ops{Level: level, Live: make([]uint64, 5)}
		if err := errors.Join(none.Gather(rows, nil, index), none.Scatter(nil, rows, index)); err != nil {
			t.Errorf("level %s: %v", level, err)
		}
		all := &native.Ops{Level: level}
		if err := all.Gather(rows, nil, index); !errors.Is(err, native.ErrRange) {
			t.Errorf("level %s: rows of nothing: %v", level, err)
		}
	}
}

func TestMisuseOfMovers(t *testing.T) {
	x, y := make([]float32, 100), make([]float32, 99)
	o, short := &native.Ops{}, &native.Ops{Live: make([]uint64, 1)}
	expectPanic(t, "native: Ops.Copy: dst and src differ in length", func() { o.Copy(x, y) })
	expectPanic(t, "native: Ops.Gather: dst and index differ in length", func() { o.Gather(x, x, make([]uint32, 99)) })
	expectPanic(t, "native: Ops.Scatter: src and index differ in length", func() { o.Scatter(x, x, make([]uint32, 99)) })
	const bitmap = "native: Ops: a bitmap has no bit for each row"
	expectPanic(t, bitmap, func() { short.Copy(x, x) })
	expectPanic(t, bitmap, func() { short.Fill(x, 1) })
	expectPanic(t, bitmap, func() { short.Gather(x, x, make([]uint32, 100)) })
	expectPanic(t, bitmap, func() { short.Scatter(x, x, make([]uint32, 100)) })
	expectPanic(t, "native: the level cannot run here; see Resolve", func() { (&native.Ops{Level: 99}).Fill(x, 1) })
}
