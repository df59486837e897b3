package physics3

import (
	"errors"
	"math"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/enum"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/handle"
	"github.com/evertick/evertick/internal/rigid3"
	"github.com/evertick/evertick/native"
)

// NoSlot marks a body that drives no entity.
const NoSlot = native.NoSlot

// Body is a handle to a body of one world. The zero value is no body. Handles can be compared and copied; they stay invalid once
// their body is destroyed.
type Body struct{ index, generation uint32 }

// Index returns the row of the body in the columns. It is meaningful while the body lives.
func (b Body) Index() int { return int(b.index) }

// Bits returns the handle as a number, for storage: see BodyOfBits.
func (b Body) Bits() uint64 { return uint64(b.generation)<<32 | uint64(b.index) }

// BodyOfBits returns the handle whose Bits are b. Its body need not live, nor ever have lived.
func BodyOfBits(b uint64) Body { return Body{uint32(b), uint32(b >> 32)} }

// String returns "body_<index>.<generation>", or "new body <n>" for a body that Commands will create.
func (b Body) String() string { return handle.Name("body", b.index, b.generation) }

// BodyType defines what moves a body.
type BodyType uint8

const (
	// StaticBody never moves, except by SetTransform. Its mass is infinite.
	StaticBody BodyType = iota
	// KinematicBody moves by its velocity, and nothing pushes it.
	KinematicBody
	// DynamicBody has mass; forces, impulses and contacts move it.
	DynamicBody
)

// String returns "static", "kinematic" or "dynamic".
func (t BodyType) String() string {
	return enum.Name([]string{"static", "kinematic", "dynamic"}, t, "BodyType")
}

// BodyDef describes a body to create. Start from DefaultBodyDef: the zero value has no rotation, which CreateBody refuses.
type BodyDef struct {
	// Type is static, kinematic or dynamic.
	Type BodyType
	// Position of the origin of the body, in metres.
	Position [3]float32
	// Rotation is a quaternion x, y, z, w of any length above zero; CreateBody normalizes it.
	Rotation [4]float32
	// LinearVelocity of the centre of mass, in m/s; zero for a static body.
	LinearVelocity [3]float32
	// AngularVelocity in rad/s, about the axes of the world; zero for a static body.
	AngularVelocity [3]float32
	// LinearDamping slows the body down, in 1/s; not negative.
	LinearDamping float32
	// AngularDamping slows its rotation down, in 1/s; not negative.
	AngularDamping float32
	// GravityScale multiplies the gravity of the world for this body.
	GravityScale float32
	// FixedRotation keeps contacts and impulses from turning the body.
	FixedRotation bool
	// LockX, LockY and LockZ keep a dynamic body from moving along an axis of the world, under any force. Its position there
	// stays the same, except for rounding as the body turns.
	LockX, LockY, LockZ bool
	// LockRotationX, Y and Z keep a dynamic body from turning about an axis of the world.
	LockRotationX, LockRotationY, LockRotationZ bool
	// DisableSleep keeps the body simulated even when it is at rest. EnableSleep changes it.
	DisableSleep bool
	// Asleep creates the body asleep; it stays asleep until something wakes it: see World.Awake. Shapes, joints, a mass
	// and ignored pairs that it gets before the first step do not wake it, and neither do static bodies that were created or moved since
	// the last step. So a whole world can begin asleep. The body must have no velocity, and DisableSleep must be false. Ignored
	// on a static body, and while sleep is off.
	Asleep bool
	// Disabled creates the body disabled, without velocity, until World.Enable brings it back, awake.
	Disabled bool
	// Bullet keeps the body from passing through moving bodies that are not bullets, however fast they are. Static shapes, bodies asleep and
	// kinematic bodies stop every fast body. SetBullet changes it.
	Bullet bool
	// SleepThreshold is the speed in m/s up to which the body counts as at rest, 0 to 1e6. 0: DefaultSleepThreshold.
	SleepThreshold float32
	// HasSlot makes the body drive an entity: Sync writes its transform into row Slot.
	HasSlot bool
	// Slot is that row. It is 0 or NoSlot for a body without one.
	Slot uint32
}

// DefaultBodyDef returns a static body at the origin with the unit rotation, which feels gravity once it is made dynamic, and
// drives no entity.
func DefaultBodyDef() BodyDef { return BodyDef{Rotation: [4]float32{3: 1}, GravityScale: 1} }

