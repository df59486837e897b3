package native_test

import (
	"fmt"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

func BenchmarkIntegrate(b *testing.B) {
	for _, n := range []int{16, 64, 1024, 16384} {
		for _, level := range native.Levels() {
			b.Run(fmt.Sprintf("n=%d/level=%s", n, level), func(b *testing.B) {
				pos, vel := make([]float32, n), make([]float32, n)
				paritytest.Start(b, "Integrate").Fill(vel, paritytest.Uniform)
				b.SetBytes(int64(12 * n))
				for b.Loop() {
					native.Integrate(level, pos, vel, 1./60)
				}
			})
		}
	}
}

func BenchmarkPool(b *testing.B) {
	for _, workers := range []int{1, 2, 4} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			p, task := native.NewPool(workers), &addTask{}
			for b.Loop() {
				if err := p.Run(40, task); err != nil {
					b.Fatal(err)
				}
			}
		})
	}
}
