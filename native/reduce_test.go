package native_test

import (
	"errors"
	"fmt"
	"math"
	"math/big"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// A reduction is a method of Ops that finds something out about columns, appended
// to numbers, with the same found by brute force from the named rows.
type reduction struct {
	name    string
	columns int
	run     func(o *native.Ops, c [][]float32, to []float64) ([]float64, error)
	brute   func(c [][]float32, rows []int) []float64
}

var reductions = []reduction{
	{"Bounds", 3, func(o *native.Ops, c [][]float32, to []float64) ([]float64, error) {
		lo, hi, err := o.Bounds(c[0], c[1], c[2])
		for axis := range lo {
			to = append(to, float64(lo[axis]), float64(hi[axis]))
		}
		return to, err
	}, bruteBounds},
	{"Sum", 1, func(o *native.Ops, c [][]float32, to []float64) ([]float64, error) {
		sum, err := o.Sum(c[0])
		return append(to, sum), err
	}, bruteSum},
	{"FirstNotFinite", 1, func(o *native.Ops, c [][]float32, to []float64) ([]float64, error) {
		row, err := o.FirstNotFinite(c[0])
		return append(to, float64(row)), err
	}, bruteFirst},
}

// bruteBounds sorts the numbers of each column.
func bruteBounds(c [][]float32, rows []int) []float64 {
	var bounds []float64
	for _, column := range c {
		var numbers []float64
		for _, i := range rows {
			if v := float64(column[i]); !math.IsNaN(v) {
				numbers = append(numbers, v+0) // +0, if it is zero
			}
		}
		lo, hi := math.Inf(1), math.Inf(-1)
		if slices.Sort(numbers); len(numbers) > 0 {
			lo, hi = numbers[0], numbers[len(numbers)-1]
		}
		bounds = append(bounds, lo, hi)
	}
	return bounds
}

// bruteSum spells the tree out: a list of what each of the sums adds up, in order.
func bruteSum(c [][]float32, rows []int) []float64 {
	const lanes, chunk = 16, 16384
	terms := make([][lanes][]float64, (len(c[0])+chunk-1)/chunk)
	for _, i := range rows {
		t := &terms[i/chunk][i%lanes]
		*t = append(*t, float64(c[0][i]))
	}
	total := 0.0
	for _, t := range terms {
		var s [lanes]float64
		for lane := range s {
			for _, v := range t[lane] {
				s[lane] += v
			}
		}
		total += ((s[0] + s[8] + (s[4] + s[12])) + (s[2] + s[10] + (s[6] + s[14]))) +
			((s[1] + s[9] + (s[5] + s[13])) + (s[3] + s[11] + (s[7] + s[15])))
	}
	return []float64{total}
}

func bruteFirst(c [][]float32, rows []int) []float64 {
	for _, i := range rows {
		if v := float64(c[0][i]); math.IsNaN(v) || math.IsInf(v, 0) {
			return []float64{float64(i)}
		}
	}
	return []float64{-1}
}

// namedRows lists the rows below n that a bitmap names.
func namedRows(live []uint64, n int) []int {
	var rows []int
	for i := range n {
		if isNamed(live, i) {
			rows = append(rows, i)
		}
	}
	return rows
}

// sameNumbers compares bit by bit, except that all NaN are the same.
func sameNumbers(what string, got, want []float64) error {
	one := func(s []float64) []float64 {
		s = slices.Clone(s)
		for i, v := range s {
			if math.IsNaN(v) {
				s[i] = math.NaN()
			}
		}
		return s
	}
	return paritytest.Bits(what, one(got), one(want))
}

var columnClasses = [][]paritytest.Class{
	{paritytest.Uniform}, {paritytest.Zero}, {paritytest.NaN}, {paritytest.Zero, paritytest.NaN},
	paritytest.Finite, paritytest.AllClasses,
}

func TestParityReductions(t *testing.T) {
	for _, r := range reductions {
		t.Run(r.name, func(t *testing.T) { r.parity(t) })
	}
}

func (r *reduction) parity(t *testing.T) {
	run := paritytest.Start(t, r.name)
	columns, live := make([]*paritytest.Input[float32], r.columns), paritytest.NewInput[uint64](t, 17)
	for k := range columns {
		columns[k] = paritytest.NewInput[float32](t, 1025)
	}
	for range paritytest.Rounds(4) {
		for _, n := range lengths() {
			for gap := range paritytest.MaxGap + 1 {
				r.compare(run, columns, live, n, gap)
			}
		}
	}
}

func (r *reduction) compare(run *paritytest.Run, columns []*paritytest.Input[float32], live *paritytest.Input[uint64], n, gap int) {
	rows, is := drawBitmap(run, n), make([][]float32, r.columns)
	of := make([][]float32, r.columns)
	classes := columnClasses[run.IntN(len(columnClasses))]
	for k := range of {
		of[k] = make([]float32, n)
		run.Fill(of[k], classes...)
	}
	want := r.brute(of, namedRows(rows, n))
	for _, level := range native.Levels() {
		for _, side := range paritytest.Sides {
			run.Case(level)
			for k := range columns {
				is[k] = columns[k].Put(of[k], side, (gap+3*k)%(paritytest.MaxGap+1))
			}
			o := native.WithKernels(native.Ops{Level: level, Live: live.Put(rows, side, gap)})
			got, err := r.run(&o, is, nil)
			run.Check(err, sameNumbers(fmt.Sprintf("n=%d gap=%d live=%x", n, gap, rows), got, want), live.Unchanged("live"))
			for k := range columns {
				run.Check(columns[k].Unchanged("column"))
			}
		}
	}
}

// Over several chunks, each number of workers gives the bits of brute force.
func TestParityReductionsOfManyRows(t *testing.T) {
	for _, r := range reductions {
		t.Run(r.name, func(t *testing.T) {
			run := paritytest.Start(t, r.name+" of many rows")
			for range paritytest.Rounds(10) {
				r.compareMany(run)
			}
		})
	}
}

func (r *reduction) compareMany(run *paritytest.Run) {
	n := run.IntN(5) * native.OpChunk
	n += run.IntN(2) * run.IntN(native.OpChunk)
	rows, columns := drawBitmap(run, n), make([][]float32, r.columns)
	for k := range columns {
		columns[k] = make([]float32, n)
		run.Fill(columns[k], paritytest.Finite...)
		for range min(n, run.IntN(4)) {
			columns[k][run.IntN(n)] = run.Float(paritytest.AllClasses[run.IntN(len(paritytest.AllClasses))])
		}
	}
	want := r.brute(columns, namedRows(rows, n))
	for _, level := range native.Levels() {
		o := native.Ops{Level: level, Live: rows}
		for _, workers := range []int{1, 2, 7} {
			run.Case(level)
			o.Pool = native.NewPool(workers)
			got, err := r.run(&o, columns, nil)
			run.Check(err, sameNumbers(fmt.Sprintf("n=%d workers=%d", n, workers), got, want))
		}
	}
}

// Finite numbers are added up as closely as Sum promises.
func TestSumError(t *testing.T) {
	run := paritytest.Start(t, "Sum error")
	for _, n := range []int{1, 100, 5000, 100000} {
		x := make([]float32, n)
		for _, classes := range [][]paritytest.Class{{paritytest.Uniform}, {paritytest.Huge}, paritytest.Finite} {
			run.Fill(x, classes...)
			got, err := (&native.Ops{}).Sum(x)
			if err != nil {
				t.Fatal(err)
			}
			exact, size := newExact(), newExact()
			for _, v := range x {
				exact.Add(exact, new(big.Float).SetFloat64(float64(v)))
				size.Add(size, new(big.Float).SetFloat64(math.Abs(float64(v))))
			}
			off := newExact().Sub(new(big.Float).SetFloat64(got), exact)
			bound := size.Mul(size, big.NewFloat(float64(1028+n/16384)*0x1p-53))
			if off.Abs(off).Cmp(bound) > 0 {
				t.Errorf("%d rows: the sum %g is off by %g, more than %g", n, got, off, bound)
			}
		}
	}
}

// newExact returns a number that holds any sum of float32.
func newExact() *big.Float { return new(big.Float).SetPrec(400) }

func TestReductionsOfNothing(t *testing.T) {
	inf := math.Inf(1)
	nothing := map[string][]float64{"Bounds": {inf, -inf, inf, -inf, inf, -inf}, "Sum": {0}, "FirstNotFinite": {-1}}
	nan := slices.Repeat([]float32{float32(math.NaN())}, 300)
	for _, level := range native.Levels() {
		for _, r := range reductions {
			for _, o := range []*native.Ops{{Level: level}, {Level: level, Live: make([]uint64, 5)}} {
				x := nan
				if o.Live == nil {
					x = nil
				}
				got, err := r.run(o, [][]float32{x, x, x}, nil)
				if err := errors.Join(err, paritytest.Bits(r.name, got, nothing[r.name])); err != nil {
					t.Errorf("level %s, %d rows: %v", level, len(x), err)
				}
			}
		}
		if lo, hi, _ := (&native.Ops{Level: level}).Bounds(nan, nan, nan); lo[1] != float32(inf) || hi[2] != float32(-inf) {
			t.Errorf("level %s: NaN have the bounds %g, %g", level, lo, hi)
		}
	}
}

// Zeros of both signs give one sum and one corner, in whatever order they stand.
func TestReductionsOfZeros(t *testing.T) {
	negative := float32(math.Copysign(0, -1))
	for _, level := range native.Levels() {
		o := &native.Ops{Level: level}
		for _, zeros := range [][]float32{{negative}, {0, negative}, {negative, 0, 0}} {
			x := slices.Repeat(zeros, 100)
			for _, r := range reductions[:2] {
				got, _ := r.run(o, [][]float32{x, x, x}, nil)
				if err := paritytest.Bits(r.name, got, make([]float64, len(got))); err != nil {
					t.Errorf("level %s, %g…: %v", level, zeros, err)
				}
			}
		}
	}
}

func TestMisuseOfReductions(t *testing.T) {
	x, y := make([]float32, 100), make([]float32, 99)
	o := &native.Ops{}
	expectPanic(t, "native: Ops.Bounds: x, y and z differ in length", func() { o.Bounds(x, x, y) })
	short := &native.Ops{Live: make([]uint64, 1)}
	const bitmap = "native: Ops: a bitmap has no bit for each row"
	expectPanic(t, bitmap, func() { short.Bounds(x, x, x) })
	expectPanic(t, bitmap, func() { short.Sum(x) })
	expectPanic(t, bitmap, func() { short.FirstNotFinite(x) })
	expectPanic(t, "native: the level cannot run here; see Resolve", func() { (&native.Ops{Level: 99}).Sum(x) })
}

func TestReductionsAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	columns := [][]float32{make([]float32, 50000), make([]float32, 50000), make([]float32, 50000)}
	for _, r := range reductions {
		for _, level := range native.Levels() {
			o := native.Ops{Level: level, Pool: native.NewPool(2), Live: slices.Repeat([]uint64{^uint64(1)}, 782)}
			to := make([]float64, 6)
			if n := testing.AllocsPerRun(20, func() { r.run(&o, columns, to[:0]) }); n != 0 {
				t.Errorf("%s, level %s: %g allocations", r.name, level, n)
			}
		}
	}
}
