package physics

import "github.com/evertick/evertick/internal/fault"

// For each kind of joint the world creates it, and tells and replaces its definition.

// CreateDistanceJoint makes a joint of this kind. Errors: ErrStale for bodies that are gone, those
// of DistanceJointDef.Validate, ErrCapacity, and ErrUnsupported from another engine.
func (w *World) CreateDistanceJoint(def DistanceJointDef) (Joint, error) {
	return w.createJoint(def.row(), def.bodies())
}

// DistanceJointDef returns the definition of j, as it is now. Errors: ErrStale, and ErrUnsupported
// for a joint of another kind.
func (w *World) DistanceJointDef(j Joint) (DistanceJointDef, error) {
	return jointDef(w, j, DistanceJoint, (*jointRow).distance)
}

// SetDistanceJointDef replaces the definition of j from the next step on, but for its bodies: those of
// def are not looked at. Errors: ErrStale, ErrUnsupported for a joint of another kind, and those of
// DistanceJointDef.Validate.
func (w *World) SetDistanceJointDef(j Joint, def DistanceJointDef) error {
	return w.setJoint(j, def.row())
}

// CreateRevoluteJoint is as CreateDistanceJoint.
func (w *World) CreateRevoluteJoint(def RevoluteJointDef) (Joint, error) {
	return w.createJoint(def.row(), def.bodies())
}

// RevoluteJointDef is as World.DistanceJointDef.
func (w *World) RevoluteJointDef(j Joint) (RevoluteJointDef, error) {
	return jointDef(w, j, RevoluteJoint, (*jointRow).revolute)
}

// SetRevoluteJointDef is as SetDistanceJointDef.
func (w *World) SetRevoluteJointDef(j Joint, def RevoluteJointDef) error {
	return w.setJoint(j, def.row())
}

// CreatePrismaticJoint is as CreateDistanceJoint.
func (w *World) CreatePrismaticJoint(def PrismaticJointDef) (Joint, error) {
	return w.createJoint(def.row(), def.bodies())
}

// PrismaticJointDef is as World.DistanceJointDef.
func (w *World) PrismaticJointDef(j Joint) (PrismaticJointDef, error) {
	return jointDef(w, j, PrismaticJoint, (*jointRow).prismatic)
}

// SetPrismaticJointDef is as SetDistanceJointDef.
func (w *World) SetPrismaticJointDef(j Joint, def PrismaticJointDef) error {
	return w.setJoint(j, def.row())
}

// CreateWeldJoint is as CreateDistanceJoint.
func (w *World) CreateWeldJoint(def WeldJointDef) (Joint, error) {
	return w.createJoint(def.row(), def.bodies())
}

// WeldJointDef is as World.DistanceJointDef.
func (w *World) WeldJointDef(j Joint) (WeldJointDef, error) {
	return jointDef(w, j, WeldJoint, (*jointRow).weld)
}

// SetWeldJointDef is as SetDistanceJointDef.
func (w *World) SetWeldJointDef(j Joint, def WeldJointDef) error { return w.setJoint(j, def.row()) }

// CreateWheelJoint is as CreateDistanceJoint.
func (w *World) CreateWheelJoint(def WheelJointDef) (Joint, error) {
	return w.createJoint(def.row(), def.bodies())
}

// WheelJointDef is as World.DistanceJointDef.
func (w *World) WheelJointDef(j Joint) (WheelJointDef, error) {
	return jointDef(w, j, WheelJoint, (*jointRow).wheel)
}

// SetWheelJointDef is as SetDistanceJointDef.
func (w *World) SetWheelJointDef(j Joint, def WheelJointDef) error { return w.setJoint(j, def.row()) }

// CreateMotorJoint is as CreateDistanceJoint.
func (w *World) CreateMotorJoint(def MotorJointDef) (Joint, error) {
	return w.createJoint(def.row(), def.bodies())
}

