package rigid3

const (
	// referenceTolerance is by how much, in metres, the separation by a face of B must exceed that by every face of A for it to be
	// the reference face. Boxes that lie on each other have faces that separate equally well but for rounding and a slight tilt,
	// which must not change the reference face.
	referenceTolerance = 0.5 * LinearSlop

	// edgeTolerance is by how much the separation by two edges must exceed that of the points of the best face. A contact of
	// edges has one point, and that of a face up to four, on which a stack can stand.
	edgeTolerance = LinearSlop

	// parallelSquare bounds the squared sine of the angle of two edges below which they count as parallel.
	parallelSquare = 0.005 * 0.005
)

// collideHulls finds the contact of two polyhedra, where B has the pose b as seen from A, with points whose polytopes are at most margin
// apart. The manifold is in the axes of A; its anchors are points on B.
//
// It is the separating axis test: the axes are the normals of all faces, and the cross products of an edge of each whose arcs on the
// sphere of normals cross, which are those that make a face of the Minkowski difference. The axis with the greatest separation is the
// normal, where a face of A comes before one of B, and a face before two edges, unless the latter is better by a tolerance; the first of
// equals. The points of a face are those of the face of the other polyhedron that is most opposed to it, clipped to its sides.
func collideHulls(a, other *Polytope, b Pose, margin float32, k *clipping) (normal Vec, out []contactPoint) {
	w := hullPair{a: a, b: other, pose: b, inverse: Pose{b.Q.Unrotate(b.P.neg()), b.Q.Inverse()}}
	faceA, sA := bestFace(a, other, &w.pose)
	if sA > margin {
		return Vec{}, nil
	}
	faceB, sB := bestFace(other, a, &w.inverse)
	if sB > margin {
		return Vec{}, nil
	}
	edges, sE := w.bestEdges()
	if sE > margin {
		return Vec{}, nil
	}
	if sB > sA+referenceTolerance {
		normal, out = w.clipFaceB(faceB, sB, margin, k)
	} else {
		normal, out = w.clipFaceA(faceA, sA, margin, k)
	}
	if edges.a < 0 || sE <= maxFloat(sA, sB)+edgeTolerance {
		return normal, out
	}
	if sE > nearest(out)+edgeTolerance {
		return w.edgeContact(edges, sE, k.points[:0])
	}
	return normal, out
}

// hullPair is two polyhedra with the pose of B as seen from A, and the inverse.
type hullPair struct {
	a, b          *Polytope
	pose, inverse Pose
}

// bestFace returns the face of a with the greatest separation from b, whose pose is as seen from a.
func bestFace(a, b *Polytope, pose *Pose) (face int, separation float32) {
	face, separation = 0, -maxFinite
	for i := range a.Planes {
		f := &a.Planes[i]
		n := pose.Q.Unrotate(f.Normal.neg())
		v := b.Vertices[b.support(n)]
		if s := f.Normal.dot(pose.transform(v)) - f.Offset; s > separation {
			face, separation = i, s
		}
	}
	return face, separation
}

// support returns the vertex that is farthest along a direction, the first of equals.
func (t *Polytope) support(n Vec) int {
	best, at := t.Vertices[0].dot(n), 0
	for i := 1; i < len(t.Vertices); i++ {
		if d := t.Vertices[i].dot(n); d > best {
			best, at = d, i
		}
	}
	return at
}

// edgePair is an edge of each polyhedron, -1 if there is none, and the normal.
type edgePair struct {
	a, b   int
	normal Vec
}

