package rig_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/evertick/evertick/physics3"
	"github.com/evertick/evertick/physics3/rig"
)

// Case 107 for wheels that are rays: brakes slow a car down by no more than friction can in any step, never push it backwards, and hold it.
func TestCase107BrakesDoNotPush(t *testing.T) {
	for _, friction := range []float32{0.5, 1} {
		for _, brake := range []float32{0, 100, 3000, 1e6} {
			w := newWorld(t, 0)
			v := rig.NewVehicles(w)
			def := physics3.DefaultBodyDef()
			def.Type, def.Position = physics3.DynamicBody, [3]float32{0, 0.7, -100}
			chassis, err := w.CreateBody(def)
			check(t, err)
			shape := physics3.DefaultShapeDef()
			shape.Density = 1000 / (1.8 * 0.5 * 4)
			_, err = w.CreateBox(chassis, shape, physics3.Box{Half: [3]float32{0.9, 0.25, 2}})
			check(t, err)
			vehicle := rig.VehicleDef{Chassis: chassis, MaxSpeed: 40}
			for i := range 4 {
				wheel := rig.DefaultWheelDef()
				wheel.Attachment = [3]float32{0.8 - 1.6*float32(i%2), 0, 1.3 - 2.6*float32(i/2)}
				wheel.Friction, wheel.BrakeForce, wheel.RollingResistance = friction, brake, 0
				vehicle.Wheels = append(vehicle.Wheels, wheel)
			}
			_, err = v.Add(vehicle)
			check(t, err)
			run := func(n int, each func()) {
				for range n {
					check(t, v.Step(dt))
					check(t, w.Step(dt))
					each()
				}
			}
			run(120, func() {})
			check(t, w.SetVelocity(chassis, [3]float32{0, 0, 20}, [3]float32{}))
			v.Controls[0].Brake = 1
			what := fmt.Sprintf("friction %v, brake %v N", friction, brake)
			last, at, farthest := float32(20), float32(-100), float32(-100)
			run(60*8, func() {
				speed := velocity(t, w, chassis)[2]
				// The load of the wheels is the weight, more or less, as springs swing.
				if lost, most := last-speed, friction*10/60*1.05; lost > most*1.05 {
					t.Errorf("%s: loses %v m/s in a step, more than %v", what, lost, most)
				}
				last = speed
				at = position(t, w, chassis)[2]
				farthest = max(farthest, at)
			})
			if at < farthest-0.05 { // it may rock back on its springs where it comes to rest
				t.Errorf("%s: goes backwards by %v m", what, farthest-at)
			}
			if brake >= 3000 && math.Abs(float64(last)) > 0.01 || brake == 0 && last < 19.9 {
				t.Errorf("%s: %v m/s after 8 s", what, last)
			}
		}
	}
}
