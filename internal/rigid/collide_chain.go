package rigid

import "github.com/evertick/evertick/internal/broad"

// ChainSegment makes a segment a part of a chain. A contact with it takes the neighbouring segments into
// account, so that nothing catches on the vertices between them.
//
// Such a segment has one side, the one to which Normals[0] points: to the right, seen from its first vertex
// towards its second.
type ChainSegment struct {
	Before, After Vec    // unit normals of the segments before and after it, in the axes of the body
	Chain         uint32 // number of the chain + 1; 0: in no chain
	Last          bool   // the segment after it is a ghost, which nothing touches
}

const (
	// normalTolerance is the sine of an angle between normals that differ by rounding only.
	normalTolerance = 1e-4

	// straightSine is the sine of a bend that counts as none: it turns a speed of 10 m/s by a centimetre per
	// second.
	straightSine = 1e-3

	// sharpSine is the sine of an angle by which a chain bends inwards at a sharp corner.
	sharpSine = 0.5
)

// CollideChains replaces the manifolds in out of pairs with a segment of a chain, except recycled ones; smooth describes
// the first shapes. What Collide made of these pairs does not matter. Otherwise it is as Collide, which must have had the
// same arguments and has checked them. It runs in Go on all levels.
//
// A chain has an inside and an outside. A vertex is convex if the outside is the larger part there. The normal
// of a contact, seen from the chain, is that of a segment or, at a convex vertex, between those of its two
// segments. Nothing else is a contact of a chain, however near the shapes are. Plain segments, which ignore
// each other, get this wrong.
//
// # Discs
//
// A segment owns what is in front of it, from its beginning to its end, both including the line across it. It
// also owns what is in front of its first vertex: beyond the end of the segment before, and not beside this
// one. The last segment of an open chain also owns what is in front of its second vertex. These regions meet in
// lines. They are computed so that rounding makes no overlaps between them on straight ground, and no gaps. A
// disc touches the segment that owns its centre. The ID is 0.
//
// # Other shapes
//
// A shape whose centroid is behind the line of the segment does not touch it. The normal is found as for two
// polygons, with the front of the segment alone. It stands if it is that of the segment, or if it is between those of
// the segments at a convex vertex that belongs to this segment: its first one; the second one at the end of an open
// chain, or if the centroid is behind the next segment. If it leans towards a neighbour to which the chain is straight or
// bends the other way, then the normal is that of the segment, and the points are the ends of the incident edge, cut off
// where they are beside the segment. At a corner that bends inwards by 30° to 150°, such as that of a room, the segment goes on
// into the ground: the end of a stick that is deep in the floor does not pass below the wall. The centroid must be in front of
// the neighbour, too.
//
// If it leans beyond the normal of a neighbour at a convex vertex, or if there is none because the shape does not reach
// the segment, the shape touches the part of the bend that separates it best: this segment, the other one, or the
// vertex with one of its edges (bendShape). The two segments decide by the same numbers, so that one of them has a
// contact: there is no gap between the normals that they accept, and no second contact with a normal between them.
//
// Segments do not touch segments of chains.
func CollideChains(shapes []Shape, smooth []ChainSegment, bodyOf []uint32, poses *Poses, pairs *broad.Pairs, recycled []int32, out []Manifold) {
	for i := range out {
		if recycled != nil && recycled[i] >= 0 {
			continue
		}
		a, b := pairs.A[i], pairs.B[i]
		chainA, chainB := inChain(smooth, a), inChain(smooth, b)
		if !chainA && !chainB {
			continue
		}
		m := &out[i]
		*m = Manifold{}
		switch {
		case shapes[a].Count-1 >= MaxVertices || shapes[b].Count-1 >= MaxVertices:
		case chainA && chainB:
		case chainA:
			collideChain(&shapes[a], &smooth[a], &shapes[b], bodyOf[a], bodyOf[b], poses, m)
		default:
			collideChain(&shapes[b], &smooth[b], &shapes[a], bodyOf[b], bodyOf[a], poses, m)
			m.swap()
		}
	}
}

func inChain(smooth []ChainSegment, shape uint32) bool {
	return uint64(shape) < uint64(len(smooth)) && smooth[shape].Chain != 0
}

// collideChain collides a segment of a chain, in the place of A, with another shape.
func collideChain(a *Shape, sm *ChainSegment, b *Shape, bodyA, bodyB uint32, poses *Poses, m *Manifold) {
	from := a
	if b.Count == 1 {
		from = &originShape // the same for all segments: they agree on their vertices
	}
	f, ok := relativeFrame(from, bodyA, bodyB, poses)
	switch {
	case !ok || b.Count == 2 && b.Radius == 0:
	case b.Count == 1:
		collideChainDisc(a, sm, b, &f, m)
	default:
		collideChainPolygon(a, sm, b, bodyA, bodyB, poses, &f, m)
	}
}

// originShape has its centroid at the centre of mass.
var originShape Shape

// cross is how far a vector goes along a segment with the normal n.
func (n Vec) cross(x, y float32) float32 { return float32(n.X*y) - float32(n.Y*x) }

