package rigid3

import (
	"cmp"
	"slices"

	"github.com/evertick/evertick/native"
)

// before reports whether a hit comes before another: by T, then by shape.
func (h *RayHit) before(than *RayHit) bool {
	return h.T < than.T || h.T == than.T && h.Shape < than.Shape
}

// PrepareRays prepares rays for CastRaysClosest, CastRaysAny and CastRaysAll, after their fields have changed.
func PrepareRays(rays []Ray) {
	for i := range rays {
		rays[i].prepare()
	}
}

// CastRaysOracle is the specification of CastRaysAll: it appends the hits of one ray after another to out, and sets the end of each row in ends.
// It tests every shape. The first hit of a row is that of CastRaysClosest.
func (s *Scene) CastRaysOracle(rays []Ray, ends []uint32, out []RayHit) []RayHit {
	for i := range rays {
		r, from := &rays[i], len(out)
		s.each(func(g *target, lo, hi Vec) {
			if entry, ok := r.boxEntry(lo, hi, r.MaxT); ok && r.accepts(g) {
				if hit, ok := r.cast(g, entry); ok {
					out = append(out, hit)
				}
			}
		})
		sortHits(out[from:])
		ends[i] = uint32(len(out))
	}
	return out
}

// each calls f for the shapes that queries can find, with their boxes.
func (s *Scene) each(f func(g *target, lo, hi Vec)) {
	s.check()
	var boxes Boxes
	boxes.Resize(len(s.Shapes))
	Bounds(native.Go, s.Shapes, s.Hulls, s.Filters.Body, s.Poses, boxMargin, &boxes)
	for i := range s.Shapes {
		var g target
		if g.set(s, i); g.kind != KindNone {
			if lo, hi := g.place(s, &boxes); lo.X <= hi.X {
				f(&g, lo, hi)
			}
		}
	}
}

// sortHits sorts a row.
func sortHits(row []RayHit) {
	if len(row) <= 24 {
		for i := 1; i < len(row); i++ {
			h, k := row[i], i
			for ; k > 0 && h.before(&row[k-1]); k-- {
				row[k] = row[k-1]
			}
			row[k] = h
		}
		return
	}
	slices.SortFunc(row, func(a, b RayHit) int { return cmp.Or(cmp.Compare(a.T, b.T), cmp.Compare(a.Shape, b.Shape)) })
}

// CastRaysClosest finds the shape that each of some prepared rays hits first; of several at the same T the lowest. A ray without a hit has
// NoShape at MaxT.
//
// # When a ray hits a shape
//
// A ray that begins in or on a shape hits it at 0, with a zero normal, unless it has SkipInside. Other rays hit a shape where they enter it. They
// enter a ball at the lesser root, and a capsule at the first of its cylinder and its two balls. They enter a polyhedron without radius at the last
// of the planes that they reach from outside, unless they have left another plane by then, and one with a radius at the first of the faces,
// moved outwards by the radius, and of the capsules around the edges. All this happens in the axes of the core, in float64 with each product
// rounded before a sum. The point is that of the exact T, which may be closer to the surface than O + T·D with the rounded one.
//
// A ray hits a surface where it first meets a triangle, from the front, or from either side if the surface has two: see mesh.Surface. It is never
// inside of it.
//
// A shape has the box of Bounds with a margin of LinearSlop, grown by 2^-18 of its coordinates. A ray that misses the box misses the shape, and no
// hit is before the T at which the ray enters the box. This shows only where rounding is as large as the margin.
func (t *QueryTree) CastRaysClosest(level native.Level, rays []Ray, out []RayHit, m *RayMemory) {
	t.castRays(level, rays, false, out, m)
}

// CastRaysAny finds for each of some prepared rays a shape that it hits, which is not always the first. A ray without a hit has NoShape.
func (t *QueryTree) CastRaysAny(level native.Level, rays []Ray, out []RayHit, m *RayMemory) {
	t.castRays(level, rays, true, out, m)
}

// RayMemory is memory for one call at a time.
type RayMemory struct{ waiting [256]waitingTarget }

