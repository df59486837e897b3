package spatial_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

// hardSets are point sets on which a grid can lose against testing every point.
var hardSets = []struct {
	name string
	draw func(r *rand.Rand, i int) [3]float32
}{
	{"uniform", func(r *rand.Rand, _ int) [3]float32 {
		return [3]float32{25 * r.Float32(), 25 * r.Float32(), 25 * r.Float32()}
	}},
	{"outlier", func(r *rand.Rand, i int) [3]float32 {
		if i == 0 {
			return [3]float32{1e30, -1e30, 1e30}
		}
		return [3]float32{25 * r.Float32(), 25 * r.Float32(), 25 * r.Float32()}
	}},
	{"blobs", func(r *rand.Rand, i int) [3]float32 {
		b := float32(i % 64)
		return [3]float32{100*b + r.Float32(), 7*b*b + r.Float32(), 1000*float32(i%8) + r.Float32()}
	}},
	{"spot", func(*rand.Rand, int) [3]float32 { return [3]float32{3, 3, 3} }},
	{"axis y", func(r *rand.Rand, _ int) [3]float32 { return [3]float32{0, 16384 * r.Float32(), 0} }},
	{"axis z", func(r *rand.Rand, _ int) [3]float32 { return [3]float32{0, 0, 16384 * r.Float32()} }},
	{"two places", func(_ *rand.Rand, i int) [3]float32 { return [3]float32{float32(i%2) * 1e6, 0, float32(i%2) * 1e6} }},
	{"diagonal", func(r *rand.Rand, _ int) [3]float32 { d := 1000 * r.Float32(); return [3]float32{d, d, d} }},
}

// BenchmarkHardSets answers queries at points with an index and, taking turns,
// with an index of one cell, which tests every point. The ratio of the medians is
// reported: at 2 the index would take twice as long.
func BenchmarkHardSets(b *testing.B) {
	const n, queries = 16384, 64
	for _, set := range hardSets {
		for name, radius := range map[string]func(r *rand.Rand) float32{
			"small": func(*rand.Rand) float32 { return 0.5 },
			"large": func(*rand.Rand) float32 { return 400 },
			"mixed": func(r *rand.Rand) float32 { return float32(math.Exp(r.Float64()*100 - 12)) },
		} {
			b.Run(fmt.Sprintf("%s/radius=%s", set.name, name), func(b *testing.B) {
				rng := rand.New(rand.NewPCG(1, 2))
				x, y, z, slots := make([]float32, n), make([]float32, n), make([]float32, n), make([]uint32, n)
				for i := range x {
					p := set.draw(rng, i)
					x[i], y[i], z[i], slots[i] = p[0], p[1], p[2], uint32(i)
				}
				var times [2][]time.Duration
				var out [2]spatial.Result
				q := newQueries(queries, spatial.Grid)
				q.SkipDist2 = true
				indexes := [2]*spatial.Index{}
				for i, cell := range []float32{0.5, math.MaxFloat32} {
					indexes[i], _ = spatial.New(spatial.Config{CellSize: cell, Level: native.Auto})
					if err := indexes[i].Build(x, y, z, slots); err != nil {
						b.Fatal(err)
					}
				}
				for b.Loop() {
					for i := range q.X {
						s := rng.IntN(n)
						q.X[i], q.Y[i], q.Z[i], q.Radius[i] = x[s], y[s], z[s], radius(rng)
					}
					for i, ix := range indexes {
						start := time.Now()
						if err := ix.Radius(q, &out[i]); err != nil {
							b.Fatal(err)
						}
						times[i] = append(times[i], time.Since(start))
					}
				}
				b.ReportMetric(float64(median(times[0]))/float64(median(times[1])), "×brute")
			})
		}
	}
}

func median(d []time.Duration) time.Duration {
	slices.Sort(d)
	return d[len(d)/2]
}
