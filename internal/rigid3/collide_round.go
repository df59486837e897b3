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

func (s *segment) at(t float32) Vec { return s.p.addTimes(s.q.sub(s.p), t) }

// closest is a pair of closest points.
type closest struct {
	onA, onB Vec
	square   float32 // of their distance
	face     int     // that onA is inside of; -1: none
	edge     int     // that onA is on, if it is inside of no face
	id       uint32
}

func (c *closest) better(onA, onB Vec, face, edge int, id uint32) {
	d := onB.sub(onA)
	if square := d.dot(d); square < c.square {
		*c = closest{onA, onB, square, face, edge, id}
	}
}

// closestToPoint improves c with the point of a polyhedron that is closest to a point outside of it: inside of a face, or on an edge.
func (t *Polytope) closestToPoint(p Vec, end int, c *closest) {
	for i := range t.Planes {
		f := &t.Planes[i]
		if s := f.Normal.dot(p) - f.Offset; s > 0 && t.isAbove(i, p) {
			c.better(p.addTimes(f.Normal, -s), p, i, 0, featureID(faceOfA, 0, end))
			return
		}
	}
	for i := range t.Edges {
		from := t.Vertices[t.Edges[i].From]
		along := t.Vertices[t.Edges[i].To].sub(from)
		_, s := closestOnSegments(p, Vec{}, from, along)
		c.better(from.addTimes(along, s), p, -1, i, featureID(edgeFeature, i, end))
	}
}

// isAbove reports whether a point is within the sides of a face.
func (t *Polytope) isAbove(face int, p Vec) bool {
	f, n := &t.Faces[face], t.Planes[face].Normal
	for k, u := range f.Vertices {
		from, to := t.Vertices[u], t.Vertices[f.Vertices[(k+1)%len(f.Vertices)]]
		if to.sub(from).cross(n).dot(p.sub(from)) > 0 {
			return false
		}
	}
	return true
}

