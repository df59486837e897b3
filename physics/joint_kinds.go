package physics

// The methods of World that create a joint of each kind, and return and replace its definition.

// CreateDistanceJoint makes a joint of this kind. Errors: ErrStale for bodies that are gone, those
// of DistanceJointDef.Validate, ErrCapacity, and ErrUnsupported from another engine.
func (w *World) CreateDistanceJoint(def DistanceJointDef) (Joint, error) {
	return w.createJoint(def.fields())
}

// DistanceJointDef returns the present definition of j. Errors: ErrStale, and ErrUnsupported
// for a joint of another kind.
func (w *World) DistanceJointDef(j Joint) (def DistanceJointDef, err error) {
	err = w.jointDef(j, def.fields())
	return def, err
}

// SetDistanceJointDef replaces the definition of j from the next step on, except for its bodies: it ignores those of
// def. Errors: ErrStale, ErrUnsupported for a joint of another kind, and those of DistanceJointDef.Validate.
func (w *World) SetDistanceJointDef(j Joint, def DistanceJointDef) error {
	return w.setJoint(j, def.fields())
}

// CreateRevoluteJoint is like CreateDistanceJoint.
func (w *World) CreateRevoluteJoint(def RevoluteJointDef) (Joint, error) {
	return w.createJoint(def.fields())
}

// RevoluteJointDef is like World.DistanceJointDef.
func (w *World) RevoluteJointDef(j Joint) (def RevoluteJointDef, err error) {
	err = w.jointDef(j, def.fields())
	return def, err
}

// SetRevoluteJointDef is like SetDistanceJointDef.
func (w *World) SetRevoluteJointDef(j Joint, def RevoluteJointDef) error {
	return w.setJoint(j, def.fields())
}

// CreatePrismaticJoint is like CreateDistanceJoint.
func (w *World) CreatePrismaticJoint(def PrismaticJointDef) (Joint, error) {
	return w.createJoint(def.fields())
}

// PrismaticJointDef is like World.DistanceJointDef.
func (w *World) PrismaticJointDef(j Joint) (def PrismaticJointDef, err error) {
	err = w.jointDef(j, def.fields())
	return def, err
}

// SetPrismaticJointDef is like SetDistanceJointDef.
func (w *World) SetPrismaticJointDef(j Joint, def PrismaticJointDef) error {
	return w.setJoint(j, def.fields())
}

// CreateWeldJoint is like CreateDistanceJoint.
func (w *World) CreateWeldJoint(def WeldJointDef) (Joint, error) { return w.createJoint(def.fields()) }

// WeldJointDef is like World.DistanceJointDef.
func (w *World) WeldJointDef(j Joint) (def WeldJointDef, err error) {
	err = w.jointDef(j, def.fields())
	return def, err
}

// SetWeldJointDef is like SetDistanceJointDef.
func (w *World) SetWeldJointDef(j Joint, def WeldJointDef) error { return w.setJoint(j, def.fields()) }

// CreateWheelJoint is like CreateDistanceJoint.
func (w *World) CreateWheelJoint(def WheelJointDef) (Joint, error) {
	return w.createJoint(def.fields())
}

// WheelJointDef is like World.DistanceJointDef.
func (w *World) WheelJointDef(j Joint) (def WheelJointDef, err error) {
	err = w.jointDef(j, def.fields())
	return def, err
}

// SetWheelJointDef is like SetDistanceJointDef.
func (w *World) SetWheelJointDef(j Joint, def WheelJointDef) error {
	return w.setJoint(j, def.fields())
}

// CreateMotorJoint is like CreateDistanceJoint.
func (w *World) CreateMotorJoint(def MotorJointDef) (Joint, error) {
	return w.createJoint(def.fields())
}

// MotorJointDef is like World.DistanceJointDef.
func (w *World) MotorJointDef(j Joint) (def MotorJointDef, err error) {
	err = w.jointDef(j, def.fields())
	return def, err
}

// SetMotorJointDef is like SetDistanceJointDef.
func (w *World) SetMotorJointDef(j Joint, def MotorJointDef) error {
	return w.setJoint(j, def.fields())
}