// dot is how far a vector goes in the direction n.
func (n Vec) dot(x, y float32) float32 { return float32(n.X*x) + float32(n.Y*y) }

// inVertexRegion reports whether a place, seen from the vertex between two segments with these normals, is
// beyond the end of the first, before the beginning of the second, and in front.
func inVertexRegion(first, second Vec, x, y float32) bool {
	return first.cross(x, y) > 0 && second.cross(x, y) < 0 && first.dot(x, y)+second.dot(x, y) > 0
}

func collideChainDisc(a *Shape, sm *ChainSegment, b *Shape, f *frame, m *Manifold) {
	n, v1, v2 := a.Normals[0], a.Vertices[0], a.Vertices[1]
	qx, qy := f.toA(b.Vertices[0])
	x1, y1, x2, y2 := qx-v1.X, qy-v1.Y, qx-v2.X, qy-v2.Y
	t := n.cross(x1, y1)
	x, y, nx, ny, length := v1.X-float32(n.Y*t), v1.Y+float32(n.X*t), n.X, n.Y, n.dot(x1, y1)
	switch {
	case t < 0:
		if !inVertexRegion(sm.Before, n, x1, y1) {
			return
		}
		x, y = v1.X, v1.Y
		nx, ny, length = normalizeOr(x1, y1, n.X, n.Y)
	case n.cross(x2, y2) > 0 || n.cross(x2, y2) == 0 && !sm.Last && sm.After.cross(x2, y2) >= 0:
		if !sm.Last || !inVertexRegion(n, sm.After, x2, y2) {
			return
		}
		x, y = v2.X, v2.Y
		nx, ny, length = normalizeOr(x2, y2, n.X, n.Y)
	case length < 0:
		return
	}
	separation := length - b.Radius
	if !(separation <= SpeculativeDistance) {
		return
	}
	height := float32(0.5 * (length - b.Radius))
	m.Normal = f.toWorld(nx, ny)
	m.addPoint(f, x+float32(nx*height), y+float32(ny*height), separation, 0)
}

func collideChainPolygon(a *Shape, sm *ChainSegment, b *Shape, bodyA, bodyB uint32, poses *Poses, f *frame, m *Manifold) {
	var ha, hb polygon
	ha.setA(a, f.origin)
	hb.setB(b, f)
	n, radius := a.Normals[0], b.Radius
	base := n.dot(ha.x[0], ha.y[0])
	if cx, cy := f.toA(b.Centroid); !(n.dot(cx, cy)-base >= 0) {
		return
	}
	sa := float32(0)
	for i := range hb.n {
		if d := n.dot(hb.x[i], hb.y[i]); i == 0 || d < sa {
			sa = d
		}
	}
	sa -= base
	if !(sa-radius <= SpeculativeDistance) {
		return
	}
	flat := edgePair{radius: radius}
	if kb, sb := hb.maxSeparation(&ha); sb-radius <= SpeculativeDistance {
		g := edgePair{radius: radius, flipped: sb > sa+referenceTolerance}
		if g.flipped {
			g.set(&hb, &ha, kb)
		} else {
			g.set(&ha, &hb, 0)
		}
		g.makeManifold(f, sa > 0 || sb > 0 || hb.n == 2, m)
		if m.Count == 0 {
			return
		}
		class := sm.classify(n, f.toLocal(m.Normal))
		if class == ownNormal {
			return
		}
		found := *m
		*m = Manifold{}
		switch class {
		case normalOfFlatVertex:
			flat.set(&ha, &hb, 0)
			cx, cy := f.toA(b.Centroid)
			before := n.cross(sm.Before.X, sm.Before.Y) > sharpSine && sm.Before.dot(cx-ha.x[0], cy-ha.y[0]) >= 0
			after := sm.After.cross(n.X, n.Y) > sharpSine && sm.After.dot(cx-ha.x[1], cy-ha.y[1]) >= 0
			flat.clipFlat(f, before, after, m)
			return
		case normalOfNext:
			if e := bendOf(a, b, bodyA, bodyB, poses); sm.ownsEnd(a, &e) {
				*m = found
			}
			return
		}
	} else if sa-radius > 0 {
		return
	}
	e := bendOf(a, b, bodyA, bodyB, poses)
	switch self, edge := e.choose(a, sm); {
	case self:
		flat.set(&ha, &hb, 0)
		flat.clip(f, true, m)
	case edge >= 0:
		g := edgePair{radius: radius, flipped: true}
		g.set(&hb, &ha, edge)
		g.clip(f, false, m)
	}
}

// normalClass says which part of a chain the normal of a contact belongs to.
type normalClass uint8

const (
	ownNormal          normalClass = iota // to the segment, or to a convex vertex at which it begins
	normalOfNext                          // to the convex vertex at which it ends
	normalOfFlatVertex                    // it leans towards a neighbour to which the chain does not bend away
	strangeNormal                         // it leans beyond the normal of a neighbour
)

