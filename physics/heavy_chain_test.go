package physics_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

// hangChain hangs ten links of 1 kg and a disc of so many kilograms from a hook, along a direction. Bodies may sleep.
func (r fixture) hangChain(load float32, angle float64) (bodies []physics.Body, joints []physics.Joint) {
	r.Helper()
	const link = 0.5
	sin, cos := math.Sincos(angle)
	before, end := r.body(physics.StaticBody, 0, 0), float32(0)
	next := func(at float64, half, mass float32, shape func(b physics.Body, d physics.ShapeDef)) {
		d, def := plain, physics.DefaultRevoluteJointDef()
		b := r.dynamic(float32(at*cos), float32(at*sin), turned(angle), func(d *physics.BodyDef) { d.DisableSleep = false })
		d.Density = mass
		shape(b, d)
		def.JointDef = physics.JointDef{BodyA: before, BodyB: b, FrameA: frameAt(end), FrameB: frameAt(-half)}
		bodies, joints = append(bodies, b), append(joints, r.join(r.w.CreateRevoluteJoint(def)))
		before, end = b, half
	}
	for i := range 10 {
		next(link*(0.5+float64(i)), link/2, 1/(0.5*0.1), func(b physics.Body, d physics.ShapeDef) { r.box(b, d, link/2, 0.05) })
	}
	next(10*link+0.5, 0.5, load/(0.25*math.Pi), func(b physics.Body, d physics.ShapeDef) { r.circle(b, d, 0.5) })
	return bodies, joints
}

// A chain of ten links holds up to ten thousand times the mass of a link: hanging, released from its side, and dropped from above.
func TestChainsHoldHeavyLoads(t *testing.T) {
	for _, c := range []struct {
		load  float32
		angle float64
		open  float64 // the most at a joint, metres
	}{
		{1000, -math.Pi / 2, 0.001}, {1000, 0, 0.002}, {1000, 0.9, 0.5},
		{10000, -math.Pi / 2, 0.003}, {10000, 0, 0.01}, {10000, 0.9, 0.5},
	} {
		what := fmt.Sprintf("%v kg, at %v", c.load, c.angle)
		r := newFixture(t, -10)
		bodies, joints := r.hangChain(c.load, c.angle)
		energy := func() float64 {
			sum := r.total().energy
			for i, b := range bodies {
				_, y := r.at(b)
				mass := 1.
				if i == 10 {
					mass = float64(c.load)
				}
				sum += 10 * mass * y
			}
			return sum
		}
		first, high, open := energy(), 0., 0.
		ticks := 1200
		if testing.Short() {
			ticks = 400
		}
		for range ticks {
			r.steps(1)
			high = max(high, energy()-first)
			for _, j := range joints {
				open = max(open, r.apart(j))
			}
		}
		t.Logf("%s: a joint opens by %.2f mm, %.3f %% more energy than at first", what, 1000*open, high/(0.55*float64(c.load)))
		if open > c.open || high > 0.01*55*float64(c.load) {
			t.Errorf("%s: a joint opens by %v m, %v J more than at first", what, open, high)
		}
		if c.angle > -1 {
			continue
		}
		if n := r.w.AwakeCount(); n != 0 {
			t.Errorf("%s: %d awake", what, n)
		}
		below := 10 * float64(c.load)
		for i := len(joints) - 1; i >= 0; i-- {
			f, err := r.w.JointForce(joints[i])
			r.no(err)
			r.near(fmt.Sprintf("%s: the force of joint %d", what, i), float64(f[1]), below, 0.01*below)
			below += 10
		}
		for _, share := range []float32{1.02, 0.99} {
			var def physics.RevoluteJointDef
			r.no(r.w.JointDef(joints[0], &def))
			def.BreakForce = share * 10 * (c.load + 10)
			r.no(r.w.SetJointDef(joints[0], &def))
			r.steps(10)
			if broken := !r.w.ValidJoint(joints[0]); broken != (share < 1) {
				t.Errorf("%s: at %v of the load, broken %v", what, share, broken)
			}
		}
	}
}

