package physics3

import (
	"errors"
	"math"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/joint"
)

// jointRow is a definition of any kind of joint, without its bodies. It consists of 32-bit words.
type jointRow struct {
	kind, flags                                                              uint32 // a JointKind; jointSpring and so on
	frameA, frameB                                                           JointFrame
	breakForce, breakTorque, forceThreshold, torqueThreshold, hertz, damping float32
	numbers                                                                  [jointNumbers]float32 // the fields of the kind, as jointKinds lists them
}

const (
	jointNumbers     = 6 * axisNumbers
	axisNumbers      = 8
	jointCommonWords = 2 + 2*7 + 6 // words of a jointRow before its numbers
)

// Flags of a jointRow. The motions of the axes of a GenericJoint, two bits each, begin at jointMotions.
const (
	jointSpring = 1 << iota
	jointLimit  // of the twist in a SphericalJoint
	jointMotor
	jointCone     // or the steering of a WheelJoint
	jointSwing    // limits of the swing, or of the steering of a WheelJoint
	jointCollides // CollideConnected

	jointFlags   = 5 // of the kinds
	jointMotions = 8
)

func (r *jointRow) has(flag uint32) bool { return r.flags&flag != 0 }

// motion returns what a GenericJoint allows about axis k.
func (r *jointRow) motion(k int) AxisMotion { return AxisMotion(r.flags >> (jointMotions + 2*k) & 3) }

// maxAngle bounds angles of joints that count turns, in radians: a float32 has steps of 1/256 there.
const maxAngle = 1 << 16

func angle(name string) joint.Number       { return joint.Within(name, -maxAngle, maxAngle) }
func upperAngle(name string) joint.Number  { return joint.UpperWithin(name, -maxAngle, maxAngle) }
func swingAngle(name string) joint.Number  { return joint.Within(name, -math.Pi, math.Pi) }
func upperSwing(name string) joint.Number  { return joint.UpperWithin(name, -math.Pi, math.Pi) }
func length(name string) joint.Number      { return joint.NonNegative(name) }
func upperLength(name string) joint.Number { return joint.UpperWithin(name, 0, check.Limit) }

// jointKinds lists the fields of each kind beside those of JointDef, in the order of a jointRow.
var jointKinds = [FilterJoint + 1]struct {
	name    string
	flags   uint32
	numbers []joint.Number
}{
	DistanceJoint: {"physics3: DistanceJointDef.", jointSpring | jointLimit | jointMotor, []joint.Number{
		length("Length"), joint.Coefficient("Hertz"), joint.Coefficient("Damping"), joint.NonNegative("MaxSpringForce"),
		length("MinLength"), upperLength("MaxLength"),
		joint.NonNegative("MaxMotorForce"), joint.Unbounded("MotorSpeed"),
		joint.Unbounded("LowerSpringForce"), joint.UpperLimit("UpperSpringForce")}},
	SphericalJoint: {"physics3: SphericalJointDef.", jointSpring | jointLimit | jointMotor | jointCone | jointSwing, []joint.Number{
		joint.Coefficient("Hertz"), joint.Coefficient("Damping"), joint.NonNegative("MaxSpringTorque"),
		finite("TargetRotation[0]"), finite("TargetRotation[1]"), finite("TargetRotation[2]"), finite("TargetRotation[3]"),
		joint.Within("ConeAngle", 0, math.Pi),
		swingAngle("LowerSwing[0]"), upperSwing("UpperSwing[0]"), swingAngle("LowerSwing[1]"), upperSwing("UpperSwing[1]"),
		angle("LowerTwist"), upperAngle("UpperTwist"),
		joint.NonNegative("MaxMotorTorque"),
		joint.Unbounded("MotorVelocity[0]"), joint.Unbounded("MotorVelocity[1]"), joint.Unbounded("MotorVelocity[2]")}},
	RevoluteJoint: {"physics3: RevoluteJointDef.", jointSpring | jointLimit | jointMotor, []joint.Number{
		joint.Coefficient("Hertz"), joint.Coefficient("Damping"), angle("TargetAngle"),
		angle("LowerAngle"), upperAngle("UpperAngle"), joint.NonNegative("MaxMotorTorque"), joint.Unbounded("MotorSpeed")}},
	PrismaticJoint: {"physics3: PrismaticJointDef.", jointSpring | jointLimit | jointMotor, []joint.Number{
		joint.Coefficient("Hertz"), joint.Coefficient("Damping"), joint.Unbounded("TargetTranslation"),
		joint.Unbounded("LowerTranslation"), joint.UpperLimit("UpperTranslation"),
		joint.NonNegative("MaxMotorForce"), joint.Unbounded("MotorSpeed")}},
	WeldJoint: {"physics3: WeldJointDef.", 0, []joint.Number{
		joint.Coefficient("LinearHertz"), joint.Coefficient("LinearDamping"), joint.Coefficient("AngularHertz"), joint.Coefficient("AngularDamping")}},
	WheelJoint: {"physics3: WheelJointDef.", jointSpring | jointLimit | jointMotor | jointCone | jointSwing, []joint.Number{
		joint.Coefficient("Hertz"), joint.Coefficient("Damping"), joint.Unbounded("LowerTranslation"), joint.UpperLimit("UpperTranslation"),
		joint.NonNegative("MaxMotorTorque"), joint.Unbounded("MotorSpeed"),
		joint.Coefficient("SteeringHertz"), joint.Coefficient("SteeringDamping"), joint.NonNegative("MaxSteeringTorque"),
		swingAngle("TargetSteeringAngle"), swingAngle("LowerSteeringAngle"), upperSwing("UpperSteeringAngle")}},
	MotorJoint: {"physics3: MotorJointDef.", 0, []joint.Number{
		joint.Coefficient("LinearHertz"), joint.Coefficient("LinearDamping"), joint.NonNegative("MaxSpringForce"),
		joint.Coefficient("AngularHertz"), joint.Coefficient("AngularDamping"), joint.NonNegative("MaxSpringTorque"),
		joint.NonNegative("MaxVelocityForce"),
		joint.Unbounded("LinearVelocity[0]"), joint.Unbounded("LinearVelocity[1]"), joint.Unbounded("LinearVelocity[2]"),
		joint.NonNegative("MaxVelocityTorque"),
		joint.Unbounded("AngularVelocity[0]"), joint.Unbounded("AngularVelocity[1]"), joint.Unbounded("AngularVelocity[2]")}},
	GenericJoint: {"physics3: GenericJointDef.", 1<<(jointMotions+12) - 1<<jointMotions, genericNumbers()},
	MouseJoint: {"physics3: MouseJointDef.", 0, []joint.Number{
		joint.Unbounded("Target[0]"), joint.Unbounded("Target[1]"), joint.Unbounded("Target[2]"),
		joint.Coefficient("Hertz"), joint.Coefficient("Damping"), joint.NonNegative("MaxForce")}},
	FilterJoint: {"physics3: FilterJointDef.", 0, nil},
}

