package physics3_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics3"
)

// shoulder is a limb of 1 kg and 1 m along x, without gravity, that a joint holds at its end.
func shoulder(t testing.TB, def func(common physics3.JointDef) physics3.AnyJointDef) (*physics3.World, physics3.Body, physics3.Joint) {
	t.Helper()
	w := weightlessWorld(t, physics3.Config{DisableSleep: true})
	trunk := bodyAt(t, w, physics3.StaticBody, 0, 0, 0)
	kilo := plain
	kilo.Density = 1 / (8 * 0.5 * 0.1 * 0.1)
	d := dynamicAt(0.5, 0, 0)
	d.AngularDamping = 2
	limb := addBoxOf(t, w, d, vec{0.5, 0.1, 0.1}, kilo)
	return w, limb, joined(t, w, def(commonDef(trunk, limb, vec{}, vec{-0.5, 0, 0})))
}

// A cone holds the x axis within its angle in all directions, and a swing about each axis between its own limits; twists stop at theirs,
// also beyond half a turn.
func TestSphericalLimits(t *testing.T) {
	const angle = 0.7
	for i := range 12 {
		way := 2 * math.Pi * float64(i) / 12
		w, limb, j := shoulder(t, func(d physics3.JointDef) physics3.AnyJointDef {
			return &physics3.SphericalJointDef{JointDef: d, EnableConeLimit: true, ConeAngle: angle}
		})
		for range 240 {
			no(t, w.ApplyTorque(limb, vec{0, float32(math.Cos(way)), float32(math.Sin(way))}))
			steps(t, w, 1)
		}
		near(t, fmt.Sprintf("the cone at %.1f", way), float64(stateOf(t, w, j).Cone), angle, 0.5*degree)
	}
	for axis := range 2 {
		for _, sign := range []float32{-1, 1} {
			w, limb, j := shoulder(t, func(d physics3.JointDef) physics3.AnyJointDef {
				return &physics3.SphericalJointDef{JointDef: d, EnableSwingLimit: true, LowerSwing: [2]float32{-0.3, -1.2}, UpperSwing: [2]float32{0.9, 0.5}}
			})
			torque := vec{}
			torque[1+axis] = sign
			for range 240 {
				no(t, w.ApplyTorque(limb, torque))
				steps(t, w, 1)
			}
			want := [][2]float64{{-0.3, 0.9}, {-1.2, 0.5}}[axis][0]
			if sign > 0 {
				want = [][2]float64{{-0.3, 0.9}, {-1.2, 0.5}}[axis][1]
			}
			near(t, fmt.Sprintf("the swing about axis %d, way %v", axis, sign), float64(stateOf(t, w, j).Swing[axis]), want, 0.5*degree)
		}
	}
	for _, sign := range []float32{-1, 1} {
		w, limb, j := shoulder(t, func(d physics3.JointDef) physics3.AnyJointDef {
			return &physics3.SphericalJointDef{JointDef: d, EnableTwistLimit: true, LowerTwist: -0.4, UpperTwist: 5, EnableConeLimit: true, ConeAngle: 0.1}
		})
		for range 400 {
			no(t, w.ApplyTorque(limb, vec{sign * 0.05, 0, 0}))
			steps(t, w, 1)
		}
		want := -0.4
		if sign > 0 {
			want = 5
		}
		near(t, fmt.Sprintf("the twist, way %v", sign), float64(stateOf(t, w, j).Angle), want, 0.5*degree)
	}
}

