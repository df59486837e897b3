package physics3_test

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick/physics3"
)

// anyDef is a definition of a kind of joint, with the fields that all kinds have.
type anyDef struct {
	kind   physics3.JointKind
	def    physics3.AnyJointDef
	common *physics3.JointDef
}

// allKinds returns a definition of each kind with unusual values in all of its fields, for two bodies.
func allKinds(a, b physics3.Body) []anyDef {
	half := float32(math.Sqrt(0.5))
	common := physics3.JointDef{
		BodyA: a, BodyB: b, FrameA: physics3.JointFrame{Point: vec{0.5, 0.25, 0}, Rotation: quat{0, half, 0, half}},
		FrameB: physics3.JointFrame{Point: vec{-0.5, 0, 0.25}, Rotation: quat{half, 0, 0, half}}, CollideConnected: true,
		BreakForce: 1e6, BreakTorque: 2e6, ForceThreshold: 3e5, TorqueThreshold: 4e5, ConstraintHertz: 50, ConstraintDamping: 4,
	}
	d := &physics3.DistanceJointDef{JointDef: common, Length: 1.5, EnableSpring: true, Hertz: 3, Damping: 0.4, MaxSpringForce: 500, LowerSpringForce: -400, UpperSpringForce: 30,
		EnableLimit: true, MinLength: 0.5, MaxLength: 2.5, EnableMotor: true, MaxMotorForce: 3, MotorSpeed: -0.25}
	s := &physics3.SphericalJointDef{JointDef: common, EnableSpring: true, Hertz: 2, Damping: 0.5, MaxSpringTorque: 20, TargetRotation: quat{0, 0, half, half},
		EnableConeLimit: true, ConeAngle: 1, EnableSwingLimit: true, LowerSwing: [2]float32{-0.5, -0.25}, UpperSwing: [2]float32{0.5, 0.75},
		EnableTwistLimit: true, LowerTwist: -4, UpperTwist: 5}
	r := &physics3.RevoluteJointDef{JointDef: common, EnableSpring: true, Hertz: 2, Damping: 0.25, TargetAngle: -9,
		EnableLimit: true, LowerAngle: -10, UpperAngle: 12, EnableMotor: true, MaxMotorTorque: 5, MotorSpeed: 3}
	p := &physics3.PrismaticJointDef{JointDef: common, EnableSpring: true, Hertz: 2, Damping: 0.25, TargetTranslation: 0.5,
		EnableLimit: true, LowerTranslation: -1, UpperTranslation: 2, EnableMotor: true, MaxMotorForce: 5, MotorSpeed: -3}
	we := &physics3.WeldJointDef{JointDef: common, LinearHertz: 9, AngularHertz: 8, LinearDamping: 0.7, AngularDamping: 0.6}
	wh := &physics3.WheelJointDef{JointDef: common, EnableSpring: true, Hertz: 4, Damping: 0.7, EnableLimit: true, LowerTranslation: -0.25, UpperTranslation: 0.5,
		EnableMotor: true, MaxMotorTorque: 30, MotorSpeed: 6, EnableSteering: true, SteeringHertz: 5, SteeringDamping: 1, MaxSteeringTorque: 99, TargetSteeringAngle: 0.5,
		EnableSteeringLimit: true, LowerSteeringAngle: -0.5, UpperSteeringAngle: 0.75}
	m := &physics3.MotorJointDef{JointDef: common, LinearHertz: 3, LinearDamping: 1, MaxSpringForce: 50, AngularHertz: 2, AngularDamping: 1,
		AngularVelocity: vec{1, 2, 3}, MaxVelocityTorque: 5, LinearVelocity: vec{3, 2, 1}}
	g := &physics3.GenericJointDef{JointDef: common}
	for k := range g.Axes {
		g.Axes[k] = physics3.JointAxis{Motion: physics3.AxisMotion(k % 3), Lower: -0.5, Upper: 0.25 * float32(k), Hertz: float32(k), Damping: 0.5, Target: 0.125,
			MaxSpringForce: 9, MotorSpeed: 0.5, MaxMotorForce: float32(k)}
	}
	mo := &physics3.MouseJointDef{JointDef: common, Target: vec{1, 2, 3}, Hertz: 5, Damping: 0.7, MaxForce: 1000}
	f := &physics3.FilterJointDef{JointDef: common}
	return []anyDef{
		{physics3.DistanceJoint, d, &d.JointDef}, {physics3.SphericalJoint, s, &s.JointDef}, {physics3.RevoluteJoint, r, &r.JointDef},
		{physics3.PrismaticJoint, p, &p.JointDef}, {physics3.WeldJoint, we, &we.JointDef}, {physics3.WheelJoint, wh, &wh.JointDef},
		{physics3.MotorJoint, m, &m.JointDef}, {physics3.GenericJoint, g, &g.JointDef}, {physics3.MouseJoint, mo, &mo.JointDef},
		{physics3.FilterJoint, f, &f.JointDef},
	}
}

