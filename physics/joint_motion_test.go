package physics_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/evertick/evertick/physics"
)

func (r fixture) join(j physics.Joint, err error) physics.Joint {
	r.Helper()
	r.no(err)
	return j
}

// hinge makes a revolute joint at a point of the world, between bodies that are not rotated.
func (r fixture) hinge(a, b physics.Body, x, y float32, change ...func(d *physics.RevoluteJointDef)) physics.Joint {
	r.Helper()
	d := physics.DefaultRevoluteJointDef()
	d.JointDef = r.between(a, b, x, y)
	for _, f := range change {
		f(&d)
	}
	return r.join(r.w.CreateRevoluteJoint(d))
}

// between returns a definition whose frames are both at a point of the world, unless a body is
// rotated.
func (r fixture) between(a, b physics.Body, x, y float32) physics.JointDef {
	r.Helper()
	ax, ay := r.at(a)
	bx, by := r.at(b)
	return physics.JointDef{BodyA: a, BodyB: b, FrameA: at(x-float32(ax), y-float32(ay), 0), FrameB: at(x-float32(bx), y-float32(by), 0)}
}

func (r fixture) read(f func(physics.Joint) (float32, error), j physics.Joint) float64 {
	r.Helper()
	v, err := f(j)
	r.no(err)
	return float64(v)
}

// apart returns the distance between the points of a joint.
func (r fixture) apart(j physics.Joint) float64 { r.Helper(); return r.read(r.w.JointLength, j) }

// The period of a pendulum on any kind of joint is 2π√(l/g) for a point on a rod without
// mass, and 2π√((I + m·l²)/(m·g·l)) for a body.
func TestPendulumPeriod(t *testing.T) {
	const g, l = 10, 2.0
	for name, c := range map[string]struct {
		hang   func(r fixture, a, b physics.Body)
		period float64
	}{
		"rod": {func(r fixture, a, b physics.Body) {
			d := physics.DefaultDistanceJointDef()
			d.BodyA, d.BodyB, d.Length = a, b, l
			r.join(r.w.CreateDistanceJoint(d))
		}, 2 * math.Pi * math.Sqrt(l/g)},
		"rope": {func(r fixture, a, b physics.Body) {
			d := physics.DefaultDistanceJointDef()
			d.BodyA, d.BodyB, d.Length, d.EnableSpring, d.EnableLimit, d.MaxLength = a, b, 1, true, true, l
			r.join(r.w.CreateDistanceJoint(d))
		}, 2 * math.Pi * math.Sqrt(l/g)},
		"hinge": {func(r fixture, a, b physics.Body) { r.hinge(a, b, 0, 0) }, 2 * math.Pi * math.Sqrt((0.125+l*l)/(l*g))},
	} {
		r := newFixture(t, -g)
		const start = 0.2
		a := r.body(physics.StaticBody, 0, 0)
		b := r.dynamic(float32(l*math.Sin(start)), float32(-l*math.Cos(start)))
		r.circle(b, plain, 0.5) // inertia 1/2·m·r²
		c.hang(r, a, b)
		var crossings []float64
		before := l * math.Sin(start)
		for n := 1; len(crossings) < 21; n++ {
			r.steps(1)
			if n > 3000 {
				t.Fatalf("%s: does not swing", name)
			}
			x, _ := r.at(b)
			if (x < 0) != (before < 0) {
				crossings = append(crossings, (float64(n)-x/(x-before))/60)
			}
			before = x
		}
		got := (crossings[20] - crossings[0]) / 10
		want := c.period * (1 + start*start/16)
		r.near(name+": period", got/want, 1, 0.01)
		x, y := r.at(b)
		r.near(name+": length", math.Hypot(x, y), l, 0.01)
	}
}