// classify returns the class of a normal, in the axes of the body; n is that of the segment.
func (sm *ChainSegment) classify(n, normal Vec) normalClass {
	lean := n.cross(normal.X, normal.Y)
	beyond, bend, class := sm.After.cross(normal.X, normal.Y), sm.After.cross(n.X, n.Y), normalOfNext
	if lean < 0 {
		lean = -lean
		beyond, bend, class = -sm.Before.cross(normal.X, normal.Y), -sm.Before.cross(n.X, n.Y), ownNormal
	}
	switch {
	case lean <= normalTolerance && n.dot(normal.X, normal.Y) > 0:
		return ownNormal
	case bend >= -straightSine:
		return normalOfFlatVertex
	case beyond <= normalTolerance:
		return class
	}
	return strangeNormal
}

// bendShape is a polygon near convex vertices of a chain, in a frame that is the same for all its segments: the two
// that meet in a vertex compute the same numbers, and so they agree on which of them has the contact.
type bendShape struct {
	polygon
	centroid Vec
}

func bendOf(a, b *Shape, bodyA, bodyB uint32, poses *Poses) (e bendShape) {
	f, _ := relativeFrame(&originShape, bodyA, bodyB, poses)
	e.setB(b, &f)
	e.centroid.X, e.centroid.Y = f.toA(b.Centroid)
	return e
}

// inFront reports whether the centroid is in front of the line through v with the normal n.
func (e *bendShape) inFront(v, n Vec) bool { return n.dot(e.centroid.X-v.X, e.centroid.Y-v.Y) >= 0 }

// deepest returns where the polygon is deepest behind the line through v with the normal n: along the line from v, and
// its distance in front of it.
func (e *bendShape) deepest(v, n Vec) (along, separation float32) {
	for i := range e.n {
		x, y := e.x[i]-v.X, e.y[i]-v.Y
		if s := n.dot(x, y); i == 0 || s < separation {
			along, separation = n.cross(x, y), s
		}
	}
	return along, separation
}

// bendPart is what a polygon that overlaps the ground at a convex vertex touches.
type bendPart uint8

const (
	bendNothing bendPart = iota
	bendFirst            // the segment that ends there
	bendSecond           // the segment that begins there
	bendVertex           // the vertex, with an edge of the polygon
)

// at returns what the polygon touches at the convex vertex v between segments with two normals: of all normals between
// them the one that separates it best from the ground. If one of these is opposed to an edge, or is that of a segment,
// no other normal separates better. A segment counts if the centroid is in front of it, and if the polygon is deepest
// beside it and not beyond the vertex. If the polygon overlaps the ground and has its centroid in front of both, it
// touches something.
func (e *bendShape) at(v, first, second Vec) (part bendPart, edge int) {
	best := -inf
	if along, s := e.deepest(v, first); along <= 0 && e.inFront(v, first) {
		part, best = bendFirst, s
	}
	if along, s := e.deepest(v, second); along >= 0 && s >= best && e.inFront(v, second) {
		part, best = bendSecond, s
	}
	for i := range e.n {
		nx, ny := -e.nx[i], -e.ny[i]
		if s := float32(nx*(e.x[i]-v.X)) + float32(ny*(e.y[i]-v.Y)); s > best && inVertexRegion(first, second, nx, ny) {
			part, edge, best = bendVertex, i, s
		}
	}
	return part, edge
}

// ownsEnd reports whether the vertex at which the segment ends belongs to it.
func (sm *ChainSegment) ownsEnd(a *Shape, e *bendShape) bool {
	return sm.Last || !e.inFront(a.Vertices[1], sm.After)
}

// choose returns whether the polygon touches the segment itself, or else the edge with which it touches a convex vertex
// that belongs to the segment, or -1.
func (e *bendShape) choose(a *Shape, sm *ChainSegment) (self bool, edge int) {
	n, v1, v2 := a.Normals[0], a.Vertices[0], a.Vertices[1]
	along, _ := e.deepest(v1, n)
	beyond, _ := e.deepest(v2, n)
	self = along >= 0 && beyond <= 0
	if n.cross(sm.Before.X, sm.Before.Y) < -straightSine {
		part, k := e.at(v1, sm.Before, n)
		if part == bendVertex {
			return false, k
		}
		self = self && part == bendSecond
	}
	if sm.After.cross(n.X, n.Y) < -straightSine {
		part, k := e.at(v2, n, sm.After)
		if part == bendVertex && sm.ownsEnd(a, e) {
			return false, k
		}
		self = self && part == bendFirst
	}
	return self, -1
}

// toLocal rotates a direction from the axes of the world to those of A.
func (f *frame) toLocal(v Vec) Vec {
	return Vec{float32(f.ca*v.X) + float32(f.sa*v.Y), float32(f.ca*v.Y) - float32(f.sa*v.X)}
}

// clipFlat makes a manifold with the normal of the reference edge, or none. If the reference edge goes on into the ground
// before its first vertex or after its second, then an incident edge that is wholly there counts with its deeper end.
func (g *edgePair) clipFlat(f *frame, before, after bool, m *Manifold) {
	switch {
	case g.t1 >= 0 && g.t2 <= g.side:
		g.clip(f, true, m)
	case (g.t1 < 0 && before || g.t2 > g.side && after) && minFloat(g.s1, g.s2)-g.radius <= SpeculativeDistance:
		g.clip(f, false, m)
	}
}
