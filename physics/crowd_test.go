package physics_test

import (
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/physics"
)

// crowd is a world of all kinds of bodies and shapes in a box. A seed determines all changes: two crowds with the same
// seed behave in the same way.
type crowd struct {
	*physics.World
	t   testing.TB
	rng *rand.PCG
	n   int // bodies to keep
}

func newCrowd(t testing.TB, c physics.Config, n int, seed uint64) *crowd {
	t.Helper()
	c.Gravity = [2]float32{0, -10}
	w := &crowd{World: newWorld(t, c), t: t, rng: rand.NewPCG(seed, 1), n: n}
	const wide = 12
	walls := body(t, w.World, physics.StaticBody, 0, 0)
	for _, s := range []physics.Segment{
		{P1: [2]float32{-wide, 0}, P2: [2]float32{wide, 0}},
		{P1: [2]float32{-wide, 0}, P2: [2]float32{-wide, 50}},
		{P1: [2]float32{wide, 50}, P2: [2]float32{wide, 0}},
	} {
		must[physics.Shape](t)(w.CreateSegment(walls, physics.DefaultShapeDef(), s))
	}
	sensor := physics.DefaultShapeDef()
	sensor.Sensor = true
	must[physics.Shape](t)(w.CreatePolygon(walls, sensor, physics.Box(3, 3)))
	for range n {
		w.add()
	}
	return w
}

// clone returns a copy that will behave in the same way.
func (w *crowd) clone() *crowd {
	w.t.Helper()
	rng := *w.rng
	return &crowd{World: must[*physics.World](w.t)(w.Clone()), t: w.t, rng: &rng, n: w.n}
}

func (w *crowd) float(low, high float32) float32 {
	return low + float32(float32(w.rng.Uint64()>>40)/(1<<24)*(high-low))
}

func (w *crowd) pick(n int) int { return int(w.rng.Uint64() % uint64(n)) }

// add adds a body with one to three shapes.
func (w *crowd) add() {
	w.t.Helper()
	d := physics.DefaultBodyDef()
	d.Type = physics.DynamicBody
	if w.pick(10) == 0 {
		d.Type = physics.KinematicBody
	}
	d.Position = [2]float32{w.float(-10, 10), w.float(1, 20)}
	d.Angle = w.float(-3, 3)
	d.LinearVelocity = [2]float32{w.float(-3, 3), w.float(-3, 3)}
	d.AngularVelocity = w.float(-2, 2)
	d.LinearDamping, d.AngularDamping = w.float(0, 1), w.float(0, 1)
	d.FixedRotation = w.pick(8) == 0
	b := must[physics.Body](w.t)(w.CreateBody(d))
	for range 1 + w.pick(3) {
		w.shape(b)
	}
	if w.pick(2) == 0 {
		w.join(b)
	}
}

// join makes a joint from a body to a random other one.
func (w *crowd) join(b physics.Body) {
	w.t.Helper()
	other, ok := w.BodyAt(w.pick(w.Rows()))
	if !ok || other == b {
		return
	}
	d := common(other, b)
	if w.pick(2) == 0 {
		d = common(b, other)
	}
	d.FrameA = at(w.float(-1, 1), w.float(-1, 1), w.float(-3, 3))
	d.FrameB, ok = w.facing(d)
	if !ok {
		return
	}
	d.CollideConnected = w.pick(2) == 0
	if w.pick(4) == 0 {
		d.BreakForce, d.BreakTorque = w.float(0, 200), w.float(0, 50)
	}
	must[physics.Joint](w.t)(jointMakers[w.pick(len(jointMakers))].create(w.World, d))
}

// facing returns the frame of body B at the place of that of body A, if the two are near each other.
func (w *crowd) facing(d physics.JointDef) (physics.JointFrame, bool) {
	c, a, b := w.Columns(), d.BodyA.Index(), d.BodyB.Index()
	p := d.FrameA.Point
	x := c.X[a] + float32(c.Cos[a]*p[0]) - float32(c.Sin[a]*p[1]) - c.X[b]
	y := c.Y[a] + float32(c.Sin[a]*p[0]) + float32(c.Cos[a]*p[1]) - c.Y[b]
	x, y = float32(c.Cos[b]*x)+float32(c.Sin[b]*y), float32(c.Cos[b]*y)-float32(c.Sin[b]*x)
	return at(x, y, d.FrameA.Angle+c.Angle[a]-c.Angle[b]), float32(x*x)+float32(y*y) < 9
}

