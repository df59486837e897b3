package rigid

import "math"

// JointKind is what a joint holds at all times; parts of it add springs, motors and
// limits. With the anchors of bodies A and B it is made of rows, each of which is a number
// that is to be zero:
//
//	                 rows                                       axis
//	JointDistance    none                                       from anchor A to anchor B
//	JointPoint       both coordinates of anchor B from anchor A none
//	JointWeld        those, and the relative angle              none
//	JointPrismatic   across the axis, and the relative angle    of A
//	JointWheel       across the axis                            of A
//
// The joints that users know are of these kinds:
//
//	distance    JointDistance: a rod has PartSpring of Hertz 0, a rope PartLimits
//	revolute    JointPoint
//	prismatic   JointPrismatic
//	wheel       JointWheel with PartSpring
//	weld        JointWeld; with a soft angle, JointPoint with PartAngularSpring
//	motor       JointPoint with PartSpring and PartAngularSpring, each with a MaxSpring; AnchorA
//	            and Reference are where B is to be, seen from A
//	target      JointPoint with PartSpring and a MaxSpring, where A is not dynamic and AnchorA
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

// JointParts are parts of a joint that are in use.
type JointParts uint32

// The first three are of Joint.Linear, the next three of Joint.Angular.
//
// Linear acts along the axis. Of JointPoint and JointWeld, which have none, it has but
// PartSpring and PartFriction, which make the point soft; MaxSpring is then the length of the greatest
// force.
const (
	PartSpring JointParts = 1 << iota
	PartMotor
	PartLimits
	PartAngularSpring // not of JointWeld and JointPrismatic, whose angle is held: ignored
	PartAngularMotor
	PartAngularLimits

	// PartFriction makes the point of a JointPoint resist motion and not distance, with a force up
	// to MaxSpring: friction between two bodies that need not touch. It goes before
	// PartSpring.
	PartFriction
)

// Joint ties two bodies: what it is, and the impulses that are remembered from one step to
// the next.
type Joint struct {
	Kind  JointKind
	Parts JointParts
	A, B  uint32 // bodies, which differ; at least one is dynamic, or the joint takes no part

	AnchorA, AnchorB Vec // from the centres of mass, in the axes of the bodies, metres

	// Linear has metres, m/s and newtons, Angular radians, rad/s and newton metres.
	Linear, Angular JointAxis

	// Axis has length one and is in the axes of A: of JointPrismatic and JointWheel.
	Axis Vec

	// ReferenceAngle is the angle of B less that of A where the relative angle is zero. The relative
	// angle at the beginning of a step is between -π and π; limits and targets are to be too.
	ReferenceAngle float32
	_              uint32

	// PointImpulse is the impulse on B, N·s, in the axes of the world: of JointPoint and JointWeld. Of
	// JointPrismatic and JointWheel, X is the impulse across the axis, along (-Axis.Y, Axis.X).
	PointImpulse Vec
	_            [2]uint32

	// Impulses of parts that the joint does not have mean nothing, except the spring of
	// AngularImpulse, which also holds the angle of JointWeld and JointPrismatic.
	LinearImpulse, AngularImpulse AxisImpulse
}

// JointAxis is a spring, a motor and limits of one coordinate x of B relative to A: the
// length from anchor to anchor, where anchor B is from anchor A along the axis, or the relative
// angle.
type JointAxis struct {
	// The spring pulls to Target. A frequency of 0 Hz makes it rigid, as rows are; otherwise
	// Damping is its damping ratio. MaxSpring bounds its force or torque; 0: no bound.
	Target, Hertz, Damping, MaxSpringForce float32

	MotorSpeed, MaxMotorForce float32 // of the motor, and the force or torque it has
	Lower, Upper              float32 // limits, Lower ≤ Upper
}

// AxisImpulse is what the parts of a JointAxis gave in a sub-step, on B along the axis or
// counter-clockwise, N·s or N·m·s. Lower is ≥ 0; Upper is ≥ 0 and pushes the other way.
type AxisImpulse struct {
	Spring, Motor, Lower, Upper float32
}

