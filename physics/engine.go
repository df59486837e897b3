package physics

// Engine is a solver behind a World. Most programs only pass one to Config;
// the methods are for those who write one.
//
// Bodies and shapes are indices that the World chose and recycles. An engine
// gets only validated input: finite values in their documented ranges, live
// indices, polygons that are convex and counter-clockwise. It returns an error
// for what it cannot do (ErrUnsupported, ErrRange) and has then changed
// nothing. After each call, the motion columns (X, Y, Angle, Cos, Sin, VX, VY,
// W) of the bodies that the call concerned hold their state; after Step, those
// of every live body. The other columns are the World's: an engine reads them.
//
// The interface grows with the features of World: it is not covered by the
// promise of semantic versioning.
//
// An engine must be a function of its calls: no clock, no map order, no
// outcome that depends on scheduling.
type Engine interface {
	// Open binds the engine to a world: a validated configuration with its
	// defaults filled in, and the columns, whose slices stay the same for the
	// life of the world. It is called once.
	Open(cfg Config, cols *Columns) error

	// CreateBody makes a body without shapes. The row of the body is filled
	// except for the motion columns. def is not kept.
	CreateBody(body int, def *BodyDef) error
	// DestroyBody removes the body and its shapes.
	DestroyBody(body int)

	// The Create methods attach a shape to a body. def is not kept.

	CreateCircle(shape, body int, def *ShapeDef, circle Circle) error
	CreatePolygon(shape, body int, def *ShapeDef, polygon Polygon) error
	CreateSegment(shape, body int, def *ShapeDef, segment Segment) error
	CreateCapsule(shape, body int, def *ShapeDef, capsule Capsule) error
	// DestroyShape removes one shape from its body.
	DestroyShape(shape, body int) error

	// ApplyLinearImpulse changes the velocity of a dynamic body at once;
	// impulse in N·s, point in world coordinates.
	ApplyLinearImpulse(body int, impulse, point [2]float32) error
	// ApplyLinearImpulseToCenter does so at the centre of mass.
	ApplyLinearImpulseToCenter(body int, impulse [2]float32) error
	// ApplyAngularImpulse changes its angular velocity; in N·m·s.
	ApplyAngularImpulse(body int, impulse float32) error
	// ApplyForce adds to what acts during the next Step on a dynamic body; force in N,
	// point in world coordinates.
	ApplyForce(body int, force, point [2]float32) error
	// ApplyForceToCenter does so at the centre of mass.
	ApplyForceToCenter(body int, force [2]float32) error
	// ApplyTorque adds a torque in N·m.
	ApplyTorque(body int, torque float32) error
	// SetGravity replaces Config.Gravity.
	SetGravity(gravity [2]float32) error
	// SetVelocity replaces the velocity of a body that is not static.
	SetVelocity(body int, linear [2]float32, angular float32) error
	// SetTransform teleports a body.
	SetTransform(body int, position [2]float32, angle float32) error

	// Step advances the world by dt > 0 seconds. An error means that the
	// engine cannot go on.
	Step(dt float32) error
}
