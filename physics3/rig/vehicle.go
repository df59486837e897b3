package rig

import (
	"errors"
	"fmt"
	"math"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/trig"
	"github.com/evertick/evertick/internal/vec"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics3"
)

// WheelDef describes a wheel of a vehicle: a suspension that ends in a tyre. Start from DefaultWheelDef.
type WheelDef struct {
	// Attachment is the upper end of the suspension, in body coordinates of the chassis, in metres.
	Attachment [3]float32
	// Radius of the tyre, and Length of the suspension without load, in metres, both above 0: the middle of the wheel hangs this far below Attachment.
	Radius, Length float32
	// Travel is how much shorter the suspension gets before it is stiff, in metres; not negative. 0: Length.
	Travel float32
	// Hertz is the frequency in Hz, above 0, at which the suspension would swing with the mass that the chassis has at the wheel, and Damping its damping
	// ratio.
	Hertz, Damping float32
	// Friction is the greatest force along the ground, as a share of the load.
	Friction float32
	// RollingResistance is the force in N that slows a wheel that is neither driven nor braked, as a share of the load.
	RollingResistance float32
	// SteeringAngle in radians is how far the wheel turns at Controls.Steering 1, to the left; negative for one that turns to the right; within ±1.5.
	SteeringAngle float32
	// DriveForce is the force in N on the ground at Controls.Throttle 1. BrakeForce and HandBrakeForce are those at Controls.Brake and HandBrake 1.
	DriveForce, BrakeForce, HandBrakeForce float32
}

// DefaultWheelDef returns a wheel of a car of about a ton, without drive and steering.
func DefaultWheelDef() WheelDef {
	return WheelDef{Radius: 0.35, Length: 0.4, Hertz: 1.8, Damping: 0.7, Friction: 1, RollingResistance: 0.01, BrakeForce: 4000}
}

// Differential shares the force of an engine between two wheels, which are numbers of VehicleDef.Wheels.
type Differential struct {
	A, B int
	// Lock says what a wheel passes on if the other one slips: with 0, an open differential, no more than the other; with 1 all that it can. Between
	// them in proportion.
	Lock float32
}

// VehicleDef describes a vehicle: a body with wheels. The body is the caller's, with its shapes and its mass.
type VehicleDef struct {
	Chassis physics3.Body
	// Forward and Up are directions in body coordinates, of any length, at a right angle. Zero: +z and +y.
	Forward, Up [3]float32
	// MaxSpeed in m/s is the speed to which the engine drives, also backwards; above 0.
	MaxSpeed      float32
	Wheels        []WheelDef
	Differentials []Differential
	// Category and Mask filter the shapes on which wheels stand, as in physics3.QueryFilter. Wheels never stand on the chassis.
	Category, Mask uint64
}

// Controls are what a driver does.
type Controls struct {
	Throttle  float32 // -1 to 1; negative: backwards
	Brake     float32 // 0 to 1
	HandBrake float32 // 0 to 1
	Steering  float32 // -1, right, to 1, left
}

// Wheel is the state of a wheel. All of it is the result of the last Step.
type Wheel struct {
	// Ground is the body under the wheel, and the zero Body if there is none. Joint holds the chassis there.
	Ground physics3.Body
	Joint  physics3.Joint
	// Point and Normal of the ground, in world coordinates.
	Point, Normal [3]float32
	// Compression is how much shorter than Length the suspension is, in metres.
	Compression float32
	// Load in N is the force along Normal in the step before.
	Load float32
	// Steering is the angle of the wheel about Up, in radians.
	Steering float32
	// Speed in rad/s and Angle in radians, in [-π, π], are the turn of the wheel about its axle, for drawing: nothing else depends on them.
	Speed, Angle float32
	// Slips is true if the engine or a brake seeks more force than the tyre bears.
	Slips bool

	controls Controls // those of the last Step that set the joint
}

