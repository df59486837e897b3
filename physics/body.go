package physics

import (
	"errors"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/enum"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/handle"
	"github.com/evertick/evertick/internal/rigid"
)

// NoSlot marks a body that drives no entity.
const NoSlot = rigid.NoSlot

// Body is a handle to a body of one world. The zero value is no body. Handles
// can be compared and copied; they stay invalid once their body is destroyed.
type Body struct{ index, generation uint32 }

// Index returns the row of the body in the columns. It is meaningful while the
// body lives.
func (b Body) Index() int { return int(b.index) }

// Bits returns the handle as a number, for storage: see BodyOfBits.
func (b Body) Bits() uint64 { return uint64(b.generation)<<32 | uint64(b.index) }

// BodyOfBits returns the handle whose Bits are b. Its body need not live, nor
// ever have lived.
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

// BodyDef describes a body to create. Start from DefaultBodyDef: the zero
// value is a static body that drives no entity, and that feels no gravity if it is made
// dynamic.
type BodyDef struct {
	// Type is static, kinematic or dynamic.
	Type BodyType
	// Position of the origin of the body, in metres, along the plane's axes.
	Position [2]float32
	// Angle in radians, counter-clockwise; up to 65536 either way.
	Angle float32
	// LinearVelocity of the centre of mass, in m/s; zero for a static body.
	LinearVelocity [2]float32
	// AngularVelocity in rad/s, counter-clockwise; zero for a static body.
	AngularVelocity float32
	// LinearDamping slows the body down, in 1/s; not negative.
	LinearDamping float32
	// AngularDamping slows its rotation down, in 1/s; not negative.
	AngularDamping float32
	// GravityScale multiplies the gravity of the world for this body.
	GravityScale float32
	// FixedRotation keeps contacts and impulses from turning the body.
	FixedRotation bool
	// LockX and LockY keep a dynamic body from moving along an axis of the plane. Its position there stays the same
	// under any force, except for rounding as the body turns. The solver of contacts and joints still uses its mass,
	// and stops the body before and after each iteration. So a stack on such a body comes to rest within some
	// sub-steps instead of one, and more slowly if a heavy body rests on a light one; for a body that must hold any
	// load at once, static is better. A body that is locked along both axes may still turn.
	LockX, LockY bool
	// DisableSleep keeps the body simulated even when it is at rest. EnableSleep changes it.
	DisableSleep bool
	// Asleep creates the body asleep; it stays asleep until something wakes it: see World.Awake. Shapes, joints, a
	// mass and ignored pairs that it gets before the first step do not wake it, and neither do static bodies that
	// were created or moved since the last step. So a whole world can begin asleep: the first step finds the
	// contacts, and later steps spend no time on it. The body must have no velocity, and DisableSleep must be false.
	// Ignored on a static body, and while sleep is off: see World.EnableSleeping.
	Asleep bool
	// Disabled creates the body disabled, without velocity, until World.Enable brings it
	// back, awake: see World.Disable.
	Disabled bool
	// Bullet keeps a fast dynamic body from passing through bodies that are not static, too,
	// except other bullets: see the package comment.
	Bullet bool
	// SleepThreshold is the speed in m/s up to which the body counts as at rest, 0 to 1e6.
	// 0: DefaultSleepThreshold.
	SleepThreshold float32
	// HasSlot makes the body drive an entity: Sync writes its transform into
	// row Slot.
	HasSlot bool
	// Slot is that row. It is 0 or NoSlot for a body without one.
	Slot uint32
}

// DefaultBodyDef returns a static body at the origin that feels gravity once
// it is made dynamic, and drives no entity.
func DefaultBodyDef() BodyDef { return BodyDef{GravityScale: 1} }

// Validate reports every fault of d at once. Errors wrap ErrNotFinite or
// ErrRange.
func (d *BodyDef) Validate() error {
	return errors.Join(
		checkBodyType("physics: BodyDef.Type", d.Type),
		check.Vector("physics: BodyDef.Position", d.Position[:]),
		check.Finite("physics: BodyDef.Angle", d.Angle),
		check.Vector("physics: BodyDef.LinearVelocity", d.LinearVelocity[:]),
		check.Finite("physics: BodyDef.AngularVelocity", d.AngularVelocity),
		check.NotNegative("physics: BodyDef.LinearDamping", d.LinearDamping),
		check.NotNegative("physics: BodyDef.AngularDamping", d.AngularDamping),
		check.Finite("physics: BodyDef.GravityScale", d.GravityScale),
		check.Coefficient("physics: BodyDef.SleepThreshold", d.SleepThreshold),
		checkSlot(d),
		checkStaticVelocity("physics: BodyDef.LinearVelocity", "physics: BodyDef.AngularVelocity",
			d.Type, d.LinearVelocity, d.AngularVelocity),
		checkAsleep(d),
	)
}

// checkAsleep refuses fields that a body at rest cannot have.
func checkAsleep(d *BodyDef) error {
	const rule = "a body asleep or disabled has no velocity"
	switch {
	case d.Asleep && d.DisableSleep:
		return check.Because(fault.Field(ErrRange, "physics: BodyDef.Asleep", true), "DisableSleep is true")
	case !d.Asleep && !d.Disabled:
		return nil
	case d.LinearVelocity != [2]float32{}:
		return check.Because(fault.Field(ErrRange, "physics: BodyDef.LinearVelocity", d.LinearVelocity), rule)
	case d.AngularVelocity != 0:
		return check.Because(fault.Field(ErrRange, "physics: BodyDef.AngularVelocity", d.AngularVelocity), rule)
	}
	return nil
}

func checkBodyType(field string, t BodyType) error {
	if t > DynamicBody {
		return fault.Field(ErrRange, field, t)
	}
	return nil
}

// checkSlot refuses a slot that would be ignored: most likely the caller forgot
// HasSlot.
func checkSlot(d *BodyDef) error {
	switch {
	case d.HasSlot && d.Slot == NoSlot:
		return check.Because(fault.Field(ErrRange, "physics: BodyDef.Slot", "NoSlot"), "HasSlot is true")
	case !d.HasSlot && d.Slot != 0 && d.Slot != NoSlot:
		return check.Because(fault.Field(ErrRange, "physics: BodyDef.Slot", d.Slot), "HasSlot is false")
	}
	return nil
}

// checkStaticVelocity refuses a velocity of a static body: in contacts, solvers would
// treat the body as a conveyor belt.
func checkStaticVelocity(linearField, angularField string, t BodyType, linear [2]float32, angular float32) error {
	const rule = "a static body has no velocity"
	switch {
	case t != StaticBody:
		return nil
	case linear != [2]float32{}:
		return check.Because(fault.Field(ErrRange, linearField, linear), rule)
	case angular != 0:
		return check.Because(fault.Field(ErrRange, angularField, angular), rule)
	}
	return nil
}
