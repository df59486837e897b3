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

// collideHulls finds the contact of two polyhedra, where f is that of B as seen from A, with points whose polytopes are at most margin
// apart. The manifold is in the axes of A; its points are on B.
//
// It is the separating axis test: the axes are the normals of all faces, and the cross products of an edge of each whose arcs on the
// sphere of normals cross, which are those that make a face of the Minkowski difference. The axis with the greatest separation is the
// normal, where a face of A comes before one of B, and a face before two edges, unless the latter is better by a tolerance. The points of
// a face are those of the face of the other polyhedron that is most opposed to it, clipped to its sides.
//
// Edges are tried only if no point is left, or all are deeper than the tolerance. In all other cases the distance of the polyhedra
// is at most that of a point that is left, so that two edges cannot be better.
func collideHulls(a, b *Polytope, f *frame, margin float32, k *clipping) (normal Vec, out []contactPoint) {
	w := hullPair{a: a, b: b, pose: *f, inverse: f.inverse()}
	faceA, sA := bestFace(a, b, &w.pose, w.pose.Transform(b.Centre), margin, &k.bounds)
	if sA > margin {
		return Vec{}, nil
	}
	faceB, sB := bestFace(b, a, &w.inverse, w.inverse.Transform(a.Vertices[a.Faces[faceA].Vertices[0]]), margin, &k.bounds)
	if sB > margin {
		return Vec{}, nil
	}
	var clipped bool
	if sB > sA+referenceTolerance {
		normal, out, clipped = w.clipFaceB(faceB, sB, margin, k)
	} else {
		normal, out, clipped = w.clipFaceA(faceA, sA, margin, k)
	}
	if clipped && nearest(out) >= -edgeTolerance {
		return normal, out
	}
	least := maxFloat(maxFloat(sA, sB), nearest(out)) + edgeTolerance
	edges, sE := w.bestEdges(minFloat(margin, least), k)
	if sE > margin {
		return Vec{}, nil
	}
	if sE > least {
		return w.edgeContact(edges, sE, k)
	}
	return normal, out
}

// hullPair is two polyhedra with the pose of B as seen from A, and the inverse.
type hullPair struct {
	a, b          *Polytope
	pose, inverse frame
}

// bestFace returns the face of a with the greatest separation from b, whose pose is as seen from a, or one whose separation is above
// margin.
//
// The distance of a point of b from the plane of a face bounds the separation by that face. The first bounds are those of the point p, as
// seen from a. The face with the greatest bound, the first of equals, is tried, and the vertex of b that is nearest to it bounds those of
// all faces, until no bound is above the greatest separation. That is so after a few faces, since this vertex is near a in most cases.
func bestFace(a, b *Polytope, f *frame, p Vec, margin float32, bounds *[maxFaces]float32) (face int, separation float32) {
	u := bounds[:len(a.Planes)]
	for i := range u {
		u[i] = maxFinite
	}
	for separation = -maxFinite; ; {
		at, most := 0, separation
		for i := range u {
			u[i] = minFloat(a.Planes[i].distance(p), u[i])
			if u[i] > most {
				at, most = i, u[i]
			}
		}
		if !(most > separation) {
			return face, separation
		}
		p = f.Transform(b.Vertices[b.support(f.r.MulTransposed(a.Planes[at].Normal.neg()))])
		if s := a.Planes[at].distance(p); s > separation {
			face, separation = at, s
		}
		if separation > margin {
			return face, separation
		}
	}
}

// maxFaces is above the greatest number of faces of a Polytope.
const maxFaces = 2 * MaxHullVertices

// distance is how far a point is outside of a plane.
func (p *Plane) distance(v Vec) float32 { return p.Normal.Dot(v) - p.Offset }

// support returns the vertex that is farthest along a direction, the first of equals.
func (t *Polytope) support(n Vec) int {
	best, at := t.Vertices[0].Dot(n), 0
	for i := 1; i < len(t.Vertices); i++ {
		if d := t.Vertices[i].Dot(n); d > best {
			best, at = d, i
		}
	}
	return at
}

// edgePair is an edge of each polyhedron, and the normal.
type edgePair struct {
	a, b   int
	normal Vec
}

