package rigid3

const (
	// faceCosine is the cosine of the angle between the line of the closest points and the normal of a face up to which a segment
	// lies on that face, with two points.
	faceCosine = 0.999

	// parallelSegments bounds the squared sine of the angle of two segments that lie beside each other, with two points.
	parallelSegments = 0.05 * 0.05
)

// segment is the core of a capsule, or of a ball, whose ends are the same.
type segment struct{ p, q Vec }

func (s *segment) at(t float32) Vec { return s.p.addTimes(s.q.Sub(s.p), t) }

// closest is a pair of closest points.
type closest struct {
	onA, onB Vec
	square   float32 // of their distance
	face     int     // that onA is inside of; -1: none
	edge     int     // that onA is on, if it is inside of no face
	id       uint32
}

func (c *closest) better(onA, onB Vec, face, edge int, id uint32) {
	d := onB.Sub(onA)
	if square := d.Dot(d); square < c.square {
		*c = closest{onA, onB, square, face, edge, id}
	}
}

// closestToEnd improves c with the point of a face that is closest to an end of a segment, if this is above it. That can only be the
// face from whose plane the end is farthest.
func (t *Polytope) closestToEnd(p Vec, end int, c *closest) {
	at, most := -1, float32(0)
	for i := range t.Planes {
		if d := t.Planes[i].distance(p); d > most {
			at, most = i, d
		}
	}
	if at >= 0 && t.isAbove(at, p) {
		c.better(p.addTimes(t.Planes[at].Normal, -most), p, at, 0, featureID(faceOfA, 0, end))
	}
}

// closestEdge improves c with the point of an edge that is closest to a segment. u is by how much the segment is at most outside of
// each plane, and least is by how much it is outside of the polyhedron, or less. The closest point is on an edge with a normal on its
// arc along which the segment is as far outside as it is apart: see facingEdges.
func (t *Polytope) closestEdge(s *segment, u []float32, least float32, c *closest) {
	along := s.q.Sub(s.p)
	for i := range t.Edges {
		e := &t.Edges[i]
		if least > 0 && !(maxFloat(u[e.Left], u[e.Right]) >= float32(least*e.cosine)) {
			continue
		}
		from := t.Vertices[e.From]
		edge := t.Vertices[e.To].Sub(from)
		x, y := closestOnSegments(from, edge, s.p, along)
		end := 2
		if y == 0 {
			end = 0
		} else if y == 1 {
			end = 1
		}
		c.better(from.addTimes(edge, x), s.at(y), -1, i, featureID(edgeFeature, i, end))
	}
}

// isAbove reports whether a point is within the sides of a face.
func (t *Polytope) isAbove(face int, p Vec) bool {
	f, n := &t.Faces[face], t.Planes[face].Normal
	for k, u := range f.Vertices {
		from, to := t.Vertices[u], t.Vertices[f.Vertices[(k+1)%len(f.Vertices)]]
		if to.Sub(from).Cross(n).Dot(p.Sub(from)) > 0 {
			return false
		}
	}
	return true
}

