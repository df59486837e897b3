package rigid3

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/native"
)

type aabb struct{ Min, Max Vec }

// boxOf is Bounds for one shape.
func boxOf(s *Shape, pose *Pose, margin float32) (b aabb) {
	var boxes Boxes
	boxes.Resize(1)
	Bounds(native.Go, []Shape{*s}, &testHulls, []uint32{0}, []Pose{*pose}, margin, &boxes)
	for k, to := range []*float32{&b.Min.X, &b.Min.Y, &b.Min.Z, &b.Max.X, &b.Max.Y, &b.Max.Z} {
		*to = [2]*[3][]float32{&boxes.Min, &boxes.Max}[k/3][k%3][0]
	}
	return b
}

func (b *aabb) overlaps(o *aabb) bool {
	return b.Min.X <= o.Max.X && o.Min.X <= b.Max.X && b.Min.Y <= o.Max.Y && o.Min.Y <= b.Max.Y && b.Min.Z <= o.Max.Z && o.Min.Z <= b.Max.Z
}

// All points of a shape are in its box, and some are at each side.
func TestBounds(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 8))
	for range 500 {
		s := []*Shape{randomPolytope(rng), ball(.3), upright(.2, .7), box(1, 2, .5)}[rng.IntN(4)]
		s.Pose = Pose{Vec{rng.Float32(), rng.Float32(), rng.Float32()}, randomQuat(rng)}
		pose := &Pose{Vec{10 * rng.Float32(), -10 * rng.Float32(), rng.Float32()}, randomQuat(rng)}
		const margin = .1
		b := boxOf(s, pose, margin)
		lo, hi := [3]float64{math.Inf(1), math.Inf(1), math.Inf(1)}, [3]float64{math.Inf(-1), math.Inf(-1), math.Inf(-1)}
		for _, v := range s.core().Vertices {
			p := pose.Transform(v)
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
		boxA, boxB := boxOf(shapes[0], a, SpeculativeDistance/2), boxOf(shapes[1], b, SpeculativeDistance/2)
		m := collide(shapes[0], shapes[1], a, b)
		if boxA.overlaps(&boxB) {
			met++
		} else if apart++; m.Count > 0 && deepest(&m) < SpeculativeDistance-1e-5 {
			t.Fatalf("%d points, %g apart, but the boxes do not meet", m.Count, deepest(&m))
		}
	}
	if met < 100 || apart < 100 {
		t.Errorf("%d meet, %d do not", met, apart)
	}
}
