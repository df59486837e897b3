package rigid

import (
	"cmp"
	"slices"
)

// Overlaps appends the shapes that a placed probe overlaps or touches to out, ascending: those
// whose boxes touch its own, both as in RayClosest, and whose distance by Distance is zero
// or less.
func (t *QueryTree) OverlapShape(p *ShapeQuery, out []uint32) []uint32 {
	from := len(out)
	var stack [maxStack]stackEntry
	n := t.root(&stack)
	for n > 0 {
		n--
		c := stack[n]
		node := &t.nodes[c.node]
		for i := range Lanes {
			if !p.box.overlaps(node.MinX[i], node.MinY[i], node.MaxX[i], node.MaxY[i]) {
				continue
			}
			if c.level > 0 {
				stack[n] = t.childEntry(&c, i, 0)
				n++
			} else if g := &t.targets[c.node*Lanes+uint32(i)]; p.accepts(g) && p.overlapsTarget(g) {
				out = append(out, g.Shape)
			}
		}
	}
	slices.Sort(out[from:])
	return out
}

// OverlapsOracle is the specification of Overlaps.
func (s *Scene) OverlapShapeOracle(p *ShapeQuery, out []uint32) []uint32 {
	s.each(func(g *target, b *box) {
		if p.box.overlaps(b[0], b[1], b[2], b[3]) && p.accepts(g) && p.overlapsTarget(g) {
			out = append(out, g.Shape)
		}
	})
	return out
}

// each calls f for the shapes that are looked for.
func (s *Scene) each(f func(g *target, b *box)) {
	s.check()
	for i := range s.Shapes {
		if g, b, ok := s.target(i); ok {
			f(&g, &b)
		}
	}
}

// target returns a shape with its box; false if it is not looked for.
func (s *Scene) target(i int) (g target, b box, ok bool) {
	shape, body, p := &s.Shapes[i], s.Filters.Body[i], s.Poses
	if shape.Count == 0 || !isRotation(p.Cos[body], p.Sin[body]) {
		return g, b, false
	}
	b, ok = shape.bounds(p.X[body], p.Y[body], p.Cos[body], p.Sin[body], boxMargin)
	if ok {
		b, ok = fattenBox(b[0], b[1], b[2], b[3])
	}
	if ok {
		g.set(s, i)
	}
	return g, b, ok
}

// root puts the root on a stack, if there is one, and returns how many are there.
func (t *QueryTree) root(stack *[maxStack]stackEntry) int {
	if len(t.targets) == 0 {
		return 0
	}
	stack[0] = t.rootEntry()
	return 1
}

// child is what is in a lane of a node above others.
func (t *QueryTree) childEntry(c *stackEntry, lane int, entry float32) stackEntry {
	return stackEntry{entry, t.starts[c.level-1] + (c.node-t.starts[c.level])*Lanes + uint32(lane), c.level - 1}
}

// CastClosest finds the shape that a placed probe meets first on its way; of several at the
// same parameter the lowest. It meets a shape where its origin, as a ray, meets the set of all
// places at which the two overlap: a polygon with the edges of both, and a radius that is the
// sum of theirs; see RayClosest. The point is that of the shape nearest to the probe there.
// Where it begins in overlap the normal is zero and the point is its origin.
func (t *QueryTree) CastShapeClosest(p *ShapeQuery) ShapeHit {
	best := ShapeHit{T: p.MaxT, Shape: NoShape}
	var stack [maxStack]stackEntry
	var lanes [Lanes]stackEntry
	for n := t.root(&stack); n > 0; {
		n--
		c := stack[n]
		if c.entry > best.T {
			continue
		}
		found := t.nodes[c.node].enteredByShape(p, best.T, &lanes)
		if c.level > 0 {
			n += t.pushChildren(&c, lanes[:found], stack[n:])
			continue
		}
		for _, l := range lanes[:found] {
			g := &t.targets[c.node*Lanes+l.node]
			if l.entry <= best.T && p.accepts(g) {
				if f, ok := p.cast(g, l.entry); ok && f.before(&best) {
					best = f
				}
			}
		}
	}
	return best
}

// approach is look for a probe.
func (n *treeNode) enteredByShape(p *ShapeQuery, maxT float32, to *[Lanes]stackEntry) int {
	found := 0
	for i := range Lanes {
		if entry, ok := p.boxEntry(n.MinX[i], n.MinY[i], n.MaxX[i], n.MaxY[i], maxT); ok {
			to[found] = stackEntry{entry: entry, node: uint32(i)}
			found++
		}
	}
	return found
}

// CastAll appends all that a placed probe meets on its way, see CastClosest, in order of
// parameter, then shape.
func (t *QueryTree) CastShapeAll(p *ShapeQuery, out []ShapeHit) []ShapeHit {
	from := len(out)
	var stack [maxStack]stackEntry
	var lanes [Lanes]stackEntry
	for n := t.root(&stack); n > 0; {
		n--
		c := stack[n]
		found := t.nodes[c.node].enteredByShape(p, p.MaxT, &lanes)
		if c.level > 0 {
			n += t.pushChildren(&c, lanes[:found], stack[n:])
			continue
		}
		for _, l := range lanes[:found] {
			if g := &t.targets[c.node*Lanes+l.node]; p.accepts(g) {
				if f, ok := p.cast(g, l.entry); ok {
					out = append(out, f)
				}
			}
		}
	}
	sortFound(out[from:])
	return out
}

