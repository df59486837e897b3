package physics

import (
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/native"
)

// Engine is a solver that a World uses in place of this package's. Most programs only pass one to
// Config; the methods are for authors of an engine.
//
// Bodies and shapes are indices that the World chose and recycles. An engine
// gets only validated input: finite values in their documented ranges, live
// indices, polygons that are convex and counter-clockwise. For a request that it does not support
// it returns an error (ErrUnsupported, ErrRange) and changes
// nothing. After each call, the motion columns (X, Y, Angle, Cos, Sin, VX, VY,
// W) of the bodies that the call concerned hold their state; after Step, those
// of every live body. The other columns belong to the World: an engine only reads them.
//
// The interface grows with the features of World, so the
// promise of semantic versioning does not cover it.
//
// An engine must be a function of its calls: no clock, no map order, no
// outcome that depends on scheduling.
type Engine interface {
	// Open binds the engine to a world. It gets a validated configuration with its
	// defaults filled in, and the columns, whose slices stay the same for the
	// life of the world. The World calls it once.
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
	// ApplyForce adds to the force and torque on a dynamic body during the next Step; force in N,
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

// engine is what a World asks of its solver. There are two implementations: solver, which belongs to this
// package, and external, which wraps an Engine. Most methods are those of Engine.
type engine interface {
	Open(cfg Config, cols *Columns) error
	CreateBody(body int, def *BodyDef) error
	DestroyBody(body int)
	createShape(shape, body int, def *ShapeDef, g geometry) error
	DestroyShape(shape, body int) error
	ApplyLinearImpulse(body int, impulse, point [2]float32) error
	ApplyLinearImpulseToCenter(body int, impulse [2]float32) error
	ApplyAngularImpulse(body int, impulse float32) error
	ApplyForce(body int, force, point [2]float32) error
	ApplyForceToCenter(body int, force [2]float32) error
	ApplyTorque(body int, torque float32) error
	SetGravity(gravity [2]float32) error
	SetVelocity(body int, linear [2]float32, angular float32) error
	SetTransform(body int, position [2]float32, angle float32) error
	Step(dt float32) error

	// require returns ErrUnsupported unless the engine is the solver of this package.
	require() error
	// checkStep checks the length of a step, which is positive.
	checkStep(field string, dt float32) error
	// checkFloatEnv checks the floating-point environment of the calling goroutine before a step.
	checkFloatEnv() error
	// place teleports a body; its rotation stays unless turned is true.
	place(body int, x, y, sin, cos float32, turned bool) error
}

// external is an Engine as a World uses it. Such a world has no contacts, joints, queries and events of
// its own: World.solver is never opened, and all its lists are empty.
type external struct {
	Engine
	cols *Columns
	rows int // of bodies ever used
}

func (e *external) Open(cfg Config, cols *Columns) error {
	e.cols = cols
	return e.Engine.Open(cfg, cols)
}

func (e *external) CreateBody(body int, def *BodyDef) error {
	e.rows = max(e.rows, body+1)
	return e.Engine.CreateBody(body, def)
}

func (e *external) createShape(shape, body int, def *ShapeDef, g geometry) error {
	switch g.kind {
	case CircleShape:
		return e.CreateCircle(shape, body, def, g.circle())
	case SegmentShape:
		return e.CreateSegment(shape, body, def, g.segment())
	case CapsuleShape:
		return e.CreateCapsule(shape, body, def, g.capsule())
	}
	return e.CreatePolygon(shape, body, def, g.polygon)
}

// Step also checks what the engine has left in the columns: the error names the first motion value that is NaN or
// infinite, by column, then by body. Rows without a body are zero.
func (e *external) Step(dt float32) error {
	if err := e.Engine.Step(dt); err != nil {
		return err
	}
	columns := e.cols.floatColumns()
	for _, nc := range columns[:motionColumns] {
		for i, v := range (*nc.column)[:e.rows] {
			if !fault.Finite(v) {
				return fault.Element(ErrNotFinite, "physics: state after Step: Columns."+nc.name, i, v)
			}
		}
	}
	return nil
}

var errExternal = fault.Field(ErrUnsupported, "physics: Config.Engine", "another one")

func (e *external) require() error { return errExternal }

func (e *external) checkStep(string, float32) error { return nil }

func (e *external) checkFloatEnv() error { return nil }

func (e *external) place(body int, x, y, sin, cos float32, _ bool) error {
	return e.SetTransform(body, [2]float32{x, y}, rigid.Atan2(sin, cos))
}

func (s *solver) require() error { return nil }

func (s *solver) checkStep(field string, dt float32) error {
	if dt < MinStep || dt > MaxStep {
		return fault.Field(ErrRange, field, dt)
	}
	return nil
}

func (s *solver) checkFloatEnv() error { return native.CheckFloatEnv() }

func (s *solver) place(body int, x, y, sin, cos float32, turned bool) error {
	if turned {
		s.setRotation(body, sin, cos)
	}
	s.cols.X[body], s.cols.Y[body] = x, y
	s.sleep.WakeTeleported(body)
	return nil
}
