package physics3_test

import (
	"math"
	"testing"

	"github.com/evertick/evertick/physics3"
)

// queryShapes has a shape of each kind around the origin, with its extent along x.
func queryShapes(t *testing.T) (names []string, shapes []physics3.Form, extents []float32) {
	cube := newHull(0, vec{-1, -1, -1}, vec{1, -1, -1}, vec{-1, 1, -1}, vec{1, 1, -1}, vec{-1, -1, 1}, vec{1, -1, 1}, vec{-1, 1, 1}, vec{1, 1, 1})
	round := newHull(0.5, vec{-1, -1, -1}, vec{1, -1, -1}, vec{-1, 1, -1}, vec{1, 1, -1}, vec{-1, -1, 1}, vec{1, -1, 1}, vec{-1, 1, 1}, vec{1, 1, 1})
	form := must[physics3.Form](t)
	return []string{"ball", "capsule", "box", "rounded box", "hull", "rounded hull"}, []physics3.Form{
		form(physics3.SphereForm(physics3.Sphere{Radius: 1})),
		form(physics3.CapsuleForm(physics3.Capsule{P1: [3]float32{-0.5, 0, 0}, P2: [3]float32{0.5, 0, 0}, Radius: 0.5})),
		form(physics3.BoxForm(physics3.Box{Half: [3]float32{1, 1, 1}})),
		form(physics3.BoxForm(physics3.Box{Half: [3]float32{1, 1, 1}, Radius: 0.5})),
		form(physics3.HullForm(cube, physics3.Placement{})),
		form(physics3.HullForm(round, physics3.Placement{})),
	}, []float32{1, 1, 1, 1.5, 1, 1.5}
}

// castsAt is a batch of one cast.
func castsAt(f physics3.Form, from, d [3]float32) *physics3.Casts {
	q := &physics3.Casts{DX: d[:1], DY: d[1:2], DZ: d[2:3]}
	q.Forms, q.X, q.Y, q.Z = []physics3.Form{f}, from[:1], from[1:2], from[2:3]
	return q
}

func TestCase75CastTimes(t *testing.T) {
	names, forms, extents := queryShapes(t)
	for i, target := range forms {
		for k, moved := range forms {
			r := newQueryFixture(t, physics3.Config{})
			b := r.body(0, 0, 0)
			s, err := r.w.CreateForm(b, plainDef, target)
			r.no(err)
			gap := extents[i] + extents[k] + 0.1
			for _, c := range []struct {
				what    string
				from, d [3]float32
				want    float64 // < 0: none
			}{
				{"towards", [3]float32{gap, 0, 0}, [3]float32{-1, 0, 0}, 0.1},
				{"away", [3]float32{gap, 0, 0}, [3]float32{1, 0, 0}, -1},
				{"sideways", [3]float32{gap, 0, 0}, [3]float32{0, 1, 0}, -1},
				{"in overlap", [3]float32{0.25, 0, 0}, [3]float32{-1, 0, 0}, 0},
				{"in overlap, leaving", [3]float32{0.25, 0, 0}, [3]float32{1, 0, 0}, 0},
			} {
				var h physics3.RayHits
				r.no(r.w.CastClosest(castsAt(moved, c.from, c.d), &h))
				switch hit := h.Shapes[0] == s; {
				case hit != (c.want >= 0):
					t.Errorf("%s to %s, %s: %+v", names[k], names[i], c.what, h)
				case c.want == 0 && (h.Fractions[0] != 0 || h.NormalX[0] != 0):
					t.Errorf("%s to %s, %s: %+v", names[k], names[i], c.what, h)
				case c.want > 0 && (math.Abs(float64(h.Fractions[0])-c.want) > 3e-6 || math.Abs(float64(h.NormalX[0])-1) > 1e-6):
					t.Errorf("%s to %s, %s: %+v", names[k], names[i], c.what, h)
				}
			}
		}
	}
}

