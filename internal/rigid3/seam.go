package rigid3

import (
	"slices"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/buffer"
)

// Seams corrects the contacts of bodies that move over boxes and hulls side by side, as over a floor of tiles. Where two of them touch, their sides are
// inside of the whole, and no contact may push a body away from such a side: it would stop at each seam.
//
// Two shapes can be joined if both belong to static bodies, or both to one body. Let a shape with flat faces touch a body in points along a normal n, on a
// face whose own normal s has a part along n. The face is covered there if each of the points, up to LinearSlop, is in a shape that can be joined to the
// first one, and that also meets the body; and if n leads into that shape: it rises along n as one goes from the point along s on its surface. Then
// the first shape is made longer along s, as far as the others go on, and collides anew. Of the contact those points remain that are on the first shape or
// on the others, unless these push the other way: then the first contact remains. So a body that meets the seam of two flush boxes meets the plane of
// both; at the end of a row, or at a step that is higher than LinearSlop, the face is not covered.
//
// Only what has sharp edges is joined: shapes without a radius.
type Seams struct {
	Shapes []Shape
	Hulls  *Hulls
	BodyOf []uint32
	Poses  []Pose

	// By shape: which others it can be joined to; 0: none.
	Kinds []SeamKind

	// By shape: the shapes with a kind that it meets, as a list from head through next, whose elements are numbers of others plus one.
	head, others, next []uint32
}

// SeamKind says which others a shape can be joined to.
type SeamKind uint8

// Kinds of shapes, as bits.
const (
	SeamStatic   SeamKind = 1 << iota // those of static bodies, as it is one
	SeamSiblings                      // those of its body
)

// CanJoin reports whether a shape has faces that others may cover.
func (s *Shape) CanJoin() bool { return (s.Kind == KindBox || s.Kind == KindHull) && s.Radius == 0 }

// Begin makes the lists empty.
func (s *Seams) Begin() {
	s.head = buffer.Resized(s.head, len(s.Shapes))
	clear(s.head)
	s.others, s.next = slices.Grow(s.others[:0], usualSeams), slices.Grow(s.next[:0], usualSeams)
}

// usualSeams is the number of elements of the lists up to which they do not grow.
const usualSeams = 1024

// AddPair lists a pair.
func (s *Seams) AddPair(a, b uint32) {
	if s.Kinds[a] != 0 {
		s.add(b, a)
	}
	if s.Kinds[b] != 0 {
		s.add(a, b)
	}
}

func (s *Seams) add(shape, other uint32) {
	s.others, s.next = append(s.others, other), append(s.next, s.head[shape])
	s.head[shape] = uint32(len(s.others))
}

func (s *Seams) canJoin(a, b uint32) bool {
	return a != b && (s.Kinds[a]&s.Kinds[b]&SeamStatic != 0 || s.Kinds[a]&SeamSiblings != 0 && s.BodyOf[a] == s.BodyOf[b])
}

// SeamMemory is the working memory for Join.
type SeamMemory struct{ seam *seam }

// Join corrects the manifolds of pairs, but for those that were recycled: see Recycling. What it has changed has the source Joined. Several workers may
// join at the same time, with memory of their own.
func (s *Seams) Join(pairs *broad.Pairs, recycled []int32, out []Manifold, mem *SeamMemory) {
	kinds := s.Kinds
	for i, a := range pairs.A {
		b := pairs.B[i]
		if kinds[a]|kinds[b] == 0 || recycled != nil && recycled[i] >= 0 {
			continue
		}
		m := &out[i]
		if m.Count == 0 {
			continue
		}
		if s.hasSeams(a, b) {
			s.join(a, b, m, mem)
		}
		if m.Count > 0 && s.hasSeams(b, a) {
			m.swap()
			s.join(b, a, m, mem)
			m.swap()
		}
	}
}

