package physics

import (
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
)

// ApplyLinearImpulse changes the velocity of b at once, and wakes it. impulse
// is in N·s; point, where it acts, in world coordinates. It has no effect on a
// body that is not dynamic. Errors: ErrStale, ErrNotFinite, and ErrRange if the
// velocity would overflow.
func (w *World) ApplyLinearImpulse(b Body, impulse, point [2]float32) error {
	i, err := w.mutableRow(b)
	if err != nil {
		return err
	}
	if err := check.Vector("physics: ApplyLinearImpulse: impulse", impulse[:]); err != nil {
		return err
	}
	if err := check.Vector("physics: ApplyLinearImpulse: point", point[:]); err != nil {
		return err
	}
	return w.engine.ApplyLinearImpulse(i, impulse, point)
}

// ApplyLinearImpulseToCenter is ApplyLinearImpulse at the centre of mass: it
// does not turn the body.
func (w *World) ApplyLinearImpulseToCenter(b Body, impulse [2]float32) error {
	i, err := w.mutableRow(b)
	if err != nil {
		return err
	}
	if err := check.Vector("physics: ApplyLinearImpulseToCenter: impulse", impulse[:]); err != nil {
		return err
	}
	return w.engine.ApplyLinearImpulseToCenter(i, impulse)
}

// ApplyAngularImpulse changes the angular velocity of b at once, and wakes it. impulse
// is in N·m·s. Effect and errors are as for ApplyLinearImpulse.
func (w *World) ApplyAngularImpulse(b Body, impulse float32) error {
	i, err := w.mutableRow(b)
	if err != nil {
		return err
	}
	if err := check.Finite("physics: ApplyAngularImpulse: impulse", impulse); err != nil {
		return err
	}
	return w.engine.ApplyAngularImpulse(i, impulse)
}

// ApplyForce adds a force in newtons, at a point in world coordinates, to the forces that
// act on b during the next Step, and wakes it. It has no effect on a body that is
// not dynamic. Errors: ErrStale, ErrNotFinite, and ErrRange if the sum would overflow.
func (w *World) ApplyForce(b Body, force, point [2]float32) error {
	i, err := w.mutableRow(b)
	if err != nil {
		return err
	}
	if err := check.Vector("physics: ApplyForce: force", force[:]); err != nil {
		return err
	}
	if err := check.Vector("physics: ApplyForce: point", point[:]); err != nil {
		return err
	}
	return w.engine.ApplyForce(i, force, point)
}

// ApplyTorque adds a torque in N·m to that which acts on b during the next Step, and wakes it.
// Effect and errors are as for ApplyForce.
func (w *World) ApplyTorque(b Body, torque float32) error {
	i, err := w.mutableRow(b)
	if err != nil {
		return err
	}
	if err := check.Finite("physics: ApplyTorque: torque", torque); err != nil {
		return err
	}
	return w.engine.ApplyTorque(i, torque)
}

// ApplyForceToCenter adds a force in newtons at the centre of
// mass of b during the next Step, and wakes it. It has no effect on a body that
// is not dynamic. Errors are as for ApplyForce.
func (w *World) ApplyForceToCenter(b Body, force [2]float32) error {
	i, err := w.mutableRow(b)
	if err != nil {
		return err
	}
	if err := check.Vector("physics: ApplyForceToCenter: force", force[:]); err != nil {
		return err
	}
	return w.engine.ApplyForceToCenter(i, force)
}

// SetVelocity replaces the velocity of b: linear in m/s, angular in rad/s.
// Errors: ErrStale, ErrNotFinite, and ErrRange for a non-zero velocity of a static or disabled
// body, and for a velocity of 2^63 or more.
func (w *World) SetVelocity(b Body, linear [2]float32, angular float32) error {
	i, err := w.mutableRow(b)
	if err != nil {
		return err
	}
	const linearField, angularField = "physics: SetVelocity: linear", "physics: SetVelocity: angular"
	if err := check.Vector(linearField, linear[:]); err != nil {
		return err
	}
	if err := check.Finite(angularField, angular); err != nil {
		return err
	}
	if err := checkStaticVelocity(linearField, angularField, w.cols.Type[i], linear, angular); err != nil {
		return err
	}
	if w.cols.Flags[i]&FlagDisabled != 0 && (linear != [2]float32{} || angular != 0) {
		return check.Because(fault.Field(ErrRange, linearField, linear), "a disabled body has no velocity")
	}
	return w.engine.SetVelocity(i, linear, angular)
}

