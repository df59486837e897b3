package physics

import (
	"slices"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/material"
	"github.com/evertick/evertick/internal/rigid"
)

// shapeColumns holds the data of shapes, one element per shape. The elements of an unused number are zero.
type shapeColumns struct {
	shape   []rigid.Shape // relative to the centre of mass; Count 0: no shape, or the body is disabled
	local   []rigid.Shape // in body coordinates
	mass    []rigid.Mass  // of local, at density 1
	density []float32
	rolling []float32 // ShapeDef.RollingResistance
	sensor  []bool
	sensors int // number of sensors
	filters broad.Filters
	spans   int    // number of shapes with a span; 0: filters has none
	version uint64 // counts changes that queries must see: of shape, filters and sensor
	shifted uint64 // counts changes of spans
	rigid.Materials

	// These columns end at the last shape that needs them.
	smooth  []rigid.ChainSegment
	chained int // number of segments of chains
	oneWay  []oneWay
	oneWays int            // number of platforms
	user    material.Users // ShapeDef.UserMaterial
}

// createShape takes time in proportion to the number of shapes of a dynamic body, whose mass it updates, and
// constant time for any other body.
func (s *solver) createShape(shape, body int, def *ShapeDef, g geometry) error {
	r, err := g.shape()
	if err != nil {
		return err
	}
	t := &s.shapes
	t.put(shape, body, def, &r)
	t.filters.Moves[shape] = s.cols.Type[body] != StaticBody
	if s.cols.Type[body] == DynamicBody {
		err = s.updateMass(body, s.bodyShapes(body, uint32(shape)))
	} else {
		s.addToScene(body, shape)
		s.extend(body, uint32(shape))
	}
	if err != nil {
		t.clear(shape)
		return err
	}
	s.sleep.WakeUnlessNew(body)
	return nil
}

// put fills the row of a new shape, except for what depends on its body.
func (t *shapeColumns) put(shape, body int, def *ShapeDef, r *rigid.Shape) {
	t.reach(shape)
	t.local[shape], t.mass[shape] = *r, r.Mass()
	t.density[shape], t.rolling[shape] = def.Density, def.RollingResistance
	if t.sensor[shape] = def.Sensor; def.Sensor {
		t.sensors++
	}
	t.filters.Body[shape] = uint32(body)
	t.setFilter(shape, def.Filter)
	t.setOneWay(shape, def.OneWay)
	t.setSpan(shape, def.Span)
	t.user.Set(shape, def.UserMaterial)
	t.Friction[shape], t.Restitution[shape] = def.Friction, def.Restitution
	t.RollingResistance[shape], t.TangentSpeed[shape] = float32(def.RollingResistance*r.Radius), def.TangentSpeed
}

func (t *shapeColumns) setFilter(shape int, f Filter) {
	t.version++
	t.filters.Category[shape], t.filters.Mask[shape], t.filters.Group[shape] = f.Category, f.Mask, f.Group
}

// def returns the definition of a shape.
func (t *shapeColumns) def(shape int) ShapeDef {
	return ShapeDef{
		Density: t.density[shape], Friction: t.Friction[shape], Restitution: t.Restitution[shape],
		RollingResistance: t.rolling[shape], TangentSpeed: t.TangentSpeed[shape],
		Filter: Filter{t.filters.Category[shape], t.filters.Mask[shape], t.filters.Group[shape]},
		Sensor: t.sensor[shape], OneWay: t.oneWayDef(shape), Span: t.span(shape), UserMaterial: t.user.Of(shape),
	}
}

// reach extends the columns up to a shape.
func (t *shapeColumns) reach(shape int) {
	for shape >= len(t.shape) {
		t.shape, t.local, t.mass = append(t.shape, rigid.Shape{}), append(t.local, rigid.Shape{}), append(t.mass, rigid.Mass{})
		t.sensor = append(t.sensor, false)
		for _, column := range t.floats() {
			*column = append(*column, 0)
		}
		f := &t.filters
		f.Body, f.Moves = append(f.Body, 0), append(f.Moves, false)
		f.Category, f.Mask, f.Group = append(f.Category, 0), append(f.Mask, 0), append(f.Group, 0)
		if t.spans > 0 {
			f.SpanMin, f.SpanMax = append(f.SpanMin, minusInf), append(f.SpanMax, plusInf)
		}
	}
}

// reset removes all shapes.
func (t *shapeColumns) reset() {
	t.version++
	t.shape, t.local, t.mass, t.sensor, t.sensors = t.shape[:0], t.local[:0], t.mass[:0], t.sensor[:0], 0
	for _, column := range t.floats() {
		*column = (*column)[:0]
	}
	f := &t.filters
	f.Body, f.Moves = f.Body[:0], f.Moves[:0]
	f.Category, f.Mask, f.Group = f.Category[:0], f.Mask[:0], f.Group[:0]
	f.SpanMin, f.SpanMax, t.spans = f.SpanMin[:0], f.SpanMax[:0], 0
	t.smooth, t.chained, t.oneWay, t.oneWays, t.user = t.smooth[:0], 0, t.oneWay[:0], 0, t.user[:0]
}

// clear removes a shape from the scene. The next step ends its contacts.
func (t *shapeColumns) clear(shape int) {
	if t.sensor[shape] {
		t.sensors--
	}
	t.shape[shape], t.local[shape], t.mass[shape] = rigid.Shape{}, rigid.Shape{}, rigid.Mass{}
	t.density[shape], t.rolling[shape], t.sensor[shape] = 0, 0, false
	t.filters.Body[shape], t.filters.Moves[shape] = 0, false
	t.setFilter(shape, Filter{})
	t.setSmooth(shape, rigid.ChainSegment{})
	t.setOneWay(shape, [2]float32{})
	t.setSpan(shape, Span{})
	t.user.Set(shape, 0)
	t.Friction[shape], t.Restitution[shape], t.RollingResistance[shape], t.TangentSpeed[shape] = 0, 0, 0, 0
}

// addToScene puts a shape into the scene, relative to its body, unless the body is disabled.
func (s *solver) addToScene(body, shape int) {
	c, t := s.cols, &s.shapes
	if c.Flags[body]&FlagDisabled == 0 {
		t.version++
		t.shape[shape] = t.local[shape].Transformed(rigid.Vec{X: -c.CentreX[body], Y: -c.CentreY[body]}, 1, 0)
	}
}

// bodyShapes returns the shapes of a body and more, in ascending order. The slice is valid until the next call.
func (s *solver) bodyShapes(body int, more ...uint32) []uint32 {
	own := s.ownShapes[:0]
	for shape := range s.shapeTable.Of(body) {
		own = append(own, uint32(shape))
	}
	own = append(own, more...)
	slices.Sort(own)
	s.ownShapes = own
	return own
}

func (s *solver) DestroyShape(shape, body int) error {
	if s.cols.Type[body] == DynamicBody {
		own := s.bodyShapes(body)
		if err := s.updateMass(body, slices.DeleteFunc(own, func(i uint32) bool { return int(i) == shape })); err != nil {
			return err
		}
	}
	s.shapes.clear(shape)
	if s.cols.Type[body] == KinematicBody {
		s.updateExtents(body, s.bodyShapes(body))
	}
	s.sleep.WakeWithNeighbours(body)
	return nil
}
