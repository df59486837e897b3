package valley

import (
	"github.com/evertick/evertick"
	"github.com/evertick/evertick/physics3"
	"github.com/evertick/evertick/physics3/rig"
)

const (
	cars                      = 3
	cruise                    = 11 // m/s
	stuckTicks                = 180
	ahead, aheadCos, aheadSin = 0.35, 0.93937271284, 0.34289780745 // radians along the road, to where a driver looks

	cos120, sin120, cos60 = -0.5, 0.86602540378, 0.5
)

// start is where a car begins, and how it stands: a third of the road from each other.
func start(car int) (position [3]float32, rotation [4]float32) {
	c, s := float32(1), float32(0) // of the angle from x to z
	hc, hs := float32(1), float32(0)
	for range car {
		c, s = float32(c*cos120)-float32(s*sin120), float32(s*cos120)+float32(c*sin120)
		hc, hs = float32(hc*cos60)+float32(hs*sin120), float32(hs*cos60)-float32(hc*sin120) // half of the angle about y, which turns the other way
	}
	// At x, towards +z, and then turned about y.
	return [3]float32{float32(road * c), 2, float32(road * s)}, [4]float32{0, hs, 0, hc}
}

func (v *valley) buildCars() error {
	for i := range cars {
		def, shape := physics3.DefaultBodyDef(), physics3.DefaultShapeDef()
		def.Position, def.Rotation = start(i)
		shape.Density = 1200 / (1.8 * 0.6 * 4)
		var err error
		if _, v.chassis[i], err = v.spawn(def, shape, v.buildChassis); err != nil {
			return err
		}
		vehicle := rig.VehicleDef{Chassis: v.chassis[i], MaxSpeed: 20, Differentials: []rig.Differential{{A: 2, B: 3}}}
		for k := range 4 {
			wheel := rig.DefaultWheelDef()
			wheel.Attachment = wheelAt(k)
			if k < 2 {
				wheel.SteeringAngle = 0.6
			} else {
				wheel.DriveForce = 2600
			}
			vehicle.Wheels = append(vehicle.Wheels, wheel)
		}
		if _, err := v.cars.Add(vehicle); err != nil {
			return err
		}
	}
	return nil
}

// wheelAt is where the suspension of a wheel begins: those of the front first, each time that of the left before that of the right.
func wheelAt(wheel int) [3]float32 {
	return [3]float32{0.8 - 1.6*float32(wheel%2), 0, 1.3 - 2.6*float32(wheel/2)}
}

// buildChassis makes a body of a car with a cabin, and wheels that are there to be seen: those that carry are rays.
func (v *valley) buildChassis(body physics3.Body, shape physics3.ShapeDef) error {
	_, err := v.world.CreateBox(body, shape, physics3.Box{Half: [3]float32{0.9, 0.3, 2}})
	light := shape
	light.Density = 20
	if err == nil {
		_, err = v.world.CreateBox(body, light, physics3.Box{Half: [3]float32{0.8, 0.3, 1}, Center: [3]float32{0, 0.6, -0.2}})
	}
	seen := shape
	seen.Density, seen.Filter = 0, physics3.Filter{}
	for k := 0; k < 4 && err == nil; k++ {
		at := wheelAt(k)
		low := [3]float32{at[0], -0.35, at[2]}
		out := low
		out[0] += 0.2 * (1 - 2*float32(k%2))
		_, err = v.world.CreateCapsule(body, seen, physics3.Capsule{P1: low, P2: out, Radius: 0.35})
	}
	return err
}

// drive steers each car along the road, and puts one that does not get on back on it.
func (v *valley) drive(t *evertick.Tick) error {
	for i, body := range v.chassis {
		at, err := v.world.Position(body)
		if err != nil {
			return err
		}
		velocity, _, err := v.world.Velocity(body)
		if err != nil {
			return err
		}
		q, err := v.world.Rotation(body)
		if err != nil {
			return err
		}
		forward, left := axes(q)
		r := max(length(at[0], at[2]), 1)
		c, s := at[0]/r, at[2]/r
		// Where the driver looks.
		x := float32(road*(float32(c*aheadCos)-float32(s*aheadSin))) - at[0]
		z := float32(road*(float32(s*aheadCos)+float32(c*aheadSin))) - at[2]
		d := max(length(x, z), 1)
		speed := float32(velocity[0]*forward[0]) + float32(velocity[2]*forward[1])
		v.cars.Controls[i] = rig.Controls{
			Steering: min(max(float32(2.5*(float32(x*left[0])+float32(z*left[1])))/d, -1), 1),
			Throttle: min(max((cruise-speed)/3, -0.3), 1),
		}
		if v.stuck[i]++; speed > 2 && length(left[0], left[1]) > 0.5 {
			v.stuck[i] = 0
		}
		if v.stuck[i] <= stuckTicks {
			continue
		}
		v.stuck[i] = 0
		// Where it was first.
		position, rotation := start(i)
		if err := v.world.SetTransform(body, position, rotation); err != nil {
			return err
		}
		if err := v.world.SetVelocity(body, [3]float32{}, [3]float32{}); err != nil {
			return err
		}
	}
	return v.cars.Step(t.Dt)
}

// axes returns x and z of the directions +z and +x of a body.
func axes(q [4]float32) (forward, left [2]float32) {
	x, y, z, w := q[0], q[1], q[2], q[3]
	forward = [2]float32{float32(2 * (float32(x*z) + float32(w*y))), 1 - float32(2*(float32(x*x)+float32(y*y)))}
	left = [2]float32{1 - float32(2*(float32(y*y)+float32(z*z))), float32(2 * (float32(x*z) - float32(w*y)))}
	return forward, left
}
