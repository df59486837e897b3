package physics_test

import (
	"math"
	"testing"

	"github.com/evertick/evertick/physics"
)

// gear is a wheel of a disc of 1 m with teeth of 0.3 m, on a hinge.
func (r fixture) gear(ground physics.Body, x float32, teeth int, turn float64) (physics.Body, physics.Joint) {
	r.Helper()
	wheel := r.dynamic(x, 0, func(d *physics.BodyDef) { d.Angle = float32(turn) })
	r.circle(wheel, material(0, 0), 1)
	for k := range teeth {
		sin, cos := math.Sincos(2 * math.Pi * float64(k) / float64(teeth))
		at := func(out, side float64) [2]float32 {
			return [2]float32{float32(out*cos - side*sin), float32(out*sin + side*cos)}
		}
		r.polygon(wheel, material(0, 0), physics.Polygon{Count: 4, Vertices: [physics.MaxPolygonVertices][2]float32{
			at(0.95, -0.13), at(1.3, -0.06), at(1.3, 0.06), at(0.95, 0.13),
		}})
	}
	d := physics.DefaultRevoluteJointDef()
	d.JointDef = common(ground, wheel)
	d.FrameA.Point = [2]float32{x, 0}
	d.EnableMotor = true
	return wheel, must[physics.Joint](r)(r.w.CreateRevoluteJoint(d))
}

// A wheel with teeth drives another wheel, which is braked, tooth by tooth: at the same speed in the opposite
// direction.
func TestToothedWheels(t *testing.T) {
	const teeth, speed, seconds = 12, 1.5, 10
	r := newFixture(t, 0)
	ground := r.body(physics.StaticBody, 0, 0)
	driver, motor := r.gear(ground, 0, teeth, 0)
	driven, brake := r.gear(ground, 2.35, teeth, math.Pi/teeth)
	d := defOf[physics.RevoluteJointDef](t, r.w, motor)
	d.MotorSpeed, d.MaxMotorTorque = speed, 500
	r.no(r.w.SetJointDef(motor, &d))
	d = defOf[physics.RevoluteJointDef](t, r.w, brake)
	d.MotorSpeed, d.MaxMotorTorque = 0, 20
	r.no(r.w.SetJointDef(brake, &d))
	var turned [2]float64
	for range seconds * 60 {
		r.steps(1)
		for i, b := range []physics.Body{driver, driven} {
			_, _, w := r.velocity(b)
			turned[i] += w / 60
		}
	}
	t.Logf("the wheels turned by %.3f and %.3f rad", turned[0], turned[1])
	r.near("the driver turned by", turned[0], speed*seconds, 0.2)
	r.near("the driven one by", turned[1], -turned[0], math.Pi/teeth) // the play is less than half a tooth
}
