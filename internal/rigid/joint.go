package rigid

import "math"

// JointKind is what a joint holds at all times; its parts add springs, motors and limits. A kind has rows. Each
// row is a number that is to be zero, given by the anchors of bodies A and B:
//
//	                 rows                                       axis
//	JointDistance    none                                       from anchor A to anchor B
//	JointPoint       both coordinates of anchor B from anchor A none
//	JointWeld        those, and the relative angle              none
//	JointPrismatic   across the axis, and the relative angle    of A
//	JointWheel       across the axis                            of A
//
// The joints of package physics are of these kinds:
//
//	distance    JointDistance: a rod has PartSpring of Hertz 0, a rope PartLimits
//	revolute    JointPoint
//	prismatic   JointPrismatic
//	wheel       JointWheel with PartSpring
//	weld        JointWeld; with a soft point or angle, JointPoint with PartSpring or PartAngularSpring
//	motor       JointPoint with PartSpring and PartAngularSpring, each with a MaxSpringForce; AnchorA
//	            and ReferenceAngle are the target of B, seen from A. Or with PartFriction, and
//	            PartVelocity if it seeks a velocity
//	target      JointPoint with PartSpring and a MaxSpringForce, where A is not dynamic and AnchorA
//	            is the target
type JointKind uint32

const (
	NoJoint JointKind = iota // takes no part, and its bodies need not exist
	JointDistance
	JointPoint
	JointWeld
	JointPrismatic
	JointWheel

	numJointKinds
)

// JointParts are the parts of a joint that are in use.
type JointParts uint32

// The first three belong to Joint.Linear, the next three to Joint.Angular.
//
// Linear acts along the axis. JointPoint has no axis, and only PartSpring and PartFriction of
// Linear, which make the point soft. MaxSpringForce is then the length of the greatest force.
const (
	PartSpring JointParts = 1 << iota
	PartMotor
	PartLimits
	PartAngularSpring // ignored in JointWeld and JointPrismatic, which hold the angle
	PartAngularMotor
	PartAngularLimits

	// PartFriction makes a JointPoint resist velocity instead of distance, with a force of at most MaxSpringForce:
	// friction between two bodies that need not touch. It takes precedence over PartSpring.
	PartFriction

	// PartVelocity makes a JointPoint seek the velocity Axis of anchor B relative to A, instead of 0.
	PartVelocity

	// PartSpringRange gives PartSpring of a JointDistance its own bounds, which may have any sign: its force is
	// from MinSpringForce to MaxSpringForce. Positive forces push.
	PartSpringRange

	// PartTuned gives a joint of any kind its own Hertz and Damping.
	PartTuned
)

// Joint connects two bodies: its definition, and the impulses that are kept from one step to the next.
type Joint struct {
	Kind  JointKind
	Parts JointParts
	A, B  uint32 // bodies, which differ; at least one is dynamic, or the joint takes no part

	AnchorA, AnchorB Vec // from the centres of mass, in the axes of the bodies, metres

	// Linear is in metres, m/s and newtons, Angular in radians, rad/s and newton metres.
	Linear, Angular JointAxis

	// Axis has length one and is in the axes of A; JointPrismatic and JointWheel have it. With PartVelocity it is
	// instead a velocity in m/s, also in the axes of A.
	Axis Vec

	// ReferenceAngle is the angle of B less that of A at which the relative angle is zero: see RelativeAngle. A spring
	// turns the short way to its target, or with limits the way that they allow.
	ReferenceAngle float32

	MinSpringForce float32 // of Linear: see PartSpringRange

	// PointImpulse is the impulse on B, N·s, in the axes of the world, of JointPoint and JointWeld. Of
	// JointPrismatic and JointWheel, X is the impulse across the axis, along (-Axis.Y, Axis.X).
	PointImpulse Vec

	// Hertz and Damping are the softness of rows, limits and rigid springs of a joint with PartTuned. In place of one
	// that is not positive, that of Params applies: JointHertz, JointDamping.
	Hertz, Damping float32

	// Impulses of parts that the joint does not have are ignored, except the spring of AngularImpulse: in JointWeld
	// and JointPrismatic it is the impulse that holds the angle.
	LinearImpulse, AngularImpulse AxisImpulse
}

// JointAxis is a spring, a motor and limits of one coordinate of B relative to A: the distance of the anchors,
// the place of anchor B along the axis from anchor A, or the relative angle.
type JointAxis struct {
	// The spring pulls to Target. At 0 Hz it is rigid, like rows; otherwise Damping is its damping ratio.
	// MaxSpringForce bounds its force or torque; 0: no bound.
	Target, Hertz, Damping, MaxSpringForce float32

	MotorSpeed, MaxMotorForce float32 // of the motor, with its greatest force or torque
	Lower, Upper              float32 // limits, Lower ≤ Upper
}

// AxisImpulse holds the impulse of each part of a JointAxis in a sub-step, on B along the axis or counter-clockwise,
// N·s or N·m·s. Lower is ≥ 0. Upper is ≥ 0 and acts in the opposite direction.
type AxisImpulse struct {
	Spring, Motor, Lower, Upper float32
}

