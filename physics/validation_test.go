package physics

import (
	"errors"
	"math"
	"slices"
	"strings"
	"testing"
)

var (
	nan32 = float32(math.NaN())
	inf32 = float32(math.Inf(1))
)

// refusal is the result of an invalid call, and the expected one.
type refusal struct {
	words string
	is    error
	err   error
}

// refusals lists invalid calls, and the sentinel and the words that their errors must
// have.
func refusals(w *World, dynamic, static Body) []refusal {
	body := func(change func(*BodyDef)) error {
		d := DefaultBodyDef()
		d.Type = DynamicBody
		change(&d)
		_, err := w.CreateBody(d)
		return err
	}
	material := func(change func(*ShapeDef)) error {
		d := DefaultShapeDef()
		change(&d)
		_, err := w.CreateCircle(dynamic, d, Circle{Radius: 1})
		return err
	}
	circle := func(c Circle) error { _, err := w.CreateCircle(dynamic, DefaultShapeDef(), c); return err }
	polygon := func(p Polygon) error { _, err := w.CreatePolygon(dynamic, DefaultShapeDef(), p); return err }
	segment := func(s Segment) error { _, err := w.CreateSegment(dynamic, DefaultShapeDef(), s); return err }
	capsule := func(c Capsule) error { _, err := w.CreateCapsule(dynamic, DefaultShapeDef(), c); return err }
	points := func(p ...[2]float32) Polygon {
		out := Polygon{Count: len(p)}
		copy(out.Vertices[:], p)
		return out
	}
	return []refusal{
		{"BodyDef.Type = BodyType(3)", ErrRange, body(func(d *BodyDef) { d.Type = 3 })},
		{"BodyDef.Position[0] = NaN", ErrNotFinite, body(func(d *BodyDef) { d.Position[0] = nan32 })},
		{"BodyDef.Position[1] = -Inf", ErrNotFinite, body(func(d *BodyDef) { d.Position[1] = -inf32 })},
		{"BodyDef.Angle = NaN", ErrNotFinite, body(func(d *BodyDef) { d.Angle = nan32 })},
		{"BodyDef.LinearVelocity[1] = +Inf", ErrNotFinite, body(func(d *BodyDef) { d.LinearVelocity[1] = inf32 })},
		{"BodyDef.AngularVelocity = NaN", ErrNotFinite, body(func(d *BodyDef) { d.AngularVelocity = nan32 })},
		{"BodyDef.LinearDamping = -1", ErrRange, body(func(d *BodyDef) { d.LinearDamping = -1 })},
		{"BodyDef.LinearDamping = NaN", ErrNotFinite, body(func(d *BodyDef) { d.LinearDamping = nan32 })},
		{"BodyDef.AngularDamping = -0.5", ErrRange, body(func(d *BodyDef) { d.AngularDamping = -0.5 })},
		{"BodyDef.GravityScale = +Inf", ErrNotFinite, body(func(d *BodyDef) { d.GravityScale = inf32 })},
		{"BodyDef.Slot = 7", ErrRange, body(func(d *BodyDef) { d.Slot = 7 })},
		{"BodyDef.Slot = NoSlot", ErrRange, body(func(d *BodyDef) { d.HasSlot, d.Slot = true, NoSlot })},
		{"BodyDef.LinearVelocity = [0 1]", ErrRange,
			body(func(d *BodyDef) { d.Type = StaticBody; d.LinearVelocity[1] = 1 })},
		{"BodyDef.AngularVelocity = 1", ErrRange,
			body(func(d *BodyDef) { d.Type = StaticBody; d.AngularVelocity = 1 })},

		{"ShapeDef.Density = -1", ErrRange, material(func(d *ShapeDef) { d.Density = -1 })},
		{"ShapeDef.Density = +Inf", ErrNotFinite, material(func(d *ShapeDef) { d.Density = inf32 })},
		{"ShapeDef.Friction = NaN", ErrNotFinite, material(func(d *ShapeDef) { d.Friction = nan32 })},
		{"ShapeDef.Friction = -0.1", ErrRange, material(func(d *ShapeDef) { d.Friction = -0.1 })},
		{"ShapeDef.Restitution = -2", ErrRange, material(func(d *ShapeDef) { d.Restitution = -2 })},

		{"Circle.Radius = -1", ErrRange, circle(Circle{Radius: -1})},
		{"Circle.Radius = 0", ErrRange, circle(Circle{})},
		{"Circle.Radius = NaN", ErrNotFinite, circle(Circle{Radius: nan32})},
		{"Circle.Center[1] = +Inf", ErrNotFinite, circle(Circle{Center: [2]float32{0, inf32}, Radius: 1})},

		{"Polygon.Count = 0", ErrRange, polygon(Polygon{})},
		{"Polygon.Count = 2", ErrRange, polygon(points([2]float32{0, 0}, [2]float32{1, 0}))},
		{"Polygon.Count = 9", ErrRange, polygon(Polygon{Count: 9})},
		{"Polygon.Count = -1", ErrRange, polygon(Polygon{Count: -1})},
		{"Polygon.Vertices[2] = [NaN 1]", ErrNotFinite,
			polygon(points([2]float32{0, 0}, [2]float32{1, 0}, [2]float32{nan32, 1}))},
		{"Polygon.Vertices[", ErrRange, polygon(points([2]float32{1, 1}, [2]float32{1, 1}, [2]float32{1, 1}))},
		{"Polygon.Vertices[", ErrRange, polygon(points([2]float32{0, 0}, [2]float32{1, 1}, [2]float32{2, 2}))},
		{"Polygon.Vertices[", ErrRange, polygon(Box(0, 1))},
		{"Polygon.Vertices[", ErrNotFinite, polygon(Box(inf32, 1))},

		{"Segment.P2 = [1 1]", ErrRange, segment(Segment{P1: [2]float32{1, 1}, P2: [2]float32{1, 1}})},
		{"Segment.P1[0] = NaN", ErrNotFinite, segment(Segment{P1: [2]float32{nan32, 0}})},
		{"Capsule.P2 = [0 0]", ErrRange, capsule(Capsule{Radius: 1})},
		{"Capsule.Radius = 0", ErrRange, capsule(Capsule{P2: [2]float32{1, 0}})},
		{"Capsule.P1[1] = NaN", ErrNotFinite, capsule(Capsule{P1: [2]float32{0, nan32}, Radius: 1})},

		{"ApplyLinearImpulse: impulse[0] = NaN", ErrNotFinite,
			w.ApplyLinearImpulse(dynamic, [2]float32{nan32, 0}, [2]float32{})},
		{"ApplyLinearImpulse: point[1] = +Inf", ErrNotFinite,
			w.ApplyLinearImpulse(dynamic, [2]float32{}, [2]float32{0, inf32})},
		{"ApplyLinearImpulseToCenter: impulse[1] = -Inf", ErrNotFinite,
			w.ApplyLinearImpulseToCenter(dynamic, [2]float32{0, -inf32})},
		{"ApplyForceToCenter: force[0] = +Inf", ErrNotFinite,
			w.ApplyForceToCenter(dynamic, [2]float32{inf32, 0})},
		{"SetVelocity: linear[0] = NaN", ErrNotFinite, w.SetVelocity(dynamic, [2]float32{nan32, 0}, 0)},
		{"SetVelocity: angular = +Inf", ErrNotFinite, w.SetVelocity(dynamic, [2]float32{}, inf32)},
		{"SetVelocity: linear = [1 0]", ErrRange, w.SetVelocity(static, [2]float32{1, 0}, 0)},
		{"SetVelocity: angular = 2", ErrRange, w.SetVelocity(static, [2]float32{}, 2)},
		{"SetTransform: position[1] = NaN", ErrNotFinite, w.SetTransform(dynamic, [2]float32{0, nan32}, 0)},
		{"SetTransform: angle = -Inf", ErrNotFinite, w.SetTransform(dynamic, [2]float32{}, -inf32)},

		{"ApplyAngularImpulse: impulse = NaN", ErrNotFinite, w.ApplyAngularImpulse(dynamic, nan32)},
		{"ApplyForce: force[1] = -Inf", ErrNotFinite, w.ApplyForce(dynamic, [2]float32{0, -inf32}, [2]float32{})},
		{"ApplyForce: point[0] = NaN", ErrNotFinite, w.ApplyForce(dynamic, [2]float32{}, [2]float32{nan32, 0})},
		{"ApplyTorque: torque = +Inf", ErrNotFinite, w.ApplyTorque(dynamic, inf32)},
		{"SetGravity: gravity[1] = NaN", ErrNotFinite, w.SetGravity([2]float32{0, nan32})},
		{"SetTargetTransform: position[0] = +Inf", ErrNotFinite, w.SetTargetTransform(dynamic, [2]float32{inf32, 0}, 0, 1)},
		{"SetTargetTransform: angle = NaN", ErrNotFinite, w.SetTargetTransform(dynamic, [2]float32{}, nan32, 1)},
		{"SetTargetTransform: dt = 0", ErrRange, w.SetTargetTransform(dynamic, [2]float32{}, 0, 0)},
		{"ShapeDef.RollingResistance = -1", ErrRange, material(func(d *ShapeDef) { d.RollingResistance = -1 })},
		{"ShapeDef.TangentSpeed = NaN", ErrNotFinite, material(func(d *ShapeDef) { d.TangentSpeed = nan32 })},
		{"ShapeDef.TangentSpeed = -2e+06", ErrRange, material(func(d *ShapeDef) { d.TangentSpeed = -2e6 })},
		{"ShapeDef.Friction = 2e+06", ErrRange, material(func(d *ShapeDef) { d.Friction = 2e6 })},

		{"Step: dt = NaN", ErrNotFinite, w.Step(nan32)},
		{"Step: dt = +Inf", ErrNotFinite, w.Step(inf32)},
		{"Step: dt = 0", ErrRange, w.Step(0)},
		{"Step: dt = -0.5", ErrRange, w.Step(-0.5)},
	}
}