// hasSeams reports whether a shape can be joined to one that meets another shape, too.
func (s *Seams) hasSeams(shape, other uint32) bool {
	if s.Kinds[shape] == 0 {
		return false
	}
	for link := s.head[other]; link != 0; link = s.next[link-1] {
		if s.canJoin(shape, s.others[link-1]) {
			return true
		}
	}
	return false
}

const (
	// maxJoined is the number of shapes near the points of a contact that may cover faces of one.
	maxJoined = 8

	// maxJoins is how often a shape may be made longer in a step.
	maxJoins = 4

	// seamSine is the sine of an angle of normals that counts as none: at 50 m/s it is a twentieth of a millimetre a second.
	seamSine = 1e-6
)

// join corrects the manifold of a shape that may have seams and another one, with a normal from the first to the second.
func (s *Seams) join(shape, other uint32, m *Manifold, mem *SeamMemory) {
	if mem.seam == nil {
		mem.seam = new(seam)
	}
	k := mem.seam
	if !k.begin(s, shape, other, m) {
		return
	}
	for n := 0; n < maxJoins && m.Count > 0 && k.lengthen(m); n++ {
		was := *m
		k.collide(m)
		if m.Count > 0 && m.Normal.Dot(was.Normal) < -0.5 {
			*m, k.longer = was, n > 0 // what is stuck where thin walls cross would be pushed out through them
			break
		}
		k.locate(m)
		k.gather(s, shape, other, m)
	}
	if k.longer {
		k.trim(m)
		m.Source = Joined
	}
}

// seam is a shape that is made longer, in its own axes.
type seam struct {
	shape, other         Shape
	bodyA, bodyB         *Pose
	frame                pose64
	joined               [maxJoined]joinedShape
	count                int
	points               [MaxPoints]vec64 // of the manifold
	places               [MaxPoints]vec64 // those of the shape near them
	normal               vec64
	faces                Polytope
	boxes                [1 + maxJoined]boxArrays
	planes               [maxFaces]Plane
	vertices             [MaxHullVertices]Vec
	whole                []Plane // before it was made longer
	reach                float64 // by how much to lengthen it at most
	longer               bool
	hulls                Hulls
	polytopes            [2]*Polytope
	collider             collider
	lower, upper, middle vec64 // of a box
}

// joinedShape is a shape that may cover faces.
type joinedShape struct {
	number uint32
	planes []Plane
	at     pose64 // as seen from the first one
}

func (k *seam) begin(s *Seams, shape, other uint32, m *Manifold) bool {
	k.shape, k.other, k.bodyA, k.bodyB = s.Shapes[shape], s.Shapes[other], &s.Poses[s.BodyOf[shape]], &s.Poses[s.BodyOf[other]]
	k.frame.set(k.bodyA, &k.shape.Pose)
	k.faces = k.shape.polytope(s.Hulls, &k.boxes[0])
	k.whole, k.longer, k.count = k.faces.Planes, false, 0
	k.locate(m)
	if !k.leads(m) {
		return false
	}
	k.gather(s, shape, other, m)
	half := k.shape.Half.wide64()
	k.lower, k.upper = half.neg(), half
	k.polytopes = [2]*Polytope{&k.faces, s.Hulls.at(k.other.Hull)}
	k.hulls.polytopes = k.polytopes[:]
	if k.other.Kind == KindHull {
		k.other.Hull = 1
		k.reach = k.polytopes[1].extent.wide64().length()
	} else {
		k.reach = k.other.Half.wide64().length() + float64(k.other.Radius)
	}
	k.reach = 2 * (k.reach + SpeculativeDistance)
	return k.count > 0
}

// gather sets the places, and adds shapes that are near them or the points, from those that can be joined.
func (k *seam) gather(s *Seams, shape, other uint32, m *Manifold) {
	for i := range k.points[:m.Count] {
		k.places[i] = k.nearest(k.points[i])
	}
	for link := s.head[other]; link != 0 && k.count < maxJoined; link = s.next[link-1] {
		c := s.others[link-1]
		if !s.canJoin(shape, c) || k.has(c) {
			continue
		}
		j, o := &k.joined[k.count], &s.Shapes[c]
		j.number, j.planes = c, o.polytope(s.Hulls, &k.boxes[1+k.count]).Planes
		var frame pose64
		frame.set(&s.Poses[s.BodyOf[c]], &o.Pose)
		j.at = k.frame.relative(&frame)
		for i := range m.Points[:m.Count] {
			if j.isNear(k.places[i]) || j.isNear(k.points[i]) {
				k.count++
				break
			}
		}
	}
}

