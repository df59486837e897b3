package native_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/stagger"
	"github.com/evertick/evertick/native"
)

// staggered allocates columns of n rows as a world does.
func staggered(columns, n int) [][]float32 {
	stride := stagger.Stride(4 * n)
	mem := stagger.Bytes(columns*stride, 0)
	all := make([][]float32, columns)
	for k := range all {
		all[k] = stagger.View[float32](mem[k*stride : k*stride+4*n : k*stride+4*n])
	}
	return all
}

// benchArgs returns arguments that stay ordinary numbers however often an operation
// is repeated.
func benchArgs(b *testing.B, c *opCase, n int) *opArgs {
	run := paritytest.Start(b, c.name)
	columns := staggered(c.out+c.in, n)
	for _, column := range columns {
		for i := range column {
			column[i] = run.Float32() - 0.5
		}
	}
	a := &opArgs{out: columns[:c.out], in: columns[c.out:]}
	switch c.name {
	case "Scale", "Affine", "Affine in place", "ClampLength":
		a.numbers = [4]float32{1}
	case "Wrap", "Clamp":
		a.numbers = [4]float32{-0.25, 0.25}
	default:
		a.numbers = [4]float32{1e-6}
	}
	return a
}

// Operations on staggered columns, with kernels for any number of rows: where the line
// of a level crosses that of level=go, the plain loop, a kernel is worth its call.
func BenchmarkOps(b *testing.B) {
	for _, c := range opCases {
		for _, n := range []int{64, 4096, 16384} {
			for _, level := range native.Levels() {
				b.Run(fmt.Sprintf("op=%s/n=%d/level=%s", c.name, n, level), func(b *testing.B) {
					benchOps(b, &c, benchArgs(b, &c, n), native.Ops{Level: level}, n)
				})
			}
		}
	}
}

func benchOps(b *testing.B, c *opCase, a *opArgs, o native.Ops, n int) {
	o = native.WithKernels(o)
	for b.Loop() {
		if err := c.run(&o, a); err != nil {
			b.Fatal(err)
		}
	}
	rows := float64(n) * float64(b.N)
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/rows, "ns/row")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/rows/float64(c.out+c.in), "ns/row/column")
}

// What a bitmap costs: none, one that names every row, and ones that name nine rows of
// ten, half of them and one of ten, at random.
func BenchmarkOpsLive(b *testing.B) {
	const n = 16384
	for _, c := range opCases {
		if c.name != "Integrate" && c.name != "Move" {
			continue
		}
		for _, percent := range []int{-1, 100, 90, 50, 10} {
			for _, level := range native.Levels() {
				b.Run(fmt.Sprintf("op=%s/live=%d/level=%s", c.name, percent, level), func(b *testing.B) {
					benchOps(b, &c, benchArgs(b, &c, n), native.Ops{Level: level, Live: share(b, n, percent)}, n)
				})
			}
		}
	}
}

// share returns a bitmap that names that many rows of a hundred; nil below 0.
func share(b *testing.B, n, percent int) []uint64 {
	if percent < 0 {
		return nil
	}
	run := paritytest.Start(b, "Live")
	words := make([]uint64, (n+63)/64)
	for i := range n {
		if run.IntN(100) < percent {
			words[i/64] |= 1 << (i % 64)
		}
	}
	if percent == 100 {
		words[len(words)-1] = math.MaxUint64
	}
	return words
}
