package physics_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

// stiffWorld draws worlds whose sums come near zero or near the largest numbers: bodies that do not turn or move along
// an axis, no gravity, damping that ends all motion, masses from 1e-16 to 1e16 kg, joints of any stiffness.
type stiffWorld struct {
	*rand.Rand
	t testing.TB
	w *physics.World

	heavy  bool // masses of all sizes
	fading bool // boxes that hardly turn, without gravity: the impulses between them fade to nothing
}

// log draws from low to high with equal chance for each power of ten.
func (r stiffWorld) log(low, high float64) float32 {
	return float32(math.Exp(r.uniform(math.Log(low), math.Log(high))))
}

func (r stiffWorld) uniform(low, high float64) float64 { return low + (high-low)*r.Float64() }

func (r stiffWorld) vector(size float64) [2]float32 {
	return [2]float32{float32(r.uniform(-size, size)), float32(r.uniform(-size, size))}
}

func (r stiffWorld) one(in int) bool { return r.IntN(in) == 0 }

// or returns an extreme value one time in four.
func (r stiffWorld) or(usual float32, extreme ...float32) float32 {
	if r.one(4) {
		return extreme[r.IntN(len(extreme))]
	}
	return usual
}

func (r stiffWorld) material() physics.ShapeDef {
	d := plain
	d.Density, d.Friction = r.log(1e-6, 10), r.or(0.6, 0, 1e-30, 1e6)
	if r.fading {
		return d
	}
	d.Restitution, d.RollingResistance, d.TangentSpeed = r.or(0, 0.5, 1), r.or(0, 1e-20, 0.1, 10), r.or(0, 1e-20, -1)
	return d
}

// walls are four sides around the origin: boxes, segments or a chain.
func (r stiffWorld) walls() {
	b := body(r.t, r.w, physics.StaticBody, 0, 0)
	points := [][2]float32{{2, 2}, {2, -2}, {-2, -2}, {-2, 2}}
	switch r.IntN(3) {
	case 0:
		must[physics.Chain](r.t)(r.w.CreateChain(b, physics.ChainDef{Points: points, Loop: true, Shape: plain}))
		return
	case 1:
		for i, p := range points {
			must[physics.Shape](r.t)(r.w.CreateSegment(b, plain, physics.Segment{P1: p, P2: points[(i+1)%4]}))
		}
		return
	}
	for _, s := range [][4]float32{{0, 3, 4, 1}, {0, -3, 4, 1}, {3, 0, 1, 4}, {-3, 0, 1, 4}} {
		d := physics.DefaultBodyDef()
		d.Position = [2]float32{s[0], s[1]}
		box(r.t, r.w, must[physics.Body](r.t)(r.w.CreateBody(d)), s[2], s[3])
	}
}

func (r stiffWorld) body() physics.Body {
	d := physics.DefaultBodyDef()
	d.Type, d.Position, d.Angle = physics.DynamicBody, r.vector(1.5), float32(r.uniform(-3, 3))
	d.LinearVelocity, d.AngularVelocity = r.vector(3), float32(r.uniform(-3, 3))
	d.LinearDamping, d.AngularDamping = r.or(0, 1, 20, 1e18), r.or(0, 1, 20, 1e18)
	d.FixedRotation, d.LockX, d.LockY, d.Bullet = r.one(2), r.one(8), r.one(8), r.one(8)
	shape := r.IntN(4)
	if r.fading {
		d.LinearDamping, d.LockX, d.LockY = float32(r.IntN(20)), false, false
		d.Angle, d.FixedRotation, shape = 0, !r.one(4), 2
	}
	b := must[physics.Body](r.t)(r.w.CreateBody(d))
	m, size := r.material(), float32(r.uniform(0.1, 0.4))
	var err error
	switch shape {
	case 0:
		_, err = r.w.CreateCircle(b, m, physics.Circle{Radius: size})
	case 1:
		_, err = r.w.CreateCapsule(b, m, physics.Capsule{P1: [2]float32{-size, 0}, P2: [2]float32{size, 0}, Radius: size / 2})
	default:
		_, err = r.w.CreatePolygon(b, m, physics.Box(size, float32(r.uniform(0.1, 0.4))))
	}
	if err == nil && r.heavy && r.one(2) {
		mass, gyration := r.log(1e-16, 1e16), r.log(0.05, 5)
		err = r.w.SetMassData(b, physics.MassData{Mass: mass, Inertia: r.or(mass*gyration*gyration, 0), Center: r.vector(0.2)})
	}
	if err != nil {
		r.t.Fatal(err)
	}
	return b
}

