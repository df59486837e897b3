package physics

import "github.com/evertick/evertick/internal/rigid"

// contacts draws the contact points of solid shapes that touched in the last step.
func (p *pen) contacts() {
	all := p.s.allContacts()
	for c := all.next(); c != nil; c = all.next() {
		if p.s.touches(c) {
			p.contact(c, p.s.presentManifold(c))
		}
	}
}

// contact draws the points of m, the present manifold of c.
func (p *pen) contact(c *rigid.Contact, m *rigid.Manifold) {
	for k := range m.Points[:m.Count] {
		at := p.s.contactPoint(c, &m.Points[k])
		if p.o.Contacts {
			p.d.Circles = append(p.d.Circles, DrawnCircle{Center: at, Radius: p.o.Size / 4, Color: ColorContact})
			p.vector(at, float32(p.o.Size*m.Normal.X), float32(p.o.Size*m.Normal.Y), ColorContact)
		}
		if p.o.Impulses {
			p.impulse(at, m.Normal, impulseOf(c, m.Points[k].ID))
		}
	}
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