// CastOracle is the specification of CastAll; the first of a row is that of CastClosest.
func (s *Scene) CastShapeOracle(p *ShapeQuery, out []ShapeHit) []ShapeHit {
	from := len(out)
	s.each(func(g *target, b *box) {
		if entry, ok := p.boxEntry(b[0], b[1], b[2], b[3], p.MaxT); ok && p.accepts(g) {
			if f, ok := p.cast(g, entry); ok {
				out = append(out, f)
			}
		}
	})
	sortFound(out[from:])
	return out
}

func sortFound(row []ShapeHit) {
	slices.SortFunc(row, func(a, b ShapeHit) int {
		return cmp.Or(cmp.Compare(a.T, b.T), cmp.Compare(a.Shape, b.Shape))
	})
}

// Nearest finds the shape that is nearest to a placed probe, at most MaxT away; of several at
// the same distance the lowest. Distances are those of Distance, but where the boxes of
// the two are farther apart, that.
func (t *QueryTree) Nearest(p *ShapeQuery) ShapeHit {
	best := ShapeHit{T: p.MaxT, Shape: NoShape}
	var stack [maxStack]stackEntry
	var lanes [Lanes]stackEntry
	for n := t.root(&stack); n > 0; {
		n--
		c := stack[n]
		if c.entry > 0 && c.entry > best.T {
			continue
		}
		node, found := &t.nodes[c.node], 0
		for i := range Lanes {
			if far := p.boxDistance(node.MinX[i], node.MinY[i], node.MaxX[i], node.MaxY[i]); far <= 0 || far <= best.T {
				lanes[found] = stackEntry{entry: far, node: uint32(i)}
				found++
			}
		}
		if c.level > 0 {
			n += t.pushChildren(&c, lanes[:found], stack[n:])
			continue
		}
		for _, l := range lanes[:found] {
			if g := &t.targets[c.node*Lanes+l.node]; p.accepts(g) {
				if f := p.distance(g, l.entry); f.T <= p.MaxT && f.before(&best) {
					best = f
				}
			}
		}
	}
	return best
}

// NearestOracle is the specification of Nearest.
func (s *Scene) NearestOracle(p *ShapeQuery) ShapeHit {
	best := ShapeHit{T: p.MaxT, Shape: NoShape}
	s.each(func(g *target, b *box) {
		if far := p.boxDistance(b[0], b[1], b[2], b[3]); (far <= 0 || far <= p.MaxT) && p.accepts(g) {
			if f := p.distance(g, far); f.T <= p.MaxT && f.before(&best) {
				best = f
			}
		}
	})
	return best
}

// Apart is how far two shapes are apart.
type DistanceResult struct {
	Distance       float32 // metres; negative: the least way that parts them
	Normal         Vec     // from A to B, of length one
	PointA, PointB Vec     // of their surfaces, nearest to each other
}

// Distance measures shape a of a body at one pose and shape b of another. It is that of the
// origin of b from the polygon of all places at which the two overlap: the edges of both, in
// the frame of the body of a, less the sum of the radii. Of equals the first edge counts,
// in the order of directions, counter-clockwise from the first axis of that frame.
// It is not finite if a pose or a shape is not.
func Distance(a, b *Shape, bodyA, bodyB uint32, poses *Poses) DistanceResult {
	var g target
	g.X, g.Y, g.Cos, g.Sin = poses.X[bodyA], poses.Y[bodyA], poses.Cos[bodyA], poses.Sin[bodyA]
	g.Count, g.Radius, g.Vertices, g.Normals = a.Count, a.Radius, a.Vertices, a.Normals
	p := ShapeQuery{Shape: b, X: poses.X[bodyB], Y: poses.Y[bodyB], Cos: poses.Cos[bodyB], Sin: poses.Sin[bodyB]}
	f := p.distance(&g, 0)
	return DistanceResult{f.T, f.Normal, f.Point, Vec{f.Point.X + float32(f.Normal.X*f.T), f.Point.Y + float32(f.Normal.Y*f.T)}}
}

// Within appends the shapes that are at most MaxT away from a placed probe to out, in order of
// distance, then shape; see Nearest.
func (t *QueryTree) Within(p *ShapeQuery, out []ShapeHit) []ShapeHit {
	from := len(out)
	var stack [maxStack]stackEntry
	for n := t.root(&stack); n > 0; {
		n--
		c := stack[n]
		node := &t.nodes[c.node]
		for i := range Lanes {
			far := p.boxDistance(node.MinX[i], node.MinY[i], node.MaxX[i], node.MaxY[i])
			if !(far <= p.MaxT) {
				continue
			}
			if c.level > 0 {
				stack[n] = t.childEntry(&c, i, far)
				n++
			} else if g := &t.targets[c.node*Lanes+uint32(i)]; p.accepts(g) {
				if f := p.distance(g, far); f.T <= p.MaxT {
					out = append(out, f)
				}
			}
		}
	}
	sortFound(out[from:])
	return out
}

// RayFirst is RayClosest of one prepared ray.
func (t *QueryTree) CastRayClosest(r *Ray) RayHit { return t.closest(r) }