func TestRevoluteMotorAndLimit(t *testing.T) {
	r := newFixture(t, 0)
	a, b := r.body(physics.StaticBody, 0, 0), r.dynamic(0, 0)
	r.box(b, plain, 1, 0.1)
	j := r.hinge(a, b, 0, 0, func(d *physics.RevoluteJointDef) {
		d.EnableMotor, d.MaxMotorTorque, d.MotorSpeed = true, 1000, 2
	})
	r.steps(30)
	r.near("speed", r.read(r.w.JointSpeed, j), 2, 1e-3)
	r.near("angle", r.read(r.w.JointAngle, j), 1, 0.02)
	r.no(r.w.SetMotorSpeed(j, -2))
	r.steps(60)
	r.near("angle", r.read(r.w.JointAngle, j), -1, 0.05)
	d := defOf[physics.RevoluteJointDef](t, r.w, j)
	d.EnableLimit, d.LowerAngle, d.UpperAngle, d.MaxMotorTorque = true, -1.5, 1.5, 3
	r.no(r.w.SetJointDef(j, &d))
	r.steps(120)
	r.near("angle at the limit", r.read(r.w.JointAngle, j), -1.5, 0.01)
	r.near("torque at rest, motor and limit", r.read(r.w.JointTorque, j), 0, 0.01)
	d.EnableMotor = false
	r.no(r.w.SetJointDef(j, &d))
	r.no(r.w.SetVelocity(b, [2]float32{}, 5))
	r.steps(120)
	if a := r.read(r.w.JointAngle, j); a > 1.51 || a < 1 {
		t.Errorf("angle %v after a push to the upper limit", a)
	}
}

// A motor with a known torque accelerates its body accordingly.
func TestMotorTorque(t *testing.T) {
	r := newFixture(t, 0)
	a, b := r.body(physics.StaticBody, 0, 0), r.dynamic(0, 0)
	r.box(b, plain, 1, 0.1)
	m, err := r.w.MassData(b)
	r.no(err)
	j := r.hinge(a, b, 0, 0, func(d *physics.RevoluteJointDef) {
		d.EnableMotor, d.MaxMotorTorque, d.MotorSpeed = true, 0.1, 1000
	})
	r.steps(60)
	r.near("speed", r.read(r.w.JointSpeed, j), 0.1/float64(m.Inertia), 1e-3)
	r.near("torque", r.read(r.w.JointTorque, j), 0.1, 1e-4)
}

func TestRevoluteSpring(t *testing.T) {
	r := newFixture(t, 0)
	a, b := r.body(physics.StaticBody, 0, 0), r.dynamic(0, 0)
	r.box(b, plain, 1, 0.1)
	j := r.hinge(a, b, 0, 0, func(d *physics.RevoluteJointDef) {
		d.EnableSpring, d.Hertz, d.Damping, d.TargetAngle = true, 1, 1, 0.75
	})
	r.seconds(3)
	r.near("angle", r.read(r.w.JointAngle, j), 0.75, 0.01)
	r.near("speed", r.read(r.w.JointSpeed, j), 0, 0.01)
}

