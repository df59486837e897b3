package physics_test

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics/box2d"
)

// common returns a definition of a joint between two bodies.
func common(a, b physics.Body) physics.JointDef { return physics.JointDef{BodyA: a, BodyB: b} }

// at returns a frame.
func at(x, y, angle float32) physics.JointFrame {
	return physics.JointFrame{Point: [2]float32{x, y}, Angle: angle}
}

// jointMaker makes a joint of one kind, reads its definition, and sets one.
type jointMaker struct {
	kind   physics.JointKind
	create func(w *physics.World, d physics.JointDef) (physics.Joint, error)
	record func(c *physics.Commands, d physics.JointDef) physics.Joint
	def    func(w *physics.World, j physics.Joint) (any, error)
	set    func(w *physics.World, j physics.Joint, d physics.JointDef) error
	redo   func(c *physics.Commands, j physics.Joint, d physics.JointDef)
}

// jointMakers makes joints of every kind, in the order of the kinds. All numbers of a definition
// differ.
var jointMakers = []jointMaker{
	maker(physics.DistanceJoint, func(d physics.JointDef) physics.DistanceJointDef {
		return physics.DistanceJointDef{JointDef: d, Length: 1.5, EnableSpring: true, Hertz: 2, Damping: 0.3, MaxSpringForce: 80,
			EnableLimit: true, MinLength: 0.5, MaxLength: 3, EnableMotor: true, MaxMotorForce: 5, MotorSpeed: -0.2,
			LowerSpringForce: -90, UpperSpringForce: 70}
	}, (*physics.World).CreateDistanceJoint, (*physics.Commands).CreateDistanceJoint),
	maker(physics.RevoluteJoint, func(d physics.JointDef) physics.RevoluteJointDef {
		return physics.RevoluteJointDef{JointDef: d, EnableSpring: true, Hertz: 3, Damping: 0.4, TargetAngle: 0.5,
			EnableLimit: true, LowerAngle: -1.5, UpperAngle: 2.5, EnableMotor: true, MaxMotorTorque: 6, MotorSpeed: 0.7}
	}, (*physics.World).CreateRevoluteJoint, (*physics.Commands).CreateRevoluteJoint),
	maker(physics.PrismaticJoint, func(d physics.JointDef) physics.PrismaticJointDef {
		return physics.PrismaticJointDef{JointDef: d, EnableSpring: true, Hertz: 3.5, Damping: 0.45, TargetTranslation: 0.25,
			EnableLimit: true, LowerTranslation: -2, UpperTranslation: 2.25, EnableMotor: true, MaxMotorForce: 7, MotorSpeed: 0.8}
	}, (*physics.World).CreatePrismaticJoint, (*physics.Commands).CreatePrismaticJoint),
	maker(physics.WeldJoint, func(d physics.JointDef) physics.WeldJointDef {
		return physics.WeldJointDef{JointDef: d, LinearHertz: 4, AngularHertz: 5, LinearDamping: 0.6, AngularDamping: 0.9}
	}, (*physics.World).CreateWeldJoint, (*physics.Commands).CreateWeldJoint),
	maker(physics.WheelJoint, func(d physics.JointDef) physics.WheelJointDef {
		return physics.WheelJointDef{JointDef: d, EnableSpring: true, Hertz: 6, Damping: 0.65,
			EnableLimit: true, LowerTranslation: -0.125, UpperTranslation: 0.375, EnableMotor: true, MaxMotorTorque: 8, MotorSpeed: -9}
	}, (*physics.World).CreateWheelJoint, (*physics.Commands).CreateWheelJoint),
	maker(physics.MotorJoint, func(d physics.JointDef) physics.MotorJointDef {
		return physics.MotorJointDef{JointDef: d, LinearHertz: 1.25, LinearDamping: 0.75, MaxSpringForce: 11,
			AngularHertz: 1.75, AngularDamping: 0.85, MaxSpringTorque: 12, AngularVelocity: 0.15, MaxVelocityTorque: 13,
			LinearVelocity: [2]float32{0.35, -0.55}}
	}, (*physics.World).CreateMotorJoint, (*physics.Commands).CreateMotorJoint),
	maker(physics.MouseJoint, func(d physics.JointDef) physics.MouseJointDef {
		return physics.MouseJointDef{JointDef: d, Target: [2]float32{1, 2}, Hertz: 5, Damping: 0.7, MaxForce: 30}
	}, (*physics.World).CreateMouseJoint, (*physics.Commands).CreateMouseJoint),
	maker(physics.FilterJoint, func(d physics.JointDef) physics.FilterJointDef { return physics.FilterJointDef{JointDef: d} },
		(*physics.World).CreateFilterJoint, (*physics.Commands).CreateFilterJoint),
}

