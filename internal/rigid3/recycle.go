package rigid3

const (
	// recycleDistance is by how much, in metres, the points of a contact may each have parted since Collide made the base manifold.
	// recycleShare bounds it as a share of the extent of the points.
	recycleDistance = SpeculativeDistance
	recycleShare    = 0.1

	// recycleTurn is the angle in radians by which each body may have turned.
	recycleTurn = 0.02
)

// BaseManifold is a manifold that Collide made, and the rotations of the bodies then. Recycle makes later manifolds from it.
type BaseManifold struct {
	Manifold             Manifold
	RotationA, RotationB Quat
	limit                float32
}

// NewBase returns a base, and whether the manifold can be one: it has at least two points.
func NewBase(m *Manifold, a, b *Pose) (base BaseManifold, ok bool) {
	if m.Count < 2 {
		return BaseManifold{}, false
	}
	least := float32(maxFinite)
	for i := range m.Points[:m.Count] {
		farthest := float32(0)
		for k := range m.Points[:m.Count] {
			d := m.Points[i].AnchorA.sub(m.Points[k].AnchorA)
			farthest = maxFloat(d.dot(d), farthest)
		}
		least = minFloat(farthest, least)
	}
	return BaseManifold{*m, a.Q, b.Q, minFloat(float32(recycleShare*sqrt(least)), recycleDistance)}, true
}

// Recycle makes a manifold of a contact whose bodies have hardly moved since Collide made its base: the normal and the anchors stay those
// of the base, in the axes of the world, and only the separations are computed anew. That saves time, and it is what lets a tower
// stand: if the anchors of each step followed the slight tilt of the boxes, the weight above would tilt them further. (Catto, "contact
// recycling", Box2D 3.2.)
//
// Let p and q be a point of the base as it is now on body A and on body B, to first order of the rotations, and n the normal. A contact
// is recycled if each body has turned by less than recycleTurn; for all points q - p is shorter than recycleDistance, along n and across,
// and than recycleShare of the extent of the points; and all separations are at most SpeculativeDistance. NaN makes each of these false.
func (base *BaseManifold) Recycle(a, b *Pose) (m Manifold, ok bool) {
	turnA, turnB := turnSince(base.RotationA, a.Q), turnSince(base.RotationB, b.Q)
	const most = recycleTurn * recycleTurn
	if !(turnA.dot(turnA) < most && turnB.dot(turnB) < most) {
		return Manifold{}, false
	}
	m = base.Manifold
	n, moved, limit := m.Normal, b.P.sub(a.P), float32(base.limit*base.limit)
	for i := range m.Points[:m.Count] {
		p := &m.Points[i]
		d := moved.add(p.AnchorB.sub(p.AnchorA)).add(turnB.cross(p.AnchorB).sub(turnA.cross(p.AnchorA)))
		along := d.dot(n)
		across := d.addTimes(n, -along)
		p.Separation += along
		if !(float32(along*along) < limit && across.dot(across) < limit && p.Separation <= SpeculativeDistance) {
			return Manifold{}, false
		}
	}
	return m, true
}

// turnSince returns the rotation from one orientation to another as a vector: its angle times its axis, to second order.
func turnSince(from, to Quat) Vec {
	s := State{Q: to.Mul(from.Inverse())}
	return s.turn()
}
