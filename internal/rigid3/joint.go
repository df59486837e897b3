package rigid3

import "github.com/evertick/evertick/internal/graph"

// Coordinates of body B relative to body A, as a joint sees them. A joint has a frame on each body: an origin, the anchor, and three
// axes. The coordinates are:
//
//	LinearX, LinearY, LinearZ  the place of anchor B from anchor A along the axes of frame A, metres
//	Twist                      the rotation of frame B about its own x axis, radians, with whole turns
//	SwingY, SwingZ             the rotation that carries the x axis of A to that of B, radians
//	Length                     the distance of the anchors, metres
//	Cone                       the angle between the x axes, radians, 0 to π
//
// The rotation of B relative to A is a swing after a twist: first the twist about x, then the swing, the shortest rotation from the x axis
// of A to that of B, whose axis is at a right angle to the x axis of A. A positive angle about an axis is counter-clockwise seen
// against it. If (y, z) is the axis of the swing, times the tangent of half its angle, the angles are SwingY = 2·atan(y) and SwingZ =
// 2·atan(z): so if one of them is zero, the other one is the angle of the swing. They are in (-π, π). At a swing of π, where x points
// backwards, the axis follows from the twist, which is taken as zero from 179.9 degrees on. So nothing is divided by zero, but the twist
// jumps there; limits should keep the swing below.
//
// A hinge turns about x, a slider moves along x. A wheel spins about x, its suspension acts along y, and it steers by SwingY.
const (
	LinearX = iota
	LinearY
	LinearZ
	Twist
	SwingY
	SwingZ
	Length
	Cone
	NumCoordinates

	// NumRows is the number of the coordinates that can be locked, the first ones.
	NumRows = Length

	lockedPoint  = 1<<LinearX | 1<<LinearY | 1<<LinearZ
	lockedAngles = 1<<Twist | 1<<SwingY | 1<<SwingZ
)

// Joint connects two bodies: its definition, and what is kept from one step to the next. All fields have four bytes.
//
// Each coordinate is free, locked, or has springs, motors and limits. Locked coordinates are the rows of the joint, which are solved
// together, and exactly. Then each of the others acts in a direction in which the rows stay as they are, and with the mass that it has
// while they hold. So a spring has its frequency wherever the anchor is. The zero Joint takes no part in a step, and its bodies need
// not exist.
//
// Kinds of joints:
//
//	spherical  the three linear coordinates are locked; Cone, SwingY, SwingZ and Twist may have limits
//	revolute   all are locked but Twist
//	prismatic  all are locked but LinearX
//	weld       all are locked; soft with SoftLinear, SoftAngular
//	distance   Length has a spring or limits; those of a rod are equal
//	wheel      LinearX, LinearZ, SwingZ, and SwingY without steering, are locked; LinearY is the suspension, Twist the motor
//	motor      all are locked, softly, each drive with a greatest force
//	mouse      the linear ones are locked, softly
//
// Locked coordinates that are soft follow a drive: a spring to its target, and a velocity. Its greatest force bounds the length
// of the force of all linear rows, or the torque of all angular ones. If all of Twist, SwingY and SwingZ are locked, the error is the
// rotation from the target as a vector, at most π long, so that no direction is special.
type Joint struct {
	A, B   uint32 // bodies, which differ; at least one is dynamic, or the joint takes no part
	Locked uint32 // bit c: coordinate c < NumRows is locked
	Soft   uint32 // SoftLinear, SoftAngular

	AnchorA, AnchorB Vec  // from the centres of mass, in the axes of the bodies, metres
	FrameA, FrameB   Quat // the axes of the frames, in the axes of the bodies

	// Hertz and Damping are those of rows and limits. In place of one that is not positive, that of Params applies.
	Hertz, Damping float32

	Linear, Angular Drive // of soft rows
	Target          Quat  // the rotation of frame B, seen from frame A, that Angular pulls to. Length 0: no rotation

	Axes [NumCoordinates]JointAxis

	Kept KeptJoint
}