// A spring turns a limb to any rotation by the short way, and a motor turns it with a velocity.
func TestSphericalSpringAndMotor(t *testing.T) {
	rng := rand.New(rand.NewPCG(paritytest.Seed(), 1))
	for range 8 {
		target := quat{float32(rng.NormFloat64()), float32(rng.NormFloat64()), float32(rng.NormFloat64()), float32(rng.NormFloat64())}
		w, limb, j := shoulder(t, func(d physics3.JointDef) physics3.AnyJointDef {
			return &physics3.SphericalJointDef{JointDef: d, EnableSpring: true, Hertz: 3, Damping: 1, TargetRotation: target}
		})
		steps(t, w, 180)
		got, size := rotationOf(t, w, limb), norm(target[:]...)
		cos := 0.
		for k := range got {
			cos += float64(got[k]) * float64(target[k]) / size
		}
		near(t, fmt.Sprintf("the rotation to %v", target), math.Abs(cos), 1, 1e-4)
		if s := stateOf(t, w, j); s.Separation > 1e-3 {
			t.Errorf("separated by %v", s.Separation)
		}
	}
	w, limb, _ := shoulder(t, func(d physics3.JointDef) physics3.AnyJointDef {
		return &physics3.SphericalJointDef{JointDef: d, EnableMotor: true, MaxMotorTorque: 100, MotorVelocity: vec{0, 0, 1.5}}
	})
	steps(t, w, 60)
	_, omega := velocityOf(t, w, limb)
	near(t, "the velocity of the motor", omega[2], 1.5, 0.01)
	// A weak one is no stronger than it may be, about any axis, and the point holds.
	w, limb, j := shoulder(t, func(d physics3.JointDef) physics3.AnyJointDef {
		return &physics3.SphericalJointDef{JointDef: d, EnableMotor: true, MaxMotorTorque: 0.1, MotorVelocity: vec{0, 30, 40}}
	})
	for range 10 {
		steps(t, w, 1)
		s := stateOf(t, w, j)
		near(t, "the torque", length(wide(s.Torque)), 0.1, 1e-3)
		near(t, "the opening of the point", float64(s.Length), 0, 1e-4)
	}
	inertia := 1./12*(1+0.04) + 0.25
	_, omega = velocityOf(t, w, limb)
	near(t, "the velocity of a weak motor", length(omega), 0.1*(10./60)/inertia, 0.005)
}

// A rope holds at its length and not below it, and a rod in both ways; a motor of a distance joint winds it up.
func TestDistanceKinds(t *testing.T) {
	hang := func(def physics3.DistanceJointDef) (*physics3.World, physics3.Body, physics3.Joint) {
		w := weightlessWorld(t, physics3.Config{Gravity: vec{0, -10, 0}})
		hook, b := bodyAt(t, w, physics3.StaticBody, 0, 0, 0), addSphereOf(t, w, dynamicAt(0, -1, 0), 0.2, plain)
		def.BodyA, def.BodyB = hook, b
		return w, b, joined(t, w, &def)
	}
	w, b, j := hang(physics3.DistanceJointDef{EnableSpring: true, EnableLimit: true, MaxLength: 2})
	steps(t, w, 240)
	near(t, "a rope", positionOf(t, w, b)[1], -2, 0.01)
	no(t, w.SetVelocity(b, vec{0, 3, 0}, vec{}))
	steps(t, w, 18)
	if at := positionOf(t, w, b)[1]; at < -1.8 {
		t.Errorf("a rope pushes: %v, with %v", at, stateOf(t, w, j).Force)
	}
	d := physics3.DefaultDistanceJointDef()
	w, b, j = hang(d)
	no(t, w.SetVelocity(b, vec{2, 0, 1}, vec{}))
	for range 200 {
		steps(t, w, 1)
		near(t, "a rod", float64(stateOf(t, w, j).Length), 1, 5e-3)
	}
	w, b, j = hang(physics3.DistanceJointDef{EnableSpring: true, EnableLimit: true, MinLength: 0.25, MaxLength: 9, EnableMotor: true, MaxMotorForce: 1000, MotorSpeed: -0.5})
	steps(t, w, 60)
	near(t, "a winch", positionOf(t, w, b)[1], -0.5, 0.02)
	near(t, "the force of a winch", float64(stateOf(t, w, j).MotorForce), -10*float64(must[physics3.MassData](t)(w.MassData(b)).Mass), 0.1)
	steps(t, w, 60)
	near(t, "a winch at its limit", positionOf(t, w, b)[1], -0.25, 0.01)

	// Springs whose bounds for pulling and pushing differ. The ball weighs m·g, and hangs 1 m below the hook.
	weight := 10 * must[physics3.MassData](t)(w.MassData(b)).Mass
	for _, c := range []struct {
		what                       string
		length, most, lower, upper float32
		acceleration, force        float32 // of the first step: along y in m/s², and of the spring in N, negative if it pulls
	}{
		{"a rubber band that is slack", 3, 0, -10 * weight, 0, -10, 0},
		{"a rubber band at its bound", 0.1, 0, -0.5 * weight, 0, -5, -0.5 * weight},
		{"one that pushes with no more than half of its weight", 9, 0, -100 * weight, 0.5 * weight, -15, 0.5 * weight},
		{"one that only pushes", 0.1, 0, 0, 9 * weight, -10, 0},
		{"one that pushes always", 0.1, 0, 0.25 * weight, 9 * weight, -12.5, 0.25 * weight},
		{"bounds in place of the other one", 0.1, 0.125 * weight, -0.5 * weight, weight, -5, -0.5 * weight},
		{"one bound for both", 0.1, 0.125 * weight, 0, 0, -8.75, -0.125 * weight},
		{"one bound for both, pushing", 9, 0.125 * weight, 0, 0, -11.25, 0.125 * weight},
	} {
		w, b, j := hang(physics3.DistanceJointDef{EnableSpring: true, Hertz: 10, Damping: 1, Length: c.length, MaxSpringForce: c.most, LowerSpringForce: c.lower, UpperSpringForce: c.upper})
		steps(t, w, 1)
		v, _ := velocityOf(t, w, b)
		near(t, c.what+": acceleration", 60*v[1], float64(c.acceleration), 0.02)
		near(t, c.what+": force", -float64(stateOf(t, w, j).Force[1]), float64(c.force), 0.01*float64(weight))
	}
}

