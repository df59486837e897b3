package rigid3

import (
	"cmp"
	"math"
	"slices"

	"github.com/evertick/evertick/internal/mesh"
)

// surroundings is what a Walker may meet in one move: the shapes whose boxes meet a box, and the triangles of surfaces in it. One search in the tree
// serves all questions of a move, which are answered in float64.
type surroundings struct {
	lo, hi    vec64 // the box; lo.x > hi.x: nothing was gathered
	tree      *QueryTree
	filter    Ray
	passes    func(a, b uint32) bool // bodies that pass through each other; nil: none
	targets   []*target              // that are no surfaces, ascending by shape
	triangles []nearTriangle         // ascending by shape, then by number
	surfaces  []*target              // working memory
	faces     []mesh.Face            // working memory
	box       mesh.Box               // around them; as a local variable it would be allocated
	memory    [3]boxArrays
}

// nearTriangle is a triangle in the axes of the world.
type nearTriangle struct {
	v        [3]vec64
	edge     [3]vec64 // from corner i to the next one
	side     [3]vec64 // at a right angle to edge i in the plane, towards the triangle; of any length
	normal   vec64
	offset   float64
	lo, hi   vec64
	g        *target
	face     uint32
	open     [3]bool
	twoSided bool
	prepared bool
}

// walkCore is the core of a capsule: a point if both ends are the same.
type walkCore struct {
	a, b   vec64
	radius float64
}

func (s *walkCore) middle() vec64 { return s.a.Add(s.b).Times(0.5) }

func (s *walkCore) moved(by vec64) walkCore { return walkCore{s.a.Add(by), s.b.Add(by), s.radius} }

// box returns the box around a segment, grown by its radius and a distance.
func (s *walkCore) box(within float64) (lo, hi vec64) {
	r := s.radius + within
	return s.a.least(s.b).Sub(vec64{r, r, r}), s.a.most(s.b).Add(vec64{r, r, r})
}

// nearContact is how a capsule is apart from a shape or a triangle.
type nearContact struct {
	t       float64 // the distance, negative where they overlap; of a cast: the fraction of the way
	normal  vec64   // out of the shape, of length one
	point   vec64   // of the shape, nearest to the capsule
	g       *target
	face    uint32
	feature bool // the point is on an edge or a corner of a triangle, or the shape is convex
	index   int  // of the triangle, or -1
	dropped bool
}

func (c *nearContact) before(o *nearContact) bool {
	return c.t < o.t || c.t == o.t && (c.g.shape < o.g.shape || c.g.shape == o.g.shape && c.face < o.face)
}

// require gathers anew unless a box is inside of that for which this was done last.
func (s *surroundings) require(lo, hi vec64) {
	if s.lo.x <= lo.x && s.lo.y <= lo.y && s.lo.z <= lo.z && hi.x <= s.hi.x && hi.y <= s.hi.y && hi.z <= s.hi.z {
		return
	}
	s.gather(lo, hi)
}

// gather finds what meets a box. Of equal boxes the result is the same in every tree.
func (s *surroundings) gather(lo, hi vec64) {
	s.lo, s.hi = lo, hi
	s.targets, s.surfaces, s.triangles = s.targets[:0], s.surfaces[:0], s.triangles[:0]
	from, to := Vec{roundDown(lo.x), roundDown(lo.y), roundDown(lo.z)}, Vec{-roundDown(-hi.x), -roundDown(-hi.y), -roundDown(-hi.z)}
	var stack [maxStack]stackEntry
	for n := s.tree.root(&stack); n > 0; {
		n--
		c := stack[n]
		node := &s.tree.nodes[c.node]
		for i := range Lanes {
			if node.minX[i] > to.X || node.maxX[i] < from.X || node.minY[i] > to.Y || node.maxY[i] < from.Y || node.minZ[i] > to.Z || node.maxZ[i] < from.Z {
				continue
			}
			if c.level > 0 {
				stack[n] = s.tree.childEntry(&c, i, 0)
				n++
			} else if g := &s.tree.targets[c.node*Lanes+uint32(i)]; s.filter.accepts(g) && (s.passes == nil || !s.passes(s.filter.Exclude, g.body)) {
				if g.kind == KindSurface {
					s.surfaces = insertTarget(s.surfaces, g)
				} else {
					s.targets = insertTarget(s.targets, g)
				}
			}
		}
	}
	for _, g := range s.surfaces {
		s.addTriangles(g)
	}
}

