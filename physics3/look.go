package physics3

import (
	"cmp"
	"slices"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
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
	for c := all.next(); c != nil; c = all.next() {
		if (of[c.A] == uint32(body) || of[c.B] == uint32(body)) && s.touches(c) {
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
	for c := all.next(); c != nil; c = all.next() {
		switch {
		case c.Count == 0 || !s.shapesLive(c):
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

// ContactData describes a contact of two solid shapes.
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

// ContactData returns the contact of two shapes, in either order. ErrStale for a destroyed shape, and for shapes that did not touch in the last
// step.
func (w *World) ContactData(t Touch) (ContactData, error) {
	for _, shape := range [...]Shape{t.A, t.B} {
		if _, err := w.shapeRow(shape); err != nil {
			return ContactData{}, err
		}
	}
	s, a, b := w.solver, min(t.A.index, t.B.index), max(t.A.index, t.B.index)
	for _, contacts := range [...][]rigid3.Contact{s.contacts, s.sleepers.resting} {
		i := rigid3.LowerBound(contacts, a, b)
		if i < len(contacts) && contacts[i].A == a && contacts[i].B == b && s.touches(&contacts[i]) {
			return s.contactData(&contacts[i]), nil
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
	for c := all.next(); c != nil; c = all.next() {
		if (of[c.A] == uint32(body) || of[c.B] == uint32(body)) && s.touches(c) {
			dst = append(dst, s.contactData(c))
		}
	}
	return dst, nil
}

// contactCursor walks over the contacts of the last step, those of sleeping bodies included, ascending.
type contactCursor struct{ active, resting []rigid3.Contact }

func (s *solver) allContacts() contactCursor { return contactCursor{s.contacts, s.sleepers.resting} }

// next returns the next contact, or nil after the last one.
func (r *contactCursor) next() *rigid3.Contact {
	from := &r.active
	if len(r.active) == 0 || len(r.resting) > 0 && contactLess(&r.resting[0], &r.active[0]) {
		from = &r.resting
	}
	if len(*from) == 0 {
		return nil
	}
	c := &(*from)[0]
	*from = (*from)[1:]
	return c
}

// touches reports whether a contact is one of solid shapes that live and touched in the last step.
func (s *solver) touches(c *rigid3.Contact) bool {
	return c.Count > 0 && c.Flags&sensing == 0 && s.shapesLive(c)
}

func (s *solver) contactData(c *rigid3.Contact) ContactData {
	m := s.presentManifold(c)
	d := ContactData{
		A: s.handle(c.A), B: s.handle(c.B), Normal: arrayOf(m.Normal), Count: int(m.Count), TotalImpulse: s.totalImpulse(c),
		TangentImpulse: arrayOf(c.Tangent), TwistImpulse: c.Twist, RollingImpulse: arrayOf(c.Rolling),
	}
	from := s.pose(int(s.shapes.filters.Body[c.A])).P
	for k := range m.Points[:m.Count] {
		p := &m.Points[k]
		d.Points[k] = ContactPoint{arrayOf(from.Add(p.AnchorA)), p.Separation, impulseOf(c, p.ID)}
	}
	return d
}

// presentMemory is the memory of presentManifold, for one pair.
type presentMemory struct {
	a, b     [1]uint32
	pair     broad.Pairs // of a and b
	manifold [1]rigid3.Manifold
	boxes    rigid3.Boxes // for one shape
}

// presentManifold computes the manifold of a contact for the present poses, because the bodies have moved since the step, and because manifolds are
// not a part of the state. It is valid until the next call.
func (s *solver) presentManifold(c *rigid3.Contact) *rigid3.Manifold {
	l, t := &s.present, &s.shapes
	for _, shape := range [...]uint32{c.A, c.B} {
		body := t.filters.Body[shape]
		s.poses[body] = s.pose(int(body))
	}
	l.a[0], l.b[0], l.manifold[0] = c.A, c.B, rigid3.Manifold{}
	l.pair = broad.Pairs{A: l.a[:], B: l.b[:]}
	rigid3.CollidePairs(s.level, t.shape, &s.contents.Hulls, t.filters.Body, s.poses, &l.pair, nil, l.manifold[:])
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

// totalImpulse returns the impulse along the normal in the whole last step. It is known for the contacts that this step has solved.
func (s *solver) totalImpulse(c *rigid3.Contact) float32 {
	if hits := s.sys.Hits; len(hits) == len(s.contacts) {
		if i := rigid3.LowerBound(s.contacts, c.A, c.B); i < len(hits) && s.contacts[i].A == c.A && s.contacts[i].B == c.B {
			return hits[i].Impulse
		}
	}
	return 0
}
