package spatial_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

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

// ask draws the queries anew, as a simulation does: the branch predictor would
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