// emptyDef returns a definition of a kind with zeros.
func emptyDef(k physics3.JointKind) physics3.AnyJointDef {
	return []physics3.AnyJointDef{
		&physics3.JointDef{}, &physics3.DistanceJointDef{}, &physics3.SphericalJointDef{}, &physics3.RevoluteJointDef{}, &physics3.PrismaticJointDef{},
		&physics3.WeldJointDef{}, &physics3.WheelJointDef{}, &physics3.MotorJointDef{}, &physics3.GenericJointDef{}, &physics3.MouseJointDef{}, &physics3.FilterJointDef{},
	}[k]
}

// twoBodies returns a world with two boxes side by side.
func twoBodies(t testing.TB) (w *physics3.World, a, b physics3.Body) {
	t.Helper()
	w = emptyWorld(t, physics3.Config{Capacity: 20, Gravity: vec{0, -10, 0}})
	a, b = bodyAt(t, w, physics3.DynamicBody, 0, 5, 0), bodyAt(t, w, physics3.DynamicBody, 2, 5, 0)
	box(t, w, a, plain, 0.5, 0.5, 0.5)
	box(t, w, b, plain, 0.5, 0.5, 0.5)
	return w, a, b
}

func TestJointDefinitionsCanBeReadAndReplaced(t *testing.T) {
	w, a, b := twoBodies(t)
	for i, k := range allKinds(a, b) {
		j := must[physics3.Joint](t)(w.CreateJoint(k.def))
		if kind := must[physics3.JointKind](t)(w.JointKind(j)); kind != k.kind || j.Index() != i || kind.String() == "" {
			t.Errorf("joint %d is a %v", j.Index(), kind)
		}
		got := emptyDef(k.kind)
		no(t, w.JointDef(j, got))
		if fmt.Sprint(got) != fmt.Sprint(k.def) {
			t.Errorf("%v\n%+v, want\n%+v", k.kind, got, k.def)
		}
		other := emptyDef(k.kind%10 + 1)
		if err := w.JointDef(j, other); !errors.Is(err, physics3.ErrUnsupported) {
			t.Errorf("%v as %T: %v", k.kind, other, err)
		}
		if err := w.SetJointDef(j, other); !errors.Is(err, physics3.ErrUnsupported) {
			t.Errorf("%v as %T: %v", k.kind, other, err)
		}
		var common physics3.JointDef
		no(t, w.JointDef(j, &common))
		if common != *k.common {
			t.Errorf("%v: %+v, want %+v", k.kind, common, *k.common)
		}
		common.CollideConnected, common.BreakForce = false, 7e6
		no(t, w.SetJointDef(j, &common))
		k.common.CollideConnected, k.common.BreakForce = false, 7e6
		no(t, w.JointDef(j, got))
		if fmt.Sprint(got) != fmt.Sprint(k.def) {
			t.Errorf("%v\n%+v, want\n%+v", k.kind, got, k.def)
		}
		if bodyA, bodyB, err := w.JointBodies(j); err != nil || bodyA != a || bodyB != b {
			t.Errorf("%v, %v, %v", bodyA, bodyB, err)
		}
		if at, ok := w.JointAt(i); !ok || at != j || physics3.JointOfBits(j.Bits()) != j {
			t.Errorf("%v, %v at %d", at, ok, i)
		}
	}
	all := must[[]physics3.Joint](t)(w.AppendJoints(nil, b))
	if len(all) != 10 || !slices.IsSortedFunc(all, func(x, y physics3.Joint) int { return x.Index() - y.Index() }) || w.JointCount() != 10 {
		t.Errorf("joints %v", all)
	}
	steps(t, w, 20)
	no(t, w.DestroyJoint(all[3]))
	if err := w.DestroyJoint(all[3]); !errors.Is(err, physics3.ErrStale) || w.ValidJoint(all[3]) {
		t.Error(err)
	}
	no(t, w.DestroyBody(a))
	if w.JointCount() != 0 {
		t.Errorf("%d joints without a body", w.JointCount())
	}
	steps(t, w, 1)
}

