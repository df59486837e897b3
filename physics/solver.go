package physics

import (
	"fmt"
	"slices"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/stagger"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/native/rigid"
)

// solver is the engine of this package: it computes in the columns themselves, by the
// stages of package rigid. All that a step depends on is in the columns, the shapes
// and the contacts; the rest is room to work in.
type solver struct {
	cols  *Columns
	level native.Level

	shapes shapeColumns
	sys    rigid.System
	centre rigid.Poses // of the centres of mass; Cos and Sin are those of cols

	boxes     rigid.Boxes
	broad     rigid.Broad
	pairs     rigid.Pairs
	manifolds []rigid.Manifold
	contacts  []rigid.Contact // of the last step, ascending by A, then B
	next      []rigid.Contact // of the one that runs
	began     rigid.Pairs
	ended     rigid.Pairs
	ops       native.Ops

	rows int // of bodies ever used

	events Events
	bodies *pool       // of the World
	table  *shapeTable // of the World
	seen   []uint32    // generations of shapes in the last step, to which contacts belong
	own    []uint32    // what shapesOf returned
	trace  func(stage string)
}

// shapeColumns are what is known of shapes, an element per shape.
type shapeColumns struct {
	shape   []rigid.Shape // relative to the centre of mass; Count 0: no shape, or of a disabled body
	local   []rigid.Shape // in body coordinates
	density []float32
	sensor  []bool
	filters rigid.Filters
	rigid.Materials
}

func (s *solver) Open(cfg Config, cols *Columns) error {
	level, err := native.Resolve(cfg.Level)
	if err != nil {
		return err
	}
	s.cols, s.level = cols, level
	s.ops.Level = level
	s.sys.Params = rigid.Params{
		Gravity:  rigid.Vec{X: cfg.Gravity[0], Y: cfg.Gravity[1]},
		SubSteps: cfg.SubSteps,
	}
	n := cfg.Capacity
	work := [...]*[]float32{&s.centre.X, &s.centre.Y, &s.sys.Bodies.FreeX, &s.sys.Bodies.FreeY, &s.sys.Bodies.FreeW}
	step := stagger.Stride(4 * n)
	arena := stagger.Bytes(step*len(work), len(cols.floatColumns()))
	for i, c := range work {
		*c = stagger.View[float32](arena[i*step : i*step+4*n])
	}
	s.sys.States = make([]rigid.State, n)
	return nil
}

func (s *solver) CreateBody(i int, d *BodyDef) error {
	sin, cos := rigid.SinCos(d.Angle)
	if cos != cos {
		return fault.Field(ErrRange, "physics: BodyDef.Angle", d.Angle)
	}
	s.rows = max(s.rows, i+1)
	c := s.cols
	c.X[i], c.Y[i] = d.Position[0], d.Position[1]
	c.Cos[i], c.Sin[i], c.Angle[i] = cos, sin, rigid.Atan2(sin, cos)
	c.VX[i], c.VY[i], c.W[i] = d.LinearVelocity[0], d.LinearVelocity[1], d.AngularVelocity
	s.weigh(i, nil)
	return nil
}

// weigh computes mass, inertia and centre of mass of a body from its shapes, ascending,
// and moves the shapes to it.
func (s *solver) weigh(body int, shapes []uint32) {
	c, t := s.cols, &s.shapes
	var mass, inertia, x, y float64
	if c.Type[body] == DynamicBody {
		for _, i := range shapes {
			m := t.local[i].Mass()
			kg := float64(t.density[i]) * float64(m.Area)
			mass += kg
			x += float64(kg * float64(m.Centroid.X))
			y += float64(kg * float64(m.Centroid.Y))
		}
	}
	if mass > 0 {
		x, y = x/mass, y/mass
		for _, i := range shapes {
			m := t.local[i].Mass()
			dx, dy := float64(m.Centroid.X)-x, float64(m.Centroid.Y)-y
			inertia += float64(t.density[i]) * (float64(m.Inertia) + float64(float64(m.Area)*(float64(dx*dx)+float64(dy*dy))))
		}
	}
	s.setMass(body, float32(mass), float32(inertia), float32(x), float32(y))
	for _, i := range shapes {
		t.shape[i] = t.local[i].Moved(rigid.Vec{X: -c.CentreX[body], Y: -c.CentreY[body]}, 1, 0)
	}
}

