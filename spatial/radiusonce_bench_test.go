package spatial_test

import (
	"fmt"
	"math"
	"testing"
	"time"

	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

// BenchmarkRadiusOnce is 200 queries, about 32 hits each, over points that are
// not indexed before: path=cheapest is what RadiusOnce chooses by itself, and the
// others show where streaming begins to pay. The metric min-us is the fastest of
// the repetitions, each with queries drawn anew.
func BenchmarkRadiusOnce(b *testing.B) {
	radius := float32(math.Cbrt(32 * 3 / (4 * math.Pi)))
	for _, n := range []int{2048, 16384, 65536, 131072, 262144, 1 << 20} {
		c := cloud(n, 2)
		for _, level := range native.Levels() {
			for _, path := range []string{"cheapest", "stream", "build"} {
				b.Run(fmt.Sprintf("n=%d/level=%s/path=%s", n, level, path), func(b *testing.B) {
					ix, err := spatial.New(spatial.Config{CellSize: radius, Level: level})
					if err != nil {
						b.Fatal(err)
					}
					var out spatial.Result
					switch path {
					case "stream":
						spatial.Force(&out, spatial.Streaming, spatial.MostHits)
					case "build":
						spatial.Force(&out, spatial.Building, spatial.MostHits)
					}
					benchmarkRadiusOnce(b, c, ix, radius, &out)
				})
			}
		}
	}
}

// BenchmarkRadiusOnceWorkers shows what a second worker gains.
func BenchmarkRadiusOnceWorkers(b *testing.B) {
	radius := float32(math.Cbrt(32 * 3 / (4 * math.Pi)))
	c := cloud(1<<20, 2)
	for _, workers := range []int{1, 2} {
		b.Run(fmt.Sprintf("workers=%d", workers), func(b *testing.B) {
			ix, err := spatial.New(spatial.Config{Workers: workers})
			if err != nil {
				b.Fatal(err)
			}
			var out spatial.Result
			benchmarkRadiusOnce(b, c, ix, radius, &out)
		})
	}
}

func benchmarkRadiusOnce(b *testing.B, c *crowd, ix *spatial.Index, radius float32, out *spatial.Result) {
	q := newQueries(200, spatial.BySlot)
	hits, best := 0, time.Hour
	for b.Loop() {
		for i := range q.X {
			q.X[i], q.Y[i], q.Z[i], q.Radius[i] = c.rng.Float32()*c.width, c.rng.Float32()*c.width, c.rng.Float32()*c.width, radius
		}
		start := time.Now()
		if err := ix.RadiusOnce(spatial.Columns{X: c.x, Y: c.y, Z: c.z, Slots: c.slots}, q, out); err != nil {
			b.Fatal(err)
		}
		best = min(best, time.Since(start))
		hits += len(out.Slots)
	}
	b.ReportMetric(float64(hits)/float64(b.N)/float64(len(q.X)), "hits/query")
	b.ReportMetric(float64(best.Nanoseconds())/1e3, "min-us")
}
