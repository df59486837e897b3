package physics_test

import (
	"errors"
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

// sagging are joints that hold a load of mass m and inertia I at 1 m to the right of a support, in the directions of
// gravity and rotation that a spring constraint of frequency f leaves: m·g / (m·(2π·f)²) and T / (I·(2π·f)²).
var sagging = map[string]func(r fixture, d physics.JointDef) physics.Joint{
	"weld": func(r fixture, d physics.JointDef) physics.Joint {
		return r.join(r.w.CreateWeldJoint(physics.WeldJointDef{JointDef: d}))
	},
	"hinge": func(r fixture, d physics.JointDef) physics.Joint {
		return r.join(r.w.CreateRevoluteJoint(physics.RevoluteJointDef{JointDef: d}))
	},
	"slider": func(r fixture, d physics.JointDef) physics.Joint {
		return r.join(r.w.CreatePrismaticJoint(physics.PrismaticJointDef{JointDef: d}))
	},
	"wheel": func(r fixture, d physics.JointDef) physics.Joint {
		return r.join(r.w.CreateWheelJoint(physics.WheelJointDef{JointDef: d}))
	},
	"stop of a slider": func(r fixture, d physics.JointDef) physics.Joint {
		d.FrameA.Angle, d.FrameB.Angle = math.Pi/2, math.Pi/2
		return r.join(r.w.CreatePrismaticJoint(physics.PrismaticJointDef{JointDef: d, EnableLimit: true, UpperTranslation: 1}))
	},
	"rod": func(r fixture, d physics.JointDef) physics.Joint {
		d.FrameA.Point[1] += 2
		return r.join(r.w.CreateDistanceJoint(physics.DistanceJointDef{JointDef: d, Length: 2}))
	},
	"rope": func(r fixture, d physics.JointDef) physics.Joint {
		d.FrameA.Point[1] += 2
		return r.join(r.w.CreateDistanceJoint(physics.DistanceJointDef{JointDef: d, EnableSpring: true, EnableLimit: true, MaxLength: 2}))
	},
	"stiff spring of a motor joint": func(r fixture, d physics.JointDef) physics.Joint {
		return r.join(r.w.CreateMotorJoint(physics.MotorJointDef{JointDef: d, MaxSpringForce: 1e6}))
	},
}

// A load of a joint with its own frequency sags as it does on a spring of that frequency, beside one whose joint
// has the world's. JointSeparation is the sag.
func TestConstraintHertz(t *testing.T) {
	const g = 10
	for name, make := range sagging {
		t.Run(name, func(t *testing.T) {
			r := newFixture(t, -g)
			support := r.body(physics.StaticBody, 0, 0)
			hertz := []float32{0, 3, 8, 1e5}
			var loads []physics.Body
			var joints []physics.Joint
			for i, f := range hertz {
				b := r.load(1, float32(10*i))
				d := r.between(support, b, 1, float32(10*i))
				d.ConstraintHertz, d.ConstraintDamping = f, 1
				if f == 0 {
					d.ConstraintDamping = 0
				}
				loads, joints = append(loads, b), append(joints, make(r, d))
			}
			r.seconds(6)
			for i, f := range hertz {
				if f == 0 || f > 60 {
					f = 60 // of the world; the quarter of the rate of the sub-steps
				}
				sag := g / math.Pow(2*math.Pi*float64(f), 2)
				_, y := r.at(loads[i])
				r.near(fmt.Sprint(hertz[i], " Hz"), float64(10*i)-y, sag, 0.002*sag+1e-5)
				linear, angular, err := r.w.JointSeparation(joints[i])
				r.no(err)
				want := sag
				if kind, _ := r.w.JointKind(joints[i]); kind == physics.MotorJoint {
					want = 0
				}
				r.near("separation", float64(linear), want, 0.002*sag+1e-5)
				r.near("angle", float64(angular), 0, 1e-3)
			}
		})
	}
}

// The angle that a weld or a slider holds, and the limit of a hinge, give way to a torque in the same manner.
func TestConstraintHertzOfAngles(t *testing.T) {
	const f, torque = 4, 5
	for name, make := range map[string]func(r fixture, d physics.JointDef) physics.Joint{
		"weld": sagging["weld"], "slider": sagging["slider"],
		"limit": func(r fixture, d physics.JointDef) physics.Joint {
			return r.join(r.w.CreateRevoluteJoint(physics.RevoluteJointDef{JointDef: d, EnableLimit: true, LowerAngle: -1}))
		},
	} {
		t.Run(name, func(t *testing.T) {
			r := newFixture(t, 0)
			support := r.body(physics.StaticBody, 0, 0)
			b := r.load(0, 0)
			d := common(support, b)
			d.ConstraintHertz, d.ConstraintDamping = f, 1
			j := make(r, d)
			for range 360 {
				r.no(r.w.ApplyTorque(b, torque))
				r.steps(1)
			}
			inertia := 1 / float64(r.w.Columns().InvInertia[b.Index()])
			turn := torque / (inertia * math.Pow(2*math.Pi*f, 2))
			r.near("turn", r.angle(b), turn, 0.002*turn)
			_, angular, err := r.w.JointSeparation(j)
			r.no(err)
			r.near("separation", float64(angular), turn, 0.002*turn)
		})
	}
}

// Joints that are all tuned to some numbers move as in a world with these numbers, bit for bit; and tuning
// to the numbers of the world changes nothing. One number may be the world's.
func TestTuningIsThatOfTheWorld(t *testing.T) {
	world := func(c physics.Config, hertz, damping float32) *physics.World {
		w := jointWorld(t, c)
		for i := range w.JointCount() {
			j, _ := w.JointAt(i)
			d := defOf[physics.JointDef](t, w, j)
			d.ConstraintHertz, d.ConstraintDamping = hertz, damping
			if err := w.SetJointDef(j, &d); err != nil {
				t.Fatal(err)
			}
		}
		return w
	}
	same := func(what string, a, b *physics.World) {
		t.Helper()
		steps(t, a, 20)
		steps(t, b, 20)
		for i, h := range a.AppendColumnHashes(nil) {
			if o := b.AppendColumnHashes(nil)[i]; h != o {
				t.Errorf("%s: %s differs", what, h.Name)
			}
		}
	}
	for _, level := range native.Levels() {
		of := func(hertz, damping float32) physics.Config {
			return physics.Config{Level: level, JointHertz: hertz, JointDamping: damping}
		}
		same("both", world(of(12, 3), 0, 0), world(of(0, 0), 12, 3))
		same("frequency", world(of(12, 3), 0, 0), world(of(0, 3), 12, 0))
		same("damping", world(of(12, 3), 0, 0), world(of(12, 0), 0, 3))
		same("the world's", world(of(12, 3), 0, 0), world(of(12, 3), 12, 3))
		a, b := world(of(12, 3), 0, 0), world(of(0, 0), 0, 0)
		steps(t, a, 20)
		steps(t, b, 20)
		if a.Hash() == b.Hash() {
			t.Error("tuning does nothing")
		}
	}
}

// tunedWorld is jointWorld with joints of every sort of tuning, thresholds, motors that seek a velocity, and springs
// with a range.
func tunedWorld(t testing.TB, c physics.Config) *physics.World {
	w := jointWorld(t, c)
	r := fixture{t, w}
	for i := range w.JointCount() {
		j, _ := w.JointAt(i)
		d := defOf[physics.JointDef](t, w, j)
		d.ConstraintHertz, d.ConstraintDamping = float32(i%3)*8, float32(i%4)*0.7
		d.ForceThreshold, d.TorqueThreshold = float32(i%5)*10, float32(i%7)*3
		r.no(w.SetJointDef(j, &d))
	}
	ground, _ := w.BodyAt(0)
	for i := range 40 {
		b, _ := w.BodyAt(100 + i)
		if i%2 == 0 {
			m := physics.MotorJointDef{JointDef: r.between(ground, b, float32(i), 3), MaxVelocityForce: 50}
			if i%4 == 0 {
				m.LinearVelocity = [2]float32{float32(i%5) - 2, float32(i%3) - 1}
			}
			r.join(w.CreateMotorJoint(m))
			continue
		}
		other, _ := w.BodyAt(200 + i)
		d := physics.DistanceJointDef{JointDef: common(b, other), Length: 3, EnableSpring: true, Hertz: 1, Damping: 0.3}
		if i%4 == 1 {
			d.LowerSpringForce, d.UpperSpringForce = -30, float32(i%3)*2
		}
		r.join(w.CreateDistanceJoint(d))
	}
	return w
}

// Levels and workers agree on all of that, with the events; and so does a world that is restored, or copied, in
// between.
func TestLevelsAgreeOnTunedJoints(t *testing.T) {
	ticks := paritytest.Rounds(40)
	compareRuns(t, func(level native.Level, workers int) (all [][]physics.ColumnHash) {
		w := tunedWorld(t, physics.Config{Level: level, Workers: workers})
		for range ticks {
			steps(t, w, 1)
			all = append(all, w.AppendColumnHashes([]physics.ColumnHash{eventHash(w)}))
		}
		return all
	})
}

func TestTunedJointsAfterRestore(t *testing.T) {
	w := tunedWorld(t, physics.Config{})
	for tick := range 30 {
		steps(t, w, 1)
		if tick%10 != 5 {
			continue
		}
		again, clone := newWorld(t, physics.Config{Capacity: 3000}), must[*physics.World](t)(w.Clone())
		restore(t, again, snapshot(t, w))
		for i := range w.JointCount() {
			j, _ := w.JointAt(i)
			if a, b := defOf[physics.JointDef](t, w, j), defOf[physics.JointDef](t, again, j); a != b {
				t.Fatalf("%+v, restored %+v", a, b)
			}
		}
		kept := must[*physics.World](t)(w.Clone())
		for range 5 {
			steps(t, kept, 1)
			steps(t, again, 1)
			steps(t, clone, 1)
			sameState(t, fmt.Sprint("restored after tick ", tick), kept, again)
			sameState(t, fmt.Sprint("cloned after tick ", tick), kept, clone)
			if !sameEvents(kept.Events(), again.Events()) {
				t.Fatal("other events after Restore")
			}
		}
	}
}

// A joint is in JointLoads in exactly those steps after which its force or torque exceeds a threshold, while a body
// of it is awake.
func TestJointLoads(t *testing.T) {
	w := tunedWorld(t, physics.Config{})
	loaded, not := 0, 0
	for tick := range 60 {
		steps(t, w, 1)
		list := w.Events().JointLoads
		for i := range w.JointCount() {
			j, ok := w.JointAt(i)
			if !ok {
				continue
			}
			d := defOf[physics.JointDef](t, w, j)
			force, torque := must[[2]float32](t)(w.JointForce(j)), must[float32](t)(w.JointTorque(j))
			strength := float32(math.Sqrt(float64(float32(force[0]*force[0]) + float32(force[1]*force[1]))))
			exceeded := d.ForceThreshold > 0 && strength > d.ForceThreshold ||
				d.TorqueThreshold > 0 && max(torque, -torque) > d.TorqueThreshold
			if exceeded && (w.Awake(d.BodyA) || w.Awake(d.BodyB)) {
				if len(list) == 0 || list[0] != (physics.JointLoad{Joint: j, Force: force, Torque: torque}) {
					t.Fatalf("tick %d: %v is not the next of %v", tick, j, list)
				}
				list, loaded = list[1:], loaded+1
			} else if d.ForceThreshold > 0 || d.TorqueThreshold > 0 {
				not++
			}
		}
		if len(list) > 0 {
			t.Fatalf("tick %d: too many: %v", tick, list)
		}
	}
	if loaded < 100 || not < 100 {
		t.Errorf("%d loaded, %d not: not the case to test", loaded, not)
	}
}

func sleeps(d *physics.BodyDef) { d.DisableSleep = false }

// The weight of a body loads its joint above a threshold below the weight, not above one over it; a sleeping joint
// reports nothing, and one that breaks is in Broken alone.
func TestJointLoadOfAWeight(t *testing.T) {
	r := newFixture(t, -10)
	a := r.body(physics.StaticBody, 0, 0)
	joint := func(x, threshold, torque, breaks float32) (physics.Body, physics.Joint) {
		b := r.dynamic(x, -1, sleeps)
		r.box(b, plain, 0.5, 0.5) // 1 kg: 10 N
		d := physics.WeldJointDef{JointDef: r.between(a, b, x, 0)}
		d.ForceThreshold, d.TorqueThreshold, d.BreakForce = threshold, torque, breaks
		return b, r.join(r.w.CreateWeldJoint(d))
	}
	_, light := joint(0, 9, 0, 0)
	joint(5, 11, 1, 0)
	heavy, broken := joint(10, 9, 0, 20)
	r.seconds(0.25)
	list := r.w.Events().JointLoads
	if len(list) != 2 || list[0].Joint != light || list[1].Joint != broken {
		t.Fatalf("%v", list)
	}
	r.near("force", float64(list[0].Force[1]), 10, 0.05)
	r.no(r.w.ApplyForceToCenter(heavy, [2]float32{0, -60}))
	r.steps(1)
	if e := r.w.Events(); len(e.JointLoads) != 1 || len(e.Broken) != 1 || e.Broken[0].Joint != broken {
		t.Errorf("%v, %v", e.JointLoads, e.Broken)
	}
	r.w.ClearEvents()
	if len(r.w.Events().JointLoads) != 0 {
		t.Error("loads after ClearEvents")
	}
	r.seconds(5)
	if r.w.AwakeCount() > 1 || len(r.w.Events().JointLoads) != 0 {
		t.Errorf("%d awake, %v", r.w.AwakeCount(), r.w.Events().JointLoads)
	}
}

// A motor joint accelerates a body by MaxVelocityForce/m up to LinearVelocity, in the axes of FrameA, and holds
// that velocity; they turn with body A.
func TestMotorLinearVelocity(t *testing.T) {
	r := newFixture(t, 0)
	a := r.body(physics.StaticBody, 0, 0, turned(0.5))
	b := r.load(0, 0) // 1.2 kg
	m := 1 / float64(r.w.Columns().InvMass[b.Index()])
	d := physics.MotorJointDef{JointDef: common(a, b), MaxVelocityForce: 2, LinearVelocity: [2]float32{3, 4}}
	d.FrameA.Angle = 0.3
	j := r.join(r.w.CreateMotorJoint(d))
	ux, uy := math.Cos(0.8)*0.6-math.Sin(0.8)*0.8, math.Sin(0.8)*0.6+math.Cos(0.8)*0.8
	reached := 5 * m / 2 // seconds
	for i := range 300 {
		r.steps(1)
		speed := min(2/m*float64(i+1)/60, 5)
		vx, vy, _ := r.velocity(b)
		r.near("vx", vx, speed*ux, 0.01)
		r.near("vy", vy, speed*uy, 0.01)
		f := must[[2]float32](t)(r.w.JointForce(j))
		want := 2.0
		if float64(i) > reached*60+1 {
			want = 0
		}
		if math.Abs(float64(i)-reached*60) > 1.5 {
			r.near("force", math.Hypot(float64(f[0]), float64(f[1])), want, 0.01)
		}
	}

	turner := r.body(physics.KinematicBody, 100, 0, moving(0, 0, 1))
	c := r.load(100, 0)
	r.join(r.w.CreateMotorJoint(physics.MotorJointDef{JointDef: common(turner, c), MaxVelocityForce: 1e4, LinearVelocity: [2]float32{2, 0}}))
	for range 120 {
		r.steps(1)
		vx, vy, _ := r.velocity(c)
		r.near("vx on the turner", vx, 2*math.Cos(r.angle(turner)), 0.02)
		r.near("vy on the turner", vy, 2*math.Sin(r.angle(turner)), 0.02)
	}
}

// A spring with a range of force pulls with at most the lower bound and pushes with at most the upper one.
func TestSpringForceRange(t *testing.T) {
	for _, c := range []struct{ stretched, lower, upper, want float32 }{
		{3, -5, 0, -5}, {0.5, -5, 0, 0}, {0.5, -5, 4, 4}, {3, -5, 4, -5}, {2.01, -50, 50, -0}, {3, 2, 6, 2}, {0.5, -6, -2, -2},
	} {
		r := newFixture(t, 0)
		a, b := r.body(physics.StaticBody, 0, 0), r.load(c.stretched, 0)
		m := 1 / float64(r.w.Columns().InvMass[b.Index()])
		j := r.join(r.w.CreateDistanceJoint(physics.DistanceJointDef{JointDef: common(a, b), Length: 2, EnableSpring: true, Hertz: 2,
			Damping: 0.5, MaxSpringForce: 1e-3, LowerSpringForce: c.lower, UpperSpringForce: c.upper}))
		r.steps(1)
		f := float64(must[[2]float32](t)(r.w.JointForce(j))[0])
		vx, _, _ := r.velocity(b)
		what := fmt.Sprintf("%+v", c)
		if c.stretched == 2.01 { // within the range: the spring's own force
			if !(f < 0 && f > -5) {
				t.Errorf("%s: %v N", what, f)
			}
			continue
		}
		r.near(what, f, float64(c.want), 1e-3)
		r.near(what, vx, float64(c.want)/m/60, 1e-3)
	}
}

// SetJointDef changes what all kinds have in common and nothing else, wakes the bodies, and works in Commands, also on
// a joint of the same list.
func TestSetJointDef(t *testing.T) {
	for _, m := range jointMakers {
		r := newFixture(t, -10)
		a, b := r.body(physics.StaticBody, 0, 0), r.dynamic(1, 0, sleeps)
		j := r.join(m.create(r.w, common(a, b)))
		r.steps(1)
		r.no(r.w.SetAwake(b, false))
		d := defOf[physics.JointDef](t, r.w, j)
		if d != common(a, b) {
			t.Errorf("%v: %+v", m.kind, d)
		}
		if r.no(r.w.SetJointDef(j, &d)); r.w.Awake(b) {
			t.Errorf("%v: awake without a change", m.kind)
		}
		d = physics.JointDef{BodyA: b, FrameA: at(1, 2, 3), FrameB: at(4, 5, 6), CollideConnected: true, BreakForce: 1e8,
			BreakTorque: 1e9, ForceThreshold: 7, TorqueThreshold: 8, ConstraintHertz: 9, ConstraintDamping: 10}
		if r.no(r.w.SetJointDef(j, &d)); !r.w.Awake(b) {
			t.Errorf("%v: asleep after a change", m.kind)
		}
		d.BodyA, d.BodyB = a, b
		if got := defOf[physics.JointDef](t, r.w, j); got != d {
			t.Errorf("%v: %+v, want %+v", m.kind, got, d)
		}
		other := newFixture(t, -10)
		other.body(physics.StaticBody, 0, 0)
		other.load(1, 0)
		k := other.join(m.create(other.w, d))
		if got, want := must[any](t)(m.def(r.w, j)), must[any](t)(m.def(other.w, k)); got != want {
			t.Errorf("%v: %+v, want %+v", m.kind, got, want)
		}
		c := r.w.NewCommands()
		made := m.record(c, common(a, b))
		c.SetJointDef(made, &d)
		plain := common(a, b)
		c.SetJointDef(j, &plain)
		r.no(r.w.Apply(c))
		if got := defOf[physics.JointDef](t, r.w, c.Joint(made)); got != d {
			t.Errorf("%v in a list: %+v, want %+v", m.kind, got, d)
		}
		if got := defOf[physics.JointDef](t, r.w, j); got != common(a, b) {
			t.Errorf("%v in a list: %+v", m.kind, got)
		}
	}
}

func TestBadJointTuning(t *testing.T) {
	r := newFixture(t, 0)
	a, b := r.body(physics.StaticBody, 0, 0), r.load(1, 0)
	j := r.join(r.w.CreateWeldJoint(physics.WeldJointDef{JointDef: common(a, b)}))
	motor := physics.MotorJointDef{JointDef: common(a, b), MaxVelocityForce: 1}
	distance := physics.DistanceJointDef{JointDef: common(a, b), MaxLength: 1}
	hash := r.w.Hash()
	for words, c := range map[string]struct {
		is     error
		change func(d *physics.JointDef)
	}{
		"ForceThreshold = -1":       {physics.ErrRange, func(d *physics.JointDef) { d.ForceThreshold = -1 }},
		"TorqueThreshold = NaN":     {physics.ErrNotFinite, func(d *physics.JointDef) { d.TorqueThreshold = nan }},
		"ConstraintHertz = 2e+06":   {physics.ErrRange, func(d *physics.JointDef) { d.ConstraintHertz = 2e6 }},
		"ConstraintDamping = -0.5":  {physics.ErrRange, func(d *physics.JointDef) { d.ConstraintDamping = -0.5 }},
		"ConstraintDamping = +Inf":  {physics.ErrNotFinite, func(d *physics.JointDef) { d.ConstraintDamping = inf }},
		"FrameA.Point[0] = 2e+06":   {physics.ErrRange, func(d *physics.JointDef) { d.FrameA.Point[0] = 2e6 }},
		"BreakTorque = -3":          {physics.ErrRange, func(d *physics.JointDef) { d.BreakTorque = -3 }},
		"LinearVelocity[1] = NaN":   {physics.ErrNotFinite, nil},
		"UpperSpringForce = -2":     {physics.ErrRange, nil},
		"LowerSpringForce = -9e+20": {physics.ErrRange, nil},
	} {
		var err, listed error
		list := r.w.NewCommands()
		switch words {
		case "LinearVelocity[1] = NaN":
			d := motor
			d.LinearVelocity[1] = nan
			_, err = r.w.CreateMotorJoint(d)
			list.CreateMotorJoint(d)
		case "UpperSpringForce = -2", "LowerSpringForce = -9e+20":
			d := distance
			if d.UpperSpringForce = -2; words[0] == 'L' {
				d.LowerSpringForce, d.UpperSpringForce = -9e20, 0
			}
			_, err = r.w.CreateDistanceJoint(d)
			list.CreateDistanceJoint(d)
		default:
			d := common(a, b)
			c.change(&d)
			err = r.w.SetJointDef(j, &d)
			list.SetJointDef(j, &d)
		}
		listed = r.w.Apply(list)
		for _, err := range []error{err, listed} {
			if err == nil || !errors.Is(err, c.is) || !strings.Contains(err.Error(), words) {
				t.Errorf("want %q, %v; got %v", words, c.is, err)
			}
		}
	}
	if r.w.Hash() != hash || r.w.JointCount() != 1 {
		t.Error("a refused call changed the world")
	}
}

func TestTunedJointsAllocateNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	w := tunedWorld(t, physics.Config{})
	var buf []byte
	j, _ := w.JointAt(3)
	list := w.NewCommands()
	busy := func() {
		var d physics.JointDef
		err := w.JointDef(j, &d)
		d.ConstraintHertz = 30 - d.ConstraintHertz
		list.Reset()
		list.SetJointDef(j, &d)
		if err := errors.Join(err, w.SetJointDef(j, &d), w.Step(1./60, list)); err != nil {
			t.Fatal(err)
		}
		w.JointSeparation(j)
		buf = w.AppendEvents(buf[:0])
		w.Hash()
	}
	for range 100 {
		busy()
	}
	if n := testing.AllocsPerRun(20, busy); n != 0 {
		t.Errorf("%g allocations a step", n)
	}
}

