package physics3

import (
	"cmp"
	"math"
	"slices"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/mesh"
	"github.com/evertick/evertick/internal/rigid3"
)

// AppendShapes appends the shapes of a body to dst, in the order of their indices. ErrStale if b is destroyed.
func (w *World) AppendShapes(dst []Shape, b Body) ([]Shape, error) {
	body, err := w.row(b)
	if err != nil {
		return dst, err
	}
	n, t := len(dst), &w.shapes
	for shape := range t.Of(body) {
		dst = append(dst, Shape{uint32(shape), t.IDs.Generation[shape]})
	}
	slices.SortFunc(dst[n:], func(a, b Shape) int { return cmp.Compare(a.index, b.index) })
	return dst, nil
}

// AppendContacts appends the pairs of solid shapes that touched in the last step, and of which b has one, to dst, in the order of their indices.
// Contacts of sleeping bodies count. It reads all contacts of the world. ErrStale if b is destroyed.
func (w *World) AppendContacts(dst []Touch, b Body) ([]Touch, error) {
	body, err := w.row(b)
	if err != nil {
		return dst, err
	}
	s, of := w.solver, w.shapes.Owner
	all := s.allContacts()
	for c, last := all.next(), (foundContact{}); c.Contact != nil; last, c = c, all.next() {
		if (of[c.A] == uint32(body) || of[c.B] == uint32(body)) && s.touched(c.Contact) && (last.Contact == nil || !sameShapes(last.Contact, c.Contact)) {
			dst = append(dst, Touch{s.handle(c.A), s.handle(c.B)})
		}
	}
	return dst, nil
}

// AppendSensorOverlaps appends the shapes that overlapped a sensor in the last step to dst, in the order of their indices: those for which Events
// had a SensorBegin and no SensorEnd since, except for destroyed ones. It includes shapes of sleeping bodies. It reads all contacts of the world.
// Errors: ErrStale, and ErrUnsupported for a solid shape.
func (w *World) AppendSensorOverlaps(dst []Shape, sensor Shape) ([]Shape, error) {
	i, err := w.shapeRow(sensor)
	if err != nil {
		return dst, err
	}
	s := w.solver
	if !s.shapes.sensor[i] {
		return dst, check.Because(fault.Field(ErrUnsupported, "physics3: AppendSensorOverlaps", sensor), "it is not a sensor")
	}
	all := s.allContacts()
	for c := all.next(); c.Contact != nil; c = all.next() {
		switch {
		case c.Count == 0 || !s.shapesLive(c.Contact):
		case c.A == sensor.index:
			dst = append(dst, s.handle(c.B))
		case c.B == sensor.index:
			dst = append(dst, s.handle(c.A))
		}
	}
	return dst, nil
}

// MaxContactPoints is the largest number of points of a contact.
const MaxContactPoints = rigid3.MaxPoints

// ContactData describes a contact of two solid shapes. A shape has one with a mesh for each direction in which it touches it.
type ContactData struct {
	A, B   Shape
	Normal [3]float32 // from A to B, where the bodies are now
	Count  int        // of points: 0 to MaxContactPoints
	Points [MaxContactPoints]ContactPoint
	// TangentImpulse is that of friction in the last sub-step, at the centre of the points, in N·s. It pushed B, and A the other way.
	TangentImpulse [3]float32
	// TwistImpulse is the angular impulse of friction about Normal in the last sub-step, on B, in N·m·s.
	TwistImpulse float32
	// RollingImpulse is the angular impulse of rolling resistance on B in the last sub-step, in N·m·s.
	RollingImpulse [3]float32
	// TotalImpulse is the sum of the normal impulses of all points in all sub-steps of the last step, in N·s. It is not a part of the state: it is
	// 0 after Restore and CopyFrom. It is also 0 if the last step did not solve the contact, because both bodies sleep.
	TotalImpulse float32
	// Triangle is the number of the triangle of a mesh at the deepest point, and User is that of MeshDef.User. They are 0 for other shapes.
	Triangle, User uint32
}