// finite is the rule for a component of a rotation.
func finite(name string) joint.Number { return joint.Within(name, -math.MaxFloat32, math.MaxFloat32) }

func genericNumbers() (all []joint.Number) {
	for k := range 6 {
		name := func(field string) string { return "Axes[" + string(rune('0'+k)) + "]." + field }
		lower, upper := joint.Unbounded, joint.UpperLimit
		switch {
		case k == 3:
			lower, upper = angle, upperAngle
		case k > 3:
			lower, upper = swingAngle, upperSwing
		}
		all = append(all, lower(name("Lower")), upper(name("Upper")),
			joint.Coefficient(name("Hertz")), joint.Coefficient(name("Damping")), lower(name("Target")), joint.NonNegative(name("MaxSpringForce")),
			joint.Unbounded(name("MotorSpeed")), joint.NonNegative(name("MaxMotorForce")))
	}
	return all
}

// AnyJointDef is a pointer to the definition of a kind of joint, such as a *RevoluteJointDef, or a *JointDef, which has the fields that all
// kinds have in common.
type AnyJointDef interface {
	// fields returns pointers to the fields.
	fields() jointFields
}

// fieldsOf returns def.fields(). The compiler sees what each of these methods does with its receiver, so a definition need not be on the heap.
func fieldsOf(def AnyJointDef) jointFields {
	switch d := def.(type) {
	case *DistanceJointDef:
		return d.fields()
	case *SphericalJointDef:
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
	case *GenericJointDef:
		return d.fields()
	case *MouseJointDef:
		return d.fields()
	case *FilterJointDef:
		return d.fields()
	}
	return def.(*JointDef).fields()
}

// jointFields points to the fields of a definition: the ones that all kinds have, and the ones in jointKinds. Without a kind there are only the
// common ones.
type jointFields struct {
	kind    JointKind
	common  *JointDef
	flags   [jointFlags]*bool // in the order of the flags of a jointRow, or nil
	numbers [jointNumbers]*float32
	axes    *[6]JointAxis // of a GenericJoint
}

func (d *JointDef) fields() jointFields { return jointFields{common: d} }

func (d *DistanceJointDef) fields() jointFields {
	return jointFields{kind: DistanceJoint, common: &d.JointDef, flags: [jointFlags]*bool{&d.EnableSpring, &d.EnableLimit, &d.EnableMotor},
		numbers: [jointNumbers]*float32{&d.Length, &d.Hertz, &d.Damping, &d.MaxSpringForce,
			&d.MinLength, &d.MaxLength, &d.MaxMotorForce, &d.MotorSpeed, &d.LowerSpringForce, &d.UpperSpringForce}}
}

