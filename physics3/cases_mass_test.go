package physics3_test

import (
	"math"
	"testing"

	"github.com/evertick/evertick/physics3"
)

func density(d float32) physics3.ShapeDef {
	s := physics3.DefaultShapeDef()
	s.Density = d
	return s
}

func checkMass(t *testing.T, w *physics3.World, b physics3.Body, mass float64, inertia [6]float64, centre vector, tolerance float64) {
	t.Helper()
	m := must[physics3.MassData](t)(w.MassData(b))
	near(t, "mass", float64(m.Mass), mass, mass*tolerance)
	greatest := max(inertia[0], inertia[1], inertia[2])
	for k, v := range inertia {
		near(t, "inertia", float64(m.Inertia[k]), v, greatest*tolerance)
	}
	for k, v := range centre {
		near(t, "centre", float64(m.Center[k]), v, tolerance*max(1, length(centre)))
	}
}

// Case 11: a compound has the mass of the solid from which it is cut.
func TestCase11Compound(t *testing.T) {
	w := weightlessWorld(t, physics3.Config{})
	solid := addBoxOf(t, w, dynamicAt(0, 0, 0), [3]float32{1, 1, 2}, density(6./16))
	checkMass(t, w, solid, 6, [6]float64{10, 10, 4}, vector{}, 1e-5)

	halves := must[physics3.Body](t)(w.CreateBody(dynamicAt(0, 0, 0)))
	for _, z := range [2]float32{-1, 1} {
		must[physics3.Shape](t)(w.CreateBox(halves, density(3./8), physics3.Box{Half: [3]float32{1, 1, 1}, Center: [3]float32{0, 0, z}}))
	}
	checkMass(t, w, halves, 6, [6]float64{10, 10, 4}, vector{}, 1e-5)

	for _, q := range [][4]float32{{}, turn(vector{1, 1, 1}, math.Pi/6)} {
		cube := must[physics3.Body](t)(w.CreateBody(dynamicAt(0, 0, 0)))
		must[physics3.Shape](t)(w.CreateBox(cube, density(1), physics3.Box{Half: [3]float32{0.5, 0.5, 0.5}, Center: [3]float32{3, -2, 5}, Rotation: q}))
		checkMass(t, w, cube, 1, [6]float64{1. / 6, 1. / 6, 1. / 6}, vector{3, -2, 5}, 1e-5)
	}
}

// Case 12: a body whose shapes have no density can get a mass, and then turns as one of that density does.
func TestCase12MassOfABodyWithoutDensity(t *testing.T) {
	var worlds [2]*physics3.World
	var bodies [2]physics3.Body
	half := [3]float32{0.2, 5, 1.5}
	for k := range worlds {
		w := newWorld(t, physics3.Config{DisableSleep: true})
		shape := density(0)
		if k == 1 {
			shape.Density = 0.5 / (8 * 0.2 * 5 * 1.5)
		}
		shape.Friction = 0.5
		d := dynamicAt(-10, 6, 0)
		d.LinearVelocity = [3]float32{20, 0, 0}
		b := addBoxOf(t, w, d, half, shape)
		if k == 0 {
			third := float32(0.5 / 3)
			check(t, w.SetMassData(b, physics3.MassData{Mass: 0.5, Inertia: [6]float32{
				third * (half[1]*half[1] + half[2]*half[2]), third * (half[0]*half[0] + half[2]*half[2]), third * (half[0]*half[0] + half[1]*half[1]),
			}}))
		}
		worlds[k], bodies[k] = w, b
		checkMass(t, w, b, 0.5, [6]float64{4.541667, 0.381667, 4.173333}, vector{}, 1e-5)
	}
	var tilted [2]bool
	airborne := true
	for range 200 {
		for k, w := range worlds {
			steps(t, w, 1)
			up := rotated(rotationOf(t, w, bodies[k]), vector{0, 1, 0})
			tilted[k] = tilted[k] || math.Acos(min(up[1], 1)) > 0.5
			airborne = airborne && len(must[[]physics3.Touch](t)(w.AppendContacts(nil, bodies[k]))) == 0
		}
		if airborne {
			near(t, "the distance", length(minus(positionOf(t, worlds[0], bodies[0]), positionOf(t, worlds[1], bodies[1]))), 0, 1e-4)
		}
	}
	if airborne || tilted != [2]bool{true, true} {
		t.Errorf("airborne %v, tilted %v", airborne, tilted)
	}
}

// Case 13: a cylinder of m(r²/4 + L²/12) across, and two half balls of m(2r²/5 + h² + 3hr/4) at the ends.
func TestCase13Capsule(t *testing.T) {
	w := weightlessWorld(t, physics3.Config{})
	b := addBody(t, w, dynamicAt(0, 0, 0), func(b physics3.Body) (physics3.Shape, error) {
		return w.CreateCapsule(b, density(1000), physics3.Capsule{P1: [3]float32{0, -0.75, 0}, P2: [3]float32{0, 0.75, 0}, Radius: 0.5})
	})
	checkMass(t, w, b, 1701.6960, [6]float64{788.67066, 199.62203, 788.67066}, vector{}, 1e-5)
}

// Case 14: a coin has no skin that counts as mass. It comes to rest on a side.
func TestCase14Coin(t *testing.T) {
	w := newWorld(t, physics3.Config{DisableSleep: true})
	coin := uprightPrism(t, 32, 0.01, 0.001)
	d := dynamicAt(0, 0.05, 0)
	d.AngularVelocity = [3]float32{3, 0, 2}
	b := addBody(t, w, d, func(b physics3.Body) (physics3.Shape, error) {
		return w.CreateHull(b, density(7800), coin, physics3.Placement{})
	})
	checkMass(t, w, b, 4.8694e-3, [6]float64{1.2258e-7, 2.4191e-7, 1.2258e-7}, vector{}, 1e-3)
	steps(t, w, 180)
	linear, angular := velocityOf(t, w, b)
	up := rotated(rotationOf(t, w, b), vector{0, 1, 0})
	if length(linear) > 0.02 || length(angular) > 0.05 || math.Abs(up[1]) < 0.999 {
		t.Errorf("after 3 s the speed is %g m/s, the spin %g rad/s, the axis %v", length(linear), length(angular), up)
	}
	near(t, "the height", positionOf(t, w, b)[1], 0.001, 0.0005)
}
