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
	Locks   uint32  // those of the body if it is dynamic, else 0
	D       Vec     // metres
	Q       Quat
	_       float32
}

// inertiaRow is an inverse inertia as a row of eight numbers.
type inertiaRow struct {
	Sym
	_ [2]float32
}

// Locks of a body, as bits: no motion along an axis of the world, no rotation about one.
const (
	LockX = 1 << iota
	LockY
	LockZ
	LockRotationX
	LockRotationY
	LockRotationZ

	lockTranslation = LockX | LockY | LockZ
	lockRotation    = LockRotationX | LockRotationY | LockRotationZ
)

// unlocked returns a vector with zeros along the axes whose bits, from the lowest on, are set.
func (a Vec) unlocked(locks uint32) Vec {
	if locks&1 != 0 {
		a.X = 0
	}
	if locks&2 != 0 {
		a.Y = 0
	}
	if locks&4 != 0 {
		a.Z = 0
	}
	return a
}

// along returns what an impulse along a does to the velocity along b, both unit vectors, of a body with locks.
func (s *State) along(a, b Vec) float32 { return float32(s.InvMass * a.unlocked(s.Locks).Dot(b)) }

// turn returns the rotation since the step began as a vector: twice the vector part of the quaternion, with the sign of the shorter
// way. Its component along an axis is the angle for small turns.
func (s *State) turn() Vec {
	two := float32(2)
	if s.Q.W < 0 {
		two = -2
	}
	return s.Q.vector().Times(two)
}

// Contact holds the data of a pair that is kept from one step to the next.
type Contact struct {
	A, B    uint32 // shapes, A < B
	Count   uint32 // of points
	Flags   uint32
	Normal  [MaxPoints]Impulse
	Tangent Vec     // the friction impulse at the centre of the points, in the axes of the world, N·s
	Twist   float32 // the impulse about the normal, N·m·s
	Rolling Vec     // the impulse of rolling resistance, in the axes of the world, N·m·s
}

// Hit describes how hard a contact was hit.
type Hit struct {
	Speed   float32 // approach speed before the step, m/s; ≥ 0
	Impulse float32 // along the normal, of all points and sub-steps, N·s; 0: never touched
}

// Impulse is the normal impulse of a point, in N·s.
type Impulse struct {
	Impulse float32
	ID      uint32
}

// ContactBlock is up to Lanes contacts in a form for vectors: lane i of each field belongs to contact i. No two lanes share a body whose
// inverse mass is not zero. The lanes from Contacts on have the bodies of lane 0, and are unspecified otherwise; no state is written for
// them. So are points from PointsEach on.
//
// What happens in a lane depends on no other lane, not even in the sign of a zero: so the contacts of a colour may be in any blocks.
//
// All of a contact is in its frame: the normal n, the tangent t1, and t2 = n×t1, at the centre of its points. A point at the offset s from the
// centre has the coordinates A = s·t2 and B = -s·t1, so that r×n of its anchor is that of the centre plus A·t1 + B·t2, on both
// bodies. So the velocity of a point along the normal is that of the centre plus A·w1 + B·w2, with the relative angular velocity w,
// and the impulses of all points act as their sum at the centre and a torque about the tangents.
type ContactBlock struct {
	Contacts   uint32 // lanes in use, from 0 on
	PointsEach uint32 // 1 to 4
	Flags      uint32
	DynamicA   uint32 // bit i: the body of lane i is dynamic, and takes impulses
	DynamicB   uint32
	_          [11]uint32 // so that each field below begins with a cache line

	A, B               [Lanes]uint32 // bodies
	Normal, Tangent    LaneVec
	AnchorA, AnchorB   LaneVec           // of the centre
	InertiaA, InertiaB SymLanes          // the inverse inertias in the axes of the world
	Couplings          [6][Lanes]float32 // of points 0 and 1, 0 and 2, 0 and 3, 1 and 2, 1 and 3, 2 and 3, 1/kg
	FrictionMass       PlanarLanes       // along the tangents
	TwistMass          [Lanes]float32    // about the normal
	Twist1, Twist2     [Lanes]float32    // what an impulse along each tangent adds to the angular velocity about the normal
	Friction           [Lanes]float32
	X, Y, Twist        [Lanes]float32 // accumulated impulses along the tangents and about the normal
	Points             [MaxPoints]ContactBlockPoint

	Restitution        [Lanes]float32
	Approach           [MaxPoints][Lanes]float32 // normal velocity before the point was touched; 0: it has bounced, or was touched before
	RollingResistance  [Lanes]float32            // lever arms in metres
	TwistResistance    [Lanes]float32
	RollingMass        PlanarLanes    // about the tangents
	RollingX, RollingY [Lanes]float32 // accumulated impulses about the tangents
	SurfaceX, SurfaceY [Lanes]float32 // speed of a belt along the tangents

	RelativeVelocity [MaxPoints][Lanes]float32 // normal velocity before the step
}

