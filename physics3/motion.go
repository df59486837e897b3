package physics3

import (
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/rigid3"
)

// ApplyLinearImpulse changes the velocity of b at once, and wakes it. impulse is in N·s; point, where it acts, in world coordinates. It
// has no effect on a body that is not dynamic. Errors: ErrStale, ErrNotFinite, and ErrRange if the velocity would overflow.
func (w *World) ApplyLinearImpulse(b Body, impulse, point [3]float32) error {
	i, err := w.row(b)
	if err == nil {
		err = checkVector("physics3: ApplyLinearImpulse: impulse", impulse)
	}
	if err == nil {
		err = checkVector("physics3: ApplyLinearImpulse: point", point)
	}
	if err != nil {
		return err
	}
	s, j := w.solver, vecOf(impulse)
	if !s.applyImpulse(i, j, s.leverArm(i, point).Cross(j)) {
		return check.Overflow("physics3: ApplyLinearImpulse: impulse", impulse)
	}
	return nil
}

// ApplyLinearImpulseToCenter is ApplyLinearImpulse at the centre of mass: it does not turn the body.
func (w *World) ApplyLinearImpulseToCenter(b Body, impulse [3]float32) error {
	i, err := w.row(b)
	if err == nil {
		err = checkVector("physics3: ApplyLinearImpulseToCenter: impulse", impulse)
	}
	if err != nil {
		return err
	}
	if !w.solver.applyImpulse(i, vecOf(impulse), rigid3.Vec{}) {
		return check.Overflow("physics3: ApplyLinearImpulseToCenter: impulse", impulse)
	}
	return nil
}

// ApplyAngularImpulse changes the angular velocity of b at once, and wakes it. impulse is in N·m·s, about the axes of the world. Effect and
// errors are as for ApplyLinearImpulse.
func (w *World) ApplyAngularImpulse(b Body, impulse [3]float32) error {
	i, err := w.row(b)
	if err == nil {
		err = checkVector("physics3: ApplyAngularImpulse: impulse", impulse)
	}
	if err != nil {
		return err
	}
	if !w.solver.applyImpulse(i, rigid3.Vec{}, vecOf(impulse)) {
		return check.Overflow("physics3: ApplyAngularImpulse: impulse", impulse)
	}
	return nil
}

// ApplyForce adds a force in newtons, at a point in world coordinates, to the forces that act on b during the next Step, and wakes it. It
// has no effect on a body that is not dynamic. Errors: ErrStale, ErrNotFinite, and ErrRange if the sum would overflow.
func (w *World) ApplyForce(b Body, force, point [3]float32) error {
	i, err := w.row(b)
	if err == nil {
		err = checkVector("physics3: ApplyForce: force", force)
	}
	if err == nil {
		err = checkVector("physics3: ApplyForce: point", point)
	}
	if err != nil {
		return err
	}
	s, f := w.solver, vecOf(force)
	if !s.applyForce(i, f, s.leverArm(i, point).Cross(f)) {
		return check.Overflow("physics3: ApplyForce: force", force)
	}
	return nil
}

// ApplyForceToCenter adds a force in newtons at the centre of mass of b during the next Step, and wakes it. Errors are as for ApplyForce.
func (w *World) ApplyForceToCenter(b Body, force [3]float32) error {
	i, err := w.row(b)
	if err == nil {
		err = checkVector("physics3: ApplyForceToCenter: force", force)
	}
	if err != nil {
		return err
	}
	if !w.solver.applyForce(i, vecOf(force), rigid3.Vec{}) {
		return check.Overflow("physics3: ApplyForceToCenter: force", force)
	}
	return nil
}

// ApplyTorque adds a torque in N·m, about the axes of the world, to that which acts on b during the next Step, and wakes it. Effect and
// errors are as for ApplyForce.
func (w *World) ApplyTorque(b Body, torque [3]float32) error {
	i, err := w.row(b)
	if err == nil {
		err = checkVector("physics3: ApplyTorque: torque", torque)
	}
	if err != nil {
		return err
	}
	if !w.solver.applyForce(i, rigid3.Vec{}, vecOf(torque)) {
		return check.Overflow("physics3: ApplyTorque: torque", torque)
	}
	return nil
}

