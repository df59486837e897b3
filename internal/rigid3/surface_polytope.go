package rigid3

import "github.com/evertick/evertick/internal/mesh"

// collidePolytope finds the contact of a polyhedron. It is collideHulls for a triangle, in which a direction counts as a normal only if the surface
// allows it: the normal of the triangle, of a face of the polyhedron that lies on a convex edge or corner, or of two edges. So the points of flat
// ground are always those of the face of the polyhedron that lies on it, clipped to the sides of the triangle.
func (k *SurfaceCollider) collidePolytope(f *surfaceFace) {
	low := supportOf(&k.core, k.isBox, f.normal.neg())
	depth := float32(f.height(k.core.Vertices[low].wide64())) // of the lowest vertex
	if depth > k.margin {
		return
	}
	most := k.most
	if f.convex && depth < -edgeTolerance && most > depth+referenceTolerance && k.faceOfPolytope(f, depth, low) {
		return
	}
	if k.isBeside(f) {
		return
	}
	first := len(k.points)
	k.clipToTriangle(f)
	if v := k.core.Vertices[low]; f.isAbove(v.wide64()) {
		k.points = append(k.points, contactPoint{v, depth, vertexID(low)}) // of a hull it may be beside the most opposed face
	}
	if len(k.points) == first {
		if f.convex || most <= 0 && depth <= 0 {
			k.besideTriangle(f, low, depth)
		}
		return
	}
	k.addFitting(f, f.normal, low, depth, first)
}

// addFitting makes a contact with the points from a place on if they fit: if they are as near as the triangle and the polyhedron are, and no deeper
// than these overlap. The points of a face of the polyhedron need not be, where that is beside the triangle.
func (k *SurfaceCollider) addFitting(f *surfaceFace, normal vec64, low int, depth float32, first int) {
	switch least := nearest(k.points[first:]); {
	case f.flat:
	case least < -edgeTolerance:
		if k.replaceDeep(f, least, low, first) {
			return
		}
	case least > maxFloat(maxFloat(depth, k.most), 0)+referenceTolerance:
		g, apart := k.gap(f)
		if apart && float32(g.distance) < least-referenceTolerance {
			k.closestFeatures(f, normal, &g, low, first)
			return
		}
		if !apart {
			k.addPoints(f, k.normalOf(f, normal), first)
			k.addOverlap(f, low, depth)
			return
		}
	}
	k.addPoints(f, k.normalOf(f, normal), first)
}

// replaceDeep replaces the points from a place on, the deepest of which is least, if two edges or another direction overlap by less. If the surface
// does not allow that direction, the contact is spare: the polyhedron touches another triangle. So does a box on a table that reaches over the edge,
// and is behind the plane of the side.
func (k *SurfaceCollider) replaceDeep(f *surfaceFace, least float32, low, first int) bool {
	toward, overlap := k.core.Planes[k.mostPlane].Normal.wide64().neg(), float64(k.most)
	if i, _, d, n := k.bestEdges(f, k.most, false); i >= 0 {
		toward, overlap = n, d
	}
	if f.convex && k.edgeOfPolytope(f, maxFloat(least, float32(overlap)-referenceTolerance)+edgeTolerance, first) {
		return true
	}
	if ridge, flat := f.endsTowards(toward); overlap > float64(least+edgeTolerance) && (ridge || overlap > 0 && !flat) {
		k.points = k.points[:first]
		k.addSpare(f, low, float32(overlap), toward)
		return true
	}
	return false
}

// addOverlap makes the contact of a polyhedron that overlaps the triangle with no vertex under that: of two edges, or a spare one.
func (k *SurfaceCollider) addOverlap(f *surfaceFace, low int, depth float32) {
	if !f.convex || !k.edgeOfPolytope(f, depth+edgeTolerance, len(k.points)) {
		k.addSpare(f, low, maxFloat(depth, k.most), f.normal)
	}
}

