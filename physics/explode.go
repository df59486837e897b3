package physics

import (
	"errors"
	"math"

	"github.com/evertick/evertick/internal/check"
)

// ExplosionDef describes an explosion.
type ExplosionDef struct {
	// Position of its centre in world coordinates, in metres.
	Position [2]float32
	// Radius in metres up to which it has its full strength, and Falloff, the further distance over
	// which it fades to zero; not negative, up to 1e6.
	Radius, Falloff float32
	// ImpulsePerLength in N·s per metre of outline; from -1e6 to 1e6. Negative: an implosion.
	ImpulsePerLength float32
	// Mask holds the categories of the shapes on which it acts.
	Mask uint64
	// Span selects the shapes whose span overlaps it. Zero: all.
	Span Span
}

// Validate reports every fault of d at once. Errors wrap ErrNotFinite or ErrRange.
func (d *ExplosionDef) Validate() error {
	return errors.Join(
		check.Vector("physics: ExplosionDef.Position", d.Position[:]),
		check.Coefficient("physics: ExplosionDef.Radius", d.Radius),
		check.Coefficient("physics: ExplosionDef.Falloff", d.Falloff),
		check.Between("physics: ExplosionDef.ImpulsePerLength", d.ImpulsePerLength, -check.MaxCoefficient, check.MaxCoefficient),
		d.Span.check("physics: ExplosionDef.Span"),
	)
}

// Explode applies impulses to the dynamic bodies around a point at once, and wakes them. Its pressure acts on each
// piece of the outline of their solid shapes that faces the centre, along the normal of the piece. A piece of length
// l with the outward normal n, whose middle is at the distance d from the centre in the direction u, gets the impulse
//
//	-n · l · max(0, -n·u) · ImpulsePerLength · f(d)
//
// where f is 1 up to Radius and falls linearly to 0 at Radius + Falloff. So the impulse on a box is proportional to
// its width as seen from the centre; an impulse off the centre of mass turns it, and pressure at an angle pushes it
// sideways. Sides are cut into 4 pieces each, and arcs count as chords. A disc of radius r gets
// π/2·r·ImpulsePerLength·f away from the centre, with f at the distance of its surface. A closed shape around the
// centre gets no impulse, and obstacles do not shield.
//
// A body whose velocity would overflow keeps its velocity. Errors: those of ExplosionDef.Validate, and
// ErrUnsupported from another engine.
func (w *World) Explode(def ExplosionDef) error {
	if err := w.requireRunning(); err != nil {
		return err
	}
	if err := def.Validate(); err != nil {
		return err
	}
	w.solver.explode(&def)
	return nil
}

// explode handles the shapes in ascending order.
func (s *solver) explode(d *ExplosionDef) {
	c := s.cols
	for shape := range s.shapes.local {
		if !s.affected(shape, d.Mask, d.Span) {
			continue
		}
		i := int(s.shapes.filters.Body[shape])
		p := s.explosionImpulse(i, shape, d)
		if p == (wrench{}) {
			continue
		}
		if s.setVelocity(i, c.VX[i]+float32(c.InvMass[i]*p.x), c.VY[i]+float32(c.InvMass[i]*p.y), c.W[i]+float32(c.InvInertia[i]*p.turn)) {
			s.sleep.Wake(i)
		}
	}
}

// explosionImpulse returns the impulse of an explosion on a shape.
func (s *solver) explosionImpulse(body, shape int, d *ExplosionDef) (p wrench) {
	r := &s.shapes.local[shape]
	if r.Count == 1 {
		at := s.worldPoint(body, r.Vertices[0].X, r.Vertices[0].Y)
		ux, uy, distance := d.from(at[0], at[1])
		if distance > r.Radius {
			j := float32(float32(math.Pi/2)*r.Radius) * d.strength(distance-r.Radius)
			s.addForceAt(&p, body, at[0], at[1], float32(j*ux), float32(j*uy))
		}
		return p
	}
	for k := range outlineParts(r) {
		e, ok := s.side(body, r, k)
		if !ok {
			continue
		}
		ux, uy, distance := d.from(e.x, e.y)
		if facing := -(float32(e.nx*ux) + float32(e.ny*uy)); facing > 0 {
			j := float32(e.length*facing) * d.strength(distance)
			s.addForceAt(&p, body, e.x, e.y, -float32(j*e.nx), -float32(j*e.ny))
		}
	}
	return p
}

// from returns the direction and the distance of a point from the centre; the direction is zero at the centre.
func (d *ExplosionDef) from(x, y float32) (ux, uy, distance float32) {
	dx, dy := x-d.Position[0], y-d.Position[1]
	distance = sqrt(float32(dx*dx) + float32(dy*dy))
	if !(distance > 0) {
		return 0, 0, 0
	}
	return dx / distance, dy / distance, distance
}

// strength returns the impulse per metre of outline at a distance.
func (d *ExplosionDef) strength(distance float32) float32 {
	switch {
	case distance <= d.Radius:
		return d.ImpulsePerLength
	case distance < d.Radius+d.Falloff:
		return float32(d.ImpulsePerLength * ((d.Radius + d.Falloff - distance) / d.Falloff))
	}
	return 0
}
