package rigid3

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/vec"
	"github.com/evertick/evertick/native"
)

// The tree finds what the oracle finds, which tests every shape, after Build and after Refit.
func TestRaysAgainstTheOracle(t *testing.T) {
	run := paritytest.Start(t, "Rays3")
	var tree QueryTree
	var memory RayMemory
	total := 0
	for range paritytest.Sample(30) {
		for _, n := range []int{0, 1, 2, 15, 16, 17, 100, 257, 700} {
			half := within(run.Rand, 1, 20)
			c := newCrowd(run.Rand, n, half)
			if run.IntN(3) == 0 {
				c.spoil(run)
			}
			tree.Build(native.Auto, &c.Scene)
			for refit := range 2 {
				if share := run.IntN(4); share > 0 { // Go casts against some, or all
					for i := range tree.rows {
						if run.IntN(share) == 0 {
							tree.rows[i].kind = KindSurface
						}
					}
				}
				in := c.rays(run.Rand, 30, half)
				ends, wantEnds := make([]uint32, len(in)), make([]uint32, len(in))
				want := c.CastRaysOracle(in, wantEnds, nil)
				total += len(want)
				for _, level := range native.Levels() {
					run.Case(level)
					got := tree.CastRaysAll(level, in, ends, nil)
					if !slices.Equal(got, want) || !slices.Equal(ends, wantEnds) {
						run.Check(fmt.Errorf("refit %d, %d shapes: hits %v, want %v", refit, n, got, want))
					}
					closest, hit := make([]RayHit, len(in)), make([]RayHit, len(in))
					tree.CastRaysClosest(level, in, closest, &memory)
					tree.CastRaysAny(level, in, hit, &memory)
					from := uint32(0)
					for i, end := range ends {
						first := RayHit{T: in[i].MaxT, Shape: NoShape, Point: in[i].end()}
						if end > from {
							first = want[from]
						}
						if found := hit[i].Shape != NoShape; closest[i] != first || found != (end > from) || found && !slices.Contains(want[from:end], hit[i]) {
							run.Check(fmt.Errorf("ray %d: hit %v, %v, want %v", i, hit[i], closest[i], first))
						}
						from = end
					}
				}
				for i := range c.Poses {
					if run.IntN(2) == 0 {
						c.Poses[i].P.X += 1
					}
				}
				same := run.IntN(2) == 0
				if !same && n > 0 {
					c.Shapes[run.IntN(n)] = randomShape(run.Rand)
				}
				tree.Refit(native.Auto, &c.Scene, same)
			}
		}
	}
	t.Logf("%d hits", total)
}

// Rays against one shape, by brute force in float64. What a ray hits is what enters the shape by more than rounding; the point is on the surface,
// and the normal is the gradient of the distance.
func TestRaysMeetSurfaces(t *testing.T) {
	run := paritytest.Start(t, "RaySurfaces3")
	rounds := paritytest.Rounds(10_000)
	if paritytest.Long() {
		rounds = 100_000
	}
	hits, inside, misses := 0, 0, 0
	for range rounds {
		c := newCrowd(run.Rand, 1, 5)
		s, p := &c.Shapes[0], &c.Poses[0]
		if s.Kind == KindNone {
			continue
		}
		r := &c.rays(run.Rand, 1, 5)[0]
		if run.IntN(4) > 0 { // at the shape, now and then from far away
			r.O = r.O.Times(float32(math.Exp(within(run.Rand, 0, 6))))
			r.D = p.P.Add(Vec{float32(run.NormFloat64()), float32(run.NormFloat64()), float32(run.NormFloat64())}.Times(.5)).Sub(r.O)
		}
		if r.D.length() < 1e-6 {
			continue
		}
		r.MaxT = 2
		r.Exclude, r.Category, r.Mask, r.Flags = NoShape, ^uint64(0), ^uint64(0), IncludeSensors
		r.prepare()
		row := c.CastRaysOracle([]Ray{*r}, make([]uint32, 1), nil)
		o := newSolid(s, p)
		at := func(t float64) [3]float64 { return vec.Add(wide(r.O), vec.Scale(wide(r.D), t)) }
		entry, depth := o.entry(at, float64(r.MaxT))
		const tolerance = 3e-6 // planes and shapes are float32
		switch {
		case len(row) == 0:
			misses++
			if depth < -tolerance {
				t.Fatalf("%+v passes %+v at %+v, at most %g inside", r, s, p, -depth)
			}
		case row[0].Normal == Vec{}:
			inside++
			if d := o.distance(at(0)); row[0].T != 0 || d > tolerance || row[0].Point != r.O {
				t.Fatalf("%+v begins %g from %+v: %+v", r, d, s, row[0])
			}
		default:
			hits++
			h := &row[0]
			if depth > tolerance {
				t.Fatalf("%+v meets %+v at %+v, %g outside", r, s, h, depth)
			}
			size := float64(max(abs(h.Point.X), abs(h.Point.Y), abs(h.Point.Z), 1))
			if d := o.distance(wide(h.Point)); math.Abs(d) > tolerance*size {
				t.Fatalf("%+v meets %+v at %+v: %g from the surface", r, s, h, d)
			}
			// By how much the entry can differ depends on how steep the ray enters.
			steep := -vec.Dot(wide(h.Normal), wide(r.D))
			if want := float64(float32(entry)); steep > 0 && math.Abs(float64(h.T)-want)*steep > tolerance+math.Abs(want)*steep*0x1p-22 && depth < -1e-4 {
				t.Fatalf("%+v meets %+v at %+v, want %g, %g inside", r, s, h, entry, depth)
			}
			const step = 1e-3
			if d := o.distance(vec.Add(wide(h.Point), vec.Scale(wide(h.Normal), step))); math.Abs(d-step) > tolerance*size {
				t.Fatalf("%+v meets %+v at %+v: %g from the surface a millimetre along the normal", r, s, h, d)
			}
		}
	}
	t.Logf("%d hits, %d begin inside, %d misses", hits, inside, misses)
	if hits < rounds/4 || inside < rounds/50 || misses < rounds/20 {
		t.Error("too few of a kind")
	}
}

