package physics

import "github.com/evertick/evertick/internal/handle"

// Commands is a list of changes that a program records now and that World.Apply, or the start of a World.Step,
// makes later, in order, all or none. World.NewCommands makes a list; reuse it. Recording reads nothing of the world
// and never fails: Apply checks handles and values.
//
// CreateBody and the methods that create shapes and joints return provisional handles. They are valid in later
// commands of the same list only, and must not be stored: Body, Shape and Joint return the real handles after Apply.
//
// One goroutine at a time may use a list. Recording may run concurrently with anything else.
type Commands struct {
	world     *World
	recording handle.Recording

	commands   []command
	bodies     []BodyDef
	shapes     []newShape
	joints     []newJoint
	rows       []jointRow // new definitions of joints
	explosions []ExplosionDef
	geometries []geometry // of setGeometry
	materials  []MaterialPair

	// What the last Apply of the list has created, in the order of the
	// commands.
	createdBodies []Body
	createdShapes []Shape
	createdJoints []Joint
}

// command is one command of a list. Its definition, if it needs one, is the next one of the bodies,
// shapes, joints, rows, explosions, geometries or materials.
type command struct {
	kind    commandKind
	body    Body
	other   Body // of a pair
	shape   Shape
	joint   Joint
	numbers [4]float32
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
	createJoint
	destroyJoint
	setJoint
	setMotorSpeed
	setMouseTarget
	ignorePair
	unignorePair
	explode
	setGeometry
	setSpan
	shiftOrigin
	enableSleeping
	enableContinuous
	setMaterialPair
	removeMaterialPair
)

// String returns the name of the method that records the command.
func (k commandKind) String() string {
	return [...]string{"CreateBody", "DestroyBody", "create a shape", "DestroyShape", "SetVelocity", "SetTransform",
		"ApplyLinearImpulse", "ApplyLinearImpulseToCenter", "ApplyAngularImpulse", "ApplyForce", "ApplyForceToCenter",
		"ApplyTorque", "Disable", "Enable", "create a joint", "DestroyJoint", "define a joint", "SetMotorSpeed",
		"SetMouseTarget", "IgnorePair", "UnignorePair", "Explode", "set the geometry of a shape", "SetSpan", "ShiftOrigin",
		"EnableSleeping", "EnableContinuous", "SetMaterialPair", "RemoveMaterialPair"}[k]
}

// newShape is a shape to create.
type newShape struct {
	def      ShapeDef
	geometry geometry
}

// provisional marks the index of a handle to an object that Apply will create.
const provisional = handle.Provisional

// NewCommands returns an empty list for this world.
func (w *World) NewCommands() *Commands {
	w.lists++
	return &Commands{world: w, recording: handle.NewRecording(w.lists)}
}

// Len returns the number of commands recorded.
func (c *Commands) Len() int { return len(c.commands) }

// Reset removes all commands.
func (c *Commands) Reset() {
	c.commands, c.bodies, c.shapes, c.explosions = c.commands[:0], c.bodies[:0], c.shapes[:0], c.explosions[:0]
	c.joints, c.rows, c.geometries, c.materials = c.joints[:0], c.rows[:0], c.geometries[:0], c.materials[:0]
	c.recording.Restart()
}

func (c *Commands) add(o command) {
	if c.world == nil {
		panic("physics: use of Commands that NewCommands did not make")
	}
	c.commands = append(c.commands, o)
}

// CreateBody records the creation of a body, as World.CreateBody.
func (c *Commands) CreateBody(def BodyDef) Body {
	c.add(command{kind: createBody})
	c.bodies = append(c.bodies, def)
	index, generation := c.recording.New(len(c.bodies) - 1)
	return Body{index, generation}
}

// DestroyBody records the destruction of a body, its shapes and its joints.
func (c *Commands) DestroyBody(b Body) { c.add(command{kind: destroyBody, body: b}) }

// CreateCircle records the creation of a circle, as World.CreateCircle.
func (c *Commands) CreateCircle(b Body, def ShapeDef, circle Circle) Shape {
	return c.createShape(b, def, circle.geometry())
}

// CreatePolygon records the creation of a polygon.
func (c *Commands) CreatePolygon(b Body, def ShapeDef, polygon Polygon) Shape {
	return c.createShape(b, def, polygon.geometry())
}

// CreateSegment records the creation of a segment.
func (c *Commands) CreateSegment(b Body, def ShapeDef, segment Segment) Shape {
	return c.createShape(b, def, segment.geometry())
}

// CreateCapsule records the creation of a capsule.
func (c *Commands) CreateCapsule(b Body, def ShapeDef, capsule Capsule) Shape {
	return c.createShape(b, def, capsule.geometry())
}

func (c *Commands) createShape(b Body, def ShapeDef, g geometry) Shape {
	c.add(command{kind: createShape, body: b})
	c.shapes = append(c.shapes, newShape{def, g})
	index, generation := c.recording.New(len(c.shapes) - 1)
	return Shape{index, generation}
}

// DestroyShape records the destruction of a shape.
func (c *Commands) DestroyShape(s Shape) { c.add(command{kind: destroyShape, shape: s}) }