func maker[D any, P interface {
	*D
	physics.AnyJointDef
}](kind physics.JointKind, def func(physics.JointDef) D,
	create func(*physics.World, D) (physics.Joint, error), record func(*physics.Commands, D) physics.Joint) jointMaker {
	return jointMaker{
		kind:   kind,
		create: func(w *physics.World, d physics.JointDef) (physics.Joint, error) { return create(w, def(d)) },
		record: func(c *physics.Commands, d physics.JointDef) physics.Joint { return record(c, def(d)) },
		def: func(w *physics.World, j physics.Joint) (any, error) {
			var d D
			err := w.JointDef(j, P(&d))
			return d, err
		},
		set: func(w *physics.World, j physics.Joint, d physics.JointDef) error {
			full := def(d)
			return w.SetJointDef(j, P(&full))
		},
		redo: func(c *physics.Commands, j physics.Joint, d physics.JointDef) {
			full := def(d)
			c.SetJointDef(j, P(&full))
			full = *new(D) // the list has a copy, so this changes nothing
		},
	}
}

// defOf returns the definition of a joint, or what all kinds have in common.
func defOf[D any, P interface {
	*D
	physics.AnyJointDef
}](t testing.TB, w *physics.World, j physics.Joint) (d D) {
	t.Helper()
	if err := w.JointDef(j, P(&d)); err != nil {
		t.Fatal(err)
	}
	return d
}

// The definition that a world returns equals the one given or set.
func TestJointDefsComeBack(t *testing.T) {
	w := newWorld(t, physics.Config{Capacity: 10})
	a, b := body(t, w, physics.StaticBody, 0, 0), body(t, w, physics.DynamicBody, 1, 0)
	for _, m := range jointMakers {
		d := physics.JointDef{
			BodyA: a, BodyB: b, FrameA: at(1, 2, 0.5), FrameB: at(-3, 4, -0.25), CollideConnected: true, BreakForce: 100, BreakTorque: 200,
			ForceThreshold: 50, TorqueThreshold: 60, ConstraintHertz: 20, ConstraintDamping: 2,
		}
		j := must[physics.Joint](t)(m.create(w, d))
		def, err := m.def(w, j)
		if err != nil {
			t.Fatal(err)
		}
		other := newWorld(t, physics.Config{})
		body(t, other, physics.StaticBody, 0, 0)
		body(t, other, physics.DynamicBody, 1, 0)
		k := must[physics.Joint](t)(m.create(other, common(a, b)))
		if again := must[any](t)(m.def(other, k)); again == def {
			t.Errorf("%v: two definitions are one", m.kind)
		}
		if err := m.set(other, k, d); err != nil {
			t.Fatal(err)
		}
		if again := must[any](t)(m.def(other, k)); again != def {
			t.Errorf("%v: set as %v, got %v", m.kind, def, again)
		}
		if text := fmt.Sprintf("%v", def); !strings.Contains(text, "{[1 2] 0.5} {[-3 4] -0.25} true 100 200 50 60 20 2") {
			t.Errorf("%v: %s", m.kind, text)
		}
		if got := must[physics.JointKind](t)(w.JointKind(j)); got != m.kind {
			t.Errorf("%v is a %v", m.kind, got)
		}
		for _, n := range jointMakers {
			if _, err := n.def(w, j); (err == nil) != (n.kind == m.kind) || err != nil && !errors.Is(err, physics.ErrUnsupported) {
				t.Errorf("%v read as %v: %v", m.kind, n.kind, err)
			}
			if err := n.set(w, j, d); (err == nil) != (n.kind == m.kind) || err != nil && !errors.Is(err, physics.ErrUnsupported) {
				t.Errorf("%v set as %v: %v", m.kind, n.kind, err)
			}
		}
	}
}

