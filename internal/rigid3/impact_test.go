package rigid3

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
)

// randomMotion is one that passes near the origin, with up to a whole turn.
func randomMotion(rng *rand.Rand, moves bool) (m motion) {
	within := func(r float64) float64 { return (2*rng.Float64() - 1) * r }
	axis := vec64{within(1), within(1), within(1)}.unit(vec64{x: 1})
	q := quat64{vec64{within(1), within(1), within(1)}, within(1)}
	before := Pose{vec64{within(3), within(3), within(3)}.narrow(), q.narrow().Normalize()}
	after := before
	turn := Identity
	if moves {
		after.P = before.P.wide64().Times(-0.3 - rng.Float64()).Add(vec64{within(1), within(1), within(1)}).narrow()
		if rng.IntN(4) > 0 {
			half := rng.Float64() * []float64{0.1, 1, math.Pi}[rng.IntN(3)]
			turn = quat64{axis.Times(math.Sin(half)), math.Cos(half)}.narrow()
		}
		after.Q = turn.Mul(before.Q).Normalize()
	}
	if !m.set(&before, &after, turn, vec64{}) {
		panic("not finite")
	}
	return m
}

// poseAt computes the path in another way: with the sine and cosine of package math, and Rodrigues' formula.
func (m *motion) poseAt(t float64, own *Pose, v Vec) vec64 {
	p := wideQuat(own.Q).rotate(v.wide64()).Add(own.P.wide64())
	p = m.rotation.rotate(p)
	sin, cos := math.Sincos(t * m.angle)
	along := m.axis.Times(m.axis.Dot(p))
	turned := along.Add(p.Sub(along).Times(cos)).Add(m.axis.Cross(p).Times(sin))
	return turned.Add(m.from).Add(m.by.Times(t))
}

// gapOf is the distance of two shapes at a time. It places their vertices in the world, and takes the distance of the resulting cores.
func gapOf(a, b *convexCore, ma, mb *motion, t float64) float64 {
	var pair corePair
	place := func(c *convexCore, m *motion) (v []Vec) {
		for _, p := range c.points {
			v = append(v, m.poseAt(t, c.pose, p).narrow())
		}
		return v
	}
	pair.a.Vertices, pair.b.Vertices = place(a, ma), place(b, mb)
	pair.at = pose64{x: vec64{x: 1}, y: vec64{y: 1}, z: vec64{z: 1}}
	g, apart := pair.separated()
	if !apart {
		return -(a.radius + b.radius)
	}
	return g.distance - (a.radius + b.radius)
}

// The time of impact agrees with the distance at many times, computed in another way.
func TestImpactAgreesWithBruteForce(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	const samples = 200
	hits, slow := 0, 0
	for round := range paritytest.Rounds(4000) {
		var memA, memB boxArrays
		shapeA, shapeB := randomShape(rng), randomShape(rng)
		a, b := shapeA.convex(&testHulls, &memA), shapeB.convex(&testHulls, &memB)
		ma, mb := randomMotion(rng, rng.IntN(2) == 0), randomMotion(rng, true)
		var p impact
		p.set(&a, &b, &ma, &mb)
		distance := []float64{0, targetSeparation}[rng.IntN(2)]
		got, n := p.advance(0, distance, separationTolerance, 1)
		const noise = 2e-6 // of single precision
		for k := range samples + 1 {
			at := float64(k) / samples
			if at >= got {
				break
			}
			if gap := gapOf(&a, &b, &ma, &mb, at); gap < distance-noise {
				t.Fatalf("round %d: at time %g of %g the gap is %g, less than %g", round, at, got, gap, distance)
			}
		}
		if got == 1 {
			continue
		}
		hits++
		gap := gapOf(&a, &b, &ma, &mb, got)
		switch {
		case got == 0 && gap > separationTolerance+distance+noise, got > 0 && gap < distance-noise:
			t.Fatalf("round %d: stops at %g with the gap %g, not %g", round, got, gap, distance)
		case gap > separationTolerance+distance+noise:
			slow++
		}
		if got > 0 && math.Abs(n.length()-1) > 1e-9 {
			t.Fatalf("round %d: normal %v", round, n)
		}
	}
	if hits == 0 || slow > hits/100 {
		t.Errorf("%d hits, %d of which need too many iterations", hits, slow)
	}
}

// A core is inside of its shape by a part of its extent, and no more than that where the shape is thinnest.
func TestCores(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 8))
	for round := range 600 {
		shape := randomShape(rng)
		var s sweptShape
		s.set(&shape, &testHulls)
		part := float32(firstCore + coreStep*float32(rng.IntN(8)))
		core := s.core(&testHulls, part)
		whole := shape.polytope(&testHulls, &s.mem)
		want := float64(part * s.extent)
		if len(core.points) != len(whole.Vertices) {
			t.Fatalf("round %d: %d points", round, len(core.points))
		}
		least := math.Inf(1)
		for i := range whole.Planes {
			f := &whole.Planes[i]
			for _, p := range core.points {
				depth := -float64(f.distance(p)) + float64(shape.Radius) - core.radius
				if depth < want-2e-6 {
					t.Fatalf("round %d: kind %d: a point is only %g inside, of %g", round, shape.Kind, depth, want)
				}
				least = min(least, depth)
			}
		}
		switch {
		case len(whole.Planes) > 0 && least > 1.02*want:
			t.Errorf("round %d: the core is %g inside everywhere, want %g", round, least, want)
		case len(whole.Planes) == 0 && math.Abs(float64(shape.Radius)-core.radius-want) > 1e-6:
			t.Errorf("round %d: radius %g of %g", round, core.radius, shape.Radius)
		}
	}
}
