package physics

import (
	"errors"
	"math"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/joint"
	"github.com/evertick/evertick/internal/rigid"
)

// jointRow is a definition of any kind of joint, without its bodies. It consists of 32-bit
// words, so that a snapshot holds rows as they are.
type jointRow struct {
	kind, flags             uint32 // a JointKind; jointSpring and so on
	frameA, frameB          JointFrame
	breakForce, breakTorque float32
	numbers                 [jointNumbers]float32 // the fields of the kind, as jointKinds lists them

	forceThreshold, torqueThreshold, hertz, damping float32
}

const (
	jointNumbers = 11
	jointWords   = 2 + 3 + 3 + 2 + jointNumbers + 4

	// firstJointWords is the number of words that World.Hash includes of all joints. The rest, which is usually
	// zero, is a column of its own, in worlds where it is not zero.
	firstJointWords = 2 + 3 + 3 + 2 + 9
)

// Flags of a jointRow.
const (
	jointSpring = 1 << iota
	jointLimit
	jointMotor
	jointCollides
)

func (r *jointRow) has(flag uint32) bool { return r.flags&flag != 0 }

// jointKinds lists the fields of each kind beside those of JointDef, in the order of a jointRow.
var jointKinds = [FilterJoint + 1]struct {
	name    string
	flags   uint32
	speed   int // number that is the speed of the motor; 0: no motor
	numbers []joint.Number
}{
	DistanceJoint: {"DistanceJointDef", jointSpring | jointLimit | jointMotor, 7, []joint.Number{
		joint.NonNegative("Length"), joint.Coefficient("Hertz"), joint.Coefficient("Damping"), joint.NonNegative("MaxSpringForce"),
		joint.NonNegative("MinLength"), joint.UpperLimit("MaxLength"), joint.NonNegative("MaxMotorForce"), joint.Unbounded("MotorSpeed"),
		joint.Unbounded("LowerSpringForce"), joint.UpperLimit("UpperSpringForce")}},
	RevoluteJoint: {"RevoluteJointDef", jointSpring | jointLimit | jointMotor, 6, []joint.Number{
		joint.Coefficient("Hertz"), joint.Coefficient("Damping"), joint.Within("TargetAngle", -math.Pi, math.Pi),
		joint.Within("LowerAngle", -math.Pi, math.Pi), joint.UpperWithin("UpperAngle", -math.Pi, math.Pi),
		joint.NonNegative("MaxMotorTorque"), joint.Unbounded("MotorSpeed")}},
	PrismaticJoint: {"PrismaticJointDef", jointSpring | jointLimit | jointMotor, 6, []joint.Number{
		joint.Coefficient("Hertz"), joint.Coefficient("Damping"), joint.Unbounded("TargetTranslation"),
		joint.Unbounded("LowerTranslation"), joint.UpperLimit("UpperTranslation"), joint.NonNegative("MaxMotorForce"), joint.Unbounded("MotorSpeed")}},
	WeldJoint: {"WeldJointDef", 0, 0, []joint.Number{
		joint.Coefficient("LinearHertz"), joint.Coefficient("LinearDamping"), joint.Coefficient("AngularHertz"), joint.Coefficient("AngularDamping")}},
	WheelJoint: {"WheelJointDef", jointSpring | jointLimit | jointMotor, 5, []joint.Number{
		joint.Coefficient("Hertz"), joint.Coefficient("Damping"), joint.Unbounded("LowerTranslation"), joint.UpperLimit("UpperTranslation"),
		joint.NonNegative("MaxMotorTorque"), joint.Unbounded("MotorSpeed")}},
	MotorJoint: {"MotorJointDef", 0, 7, []joint.Number{
		joint.Coefficient("LinearHertz"), joint.Coefficient("LinearDamping"), joint.NonNegative("MaxSpringForce"),
		joint.Coefficient("AngularHertz"), joint.Coefficient("AngularDamping"), joint.NonNegative("MaxSpringTorque"),
		joint.NonNegative("MaxVelocityForce"), joint.Unbounded("AngularVelocity"), joint.NonNegative("MaxVelocityTorque"),
		joint.Unbounded("LinearVelocity[0]"), joint.Unbounded("LinearVelocity[1]")}},
	MouseJoint: {"MouseJointDef", 0, 0, []joint.Number{
		joint.Unbounded("Target[0]"), joint.Unbounded("Target[1]"), joint.Coefficient("Hertz"), joint.Coefficient("Damping"), joint.NonNegative("MaxForce")}},
	FilterJoint: {"FilterJointDef", 0, 0, nil},
}

// jointFields points to the fields of a definition: the ones that all kinds have, and the ones in jointKinds. Without a kind
// there are only the common ones.
type jointFields struct {
	kind    JointKind
	common  *JointDef
	flags   [3]*bool // spring, limit and motor, or nil
	numbers [jointNumbers]*float32
}