// The default definitions are valid.
func TestDefaultJointsAreValid(t *testing.T) {
	w := newWorld(t, physics.Config{Capacity: 10})
	d := common(body(t, w, physics.StaticBody, 0, 0), body(t, w, physics.DynamicBody, 1, 0))
	distance, revolute, prismatic := physics.DefaultDistanceJointDef(), physics.DefaultRevoluteJointDef(), physics.DefaultPrismaticJointDef()
	weld, wheel, motor := physics.DefaultWeldJointDef(), physics.DefaultWheelJointDef(), physics.DefaultMotorJointDef()
	mouse, filter := physics.DefaultMouseJointDef(), physics.DefaultFilterJointDef()
	for _, common := range []*physics.JointDef{
		&distance.JointDef, &revolute.JointDef, &prismatic.JointDef, &weld.JointDef, &wheel.JointDef, &motor.JointDef,
		&mouse.JointDef, &filter.JointDef,
	} {
		common.BodyA, common.BodyB = d.BodyA, d.BodyB
	}
	for _, create := range []func() (physics.Joint, error){
		func() (physics.Joint, error) { return w.CreateDistanceJoint(distance) },
		func() (physics.Joint, error) { return w.CreateRevoluteJoint(revolute) },
		func() (physics.Joint, error) { return w.CreatePrismaticJoint(prismatic) },
		func() (physics.Joint, error) { return w.CreateWeldJoint(weld) },
		func() (physics.Joint, error) { return w.CreateWheelJoint(wheel) },
		func() (physics.Joint, error) { return w.CreateMotorJoint(motor) },
		func() (physics.Joint, error) { return w.CreateMouseJoint(mouse) },
		func() (physics.Joint, error) { return w.CreateFilterJoint(filter) },
	} {
		must[physics.Joint](t)(create())
	}
	if w.JointCount() != 8 {
		t.Errorf("%d joints", w.JointCount())
	}
	steps(t, w, 3)
}

// jointCalls are the errors of all calls that take a joint.
func jointCalls(w *physics.World, j physics.Joint) map[string]error {
	errs := map[string]error{
		"DestroyJoint": w.DestroyJoint(j), "SetMotorSpeed": w.SetMotorSpeed(j, 1), "SetMouseTarget": w.SetMouseTarget(j, [2]float32{}),
	}
	_, errs["JointKind"] = w.JointKind(j)
	_, _, errs["JointBodies"] = w.JointBodies(j)
	_, errs["JointForce"] = w.JointForce(j)
	_, errs["JointTorque"] = w.JointTorque(j)
	_, _, errs["JointPoints"] = w.JointPoints(j)
	_, errs["JointAngle"] = w.JointAngle(j)
	_, errs["JointTranslation"] = w.JointTranslation(j)
	_, errs["JointLength"] = w.JointLength(j)
	_, errs["JointSpeed"] = w.JointSpeed(j)
	_, errs["JointMotorForce"] = w.JointMotorForce(j)
	_, _, errs["JointSeparation"] = w.JointSeparation(j)
	errs["JointDef"] = w.JointDef(j, new(physics.JointDef))
	errs["SetJointDef"] = w.SetJointDef(j, &physics.JointDef{})
	for _, m := range jointMakers {
		_, errs[m.kind.String()+" def"] = m.def(w, j)
		errs["set "+m.kind.String()] = m.set(w, j, physics.JointDef{})
	}
	return errs
}