// collideSegment finds the contact of a polyhedron with a segment that is given in its axes, with points whose cores are at most margin
// apart. The manifold is in the axes of the polyhedron, and its points are on the segment.
//
// Apart, the normal is the line of the closest points, unless this is almost the normal of a face that is as near. Overlapping, it is the axis of the
// greatest separation: the normal of a face, or the cross product of an edge with the segment if that is better by a tolerance. With
// the normal of a face, the points are the ends of the segment within the sides of the face.
func collideSegment(t *Polytope, s segment, margin float32, k *clipping) (Vec, []contactPoint) {
	u, points := k.bounds[:len(t.Planes)], k.points[:0]
	face, sF := t.bestFaceOf(s, u)
	if sF > margin {
		return Vec{}, nil
	}
	if sF <= 0 {
		edge, sE, normal := t.bestEdgeOf(s)
		if sE > margin {
			return Vec{}, nil
		}
		if sE <= 0 {
			return t.collideInside(s, face, sF, edge, sE, normal, margin, points)
		}
	}
	c := closest{square: maxFinite, face: -1}
	t.closestToEnd(s.p, 0, &c)
	along := s.q.Sub(s.p)
	if along != (Vec{}) {
		t.closestToEnd(s.q, 1, &c)
	}
	if along != (Vec{}) || c.face < 0 {
		t.closestEdge(&s, u, sF, &c)
	}
	distance := sqrt(c.square)
	if !(distance <= margin) {
		return Vec{}, nil
	}
	n := c.onB.Sub(c.onA).unit(t.Planes[face].Normal)
	if along != (Vec{}) {
		near := t.mostAligned(n)
		if f := &t.Planes[near]; c.face >= 0 || f.Normal.Dot(n) > faceCosine {
			if c.face >= 0 {
				near = c.face
			}
			if normal, out := t.clipSegment(near, s, margin, points); len(out) > 0 && nearest(out) <= distance+referenceTolerance {
				return normal, out
			}
		}
		if c.face < 0 {
			e := &t.Edges[c.edge]
			if out := besidePoints(segment{t.Vertices[e.From], t.Vertices[e.To]}, s, n, margin, c.edge, points); len(out) > 0 {
				return n, out
			}
		}
	} else if c.face >= 0 {
		n = t.Planes[c.face].Normal
	}
	return n, append(points, contactPoint{c.onB, distance, c.id})
}

// collideInside finds the contact of a polyhedron with a segment that overlaps it.
func (t *Polytope) collideInside(s segment, face int, sF float32, edge int, sE float32, normal Vec, margin float32, points []contactPoint) (Vec, []contactPoint) {
	if edge >= 0 && sE > sF+edgeTolerance {
		e := &t.Edges[edge]
		from := t.Vertices[e.From]
		_, at := closestOnSegments(from, t.Vertices[e.To].Sub(from), s.p, s.q.Sub(s.p))
		return normal, append(points, contactPoint{s.at(at), sE, featureID(edgeFeature, edge, 0)})
	}
	f := &t.Planes[face]
	if _, out := t.clipSegment(face, s, margin, points); len(out) > 0 {
		return f.Normal, out
	}
	end, id := s.p, 0 // beside the face by rounding: the deeper end
	if f.Normal.Dot(s.q) < f.Normal.Dot(s.p) {
		end, id = s.q, 1
	}
	return f.Normal, append(points, contactPoint{end, sF, featureID(faceOfA, 0, id)})
}

// nearest returns the least separation of points.
func nearest(points []contactPoint) float32 {
	least := points[0].separation
	for i := range points {
		least = minFloat(points[i].separation, least)
	}
	return least
}

// bestFaceOf returns the face with the greatest separation from a segment, the first of equals. It sets u to how far the segment is at
// most outside of each plane.
func (t *Polytope) bestFaceOf(s segment, u []float32) (face int, separation float32) {
	separation = -maxFinite
	for i := range t.Planes {
		dp, dq := t.Planes[i].distance(s.p), t.Planes[i].distance(s.q)
		u[i] = maxFloat(dp, dq)
		if d := minFloat(dp, dq); d > separation {
			face, separation = i, d
		}
	}
	return face, separation
}

// bestEdgeOf returns the edge whose cross product with a segment separates most: of those that are on the outline of the polyhedron, seen
// along the segment.
func (t *Polytope) bestEdgeOf(s segment) (edge int, separation float32, normal Vec) {
	edge, separation = -1, -maxFinite
	along := s.q.Sub(s.p)
	for i := range t.Edges {
		e := &t.Edges[i]
		if !(float32(t.Planes[e.Left].Normal.Dot(along)*t.Planes[e.Right].Normal.Dot(along)) < 0) {
			continue
		}
		from := t.Vertices[e.From]
		u := t.Vertices[e.To].Sub(from)
		n := u.Cross(along)
		square := n.Dot(n)
		if !(square > float32(parallelSquare*float32(u.Dot(u)*along.Dot(along)))) {
			continue
		}
		l := sqrt(square)
		n = Vec{n.X / l, n.Y / l, n.Z / l}
		if n.Dot(from.Sub(t.Centre)) < 0 {
			n = n.neg()
		}
		if d := n.Dot(s.p.Sub(from)); d > separation {
			edge, separation, normal = i, d, n
		}
	}
	return edge, separation, normal
}