func (k *seam) has(number uint32) bool {
	for i := range k.joined[:k.count] {
		if k.joined[i].number == number {
			return true
		}
	}
	return false
}

// locate sets the points and the normal of a manifold in the axes of the shape. Where the faces of two shapes are beside each other, the point of their
// contact is a corner that need not be near the first one.
func (k *seam) locate(m *Manifold) {
	n := m.Normal.wide64()
	k.normal = k.frame.unrotate(n)
	for i := range m.Points[:m.Count] {
		p := &m.Points[i]
		at := k.bodyA.P.wide64().Add(p.AnchorA.wide64()).addTimes(n, -0.5*float64(p.Separation))
		k.points[i] = k.frame.unrotate(at.Sub(k.frame.p))
	}
}

// nearest returns a point of the shape near another one: for a box the nearest.
func (k *seam) nearest(p vec64) vec64 {
	for range 2 {
		for i := range k.faces.Planes {
			n := k.faces.Planes[i].Normal.wide64()
			if d := n.Dot(p) - float64(k.faces.Planes[i].Offset); d > 0 {
				p = p.addTimes(n, -d)
			}
		}
	}
	return p
}

// leads reports whether the manifold leads along the normal of a face that has all of its points.
func (k *seam) leads(m *Manifold) bool {
	for i := range k.faces.Planes {
		if k.leadsAlong(&k.faces.Planes[i], m) {
			return true
		}
	}
	return false
}

func (k *seam) leadsAlong(plane *Plane, m *Manifold) bool {
	return k.normal.Dot(plane.Normal.wide64()) > seamSine && k.allOn(plane, int(m.Count))
}

// lengthen moves a covered face outwards that a manifold leads along, and returns false if there is none.
func (k *seam) lengthen(m *Manifold) bool {
	for i := range k.faces.Planes {
		if !k.leadsAlong(&k.faces.Planes[i], m) {
			continue
		}
		s, length := k.faces.Planes[i].Normal.wide64(), k.reach
		for _, p := range k.places[:m.Count] {
			length = min(length, k.coveredFrom(p, s))
		}
		if length > 0 && k.moveFace(i, float32(length)) {
			return true
		}
	}
	return false
}

// allOn reports whether all points are on a plane.
func (k *seam) allOn(plane *Plane, n int) bool {
	for _, p := range k.points[:n] {
		if d := plane.Normal.wide64().Dot(p) - float64(plane.Offset); !(d >= -LinearSlop && d <= LinearSlop) {
			return false
		}
	}
	return true
}

// coveredFrom returns how far a shape goes on along s from a point of a face with the normal s that it covers: 0 if none covers it.
func (k *seam) coveredFrom(p, s vec64) float64 {
	most := 0.
	for i := range k.joined[:k.count] {
		most = max(most, k.joined[i].coverFrom(p, s, k.normal))
	}
	return most
}

func (j *joinedShape) coverFrom(p, s, n vec64) float64 {
	p, s, n = j.at.unrotate(p.Sub(j.at.p)), j.at.unrotate(s), j.at.unrotate(n)
	length := 1e9
	for i := range j.planes {
		plane := &j.planes[i]
		out := plane.Normal.wide64()
		d, along := out.Dot(p)-float64(plane.Offset), out.Dot(s)
		if d > LinearSlop || along > 0 && d+float64(2*LinearSlop*along) > LinearSlop {
			return 0
		}
		if along > 1e-9 {
			length = min(length, (float64(LinearSlop*(1-along))-d)/along)
		}
		// On a plane that begins at the point: does its surface rise along the normal of the contact?
		if d >= -LinearSlop && along > -0.5 {
			if e := s.addTimes(out, -along); e.Dot(e) > 0.01 && n.Dot(e) <= seamSine*e.length() {
				return 0
			}
		}
	}
	return length
}

