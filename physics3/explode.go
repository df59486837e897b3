package physics3

import (
	"errors"
	"math"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/rigid3"
)

// ExplosionDef describes an explosion.
type ExplosionDef struct {
	// Position of its centre in world coordinates, in metres.
	Position [3]float32
	// Radius in metres up to which it has its full strength, and Falloff, the further distance over which it fades to zero; not negative, up to 1e6.
	Radius, Falloff float32
	// ImpulsePerArea in N·s per square metre of surface; from -1e6 to 1e6. Negative: an implosion.
	ImpulsePerArea float32
	// Mask holds the categories of the shapes on which it acts.
	Mask uint64
}

// Validate reports every fault of d at once. Errors wrap ErrNotFinite or ErrRange.
func (d *ExplosionDef) Validate() error {
	return errors.Join(
		checkVector("physics3: ExplosionDef.Position", d.Position),
		check.Coefficient("physics3: ExplosionDef.Radius", d.Radius),
		check.Coefficient("physics3: ExplosionDef.Falloff", d.Falloff),
		check.Between("physics3: ExplosionDef.ImpulsePerArea", d.ImpulsePerArea, -check.MaxCoefficient, check.MaxCoefficient),
	)
}

// Explode applies impulses to the dynamic bodies around a point at once, and wakes them. Its pressure acts on each piece of the surface of their solid
// shapes that faces the centre, along the normal of the piece. A piece of area A with the outward normal n, whose middle is at the distance d from the
// centre in the direction u, gets the impulse
//
//	-n · A · max(0, -n·u) · ImpulsePerArea · f(d)
//
// where f is 1 up to Radius and falls linearly to 0 at Radius + Falloff. So the impulse on a box is proportional to its area as seen from the centre; an
// impulse off the centre of mass turns it, and pressure at an angle pushes it sideways. The face of a box is cut into 16 pieces, a triangle of the face of a hull
// into 4, and a capsule into 160. The radius of a box or a hull moves its faces outwards; round edges do not count. A ball of radius r gets 2π/3·r²·ImpulsePerArea·f away
// from the centre, with f at the distance of its surface. A closed shape around the centre gets no impulse, and obstacles do not shield.
//
// A body whose velocity would overflow keeps its velocity. Errors: those of ExplosionDef.Validate, and that which has stopped the world.
func (w *World) Explode(def ExplosionDef) error {
	if w.failed != nil {
		return w.failed
	}
	if err := def.Validate(); err != nil {
		return err
	}
	w.solver.explode(&def)
	return nil
}

// explode handles the shapes in ascending order.
func (s *solver) explode(d *ExplosionDef) {
	for shape := range s.shapes.local {
		if !s.affected(shape, d.Mask) {
			continue
		}
		i := int(s.shapes.filters.Body[shape])
		if p := s.explosionImpulse(i, shape, d); p != (wrench{}) {
			s.applyImpulse(i, p.push, p.turn)
		}
	}
}

// explosionImpulse returns the impulse of an explosion on a shape.
func (s *solver) explosionImpulse(body, shape int, d *ExplosionDef) (p wrench) {
	if r := &s.shapes.local[shape]; r.Kind == rigid3.KindSphere {
		at := s.middleOf(body, shape)
		if u, distance := d.from(at); distance > r.Radius {
			j := float32(float32(float32(2*math.Pi/3)*r.Radius)*r.Radius) * d.strength(distance-r.Radius)
			p.add(at.Sub(s.pose(body).P), u.Times(j))
		}
		return p
	}
	patches, centre := s.patchesOf(body, shape)
	for i := range patches {
		e := &patches[i]
		u, distance := d.from(e.At)
		if facing := -e.Normal.Dot(u); facing > 0 {
			p.add(e.At.Sub(centre), e.Normal.Times(-float32(float32(e.Area*facing)*d.strength(distance))))
		}
	}
	return p
}

// from returns the direction and the distance of a point from the centre; the direction is zero at the centre.
func (d *ExplosionDef) from(at rigid3.Vec) (u rigid3.Vec, distance float32) {
	r := at.Sub(vecOf(d.Position))
	if distance = lengthOf(r); !(distance > 0) {
		return rigid3.Vec{}, 0
	}
	return rigid3.Vec{X: r.X / distance, Y: r.Y / distance, Z: r.Z / distance}, distance
}

// strength returns the impulse per area at a distance.
func (d *ExplosionDef) strength(distance float32) float32 {
	switch {
	case distance <= d.Radius:
		return d.ImpulsePerArea
	case distance < d.Radius+d.Falloff:
		return float32(d.ImpulsePerArea * ((d.Radius + d.Falloff - distance) / d.Falloff))
	}
	return 0
}