// waitingTarget is a target whose geometry C does not know, and a ray that enters its box at entry and accepts it.
type waitingTarget struct {
	ray, target uint32
	entry       float32
}

func (t *QueryTree) castRays(level native.Level, rays []Ray, any bool, out []RayHit, m *RayMemory) {
	if len(out) != len(rays) {
		panic("rigid3: CastRaysClosest: rays and out differ in length")
	}
	k := t.kernels(level)
	for len(rays) > 0 {
		done, waiting := k.castRays(t, rays, any, out, m.waiting[:])
		for i := range m.waiting[:waiting] {
			w := &m.waiting[i]
			r, best := rays[w.ray], &out[w.ray]
			if !(w.entry <= best.T) || any && best.Shape != NoShape {
				continue
			}
			r.MaxT = best.T // what the ray has hit already is as near
			if hit, ok := r.cast(&t.targets[w.target], w.entry); ok && hit.before(best) {
				*best = hit
			}
		}
		if done == 0 { // more wait for one ray than there is room for
			out[0] = t.first(&rays[0], any)
			done = 1
		}
		rays, out = rays[done:], out[done:]
	}
}

// kernels returns the kernels of a level that can search the tree: C needs a root.
func (t *QueryTree) kernels(level native.Level) *kernels {
	if len(t.targets) == 0 {
		return &goKernels
	}
	return kernelsOf(level)
}

func (t *QueryTree) castRaysGo(rays []Ray, any bool, out []RayHit, _ []waitingTarget) (done, waiting int) {
	for i := range rays {
		out[i] = t.first(&rays[i], any)
	}
	return len(rays), 0
}

// CastRaysAll appends the hits of one prepared ray after the other to out, each row in order of T, then shape, and sets the end of each row in
// ends; see CastRaysClosest.
func (t *QueryTree) CastRaysAll(level native.Level, rays []Ray, ends []uint32, out []RayHit) []RayHit {
	if len(ends) < len(rays) {
		panic("rigid3: CastRaysAll: ends is shorter than rays")
	}
	k, from := t.kernels(level), len(out)
	for done := 0; ; {
		fill := len(out)
		out = out[:cap(out)]
		n := k.castRaysAll(t, rays[done:], ends[done:], out, fill)
		if n > 0 {
			fill = int(ends[done+n-1])
		}
		if done += n; done == len(rays) {
			out = out[:fill]
			break
		}
		out = append(out[:fill], make([]RayHit, fill+moreHits)...)[:fill]
	}
	to := from
	for i := range rays {
		row, end := to, int(ends[i])
		for ; from < end; from++ {
			h := out[from]
			if h.T < 0 { // of a target whose geometry C does not know
				var ok bool
				if h, ok = rays[i].cast(&t.targets[h.Shape], h.Normal.X); !ok {
					continue
				}
			}
			out[to] = h
			to++
		}
		sortHits(out[row:to])
		ends[i] = uint32(to)
	}
	return out[:to]
}

// moreHits is the least number of hits for which CastRaysAll makes room.
const moreHits = 1024

// castRaysAllGo writes the hits of one ray after the other to out, in any order, from fill on, and the end of each row to ends, while there is
// room. It returns the number of rays that are complete.
func (t *QueryTree) castRaysAllGo(rays []Ray, ends []uint32, out []RayHit, fill int) (done int) {
	for ; done < len(rays); done++ {
		row := t.hits(&rays[done], out[:fill])
		if len(row) > len(out) {
			break
		}
		fill = len(row)
		ends[done] = uint32(fill)
	}
	return done
}

// stackEntry is a node that a query has entered and not visited yet.
type stackEntry struct {
	entry float32
	node  uint32
	level uint32
}

// maxStack bounds the nodes on a stack. A tree of 2^24 shapes has six levels of nodes, and on each level at most Lanes nodes wait.
const maxStack = 6 * Lanes

// root pushes the root, if there is one, and returns the size of the stack.
func (t *QueryTree) root(stack *[maxStack]stackEntry) int {
	if len(t.targets) == 0 {
		return 0
	}
	stack[0] = stackEntry{0, uint32(len(t.nodes) - 1), uint32(len(t.starts) - 2)}
	return 1
}