// A motor exerts its greatest force on a load that it accelerates, and what holds the load at its speed: a slider and a
// distance joint lift a weight, and a hinge turns a wheel.
func TestJointMotorForce(t *testing.T) {
	r := newFixture(t, -10)
	support := r.body(physics.StaticBody, 0, 0)
	lifted, hung, wheel := r.load(0, 0), r.load(5, -1), r.load(10, 0)
	m, inertia := 1/float64(r.w.Columns().InvMass[lifted.Index()]), 1/float64(r.w.Columns().InvInertia[wheel.Index()])
	up := common(support, lifted)
	up.FrameA.Angle, up.FrameB.Angle = math.Pi/2, math.Pi/2
	slider := r.join(r.w.CreatePrismaticJoint(physics.PrismaticJointDef{JointDef: up, EnableMotor: true, MaxMotorForce: 40, MotorSpeed: 4}))
	d := common(support, hung)
	d.FrameA.Point[0] = 5
	winch := r.join(r.w.CreateDistanceJoint(physics.DistanceJointDef{JointDef: d, EnableSpring: true, EnableMotor: true, MaxMotorForce: 30, MotorSpeed: 3}))
	hinge := r.hinge(support, wheel, 10, 0, func(d *physics.RevoluteJointDef) {
		d.EnableMotor, d.MaxMotorTorque, d.MotorSpeed = true, 0.5, -100
	})
	free := r.hinge(support, r.load(15, 0), 15, 0)
	r.steps(3)
	r.near("slider", r.read(r.w.JointMotorForce, slider), 40, 0.01)
	r.near("winch", r.read(r.w.JointMotorForce, winch), 30, 0.01)
	r.near("hinge", r.read(r.w.JointMotorForce, hinge), -0.5, 1e-4)
	_, _, spin := r.velocity(wheel)
	r.near("spin", spin, -0.5/inertia*3/60, 1e-3)
	r.near("no motor", r.read(r.w.JointMotorForce, free), 0, 0)
	r.seconds(2)
	r.near("slider at its speed", r.read(r.w.JointMotorForce, slider), m*10, 0.01)
	r.near("all of its force", float64(must[[2]float32](t)(r.w.JointForce(slider))[1]), m*10, 0.01)
	r.near("speed", r.read(r.w.JointSpeed, slider), 4, 1e-3)
}
