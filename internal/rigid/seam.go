package rigid

import (
	"slices"
	"sync"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/buffer"
)

// Seams corrects the contacts of bodies that move over polygons side by side, as over a floor of tiles. Where two of them touch, their edges are inside of
// the whole, and no contact may push a body away from such an edge: it would stop at each seam.
//
// Shapes of static bodies can be joined where they touch: where they overlap by no more than LinearSlop, and are no farther apart. Let a polygon touch a body in points along a normal n, on an edge whose own
// normal s has a part along n. The edge is covered there if each of the points, up to LinearSlop, is at the border of another one
// that also meets the body; and if n leads into that polygon: it rises along n as one goes from the point along s on its surface. Then the first
// polygon is made longer along s, as far as the other goes on, and collides anew. Of the contact those points remain that are on the first polygon or
// on the others. So a body that meets the seam of two flush boxes meets the line of both; at the end of a row, or at a step that is higher than
// LinearSlop, the edge is not covered.
//
// Only polygons without a radius are joined. Segments, and what meets only these, stay as they are.
type Seams struct {
	Shapes []Shape
	BodyOf []uint32
	Poses  Poses

	Joins []bool // by shape: it can be joined to others for which this holds

	// By shape: those that can be joined and that it meets, as a list from head through next, whose elements are numbers of others plus one.
	head, others, next []uint32
	pairs              *broad.Pairs
	listing            sync.Mutex
	listed             bool
}

// CanJoin reports whether a shape has edges that others may cover.
func (s *Shape) CanJoin() bool { return s.Count > 2 && s.Radius == 0 }

// usualSeams is the number of elements of the lists up to which they do not grow.
const usualSeams = 1024

// Begin takes the pairs of a step. Their lists are made when a contact needs them, which is rare in most worlds.
func (s *Seams) Begin(pairs *broad.Pairs) {
	s.pairs, s.listed = pairs, false
}

// list makes the lists of shapes that can be joined, once for each step.
func (s *Seams) list() {
	s.listing.Lock()
	defer s.listing.Unlock()
	if s.listed {
		return
	}
	s.listed = true
	s.head = buffer.Resized(s.head, len(s.Shapes))
	clear(s.head)
	s.others, s.next = slices.Grow(s.others[:0], usualSeams), slices.Grow(s.next[:0], usualSeams)
	for i, a := range s.pairs.A {
		b := s.pairs.B[i]
		if s.Joins[a] {
			s.add(b, a)
		}
		if s.Joins[b] {
			s.add(a, b)
		}
	}
}

func (s *Seams) add(shape, other uint32) {
	s.others, s.next = append(s.others, other), append(s.next, s.head[shape])
	s.head[shape] = uint32(len(s.others))
}

// Join corrects the manifolds of pairs, but for those that were recycled: see Recycling. What it has changed has the source Joined. Several workers may
// join at the same time.
func (s *Seams) Join(pairs *broad.Pairs, recycled []int32, out []Manifold) {
	for i, a := range pairs.A {
		b := pairs.B[i]
		if !s.Joins[a] && !s.Joins[b] || recycled != nil && recycled[i] >= 0 {
			continue
		}
		m := &out[i]
		if m.Count == 0 {
			continue
		}
		if s.mayJoin(a, b) {
			s.join(a, b, m)
		}
		if m.Count > 0 && s.mayJoin(b, a) {
			m.swap()
			s.join(b, a, m)
			m.swap()
		}
	}
}

// mayJoin reports whether a shape can be joined where it meets another one: if that is no segment.
func (s *Seams) mayJoin(shape, other uint32) bool {
	o := &s.Shapes[other]
	return s.Joins[shape] && (o.Count != 2 || o.Radius > 0)
}

const (
	// maxJoined is the number of shapes near the points of a contact that may cover edges of one.
	maxJoined = 8

	// maxJoins is how often a shape may be made longer in a step.
	maxJoins = 4

	// seamSine is the sine of an angle of normals that counts as none: at 50 m/s it is a twentieth of a millimetre a second.
	seamSine = 1e-6
)

// join corrects the manifold of a shape that may have seams and another one, with a normal from the first to the second.
func (s *Seams) join(shape, other uint32, m *Manifold) {
	k := seam{of: s, number: shape, other: other, shape: s.Shapes[shape]}
	k.locate(m)
	if !k.leads(m) {
		return
	}
	s.list()
	k.gather(m)
	for n := 0; n < maxJoins && m.Count > 0 && k.lengthen(m); n++ {
		*m = Manifold{}
		collidePair(&k.shape, &s.Shapes[other], s.BodyOf[shape], s.BodyOf[other], &s.Poses, m)
		k.locate(m)
		k.gather(m)
	}
	if k.longer {
		k.trim(m)
		m.Source = Joined
	}
}

