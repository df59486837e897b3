package physics

import (
	"errors"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/handle"
)

// Shape is a handle to a shape of one world. The zero value is no shape. Destroying its
// body destroys a shape.
type Shape struct{ index, generation uint32 }

// Index returns the number of the shape; Events are in the order of these numbers. It is meaningful while
// the shape lives; later shapes reuse it.
func (s Shape) Index() int { return int(s.index) }

// Bits returns the handle as a number, for storage: see ShapeOfBits.
func (s Shape) Bits() uint64 { return uint64(s.generation)<<32 | uint64(s.index) }

// ShapeOfBits returns the handle whose Bits are b. Its shape need not live, nor
// ever have lived.
func ShapeOfBits(b uint64) Shape { return Shape{uint32(b), uint32(b >> 32)} }

// String returns "shape_<index>.<generation>", or "new shape <n>" for a shape that Commands will
// create.
func (s Shape) String() string { return handle.Name("shape", s.index, s.generation) }

// Filter selects the shapes with which a shape collides. Two shapes of the same non-zero
// group collide if the group is positive, and do not if it is negative. All others
// collide if the mask of each has a bit of the category of the other.
type Filter struct {
	// Category holds the bits of the categories of the shape.
	Category uint64
	// Mask holds the bits of the categories with which it collides.
	Mask uint64
	// Group overrides both; 0 is no group.
	Group int32
}

// ShapeDef describes the material of a shape to create. Start from
// DefaultShapeDef: the zero value is massless and collides with nothing.
type ShapeDef struct {
	// Density in kg/m²; not negative.
	Density float32
	// Friction is Coulomb's coefficient, usually in [0, 1]; up to 1e6.
	Friction float32
	// Restitution is the part of the approach speed that remains after a bounce,
	// usually in [0, 1]; up to 1e6.
	Restitution float32
	// RollingResistance is the torque that slows rolling down, divided by the normal
	// force and the radius of the shape; up to 1e6.
	RollingResistance float32
	// TangentSpeed in m/s is the speed of a conveyor belt around the shape, clockwise: on top of a
	// floor, a positive speed points along the first axis of the plane; up to 1e6.
	TangentSpeed float32
	// Filter selects the shapes with which it collides.
	Filter Filter
	// Sensor makes a shape that detects overlaps and never collides. It detects shapes of bodies of any type that are no
	// sensors, but on a static body not those of static bodies, which do not move to or from each other.
	Sensor bool
	// OneWay makes a one-way platform. The vector points to its front, in body coordinates, and has any length from
	// 1e-6 to 1e6. Zero: an ordinary shape. The platform stops shapes that come from the front: they begin to touch
	// it with a normal within 75° of the vector, and overlap by at most the distance that the two have closed in a
	// step plus a centimetre. All other shapes, behind, beside or inside, pass without Begin and End, until the two
	// no longer touch, or no longer overlap and one is in front. SetShapeDef with another OneWay judges shapes that touch
	// the platform as if they began to: those in front stay, the others end to touch it and pass. Sensors ignore OneWay.
	OneWay [2]float32
	// Span is the interval that the shape covers along the third axis. The shape touches only shapes whose span overlaps
	// this one, and only queries with such a span find it. Zero: the whole axis.
	Span Span
	// UserMaterial is a number that the program chooses. World.SetMaterialPair defines the contacts between two of these
	// numbers. 0: none.
	UserMaterial uint64
}

// DefaultShapeDef returns density 1 kg/m², friction 0.6, no restitution,
// category 1, and a mask that collides with everything.
func DefaultShapeDef() ShapeDef {
	return ShapeDef{Density: 1, Friction: 0.6, Filter: Filter{Category: 1, Mask: ^uint64(0)}}
}

// Validate reports every fault of d at once. Errors wrap ErrNotFinite or
// ErrRange.
func (d *ShapeDef) Validate() error {
	return errors.Join(
		check.NotNegative("physics: ShapeDef.Density", d.Density),
		check.Coefficient("physics: ShapeDef.Friction", d.Friction),
		check.Coefficient("physics: ShapeDef.Restitution", d.Restitution),
		check.Coefficient("physics: ShapeDef.RollingResistance", d.RollingResistance),
		check.Between("physics: ShapeDef.TangentSpeed", d.TangentSpeed, -check.MaxCoefficient, check.MaxCoefficient),
		checkOneWay(d.OneWay),
		d.Span.check("physics: ShapeDef.Span"),
	)
}

// Circle is a disc.
type Circle struct {
	// Center in body coordinates, in metres.
	Center [2]float32
	// Radius in metres; positive.
	Radius float32
}

func (c *Circle) validate() error {
	return errors.Join(
		check.Vector("physics: Circle.Center", c.Center[:]),
		check.Positive("physics: Circle.Radius", c.Radius),
	)
}

// Segment is a line that collides on both sides. It has no mass.
type Segment struct {
	// P1 and P2 are the ends in body coordinates, in metres; distinct.
	P1, P2 [2]float32
}

func (s *Segment) validate() error {
	return errors.Join(
		check.Vector("physics: Segment.P1", s.P1[:]),
		check.Vector("physics: Segment.P2", s.P2[:]),
		checkDistinct("physics: Segment.P2", s.P1, s.P2),
	)
}

// Capsule is a segment with a radius.
type Capsule struct {
	// P1 and P2 are the centres of the two ends in body coordinates, in
	// metres; distinct.
	P1, P2 [2]float32
	// Radius in metres; positive.
	Radius float32
}

func (c *Capsule) validate() error {
	return errors.Join(
		check.Vector("physics: Capsule.P1", c.P1[:]),
		check.Vector("physics: Capsule.P2", c.P2[:]),
		checkDistinct("physics: Capsule.P2", c.P1, c.P2),
		check.Positive("physics: Capsule.Radius", c.Radius),
	)
}

func checkDistinct(field string, p1, p2 [2]float32) error {
	if p1 == p2 {
		return check.Because(fault.Field(ErrRange, field, p2), "equals P1")
	}
	return nil
}
