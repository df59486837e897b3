package rigid3

// addPoint makes a contact with one point. toward is the line of the closest points of a spare contact.
func (k *SurfaceCollider) addPoint(f *surfaceFace, normal vec64, p contactPoint, spare bool, toward vec64) {
	first := int32(len(k.points))
	k.points = append(k.points, p)
	k.contacts = append(k.contacts, faceContact{normal: normal, toward: toward, first: first, end: first + 1, depth: p.separation, face: f.Number, spare: spare})
}

// addPoints makes a contact with the points from a place on, if there are any.
func (k *SurfaceCollider) addPoints(f *surfaceFace, normal vec64, first int) {
	if first < len(k.points) {
		depth := nearest(k.points[first:])
		k.contacts = append(k.contacts, faceContact{normal: normal, first: int32(first), end: int32(len(k.points)), depth: depth, face: f.Number})
	}
}

// collideSphere finds the contact of a sphere: with the normal of the triangle if the centre is above that, else with the closest point of its sides
// if these allow it. If not, a neighbour is nearer, unless it has its back there: then the contact is spare.
func (k *SurfaceCollider) collideSphere(f *surfaceFace) {
	height, margin := -f.offset, float64(k.margin)
	if height > margin {
		return
	}
	if f.isAbove(vec64{}) {
		k.addPoint(f, f.up, contactPoint{separation: float32(height), id: vertexID(0)}, false, vec64{})
		return
	}
	edge, at, point, square := f.closestOnSides(vec64{})
	if !(square <= float64(margin*margin)) {
		return
	}
	d := point.neg()
	distance := d.length()
	d = d.unit(f.normal)
	p := contactPoint{separation: float32(distance), id: vertexID(0)}
	if k.allows(f, edge, at, d) {
		k.addPoint(f, k.toSurface(d), p, false, vec64{})
	} else {
		k.addPoint(f, f.up, p, true, k.toSurface(d))
	}
}

// closestOnSides returns the point of the sides of a triangle that is closest to p, the first of equals: on edge i, at a place from 0 to 1.
func (f *surfaceFace) closestOnSides(p vec64) (edge int, at float64, point vec64, square float64) {
	for i := range 3 {
		from, along := f.corners[i], f.corners[(i+1)%3].Sub(f.corners[i])
		t := 0.
		if d := p.Sub(from).Dot(along); d > 0 {
			if length := along.Dot(along); d < length {
				t = d / length
			} else {
				t = 1
			}
		}
		q := from.addTimes(along, t)
		if t == 1 {
			q = f.corners[(i+1)%3]
		}
		if d := q.Sub(p); i == 0 || d.Dot(d) < square {
			edge, at, point, square = i, t, q, d.Dot(d)
		}
	}
	return edge, at, point, square
}

func (k *SurfaceCollider) collideCapsule(f *surfaceFace) {}

func (k *SurfaceCollider) collidePolytope(f *surfaceFace) {}