// JointBlock is up to Lanes joints of one kind in a form for vectors, as ContactBlock is of contacts:
// lane i of each field belongs to joint i, and no two lanes share a dynamic body. The lanes from Joints
// on mean nothing, and no state is written for them.
type JointBlock struct {
	Joints   uint32 // lanes in use, from 0 on
	Kind     JointKind
	Parts    JointParts // that any of the joints has
	DynamicA uint32     // bit i: the body of lane i is dynamic, and takes impulses
	DynamicB uint32

	// Bit i: the spring of lane i is rigid. Of kinds with a point the one of Linear is
	// the point itself.
	RigidLinear, RigidAngular uint32

	_ [9]uint32 // so that each field below begins with a cache line

	A, B                             [Lanes]uint32  // bodies
	InvIA, InvIB                     [Lanes]float32 // 1/(kg·m²)
	AnchorAX, AnchorAY               [Lanes]float32 // anchors in the axes of the world, before the step
	AnchorBX, AnchorBY               [Lanes]float32
	DeltaCentreX, DeltaCentreY       [Lanes]float32 // the centre of mass of B from that of A, before the step
	ImpulseX, ImpulseY               [Lanes]float32 // impulse on B in the axes of the world, of all but Angular
	AngularImpulseA, AngularImpulseB [Lanes]float32 // impulses that turned A and B with it
	ErrorX, ErrorY                   [Lanes]float32 // anchor B from anchor A as the sub-step began: of points with a spring

	AngularMass          [Lanes]float32 // effective mass of turning
	Angle                [Lanes]float32 // relative, before the step
	AxisX, AxisY         [Lanes]float32 // in the axes of the world, before the step
	PerpendicularImpulse [Lanes]float32 // impulse across the axis

	Linear, Angular AxisBlock
}

// AxisBlock is a JointAxis of each of the joints of a JointBlock. The spring is
// a soft constraint of that rate, mass and leak; of kinds with a point, Leak is
// what it yields more than its bodies do. Joints without one of the parts have there what
// does nothing: a bound or a mass of 0, infinite limits.
type AxisBlock struct {
	Target, BiasRate, MassScale, ImpulseScale               [Lanes]float32
	MaxSpringImpulse                                        [Lanes]float32 // impulse in a sub-step
	MotorSpeed, MaxMotorImpulse                             [Lanes]float32
	Lower, Upper                                            [Lanes]float32
	SpringImpulse, MotorImpulse, LowerImpulse, UpperImpulse [Lanes]float32
	Error                                                   [Lanes]float32 // from Target as the sub-step began: of springs
}

// SubStepRate is the number of sub-steps in a second if a step is dt seconds long: what makes a
// force of the impulse of a sub-step.
func (p *Params) SubStepRate(dt float32) float32 {
	k := p.stepContext(dt)
	return k.invH
}

// Reaction returns the force in N that a joint exerts on B, and on A in reverse, and the torque
// in N·m of its angular parts, counter-clockwise on B; both are in the last sub-step. rate is
// SubStepRate of that step, and poses are those after it.
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

// total is the impulse of some parts, which are those of a linear JointAxis.
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

// worldAxis is the axis in the axes of the world: zero for a JointDistance whose anchors are in one
// place.
func (j *Joint) worldAxis(p *Poses) Vec {
	if j.Kind.hasPerpendicular() {
		x, y := rotate(p.Cos[j.A], p.Sin[j.A], j.Axis.X, j.Axis.Y)
		return Vec{x, y}
	}
	x, y := j.anchorDelta(p)
	inv := inverse(float32(math.Sqrt(float64(float32(x*x) + float32(y*y)))))
	return Vec{x * inv, y * inv}
}

// anchorDelta is anchor B from anchor A, in the axes of the world.
func (j *Joint) anchorDelta(p *Poses) (x, y float32) {
	ax, ay := rotate(p.Cos[j.A], p.Sin[j.A], j.AnchorA.X, j.AnchorA.Y)
	bx, by := rotate(p.Cos[j.B], p.Sin[j.B], j.AnchorB.X, j.AnchorB.Y)
	return ((p.X[j.B] - p.X[j.A]) + bx) - ax, ((p.Y[j.B] - p.Y[j.A]) + by) - ay
}
