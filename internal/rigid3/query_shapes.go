package rigid3

import (
	"cmp"
	"slices"
)

// ShapeQuery is a shape at a pose, with a filter: for overlaps, distances and casts. Its coordinates are at most 2^60. A cast moves it by D, like a
// Ray.
type ShapeQuery struct {
	Shape  *Shape
	Hull   *Polytope // of KindHull; Shape.Hull does not count
	Pose   Pose      // its rotation has the length one
	Ray              // of its origin: O is Pose.P
	core   target    // the shape at its pose
	lo, hi Vec
	near   surfaceQuery // memory for surfaces
}

// ShapeHit is a shape that a query has found.
type ShapeHit struct {
	T      float32 // of a cast; else the distance, negative where the two overlap
	Normal Vec     // of the shape, outwards, of length one
	Point  Vec     // on the surface of the shape
	Shape  uint32  // or NoShape
	Face   uint32  // of a surface: the triangle; else 0
}

func (f *ShapeHit) before(than *ShapeHit) bool {
	return f.T < than.T || f.T == than.T && f.Shape < than.Shape
}

// Prepare prepares a query. It returns false if it has no bounds, and then finds nothing.
func (p *ShapeQuery) Prepare() bool {
	p.O = p.Pose.P
	p.prepare()
	var ok bool
	p.lo, p.hi, ok = fattenBox(p.core.setQuery(p.Shape, p.Hull, &p.Pose))
	return ok
}

// setQuery makes a target that is in no scene, and returns its bounds.
func (g *target) setQuery(s *Shape, hull *Polytope, pose *Pose) (lo, hi Vec) {
	*g = target{targetRow: targetRow{half: s.Half, radius: s.Radius, kind: s.Kind, shape: NoShape}, hull: hull}
	g.pose.set(pose, &s.Pose)
	var b boxArrays
	t := g.vertices(&b)
	lo, hi = Vec{inf, inf, inf}, Vec{-inf, -inf, -inf}
	r := g.radius + boxMargin
	for _, v := range t.Vertices {
		p := g.pose.apply(v.wide64()).narrow()
		lo = Vec{minFloat(p.X-r, lo.X), minFloat(p.Y-r, lo.Y), minFloat(p.Z-r, lo.Z)}
		hi = Vec{maxFloat(p.X+r, hi.X), maxFloat(p.Y+r, hi.Y), maxFloat(p.Z+r, hi.Z)}
	}
	return lo, hi
}

// vertices returns the core of a target, which is a point or a segment for a sphere or a capsule.
func (g *target) vertices(b *boxArrays) Polytope {
	switch g.kind {
	case KindSphere:
		b.vertices[0] = Vec{}
		return Polytope{Vertices: b.vertices[:1]}
	case KindCapsule:
		b.vertices[0], b.vertices[1] = g.half.neg(), g.half
		return Polytope{Vertices: b.vertices[:2]}
	}
	return g.polytope(b)
}

// pairOf returns the cores of two targets.
func pairOf(a, b *target, mem *[2]boxArrays) corePair {
	return corePair{a.vertices(&mem[0]), b.vertices(&mem[1]), a.kind == KindBox, b.kind == KindBox, a.pose.relative(&b.pose)}
}

// isEmpty reports whether one of the two has no vertices.
func (p *corePair) isEmpty() bool { return len(p.a.Vertices) == 0 || len(p.b.Vertices) == 0 }

// overlaps reports whether the box of the query overlaps another one, or touches it.
func (p *ShapeQuery) overlaps(lo, hi Vec) bool {
	return lo.X <= p.hi.X && lo.Y <= p.hi.Y && lo.Z <= p.hi.Z && p.lo.X <= hi.X && p.lo.Y <= hi.Y && p.lo.Z <= hi.Z
}

// overlapsTarget reports whether the query overlaps or touches a target.
func (p *ShapeQuery) overlapsTarget(g *target) bool {
	if g.kind == KindSurface {
		return p.near.overlaps(p, g)
	}
	var mem [2]boxArrays
	v := pairOf(g, &p.core, &mem)
	if v.isEmpty() {
		return false
	}
	near, apart := v.separated()
	return !apart || near.distance <= float64(g.radius)+float64(p.core.radius)
}