// insertTarget keeps a list sorted by shape. It is short as a rule.
func insertTarget(list []*target, g *target) []*target {
	list = append(list, g)
	k := len(list) - 1
	for ; k > 0 && list[k-1].shape > g.shape; k-- {
		list[k] = list[k-1]
	}
	list[k] = g
	return list
}

// addTriangles adds the triangles of a surface.
func (s *surroundings) addTriangles(g *target) {
	if g.surface.Surface == nil {
		return
	}
	middle, half := s.lo.Add(s.hi).Times(0.5), s.hi.Sub(s.lo).Times(0.5)
	f := &g.pose
	m := f.unrotate(middle.Sub(f.p))
	h := vec64{
		(float64(math.Abs(f.x.x)*half.x) + float64(math.Abs(f.y.x)*half.y)) + float64(math.Abs(f.z.x)*half.z),
		(float64(math.Abs(f.x.y)*half.x) + float64(math.Abs(f.y.y)*half.y)) + float64(math.Abs(f.z.y)*half.z),
		(float64(math.Abs(f.x.z)*half.x) + float64(math.Abs(f.y.z)*half.y)) + float64(math.Abs(f.z.z)*half.z),
	}
	lo, hi := m.Sub(h), m.Add(h)
	s.box = mesh.Box{
		Min: [3]float32{roundDown(lo.x), roundDown(lo.y), roundDown(lo.z)}, Max: [3]float32{-roundDown(-hi.x), -roundDown(-hi.y), -roundDown(-hi.z)},
	}
	s.faces = g.surface.AppendFaces(s.faces[:0], &s.box)
	for i := range s.faces {
		if len(s.triangles) == cap(s.triangles) {
			s.triangles = slices.Grow(s.triangles, 1)
		}
		s.triangles = s.triangles[:len(s.triangles)+1] // old ones are overwritten
		s.triangles[len(s.triangles)-1].set(g, &s.faces[i])
	}
}

// set places a triangle. Most are never near enough for more than their box: prepare does the rest.
func (t *nearTriangle) set(g *target, face *mesh.Face) {
	t.g, t.face, t.twoSided, t.prepared = g, face.Number, g.surface.TwoSided, false
	for i, v := range face.Vertices {
		t.v[i] = g.pose.apply(wideArray(v))
		t.open[i] = face.Edges[i] == mesh.Open
	}
	t.lo = vec64{lesser(lesser(t.v[0].x, t.v[1].x), t.v[2].x), lesser(lesser(t.v[0].y, t.v[1].y), t.v[2].y), lesser(lesser(t.v[0].z, t.v[1].z), t.v[2].z)}
	t.hi = vec64{greater(greater(t.v[0].x, t.v[1].x), t.v[2].x), greater(greater(t.v[0].y, t.v[1].y), t.v[2].y), greater(greater(t.v[0].z, t.v[1].z), t.v[2].z)}
}

// prepare computes the planes of a triangle.
func (t *nearTriangle) prepare() {
	if t.prepared {
		return
	}
	t.prepared = true
	for i := range t.v {
		t.edge[i] = t.v[(i+1)%3].Sub(t.v[i])
	}
	t.normal = t.edge[0].Cross(t.v[2].Sub(t.v[0])).unit(t.g.pose.rotate(vec64{y: 1}))
	t.offset = t.normal.Dot(t.v[0])
	for i := range t.side {
		t.side[i] = t.normal.Cross(t.edge[i])
	}
}

// faces returns 1 if the front of the triangle counts for something with its middle at a point, -1 for the back of a two-sided one, and else 0.
func (t *nearTriangle) faces(middle vec64) float64 {
	t.prepare()
	height := t.normal.Dot(middle) - t.offset
	switch {
	case t.twoSided && height < 0:
		return -1
	case t.twoSided || height >= -frontTolerance:
		return 1
	}
	return 0
}

// contains reports whether a point of the plane is within the triangle.
func (t *nearTriangle) contains(p vec64) bool {
	return t.side[0].Dot(p.Sub(t.v[0])) >= 0 && t.side[1].Dot(p.Sub(t.v[1])) >= 0 && t.side[2].Dot(p.Sub(t.v[2])) >= 0
}