func TestBadInputIsNamedAndChangesNothing(t *testing.T) {
	w, f := newFakeWorld(t, Config{Capacity: 32})
	bodies := populate(t, w, 10)
	hash, calls, bodyCount, shapeCount := w.Hash(), f.calls, w.Len(), w.ShapeCount()
	for _, r := range refusals(w, bodies[2], bodies[3]) {
		if !errors.Is(r.err, r.is) || !strings.Contains(r.err.Error(), "physics: "+r.words) {
			t.Errorf("want %q, %v; got %v", r.words, r.is, r.err)
		}
	}
	if w.Hash() != hash || w.Len() != bodyCount || w.ShapeCount() != shapeCount {
		t.Error("a refused call changed the world")
	}
	if f.calls != calls {
		t.Errorf("%d refused calls reached the engine", f.calls-calls)
	}
}

// The solver of this package refuses all of these, and some that only a solver can detect.
func TestTheSolverRefusesBadInput(t *testing.T) {
	w := must[*World](t)(New(Config{Capacity: 32}))
	bodies := populate(t, w, 10)
	for range 3 {
		if err := w.Step(1. / 60); err != nil {
			t.Fatal(err)
		}
	}
	hash, bodyCount, shapeCount := w.Hash(), w.Len(), w.ShapeCount()
	for _, r := range slices.Concat(refusals(w, bodies[2], bodies[3]), solverRefusals(w, bodies[2], bodies[3])) {
		if !errors.Is(r.err, r.is) || !strings.Contains(r.err.Error(), "physics: "+r.words) {
			t.Errorf("want %q, %v; got %v", r.words, r.is, r.err)
		}
	}
	if w.Hash() != hash || w.Len() != bodyCount || w.ShapeCount() != shapeCount {
		t.Error("a refused call changed the world")
	}
	if err := w.Step(1. / 60); err != nil {
		t.Errorf("the world does not go on: %v", err)
	}
}