// SetVelocity replaces the velocity of b: linear in m/s, angular in rad/s about the axes of the world. Errors: ErrStale, ErrNotFinite, and
// ErrRange for a non-zero velocity of a static or disabled body, and for a velocity of 2^63 or more.
func (w *World) SetVelocity(b Body, linear, angular [3]float32) error {
	i, err := w.row(b)
	if err == nil {
		err = w.checkVelocity(i, "physics3: SetVelocity", linear, angular)
	}
	if err != nil {
		return err
	}
	w.solver.setVelocity(i, vecOf(linear), vecOf(angular))
	return nil
}

func (w *World) checkVelocity(i int, method string, linear, angular [3]float32) error {
	linearField, angularField := method+": linear", method+": angular"
	if err := checkPlace(linearField, linear); err != nil {
		return err
	}
	if err := checkPlace(angularField, angular); err != nil {
		return err
	}
	if err := checkStaticVelocity(linearField, angularField, w.cols.Type[i], linear, angular); err != nil {
		return err
	}
	if w.cols.Flags[i]&FlagDisabled != 0 && (linear != [3]float32{} || angular != [3]float32{}) {
		return check.Because(fault.Field(ErrRange, linearField, linear), "a disabled body has no velocity")
	}
	return nil
}

// SetTargetTransform gives b the velocity with which it arrives at position, in metres, with rotation, after a Step of dt seconds. This is
// the way to move a kinematic body, which then pushes the bodies in its way. It turns by the smaller angle, at most about half a turn.
// Errors are those of SetVelocity and SetTransform, and ErrRange if dt is not positive.
func (w *World) SetTargetTransform(b Body, position [3]float32, rotation [4]float32, dt float32) error {
	i, err := w.row(b)
	if err == nil {
		err = checkPlace("physics3: SetTargetTransform: position", position)
	}
	if err == nil {
		err = checkRotation("physics3: SetTargetTransform: rotation", rotation)
	}
	if err == nil {
		err = checkStep("physics3: SetTargetTransform: dt", dt)
	}
	if err != nil {
		return err
	}
	linear, angular := w.solver.velocityTo(i, vecOf(position), unitRotation(rotation), dt)
	return w.SetVelocity(b, arrayOf(linear), arrayOf(angular))
}

// SetGravity replaces the gravity of the world, in m/s². Errors: ErrNotFinite, and ErrRange for 2^63 or more.
func (w *World) SetGravity(gravity [3]float32) error {
	if err := checkPlace("physics3: SetGravity: gravity", gravity); err != nil {
		return err
	}
	s := w.solver
	if vecOf(gravity) != s.sys.Gravity {
		s.sleep.WakeAll()
	}
	s.sys.Gravity, w.config.Gravity = vecOf(gravity), gravity
	return nil
}

// SetTransform teleports b, whatever its type: position of its origin in metres, and a rotation of any length above zero, which it
// normalizes. The velocity stays. It wakes b and the bodies that touch it. Errors: ErrStale, ErrNotFinite, and ErrRange for a position of
// 2^63 or more and for a rotation of length zero.
func (w *World) SetTransform(b Body, position [3]float32, rotation [4]float32) error {
	i, err := w.row(b)
	if err == nil {
		err = checkPlace("physics3: SetTransform: position", position)
	}
	if err == nil {
		err = checkRotation("physics3: SetTransform: rotation", rotation)
	}
	if err != nil {
		return err
	}
	w.solver.setTransform(i, vecOf(position), unitRotation(rotation))
	w.markTeleported(i)
	return nil
}

// Position returns the origin of b in metres.
func (w *World) Position(b Body) ([3]float32, error) {
	i, err := w.row(b)
	if err != nil {
		return [3]float32{}, err
	}
	return arrayOf(w.solver.position(i)), nil
}