// The joint force of a hanging body is its weight.
func TestJointForceIsTheWeight(t *testing.T) {
	r := newFixture(t, -10)
	a := r.body(physics.StaticBody, 0, 0)
	for i, m := range []func(d physics.JointDef) (physics.Joint, error){
		func(d physics.JointDef) (physics.Joint, error) {
			return r.w.CreateDistanceJoint(physics.DistanceJointDef{JointDef: d, Length: 2})
		},
		func(d physics.JointDef) (physics.Joint, error) {
			return r.w.CreateDistanceJoint(physics.DistanceJointDef{JointDef: d, Length: 2, EnableSpring: true, Hertz: 5, Damping: 1})
		},
		func(d physics.JointDef) (physics.Joint, error) {
			d.FrameA.Point[1] = -2
			return r.w.CreateRevoluteJoint(physics.RevoluteJointDef{JointDef: d})
		},
		func(d physics.JointDef) (physics.Joint, error) {
			d.FrameA.Point[1], d.FrameA.Angle = -2, math.Pi/2
			return r.w.CreatePrismaticJoint(physics.PrismaticJointDef{JointDef: d, EnableLimit: true})
		},
		func(d physics.JointDef) (physics.Joint, error) {
			d.FrameA.Point[1] = -2
			return r.w.CreatePrismaticJoint(physics.PrismaticJointDef{JointDef: d})
		},
		func(d physics.JointDef) (physics.Joint, error) {
			d.FrameA.Point[1] = -2
			return r.w.CreateWeldJoint(physics.WeldJointDef{JointDef: d})
		},
		func(d physics.JointDef) (physics.Joint, error) {
			d.FrameA.Point[1], d.FrameA.Angle = -2, math.Pi/2
			return r.w.CreateWheelJoint(physics.WheelJointDef{JointDef: d, EnableSpring: true, Hertz: 4, Damping: 1})
		},
		func(d physics.JointDef) (physics.Joint, error) {
			d.FrameA.Point[1] = -2
			return r.w.CreateMotorJoint(physics.MotorJointDef{JointDef: d, LinearHertz: 5, LinearDamping: 1, MaxSpringForce: 1000})
		},
		func(d physics.JointDef) (physics.Joint, error) {
			return r.w.CreateMouseJoint(physics.MouseJointDef{JointDef: d, Target: [2]float32{40, -2}, Hertz: 5, Damping: 1, MaxForce: 1000})
		},
	} {
		x := float32(5 * (i + 1 - 1))
		b := r.dynamic(x, -2)
		r.box(b, plain, 0.5, 0.5)
		d := common(a, b)
		d.FrameA.Point[0] = x
		j := r.join(m(d))
		r.seconds(4)
		what := fmt.Sprintf("joint %d: ", i)
		f, err := r.w.JointForce(j)
		r.no(err)
		r.near(what+"force up", float64(f[1]), 10, 0.05)
		r.near(what+"force aside", float64(f[0]), 0, 0.05)
		_, vy, _ := r.velocity(b)
		r.near(what+"at rest", vy, 0, 0.01)
	}
}

// The weld of a beam to a wall bears its weight with force and torque.
func TestWeldTorque(t *testing.T) {
	for _, hertz := range []float32{0, 10} {
		r := newFixture(t, -10)
		a, b := r.body(physics.StaticBody, 0, 0), r.dynamic(1, 0)
		r.box(b, plain, 1, 0.1) // 0.4 kg
		d := physics.WeldJointDef{JointDef: r.between(a, b, 0, 0), AngularHertz: hertz, AngularDamping: 1}
		j := r.join(r.w.CreateWeldJoint(d))
		r.seconds(5)
		r.near("torque", r.read(r.w.JointTorque, j), 4, 0.02)
		f, err := r.w.JointForce(j)
		r.no(err)
		r.near("force", float64(f[1]), 4, 0.02)
		if hertz == 0 {
			r.near("angle", r.angle(b), 0, 0.005)
		} else if r.angle(b) > -0.001 {
			t.Errorf("a soft weld of %v Hz does not bend: %v", hertz, r.angle(b))
		}
	}
}

func TestPrismaticMotorAndLimits(t *testing.T) {
	r := newFixture(t, -10)
	a, b := r.body(physics.StaticBody, 0, 0), r.dynamic(0, 1)
	r.box(b, plain, 0.5, 0.5)
	d := physics.DefaultPrismaticJointDef()
	d.JointDef = r.between(a, b, 0, 1)
	d.FrameA.Angle, d.FrameB.Angle = math.Pi/2, math.Pi/2
	d.EnableLimit, d.LowerTranslation, d.UpperTranslation = true, 0, 3
	d.EnableMotor, d.MaxMotorForce, d.MotorSpeed = true, 100, 1
	j := r.join(r.w.CreatePrismaticJoint(d))
	r.seconds(2)
	r.near("translation", r.read(r.w.JointTranslation, j), 2, 0.03)
	r.near("speed", r.read(r.w.JointSpeed, j), 1, 0.01)
	r.near("force of the motor", float64(must[[2]float32](t)(r.w.JointForce(j))[1]), 10, 0.1)
	r.seconds(3)
	r.near("translation at the limit", r.read(r.w.JointTranslation, j), 3, 0.01)
	r.no(r.w.SetMotorSpeed(j, 0))
	d.MaxMotorForce, d.MotorSpeed = 5, 0
	r.no(r.w.SetJointDef(j, &d)) // too weak to hold it
	r.seconds(3)
	r.near("translation below", r.read(r.w.JointTranslation, j), 0, 0.01)
	x, _ := r.at(b)
	r.near("aside", x, 0, 0.001)
	r.near("angle", r.angle(b), 0, 0.001)
}

