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
// If the pose of a core in the world is not finite, or the manifold would not be, there are no points. A rotation whose length is not one
// gives meaningless points.
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
	if !collidePairsGo(shapes, hulls, bodyOf, poses, pairs, recycled, out) {
		panic("rigid3: CollidePairs: a pair names no shape, or a shape no body")
	}
}

func collidePairsGo(shapes []Shape, hulls *Hulls, bodyOf []uint32, poses []Pose, pairs *broad.Pairs, recycled []int32, out []Manifold) bool {
	var k collider
	for i := range out {
		a, b := pairs.A[i], pairs.B[i]
		if uint(a) >= uint(len(shapes)) || uint(b) >= uint(len(shapes)) || uint(bodyOf[a]) >= uint(len(poses)) || uint(bodyOf[b]) >= uint(len(poses)) {
			return false
		}
		if recycled == nil || recycled[i] < 0 {
			out[i] = Manifold{}
			k.collide(&shapes[a], &shapes[b], hulls, &poses[bodyOf[a]], &poses[bodyOf[b]], &out[i])
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
	// The pose of b as seen from a.
	worldA, worldB := poseA.times(&a.Pose), poseB.times(&b.Pose)
	if !worldA.finite() || !worldB.finite() {
		return
	}
	relative := Pose{worldA.Q.Unrotate(worldB.P.sub(worldA.P)), worldA.Q.Inverse().Mul(worldB.Q).Normalize()}
	margin := (a.Radius + b.Radius) + SpeculativeDistance
	var normal Vec
	var points []contactPoint
	switch rankA, rankB := a.Kind.rank(), b.Kind.rank(); {
	case rankB == 3:
		coreA, coreB := a.polytope(hulls, &k.boxA), b.polytope(hulls, &k.boxB)
		if len(coreA.Planes) > 0 && len(coreB.Planes) > 0 {
			normal, points = collideHulls(&coreA, &coreB, relative, margin, &k.clipping)
		}
	case rankA == 3:
		if coreA := a.polytope(hulls, &k.boxA); len(coreA.Planes) > 0 {
			normal, points = collideSegment(&coreA, b.segment(&relative), margin, k.clipping.points[:0])
		}
	default:
		normal, points = collideSegments(segment{a.Half.neg(), a.Half}, b.segment(&relative), margin, k.clipping.points[:0])
	}
	if len(points) == 0 {
		return
	}
	sortByID(points)
	m.Normal, m.Count = worldA.Q.Rotate(normal), uint32(len(points))
	originA, originB := worldA.P.sub(poseA.P), worldA.P.sub(poseB.P)
	sum := m.Normal.X + m.Normal.Y + m.Normal.Z
	for i := range points {
		p := &points[i]
		// Halfway between the surfaces.
		middle := p.p.addTimes(normal, float32(-0.5*(p.separation+(b.Radius-a.Radius))))
		at := worldA.Q.Rotate(middle)
		to := &m.Points[i]
		to.AnchorA, to.AnchorB = at.add(originA), at.add(originB)
		to.Separation = p.separation - (a.Radius + b.Radius)
		to.ID = p.id
		sum += (to.AnchorA.X + to.AnchorA.Y + to.AnchorA.Z) + (to.AnchorB.X + to.AnchorB.Y + to.AnchorB.Z) + to.Separation
	}
	if sum-sum != 0 {
		*m = Manifold{}
	}
}

// segment returns the core of a sphere or a capsule.
func (s *Shape) segment(pose *Pose) segment {
	return segment{pose.transform(s.Half.neg()), pose.transform(s.Half)}
}