// ContactPoint is a point of a contact. Its impulse is that of the last sub-step: divided by the length of a sub-step it is a force. Bodies that
// fall asleep keep it. It is zero for a point that the last step did not have.
type ContactPoint struct {
	// Point is halfway between the surfaces, in world coordinates, in metres.
	Point [3]float32
	// Separation is the distance between the surfaces, in metres; negative where they overlap. Shapes up to 2 cm apart have contacts too, which
	// push if they approach so fast that they would overlap in the step.
	Separation float32
	// NormalImpulse pushed B along Normal, and A the other way, in N·s; not negative.
	NormalImpulse float32
}

// ContactData returns the contact of two shapes, in either order; of several with a mesh the first of AppendContactData. ErrStale for a destroyed shape, and for shapes that did not touch in the last
// step.
func (w *World) ContactData(t Touch) (ContactData, error) {
	for _, shape := range [...]Shape{t.A, t.B} {
		if _, err := w.shapeRow(shape); err != nil {
			return ContactData{}, err
		}
	}
	s, a, b := w.solver, min(t.A.index, t.B.index), max(t.A.index, t.B.index)
	all := s.allContacts()
	for k := range all {
		l := &all[k]
		i := rigid3.LowerBound(l.contacts, a, b)
		if i < len(l.contacts) && l.contacts[i].A == a && l.contacts[i].B == b && s.touched(&l.contacts[i]) {
			return s.contactData(l.at(i)), nil
		}
	}
	return ContactData{}, check.Because(fault.Field(ErrStale, "physics3: ContactData", t), "the shapes did not touch")
}

// AppendContactData appends the contacts of b to dst: those of AppendContacts, in the same order. It reads all contacts of the world. ErrStale if b
// is destroyed.
func (w *World) AppendContactData(dst []ContactData, b Body) ([]ContactData, error) {
	body, err := w.row(b)
	if err != nil {
		return dst, err
	}
	s, of := w.solver, w.shapes.Owner
	all := s.allContacts()
	for c := all.next(); c.Contact != nil; c = all.next() {
		if (of[c.A] == uint32(body) || of[c.B] == uint32(body)) && s.touched(c.Contact) {
			dst = append(dst, s.contactData(c))
		}
	}
	return dst, nil
}

// contactCursor walks over the contacts of the last step, those of sleeping bodies included, ascending. It has the lists of active and resting
// contacts, each without and with surfaces.
type contactCursor [4]contactList

// contactList is what is left of a list.
type contactList struct {
	contacts []rigid3.Contact
	touches  []rigid3.SurfaceTouch // with surfaces
	solved   int                   // number of the first in the last step; negative: none
}

// foundContact is a contact of a list.
type foundContact struct {
	*rigid3.Contact
	touch  *rigid3.SurfaceTouch // nil: without a surface
	solved int
}

func (s *solver) allContacts() contactCursor {
	r := &s.sleepers
	return contactCursor{
		{contacts: s.contacts[:s.convex]},
		{contacts: s.contacts[s.convex:], touches: s.touches, solved: s.convex},
		{contacts: r.resting[:r.restingConvex], solved: math.MinInt},
		{contacts: r.resting[r.restingConvex:], touches: r.restingTouches, solved: math.MinInt},
	}
}

func (l *contactList) at(i int) foundContact {
	f := foundContact{&l.contacts[i], nil, l.solved + i}
	if l.touches != nil {
		f.touch = &l.touches[i]
	}
	return f
}

// next returns the next contact; without one after the last one.
func (r *contactCursor) next() (f foundContact) {
	least := &r[0]
	for k := range r {
		if l := &r[k]; len(l.contacts) > 0 && (len(least.contacts) == 0 || contactLess(&l.contacts[0], &least.contacts[0])) {
			least = l
		}
	}
	if len(least.contacts) == 0 {
		return f
	}
	f = least.at(0)
	least.contacts = least.contacts[1:]
	least.solved++
	if least.touches != nil {
		least.touches = least.touches[1:]
	}
	return f
}