// Vehicles is a number of vehicles in one world. Each wheel is a ray to the ground, a spring along the normal of the ground, and two motors along it: one
// drives and brakes, the other keeps the wheel from sliding sideways. They are the axes of a GenericJoint, so the solver balances them together with
// all contacts. A tyre bears Friction times its load: what drives or brakes takes its part first, and the sides have what is left of the circle.
//
// Call Step before each step of the world. The wheels are all that a vehicle keeps: save them with AppendState beside a snapshot of the world, and restore both.
type Vehicles struct {
	// Controls has one element for each vehicle. Set them before Step.
	Controls []Controls

	world    *physics3.World
	vehicles []vehicle
	wheels   []Wheel

	rays physics3.Rays
	hits physics3.RayHits
	cast []cast

	pool     *native.Pool
	settings []setting // of the wheels
	setting  bool      // workers compute settings, else rays
	dt       float32
	joints   []physics3.Joint // to be set
	defs     []physics3.AnyJointDef
}

type vehicle struct {
	VehicleDef
	forward, up [3]float64 // unit vectors in body coordinates
	first       int        // wheel
	casts       bool       // its wheels have rays in this step
	err         error
}

// cast is a vehicle whose wheels have rays, and the first of these.
type cast struct{ vehicle, ray int }

// setting is what Step does with the joint of a wheel, and until then the ray of the wheel.
type setting struct {
	from, by [3]float32
	change   change
	lifts    physics3.Joint // to be destroyed
	ground   physics3.Body
	def      physics3.GenericJointDef
}

// change says what Step does with the joint of a wheel.
type change uint8

const (
	keeps   change = iota
	changes        // gets the definition
	comes          // is created
)

// NewVehicles returns the vehicles of w, none at first.
func NewVehicles(w *physics3.World) *Vehicles { return &Vehicles{world: w} }

// Len returns the number of vehicles.
func (v *Vehicles) Len() int { return len(v.vehicles) }

// Wheels returns the wheels of a vehicle, in the order of its definition.
func (v *Vehicles) Wheels(i int) []Wheel {
	first := v.vehicles[i].first
	return v.wheels[first : first+len(v.vehicles[i].Wheels)]
}

// Add adds a vehicle, and returns its number. It stays when its chassis is destroyed, and does nothing. Errors: physics3.ErrStale for the chassis, and
// those of bad definitions, ErrNotFinite and ErrRange.
func (v *Vehicles) Add(def VehicleDef) (int, error) {
	if !v.world.Valid(def.Chassis) {
		return 0, fault.Field(fault.ErrStale, "rig: VehicleDef.Chassis", def.Chassis)
	}
	if err := def.check(); err != nil {
		return 0, err
	}
	def.Wheels, def.Differentials = append([]WheelDef(nil), def.Wheels...), append([]Differential(nil), def.Differentials...)
	n := vehicle{VehicleDef: def, forward: unit(def.Forward, [3]float64{0, 0, 1}), up: unit(def.Up, [3]float64{0, 1, 0}), first: len(v.wheels)}
	v.vehicles = append(v.vehicles, n)
	v.wheels = append(v.wheels, make([]Wheel, len(def.Wheels))...)
	v.settings = append(v.settings, make([]setting, len(def.Wheels))...)
	v.Controls = append(v.Controls, Controls{})
	return len(v.vehicles) - 1, nil
}

