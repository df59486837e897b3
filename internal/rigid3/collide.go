package rigid3

// Shape is all points within Radius of a polytope, in the frame of its body, whose origin is the centre of mass.
type Shape struct {
	Core *Polytope
	// Pose is that of the core in the body.
	Pose   Pose
	Radius float32
}

// Collide finds where two shapes touch: a manifold with points whose separation is at most SpeculativeDistance, in the axes of the world.
// Count 0, with zeros everywhere, means that the two are farther apart, or nearly so. A ball or a capsule comes after a polyhedron in the
// computation, whichever is A, so that one result is the mirror image of the other.
func Collide(a, b *Shape, poseA, poseB *Pose) Manifold {
	if rank(b.Core) > rank(a.Core) {
		m := Collide(b, a, poseB, poseA)
		m.Normal = m.Normal.neg()
		if m.Count == 0 {
			m.Normal = Vec{}
		}
		for i := range m.Points[:m.Count] {
			p := &m.Points[i]
			p.AnchorA, p.AnchorB = p.AnchorB, p.AnchorA
		}
		return m
	}
	// The pose of b as seen from a.
	worldA := Pose{poseA.transform(a.Pose.P), poseA.Q.Mul(a.Pose.Q)}
	worldB := Pose{poseB.transform(b.Pose.P), poseB.Q.Mul(b.Pose.Q)}
	relative := Pose{worldA.Q.Unrotate(worldB.P.sub(worldA.P)), worldA.Q.Inverse().Mul(worldB.Q).Normalize()}
	margin := (a.Radius + b.Radius) + SpeculativeDistance
	var buffer [2 * MaxPoints]contactPoint
	var normal Vec
	var points []contactPoint
	switch {
	case len(b.Core.Faces) > 0:
		normal, points = collideHulls(a.Core, b.Core, relative, margin, buffer[:0])
	case len(a.Core.Faces) > 0:
		normal, points = collideSegment(a.Core, b.Core.segment(&relative), margin, buffer[:0])
	default:
		normal, points = collideSegments(a.Core.segment(&Pose{Q: Identity}), b.Core.segment(&relative), margin, buffer[:0])
	}
	var m Manifold
	if len(points) == 0 {
		return m
	}
	sortByID(points)
	m.Normal, m.Count = worldA.Q.Rotate(normal), uint32(len(points))
	for i := range points {
		p := &points[i]
		// Halfway between the surfaces.
		middle := p.p.addTimes(normal, float32(-0.5*(p.separation+(b.Radius-a.Radius))))
		at := worldA.Q.Rotate(middle)
		m.Points[i] = ManifoldPoint{
			AnchorA:    at.add(worldA.P.sub(poseA.P)),
			AnchorB:    at.add(worldA.P.sub(poseB.P)),
			Separation: p.separation - (a.Radius + b.Radius),
			ID:         p.id,
		}
	}
	return m
}

// rank orders shapes: points, segments, polyhedra.
func rank(t *Polytope) int { return min(len(t.Vertices), 3) }

// segment returns the core of a ball or a capsule.
func (t *Polytope) segment(pose *Pose) segment {
	return segment{pose.transform(t.Vertices[0]), pose.transform(t.Vertices[len(t.Vertices)-1])}
}
