package rigid3

import "github.com/evertick/evertick/internal/mesh"

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
	if k.isBeside(f) {
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

// collideCapsule finds the contact of a capsule: with the normal of the triangle, the points are the ends of the part of the segment that is above
// it; with that of an edge it is the closest point, or two if both are almost parallel. The edge counts where it is nearer and allows the direction.
func (k *SurfaceCollider) collideCapsule(f *surfaceFace) {
	s := segment64{k.half.neg(), k.half}
	if s.p == s.q {
		k.collideSphere(f)
		return
	}
	hp, hq := f.height(s.p), f.height(s.q)
	if min(hp, hq) > float64(k.margin) || k.isBeside(f) {
		return
	}
	first := len(k.points)
	cut := k.clipSegment(f, s, hp, hq)
	if hp < 0 != (hq < 0) && f.isAbove(s.at(hp/(hp-hq))) {
		if k.edgeThrough(f, s, float32(min(hp, hq))) {
			return
		}
		if len(k.points) == first {
			end, id := s.p, vertexID(0)
			if hq < hp {
				end, id = s.q, vertexID(1)
			}
			k.points = append(k.points, contactPoint{end.narrow(), float32(min(hp, hq)), id})
		}
		if least := nearest(k.points[first:]); least < -edgeTolerance && f.convex {
			if i, overlap, d := f.bestEdge(s, nil); i >= 0 && overlap > float64(least+edgeTolerance) {
				p := k.points[first]
				p.separation = minFloat(float32(overlap), 0)
				k.points = k.points[:first]
				if d.Dot(f.normal) <= 0 {
					d = f.normal
				}
				k.addPoint(f, f.up, p, true, d)
				return
			}
		}
		k.addPoints(f, f.up, first)
		return
	}
	clipped := len(k.points) > first
	below := clipped && nearest(k.points[first:]) < 0
	if below && (f.flat || cut >= 0 && f.edges[cut] == mesh.Flat) {
		k.addPoints(f, f.up, first) // it passes through a neighbour in the same plane
		return
	}
	c, above := f.closestToSegment(s, hp, hq)
	if !(c.square <= float32(k.margin*k.margin)) {
		k.points = k.points[:first]
		return
	}
	distance := sqrt(c.square)
	d := c.onB.Sub(c.onA).wide64().unit(f.normal)
	fits := clipped && !below && nearest(k.points[first:]) <= distance+referenceTolerance
	switch {
	case fits && (above || d.Dot(f.normal) > faceCosine):
		k.addPoints(f, f.up, first)
	case k.allows(f, c.edge, float64(c.at), d):
		k.points = k.points[:first]
		k.pointsBeside(f, s, &c, distance, d)
	default:
		if below {
			k.points = k.points[:first]
		}
		k.addPoints(f, f.up, first)
		if !fits && d.Dot(f.normal) > 0 {
			k.addPoint(f, f.up, contactPoint{c.onB, distance, c.id}, true, d)
		}
	}
}

// segment64 is the core of a capsule.
type segment64 struct{ p, q vec64 }

func (s *segment64) at(t float64) vec64 { return s.p.addTimes(s.q.Sub(s.p), t) }

func (s *segment64) narrow() segment { return segment{s.p.narrow(), s.q.narrow()} }

// clipSegment adds the ends of the part of a segment that is above a triangle, given the heights of its ends, if they are near enough. It returns the
// edge at which the higher end of that part is, or -1.
func (k *SurfaceCollider) clipSegment(f *surfaceFace, s segment64, hp, hq float64) (cut int) {
	cut = -1
	lo, hi, idLo, idHi := 0., 1., vertexID(0), vertexID(1)
	for i := range 3 {
		switch f.outside(i, s.p) + f.outside(i, s.q) {
		case 2:
			return -1
		case -2:
			continue
		}
		f.setSide(i)
		dp, dq := f.side[i].Dot(s.p)-f.beside[i]-sideTolerance, f.side[i].Dot(s.q)-f.beside[i]-sideTolerance
		if dp > 0 && dq > 0 {
			return -1
		}
		if dp > 0 || dq > 0 {
			at, id := dp/(dp-dq), f.edgeID(i, 0)
			if dp > 0 && at > lo {
				lo, idLo = at, id
				if hp > hq {
					cut = i
				}
			} else if dq > 0 && at < hi {
				hi, idHi = at, id
				if hp <= hq {
					cut = i
				}
			}
		}
	}
	if lo > hi {
		return -1
	}
	if h := float32(hp + float64((hq-hp)*lo)); h <= k.margin {
		k.points = append(k.points, contactPoint{s.at(lo).narrow(), h, idLo})
	}
	if h := float32(hp + float64((hq-hp)*hi)); h <= k.margin && hi > lo {
		k.points = append(k.points, contactPoint{s.at(hi).narrow(), h, idHi})
	}
	return cut
}

// sideContact is the closest points of a triangle and a segment.
type sideContact struct {
	onA, onB Vec
	square   float32 // of their distance
	edge     int     // that onA is on, at a place from 0 to 1
	at       float32
	id       uint32
}

// closestToSegment returns the closest points of the sides of a triangle and a segment that does not pass through it. It reports whether an end of
// the segment is as near above the triangle.
func (f *surfaceFace) closestToSegment(s segment64, hp, hq float64) (c sideContact, above bool) {
	n := s.narrow()
	along := n.q.Sub(n.p)
	c.square = maxFinite
	for i := range 3 {
		from := f.corners[i].narrow()
		edge := f.corners[(i+1)%3].Sub(f.corners[i]).narrow()
		x, y := closestOnSegments(from, edge, n.p, along)
		onA, onB := from.addTimes(edge, x), n.at(y)
		d := onB.Sub(onA)
		if square := d.Dot(d); square < c.square {
			id := f.edgeID(i, 0)
			if y == 0 {
				id = vertexID(0)
			} else if y == 1 {
				id = vertexID(1)
			}
			c = sideContact{onA, onB, square, i, x, id}
		}
	}
	// The closest point of the triangle is above no side of it if that is as near but for rounding.
	limit := float64(c.square) * (1 + 1e-6)
	above = hp >= 0 && float64(hp*hp) <= limit && f.isAbove(s.p) || hq >= 0 && float64(hq*hq) <= limit && f.isAbove(s.q)
	if above {
		if h := float32(min(hp, hq)); h >= 0 {
			c.square = minFloat(float32(h*h), c.square)
		}
	}
	return c, above
}

// pointsBeside makes the contact of a segment with an edge.
func (k *SurfaceCollider) pointsBeside(f *surfaceFace, s segment64, c *sideContact, distance float32, d vec64) {
	first := len(k.points)
	edge := segment{f.corners[c.edge].narrow(), f.corners[(c.edge+1)%3].narrow()}
	k.points = append(k.points, besidePoints(edge, s.narrow(), d.narrow(), k.margin, 0, k.clipping.points[:0])...)
	for i := range k.points[first:] {
		k.points[first+i].id = f.edgeID(c.edge, 1+i)
	}
	if len(k.points) == first {
		k.points = append(k.points, contactPoint{c.onB, distance, c.id})
	}
	k.addPoints(f, k.toSurface(d), first)
}

// edgeThrough makes the contact of an edge with a segment that passes through the triangle, if one allows a normal at a right angle to both along
// which it is less deep than along the normal of the triangle, by a tolerance.
func (k *SurfaceCollider) edgeThrough(f *surfaceFace, s segment64, depth float32) bool {
	if !f.convex {
		return false
	}
	best, most, normal := f.bestEdge(s, k)
	if best < 0 || !(most > float64(depth+edgeTolerance)) {
		return false
	}
	from, seg := f.corners[best].narrow(), s.narrow()
	_, at := closestOnSegments(from, f.corners[(best+1)%3].Sub(f.corners[best]).narrow(), seg.p, seg.q.Sub(seg.p))
	k.addPoint(f, k.toSurface(normal), contactPoint{seg.at(at), float32(most), f.edgeID(best, 0)}, false, vec64{})
	return true
}

// bestEdge returns the edge whose cross product with a segment separates most: of the ridges, or of those that the surface of k allows if that is not
// nil. Beyond any other edge the surface goes on, and the segment with it.
func (f *surfaceFace) bestEdge(s segment64, k *SurfaceCollider) (best int, most float64, normal vec64) {
	best, most = -1, -maxFinite
	along := s.q.Sub(s.p)
	for i := range 3 {
		if !isRidge(f.edges[i]) {
			continue
		}
		n, ok := f.edgeAxis(i, along)
		if !ok {
			continue
		}
		if d := n.Dot(s.p.Sub(f.corners[i])); d > most && (k == nil || k.edgeAllows(f, i, n)) {
			best, most, normal = i, d, n
		}
	}
	return best, most, normal
}