// seam is a shape that is made longer, in the axes of its body.
type seam struct {
	of            *Seams
	number, other uint32
	shape         Shape
	joined        [maxJoined]uint32
	count         int
	normal        vec64
	points        [2]vec64 // of the manifold
	places        [2]vec64 // those of the shape near them
	longer        bool
}

// wide, addTimes and sub are in float64, as rows of tiles may be a million times as long as the overlap of a contact.

func (a Vec) wide() vec64 { return vec64{float64(a.X), float64(a.Y)} }

func (a vec64) addTimes(b vec64, s float64) vec64 {
	return vec64{a.x + float64(b.x*s), a.y + float64(b.y*s)}
}

// place64 is where a body is.
type place64 struct {
	p    vec64
	c, s float64
}

func (p *Poses) place(body uint32) place64 {
	return place64{vec64{float64(p.X[body]), float64(p.Y[body])}, float64(p.Cos[body]), float64(p.Sin[body])}
}

func (t *place64) rotate(v vec64) vec64 {
	return vec64{float64(t.c*v.x) - float64(t.s*v.y), float64(t.s*v.x) + float64(t.c*v.y)}
}

func (t *place64) unrotate(v vec64) vec64 {
	return vec64{float64(t.c*v.x) + float64(t.s*v.y), float64(t.c*v.y) - float64(t.s*v.x)}
}

// locate sets the points and the normal of a manifold in the axes of the shape. Where the edges of two shapes are beside each other, the point of their
// contact need not be near the first one.
func (k *seam) locate(m *Manifold) {
	at := k.of.Poses.place(k.of.BodyOf[k.number])
	n := m.Normal.wide()
	k.normal = at.unrotate(n)
	for i := range m.Points[:m.Count] {
		p := &m.Points[i]
		k.points[i] = at.unrotate(p.AnchorA.wide().addTimes(n, -0.5*float64(p.Separation)))
		k.places[i] = k.shape.nearest(k.points[i])
	}
}

// outside returns how far a point is outside of an edge.
func (s *Shape) outside(i int, p vec64) float64 {
	return s.Normals[i].wide().dot(p.sub(s.Vertices[i].wide()))
}

// nearest returns a point of a polygon near another one: for a box the nearest.
func (s *Shape) nearest(p vec64) vec64 {
	for range 2 {
		for i := range int(s.Count) {
			if d := s.outside(i, p); d > 0 {
				p = p.addTimes(s.Normals[i].wide(), -d)
			}
		}
	}
	return p
}

// isNear reports whether a point is in a polygon, up to LinearSlop.
func (s *Shape) isNear(p vec64) bool {
	for i := range int(s.Count) {
		if s.outside(i, p) > LinearSlop {
			return false
		}
	}
	return true
}

// in turns a point, and a direction, into the axes of another body.
func (k *seam) in(shape uint32, p vec64) vec64 {
	if own := k.of.BodyOf[k.number]; own != k.of.BodyOf[shape] {
		a, b := k.of.Poses.place(own), k.of.Poses.place(k.of.BodyOf[shape])
		q := a.rotate(p)
		return b.unrotate(vec64{(a.p.x - b.p.x) + q.x, (a.p.y - b.p.y) + q.y})
	}
	return p
}

func (k *seam) turned(shape uint32, v vec64) vec64 {
	if own := k.of.BodyOf[k.number]; own != k.of.BodyOf[shape] {
		a, b := k.of.Poses.place(own), k.of.Poses.place(k.of.BodyOf[shape])
		return b.unrotate(a.rotate(v))
	}
	return v
}

// gather adds shapes that are near the points, from those that can be joined.
func (k *seam) gather(m *Manifold) {
	s := k.of
	for link := s.head[k.other]; link != 0 && k.count < maxJoined; link = s.next[link-1] {
		c := s.others[link-1]
		if c == k.number || slices.Contains(k.joined[:k.count], c) {
			continue
		}
		for i := range m.Points[:m.Count] {
			if s.Shapes[c].isNear(k.in(c, k.places[i])) || s.Shapes[c].isNear(k.in(c, k.points[i])) {
				k.joined[k.count] = c
				k.count++
				break
			}
		}
	}
}

