package rigid

import (
	"cmp"
	"slices"
)

// ShapeQuery is a shape at a pose, with a filter: for overlaps, distances and casts. Its coordinates are below
// 2^60. A cast moves it by D, like a Ray.
type ShapeQuery struct {
	Shape    *Shape
	X, Y     float32
	Cos, Sin float32
	Ray      // of its origin: OX and OY are X and Y
	box      box
}

// ShapeHit is a shape that a query has found.
type ShapeHit struct {
	T      float32 // of a cast; else the distance, negative where the two overlap
	Normal Vec     // of the shape, outwards, of length one
	Point  Vec     // on the surface of the shape
	Shape  uint32  // or NoShape
}

func (f *ShapeHit) before(than *ShapeHit) bool {
	return f.T < than.T || f.T == than.T && f.Shape < than.Shape
}

// Prepare prepares a query. It returns false if it has no box.
func (p *ShapeQuery) Prepare() bool {
	b, ok := p.Shape.bounds(p.X, p.Y, p.Cos, p.Sin, boxMargin)
	if ok {
		p.box, ok = fattenBox(b[0], b[1], b[2], b[3])
	}
	p.OX, p.OY = p.X, p.Y
	p.prepare()
	return ok
}

func (p *ShapeQuery) pose() transform { return transform{p.X, p.Y, p.Cos, p.Sin} }

// relativeQuery is a query as seen from a target.
type relativeQuery struct {
	target     transform           // of the target
	origin     transform           // of the query, relative to the target
	difference minkowskiDifference // of the two
}

func (v *relativeQuery) set(p *ShapeQuery, g *target) {
	v.target = transform{g.X, g.Y, g.Cos, g.Sin}
	q := p.pose()
	v.origin = v.target.relative(&q)
	v.difference.set(g, p.Shape, &v.origin)
}

// overlaps reports whether two boxes overlap, or touch.
func (b *box) overlaps(x0, y0, x1, y1 float32) bool {
	return x0 <= b[2] && y0 <= b[3] && b[0] <= x1 && b[1] <= y1
}

// overlapsTarget reports whether the query overlaps or touches a target.
func (p *ShapeQuery) overlapsTarget(g *target) bool {
	var v relativeQuery
	v.set(p, g)
	near := v.difference.closest(v.origin.x, v.origin.y)
	return near.distance <= v.difference.radius
}

// boxDistance is the distance of a box from that of the query; 0 if they touch.
func (p *ShapeQuery) boxDistance(x0, y0, x1, y1 float32) float32 {
	dx := maxFloat(maxFloat(x0-p.box[2], p.box[0]-x1), 0)
	dy := maxFloat(maxFloat(y0-p.box[3], p.box[1]-y1), 0)
	return maxFloat(dx, dy)
}

// distance returns the distance of the query from a target. beyond is the distance of their boxes.
func (p *ShapeQuery) distance(g *target, beyond float32) ShapeHit {
	var v relativeQuery
	v.set(p, g)
	near := v.difference.closest(v.origin.x, v.origin.y)
	f := ShapeHit{T: near.distance - v.difference.radius, Shape: g.Shape}
	if beyond > 0 {
		f.T = maxFloat(f.T, beyond)
	}
	v.setHit(g, &near, &f)
	return f
}

// setHit sets the normal and the point.
func (v *relativeQuery) setHit(g *target, near *closestFeature, f *ShapeHit) {
	n, q := near.normal, v.difference.pointOfB(g, near)
	f.Normal = v.target.rotate(n)
	f.Normal = Vec{f.Normal.X + 0, f.Normal.Y + 0} // no -0
	f.Point = v.target.apply(Vec{q.X + float32(n.X*v.difference.radiusB), q.Y + float32(n.Y*v.difference.radiusB)})
}

// boxEntry returns the T at which the moving box of the query touches another box, and false if it does not touch it
// by maxT. See Ray.boxEntry.
func (p *ShapeQuery) boxEntry(x0, y0, x1, y1, maxT float32) (float32, bool) {
	fromX, toX := x0-p.box[2], x1-p.box[0]
	if p.invX < 0 {
		fromX, toX = toX, fromX
	}
	fromY, toY := y0-p.box[3], y1-p.box[1]
	if p.invY < 0 {
		fromY, toY = toY, fromY
	}
	enter := maxFloat(maxFloat(fromX*p.invX, fromY*p.invY), 0)
	exit := minFloat(toX*p.invX, toY*p.invY)
	return enter, enter <= minFloat(float32(exit*exitSlack), maxT)
}