// Bits of Joint.Soft.
const (
	SoftLinear  = 1 << iota // the linear rows follow Linear
	SoftAngular             // the angular rows follow Angular
)

// Drive makes rows soft. At 0 Hz there is no spring: only the velocity counts.
type Drive struct {
	Hertz, Damping float32
	MaxForce       float32 // N or N·m; 0: no bound
	Velocity       Vec     // of B relative to A that is sought, in the axes of frame A, m/s or rad/s
}

// Parts of a JointAxis.
const (
	PartSpring = 1 << iota
	PartMotor
	PartLimits
)

// JointAxis is a spring, a motor and limits of a coordinate, in metres, m/s and newtons or radians, rad/s and newton metres. It is ignored
// for a coordinate that is locked, unless that is an angle and soft.
type JointAxis struct {
	Parts uint32

	// The spring pulls to Target, with a force between two bounds; both 0: no bounds. At 0 Hz it does nothing.
	Target, Hertz, Damping, LowerSpringForce, UpperSpringForce float32

	MotorSpeed, MaxMotorForce float32 // the motor seeks the speed with at most the force
	Lower, Upper              float32 // limits, Lower ≤ Upper; one may be infinite
}

// KeptJoint is what a joint keeps from one step to the next. The zero KeptJoint is that of a new joint.
type KeptJoint struct {
	// Rows are the impulses of locked coordinates in a sub-step, on B along and about the axes of frame A, N·s and N·m·s.
	// Those of a joint that locks the linear coordinates, and does nothing else, are in the axes of the world.
	Rows [NumRows]float32

	Axes [NumCoordinates]AxisImpulse

	Twist float32 // the coordinate, with its turns
	Known uint32  // 1: Twist is known. Else it is the one nearest to the middle of the limits, or to 0 without

	// Impulse and Angular are all that the joint exerts on B in a sub-step: at the anchor of B, in the axes of the world. They are
	// results only.
	Impulse, Angular Vec
}

// AxisImpulse holds the impulses of a JointAxis in a sub-step, on B along the coordinate. Lower is ≥ 0. Upper is ≥ 0 and acts in the
// opposite direction.
type AxisImpulse struct{ Spring, Motor, Lower, Upper float32 }

// Rescale multiplies all impulses.
func (k *KeptJoint) Rescale(ratio float32) {
	for i := range k.Rows {
		k.Rows[i] = float32(k.Rows[i] * ratio)
	}
	for i := range k.Axes {
		a := &k.Axes[i]
		*a = AxisImpulse{float32(a.Spring * ratio), float32(a.Motor * ratio), float32(a.Lower * ratio), float32(a.Upper * ratio)}
	}
	k.Impulse, k.Angular = k.Impulse.Times(ratio), k.Angular.Times(ratio)
}

// Reaction returns the force in N that a joint exerts on B at its anchor, and the torque in N·m, in the axes of the world, both in the last
// sub-step. The opposite ones act on A at the same place. rate is the number of sub-steps per second.
func (j *Joint) Reaction(rate float32) (force, torque Vec) {
	return j.Kept.Impulse.Times(rate), j.Kept.Angular.Times(rate)
}

// MotorForce returns the force or torque of the motor of a coordinate in the last sub-step.
func (j *Joint) MotorForce(coordinate int, rate float32) float32 {
	return float32(j.Kept.Axes[coordinate].Motor * rate)
}

// Coordinates returns the coordinates of a joint between bodies with these poses. Twist has the turns of Kept.
func (j *Joint) Coordinates(a, b *Pose) (at [NumCoordinates]float32) {
	f, m := j.seen(a, b)
	twist := j.twistNear(f.q)
	for c := range at {
		row := f.coordinate(c, &m, twist)
		at[c] = row.at
	}
	return at
}

