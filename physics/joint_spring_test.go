package physics_test

import (
	"math"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

// implicitSpring returns the position of a spring with a frequency and a damping ratio below 1, released at 1, after
// n implicit Euler steps of h seconds. With w = 2π·hertz, v' = v - h·(w²·x' + 2·damping·w·v') and
// x' = x + h·v' come to
//
//	(1 + 2·damping·w·h + w²·h²)·x(n+1) - (2 + 2·damping·w·h)·x(n) + x(n-1) = 0
//
// with x(-1) = x(0) = 1. The roots are r·exp(±i·turn), where 1/r² is the first coefficient.
func implicitSpring(hertz, damping, h float64, n int) float64 {
	w := 2 * math.Pi * hertz
	r := 1 / math.Sqrt(1+2*damping*w*h+w*w*h*h)
	cos := (1 + damping*w*h) * r
	turn := math.Acos(cos)
	aside := (cos - r) / math.Sin(turn)
	return math.Pow(r, float64(n)) * (math.Cos(float64(n)*turn) + aside*math.Sin(float64(n)*turn))
}

// sprung make joints whose spring alone moves a body, from the amplitude 1; the function that they return gives its position.
// The bodies differ in mass and inertia.
var sprung = map[string]func(r fixture, a physics.Body, hertz, damping float32) func() float64{
	"distance": func(r fixture, a physics.Body, hertz, damping float32) func() float64 {
		b := r.load(2.25, 0)
		d := physics.DistanceJointDef{JointDef: common(a, b), Length: 2, EnableSpring: true, Hertz: hertz, Damping: damping}
		r.join(r.w.CreateDistanceJoint(d))
		return func() float64 { x, _ := r.at(b); return (x - 2) / 0.25 }
	},
	"revolute": func(r fixture, a physics.Body, hertz, damping float32) func() float64 {
		b := r.load(0, 0)
		d := physics.RevoluteJointDef{JointDef: common(a, b), EnableSpring: true, Hertz: hertz, Damping: damping, TargetAngle: 0.2}
		j := r.join(r.w.CreateRevoluteJoint(d))
		return func() float64 { return (0.2 - r.read(r.w.JointAngle, j)) / 0.2 }
	},
	"prismatic": func(r fixture, a physics.Body, hertz, damping float32) func() float64 {
		b := r.load(1, 0)
		d := physics.PrismaticJointDef{JointDef: r.between(a, b, 1, 0), EnableSpring: true, Hertz: hertz, Damping: damping, TargetTranslation: 0.5}
		j := r.join(r.w.CreatePrismaticJoint(d))
		return func() float64 { return (0.5 - r.read(r.w.JointTranslation, j)) / 0.5 }
	},
	"wheel": func(r fixture, a physics.Body, hertz, damping float32) func() float64 {
		b := r.load(0.5, 0)
		d := physics.WheelJointDef{JointDef: common(a, b), EnableSpring: true, Hertz: hertz, Damping: damping}
		j := r.join(r.w.CreateWheelJoint(d))
		return func() float64 { return r.read(r.w.JointTranslation, j) / 0.5 }
	},
	"weld, points": func(r fixture, a physics.Body, hertz, damping float32) func() float64 {
		b := r.load(0.3, 0.4)
		r.join(r.w.CreateWeldJoint(physics.WeldJointDef{JointDef: common(a, b), LinearHertz: hertz, LinearDamping: damping}))
		return func() float64 { x, y := r.at(b); return math.Copysign(math.Hypot(x, y), x) / 0.5 }
	},
	"weld, axes": func(r fixture, a physics.Body, hertz, damping float32) func() float64 {
		b := r.load(0, 0)
		d := physics.WeldJointDef{JointDef: common(a, b), AngularHertz: hertz, AngularDamping: damping}
		d.FrameA.Angle = 0.2
		j := r.join(r.w.CreateWeldJoint(d))
		return func() float64 { return r.read(r.w.JointAngle, j) / -0.2 }
	},
	"motor, points": func(r fixture, a physics.Body, hertz, damping float32) func() float64 {
		b := r.load(0.3, 0.4)
		d := physics.MotorJointDef{JointDef: common(a, b), LinearHertz: hertz, LinearDamping: damping, MaxSpringForce: 1e6}
		r.join(r.w.CreateMotorJoint(d))
		return func() float64 { x, y := r.at(b); return math.Copysign(math.Hypot(x, y), x) / 0.5 }
	},
	"motor, axes": func(r fixture, a physics.Body, hertz, damping float32) func() float64 {
		b := r.load(0, 0)
		d := physics.MotorJointDef{JointDef: common(a, b), AngularHertz: hertz, AngularDamping: damping, MaxSpringTorque: 1e6}
		d.FrameA.Angle = 0.2
		j := r.join(r.w.CreateMotorJoint(d))
		return func() float64 { return r.read(r.w.JointAngle, j) / -0.2 }
	},
	"mouse": func(r fixture, a physics.Body, hertz, damping float32) func() float64 {
		b := r.load(0.3, 0.4)
		r.join(r.w.CreateMouseJoint(physics.MouseJointDef{JointDef: common(a, b), Hertz: hertz, Damping: damping, MaxForce: 1e6}))
		return func() float64 { x, y := r.at(b); return math.Copysign(math.Hypot(x, y), x) / 0.5 }
	},
}

// load is a body with an arbitrary mass.
func (r fixture) load(x, y float32) physics.Body {
	b := r.dynamic(x, y)
	d := plain
	d.Density = 3
	r.box(b, d, 0.5, 0.2)
	return b
}

// A spring of any kind of joint does one implicit Euler step in each sub-step: its damping and its frequency equal
// those of the formula.
func TestSpringsStepOnce(t *testing.T) {
	paritytest.SkipSerialUnderRace(t)
	const h = 1. / 240
	for name, make := range sprung {
		for _, hertz := range []float64{0.5, 1, 3, 10, 25} {
			for _, damping := range []float64{0, 0.1, 0.7} {
				for i, level := range native.Levels() {
					if testing.Short() && i != int(paritytest.Seed())%len(native.Levels()) {
						continue // TestLevelsAgreeOnTunedJoints compares them
					}
					r := fixture{t, newWorld(t, physics.Config{Level: level})}
					x := make(r, r.body(physics.StaticBody, 0, 0), float32(hertz), float32(damping))
					for n := range 90 {
						if got, want := x(), implicitSpring(hertz, damping, h, 4*n); math.Abs(got-want) > 2e-3 {
							t.Errorf("%s of %g Hz, damping %g, level %s: at %g after %d steps, want %g", name, hertz, damping, level, got, n, want)
							break
						}
						r.steps(1)
					}
				}
			}
		}
	}
}

// The frequency of a hinge spring holds about the hinge, wherever that is on the body.
func TestHingeSpringFrequency(t *testing.T) {
	for _, at := range [][2]float32{{0, 0}, {0.5, 0}, {0.7, -0.4}, {1.2, 0}} {
		for _, hertz := range []float32{0.5, 1, 2} {
			r := fixture{t, newWorld(t, physics.Config{})}
			a, b := r.body(physics.StaticBody, 0, 0), r.load(at[0], at[1])
			d := physics.RevoluteJointDef{JointDef: r.between(a, b, 0, 0), EnableSpring: true, Hertz: hertz, TargetAngle: 0.2}
			j := r.join(r.w.CreateRevoluteJoint(d))
			var crossings []float64
			for n, before := 0, -0.2; len(crossings) < 4; n++ {
				r.steps(1)
				now := r.read(r.w.JointAngle, j) - 0.2
				if (now < 0) != (before < 0) {
					crossings = append(crossings, (float64(n)+before/(before-now))/60)
				}
				if before = now; n > 1200 {
					t.Fatalf("at %v, %g Hz: does not swing", at, hertz)
				}
			}
			r.near("frequency", 1.5/(crossings[3]-crossings[0])/float64(hertz), 1, 0.02)
		}
	}
}

// One implicit step adds half of h·w to the damping ratio, as the package comment says.
func TestSpringDamping(t *testing.T) {
	const h = 1. / 240
	for _, hertz := range []float64{0.5, 1, 3} {
		for _, damping := range []float64{0, 0.1} {
			perPeriod := int(math.Round(1 / (hertz * h)))
			first, last := implicitSpring(hertz, damping, h, perPeriod), implicitSpring(hertz, damping, h, 2*perPeriod)
			got := math.Log(first / last)
			ratio := damping + math.Pi*hertz*h
			want := 2 * math.Pi * ratio / math.Sqrt(1-ratio*ratio)
			if math.Abs(got-want) > 0.03*want {
				t.Errorf("%g Hz, damping %g: decrement %g, want %g", hertz, damping, got, want)
			}
		}
	}
}

// A spring, a motor and a limit of one joint do not disturb each other: a strong motor runs at
// its speed, a weak motor is a constant force, and the spring presses against a limit with its own force.
func TestSpringBesideMotorAndLimit(t *testing.T) {
	const hertz, target, limit = 2, 1, 0.25
	slider := func(change func(d *physics.PrismaticJointDef)) (fixture, physics.Joint, float64) {
		r := newFixture(t, 0)
		a, b := r.body(physics.StaticBody, 0, 0), r.load(0, 0)
		m, err := r.w.MassData(b)
		r.no(err)
		d := physics.PrismaticJointDef{JointDef: common(a, b), EnableSpring: true, Hertz: hertz, Damping: 0.5, TargetTranslation: target}
		change(&d)
		return r, r.join(r.w.CreatePrismaticJoint(d)), float64(m.Mass) * math.Pow(2*math.Pi*hertz, 2)
	}
	r, j, stiffness := slider(func(d *physics.PrismaticJointDef) {
		d.EnableLimit, d.LowerTranslation, d.UpperTranslation = true, -limit, limit
	})
	r.steps(120)
	r.near("at the limit", r.read(r.w.JointTranslation, j), limit, 1e-3) // which gives as JointHertz says
	f, err := r.w.JointForce(j)
	r.no(err)
	r.near("force, of spring and limit", float64(f[0]), 0, 1e-3*stiffness)

	r, j, _ = slider(func(d *physics.PrismaticJointDef) {
		d.EnableMotor, d.MotorSpeed, d.MaxMotorForce = true, -0.5, 1e6
	})
	for range 60 {
		r.steps(1)
		r.near("speed of a strong motor", r.read(r.w.JointSpeed, j), -0.5, 1e-3)
	}
	const force = 20
	r, j, stiffness = slider(func(d *physics.PrismaticJointDef) {
		d.EnableMotor, d.MotorSpeed, d.MaxMotorForce = true, -100, force
	})
	r.steps(300)
	r.near("where a weak motor stands", r.read(r.w.JointTranslation, j), target-force/stiffness, 1e-3)
}
