package physics

import "github.com/evertick/evertick/internal/fault"

// jointRow is a definition of any kind of joint, without its bodies. It consists of 32-bit
// words, so that a snapshot has rows as they are.
type jointRow struct {
	kind, flags             uint32 // a JointKind; jointSpring and so on
	frameA, frameB          JointFrame
	breakForce, breakTorque float32
	numbers                 [jointNumbers]float32 // the others, in the order of row and of the kind's definition
}

const (
	jointNumbers = 9
	jointWords   = 2 + 3 + 3 + 2 + jointNumbers
)

// Flags of a jointRow.
const (
	jointSpring = 1 << iota
	jointLimit
	jointMotor
	jointCollides

	jointFlags = 1<<iota - 1
)

func (r *jointRow) has(flag uint32) bool { return r.flags&flag != 0 }

// row returns the common part of a definition.
func (d *JointDef) row(kind JointKind, spring, limit, motor bool, numbers ...float32) jointRow {
	r := jointRow{kind: uint32(kind), frameA: d.FrameA, frameB: d.FrameB,
		breakForce: d.BreakForce, breakTorque: d.BreakTorque}
	for i, set := range [...]bool{spring, limit, motor, d.CollideConnected} {
		if set {
			r.flags |= 1 << i
		}
	}
	copy(r.numbers[:], numbers)
	return r
}

func (d *JointDef) bodies() [2]Body { return [2]Body{d.BodyA, d.BodyB} }

// def is the reverse of row.
func (r *jointRow) def(bodies [2]Body) JointDef {
	return JointDef{
		BodyA: bodies[0], BodyB: bodies[1], FrameA: r.frameA, FrameB: r.frameB,
		CollideConnected: r.has(jointCollides), BreakForce: r.breakForce, BreakTorque: r.breakTorque,
	}
}

// For each kind a row of its definition, and the reverse.

func (d *DistanceJointDef) row() jointRow {
	return d.JointDef.row(DistanceJoint, d.EnableSpring, d.EnableLimit, d.EnableMotor,
		d.Length, d.Hertz, d.Damping, d.MaxSpringForce, d.MinLength, d.MaxLength, d.MaxMotorForce, d.MotorSpeed)
}

func (r *jointRow) distance(bodies [2]Body) DistanceJointDef {
	n := &r.numbers
	return DistanceJointDef{
		JointDef: r.def(bodies), Length: n[0],
		EnableSpring: r.has(jointSpring), Hertz: n[1], Damping: n[2], MaxSpringForce: n[3],
		EnableLimit: r.has(jointLimit), MinLength: n[4], MaxLength: n[5],
		EnableMotor: r.has(jointMotor), MaxMotorForce: n[6], MotorSpeed: n[7],
	}
}

func (d *RevoluteJointDef) row() jointRow {
	return d.JointDef.row(RevoluteJoint, d.EnableSpring, d.EnableLimit, d.EnableMotor,
		d.Hertz, d.Damping, d.TargetAngle, d.LowerAngle, d.UpperAngle, d.MaxMotorTorque, d.MotorSpeed)
}

func (r *jointRow) revolute(bodies [2]Body) RevoluteJointDef {
	n := &r.numbers
	return RevoluteJointDef{
		JointDef:     r.def(bodies),
		EnableSpring: r.has(jointSpring), Hertz: n[0], Damping: n[1], TargetAngle: n[2],
		EnableLimit: r.has(jointLimit), LowerAngle: n[3], UpperAngle: n[4],
		EnableMotor: r.has(jointMotor), MaxMotorTorque: n[5], MotorSpeed: n[6],
	}
}

func (d *PrismaticJointDef) row() jointRow {
	return d.JointDef.row(PrismaticJoint, d.EnableSpring, d.EnableLimit, d.EnableMotor,
		d.Hertz, d.Damping, d.TargetTranslation, d.LowerTranslation, d.UpperTranslation, d.MaxMotorForce, d.MotorSpeed)
}

func (r *jointRow) prismatic(bodies [2]Body) PrismaticJointDef {
	n := &r.numbers
	return PrismaticJointDef{
		JointDef:     r.def(bodies),
		EnableSpring: r.has(jointSpring), Hertz: n[0], Damping: n[1], TargetTranslation: n[2],
		EnableLimit: r.has(jointLimit), LowerTranslation: n[3], UpperTranslation: n[4],
		EnableMotor: r.has(jointMotor), MaxMotorForce: n[5], MotorSpeed: n[6],
	}
}

