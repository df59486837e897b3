package native_test

import (
	"fmt"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// Reductions and movers on staggered columns; those that take an index have one in
// random order.
func BenchmarkReductions(b *testing.B) {
	for _, r := range reductions {
		for _, n := range []int{64, 16384} {
			columns, to := ordinary(b, r.columns, n), make([]float64, 6)
			eachLevel(b, r.name, n, func(o *native.Ops) error {
				_, err := r.run(o, columns, to[:0])
				return err
			})
		}
	}
}

func BenchmarkMovers(b *testing.B) {
	for _, m := range movers {
		for _, n := range []int{64, 16384} {
			columns, out := ordinary(b, m.columns, n), make([]float32, m.width*n)
			run, index := paritytest.Start(b, m.name), make([]uint32, n)
			for i := range index {
				index[i] = run.Uint32N(uint32(n))
			}
			eachLevel(b, m.name, n, func(o *native.Ops) error { return m.run(o, out, columns, index) })
		}
	}
}

// ordinary returns columns of numbers between -0.5 and 0.5.
func ordinary(b *testing.B, columns, n int) [][]float32 {
	run, all := paritytest.Start(b, "Columns"), staggered(columns, n)
	for _, column := range all {
		for i := range column {
			column[i] = run.Float32() - 0.5
		}
	}
	return all
}

func eachLevel(b *testing.B, name string, n int, run func(o *native.Ops) error) {
	for _, level := range native.Levels() {
		b.Run(fmt.Sprintf("op=%s/n=%d/level=%s", name, n, level), func(b *testing.B) {
			o := native.WithKernels(native.Ops{Level: level})
			for b.Loop() {
				if err := run(&o); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(n)/float64(b.N), "ns/row")
		})
	}
}
