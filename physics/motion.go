package physics

// ApplyLinearImpulse changes the velocity of b at once, and wakes it. impulse
// is in N·s; point, where it acts, in world coordinates. It has no effect on a
// body that is not dynamic. Errors: ErrStale, ErrNotFinite, and ErrRange if the
// velocity would overflow.
func (w *World) ApplyLinearImpulse(b Body, impulse, point [2]float32) error {
	i, err := w.mutable(b)
	if err != nil {
		return err
	}
	if err := checkFinite2("physics: ApplyLinearImpulse: impulse", impulse); err != nil {
		return err
	}
	if err := checkFinite2("physics: ApplyLinearImpulse: point", point); err != nil {
		return err
	}
	return w.engine.ApplyLinearImpulse(i, impulse, point)
}

// ApplyLinearImpulseToCenter is ApplyLinearImpulse at the centre of mass: it
// does not turn the body.
func (w *World) ApplyLinearImpulseToCenter(b Body, impulse [2]float32) error {
	i, err := w.mutable(b)
	if err != nil {
		return err
	}
	if err := checkFinite2("physics: ApplyLinearImpulseToCenter: impulse", impulse); err != nil {
		return err
	}
	return w.engine.ApplyLinearImpulseToCenter(i, impulse)
}

// ApplyForceToCenter adds force, in newtons, to what acts on the centre of
// mass of b during the next Step, and wakes it. It has no effect on a body that
// is not dynamic. Errors: ErrStale, ErrNotFinite.
func (w *World) ApplyForceToCenter(b Body, force [2]float32) error {
	i, err := w.mutable(b)
	if err != nil {
		return err
	}
	if err := checkFinite2("physics: ApplyForceToCenter: force", force); err != nil {
		return err
	}
	return w.engine.ApplyForceToCenter(i, force)
}

// SetVelocity replaces the velocity of b: linear in m/s, angular in rad/s.
// Errors: ErrStale, ErrNotFinite, and ErrRange for a static body with another
// velocity than zero.
func (w *World) SetVelocity(b Body, linear [2]float32, angular float32) error {
	i, err := w.mutable(b)
	if err != nil {
		return err
	}
	const linearField, angularField = "physics: SetVelocity: linear", "physics: SetVelocity: angular"
	if err := checkFinite2(linearField, linear); err != nil {
		return err
	}
	if err := checkFinite(angularField, angular); err != nil {
		return err
	}
	if err := checkStaticVelocity(linearField, angularField, w.cols.Type[i], linear, angular); err != nil {
		return err
	}
	return w.engine.SetVelocity(i, linear, angular)
}

// SetTransform teleports b, whatever its type: position of its origin in
// metres, angle in radians. The velocity stays; b and the bodies that touch it
// are woken. Errors: ErrStale, ErrNotFinite.
func (w *World) SetTransform(b Body, position [2]float32, angle float32) error {
	i, err := w.mutable(b)
	if err != nil {
		return err
	}
	if err := checkFinite2("physics: SetTransform: position", position); err != nil {
		return err
	}
	if err := checkFinite("physics: SetTransform: angle", angle); err != nil {
		return err
	}
	return w.engine.SetTransform(i, position, angle)
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