// cast returns where the query, moved along its ray, hits a target whose box it reaches at entry. It casts the origin
// of the query like a ray against the difference of the two.
func (p *ShapeQuery) cast(g *target, entry float32) (f ShapeHit, ok bool) {
	var v relativeQuery
	v.set(p, g)
	c := localRay{
		x: v.origin.x, y: v.origin.y,
		dx: float32(g.Cos*p.DX) + float32(g.Sin*p.DY), dy: float32(g.Cos*p.DY) - float32(g.Sin*p.DX),
	}
	c.dd = float32(c.dx*c.dx) + float32(c.dy*c.dy)
	t, n, how := c.cast(v.difference.v[:v.difference.count], v.difference.n[:v.difference.count], v.difference.radius)
	if how == castMisses || how == castInside && p.Flags&SkipInside != 0 {
		return f, false
	}
	f.T, f.Shape = maxFloat(t, entry), g.Shape
	if !(f.T <= p.MaxT) {
		return f, false
	}
	if how == castInside {
		f.Point = Vec{p.X, p.Y}
		return f, true
	}
	near := v.difference.closest(c.x+float32(f.T*c.dx), c.y+float32(f.T*c.dy))
	v.setHit(g, &near, &f)
	f.Normal = v.target.rotate(n)
	f.Normal = Vec{f.Normal.X + 0, f.Normal.Y + 0}
	return f, true
}

// OverlapShape appends the shapes that a prepared query overlaps or touches to out, ascending: the shapes whose boxes
// touch its box, as in CastRaysClosest, and whose Distance is zero or less.
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

// OverlapShapeOracle is the specification of OverlapShape.
func (s *Scene) OverlapShapeOracle(p *ShapeQuery, out []uint32) []uint32 {
	s.each(func(g *target, b *box) {
		if p.box.overlaps(b[0], b[1], b[2], b[3]) && p.accepts(g) && p.overlapsTarget(g) {
			out = append(out, g.Shape)
		}
	})
	return out
}

// each calls f for the shapes that queries can find.
func (s *Scene) each(f func(g *target, b *box)) {
	s.check()
	for i := range s.Shapes {
		if g, b, ok := s.target(i); ok {
			f(&g, &b)
		}
	}
}

// target returns a shape with its box; false if queries cannot find it.
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

// root pushes the root, if there is one, and returns the size of the stack.
func (t *QueryTree) root(stack *[maxStack]stackEntry) int {
	if len(t.targets) == 0 {
		return 0
	}
	stack[0] = stackEntry{0, uint32(len(t.nodes) - 1), uint32(len(t.starts) - 2)}
	return 1
}

// childEntry is the child in a lane of an inner node.
func (t *QueryTree) childEntry(c *stackEntry, lane int, entry float32) stackEntry {
	return stackEntry{entry, t.starts[c.level-1] + (c.node-t.starts[c.level])*Lanes + uint32(lane), c.level - 1}
}

// CastShapeClosest finds the shape that a prepared query hits first on its way; of several at the same T the lowest.
// It casts the origin of the query like a ray against the set of all places at which the two overlap: a polygon with
// the edges of both, and a radius that is the sum of theirs; see CastRaysClosest. The point is the point of the shape
// that is nearest to the query then. If the query begins in overlap, the normal is zero and the point is its origin.
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

// enteredByShape is enteredBy for a ShapeQuery.
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

// CastShapeAll appends all hits of a prepared query on its way, see CastShapeClosest, in order of T, then
// shape.
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

// CastShapeOracle is the specification of CastShapeAll; its first hit is that of CastShapeClosest.
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

// Nearest finds the shape nearest to a prepared query, at most MaxT away; of several at the same distance the
// lowest. It is the distance of Distance, or that of the boxes if it is larger.
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

// DistanceResult is the distance of two shapes.
type DistanceResult struct {
	Distance       float32 // metres; negative: the least translation that separates them
	Normal         Vec     // from A to B, of length one
	PointA, PointB Vec     // of their surfaces, closest to each other
}

// Distance returns the distance of shape a of one body from shape b of another. It is the distance of the origin of b
// from the polygon of all places at which the two overlap, minus the sum of the radii. The polygon has the edges of
// both, in the frame of the body of a. Of equal edges the first counts, in the order of their directions,
// counter-clockwise from the first axis of that frame. The result is not finite if a pose or a shape is not.
func Distance(a, b *Shape, bodyA, bodyB uint32, poses *Poses) DistanceResult {
	var g target
	g.X, g.Y, g.Cos, g.Sin = poses.X[bodyA], poses.Y[bodyA], poses.Cos[bodyA], poses.Sin[bodyA]
	g.Count, g.Radius, g.Vertices, g.Normals = a.Count, a.Radius, a.Vertices, a.Normals
	p := ShapeQuery{Shape: b, X: poses.X[bodyB], Y: poses.Y[bodyB], Cos: poses.Cos[bodyB], Sin: poses.Sin[bodyB]}
	f := p.distance(&g, 0)
	return DistanceResult{f.T, f.Normal, f.Point, Vec{f.Point.X + float32(f.Normal.X*f.T), f.Point.Y + float32(f.Normal.Y*f.T)}}
}

// Within appends the shapes that are at most MaxT away from a prepared query to out, in order of distance, then
// shape; see Nearest.
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

// CastRayClosest is CastRaysClosest of one prepared ray.
func (t *QueryTree) CastRayClosest(r *Ray) RayHit { return t.closest(r) }