// Each field of each kind refuses what is not finite, and names itself.
func TestJointDefinitionsAreChecked(t *testing.T) {
	w, a, b := twoBodies(t)
	j := make([]physics3.Joint, 11)
	for _, k := range allKinds(a, b) {
		j[k.kind] = must[physics3.Joint](t)(w.CreateJoint(k.def))
	}
	hash := w.Hash()
	for i := range allKinds(a, b) {
		for field := range numbersOf(allKinds(a, b)[i].def) {
			for _, bad := range []float32{nan, inf, -inf, 0x1p63, -1e19} {
				k := allKinds(a, b)[i]
				f := numbersOf(k.def)[field]
				*f.number = bad
				if strings.Contains(f.name, "Rotation") && bad-bad == 0 {
					continue // of any length
				}
				_, err := w.CreateJoint(k.def)
				want := physics3.ErrRange
				if bad-bad != 0 {
					want = physics3.ErrNotFinite
				}
				for call, err := range map[string]error{"CreateJoint": err, "SetJointDef": w.SetJointDef(j[k.kind], k.def), "ValidateJointDef": physics3.ValidateJointDef(k.def)} {
					if !errors.Is(err, want) || !strings.Contains(fmt.Sprint(err), f.name) {
						t.Errorf("%s: %v: %s = %v: %v", call, k.kind, f.name, bad, err)
					}
				}
			}
		}
	}
	if w.Hash() != hash {
		t.Error("refused calls changed the world")
	}
	for name, c := range map[string]struct {
		def  physics3.AnyJointDef
		want error
	}{
		"BodyB":             {&physics3.WeldJointDef{JointDef: physics3.JointDef{BodyA: a, BodyB: a}}, physics3.ErrRange},
		"BodyA":             {&physics3.WeldJointDef{JointDef: physics3.JointDef{BodyB: a}}, physics3.ErrStale},
		"kind of joint":     {&physics3.JointDef{BodyA: a, BodyB: b}, physics3.ErrUnsupported},
		"UpperAngle":        {&physics3.RevoluteJointDef{JointDef: physics3.JointDef{BodyA: a, BodyB: b}, LowerAngle: 1}, physics3.ErrRange},
		"LowerTwist":        {&physics3.SphericalJointDef{JointDef: physics3.JointDef{BodyA: a, BodyB: b}, LowerTwist: -1e5}, physics3.ErrRange},
		"LowerSwing[1]":     {&physics3.SphericalJointDef{JointDef: physics3.JointDef{BodyA: a, BodyB: b}, LowerSwing: [2]float32{0, -4}}, physics3.ErrRange},
		"ConeAngle":         {&physics3.SphericalJointDef{JointDef: physics3.JointDef{BodyA: a, BodyB: b}, ConeAngle: 3.2}, physics3.ErrRange},
		"EnableMotor":       {&physics3.SphericalJointDef{JointDef: physics3.JointDef{BodyA: a, BodyB: b}, EnableMotor: true, EnableSpring: true}, physics3.ErrRange},
		"MaxVelocityForce":  {&physics3.MotorJointDef{JointDef: physics3.JointDef{BodyA: a, BodyB: b}, MaxSpringForce: 1, MaxVelocityForce: 1}, physics3.ErrRange},
		"MaxVelocityTorque": {&physics3.MotorJointDef{JointDef: physics3.JointDef{BodyA: a, BodyB: b}, MaxSpringTorque: 1, MaxVelocityTorque: 1}, physics3.ErrRange},
		"Axes: Motion[2]":   {&physics3.GenericJointDef{JointDef: physics3.JointDef{BodyA: a, BodyB: b}, Axes: [6]physics3.JointAxis{2: {Motion: 7}}}, physics3.ErrRange},
		"Axes[4].Upper":     {&physics3.GenericJointDef{JointDef: physics3.JointDef{BodyA: a, BodyB: b}, Axes: [6]physics3.JointAxis{4: {Upper: 4}}}, physics3.ErrRange},
		"FrameB.Point":      {&physics3.FilterJointDef{JointDef: physics3.JointDef{BodyA: a, BodyB: b, FrameB: physics3.JointFrame{Point: vec{0, 2e6, 0}}}}, physics3.ErrRange},
	} {
		c1 := w.NewCommands()
		c1.CreateJoint(c.def)
		for call, err := range map[string]error{"CreateJoint": second(w.CreateJoint(c.def)), "Apply": w.Apply(c1)} {
			if !errors.Is(err, c.want) || !strings.Contains(fmt.Sprint(err), name) {
				t.Errorf("%s: %s: %v", call, name, err)
			}
		}
	}
	for call, err := range map[string]error{
		"DestroyJoint": w.DestroyJoint(physics3.Joint{}), "JointDef": w.JointDef(physics3.Joint{}, &physics3.JointDef{}), "SetJointDef": w.SetJointDef(physics3.Joint{}, &physics3.JointDef{}),
		"JointState": second(w.JointState(physics3.Joint{})), "JointKind": second(w.JointKind(physics3.Joint{})), "AppendJoints": second(w.AppendJoints(nil, physics3.Body{})),
	} {
		if !errors.Is(err, physics3.ErrStale) {
			t.Errorf("%s: %v", call, err)
		}
	}
	if w.Hash() != hash {
		t.Error("refused calls changed the world")
	}
}

