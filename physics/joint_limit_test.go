package physics_test

import (
	"maps"
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/physics"
)

// limited creates a joint of each kind whose limits, motor and spring act on one coordinate, and returns a function that reads
// it. The body is 1 m from the point of the joint in the direction that the motor turns or pushes it.
var limited = map[string]func(r fixture, a, b physics.Body, lower, upper, speed, force, hertz, target float32) func() float64{
	"revolute": func(r fixture, a, b physics.Body, lower, upper, speed, force, hertz, target float32) func() float64 {
		j := r.join(r.w.CreateRevoluteJoint(physics.RevoluteJointDef{JointDef: r.between(a, b, 0, 0), EnableLimit: true, LowerAngle: lower, UpperAngle: upper,
			EnableMotor: true, MotorSpeed: speed, MaxMotorTorque: force, EnableSpring: hertz > 0, Hertz: hertz, TargetAngle: target}))
		return func() float64 { return r.read(r.w.JointAngle, j) }
	},
	"prismatic": func(r fixture, a, b physics.Body, lower, upper, speed, force, hertz, target float32) func() float64 {
		j := r.join(r.w.CreatePrismaticJoint(physics.PrismaticJointDef{JointDef: r.between(a, b, 1, 0), EnableLimit: true, LowerTranslation: lower,
			UpperTranslation: upper, EnableMotor: true, MotorSpeed: speed, MaxMotorForce: force, EnableSpring: hertz > 0, Hertz: hertz, TargetTranslation: target}))
		return func() float64 { return r.read(r.w.JointTranslation, j) }
	},
	"distance": func(r fixture, a, b physics.Body, lower, upper, speed, force, hertz, target float32) func() float64 {
		j := r.join(r.w.CreateDistanceJoint(physics.DistanceJointDef{JointDef: common(a, b), EnableLimit: true, MinLength: 1 + lower, MaxLength: 1 + upper,
			EnableMotor: true, MotorSpeed: speed, MaxMotorForce: force, EnableSpring: true, Hertz: hertz, Length: 1 + max(target, -1)}))
		return func() float64 { return r.read(r.w.JointLength, j) - 1 }
	},
}

// A limit is stronger than the motor and the spring of its joint, whatever their force, and gives way to a load as
// ConstraintHertz says: the load divided by the effective mass and (2π·60)².
func TestLimitsHoldAgainstTheirOwnMotor(t *testing.T) {
	run := paritytest.Start(t, "limits and motors")
	between := func(lo, hi float64) float32 { return float32(lo + (hi-lo)*run.Float64()) }
	one := func(name string, hx, hy, speed, force, hertz, target, load float32) {
		t.Helper()
		r := fixture{t, newWorld(t, physics.Config{})}
		a, b := r.body(physics.StaticBody, 0, 0), r.dynamic(1, 0)
		r.box(b, plain, hx, hy)
		lower, upper := between(-0.9, 0), between(0, 0.9)
		read := limited[name](r, a, b, lower, upper, speed, force, hertz, target)
		mass := 4 * float64(hx) * float64(hy)
		sag := math.Abs(float64(load)) / (mass * math.Pow(2*math.Pi*60, 2))
		sin, cos := 0.0, 1.0
		for n := range 120 {
			direction := [2]float32{float32(cos * float64(load)), float32(sin * float64(load))} // outward along the motion
			if name == "revolute" {
				direction = [2]float32{float32(-sin * float64(load)), float32(cos * float64(load))}
			}
			x, y := r.at(b)
			r.no(r.w.ApplyForce(b, direction, [2]float32{float32(x), float32(y)}))
			r.steps(1)
			if at := read(); !(at > float64(lower)-1.5*sag-0.03 && at < float64(upper)+1.5*sag+0.03) {
				t.Errorf("%s from %g to %g, box %g by %g, motor %g at %g, spring %g Hz to %g, load %g: at %g after %d steps",
					name, lower, upper, hx, hy, force, speed, hertz, target, load, at, n+1)
				return
			}
			if name == "revolute" {
				sin, cos = math.Sincos(r.angle(b))
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(limited)) {
		for _, force := range []float32{1, 1000, 1e5, 1e9} {
			one(name, 0.1, 0.03, 20, force, 0, 0, 0)
			one(name, 0.1, 0.03, -20, force, 0, 0, 0)
			one(name, 0.5, 0.5, 3, force, 1000, 3, 0)
		}
		for range paritytest.Rounds(60) {
			hertz := float32(0)
			if run.IntN(2) == 0 {
				hertz = float32(math.Pow(10, 7*run.Float64()-1))
			}
			one(name, between(0.05, 0.5), between(0.05, 0.5), between(-30, 30), float32(math.Pow(10, 10*run.Float64()-1)), hertz, between(-3, 3), between(-20, 20))
		}
	}
}