// leads reports whether the manifold leads along the normal of an edge that has all of its points.
func (k *seam) leads(m *Manifold) bool {
	for i := range int(k.shape.Count) {
		if k.leadsAlong(i, m) {
			return true
		}
	}
	return false
}

func (k *seam) leadsAlong(i int, m *Manifold) bool {
	if !(k.normal.dot(k.shape.Normals[i].wide()) > seamSine) {
		return false
	}
	for _, p := range k.places[:m.Count] {
		if d := k.shape.outside(i, p); !(d >= -LinearSlop && d <= LinearSlop) {
			return false
		}
	}
	return true
}

// lengthen moves a covered edge outwards that a manifold leads along, and returns false if there is none.
func (k *seam) lengthen(m *Manifold) bool {
	for i := range int(k.shape.Count) {
		if !k.leadsAlong(i, m) {
			continue
		}
		length := k.reach()
		for _, p := range k.places[:m.Count] {
			most := 0.
			for _, c := range k.joined[:k.count] {
				most = max(most, k.coverFrom(c, p, k.shape.Normals[i].wide()))
			}
			length = min(length, most)
		}
		if length > 0 && k.moveEdge(i, float32(length)) {
			return true
		}
	}
	return false
}

// reach is by how much to lengthen a shape at most: more than the size of the other one.
func (k *seam) reach() float64 {
	o := &k.of.Shapes[k.other]
	most := float32(0)
	for _, v := range o.Vertices[:o.Count] {
		x, y := v.X-o.Vertices[0].X, v.Y-o.Vertices[0].Y
		most = max(most, abs(x)+abs(y))
	}
	return 2 * float64(most+o.Radius+SpeculativeDistance)
}

// coverFrom returns how far a shape goes on along s from a point of an edge with the normal s that it covers: 0 if it does not.
func (k *seam) coverFrom(shape uint32, p, s vec64) float64 {
	o := &k.of.Shapes[shape]
	p, s = k.in(shape, p), k.turned(shape, s)
	n := k.turned(shape, k.normal)
	length := 1e9
	for i := range int(o.Count) {
		out := o.Normals[i].wide()
		d, along := o.outside(i, p), out.dot(s)
		if d > LinearSlop || along < -0.5 && d < -LinearSlop || along > 0 && d+float64(2*LinearSlop*along) > LinearSlop {
			return 0
		}
		if along > 1e-9 {
			length = min(length, (float64(LinearSlop*(1-along))-d)/along)
		}
		// On an edge that begins at the point: does it rise along the normal of the contact?
		if d >= -LinearSlop && along > -0.5 {
			if e := s.addTimes(out, -along); e.dot(e) > 0.01 && n.dot(e) <= seamSine {
				return 0
			}
		}
	}
	return length
}

// moveEdge moves an edge outwards. It returns false if the edges beside it would meet there.
func (k *seam) moveEdge(i int, length float32) bool {
	t, n := &k.shape, int(k.shape.Count)
	next := (i + 1) % n
	from, ok := t.moved(i, (i+n-1)%n, i, length)
	to, also := t.moved(next, (next+1)%n, i, length)
	v := t.Vertices[next].wide().sub(t.Vertices[i].wide())
	if !ok || !also || !(to.wide().sub(from.wide()).dot(v) > 0) {
		return false
	}
	t.Vertices[i], t.Vertices[next] = from, to
	k.longer = true
	return true
}

// moved returns a vertex of an edge when that has moved outwards, along the line from another vertex.
func (s *Shape) moved(at, from, edge int, length float32) (Vec, bool) {
	v := s.Vertices[at].wide()
	d := v.sub(s.Vertices[from].wide())
	n := s.Normals[edge].wide()
	along := d.dot(n)
	if square := d.dot(d); !(along > 0) || !(float64(along*along) > float64(0.04*square)) {
		return Vec{}, false
	}
	p := v.addTimes(d, float64(length)/along)
	return Vec{float32(p.x), float32(p.y)}, true
}

// trim removes the points that are neither on the shape nor on one that is joined to it.
func (k *seam) trim(m *Manifold) {
	whole, n := &k.of.Shapes[k.number], uint32(0)
	for i := range m.Points[:m.Count] {
		on := whole.isNear(k.points[i])
		for _, c := range k.joined[:k.count] {
			on = on || k.of.Shapes[c].isNear(k.in(c, k.points[i]))
		}
		if on {
			m.Points[n] = m.Points[i]
			n++
		}
	}
	clear(m.Points[n:m.Count])
	if m.Count = n; n == 0 {
		m.Normal = Vec{}
	}
}
