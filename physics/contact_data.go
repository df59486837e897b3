package physics

import (
	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/rigid"
)

// ContactData is a contact: two solid shapes that touched in the last step, and how. The two shapes identify it, as
// in a Touch of Events; a pair has one contact at most.
//
// Normal, Count and the points and separations are computed for the poses that the bodies have now. The impulses are
// those of the last step. A contact has no points if a call has moved the bodies apart, or disabled one, since then.
type ContactData struct {
	A, B   Shape      // A has the lower index
	Normal [2]float32 // from A to B, of length one; zero if there are no points
	Count  int        // of points: 0, 1 or 2
	Points [2]ContactPoint
	// RollingImpulse is the angular impulse of rolling resistance on B in the last sub-step, in N·m·s; A got the opposite.
	RollingImpulse float32
	// TotalImpulse is the sum of the normal impulses of all points in all sub-steps of the last step, in N·s. It is not
	// a part of the state: it is 0 after Restore and CopyFrom. It is also 0 if the last step did not solve the
	// contact, because both bodies sleep.
	TotalImpulse float32
}

// ContactPoint is a point of a contact. Its impulses are those of the last sub-step: divided by the length of a
// sub-step they are forces. Bodies that fall asleep keep them. They are zero for a point that the last step did not have.
type ContactPoint struct {
	// Point is halfway between the surfaces, in world coordinates, in metres.
	Point [2]float32
	// Separation is the distance between the surfaces, in metres; negative where they overlap. Shapes up to 2 cm apart
	// have contacts too, which push if they approach so fast that they would overlap in the step.
	Separation float32
	// NormalImpulse pushed B along Normal, and A the other way, in N·s; not negative.
	NormalImpulse float32
	// TangentImpulse is that of friction, in N·s. It pushed B along (Normal[1], -Normal[0]), and A the other way.
	TangentImpulse float32
}

// ContactData returns the contact of two shapes, in either order. Errors: ErrStale for a destroyed shape, and for
// shapes that did not touch in the last step; and ErrUnsupported from another engine.
func (w *World) ContactData(t Touch) (ContactData, error) {
	for _, shape := range [...]Shape{t.A, t.B} {
		if err := w.requireSolverShape(shape); err != nil {
			return ContactData{}, err
		}
	}
	s, a, b := w.solver, min(t.A.index, t.B.index), max(t.A.index, t.B.index)
	for _, contacts := range [...][]rigid.Contact{s.contacts, s.sleepers.resting} {
		i := rigid.LowerBound(contacts, a, b)
		if i < len(contacts) && contacts[i].A == a && contacts[i].B == b && s.touches(&contacts[i]) {
			return s.contactData(&contacts[i]), nil
		}
	}
	return ContactData{}, check.Because(fault.Field(ErrStale, "physics: ContactData", t), "the shapes did not touch")
}

// AppendContactData appends the contacts of b to dst, the same as AppendContacts, in the same order. It reads all
// contacts of the world. Errors: ErrStale, and ErrUnsupported from another engine.
func (w *World) AppendContactData(dst []ContactData, b Body) ([]ContactData, error) {
	body, err := w.solverRow(b)
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

// AppendShapeContactData is AppendContactData for one shape; a sensor has none. Errors: ErrStale, and ErrUnsupported
// from another engine.
func (w *World) AppendShapeContactData(dst []ContactData, shape Shape) ([]ContactData, error) {
	if err := w.requireSolverShape(shape); err != nil {
		return dst, err
	}
	s := w.solver
	all := s.allContacts()
	for c := all.next(); c != nil; c = all.next() {
		if (c.A == shape.index || c.B == shape.index) && s.touches(c) {
			dst = append(dst, s.contactData(c))
		}
	}
	return dst, nil
}

// contactCursor walks over the contacts of the last step, sleeping bodies included, ascending.
type contactCursor struct{ active, resting []rigid.Contact }

func (s *solver) allContacts() contactCursor { return contactCursor{s.contacts, s.sleepers.resting} }

// next returns the next contact, or nil after the last one.
func (r *contactCursor) next() *rigid.Contact {
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
func (s *solver) touches(c *rigid.Contact) bool {
	return c.Count > 0 && c.Flags&noPush == 0 && s.shapesLive(c)
}

func (s *solver) contactData(c *rigid.Contact) ContactData {
	m := s.presentManifold(c)
	d := ContactData{
		A: s.handle(c.A), B: s.handle(c.B), Normal: [2]float32{m.Normal.X, m.Normal.Y}, Count: int(m.Count),
		RollingImpulse: c.RollingImpulse, TotalImpulse: s.totalImpulse(c),
	}
	for k := range m.Points[:m.Count] {
		p, i := &m.Points[k], impulseOf(c, m.Points[k].ID)
		d.Points[k] = ContactPoint{s.contactPoint(c, p), p.Separation, i.Normal, i.Tangent}
	}
	return d
}

// presentManifold computes the manifold of a contact for the present poses, because the bodies have moved since the
// step, and because manifolds are not a part of the state. It is valid until the next call. There are no points if a
// pose is out of the range of queries.
func (s *solver) presentManifold(c *rigid.Contact) *rigid.Manifold {
	l, t := &s.look, &s.shapes
	l.manifold[0] = rigid.Manifold{}
	s.centre.Cos, s.centre.Sin = s.cols.Cos, s.cols.Sin
	if !s.placePresent(c) {
		return &l.manifold[0]
	}
	l.a[0], l.b[0] = c.A, c.B
	pair := broad.Pairs{A: l.a[:], B: l.b[:]}
	rigid.Collide(s.level, t.shape, t.filters.Body, &s.centre, &pair, l.manifold[:])
	if t.chained > 0 {
		rigid.CollideChains(t.shape, t.smooth, t.filters.Body, &s.centre, &pair, nil, l.manifold[:])
	}
	s.joinPresent(&pair)
	return &l.manifold[0]
}

// placePresent sets where the bodies of a contact are now. It returns false if a pose is out of the range of queries.
func (s *solver) placePresent(c *rigid.Contact) bool {
	for _, shape := range [...]uint32{c.A, c.B} {
		body := s.shapes.filters.Body[shape]
		at := s.centreOfMass(int(body))
		if s.centre.X[body], s.centre.Y[body] = at[0], at[1]; !poseInRange(&s.centre, body) {
			return false
		}
	}
	return true
}

// lookMemory is the memory of presentManifold, for one pair.
type lookMemory struct {
	a, b     [1]uint32
	manifold [1]rigid.Manifold
}

// contactPoint returns a point of a present manifold in world coordinates.
func (s *solver) contactPoint(c *rigid.Contact, p *rigid.ManifoldPoint) [2]float32 {
	body := s.shapes.filters.Body[c.A]
	return [2]float32{s.centre.X[body] + p.AnchorA.X, s.centre.Y[body] + p.AnchorA.Y}
}

// impulseOf returns the impulse at the point between two features, or zero.
func impulseOf(c *rigid.Contact, id uint32) rigid.Impulse {
	for _, i := range c.Points[:c.Count] {
		if i.ID == id {
			return i
		}
	}
	return rigid.Impulse{}
}

// totalImpulse returns the impulse along the normal in the whole last step. It is known for the contacts that this
// step has solved.
func (s *solver) totalImpulse(c *rigid.Contact) float32 {
	if hits := s.sys.Hits; len(hits) == len(s.contacts) {
		if i := rigid.LowerBound(s.contacts, c.A, c.B); i < len(hits) && s.contacts[i].A == c.A && s.contacts[i].B == c.B {
			return hits[i].Impulse
		}
	}
	return 0
}
