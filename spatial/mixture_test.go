package spatial_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/spatial"
)

// A mixture is clusters of equal density, in a plane or in space, apart from each other, with a few points anywhere in the
// box of all, or far outside.
type mixture struct {
	name   string
	all    throng
	one    throng // as many points in one cluster
	radius float32
}

func drawMixture(run *paritytest.Run, n int) *mixture {
	dims, clusters := 2+run.IntN(2), 2+run.IntN(4)
	farthest := math.Pow(10, 2+4*run.Float64())
	shares, sum := make([]float64, clusters), 0.0
	for i := range shares {
		shares[i] = 0.04 + run.ExpFloat64()
		sum += shares[i]
	}
	astray := []float64{0, 0.01, 0.02, 0.05}[run.IntN(4)]
	far := 1.0
	if run.IntN(3) == 0 {
		far = 10
	}
	m := &mixture{name: fmt.Sprintf("%d points, %d clusters, %d axes, %.0f m, %g astray within %g", n, clusters, dims, farthest, astray, far)}
	width := func(share float64) float64 { return math.Pow(share*float64(n), 1/float64(dims)) }
	type cube struct{ corner, width [3]float64 }
	var cubes []cube
	for i := range shares {
		shares[i] /= sum
		for try := 0; ; try++ {
			c := cube{}
			for a := range dims {
				c.width[a] = width(shares[i])
				c.corner[a] = (run.Float64() - 0.5) * farthest * math.Pow(1.2, float64(try))
			}
			apart := true
			for _, o := range cubes {
				between := 0.0
				for a := range dims {
					between = max(between, c.corner[a]-o.corner[a]-o.width[a], o.corner[a]-c.corner[a]-c.width[a])
				}
				apart = apart && between > 2
			}
			if apart {
				cubes = append(cubes, c)
				break
			}
		}
	}
	draw := func(c *cube) (p [3]float32) {
		for a := range p {
			p[a] = float32(c.corner[a] + run.Float64()*c.width[a])
		}
		return p
	}
	whole := cube{}
	for a := range dims {
		whole.corner[a], whole.width[a] = -farthest*far, 2*farthest*far
	}
	m.all = throngOf(n, func(int) [3]float32 {
		if run.Float64() < astray {
			return draw(&whole)
		}
		at, i := run.Float64(), 0
		for ; i+1 < clusters && at > shares[i]; i++ {
			at -= shares[i]
		}
		return draw(&cubes[i])
	})
	one := cube{}
	for a := range dims {
		one.width[a] = width(1)
	}
	m.one = throngOf(n, func(int) [3]float32 { return draw(&one) })
	m.radius = []float32{0, 0, 2.5, 1.7}[dims] * []float32{0.5, 1, 1.6}[run.IntN(3)] // about 3, 20 or 60 neighbours
	return m
}

// Any mixture of clusters makes a query look at no more than three times as many points and rows as one cluster of as many
// points.
func TestMixturesCostLittle(t *testing.T) {
	run := paritytest.Start(t, "mixtures")
	for range rounds(20, 400) {
		m := drawMixture(run, []int{2000, 8000, 40000}[run.IntN(3)])
		for _, cell := range []float32{0, m.radius, 2 * m.radius} {
			ix := m.all.index(t, cell)
			with, alone := candidates(ix, m.all, m.radius), candidates(m.one.index(t, cell), m.one, m.radius)
			if with > 3*alone {
				t.Errorf("%s, cell size %g: a query looks at %.0f points, and at %.0f in one cluster; cell %g, %v cells, %v pieces", m.name, cell, with, alone, ix.CellSize(), spatial.GridOf(ix).N, spatial.GridOf(ix).Pieces)
			}
		}
	}
}

// The same of some mixtures that are met in every run, most of which need axes with pieces: two equal towns far from
// each other, a small second one, five in space with points astray, and fifty.
func TestTownsHaveSmallCells(t *testing.T) {
	run := paritytest.Start(t, "towns")
	const n = 20000
	for _, c := range []struct {
		name   string
		towns  int
		second float64 // its share, of two
		far    float64
		height float64
		astray float64
	}{
		{"two equal", 2, 0.5, 140_000, 0, 0}, {"a second one", 2, 0.04, 14_000, 0, 0}, {"two, some astray", 2, 0.3, 1e6, 0, 0.05},
		{"five in space", 5, 0, 50_000, 1, 0.02}, {"fifty", 50, 0, 20_000, 0, 0},
	} {
		var at [50][3]float64
		for i := range at {
			at[i] = [3]float64{run.Float64() * c.far, run.Float64() * c.far, run.Float64() * c.far * c.height}
		}
		if c.towns == 2 {
			at[0], at[1] = [3]float64{}, [3]float64{c.far, c.far, 0}
		}
		dims := 2 + c.height
		draw := func(towns int) throng {
			return throngOf(n, func(int) (p [3]float32) {
				i, share := run.IntN(towns), 1/float64(towns)
				if towns == 2 {
					if i, share = 0, 1-c.second; run.Float64() < c.second {
						i, share = 1, c.second
					}
				}
				width := math.Pow(share*n, 1/dims)
				for a := range int(dims) {
					p[a] = float32(at[i][a] + run.Float64()*width)
					if towns > 1 && run.Float64() < c.astray {
						p[a] = float32(run.Float64() * c.far)
					}
				}
				return p
			})
		}
		towns, one := draw(c.towns), draw(1)
		for _, cell := range []float32{0, 2} {
			ix := towns.index(t, cell)
			with, alone := candidates(ix, towns, 2), candidates(one.index(t, cell), one, 2)
			if g := spatial.GridOf(ix); with > 3*alone || c.second != 0.04 && min(g.Pieces[0], g.Pieces[1]) < 2 { // a small town may be among the tails
				t.Errorf("%s, cell size %g: a query looks at %.0f points, and at %.0f in one town; cell %g, %v cells, %v pieces", c.name, cell, with, alone, ix.CellSize(), g.N, g.Pieces)
			}
		}
	}
}