func (d *VehicleDef) check() error {
	err := errors.Join(check.Vector("rig: VehicleDef.Forward", d.Forward[:]), check.Vector("rig: VehicleDef.Up", d.Up[:]), check.Positive("rig: VehicleDef.MaxSpeed", d.MaxSpeed))
	if err == nil {
		forward, up := unit(d.Forward, [3]float64{0, 0, 1}), unit(d.Up, [3]float64{0, 1, 0})
		if math.Abs(vec.Dot(forward, up)) > 1e-3 {
			err = check.Because(fault.Field(fault.ErrRange, "rig: VehicleDef.Up", d.Up), "it is not at a right angle to Forward")
		}
	}
	for i := range d.Wheels {
		err = errors.Join(err, d.Wheels[i].check(fmt.Sprintf("rig: VehicleDef.Wheels[%d].", i)))
	}
	for i, p := range d.Differentials {
		field := fmt.Sprintf("rig: VehicleDef.Differentials[%d].", i)
		err = errors.Join(err, fault.Between(field+"A", p.A, 0, len(d.Wheels)-1), fault.Between(field+"B", p.B, 0, len(d.Wheels)-1), check.Between(field+"Lock", p.Lock, 0, 1))
	}
	return err
}

func (d *WheelDef) check(field string) error {
	return errors.Join(
		check.Vector(field+"Attachment", d.Attachment[:]), check.Positive(field+"Radius", d.Radius), check.Positive(field+"Length", d.Length),
		check.Coefficient(field+"Travel", d.Travel), check.Positive(field+"Hertz", d.Hertz), check.Coefficient(field+"Hertz", d.Hertz),
		check.Coefficient(field+"Damping", d.Damping), check.Coefficient(field+"Friction", d.Friction),
		check.Coefficient(field+"RollingResistance", d.RollingResistance), check.Between(field+"SteeringAngle", d.SteeringAngle, -1.5, 1.5),
		check.Magnitude(field+"DriveForce", d.DriveForce), check.Magnitude(field+"BrakeForce", d.BrakeForce), check.Magnitude(field+"HandBrakeForce", d.HandBrakeForce))
}

func (c *Controls) check(i int) error {
	field := fmt.Sprintf("rig: Controls[%d].", i)
	return errors.Join(check.Between(field+"Throttle", c.Throttle, -1, 1), check.Between(field+"Brake", c.Brake, 0, 1),
		check.Between(field+"HandBrake", c.HandBrake, 0, 1), check.Between(field+"Steering", c.Steering, -1, 1))
}

// Step sets the wheels to the ground under them, and their motors to Controls. dt in s is that of the step of the world to come. A vehicle that sleeps, or
// stands still and leans on its wheels as before, keeps the joints that it has until its Controls change, so it comes to rest, and stays. A wheel does not
// stand on what is as steep as a wall: more than 70 degrees from Up of the vehicle.
//
// Errors: ErrNotFinite and ErrRange for dt and Controls, with nothing changed, and those of the world.
func (v *Vehicles) Step(dt float32) error {
	if len(v.Controls) != len(v.vehicles) {
		panic("rig: Controls and vehicles differ in number")
	}
	err := check.Positive("rig: dt", dt)
	for i := range v.Controls {
		if c := &v.Controls[i]; !c.valid() {
			err = errors.Join(err, c.check(i))
		}
	}
	if err != nil {
		return err
	}
	v.dt = dt
	if err := v.castRays(); err != nil {
		return err
	}
	v.setting = true
	if err := v.run(len(v.cast)); err != nil {
		return err
	}
	return v.setJoints()
}

// vehicleChunk is the number of vehicles of a chunk: some tens of microseconds.
const vehicleChunk = 16

// run does what is to be done for n vehicles on the workers of the world.
func (v *Vehicles) run(n int) error {
	if workers := v.world.Config().Workers; v.pool == nil || v.pool.Workers() != workers {
		v.pool = native.NewPool(workers)
	}
	return v.pool.Run((n+vehicleChunk-1)/vehicleChunk, (*vehicleTask)(v))
}

// vehicleTask works on vehicles in chunks; it implements native.Task.
type vehicleTask Vehicles

// Do works on one chunk.
func (t *vehicleTask) Do(_, chunk int) {
	v, lo := (*Vehicles)(t), chunk*vehicleChunk
	if v.setting {
		for _, c := range v.cast[lo:min(lo+vehicleChunk, len(v.cast))] {
			v.vehicles[c.vehicle].err = v.set(c.vehicle, c.ray)
		}
		return
	}
	for i := lo; i < min(lo+vehicleChunk, len(v.vehicles)); i++ {
		n := &v.vehicles[i]
		n.casts, n.err = v.prepare(i)
	}
}