func (d *JointDef) fields() jointFields { return jointFields{common: d} }

func (d *DistanceJointDef) fields() jointFields {
	return jointFields{DistanceJoint, &d.JointDef, [3]*bool{&d.EnableSpring, &d.EnableLimit, &d.EnableMotor},
		[jointNumbers]*float32{&d.Length, &d.Hertz, &d.Damping, &d.MaxSpringForce,
			&d.MinLength, &d.MaxLength, &d.MaxMotorForce, &d.MotorSpeed, &d.LowerSpringForce, &d.UpperSpringForce}}
}

func (d *RevoluteJointDef) fields() jointFields {
	return jointFields{RevoluteJoint, &d.JointDef, [3]*bool{&d.EnableSpring, &d.EnableLimit, &d.EnableMotor},
		[jointNumbers]*float32{&d.Hertz, &d.Damping, &d.TargetAngle,
			&d.LowerAngle, &d.UpperAngle, &d.MaxMotorTorque, &d.MotorSpeed}}
}

func (d *PrismaticJointDef) fields() jointFields {
	return jointFields{PrismaticJoint, &d.JointDef, [3]*bool{&d.EnableSpring, &d.EnableLimit, &d.EnableMotor},
		[jointNumbers]*float32{&d.Hertz, &d.Damping, &d.TargetTranslation,
			&d.LowerTranslation, &d.UpperTranslation, &d.MaxMotorForce, &d.MotorSpeed}}
}

func (d *WeldJointDef) fields() jointFields {
	return jointFields{kind: WeldJoint, common: &d.JointDef,
		numbers: [jointNumbers]*float32{&d.LinearHertz, &d.LinearDamping, &d.AngularHertz, &d.AngularDamping}}
}

func (d *WheelJointDef) fields() jointFields {
	return jointFields{WheelJoint, &d.JointDef, [3]*bool{&d.EnableSpring, &d.EnableLimit, &d.EnableMotor},
		[jointNumbers]*float32{&d.Hertz, &d.Damping,
			&d.LowerTranslation, &d.UpperTranslation, &d.MaxMotorTorque, &d.MotorSpeed}}
}

func (d *MotorJointDef) fields() jointFields {
	return jointFields{kind: MotorJoint, common: &d.JointDef,
		numbers: [jointNumbers]*float32{&d.LinearHertz, &d.LinearDamping, &d.MaxSpringForce,
			&d.AngularHertz, &d.AngularDamping, &d.MaxSpringTorque,
			&d.MaxVelocityForce, &d.AngularVelocity, &d.MaxVelocityTorque, &d.LinearVelocity[0], &d.LinearVelocity[1]}}
}

func (d *MouseJointDef) fields() jointFields {
	return jointFields{kind: MouseJoint, common: &d.JointDef,
		numbers: [jointNumbers]*float32{&d.Target[0], &d.Target[1], &d.Hertz, &d.Damping, &d.MaxForce}}
}

func (d *FilterJointDef) fields() jointFields {
	return jointFields{kind: FilterJoint, common: &d.JointDef}
}

// newJoint is a joint to create.
type newJoint struct {
	row    jointRow
	bodies [2]Body
}

// joint reads the fields.
func (f jointFields) joint() newJoint {
	d := f.common
	r := d.row()
	r.kind = uint32(f.kind)
	for i, set := range f.flags {
		if set != nil && *set {
			r.flags |= 1 << i
		}
	}
	for i, v := range f.numbers {
		if v != nil {
			r.numbers[i] = *v
		}
	}
	return newJoint{r, [2]Body{d.BodyA, d.BodyB}}
}

// row returns a definition of no kind, with the fields that all kinds have in common.
func (d *JointDef) row() jointRow {
	r := jointRow{frameA: d.FrameA, frameB: d.FrameB, breakForce: d.BreakForce, breakTorque: d.BreakTorque,
		forceThreshold: d.ForceThreshold, torqueThreshold: d.TorqueThreshold, hertz: d.ConstraintHertz, damping: d.ConstraintDamping}
	if d.CollideConnected {
		r.flags = jointCollides
	}
	return r
}

// def is the inverse of row.
func (r *jointRow) def(bodies [2]Body) JointDef {
	return JointDef{
		BodyA: bodies[0], BodyB: bodies[1], FrameA: r.frameA, FrameB: r.frameB,
		CollideConnected: r.has(jointCollides), BreakForce: r.breakForce, BreakTorque: r.breakTorque,
		ForceThreshold: r.forceThreshold, TorqueThreshold: r.torqueThreshold, ConstraintHertz: r.hertz, ConstraintDamping: r.damping,
	}
}