func (d *SphericalJointDef) fields() jointFields {
	q, v := &d.TargetRotation, &d.MotorVelocity
	return jointFields{kind: SphericalJoint, common: &d.JointDef,
		flags: [jointFlags]*bool{&d.EnableSpring, &d.EnableTwistLimit, &d.EnableMotor, &d.EnableConeLimit, &d.EnableSwingLimit},
		numbers: [jointNumbers]*float32{&d.Hertz, &d.Damping, &d.MaxSpringTorque, &q[0], &q[1], &q[2], &q[3], &d.ConeAngle,
			&d.LowerSwing[0], &d.UpperSwing[0], &d.LowerSwing[1], &d.UpperSwing[1], &d.LowerTwist, &d.UpperTwist,
			&d.MaxMotorTorque, &v[0], &v[1], &v[2]}}
}

func (d *RevoluteJointDef) fields() jointFields {
	return jointFields{kind: RevoluteJoint, common: &d.JointDef, flags: [jointFlags]*bool{&d.EnableSpring, &d.EnableLimit, &d.EnableMotor},
		numbers: [jointNumbers]*float32{&d.Hertz, &d.Damping, &d.TargetAngle, &d.LowerAngle, &d.UpperAngle, &d.MaxMotorTorque, &d.MotorSpeed}}
}

func (d *PrismaticJointDef) fields() jointFields {
	return jointFields{kind: PrismaticJoint, common: &d.JointDef, flags: [jointFlags]*bool{&d.EnableSpring, &d.EnableLimit, &d.EnableMotor},
		numbers: [jointNumbers]*float32{&d.Hertz, &d.Damping, &d.TargetTranslation, &d.LowerTranslation, &d.UpperTranslation,
			&d.MaxMotorForce, &d.MotorSpeed}}
}

func (d *WeldJointDef) fields() jointFields {
	return jointFields{kind: WeldJoint, common: &d.JointDef,
		numbers: [jointNumbers]*float32{&d.LinearHertz, &d.LinearDamping, &d.AngularHertz, &d.AngularDamping}}
}

func (d *WheelJointDef) fields() jointFields {
	return jointFields{kind: WheelJoint, common: &d.JointDef,
		flags: [jointFlags]*bool{&d.EnableSpring, &d.EnableLimit, &d.EnableMotor, &d.EnableSteering, &d.EnableSteeringLimit},
		numbers: [jointNumbers]*float32{&d.Hertz, &d.Damping, &d.LowerTranslation, &d.UpperTranslation, &d.MaxMotorTorque, &d.MotorSpeed,
			&d.SteeringHertz, &d.SteeringDamping, &d.MaxSteeringTorque, &d.TargetSteeringAngle,
			&d.LowerSteeringAngle, &d.UpperSteeringAngle}}
}

func (d *MotorJointDef) fields() jointFields {
	v, w := &d.LinearVelocity, &d.AngularVelocity
	return jointFields{kind: MotorJoint, common: &d.JointDef,
		numbers: [jointNumbers]*float32{&d.LinearHertz, &d.LinearDamping, &d.MaxSpringForce, &d.AngularHertz, &d.AngularDamping, &d.MaxSpringTorque,
			&d.MaxVelocityForce, &v[0], &v[1], &v[2], &d.MaxVelocityTorque, &w[0], &w[1], &w[2]}}
}

func (d *GenericJointDef) fields() jointFields {
	f := jointFields{kind: GenericJoint, common: &d.JointDef, axes: &d.Axes}
	for k := range d.Axes {
		a := &d.Axes[k]
		for i, v := range [axisNumbers]*float32{&a.Lower, &a.Upper, &a.Hertz, &a.Damping, &a.Target, &a.MaxSpringForce, &a.MotorSpeed, &a.MaxMotorForce} {
			f.numbers[k*axisNumbers+i] = v
		}
	}
	return f
}

func (d *MouseJointDef) fields() jointFields {
	return jointFields{kind: MouseJoint, common: &d.JointDef,
		numbers: [jointNumbers]*float32{&d.Target[0], &d.Target[1], &d.Target[2], &d.Hertz, &d.Damping, &d.MaxForce}}
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
	n := newJoint{bodies: [2]Body{d.BodyA, d.BodyB}, row: jointRow{
		kind: uint32(f.kind), frameA: d.FrameA, frameB: d.FrameB, breakForce: d.BreakForce, breakTorque: d.BreakTorque,
		forceThreshold: d.ForceThreshold, torqueThreshold: d.TorqueThreshold, hertz: d.ConstraintHertz, damping: d.ConstraintDamping,
	}}
	r := &n.row
	if d.CollideConnected {
		r.flags = jointCollides
	}
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
	if f.axes != nil {
		for k := range f.axes {
			r.flags |= uint32(min(f.axes[k].Motion, AxisLocked+1)) << (jointMotions + 2*k)
		}
	}
	return n
}

