package neighbours_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/neighbours"
	"github.com/evertick/evertick/native"
)

// BenchmarkStream streams points of density 1 past 200 queries with 32 points
// within on average, drawn anew each time.
func BenchmarkStream(b *testing.B) {
	for _, n := range []int{16384, 131072, 1 << 20} {
		rng := rand.New(rand.NewPCG(1, 2))
		edge := float32(math.Cbrt(float64(n)))
		draw := func(s []float32) {
			for i := range s {
				s[i] = rng.Float32() * edge
			}
		}
		c := &neighbours.Columns{X: make([]float32, n), Y: make([]float32, n), Z: make([]float32, n), Slots: make([]uint32, n)}
		draw(c.X)
		draw(c.Y)
		draw(c.Z)
		for i := range c.Slots {
			c.Slots[i] = uint32(i)
		}
		const queries = 200
		q := &neighbours.Queries{X: make([]float32, queries), Y: make([]float32, queries), Z: make([]float32, queries), Radius: make([]float32, queries)}
		for i := range q.Radius {
			q.Radius[i] = float32(math.Cbrt(32 * 3 / (4 * math.Pi)))
		}
		h := &neighbours.Hits{Query: make([]uint32, 1<<16), Slot: make([]uint32, 1<<16), Dist2: make([]float32, 1<<16)}
		var s neighbours.Sieve
		for _, level := range native.Levels() {
			b.Run(fmt.Sprintf("n=%d/level=%s", n, level), func(b *testing.B) {
				for b.Loop() {
					draw(q.X)
					draw(q.Y)
					draw(q.Z)
					s.Lay(q, n)
					h.Fill = 0
					for at := 0; at < n; {
						end := min(at+8192, n)
						_, stop := neighbours.Stream(level, &s, c, at, end, h)
						if stop != neighbours.Done {
							b.Fatal("stopped")
						}
						p := neighbours.Position{At: at}
						if !neighbours.Sweep(level, &s, c, &p, end, h) {
							b.Fatal("stopped")
						}
						at = end
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/point")
				b.ReportMetric(float64(h.Fill), "hits")
			})
		}
	}
}

// BenchmarkSieve lays 200 queries.
func BenchmarkSieve(b *testing.B) {
	rng := rand.New(rand.NewPCG(1, 2))
	const queries = 200
	q := &neighbours.Queries{X: make([]float32, queries), Y: make([]float32, queries), Z: make([]float32, queries), Radius: make([]float32, queries)}
	var s neighbours.Sieve
	for b.Loop() {
		for i := range q.X {
			q.X[i], q.Y[i], q.Z[i], q.Radius[i] = rng.Float32()*101, rng.Float32()*101, rng.Float32()*101, 1.97
		}
		s.Lay(q, 1<<20)
	}
	b.ReportMetric(float64(s.Cells()), "cells")
}