// SetTargetTransform gives b the velocity with which it arrives at position, in metres, with
// angle, in radians, after a Step of dt seconds. This is the way to move a kinematic body, which
// then pushes the bodies in its way. It turns by the smaller angle. Errors are those of
// SetVelocity and SetTransform, and ErrRange if dt is not positive.
func (w *World) SetTargetTransform(b Body, position [2]float32, angle, dt float32) error {
	i, err := w.mutableRow(b)
	if err != nil {
		return err
	}
	if err := check.Vector("physics: SetTargetTransform: position", position[:]); err != nil {
		return err
	}
	if err := check.Finite("physics: SetTargetTransform: angle", angle); err != nil {
		return err
	}
	if err := w.checkStep("physics: SetTargetTransform: dt", dt); err != nil {
		return err
	}
	if err := w.engine.require(); err != nil {
		return err
	}
	linear, angular, err := w.solver.velocityTo(i, position, angle, dt)
	if err != nil {
		return err
	}
	return w.SetVelocity(b, linear, angular)
}

// SetGravity replaces the gravity of the world, in m/s² along the axes of the plane.
// ErrNotFinite.
func (w *World) SetGravity(gravity [2]float32) error {
	if w.failed != nil {
		return w.failed
	}
	err := check.Vector("physics: SetGravity: gravity", gravity[:])
	if err == nil {
		err = w.engine.SetGravity(gravity)
	}
	if err == nil {
		w.config.Gravity = gravity
	}
	return err
}

// SetTransform teleports b, whatever its type: position of its origin in
// metres, angle in radians. The velocity stays. It wakes b and the bodies that touch it. Errors: ErrStale, ErrNotFinite.
func (w *World) SetTransform(b Body, position [2]float32, angle float32) error {
	i, err := w.mutableRow(b)
	if err != nil {
		return err
	}
	if err := check.Vector("physics: SetTransform: position", position[:]); err != nil {
		return err
	}
	if err := check.Finite("physics: SetTransform: angle", angle); err != nil {
		return err
	}
	err = w.engine.SetTransform(i, position, angle)
	if err == nil {
		w.markTeleported(i)
	}
	return err
}

// Position returns the origin of b in metres, along the axes of the plane.
func (w *World) Position(b Body) ([2]float32, error) {
	i, err := w.row(b)
	if err != nil {
		return [2]float32{}, err
	}
	return [2]float32{w.cols.X[i], w.cols.Y[i]}, nil
}

// Angle returns the angle of b in radians, in [-π, π].
func (w *World) Angle(b Body) (float32, error) {
	i, err := w.row(b)
	if err != nil {
		return 0, err
	}
	return w.cols.Angle[i], nil
}

// Velocity returns the velocity of the centre of mass of b in m/s and its
// angular velocity in rad/s.
func (w *World) Velocity(b Body) (linear [2]float32, angular float32, err error) {
	i, err := w.row(b)
	if err != nil {
		return [2]float32{}, 0, err
	}
	return [2]float32{w.cols.VX[i], w.cols.VY[i]}, w.cols.W[i], nil
}

// WorldCenter returns the centre of mass of b in world coordinates, in metres. Errors:
// ErrStale, and ErrUnsupported from another engine.
func (w *World) WorldCenter(b Body) ([2]float32, error) {
	i, err := w.solverRow(b)
	if err != nil {
		return [2]float32{}, err
	}
	return w.solver.centreOfMass(i), nil
}

// MassData returns the mass, the inertia and the centre of mass of b; zeros if it is not dynamic.
// The inertia is zero if the body cannot turn. Errors: ErrStale, and ErrUnsupported from
// another engine.
func (w *World) MassData(b Body) (MassData, error) {
	i, err := w.solverRow(b)
	if err != nil {
		return MassData{}, err
	}
	return w.solver.computeMass(i, w.solver.bodyShapes(i)), nil
}

// SetType makes b static, kinematic or dynamic. A body that becomes static comes to rest.
// Errors: ErrStale; ErrRange for an unknown type and as when a shape is created; and
// ErrUnsupported from another engine.
func (w *World) SetType(b Body, t BodyType) error {
	i, err := w.solverRow(b)
	if err != nil {
		return err
	}
	if err := checkBodyType("physics: SetType: type", t); err != nil {
		return err
	}
	return w.solver.setType(i, t)
}

// EnableSleep lets b fall asleep, or keeps it awake even when it is at rest, like BodyDef.DisableSleep; then it also wakes b.
// Errors: ErrStale, and ErrUnsupported from another engine.
func (w *World) EnableSleep(b Body, on bool) error {
	i, err := w.solverRow(b)
	if err != nil {
		return err
	}
	w.cols.Flags[i] &^= FlagDisableSleep
	if !on {
		w.cols.Flags[i] |= FlagDisableSleep
		w.solver.sleep.Wake(i)
	}
	return nil
}

// SetBullet makes b a bullet, or an ordinary body: see BodyDef.Bullet. Errors: ErrStale, and
// ErrUnsupported from another engine.
func (w *World) SetBullet(b Body, bullet bool) error {
	i, err := w.solverRow(b)
	if err != nil {
		return err
	}
	w.cols.Flags[i] &^= FlagBullet
	if bullet {
		w.cols.Flags[i] |= FlagBullet
	}
	return nil
}