// addSpare makes a spare contact of the lowest vertex, where a direction that the surface does not allow separates by overlap. There is none if all of
// the polyhedron is behind the plane, unless it is a thin plate that lies on the triangle.
func (k *SurfaceCollider) addSpare(f *surfaceFace, low int, overlap float32, toward vec64) {
	if along := toward.Dot(f.normal); along <= 0 {
		if overlap > 0 && along > -faceCosine {
			return
		}
		toward, overlap = f.normal, minFloat(overlap, 0)
	}
	k.addPoint(f, f.up, contactPoint{k.core.Vertices[low], overlap, vertexID(low)}, true, k.toSurface(toward))
}

// normalOf returns a normal in the axes of the surface: that of the triangle itself has the same bits for all contacts.
func (k *SurfaceCollider) normalOf(f *surfaceFace, normal vec64) vec64 {
	if normal == f.normal {
		return f.up
	}
	return k.toSurface(normal)
}

// separate sets the bounds of clipping to how far the triangle is outside of each plane of the polyhedron, and most to the greatest. It returns false
// if that is beyond the margin.
func (k *SurfaceCollider) separate(f *surfaceFace) bool {
	k.most = -maxFinite
	a, b, c := f.corners[0], f.corners[1], f.corners[2]
	if h := k.extent; k.isBox && h.x > 0 && h.y > 0 && h.z > 0 {
		// As below, without products by zero.
		lo, hi := a.least(b).least(c), a.most(b).most(c)
		distances := [6]float64{-hi.x - h.x, lo.x - h.x, -hi.y - h.y, lo.y - h.y, -hi.z - h.z, lo.z - h.z}
		for i, d := range distances {
			k.setBound(i, float32(d))
		}
		return !(k.most > k.margin)
	}
	for i := range k.core.Planes {
		n := k.core.Planes[i].Normal.wide64()
		k.setBound(i, float32(lesser(lesser(n.Dot(a), n.Dot(b)), n.Dot(c))-float64(k.core.Planes[i].Offset)))
		if k.most > k.margin {
			return false
		}
	}
	return true
}

func (k *SurfaceCollider) setBound(plane int, distance float32) {
	k.clipping.bounds[plane] = distance
	if distance > k.most {
		k.most, k.mostPlane = distance, plane
	}
}

// clipToTriangle adds the points of the face of the polyhedron that is most opposed to the triangle, clipped to the sides of that.
func (k *SurfaceCollider) clipToTriangle(f *surfaceFace) {
	n := f.normal.narrow()
	in := &k.core.Faces[k.core.opposed(n)]
	from, to := &k.clipping.polygons[0], &k.clipping.polygons[1]
	count := len(in.Vertices)
	for i, v := range in.Vertices {
		from[i] = corner{contactPoint{p: k.core.Vertices[v], id: vertexID(int(v))}, int32(in.Edges[i])}
	}
	for i := range 3 {
		f.setSide(i)
		count = clipSide(from[:count], to, f.side[i].narrow(), float32(f.beside[i]+sideTolerance), edgesMeet, i)
		from, to = to, from
	}
	for i := range from[:count] {
		p := from[i].contactPoint
		if p.id>>30 == edgesMeet {
			side, edge := int(p.id>>15&0x7fff)-1, int(p.id&0x7fff)
			if edge < referenceEdge {
				p.id = f.edgeID(side, edge)
			} else {
				p.id = f.cornerID(between(side, edge-referenceEdge))
			}
		}
		if p.separation = float32(f.height(p.p.wide64())); p.separation <= k.margin {
			k.points = append(k.points, p)
		}
	}
}

// between returns the corner of a triangle that two of its edges share.
func between(a, b int) int {
	if (a+1)%3 == b {
		return b
	}
	return a
}