// setMass sets the mass columns of a body. A dynamic body without mass weighs a
// kilogram, and does not turn. The velocity of a centre of mass that moves within a
// turning body changes accordingly.
func (s *solver) setMass(i int, mass, inertia, x, y float32) {
	c := s.cols
	dx, dy := s.turned(i, x-c.CentreX[i], y-c.CentreY[i])
	c.VX[i] -= float32(c.W[i] * dy)
	c.VY[i] += float32(c.W[i] * dx)
	c.CentreX[i], c.CentreY[i] = x, y
	c.InvMass[i], c.InvInertia[i] = 0, 0
	if c.Type[i] != DynamicBody {
		return
	}
	if mass <= 0 {
		mass = 1
	}
	c.InvMass[i] = 1 / mass
	if inertia > 0 && c.Flags[i]&FlagFixedRotation == 0 {
		c.InvInertia[i] = 1 / inertia
	}
}

// turned returns a vector in body coordinates in those of the world.
func (s *solver) turned(i int, x, y float32) (float32, float32) {
	cos, sin := s.cols.Cos[i], s.cols.Sin[i]
	return float32(cos*x) - float32(sin*y), float32(sin*x) + float32(cos*y)
}

func (s *solver) CreateCircle(shape, body int, def *ShapeDef, circle Circle) error {
	r, err := rigid.MakeCircle(vecOf(circle.Center), circle.Radius)
	return s.createShape(shape, body, def, r, err)
}

func (s *solver) CreateCapsule(shape, body int, def *ShapeDef, capsule Capsule) error {
	r, err := rigid.MakeCapsule(vecOf(capsule.P1), vecOf(capsule.P2), capsule.Radius)
	return s.createShape(shape, body, def, r, err)
}

func (s *solver) CreateSegment(shape, body int, def *ShapeDef, segment Segment) error {
	r, err := rigid.MakeSegment(vecOf(segment.P1), vecOf(segment.P2))
	return s.createShape(shape, body, def, r, err)
}

func (s *solver) CreatePolygon(shape, body int, def *ShapeDef, polygon Polygon) error {
	var corners [MaxPolygonVertices]rigid.Vec
	for i := range polygon.Count {
		corners[i] = vecOf(polygon.Vertices[i])
	}
	r, err := rigid.MakePolygon(corners[:polygon.Count], polygon.Radius)
	return s.createShape(shape, body, def, r, err)
}

func vecOf(v [2]float32) rigid.Vec { return rigid.Vec{X: v[0], Y: v[1]} }

func (s *solver) createShape(shape, body int, def *ShapeDef, r rigid.Shape, err error) error {
	if err != nil {
		return fmt.Errorf("physics: %w", err)
	}
	t := &s.shapes
	if shape == len(t.shape) {
		t.grow()
	}
	t.local[shape], t.density[shape], t.sensor[shape] = r, def.Density, def.Sensor
	t.filters.Body[shape], t.filters.Moves[shape] = uint32(body), s.cols.Type[body] != StaticBody
	t.filters.Category[shape], t.filters.Mask[shape], t.filters.Group[shape] = def.Filter.Category, def.Filter.Mask, def.Filter.Group
	t.Friction[shape], t.Restitution[shape] = def.Friction, def.Restitution
	t.RollingResistance[shape], t.TangentSpeed[shape] = float32(def.RollingResistance*r.Radius), def.TangentSpeed
	s.weigh(body, s.shapesOf(body, uint32(shape)))
	return nil
}

// grow makes room for one more shape.
func (t *shapeColumns) grow() {
	t.shape, t.local = append(t.shape, rigid.Shape{}), append(t.local, rigid.Shape{})
	t.density, t.sensor = append(t.density, 0), append(t.sensor, false)
	f := &t.filters
	f.Body, f.Moves = append(f.Body, 0), append(f.Moves, false)
	f.Category, f.Mask, f.Group = append(f.Category, 0), append(f.Mask, 0), append(f.Group, 0)
	t.Friction, t.Restitution = append(t.Friction, 0), append(t.Restitution, 0)
	t.RollingResistance, t.TangentSpeed = append(t.RollingResistance, 0), append(t.TangentSpeed, 0)
}

// shapesOf returns the shapes of a body, ascending, and one more that the table does
// not have yet.
func (s *solver) shapesOf(body int, more ...uint32) []uint32 {
	own := append(s.own[:0], more...)
	for link := s.table.head[body]; link != 0; link = s.table.next[link-1] {
		own = append(own, link-1)
	}
	slices.Sort(own)
	s.own = own
	return own
}

func (s *solver) DestroyBody(body int) {
	for _, i := range s.shapesOf(body) {
		s.remove(int(i))
	}
}

func (s *solver) DestroyShape(shape, body int) error {
	s.remove(shape)
	own := s.shapesOf(body)
	s.weigh(body, slices.DeleteFunc(own, func(i uint32) bool { return int(i) == shape }))
	return nil
}

// remove takes a shape out of the scene. The next step ends its contacts.
func (s *solver) remove(shape int) {
	s.shapes.shape[shape], s.shapes.local[shape] = rigid.Shape{}, rigid.Shape{}
}