// MotorJointDef is as World.DistanceJointDef.
func (w *World) MotorJointDef(j Joint) (MotorJointDef, error) {
	return jointDef(w, j, MotorJoint, (*jointRow).motor)
}

// SetMotorJointDef is as SetDistanceJointDef.
func (w *World) SetMotorJointDef(j Joint, def MotorJointDef) error { return w.setJoint(j, def.row()) }

// CreateMouseJoint is as CreateDistanceJoint.
func (w *World) CreateMouseJoint(def MouseJointDef) (Joint, error) {
	return w.createJoint(def.row(), def.bodies())
}

// MouseJointDef is as World.DistanceJointDef.
func (w *World) MouseJointDef(j Joint) (MouseJointDef, error) {
	return jointDef(w, j, MouseJoint, (*jointRow).mouse)
}

// SetMouseJointDef is as SetDistanceJointDef.
func (w *World) SetMouseJointDef(j Joint, def MouseJointDef) error { return w.setJoint(j, def.row()) }

// CreateFilterJoint is as CreateDistanceJoint.
func (w *World) CreateFilterJoint(def FilterJointDef) (Joint, error) {
	return w.createJoint(def.row(), def.bodies())
}

// FilterJointDef is as World.DistanceJointDef.
func (w *World) FilterJointDef(j Joint) (FilterJointDef, error) {
	return jointDef(w, j, FilterJoint, (*jointRow).filter)
}

// SetFilterJointDef is as SetDistanceJointDef.
func (w *World) SetFilterJointDef(j Joint, def FilterJointDef) error { return w.setJoint(j, def.row()) }

func jointDef[D any](w *World, j Joint, kind JointKind, def func(*jointRow, [2]Body) D) (d D, err error) {
	a, b, err := w.JointBodies(j)
	if err != nil {
		return d, err
	}
	r := &w.solver.joints.rows[j.index]
	if err := r.mustBe(kind); err != nil {
		return d, err
	}
	return def(r, [2]Body{a, b}), nil
}

func (r *jointRow) mustBe(kind JointKind) error {
	if JointKind(r.kind) != kind {
		return because(fault.Field(ErrUnsupported, "physics: kind of joint", JointKind(r.kind)), "not "+kind.String())
	}
	return nil
}

// mayBecome is an error unless a joint with one definition can have another one.
func (r *jointRow) mayBecome(other *jointRow) error {
	if err := r.mustBe(JointKind(other.kind)); err != nil {
		return err
	}
	return other.validate(anyTwo)
}

// anyTwo are the bodies of a definition whose bodies are not looked at.
var anyTwo = [2]Body{{0, 1}, {1, 1}}

// SetMotorSpeed changes the speed of the motor of j from the next step on: in m/s of distance and prismatic
// joints, in rad/s of revolute, wheel and motor joints, of these the AngularVelocity. Errors: ErrStale,
// ErrNotFinite, ErrRange, and ErrUnsupported for other kinds.
func (w *World) SetMotorSpeed(j Joint, speed float32) error {
	r, err := w.jointRow(j)
	if err == nil {
		err = r.setSpeed(speed)
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

func (w *World) replaceJoint(j Joint, r *jointRow, err error) error {
	if err == nil {
		w.solver.setJoint(int(j.index), r)
	}
	return err
}

func (r *jointRow) setSpeed(v float32) error {
	speed := r.speed()
	if speed == nil {
		return because(fault.Field(ErrUnsupported, "physics: kind of joint", JointKind(r.kind)), "it has no motor")
	}
	if err := checkNumber("physics: SetMotorSpeed: speed", v); err != nil {
		return err
	}
	*speed = v
	return nil
}

func (r *jointRow) setTarget(v [2]float32) error {
	if err := r.mustBe(MouseJoint); err != nil {
		return err
	}
	if err := checkTarget("physics: SetMouseTarget: target", v); err != nil {
		return err
	}
	r.numbers[0], r.numbers[1] = v[0], v[1]
	return nil
}
