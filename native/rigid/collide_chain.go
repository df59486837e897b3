package rigid

// ChainSegment makes a segment one of a chain: what meets it knows which way the chain goes on,
// so that nothing catches on the vertices between segments.
//
// Such a segment has one side, the one to which Normals[0] points: to the right of the way
// from its first vertex to its second one.
type ChainSegment struct {
	Before, After Vec    // unit normals of the segments before and after it, in the axes of the body
	Chain         uint32 // number of the chain + 1; 0: the shape is of none
	Last          bool   // the segment after it is a ghost: nothing meets that one
}

const (
	// normalTolerance is the sine of an angle between normals that are the same but for rounding.
	normalTolerance = 1e-4

	// straightSine is the sine of a bend that is none: it turns a speed of 10 m/s by a
	// centimetre per second.
	straightSine = 1e-3

	// gentleSine is the sine of a bend, 30°, below which what is deep in a segment is brought to its
	// front, and sideways the cosine of the angle, 60°, from which on a normal leans away from there.
	gentleSine, sidewaysCosine = 0.5, 0.5
)

// CollideChains replaces those manifolds in out in which one shape is a segment of a chain, as
// smooth has it, an element per shape of the first ones, by what is meant below. What
// Collide has made of these pairs does not matter. All else is as for Collide, which must have
// had the same arguments and has checked them. It runs in Go on all levels.
//
// The chain has an inside and an outside, and where it bends a vertex is convex if the
// outside is the larger part. The normal of a contact, seen from the chain, is that of a
// segment or, at a convex vertex, between those of the two segments there. Anything else is
// no contact of a chain, however near the shapes are: this is what plain segments, which do
// not know of each other, get wrong.
//
// # Discs
//
// The segment has what is in front of it, from its beginning to its end, both with the line across it,
// and in front of its first vertex, which is the part beyond the end of the segment before that is not
// beside this one; the last segment of an open chain has also what is in front of its second vertex.
// These parts meet in lines and are computed so that no rounding makes them overlap, on straight
// ground, or leaves a gap between them. A disc touches what its centre is in front of. The ID is 0.
//
// # Other shapes
//
// A shape whose centroid is behind the line of the segment does not touch it. The normal is
// found as for two polygons, but with the front of the segment alone. If it leans towards a
// neighbour farther than the normal of that one, the contact belongs to others, and there is
// none; unless the chain is straight there or bends towards the outside, or bends by less than
// 30° and the shape has got deeper than SpeculativeDistance, with a normal to the side. Then the
// normal is that of the segment, and the points are the ends of the incident edge, cut off
// where they are beside the segment.
//
// Segments and segments of chains do not meet.
func CollideChains(shapes []Shape, smooth []ChainSegment, bodyOf []uint32, poses *Poses, pairs *Pairs, out []Manifold) {
	for i := range out {
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

// collideChain is for a segment of a chain in the place of A.
func collideChain(a *Shape, sm *ChainSegment, b *Shape, bodyA, bodyB uint32, poses *Poses, m *Manifold) {
	from := a
	if b.Count == 1 {
		from = &originShape // the same for all segments, so that they agree on their vertices
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

// originShape has its centroid in the centre of mass.
var originShape Shape

// cross is how far a vector goes in the direction of a segment with the normal n.
func (n Vec) cross(x, y float32) float32 { return float32(n.X*y) - float32(n.Y*x) }

// dot is how far a vector goes in the direction of n.
func (n Vec) dot(x, y float32) float32 { return float32(n.X*x) + float32(n.Y*y) }

// inVertexRegion reports whether a place, seen from the vertex between two segments with these normals,
// is beyond the end of the first, before the second begins, and in front.
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

// toLocal turns a direction from the axes of the world to those of A.
func (f *frame) toLocal(v Vec) Vec {
	return Vec{float32(f.ca*v.X) + float32(f.sa*v.Y), float32(f.ca*v.Y) - float32(f.sa*v.X)}
}

// acceptsNormal reports whether a normal, in the axes of the body, is one of a segment with the normal
// n or of its vertices; and if not, whether that of the segment is to be tried. deep: the shape overlaps the
// segment so much that it must not be lost.
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

// clipFlat is for a polygon on the reference edge, with the normal of that or not at all.
func (g *edgePair) clipFlat(f *frame, m *Manifold) {
	if g.t1 >= 0 && g.t2 <= g.side {
		g.clip(f, true, m)
	}
}
