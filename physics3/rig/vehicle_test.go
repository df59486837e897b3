package rig_test

import (
	"bytes"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/pace"
	"github.com/evertick/evertick/physics3"
	"github.com/evertick/evertick/physics3/rig"
)

const dt = 1. / 60

func check(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

// newWorld returns a world with a static body of one box, 2 m thick, whose top passes through the origin, inclined about x by so many radians: it
// rises towards +z.
func newWorld(t *testing.T, slope float64) *physics3.World {
	t.Helper()
	return newWorldOf(t, slope, physics3.Config{})
}

func newWorldOf(t *testing.T, slope float64, c physics3.Config) *physics3.World {
	t.Helper()
	c.Gravity, c.Capacity = [3]float32{0, -10, 0}, 1024
	w, err := physics3.New(c)
	check(t, err)
	def := physics3.DefaultBodyDef()
	sin, cos := math.Sincos(-slope / 2)
	def.Rotation = [4]float32{float32(sin), 0, 0, float32(cos)}
	ground, err := w.CreateBody(def)
	check(t, err)
	_, err = w.CreateBox(ground, physics3.DefaultShapeDef(), physics3.Box{Half: [3]float32{200, 1, 200}, Center: [3]float32{0, -1, 0}})
	check(t, err)
	return w
}

// newCar adds a car of 1,200 kg that drives with its rear wheels, steers with the front ones, and has its hand brake at the rear.
func newCar(t *testing.T, w *physics3.World, v *rig.Vehicles, position [3]float32) (car int, chassis physics3.Body) {
	t.Helper()
	def := physics3.DefaultBodyDef()
	def.Type, def.Position = physics3.DynamicBody, position
	chassis, err := w.CreateBody(def)
	check(t, err)
	shape := physics3.DefaultShapeDef()
	shape.Density = 1200 / (1.8 * 0.8 * 4)
	_, err = w.CreateBox(chassis, shape, physics3.Box{Half: [3]float32{0.9, 0.4, 2}})
	check(t, err)
	vehicle := rig.VehicleDef{Chassis: chassis, MaxSpeed: 40, Differentials: []rig.Differential{{A: 2, B: 3}}}
	for i := range 4 {
		wheel := rig.DefaultWheelDef()
		wheel.Attachment = [3]float32{0.8 - 1.6*float32(i%2), 0, 1.3 - 2.6*float32(i/2)}
		if i < 2 {
			wheel.SteeringAngle = 0.5
		} else {
			wheel.DriveForce, wheel.HandBrakeForce = 2400, 1e6
		}
		vehicle.Wheels = append(vehicle.Wheels, wheel)
	}
	car, err = v.Add(vehicle)
	check(t, err)
	return car, chassis
}

// drive makes steps with the controls, and reports each.
func drive(t *testing.T, w *physics3.World, v *rig.Vehicles, steps int, c rig.Controls, each func(step int)) {
	t.Helper()
	for step := range steps {
		for i := range v.Controls {
			v.Controls[i] = c
		}
		check(t, v.Step(dt))
		check(t, w.Step(dt))
		if each != nil {
			each(step)
		}
	}
}

func velocity(t *testing.T, w *physics3.World, b physics3.Body) [3]float32 {
	t.Helper()
	linear, _, err := w.Velocity(b)
	check(t, err)
	return linear
}

func position(t *testing.T, w *physics3.World, b physics3.Body) [3]float32 {
	t.Helper()
	p, err := w.Position(b)
	check(t, err)
	return p
}

// A car that falls on its wheels rests on springs, which carry its weight, and falls asleep.
func TestVehicleRests(t *testing.T) {
	w := newWorld(t, 0)
	v := rig.NewVehicles(w)
	car, chassis := newCar(t, w, v, [3]float32{0, 1.2, 0})
	drive(t, w, v, 180, rig.Controls{}, nil)
	var load float32
	for k, wheel := range v.Wheels(car) {
		load += wheel.Load
		if wheel.Compression < 0.01 || wheel.Compression > 0.3 || wheel.Slips {
			t.Errorf("wheel %d: %+v", k, wheel)
		}
	}
	if math.Abs(float64(load)-12000) > 120 {
		t.Errorf("the wheels carry %v N", load)
	}
	drive(t, w, v, 240, rig.Controls{}, nil)
	if w.Awake(chassis) {
		t.Errorf("it is awake, at %v", velocity(t, w, chassis))
	}
	drive(t, w, v, 30, rig.Controls{Throttle: 1}, nil)
	if got := velocity(t, w, chassis); got[2] < 1 {
		t.Errorf("it was asleep, and does not drive: %v", got)
	}
}

// The engine accelerates a car by force over mass, brakes stop it by what tyres bear, and both ends of the range of speed hold.
func TestVehicleDrivesAndBrakes(t *testing.T) {
	w := newWorld(t, 0)
	v := rig.NewVehicles(w)
	_, chassis := newCar(t, w, v, [3]float32{0, 0.7, -150})
	drive(t, w, v, 90, rig.Controls{}, nil)
	drive(t, w, v, 120, rig.Controls{Throttle: 1}, nil)
	speed := velocity(t, w, chassis)[2]
	if want := float32(2. * 4800 / 1200); math.Abs(float64(speed-want)) > 0.05*float64(want) {
		t.Errorf("after two seconds of 4 m/s² it has %v m/s", speed)
	}
	from := position(t, w, chassis)[2]
	steps := 0
	drive(t, w, v, 120, rig.Controls{Brake: 1}, func(int) {
		if velocity(t, w, chassis)[2] > 0.05 {
			steps++
		}
	})
	way, most := float64(position(t, w, chassis)[2]-from), float64(speed)*float64(speed)/(2*10)
	if way < 0.9*most || way > 1.15*most {
		t.Errorf("it stopped in %.2f m and %d steps; friction 1 needs %.2f m", way, steps, most)
	}
	drive(t, w, v, 60, rig.Controls{Throttle: -1}, nil)
	if got := velocity(t, w, chassis)[2]; got > -3 {
		t.Errorf("backwards it has %v m/s", got)
	}
}

// A car stands on a slope with its brakes on as long as one likes, asleep, and rolls down when they are released.
func TestVehicleStandsOnSlope(t *testing.T) {
	w := newWorld(t, 0.3)
	v := rig.NewVehicles(w)
	_, chassis := newCar(t, w, v, [3]float32{0, 1, 0})
	brake := rig.Controls{Brake: 1}
	drive(t, w, v, 240, brake, nil)
	from := position(t, w, chassis)
	drive(t, w, v, 1200, brake, nil)
	to := position(t, w, chassis)
	if way := math.Abs(float64(to[2] - from[2])); way > 0.002 {
		t.Errorf("it went %v m in 20 s", way)
	}
	if w.Awake(chassis) {
		t.Errorf("it is awake, at %v", velocity(t, w, chassis))
	}
	drive(t, w, v, 60, rig.Controls{}, nil)
	if got := velocity(t, w, chassis)[2]; got > -2 {
		t.Errorf("with its brakes released it has %v m/s", got)
	}
}

// Wheels that steer lead the car round a circle whose radius is that of its geometry, to the left for 1.
func TestVehicleSteers(t *testing.T) {
	w := newWorld(t, 0)
	v := rig.NewVehicles(w)
	_, chassis := newCar(t, w, v, [3]float32{0, 0.7, 0})
	drive(t, w, v, 60, rig.Controls{}, nil)
	drive(t, w, v, 90, rig.Controls{Throttle: 0.3, Steering: 0.5}, nil)
	_, angular, err := w.Velocity(chassis)
	check(t, err)
	linear := velocity(t, w, chassis)
	speed := math.Hypot(float64(linear[0]), float64(linear[2]))
	// The middle of the car is as far from the rear axle as from the front one.
	want := math.Hypot(2.6/math.Tan(0.25), 1.3)
	if radius := speed / float64(angular[1]); math.Abs(radius-want) > 0.1*want {
		t.Errorf("it drives round a circle of %.2f m at %.2f m/s, not of %.2f m", radius, speed, want)
	}
}

// With a world that is restored in the middle of a drive, wheels of that time lead to the same bits.
func TestVehicleRestored(t *testing.T) {
	w := newWorld(t, 0.1)
	v := rig.NewVehicles(w)
	for i := range 3 {
		newCar(t, w, v, [3]float32{4 * float32(i), 1.5, 0})
	}
	steer := rig.Controls{Throttle: 1, Steering: 0.3}
	drive(t, w, v, 100, steer, nil)
	snapshot, err := w.Snapshot(nil)
	check(t, err)
	state := v.AppendState(nil)
	drive(t, w, v, 100, steer, nil)
	want, wantState := w.Hash(), v.AppendState(nil)
	drive(t, w, v, 50, rig.Controls{Brake: 1}, nil)
	check(t, w.Restore(snapshot))
	check(t, v.SetState(state))
	drive(t, w, v, 100, steer, nil)
	if w.Hash() != want || string(v.AppendState(nil)) != string(wantState) {
		t.Error("a restored car drives otherwise")
	}
}

// A wheel whose ground is destroyed has none. A car in the air keeps its turn, and lands.
func TestVehicleLosesGround(t *testing.T) {
	w := newWorld(t, 0)
	v := rig.NewVehicles(w)
	car, chassis := newCar(t, w, v, [3]float32{0, 0.7, 0})
	drive(t, w, v, 120, rig.Controls{}, nil)
	ground, ok := w.BodyAt(0)
	if !ok || v.Wheels(car)[0].Ground != ground {
		t.Fatal("it stands on something else")
	}
	check(t, w.DestroyBody(ground))
	drive(t, w, v, 30, rig.Controls{}, nil)
	for _, wheel := range v.Wheels(car) {
		if wheel.Ground != (physics3.Body{}) || wheel.Load != 0 {
			t.Errorf("a wheel still stands: %+v", wheel)
		}
	}
	if got := velocity(t, w, chassis)[1]; got > -4 {
		t.Errorf("it falls at %v m/s", got)
	}
	check(t, w.DestroyBody(chassis))
	drive(t, w, v, 1, rig.Controls{Throttle: 1}, nil)
}

// Definitions and controls that make no sense are refused, and change nothing.
func TestVehicleRefuses(t *testing.T) {
	w := newWorld(t, 0)
	v := rig.NewVehicles(w)
	_, chassis := newCar(t, w, v, [3]float32{0, 0.7, 0})
	nan := float32(math.NaN())
	good := func() rig.VehicleDef {
		return rig.VehicleDef{Chassis: chassis, MaxSpeed: 1, Wheels: []rig.WheelDef{rig.DefaultWheelDef()}}
	}
	for name, spoil := range map[string]func(d *rig.VehicleDef){
		"Chassis":   func(d *rig.VehicleDef) { d.Chassis = physics3.Body{} },
		"MaxSpeed":  func(d *rig.VehicleDef) { d.MaxSpeed = 0 },
		"Up":        func(d *rig.VehicleDef) { d.Up = [3]float32{0, 1, 1} },
		"Radius":    func(d *rig.VehicleDef) { d.Wheels[0].Radius = 0 },
		"Friction":  func(d *rig.VehicleDef) { d.Wheels[0].Friction = nan },
		"Lock":      func(d *rig.VehicleDef) { d.Differentials = []rig.Differential{{Lock: 2}} },
		"B":         func(d *rig.VehicleDef) { d.Differentials = []rig.Differential{{B: 1}} },
		"Steering":  func(d *rig.VehicleDef) { d.Wheels[0].SteeringAngle = 2 },
		"Direction": func(d *rig.VehicleDef) { d.Forward[0] = nan },
	} {
		d := good()
		spoil(&d)
		if _, err := v.Add(d); err == nil || v.Len() != 1 {
			t.Errorf("%s: %v", name, err)
		}
	}
	before := w.Hash()
	v.Controls[0].Throttle = nan
	if err := v.Step(dt); !errors.Is(err, fault.ErrNotFinite) && !errors.Is(err, fault.ErrRange) || w.Hash() != before {
		t.Errorf("%v", err)
	}
	state := v.AppendState(nil)
	for n := range state {
		if err := v.SetState(state[:n]); !errors.Is(err, fault.ErrCorrupt) {
			t.Fatalf("%d bytes: %v", n, err)
		}
	}
}

// Step allocates nothing once its batches are as large as they get.
func TestVehicleAllocatesNothing(t *testing.T) {
	w := newWorld(t, 0)
	v := rig.NewVehicles(w)
	newCar(t, w, v, [3]float32{0, 0.7, -150})
	c := rig.Controls{Throttle: 0.2, Steering: 0.2}
	drive(t, w, v, 120, c, nil)
	v.Controls[0] = c
	if n := testing.AllocsPerRun(100, func() {
		check(t, v.Step(dt))
		check(t, w.Step(dt))
	}); n > 0 {
		t.Errorf("%v allocations a step", n)
	}
}

// Any number of workers gives the same bits: of the world, and of the wheels.
func TestVehicleWorkersAgree(t *testing.T) {
	defer func() { pace.Always = false }()
	pace.Always = true
	run := func(workers int) (all []uint64, states []byte) {
		w := newWorld(t, 0)
		check(t, w.SetWorkers(workers))
		v := rig.NewVehicles(w)
		r := rand.New(rand.NewPCG(1, 2))
		for i := range 60 {
			newCar(t, w, v, [3]float32{4 * float32(i%8), 0.6 + 0.3*float32(i%5), 5 * float32(i/8)})
		}
		for step := range 40 {
			for i := range v.Controls {
				v.Controls[i] = rig.Controls{Throttle: 2*r.Float32() - 1, Steering: 2*r.Float32() - 1, Brake: float32(r.IntN(2))}
			}
			if step == 20 {
				check(t, w.DestroyBody(v.Wheels(7)[0].Ground)) // all fall
			}
			check(t, v.Step(dt))
			check(t, w.Step(dt))
			all, states = append(all, w.Hash()), v.AppendState(states)
		}
		return all, states
	}
	want, states := run(1)
	for _, workers := range []int{2, 5} {
		got, s := run(workers)
		if !slices.Equal(got, want) || !bytes.Equal(s, states) {
			t.Errorf("%d workers differ from one", workers)
		}
	}
}
