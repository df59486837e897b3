package physics_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics"
)

// pulls are joints that pull body B to body A, stiff or soft, from any distance.
var pulls = []struct {
	name   string
	create func(w *physics.World, d physics.JointDef) (physics.Joint, error)
}{
	{"weld", func(w *physics.World, d physics.JointDef) (physics.Joint, error) {
		return w.CreateWeldJoint(physics.WeldJointDef{JointDef: d})
	}},
	{"soft weld", func(w *physics.World, d physics.JointDef) (physics.Joint, error) {
		return w.CreateWeldJoint(physics.WeldJointDef{JointDef: d, LinearHertz: 1, LinearDamping: 1, AngularHertz: 2, AngularDamping: 1})
	}},
	{"revolute", func(w *physics.World, d physics.JointDef) (physics.Joint, error) {
		return w.CreateRevoluteJoint(physics.RevoluteJointDef{JointDef: d})
	}},
	{"revolute with limits", func(w *physics.World, d physics.JointDef) (physics.Joint, error) {
		return w.CreateRevoluteJoint(physics.RevoluteJointDef{JointDef: d, EnableLimit: true, LowerAngle: 1, UpperAngle: 2})
	}},
	{"prismatic", func(w *physics.World, d physics.JointDef) (physics.Joint, error) {
		return w.CreatePrismaticJoint(physics.PrismaticJointDef{JointDef: d, EnableLimit: true, LowerTranslation: -1, UpperTranslation: 1})
	}},
	{"prismatic with a spring", func(w *physics.World, d physics.JointDef) (physics.Joint, error) {
		return w.CreatePrismaticJoint(physics.PrismaticJointDef{JointDef: d, EnableSpring: true, Hertz: 1, Damping: 1})
	}},
	{"wheel", func(w *physics.World, d physics.JointDef) (physics.Joint, error) {
		return w.CreateWheelJoint(physics.WheelJointDef{JointDef: d, EnableSpring: true, Hertz: 1, Damping: 1})
	}},
	{"rod", func(w *physics.World, d physics.JointDef) (physics.Joint, error) {
		return w.CreateDistanceJoint(physics.DistanceJointDef{JointDef: d, Length: 0.5})
	}},
	{"rope", func(w *physics.World, d physics.JointDef) (physics.Joint, error) {
		return w.CreateDistanceJoint(physics.DistanceJointDef{JointDef: d, Length: 0.5, EnableSpring: true, EnableLimit: true,
			MinLength: 0.25, MaxLength: 0.5})
	}},
	{"spring", func(w *physics.World, d physics.JointDef) (physics.Joint, error) {
		return w.CreateDistanceJoint(physics.DistanceJointDef{JointDef: d, Length: 0.5, EnableSpring: true, Hertz: 1, Damping: 1, MaxSpringForce: 1e6})
	}},
	{"motor", func(w *physics.World, d physics.JointDef) (physics.Joint, error) {
		return w.CreateMotorJoint(physics.MotorJointDef{JointDef: d, LinearHertz: 60, LinearDamping: 1, MaxSpringForce: 1e6,
			AngularHertz: 60, AngularDamping: 1, MaxSpringTorque: 1e6})
	}},
	{"mouse", func(w *physics.World, d physics.JointDef) (physics.Joint, error) {
		return w.CreateMouseJoint(physics.MouseJointDef{JointDef: d, Target: d.FrameA.Point, Hertz: 60, Damping: 1, MaxForce: 1e6})
	}},
}

// place is the pose of a body.
type place struct{ x, y, angle float64 }

func places(w *physics.World) (all []place) {
	c := w.Columns()
	for i := range w.Rows() {
		all = append(all, place{float64(c.X[i]), float64(c.Y[i]), float64(c.Angle[i])})
	}
	return all
}

// way returns the distance of a body from a place, plus that of a point 0.7 m from its origin by rotation.
func (p place) way(q place) float64 {
	return math.Hypot(p.x-q.x, p.y-q.y) + 0.7*math.Abs(math.Remainder(p.angle-q.angle, 2*math.Pi))
}