// collideSegment finds the contact of a polyhedron with a segment that is given in its axes, with points whose cores are at most margin
// apart. The manifold is in the axes of the polyhedron, and its anchors are points of the segment.
//
// Apart, the normal is the line of the closest points, unless this is almost the normal of a face that is as near. Overlapping, it is the axis of the
// greatest separation: the normal of a face, or the cross product of an edge with the segment if that is better by a tolerance. With
// the normal of a face, the points are the ends of the segment within the sides of the face.
func collideSegment(t *Polytope, s segment, margin float32, points []contactPoint) (Vec, []contactPoint) {
	face, sF := t.bestFaceOf(s)
	if sF > margin {
		return Vec{}, nil
	}
	edge, sE, normal := t.bestEdgeOf(s)
	if sE > margin {
		return Vec{}, nil
	}
	if maxFloat(sF, sE) <= 0 {
		if edge >= 0 && sE > sF+edgeTolerance {
			e := &t.Edges[edge]
			from := t.Vertices[e.From]
			_, at := closestOnSegments(from, t.Vertices[e.To].sub(from), s.p, s.q.sub(s.p))
			return normal, append(points[:0], contactPoint{s.at(at), sE, featureID(edgeFeature, edge, 0)})
		}
		f := &t.Planes[face]
		if _, out := t.clipSegment(face, s, margin, points); len(out) > 0 {
			return f.Normal, out
		}
		end, id := s.p, 0 // beside the face by rounding: the deeper end
		if f.Normal.dot(s.q) < f.Normal.dot(s.p) {
			end, id = s.q, 1
		}
		return f.Normal, append(points[:0], contactPoint{end, sF, featureID(faceOfA, 0, id)})
	}
	c := closest{square: maxFinite, face: -1}
	t.closestToPoint(s.p, 0, &c)
	along := s.q.sub(s.p)
	if along != (Vec{}) {
		t.closestToPoint(s.q, 1, &c)
		for i := range t.Edges {
			from := t.Vertices[t.Edges[i].From]
			edge := t.Vertices[t.Edges[i].To].sub(from)
			u, v := closestOnSegments(from, edge, s.p, along)
			c.better(from.addTimes(edge, u), s.at(v), -1, i, featureID(edgeFeature, i, 2))
		}
	}
	distance := sqrt(c.square)
	if !(distance <= margin) {
		return Vec{}, nil
	}
	n := c.onB.sub(c.onA).unit(t.Planes[face].Normal)
	if along != (Vec{}) {
		near := t.mostAligned(n)
		if f := &t.Planes[near]; c.face >= 0 || f.Normal.dot(n) > faceCosine {
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
	return n, append(points[:0], contactPoint{c.onB, distance, c.id})
}

// nearest returns the least separation of points.
func nearest(points []contactPoint) float32 {
	least := points[0].separation
	for i := range points {
		least = minFloat(points[i].separation, least)
	}
	return least
}

// bestFaceOf returns the face with the greatest separation from a segment.
func (t *Polytope) bestFaceOf(s segment) (face int, separation float32) {
	separation = -maxFinite
	for i := range t.Planes {
		f := &t.Planes[i]
		if d := minFloat(f.Normal.dot(s.p), f.Normal.dot(s.q)) - f.Offset; d > separation {
			face, separation = i, d
		}
	}
	return face, separation
}

// bestEdgeOf returns the edge whose cross product with a segment separates most: of those that are on the outline of the polyhedron, seen
// along the segment.
func (t *Polytope) bestEdgeOf(s segment) (edge int, separation float32, normal Vec) {
	edge, separation = -1, -maxFinite
	along := s.q.sub(s.p)
	for i := range t.Edges {
		e := &t.Edges[i]
		if !(float32(t.Planes[e.Left].Normal.dot(along)*t.Planes[e.Right].Normal.dot(along)) < 0) {
			continue
		}
		from := t.Vertices[e.From]
		u := t.Vertices[e.To].sub(from)
		n := u.cross(along)
		square := n.dot(n)
		if !(square > float32(parallelSquare*float32(u.dot(u)*along.dot(along)))) {
			continue
		}
		l := sqrt(square)
		n = Vec{n.X / l, n.Y / l, n.Z / l}
		if n.dot(from.sub(t.Centre)) < 0 {
			n = n.neg()
		}
		if d := n.dot(s.p.sub(from)); d > separation {
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
	points = points[:0]
	add := func(p Vec, id uint32) {
		if d := plane.Normal.dot(p) - plane.Offset; d <= margin {
			points = append(points, contactPoint{p, d, id})
		}
	}
	lo, hi, idLo, idHi := float32(0), float32(1), featureID(faceOfA, 0, 0), featureID(faceOfA, 0, 1)
	along := s.q.sub(s.p)
	for k, u := range f.Vertices {
		from, to := t.Vertices[u], t.Vertices[f.Vertices[(k+1)%len(f.Vertices)]]
		side := to.sub(from).cross(plane.Normal)
		dp, dq := side.dot(s.p.sub(from)), side.dot(s.q.sub(from))
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
	u, v := a.q.sub(a.p), b.q.sub(b.p)
	s, t := closestOnSegments(a.p, u, b.p, v)
	onA, onB := a.at(s), b.at(t)
	d := onB.sub(onA)
	distance := d.length()
	if !(distance <= margin) {
		return Vec{}, nil
	}
	across := u.cross(v)
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
	return n, append(points[:0], contactPoint{onB, distance, featureID(edgeFeature, 0, 0)})
}

// besidePoints returns the ends of the part of b that is beside a, if both are almost parallel. The separation is along n.
func besidePoints(a, b segment, n Vec, margin float32, edge int, points []contactPoint) []contactPoint {
	u, v := a.q.sub(a.p), b.q.sub(b.p)
	uu, vv, across := u.dot(u), v.dot(v), u.cross(v)
	if !(uu > minDivisor && vv > minDivisor && across.dot(across) < float32(parallelSegments*float32(uu*vv))) {
		return nil
	}
	from, to := u.dot(b.p.sub(a.p))/uu, u.dot(b.q.sub(a.p))/uu // along a
	slope := to - from
	lo, hi := clamp01(-from/slope), clamp01((1-from)/slope)
	if slope < 0 {
		lo, hi = hi, lo
	}
	if !(float32((hi-lo)*sqrt(vv)) > LinearSlop) {
		return nil
	}
	points = points[:0]
	for k, t := range [2]float32{lo, hi} {
		p := b.at(t)
		onA := a.at(clamp01(u.dot(p.sub(a.p)) / uu))
		if separation := n.dot(p.sub(onA)); separation <= margin {
			points = append(points, contactPoint{p, separation, featureID(edgeFeature, edge, k+3)})
		}
	}
	return points
}
