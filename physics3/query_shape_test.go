package physics3_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/evertick/evertick/physics3"
)

// surface64 is the signed distance of a point from a geometry in body coordinates, in float64.
func surface64(g any, p vector) float64 {
	switch g := g.(type) {
	case physics3.Sphere:
		return length(minus(p, wide(g.Center))) - float64(g.Radius)
	case physics3.Capsule:
		a, b := wide(g.P1), wide(g.P2)
		u, m := minus(b, a), minus(p, a)
		along := max(0, min(1, dot(m, u)/dot(u, u)))
		return length(minus(m, vector{u[0] * along, u[1] * along, u[2] * along})) - float64(g.Radius)
	case physics3.Box:
		m, beyond, most := minus(p, wide(g.Center)), vector{}, math.Inf(-1)
		for k := range m {
			d := math.Abs(m[k]) - float64(g.Half[k])
			beyond[k], most = max(d, 0), max(most, d)
		}
		return length(beyond) + min(most, 0) - float64(g.Radius)
	}
	panic("no such geometry")
}

// ClosestPoint and TestPoint agree with float64 arithmetic in body coordinates.
func TestClosestPoint(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	r := newQueryFixture(t, physics3.Config{})
	rock := newRock(t, 3, 0)
	inside, outside := 0, 0
	for i := range 800 {
		f := func(size float64) float32 { return float32((2*rng.Float64() - 1) * size) }
		d := dynamicAt(f(30), f(30), f(30))
		d.Rotation = [4]float32{f(1), f(1), f(1), f(1)}
		b := must[physics3.Body](t)(r.w.CreateBody(d))
		var g any
		var s physics3.Shape
		var err error
		switch radius := float32(rng.IntN(2)) * 0.2; i % 4 {
		case 0:
			ball := physics3.Sphere{Center: [3]float32{f(.5), f(.5), f(.5)}, Radius: .8}
			g = ball
			s, err = r.w.CreateSphere(b, plainDef, ball)
		case 1:
			capsule := physics3.Capsule{P1: [3]float32{f(.7), f(.7), -.5}, P2: [3]float32{f(.7), f(.7), .5}, Radius: .4}
			g = capsule
			s, err = r.w.CreateCapsule(b, plainDef, capsule)
		case 2:
			box := physics3.Box{Half: [3]float32{.7, .9, .4}, Center: [3]float32{f(.5), f(.5), f(.5)}, Radius: radius}
			g = box
			s, err = r.w.CreateBox(b, plainDef, box)
		default:
			s, err = r.w.CreateHull(b, plainDef, rock, physics3.Placement{Position: [3]float32{.3}})
		}
		r.no(err)
		if rng.IntN(4) == 0 {
			r.no(r.w.Disable(b))
		}
		at := [3]float32{d.Position[0] + f(0.9), d.Position[1] + f(0.9), d.Position[2] + f(0.9)}
		closest, distance, err := r.w.ClosestPoint(s, at)
		r.no(err)
		in, err := r.w.TestPoint(s, at)
		r.no(err)
		near(t, "way to the closest point", length(minus(wide(closest), wide(at))), math.Abs(float64(distance)), 5e-5)
		_, rest, err := r.w.ClosestPoint(s, closest)
		r.no(err)
		near(t, "distance of the closest point", float64(rest), 0, 3e-5)
		if g != nil {
			c, i := r.w.Columns(), b.Index()
			back := [4]float32{-c.QX[i], -c.QY[i], -c.QZ[i], c.QW[i]}
			near(t, "distance", float64(distance), surface64(g, rotated(back, minus(wide(at), wide(d.Position)))), 3e-5)
		}
		if in != (distance <= 0) {
			t.Errorf("%v at a distance of %g: %v", g, distance, in)
		}
		if in {
			inside++
		} else {
			outside++
		}
		if t.Failed() {
			t.Fatalf("%+v, point %v", g, at)
		}
		r.no(r.w.DestroyBody(b))
	}
	if inside < 100 || outside < 100 {
		t.Errorf("%d inside, %d outside", inside, outside)
	}
}