// SetVelocity records the velocity of a body, as World.SetVelocity. Apply ignores it if the body
// is static or disabled by then.
func (c *Commands) SetVelocity(b Body, linear [2]float32, angular float32) {
	c.add(command{kind: setVelocity, body: b, numbers: [4]float32{linear[0], linear[1], angular}})
}

// SetTransform records a teleport, as World.SetTransform.
func (c *Commands) SetTransform(b Body, position [2]float32, angle float32) {
	c.add(command{kind: setTransform, body: b, numbers: [4]float32{position[0], position[1], angle}})
}

// ApplyLinearImpulse records an impulse in N·s at a point in world coordinates.
func (c *Commands) ApplyLinearImpulse(b Body, impulse, point [2]float32) {
	c.add(command{kind: applyImpulse, body: b, numbers: [4]float32{impulse[0], impulse[1], point[0], point[1]}})
}

// ApplyLinearImpulseToCenter records an impulse in N·s at the centre of mass.
func (c *Commands) ApplyLinearImpulseToCenter(b Body, impulse [2]float32) {
	c.add(command{kind: applyCentralImpulse, body: b, numbers: [4]float32{impulse[0], impulse[1]}})
}

// ApplyAngularImpulse records an impulse in N·m·s.
func (c *Commands) ApplyAngularImpulse(b Body, impulse float32) {
	c.add(command{kind: applyAngularImpulse, body: b, numbers: [4]float32{impulse}})
}

// ApplyForce records a force in N at a point in world coordinates.
func (c *Commands) ApplyForce(b Body, force, point [2]float32) {
	c.add(command{kind: applyForce, body: b, numbers: [4]float32{force[0], force[1], point[0], point[1]}})
}

// ApplyForceToCenter records a force in N at the centre of mass.
func (c *Commands) ApplyForceToCenter(b Body, force [2]float32) {
	c.add(command{kind: applyCentralForce, body: b, numbers: [4]float32{force[0], force[1]}})
}

// ApplyTorque records a torque in N·m.
func (c *Commands) ApplyTorque(b Body, torque float32) {
	c.add(command{kind: applyTorque, body: b, numbers: [4]float32{torque}})
}

// Disable records that a body is disabled, as World.Disable.
func (c *Commands) Disable(b Body) { c.add(command{kind: disableBody, body: b}) }

// Enable records that a body is enabled, as World.Enable.
func (c *Commands) Enable(b Body) { c.add(command{kind: enableBody, body: b}) }

// IgnorePair records that two bodies pass through each other, as World.IgnorePair.
func (c *Commands) IgnorePair(a, b Body) { c.add(command{kind: ignorePair, body: a, other: b}) }

// UnignorePair records that they collide again, as World.UnignorePair.
func (c *Commands) UnignorePair(a, b Body) { c.add(command{kind: unignorePair, body: a, other: b}) }

// SetSpan records the span of the shapes that a body has then, as World.SetSpan.
func (c *Commands) SetSpan(b Body, span Span) {
	c.add(command{kind: setSpan, body: b, numbers: [4]float32{span.Min, span.Max}})
}

// Explode records an explosion, as World.Explode.
func (c *Commands) Explode(def ExplosionDef) {
	c.add(command{kind: explode})
	c.explosions = append(c.explosions, def)
}

// EnableSleeping records a switch, as World.EnableSleeping.
func (c *Commands) EnableSleeping(on bool) { c.addSwitch(enableSleeping, on) }

// EnableContinuous records a switch, as World.EnableContinuous.
func (c *Commands) EnableContinuous(on bool) { c.addSwitch(enableContinuous, on) }

func (c *Commands) addSwitch(kind commandKind, on bool) {
	c.add(command{kind: kind, numbers: [4]float32{float32(bit(on))}})
}

// SetMaterialPair records the contacts between two user materials, as World.SetMaterialPair.
func (c *Commands) SetMaterialPair(p MaterialPair) {
	c.add(command{kind: setMaterialPair})
	c.materials = append(c.materials, p)
}

// RemoveMaterialPair records that their coefficients mix again, as World.RemoveMaterialPair.
func (c *Commands) RemoveMaterialPair(a, b uint64) {
	c.add(command{kind: removeMaterialPair})
	c.materials = append(c.materials, MaterialPair{A: a, B: b})
}

// Body returns the body that a provisional handle of CreateBody stands for. It works from Apply until the
// list is applied again, even while new commands are recorded. The body may be destroyed by then. Body returns other
// handles unchanged.
func (c *Commands) Body(b Body) Body {
	if b.index < provisional {
		return b
	}
	return created("Body", c, c.createdBodies, b.index, b.generation)
}

func created[H any](method string, c *Commands, handles []H, index, generation uint32) H {
	h, ok := handle.Created(&c.recording, handles, index, generation)
	if !ok {
		panic("physics: Commands." + method + ": not of this list as it was applied last")
	}
	return h
}

// Shape is Body for shapes.
func (c *Commands) Shape(s Shape) Shape {
	if s.index < provisional {
		return s
	}
	return created("Shape", c, c.createdShapes, s.index, s.generation)
}
