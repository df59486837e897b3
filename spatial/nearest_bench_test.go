package spatial_test

import (
	"fmt"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

// BenchmarkKNN is 1,024 queries at random places over points spread evenly in a
// cube, one a cubic metre; queries are drawn anew for every batch.
func BenchmarkKNN(b *testing.B) {
	for _, n := range []int{2256, 16384} {
		for _, k := range []int{1, 8, 16, 64} {
			for _, level := range native.Levels() {
				b.Run(fmt.Sprintf("n=%d/k=%d/level=%s", n, k, level), func(b *testing.B) { benchmarkKNN(b, n, k, level) })
			}
		}
	}
}

func benchmarkKNN(b *testing.B, n, k int, level native.Level) {
	rng := rand.New(rand.NewPCG(1, 2))
	width := float32(13.1)
	if n == 16384 {
		width = 25.4
	}
	draw := func(s []float32) {
		for i := range s {
			s[i] = rng.Float32() * width
		}
	}
	x, y, z, slots := make([]float32, n), make([]float32, n), make([]float32, n), make([]uint32, n)
	draw(x)
	draw(y)
	draw(z)
	for i := range slots {
		slots[i] = uint32(i)
	}
	ix, err := spatial.New(spatial.Config{Level: level})
	if err != nil {
		b.Fatal(err)
	}
	if err := ix.Build(x, y, z, slots); err != nil {
		b.Fatal(err)
	}
	const queries = 1024
	q := &spatial.NearestQueries{X: make([]float32, queries), Y: make([]float32, queries), Z: make([]float32, queries), K: k}
	var out spatial.Result
	for b.Loop() {
		b.StopTimer()
		draw(q.X)
		draw(q.Y)
		draw(q.Z)
		b.StartTimer()
		if err := ix.KNN(q, &out); err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/queries, "ns/query")
}
