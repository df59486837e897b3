package rigid

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

	// gentleSine is the sine of the bend, 30°, below which a shape deep in a segment is pushed out to its
	// front. sidewaysCosine is the cosine of the angle, 60°, from which on a normal counts as sideways.
	gentleSine, sidewaysCosine = 0.5, 0.5
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
// polygons, with the front of the segment alone. If it leans towards a neighbour farther than the normal of
// that neighbour, the contact belongs to another segment and there is none here. There are two exceptions: the
// chain is straight there or bends towards the outside; or it bends by less than 30°, the shape is deeper than
// SpeculativeDistance, and the normal is sideways. Then the normal is that of the segment, and the points are
// the ends of the incident edge, cut off where they are beside the segment.
//
// Segments do not touch segments of chains.
func CollideChains(shapes []Shape, smooth []ChainSegment, bodyOf []uint32, poses *Poses, pairs *Pairs, recycled []int32, out []Manifold) {
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
		collideChainPolygon(a, sm, b, &f, m)
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

func collideChainPolygon(a *Shape, sm *ChainSegment, b *Shape, f *frame, m *Manifold) {
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
	kb, sb := hb.maxSeparation(&ha)
	if !(sa-radius <= SpeculativeDistance) || !(sb-radius <= SpeculativeDistance) {
		return
	}
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
	fits, flatten := sm.acceptsNormal(n, f.toLocal(m.Normal), sa-radius < -SpeculativeDistance)
	if !fits {
		*m = Manifold{}
	}
	if flatten {
		flat := edgePair{radius: radius}
		flat.set(&ha, &hb, 0)
		flat.clipFlat(f, m)
	}
}

// toLocal rotates a direction from the axes of the world to those of A.
func (f *frame) toLocal(v Vec) Vec {
	return Vec{float32(f.ca*v.X) + float32(f.sa*v.Y), float32(f.ca*v.Y) - float32(f.sa*v.X)}
}

// acceptsNormal reports whether a normal, in the axes of the body, belongs to a segment with the normal n or to
// its vertices; if not, flatten reports whether to try the normal of the segment. deep: the shape overlaps the
// segment so much that the contact must not be lost.
func (sm *ChainSegment) acceptsNormal(n, normal Vec, deep bool) (fits, flatten bool) {
	lean := n.cross(normal.X, normal.Y)
	beyond, bend := sm.After.cross(normal.X, normal.Y), sm.After.cross(n.X, n.Y)
	if lean < 0 {
		lean = -lean
		beyond, bend = -sm.Before.cross(normal.X, normal.Y), -sm.Before.cross(n.X, n.Y)
	}
	switch {
	case lean <= normalTolerance && n.dot(normal.X, normal.Y) > 0:
		return true, false
	case bend >= -straightSine || deep && bend > -gentleSine && n.dot(normal.X, normal.Y) < sidewaysCosine:
		return false, true
	}
	return beyond <= normalTolerance, false
}

// clipFlat makes a manifold with the normal of the reference edge, or none.
func (g *edgePair) clipFlat(f *frame, m *Manifold) {
	if g.t1 >= 0 && g.t2 <= g.side {
		g.clip(f, true, m)
	}
}