// joint connects two bodies that may be anywhere by a joint of any kind.
func (r stiffWorld) joint(a, b physics.Body) {
	hertz := func() float32 { return r.or(3, 0, 1e-6, 60, 1e6) }
	damping := func() float32 { return r.or(0.5, 0, 1, 100) }
	force := func() float32 { return r.or(30, 0, 1e-20, 1e6) }
	d := physics.JointDef{BodyA: a, BodyB: b, CollideConnected: r.one(2)}
	d.FrameA.Point, d.FrameA.Angle = r.vector(0.5), float32(r.uniform(-3, 3))
	d.FrameB.Point, d.FrameB.Angle = r.vector(0.5), float32(r.uniform(-3, 3))
	d.ConstraintHertz, d.ConstraintDamping = r.or(0, 1e-3, 1, 1e4), damping()
	low, high := float32(r.uniform(-1, 0)), float32(r.uniform(0, 1))
	spring, limit, motor := r.one(2), r.one(2), r.one(2)
	var err error
	switch r.IntN(7) {
	case 0:
		_, err = r.w.CreateDistanceJoint(physics.DistanceJointDef{JointDef: d, Length: r.or(1, 0), EnableSpring: spring, Hertz: hertz(), Damping: damping(), MaxSpringForce: force(),
			EnableLimit: limit, MinLength: -low, MaxLength: 1 + high, EnableMotor: motor, MaxMotorForce: force(), MotorSpeed: low})
	case 1:
		_, err = r.w.CreateRevoluteJoint(physics.RevoluteJointDef{JointDef: d, EnableSpring: spring, Hertz: hertz(), Damping: damping(), TargetAngle: high,
			EnableLimit: limit, LowerAngle: low, UpperAngle: high, EnableMotor: motor, MaxMotorTorque: force(), MotorSpeed: low})
	case 2:
		_, err = r.w.CreatePrismaticJoint(physics.PrismaticJointDef{JointDef: d, EnableSpring: spring, Hertz: hertz(), Damping: damping(), TargetTranslation: high,
			EnableLimit: limit, LowerTranslation: low, UpperTranslation: high, EnableMotor: motor, MaxMotorForce: force(), MotorSpeed: low})
	case 3:
		_, err = r.w.CreateWeldJoint(physics.WeldJointDef{JointDef: d, LinearHertz: hertz(), AngularHertz: hertz(), LinearDamping: damping(), AngularDamping: damping()})
	case 4:
		_, err = r.w.CreateWheelJoint(physics.WheelJointDef{JointDef: d, EnableSpring: spring, Hertz: hertz(), Damping: damping(),
			EnableLimit: limit, LowerTranslation: low, UpperTranslation: high, EnableMotor: motor, MaxMotorTorque: force(), MotorSpeed: low})
	case 5:
		m := physics.MotorJointDef{JointDef: d, LinearHertz: hertz(), LinearDamping: damping(), AngularHertz: hertz(), AngularDamping: damping(), MaxSpringTorque: force(),
			AngularVelocity: high, MaxVelocityTorque: force()}
		if spring {
			m.MaxSpringForce = force()
		} else {
			m.LinearVelocity, m.MaxVelocityForce = r.vector(2), force()
		}
		_, err = r.w.CreateMotorJoint(m)
	default:
		_, err = r.w.CreateMouseJoint(physics.MouseJointDef{JointDef: d, Target: r.vector(2), Hertz: hertz(), Damping: damping(), MaxForce: force()})
	}
	if err != nil {
		r.t.Fatal(err)
	}
}

// The impulses of a box that does not turn fade to denormal numbers after it has met a floor without gravity.
func TestFixedBoxMeetsFloor(t *testing.T) {
	for _, level := range native.Levels() {
		r := fixture{t, newWorld(t, physics.Config{Capacity: 2, Level: level})}
		r.floor(plain)
		b := r.dynamic(0, 0.6, moving(0, -1, 0), func(d *physics.BodyDef) { d.FixedRotation = true })
		r.box(b, plain, 0.5, 0.5)
		for k := range 60 {
			r.steps(1)
			if e := r.w.Events().Disabled; len(e) > 0 {
				t.Fatalf("level %v: step %d disabled the box, whose %s is %v", level, k, e[0].Column, e[0].Value)
			}
		}
	}
}

// No body of a world with finite values becomes not finite, on any level.
func TestFiniteWorldsStayFinite(t *testing.T) {
	const steps = 100
	// Soft welds of tiny masses, and joints that contradict each other, whose impulses grow.
	for _, seed := range []uint64{1107, 1180, 10674, 17236} {
		for _, level := range native.Levels() {
			if said := runStiffWorld(t, seed, level, steps); said != "" {
				t.Errorf("seed %d, level %v: %s", seed, level, said)
			}
		}
	}
	worlds, lost := max(100, paritytest.Sample(500)), 0
	for i := range worlds {
		seed := paritytest.Seed() + uint64(i)
		levels := native.Levels()
		level := levels[i%len(levels)]
		if said := runStiffWorld(t, seed, level, steps); said != "" {
			t.Errorf("seed %d, level %v: %s", seed, level, said)
			if lost++; lost == 5 {
				t.FailNow()
			}
		}
	}
}

func runStiffWorld(t *testing.T, seed uint64, level native.Level, steps int) string {
	r := stiffWorld{Rand: rand.New(rand.NewPCG(seed, 24)), t: t}
	r.heavy, r.fading = r.one(2), r.one(2)
	gravity := r.or(0, 1e-20, 10)
	if r.fading {
		gravity, steps = 0, 5*steps
	}
	r.w = newWorld(t, physics.Config{Capacity: 32, Gravity: [2]float32{0, -gravity}, DisableSleep: r.one(2), Level: level})
	r.walls()
	var bodies []physics.Body
	for range 1 + r.IntN(8) {
		bodies = append(bodies, r.body())
	}
	if len(bodies) > 1 && !r.fading && r.one(2) {
		for range 1 + r.IntN(4) {
			pair := r.Perm(len(bodies))
			r.joint(bodies[pair[0]], bodies[pair[1]])
		}
	}
	uneven := !r.fading && r.one(2)
	for k := range steps {
		h := dt
		if uneven {
			h *= r.or(1, 0.5, 2, 1e-3)
		}
		if err := r.w.Step(h); err != nil {
			t.Fatal(err)
		}
		for _, e := range r.w.Events().Disabled {
			return fmt.Sprintf("step %d disabled body %d, whose %s is %v", k, e.Body.Index(), e.Column, e.Value)
		}
	}
	return ""
}
