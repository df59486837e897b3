package physics3_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/physics3"
)

// Points, vectors and their velocities agree with the formulas in float64, and the conversions are each other's inverse.
func TestPointsAndVectors(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 7))
	f := func(size float64) float32 { return float32((2*rng.Float64() - 1) * size) }
	w := weightlessWorld(t, physics3.Config{})
	for range 200 {
		def := dynamicAt(f(50), f(50), f(50))
		def.Rotation = [4]float32{f(1), f(1), f(1), f(1)}
		def.LinearVelocity, def.AngularVelocity = vec{f(9), f(9), f(9)}, vec{f(9), f(9), f(9)}
		b, err := w.CreateBody(def)
		no(t, err)
		_, err = w.CreateSphere(b, plain, physics3.Sphere{Center: vec{f(2), f(2), f(2)}, Radius: 1})
		no(t, err)
		p, err := w.Position(b)
		no(t, err)
		q, err := w.Rotation(b)
		no(t, err)
		centre, err := w.WorldCenter(b)
		no(t, err)
		linear, angular, err := w.Velocity(b)
		no(t, err)

		local := vec{f(20), f(20), f(20)}
		point, err := w.WorldPoint(b, local)
		no(t, err)
		turned := turnedBy(q, local)
		for k := range 3 {
			near(t, "WorldPoint", float64(point[k]), float64(p[k])+turned[k], 1e-4)
		}
		back, err := w.LocalPoint(b, point)
		no(t, err)
		vector, err := w.WorldVector(b, local)
		no(t, err)
		again, err := w.LocalVector(b, vector)
		no(t, err)
		speed, err := w.WorldPointVelocity(b, point)
		no(t, err)
		same, err := w.LocalPointVelocity(b, local)
		no(t, err)
		r := [3]float64{float64(point[0] - centre[0]), float64(point[1] - centre[1]), float64(point[2] - centre[2])}
		o := [3]float64{float64(angular[0]), float64(angular[1]), float64(angular[2])}
		want := [3]float64{o[1]*r[2] - o[2]*r[1], o[2]*r[0] - o[0]*r[2], o[0]*r[1] - o[1]*r[0]}
		for k := range 3 {
			near(t, "LocalPoint", float64(back[k]), float64(local[k]), 1e-4)
			near(t, "WorldVector", float64(vector[k]), turned[k], 1e-4)
			near(t, "LocalVector", float64(again[k]), float64(local[k]), 1e-4)
			near(t, "WorldPointVelocity", float64(speed[k]), float64(linear[k])+want[k], 1e-3)
			near(t, "LocalPointVelocity", float64(same[k]), float64(speed[k]), 1e-3)
		}
		no(t, w.DestroyBody(b))
	}
}

// turnedBy is v turned by a unit quaternion.
func turnedBy(q [4]float32, v vec) [3]float64 {
	x, y, z, s := float64(q[0]), float64(q[1]), float64(q[2]), float64(q[3])
	a, b, c := float64(v[0]), float64(v[1]), float64(v[2])
	return [3]float64{
		(1-2*(y*y+z*z))*a + 2*(x*y-s*z)*b + 2*(x*z+s*y)*c,
		2*(x*y+s*z)*a + (1-2*(x*x+z*z))*b + 2*(y*z-s*x)*c,
		2*(x*z-s*y)*a + 2*(y*z+s*x)*b + (1-2*(x*x+y*y))*c,
	}
}

func TestBounds(t *testing.T) {
	w := weightlessWorld(t, physics3.Config{})
	def := dynamicAt(1, 2, 3)
	def.Rotation = [4]float32{0, 0, float32(math.Sin(math.Pi / 8)), float32(math.Cos(math.Pi / 8))} // by 45° about z
	b, err := w.CreateBody(def)
	no(t, err)
	is := func(what string, low, high vec, err error, wantLow, wantHigh vec) {
		t.Helper()
		no(t, err)
		for k := range 3 {
			near(t, what, float64(low[k]), float64(wantLow[k]), 1e-5)
			near(t, what, float64(high[k]), float64(wantHigh[k]), 1e-5)
		}
	}
	low, high, err := w.BodyBounds(b)
	is("no shape", low, high, err, vec{1, 2, 3}, vec{1, 2, 3})
	box, err := w.CreateBox(b, plain, physics3.Box{Half: vec{1, 1, 0.5}})
	no(t, err)
	const r = math.Sqrt2
	low, high, err = w.ShapeBounds(box)
	is("a box", low, high, err, vec{1 - r, 2 - r, 2.5}, vec{1 + r, 2 + r, 3.5})
	_, err = w.CreateSphere(b, plain, physics3.Sphere{Center: vec{0, 0, 4}, Radius: 0.5})
	no(t, err)
	low, high, err = w.BodyBounds(b)
	is("a body", low, high, err, vec{1 - r, 2 - r, 2.5}, vec{1 + r, 2 + r, 7.5})

	no(t, w.DestroyBody(b))
	_, _, err = w.ShapeBounds(box)
	_, _, errBody := w.BodyBounds(b)
	_, errPoint := w.WorldPoint(b, vec{})
	if !errors.Is(err, physics3.ErrStale) || !errors.Is(errBody, physics3.ErrStale) || !errors.Is(errPoint, physics3.ErrStale) {
		t.Errorf("%v; %v; %v", err, errBody, errPoint)
	}
	b = addSphereOf(t, w, dynamicAt(0, 0, 0), 1, plain)
	if _, err := w.LocalPoint(b, vec{0, float32(math.NaN()), 0}); !errors.Is(err, physics3.ErrNotFinite) {
		t.Error(err)
	}
}