// boxDistance is the distance of a box from that of the query; 0 if they touch. Each operation is monotone, so that the distance from a box around
// it is not larger.
func (p *ShapeQuery) boxDistance(lo, hi Vec) float32 {
	d := Vec{
		maxFloat(maxFloat(lo.X-p.hi.X, p.lo.X-hi.X), 0),
		maxFloat(maxFloat(lo.Y-p.hi.Y, p.lo.Y-hi.Y), 0),
		maxFloat(maxFloat(lo.Z-p.hi.Z, p.lo.Z-hi.Z), 0),
	}
	return d.length()
}

// distance returns the distance of the query from a target; of a surface, if it is at most within. beyond is the distance of their boxes; no distance is less, so that a tree may
// skip boxes.
func (p *ShapeQuery) distance(g *target, beyond, within float32) (f ShapeHit, ok bool) {
	if g.kind == KindSurface {
		f, ok = p.near.distance(p, g, beyond, within)
	} else {
		f, ok = g.distance(&p.core)
	}
	if beyond > 0 {
		f.T = maxFloat(f.T, beyond)
	}
	return f, ok
}

// distance returns the distance of another target; false if one of the two has no core.
func (g *target) distance(o *target) (f ShapeHit, ok bool) {
	var mem [2]boxArrays
	v := pairOf(g, o, &mem)
	if v.isEmpty() {
		return f, false
	}
	near := v.gap()
	f = ShapeHit{T: float32(near.distance - (float64(g.radius) + float64(o.radius))), Shape: g.shape}
	g.setHit(&near, &f)
	return f, true
}

// setHit sets the normal and the point of a hit.
func (g *target) setHit(near *coreGap, f *ShapeHit) {
	f.Normal = g.pose.rotate(near.normal).narrow()
	f.Point = g.pose.apply(near.onA.addTimes(near.normal, float64(g.radius))).narrow()
}

// boxEntry returns the T at which the moving box of the query touches another box, and false if it does not touch it by maxT. See Ray.boxEntry.
func (p *ShapeQuery) boxEntry(lo, hi Vec, maxT float32) (float32, bool) {
	from, to := lo.Sub(p.hi), hi.Sub(p.lo)
	if p.inv.X < 0 {
		from.X, to.X = to.X, from.X
	}
	if p.inv.Y < 0 {
		from.Y, to.Y = to.Y, from.Y
	}
	if p.inv.Z < 0 {
		from.Z, to.Z = to.Z, from.Z
	}
	enter := maxFloat(maxFloat(from.X*p.inv.X, from.Y*p.inv.Y), maxFloat(from.Z*p.inv.Z, 0))
	exit := minFloat(minFloat(to.X*p.inv.X, to.Y*p.inv.Y), to.Z*p.inv.Z)
	return enter, enter <= minFloat(float32(exit*exitSlack), maxT)
}

const (
	// CastTolerance is the distance in metres at which a cast shape has reached another one.
	CastTolerance = 1e-6

	// maxAdvances bounds the iterations of a cast. Where the shapes come near each other at an angle, few are needed; a cast that only just
	// touches halves its distance in each.
	maxAdvances = 64
)

// cast returns where the query, moved along its ray, hits a target whose box it reaches at entry.
//
// It is conservative advancement: the two are at least as far apart as their distance along its normal, so that the query can move until that is
// used up. The distance is convex along the way, of which this is Newton's method from the side from which it does not go too far.
func (p *ShapeQuery) cast(g *target, entry float32) (f ShapeHit, ok bool) {
	if g.kind == KindSurface {
		return p.near.cast(p, g, entry)
	}
	var mem [2]boxArrays
	v := pairOf(g, &p.core, &mem)
	if v.isEmpty() {
		return f, false
	}
	radius := float64(g.radius) + float64(p.core.radius)
	near, apart := v.separated()
	if !apart || near.distance <= radius {
		f = ShapeHit{T: entry, Point: p.Pose.P, Shape: g.shape}
		return f, p.Flags&SkipInside == 0 && entry <= p.MaxT
	}
	t, near, ok := v.advance(near, g.pose.unrotate(p.D.wide64()), radius, float64(p.MaxT))
	if !ok {
		return f, false
	}
	f.T, f.Shape = maxFloat(float32(t), entry), g.shape
	if !(f.T <= p.MaxT) {
		return f, false
	}
	g.setHit(&near, &f)
	return f, true
}