// chains is a world with chains of all kinds of joints that carry heavy loads, one of them with a loop, and boxes beside them.
func chains(t testing.TB, c physics.Config) *physics.World {
	c.Gravity, c.Capacity = [2]float32{0, -10}, 300
	r := fixture{t, newWorld(t, c)}
	r.floor(plain)
	for k := range 6 {
		x := float32(4*k) - 10
		before := r.body(physics.StaticBody, x, 6)
		if k == 5 {
			before = r.dynamic(x, 6) // a light body that another one carries
			r.circle(before, plain, 0.3)
		}
		var last physics.Body
		for i := range 6 {
			b, d := r.dynamic(x+0.25+0.5*float32(i), 6), plain
			hx, hy := float32(0.2), float32(0.05)
			if i == 5 {
				d.Density, hx, hy = 100*float32(k+1), 0.25, 0.25
			}
			r.box(b, d, hx, hy)
			common := r.between(before, b, x+0.5*float32(i), 6)
			switch (k + i/2) % 5 {
			case 0:
				r.join(r.w.CreateWeldJoint(physics.WeldJointDef{JointDef: common}))
			case 1:
				r.join(r.w.CreatePrismaticJoint(physics.PrismaticJointDef{JointDef: common, EnableLimit: true, LowerTranslation: -0.1, UpperTranslation: 0.1}))
			case 2:
				r.join(r.w.CreateRevoluteJoint(physics.RevoluteJointDef{JointDef: common, EnableMotor: true, MotorSpeed: 1, MaxMotorTorque: 5}))
			case 3:
				r.join(r.w.CreateWheelJoint(physics.WheelJointDef{JointDef: common, EnableSpring: true, Hertz: 5, Damping: 0.7}))
			default:
				r.join(r.w.CreateRevoluteJoint(physics.RevoluteJointDef{JointDef: common}))
			}
			if i == 4 && k == 2 {
				r.hinge(last, b, x, 7)
			}
			last, before = before, b
		}
	}
	for i := range 60 {
		r.box(r.dynamic(float32(i%20)-10, 0.5+float32(i/20)), plain, 0.4, 0.4)
	}
	return r.w
}

// Chains with heavy loads have the same bits on all levels, with any number of workers, and after a restore.
func TestChainsWithLoadsAreTheSameEverywhere(t *testing.T) {
	ticks := 200
	if testing.Short() {
		ticks = 60
	}
	base := chains(t, physics.Config{})
	var worlds []*physics.World
	for i, level := range native.Levels() {
		worlds = append(worlds, chains(t, physics.Config{Level: level, Workers: 1 + i%3}))
	}
	for tick := range ticks {
		steps(t, base, 1)
		for i, w := range worlds {
			steps(t, w, 1)
			sameState(t, fmt.Sprintf("tick %d, world %d", tick, i), base, w)
		}
		if tick%15 == 5 {
			i := tick / 15 % len(worlds)
			w := newWorld(t, physics.Config{Capacity: 300, Level: native.Go, Workers: 1 + tick%3})
			restore(t, w, snapshot(t, worlds[i]))
			worlds[i] = w
		}
	}
}

// Joints that contradict each other stay bounded: a chain with a load between two hooks that are too far apart.
func TestChainsThatCannotHold(t *testing.T) {
	r := newFixture(t, -10)
	bodies, _ := r.hangChain(1000, 0)
	r.join(r.w.CreateRevoluteJoint(physics.RevoluteJointDef{JointDef: physics.JointDef{BodyA: bodies[10], BodyB: r.body(physics.StaticBody, 8, 0)}}))
	r.steps(600)
	for i, b := range bodies {
		x, y := r.at(b)
		vx, vy, _ := r.velocity(b)
		if !(math.Hypot(vx, vy) < 1 && math.Abs(y) < 1 && x > 0 && x < 8) {
			t.Errorf("body %d is at %v, %v with %v m/s", i, x, y, math.Hypot(vx, vy))
		}
	}
}

func TestChainsWithLoadsAllocateNothing(t *testing.T) {
	w := chains(t, physics.Config{})
	steps(t, w, 30)
	if n := testing.AllocsPerRun(10, func() { steps(t, w, 1) }); n != 0 {
		t.Errorf("%g allocations", n)
	}
}
