package box2d

import (
	"fmt"
	"math"

	b2 "github.com/ByteArena/box2d"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/physics"
)

const (
	// weld is the distance under which the library merges vertices, half its
	// linear slop, and a nanometre against rounding. Merging may leave fewer
	// than three, on which it panics.
	weld = 0.5*b2.B2_linearSlop + 1e-9
	// minSegment is the length that the library asks of the links of a chain,
	// its only statement on how short an edge may be.
	minSegment = b2.B2_linearSlop
	// eccentricity bounds a shape's inertia about its own centre from below, as
	// a part of that about the origin of its body. The library subtracts mass
	// times distance squared and asserts that something is left. Inertias and
	// what is subtracted add up over the shapes of a body, so that a bound on
	// each shape is one on every set of them. The float64 arithmetic errs by
	// 1e-15 or so, fused or not: six digits of margin.
	eccentricity = 1e-9
	// remoteness bounds a polygon's area from below, as a part of the square of
	// its distance from the origin of its body. The library sums the area in
	// triangles from that origin, which grow with the square while their sum
	// does not, and asserts that it is positive. Margin as above.
	remoteness = 1e-12
)

func (e *engine) CreateCircle(shape, body int, d *physics.ShapeDef, circle physics.Circle) error {
	s := b2.NewB2CircleShape()
	s.M_p = vec(circle.Center)
	s.M_radius = float64(circle.Radius)
	return e.attach(shape, body, d, s)
}

func (e *engine) CreatePolygon(shape, body int, d *physics.ShapeDef, polygon physics.Polygon) error {
	vertices := make([]b2.B2Vec2, polygon.Count)
	for i := range vertices {
		vertices[i] = vec(polygon.Vertices[i])
	}
	if err := checkPolygon(vertices, &polygon); err != nil {
		return err
	}
	s := b2.NewB2PolygonShape()
	s.Set(vertices, len(vertices))
	return e.attach(shape, body, d, s)
}

func (e *engine) CreateSegment(shape, body int, d *physics.ShapeDef, segment physics.Segment) error {
	if length := b2.B2Vec2Distance(vec(segment.P1), vec(segment.P2)); length < minSegment {
		return fmt.Errorf("physics/box2d: Segment of length %v, at least %v is needed: %w",
			length, minSegment, physics.ErrRange)
	}
	s := b2.NewB2EdgeShape()
	s.Set(vec(segment.P1), vec(segment.P2))
	return e.attach(shape, body, d, s)
}

func (e *engine) CreateCapsule(_, _ int, _ *physics.ShapeDef, _ physics.Capsule) error {
	return fmt.Errorf("physics/box2d: Capsule: %w", physics.ErrUnsupported)
}

// checkPolygon refuses what B2PolygonShape.Set would weld or assert on. The
// polygon is convex and counter-clockwise already.
func checkPolygon(vertices []b2.B2Vec2, polygon *physics.Polygon) error {
	far := 0.0
	for i, v := range vertices {
		far = math.Max(far, v.LengthSquared())
		for _, u := range vertices[:i] {
			if b2.B2Vec2Distance(u, v) < weld {
				return fmt.Errorf("%w: closer than 2.5 mm to another vertex",
					fault.Element(physics.ErrRange, "physics/box2d: Polygon.Vertices", i, polygon.Vertices[i]))
			}
		}
	}
	area := 0.0
	for i := 2; i < len(vertices); i++ {
		triangle := b2.B2Vec2Cross(b2.B2Vec2Sub(vertices[i-1], vertices[0]), b2.B2Vec2Sub(vertices[i], vertices[0]))
		area += float64(0.5 * triangle)
	}
	if !(area > remoteness*far) {
		return tooEccentric("area", area)
	}
	return nil
}

func tooEccentric(what string, value float64) error {
	return fmt.Errorf("physics/box2d: Shape of %s %v is too small for its distance from the body's origin: %w",
		what, value, physics.ErrRange)
}