// sweep is a box that moves along a ray: near are the sides that reach a box ahead first, and far those that leave it last. The box of a ray is a
// point.
type sweep struct{ near, far, inv Vec }

func (r *Ray) sweep() sweep { return sweep{r.O, r.O, r.inv} }

func (p *ShapeQuery) sweep() sweep {
	s := sweep{p.hi, p.lo, p.inv}
	if s.inv.X < 0 {
		s.near.X, s.far.X = s.far.X, s.near.X
	}
	if s.inv.Y < 0 {
		s.near.Y, s.far.Y = s.far.Y, s.near.Y
	}
	if s.inv.Z < 0 {
		s.near.Z, s.far.Z = s.far.Z, s.near.Z
	}
	return s
}

// enteredBy writes the lanes that a box enters by maxT, with T, and returns their number. It is the boxEntry of each.
func (n *treeNode) enteredBy(s *sweep, maxT float32, to *[Lanes]stackEntry) int {
	x0, x1, y0, y1, z0, z1 := &n.minX, &n.maxX, &n.minY, &n.maxY, &n.minZ, &n.maxZ
	if s.inv.X < 0 {
		x0, x1 = x1, x0
	}
	if s.inv.Y < 0 {
		y0, y1 = y1, y0
	}
	if s.inv.Z < 0 {
		z0, z1 = z1, z0
	}
	near, far, inv, found := s.near, s.far, s.inv, 0
	for i := range Lanes {
		enter, exit := (x0[i]-near.X)*inv.X, (x1[i]-far.X)*inv.X
		if enter > maxT || float32(exit*exitSlack) < 0 {
			continue // as below, but most boxes end here
		}
		enter, exit = maxFloat(enter, (y0[i]-near.Y)*inv.Y), minFloat(exit, (y1[i]-far.Y)*inv.Y)
		if enter > float32(exit*exitSlack) {
			continue
		}
		enter, exit = maxFloat(enter, maxFloat((z0[i]-near.Z)*inv.Z, 0)), minFloat(exit, (z1[i]-far.Z)*inv.Z)
		if enter <= minFloat(float32(exit*exitSlack), maxT) {
			to[found] = stackEntry{entry: enter, node: uint32(i)}
			found++
		}
	}
	return found
}

// pushChildren pushes the children of a node that were found, the nearest last.
func (t *QueryTree) pushChildren(c *stackEntry, found []stackEntry, stack []stackEntry) int {
	first := t.starts[c.level-1] + (c.node-t.starts[c.level])*Lanes
	for i, l := range found {
		l.node, l.level = first+l.node, c.level-1
		k := i
		for ; k > 0 && stack[k-1].entry < l.entry; k-- {
			stack[k] = stack[k-1]
		}
		stack[k] = l
	}
	return len(found)
}

// first returns the first hit of a ray; with any, one of its hits.
func (t *QueryTree) first(r *Ray, any bool) RayHit {
	best, box := RayHit{T: r.MaxT, Shape: NoShape}, r.sweep()
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
			if l.entry <= best.T && r.accepts(g) {
				if hit, ok := r.cast(g, l.entry); ok && hit.before(&best) {
					if best = hit; any {
						return best
					}
				}
			}
		}
	}
	if best.Shape == NoShape {
		best.Point = r.end()
	}
	return best
}

// hits appends the hits of a ray to out, in any order.
func (t *QueryTree) hits(r *Ray, out []RayHit) []RayHit {
	box := r.sweep()
	var stack [maxStack]stackEntry
	var lanes [Lanes]stackEntry
	for n := t.root(&stack); n > 0; {
		n--
		c := stack[n]
		found := lanes[:t.nodes[c.node].enteredBy(&box, r.MaxT, &lanes)]
		if c.level > 0 {
			n += t.pushChildren(&c, found, stack[n:])
			continue
		}
		for _, l := range found {
			if g := &t.targets[c.node*Lanes+l.node]; r.accepts(g) {
				if hit, ok := r.cast(g, l.entry); ok {
					out = append(out, hit)
				}
			}
		}
	}
	return out
}
