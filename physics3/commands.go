package physics3

import (
	"github.com/evertick/evertick/internal/handle"
	"github.com/evertick/evertick/internal/rigid3"
)

// Commands is a list of changes that a program records now and that World.Apply, or the start of a World.Step, makes later, in order, all or
// none. World.NewCommands makes a list; reuse it. Recording reads nothing of the world and never fails: Apply checks handles and values.
//
// CreateBody, CreateJoint and the methods that create shapes return provisional handles. They are valid in later commands of the same list
// only, and must not be stored: Body, Shape and Joint return the real handles after Apply.
//
// One goroutine at a time may use a list. Recording may run concurrently with anything else.
type Commands struct {
	world     *World
	recording handle.Recording

	commands []command
	bodies   []BodyDef
	shapes   []newShape
	joints   []newJoint
	rows     []jointRow // new definitions of joints
	blasts   []ExplosionDef

	// What the last Apply of the list has created, in the order of the commands.
	createdBodies []Body
	createdShapes []Shape
	createdJoints []Joint
}

// command is one command of a list. Its definition, if it needs one, is the next one of the bodies, shapes, joints, rows or blasts.
type command struct {
	kind    commandKind
	body    Body
	other   Body // of a pair
	shape   Shape
	joint   Joint
	numbers [7]float32
}

type commandKind uint8

const (
	createBody commandKind = iota
	destroyBody
	createShape
	destroyShape
	setVelocity
	setTransform
	applyImpulse
	applyCentralImpulse
	applyAngularImpulse
	applyForce
	applyCentralForce
	applyTorque
	disableBody
	enableBody
	ignorePair
	unignorePair
	shiftOrigin
	enableSleeping
	enableContinuous
	createJoint
	destroyJoint
	setJoint
	explode
)

// String returns the name of the method that records the command.
func (k commandKind) String() string {
	return [...]string{"CreateBody", "DestroyBody", "create a shape", "DestroyShape", "SetVelocity", "SetTransform", "ApplyLinearImpulse",
		"ApplyLinearImpulseToCenter", "ApplyAngularImpulse", "ApplyForce", "ApplyForceToCenter", "ApplyTorque", "Disable", "Enable",
		"IgnorePair", "UnignorePair", "ShiftOrigin", "EnableSleeping", "EnableContinuous", "CreateJoint", "DestroyJoint", "SetJointDef", "Explode"}[k]
}

// NewCommands returns an empty list for this world.
func (w *World) NewCommands() *Commands {
	w.lists++
	return &Commands{world: w, recording: handle.NewRecording(w.lists)}
}

// Len returns the number of commands recorded.
func (c *Commands) Len() int { return len(c.commands) }

// Reset removes all commands.
func (c *Commands) Reset() {
	clear(c.shapes) // which may hold hulls
	c.commands, c.bodies, c.shapes = c.commands[:0], c.bodies[:0], c.shapes[:0]
	c.joints, c.rows, c.blasts = c.joints[:0], c.rows[:0], c.blasts[:0]
	c.recording.Restart()
}

func (c *Commands) add(o command) {
	if c.world == nil {
		panic("physics3: use of Commands that NewCommands did not make")
	}
	c.commands = append(c.commands, o)
}

// vectors returns the numbers of a command.
func vectors(a, b [3]float32) [7]float32 { return [...]float32{a[0], a[1], a[2], b[0], b[1], b[2], 0} }

// CreateBody records the creation of a body, as World.CreateBody.
func (c *Commands) CreateBody(def BodyDef) Body {
	c.add(command{kind: createBody})
	c.bodies = append(c.bodies, def)
	index, generation := c.recording.New(len(c.bodies) - 1)
	return Body{index, generation}
}

// DestroyBody records the destruction of a body, its shapes and its joints.
func (c *Commands) DestroyBody(b Body) { c.add(command{kind: destroyBody, body: b}) }

// CreateSphere records the creation of a ball, as World.CreateSphere.
func (c *Commands) CreateSphere(b Body, def ShapeDef, sphere Sphere) Shape {
	return c.createShape(b, newShape{def: def, kind: rigid3.KindSphere, sphere: sphere})
}

// CreateCapsule records the creation of a capsule.
func (c *Commands) CreateCapsule(b Body, def ShapeDef, capsule Capsule) Shape {
	return c.createShape(b, newShape{def: def, kind: rigid3.KindCapsule, capsule: capsule})
}

// CreateBox records the creation of a box.
func (c *Commands) CreateBox(b Body, def ShapeDef, box Box) Shape {
	return c.createShape(b, newShape{def: def, kind: rigid3.KindBox, box: box})
}

// CreateHull records the creation of a shape with a hull.
func (c *Commands) CreateHull(b Body, def ShapeDef, h *Hull, at Placement) Shape {
	return c.createShape(b, newShape{def: def, kind: rigid3.KindHull, hull: h, at: at})
}

// CreateMesh records the creation of a shape with a mesh.
func (c *Commands) CreateMesh(b Body, def ShapeDef, m *Mesh, at Placement) Shape {
	return c.createShape(b, newMeshShape(def, m, at))
}

// CreateHeightField records the creation of a shape with a height field.
func (c *Commands) CreateHeightField(b Body, def ShapeDef, f *HeightField, at Placement) Shape {
	return c.createShape(b, newFieldShape(def, f, at))
}