func solverRefusals(w *World, dynamic, static Body) []refusal {
	body := func(change func(*BodyDef)) error {
		d := DefaultBodyDef()
		change(&d)
		_, err := w.CreateBody(d)
		return err
	}
	circle := func(density float32, c Circle) error {
		d := DefaultShapeDef()
		d.Density = density
		_, err := w.CreateCircle(dynamic, d, c)
		return err
	}
	polygon := func(p ...[2]float32) error {
		out := Polygon{Count: len(p)}
		copy(out.Vertices[:], p)
		_, err := w.CreatePolygon(dynamic, DefaultShapeDef(), out)
		return err
	}
	_, thin := w.CreateSegment(static, DefaultShapeDef(), Segment{P2: [2]float32{0.001, 0}})
	_, short := w.CreateCapsule(dynamic, DefaultShapeDef(), Capsule{P2: [2]float32{0, 0.001}, Radius: 1})
	shape := Shape{w.shapes.Head[dynamic.index] - 1, 1}
	bad := DefaultShapeDef()
	bad.Friction = -1
	sensor := DefaultShapeDef()
	sensor.Sensor = true
	heavy := DefaultShapeDef()
	heavy.Density = 1e30
	return []refusal{
		{"BodyDef.Position[1] = -1e+19", ErrRange, body(func(d *BodyDef) { d.Position[1] = -1e19 })},
		{"BodyDef.GravityScale = 1e+20", ErrRange, body(func(d *BodyDef) { d.GravityScale = 1e20 })},
		{"SetTransform: position = 1e+19", ErrRange, w.SetTransform(dynamic, [2]float32{1e19}, 0)},
		{"SetTargetTransform: position = 1e+19", ErrRange, w.SetTargetTransform(dynamic, [2]float32{1e19}, 0, 1)},
		{"SetGravity: gravity = -1e+19", ErrRange, w.SetGravity([2]float32{0, -1e19})},
		{"BodyDef.Angle = 70000", ErrRange, body(func(d *BodyDef) { d.Angle = 70000 })},
		{"SetTransform: angle = -70000", ErrRange, w.SetTransform(dynamic, [2]float32{}, -70000)},
		{"SetTargetTransform: angle = 70000", ErrRange, w.SetTargetTransform(dynamic, [2]float32{}, 70000, 1)},
		{"SetTargetTransform: dt = 1e-09", ErrRange, w.SetTargetTransform(dynamic, [2]float32{}, 0, 1e-9)},
		{"SetTargetTransform: dt = +Inf", ErrNotFinite, w.SetTargetTransform(dynamic, [2]float32{}, 0, inf32)},
		{"SetVelocity", ErrRange, w.SetTargetTransform(dynamic, [2]float32{1e18, 0}, 0, 1e-3)},
		{"SetVelocity", ErrRange, w.SetVelocity(dynamic, [2]float32{1e19, 0}, 0)},
		{"ApplyLinearImpulse: impulse", ErrRange, w.ApplyLinearImpulse(dynamic, [2]float32{0, 3e38}, [2]float32{})},
		{"ApplyLinearImpulse: impulse", ErrRange, w.ApplyLinearImpulse(dynamic, [2]float32{0, 1e18}, [2]float32{1e18})},
		{"ApplyLinearImpulseToCenter: impulse", ErrRange, w.ApplyLinearImpulseToCenter(dynamic, [2]float32{3e38})},
		{"ApplyAngularImpulse: impulse", ErrRange, w.ApplyAngularImpulse(dynamic, 3e38)},
		{"ApplyForce: force", ErrRange, w.ApplyForce(dynamic, [2]float32{0, 3e38}, [2]float32{})},
		{"ApplyForce: force", ErrRange, w.ApplyForce(dynamic, [2]float32{0, 1e18}, [2]float32{1e18})},
		{"ApplyForceToCenter: force", ErrRange, w.ApplyForceToCenter(dynamic, [2]float32{0, 1e19})},
		{"ApplyTorque: torque", ErrRange, w.ApplyTorque(dynamic, -1e19)},
		{"SetType: type = BodyType(3)", ErrRange, w.SetType(dynamic, 3)},
		{"mass of the body", ErrRange, circle(1e30, Circle{Radius: 1})},
		{"mass of the body", ErrRange, circle(3e38, Circle{Radius: 1000})},
		{"inertia of the body", ErrRange, circle(1e10, Circle{Radius: 1e4})},
		{"mass of the body", ErrRange, w.SetShapeDef(shape, heavy)},
		{"ShapeDef.Friction = -1", ErrRange, w.SetShapeDef(shape, bad)},
		{"SetShapeDef: Sensor = true", ErrUnsupported, w.SetShapeDef(shape, sensor)},
		{"Shape = shape_0.0", ErrStale, w.SetShapeDef(Shape{}, bad)},
		{"rigid: MakeCircle: center", ErrRange, circle(1, Circle{Center: [2]float32{1e9, 0}, Radius: 1})},
		{"rigid: MakeCircle: radius", ErrRange, circle(1, Circle{Radius: 1e9})},
		{"rigid: MakeSegment: ends", ErrRange, thin},
		{"rigid: MakeCapsule: ends", ErrRange, short},
		{"Polygon.Vertices[1] = [1 0]", ErrRange, polygon([2]float32{}, [2]float32{1, 0}, [2]float32{1, 0.001}, [2]float32{0, 1})},
		{"Polygon.Vertices[", ErrRange, polygon([2]float32{}, [2]float32{2, 0}, [2]float32{2, 2}, [2]float32{1, 1}, [2]float32{0, 2})},
		{"Step: dt = 1e-07", ErrRange, w.Step(1e-7)},
		{"Step: dt = 2000", ErrRange, w.Step(2000)},
	}
}

func TestBodyDefReportsEveryFaultAtOnce(t *testing.T) {
	d := BodyDef{Type: 9, Angle: nan32, LinearDamping: -1}
	err := d.Validate()
	for _, part := range []string{"Type", "Angle", "LinearDamping"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s is missing in %v", part, err)
		}
	}
}
