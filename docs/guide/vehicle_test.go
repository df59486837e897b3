package guide_test

import (
	"fmt"

	"github.com/evertick/evertick/physics3"
	"github.com/evertick/evertick/physics3/rig"
)

func Example_vehicle() {
	check := func(err error) {
		if err != nil {
			panic(err)
		}
	}
	w, err := physics3.New(physics3.Config{Capacity: 100, Gravity: [3]float32{0, -10, 0}})
	check(err)
	// A road that rises towards +z by 0.2 rad.
	def := physics3.DefaultBodyDef()
	def.Rotation = [4]float32{-0.0998, 0, 0, 0.995}
	road, err := w.CreateBody(def)
	check(err)
	shape := physics3.DefaultShapeDef()
	_, err = w.CreateBox(road, shape, physics3.Box{Half: [3]float32{20, 1, 500}, Center: [3]float32{0, -1, 0}})
	check(err)

	// A chassis of 1,200 kg.
	def = physics3.DefaultBodyDef()
	def.Type, def.Position = physics3.DynamicBody, [3]float32{0, 1, 0}
	chassis, err := w.CreateBody(def)
	check(err)
	shape.Density = 1200 / (1.8 * 0.8 * 4)
	_, err = w.CreateBox(chassis, shape, physics3.Box{Half: [3]float32{0.9, 0.4, 2}})
	check(err)

	// Its wheels: the front ones steer, the rear ones drive, with a differential between them.
	wheel := rig.DefaultWheelDef()
	wheel.HandBrakeForce = 4000
	vehicle := rig.VehicleDef{Chassis: chassis, MaxSpeed: 30, Differentials: []rig.Differential{{A: 2, B: 3}}}
	for i, at := range [][3]float32{{0.8, 0, 1.3}, {-0.8, 0, 1.3}, {0.8, 0, -1.3}, {-0.8, 0, -1.3}} {
		wheel.Attachment, wheel.SteeringAngle, wheel.DriveForce = at, 0.5, 0
		if i >= 2 {
			wheel.SteeringAngle, wheel.DriveForce = 0, 3000
		}
		vehicle.Wheels = append(vehicle.Wheels, wheel)
	}
	cars := rig.NewVehicles(w)
	car, err := cars.Add(vehicle)
	check(err)

	drive := func(seconds int, c rig.Controls) {
		cars.Controls[car] = c
		for range 60 * seconds {
			check(cars.Step(1. / 60))
			check(w.Step(1. / 60))
		}
		at, err := w.Position(chassis)
		check(err)
		velocity, _, err := w.Velocity(chassis)
		check(err)
		fmt.Printf("z %5.1f m, %4.1f m/s", at[2], velocity[2])
	}
	drive(2, rig.Controls{HandBrake: 1})
	fmt.Println(": the hand brake is on")
	drive(3, rig.Controls{Throttle: 1})
	fmt.Println(": full throttle")
	drive(2, rig.Controls{Brake: 1})
	fmt.Println(": brakes")
	drive(60, rig.Controls{HandBrake: 1})
	fmt.Println(": a minute on the slope; asleep:", !w.Awake(chassis))

	// Saved beside the world: the wheels.
	snapshot, err := w.Snapshot(nil)
	check(err)
	wheels := cars.AppendState(nil)
	drive(3, rig.Controls{Throttle: 1, Steering: 0.5})
	fmt.Println(": to the left")
	check(w.Restore(snapshot))
	check(cars.SetState(wheels))
	drive(3, rig.Controls{Throttle: 1, Steering: 0.5})
	fmt.Println(": the same again")
	// Output:
	// z  -0.1 m,  0.0 m/s: the hand brake is on
	// z  13.0 m,  8.8 m/s: full throttle
	// z  16.6 m,  0.0 m/s: brakes
	// z  16.6 m,  0.0 m/s: a minute on the slope; asleep: true
	// z  25.8 m,  2.3 m/s: to the left
	// z  25.8 m,  2.3 m/s: the same again
}