// Motion is the velocities of a body.
type Motion struct{ V, W Vec }

// Speeds returns how fast the coordinates change. Those of Length at 0, and of Cone without a swing, are 0.
func (j *Joint) Speeds(a, b *Pose, motionA, motionB Motion) (speeds [NumCoordinates]float32) {
	f, m := j.seen(a, b)
	m.vA, m.wA, m.vB, m.wB = motionA.V, motionA.W, motionB.V, motionB.W
	for c := range speeds {
		row := f.coordinate(c, &m, 0)
		speeds[c] = row.speed(&m)
	}
	return speeds
}

// seen is the frames and the place of the anchors.
func (j *Joint) seen(a, b *Pose) (f jointFrame, m jointBodies) {
	m.armB = b.Q.Rotate(j.AnchorB)
	m.armA = b.P.Sub(a.P).Add(m.armB)
	m.gap = m.armA.Sub(a.Q.Rotate(j.AnchorA))
	return makeFrame(a.Q.Mul(j.FrameA), b.Q.Mul(j.FrameB)), m
}

// Joints are in blocks of one class each. All joints of a class but the last have the same locked coordinates, so that they are solved
// with as many rows as they have.
const (
	classPoint = 1 + iota // the linear coordinates are locked, and there is nothing else
	classAxes             // none
	classSpherical
	classRevolute
	classPrismatic
	classWheel
	classSteered
	classAll // every other set: six rows, of which each lane may lack some

	numJointClasses = classAll
)

// lockedOf are the rows of a class.
var lockedOf = [numJointClasses + 1]uint32{
	classPoint: lockedPoint, classAxes: 0, classSpherical: lockedPoint, classRevolute: lockedPoint | 1<<SwingY | 1<<SwingZ,
	classPrismatic: lockedAngles | 1<<LinearY | 1<<LinearZ, classWheel: 1<<LinearX | 1<<LinearZ | 1<<SwingY | 1<<SwingZ,
	classSteered: 1<<LinearX | 1<<LinearZ | 1<<SwingZ, classAll: lockedPoint | lockedAngles,
}

// axes are the coordinates with a spring, a motor or limits.
func (j *Joint) axes() (set uint32) {
	for c := range j.Axes {
		if j.Axes[c].Parts != 0 {
			set |= 1 << c
		}
	}
	held := j.Locked
	if j.Soft&SoftAngular != 0 {
		held &^= lockedAngles
	}
	return set &^ held
}

// class is at least 1, or 0 for no joint.
func (j *Joint) class() uint8 {
	axes := j.axes()
	if j.Locked == 0 && axes == 0 {
		return 0
	}
	if j.Locked == lockedPoint && axes == 0 && j.Soft&SoftLinear == 0 {
		return classPoint
	}
	for c := classAxes; c < classAll; c++ {
		if j.Locked == lockedOf[c] {
			return uint8(c)
		}
	}
	return classAll
}

// JointBlock is up to Lanes joints of one class in a form for vectors, as ContactBlock is of contacts: lane i of each field belongs to
// joint i, and no two lanes share a dynamic body. The lanes from Joints on have the bodies of lane 0, and no state is written for
// them. What happens in a lane depends on no other lane.
type JointBlock struct {
	Joints   uint32 // lanes in use, from 0 on
	Class    uint32
	Parts    uint32 // index of the JointParts of the block, if its class is not classPoint
	Flags    uint32 // flagLocked
	DynamicA uint32 // bit i: the body of lane i is dynamic, and takes impulses
	DynamicB uint32
	_        [10]uint32 // so that each field below begins with a cache line

	A, B               [Lanes]uint32
	AnchorA, AnchorB   LaneVec  // in the axes of the world, before the step
	DeltaCentre        LaneVec  // from the centre of mass of A to that of B, before the step
	InertiaA, InertiaB SymLanes // the inverse inertias in the axes of the world

	// What the accumulated impulses do: an impulse on B, and the torques on A and B about their centres. As the bodies turn, the
	// torques of the same impulse change: each iteration with bias begins with the difference.
	Impulse, TorqueA, TorqueB LaneVec

	BiasRate, MassScale, ImpulseScale [Lanes]float32 // the softness of rows and limits
}