// advance moves B by up to maxT times d until it is as near to A as a cast comes, and returns T and how they are apart then. near is how they are
// apart now.
func (p *corePair) advance(near coreGap, d vec64, radius, maxT float64) (t float64, at coreGap, ok bool) {
	from := p.at.p
	for range maxAdvances {
		room := near.distance - radius
		speed := -near.normal.Dot(d)
		if !(speed > 0) {
			return 0, near, false // they move apart
		}
		if room <= CastTolerance {
			break
		}
		next := t + (room-0.5*CastTolerance)/speed
		if !(next > t) {
			break // as near as float64 can say
		}
		if t = next; !(t <= maxT) {
			return 0, near, false
		}
		p.at.p = from.addTimes(d, t)
		last, apart := near, false
		if near, apart = p.separated(); !apart {
			near = last // by rounding: the normal is that from before
			break
		}
	}
	return t, near, true
}

// OverlapShape appends the shapes that a prepared query overlaps or touches to out, ascending: the shapes whose boxes touch its box, as in
// CastRaysClosest, and whose Distance is zero or less.
func (t *QueryTree) OverlapShape(p *ShapeQuery, out []uint32) []uint32 {
	from := len(out)
	var stack [maxStack]stackEntry
	for n := t.root(&stack); n > 0; {
		n--
		c := stack[n]
		node := &t.nodes[c.node]
		for i := range Lanes {
			if node.minX[i] > p.hi.X || node.maxX[i] < p.lo.X || !p.overlaps(node.lane(i)) { // most boxes end at x
				continue
			}
			if c.level > 0 {
				stack[n] = t.childEntry(&c, i, 0)
				n++
			} else if g := &t.targets[c.node*Lanes+uint32(i)]; p.accepts(g) && p.overlapsTarget(g) {
				out = append(out, g.shape)
			}
		}
	}
	slices.Sort(out[from:])
	return out
}

// childEntry is the child in a lane of an inner node.
func (t *QueryTree) childEntry(c *stackEntry, lane int, entry float32) stackEntry {
	return stackEntry{entry, t.starts[c.level-1] + (c.node-t.starts[c.level])*Lanes + uint32(lane), c.level - 1}
}

// OverlapShapeOracle is the specification of OverlapShape.
func (s *Scene) OverlapShapeOracle(p *ShapeQuery, out []uint32) []uint32 {
	s.each(func(g *target, lo, hi Vec) {
		if p.overlaps(lo, hi) && p.accepts(g) && p.overlapsTarget(g) {
			out = append(out, g.shape)
		}
	})
	return out
}

// CastShapeClosest finds the shape that a prepared query hits first on its way; of several at the same T the lowest. It hits a shape where it
// comes as near as CastTolerance on its way towards it, and then is between half of that and all of it away, where float64 can say so. The point is
// the point of the shape that is nearest to the query then. If the query begins in overlap, or touching, T is 0, the normal is zero, and the point is
// its origin.
func (t *QueryTree) CastShapeClosest(p *ShapeQuery) ShapeHit {
	best, box := ShapeHit{T: p.MaxT, Shape: NoShape}, p.sweep()
	var stack [maxStack]stackEntry
	var lanes [Lanes]stackEntry
	for n := t.root(&stack); n > 0; {
		n--
		c := stack[n]
		if c.entry > best.T {
			continue
		}
		found := lanes[:t.nodes[c.node].enteredBy(&box, best.T, &lanes)]
		if c.level > 0 {
			n += t.pushChildren(&c, found, stack[n:])
			continue
		}
		for _, l := range found {
			g := &t.targets[c.node*Lanes+l.node]
			if l.entry <= best.T && p.accepts(g) {
				if f, ok := p.cast(g, l.entry); ok && f.before(&best) {
					best = f
				}
			}
		}
	}
	if best.Shape == NoShape {
		best.Point = p.end()
	}
	return best
}

