package physics_test

import (
	"math"
	"testing"

	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics/box2d"
)

// worlds are the same without gravity over both engines.
func worlds(t testing.TB) map[string]*physics.World {
	return map[string]*physics.World{
		"solver": newWorld(t, physics.Config{}), "box2d": must[*physics.World](t)(box2d.New(physics.Config{})),
	}
}

func near(t *testing.T, what string, got, want, tolerance float32) {
	t.Helper()
	if !(math.Abs(float64(got-want)) <= float64(tolerance)) {
		t.Errorf("%s is %g, want %g", what, got, want)
	}
}

// A disc of radius 1 and density 1 has mass π and inertia π/2.
func TestForcesAndImpulses(t *testing.T) {
	for name, w := range worlds(t) {
		b := body(t, w, physics.DynamicBody, 3, 4)
		circle(t, w, b, physics.DefaultShapeDef(), 1)
		static := body(t, w, physics.StaticBody, 9, 9)
		circle(t, w, static, physics.DefaultShapeDef(), 1)
		velocity := func(what string, vx, vy, spin float32) {
			t.Helper()
			v, got, err := w.Velocity(b)
			if err != nil {
				t.Fatal(err)
			}
			near(t, name+": "+what+": VX", v[0], vx, 1e-5)
			near(t, name+": "+what+": VY", v[1], vy, 1e-5)
			near(t, name+": "+what+": W", got, spin, 1e-5)
			if err := w.SetVelocity(b, [2]float32{}, 0); err != nil {
				t.Fatal(err)
			}
		}
		do := func(call func(physics.Body) error) {
			t.Helper()
			for _, x := range []physics.Body{b, static} {
				if err := call(x); err != nil {
					t.Fatal(err)
				}
			}
		}
		do(func(b physics.Body) error { return w.ApplyAngularImpulse(b, math.Pi) })
		velocity("ApplyAngularImpulse", 0, 0, 2)
		do(func(b physics.Body) error {
			return w.ApplyLinearImpulse(b, [2]float32{0, math.Pi}, [2]float32{4, 4})
		})
		velocity("ApplyLinearImpulse", 0, 1, 2)
		do(func(b physics.Body) error { return w.ApplyTorque(b, math.Pi) })
		steps(t, w, 1)
		velocity("ApplyTorque", 0, 0, 2./60)
		at := must[[2]float32](t)(w.Position(b))
		do(func(b physics.Body) error {
			return w.ApplyForce(b, [2]float32{math.Pi, 0}, [2]float32{at[0], at[1] + 0.5})
		})
		do(func(b physics.Body) error { return w.ApplyForceToCenter(b, [2]float32{0, math.Pi}) })
		steps(t, w, 1)
		velocity("ApplyForce", 1./60, 1./60, -1./60)
		steps(t, w, 1)
		velocity("a step later", 0, 0, 0)
		if err := w.SetGravity([2]float32{1, 2}); err != nil {
			t.Fatal(err)
		}
		steps(t, w, 1)
		velocity("SetGravity", 1./60, 2./60, 0)
		if g := w.Config().Gravity; g != [2]float32{1, 2} {
			t.Errorf("%s: Config().Gravity = %v", name, g)
		}
		if p := must[[2]float32](t)(w.Position(static)); p != [2]float32{9, 9} {
			t.Errorf("%s: the static body is at %v", name, p)
		}
	}
}

func TestTargetsAreReached(t *testing.T) {
	for _, n := range []int{1, 4, 8} {
		w := newWorld(t, physics.Config{SubSteps: n})
		b := body(t, w, physics.KinematicBody, 1, 2)
		box(t, w, b, 0.5, 0.5)
		at := [2]float32{1, 2}
		for i, angle := range []float32{0, 1, -2, 3, -3, 0.5, 2.8, 2.8} {
			at[0] += float32(i) / 4
			at[1] -= 0.5
			if err := w.SetTargetTransform(b, at, angle, 1./60); err != nil {
				t.Fatal(err)
			}
			steps(t, w, 1)
			p, a := must[[2]float32](t)(w.Position(b)), must[float32](t)(w.Angle(b))
			near(t, "X", p[0], at[0], 1e-5)
			near(t, "Y", p[1], at[1], 1e-5)
			near(t, "angle", a, angle, 2e-5)
		}
	}
}