// bestEdges returns the edges whose cross product separates the polyhedra most.
func (w *hullPair) bestEdges() (best edgePair, separation float32) {
	best, separation = edgePair{a: -1, b: -1}, -maxFinite
	for j := range w.b.Edges {
		eb := &w.b.Edges[j]
		c, d := w.pose.Q.Rotate(w.b.Planes[eb.Left].Normal).neg(), w.pose.Q.Rotate(w.b.Planes[eb.Right].Normal).neg()
		fromB, toB := w.pose.transform(w.b.Vertices[eb.From]), w.pose.transform(w.b.Vertices[eb.To])
		alongB := toB.sub(fromB)
		for i := range w.a.Edges {
			ea := &w.a.Edges[i]
			if !arcsCross(w.a.Planes[ea.Left].Normal, w.a.Planes[ea.Right].Normal, c, d) {
				continue
			}
			fromA := w.a.Vertices[ea.From]
			alongA := w.a.Vertices[ea.To].sub(fromA)
			n := alongA.cross(alongB)
			square := n.dot(n)
			if !(square > float32(parallelSquare*float32(alongA.dot(alongA)*alongB.dot(alongB)))) {
				continue
			}
			l := sqrt(square)
			n = Vec{n.X / l, n.Y / l, n.Z / l}
			if n.dot(fromA.sub(w.a.Centre)) < 0 {
				n = n.neg() // out of A
			}
			if s := n.dot(fromB.sub(fromA)); s > separation {
				best, separation = edgePair{i, j, n}, s
			}
		}
	}
	return best, separation
}

// arcsCross reports whether the arcs between the unit vectors a and b, and between c and d, cross on the sphere, and in one hemisphere.
func arcsCross(a, b, c, d Vec) bool {
	ab, cd := b.cross(a), d.cross(c)
	ca, da, ac, bc := c.dot(ab), d.dot(ab), a.dot(cd), b.dot(cd)
	return float32(ca*da) < 0 && float32(ac*bc) < 0 && float32(ca*bc) > 0
}

// edgeContact returns the point of two edges: where they are closest, on the edge of B.
func (w *hullPair) edgeContact(e edgePair, separation float32, points []contactPoint) (Vec, []contactPoint) {
	ea, eb := &w.a.Edges[e.a], &w.b.Edges[e.b]
	p, q := w.a.Vertices[ea.From], w.pose.transform(w.b.Vertices[eb.From])
	u, v := w.a.Vertices[ea.To].sub(p), w.pose.transform(w.b.Vertices[eb.To]).sub(q)
	_, t := closestOnSegments(p, u, q, v)
	at := q.addTimes(v, t)
	return e.normal, append(points[:0], contactPoint{at, separation, featureID(edgeFeature, e.a, e.b)})
}

// Kinds of features, in the two highest bits of an ID.
const (
	faceOfA     = iota // a face of A, with a vertex of B or with two edges
	faceOfB            // the same with the roles changed
	edgeFeature        // an edge of each
)

// featureID is the ID of two features, whose numbers are below 2^15.
func featureID(kind, a, b int) uint32 { return uint32(kind)<<30 | uint32(a)<<15 | uint32(b) }

// closestOnSegments returns where the segments p + s·u and q + t·v are closest, s and t from 0 to 1. Of parallel segments it is the
// smallest s.
func closestOnSegments(p, u, q, v Vec) (s, t float32) {
	r := p.sub(q)
	uu, vv, uv, ur, vr := u.dot(u), v.dot(v), u.dot(v), u.dot(r), v.dot(r)
	if !(uu > minDivisor) {
		if !(vv > minDivisor) {
			return 0, 0
		}
		return 0, clamp01(vr / vv)
	}
	if !(vv > minDivisor) {
		return clamp01(-ur / uu), 0
	}
	if d := float32(uu*vv) - float32(uv*uv); d > float32(1e-6*float32(uu*vv)) {
		s = clamp01((float32(uv*vr) - float32(ur*vv)) / d)
	}
	t = (float32(uv*s) + vr) / vv
	if t < 0 {
		return clamp01(-ur / uu), 0
	}
	if t > 1 {
		return clamp01((uv - ur) / uu), 1
	}
	return s, t
}

// clamp01 returns v within 0 and 1, and 0 for NaN.
func clamp01(v float32) float32 { return minFloat(maxFloat(v, 0), 1) }

// clipFaceA returns the points of a face of A, whose separation from B is s.
func (w *hullPair) clipFaceA(face int, s, margin float32, k *clipping) (Vec, []contactPoint) {
	return w.a.Planes[face].Normal, k.clipFace(w.a, face, w.b, &w.pose, s, margin, faceOfA)
}

