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

// crowd is a set of points in a square of the given width, height 0.
type crowd struct {
	x, y, z []float32
	slots   []uint32
	width   float32
	rng     *rand.Rand
}

func newCrowd(n int, width float32) *crowd {
	c := &crowd{x: make([]float32, n), y: make([]float32, n), z: make([]float32, n), width: width, rng: rand.New(rand.NewPCG(1, 2))}
	for i := range n {
		c.x[i], c.z[i] = c.rng.Float32()*width, c.rng.Float32()*width
		c.slots = append(c.slots, uint32(i))
	}
	return c
}

// ask draws new queries, as a simulation does: the branch predictor would
// learn a batch that repeats.
func (c *crowd) ask(q *spatial.Queries, radius float32) {
	for i := range q.X {
		q.X[i], q.Z[i], q.Radius[i] = c.rng.Float32()*c.width, c.rng.Float32()*c.width, radius
	}
}

func newQueries(n int, order spatial.Order) *spatial.Queries {
	return &spatial.Queries{X: make([]float32, n), Y: make([]float32, n), Z: make([]float32, n), Radius: make([]float32, n), Order: order}
}

// BenchmarkRadius is 200 queries over 2,000 points, about 33 hits each.
func BenchmarkRadius(b *testing.B) {
	c := newCrowd(2000, 200)
	for _, order := range orders {
		for _, level := range native.Levels() {
			b.Run(fmt.Sprintf("order=%s/level=%s", orderName(order), level), func(b *testing.B) {
				benchmarkRadius(b, c, spatial.Config{CellSize: 15, Level: level}, newQueries(200, order), nil)
			})
		}
	}
}

// BenchmarkWorkers shows from how many queries on a second worker pays.
func BenchmarkWorkers(b *testing.B) {
	c := newCrowd(2000, 200)
	for _, queries := range []int{128, 256, 512, 1024, 2048, 4096} {
		for _, workers := range []int{1, 2} {
			b.Run(fmt.Sprintf("queries=%d/workers=%d", queries, workers), func(b *testing.B) {
				benchmarkRadius(b, c, spatial.Config{CellSize: 15, Workers: workers}, newQueries(queries, spatial.BySlot), spatial.AlwaysParallel)
			})
		}
	}
}

func benchmarkRadius(b *testing.B, c *crowd, cfg spatial.Config, q *spatial.Queries, prepare func(*spatial.Index)) {
	ix, err := spatial.New(cfg)
	if err != nil {
		b.Fatal(err)
	}
	if prepare != nil {
		prepare(ix)
	}
	if err := ix.Build(c.x, c.y, c.z, c.slots); err != nil {
		b.Fatal(err)
	}
	hits := 0
	var out spatial.Result
	for b.Loop() {
		c.ask(q, 15)
		if err := ix.Radius(q, &out); err != nil {
			b.Fatal(err)
		}
		hits += len(out.Slots)
	}
	b.ReportMetric(float64(hits)/float64(b.N)/float64(len(q.X)), "hits/query")
	b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(hits), "ns/hit")
}

// cloud is n points in a cube of one cubic metre each: a sphere of two metres
// holds about 32 of them.
func cloud(n int, seed uint64) *crowd {
	c := newCrowd(n, float32(math.Cbrt(float64(n))))
	c.rng = rand.New(rand.NewPCG(1, seed))
	for i := range n {
		c.x[i], c.y[i], c.z[i] = c.rng.Float32()*c.width, c.rng.Float32()*c.width, c.rng.Float32()*c.width
	}
	return c
}

