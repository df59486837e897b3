package rigid

import "github.com/evertick/evertick/internal/graph"

const (
	// LinearSlop is an overlap in metres that does not matter. Soft contacts rest with a smaller overlap, unless much
	// is stacked on them.
	LinearSlop = 0.005

	// SpeculativeDistance is the distance in metres up to which two shapes have contact points, which keep them
	// from passing each other in one step.
	SpeculativeDistance = 4 * LinearSlop

	// MaxVertices is the largest number of vertices of a shape.
	MaxVertices = 8

	// Lanes is the number of contacts in a ContactBlock.
	Lanes = graph.Lanes
)

// Vec is a point or a vector in the plane.
type Vec struct{ X, Y float32 }

// Shape is all points within Radius of a convex polygon, in the frame of its body. A
// polygon of one vertex is a disc, one of two vertices a capsule, or a segment if
// the radius is zero. Of three and more, the vertices are counter-clockwise and
// no three lie on a line.
//
// Normals[i] is the outward unit normal of the edge from vertex i to the next one; a
// polygon of two vertices has two edges, there and back.
type Shape struct {
	Vertices [MaxVertices]Vec
	Normals  [MaxVertices]Vec
	Centroid Vec // of the vertices' polygon; inside the shape
	Radius   float32
	Count    uint32 // of vertices; 0: no shape
}

// Poses are positions and rotations of bodies: the centre of mass, and cosine and
// sine of the angle.
type Poses struct {
	X, Y, Cos, Sin []float32
}

// Manifold is how two shapes touch, or nearly do. Normal points from shape A to shape B, and has length one if
// there are points.
type Manifold struct {
	Normal Vec
	Count  uint32 // of points: 0, 1 or 2
	Source Source
	Points [2]ManifoldPoint
}

// Source is how a manifold was made.
type Source uint32

const (
	Collided Source = iota // by Collide
	Recycled               // by Recycle, from the manifold of an earlier step
	Joined                 // by Seams, from that of Collide
)

// ManifoldPoint is a point where two shapes touch: halfway between their surfaces, relative to each centre of
// mass, in the axes of the world.
type ManifoldPoint struct {
	AnchorA, AnchorB Vec
	Separation       float32 // metres between the surfaces; negative: overlap
	ID               uint32  // the features that touch: the same from step to step while they do
}

// Contact holds the data of a pair that is kept from one step to the next.
type Contact struct {
	A, B           uint32 // shapes, A < B
	Count          uint32 // of points
	Flags          uint32
	RollingImpulse float32 // impulse of rolling resistance, N·m·s
	Points         [2]Impulse
}

// FlagBase is the flag of a Contact with a BaseManifold. The other flags are those of the program.
const FlagBase = 1

// BaseManifold is the manifold that Collide made of a contact with two points, and the rotations of the bodies then.
// Recycle makes later manifolds from it.
type BaseManifold struct {
	Normal               Vec
	Points               [2]BasePoint
	RotationA, RotationB Vec // cosine and sine
}

// BasePoint is a point of a BaseManifold, as in ManifoldPoint.
type BasePoint struct {
	AnchorA, AnchorB Vec
	Separation       float32
}

// Impulse holds the impulses of a contact point, in N·s.
type Impulse struct {
	Normal, Tangent float32
	ID              uint32
}

// State is a body as the solver sees it during a step: velocities, and its translation and rotation since the
// step began.
type State struct {
	VX, VY, W float32 // m/s, rad/s
	InvMass   float32 // 1/kg; 0: not dynamic
	DX, DY    float32 // metres
	C, S      float32 // cosine and sine of the rotation
}

// ContactBlock is up to Lanes contacts in a form for vectors: lane i of each field belongs to contact i. No two
// lanes share a body whose inverse mass is not zero. When prepared, the lanes from Contacts on have the bodies
// of lane 0 and zeros everywhere else. No state is written for them.
type ContactBlock struct {
	Contacts   uint32 // lanes in use, from 0 on
	PointsEach uint32 // 1 or 2; if 1, Points[1] and Coupling are unused
	Flags      uint32
	DynamicA   uint32 // bit i: the body of lane i is dynamic, and takes impulses
	DynamicB   uint32
	_          [11]uint32 // so that each field below begins with a cache line

	A, B             [Lanes]uint32 // bodies
	InvIA, InvIB     [Lanes]float32
	NormalX, NormalY [Lanes]float32
	Friction         [Lanes]float32
	Points           [2]ContactBlockPoint
	Coupling         [Lanes]float32 // normal velocity at one of two points per impulse at the other one, 1/kg

	Restitution, TangentSpeed      [Lanes]float32
	RollingResistance, RollingMass [Lanes]float32
	RollingImpulse                 [Lanes]float32
}

// Flags of a ContactBlock.
const (
	flagStaticBody   = 1 << iota // one body of each contact is not dynamic
	flagRestitution              // a contact has restitution
	flagRolling                  // a contact has rolling resistance
	flagTangentSpeed             // a contact has a tangent speed
)

// ContactBlockPoint is one point of each contact of a ContactBlock. With the normal n, a step needs only r×n
// and r·n of an anchor r: CrossA and DotA of that on body A. With the tangent t = (n.Y, -n.X), r×t is -r·n.
type ContactBlockPoint struct {
	CrossA, DotA                  [Lanes]float32 // metres
	CrossB, DotB                  [Lanes]float32
	BaseSeparation                [Lanes]float32 // before the step, metres
	NormalMass                    [Lanes]float32 // effective masses; of two points less by the factor twoPointScale
	TangentMass                   [Lanes]float32
	NormalImpulse, TangentImpulse [Lanes]float32 // accumulated impulses
	TotalNormalImpulse            [Lanes]float32 // sum of the normal impulses of all sub-steps
	RelativeVelocity              [Lanes]float32 // normal velocity before the step
}

// NoContact marks a lane without a contact.
const NoContact = graph.NoEdge
