package rigid3

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/vec"
)

// totals returns the momentum, the angular momentum about the origin, and the kinetic energy of all bodies, in float64.
func (s *scene) totals() (momentum, angular [3]float64, energy float64) {
	b := &s.Bodies
	for i := range b.InvMass {
		if b.InvMass[i] == 0 {
			continue
		}
		m := 1 / float64(b.InvMass[i])
		wide := func(v Vec) [3]float64 { return [3]float64{float64(v.X), float64(v.Y), float64(v.Z)} }
		q := b.Poses[i].Q.Mul(b.Principal[i])
		w, inv := wide(q.Unrotate(vecAt(&b.W, i))), wide(vecAt(&b.InvInertia, i))
		moments := [3]float64{1 / inv[0], 1 / inv[1], 1 / inv[2]}
		l := Vec{float32(w[0] * moments[0]), float32(w[1] * moments[1]), float32(w[2] * moments[2])}
		p := vec.Scale(wide(vecAt(&b.V, i)), m)
		momentum = vec.Add(momentum, p)
		angular = vec.Add(angular, vec.Add(wide(q.Rotate(l)), vec.Cross(wide(b.Poses[i].P), p)))
		energy += vec.Dot(wide(vecAt(&b.V, i)), p) / 2
		for k := range w {
			energy += moments[k] * w[k] * w[k] / 2
		}
	}
	return momentum, angular, energy
}

// Bodies that hit each other in free space keep momentum and angular momentum, and gain no energy.
func TestCollisionsKeepMomentum(t *testing.T) {
	seed := paritytest.Seed()
	hits := 0
	for round := range 12 {
		rng := rand.New(rand.NewPCG(seed, uint64(round)))
		s := newScene()
		s.Gravity = Vec{}
		for k := range 24 {
			shape := []*Shape{box(.3, .4, .5), ball(.4), upright(.3, .3), randomPolytope(rng)}[k%4]
			pose := Pose{Vec{float32(k%3)*1.8 - 1.8, float32(k/3%3)*1.8 - 1.8, float32(k/9)*1.8 - 1.8}, randomQuat(rng)}
			if k%4 == 3 { // its origin must be the centre of mass
				shape = box(.5, .2, .3)
			}
			i := s.Add(shape, 1+3*rng.Float64(), Material{Friction: rng.Float32(), Restitution: rng.Float32()}, pose)
			setVec(&s.Bodies.V, i, pose.P.Times(-1).Add(Vec{rng.Float32(), rng.Float32(), rng.Float32()}))
			setVec(&s.Bodies.W, i, Vec{rng.Float32(), rng.Float32(), rng.Float32()}.Times(3))
		}
		p, l, e := s.totals()
		scale := 24 * 3.
		for range 120 {
			s.step()
			hits += len(s.Contacts)
		}
		p2, l2, e2 := s.totals()
		if d := vec.Length(vec.Sub(p, p2)); d > 1e-5*scale {
			t.Errorf("seed %d, round %d: momentum %v became %v", seed, round, p, p2)
		}
		// The anchors are those of the beginning of a step, and the inertias too.
		if d := vec.Length(vec.Sub(l, l2)); d > .02*scale {
			t.Errorf("seed %d, round %d: angular momentum %v became %v", seed, round, l, l2)
		}
		if e2 > e*1.001 {
			t.Errorf("seed %d, round %d: energy %g became %g", seed, round, e, e2)
		}
	}
	if hits < 1000 {
		t.Errorf("%d contacts", hits)
	}
}

// A ball that hits another one in the middle stops, and the other goes on; of a row of three, the last one goes.
func TestBilliard(t *testing.T) {
	for _, n := range []int{2, 3} {
		s := newScene()
		s.Gravity = Vec{}
		for k := range n {
			s.Add(ball(.5), 1, Material{Restitution: 1}, *at(2*float32(k), 0, 0))
		}
		setVec(&s.Bodies.V, 0, Vec{5, 0, 0})
		s.run(3)
		for k := range n {
			want := float32(0)
			if k == n-1 {
				want = 5
			}
			if v := vecAt(&s.Bodies.V, k); abs(v.X-want) > .01 || abs(v.Y) > 1e-5 || abs(v.Z) > 1e-5 {
				t.Errorf("%d balls: ball %d has %v, want %g", n, k, v, want)
			}
		}
	}
}

// A thrown body follows the sums of its sub-steps: x = g·h²·n(n+1)/2.
func TestFreeFall(t *testing.T) {
	s := newScene()
	s.Gravity = Vec{0, -9.75, 0} // exact sums
	b := s.Add(box(.5, .5, .5), 1, material, *at(0, 0, 0))
	setVec(&s.Bodies.V, b, Vec{3, 8, -2})
	for range 64 {
		s.stepBy(1. / 64)
	}
	n, h := 256., 1./256
	want := []float64{3, 8 - 9.75*h*h*n*(n+1)/2, -2}
	p := s.Bodies.Poses[b].P
	near(t, "place", []float64{float64(p.X), float64(p.Y), float64(p.Z)}, want, 2e-5)
	near(t, "speed", []float64{float64(vecAt(&s.Bodies.V, b).Y)}, []float64{8 - 9.75}, 1e-5)
}

// A heap of all shapes comes to rest on the floor, with no point deep in another.
func TestHeap(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 3))
	s := newScene()
	s.floor(material)
	m := material
	m.RollingResistance = .02
	m.TwistResistance = .02
	for k := range 30 {
		shape := []*Shape{box(.3, .2, .4), ball(.25), upright(.2, .25)}[k%3]
		s.Add(shape, 10, m, Pose{Vec{float32(k%3)*.7 - .7 + .1*rng.Float32(), .6 + .7*float32(k/9), float32(k/3%3)*.7 - .7}, randomQuat(rng)})
	}
	s.run(8)
	deep := 0.0
	for i := range s.Manifolds {
		deep = max(deep, -deepest(&s.Manifolds[i]))
	}
	fastest := float32(0)
	for i := range s.States {
		fastest = max(fastest, vecAt(&s.Bodies.V, i).length())
		if y := s.Bodies.Poses[i].P.Y; i > 0 && (y < .15 || y > 3 || y-y != 0) {
			t.Errorf("body %d is at %v", i, s.Bodies.Poses[i].P)
		}
	}
	t.Logf("deepest %.4f, fastest %.3g", deep, fastest)
	if deep > .02 || fastest > .1 {
		t.Errorf("deepest %g, fastest %g", deep, fastest)
	}
	if math.IsNaN(deep) {
		t.Error("not a number")
	}
}