// bestEdges returns the edges whose cross product separates the polyhedra most, among those that may separate them by more than least; the
// first of equals, by the edge of B, then of A. If there are none, the separation is -maxFinite.
//
// Two edges make a face of the Minkowski difference if their arcs on the sphere of normals cross: with the normals a and b of the faces
// beside the edge u of A, and the opposites c and d of those beside the edge v of B, if a·v and b·v have different signs, and c·u and
// d·u, and the arcs are in one hemisphere. (Gregorius, "The Separating Axis Test between Convex Polyhedra", Game Developers Conference 2013.)
func (w *hullPair) bestEdges(least float32, k *clipping) (best edgePair, separation float32) {
	listA := w.a.facingEdges(w.pose.Transform(w.b.Centre), least+w.b.inner, k.edges[0][:0])
	listB := w.b.facingEdges(w.inverse.Transform(w.a.Centre), least+w.a.inner, k.edges[1][:0])
	separation = -maxFinite
	for _, j := range listB {
		eb := &w.b.Edges[j]
		c, d := w.pose.r.Mul(w.b.Planes[eb.Left].Normal).neg(), w.pose.r.Mul(w.b.Planes[eb.Right].Normal).neg()
		fromB, v := w.pose.Transform(w.b.Vertices[eb.From]), w.pose.r.Mul(w.b.Vertices[eb.To].Sub(w.b.Vertices[eb.From]))
		for _, i := range listA {
			ea := &w.a.Edges[i]
			fromA := w.a.Vertices[ea.From]
			u := w.a.Vertices[ea.To].Sub(fromA)
			cu, av := c.Dot(u) < 0, w.a.Planes[ea.Left].Normal.Dot(v) < 0
			if cu == (d.Dot(u) < 0) || av == (w.a.Planes[ea.Right].Normal.Dot(v) < 0) || cu == av {
				continue
			}
			n := u.Cross(v)
			square := n.Dot(n)
			if !(square > float32(parallelSquare*float32(u.Dot(u)*v.Dot(v)))) {
				continue
			}
			l := sqrt(square)
			if av {
				l = -l // between both normals of A
			}
			n = Vec{n.X / l, n.Y / l, n.Z / l}
			if s := n.Dot(fromB.Sub(fromA)); s > separation {
				best, separation = edgePair{int(i), int(j), n}, s
			}
		}
	}
	return best, separation
}

// facingEdges lists the edges with a normal n on their arc for which a point is at least so far outside of the plane with that normal
// through the edge. This is the greatest at an end of the arc, or between them, where it is at most the greater one divided by the cosine of
// half the angle of the arc.
//
// If the point is the centre of another polytope, and the distance is least plus the radius of a ball about the centre that is inside of it,
// these are all edges that may separate the two by least.
func (t *Polytope) facingEdges(p Vec, distance float32, list []uint16) []uint16 {
	for i := range t.Edges {
		e := &t.Edges[i]
		l, r := t.Planes[e.Left].distance(p), t.Planes[e.Right].distance(p)
		if maxFloat(l, r) >= float32(distance*e.cosine) || !(distance > 0) {
			list = append(list, uint16(i))
		}
	}
	return list
}