// BenchmarkBuild builds from several clouds in turn: the branch predictor and the
// caches would learn one that repeats.
func BenchmarkBuild(b *testing.B) {
	for _, n := range []int{2256, 16384, 1 << 20} {
		clouds := make([]*crowd, max(3, 65536/n))
		for i := range clouds {
			clouds[i] = cloud(n, uint64(i))
		}
		for _, level := range native.Levels() {
			b.Run(fmt.Sprintf("n=%d/level=%s", n, level), func(b *testing.B) {
				ix, err := spatial.New(spatial.Config{CellSize: 2, Level: level})
				if err != nil {
					b.Fatal(err)
				}
				for i := 0; b.Loop(); i++ {
					c := clouds[i%len(clouds)]
					if err := ix.Build(c.x, c.y, c.z, c.slots); err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/point")
			})
		}
	}
}

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

// BenchmarkFilters answers batches of 200 queries, drawn anew, with each filter and
// without, taking turns: the metric is the ratio of the medians. Filters let pass
// nearly everything, so that there is as much to write as without.
func BenchmarkFilters(b *testing.B) {
	for _, n := range []int{2256, 16384} {
		c := cloud(n, 3)
		ix, err := spatial.New(spatial.Config{CellSize: 1.3 * within32})
		if err != nil {
			b.Fatal(err)
		}
		if err := ix.Build(c.x, c.y, c.z, c.slots); err != nil {
			b.Fatal(err)
		}
		category, live := make([]uint32, n), make([]uint64, (n+63)/64)
		for i := range category {
			category[i] = 1 << (i % 32)
		}
		for i := range live {
			live[i] = ^uint64(0) << (i % 2)
		}
		ix.SetCategories(category)
		mask, exclude := make([]uint32, 200), make([]uint32, 200)
		for i := range mask {
			mask[i], exclude[i] = ^uint32(1<<(i%32)), uint32(i)
		}
		for name, filter := range map[string]func(q *spatial.Queries){
			"mask":    func(q *spatial.Queries) { q.Mask = mask },
			"live":    func(q *spatial.Queries) { q.Live = live },
			"exclude": func(q *spatial.Queries) { q.Exclude = exclude },
		} {
			b.Run(fmt.Sprintf("n=%d/filter=%s", n, name), func(b *testing.B) {
				plain, filtered := newQueries(200, spatial.Grid), newQueries(200, spatial.Grid)
				plain.SkipDist2, filtered.SkipDist2 = true, true
				filter(filtered)
				var times [2][]time.Duration
				var out spatial.Result
				for b.Loop() {
					for i, q := range []*spatial.Queries{plain, filtered} {
						for j := range q.X {
							q.X[j], q.Y[j], q.Z[j], q.Radius[j] = c.somewhere(), c.somewhere(), c.somewhere(), within32
						}
						start := time.Now()
						if err := ix.Radius(q, &out); err != nil {
							b.Fatal(err)
						}
						times[i] = append(times[i], time.Since(start))
					}
				}
				b.ReportMetric(float64(median(times[1]))/float64(median(times[0])), "×plain")
			})
		}
	}
}

// somewhere is a coordinate within the crowd.
func (c *crowd) somewhere() float32 { return float32(c.rng.Float32() * c.width) }

// within32 is the radius of a sphere with 32 points in it.
const within32 = 1.9695

func (c *crowd) index(b *testing.B, level native.Level) *spatial.Index {
	ix, err := spatial.New(spatial.Config{CellSize: within32, Level: level})
	if err != nil {
		b.Fatal(err)
	}
	if err := ix.Build(c.x, c.y, c.z, c.slots); err != nil {
		b.Fatal(err)
	}
	return ix
}

// ofClouds runs a benchmark over both sizes on every level.
func ofClouds(b *testing.B, sizes []int, do func(b *testing.B, c *crowd, ix *spatial.Index)) {
	for _, n := range sizes {
		c := cloud(n, 3)
		for _, level := range native.Levels() {
			b.Run(fmt.Sprintf("n=%d/level=%s", n, level), func(b *testing.B) { do(b, c, c.index(b, level)) })
		}
	}
}

// BenchmarkCount is 200 queries with about 32 hits each, fewer at the faces of
// the cube; they are drawn anew each time.
func BenchmarkCount(b *testing.B) {
	ofClouds(b, []int{2256, 16384}, func(b *testing.B, c *crowd, ix *spatial.Index) {
		q, counts := newQueries(200, spatial.Grid), make([]uint32, 200)
		hits := 0
		for b.Loop() {
			for i := range q.X {
				q.X[i], q.Y[i], q.Z[i], q.Radius[i] = c.somewhere(), c.somewhere(), c.somewhere(), within32
			}
			if err := ix.Count(q, counts); err != nil {
				b.Fatal(err)
			}
			for _, n := range counts {
				hits += int(n)
			}
		}
		b.ReportMetric(float64(hits)/float64(b.N)/200, "hits/query")
		b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/200, "ns/query")
	})
}