func second[T any](_ T, err error) error { return err }

// namedNumber is a field of a definition, by the name that errors have.
type namedNumber struct {
	name   string
	number *float32
}

func numbersOf(def physics3.AnyJointDef) (all []namedNumber) {
	names, numbers := physics3.NumbersOf(def)
	for i, name := range names {
		all = append(all, namedNumber{name, numbers[i]})
	}
	slices.SortStableFunc(all, func(a, b namedNumber) int { return strings.Compare(a.name, b.name) })
	return all
}

// pendulum is a world with a bob below a hook, joined as def says: the anchor is in the hook, and 1 m from the centre of the bob.
func pendulum(t testing.TB, gravity float32, def func(a, b physics3.JointDef) physics3.AnyJointDef) (*physics3.World, physics3.Body, physics3.Joint) {
	t.Helper()
	w := emptyWorld(t, physics3.Config{Capacity: 20, Gravity: vec{0, -gravity, 0}})
	hook, bob := bodyAt(t, w, physics3.StaticBody, 0, 0, 0), bodyAt(t, w, physics3.DynamicBody, 0, -1, 0)
	box(t, w, bob, plain, 0.1, 0.2, 0.1)
	common := physics3.JointDef{BodyA: hook, BodyB: bob, FrameB: physics3.JointFrame{Point: vec{0, 1, 0}}}
	j := must[physics3.Joint](t)(w.CreateJoint(def(common, common)))
	return w, bob, j
}

// A physical pendulum has the period 2π√(I/mgl).
func TestPendulum(t *testing.T) {
	w, bob, j := pendulum(t, 10, func(d, _ physics3.JointDef) physics3.AnyJointDef { return &physics3.SphericalJointDef{JointDef: d} })
	m := must[physics3.MassData](t)(w.MassData(bob))
	period := 2 * math.Pi * math.Sqrt((float64(m.Inertia[2])+float64(m.Mass))/(float64(m.Mass)*10))
	no(t, w.SetVelocity(bob, vec{0.1, 0, 0}, vec{0, 0, 0.1})) // 1.8°
	var zeros []float64
	last := 0.
	for tick := range 600 {
		steps(t, w, 1)
		x := positionOf(t, w, bob)[0]
		if last < 0 && x >= 0 {
			zeros = append(zeros, (float64(tick)+(0-last)/(x-last))/60)
		}
		last = x
		if s := must[physics3.JointState](t)(w.JointState(j)); s.Separation > 1e-3 || math.Abs(float64(s.Length)) > 1e-3 {
			t.Fatalf("tick %d: separated by %v", tick, s.Separation)
		}
	}
	if len(zeros) < 4 {
		t.Fatalf("%d swings", len(zeros))
	}
	near(t, "the period", (zeros[len(zeros)-1]-zeros[0])/float64(len(zeros)-1), period, period*0.01)
	s := must[physics3.JointState](t)(w.JointState(j))
	near(t, "the force", float64(s.Force[1]), float64(m.Mass)*10, 1)
}