// castRays casts the rays of the wheels.
func (v *Vehicles) castRays() error {
	v.setting = false
	if err := v.run(len(v.vehicles)); err != nil {
		return err
	}
	r := &v.rays
	r.X, r.Y, r.Z, r.DX, r.DY, r.DZ = r.X[:0], r.Y[:0], r.Z[:0], r.DX[:0], r.DY[:0], r.DZ[:0]
	r.Exclude, r.Categories, r.Masks = r.Exclude[:0], r.Categories[:0], r.Masks[:0]
	r.SkipInside = true
	v.cast = v.cast[:0]
	for i := range v.vehicles {
		n := &v.vehicles[i]
		if n.err != nil {
			return n.err
		}
		if !n.casts {
			continue
		}
		v.cast = append(v.cast, cast{i, len(r.X)})
		for k := range n.Wheels {
			w := &v.settings[n.first+k]
			r.X, r.Y, r.Z = append(r.X, w.from[0]), append(r.Y, w.from[1]), append(r.Z, w.from[2])
			r.DX, r.DY, r.DZ = append(r.DX, w.by[0]), append(r.DY, w.by[1]), append(r.DZ, w.by[2])
			r.Exclude, r.Categories, r.Masks = append(r.Exclude, n.Chassis), append(r.Categories, n.Category), append(r.Masks, n.Mask)
		}
	}
	return v.world.RayClosest(r, &v.hits)
}

// setJoints destroys, makes and changes the joints of the wheels, as set has found.
func (v *Vehicles) setJoints() (first error) {
	keep := func(err error) {
		if first == nil {
			first = err
		}
	}
	v.joints, v.defs = v.joints[:0], v.defs[:0]
	for _, c := range v.cast {
		n := &v.vehicles[c.vehicle]
		keep(n.err)
		for k := range n.Wheels {
			w, to := &v.wheels[n.first+k], &v.settings[n.first+k]
			if v.world.ValidJoint(to.lifts) {
				keep(v.world.DestroyJoint(to.lifts))
			}
			switch to.change {
			case changes:
				v.joints, v.defs = append(v.joints, w.Joint), append(v.defs, &to.def)
			case comes:
				joint, err := v.world.CreateJoint(&to.def)
				if keep(err); err == nil {
					w.Ground, w.Joint = to.ground, joint
				}
			}
		}
	}
	keep(v.world.SetJointDefs(v.joints, v.defs))
	return first
}

func (c *Controls) valid() bool {
	return c.Throttle >= -1 && c.Throttle <= 1 && c.Brake >= 0 && c.Brake <= 1 && c.HandBrake >= 0 && c.HandBrake <= 1 && c.Steering >= -1 && c.Steering <= 1
}

// Below these a vehicle counts as standing, if no load differs by more than a share of loadChange from that for which its joints were set.
const (
	standingSpeed = 0.03 // m/s, and rad/s
	loadChange    = 0.05
)