// A wheel carries its load on a spring, turns by its motor, and steers.
func TestWheel(t *testing.T) {
	w := newWorld(t, physics3.Config{Capacity: 20, DisableSleep: true})
	heavy := plain
	heavy.Density, heavy.Friction = 100, 1
	chassis := addBoxOf(t, w, dynamicAt(0, 1, 0), vec{0.6, 0.2, 1.2}, heavy)
	var joints []physics3.Joint
	for i, at := range []vec{{-0.8, -0.3, 1}, {0.8, -0.3, 1}, {-0.8, -0.3, -1}, {0.8, -0.3, -1}} {
		b := addSphereOf(t, w, dynamicAt(at[0], 1+at[1], at[2]), 0.4, heavy)
		d := physics3.DefaultWheelJointDef()
		d.JointDef = commonDef(chassis, b, at, vec{})
		d.Hertz, d.EnableLimit, d.LowerTranslation, d.UpperTranslation = 3, true, -0.3, 0.3
		d.EnableMotor, d.MaxMotorTorque, d.MotorSpeed = i >= 2, 200, 5
		d.EnableSteering, d.SteeringHertz, d.SteeringDamping = i < 2, 8, 1
		joints = append(joints, joined(t, w, &d))
	}
	steps(t, w, 180)
	s := stateOf(t, w, joints[2])
	mass := float64(must[physics3.MassData](t)(w.MassData(chassis)).Mass)
	if s.Translation[1] < 0.005 || s.Translation[1] > 0.2 || math.Abs(float64(s.Translation[0])) > 0.01 || s.Swing[0] > 0.01 {
		t.Errorf("the suspension: %+v", s)
	}
	total := 0.
	for _, j := range joints {
		total -= float64(stateOf(t, w, j).Force[1])
	}
	near(t, "the load on the wheels", total, mass*10, mass*0.5)
	near(t, "the speed of the wheel", float64(s.AngularVelocity[0]), 5, 0.05)
	v, _ := velocityOf(t, w, chassis)
	near(t, "the speed of the car", v[2], 5*0.4, 0.1)
	var d physics3.WheelJointDef
	for _, j := range joints[:2] {
		no(t, w.JointDef(j, &d))
		d.TargetSteeringAngle = 0.3
		no(t, w.SetJointDef(j, &d))
	}
	steps(t, w, 120)
	near(t, "the steering", float64(stateOf(t, w, joints[0]).Swing[0]), 0.3, 0.05)
	if _, a := velocityOf(t, w, chassis); a[1] < 0.1 {
		t.Errorf("the car turns with %v rad/s", a[1])
	}
}

