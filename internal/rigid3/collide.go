package rigid3

import (
	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/native"
)

// CollidePairs finds where the shapes of each pair touch: out[i] is the manifold of pair i, with points whose separation is at most
// SpeculativeDistance. Count 0, with zeros everywhere, means that the two are farther apart, or nearly so. bodyOf holds the body of each
// shape. Pairs do not depend on each other: each worker can take a part of pairs and out. If recycled is not nil, out[i] is left as it is
// where recycled[i] ≥ 0, since Recycle has made it.
//
// A sphere or a capsule comes after a polyhedron in the computation, whichever is A, so that one result is the mirror image of the other.
// There are no points if a pose is not finite, or its rotation is far from length one, nor if shapes are larger or farther apart than 2²⁴ m.
//
// CollidePairs panics if slices that belong together differ in length, if a pair names a shape that does not exist, or a shape a body that
// does not; out is then unspecified.
func CollidePairs(level native.Level, shapes []Shape, hulls *Hulls, bodyOf []uint32, poses []Pose, pairs *broad.Pairs, recycled []int32, out []Manifold) {
	if len(bodyOf) != len(shapes) {
		panic("rigid3: CollidePairs: shapes and bodyOf differ in length")
	}
	if len(pairs.A) != len(out) || len(pairs.B) != len(out) || recycled != nil && len(recycled) != len(out) {
		panic("rigid3: CollidePairs: pairs, recycled and out differ in length")
	}
	k := kernelsOf(level)
	if len(out) < collideBreakEven {
		k = &goKernels
	}
	s := placedShapes{shapes, hulls, bodyOf, poses}
	if !k.collide(s, pairs, recycled, out) {
		panic("rigid3: CollidePairs: a pair names no shape, or a shape no body")
	}
}

// collideBreakEven is the number of pairs from which on a kernel gains more than its call costs.
const collideBreakEven = 3

// placedShapes is shapes on bodies.
type placedShapes struct {
	shapes []Shape
	hulls  *Hulls
	bodyOf []uint32
	poses  []Pose
}

func (s placedShapes) collideGo(pairs *broad.Pairs, recycled []int32, out []Manifold) bool {
	shapes, bodyOf, poses := s.shapes, s.bodyOf, s.poses
	var k collider
	for i := range out {
		a, b := pairs.A[i], pairs.B[i]
		if uint(a) >= uint(len(shapes)) || uint(b) >= uint(len(shapes)) || uint(bodyOf[a]) >= uint(len(poses)) || uint(bodyOf[b]) >= uint(len(poses)) {
			return false
		}
		if recycled == nil || recycled[i] < 0 {
			out[i] = Manifold{}
			k.collide(&shapes[a], &shapes[b], s.hulls, &poses[bodyOf[a]], &poses[bodyOf[b]], &out[i])
		}
	}
	return true
}

// collider is memory for the computation of a manifold.
type collider struct {
	boxA, boxB boxArrays
	clipping   clipping
}

// collide makes a manifold, which is zero before.
func (k *collider) collide(a, b *Shape, hulls *Hulls, poseA, poseB *Pose, m *Manifold) {
	rankA, rankB := a.Kind.rank(), b.Kind.rank()
	if rankA == 0 || rankB == 0 {
		return
	}
	if rankB > rankA {
		k.collideRanked(b, a, hulls, poseB, poseA, m)
		m.swap()
		return
	}
	k.collideRanked(a, b, hulls, poseA, poseB, m)
}

// rank orders shapes: spheres, capsules, polyhedra.
func (k Kind) rank() int {
	switch k {
	case KindSphere, KindCapsule:
		return int(k)
	case KindBox, KindHull:
		return 3
	}
	return 0
}

// swap exchanges A and B.
func (m *Manifold) swap() {
	if m.Count == 0 {
		return
	}
	m.Normal = m.Normal.neg()
	for i := range m.Points[:m.Count] {
		p := &m.Points[i]
		p.AnchorA, p.AnchorB = p.AnchorB, p.AnchorA
	}
}

// collideRanked is collide for shapes of which B has no higher rank.
func (k *collider) collideRanked(a, b *Shape, hulls *Hulls, poseA, poseB *Pose, m *Manifold) {
	apart := poseB.P.Sub(poseA.P)
	originA, originB := poseA.Q.Rotate(a.Pose.P), poseB.Q.Rotate(b.Pose.P)
	qA, qB := poseA.Q.Mul(a.Pose.Q), poseB.Q.Mul(b.Pose.Q)
	d := apart.Add(originB.Sub(originA))
	if !(qA.absSum() <= maxQuat && qB.absSum() <= maxQuat && (a.Half.absSum()+b.Half.absSum())+(d.absSum()+(abs(a.Radius)+abs(b.Radius))) <= maxReach) {
		return
	}
	// The pose of b as seen from a.
	world := qA.Matrix()
	f := frame{qA.Inverse().Mul(qB).Normalize().Matrix(), world.MulTransposed(d)}
	margin := (a.Radius + b.Radius) + SpeculativeDistance
	var normal Vec
	var points []contactPoint
	switch rankA, rankB := a.Kind.rank(), b.Kind.rank(); {
	case a.Kind == KindBox && b.Kind == KindBox:
		normal, points = collideBoxes(a.Half, b.Half, &f, margin, &k.clipping)
	case rankB == 3:
		coreA, coreB := a.polytope(hulls, &k.boxA), b.polytope(hulls, &k.boxB)
		if len(coreA.Planes) > 0 && len(coreB.Planes) > 0 {
			normal, points = collideHulls(&coreA, &coreB, &f, margin, &k.clipping)
		}
	case rankA == 3:
		if coreA := a.polytope(hulls, &k.boxA); len(coreA.Planes) > 0 {
			normal, points = collideSegment(&coreA, b.segment(&f), margin, &k.clipping)
		}
	default:
		normal, points = collideSegments(segment{a.Half.neg(), a.Half}, b.segment(&f), margin, k.clipping.points[:0])
	}
	if len(points) == 0 {
		return
	}
	sortByID(points)
	m.Normal, m.Count = world.Mul(normal), uint32(len(points))
	for i := range points {
		p, to := &points[i], &m.Points[i]
		// Halfway between the surfaces.
		middle := p.p.addTimes(normal, float32(-0.5*(p.separation+(b.Radius-a.Radius))))
		to.AnchorA = world.Mul(middle).Add(originA)
		to.AnchorB = to.AnchorA.Sub(apart)
		to.Separation = p.separation - (a.Radius + b.Radius)
		to.ID = p.id
	}
}

const (
	// maxQuat bounds the sum of the absolute numbers of a quaternion, which is at most 2 for a rotation.
	maxQuat = 4

	// maxReach bounds coordinates in metres, so that no square of them overflows.
	maxReach = 1 << 24
)

func (q Quat) absSum() float32 { return (abs(q.X) + abs(q.Y)) + (abs(q.Z) + abs(q.W)) }

func (a Vec) absSum() float32 { return (abs(a.X) + abs(a.Y)) + abs(a.Z) }

// segment returns the core of a sphere or a capsule.
func (s *Shape) segment(f *frame) segment {
	return segment{f.Transform(s.Half.neg()), f.Transform(s.Half)}
}