// Validate reports every fault of d at once. Errors wrap ErrNotFinite or ErrRange.
func (d *BodyDef) Validate() error {
	return errors.Join(
		checkBodyType("physics3: BodyDef.Type", d.Type),
		checkPlace("physics3: BodyDef.Position", d.Position),
		checkRotation("physics3: BodyDef.Rotation", d.Rotation),
		checkPlace("physics3: BodyDef.LinearVelocity", d.LinearVelocity),
		checkPlace("physics3: BodyDef.AngularVelocity", d.AngularVelocity),
		check.Magnitude("physics3: BodyDef.LinearDamping", d.LinearDamping),
		check.Magnitude("physics3: BodyDef.AngularDamping", d.AngularDamping),
		check.Between("physics3: BodyDef.GravityScale", d.GravityScale, -check.Limit, check.Limit),
		check.Coefficient("physics3: BodyDef.SleepThreshold", d.SleepThreshold),
		checkSlot(d),
		checkStaticVelocity("physics3: BodyDef.LinearVelocity", "physics3: BodyDef.AngularVelocity",
			d.Type, d.LinearVelocity, d.AngularVelocity),
		checkAsleep(d),
	)
}

// checkAsleep refuses fields that a body at rest cannot have.
func checkAsleep(d *BodyDef) error {
	const rule = "a body asleep or disabled has no velocity"
	switch {
	case d.Asleep && d.DisableSleep:
		return check.Because(fault.Field(ErrRange, "physics3: BodyDef.Asleep", true), "DisableSleep is true")
	case !d.Asleep && !d.Disabled:
		return nil
	case d.LinearVelocity != [3]float32{}:
		return check.Because(fault.Field(ErrRange, "physics3: BodyDef.LinearVelocity", d.LinearVelocity), rule)
	case d.AngularVelocity != [3]float32{}:
		return check.Because(fault.Field(ErrRange, "physics3: BodyDef.AngularVelocity", d.AngularVelocity), rule)
	}
	return nil
}

func checkBodyType(field string, t BodyType) error {
	if t > DynamicBody {
		return fault.Field(ErrRange, field, t)
	}
	return nil
}

// checkSlot refuses a slot that would be ignored: most likely the caller forgot HasSlot.
func checkSlot(d *BodyDef) error {
	switch {
	case d.HasSlot && d.Slot == NoSlot:
		return check.Because(fault.Field(ErrRange, "physics3: BodyDef.Slot", "NoSlot"), "HasSlot is true")
	case !d.HasSlot && d.Slot != 0 && d.Slot != NoSlot:
		return check.Because(fault.Field(ErrRange, "physics3: BodyDef.Slot", d.Slot), "HasSlot is false")
	}
	return nil
}

// checkStaticVelocity refuses a velocity of a static body: in contacts, the solver would treat the body as a conveyor belt.
func checkStaticVelocity(linearField, angularField string, t BodyType, linear, angular [3]float32) error {
	const rule = "a static body has no velocity"
	switch {
	case t != StaticBody:
		return nil
	case linear != [3]float32{}:
		return check.Because(fault.Field(ErrRange, linearField, linear), rule)
	case angular != [3]float32{}:
		return check.Because(fault.Field(ErrRange, angularField, angular), rule)
	}
	return nil
}

// checkRotation refuses a quaternion that has no direction.
func checkRotation(field string, q [4]float32) error {
	for i, v := range q {
		if !fault.Finite(v) {
			return fault.Element(ErrNotFinite, field, i, v)
		}
	}
	if q == [4]float32{} {
		return check.Because(fault.Field(ErrRange, field, q), "the length is zero")
	}
	return nil
}

// unitRotation returns a finite quaternion above zero with length one. It keeps the bits of one whose length is one but for
// rounding, so that a rotation can be read and set again.
func unitRotation(q [4]float32) rigid3.Quat {
	square := 0.
	for _, v := range q {
		square += float64(float64(v) * float64(v))
	}
	if d := square - 1; d > -0x1p-21 && d < 0x1p-21 {
		return rigid3.Quat{X: q[0], Y: q[1], Z: q[2], W: q[3]}
	}
	l := math.Sqrt(square)
	at := func(k int) float32 { return float32(float64(q[k]) / l) }
	return rigid3.Quat{X: at(0), Y: at(1), Z: at(2), W: at(3)}
}

func vecOf(v [3]float32) rigid3.Vec { return rigid3.Vec{X: v[0], Y: v[1], Z: v[2]} }

func arrayOf(v rigid3.Vec) [3]float32 { return [3]float32{v.X, v.Y, v.Z} }