// A handle of a destroyed joint stays stale, however often its number is reused, and however the joint was
// destroyed.
func TestStaleJoints(t *testing.T) {
	w := newWorld(t, physics.Config{Capacity: 10})
	a := body(t, w, physics.DynamicBody, 0, 0)
	stale := []physics.Joint{{}}
	for i := range 20 {
		b := body(t, w, physics.DynamicBody, 1, 0)
		j := must[physics.Joint](t)(jointMakers[i%8].create(w, common(a, b)))
		if j.Index() != 0 || !w.ValidJoint(j) {
			t.Fatalf("%v", j)
		}
		var err error
		switch i % 3 {
		case 0:
			err = w.DestroyJoint(j)
		case 1:
			err = w.DestroyBody(b)
		case 2:
			err = w.DestroyBody(a)
			a = b
		}
		if err != nil {
			t.Fatal(err)
		}
		if stale = append(stale, j); i%3 == 0 {
			steps(t, w, 1)
			if err := w.DestroyBody(b); err != nil {
				t.Fatal(err)
			}
		}
	}
	must[physics.Joint](t)(jointMakers[1].create(w, common(a, body(t, w, physics.DynamicBody, 1, 0))))
	hash := w.Hash()
	for _, j := range stale {
		for name, err := range jointCalls(w, j) {
			if !errors.Is(err, physics.ErrStale) || !strings.Contains(err.Error(), "physics: Joint = "+j.String()) {
				t.Errorf("%s of %v: %v", name, j, err)
			}
		}
		if w.ValidJoint(j) {
			t.Errorf("%v is valid", j)
		}
	}
	if w.Hash() != hash {
		t.Error("a refused call changed the world")
	}
}

// The tables agree with a model that stores the bodies of each joint.
func TestJointsFollowTheirBodies(t *testing.T) {
	const seed = 3
	rng := rand.New(rand.NewPCG(seed, seed))
	w := newWorld(t, physics.Config{Capacity: 12})
	var bodies []physics.Body
	joints := map[physics.Joint][2]physics.Body{}
	for range 5000 {
		switch k := rng.IntN(10); {
		case k < 3 && w.Len() < w.Cap():
			bodies = append(bodies, body(t, w, physics.BodyType(rng.IntN(3)), 0, 0))
		case k == 3 && len(bodies) > 0:
			i := rng.IntN(len(bodies))
			b := bodies[i]
			bodies = slices.Delete(bodies, i, i+1)
			if err := w.DestroyBody(b); err != nil {
				t.Fatal(err)
			}
			for j, ends := range joints {
				if ends[0] == b || ends[1] == b {
					delete(joints, j)
				}
			}
		case k == 4 && len(joints) > 0:
			list := sortedJoints(joints)
			j := list[rng.IntN(len(list))]
			delete(joints, j)
			if err := w.DestroyJoint(j); err != nil {
				t.Fatal(err)
			}
		case len(bodies) > 1:
			n := rng.Perm(len(bodies))
			ends := [2]physics.Body{bodies[n[0]], bodies[n[1]]}
			j := must[physics.Joint](t)(jointMakers[rng.IntN(8)].create(w, common(ends[0], ends[1])))
			joints[j] = ends
		}
		if w.JointCount() != len(joints) {
			t.Fatalf("%d joints, want %d", w.JointCount(), len(joints))
		}
		for j, ends := range joints {
			if a, b, err := w.JointBodies(j); a != ends[0] || b != ends[1] || err != nil {
				t.Fatalf("%v ties %v and %v, %v; want %v", j, a, b, err, ends)
			}
			if same, ok := w.JointAt(j.Index()); !ok || same != j {
				t.Fatalf("JointAt: %v, %v", same, ok)
			}
		}
		for _, b := range bodies {
			var want []physics.Joint
			for _, j := range sortedJoints(joints) {
				if joints[j][0] == b || joints[j][1] == b {
					want = append(want, j)
				}
			}
			if got, err := w.AppendJoints(nil, b); !slices.Equal(got, want) || err != nil {
				t.Fatalf("joints of %v: %v, %v; want %v", b, got, err, want)
			}
		}
	}
}

func sortedJoints(m map[physics.Joint][2]physics.Body) (list []physics.Joint) {
	for j := range m {
		list = append(list, j)
	}
	slices.SortFunc(list, func(a, b physics.Joint) int { return a.Index() - b.Index() })
	return list
}

