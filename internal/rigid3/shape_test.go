package rigid3

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/hull"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// A box as a shape has the mass and the extents of its corners as a hull, wherever it is placed.
func TestShapesOfABox(t *testing.T) {
	rng := rand.New(rand.NewPCG(6, 6))
	for range 200 {
		half := Vec{.1 + rng.Float32(), .1 + rng.Float32(), .1 + rng.Float32()}
		pose := Pose{Vec{rng.Float32(), rng.Float32() * 3, rng.Float32()}, randomQuat(rng)}
		b := NewBoxShape(half, pose, .125)
		var corners [][3]float32
		for _, v := range (&Shape{Kind: KindBox, Half: half, Pose: origin}).core().Vertices {
			corners = append(corners, [3]float32{v.X, v.Y, v.Z})
		}
		p, err := hull.Build(corners, 8)
		if err != nil {
			t.Fatal(err)
		}
		h := hullShape(p)
		h.Pose, h.Radius = pose, b.Radius
		mb, mh := b.Mass(&testHulls), h.Mass(&testHulls)
		near(t, "mass", []float64{mb.Mass}, []float64{mh.Mass}, 1e-4*mh.Mass)
		near(t, "centre", mb.Centre[:], mh.Centre[:], 1e-4)
		near(t, "inertia", mb.Inertia[:], mh.Inertia[:], 1e-4*(mh.Inertia[0]+mh.Inertia[1]+mh.Inertia[2]))
		for _, s := range []*Shape{&b, h} {
			most := float32(0)
			for _, v := range b.core().Vertices {
				most = max(most, v.length()+b.Radius)
			}
			least := min(half.X, half.Y, half.Z) + b.Radius
			if lo, hi := s.MinExtent(&testHulls), s.MaxExtent(&testHulls); abs(lo-least) > 1e-5 || abs(hi-most) > 1e-5 {
				t.Fatalf("extents %g and %g, want %g and %g", lo, hi, least, most)
			}
		}
		moved := b.Translated(Vec{1, 2, 3})
		if m := moved.Mass(&testHulls); math.Abs(m.Centre[1]-mb.Centre[1]-2) > 1e-6 {
			t.Fatalf("centre %v of the shape moved, was %v", m.Centre, mb.Centre)
		}
	}
	s, c := NewSphere(Vec{3, 4, 0}, .5), NewCapsule(Vec{0, -2, 0}, Vec{0, 4, 0}, .5)
	gone := Shape{}
	near(t, "extents", []float64{float64(s.MinExtent(nil)), float64(s.MaxExtent(nil)), float64(c.MinExtent(nil)), float64(c.MaxExtent(nil))}, []float64{.5, 5.5, .5, 4.5}, 0)
	if m := c.Mass(nil); m != CapsuleMass([3]float64{0, -2, 0}, [3]float64{0, 4, 0}, .5) {
		t.Errorf("mass of a capsule: %v", m)
	}
	if gone.Mass(nil) != (Mass{}) || gone.MinExtent(nil) != inf || gone.MaxExtent(nil) != 0 {
		t.Error("a removed shape has mass or extents")
	}
}

// drawn returns shapes of all kinds on bodies that crowd, and all pairs of them.
func drawn(rng *rand.Rand, n int) (shapes []Shape, bodyOf []uint32, poses []Pose, pairs broad.Pairs) {
	for i := range n {
		s := []*Shape{randomPolytope(rng), ball(.3), upright(.2, .7), box(.5, .2, .5)}[rng.IntN(4)]
		s.Pose = Pose{Vec{rng.Float32(), rng.Float32(), rng.Float32()}, randomQuat(rng)}
		if s.Kind == KindCapsule {
			s.Pose.Q = Identity
		}
		shapes, bodyOf = append(shapes, *s), append(bodyOf, uint32(i))
		poses = append(poses, Pose{Vec{2 * rng.Float32(), 2 * rng.Float32(), 2 * rng.Float32()}, randomQuat(rng)})
		for k := range i {
			pairs.Add(uint32(k), uint32(i))
		}
	}
	return shapes, bodyOf, poses, pairs
}