// faceOfPolytope makes the contact of the face of the polyhedron that separates most of those that the triangle allows, if it does so better than the
// normal of the triangle, by a tolerance. The points are those of the triangle, clipped to the sides of that face.
func (k *SurfaceCollider) faceOfPolytope(f *surfaceFace, depth float32, low int) bool {
	best, most := -1, depth+referenceTolerance
	for i := range k.core.Planes {
		if s := k.clipping.bounds[i]; s > most && k.allowsFace(f, k.core.Planes[i].Normal.wide64().neg()) {
			best, most = i, s
		}
	}
	if best < 0 {
		return false
	}
	plane, face := &k.core.Planes[best], &k.core.Faces[best]
	from, to := &k.clipping.polygons[0], &k.clipping.polygons[1]
	count := 3
	for i := range 3 {
		from[i] = corner{contactPoint{p: f.corners[i].narrow(), id: featureID(vertexOfMesh, 0, i)}, int32(i)}
	}
	for i, u := range face.Vertices {
		a, b := k.core.Vertices[u], k.core.Vertices[face.Vertices[(i+1)%len(face.Vertices)]]
		side := b.Sub(a).Cross(plane.Normal).unit(Vec{})
		count = clipSide(from[:count], to, side, side.Dot(a)+sideTolerance, edgesMeet, i)
		from, to = to, from
	}
	first := len(k.points)
	for i := range from[:count] {
		p := from[i].contactPoint
		if p.separation = plane.distance(p.p); p.separation > k.margin {
			continue
		}
		p.p = p.p.addTimes(plane.Normal, -p.separation)
		if p.id>>30 == vertexOfMesh {
			p.id = f.cornerID(int(p.id & 0x7fff))
		} else if side, edge := int(p.id>>15&0x7fff)-1, int(p.id&0x7fff); edge < referenceEdge {
			p.id = f.edgeID(edge, int(face.Edges[side]))
		} else {
			other := edge - referenceEdge
			if (side+1)%len(face.Vertices) == other {
				side = other
			}
			p.id = vertexID(int(face.Vertices[side]))
		}
		k.points = append(k.points, p)
	}
	if len(k.points) == first {
		return false
	}
	k.addFitting(f, plane.Normal.wide64().neg(), low, depth, first)
	return true
}

// allowsFace reports whether a contact with the corner or edge of a triangle that is farthest along d may have the normal d.
func (k *SurfaceCollider) allowsFace(f *surfaceFace, d vec64) bool {
	switch edge, corner := f.farthest(d); {
	case edge >= 0:
		return k.allows(f, edge, .5, d)
	case corner >= 0:
		return k.allows(f, corner, 0, d)
	}
	return false // it is the normal of the triangle
}

// endsTowards reports whether the surface falls away beyond what of the triangle is farthest along d, and whether it goes on in the same plane.
func (f *surfaceFace) endsTowards(d vec64) (ridge, flat bool) {
	switch edge, corner := f.farthest(d); {
	case edge >= 0:
		return isRidge(f.edges[edge]), f.edges[edge] == mesh.Flat
	case corner >= 0:
		a, b := f.edges[corner], f.edges[(corner+2)%3]
		return isRidge(a) || isRidge(b), a == mesh.Flat && b == mesh.Flat
	}
	return false, false
}

// farthest returns the edge of a triangle that is farthest along d, or else the corner; -1 for what it is not. It is neither if the normal is along d.
func (f *surfaceFace) farthest(d vec64) (edge, corner int) {
	heights := [3]float64{d.Dot(f.corners[0]), d.Dot(f.corners[1]), d.Dot(f.corners[2])}
	top := 0
	for i := 1; i < 3; i++ {
		if heights[i] > heights[top] {
			top = i
		}
	}
	next, last := (top+1)%3, (top+2)%3
	level := func(i int) bool {
		return heights[top]-heights[i] <= float64(coneTolerance*f.corners[i].Sub(f.corners[top]).length())
	}
	switch onNext, onLast := level(next), level(last); {
	case onNext && onLast:
		return -1, -1
	case onNext:
		return top, -1
	case onLast:
		return last, -1
	}
	return -1, top
}

