package physics3

import (
	"slices"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/rigid3"
)

// shapeColumns holds the data of shapes, one element per shape. The elements of an unused number are zero.
type shapeColumns struct {
	shape     []rigid3.Shape // relative to the centre of mass; Kind 0: no shape, or the body is disabled
	local     []rigid3.Shape // in body coordinates
	hull      []*Hull        // of local, for KindHull
	surface   []surface      // of local, for KindSurface
	surfaces  int            // number of these
	mass      []rigid3.Mass  // of local, at density 1
	density   []float32
	materials []rigid3.Material
	rolling   [][2]float32 // ShapeDef.RollingResistance and TwistResistance
	belt      [][3]float32 // ShapeDef.TangentVelocity
	belts     int          // number of shapes with one
	sensor    []bool
	sensors   int // number of sensors
	user      []uint64
	filters   broad.Filters // without spans, which each step takes from its boxes
	version   uint64        // counts changes of shape, filters and sensor
}

// createShape takes time in proportion to the number of shapes of a dynamic body, whose mass it updates, and constant time for any other
// body.
func (s *solver) createShape(shape, body int, def *ShapeDef, g geometry) error {
	t := &s.shapes
	s.contents.add(&g)
	t.put(shape, body, def, &g, g.Mass(&s.contents.Hulls))
	t.filters.Moves[shape] = s.cols.Type[body] != StaticBody
	if s.cols.Type[body] != DynamicBody {
		s.addToScene(body, shape)
		s.extend(body, shape)
	} else if err := s.updateMass(body, s.bodyShapes(body, uint32(shape))); err != nil {
		s.clearShape(shape)
		return err
	}
	s.sleep.WakeUnlessNew(body)
	return nil
}

// put fills the row of a new shape, except for what depends on its body.
func (t *shapeColumns) put(shape, body int, def *ShapeDef, g *geometry, mass rigid3.Mass) {
	t.reach(shape)
	t.local[shape], t.hull[shape], t.surface[shape], t.mass[shape] = g.Shape, g.hull, g.surface, mass
	if g.surface != nil {
		t.surfaces++
	}
	if t.sensor[shape] = def.Sensor; def.Sensor {
		t.sensors++
	}
	t.filters.Body[shape] = uint32(body)
	t.putDef(shape, def)
}

// putDef sets what SetShapeDef can change.
func (t *shapeColumns) putDef(shape int, def *ShapeDef) {
	t.density[shape], t.user[shape] = def.Density, def.UserMaterial
	t.rolling[shape] = [2]float32{def.RollingResistance, def.TwistResistance}
	t.setBelt(shape, def.TangentVelocity)
	radius := t.local[shape].Radius
	t.materials[shape] = rigid3.Material{
		Friction: def.Friction, Restitution: def.Restitution,
		RollingResistance: float32(def.RollingResistance * radius), TwistResistance: float32(def.TwistResistance * radius),
	}
	t.setFilter(shape, def.Filter)
}

func (t *shapeColumns) setFilter(shape int, f Filter) {
	t.version++
	t.filters.Category[shape], t.filters.Mask[shape], t.filters.Group[shape] = f.Category, f.Mask, f.Group
}

func (t *shapeColumns) setBelt(shape int, v [3]float32) {
	if t.belt[shape] != [3]float32{} {
		t.belts--
	}
	if t.belt[shape] = v; v != [3]float32{} {
		t.belts++
	}
}

// def returns the definition of a shape.
func (t *shapeColumns) def(shape int) ShapeDef {
	m := &t.materials[shape]
	return ShapeDef{
		Density: t.density[shape], Friction: m.Friction, Restitution: m.Restitution,
		RollingResistance: t.rolling[shape][0], TwistResistance: t.rolling[shape][1], TangentVelocity: t.belt[shape],
		Filter: Filter{t.filters.Category[shape], t.filters.Mask[shape], t.filters.Group[shape]},
		Sensor: t.sensor[shape], UserMaterial: t.user[shape],
	}
}

// geometry returns a shape in body coordinates.
func (t *shapeColumns) geometry(shape int) geometry {
	return geometry{t.local[shape], t.hull[shape], t.surface[shape]}
}

// digest returns the number that represents a shape in the state hash.
func (t *shapeColumns) digest(shape int) uint64 {
	def, g := t.def(shape), t.geometry(shape)
	return g.digest(&def)
}