// JointBlock is up to Lanes joints of one kind in a form for vectors, as ContactBlock is of contacts: lane i of
// each field belongs to joint i, and no two lanes share a dynamic body. The lanes from Joints on are unused,
// and no state is written for them.
type JointBlock struct {
	Joints   uint32 // lanes in use, from 0 on
	Kind     JointKind
	Parts    JointParts // of any of the joints
	DynamicA uint32     // bit i: the body of lane i is dynamic, and takes impulses
	DynamicB uint32

	// Bit i: the spring of lane i is rigid. In kinds with a point the spring of Linear is the point itself.
	RigidLinear, RigidAngular uint32

	_ [9]uint32 // so that each field below begins with a cache line

	A, B                             [Lanes]uint32  // bodies
	InvIA, InvIB                     [Lanes]float32 // 1/(kg·m²)
	AnchorAX, AnchorAY               [Lanes]float32 // anchors in the axes of the world, before the step
	AnchorBX, AnchorBY               [Lanes]float32
	DeltaCentreX, DeltaCentreY       [Lanes]float32 // from the centre of mass of A to that of B, before the step
	ImpulseX, ImpulseY               [Lanes]float32 // impulse on B in the axes of the world, without Angular
	AngularImpulseA, AngularImpulseB [Lanes]float32 // the angular impulses on A and B that go with it
	ErrorX, ErrorY                   [Lanes]float32 // from anchor A to anchor B when the sub-step began; points with a spring

	AngularMass          [Lanes]float32 // effective mass of the relative angle
	Angle                [Lanes]float32 // relative, before the step
	AxisX, AxisY         [Lanes]float32 // in the axes of the world, before the step; 0 without axis or PartVelocity
	PerpendicularImpulse [Lanes]float32 // impulse across the axis

	Linear, Angular AxisBlock

	BiasRate, MassScale, ImpulseScale [Lanes]float32 // of rows, limits and rigid springs; only in blocks with PartTuned
}

// AxisBlock is a JointAxis of each joint of a JointBlock. The spring is a soft constraint with that BiasRate,
// MassScale and ImpulseScale. In kinds with a point, ImpulseScale is the compliance in addition to that of the
// bodies. Joints without a part have values there that do nothing: a bound or a mass of 0, infinite limits.
type AxisBlock struct {
	Target, BiasRate, MassScale, ImpulseScale               [Lanes]float32
	MaxSpringImpulse                                        [Lanes]float32 // impulse in a sub-step
	MotorSpeed, MaxMotorImpulse                             [Lanes]float32
	Lower, Upper                                            [Lanes]float32
	SpringImpulse, MotorImpulse, LowerImpulse, UpperImpulse [Lanes]float32
	Error                                                   [Lanes]float32 // of the spring when the sub-step began
	MinSpringImpulse                                        [Lanes]float32 // only in Linear of blocks with PartSpringRange
}

// SubStepRate is the number of sub-steps per second if a step is dt seconds long. It converts the impulse of a
// sub-step to a force.
func (p *Params) SubStepRate(dt float32) float32 {
	k := p.stepContext(dt)
	return k.invH
}

// Reaction returns the force in N that a joint exerts on B, and the torque in N·m of its angular parts,
// counter-clockwise on B, both in the last sub-step. The opposite force acts on A. rate is SubStepRate of that step,
// and p are the poses after it.
func (j *Joint) Reaction(p *Poses, rate float32) (force Vec, torque float32) {
	parts := j.usedParts()
	if j.Kind.hasPoint() {
		force = j.PointImpulse
	} else if j.Kind != NoJoint {
		axis := j.worldAxis(p)
		along := j.LinearImpulse.total(parts)
		across := float32(0)
		if j.Kind.hasPerpendicular() {
			across = j.PointImpulse.X
		}
		force.X = float32(along*axis.X) - float32(across*axis.Y)
		force.Y = float32(along*axis.Y) + float32(across*axis.X)
	}
	torque = j.AngularImpulse.total(parts >> angularShift)
	if j.Kind.locksAngle() {
		torque = j.AngularImpulse.Spring
	}
	return Vec{force.X * rate, force.Y * rate}, torque * rate
}

// total is the impulse of some parts, given as those of Linear.
func (d *AxisImpulse) total(parts JointParts) (sum float32) {
	if parts&PartSpring != 0 {
		sum = d.Spring
	}
	if parts&PartMotor != 0 {
		sum += d.Motor
	}
	if parts&PartLimits != 0 {
		sum = (sum + d.Lower) - d.Upper
	}
	return sum
}

// worldAxis is the axis in the axes of the world. It is zero for a JointDistance whose anchors coincide.
func (j *Joint) worldAxis(p *Poses) Vec {
	if j.Kind.hasPerpendicular() {
		x, y := rotate(p.Cos[j.A], p.Sin[j.A], j.Axis.X, j.Axis.Y)
		return Vec{x, y}
	}
	x, y := j.anchorDelta(p)
	inv := inverse(float32(math.Sqrt(float64(float32(x*x) + float32(y*y)))))
	return Vec{x * inv, y * inv}
}

// anchorDelta is the vector from anchor A to anchor B, in the axes of the world.
func (j *Joint) anchorDelta(p *Poses) (x, y float32) {
	ax, ay := rotate(p.Cos[j.A], p.Sin[j.A], j.AnchorA.X, j.AnchorA.Y)
	bx, by := rotate(p.Cos[j.B], p.Sin[j.B], j.AnchorB.X, j.AnchorB.Y)
	return ((p.X[j.B] - p.X[j.A]) + bx) - ax, ((p.Y[j.B] - p.Y[j.A]) + by) - ay
}
