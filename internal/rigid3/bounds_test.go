package rigid3

import (
	"math"
	"math/rand/v2"
	"testing"
)

// All points of a shape are in its box, and some are at each side.
func TestBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 8))
	for range 500 {
		s := []*Shape{randomPolytope(rng), ball(.3), upright(.2, .7), box(1, 2, .5)}[rng.IntN(4)]
		s.Pose = Pose{Vec{rng.Float32(), rng.Float32(), rng.Float32()}, randomQuat(rng)}
		pose := &Pose{Vec{10 * rng.Float32(), -10 * rng.Float32(), rng.Float32()}, randomQuat(rng)}
		const margin = .1
		b := s.Bounds(pose, margin)
		lo, hi := [3]float64{math.Inf(1), math.Inf(1), math.Inf(1)}, [3]float64{math.Inf(-1), math.Inf(-1), math.Inf(-1)}
		for _, v := range s.Core.Vertices {
			p := pose.transform(s.Pose.transform(v))
			for k, c := range []float32{p.X, p.Y, p.Z} {
				lo[k], hi[k] = min(lo[k], float64(c-s.Radius)-margin), max(hi[k], float64(c+s.Radius)+margin)
			}
		}
		near(t, "least", []float64{float64(b.Min.X), float64(b.Min.Y), float64(b.Min.Z)}, lo[:], 1e-5)
		near(t, "greatest", []float64{float64(b.Max.X), float64(b.Max.Y), float64(b.Max.Z)}, hi[:], 1e-5)
	}
}

// Shapes whose boxes, each grown by half of the speculative distance, do not meet have no contact.
func TestBoundsHoldContacts(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 8))
	met, apart := 0, 0
	for range 1000 {
		shapes := [2]*Shape{}
		for k := range shapes {
			shapes[k] = []*Shape{randomPolytope(rng), ball(.3), upright(.2, .7)}[rng.IntN(3)]
		}
		a, b := &Pose{Q: randomQuat(rng)}, &Pose{Vec{2 * rng.Float32(), 2 * rng.Float32(), rng.Float32()}, randomQuat(rng)}
		boxA, boxB := shapes[0].Bounds(a, SpeculativeDistance/2), shapes[1].Bounds(b, SpeculativeDistance/2)
		m := Collide(shapes[0], shapes[1], a, b)
		if boxA.Overlaps(&boxB) {
			met++
		} else if apart++; m.Count > 0 && deepest(&m) < SpeculativeDistance-1e-5 {
			t.Fatalf("%d points, %g apart, but the boxes do not meet", m.Count, deepest(&m))
		}
	}
	if met < 100 || apart < 100 {
		t.Errorf("%d meet, %d do not", met, apart)
	}
}