// Rotation returns the rotation of b as a unit quaternion x, y, z, w.
func (w *World) Rotation(b Body) ([4]float32, error) {
	i, err := w.row(b)
	if err != nil {
		return [4]float32{}, err
	}
	q := w.solver.rotation(i)
	return [4]float32{q.X, q.Y, q.Z, q.W}, nil
}

// Velocity returns the velocity of the centre of mass of b in m/s and its angular velocity in rad/s.
func (w *World) Velocity(b Body) (linear, angular [3]float32, err error) {
	i, err := w.row(b)
	if err != nil {
		return [3]float32{}, [3]float32{}, err
	}
	return arrayOf(w.solver.linearVelocity(i)), arrayOf(w.solver.angularVelocity(i)), nil
}

// WorldCenter returns the centre of mass of b in world coordinates, in metres. ErrStale if b is destroyed.
func (w *World) WorldCenter(b Body) ([3]float32, error) {
	i, err := w.row(b)
	if err != nil {
		return [3]float32{}, err
	}
	return arrayOf(w.solver.pose(i).P), nil
}

// SetType makes b static, kinematic or dynamic. A body that becomes static comes to rest. Errors: ErrStale; ErrRange for an unknown
// type and as when a shape is created; and ErrUnsupported for a body with a mesh that would become dynamic.
func (w *World) SetType(b Body, t BodyType) error {
	i, err := w.row(b)
	if err == nil {
		err = checkBodyType("physics3: SetType: type", t)
	}
	if err != nil {
		return err
	}
	return w.solver.setType(i, t)
}

// EnableSleep lets b fall asleep, or keeps it awake even when it is at rest, like BodyDef.DisableSleep; then it also wakes b. ErrStale if b
// is destroyed.
func (w *World) EnableSleep(b Body, on bool) error {
	i, err := w.row(b)
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

// SetBullet makes b a bullet, or an ordinary body: see BodyDef.Bullet. ErrStale if b is destroyed.
func (w *World) SetBullet(b Body, bullet bool) error {
	i, err := w.row(b)
	if err != nil {
		return err
	}
	w.cols.Flags[i] &^= FlagBullet
	if bullet {
		w.cols.Flags[i] |= FlagBullet
	}
	return nil
}

// MotionLocks are the directions in which a body does not move: axes of the world.
type MotionLocks struct {
	X, Y, Z                         bool
	RotationX, RotationY, RotationZ bool
	// Rotation is BodyDef.FixedRotation.
	Rotation bool
}

// MotionLocks returns the locks of b. ErrStale if b is destroyed.
func (w *World) MotionLocks(b Body) (MotionLocks, error) {
	i, err := w.row(b)
	if err != nil {
		return MotionLocks{}, err
	}
	l := w.cols.Locks[i]
	return MotionLocks{
		l&LockX != 0, l&LockY != 0, l&LockZ != 0, l&LockRotationX != 0, l&LockRotationY != 0, l&LockRotationZ != 0,
		w.cols.Flags[i]&FlagFixedRotation != 0,
	}, nil
}

// SetMotionLocks replaces the locks and FixedRotation of b. Locked motion stops in the next step. Errors: ErrStale, and ErrRange as when a
// shape is created.
func (w *World) SetMotionLocks(b Body, l MotionLocks) error {
	i, err := w.row(b)
	if err != nil {
		return err
	}
	s, flags := w.solver, &w.cols.Flags[i]
	before := *flags
	*flags &^= FlagFixedRotation
	if l.Rotation {
		*flags |= FlagFixedRotation
	}
	if err := s.updateMass(i, s.bodyShapes(i)); err != nil {
		*flags = before
		return err
	}
	w.cols.Locks[i] = bits(l.X, l.Y, l.Z, l.RotationX, l.RotationY, l.RotationZ)
	if l.Rotation {
		s.putVelocity(i, s.linearVelocity(i), rigid3.Vec{})
	}
	s.sleep.WakeWithNeighbours(i)
	return nil
}