// rolls reports whether a lane resists rolling or twisting.
func (b *ContactBlock) rolls(i int) bool {
	i &= Lanes - 1
	return b.RollingResistance[i] > 0 || b.TwistResistance[i] > 0
}

// LaneVec is a vector in each lane.
type LaneVec struct{ X, Y, Z [Lanes]float32 }

func (l *LaneVec) at(i int) Vec { return Vec{l.X[i], l.Y[i], l.Z[i]} }

func (l *LaneVec) set(i int, v Vec) { l.X[i], l.Y[i], l.Z[i] = v.X, v.Y, v.Z }

// SymLanes is a symmetric matrix in each lane.
type SymLanes struct{ XX, YY, ZZ, XY, XZ, YZ [Lanes]float32 }

func (l *SymLanes) set(i int, s *Sym) {
	l.XX[i], l.YY[i], l.ZZ[i], l.XY[i], l.XZ[i], l.YZ[i] = s.XX, s.YY, s.ZZ, s.XY, s.XZ, s.YZ
}

// x, y and z are the components of the product with a vector.
func (l *SymLanes) x(i int, v Vec) float32 {
	return (float32(l.XX[i]*v.X) + float32(l.XY[i]*v.Y)) + float32(l.XZ[i]*v.Z)
}

func (l *SymLanes) y(i int, v Vec) float32 {
	return (float32(l.XY[i]*v.X) + float32(l.YY[i]*v.Y)) + float32(l.YZ[i]*v.Z)
}

func (l *SymLanes) z(i int, v Vec) float32 {
	return (float32(l.XZ[i]*v.X) + float32(l.YZ[i]*v.Y)) + float32(l.ZZ[i]*v.Z)
}

// PlanarLanes is a symmetric matrix of two rows in each lane.
type PlanarLanes struct{ XX, YY, XY [Lanes]float32 }

func (m *PlanarLanes) mul(i int, x, y float32) (float32, float32) {
	return float32(m.XX[i]*x) + float32(m.XY[i]*y), float32(m.XY[i]*x) + float32(m.YY[i]*y)
}

// setInverse sets the inverse of a matrix. Where one row is a multiple of the other, as it is of bodies that locks let move along a line
// only, that is the pseudo-inverse: the matrix divided by the square of its trace. No body without locks comes near that.
func (m *PlanarLanes) setInverse(i int, xx, yy, xy float32) {
	square := float32(xx * yy)
	d := square - float32(xy*xy)
	if d > float32(singular*square) {
		d = inverse(d)
		m.XX[i], m.YY[i], m.XY[i] = float32(yy*d), float32(xx*d), -float32(xy*d)
		return
	}
	d = inverse(xx + yy)
	d = float32(d * d)
	m.XX[i], m.YY[i], m.XY[i] = float32(xx*d), float32(yy*d), float32(xy*d)
}

// singular is the determinant of a matrix, relative to the product of its diagonal, that rounding alone can make.
const singular = 0x1p-16

// ContactBlockPoint is one point of each contact of a ContactBlock.
type ContactBlockPoint struct {
	A, B           [Lanes]float32 // see ContactBlock, metres
	BaseSeparation [Lanes]float32 // before the step, metres
	Separation     [Lanes]float32 // now; positions do not change between an iteration without bias and the next with it, so the latter reads it
	Mass           [Lanes]float32 // effective mass along the normal
	Impulse        [Lanes]float32 // accumulated
	TotalImpulse   [Lanes]float32 // sum over all sub-steps
	LeverArm       [Lanes]float32 // distance from the centre, metres
}

// Flags of a ContactBlock.
const (
	flagStaticBody  = 1 << iota // one body of each contact is not dynamic
	flagRestitution             // a contact has restitution
	flagRolling                 // a contact has rolling or twist resistance
	flagLocked                  // a dynamic body has locks
	flagSurface                 // a contact is with a belt
)

// NoContact marks a lane without a contact.
const NoContact = graph.NoEdge
