package rigid_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/native"
)

// move moves some bodies, and now and then one to where it is not found, or back.
func (c *crowd) move(run *paritytest.Run, half float64) {
	if run.IntN(4) == 0 {
		c.spoil(run)
	}
	p := &c.poses
	for i := range p.X {
		switch run.IntN(4) {
		case 0:
			p.X[i], p.Y[i] = float32(within(run.Rand, -half, half)), float32(within(run.Rand, -half, half))
			p.Cos[i], p.Sin[i] = 0.6, 0.8
		case 1:
			p.Cos[i], p.Sin[i] = -p.Sin[i], p.Cos[i]
		}
	}
}

// shift draws new intervals, or none.
func (c *crowd) shift(run *paritytest.Run) {
	f := &c.filters
	if f.SpanMin, f.SpanMax = nil, nil; run.IntN(3) > 0 {
		f.SpanMin, f.SpanMax = spans(run, len(c.Shapes))
	}
}

// spans draws intervals: many that touch, some without an end, and some that are none.
func spans(run *paritytest.Run, n int) (least, most []float32) {
	for range n {
		a := float32(run.IntN(7) - 3)
		b := a + float32(run.IntN(3))
		switch run.IntN(20) {
		case 0:
			a, b = -inf, inf
		case 1:
			b = inf
		case 2:
			a = -inf
		case 3:
			a = float32(math.NaN())
		case 4:
			a, b = b, a
		case 5:
			a, b = float32(math.Copysign(0, -1)), 0
		}
		least, most = append(least, a), append(most, b)
	}
	return least, most
}

// What is found does not depend on how targets were taken: it is what the oracle finds, also
// after many moves.
func TestParityRefit(t *testing.T) {
	run := paritytest.Start(t, "Refit")
	hits := 0
	for range paritytest.Rounds(12) {
		for _, n := range []int{0, 1, 16, 17, 257, 600} {
			half := within(run.Rand, 1, 30)
			c := newCrowd(run.Rand, n, half)
			for _, level := range native.Levels() {
				run.Case(level)
				var taken, built rigid.QueryTree
				if run.IntN(2) == 0 {
					taken.Build(level, &c.Scene)
				} else {
					taken.Refit(level, &c.Scene, false)
				}
				for range 4 {
					c.move(run, half)
					if run.IntN(2) == 0 {
						c.shift(run)
					}
					taken.Refit(level, &c.Scene, true)
					built.Build(level, &c.Scene)
					hits += c.compare(run, level, &taken, &built, half)
				}
				if n > 0 {
					c.filters.Mask[run.IntN(n)] ^= 2
					c.Shapes[run.IntN(n)] = randomShape(run.Rand)
				}
				taken.Refit(level, &c.Scene, false)
				built.Build(level, &c.Scene)
				c.compare(run, level, &taken, &built, half)
			}
		}
	}
	t.Logf("%d hits", hits)
}

// compare asks both for the same, and the oracle.
func (c *crowd) compare(run *paritytest.Run, level native.Level, taken, built *rigid.QueryTree, half float64) int {
	rays := c.rays(run.Rand, 20, half)
	want, ends := make([]rigid.RayHit, len(rays)), make([]uint32, len(rays))
	rigid.CastRaysClosestOracle(&c.Scene, rays, want)
	all := rigid.CastRaysAllOracle(&c.Scene, rays, ends, nil)
	for _, targets := range []*rigid.QueryTree{taken, built} {
		got, row, gotEnds := make([]rigid.RayHit, len(rays)), make([]rigid.RayHit, len(all)), make([]uint32, len(rays))
		targets.CastRaysClosest(level, rays, got)
		targets.CastRaysAll(level, rays, gotEnds, row, 0)
		run.Check(sameHits(got, want), sameHits(row, all), paritytest.Bits("ends", gotEnds, ends))
	}
	for range 5 {
		p := c.probe(run.Rand, half)
		if !p.Prepare() {
			continue
		}
		over, cast, near := c.OverlapShapeOracle(p, nil), c.CastShapeOracle(p, nil), c.NearestOracle(p)
		for _, targets := range []*rigid.QueryTree{taken, built} {
			if !slices.Equal(targets.OverlapShape(p, nil), over) || !slices.Equal(targets.CastShapeAll(p, nil), cast) || targets.Nearest(p) != near {
				run.Check(fmt.Errorf("a probe finds something else than the oracle: %+v", p))
			}
		}
	}
	return len(all)
}

func TestTakeAllocatesNothingAgain(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate")
	}
	rng := rand.New(rand.NewPCG(3, 4))
	c := newCrowd(rng, 500, 10)
	var targets rigid.QueryTree
	targets.Build(native.Auto, &c.Scene)
	if n := testing.AllocsPerRun(10, func() {
		c.poses.X[3]++
		targets.Refit(native.Auto, &c.Scene, true)
		targets.Refit(native.Auto, &c.Scene, false)
	}); n > 0 {
		t.Errorf("%g allocations", n)
	}
}