func TestBadJointsAreNamedAndChangeNothing(t *testing.T) {
	w := newWorld(t, physics.Config{Capacity: 10})
	a, b := body(t, w, physics.StaticBody, 0, 0), body(t, w, physics.DynamicBody, 1, 0)
	gone := body(t, w, physics.DynamicBody, 2, 0)
	if err := w.DestroyBody(gone); err != nil {
		t.Fatal(err)
	}
	hinge := must[physics.Joint](t)(w.CreateRevoluteJoint(physics.RevoluteJointDef{JointDef: common(a, b)}))
	mouse := must[physics.Joint](t)(w.CreateMouseJoint(physics.MouseJointDef{JointDef: common(a, b)}))
	steps(t, w, 2)
	hash, count := w.Hash(), w.JointCount()

	type change struct {
		words string
		is    error
		err   error
	}
	all := func(words string, is error, d physics.JointDef) (list []change) {
		for _, m := range jointMakers {
			_, err := m.create(w, d)
			c := w.NewCommands()
			m.record(c, d)
			list = append(list, change{words, is, err}, change{words, is, w.Apply(c)})
		}
		return list
	}
	framed := func(change func(d *physics.JointDef)) physics.JointDef { d := common(a, b); change(&d); return d }
	distance := func(f func(d *physics.DistanceJointDef)) error {
		d := physics.DefaultDistanceJointDef()
		d.JointDef = common(a, b)
		f(&d)
		_, err := w.CreateDistanceJoint(d)
		return err
	}
	revolute := func(f func(d *physics.RevoluteJointDef)) error {
		d := physics.RevoluteJointDef{JointDef: common(a, b)}
		f(&d)
		if err := w.SetJointDef(hinge, &d); err == nil {
			t.Errorf("SetJointDef takes what is refused at first")
		}
		_, err := w.CreateRevoluteJoint(d)
		return err
	}
	prismatic := func(f func(d *physics.PrismaticJointDef)) error {
		d := physics.PrismaticJointDef{JointDef: common(a, b)}
		f(&d)
		_, err := w.CreatePrismaticJoint(d)
		return err
	}
	weld := func(f func(d *physics.WeldJointDef)) error {
		d := physics.WeldJointDef{JointDef: common(a, b)}
		f(&d)
		_, err := w.CreateWeldJoint(d)
		return err
	}
	wheel := func(f func(d *physics.WheelJointDef)) error {
		d := physics.WheelJointDef{JointDef: common(a, b)}
		f(&d)
		_, err := w.CreateWheelJoint(d)
		return err
	}
	motor := func(f func(d *physics.MotorJointDef)) error {
		d := physics.MotorJointDef{JointDef: common(a, b)}
		f(&d)
		_, err := w.CreateMotorJoint(d)
		return err
	}
	drag := func(f func(d *physics.MouseJointDef)) error {
		d := physics.MouseJointDef{JointDef: common(a, b)}
		f(&d)
		_, err := w.CreateMouseJoint(d)
		return err
	}
	const huge = float32(1 << 63)
	for _, r := range slices.Concat(
		all("JointDef.BodyA = body_2.1", physics.ErrStale, common(gone, b)),
		all("JointDef.BodyB = body_2.1", physics.ErrStale, common(a, gone)),
		all("JointDef.BodyA = body_0.0", physics.ErrStale, common(physics.Body{}, b)),
		all("JointDef.BodyB = body_1.1: out of range: equals BodyA", physics.ErrRange, common(b, b)),
		all("JointDef.FrameA.Point[1] = NaN", physics.ErrNotFinite, framed(func(d *physics.JointDef) { d.FrameA.Point[1] = nan })),
		all("JointDef.FrameB.Point[0] = -Inf", physics.ErrNotFinite, framed(func(d *physics.JointDef) { d.FrameB.Point[0] = -inf })),
		all("JointDef.FrameB.Point[0] = 2e+06", physics.ErrRange, framed(func(d *physics.JointDef) { d.FrameB.Point[0] = 2e6 })),
		all("JointDef.FrameA.Angle = NaN", physics.ErrNotFinite, framed(func(d *physics.JointDef) { d.FrameA.Angle = nan })),
		all("JointDef.FrameB.Angle = -70000", physics.ErrRange, framed(func(d *physics.JointDef) { d.FrameB.Angle = -70000 })),
		all("JointDef.BreakForce = -1", physics.ErrRange, framed(func(d *physics.JointDef) { d.BreakForce = -1 })),
		all("JointDef.BreakForce = NaN", physics.ErrNotFinite, framed(func(d *physics.JointDef) { d.BreakForce = nan })),
		all("JointDef.BreakTorque = +Inf", physics.ErrNotFinite, framed(func(d *physics.JointDef) { d.BreakTorque = inf })),
		[]change{
			{"DistanceJointDef.Length = -1", physics.ErrRange, distance(func(d *physics.DistanceJointDef) { d.Length = -1 })},
			{"DistanceJointDef.Length = NaN", physics.ErrNotFinite, distance(func(d *physics.DistanceJointDef) { d.Length = nan })},
			{"DistanceJointDef.Hertz = -1", physics.ErrRange, distance(func(d *physics.DistanceJointDef) { d.Hertz = -1 })},
			{"DistanceJointDef.Damping = -1", physics.ErrRange, distance(func(d *physics.DistanceJointDef) { d.Damping = -1 })},
			{"DistanceJointDef.MaxSpringForce = -1", physics.ErrRange, distance(func(d *physics.DistanceJointDef) { d.MaxSpringForce = -1 })},
			{"DistanceJointDef.MinLength = -1", physics.ErrRange, distance(func(d *physics.DistanceJointDef) { d.MinLength = -1 })},
			{"DistanceJointDef.MaxLength = 1: out of range: below the lower limit", physics.ErrRange,
				distance(func(d *physics.DistanceJointDef) { d.MinLength, d.MaxLength = 2, 1 })},
			{"DistanceJointDef.MaxMotorForce = -5", physics.ErrRange, distance(func(d *physics.DistanceJointDef) { d.MaxMotorForce = -5 })},
			{"DistanceJointDef.MaxMotorForce = 3e+38", physics.ErrRange, distance(func(d *physics.DistanceJointDef) { d.MaxMotorForce = 3e38 })},
			{"DistanceJointDef.MotorSpeed = NaN", physics.ErrNotFinite, distance(func(d *physics.DistanceJointDef) { d.MotorSpeed = nan })},
			{"RevoluteJointDef.Hertz = 2e+06", physics.ErrRange, revolute(func(d *physics.RevoluteJointDef) { d.Hertz = 2e6 })},
			{"RevoluteJointDef.Damping = NaN", physics.ErrNotFinite, revolute(func(d *physics.RevoluteJointDef) { d.Damping = nan })},
			{"RevoluteJointDef.TargetAngle = 4", physics.ErrRange, revolute(func(d *physics.RevoluteJointDef) { d.TargetAngle = 4 })},
			{"RevoluteJointDef.LowerAngle = -3.5", physics.ErrRange, revolute(func(d *physics.RevoluteJointDef) { d.LowerAngle = -3.5 })},
			{"RevoluteJointDef.UpperAngle = -1: out of range: below the lower limit", physics.ErrRange,
				revolute(func(d *physics.RevoluteJointDef) { d.UpperAngle = -1 })},
			{"RevoluteJointDef.MaxMotorTorque = -1", physics.ErrRange, revolute(func(d *physics.RevoluteJointDef) { d.MaxMotorTorque = -1 })},
			{"RevoluteJointDef.MotorSpeed = 9.223372e+18", physics.ErrRange, revolute(func(d *physics.RevoluteJointDef) { d.MotorSpeed = huge })},
			{"PrismaticJointDef.Hertz = NaN", physics.ErrNotFinite, prismatic(func(d *physics.PrismaticJointDef) { d.Hertz = nan })},
			{"PrismaticJointDef.TargetTranslation = -Inf", physics.ErrNotFinite,
				prismatic(func(d *physics.PrismaticJointDef) { d.TargetTranslation = -inf })},
			{"PrismaticJointDef.UpperTranslation = 0: out of range: below", physics.ErrRange,
				prismatic(func(d *physics.PrismaticJointDef) { d.LowerTranslation = 1 })},
			{"PrismaticJointDef.LowerTranslation = NaN", physics.ErrNotFinite,
				prismatic(func(d *physics.PrismaticJointDef) { d.LowerTranslation = nan })},
			{"PrismaticJointDef.MaxMotorForce = -1", physics.ErrRange, prismatic(func(d *physics.PrismaticJointDef) { d.MaxMotorForce = -1 })},
			{"WeldJointDef.LinearHertz = -1", physics.ErrRange, weld(func(d *physics.WeldJointDef) { d.LinearHertz = -1 })},
			{"WeldJointDef.AngularHertz = NaN", physics.ErrNotFinite, weld(func(d *physics.WeldJointDef) { d.AngularHertz = nan })},
			{"WeldJointDef.LinearDamping = -1", physics.ErrRange, weld(func(d *physics.WeldJointDef) { d.LinearDamping = -1 })},
			{"WeldJointDef.AngularDamping = 2e+06", physics.ErrRange, weld(func(d *physics.WeldJointDef) { d.AngularDamping = 2e6 })},
			{"WheelJointDef.Damping = -1", physics.ErrRange, wheel(func(d *physics.WheelJointDef) { d.Damping = -1 })},
			{"WheelJointDef.UpperTranslation = -1: out of range: below", physics.ErrRange,
				wheel(func(d *physics.WheelJointDef) { d.UpperTranslation = -1 })},
			{"WheelJointDef.MaxMotorTorque = NaN", physics.ErrNotFinite, wheel(func(d *physics.WheelJointDef) { d.MaxMotorTorque = nan })},
			{"MotorJointDef.MaxSpringForce = -1", physics.ErrRange, motor(func(d *physics.MotorJointDef) { d.MaxSpringForce = -1 })},
			{"MotorJointDef.MaxVelocityForce = 1: out of range: MaxSpringForce is set", physics.ErrRange,
				motor(func(d *physics.MotorJointDef) { d.MaxSpringForce, d.MaxVelocityForce = 1, 1 })},
			{"MotorJointDef.AngularVelocity = NaN", physics.ErrNotFinite, motor(func(d *physics.MotorJointDef) { d.AngularVelocity = nan })},
			{"MouseJointDef.Target[1] = NaN", physics.ErrNotFinite, drag(func(d *physics.MouseJointDef) { d.Target[1] = nan })},
			{"MouseJointDef.Target[0] = 9.223372e+18", physics.ErrRange, drag(func(d *physics.MouseJointDef) { d.Target[0] = huge })},
			{"MouseJointDef.MaxForce = -1", physics.ErrRange, drag(func(d *physics.MouseJointDef) { d.MaxForce = -1 })},
			{"SetMotorSpeed: speed = NaN", physics.ErrNotFinite, w.SetMotorSpeed(hinge, nan)},
			{"SetMotorSpeed: speed = 9.223372e+18", physics.ErrRange, w.SetMotorSpeed(hinge, huge)},
			{"kind of joint = mouse: unsupported: it has no motor", physics.ErrUnsupported, w.SetMotorSpeed(mouse, 1)},
			{"SetMouseTarget: target[0] = +Inf", physics.ErrNotFinite, w.SetMouseTarget(mouse, [2]float32{inf})},
			{"SetMouseTarget: target = 9.223372e+18", physics.ErrRange, w.SetMouseTarget(mouse, [2]float32{0, huge})},
			{"kind of joint = revolute: unsupported: not mouse", physics.ErrUnsupported, w.SetMouseTarget(hinge, [2]float32{})},
		}) {
		if !errors.Is(r.err, r.is) || !strings.Contains(r.err.Error(), "physics: "+r.words) {
			t.Errorf("want %q, %v; got %v", r.words, r.is, r.err)
		}
	}
	if w.Hash() != hash || w.JointCount() != count {
		t.Error("a refused call changed the world")
	}
}