// covers reports whether a point is on the triangle, up to sideTolerance.
func (t *nearTriangle) covers(p vec64) bool {
	const r = 2 * sideTolerance
	if p.x < t.lo.x-r || p.x > t.hi.x+r || p.y < t.lo.y-r || p.y > t.hi.y+r || p.z < t.lo.z-r || p.z > t.hi.z+r {
		return false
	}
	if h := t.normal.Dot(p) - t.offset; !(h <= sideTolerance && h >= -sideTolerance) {
		return false
	}
	for i := range t.side {
		if d := t.side[i].Dot(p.Sub(t.v[i])); d < 0 && float64(d*d) > float64(sideTolerance*sideTolerance)*t.side[i].Dot(t.side[i]) {
			return false
		}
	}
	return true
}

// gap returns how a capsule is apart from the triangle, seen from the side that faces says, or from the other one if all of the segment is there. ok is
// false if nothing of it counts.
//
// Where the segment crosses the triangle, the two are apart by as much as takes all of the capsule to that side, along the normal.
func (t *nearTriangle) gap(s *walkCore, side float64) (c nearContact, ok bool) {
	n := t.normal.Times(side)
	off := float64(t.offset * side)
	ha, hb := n.Dot(s.a)-off, n.Dot(s.b)-off
	c.normal, c.g, c.face = n, t.g, t.face
	low, high, h := s.a, s.b, ha
	if hb < ha {
		low, high, h = s.b, s.a, hb
	}
	top := max(ha, hb)
	if top < -2*frontTolerance { // it has come around the border
		low, h, top = high, -top, -h
		n = n.neg()
		c.normal = n
	}
	p := low.addTimes(n, -h)
	if h < 0 && top >= 0 { // the segment crosses the plane
		p = low.addTimes(high.Sub(low), h/(h-top))
	}
	if t.contains(p) {
		c.t, c.point = h-s.radius, p
		return c, true
	}
	least := math.Inf(1)
	var from vec64
	edge := 0
	for i := range t.edge {
		p, q := closestOfSegments(t.v[i], t.edge[i], s.a, s.b)
		d := q.Sub(p)
		if square := d.Dot(d); square < least {
			least, c.point, from, edge = square, p, q, i
		}
	}
	if h < 0 && top >= 0 { // the upper end may be nearer to the inside of the triangle than anything is to its sides
		if p := high.addTimes(n, -top); float64(top*top) < least && t.contains(p) {
			c.t, c.point = top-s.radius, p
			return c, true
		}
	}
	distance := math.Sqrt(least)
	c.t, c.feature = distance-s.radius, true
	if distance > 1e-9 {
		c.normal = from.Sub(c.point).Times(1 / distance)
	}
	if !t.twoSided && t.open[edge] && c.normal.Dot(n) < -1e-3 {
		return c, false // below the border of a sheet
	}
	return c, true
}

// closestOfSegments returns the closest points of a segment from p along u, and of that from a to b.
func closestOfSegments(p, u, a, b vec64) (onP, onA vec64) {
	v, r := b.Sub(a), p.Sub(a)
	uu, vv, uv, ur, vr := u.Dot(u), v.Dot(v), u.Dot(v), u.Dot(r), v.Dot(r)
	s, t := 0., 0.
	if !(vv > 0) {
		if uu > 0 {
			s = clampUnit(-ur / uu)
		}
		return p.addTimes(u, s), a
	}
	if d := float64(uu*vv) - float64(uv*uv); d > float64(1e-14*float64(uu*vv)) {
		s = clampUnit((float64(uv*vr) - float64(ur*vv)) / d)
	}
	t = (float64(uv*s) + vr) / vv
	if t < 0 || t > 1 {
		t = clampUnit(t)
		s = 0
		if uu > 0 {
			s = clampUnit((float64(uv*t) - ur) / uu)
		}
	}
	return p.addTimes(u, s), a.addTimes(v, t)
}

func clampUnit(v float64) float64 { return min(max(v, 0), 1) }