// set writes the fields.
func (f jointFields) set(r *jointRow, bodies [2]Body) {
	*f.common = JointDef{
		BodyA: bodies[0], BodyB: bodies[1], FrameA: r.frameA, FrameB: r.frameB,
		CollideConnected: r.has(jointCollides), BreakForce: r.breakForce, BreakTorque: r.breakTorque,
		ForceThreshold: r.forceThreshold, TorqueThreshold: r.torqueThreshold, ConstraintHertz: r.hertz, ConstraintDamping: r.damping,
	}
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
	if f.axes != nil {
		for k := range f.axes {
			f.axes[k].Motion = r.motion(k)
		}
	}
}

// ValidateJointDef reports every fault of a definition at once. Errors wrap ErrNotFinite or ErrRange. It does not check whether the bodies
// live: only a world knows.
func ValidateJointDef(def AnyJointDef) error {
	n := fieldsOf(def).joint()
	if n.row.kind == 0 { // the common fields alone, as the kind without others has them
		n.row.kind = uint32(FilterJoint)
	}
	return n.validate()
}

func (n *newJoint) validate() error {
	var same error
	if n.bodies[0] == n.bodies[1] {
		same = check.Because(fault.Field(ErrRange, "physics3: JointDef.BodyB", n.bodies[1]), "equals BodyA")
	}
	return errors.Join(same, n.row.validate())
}

func (r *jointRow) validate() error {
	if r.kind == 0 || r.kind > uint32(FilterJoint) {
		return check.Because(fault.Field(ErrUnsupported, "physics3: kind of joint", r.kind), "no kind")
	}
	err := errors.Join(
		r.frameA.validate("physics3: JointDef.FrameA.Point", "physics3: JointDef.FrameA.Rotation"),
		r.frameB.validate("physics3: JointDef.FrameB.Point", "physics3: JointDef.FrameB.Rotation"),
		check.Magnitude("physics3: JointDef.BreakForce", r.breakForce),
		check.Magnitude("physics3: JointDef.BreakTorque", r.breakTorque),
		check.Magnitude("physics3: JointDef.ForceThreshold", r.forceThreshold),
		check.Magnitude("physics3: JointDef.TorqueThreshold", r.torqueThreshold),
		check.Coefficient("physics3: JointDef.ConstraintHertz", r.hertz),
		check.Coefficient("physics3: JointDef.ConstraintDamping", r.damping),
	)
	kind := &jointKinds[r.kind]
	for i := range kind.numbers {
		if bad := joint.Check(kind.name, kind.numbers, r.numbers[:], i); bad != nil { // to join two that are nil takes longer than the check
			err = errors.Join(err, bad)
		}
	}
	return errors.Join(err, r.checkTogether())
}

// checkTogether checks what fields of a kind allow of each other.
func (r *jointRow) checkTogether() (err error) {
	refuse := func(field string, v any, rule string) {
		err = errors.Join(err, check.Because(fault.Field(ErrRange, jointKinds[r.kind].name+field, v), rule))
	}
	switch n := &r.numbers; JointKind(r.kind) {
	case SphericalJoint:
		if r.has(jointSpring) && r.has(jointMotor) {
			refuse("EnableMotor", true, "EnableSpring is true")
		}
	case MotorJoint:
		if n[2] > 0 && n[6] > 0 {
			refuse("MaxVelocityForce", n[6], "MaxSpringForce is set")
		}
		if n[5] > 0 && n[10] > 0 {
			refuse("MaxVelocityTorque", n[10], "MaxSpringTorque is set")
		}
	case GenericJoint:
		for k := range 6 {
			if m := r.motion(k); m > AxisLocked {
				err = errors.Join(err, fault.Element(ErrRange, "physics3: GenericJointDef.Axes: Motion", k, m))
			}
		}
	}
	return err
}

func (f *JointFrame) validate(pointField, rotationField string) error {
	return errors.Join(checkCoordinates(pointField, f.Point), checkPlacedRotation(rotationField, f.Rotation))
}

// redefined returns the definition that a joint with definition r gets from another one. One of no kind replaces the fields that all kinds have
// in common.
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
		return check.Because(fault.Field(ErrUnsupported, "physics3: kind of joint", JointKind(r.kind)), "not "+kind.String())
	}
	return nil
}

// used returns the number of words of the definition that its kind uses.
func (r *jointRow) used() int { return jointCommonWords + len(jointKinds[r.kind].numbers) }