// bestEdges returns the edge of the triangle and that of the polyhedron whose cross product separates most, if by more than least: of those that
// the surface allows, or of all. If there are none, the separation is least.
func (k *SurfaceCollider) bestEdges(f *surfaceFace, least float32, allowed bool) (a, b int, most float64, normal vec64) {
	a, b, most = -1, -1, float64(least)
	for j := range k.core.Edges {
		e := k.core.edgeAt(j)
		for i := range 3 {
			if allowed && !isRidge(f.edges[i]) {
				continue
			}
			n, ok := f.edgeAxis(i, e.along)
			if !ok || !onArc(n.neg(), e.left, e.right) {
				continue
			}
			if d := n.Dot(e.from.Sub(f.corners[i])); d > most && (!allowed || k.edgeAllows(f, i, k.toSurface(n))) {
				a, b, most, normal = i, j, d, n
			}
		}
	}
	return a, b, most, normal
}

// edgeOfPolytope makes the contact of an edge of the triangle with one of the polyhedron that overlap less than least, if there is one, in place
// of the points from a place on.
func (k *SurfaceCollider) edgeOfPolytope(f *surfaceFace, least float32, first int) bool {
	bestA, bestB, most, normal := k.bestEdges(f, least, true)
	if bestA < 0 {
		return false
	}
	e := k.core.edgeAt(bestB)
	from, along := e.from.narrow(), e.along.narrow()
	_, at := closestOnSegments(f.corners[bestA].narrow(), f.corners[(bestA+1)%3].Sub(f.corners[bestA]).narrow(), from, along)
	k.points = k.points[:first]
	k.addPoint(f, k.toSurface(normal), contactPoint{from.addTimes(along, at), float32(most), f.edgeID(bestA, bestB)}, false, vec64{})
	return true
}

// gap returns the distance of the triangle from the polyhedron; false if they overlap.
func (k *SurfaceCollider) gap(f *surfaceFace) (coreGap, bool) {
	for i := range 3 {
		k.triangle[i] = f.corners[i].narrow()
	}
	p := corePair{
		a: Polytope{Vertices: k.triangle[:]}, b: k.core, boxB: k.isBox, at: pose64{x: vec64{x: 1}, y: vec64{y: 1}, z: vec64{z: 1}},
	}
	return p.separated()
}

// closestFeatures makes the contact of the closest points of a triangle and a polyhedron that are apart, in place of the points from a place on. If
// the surface does not allow their direction, those remain, and the contact is spare.
func (k *SurfaceCollider) closestFeatures(f *surfaceFace, normal vec64, g *coreGap, low, first int) {
	onB := g.onA.addTimes(g.normal, g.distance)
	edge, at, _, _ := f.closestOnSides(g.onA)
	length := f.corners[(edge+1)%3].Sub(f.corners[edge]).length()
	switch {
	case float64(at*length) <= sideTolerance:
		at = 0
	case float64((1-at)*length) <= sideTolerance:
		at = 1
	}
	vertex := supportOf(&k.core, k.isBox, g.normal.neg())
	p := contactPoint{onB.narrow(), float32(g.distance), vertexID(vertex)}
	if onB.Sub(k.core.Vertices[vertex].wide64()).length() > sideTolerance {
		p.id = f.edgeID(edge, maxEdges)
	}
	switch {
	case g.normal.Dot(f.normal) > 1-1e-7:
		k.points = k.points[:first]
		k.addPoint(f, f.up, p, false, vec64{})
	case k.allows(f, edge, at, g.normal):
		k.points = k.points[:first]
		k.addPoint(f, k.toSurface(g.normal), p, false, vec64{})
	default:
		k.addPoints(f, k.normalOf(f, normal), first)
		if g.normal.Dot(f.normal) > 0 {
			p.id = vertexID(low)
			k.addPoint(f, f.up, p, true, k.toSurface(g.normal))
		}
	}
}

// besideTriangle finds the contact of a polyhedron of which the face that is most opposed to the triangle is beside that.
func (k *SurfaceCollider) besideTriangle(f *surfaceFace, low int, depth float32) {
	if g, apart := k.gap(f); !apart {
		k.addOverlap(f, low, depth)
	} else if g.distance <= float64(k.margin) {
		k.closestFeatures(f, f.normal, &g, low, len(k.points))
	}
}
