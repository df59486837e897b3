package physics_test

import (
	"math"
	"testing"

	"github.com/evertick/evertick/physics"
)

const dt = float32(1. / 60)

// fixture is a world in which nothing may fail.
type fixture struct {
	testing.TB
	w *physics.World
}

// newFixture returns a world with the gravity g along the second axis. A test that fails
// leaves a picture of it.
func newFixture(t testing.TB, g float32, engine ...physics.Engine) fixture {
	t.Helper()
	c := physics.Config{Gravity: [2]float32{0, g}, Capacity: 1024}
	if len(engine) > 0 {
		c.Engine = engine[0]
		return fixture{t, newWorld(t, c)}
	}
	w := newWorld(t, c)
	keepPicture(t, w)
	return fixture{t, w}
}

// material is a default shape definition with some friction and restitution.
func material(friction, restitution float32) physics.ShapeDef {
	d := physics.DefaultShapeDef()
	d.Friction, d.Restitution = friction, restitution
	return d
}

var plain = physics.DefaultShapeDef()

func (r fixture) no(err error) {
	r.Helper()
	if err != nil {
		r.Fatal(err)
	}
}

// body makes a body that does not sleep, as change says.
func (r fixture) body(kind physics.BodyType, x, y float32, change ...func(d *physics.BodyDef)) physics.Body {
	r.Helper()
	d := physics.DefaultBodyDef()
	d.Type, d.Position, d.DisableSleep = kind, [2]float32{x, y}, true
	for _, f := range change {
		f(&d)
	}
	b, err := r.w.CreateBody(d)
	r.no(err)
	return b
}

func (r fixture) dynamic(x, y float32, change ...func(d *physics.BodyDef)) physics.Body {
	r.Helper()
	return r.body(physics.DynamicBody, x, y, change...)
}

// moving is a change of a body.
func moving(vx, vy, w float32) func(d *physics.BodyDef) {
	return func(d *physics.BodyDef) { d.LinearVelocity, d.AngularVelocity = [2]float32{vx, vy}, w }
}

// turned is a change of a body.
func turned(angle float64) func(d *physics.BodyDef) {
	return func(d *physics.BodyDef) { d.Angle = float32(angle) }
}

func (r fixture) circle(b physics.Body, d physics.ShapeDef, radius float32) physics.Shape {
	r.Helper()
	s, err := r.w.CreateCircle(b, d, physics.Circle{Radius: radius})
	r.no(err)
	return s
}

func (r fixture) polygon(b physics.Body, d physics.ShapeDef, p physics.Polygon) physics.Shape {
	r.Helper()
	s, err := r.w.CreatePolygon(b, d, p)
	r.no(err)
	return s
}

func (r fixture) box(b physics.Body, d physics.ShapeDef, hx, hy float32) physics.Shape {
	r.Helper()
	return r.polygon(b, d, physics.Box(hx, hy))
}

func (r fixture) segment(b physics.Body, d physics.ShapeDef, x1, y1, x2, y2 float32) physics.Shape {
	r.Helper()
	s, err := r.w.CreateSegment(b, d, physics.Segment{P1: [2]float32{x1, y1}, P2: [2]float32{x2, y2}})
	r.no(err)
	return s
}

func (r fixture) capsule(b physics.Body, d physics.ShapeDef, x1, y1, x2, y2, radius float32) physics.Shape {
	r.Helper()
	s, err := r.w.CreateCapsule(b, d, physics.Capsule{P1: [2]float32{x1, y1}, P2: [2]float32{x2, y2}, Radius: radius})
	r.no(err)
	return s
}

// floor is a static box of 400 m whose top is at 0.
func (r fixture) floor(d physics.ShapeDef) physics.Body {
	r.Helper()
	b := r.body(physics.StaticBody, 0, -1)
	r.box(b, d, 200, 1)
	return b
}

func (r fixture) steps(n int) {
	r.Helper()
	for range n {
		r.no(r.w.Step(dt))
	}
}

// seconds are steps for so long.
func (r fixture) seconds(s float64) { r.Helper(); r.steps(int(math.Round(s * 60))) }

func (r fixture) at(b physics.Body) (x, y float64) {
	r.Helper()
	p, err := r.w.Position(b)
	r.no(err)
	return float64(p[0]), float64(p[1])
}

func (r fixture) angle(b physics.Body) float64 {
	r.Helper()
	a, err := r.w.Angle(b)
	r.no(err)
	return float64(a)
}

func (r fixture) velocity(b physics.Body) (vx, vy, w float64) {
	r.Helper()
	v, spin, err := r.w.Velocity(b)
	r.no(err)
	return float64(v[0]), float64(v[1]), float64(spin)
}

// near complains unless got is within tolerance of want.
func (r fixture) near(what string, got, want, tolerance float64) {
	r.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		r.Errorf("%s: %.6g, want %.6g ± %.2g", what, got, want, tolerance)
	}
}

// motion is what the bodies have in common, in float64.
type motion struct{ px, py, spin, energy, speed float64 }

// total sums up momentum, angular momentum about the origin, kinetic energy, and the
// amounts of momentum.
func (r fixture) total() (m motion) {
	c := r.w.Columns()
	for i := range r.w.Rows() {
		if c.InvMass[i] == 0 {
			continue
		}
		mass, inertia := 1/float64(c.InvMass[i]), 0.0
		if c.InvInertia[i] > 0 {
			inertia = 1 / float64(c.InvInertia[i])
		}
		cos, sin := float64(c.Cos[i]), float64(c.Sin[i])
		lx, ly := float64(c.CentreX[i]), float64(c.CentreY[i])
		x, y := float64(c.X[i])+cos*lx-sin*ly, float64(c.Y[i])+sin*lx+cos*ly
		vx, vy, w := float64(c.VX[i]), float64(c.VY[i]), float64(c.W[i])
		m.px += mass * vx
		m.py += mass * vy
		m.spin += mass*(x*vy-y*vx) + inertia*w
		m.energy += (mass*(vx*vx+vy*vy) + inertia*w*w) / 2
		m.speed += mass * math.Hypot(vx, vy)
	}
	return m
}
