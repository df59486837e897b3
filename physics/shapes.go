package physics

import "github.com/evertick/evertick/internal/fault"

// CreateCircle attaches a circle to b. Errors: ErrStale; ErrNotFinite or
// ErrRange naming the field of def or circle; ErrUnsupported or ErrRange from
// the engine.
func (w *World) CreateCircle(b Body, def ShapeDef, circle Circle) (Shape, error) {
	return w.createShape(b, def, circle.geometry())
}

// CreatePolygon attaches a convex polygon to b. Errors are as for
// CreateCircle; a polygon that is not convex or has no area is ErrRange.
func (w *World) CreatePolygon(b Body, def ShapeDef, polygon Polygon) (Shape, error) {
	return w.createShape(b, def, polygon.geometry())
}

// CreateSegment attaches a segment to b. Errors are as for CreateCircle.
func (w *World) CreateSegment(b Body, def ShapeDef, segment Segment) (Shape, error) {
	return w.createShape(b, def, segment.geometry())
}

// CreateCapsule attaches a capsule to b. Errors are as for CreateCircle.
func (w *World) CreateCapsule(b Body, def ShapeDef, capsule Capsule) (Shape, error) {
	return w.createShape(b, def, capsule.geometry())
}

func (w *World) createShape(b Body, def ShapeDef, g geometry) (Shape, error) {
	body, err := w.mutableRow(b)
	if err != nil {
		return Shape{}, err
	}
	w.shapeDef = def
	if err := w.shapeDef.Validate(); err != nil {
		return Shape{}, err
	}
	shape, ok := w.shapes.IDs.Next()
	if !ok {
		return Shape{}, fault.Field(ErrCapacity, "physics: ShapeCount", w.ShapeCount())
	}
	if err := g.validate(); err != nil {
		return Shape{}, err
	}
	if err := w.engine.createShape(shape, body, &w.shapeDef, g); err != nil {
		return Shape{}, err
	}
	return Shape{uint32(shape), w.shapes.Add(shape, body, g.digest(&w.shapeDef))}, nil
}

// DestroyShape removes s from its body, whose mass changes. Errors: ErrStale;
// ErrUnsupported for a segment of a chain; and ErrRange if the velocity of the new centre of mass
// would overflow.
func (w *World) DestroyShape(s Shape) error {
	if w.failed != nil {
		return w.failed
	}
	if !w.ValidShape(s) {
		return fault.Field(ErrStale, "physics: Shape", s)
	}
	shape := int(s.index)
	if err := w.requireNotInChain("physics: DestroyShape", s); err != nil {
		return err
	}
	if err := w.engine.DestroyShape(shape, int(w.shapes.Owner[shape])); err != nil {
		return err
	}
	w.shapes.Release(shape)
	return nil
}

// ShapeDef returns the present definition of s. Errors: ErrStale, and
// ErrUnsupported from another engine.
func (w *World) ShapeDef(s Shape) (ShapeDef, error) {
	if err := w.requireSolverShape(s); err != nil {
		return ShapeDef{}, err
	}
	return w.solver.shapes.def(int(s.index)), nil
}

// SetShapeDef changes the material and the filter of s from the next step on; another density changes the
// mass of its body. Another OneWay judges the shapes that touch s anew, as if they began to touch it. Errors: ErrStale;
// those of ShapeDef.Validate; ErrRange as when a shape is created, and for OneWay in a chain; and ErrUnsupported from
// another engine, and for a change of Sensor.
func (w *World) SetShapeDef(s Shape, def ShapeDef) error {
	if err := w.requireSolverShape(s); err != nil {
		return err
	}
	if err := def.Validate(); err != nil {
		return err
	}
	t, i := &w.solver.shapes, int(s.index)
	if t.sensor[i] != def.Sensor {
		return fault.Field(ErrUnsupported, "physics: SetShapeDef: Sensor", def.Sensor)
	}
	if _, chained := t.chainOf(i); chained {
		if err := def.checkInChain("physics: ShapeDef"); err != nil {
			return err
		}
	}
	if err := w.solver.setMaterial(i, int(w.shapes.Owner[i]), &def); err != nil {
		return err
	}
	t.setFilter(i, def.Filter)
	if before := t.oneWayDef(i); before != def.OneWay && def.OneWay != [2]float32{} {
		w.solver.turnFace(uint32(i))
	}
	t.setOneWay(i, def.OneWay)
	t.setSpan(i, def.Span)
	t.user.Set(i, def.UserMaterial)
	w.shapes.Digest[i] = t.digest(i)
	return nil
}

func (w *World) requireSolverShape(s Shape) error {
	if w.failed != nil {
		return w.failed
	}
	if !w.ValidShape(s) {
		return fault.Field(ErrStale, "physics: Shape", s)
	}
	return w.engine.require()
}

// ShapeBody returns the body of s. ErrStale if s is destroyed.
func (w *World) ShapeBody(s Shape) (Body, error) {
	if !w.ValidShape(s) {
		return Body{}, fault.Field(ErrStale, "physics: Shape", s)
	}
	b, _ := w.BodyAt(int(w.shapes.Owner[s.index]))
	return b, nil
}