// clipFaceB returns the points of a face of B, in the axes of A, on the surface of B.
func (w *hullPair) clipFaceB(face int, s, margin float32, k *clipping) (Vec, []contactPoint) {
	n := w.b.Planes[face].Normal
	points := k.clipFace(w.b, face, w.a, &w.inverse, s, margin, faceOfB)
	for i := range points {
		p := &points[i]
		p.p = w.pose.transform(p.p.addTimes(n, -p.separation)) // from the surface of A to that of B
	}
	return w.pose.Q.Rotate(n).neg(), points
}

// clipping is memory for polygons that are clipped, and for the points of one pair.
type clipping struct {
	polygons [2][maxPolygon]corner
	points   [maxPolygon]contactPoint
}

// maxPolygon is the greatest number of corners of a face that is clipped to the sides of another: each side adds at most one.
const maxPolygon = 2 * MaxHullVertices

// clipFace clips the face of other that is most opposed to a reference face to the sides of that, and keeps the points that are at
// most margin in front of it. If none is left, since the faces are beside each other, it is the vertex of other that is deepest, whose
// separation is s. The points are in the axes of ref, on other.
func (k *clipping) clipFace(ref *Polytope, face int, other *Polytope, pose *Pose, s, margin float32, kind int) []contactPoint {
	f, plane := &ref.Faces[face], &ref.Planes[face]
	incident := other.opposed(pose.Q.Unrotate(plane.Normal))
	in := &other.Faces[incident]
	from, to := &k.polygons[0], &k.polygons[1]
	n := len(in.Vertices)
	for i, v := range in.Vertices {
		from[i] = corner{contactPoint{p: pose.transform(other.Vertices[v]), id: featureID(kind, 0, int(v))}, int32(in.Edges[i])}
	}
	for i, u := range f.Vertices {
		a, b := ref.Vertices[u], ref.Vertices[f.Vertices[(i+1)%len(f.Vertices)]]
		side := b.sub(a).cross(plane.Normal) // points outwards
		n = clipSide(from[:n], to, side, side.dot(a), kind, int(f.Edges[i]))
		from, to = to, from
	}
	points := k.points[:0]
	for i := range from[:n] {
		p := from[i].contactPoint
		if p.separation = plane.Normal.dot(p.p) - plane.Offset; p.separation <= margin {
			points = append(points, p)
		}
	}
	if len(points) == 0 {
		v := other.support(pose.Q.Unrotate(plane.Normal.neg()))
		return append(points, contactPoint{pose.transform(other.Vertices[v]), s, featureID(kind, 0, v)})
	}
	return reduce(points, plane.Normal)
}

// opposed returns the face whose normal is most opposed to n, the first of equals.
func (t *Polytope) opposed(n Vec) int {
	best, at := float32(maxFinite), 0
	for i := range t.Planes {
		if d := t.Planes[i].Normal.dot(n); d < best {
			best, at = d, i
		}
	}
	return at
}

// corner is a corner of a polygon that is clipped, with the edge from it to the next one: the number of an edge of the incident
// polyhedron, or referenceEdge plus that of one of the reference face.
type corner struct {
	contactPoint
	edge int32
}

const referenceEdge = 1 << 10

// clipSide keeps the part of a polygon with side·p ≤ offset, which an edge of the reference face bounds, and returns the number of its
// corners.
func clipSide(polygon []corner, out *[maxPolygon]corner, side Vec, offset float32, kind, edge int) (n int) {
	for k := range polygon {
		p, q := &polygon[k], &polygon[(k+1)%len(polygon)]
		dp, dq := side.dot(p.p)-offset, side.dot(q.p)-offset
		if dp <= 0 && n < maxPolygon {
			out[n] = *p
			n++
		}
		if (dp < 0 && dq > 0 || dp > 0 && dq < 0) && n < maxPolygon {
			cut := corner{contactPoint{p: p.p.addTimes(q.p.sub(p.p), dp/(dp-dq)), id: featureID(kind, edge+1, int(p.edge))}, p.edge}
			if dp < 0 {
				cut.edge = int32(referenceEdge + edge)
			}
			out[n] = cut
			n++
		}
	}
	return n
}
