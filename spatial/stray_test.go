package spatial_test

import (
	"fmt"
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/neighbours"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

// candidates returns the average number of points that a query of that radius around a
// point tests, from the occupancy of the cells.
func candidates(ix *spatial.Index, c throng, radius float32) float64 {
	total, asked := 0.0, 0
	for i := 0; i < len(c.x); i += 1 + len(c.x)/2000 {
		total += looksAt(ix, [3]float32{c.x[i], c.y[i], c.z[i]}, radius)
		asked++
	}
	return total / float64(asked)
}

// usual returns the median number of points that queries test: a few may meet a crowded cell.
func usual(ix *spatial.Index, c throng, radius float32) float64 {
	var each []float64
	for i := 0; i < len(c.x); i += 1 + len(c.x)/500 {
		each = append(each, looksAt(ix, [3]float32{c.x[i], c.y[i], c.z[i]}, radius))
	}
	slices.Sort(each)
	return each[len(each)/2]
}

// looksAt returns the number of points to be tested, counting each row of cells as sixteen,
// or of all points from the first row to the last where that is less.
func looksAt(ix *spatial.Index, centre [3]float32, radius float32) float64 {
	g, p := spatial.GridOf(ix), spatial.PointsOf(ix)
	var lo, hi [3]int32
	for a, v := range centre {
		lo[a], hi[a] = g.Cell(a, v-neighbours.Reach(radius)), g.Cell(a, v+neighbours.Reach(radius))
	}
	cell := func(x, y, z int32) int32 { return (z*g.N[1]+y)*g.N[0] + x }
	points, rows := uint32(0), uint32(0)
	for z := lo[2]; z <= hi[2]; z++ {
		for y := lo[1]; y <= hi[1]; y++ {
			points += p.Start[cell(hi[0], y, z)+1] - p.Start[cell(lo[0], y, z)]
			rows++
		}
	}
	all := p.Start[cell(hi[0], hi[1], hi[2])+1] - p.Start[cell(lo[0], lo[1], lo[2])]
	return float64(min(points+16*rows, all))
}

// throng is points, one a slot.
type throng struct {
	x, y, z []float32
	slots   []uint32
}

func throngOf(n int, point func(i int) [3]float32) throng {
	var c throng
	for i := range n {
		p := point(i)
		c.x, c.y, c.z, c.slots = append(c.x, p[0]), append(c.y, p[1]), append(c.z, p[2]), append(c.slots, uint32(i))
	}
	return c
}

func (c *throng) index(tb testing.TB, cell float32) *spatial.Index {
	tb.Helper()
	ix, err := spatial.New(spatial.Config{CellSize: cell})
	if err != nil {
		tb.Fatal(err)
	}
	if err := ix.Build(c.x, c.y, c.z, c.slots); err != nil {
		tb.Fatal(err)
	}
	return ix
}

// strays are points far from all others, which would lie in a cube of that edge.
var strays = map[string][][3]float32{
	"one below":            {{5, -1e3, 5}},
	"one fallen":           {{5, -1e4, 5}},
	"one far below":        {{5, -1e6, 5}},
	"one along the x axis": {{1e6, 5, 5}},
	"one far from all":     {{-1e6, -1e6, -1e6}},
	"one at the end":       {{3e38, -3e38, 3e38}},
	"a handful":            {{5, -1e4, 5}, {6, -2e4, 5}, {5, -3e5, 5}, {4, -1e6, 2}, {5, -1e7, 5}, {1, -1e3, 1}},
	"all directions":       {{5, -1e6, 5}, {5, 1e6, 5}, {1e6, 5, 5}, {-1e6, 5, 5}, {5, 5, 1e6}, {5, 5, -1e6}},
	"both ends":            {{3e38, 5, 5}, {-3e38, 5, 5}, {5, 3e38, 5}, {5, -3e38, 5}, {5, 5, 3e38}, {5, 5, -3e38}},
}

// Points far away increase the work of a query by half at most.
func TestStraysCostLittle(t *testing.T) {
	run := paritytest.Start(t, "strays")
	for _, n := range []int{2000, 16384, 65536} {
		if n > 20000 && testing.Short() {
			continue
		}
		edge := math.Cbrt(float64(n))
		c := throngOf(n, func(int) [3]float32 {
			return [3]float32{float32(run.Float64() * edge), float32(run.Float64() * edge), float32(run.Float64() * edge)}
		})
		for _, cell := range []float32{2, 0} {
			clean := candidates(c.index(t, cell), c, 2)
			for name, points := range strays { // order-free: each for itself
				with := throng{slices.Clone(c.x), slices.Clone(c.y), slices.Clone(c.z), c.slots}
				for i, p := range points {
					at := run.IntN(n/8) + i*n/8
					with.x[at], with.y[at], with.z[at] = p[0], p[1], p[2]
				}
				ix := with.index(t, cell)
				if got := candidates(ix, with, 2); got > 1.5*clean {
					t.Errorf("%d points, cell size %g, %s: a query looks at %.0f points, and at %.0f without; cell %g, grid %+v",
						n, cell, name, got, clean, ix.CellSize(), spatial.GridOf(ix))
				}
			}
		}
	}
}

// Sets that are dense in the middle and reach far, with a radius that finds about as many
// as in an even one, cost at most a few times as much as that.
func TestHeavyTailsCostLittle(t *testing.T) {
	run := paritytest.Start(t, "tails")
	const n = 16384
	cauchy := func() float32 { return float32(math.Tan(math.Pi * (run.Float64()*0.999998 + 1e-6 - 0.5))) }
	direction := func(length float64) [3]float32 {
		v := [3]float64{run.NormFloat64(), run.NormFloat64(), run.NormFloat64()}
		l := length / math.Sqrt(v[0]*v[0]+v[1]*v[1]+v[2]*v[2])
		return [3]float32{float32(v[0] * l), float32(v[1] * l), float32(v[2] * l)}
	}
	for _, s := range []struct {
		name   string
		radius float32
		point  func(int) [3]float32
	}{
		{"Cauchy", 0.5, func(int) [3]float32 { return [3]float32{cauchy(), cauchy(), cauchy()} }},
		{"Pareto 1", 3.4, func(int) [3]float32 { return direction(12.7 * math.Cbrt(run.Float64()) / (run.Float64() + 1e-9)) }},
		{"Pareto 2", 2.6, func(int) [3]float32 {
			return direction(12.7 * math.Cbrt(run.Float64()) / math.Sqrt(run.Float64()+1e-9))
		}},
		{"lognormal", 0.85, func(int) [3]float32 { return direction(12.7 * math.Exp(1.5*run.NormFloat64())) }},
		{"crossing lines, a stray", 1, func(i int) (p [3]float32) {
			if i == 0 {
				return [3]float32{-1e6, -1e6, -1e6}
			}
			p[i%3] = float32(run.Float64()*2000 - 1000)
			return p
		}},
		{"crossing beams, a stray", 1, func(i int) [3]float32 {
			if i == 0 {
				return [3]float32{-1e6, -1e6, -1e6}
			}
			p := [3]float32{float32(run.Float64() * 1e-3), float32(run.Float64() * 1e-3), float32(run.Float64() * 1e-3)}
			p[i%3] = float32(run.Float64()*2000 - 1000)
			return p
		}},
		{"flat", 1.6, func(int) [3]float32 { p := direction(20 / (run.Float64() + 1e-9)); return [3]float32{p[0], p[1], 0} }},
	} {
		c := throngOf(n, s.point)
		for _, cell := range []float32{s.radius, 0} {
			ix := c.index(t, cell)
			if got := candidates(ix, c, s.radius); got > 1000 {
				t.Errorf("%s, cell size %g: a query looks at %.0f points; cell %g, grid %+v", s.name, cell, got, ix.CellSize(), spatial.GridOf(ix))
			}
		}
	}
}

// heaps are positions of coincident points.
var heaps = map[string][][3]float32{
	"at the origin":  {{}},
	"aside":          {{310.5, 0, -20.25}},
	"at a corner":    {{500, 0, 500}},
	"two":            {{}, {-411, 0, 377}},
	"a line":         {{-400, 0, 3}, {-300, 0, 3}, {-200, 0, 3}, {-100, 0, 3}, {0, 0, 3}, {100, 0, 3}, {200, 0, 3}, {300, 0, 3}},
	"outside of all": {{-2000, 0, 2000}},
}

// With coincident points, which no cell separates, the other points have a grid about as
// good as alone: with strays, too, and however many are coincident.
func TestCoincidentPointsCostOthersLittle(t *testing.T) {
	run := paritytest.Start(t, "coincident")
	for _, n := range []int{1024, 40000} {
		for _, part := range []float64{0.5, 0.9, 0.94, 0.95, 0.97, 0.99} {
			others := n - int(float64(n)*part)
			if others < 30 || n > 20000 && (!long || testing.Short()) {
				continue
			}
			for name, at := range heaps { // order-free: each for itself
				for _, height := range []float64{0, 600} {
					c := throngOf(others, func(int) [3]float32 {
						return [3]float32{float32(run.Float64()*1000 - 500), float32((run.Float64() - 0.5) * height), float32(run.Float64()*1000 - 500)}
					})
					radius := float32(math.Sqrt(1e6 / float64(others)))
					if height > 0 {
						radius = float32(math.Cbrt(1e6*height/float64(others)) / 2)
					}
					far := c.awayFrom(at, radius+radius/4)
					for _, stray := range []bool{false, true} {
						with := c.heaped(n, at, stray)
						for _, cell := range []float32{0, radius} {
							alone := usual(c.index(t, cell), far, radius)
							ix := with.index(t, cell)
							got := usual(ix, far, radius)
							if !(got <= 4*alone+600) {
								t.Errorf("%d points, %g of them coincident (%s), %g high, stray %t, cell size %g: a query looks at %.0f points, and at %.0f without these; cell %g, grid %+v",
									n, part, name, height, stray, cell, got, alone, ix.CellSize(), spatial.GridOf(ix))
							}
						}
					}
				}
			}
		}
	}
}

// awayFrom returns the points that are farther than that from each place along an axis.
func (c *throng) awayFrom(places [][3]float32, distance float32) throng {
	var far throng
	for i := range c.x {
		near := func(p [3]float32) bool {
			return max(p[0]-c.x[i], c.x[i]-p[0], p[1]-c.y[i], c.y[i]-p[1], p[2]-c.z[i], c.z[i]-p[2]) <= distance
		}
		if !slices.ContainsFunc(places, near) {
			far.x, far.y, far.z = append(far.x, c.x[i]), append(far.y, c.y[i]), append(far.z, c.z[i])
		}
	}
	return far
}

// heaped returns the points and more, n in all: one far away with stray, and
// the rest at the positions in turn.
func (c *throng) heaped(n int, places [][3]float32, stray bool) throng {
	return throngOf(n, func(i int) [3]float32 {
		switch {
		case i < len(c.x):
			return [3]float32{c.x[i], c.y[i], c.z[i]}
		case stray && i == len(c.x):
			return [3]float32{-1e6, 0, 3}
		}
		return places[i%len(places)]
	})
}

// The grid depends on the points, not on their slots.
func TestGridIgnoresSlots(t *testing.T) {
	run := paritytest.Start(t, "grid and slots")
	for i := range paritytest.Families {
		s := paritytest.Families[i].Draw(run, 4000, 0)
		for _, cell := range []float32{0, s.Scale, float32(s.Scale / 8)} {
			want := spatial.GridOf(build(t, spatial.Config{CellSize: cell}, s))
			order, other := run.Perm(len(s.X)), &paritytest.Scene{}
			for i, from := range order {
				other.X, other.Y, other.Z = append(other.X, s.X[from]), append(other.Y, s.Y[from]), append(other.Z, s.Z[from])
				other.Slots = append(other.Slots, uint32(2*i))
			}
			for _, level := range native.Levels() {
				run.Case(level)
				if got := spatial.GridOf(build(t, spatial.Config{CellSize: cell, Level: level}, other)); got != want {
					t.Errorf("%s, cell size %g, level %s: %+v, and %+v in another order", s.Name, cell, level, got, want)
				}
			}
		}
	}
}

// A fixed case has points outside the core, so that the tests above cover them.
func TestStrayLiesOutsideTheCore(t *testing.T) {
	c := throngOf(2000, func(i int) [3]float32 { return [3]float32{float32(i % 13), float32(i / 13 % 13), float32(i / 169)} })
	c.y[7] = -1e6
	ix := c.index(t, 2)
	g := spatial.GridOf(ix)
	if ix.CellSize() != 2 || g.Low[1] == 0 || g.Low[0]+g.Low[2]+g.High[0]+g.High[2] != 0 {
		t.Errorf("cell size %g, grid %+v", ix.CellSize(), g)
	}
	var out spatial.Result
	q := &spatial.Queries{X: []float32{c.x[7]}, Y: []float32{-1e6}, Z: []float32{c.z[7]}, Radius: []float32{1}}
	if err := ix.Radius(q, &out); err != nil || !slices.Equal(out.Row(0), []uint32{7}) {
		t.Errorf("around the stray: %v, %v", out.Slots, err)
	}
	if got := fmt.Sprint(g.Cell(1, -1e6), g.Cell(1, 0)); got != fmt.Sprint(0, g.Low[1]) {
		t.Errorf("the stray and the others are in cells %s", got)
	}
}
