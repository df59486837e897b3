package physics

import "github.com/evertick/evertick/internal/stagger"

// Columns is the state of the bodies, one slice per component, len = capacity,
// indexed by Body.Index. The slices belong to the world and may be read at any time
// between calls. The package comment lists those that a program may write to; with another
// engine it may write to none. The row of an index without a body is zero, with
// Slot = NoSlot.
type Columns struct {
	// X and Y are the position of the body's origin in metres, along the first
	// and the second axis of the plane.
	X, Y []float32
	// Angle in radians, wrapped to [-π, π]; Cos and Sin are of that angle.
	Angle, Cos, Sin []float32
	// VX and VY are the velocity of the centre of mass in m/s, W the angular
	// velocity in rad/s.
	VX, VY, W []float32
	// LinearDamping, AngularDamping and GravityScale are those of BodyDef.
	LinearDamping, AngularDamping, GravityScale []float32
	// ForceX, ForceY and Torque act on the centre of mass during the next step, in N
	// and N·m; the step clears them.
	ForceX, ForceY, Torque []float32
	// CentreX and CentreY are the centre of mass in body coordinates, in metres.
	CentreX, CentreY []float32
	// InvMass and InvInertia are the inverse mass in 1/kg and the inverse inertia about the centre of mass in
	// 1/(kg·m²), or zero where nothing moves or turns the body.
	InvMass, InvInertia []float32
	// Slot is the entity row that the body drives, or NoSlot.
	Slot []uint32
	// Type is the BodyType.
	Type []BodyType
	// Flags holds FlagFixedRotation and so on.
	Flags []uint8
	// Alive is 1 for a live body, else 0.
	Alive []uint8

	memory []float32 // of the float32 columns; each begins stride elements after the previous one
	stride int
}

// Bits of Columns.Flags.
const (
	FlagFixedRotation = 1 << iota // BodyDef.FixedRotation
	FlagDisableSleep              // BodyDef.DisableSleep, EnableSleep
	FlagDisabled                  // taken out of the world: see World.Disable
	FlagBullet                    // BodyDef.Bullet
	FlagAsleep                    // at rest, until something wakes it: see World.Awake
	FlagLockX                     // BodyDef.LockX
	FlagLockY                     // BodyDef.LockY
)

// floatColumns lists the float32 columns in the order of their hashes, which is also the order in
// memory. The engine writes the first motionColumns of them.
func (c *Columns) floatColumns() [18]namedColumn {
	return [...]namedColumn{
		{"X", &c.X}, {"Y", &c.Y},
		{"Angle", &c.Angle}, {"Cos", &c.Cos}, {"Sin", &c.Sin},
		{"VX", &c.VX}, {"VY", &c.VY}, {"W", &c.W},
		{"LinearDamping", &c.LinearDamping},
		{"AngularDamping", &c.AngularDamping},
		{"GravityScale", &c.GravityScale},
		{"ForceX", &c.ForceX}, {"ForceY", &c.ForceY}, {"Torque", &c.Torque},
		{"CentreX", &c.CentreX}, {"CentreY", &c.CentreY},
		{"InvMass", &c.InvMass}, {"InvInertia", &c.InvInertia},
	}
}

const motionColumns = 8

type namedColumn struct {
	name   string
	column *[]float32
}

// newColumns allocates all float32 columns in one block, staggered.
func newColumns(capacity int) Columns {
	c := Columns{
		Slot:  make([]uint32, capacity),
		Type:  make([]BodyType, capacity),
		Flags: make([]uint8, capacity),
		Alive: make([]uint8, capacity),
	}
	for i := range c.Slot {
		c.Slot[i] = NoSlot
	}
	columns := c.floatColumns()
	bytes := 4 * capacity
	step := stagger.Stride(bytes)
	block := stagger.Bytes(step*len(columns), 0)
	c.memory, c.stride = stagger.View[float32](block), step/4
	for i, nc := range columns {
		*nc.column = stagger.View[float32](block[i*step : i*step+bytes])
	}
	return c
}

// fill writes the row of a new body, except for its motion.
func (c *Columns) fill(i int, d *BodyDef) {
	c.clear(i) // a program may have written there
	c.LinearDamping[i] = d.LinearDamping
	c.AngularDamping[i] = d.AngularDamping
	c.GravityScale[i] = d.GravityScale
	if d.HasSlot {
		c.Slot[i] = d.Slot
	}
	c.Type[i] = d.Type
	c.Flags[i] = 0
	if d.FixedRotation {
		c.Flags[i] |= FlagFixedRotation
	}
	if d.DisableSleep {
		c.Flags[i] |= FlagDisableSleep
	}
	if d.Bullet {
		c.Flags[i] |= FlagBullet
	}
	if d.LockX {
		c.Flags[i] |= FlagLockX
	}
	if d.LockY {
		c.Flags[i] |= FlagLockY
	}
	c.Alive[i] = 1
}

// clear makes a row look as if it had never held a body.
func (c *Columns) clear(i int) {
	for _, nc := range c.floatColumns() {
		(*nc.column)[i] = 0
	}
	c.Slot[i] = NoSlot
	c.Type[i] = 0
	c.Flags[i] = 0
	c.Alive[i] = 0
}