// touched reports whether a contact is one of solid shapes that live and touched in the last step.
func (s *solver) touched(c *rigid3.Contact) bool {
	return c.Count > 0 && c.Flags&sensing == 0 && s.shapesLive(c)
}

func (s *solver) contactData(c foundContact) ContactData {
	m := s.presentManifold(c)
	d := ContactData{
		A: s.handle(c.A), B: s.handle(c.B), Normal: arrayOf(m.Normal), Count: int(m.Count), TotalImpulse: s.totalImpulse(c.solved),
		TangentImpulse: arrayOf(c.Tangent), TwistImpulse: c.Twist, RollingImpulse: arrayOf(c.Rolling),
	}
	from := s.pose(int(s.shapes.filters.Body[c.A])).P
	for k := range m.Points[:m.Count] {
		p := &m.Points[k]
		d.Points[k] = ContactPoint{arrayOf(from.Add(p.AnchorA)), p.Separation, impulseOf(c.Contact, p.ID)}
	}
	if f := s.shapes.surfaceOf(c.Contact); f != nil && c.touch != nil && hasFace(f, c.touch.Face) {
		d.Triangle, d.User = f.number(c.touch.Face)
	}
	return d
}

// surfaceOf returns the surface of a contact, or nil.
func (t *shapeColumns) surfaceOf(c *rigid3.Contact) surface {
	if t.surface[c.A] != nil {
		return t.surface[c.A]
	}
	return t.surface[c.B]
}

// presentMemory is the memory of presentManifold, for one pair.
type presentMemory struct {
	a, b     [1]uint32
	pair     broad.Pairs // of a and b
	manifold [1]rigid3.Manifold
	seams    rigid3.SeamMemory
	boxes    rigid3.Boxes // for one shape
	faces    []mesh.Face  // of AppendDraw
	lines    []DrawnLine  // of drawShapes
}

// presentManifold computes the manifold of a contact for the present poses, because the bodies have moved since the step, and because manifolds are
// not a part of the state. Of those with a surface it is the one whose normal is closest to that of the contact. It is valid until the next call.
func (s *solver) presentManifold(c foundContact) *rigid3.Manifold {
	l, t := &s.present, &s.shapes
	for _, shape := range [...]uint32{c.A, c.B} {
		body := t.filters.Body[shape]
		s.poses[body] = s.pose(int(body))
	}
	l.manifold[0] = rigid3.Manifold{}
	if c.touch != nil {
		scene, most := s.surfaceScene(), float32(-2)
		found := s.surfaces.present.CollideSurface(&scene, c.A, c.B)
		for i := range found {
			if cosine := found[i].Normal.Dot(c.touch.Normal); cosine > most {
				most, l.manifold[0] = cosine, found[i].Manifold
			}
		}
		return &l.manifold[0]
	}
	l.a[0], l.b[0] = c.A, c.B
	l.pair = broad.Pairs{A: l.a[:], B: l.b[:]}
	rigid3.CollidePairs(s.level, t.shape, &s.contents.Hulls, t.filters.Body, s.poses, &l.pair, nil, l.manifold[:])
	s.joinPresent()
	return &l.manifold[0]
}

// impulseOf returns the impulse at the point between two features, or zero.
func impulseOf(c *rigid3.Contact, id uint32) float32 {
	for _, i := range c.Normal[:c.Count] {
		if i.ID == id {
			return i.Impulse
		}
	}
	return 0
}

// totalImpulse returns the impulse along the normal of a contact in the whole last step. It is known for the contacts that this step has solved.
func (s *solver) totalImpulse(solved int) float32 {
	if hits := s.sys.Hits; len(hits) == len(s.contacts) && solved >= 0 {
		return hits[solved].Impulse
	}
	return 0
}