// JointParts is what a JointBlock of a class other than classPoint has in addition.
type JointParts struct {
	Locked  [Lanes]uint32 // bits of the coordinates that are locked
	Soft    [Lanes]uint32
	Axes    uint32     // bit c: a lane has a part of coordinate c
	AnySoft uint32     // of Soft of all lanes
	_       [14]uint32 // so that each field below begins with a cache line

	FrameA, FrameB, Target [4][Lanes]float32 // quaternions; those of the frames in the axes of the world, before the step
	Twist                  [Lanes]float32    // now
	Rows                   [NumRows][Lanes]float32
	Error                  [NumRows][Lanes]float32 // of soft rows, when the sub-step began
	Linear, Angular        DriveLanes
	Coordinates            [NumCoordinates]AxisLanes
}

// DriveLanes is a Drive in each lane.
type DriveLanes struct {
	BiasRate   [Lanes]float32
	Compliance [Lanes]float32 // in units of the inverse mass
	MaxImpulse [Lanes]float32
	Velocity   LaneVec
}

// AxisLanes is a JointAxis in each lane. Only lanes with a part use its fields.
type AxisLanes struct {
	Parts                                     [Lanes]uint32
	Target, BiasRate, MassScale, ImpulseScale [Lanes]float32
	LowerSpringImpulse, UpperSpringImpulse    [Lanes]float32
	MotorSpeed, MaxMotorImpulse               [Lanes]float32
	Lower, Upper                              [Lanes]float32
	Spring, Motor, LowerImpulse, UpperImpulse [Lanes]float32
	Error                                     [Lanes]float32 // of the spring when the sub-step began
}

// JointColours assigns joints to the lanes of blocks. The zero JointColours is ready for use.
type JointColours struct {
	graph.Colours

	version        uint64
	joints, bodies int
}

// update is Assign; it does nothing if version is that of the last call and not 0.
func (c *JointColours) update(version uint64, joints []Joint, order []uint32, invMass []float32) {
	if version == 0 || version != c.version || len(joints) != c.joints || len(invMass) != c.bodies {
		c.Assign(joints, order, invMass)
		c.version, c.joints, c.bodies = version, len(joints), len(invMass)
	}
}

// Assign gives a colour to each joint that takes part, as graph.Colours does, in the order of a list of joints, or of their numbers without a
// list. It panics if such a joint names a body that does not exist. Edges follow the order; Edge has numbers of joints.
func (c *JointColours) Assign(joints []Joint, order []uint32, invMass []float32) {
	c.assignRuns(joints, order, invMass)
	c.layOut(order)
}

// assignRuns is the first part of Assign: edges get runs, and no lanes yet.
func (c *JointColours) assignRuns(joints []Joint, order []uint32, invMass []float32) {
	n := len(joints)
	if order != nil {
		n = len(order)
	}
	c.InOrder = true
	c.Reset(n, numJointClasses, invMass)
	for i := range n {
		j := &joints[i]
		if order != nil {
			j = &joints[order[i]]
		}
		c.Edges.A[i], c.Edges.B[i], c.Edges.Class[i] = j.A, j.B, j.class()
	}
	c.AssignRange(0, n)
}

// layOut is the other part.
func (c *JointColours) layOut(order []uint32) {
	c.LayOut()
	c.Fill(0, len(c.Edges.Class))
	inOrder(c.Edge, order)
}

// inOrder replaces places in an order of joints by their numbers.
func inOrder(lanes, order []uint32) {
	if order == nil {
		return
	}
	for i, k := range lanes {
		if k != NoContact {
			lanes[i] = order[k]
		}
	}
}