// CastShapeAll appends all hits of a prepared query on its way, see CastShapeClosest, in order of T, then shape.
func (t *QueryTree) CastShapeAll(p *ShapeQuery, out []ShapeHit) []ShapeHit {
	from, box := len(out), p.sweep()
	var stack [maxStack]stackEntry
	var lanes [Lanes]stackEntry
	for n := t.root(&stack); n > 0; {
		n--
		c := stack[n]
		found := lanes[:t.nodes[c.node].enteredBy(&box, p.MaxT, &lanes)]
		if c.level > 0 {
			n += t.pushChildren(&c, found, stack[n:])
			continue
		}
		for _, l := range found {
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
	s.each(func(g *target, lo, hi Vec) {
		if entry, ok := p.boxEntry(lo, hi, p.MaxT); ok && p.accepts(g) {
			if f, ok := p.cast(g, entry); ok {
				out = append(out, f)
			}
		}
	})
	sortFound(out[from:])
	return out
}

func sortFound(row []ShapeHit) {
	slices.SortFunc(row, func(a, b ShapeHit) int { return cmp.Or(cmp.Compare(a.T, b.T), cmp.Compare(a.Shape, b.Shape)) })
}

// Nearest finds the shape nearest to a prepared query, at most MaxT away; of several at the same distance the lowest. It is the distance of
// Distance, or that of the boxes if it is larger.
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
			lo, hi := node.lane(i)
			if far := p.boxDistance(lo, hi); lo.X <= hi.X && (far <= 0 || far <= best.T) {
				lanes[found] = stackEntry{entry: far, node: uint32(i)}
				found++
			}
		}
		if c.level > 0 {
			n += t.pushChildren(&c, lanes[:found], stack[n:])
			continue
		}
		for _, l := range lanes[:found] {
			if l.entry > 0 && l.entry > best.T {
				continue
			}
			if g := &t.targets[c.node*Lanes+l.node]; p.accepts(g) {
				if f, ok := p.distance(g, l.entry, best.T); ok && f.T <= p.MaxT && f.before(&best) {
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
	s.each(func(g *target, lo, hi Vec) {
		if far := p.boxDistance(lo, hi); (far <= 0 || far <= p.MaxT) && p.accepts(g) {
			if f, ok := p.distance(g, far, p.MaxT); ok && f.T <= p.MaxT && f.before(&best) {
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
	Face           uint32  // of a surface: the triangle; else 0
}

// Distance returns the distance of shape a of a body at one pose from shape b at another: that of their cores, minus the sum of the radii. Both
// shapes have cores, or one is a surface, and the poses are finite and at most 2^60, with rotations of length one.
func Distance(a, b *Shape, hulls *Hulls, poseA, poseB *Pose) DistanceResult {
	if b.Kind == KindSurface {
		r := Distance(b, a, hulls, poseB, poseA)
		return DistanceResult{r.Distance, r.Normal.neg(), r.PointB, r.PointA, r.Face}
	}
	if a.Kind == KindSurface {
		var p ShapeQuery // without Shape, which would make b escape
		p.core.setQuery(b, hulls.at(b.Hull), poseB)
		g := target{targetRow: targetRow{kind: KindSurface}, surface: hulls.surface(a.Hull)}
		g.pose.set(poseA, &a.Pose)
		f, _ := p.near.distance(&p, &g, 0, inf)
		return DistanceResult{f.T, f.Normal, f.Point, f.Other(), f.Face}
	}
	var g, o target
	g.setQuery(a, hulls.at(a.Hull), poseA)
	o.setQuery(b, hulls.at(b.Hull), poseB)
	f, _ := g.distance(&o)
	return DistanceResult{f.T, f.Normal, f.Point, f.Other(), 0}
}

// Other returns the point of the other surface that is nearest to Point.
func (f *ShapeHit) Other() Vec {
	return f.Point.wide64().addTimes(f.Normal.wide64(), float64(f.T)).narrow()
}