// Motor joints hold a pose with limited force, and seek velocities; mouse joints pull to their target.
func TestMotorAndMouse(t *testing.T) {
	w := weightlessWorld(t, physics3.Config{DisableSleep: true, Gravity: vec{0, -10, 0}})
	ground := bodyAt(t, w, physics3.StaticBody, 0, 0, 0)
	kilo := plain
	kilo.Density = 1 / 0.064
	held := addBoxOf(t, w, dynamicAt(0, 0, 0), vec{0.2, 0.2, 0.2}, kilo)
	d := physics3.DefaultMotorJointDef()
	d.JointDef = commonDef(ground, held, vec{1, 2, 3}, vec{})
	d.FrameA.Rotation = turn(vector{1, 1, 0}, 1)
	d.MaxSpringForce, d.MaxSpringTorque, d.LinearHertz, d.AngularHertz = 50, 5, 4, 4
	j := joined(t, w, &d)
	steps(t, w, 300)
	at := positionOf(t, w, held)
	sag := 10 / math.Pow(2*math.Pi*4, 2)
	near(t, "held at", length(minus(at, vector{1, 2 - sag, 3})), 0, 0.01)
	near(t, "the force", float64(stateOf(t, w, j).Force[1]), 10, 0.1)
	d.MaxSpringForce = 5 // less than the weight
	no(t, w.SetJointDef(j, &d))
	steps(t, w, 60)
	near(t, "what falls past a weak motor", positionOf(t, w, held)[1]-at[1], -2.5, 0.1)
	w = weightlessWorld(t, physics3.Config{DisableSleep: true})
	ground = bodyAt(t, w, physics3.StaticBody, 0, 0, 0)
	driven := addBoxOf(t, w, dynamicAt(0, 0, 0), vec{0.2, 0.2, 0.2}, kilo)
	m := physics3.MotorJointDef{JointDef: commonDef(ground, driven, vec{}, vec{}), LinearVelocity: vec{1, 0, 2}, MaxVelocityForce: 3, AngularVelocity: vec{0, 1, 0}, MaxVelocityTorque: 1}
	m.FrameA.Rotation = turn(vector{0, 0, 1}, math.Pi/2) // x along y
	joined(t, w, &m)
	steps(t, w, 6)
	v, _ := velocityOf(t, w, driven)
	near(t, "the speed after 0.1 s", length(v), 0.3, 0.01)
	steps(t, w, 114)
	v, a := velocityOf(t, w, driven)
	near(t, "the velocity", length(minus(v, vector{0, 1, 2})), 0, 0.01)
	near(t, "the angular velocity", length(minus(a, vector{-1, 0, 0})), 0, 0.01)
	// A weld with soft springs.
	w = weightlessWorld(t, physics3.Config{Gravity: vec{0, -10, 0}})
	ground = bodyAt(t, w, physics3.StaticBody, 0, 0, 0)
	soft := addBoxOf(t, w, dynamicAt(1, 0, 0), vec{0.2, 0.2, 0.2}, kilo)
	weld := joined(t, w, &physics3.WeldJointDef{JointDef: commonDef(ground, soft, vec{1, 0, 0}, vec{}), LinearHertz: 2, LinearDamping: 1})
	steps(t, w, 300)
	near(t, "a soft weld", positionOf(t, w, soft)[1], -10/math.Pow(2*math.Pi*2, 2), 1e-3)
	near(t, "its rotation", angleOf(rotationOf(t, w, soft)), 0, 1e-3)
	if s := stateOf(t, w, weld); s.Separation != 0 {
		t.Errorf("a spring has a separation of %v", s.Separation)
	}
}