// attach gives a shape to a body, once nothing can go wrong any more.
func (e *engine) attach(shape, body int, d *physics.ShapeDef, s b2.B2ShapeInterface) error {
	if d.OneWay != [2]float32{} {
		return fault.Field(physics.ErrUnsupported, "physics/box2d: ShapeDef.OneWay", d.OneWay)
	}
	if d.Span != (physics.Span{}) {
		return fault.Field(physics.ErrUnsupported, "physics/box2d: ShapeDef.Span", d.Span)
	}
	b := e.bodies[body]
	def := b2.MakeB2FixtureDef()
	def.Shape = s
	def.Density = float64(d.Density)
	def.Friction = float64(d.Friction)
	def.Restitution = float64(d.Restitution)
	def.IsSensor = d.Sensor
	var err error
	if def.Filter, err = filter(&d.Filter); err != nil {
		return err
	}
	if d.Density > 0 && b.M_type == b2.B2BodyType.B2_dynamicBody {
		if err := e.checkMass(body, b, s, def.Density); err != nil {
			return err
		}
	}
	if shape == len(e.fixtures) {
		e.fixtures = append(e.fixtures, nil)
	}
	e.fixtures[shape] = b.CreateFixtureFromDef(&def)
	e.publish(body, b) // the centre of mass has moved, and its velocity with it
	return nil
}

// filter translates a filter. The library's own default is zero, with which
// nothing collides, so that every fixture must be given one.
func filter(f *physics.Filter) (b2.B2Filter, error) {
	out := b2.MakeB2Filter()
	if f.Category > math.MaxUint16 {
		return out, fmt.Errorf("physics/box2d: ShapeDef.Filter.Category = %#x, 16 bits are available: %w",
			f.Category, physics.ErrUnsupported)
	}
	if f.Group < math.MinInt16 || f.Group > math.MaxInt16 {
		return out, fault.Field(physics.ErrUnsupported, "physics/box2d: ShapeDef.Filter.Group", f.Group)
	}
	out.CategoryBits = uint16(f.Category)
	out.MaskBits = uint16(f.Mask) // the upper bits could match no category
	out.GroupIndex = int16(f.Group)
	return out, nil
}

// checkMass refuses a shape whose inertia the library would assert on, or that
// would move the centre of mass of a spinning body so that its velocity
// overflows.
func (e *engine) checkMass(body int, b *b2.B2Body, s b2.B2ShapeInterface, density float64) error {
	mass := b2.NewMassData()
	s.ComputeMass(mass, density)
	atOrigin := mass.I
	atCenter := atOrigin - float64(mass.Mass*b2.B2Vec2Dot(mass.Center, mass.Center))
	// An edge has neither mass nor inertia, and nothing is asked of it.
	if mass.Mass > 0 && !(atCenter > eccentricity*atOrigin) {
		return tooEccentric("inertia", atCenter)
	}
	return checkShift(body, b, mass.Center.Length())
}

// checkShift bounds the velocity that the body gets when shapes come or go: the
// centre of mass stays among the centres of the shapes, and its velocity
// changes by the angular velocity times the way that it goes.
func checkShift(body int, b *b2.B2Body, center float64) error {
	mass := b2.NewMassData()
	for f := b.M_fixtureList; f != nil; f = f.M_next {
		f.GetMassData(mass)
		center = math.Max(center, mass.Center.Length())
	}
	shift := float64(math.Abs(b.M_angularVelocity) * 2 * center)
	if fits(math.Abs(b.M_linearVelocity.X)+shift) && fits(math.Abs(b.M_linearVelocity.Y)+shift) {
		return nil
	}
	return velocityOverflow(body)
}

func (e *engine) DestroyShape(shape, body int) error {
	b := e.bodies[body]
	if err := checkShift(body, b, 0); err != nil {
		return err
	}
	b.DestroyFixture(e.fixtures[shape])
	e.fixtures[shape] = nil
	e.publish(body, b)
	return nil
}