// Rays in the planes and along the edges of shapes, through their corners and centres: an exact grid. A ray that goes through the middle of a shape
// hits it, and one that is more than rounding away does not.
func TestRaysOnGrids(t *testing.T) {
	grid := []float32{-1, -.5, 0, .5, 1}
	for _, s := range []*Shape{box(1, 1, 1), box(.5, 1, 1), ball(1), upright(.5, .5)} {
		for _, radius := range []float32{0, .5} {
			if s.Kind == KindBox {
				s.Radius = radius
			}
			o := newSolid(s, &origin)
			c := one(s, &origin)
			for _, x := range grid {
				for _, y := range grid {
					for _, d := range []Vec{{0, 0, 8}, {0, 0, -8}, {4, 0, 8}, {4, 4, -8}} {
						r := Ray{O: Vec{x, y, 0}.Sub(d.Times(.5)), D: d, MaxT: 1, Category: 1, Mask: 1, Exclude: NoShape}
						r.prepare()
						_, depth := o.entry(func(t float64) [3]float64 { return vec.Add(wide(r.O), vec.Scale(wide(r.D), t)) }, 1)
						row := c.CastRaysOracle([]Ray{r}, make([]uint32, 1), nil)
						if len(row) == 0 && depth < -1e-9 || len(row) > 0 && depth > 1e-9 {
							t.Errorf("%+v against %+v: %d hits, %g", r, s, len(row), depth)
						}
					}
				}
			}
		}
	}
}

// one is a scene of one shape.
func one(s *Shape, pose *Pose) *crowd {
	c := &crowd{Scene: Scene{Shapes: []Shape{*s}, Poses: []Pose{*pose}, Sensors: make([]bool, 1), Hulls: &testHulls}}
	c.filters.Body, c.filters.Category, c.filters.Mask = []uint32{0}, []uint64{1}, []uint64{1}
	c.Filters = &c.filters
	return c
}

// A ray of 2^40 m hits a ball to which it is aimed, in a point on its surface.
func TestLongRays(t *testing.T) {
	for _, s := range []*Shape{ball(.5), upright(.5, 1), box(.5, .5, .5)} {
		for _, length := range []float32{1e3, 1e6, 0x1p40} {
			c := one(s, at(0, 0, 0))
			r := Ray{O: Vec{-8, 0, 0}, D: Vec{length, 0, 0}, MaxT: 1, Category: 1, Mask: 1, Exclude: NoShape}
			back := Ray{O: Vec{length, 0, 0}, D: Vec{-length, 0, 0}, MaxT: 2, Category: 1, Mask: 1, Exclude: NoShape}
			r.prepare()
			back.prepare()
			row := c.CastRaysOracle([]Ray{r, back}, make([]uint32, 2), nil)
			if len(row) != 2 || row[0].Point != (Vec{-.5, 0, 0}) || row[1].Point != (Vec{.5, 0, 0}) || row[1].Normal != (Vec{X: 1}) {
				t.Errorf("%v: %+v", length, row)
			}
		}
	}
}

// Building again and asking again needs no more memory.
func TestQueryTreeAllocatesNothingAgain(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate")
	}
	rng := rand.New(rand.NewPCG(3, 4))
	c := newCrowd(rng, 500, 10)
	var tree QueryTree
	var memory RayMemory
	rays, out := c.rays(rng, 50, 10), make([]RayHit, 50)
	if n := testing.AllocsPerRun(10, func() {
		tree.Build(native.Auto, &c.Scene)
		tree.Refit(native.Auto, &c.Scene, true)
		tree.CastRaysClosest(native.Auto, rays, out, &memory)
	}); n > 0 {
		t.Errorf("%g allocations", n)
	}
}
