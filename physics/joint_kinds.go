package physics

// The methods of World that create a joint of each kind, and read and replace its definition.

// CreateDistanceJoint makes a joint of this kind. Errors: ErrStale for bodies that are gone, those
// of ValidateJointDef, ErrCapacity, and ErrUnsupported from another engine.
func (w *World) CreateDistanceJoint(def DistanceJointDef) (Joint, error) {
	return w.createJoint(def.fields())
}

// CreateRevoluteJoint is like CreateDistanceJoint.
func (w *World) CreateRevoluteJoint(def RevoluteJointDef) (Joint, error) {
	return w.createJoint(def.fields())
}

// CreatePrismaticJoint is like CreateDistanceJoint.
func (w *World) CreatePrismaticJoint(def PrismaticJointDef) (Joint, error) {
	return w.createJoint(def.fields())
}

// CreateWeldJoint is like CreateDistanceJoint.
func (w *World) CreateWeldJoint(def WeldJointDef) (Joint, error) { return w.createJoint(def.fields()) }

// CreateWheelJoint is like CreateDistanceJoint.
func (w *World) CreateWheelJoint(def WheelJointDef) (Joint, error) {
	return w.createJoint(def.fields())
}

// CreateMotorJoint is like CreateDistanceJoint.
func (w *World) CreateMotorJoint(def MotorJointDef) (Joint, error) {
	return w.createJoint(def.fields())
}

// CreateMouseJoint is like CreateDistanceJoint.
func (w *World) CreateMouseJoint(def MouseJointDef) (Joint, error) {
	return w.createJoint(def.fields())
}

// CreateFilterJoint is like CreateDistanceJoint.
func (w *World) CreateFilterJoint(def FilterJointDef) (Joint, error) {
	return w.createJoint(def.fields())
}

// AnyJointDef is a pointer to the definition of a kind of joint, such as a *RevoluteJointDef, or a *JointDef, which has the fields
// that all kinds have in common.
type AnyJointDef interface {
	// fields returns pointers to the fields.
	fields() jointFields
}

// fieldsOf returns def.fields(). The compiler sees what each of these methods does with its receiver, so a definition need not be
// on the heap.
func fieldsOf(def AnyJointDef) jointFields {
	switch d := def.(type) {
	case *DistanceJointDef:
		return d.fields()
	case *RevoluteJointDef:
		return d.fields()
	case *PrismaticJointDef:
		return d.fields()
	case *WeldJointDef:
		return d.fields()
	case *WheelJointDef:
		return d.fields()
	case *MotorJointDef:
		return d.fields()
	case *MouseJointDef:
		return d.fields()
	case *FilterJointDef:
		return d.fields()
	}
	return def.(*JointDef).fields()
}

// JointDef sets def to the present definition of j. Errors: ErrStale, and ErrUnsupported for a joint of another kind.
func (w *World) JointDef(j Joint, def AnyJointDef) error {
	a, b, err := w.JointBodies(j)
	if err != nil {
		return err
	}
	r, to := &w.solver.joints.rows[j.index], fieldsOf(def)
	if to.kind != 0 {
		if err := r.mustBe(to.kind); err != nil {
			return err
		}
	}
	to.set(r, [2]Body{a, b})
	return nil
}

// SetJointDef replaces the definition of j from the next step on, except for its bodies: it ignores those of def. A *JointDef
// replaces the fields that all kinds have in common, for a joint of any kind. If anything changes, it wakes the bodies. Errors:
// ErrStale, ErrUnsupported for a joint of another kind, and those of ValidateJointDef.
func (w *World) SetJointDef(j Joint, def AnyJointDef) error {
	r, err := w.jointRow(j)
	if err != nil {
		return err
	}
	to := fieldsOf(def).joint().row
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
