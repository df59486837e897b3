package rigid3

import "github.com/evertick/evertick/internal/graph"

// Lanes is the number of contacts in a ContactBlock.
const Lanes = graph.Lanes

// State is a body as the solver sees it during a step, in one cache line: velocities, and its translation and rotation since the
// step began.
type State struct {
	V       Vec     // m/s
	InvMass float32 // 1/kg; 0: not dynamic
	W       Vec     // rad/s
	_       float32
	D       Vec // metres
	Q       Quat
	_       float32
}

// turn returns the rotation since the step began as a vector: twice the vector part of the quaternion, with the sign of the shorter
// way. Its component along an axis is the angle for small turns.
func (s *State) turn() Vec {
	two := float32(2)
	if s.Q.W < 0 {
		two = -2
	}
	return s.Q.vector().times(two)
}

// Contact holds the data of a pair that is kept from one step to the next.
type Contact struct {
	A, B    uint32 // shapes, A < B
	Count   uint32 // of points
	Normal  [MaxPoints]Impulse
	Tangent Vec     // the friction impulse at the centre of the points, in the axes of the world, N·s
	Twist   float32 // the impulse about the normal, N·m·s
	Rolling Vec     // the impulse of rolling resistance, in the axes of the world, N·m·s
}

// Impulse is the normal impulse of a point, in N·s.
type Impulse struct {
	Impulse float32
	ID      uint32
}

// ContactBlock is up to Lanes contacts in a form for vectors: lane i of each field belongs to contact i. No two lanes share a body whose
// inverse mass is not zero. The lanes from Contacts on have the bodies of lane 0 and zeros everywhere else.
type ContactBlock struct {
	Contacts   uint32 // lanes in use, from 0 on
	PointsEach uint32 // 1 to 4
	Flags      uint32
	DynamicA   uint32 // bit i: the body of lane i is dynamic, and takes impulses
	DynamicB   uint32
	_          [11]uint32 // so that each field below begins with a cache line

	A, B               [Lanes]uint32 // bodies
	InvMassA, InvMassB [Lanes]float32
	Normal             LaneVec
	Tangent            LaneVec // the first tangent; the second is Tangent × Normal
	Points             [MaxPoints]ContactBlockPoint
	Couplings          [6][Lanes]float32 // of points 0 and 1, 0 and 2, 0 and 3, 1 and 2, 1 and 3, 2 and 3, 1/kg
	Friction           FrictionRows
	Restitution        [Lanes]float32
	RollingResistance  [Lanes]float32 // lever arms in metres
	TwistResistance    [Lanes]float32
	RollingX, RollingY [Lanes]float32 // accumulated impulses about the tangents
	RollingMass        SymLanes       // about the tangents
	R1A, R1B, R2A, R2B LaneVec        // I⁻¹ times each tangent
	SurfaceX, SurfaceY [Lanes]float32 // speed of a belt along the tangents
}

// LaneVec is a vector in each lane.
type LaneVec struct{ X, Y, Z [Lanes]float32 }

func (l *LaneVec) at(i int) Vec { return Vec{l.X[i], l.Y[i], l.Z[i]} }

func (l *LaneVec) set(i int, v Vec) { l.X[i], l.Y[i], l.Z[i] = v.X, v.Y, v.Z }

// SymLanes is a symmetric matrix of two rows in each lane.
type SymLanes struct{ XX, YY, XY [Lanes]float32 }

// ContactBlockPoint is one point of each contact of a ContactBlock. With the anchor r and the normal n, J = r×n is how an angular
// velocity moves the point along the normal, and K = I⁻¹·J is how an impulse along the normal changes the angular velocity.
type ContactBlockPoint struct {
	JA, JB, KA, KB   LaneVec
	BaseSeparation   [Lanes]float32 // before the step, metres
	Mass             [Lanes]float32 // effective mass along the normal
	Impulse          [Lanes]float32 // accumulated
	TotalImpulse     [Lanes]float32 // sum over all sub-steps
	ApproachVelocity [Lanes]float32 // along the normal, before the point was touched; 0: it has bounced, or was touched before
	LeverArm         [Lanes]float32 // distance from the centre of friction, metres
}

// FrictionRows are the constraints of a contact at the centre of its points: along two tangents, and about the normal.
type FrictionRows struct {
	J1A, J1B, K1A, K1B LaneVec // along the first tangent
	J2A, J2B, K2A, K2B LaneVec // along the second
	TwistA, TwistB     LaneVec // I⁻¹·n
	Mass               SymLanes
	TwistMass          [Lanes]float32
	Coefficient        [Lanes]float32
	X, Y, Twist        [Lanes]float32 // accumulated impulses
}

// Flags of a ContactBlock.
const (
	flagStaticBody  = 1 << iota // one body of each contact is not dynamic
	flagRestitution             // a contact has restitution
	flagRolling                 // a contact has rolling or twist resistance
)

// NoContact marks a lane without a contact.
const NoContact = graph.NoEdge