// stirJoint changes a joint, if there is one.
func (w *crowd) stirJoint() error {
	w.t.Helper()
	j, ok := w.JointAt(w.pick(64))
	if !ok {
		return nil
	}
	if w.pick(3) == 0 {
		return w.DestroyJoint(j)
	}
	switch kind, _ := w.JointKind(j); kind {
	case physics.MouseJoint:
		return w.SetMouseTarget(j, [2]float32{w.float(-5, 5), w.float(0, 5)})
	case physics.RevoluteJoint, physics.WheelJoint, physics.PrismaticJoint:
		return w.SetMotorSpeed(j, w.float(-3, 3))
	case physics.WeldJoint:
		var d physics.WeldJointDef
		_ = w.JointDef(j, &d)
		d.AngularHertz = 5 - d.AngularHertz
		return w.SetJointDef(j, &d)
	}
	return nil
}

func (w *crowd) shape(b physics.Body) {
	w.t.Helper()
	d := physics.DefaultShapeDef()
	d.Friction, d.Restitution, d.Density = w.float(0, 1), w.float(0, 0.8), w.float(0.5, 2)
	d.RollingResistance, d.Sensor = w.float(0, 0.1), w.pick(10) == 0
	if w.pick(5) == 0 {
		d.TangentSpeed = w.float(-1, 1)
	}
	at := [2]float32{w.float(-0.5, 0.5), w.float(-0.5, 0.5)}
	r := w.float(0.1, 0.4)
	var err error
	switch w.pick(4) {
	case 0:
		_, err = w.CreateCircle(b, d, physics.Circle{Center: at, Radius: r})
	case 1:
		_, err = w.CreateCapsule(b, d, physics.Capsule{P1: at, P2: [2]float32{at[0] + r, at[1]}, Radius: r})
	case 2:
		_, err = w.CreatePolygon(b, d, physics.Box(r, 2*r))
	default:
		var p physics.Polygon
		p, err = physics.NewPolygon(at, [2]float32{at[0] + 2*r, at[1]}, [2]float32{at[0], at[1] + r})
		if err == nil {
			p.Radius = 0.05
			_, err = w.CreatePolygon(b, d, p)
		}
	}
	if err != nil {
		w.t.Fatal(err)
	}
}

// stir changes a few bodies, and keeps their number.
func (w *crowd) stir() {
	w.t.Helper()
	for range 3 {
		b, ok := w.BodyAt(1 + w.pick(w.Rows()-1))
		if !ok || w.Disabled(b) {
			continue
		}
		j := [2]float32{w.float(-3, 3), w.float(-3, 3)}
		at := must[[2]float32](w.t)(w.Position(b))
		var err error
		switch w.pick(9) {
		case 0:
			err = w.ApplyLinearImpulse(b, j, at)
		case 1:
			err = w.ApplyForce(b, [2]float32{30 * j[0], 30 * j[1]}, [2]float32{at[0] + 0.1, at[1]})
		case 2:
			err = w.ApplyTorque(b, j[0])
		case 3:
			err = w.SetVelocity(b, j, j[1])
		case 4:
			err = w.SetTransform(b, [2]float32{at[0], at[1] + 1}, j[0])
		case 5:
			err = w.DestroyBody(b)
			w.add()
		case 6:
			w.shape(b)
		case 7:
			w.join(b)
		case 8:
			err = w.stirJoint()
		}
		if err != nil {
			w.t.Fatal(err)
		}
	}
}

func (w *crowd) step() {
	w.t.Helper()
	w.stir()
	if err := w.Step(1. / 60); err != nil {
		w.t.Fatal(err)
	}
}

func (w *crowd) run(n int) {
	w.t.Helper()
	for range n {
		w.step()
	}
}

// sameState fails if two worlds differ, naming the first column that does.
func sameState(t testing.TB, what string, a, b *physics.World) {
	t.Helper()
	x, y := a.AppendColumnHashes(nil), b.AppendColumnHashes(nil)
	if len(x) != len(y) {
		t.Fatalf("%s: %d and %d columns", what, len(x), len(y))
	}
	for i := range x {
		if x[i] != y[i] {
			t.Fatalf("%s: column %s differs", what, x[i].Name)
		}
	}
}

func must[T any](t testing.TB) func(T, error) T {
	return func(v T, err error) T {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		return v
	}
}