// CreateMouseJoint is like CreateDistanceJoint.
func (w *World) CreateMouseJoint(def MouseJointDef) (Joint, error) {
	return w.createJoint(def.fields())
}

// MouseJointDef is like World.DistanceJointDef.
func (w *World) MouseJointDef(j Joint) (def MouseJointDef, err error) {
	err = w.jointDef(j, def.fields())
	return def, err
}

// SetMouseJointDef is like SetDistanceJointDef.
func (w *World) SetMouseJointDef(j Joint, def MouseJointDef) error {
	return w.setJoint(j, def.fields())
}

// CreateFilterJoint is like CreateDistanceJoint.
func (w *World) CreateFilterJoint(def FilterJointDef) (Joint, error) {
	return w.createJoint(def.fields())
}

// FilterJointDef is like World.DistanceJointDef.
func (w *World) FilterJointDef(j Joint) (def FilterJointDef, err error) {
	err = w.jointDef(j, def.fields())
	return def, err
}

// SetFilterJointDef is like SetDistanceJointDef.
func (w *World) SetFilterJointDef(j Joint, def FilterJointDef) error {
	return w.setJoint(j, def.fields())
}

// jointDef sets the fields of a definition to those of j.
func (w *World) jointDef(j Joint, to jointFields) error {
	a, b, err := w.JointBodies(j)
	if err != nil {
		return err
	}
	r := &w.solver.joints.rows[j.index]
	if err := r.mustBe(to.kind); err != nil {
		return err
	}
	to.set(r, [2]Body{a, b})
	return nil
}

// setJoint replaces the definition of a joint.
func (w *World) setJoint(j Joint, def jointFields) error {
	r, err := w.jointRow(j)
	if err != nil {
		return err
	}
	to := def.joint().row
	next, err := r.redefined(&to)
	return w.replaceJoint(j, &next, err)
}

// JointDef returns the fields of the present definition of j that all kinds have in common. Errors: ErrStale.
func (w *World) JointDef(j Joint) (JointDef, error) {
	a, b, err := w.JointBodies(j)
	if err != nil {
		return JointDef{}, err
	}
	return w.solver.joints.rows[j.index].def([2]Body{a, b}), nil
}

// SetJointDef replaces these fields of a joint of any kind from the next step on, except for its bodies: it ignores
// those of def. If anything changes, it wakes the bodies. Errors: ErrStale, ErrNotFinite, ErrRange.
func (w *World) SetJointDef(j Joint, def JointDef) error {
	r, err := w.jointRow(j)
	if err != nil {
		return err
	}
	to := def.row()
	next, err := r.redefined(&to)
	return w.replaceJoint(j, &next, err)
}

// SetMotorSpeed changes the speed of the motor of j from the next step on: in m/s for distance and prismatic
// joints, in rad/s for revolute, wheel and motor joints; for motor joints that is AngularVelocity. Errors: ErrStale,
// ErrNotFinite, ErrRange, and ErrUnsupported for other kinds.
func (w *World) SetMotorSpeed(j Joint, speed float32) error {
	r, err := w.jointRow(j)
	if err == nil {
		err = r.setMotorSpeed(speed)
	}
	return w.replaceJoint(j, &r, err)
}

// SetMouseTarget changes the Target of a mouse joint, in metres, from the next step on. Errors: ErrStale,
// ErrNotFinite, ErrRange, and ErrUnsupported for other kinds.
func (w *World) SetMouseTarget(j Joint, target [2]float32) error {
	r, err := w.jointRow(j)
	if err == nil {
		err = r.setTarget(target)
	}
	return w.replaceJoint(j, &r, err)
}

// jointRow returns a copy of the definition of a joint that may be changed now.
func (w *World) jointRow(j Joint) (jointRow, error) {
	if w.failed != nil {
		return jointRow{}, w.failed
	}
	i, err := w.joint(j)
	if err != nil {
		return jointRow{}, err
	}
	return w.solver.joints.rows[i], nil
}

// replaceJoint replaces the definition of a joint unless there is an error, which it returns.
func (w *World) replaceJoint(j Joint, r *jointRow, err error) error {
	if err == nil {
		w.solver.setJoint(int(j.index), r)
	}
	return err
}
