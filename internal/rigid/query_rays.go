package rigid

import (
	"cmp"
	"slices"

	"github.com/evertick/evertick/native"
)

// before reports whether a hit comes before another: by T, then by shape.
func (h *RayHit) before(than *RayHit) bool {
	return h.T < than.T || h.T == than.T && h.Shape < than.Shape
}

// PrepareRays prepares rays for CastRaysClosest and CastRaysAll, after their fields have changed.
func PrepareRays(rays []Ray) {
	for i := range rays {
		rays[i].prepare()
	}
}

// CastRaysClosestOracle is the specification of CastRaysClosest.
func CastRaysClosestOracle(s *Scene, rays []Ray, out []RayHit) {
	var row []RayHit
	for i := range rays {
		row = s.castRay(&rays[i], row[:0])
		out[i] = RayHit{T: rays[i].MaxT, Shape: NoShape}
		if len(row) > 0 {
			out[i] = row[0]
		}
	}
}

// CastRaysAllOracle is the specification of CastRaysAll: it appends the hits of one ray after another to out,
// and sets the end of each row in ends.
func CastRaysAllOracle(s *Scene, rays []Ray, ends []uint32, out []RayHit) []RayHit {
	for i := range rays {
		out = s.castRay(&rays[i], out)
		ends[i] = uint32(len(out))
	}
	return out
}

// castRay appends the hits of a ray. It tests every shape.
func (s *Scene) castRay(r *Ray, out []RayHit) []RayHit {
	from := len(out)
	s.each(func(g *target, b *box) {
		if entry, ok := r.boxEntry(b[0], b[1], b[2], b[3], r.MaxT); ok && r.accepts(g) {
			if hit, ok := r.cast(g, entry); ok {
				out = append(out, hit)
			}
		}
	})
	sortHits(out[from:])
	return out
}

// sortHits sorts a row.
func sortHits(row []RayHit) {
	if len(row) > 24 {
		slices.SortFunc(row, func(a, b RayHit) int {
			return cmp.Or(cmp.Compare(a.T, b.T), cmp.Compare(a.Shape, b.Shape))
		})
		return
	}
	for i := 1; i < len(row); i++ {
		h, k := row[i], i
		for ; k > 0 && h.before(&row[k-1]); k-- {
			row[k] = row[k-1]
		}
		row[k] = h
	}
}

// CastRaysClosest finds the shape that each of some prepared rays hits first; of several at the same T the
// lowest. A ray without a hit has NoShape at MaxT.
//
// # When a ray hits a shape
//
// A ray that begins in or on a shape hits it at 0, with a zero normal, unless it has SkipInside. Other rays hit
// a shape where they enter it. They enter a disc at the lesser root. They enter a polygon without radius at the
// last of the edges that they reach from outside, unless they have left another edge by then. They enter all
// else at the first of the edges, moved outwards by the radius, and of the discs around the vertices. All this
// happens in the frame of the body, in float32 with each product rounded before a sum.
//
// A shape has the box of Bounds with a margin of LinearSlop, grown by 2^-18 of its coordinates. A ray that
// misses the box misses the shape, and no hit is before the T at which the ray enters the box. This shows only
// where rounding is as large as the margin.
func (t *QueryTree) CastRaysClosest(level native.Level, rays []Ray, out []RayHit) {
	if len(out) != len(rays) {
		panic("rigid: CastRaysClosest: rays and out differ in length")
	}
	if len(t.targets) == 0 { // C needs a root
		level = native.Go
	}
	kernelsOf(level).castRaysClosest(t, rays, out)
}

func (t *QueryTree) castRaysClosestGo(rays []Ray, out []RayHit) {
	for i := range rays {
		out[i] = t.closest(&rays[i])
	}
}

// CastRaysAll finds all shapes that each of some prepared rays hits, see CastRaysClosest, in order of T, then
// shape. It writes the hits of one ray after the other to out from fill on, and the end of each row to ends,
// while there is room. It returns the number of rays that are complete, and the new fill.
func (t *QueryTree) CastRaysAll(level native.Level, rays []Ray, ends []uint32, out []RayHit, fill int) (done, end int) {
	if len(ends) < len(rays) {
		panic("rigid: CastRaysAll: ends is shorter than rays")
	}
	_ = out[:fill]
	if len(t.targets) == 0 {
		level = native.Go
	}
	done = kernelsOf(level).castRaysAll(t, rays, ends, out, fill)
	for _, end := range ends[:done] {
		sortHits(out[fill:end])
		fill = int(end)
	}
	return done, fill
}

func (t *QueryTree) castRaysAllGo(rays []Ray, ends []uint32, out []RayHit, fill int) (done int) {
	for ; done < len(rays); done++ {
		n, ok := t.hits(&rays[done], out[fill:])
		if !ok {
			break
		}
		fill += n
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

// maxStack is the largest number of these: fifteen of each level remain while one is visited, and 2^24 shapes
// have six levels.
const maxStack = 6*(Lanes-1) + 1

// enteredBy writes the lanes of a node that the ray enters by maxT, and returns their number.
func (n *treeNode) enteredBy(r *Ray, maxT float32, to *[Lanes]stackEntry) int {
	found := 0
	for i := range Lanes {
		if entry, ok := r.boxEntry(n.MinX[i], n.MinY[i], n.MaxX[i], n.MaxY[i], maxT); ok {
			to[found] = stackEntry{entry: entry, node: uint32(i)}
			found++
		}
	}
	return found
}

// closest visits the nodes that the ray enters, the nearest first, and skips those that it enters after the
// best hit so far.
func (t *QueryTree) closest(r *Ray) RayHit {
	best := RayHit{T: r.MaxT, Shape: NoShape}
	var stack [maxStack]stackEntry
	var lanes [Lanes]stackEntry
	for n := t.root(&stack); n > 0; {
		n--
		c := stack[n]
		if c.entry > best.T {
			continue
		}
		found := lanes[:t.nodes[c.node].enteredBy(r, best.T, &lanes)]
		if c.level > 0 {
			n += t.pushChildren(&c, found, stack[n:])
			continue
		}
		for _, l := range found {
			g := &t.targets[c.node*Lanes+l.node]
			if l.entry <= best.T && r.accepts(g) {
				if hit, ok := r.cast(g, l.entry); ok && hit.before(&best) {
					best = hit
				}
			}
		}
	}
	return best
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

// hits writes the hits of a ray to out, in any order. It returns false if there is no room.
func (t *QueryTree) hits(r *Ray, out []RayHit) (int, bool) {
	fill := 0
	var stack [maxStack]stackEntry
	var lanes [Lanes]stackEntry
	for n := t.root(&stack); n > 0; {
		n--
		c := stack[n]
		found := lanes[:t.nodes[c.node].enteredBy(r, r.MaxT, &lanes)]
		if c.level > 0 {
			n += t.pushChildren(&c, found, stack[n:])
			continue
		}
		for _, l := range found {
			g := &t.targets[c.node*Lanes+l.node]
			if !r.accepts(g) {
				continue
			}
			if hit, ok := r.cast(g, l.entry); ok {
				if fill == len(out) {
					return 0, false
				}
				out[fill] = hit
				fill++
			}
		}
	}
	return fill, true
}
