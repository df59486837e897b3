package physics_test

import (
	"math"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics"
)

// arm makes a rod of 1 m on a hinge at its end, at a relative angle. Both frames are turned, so that the angles of the
// bodies and of the joint pass half a turn at different poses.
func (r fixture) arm(angle, turnA, turnB float64, change func(d *physics.RevoluteJointDef)) (physics.Body, physics.Joint) {
	r.Helper()
	base, rod := r.body(physics.StaticBody, 0, 0), r.dynamic(0, 0, turned(math.Remainder(angle+turnA-turnB, 2*math.Pi)))
	r.capsule(rod, plain, 0.05, 0, 0.95, 0, 0.05)
	d := physics.DefaultRevoluteJointDef()
	d.BodyA, d.BodyB, d.FrameA.Angle, d.FrameB.Angle = base, rod, float32(turnA), float32(turnB)
	change(&d)
	return rod, r.join(r.w.CreateRevoluteJoint(d))
}

// turn steps, and calls f with the relative angle after each step, followed from its start over any number of turns.
func (r fixture) turn(rod physics.Body, start float64, n int, f func(angle float64)) (angle float64) {
	r.Helper()
	angle = start
	for range n {
		before := r.angle(rod)
		r.steps(1)
		angle += math.Remainder(r.angle(rod)-before, 2*math.Pi)
		f(angle)
	}
	return angle
}

// A hinge spring comes to rest at any target from any start, and turns the short way.
func TestHingeSpringTakesTheShortWay(t *testing.T) {
	run := paritytest.Start(t, "hinge springs")
	one := func(start, target, hertz, damping float64) {
		t.Helper()
		r := fixture{t, newWorld(t, physics.Config{})}
		rod, j := r.arm(start, 6*run.Float64()-3, 6*run.Float64()-3, func(d *physics.RevoluteJointDef) {
			d.EnableSpring, d.TargetAngle, d.Hertz, d.Damping = true, float32(target), float32(hertz), float32(damping)
		})
		way := math.Remainder(target-start, 2*math.Pi)
		most := 0.0
		end := r.turn(rod, start, int(600/hertz), func(angle float64) { most = max(most, math.Abs(angle-start)) })
		if math.Abs(way) > 3.1 && (end-start)*way < 0 { // both ways are short
			way -= math.Copysign(2*math.Pi, way)
		}
		if math.Abs(end-start-way) > 0.02 || damping >= 1 && most > math.Abs(way)+0.02 || most > 2*math.Pi {
			t.Errorf("from %g to %g, %g Hz, damping %g: turned by %g, up to %g, want %g", start, target, hertz, damping, end-start, most, way)
		}
		if got := r.read(r.w.JointAngle, j); math.Abs(math.Remainder(got-end, 2*math.Pi)) > 1e-3 || math.Abs(got) > math.Pi+1e-6 {
			t.Errorf("at %g, JointAngle %g", end, got)
		}
	}
	for _, target := range []float64{3, math.Pi, -math.Pi, -3} {
		for _, start := range []float64{0, 0.1, 3, -3, math.Pi} {
			one(start, target, 2, 1)
			one(start, target, 2, 0.3)
		}
	}
	for range paritytest.Rounds(100) {
		angle := func() float64 { return (2*run.Float64() - 1) * math.Pi }
		one(angle(), angle(), 0.5+4*run.Float64(), 0.3+run.Float64())
	}
}

// A hinge does not leave its limits, wherever they are, and JointAngle reports an angle between them.
func TestHingeLimitsHold(t *testing.T) {
	run := paritytest.Start(t, "hinge limits")
	one := func(lower, upper, at, speed float64) {
		t.Helper()
		r := fixture{t, newWorld(t, physics.Config{Gravity: [2]float32{0, -10}})}
		start := lower + at*(upper-lower)
		rod, j := r.arm(start, 6*run.Float64()-3, 6*run.Float64()-3, func(d *physics.RevoluteJointDef) {
			d.EnableLimit, d.LowerAngle, d.UpperAngle = true, float32(lower), float32(upper)
		})
		c := r.w.Columns()
		cos, sin := c.Cos[rod.Index()], c.Sin[rod.Index()]
		r.no(r.w.SetVelocity(rod, [2]float32{float32(-0.5*speed) * sin, float32(0.5*speed) * cos}, float32(speed)))
		r.turn(rod, start, 180, func(angle float64) {
			if angle < lower-0.05 || angle > upper+0.05 {
				t.Fatalf("limits %g and %g, from %g at %g rad/s: at %g", lower, upper, start, speed, angle)
			}
			if got := r.read(r.w.JointAngle, j); math.Abs(got-angle) > 1e-3 {
				t.Fatalf("limits %g and %g, at %g: JointAngle %g", lower, upper, angle, got)
			}
			_, beyond, err := r.w.JointSeparation(j)
			r.no(err)
			if want := max(lower-angle, angle-upper, 0); math.Abs(float64(beyond)-want) > 1e-3 {
				t.Fatalf("limits %g and %g, at %g: JointSeparation %g", lower, upper, angle, beyond)
			}
		})
	}
	for _, l := range [][2]float64{{0, 3.1}, {0, math.Pi}, {-math.Pi, 0}, {2, math.Pi}, {-math.Pi, -3}, {math.Pi, math.Pi}, {-3, 3}, {-3, math.Pi}} {
		for _, speed := range []float64{8, -8, 30, -30} {
			one(l[0], l[1], 0.5, speed)
		}
	}
	for n := 0; n < paritytest.Rounds(100); {
		a, b := (2*run.Float64()-1)*math.Pi, (2*run.Float64()-1)*math.Pi
		if lower, upper := min(a, b), max(a, b); upper-lower < 2*math.Pi-0.2 {
			one(lower, upper, run.Float64(), 60*run.Float64()-30)
			n++
		}
	}
}

// With limits a spring turns the way that they allow, even if the other one is shorter.
func TestHingeSpringStaysBetweenLimits(t *testing.T) {
	for _, side := range []float64{1, -1} {
		r := newFixture(t, 0)
		rod, _ := r.arm(-2.9*side, 0.5, -0.25, func(d *physics.RevoluteJointDef) {
			d.EnableSpring, d.TargetAngle, d.Hertz, d.Damping = true, float32(2.8*side), 1, 1
			d.EnableLimit, d.LowerAngle, d.UpperAngle = true, -3, 3
		})
		end := r.turn(rod, -2.9*side, 300, func(float64) {})
		r.near("angle", end, 2.8*side, 0.01)
	}
}