// prepare reads the loads of vehicle i, and makes the rays of its wheels unless it stands.
func (v *Vehicles) prepare(i int) (casts bool, err error) {
	n, c := &v.vehicles[i], &v.Controls[i]
	wheels := v.Wheels(i)
	if !v.world.Valid(n.Chassis) || v.world.Disabled(n.Chassis) {
		for k := range wheels {
			wheels[k] = Wheel{Angle: wheels[k].Angle}
		}
		return false, nil
	}
	linear, angular, err := v.world.Velocity(n.Chassis)
	if err != nil {
		return false, err
	}
	slow := vec.Length(vec.Wide(linear)) < standingSpeed && vec.Length(vec.Wide(angular)) < standingSpeed
	same, grounded := true, false
	for k := range wheels {
		w := &wheels[k]
		same = same && w.controls == *c
		if w.Ground == (physics3.Body{}) {
			continue
		}
		grounded = true
		state, err := v.world.JointState(w.Joint)
		if err != nil { // with the ground
			w.Ground, w.Joint, same = physics3.Body{}, physics3.Joint{}, false
			continue
		}
		load := float32(max(0, vec.Dot(vec.Wide(state.Force), vec.Wide(w.Normal))))
		w.Speed = state.LinearVelocity[0] / n.Wheels[k].Radius
		slow = slow && math.Abs(float64(load-w.Load)) <= loadChange*float64(load)
		w.Load = load
	}
	if same && (!v.world.Awake(n.Chassis) || slow && grounded) {
		return false, nil
	}
	chassis, err := v.pose(n.Chassis)
	if err != nil {
		return false, err
	}
	up := chassis.q.turn(n.up)
	for k := range n.Wheels {
		d, to := &n.Wheels[k], &v.settings[n.first+k]
		to.from = narrow(vec.Add(chassis.p, chassis.q.turn(vec.Wide(d.Attachment))))
		to.by = narrow(vec.Scale(up, -(float64(d.Length) + float64(d.Radius))))
	}
	return true, nil
}

// pose returns the place of a body.
func (v *Vehicles) pose(b physics3.Body) (pose, error) {
	position, err := v.world.Position(b)
	if err != nil {
		return pose{}, err
	}
	rotation, err := v.world.Rotation(b)
	return pose{vec.Wide(position), quaternion(rotation)}, err
}

// steepest is the cosine of the steepest ground on which a wheel stands.
const steepest = 0.34

// set decides what Step does with the joints of the wheels of vehicle i. Its rays begin at number ray.
func (v *Vehicles) set(i, ray int) error {
	n, c := &v.vehicles[i], &v.Controls[i]
	wheels := v.Wheels(i)
	for k := range wheels {
		to := &v.settings[n.first+k]
		to.change, to.lifts = keeps, physics3.Joint{}
	}
	chassis, err := v.pose(n.Chassis)
	if err != nil {
		return err
	}
	up := chassis.q.turn(n.up)
	for k := range wheels {
		w, d, to := &wheels[k], &n.Wheels[k], &v.settings[n.first+k]
		hit := ray + k
		normal := vec.Wide([3]float32{v.hits.NormalX[hit], v.hits.NormalY[hit], v.hits.NormalZ[hit]})
		upright := vec.Dot(normal, up)
		w.Steering = c.Steering * d.SteeringAngle
		w.controls = *c
		if v.hits.Shapes[hit] == (physics3.Shape{}) || upright < steepest {
			w.lift(to)
			w.Slips = false
			if force := d.DriveForce * c.Throttle; force != 0 {
				w.Speed = n.MaxSpeed / d.Radius
				if force < 0 {
					w.Speed = -w.Speed
				}
			}
			w.turn(v.dt)
			continue
		}
		ground, err := v.world.ShapeBody(v.hits.Shapes[hit])
		if err != nil {
			return err
		}
		w.Point = [3]float32{v.hits.X[hit], v.hits.Y[hit], v.hits.Z[hit]}
		w.Normal = [3]float32{v.hits.NormalX[hit], v.hits.NormalY[hit], v.hits.NormalZ[hit]}
		reach := float64(d.Length) + float64(d.Radius)
		w.Compression = float32(reach * (1 - float64(v.hits.Fractions[hit])))
		if err := v.hold(n, w, d, to, ground, &chassis, upright, v.driveOf(n, k, c), c); err != nil {
			return err
		}
		w.turn(v.dt)
	}
	return nil
}