// A kinematic platform carries bodies along.
func TestTargetsPush(t *testing.T) {
	w := newWorld(t, physics.Config{Gravity: [2]float32{0, -10}})
	lift := body(t, w, physics.KinematicBody, 0, 0)
	box(t, w, lift, 3, 0.5)
	crate := body(t, w, physics.DynamicBody, 0, 1)
	box(t, w, crate, 0.5, 0.5)
	for i := range 240 {
		y := float32(i+1) / 60
		if err := w.SetTargetTransform(lift, [2]float32{0, y}, 0, 1./60); err != nil {
			t.Fatal(err)
		}
		steps(t, w, 1)
	}
	near(t, "the crate's height", must[[2]float32](t)(w.Position(crate))[1], 5, 0.02)
}

// Mass, inertia and centre of a body of two squares, by the parallel axes.
func TestMassData(t *testing.T) {
	w := newWorld(t, physics.Config{})
	d := physics.DefaultBodyDef()
	d.Type, d.Position, d.Angle = physics.DynamicBody, [2]float32{10, 20}, math.Pi/2
	d.AngularVelocity = 2
	b := must[physics.Body](t)(w.CreateBody(d))
	if m := must[physics.MassData](t)(w.MassData(b)); m != (physics.MassData{Mass: 1}) || w.Columns().InvInertia[0] != 0 {
		t.Errorf("without shapes %+v", m)
	}
	square := func(x, density float32) physics.Shape {
		t.Helper()
		def := physics.DefaultShapeDef()
		def.Density = density
		p := physics.Box(0.5, 0.5)
		for i := range p.Count {
			p.Vertices[i][0] += x
		}
		return must[physics.Shape](t)(w.CreatePolygon(b, def, p))
	}
	square(1, 1)
	second := square(5, 3)
	m := must[physics.MassData](t)(w.MassData(b))
	near(t, "mass", m.Mass, 4, 1e-5)
	near(t, "centre", m.Center[0], 4, 1e-5)
	near(t, "inertia", m.Inertia, 4./6+1*9+3*1, 1e-4)
	at := must[[2]float32](t)(w.WorldCenter(b))
	near(t, "X of the centre", at[0], 10, 1e-5)
	near(t, "Y of the centre", at[1], 24, 1e-5)
	v, _, _ := w.Velocity(b)
	near(t, "VX of the centre, 4 m above the origin", v[0], -8, 1e-5)
	near(t, "1/mass", w.Columns().InvMass[0], 0.25, 1e-6)
	if err := w.DestroyShape(second); err != nil {
		t.Fatal(err)
	}
	near(t, "mass", must[physics.MassData](t)(w.MassData(b)).Mass, 1, 1e-6)
	v, _, _ = w.Velocity(b)
	near(t, "VX of the centre, 1 m above the origin", v[0], -2, 1e-5)
	for _, c := range []struct {
		t    physics.BodyType
		mass float32
	}{{physics.KinematicBody, 0}, {physics.DynamicBody, 1}, {physics.StaticBody, 0}, {physics.DynamicBody, 1}} {
		if err := w.SetType(b, c.t); err != nil {
			t.Fatal(err)
		}
		near(t, c.t.String()+" mass", must[physics.MassData](t)(w.MassData(b)).Mass, c.mass, 1e-6)
	}
	if v, spin, _ := w.Velocity(b); v != [2]float32{} || spin != 0 {
		t.Errorf("a body that was static moves at %v, %v", v, spin)
	}
}

// A body that becomes static stops others; a dynamic one falls.
func TestSetTypeInAScene(t *testing.T) {
	w := newWorld(t, physics.Config{Gravity: [2]float32{0, -10}})
	a, b := body(t, w, physics.DynamicBody, 0, 0), body(t, w, physics.DynamicBody, 0, 3)
	box(t, w, a, 0.5, 0.5)
	box(t, w, b, 0.5, 0.5)
	if err := w.SetType(a, physics.StaticBody); err != nil {
		t.Fatal(err)
	}
	steps(t, w, 120)
	near(t, "the upper box", must[[2]float32](t)(w.Position(b))[1], 1, 0.01)
	near(t, "the lower box", must[[2]float32](t)(w.Position(a))[1], 0, 0)
	if err := w.SetType(a, physics.DynamicBody); err != nil {
		t.Fatal(err)
	}
	steps(t, w, 60)
	near(t, "the lower box", must[[2]float32](t)(w.Position(a))[1], -5, 0.2)
	near(t, "the upper box", must[[2]float32](t)(w.Position(b))[1], -4, 0.2)
}