// A spring swings with its frequency.
func TestSpringFrequency(t *testing.T) {
	const hertz = 1.0
	for name, create := range map[string]func(r fixture, a, b physics.Body) (physics.Joint, error){
		"distance": func(r fixture, a, b physics.Body) (physics.Joint, error) {
			return r.w.CreateDistanceJoint(physics.DistanceJointDef{JointDef: common(a, b), Length: 2, EnableSpring: true, Hertz: hertz})
		},
		"prismatic": func(r fixture, a, b physics.Body) (physics.Joint, error) {
			return r.w.CreatePrismaticJoint(physics.PrismaticJointDef{JointDef: common(a, b), EnableSpring: true, Hertz: hertz, TargetTranslation: 2})
		},
		"wheel": func(r fixture, a, b physics.Body) (physics.Joint, error) {
			d := physics.WheelJointDef{JointDef: common(a, b), EnableSpring: true, Hertz: hertz}
			d.FrameA.Point[0] = 2
			return r.w.CreateWheelJoint(d)
		},
	} {
		r := newFixture(t, 0)
		a, b := r.body(physics.StaticBody, 0, 0), r.dynamic(2.2, 0)
		r.circle(b, plain, 0.5)
		r.join(create(r, a, b))
		crossings, before, first, last := 0, 0.2, 0.0, 0.0
		for n := 1; n < 600 && crossings < 9; n++ {
			r.steps(1)
			x, y := r.at(b)
			x = math.Hypot(x, y) - 2
			if (x < 0) != (before < 0) {
				last = (float64(n) - x/(x-before)) / 60
				if crossings == 0 {
					first = last
				}
				crossings++
			}
			before = x
		}
		if crossings < 9 {
			t.Errorf("%s: %d crossings", name, crossings)
			continue
		}
		r.near(name+": frequency", 4/(last-first), hertz, 0.03)
	}
}

func TestMouseJoint(t *testing.T) {
	r := newFixture(t, -10)
	a, b := r.body(physics.StaticBody, 3, 4, turned(1)), r.dynamic(0, 0)
	r.box(b, plain, 0.5, 0.5)
	d := physics.DefaultMouseJointDef()
	d.BodyA, d.BodyB, d.MaxForce, d.Target = a, b, 500, [2]float32{2, 1}
	d.FrameB.Point = [2]float32{0, 0.5}
	j := r.join(r.w.CreateMouseJoint(d))
	r.seconds(5)
	_, p, err := r.w.JointPoints(j)
	r.no(err)
	r.near("x", float64(p[0]), 2, 0.02)
	r.near("y", float64(p[1]), 1, 0.03)
	r.no(r.w.SetMouseTarget(j, [2]float32{-1, 2}))
	r.seconds(5)
	_, p, err = r.w.JointPoints(j)
	r.no(err)
	r.near("x", float64(p[0]), -1, 0.02)
	r.near("y", float64(p[1]), 2, 0.03)
	d.MaxForce = 0
	r.no(r.w.SetJointDef(j, &d))
	r.no(r.w.SetVelocity(b, [2]float32{}, 0)) // it circles about the point
	r.seconds(1)
	if _, y := r.at(b); y > -2 {
		t.Errorf("without force it is held at %v", y)
	}
}