// driveOf returns the force that the engine exerts through a wheel: no more than its differentials pass on.
func (v *Vehicles) driveOf(n *vehicle, k int, c *Controls) float32 {
	force := c.Throttle * n.Wheels[k].DriveForce
	for _, p := range n.Differentials {
		if p.A != k && p.B != k {
			continue
		}
		a, b := v.grip(n, p.A), v.grip(n, p.B)
		own := a
		if k == p.B {
			own = b
		}
		most := min(a, b) + float32(p.Lock*(own-min(a, b)))
		force = max(-most, min(force, most))
	}
	return force
}

// grip is the greatest force of a wheel along the ground.
func (v *Vehicles) grip(n *vehicle, k int) float32 {
	return n.Wheels[k].Friction * v.wheels[n.first+k].Load
}

// hold finds the joint of a wheel on the ground.
func (v *Vehicles) hold(n *vehicle, w *Wheel, d *WheelDef, to *setting, ground physics3.Body, chassis *pose, upright float64, drive float32, c *Controls) error {
	sin, cos := trig.SinCos(w.Steering)
	left := vec.Cross(n.up, n.forward)
	direction := chassis.q.turn(vec.Add(vec.Scale(n.forward, float64(cos)), vec.Scale(left, float64(sin))))
	y := normalized(vec.Wide(w.Normal))
	x := vec.Sub(direction, vec.Scale(y, vec.Dot(direction, y)))
	if vec.Length(x) < 1e-3 { // the wheel points at the ground
		w.lift(to)
		return nil
	}
	x = normalized(x)
	z := vec.Cross(x, y)

	under, err := v.pose(ground)
	if err != nil {
		return err
	}
	point := vec.Wide(w.Point)
	held := vec.Sub(point, vec.Scale(y, float64(w.Compression)*upright))

	j := &to.def
	*j = physics3.GenericJointDef{}
	j.BodyA, j.BodyB, j.CollideConnected = ground, n.Chassis, true
	j.FrameA = physics3.JointFrame{Point: narrow(under.local(point)), Rotation: under.q.inverse().times(ofAxes(x, y, z)).array()}
	j.FrameB.Point = narrow(chassis.local(held))

	grip := d.Friction * w.Load
	brake := float32(c.Brake*d.BrakeForce) + float32(c.HandBrake*d.HandBrakeForce)
	along := &j.Axes[0]
	switch {
	case brake > 0:
		along.MaxMotorForce = brake
	case drive != 0:
		along.MotorSpeed, along.MaxMotorForce = n.MaxSpeed, drive
		if drive < 0 {
			along.MotorSpeed, along.MaxMotorForce = -n.MaxSpeed, -drive
		}
	default:
		along.MaxMotorForce = d.RollingResistance * w.Load
	}
	w.Slips = along.MaxMotorForce > grip
	if w.Slips {
		along.MaxMotorForce = grip
		w.Speed = along.MotorSpeed / d.Radius
	}
	most, used := float64(grip), float64(along.MaxMotorForce)
	j.Axes[2].MaxMotorForce = float32(math.Sqrt(max(0, float64(most*most)-float64(used*used))))
	travel := d.Travel
	if travel == 0 {
		travel = d.Length
	}
	j.Axes[1] = physics3.JointAxis{Motion: physics3.AxisLimited, Lower: -travel, Upper: 2 * travel, Hertz: d.Hertz, Damping: d.Damping}

	if w.Ground == ground && v.world.ValidJoint(w.Joint) {
		to.change = changes
		return nil
	}
	w.lift(to)
	to.change, to.ground = comes, ground
	return nil
}

// lift takes a wheel from the ground.
func (w *Wheel) lift(to *setting) {
	to.lifts = w.Joint
	w.Ground, w.Joint, w.Load, w.Compression = physics3.Body{}, physics3.Joint{}, 0, 0
}

// turn turns a wheel by its speed.
func (w *Wheel) turn(dt float32) {
	turned := float64(float64(w.Speed) * float64(dt))
	w.Angle = float32(math.Remainder(float64(w.Angle)+turned, 2*math.Pi))
}