// pair returns a shape and a capsule, and the sum of their radii.
func (s *surroundings) pair(g *target, c *walkCore) (corePair, float64) {
	v := corePair{a: g.vertices(&s.memory[0]), boxA: g.kind == KindBox}
	middle := c.middle()
	half := c.b.Sub(c.a).Times(0.5).narrow()
	s.memory[1].vertices[0], s.memory[1].vertices[1] = half.neg(), half
	v.b.Vertices = s.memory[1].vertices[:2]
	if half == (Vec{}) {
		v.b.Vertices = v.b.Vertices[:1]
	}
	world := pose64{middle, vec64{x: 1}, vec64{y: 1}, vec64{z: 1}}
	v.at = g.pose.relative(&world)
	return v, float64(g.radius) + c.radius
}

// contactOf makes a contact of a gap of cores.
func (g *target) contactOf(near *coreGap, radius float64) nearContact {
	n := g.pose.rotate(near.normal)
	return nearContact{t: near.distance - radius, normal: n, point: g.pose.apply(near.onA).addTimes(n, float64(g.radius)), g: g, feature: true, index: -1}
}

// boxOf returns the box of a target that is no surface, grown by its radius; it may be larger than need be.
func (g *target) boxOf(b *boxArrays) (lo, hi vec64) {
	t := g.vertices(b)
	lo, hi = vec64{math.Inf(1), math.Inf(1), math.Inf(1)}, vec64{math.Inf(-1), math.Inf(-1), math.Inf(-1)}
	if g.kind == KindHull {
		h := t.extent.wide64()
		m := &g.pose
		e := vec64{m.x.absolute().Dot(h), m.y.absolute().Dot(h), m.z.absolute().Dot(h)}
		lo, hi = m.p.Sub(e), m.p.Add(e)
	} else {
		for _, v := range t.Vertices {
			p := g.pose.apply(v.wide64())
			lo, hi = lo.least(p), hi.most(p)
		}
	}
	r := float64(g.radius) + boxMargin
	return lo.Sub(vec64{r, r, r}), hi.Add(vec64{r, r, r})
}

func boxesMeet(alo, ahi, blo, bhi vec64) bool {
	return alo.x <= bhi.x && blo.x <= ahi.x && alo.y <= bhi.y && blo.y <= ahi.y && alo.z <= bhi.z && blo.z <= ahi.z
}

// appendNear appends the contacts of a capsule with what is at most within away, by distance, then shape and triangle.
//
// It leaves out a contact at an edge, a corner or a convex shape whose point belongs to another shape or triangle that is nearer: that one keeps the capsule
// away from the point at all times. So there is no contact at the inner edges of a surface, and none where the flat sides of two boxes meet.
func (s *surroundings) appendNear(out []nearContact, c *walkCore, within float64) []nearContact {
	lo, hi := c.box(within)
	s.require(lo, hi)
	middle := c.middle()
	for i := range s.triangles {
		t := &s.triangles[i]
		if !boxesMeet(lo, hi, t.lo, t.hi) {
			continue
		}
		if side := t.faces(middle); side != 0 {
			if f, ok := t.gap(c, side); ok && f.t <= within {
				f.index = i
				out = append(out, f)
			}
		}
	}
	for _, g := range s.targets {
		if blo, bhi := g.boxOf(&s.memory[2]); !boxesMeet(lo, hi, blo, bhi) {
			continue
		}
		v, radius := s.pair(g, c)
		if v.isEmpty() {
			continue
		}
		near := v.gap()
		if f := g.contactOf(&near, radius); f.t <= within {
			out = append(out, f)
		}
	}
	sortContacts(out)
	for i := range out {
		out[i].dropped = out[i].feature && s.covered(out[:i], &out[i])
	}
	kept := 0
	for i := range out {
		if !out[i].dropped {
			out[kept] = out[i]
			kept++
		}
	}
	return out[:kept]
}

// sortContacts sorts by distance, then shape and triangle. There are few, except on dense meshes.
func sortContacts(list []nearContact) {
	if len(list) > 24 {
		slices.SortFunc(list, func(a, b nearContact) int {
			return cmp.Or(cmp.Compare(a.t, b.t), cmp.Compare(a.g.shape, b.g.shape), cmp.Compare(a.face, b.face))
		})
		return
	}
	for i := 1; i < len(list); i++ {
		f, k := list[i], i
		for ; k > 0 && f.before(&list[k-1]); k-- {
			list[k] = list[k-1]
		}
		list[k] = f
	}
}