// edgeContact returns the point of two edges: where they are closest, on the edge of B.
func (w *hullPair) edgeContact(e edgePair, separation float32, k *clipping) (Vec, []contactPoint) {
	ea, eb := &w.a.Edges[e.a], &w.b.Edges[e.b]
	p, q := w.a.Vertices[ea.From], w.pose.Transform(w.b.Vertices[eb.From])
	u, v := w.a.Vertices[ea.To].Sub(p), w.pose.r.Mul(w.b.Vertices[eb.To].Sub(w.b.Vertices[eb.From]))
	_, t := closestOnSegments(p, u, q, v)
	at := q.addTimes(v, t)
	return e.normal, append(k.points[:0], contactPoint{at, separation, featureID(edgeFeature, e.a, e.b)})
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
	r := p.Sub(q)
	uu, vv, uv, ur, vr := u.Dot(u), v.Dot(v), u.Dot(v), u.Dot(r), v.Dot(r)
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
func (w *hullPair) clipFaceA(face int, s, margin float32, k *clipping) (normal Vec, points []contactPoint, clipped bool) {
	points, clipped = k.clipFace(w.a, face, w.b, &w.pose, s, margin, faceOfA)
	return w.a.Planes[face].Normal, points, clipped
}

// clipFaceB returns the points of a face of B, in the axes of A, on the surface of B.
func (w *hullPair) clipFaceB(face int, s, margin float32, k *clipping) (normal Vec, points []contactPoint, clipped bool) {
	n := w.b.Planes[face].Normal
	points, clipped = k.clipFace(w.b, face, w.a, &w.inverse, s, margin, faceOfB)
	for i := range points {
		p := &points[i]
		p.p = w.pose.Transform(p.p.addTimes(n, -p.separation)) // from the surface of A to that of B
	}
	return w.pose.r.Mul(n).neg(), points, clipped
}

// clipping is memory for the computation of a manifold.
type clipping struct {
	bounds   [maxFaces]float32
	edges    [2][maxEdges]uint16
	polygons [2][maxPolygon]corner
	points   [maxPolygon]contactPoint
}

// maxPolygon is the greatest number of corners of a face that is clipped to the sides of another: each side adds at most one.
const maxPolygon = 2 * MaxHullVertices

// maxEdges is above the greatest number of edges of a Polytope.
const maxEdges = 3 * MaxHullVertices

// clipFace clips the face of other that is most opposed to a reference face to the sides of that, and keeps the points that are at
// most margin in front of it. If none is left, since the faces are beside each other, it is the vertex of other that is deepest, whose
// separation is s, and clipped is false. The points are in the axes of ref, on other.
func (k *clipping) clipFace(ref *Polytope, face int, other *Polytope, pose *frame, s, margin float32, kind int) (points []contactPoint, clipped bool) {
	f, plane := &ref.Faces[face], &ref.Planes[face]
	incident := other.opposed(pose.r.MulTransposed(plane.Normal))
	in := &other.Faces[incident]
	from, to := &k.polygons[0], &k.polygons[1]
	n := len(in.Vertices)
	for i, v := range in.Vertices {
		from[i] = corner{contactPoint{p: pose.Transform(other.Vertices[v]), id: featureID(kind, 0, int(v))}, int32(in.Edges[i])}
	}
	for i, u := range f.Vertices {
		a, b := ref.Vertices[u], ref.Vertices[f.Vertices[(i+1)%len(f.Vertices)]]
		side := b.Sub(a).Cross(plane.Normal) // points outwards
		n = clipSide(from[:n], to, side, side.Dot(a), kind, int(f.Edges[i]))
		from, to = to, from
	}
	points = k.points[:0]
	for i := range from[:n] {
		p := from[i].contactPoint
		if p.separation = plane.distance(p.p); p.separation <= margin {
			points = append(points, p)
		}
	}
	if len(points) > 0 {
		return reduce(points, plane.Normal), true
	}
	v := other.support(pose.r.MulTransposed(plane.Normal.neg()))
	return append(points, contactPoint{pose.Transform(other.Vertices[v]), s, featureID(kind, 0, v)}), false
}

// opposed returns the face whose normal is most opposed to n, the first of equals.
func (t *Polytope) opposed(n Vec) int {
	best, at := float32(maxFinite), 0
	for i := range t.Planes {
		if d := t.Planes[i].Normal.Dot(n); d < best {
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
	if len(polygon) == 0 {
		return 0
	}
	first := side.Dot(polygon[0].p) - offset
	dp, dq := first, first
	for k := range polygon {
		p, q := &polygon[k], &polygon[0]
		if dp, dq = dq, first; k+1 < len(polygon) {
			q = &polygon[k+1]
			dq = side.Dot(q.p) - offset
		}
		if dp <= 0 && n < maxPolygon {
			out[n] = *p
			n++
		}
		if (dp < 0 && dq > 0 || dp > 0 && dq < 0) && n < maxPolygon {
			cut := corner{contactPoint{p: p.p.addTimes(q.p.Sub(p.p), dp/(dp-dq)), id: featureID(kind, edge+1, int(p.edge))}, p.edge}
			if dp < 0 {
				cut.edge = int32(referenceEdge + edge)
			}
			out[n] = cut
			n++
		}
	}
	return n
}