// moveFace moves a face outwards. It returns false if others would meet there.
func (k *seam) moveFace(i int, length float32) bool {
	if k.shape.Kind == KindBox {
		switch l := float64(length); i {
		case 0:
			k.lower.x -= l
		case 1:
			k.upper.x += l
		case 2:
			k.lower.y -= l
		case 3:
			k.upper.y += l
		case 4:
			k.lower.z -= l
		case 5:
			k.upper.z += l
		}
		k.ownPlanes()
		k.faces.Planes[i].Offset += length
		k.longer = true
		return true
	}
	t, s := &k.faces, k.faces.Planes[i].Normal
	var moved [MaxHullVertices]Vec
	copy(moved[:], t.Vertices)
	corners := t.Faces[i].Vertices
	for _, v := range corners {
		along, ok := t.edgeFrom(v, i)
		if !ok || !(along.Dot(s) > 0.2) {
			return false
		}
		moved[v] = t.Vertices[v].addTimes(along, length/along.Dot(s))
	}
	for n, v := range corners {
		w := corners[(n+1)%len(corners)]
		if !(moved[w].Sub(moved[v]).Dot(t.Vertices[w].Sub(t.Vertices[v])) > 0) {
			return false
		}
	}
	k.vertices = moved
	t.Vertices = k.vertices[:len(t.Vertices)]
	k.ownPlanes()
	t.Planes[i].Offset += length
	k.longer = true
	return true
}

// ownPlanes copies the planes before the first is changed.
func (k *seam) ownPlanes() {
	if !k.longer {
		k.faces.Planes = append(k.planes[:0], k.faces.Planes...)
	}
}

// edgeFrom returns the direction in which the one edge that ends at a vertex of a face and is not of that face goes on.
func (t *Polytope) edgeFrom(v uint8, face int) (along Vec, ok bool) {
	for i := range t.Edges {
		e := &t.Edges[i]
		if e.From != v && e.To != v || int(e.Left) == face || int(e.Right) == face {
			continue
		}
		if ok {
			return Vec{}, false
		}
		from, to := t.Vertices[e.From], t.Vertices[e.To]
		if e.From == v {
			from, to = to, from
		}
		along, ok = to.Sub(from), true
	}
	if l := sqrt(along.Dot(along)); l > 0 {
		return along.Times(1 / l), ok
	}
	return Vec{}, false
}

// collide makes the manifold of the longer shape.
func (k *seam) collide(m *Manifold) {
	longer := k.shape
	if k.shape.Kind == KindBox {
		k.middle = k.lower.Add(k.upper).Times(0.5)
		longer.Half = k.upper.Sub(k.lower).Times(0.5).narrow()
		longer.Pose.P = k.shape.Pose.Transform(k.middle.narrow())
	}
	longer.Hull = 0
	*m = Manifold{}
	k.collider.collide(&longer, &k.other, &k.hulls, k.bodyA, k.bodyB, m)
}

// trim removes the points that are neither on the shape nor on one that is joined to it.
func (k *seam) trim(m *Manifold) {
	n := uint32(0)
	for i := range m.Points[:m.Count] {
		p := k.points[i]
		on := isNear(k.whole, p)
		for c := range k.joined[:k.count] {
			on = on || k.joined[c].isNear(p)
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

func (j *joinedShape) isNear(p vec64) bool { return isNear(j.planes, j.at.unrotate(p.Sub(j.at.p))) }

// isNear reports whether a point is inside of all planes, up to LinearSlop.
func isNear(planes []Plane, p vec64) bool {
	for i := range planes {
		if planes[i].Normal.wide64().Dot(p)-float64(planes[i].Offset) > LinearSlop {
			return false
		}
	}
	return true
}
