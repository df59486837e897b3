package physics

import (
	"slices"

	"github.com/evertick/evertick/native/rigid"
)

// contacts draws the contact points of solid shapes that touched in the last step. It computes the points
// again, because the bodies have moved since, and because the points of a step are not
// part of the state. Those of sleeping bodies come last.
func (p *pen) contacts() {
	s, d := p.s, p.d
	n := s.rows
	d.poses.X, d.poses.Y = slices.Grow(d.poses.X[:0], n)[:n], slices.Grow(d.poses.Y[:0], n)[:n]
	d.poses.Cos, d.poses.Sin = s.cols.Cos[:n], s.cols.Sin[:n]
	o := s.origins(n)
	o.UpdateCentresOfMass(s.level, &d.poses, 0, n)
	d.pairs.A, d.pairs.B, d.contacts = d.pairs.A[:0], d.pairs.B[:0], d.contacts[:0]
	p.gather(s.contacts)
	p.gather(s.sleep.resting)
	n = len(d.contacts)
	d.manifolds = slices.Grow(d.manifolds[:0], n)[:n]
	rigid.Collide(s.level, s.shapes.shape, s.shapes.filters.Body, &d.poses, &d.pairs, d.manifolds)
	for i := range d.manifolds {
		p.contact(&d.contacts[i], &d.manifolds[i])
	}
	d.poses.Cos, d.poses.Sin = nil, nil // the world's
}

// gather adds the contacts that push.
func (p *pen) gather(contacts []rigid.Contact) {
	s, d := p.s, p.d
	for i := range contacts {
		if c := &contacts[i]; c.Count > 0 && c.Flags&(sensorA|sensorB|passThrough) == 0 &&
			s.shapesLive(c) && p.solid(c.A) && p.solid(c.B) {
			d.pairs.A, d.pairs.B = append(d.pairs.A, c.A), append(d.pairs.B, c.B)
			d.contacts = append(d.contacts, *c)
		}
	}
}

// solid reports whether a shape is in the scene at a finite pose.
func (p *pen) solid(shape uint32) bool {
	t := &p.s.shapes
	return t.shape[shape].Count > 0 && p.placed(int(t.filters.Body[shape]))
}

// contact draws the points of m, the present manifold of c.
func (p *pen) contact(c *rigid.Contact, m *rigid.Manifold) {
	body := p.s.shapes.filters.Body[c.A]
	for _, q := range m.Points[:m.Count] {
		at := [2]float32{p.d.poses.X[body] + q.AnchorA.X, p.d.poses.Y[body] + q.AnchorA.Y}
		if p.o.Contacts {
			p.d.Circles = append(p.d.Circles, DrawnCircle{Center: at, Radius: p.o.Size / 4, Color: ColorContact})
			p.vector(at, float32(p.o.Size*m.Normal.X), float32(p.o.Size*m.Normal.Y), ColorContact)
		}
		if p.o.Impulses {
			p.impulse(at, m.Normal, impulseOf(c, q.ID))
		}
	}
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

// impulse draws the impulse on the second shape at a point.
func (p *pen) impulse(at [2]float32, normal rigid.Vec, i rigid.Impulse) {
	along, across := float32(i.Normal*p.o.ImpulseScale), float32(i.Tangent*p.o.ImpulseScale)
	if along != 0 {
		p.vector(at, float32(along*normal.X), float32(along*normal.Y), ColorImpulse)
	}
	if across != 0 { // the tangent is the normal, turned clockwise
		p.vector(at, float32(across*normal.Y), -float32(across*normal.X), ColorFriction)
	}
}