// A motor joint holds a body at its target as long as its force suffices, and resists motion
// like friction.
func TestMotorJoint(t *testing.T) {
	r := newFixture(t, 0)
	a, b := r.body(physics.StaticBody, 0, 0), r.dynamic(3, 0)
	r.box(b, plain, 0.5, 0.5)
	d := physics.MotorJointDef{JointDef: common(a, b), LinearHertz: 2, LinearDamping: 1, MaxSpringForce: 100,
		AngularHertz: 2, AngularDamping: 1, MaxSpringTorque: 100}
	d.FrameA = at(1, 2, 0.5)
	j := r.join(r.w.CreateMotorJoint(d))
	r.seconds(4)
	x, y := r.at(b)
	r.near("x", x, 1, 0.01)
	r.near("y", y, 2, 0.01)
	r.near("angle", r.angle(b), 0.5, 0.01)

	r.no(r.w.SetJointDef(j, &physics.MotorJointDef{JointDef: d.JointDef, MaxVelocityForce: 0.5, MaxVelocityTorque: 0.25}))
	r.no(r.w.SetVelocity(b, [2]float32{3, 4}, 1))
	r.seconds(1)
	vx, vy, w := r.velocity(b)
	r.near("vx", vx, 3*0.9, 0.02)
	r.near("vy", vy, 4*0.9, 0.02)
	r.near("w", w, 0, 0.001)
	r.near("force", math.Hypot(float64(must[[2]float32](t)(r.w.JointForce(j))[0]), float64(must[[2]float32](t)(r.w.JointForce(j))[1])), 0.5, 0.01)

	r.no(r.w.SetJointDef(j, &physics.MotorJointDef{JointDef: d.JointDef, AngularVelocity: 3, MaxVelocityTorque: 10}))
	r.no(r.w.SetVelocity(b, [2]float32{1, 0}, 0))
	r.seconds(1)
	vx, _, w = r.velocity(b)
	r.near("free", vx, 1, 1e-4)
	r.near("spin", w, 3, 0.01)
}

// Bodies of a joint do not collide; after it is destroyed they do.
func TestJointsKeepBodiesApart(t *testing.T) {
	r := newFixture(t, 0)
	a, b := r.dynamic(0, 0), r.dynamic(0.6, 0)
	r.circle(a, plain, 0.5)
	r.circle(b, plain, 0.5)
	r.steps(1)
	if e := r.w.Events(); len(e.Begin) != 1 {
		t.Fatalf("%d contacts began", len(e.Begin))
	}
	kinds := []func() physics.Joint{
		func() physics.Joint {
			return r.join(r.w.CreateFilterJoint(physics.FilterJointDef{JointDef: common(b, a)}))
		},
		func() physics.Joint { return r.hinge(a, b, 0.3, 0) },
	}
	for _, create := range kinds {
		j := create()
		r.steps(1)
		if e := r.w.Events(); len(e.End) != 1 || len(e.Begin) != 0 {
			t.Errorf("%d ended, %d began when the joint came", len(e.End), len(e.Begin))
		}
		if kind, _ := r.w.JointKind(j); kind == physics.FilterJoint {
			d := defOf[physics.FilterJointDef](t, r.w, j)
			d.CollideConnected = true
			r.no(r.w.SetJointDef(j, &d))
			r.steps(1)
			if e := r.w.Events(); len(e.Begin) != 1 {
				t.Errorf("%d began with CollideConnected", len(e.Begin))
			}
			d.CollideConnected = false
			r.no(r.w.SetJointDef(j, &d))
			r.steps(1)
		}
		r.no(r.w.DestroyJoint(j))
		r.steps(1)
		if e := r.w.Events(); len(e.Begin) != 1 || len(e.End) != 0 {
			t.Errorf("%d began, %d ended when the joint went", len(e.Begin), len(e.End))
		}
	}
	colliding := physics.FilterJointDef{JointDef: common(a, b)}
	colliding.CollideConnected = true
	r.join(r.w.CreateFilterJoint(colliding))
	r.steps(1)
	if e := r.w.Events(); len(e.End) != 0 {
		t.Error("a joint with CollideConnected keeps bodies apart")
	}
}

// Joints stay in place when new shapes move the centre of mass.
func TestJointsFollowTheCentreOfMass(t *testing.T) {
	r := newFixture(t, -10)
	a, b := r.body(physics.StaticBody, 0, 0), r.dynamic(1, 0)
	j := r.hinge(a, b, 0, 0)
	r.box(b, plain, 0.2, 0.2)
	r.seconds(0.5)
	s := must[physics.Shape](t)(r.w.CreateCircle(b, plain, physics.Circle{Center: [2]float32{3, 1}, Radius: 1}))
	r.near("apart after a shape", r.apart(j), 0, 0.03)
	for range 120 {
		r.steps(1)
		r.near("apart", r.apart(j), 0, 0.03)
	}
	r.no(r.w.DestroyShape(s))
	for range 120 {
		r.steps(1)
		r.near("apart", r.apart(j), 0, 0.03)
	}
}