// watchSleepers wakes all bodies in a copy of a world and watches it for half a second. Of the bodies that were asleep
// it returns the greatest motion, relative to what the threshold allows in that time, and the body.
func watchSleepers(t testing.TB, w *physics.World, threshold float64) (most float64, body int) {
	t.Helper()
	c := must[*physics.World](t)(w.Clone())
	for i := range c.Rows() {
		if b, ok := c.BodyAt(i); ok {
			fixture{t, c}.no(c.SetAwake(b, true))
		}
	}
	from := places(c)
	for range 30 {
		steps(t, c, 1)
		for i, p := range places(c) {
			if w.Columns().Flags[i]&physics.FlagAsleep != 0 && p.way(from[i]) > most*threshold/2 {
				most, body = p.way(from[i])/(threshold/2), i
			}
		}
	}
	return most, body
}

// A body that a joint still pulls to its target is not at rest, even if its velocity is zero between two steps: after
// all bodies with joints far from their targets have fallen asleep, none moves when it is woken.
func TestJointsDoNotSleepWhileTheyDraw(t *testing.T) {
	distances := []float32{0.5, 2, 5, 12, 50}
	if testing.Short() || paritytest.Instrumented {
		distances = []float32{2, 12}
	}
	rested, all := 0, 0
	for _, p := range pulls {
		for _, distance := range distances {
			for _, free := range []bool{false, true} {
				r := newFixture(t, 0)
				a := r.body(physics.StaticBody, 0, 0)
				if free {
					a = r.dynamic(0, 0, sleepy)
					r.box(a, plain, 0.5, 0.5)
				}
				b := r.dynamic(float32(0.6*distance), float32(0.8*distance), sleepy, turned(0.5))
				r.box(b, plain, 0.5, 0.5)
				d := common(a, b)
				d.FrameA.Angle = -1
				must[physics.Joint](t)(p.create(r.w, d))
				slept := false
				for range 900 {
					r.steps(1)
					if len(r.w.Events().Slept) == 0 {
						continue
					}
					slept = true
					if most, body := watchSleepers(t, r.w, physics.DefaultSleepThreshold); most > 1 {
						t.Errorf("%s, %g m off: body %d fell asleep and moves %.2f times as far as it may when it is woken",
							p.name, distance, body, most)
					}
				}
				if all++; slept {
					rested++
				}
			}
		}
	}
	if rested < all*9/10 {
		t.Errorf("%d of %d came to rest", rested, all)
	}
}

// randomHeap drops bodies of all kinds of shapes, some of them joined and some locked, on a floor between walls.
func randomHeap(t testing.TB, seed uint64) fixture {
	t.Helper()
	rng := rand.New(rand.NewPCG(seed, 3))
	f := func(low, high float64) float32 { return float32(low + rng.Float64()*(high-low)) }
	r := fixture{t, newWorld(t, physics.Config{Capacity: 64, Gravity: [2]float32{0, -10}})}
	floor := r.floor(plain)
	for _, x := range []float32{-4, 4} {
		r.segment(floor, plain, x, 0, x, 30)
	}
	var all []physics.Body
	for i := range 6 + rng.IntN(20) {
		b := r.dynamic(f(-3, 3), f(0.2, 1)+float32(i)/3, sleepy, turned(float64(f(-3, 3))), func(d *physics.BodyDef) {
			d.LockX, d.LockY, d.FixedRotation = rng.IntN(12) == 0, rng.IntN(20) == 0, rng.IntN(8) == 0
			d.AngularDamping = 1
		})
		d, size := material(f(0.3, 1), 0), f(0.2, 0.5)
		d.Density = f(0.5, 2)
		switch rng.IntN(3) {
		case 0:
			d.RollingResistance = 0.1
			r.circle(b, d, size)
		case 1:
			r.capsule(b, d, 0, 0, size, 0, size/2)
		default:
			r.box(b, d, size, f(0.2, 0.5))
		}
		if all = append(all, b); i > 0 && rng.IntN(4) == 0 {
			d := common(all[rng.IntN(i)], b)
			d.FrameA, d.FrameB = at(f(-0.5, 0.5), 0, 0), at(f(-0.5, 0.5), 0, f(-1, 1))
			must[physics.Joint](t)(pulls[rng.IntN(len(pulls)-1)].create(r.w, d)) // except the mouse joint, which is fixed to the world
		}
	}
	return r
}