// set writes the fields.
func (f jointFields) set(r *jointRow, bodies [2]Body) {
	*f.common = r.def(bodies)
	for i, set := range f.flags {
		if set != nil {
			*set = r.has(1 << i)
		}
	}
	for i, v := range f.numbers {
		if v != nil {
			*v = r.numbers[i]
		}
	}
}

// ValidateJointDef reports every fault of a definition at once. Errors wrap ErrNotFinite or ErrRange. It does not check
// whether the bodies live: only a world knows.
func ValidateJointDef(def AnyJointDef) error {
	n := fieldsOf(def).joint()
	if n.row.kind == 0 { // the common fields alone, as the kind without others has them
		n.row.kind = uint32(FilterJoint)
	}
	return n.validate()
}

func (n newJoint) validate() error {
	var same error
	if n.bodies[0] == n.bodies[1] {
		same = check.Because(fault.Field(ErrRange, "physics: JointDef.BodyB", n.bodies[1]), "equals BodyA")
	}
	return errors.Join(same, n.row.validate())
}

func (r *jointRow) validate() error {
	if r.kind == 0 || r.kind > uint32(FilterJoint) {
		return fault.Field(ErrRange, "physics: kind of joint", r.kind)
	}
	err := errors.Join(
		r.frameA.validate("physics: JointDef.FrameA.Point", "physics: JointDef.FrameA.Angle"),
		r.frameB.validate("physics: JointDef.FrameB.Point", "physics: JointDef.FrameB.Angle"),
		check.Magnitude("physics: JointDef.BreakForce", r.breakForce),
		check.Magnitude("physics: JointDef.BreakTorque", r.breakTorque),
		check.Magnitude("physics: JointDef.ForceThreshold", r.forceThreshold),
		check.Magnitude("physics: JointDef.TorqueThreshold", r.torqueThreshold),
		check.Coefficient("physics: JointDef.ConstraintHertz", r.hertz),
		check.Coefficient("physics: JointDef.ConstraintDamping", r.damping),
	)
	kind := &jointKinds[r.kind]
	for i := range kind.numbers {
		err = errors.Join(err, joint.Check("physics: "+kind.name+".", kind.numbers, r.numbers[:], i))
	}
	if JointKind(r.kind) == MotorJoint && r.numbers[2] > 0 && r.numbers[6] > 0 {
		err = errors.Join(err,
			check.Because(fault.Field(ErrRange, "physics: MotorJointDef.MaxVelocityForce", r.numbers[6]), "MaxSpringForce is set"))
	}
	return err
}

func (f *JointFrame) validate(pointField, angleField string) error {
	return errors.Join(checkPoint(pointField, f.Point), check.Finite(angleField, f.Angle), checkAngle(angleField, f.Angle))
}

func checkPoint(field string, p [2]float32) error {
	if err := check.Vector(field, p[:]); err != nil {
		return err
	}
	for i, v := range p {
		if v > rigid.MaxCoordinate || v < -rigid.MaxCoordinate {
			return fault.Element(ErrRange, field, i, v)
		}
	}
	return nil
}

// redefined returns the definition that a joint with definition r gets from another one. One of no kind replaces
// the fields that all kinds have in common.
func (r *jointRow) redefined(to *jointRow) (jointRow, error) {
	next := *to
	if to.kind == 0 {
		next.kind, next.flags, next.numbers = r.kind, to.flags|r.flags&^jointCollides, r.numbers
	} else if err := r.mustBe(JointKind(to.kind)); err != nil {
		return *r, err
	}
	return next, next.validate()
}

func (r *jointRow) mustBe(kind JointKind) error {
	if JointKind(r.kind) != kind {
		return check.Because(fault.Field(ErrUnsupported, "physics: kind of joint", JointKind(r.kind)), "not "+kind.String())
	}
	return nil
}

func (r *jointRow) setMotorSpeed(v float32) error {
	i := jointKinds[r.kind].speed
	if i == 0 {
		return check.Because(fault.Field(ErrUnsupported, "physics: kind of joint", JointKind(r.kind)), "it has no motor")
	}
	if err := check.Between("physics: SetMotorSpeed: speed", v, -check.Limit, check.Limit); err != nil {
		return err
	}
	r.numbers[i] = v
	return nil
}

func (r *jointRow) setTarget(v [2]float32) error {
	if err := r.mustBe(MouseJoint); err != nil {
		return err
	}
	if err := check.Vector("physics: SetMouseTarget: target", v[:]); err != nil {
		return err
	}
	if err := check.Limited("physics: SetMouseTarget: target", v[:]...); err != nil {
		return err
	}
	r.numbers[0], r.numbers[1] = v[0], v[1]
	return nil
}