// CreateTerrain records the creation of a shape with a terrain.
func (c *Commands) CreateTerrain(b Body, def ShapeDef, t *Terrain, at Placement) Shape {
	return c.createShape(b, newTerrainShape(def, t, at))
}

func (c *Commands) createShape(b Body, n newShape) Shape {
	c.add(command{kind: createShape, body: b})
	c.shapes = append(c.shapes, n)
	index, generation := c.recording.New(len(c.shapes) - 1)
	return Shape{index, generation}
}

// DestroyShape records the destruction of a shape.
func (c *Commands) DestroyShape(s Shape) { c.add(command{kind: destroyShape, shape: s}) }

// SetVelocity records the velocity of a body, as World.SetVelocity. Apply ignores it if the body is static or disabled by then.
func (c *Commands) SetVelocity(b Body, linear, angular [3]float32) {
	c.add(command{kind: setVelocity, body: b, numbers: vectors(linear, angular)})
}

// SetTransform records a teleport, as World.SetTransform.
func (c *Commands) SetTransform(b Body, position [3]float32, rotation [4]float32) {
	n := vectors(position, [3]float32(rotation[:3]))
	n[6] = rotation[3]
	c.add(command{kind: setTransform, body: b, numbers: n})
}

// ApplyLinearImpulse records an impulse in N·s at a point in world coordinates.
func (c *Commands) ApplyLinearImpulse(b Body, impulse, point [3]float32) {
	c.add(command{kind: applyImpulse, body: b, numbers: vectors(impulse, point)})
}

// ApplyLinearImpulseToCenter records an impulse in N·s at the centre of mass.
func (c *Commands) ApplyLinearImpulseToCenter(b Body, impulse [3]float32) {
	c.add(command{kind: applyCentralImpulse, body: b, numbers: vectors(impulse, [3]float32{})})
}

// ApplyAngularImpulse records an impulse in N·m·s, about the axes of the world.
func (c *Commands) ApplyAngularImpulse(b Body, impulse [3]float32) {
	c.add(command{kind: applyAngularImpulse, body: b, numbers: vectors(impulse, [3]float32{})})
}

// ApplyForce records a force in N at a point in world coordinates.
func (c *Commands) ApplyForce(b Body, force, point [3]float32) {
	c.add(command{kind: applyForce, body: b, numbers: vectors(force, point)})
}

// ApplyForceToCenter records a force in N at the centre of mass.
func (c *Commands) ApplyForceToCenter(b Body, force [3]float32) {
	c.add(command{kind: applyCentralForce, body: b, numbers: vectors(force, [3]float32{})})
}

// ApplyTorque records a torque in N·m, about the axes of the world.
func (c *Commands) ApplyTorque(b Body, torque [3]float32) {
	c.add(command{kind: applyTorque, body: b, numbers: vectors(torque, [3]float32{})})
}

// Disable records that a body is disabled, as World.Disable.
func (c *Commands) Disable(b Body) { c.add(command{kind: disableBody, body: b}) }

// Enable records that a body is enabled, as World.Enable.
func (c *Commands) Enable(b Body) { c.add(command{kind: enableBody, body: b}) }

// IgnorePair records that two bodies pass through each other, as World.IgnorePair.
func (c *Commands) IgnorePair(a, b Body) { c.add(command{kind: ignorePair, body: a, other: b}) }

// UnignorePair records that they collide again, as World.UnignorePair.
func (c *Commands) UnignorePair(a, b Body) { c.add(command{kind: unignorePair, body: a, other: b}) }

// ShiftOrigin records a shift, as World.ShiftOrigin. Later commands of the list have coordinates of the new origin.
func (c *Commands) ShiftOrigin(offset [3]float32) {
	c.add(command{kind: shiftOrigin, numbers: vectors(offset, [3]float32{})})
}

// EnableSleeping records a switch, as World.EnableSleeping.
func (c *Commands) EnableSleeping(on bool) {
	c.add(command{kind: enableSleeping, numbers: [7]float32{float32(bits(on))}})
}

// EnableContinuous records a switch, as World.EnableContinuous.
func (c *Commands) EnableContinuous(on bool) {
	c.add(command{kind: enableContinuous, numbers: [7]float32{float32(bits(on))}})
}

// Explode records an explosion, as World.Explode.
func (c *Commands) Explode(def ExplosionDef) {
	c.add(command{kind: explode})
	c.blasts = append(c.blasts, def)
}

// Body returns the body that a provisional handle of CreateBody stands for. It works from Apply until the list is applied again, even while
// new commands are recorded. The body may be destroyed by then. Body returns other handles unchanged.
func (c *Commands) Body(b Body) Body {
	if b.index < handle.Provisional {
		return b
	}
	return created("Body", c, c.createdBodies, b.index, b.generation)
}

// Shape is Body for shapes.
func (c *Commands) Shape(s Shape) Shape {
	if s.index < handle.Provisional {
		return s
	}
	return created("Shape", c, c.createdShapes, s.index, s.generation)
}

func created[H any](method string, c *Commands, handles []H, index, generation uint32) H {
	h, ok := handle.Created(&c.recording, handles, index, generation)
	if !ok {
		panic("physics3: Commands." + method + ": not of this list as it was applied last")
	}
	return h
}