// No stage of the narrow phase allocates, whatever the shapes are.
func TestNarrowPhaseAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("not run: an instrumented build allocates")
	}
	shapes, bodyOf, poses, pairs := drawn(rand.New(rand.NewPCG(1, 9)), 24)
	out, from, boxes := make([]Manifold, len(pairs.A)), make([]int32, len(pairs.A)), Boxes{}
	boxes.Resize(len(shapes))
	contacts, bases, marks := make([]Contact, len(out)), make([]BaseManifold, len(out)), make([]uint8, len(out))
	var began, ended broad.Pairs
	v := columns(make([]Vec, len(poses)))
	var r Recycling
	for _, level := range native.Levels() {
		if n := testing.AllocsPerRun(5, func() {
			Bounds(level, shapes, &testHulls, bodyOf, poses, .1, &boxes)
			CollidePairs(level, shapes, &testHulls, bodyOf, poses, &pairs, nil, out)
			MatchContacts(nil, nil, &pairs, out, contacts, &began, &ended)
			KeepBases(contacts, out, bodyOf, poses, &v, &v, dt, bases, marks)
			r = Recycling{Old: contacts, Bases: bases, Marks: marks, Same: true, BodyOf: bodyOf, Poses: poses}
			if r.Recycle(level, &pairs, from, out) == 0 {
				t.Error("none was recycled")
			}
		}); n != 0 {
			t.Errorf("%v: %g allocations", level, n)
		}
	}
}

// A shape that is not there, or whose place is not finite, touches nothing and has no box.
func TestNothingTouchesBrokenShapes(t *testing.T) {
	nan, huge := float32(math.NaN()), float32(math.Inf(1))
	full := Shape{Kind: KindHull, Hull: 1 << 20, Pose: origin}
	for _, c := range []struct {
		name  string
		shape *Shape
		pose  Pose
	}{
		{"removed", &Shape{Pose: origin}, origin},
		{"of no kind", &Shape{Kind: 77, Pose: origin, Half: Vec{1, 1, 1}}, origin},
		{"without a hull", &full, origin},
		{"at no place", ball(1), Pose{Vec{nan, 0, 0}, Identity}},
		{"too far", box(1, 1, 1), Pose{Vec{0, huge, 0}, Identity}},
		{"turned by NaN", box(1, 1, 1), Pose{Vec{}, Quat{0, nan, 0, 1}}},
		{"turned by NaN in its body", &Shape{Kind: KindBox, Half: Vec{1, 1, 1}, Pose: Pose{Vec{}, Quat{nan, 0, 0, 0}}}, origin},
		{"turned by infinity", upright(1, 1), Pose{Vec{}, Quat{0, 0, 0, huge}}},
	} {
		for _, level := range native.Levels() {
			for _, other := range []*Shape{ball(1), upright(1, 1), box(1, 1, 1)} {
				shapes, poses := []Shape{*c.shape, *other, *c.shape}, []Pose{c.pose, origin, c.pose}
				out := []Manifold{{Count: 3}, {Count: 3}}
				CollidePairs(level, shapes, &testHulls, []uint32{0, 1, 2}, poses, &broad.Pairs{A: []uint32{0, 1}, B: []uint32{1, 2}}, nil, out)
				if out[0] != (Manifold{}) || out[1] != (Manifold{}) {
					t.Errorf("%s, %v: %+v", c.name, level, out)
				}
				var boxes Boxes
				boxes.Resize(3)
				Bounds(level, shapes, &testHulls, []uint32{0, 1, 2}, poses, 0, &boxes)
				for k := range boxes.Min {
					if boxes.Min[k][0] != inf || boxes.Max[k][2] != -inf || boxes.Min[k][1] > 0 {
						t.Errorf("%s, %v: %v", c.name, level, boxes)
					}
				}
			}
		}
	}
}