// covered reports whether the point of a contact belongs to what has one of some nearer contacts.
func (s *surroundings) covered(nearer []nearContact, f *nearContact) bool {
	for i := range nearer {
		o := &nearer[i]
		if o.index >= 0 {
			if s.triangles[o.index].covers(f.point) {
				return true
			}
		} else if o.g != f.g && s.convexCovers(o.g, f.point) {
			return true
		}
	}
	return false
}

// convexCovers reports whether a point belongs to a box or a hull, up to sideTolerance. Round shapes have no sides that could be flush.
func (s *surroundings) convexCovers(g *target, p vec64) bool {
	if g.kind != KindBox && g.kind != KindHull {
		return false
	}
	q := g.pose.unrotate(p.Sub(g.pose.p))
	r := float64(g.radius) + sideTolerance
	if g.kind == KindBox {
		h := g.half.wide64()
		return math.Abs(q.x) <= h.x+r && math.Abs(q.y) <= h.y+r && math.Abs(q.z) <= h.z+r
	}
	if g.hull == nil {
		return false
	}
	for i := range g.hull.Planes {
		if g.hull.Planes[i].Normal.wide64().Dot(q) > float64(g.hull.Planes[i].Offset)+r {
			return false
		}
	}
	return true
}

// castClosest moves a capsule by up to most times d, and returns the first thing that it hits; of several at one time the first shape and triangle. What
// it overlaps at the start does not stop it. The box of the move must have been gathered.
func (s *surroundings) castClosest(c *walkCore, d vec64, most float64) (best nearContact, hit bool) {
	lo, hi := c.box(CastTolerance)
	end := d.Times(most)
	zero := vec64{}
	lo, hi = lo.Add(end.least(zero)), hi.Add(end.most(zero))
	middle := c.middle()
	best.t = most
	for i := range s.triangles {
		t := &s.triangles[i]
		if !boxesMeet(lo, hi, t.lo, t.hi) {
			continue
		}
		side := t.faces(middle)
		if side == 0 {
			continue
		}
		n, off := t.normal.Times(side), float64(t.offset*side)
		approach := -n.Dot(d)
		if !t.twoSided && !(approach > 0) {
			continue
		}
		if room := min(n.Dot(c.a), n.Dot(c.b)) - off - c.radius; room > CastTolerance+float64(max(approach, 0)*best.t) {
			continue // its plane is out of reach
		}
		if f, ok := t.cast(c, d, side, best.t); ok && (!hit || f.before(&best)) {
			best, hit = f, true
			best.index = i
		}
	}
	for _, g := range s.targets {
		if blo, bhi := g.boxOf(&s.memory[2]); !boxesMeet(lo, hi, blo, bhi) {
			continue
		}
		v, radius := s.pair(g, c)
		if v.isEmpty() {
			continue
		}
		near, apart := v.separated()
		if !apart || near.distance <= radius {
			continue
		}
		t, near, ok := v.advance(near, g.pose.unrotate(d), radius, best.t)
		if !ok {
			continue
		}
		f := g.contactOf(&near, radius)
		f.t = t
		if !hit || f.before(&best) {
			best, hit = f, true
		}
	}
	return best, hit
}

// cast moves a capsule towards the triangle: conservative advancement, as in ShapeQuery.cast.
func (t *nearTriangle) cast(c *walkCore, d vec64, side, most float64) (f nearContact, ok bool) {
	f, ok = t.gap(c, side)
	if !ok || f.t <= 0 {
		return f, false
	}
	at := 0.
	for range maxAdvances {
		speed := -f.normal.Dot(d)
		if !(speed > 0) {
			return f, false
		}
		if f.t <= CastTolerance {
			break
		}
		next := at + (f.t-0.5*CastTolerance)/speed
		if !(next > at) {
			break
		}
		if at = next; !(at <= most) {
			return f, false
		}
		moved := c.moved(d.Times(at))
		last := f
		if f, ok = t.gap(&moved, side); !ok {
			return f, false
		}
		if f.t < -0.1*c.radius { // through by rounding: the normal is that from before
			f = last
			break
		}
	}
	f.t = at
	return f, true
}
