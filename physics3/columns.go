package physics3

import (
	"slices"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/internal/stagger"
)

// Columns is the state of the bodies, one slice per component, len = capacity, indexed by Body.Index. The slices belong to the
// world and may be read at any time between calls. A program may write positions, rotations, velocities, damping, GravityScale,
// forces and torques between steps; it calls SetTransform, SetVelocity and so on where it wants errors at once. The row of an
// index without a body is zero, with Slot = NoSlot.
type Columns struct {
	// X, Y and Z are the position of the body's origin in metres.
	X, Y, Z []float32
	// QX, QY, QZ and QW are its rotation, a unit quaternion. A step normalizes one that a program wrote.
	QX, QY, QZ, QW []float32
	// VX, VY and VZ are the velocity of the centre of mass in m/s; WX, WY and WZ the angular velocity in rad/s, about the axes
	// of the world.
	VX, VY, VZ, WX, WY, WZ []float32
	// LinearDamping, AngularDamping and GravityScale are those of BodyDef.
	LinearDamping, AngularDamping, GravityScale []float32
	// The force on the centre of mass and the torque during the next step, in N and N·m; the step clears them.
	ForceX, ForceY, ForceZ, TorqueX, TorqueY, TorqueZ []float32
	// CentreX, CentreY and CentreZ are the centre of mass in body coordinates, in metres.
	CentreX, CentreY, CentreZ []float32
	// InvMass is the inverse mass in 1/kg, and InvInertiaX, Y and Z are the inverse moments about the principal axes through the
	// centre of mass in 1/(kg·m²). They are zero where nothing moves or turns the body. MassData has the inertia in the axes of
	// the body.
	InvMass, InvInertiaX, InvInertiaY, InvInertiaZ []float32
	// Slot is the entity row that the body drives, or NoSlot.
	Slot []uint32
	// Type is the BodyType.
	Type []BodyType
	// Flags holds FlagFixedRotation and so on.
	Flags []uint8
	// Locks holds LockX and so on.
	Locks []uint8
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
)

// Bits of Columns.Locks: directions of the world in which a body does not move, and axes about which it does not turn.
const (
	LockX = 1 << iota
	LockY
	LockZ
	LockRotationX
	LockRotationY
	LockRotationZ
)

type namedColumn struct {
	name   string
	column *[]float32
}

const (
	floatColumns  = 29
	poseColumns   = 7  // the first ones
	motionColumns = 13 // those that a step changes
)

// floatColumns lists the float32 columns in the order of their hashes, which is also the order in memory.
func (c *Columns) floatColumns() [floatColumns]namedColumn {
	return [...]namedColumn{
		{"X", &c.X}, {"Y", &c.Y}, {"Z", &c.Z}, {"QX", &c.QX}, {"QY", &c.QY}, {"QZ", &c.QZ}, {"QW", &c.QW},
		{"VX", &c.VX}, {"VY", &c.VY}, {"VZ", &c.VZ}, {"WX", &c.WX}, {"WY", &c.WY}, {"WZ", &c.WZ},
		{"LinearDamping", &c.LinearDamping}, {"AngularDamping", &c.AngularDamping}, {"GravityScale", &c.GravityScale},
		{"ForceX", &c.ForceX}, {"ForceY", &c.ForceY}, {"ForceZ", &c.ForceZ},
		{"TorqueX", &c.TorqueX}, {"TorqueY", &c.TorqueY}, {"TorqueZ", &c.TorqueZ},
		{"CentreX", &c.CentreX}, {"CentreY", &c.CentreY}, {"CentreZ", &c.CentreZ},
		{"InvMass", &c.InvMass}, {"InvInertiaX", &c.InvInertiaX}, {"InvInertiaY", &c.InvInertiaY}, {"InvInertiaZ", &c.InvInertiaZ},
	}
}

// newColumns allocates all float32 columns in one block, staggered.
func newColumns(capacity int) Columns {
	c := Columns{
		Slot: make([]uint32, capacity), Type: make([]BodyType, capacity), Flags: make([]uint8, capacity),
		Locks: make([]uint8, capacity), Alive: make([]uint8, capacity),
	}
	for i := range c.Slot {
		c.Slot[i] = NoSlot
	}
	all := c.floatColumns()
	bytes := 4 * capacity
	step := stagger.Stride(bytes)
	block := stagger.Bytes(step*len(all), 0)
	c.memory, c.stride = stagger.View[float32](block), step/4
	for i, nc := range all {
		*nc.column = stagger.View[float32](block[i*step : i*step+bytes])
	}
	return c
}

// fill writes the row of a new body, except for its motion.
func (c *Columns) fill(i int, d *BodyDef) {
	c.clear(i) // a program may have written there
	c.LinearDamping[i], c.AngularDamping[i], c.GravityScale[i] = d.LinearDamping, d.AngularDamping, d.GravityScale
	if d.HasSlot {
		c.Slot[i] = d.Slot
	}
	c.Type[i], c.Alive[i] = d.Type, 1
	c.Flags[i] = bits(d.FixedRotation, d.DisableSleep, false, d.Bullet)
	c.Locks[i] = bits(d.LockX, d.LockY, d.LockZ, d.LockRotationX, d.LockRotationY, d.LockRotationZ)
}

// bits returns a number with bit k set where on[k] is true.
func bits(on ...bool) (b uint8) {
	for k, v := range on {
		if v {
			b |= 1 << k
		}
	}
	return b
}

// clear makes a row look as if it had never held a body.
func (c *Columns) clear(i int) {
	for at := i; at < len(c.memory); at += c.stride {
		c.memory[at] = 0
	}
	c.Slot[i], c.Type[i], c.Flags[i], c.Locks[i], c.Alive[i] = NoSlot, 0, 0, 0, 0
}

// ColumnView is a column without its type, for code that reads any column: networks, inspectors, exporters. It is the same type
// as ecs.ColumnView, whose comment lists the methods and their rules.
type ColumnView = columns.View

// BodyColumns returns the columns of Columns without their types: one float32, uint32 or uint8 a row, under the names of the
// fields, in their order, indexed by Body.Index. Rows without a body are zero, with Slot = NoSlot. The slice is the world's own,
// and always the same one: only read it. A call allocates nothing.
func (w *World) BodyColumns() []ColumnView { return w.views }

// newViews returns the views of all columns, in the order of the fields of Columns and of hashes.
func (w *World) newViews() []ColumnView {
	c := &w.cols
	var views []ColumnView
	add := func(name string, kind columns.Kind, mem []byte) {
		views = append(views, columns.New(name, kind, 1, &mem, w.Rows, nil))
	}
	for _, nc := range c.floatColumns() {
		add(nc.name, columns.Float32, buffer.Bytes(*nc.column))
	}
	add("Slot", columns.Uint32, buffer.Bytes(c.Slot))
	add("Type", columns.Uint8, buffer.Bytes(c.Type))
	add("Flags", columns.Uint8, c.Flags)
	add("Locks", columns.Uint8, c.Locks)
	add("Alive", columns.Uint8, c.Alive)
	return slices.Clip(views)
}