// Rays on one shape hit it as they do in RayAll, bit for bit, whatever the filters say, and do not disturb those on all.
func TestRayShape(t *testing.T) {
	r, shapes, _, q := crowd(t, 60, 150, physics3.Config{})
	hits := 0
	for _, skip := range []bool{false, true} {
		q.QueryFilter, q.SkipInside = physics3.QueryFilter{}, skip
		var all, one, again physics3.RayHits
		r.no(r.w.RayAll(q, &all))
		q.QueryFilter = physics3.QueryFilter{Category: 2, Mask: 4}
		for _, s := range shapes {
			r.no(r.w.RayShape(s, q, &one))
			for i := range q.X {
				found := false
				for k := all.Offsets[i]; k < all.Offsets[i+1]; k++ {
					if all.Shapes[k] != s {
						continue
					}
					found = true
					hits++
					if one.Shapes[i] != s || one.Fractions[i] != all.Fractions[k] || one.X[i] != all.X[k] || one.Y[i] != all.Y[k] || one.Z[i] != all.Z[k] ||
						one.NormalX[i] != all.NormalX[k] || one.NormalY[i] != all.NormalY[k] || one.NormalZ[i] != all.NormalZ[k] {
						t.Fatalf("ray %d on %v: %v at %g, want %g", i, s, one.Shapes[i], one.Fractions[i], all.Fractions[k])
					}
				}
				if !found && (one.Shapes[i] != physics3.Shape{} || one.Fractions[i] != 1) {
					t.Fatalf("ray %d hits %v at %g, which it does not", i, s, one.Fractions[i])
				}
			}
		}
		q.QueryFilter = physics3.QueryFilter{}
		r.no(r.w.RayAll(q, &again))
		if !reflect.DeepEqual(all, again) {
			t.Error("rays on one shape have changed those on all")
		}
	}
	if hits < 100 {
		t.Errorf("only %d hits", hits)
	}
}

// The masses of the shapes of a body add up to that of the body.
func TestShapeMassData(t *testing.T) {
	rng := rand.New(rand.NewPCG(7, 2))
	r := newQueryFixture(t, physics3.Config{})
	for range 50 {
		f := func() float32 { return float32(2*rng.Float64() - 1) }
		b := r.body(0, 0, 0)
		var parts []physics3.MassData
		for i := range 1 + rng.IntN(5) {
			d := plainDef
			d.Density = float32(rng.Float64()*5 + .1)
			var s physics3.Shape
			var err error
			if i%2 == 0 {
				s, err = r.w.CreateSphere(b, d, physics3.Sphere{Center: [3]float32{f(), f(), f()}, Radius: .3})
			} else {
				s, err = r.w.CreateBox(b, d, physics3.Box{Center: [3]float32{f(), f(), f()}, Half: [3]float32{.2, .5, .4}, Rotation: [4]float32{f(), f(), f(), 1}})
			}
			r.no(err)
			parts = append(parts, must[physics3.MassData](t)(r.w.ShapeMassData(s)))
		}
		mass, centre := 0., vector{}
		for _, m := range parts {
			mass += float64(m.Mass)
			for k, v := range m.Center {
				centre[k] += float64(v) * float64(m.Mass)
			}
		}
		for k := range centre {
			centre[k] /= mass
		}
		want := must[physics3.MassData](t)(r.w.MassData(b))
		near(t, "mass", mass, float64(want.Mass), 1e-5*mass)
		inertia := [6]float64{}
		for _, m := range parts {
			d, heavy := minus(wide(m.Center), centre), float64(m.Mass)
			for k := range 3 {
				i, j := [3]int{0, 0, 1}[k], [3]int{1, 2, 2}[k]
				inertia[k] += float64(m.Inertia[k]) + heavy*(dot(d, d)-d[k]*d[k])
				inertia[3+k] += float64(m.Inertia[3+k]) - heavy*d[i]*d[j]
			}
		}
		for k := range inertia {
			near(t, "inertia", inertia[k], float64(want.Inertia[k]), 1e-5*(inertia[0]+inertia[1]+inertia[2]))
		}
		for k := range centre {
			near(t, "centre", centre[k], float64(want.Center[k]), 1e-5)
		}
	}
}

func TestShapeQueriesRefused(t *testing.T) {
	r := newQueryFixture(t, physics3.Config{})
	b := r.body(0, 0, 0)
	s, gone, far := r.sphere(b, 1), r.sphere(b, 1), r.sphere(r.body(0x1p61, 0, 0), 1)
	r.no(r.w.DestroyShape(gone))
	out := physics3.RayHits{Fractions: []float32{7}}
	is := func(what string, want, err error) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Errorf("%s: %v", what, err)
		}
	}
	_, err := r.w.TestPoint(gone, [3]float32{})
	is("TestPoint", physics3.ErrStale, err)
	_, _, err = r.w.ClosestPoint(gone, [3]float32{})
	is("ClosestPoint", physics3.ErrStale, err)
	_, err = r.w.ShapeMassData(gone)
	is("ShapeMassData", physics3.ErrStale, err)
	is("RayShape", physics3.ErrStale, r.w.RayShape(gone, rayAt(-3, 0, 0, 6, 0, 0), &out))
	is("RayShape", physics3.ErrRange, r.w.RayShape(s, rayAt(-3, 0, 0, 0, 0, 0), &out))
	_, _, err = r.w.ClosestPoint(s, [3]float32{float32(math.NaN())})
	is("a point", physics3.ErrNotFinite, err)
	_, _, err = r.w.ClosestPoint(s, [3]float32{0, 0x1p61})
	is("a point", physics3.ErrRange, err)
	_, _, err = r.w.ClosestPoint(far, [3]float32{})
	is("a body", physics3.ErrRange, err)
	if len(out.Fractions) != 1 || out.Fractions[0] != 7 {
		t.Error("a refused batch changed the result")
	}
}