// reach extends the columns up to a shape.
func (t *shapeColumns) reach(shape int) {
	for shape >= len(t.shape) {
		t.shape, t.local, t.mass = append(t.shape, rigid3.Shape{}), append(t.local, rigid3.Shape{}), append(t.mass, rigid3.Mass{})
		t.hull, t.density, t.materials = append(t.hull, nil), append(t.density, 0), append(t.materials, rigid3.Material{})
		t.surface = append(t.surface, nil)
		t.rolling, t.belt = append(t.rolling, [2]float32{}), append(t.belt, [3]float32{})
		t.sensor, t.user = append(t.sensor, false), append(t.user, 0)
		f := &t.filters
		f.Body, f.Moves = append(f.Body, 0), append(f.Moves, false)
		f.Category, f.Mask, f.Group = append(f.Category, 0), append(f.Mask, 0), append(f.Group, 0)
	}
}

// reset removes all shapes.
func (t *shapeColumns) reset() {
	t.version++
	clear(t.hull) // so that they can be freed
	clear(t.surface)
	t.surface, t.surfaces = t.surface[:0], 0
	t.shape, t.local, t.mass, t.hull, t.density, t.materials = t.shape[:0], t.local[:0], t.mass[:0], t.hull[:0], t.density[:0], t.materials[:0]
	t.rolling, t.belt, t.belts, t.sensor, t.sensors, t.user = t.rolling[:0], t.belt[:0], 0, t.sensor[:0], 0, t.user[:0]
	f := &t.filters
	f.Body, f.Moves = f.Body[:0], f.Moves[:0]
	f.Category, f.Mask, f.Group = f.Category[:0], f.Mask[:0], f.Group[:0]
}

// copyFrom copies all shapes of another world.
func (t *shapeColumns) copyFrom(src *shapeColumns) {
	t.reset()
	t.shape, t.local, t.mass = append(t.shape, src.shape...), append(t.local, src.local...), append(t.mass, src.mass...)
	t.surface, t.surfaces = append(t.surface, src.surface...), src.surfaces
	t.hull, t.density, t.materials = append(t.hull, src.hull...), append(t.density, src.density...), append(t.materials, src.materials...)
	t.rolling, t.belt, t.belts = append(t.rolling, src.rolling...), append(t.belt, src.belt...), src.belts
	t.sensor, t.sensors, t.user = append(t.sensor, src.sensor...), src.sensors, append(t.user, src.user...)
	f, g := &t.filters, &src.filters
	f.Body, f.Moves = append(f.Body, g.Body...), append(f.Moves, g.Moves...)
	f.Category, f.Mask, f.Group = append(f.Category, g.Category...), append(f.Mask, g.Mask...), append(f.Group, g.Group...)
}

// clearShape removes a shape from the scene. The next step ends its contacts.
func (s *solver) clearShape(shape int) {
	t := &s.shapes
	g := t.geometry(shape)
	if s.contents.remove(&g); g.surface != nil {
		t.surfaces--
	}
	if t.sensor[shape] {
		t.sensors--
	}
	t.shape[shape], t.local[shape], t.mass[shape] = rigid3.Shape{}, rigid3.Shape{}, rigid3.Mass{}
	t.hull[shape], t.surface[shape] = nil, nil
	t.filters.Body[shape], t.filters.Moves[shape], t.sensor[shape] = 0, false, false
	t.putDef(shape, &ShapeDef{})
}

// addToScene puts a shape into the scene, relative to its body, unless the body is disabled.
func (s *solver) addToScene(body, shape int) {
	if s.cols.Flags[body]&FlagDisabled == 0 {
		s.shapes.version++
		c := s.centre(body)
		s.shapes.shape[shape] = s.shapes.local[shape].Translated(rigid3.Vec{X: -c.X, Y: -c.Y, Z: -c.Z})
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

func (s *solver) destroyShape(shape, body int) error {
	own := s.bodyShapes(body)
	if err := s.updateMass(body, slices.DeleteFunc(own, func(i uint32) bool { return int(i) == shape })); err != nil {
		return err
	}
	s.clearShape(shape)
	s.sleep.WakeWithNeighbours(body)
	return nil
}

// setMaterial replaces the definition of a shape, except for Sensor.
func (s *solver) setMaterial(shape, body int, def *ShapeDef) error {
	t := &s.shapes
	before := t.density[shape]
	if before != def.Density {
		t.density[shape] = def.Density
		if err := s.updateMass(body, s.bodyShapes(body)); err != nil {
			t.density[shape] = before
			return err
		}
	}
	t.putDef(shape, def)
	s.pairsKnown = false // blocks hold the old one
	s.sleep.WakeWithNeighbours(body)
	return nil
}

// updateBelts turns the velocities of belts with their bodies.
func (s *solver) updateBelts() {
	t := &s.shapes
	if t.belts == 0 {
		return
	}
	for i, v := range t.belt {
		t.materials[i].TangentVelocity = rigid3.Vec{}
		if v != [3]float32{} {
			t.materials[i].TangentVelocity = s.poses[t.filters.Body[i]].Q.Rotate(vecOf(v))
		}
	}
}