func (d *WeldJointDef) row() jointRow {
	return d.JointDef.row(WeldJoint, false, false, false, d.LinearHertz, d.LinearDamping, d.AngularHertz, d.AngularDamping)
}

func (r *jointRow) weld(bodies [2]Body) WeldJointDef {
	n := &r.numbers
	return WeldJointDef{
		JointDef: r.def(bodies), LinearHertz: n[0], LinearDamping: n[1], AngularHertz: n[2], AngularDamping: n[3],
	}
}

func (d *WheelJointDef) row() jointRow {
	return d.JointDef.row(WheelJoint, d.EnableSpring, d.EnableLimit, d.EnableMotor,
		d.Hertz, d.Damping, d.LowerTranslation, d.UpperTranslation, d.MaxMotorTorque, d.MotorSpeed)
}

func (r *jointRow) wheel(bodies [2]Body) WheelJointDef {
	n := &r.numbers
	return WheelJointDef{
		JointDef:     r.def(bodies),
		EnableSpring: r.has(jointSpring), Hertz: n[0], Damping: n[1],
		EnableLimit: r.has(jointLimit), LowerTranslation: n[2], UpperTranslation: n[3],
		EnableMotor: r.has(jointMotor), MaxMotorTorque: n[4], MotorSpeed: n[5],
	}
}

func (d *MotorJointDef) row() jointRow {
	return d.JointDef.row(MotorJoint, false, false, false, d.LinearHertz, d.LinearDamping, d.MaxSpringForce,
		d.AngularHertz, d.AngularDamping, d.MaxSpringTorque, d.MaxVelocityForce, d.AngularVelocity, d.MaxVelocityTorque)
}

func (r *jointRow) motor(bodies [2]Body) MotorJointDef {
	n := &r.numbers
	return MotorJointDef{
		JointDef:    r.def(bodies),
		LinearHertz: n[0], LinearDamping: n[1], MaxSpringForce: n[2],
		AngularHertz: n[3], AngularDamping: n[4], MaxSpringTorque: n[5],
		MaxVelocityForce: n[6], AngularVelocity: n[7], MaxVelocityTorque: n[8],
	}
}

func (d *MouseJointDef) row() jointRow {
	return d.JointDef.row(MouseJoint, false, false, false, d.Target[0], d.Target[1], d.Hertz, d.Damping, d.MaxForce)
}

func (r *jointRow) mouse(bodies [2]Body) MouseJointDef {
	n := &r.numbers
	return MouseJointDef{
		JointDef: r.def(bodies), Target: [2]float32{n[0], n[1]}, Hertz: n[2], Damping: n[3], MaxForce: n[4],
	}
}

func (d *FilterJointDef) row() jointRow { return d.JointDef.row(FilterJoint, false, false, false) }

func (r *jointRow) filter(bodies [2]Body) FilterJointDef { return FilterJointDef{r.def(bodies)} }

// validate asks the definition that a row stands for.
func (r *jointRow) validate(bodies [2]Body) error {
	switch JointKind(r.kind) {
	case DistanceJoint:
		d := r.distance(bodies)
		return d.Validate()
	case RevoluteJoint:
		d := r.revolute(bodies)
		return d.Validate()
	case PrismaticJoint:
		d := r.prismatic(bodies)
		return d.Validate()
	case WeldJoint:
		d := r.weld(bodies)
		return d.Validate()
	case WheelJoint:
		d := r.wheel(bodies)
		return d.Validate()
	case MotorJoint:
		d := r.motor(bodies)
		return d.Validate()
	case MouseJoint:
		d := r.mouse(bodies)
		return d.Validate()
	case FilterJoint:
		d := r.filter(bodies)
		return d.Validate()
	}
	return fault.Field(ErrRange, "physics: kind of joint", r.kind)
}

// speed returns the number that is the speed of the motor, or nil if the kind has none.
func (r *jointRow) speed() *float32 {
	switch JointKind(r.kind) {
	case DistanceJoint, MotorJoint:
		return &r.numbers[7]
	case RevoluteJoint, PrismaticJoint:
		return &r.numbers[6]
	case WheelJoint:
		return &r.numbers[5]
	}
	return nil
}