func TestJointDefReportsEveryFaultAtOnce(t *testing.T) {
	d := physics.RevoluteJointDef{Hertz: -1, MotorSpeed: nan, LowerAngle: 1}
	d.FrameA.Angle = nan
	err := physics.ValidateJointDef(&d)
	for _, part := range []string{"BodyB", "FrameA.Angle", "Hertz", "MotorSpeed", "UpperAngle"} {
		if err == nil || !strings.Contains(err.Error(), part) {
			t.Errorf("%s is missing in %v", part, err)
		}
	}
}

func TestOtherEnginesHaveNoJoints(t *testing.T) {
	w := must[*physics.World](t)(box2d.New(physics.Config{}))
	a, b := body(t, w, physics.StaticBody, 0, 0), body(t, w, physics.DynamicBody, 1, 0)
	for _, m := range jointMakers {
		if _, err := m.create(w, common(a, b)); !errors.Is(err, physics.ErrUnsupported) {
			t.Errorf("%v: %v", m.kind, err)
		}
	}
	for name, err := range jointCalls(w, physics.Joint{}) {
		if !errors.Is(err, physics.ErrStale) {
			t.Errorf("%s: %v", name, err)
		}
	}
	if list, err := w.AppendJoints(nil, b); len(list) != 0 || err != nil {
		t.Errorf("%v, %v", list, err)
	}
}