// A generic joint with the settings of another kind does the same.
func TestGenericIsLikeOthers(t *testing.T) {
	const free, limited, locked = physics3.AxisFree, physics3.AxisLimited, physics3.AxisLocked
	for name, c := range map[string]struct {
		other func(d physics3.JointDef) physics3.AnyJointDef
		axes  [6]physics3.JointAxis
	}{
		"hinge": {
			func(d physics3.JointDef) physics3.AnyJointDef {
				return &physics3.RevoluteJointDef{JointDef: d, EnableLimit: true, LowerAngle: -1, UpperAngle: 2}
			},
			[6]physics3.JointAxis{{Motion: locked}, {Motion: locked}, {Motion: locked}, {Motion: limited, Lower: -1, Upper: 2}, {Motion: locked}, {Motion: locked}},
		},
		"slider": {
			func(d physics3.JointDef) physics3.AnyJointDef {
				return &physics3.PrismaticJointDef{JointDef: d, EnableSpring: true, Hertz: 2, Damping: 0.5, EnableMotor: true, MotorSpeed: 1, MaxMotorForce: 1}
			},
			[6]physics3.JointAxis{{Hertz: 2, Damping: 0.5, MotorSpeed: 1, MaxMotorForce: 1}, {Motion: locked}, {Motion: locked}, {Motion: locked}, {Motion: locked}, {Motion: locked}},
		},
		"ball": {
			func(d physics3.JointDef) physics3.AnyJointDef { return &physics3.SphericalJointDef{JointDef: d} },
			[6]physics3.JointAxis{{Motion: locked}, {Motion: locked}, {Motion: locked}, {Motion: free}, {Motion: free}, {Motion: free}},
		},
		"weld": {
			func(d physics3.JointDef) physics3.AnyJointDef { return &physics3.WeldJointDef{JointDef: d} },
			[6]physics3.JointAxis{{Motion: locked}, {Motion: locked}, {Motion: locked}, {Motion: locked}, {Motion: locked}, {Motion: locked}},
		},
	} {
		a, limbA, _ := shoulder(t, c.other)
		b, limbB, _ := shoulder(t, func(d physics3.JointDef) physics3.AnyJointDef {
			return &physics3.GenericJointDef{JointDef: d, Axes: c.axes}
		})
		for tick := range 120 {
			for w, limb := range map[*physics3.World]physics3.Body{a: limbA, b: limbB} {
				no(t, w.ApplyForce(limb, vec{0.5, 0.3, 0.2}, vec{1, 0, 0.3}))
				steps(t, w, 1)
			}
			if positionOf(t, a, limbA) != positionOf(t, b, limbB) {
				t.Fatalf("%s, tick %d: %v, %v", name, tick, positionOf(t, a, limbA), positionOf(t, b, limbB))
			}
		}
	}
}

// A limit is stronger than a soft spring of its joint.
func TestLimitsHoldSprings(t *testing.T) {
	for _, hertz := range []float32{1, 2} {
		w, _, j := hingedArm(t, 0, physics3.RevoluteJointDef{EnableSpring: true, Hertz: hertz, Damping: 0.5, TargetAngle: 3, EnableLimit: true, LowerAngle: -1, UpperAngle: 1})
		for tick := range 240 {
			steps(t, w, 1)
			if a := stateOf(t, w, j).Angle; a > 1+2*degree {
				t.Errorf("%v Hz, tick %d: the angle is %v", hertz, tick, a)
			}
		}
		near(t, fmt.Sprintf("the angle against a spring of %v Hz", hertz), float64(stateOf(t, w, j).Angle), 1, 0.5*degree)
		w, _, j = shoulder(t, func(d physics3.JointDef) physics3.AnyJointDef {
			return &physics3.SphericalJointDef{JointDef: d, EnableSpring: true, Hertz: hertz, Damping: 0.5, TargetRotation: turn(vector{0, 1, 1}, 2), EnableConeLimit: true, ConeAngle: 0.6}
		})
		steps(t, w, 240)
		near(t, fmt.Sprintf("the cone against a spring of %v Hz", hertz), float64(stateOf(t, w, j).Cone), 0.6, 0.5*degree)
		near(t, "the limb", float64(stateOf(t, w, j).Separation), 0, 1e-4)
	}
}