// No other sleeping body moves when it is woken: in random heaps, once all are asleep, and again after one of them was
// teleported.
func TestSleepersAreAtRest(t *testing.T) {
	seeds, looked, worst := uint64(20), 0, 0.0
	if testing.Short() || paritytest.Instrumented {
		seeds = 5
	}
	for seed := range seeds {
		r := randomHeap(t, seed)
		for round := range 3 {
			for range 600 {
				if r.steps(1); r.w.AwakeCount() == 0 {
					break
				}
			}
			if r.w.AwakeCount() > 0 {
				continue
			}
			looked++
			most, body := watchSleepers(t, r.w, physics.DefaultSleepThreshold)
			worst = max(worst, most)
			if most > 10 { // a body in unstable balance may begin to fall
				t.Errorf("seed %d: body %d fell asleep and moves %.2f times as far as it may when it is woken", seed, body, most)
			}
			b, _ := r.w.BodyAt(1 + round)
			r.no(r.w.SetTransform(b, [2]float32{float32(round) - 1, 12}, 1))
		}
	}
	t.Logf("looked %d times; at worst %.3f of what is allowed", looked, worst)
	if looked < int(seeds) {
		t.Errorf("all were asleep %d times only", looked)
	}
}

// A body whose contact still pushes it is not at rest either, with any locks.
func TestContactsDoNotSleepWhileTheyPush(t *testing.T) {
	for _, push := range []float32{0.1, 0.5, 3} {
		for lock := range 4 {
			for _, free := range []bool{false, true} {
				r := newFixture(t, 0)
				r.no(r.w.SetTuning(physics.Tuning{PushSpeed: push}))
				a := r.body(physics.StaticBody, 0, 0)
				if free {
					a = r.dynamic(0, 0, sleepy)
				}
				r.circle(a, plain, 6)
				b := r.dynamic(3, 2, sleepy, func(d *physics.BodyDef) { d.LockX, d.LockY = lock&1 != 0, lock&2 != 0 })
				r.circle(b, plain, 5)
				slept := false
				for range 1200 {
					if r.steps(1); len(r.w.Events().Slept) == 0 {
						continue
					}
					slept = true
					if most, body := watchSleepers(t, r.w, physics.DefaultSleepThreshold); most > 1 {
						t.Errorf("pushed at up to %g m/s, locks %d: body %d fell asleep and moves %.2f times as far as it may when it is woken",
							push, lock, body, most)
					}
				}
				if x, y := r.at(b); lock == 0 && slept && math.Hypot(float64(x), float64(y)) < 7 {
					t.Errorf("pushed at up to %g m/s: at rest at %g, %g", push, x, y)
				}
			}
		}
	}
}

// A body so far away that its position cannot show how a contact pushes it is at rest.
func TestRestFarAway(t *testing.T) {
	for _, far := range []float32{1e6, 4e6} {
		r := newFixture(t, 0)
		r.circle(r.body(physics.StaticBody, far, far), plain, 0.52)
		b := r.dynamic(far+1, far, sleepy)
		r.circle(b, plain, 0.52)
		r.seconds(2)
		if x, _ := r.at(b); x != float64(far)+1 || r.w.AwakeCount() != 0 {
			t.Errorf("%g m away a disc is at %g, and %d are awake", far, x, r.w.AwakeCount())
		}
	}
}