// A joint has no effect while a body is disabled, or neither is dynamic.
func TestIdleJoints(t *testing.T) {
	r := newFixture(t, -10)
	a, b := r.body(physics.StaticBody, 0, 0), r.dynamic(1, 0)
	r.box(b, plain, 0.2, 0.2)
	j := r.hinge(a, b, 0, 0)
	r.steps(10)
	idle := func(what string) {
		t.Helper()
		r.steps(10)
		if f, _ := r.w.JointForce(j); f != [2]float32{} {
			t.Errorf("%s: force %v", what, f)
		}
	}
	x, y := r.at(b)
	r.no(r.w.Disable(a))
	idle("disabled static body")
	if _, fallen := r.at(b); fallen > y-0.1 {
		t.Errorf("a joint to a disabled body holds: %v", fallen)
	}
	r.no(r.w.SetTransform(b, [2]float32{float32(x), float32(y)}, float32(math.Atan2(y, x))))
	r.no(r.w.SetVelocity(b, [2]float32{}, 0))
	r.no(r.w.Enable(a))
	r.seconds(2)
	r.near("apart", r.apart(j), 0, 0.01)
	r.no(r.w.SetType(b, physics.StaticBody))
	idle("static bodies")
	r.no(r.w.SetType(b, physics.KinematicBody))
	r.no(r.w.SetVelocity(b, [2]float32{1, 0}, 0))
	before, _ := r.at(b)
	idle("static and kinematic")
	after, _ := r.at(b)
	r.near("kinematic goes on", after-before, 1./6, 1e-4)
	r.no(r.w.SetType(b, physics.DynamicBody))
	r.seconds(2)
	r.near("apart", r.apart(j), 0, 0.02)
}

// A joint with too great a load breaks, once; events are in the order of the indices.
func TestBreakingJoints(t *testing.T) {
	r := newFixture(t, -10)
	a := r.body(physics.StaticBody, 0, 0)
	var joints []physics.Joint
	var bodies []physics.Body
	for i := range 6 {
		b := r.dynamic(float32(5*i), -1)
		r.box(b, plain, 0.5, 0.5) // 1 kg: 10 N
		bodies = append(bodies, b)
		d := physics.WeldJointDef{JointDef: common(a, b)}
		d.FrameA, d.FrameB = at(float32(5*i), 0, 0), at(0, 1, 0)
		d.BreakForce = []float32{0, 30, 0, 30, 10000, 0}[i]
		d.BreakTorque = []float32{0, 0, 5, 5, 0, 0}[i]
		joints = append(joints, r.join(r.w.CreateWeldJoint(d)))
	}
	r.seconds(1)
	if r.w.JointCount() != 6 {
		t.Fatalf("%d joints are left", r.w.JointCount())
	}
	for i, b := range bodies {
		if i%2 == 1 {
			r.no(r.w.ApplyForceToCenter(b, [2]float32{0, -60}))
		} else {
			r.no(r.w.ApplyTorque(b, -30))
		}
	}
	r.steps(1)
	list := r.w.Events().Broken
	want := []int{1, 2, 3}
	if len(list) != 3 {
		t.Fatalf("broken: %v", list)
	}
	for i, e := range list {
		k := want[i]
		if e.Joint != joints[k] || e.A != a || e.B != bodies[k] || e.Tick != 60 || r.w.ValidJoint(e.Joint) {
			t.Errorf("%+v, want joint %d", e, k)
		}
		if k == 2 {
			r.near("torque", float64(e.Torque), 30, 1)
		} else {
			r.near("force", float64(e.Force[1]), 70, 2)
		}
	}
	r.seconds(1)
	if e := r.w.Events().Broken; len(e) != 0 || r.w.JointCount() != 3 {
		t.Errorf("%v, %d joints", e, r.w.JointCount())
	}
	for i, b := range bodies {
		_, y := r.at(b)
		if broken := i >= 1 && i <= 3; broken != (y < -2) {
			t.Errorf("body %d is at %v", i, y)
		}
	}
}
