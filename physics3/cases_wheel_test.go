package physics3_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/evertick/evertick/physics3"
)

// carOnWheels is a car of a tonne in all on four wheels of 20 kg, on a slope in degrees, along which it points upwards: its z axis. Its wheels are
// held by motors of speed 0 with a torque each.
func carOnWheels(t testing.TB, slope float64, friction, torque float32) (w *physics3.World, chassis physics3.Body, wheels []physics3.Joint) {
	t.Helper()
	const g = 9.81
	sin, cos := float32(math.Sin(slope*degree)), float32(math.Cos(slope*degree))
	w = weightlessWorld(t, physics3.Config{Gravity: vec{0, -g * cos, -g * sin}}) // gravity turns, and not the ground
	ground := plain
	ground.Friction = friction
	addBoxOf(t, w, staticAt(0, -1, 0), vec{50, 1, 400}, ground)
	of := func(mass, volume float32) physics3.ShapeDef {
		d := ground
		d.Density = mass / volume
		return d
	}
	chassis = addBoxOf(t, w, dynamicAt(0, 0.8, 0), vec{0.7, 0.2, 1.8}, of(920, 8*0.7*0.2*1.8))
	for _, at := range []vec{{-0.9, -0.4, 1.3}, {0.9, -0.4, 1.3}, {-0.9, -0.4, -1.3}, {0.9, -0.4, -1.3}} {
		b := addSphereOf(t, w, dynamicAt(at[0], 0.8+at[1], at[2]), 0.4, of(20, 4./3*math.Pi*0.064))
		d := physics3.DefaultWheelJointDef()
		d.JointDef = commonDef(chassis, b, at, vec{})
		d.Hertz, d.EnableLimit, d.LowerTranslation, d.UpperTranslation = 4, true, -0.2, 0.2
		d.EnableMotor, d.MaxMotorTorque = true, torque
		wheels = append(wheels, joined(t, w, &d))
	}
	return w, chassis, wheels
}

func staticAt(x, y, z float32) physics3.BodyDef {
	d := dynamicAt(x, y, z)
	d.Type = physics3.StaticBody
	return d
}

// Case 107: brakes of wheel joints slow a car down by no more than friction can, never push it backwards, and hold it. A car on springs nods, so
// the loss of speed is a mean over half a second, and it may rock back by some centimetres where it comes to rest.
func TestCase107BrakesDoNotPush(t *testing.T) {
	for _, friction := range []float32{0.5, 1} {
		for _, torque := range []float32{0, 100, 1000, 1e6} {
			what := fmt.Sprintf("friction %v, %v N·m", friction, torque)
			w, chassis, wheels := carOnWheels(t, 0, friction, 0)
			steps(t, w, 60)
			for _, j := range wheels { // rolling
				_, b, _ := w.JointBodies(j)
				no(t, w.SetVelocity(b, vec{0, 0, 20}, vec{50, 0, 0}))
			}
			no(t, w.SetVelocity(chassis, vec{0, 0, 20}, vec{}))
			steps(t, w, 5)
			for _, j := range wheels {
				var d physics3.WheelJointDef
				no(t, w.JointDef(j, &d))
				d.MaxMotorTorque = torque
				no(t, w.SetJointDef(j, &d))
			}
			last, most, farthest, at, since := 20., 0., 0., 0., 20.
			for tick := range 60 * 8 {
				steps(t, w, 1)
				speed := 0.
				for i := range w.Rows() { // of the whole: springs between parts aside
					b, _ := w.BodyAt(i)
					v, _ := velocityOf(t, w, b)
					speed += v[2] * float64(must[physics3.MassData](t)(w.MassData(b)).Mass) / 1000
				}
				if last = speed; tick%30 == 29 {
					most, since = max(most, (since-speed)/30), speed
				}
				at = positionOf(t, w, chassis)[2]
				farthest = max(farthest, at)
			}
			if bound := float64(friction) * 9.81 / 60 * 1.05; most > bound {
				t.Errorf("%s: loses %v m/s in a step, more than %v", what, most, bound)
			}
			if at < farthest-0.05 {
				t.Errorf("%s: goes backwards by %v m", what, farthest-at)
			}
			if torque >= 1000 && math.Abs(last) > 0.01 || torque == 0 && last < 15 {
				t.Errorf("%s: %v m/s after 8 s", what, last)
			}
		}
	}
}

// A car with brakes stands on a slope, and falls asleep there.
func TestCarParksOnASlope(t *testing.T) {
	for _, slope := range []float64{10, 25} {
		w, chassis, _ := carOnWheels(t, slope, 1, 1e4)
		steps(t, w, 240)
		from := positionOf(t, w, chassis)
		steps(t, w, 600)
		near(t, fmt.Sprintf("the way down a slope of %v°", slope), length(minus(positionOf(t, w, chassis), from)), 0, 2e-3)
		if w.AwakeCount() != 0 {
			t.Errorf("slope of %v°: %d awake", slope, w.AwakeCount())
		}
	}
}