func TestCase76GreatestDistance(t *testing.T) {
	names, forms, extents := queryShapes(t)
	for i, target := range forms {
		r := newQueryFixture(t, physics3.Config{})
		s, err := r.w.CreateForm(r.body(0, 0, 0), plainDef, target)
		r.no(err)
		point := must[physics3.Form](t)(physics3.SphereForm(physics3.Sphere{Radius: 1e-6}))
		for _, c := range []struct {
			most float32
			hit  bool
		}{{5, false}, {9.999, false}, {10.001, true}, {1 << 58, true}} {
			for _, scale := range []float32{1, 0.25} { // fractions are of the translation, not metres
				q := castsAt(point, [3]float32{extents[i] + 10, 0, 0}, [3]float32{-scale, 0, 0})
				q.MaxFraction = []float32{c.most / scale}
				ray := &physics3.Rays{X: q.X, Y: q.Y, Z: q.Z, DX: q.DX, DY: q.DY, DZ: q.DZ, MaxFraction: q.MaxFraction}
				var h physics3.RayHits
				r.no(r.w.CastClosest(q, &h))
				var near physics3.Distances
				r.no(r.w.Nearest(&q.Probes, []float32{c.most}, &near))
				rays := r.closest(ray)
				for k, found := range [...]physics3.Shape{rays.Shapes[0], h.Shapes[0], near.Shapes[0]} {
					if (found == s) != c.hit {
						t.Errorf("%s: %s up to %g: %v", names[i], [...]string{"ray", "cast", "nearest"}[k], c.most, found)
					}
				}
				if f := float64(rays.Fractions[0] * scale); c.hit && math.Abs(f-10) > 1e-5 {
					t.Errorf("%s: ray up to %g: %g", names[i], c.most, f)
				}
			}
		}
	}
}

func TestCase77StartInside(t *testing.T) {
	names, forms, _ := queryShapes(t)
	for i, target := range forms {
		r := newQueryFixture(t, physics3.Config{})
		b := r.body(0, 0, 0)
		s, err := r.w.CreateForm(b, plainDef, target)
		r.no(err)
		ahead, err := r.w.CreateBox(b, plainDef, physics3.Box{Half: [3]float32{0.5, 0.5, 0.5}, Center: [3]float32{5, 0, 0}}) // of the same body
		r.no(err)
		ray, ball := rayAt(0, 0, 0, 10, 0, 0), must[physics3.Form](t)(physics3.SphereForm(physics3.Sphere{Radius: 0.25}))
		cast := castsAt(ball, [3]float32{}, [3]float32{10, 0, 0})
		var h physics3.RayHits
		r.meets(names[i]+": ray", ray, s, 0, vector{})
		r.no(r.w.CastClosest(cast, &h))
		if h.Shapes[0] != s || h.Fractions[0] != 0 || h.NormalX[0] != 0 {
			t.Errorf("%s: cast %+v", names[i], h)
		}
		ray.SkipInside, cast.SkipInside = true, true
		r.meets(names[i]+": ray, with SkipInside", ray, ahead, 0.45, vector{-1, 0, 0})
		r.no(r.w.CastClosest(cast, &h))
		if h.Shapes[0] != ahead || math.Abs(float64(h.Fractions[0])-0.425) > 1e-6 {
			t.Errorf("%s: cast, with SkipInside: %+v", names[i], h)
		}
	}
}

func TestCase78NothingStale(t *testing.T) {
	r := newQueryFixture(t, physics3.Config{})
	survivor := r.box(r.body(10, 0, 0), [3]float32{0.5, 0.5, 0.5}, 0)
	ball := must[physics3.Form](t)(physics3.SphereForm(physics3.Sphere{Radius: 0.25}))
	expect := func(what string, s physics3.Shape) {
		t.Helper()
		var h physics3.RayHits
		var over physics3.Overlapping
		cast := castsAt(ball, [3]float32{}, [3]float32{20, 0, 0})
		r.no(r.w.CastClosest(cast, &h))
		if found := r.closest(rayAt(0, 0, 0, 20, 0, 0)).Shapes[0]; found != s || h.Shapes[0] != s || !r.w.ValidShape(found) {
			t.Fatalf("%s: ray %v, cast %v, want %v", what, found, h.Shapes[0], s)
		}
		cast.X[0] = 3
		r.no(r.w.Overlaps(&cast.Probes, &over))
		if inTheWay := s != survivor; (len(over.Shapes) > 0) != inTheWay {
			t.Fatalf("%s: overlaps %v", what, over.Shapes)
		}
	}
	for i := range 20 {
		b := r.body(3, 0, 0)
		s := r.box(b, [3]float32{0.5, 0.5, 0.5}, 0)
		expect("created", s)
		if i%2 == 0 {
			steps(t, r.w, 1)
		}
		r.no(r.w.SetTransform(b, [3]float32{3, 5, 0}, [4]float32{3: 1}))
		expect("moved", survivor)
		r.no(r.w.SetTransform(b, [3]float32{3, 0, 0}, [4]float32{3: 1}))
		if i%4 < 2 {
			steps(t, r.w, 1)
		}
		expect("moved back", s)
		r.no(r.w.DestroyBody(b))
		expect("destroyed", survivor)
	}
}