// BenchmarkOverlap is 200 cubes with about 32 points each.
func BenchmarkOverlap(b *testing.B) {
	const half = 1.5874 // of the side of a cube of 32 cubic metres
	ofClouds(b, []int{2256, 16384}, func(b *testing.B, c *crowd, ix *spatial.Index) {
		for _, order := range []spatial.Order{spatial.BySlot, spatial.Grid} {
			b.Run("order="+orderName(order), func(b *testing.B) {
				column := func() []float32 { return make([]float32, 200) }
				q := &spatial.Boxes{MinX: column(), MinY: column(), MinZ: column(), MaxX: column(), MaxY: column(), MaxZ: column(), Order: order}
				var out spatial.Result
				hits := 0
				for b.Loop() {
					for i := range q.MinX {
						x, y, z := c.somewhere(), c.somewhere(), c.somewhere()
						q.MinX[i], q.MinY[i], q.MinZ[i] = x-half, y-half, z-half
						q.MaxX[i], q.MaxY[i], q.MaxZ[i] = x+half, y+half, z+half
					}
					if err := ix.Overlap(q, &out); err != nil {
						b.Fatal(err)
					}
					hits += len(out.Slots)
				}
				b.ReportMetric(float64(hits)/float64(b.N)/200, "hits/query")
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/200, "ns/query")
			})
		}
	})
}

// BenchmarkRays is 200 rays through a cube of 16,384 spheres, from anywhere in it
// to anywhere, without end.
func BenchmarkRays(b *testing.B) {
	ofClouds(b, []int{16384}, func(b *testing.B, c *crowd, ix *spatial.Index) {
		radius := make([]float32, len(c.x))
		for i := range radius {
			radius[i] = float32(0.05 + 0.2*c.rng.Float32())
		}
		column := func() []float32 { return make([]float32, 200) }
		q := &spatial.Rays{OX: column(), OY: column(), OZ: column(), DX: column(), DY: column(), DZ: column(), MaxT: column()}
		slots, t := make([]uint32, 200), column()
		var out spatial.RayHits
		for _, mode := range []string{"closest", "all"} {
			b.Run("mode="+mode, func(b *testing.B) {
				hits := 0
				for b.Loop() {
					for i := range q.OX {
						q.OX[i], q.OY[i], q.OZ[i] = c.somewhere(), c.somewhere(), c.somewhere()
						q.DX[i], q.DY[i], q.DZ[i] = c.somewhere()-q.OX[i], c.somewhere()-q.OY[i], c.somewhere()-q.OZ[i]
						q.MaxT[i] = math.MaxFloat32
					}
					var err error
					if mode == "all" {
						err = ix.RayAll(radius, q, &out)
						hits += len(out.Slots)
					} else {
						err = ix.RayClosest(radius, q, slots, t)
						for _, s := range slots {
							if s != spatial.NoSlot {
								hits++
							}
						}
					}
					if err != nil {
						b.Fatal(err)
					}
				}
				b.ReportMetric(float64(hits)/float64(b.N)/200, "hits/ray")
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/200, "ns/ray")
			})
		}
	})
}

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