// mostAligned returns the face whose normal is closest to n, the first of equals.
func (t *Polytope) mostAligned(n Vec) int {
	return t.opposed(n.neg())
}

// clipSegment returns the ends of the part of a segment that is above a face.
func (t *Polytope) clipSegment(face int, s segment, margin float32, points []contactPoint) (Vec, []contactPoint) {
	f, plane := &t.Faces[face], &t.Planes[face]
	add := func(p Vec, id uint32) {
		if d := plane.Normal.Dot(p) - plane.Offset; d <= margin {
			points = append(points, contactPoint{p, d, id})
		}
	}
	lo, hi, idLo, idHi := float32(0), float32(1), featureID(faceOfA, 0, 0), featureID(faceOfA, 0, 1)
	along := s.q.Sub(s.p)
	for k, u := range f.Vertices {
		from, to := t.Vertices[u], t.Vertices[f.Vertices[(k+1)%len(f.Vertices)]]
		side := to.Sub(from).Cross(plane.Normal)
		dp, dq := side.Dot(s.p.Sub(from)), side.Dot(s.q.Sub(from))
		if dp > 0 && dq > 0 {
			return plane.Normal, nil
		}
		if dp > 0 || dq > 0 {
			at, id := dp/(dp-dq), featureID(faceOfA, int(f.Edges[k])+1, 0)
			if dp > 0 && at > lo {
				lo, idLo = at, id
			} else if dq > 0 && at < hi {
				hi, idHi = at, id+1
			}
		}
	}
	if lo > hi {
		return plane.Normal, nil
	}
	add(s.at(lo), idLo)
	if along != (Vec{}) && hi > lo {
		add(s.at(hi), idHi)
	}
	return plane.Normal, points
}

// collideSegments finds the contact of two segments with points that are at most margin apart. If they are almost parallel and beside each
// other, there are two points. If they meet, the normal is at a right angle to both.
func collideSegments(a, b segment, margin float32, points []contactPoint) (Vec, []contactPoint) {
	u, v := a.q.Sub(a.p), b.q.Sub(b.p)
	s, t := closestOnSegments(a.p, u, b.p, v)
	onA, onB := a.at(s), b.at(t)
	d := onB.Sub(onA)
	distance := d.length()
	if !(distance <= margin) {
		return Vec{}, nil
	}
	across := u.Cross(v)
	fallback := across.unit(u.unit(Vec{0, 1, 0}).perpendicular())
	if u == (Vec{}) && v == (Vec{}) {
		fallback = Vec{0, 1, 0}
	}
	n := fallback
	if distance > LinearSlop*1e-3 {
		n = d.unit(fallback)
	}
	if out := besidePoints(a, b, n, margin, 0, points); len(out) > 0 {
		return n, out
	}
	return n, append(points, contactPoint{onB, distance, featureID(edgeFeature, 0, 0)})
}

// besidePoints returns the ends of the part of b that is beside a, if both are almost parallel. The separation is along n.
func besidePoints(a, b segment, n Vec, margin float32, edge int, points []contactPoint) []contactPoint {
	u, v := a.q.Sub(a.p), b.q.Sub(b.p)
	uu, vv, across := u.Dot(u), v.Dot(v), u.Cross(v)
	if !(uu > minDivisor && vv > minDivisor && across.Dot(across) < float32(parallelSegments*float32(uu*vv))) {
		return nil
	}
	from, to := u.Dot(b.p.Sub(a.p))/uu, u.Dot(b.q.Sub(a.p))/uu // along a
	slope := to - from
	lo, hi := clamp01(-from/slope), clamp01((1-from)/slope)
	if slope < 0 {
		lo, hi = hi, lo
	}
	if !(float32((hi-lo)*sqrt(vv)) > LinearSlop) {
		return nil
	}
	for k, t := range [2]float32{lo, hi} {
		p := b.at(t)
		onA := a.at(clamp01(u.Dot(p.Sub(a.p)) / uu))
		if separation := n.Dot(p.Sub(onA)); separation <= margin {
			points = append(points, contactPoint{p, separation, featureID(edgeFeature, edge, k+3)})
		}
	}
	return points
}
