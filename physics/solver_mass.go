package physics

import "github.com/evertick/evertick/internal/check"

// MassData is the mass of a body and how it is distributed.
type MassData struct {
	Mass    float32    // kg
	Inertia float32    // kg·m² about Center
	Center  [2]float32 // of mass, in body coordinates, in metres
}

// updateMass computes the mass of a body from its shapes, in ascending order, and moves the shapes to
// its centre of mass. If it returns an error it has changed nothing. Where the centre moves within a turning
// body, its velocity changes accordingly.
func (s *solver) updateMass(i int, shapes []uint32) error {
	m := s.computeMass(i, shapes)
	invMass, err := check.Inverse("physics: mass of the body", m.Mass)
	if err != nil {
		return err
	}
	invInertia, err := check.Inverse("physics: inertia of the body", m.Inertia)
	if err != nil {
		return err
	}
	c := s.cols
	dx, dy := s.rotate(i, m.Center[0]-c.CentreX[i], m.Center[1]-c.CentreY[i])
	vx, vy := c.VX[i]-float32(c.W[i]*dy), c.VY[i]+float32(c.W[i]*dx)
	if !s.setVelocity(i, vx, vy, c.W[i]) {
		return check.Overflow("physics: angular velocity of the body", c.W[i])
	}
	if bitsDiffer(c.CentreX[i], m.Center[0]) || bitsDiffer(c.CentreY[i], m.Center[1]) {
		c.CentreX[i], c.CentreY[i] = m.Center[0], m.Center[1]
		s.clearBases(uint32(i))
	}
	if c.Flags[i]&FlagDisabled == 0 {
		c.InvMass[i], c.InvInertia[i] = invMass, invInertia
	}
	for _, shape := range shapes {
		s.addToScene(i, int(shape))
	}
	s.updateExtents(i, shapes)
	s.updateJoints(i)
	s.storeInverseMass(i)
	return nil
}

// computeMass returns zero unless the body is dynamic. A dynamic body without mass gets one kilogram, and does not
// turn.
func (s *solver) computeMass(i int, shapes []uint32) MassData {
	c, t := s.cols, &s.shapes
	if c.Type[i] != DynamicBody {
		return MassData{}
	}
	if m, ok := s.massOverrides.Of(i); ok {
		if c.Flags[i]&FlagFixedRotation != 0 {
			m.Inertia = 0
		}
		return m
	}
	var mass, inertia, x, y float64
	for _, k := range shapes {
		kg := float64(float64(t.density[k]) * float64(t.mass[k].Area))
		mass += kg
		x += float64(kg * float64(t.mass[k].Centroid.X))
		y += float64(kg * float64(t.mass[k].Centroid.Y))
	}
	if float32(mass) == 0 {
		return MassData{Mass: 1}
	}
	x, y = x/mass, y/mass
	for _, k := range shapes {
		m := &t.mass[k]
		dx, dy := float64(m.Centroid.X)-x, float64(m.Centroid.Y)-y
		about := float64(m.Inertia) + float64(float64(m.Area)*(float64(dx*dx)+float64(dy*dy)))
		inertia += float64(float64(t.density[k]) * about)
	}
	if c.Flags[i]&FlagFixedRotation != 0 {
		inertia = 0
	}
	return MassData{float32(mass), float32(inertia), [2]float32{float32(x), float32(y)}}
}

// setType makes a body static, kinematic or dynamic.
func (s *solver) setType(i int, t BodyType) error {
	c := s.cols
	before := c.Type[i]
	c.Type[i] = t
	own := s.bodyShapes(i)
	if err := s.updateMass(i, own); err != nil {
		c.Type[i] = before
		return err
	}
	if t == StaticBody {
		c.VX[i], c.VY[i], c.W[i] = 0, 0, 0
	}
	if t != DynamicBody {
		c.ForceX[i], c.ForceY[i], c.Torque[i] = 0, 0, 0
	}
	for _, shape := range own {
		s.shapes.filters.Moves[shape] = t != StaticBody
	}
	s.sleep.WakeWithNeighbours(i)
	return nil
}

// setMaterial replaces the definition of a shape, except for its filter and Sensor.
func (s *solver) setMaterial(shape, body int, def *ShapeDef) error {
	t := &s.shapes
	before := t.density[shape]
	t.density[shape] = def.Density
	if s.cols.Type[body] == DynamicBody && before != def.Density {
		if err := s.updateMass(body, s.bodyShapes(body)); err != nil {
			t.density[shape] = before
			return err
		}
	}
	t.Friction[shape], t.Restitution[shape] = def.Friction, def.Restitution
	t.rolling[shape], t.TangentSpeed[shape] = def.RollingResistance, def.TangentSpeed
	t.RollingResistance[shape] = float32(def.RollingResistance * t.local[shape].Radius)
	s.pairsKnown = false // blocks hold the old ones
	s.sleep.WakeWithNeighbours(body)
	return nil
}

// digest returns the number that represents a shape in the state hash.
func (t *shapeColumns) digest(shape int) uint64 {
	def, g := t.def(shape), geometryOf(&t.local[shape])
	return g.digest(&def)
}
