package physics

import (
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/rigid"
)

// ShapeKind returns the kind of s. Errors: ErrStale, and ErrUnsupported from another engine.
func (w *World) ShapeKind(s Shape) (ShapeKind, error) {
	if err := w.requireSolverShape(s); err != nil {
		return 0, err
	}
	return geometryOf(&w.solver.shapes.local[s.index]).kind, nil
}

// Circle returns the geometry of s, as it was given. Errors: ErrStale, and ErrUnsupported for a shape of another kind
// and from another engine.
func (w *World) Circle(s Shape) (Circle, error) {
	g, err := w.geometry(s, CircleShape)
	return g.circle(), err
}

// Capsule is Circle for a capsule.
func (w *World) Capsule(s Shape) (Capsule, error) {
	g, err := w.geometry(s, CapsuleShape)
	return g.capsule(), err
}

// Segment is Circle for a segment, also of a chain.
func (w *World) Segment(s Shape) (Segment, error) {
	g, err := w.geometry(s, SegmentShape)
	return g.segment(), err
}

// Polygon is Circle for a polygon. The vertices are in counter-clockwise order.
func (w *World) Polygon(s Shape) (Polygon, error) {
	g, err := w.geometry(s, PolygonShape)
	return g.polygon, err
}

// geometry returns the geometry of a shape of a kind.
func (w *World) geometry(s Shape, kind ShapeKind) (geometry, error) {
	if err := w.requireSolverShape(s); err != nil {
		return geometry{}, err
	}
	g := geometryOf(&w.solver.shapes.local[s.index])
	if g.kind != kind {
		return geometry{}, check.Because(fault.Field(ErrUnsupported, "physics: kind of shape", g.kind), "not "+kind.String())
	}
	return g, nil
}

// SetCircle gives s another geometry from the next step on; s may have been of any kind. The handle, the definition
// and the body stay the same. The mass of the body changes, unless SetMassData has set it. Two shapes that touched,
// and still do, have neither Begin nor End in Events, and their contact begins without the impulses of the last
// step. The body wakes, and so do the bodies that touch it or now touch s.
//
// Errors: ErrStale; those of CreateCircle; and ErrUnsupported for a segment of a chain and from another engine.
func (w *World) SetCircle(s Shape, circle Circle) error { return w.setGeometry(s, circle.geometry()) }

// SetCapsule is SetCircle for a capsule.
func (w *World) SetCapsule(s Shape, capsule Capsule) error {
	return w.setGeometry(s, capsule.geometry())
}

// SetSegment is SetCircle for a segment.
func (w *World) SetSegment(s Shape, segment Segment) error {
	return w.setGeometry(s, segment.geometry())
}

// SetPolygon is SetCircle for a polygon.
func (w *World) SetPolygon(s Shape, polygon Polygon) error {
	return w.setGeometry(s, polygon.geometry())
}

func (w *World) setGeometry(s Shape, g geometry) error {
	if err := w.requireSolverShape(s); err != nil {
		return err
	}
	if err := w.requireNotInChain("physics: geometry", s); err != nil {
		return err
	}
	r, err := g.checked()
	if err != nil {
		return err
	}
	i := int(s.index)
	if err := w.solver.setGeometry(i, int(w.shapes.Owner[i]), &r); err != nil {
		return err
	}
	w.shapes.Digest[i] = w.solver.shapes.digest(i)
	return nil
}

// checked returns the shape of g, or the faults of g.
func (g *geometry) checked() (rigid.Shape, error) {
	if err := g.validate(); err != nil {
		return rigid.Shape{}, err
	}
	return g.shape()
}

// setGeometry replaces the geometry of a shape of a body.
func (s *solver) setGeometry(shape, body int, r *rigid.Shape) error {
	t, own := &s.shapes, s.bodyShapes(body)
	before, mass := t.local[shape], t.mass[shape]
	t.local[shape], t.mass[shape] = *r, r.Mass()
	if s.cols.Type[body] == DynamicBody {
		if err := s.updateMass(body, own); err != nil {
			t.local[shape], t.mass[shape] = before, mass
			return err
		}
	} else {
		s.addToScene(body, shape)
		s.updateExtents(body, own)
	}
	t.RollingResistance[shape] = float32(t.rolling[shape] * r.Radius)
	s.forgetContacts(uint32(shape))
	s.sleep.WakeUnlessNew(body)
	return nil
}

// forgetContacts clears what the contacts of a shape keep from step to step, except that they touch.
func (s *solver) forgetContacts(shape uint32) {
	s.pairsKnown = false
	all := s.allContacts()
	for c := all.next(); c != nil; c = all.next() {
		if c.A == shape || c.B == shape {
			clearImpulses(c)
		}
	}
}

// clearImpulses zeroes the impulses of a contact, and has the next step collide its shapes anew.
func clearImpulses(c *rigid.Contact) {
	c.Flags &^= rigid.FlagBase
	c.RollingImpulse = 0
	for k := range c.Points {
		c.Points[k].Normal, c.Points[k].Tangent = 0, 0
	}
}

// SetCircle records another geometry of a shape, as World.SetCircle.
func (c *Commands) SetCircle(s Shape, circle Circle) { c.setGeometry(s, circle.geometry()) }

// SetCapsule is SetCircle for a capsule.
func (c *Commands) SetCapsule(s Shape, capsule Capsule) { c.setGeometry(s, capsule.geometry()) }

// SetSegment is SetCircle for a segment.
func (c *Commands) SetSegment(s Shape, segment Segment) { c.setGeometry(s, segment.geometry()) }

// SetPolygon is SetCircle for a polygon.
func (c *Commands) SetPolygon(s Shape, polygon Polygon) { c.setGeometry(s, polygon.geometry()) }

func (c *Commands) setGeometry(s Shape, g geometry) {
	c.add(command{kind: setGeometry, shape: s})
	c.geometries = append(c.geometries, g)
}

// setGeometry checks the next geometry of the list, for a shape.
func (r *dryRun) setGeometry(s Shape) error {
	if err := r.changeableShape("physics: geometry", s); err != nil {
		return err
	}
	r.newGeometries++
	_, err := r.now.geometries[r.newGeometries-1].checked()
	return err
}

// setGeometryOrInvalidate gives a shape a checked geometry, unless the creation of the shape has failed. If the body
// would become too heavy, the next step disables it.
func (w *World) setGeometryOrInvalidate(s Shape, g geometry) {
	if s == (Shape{}) {
		return
	}
	if err := w.setGeometry(s, g); err != nil {
		w.solver.invalidateMass(int(w.shapes.Owner[s.index]))
	}
}