func TestJointNames(t *testing.T) {
	w := newWorld(t, physics.Config{Capacity: 10})
	c := w.NewCommands()
	b := c.CreateBody(physics.DefaultBodyDef())
	if s := c.CreateWeldJoint(physics.WeldJointDef{JointDef: common(b, b)}).String(); s != "new joint 0" {
		t.Error(s)
	}
	if s := physics.JointKind(0).String() + " " + physics.JointKind(9).String(); s != "JointKind(0) JointKind(9)" {
		t.Error(s)
	}
}

// The geometry that a joint returns follows from the poses of its bodies.
func TestJointGeometry(t *testing.T) {
	r := newFixture(t, 0)
	a, b := r.body(physics.StaticBody, 1, 2, turned(0.5)), r.dynamic(4, 6, turned(1.25), moving(3, -2, 0.5))
	d := physics.PrismaticJointDef{JointDef: common(a, b)}
	d.FrameA, d.FrameB = at(0.5, 0, 0.25), at(0, -1, -0.5)
	j := must[physics.Joint](t)(r.w.CreatePrismaticJoint(d))
	pa, pb, err := r.w.JointPoints(j)
	r.no(err)
	ax, ay := 1+0.5*math.Cos(0.5), 2+0.5*math.Sin(0.5)
	bx, by := 4+math.Sin(1.25), 6-math.Cos(1.25)
	r.near("point A, x", float64(pa[0]), ax, 1e-6)
	r.near("point A, y", float64(pa[1]), ay, 1e-6)
	r.near("point B, x", float64(pb[0]), bx, 1e-6)
	r.near("point B, y", float64(pb[1]), by, 1e-6)
	r.near("angle", float64(must[float32](t)(r.w.JointAngle(j))), 1.25-0.5-0.5-0.25, 1e-6)
	r.near("length", float64(must[float32](t)(r.w.JointLength(j))), math.Hypot(bx-ax, by-ay), 1e-6)
	ux, uy := math.Cos(0.75), math.Sin(0.75)
	r.near("translation", float64(must[float32](t)(r.w.JointTranslation(j))), ux*(bx-ax)+uy*(by-ay), 1e-6)
	vx, vy := 3+0.5*math.Cos(1.25), -2+0.5*math.Sin(1.25)
	r.near("speed", float64(must[float32](t)(r.w.JointSpeed(j))), ux*vx+uy*vy, 1e-5)
	hinge := must[physics.Joint](t)(r.w.CreateRevoluteJoint(physics.RevoluteJointDef{JointDef: common(a, b)}))
	r.near("spin", float64(must[float32](t)(r.w.JointSpeed(hinge))), 0.5, 1e-6)
	rope := physics.DefaultDistanceJointDef()
	rope.JointDef = d.JointDef
	j = must[physics.Joint](t)(r.w.CreateDistanceJoint(rope))
	n := math.Hypot(bx-ax, by-ay)
	r.near("speed of the length", float64(must[float32](t)(r.w.JointSpeed(j))), (vx*(bx-ax)+vy*(by-ay))/n, 1e-5)
}
