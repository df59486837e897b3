package spatial_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

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
