package physics3

import (
	"errors"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/handle"
)

// Shape is a handle to a shape of one world. The zero value is no shape. Destroying its body destroys a shape.
type Shape struct{ index, generation uint32 }

// Index returns the number of the shape; Events are in the order of these numbers. It is meaningful while the shape lives; later
// shapes reuse it.
func (s Shape) Index() int { return int(s.index) }

// Bits returns the handle as a number, for storage: see ShapeOfBits.
func (s Shape) Bits() uint64 { return uint64(s.generation)<<32 | uint64(s.index) }

// ShapeOfBits returns the handle whose Bits are b. Its shape need not live, nor ever have lived.
func ShapeOfBits(b uint64) Shape { return Shape{uint32(b), uint32(b >> 32)} }

// String returns "shape_<index>.<generation>", or "new shape <n>" for a shape that Commands will create.
func (s Shape) String() string { return handle.Name("shape", s.index, s.generation) }

// Filter selects the shapes with which a shape collides. Two shapes of the same non-zero group collide if the group is positive,
// and do not if it is negative. All others collide if the mask of each has a bit of the category of the other.
type Filter struct {
	// Category holds the bits of the categories of the shape.
	Category uint64
	// Mask holds the bits of the categories with which it collides.
	Mask uint64
	// Group overrides both; 0 is no group.
	Group int32
}

// ShapeDef describes the material of a shape to create. Start from DefaultShapeDef: the zero value is massless and collides with
// nothing.
type ShapeDef struct {
	// Density in kg/m³; not negative.
	Density float32
	// Friction is Coulomb's coefficient, usually in [0, 1]; up to 1e6. Config.FrictionMix combines those of two shapes.
	Friction float32
	// Restitution is the part of the approach speed that remains after a bounce, usually in [0, 1]; up to 1e6.
	// Config.RestitutionMix combines those of two shapes.
	Restitution float32
	// RollingResistance is the torque that slows rolling down, divided by the normal force and the radius of the shape, which is
	// the distance of its farthest point from its centre for a box or a hull; up to 1e6. Two shapes have the greater torque.
	RollingResistance float32
	// TwistResistance is the same for turning about the normal.
	TwistResistance float32
	// TangentVelocity is that of a conveyor belt on the surface, in body coordinates, in m/s; each number up to 1e6. Only the
	// part along the surface has an effect. Two shapes add theirs.
	TangentVelocity [3]float32
	// Filter selects the shapes with which it collides.
	Filter Filter
	// Sensor makes a shape that detects overlaps and never collides. It detects shapes that are no sensors, and fast bodies that pass within a
	// step. On a static body it does not detect those of static bodies: only calls move these, so a program that does can ask Overlaps.
	Sensor bool
	// UserMaterial is a number that the program chooses. 0: none.
	UserMaterial uint64
}

// DefaultShapeDef returns density 1 kg/m³, friction 0.6, no restitution, category 1, and a mask that collides with everything.
func DefaultShapeDef() ShapeDef {
	return ShapeDef{Density: 1, Friction: 0.6, Filter: Filter{Category: 1, Mask: ^uint64(0)}}
}

// Validate reports every fault of d at once. Errors wrap ErrNotFinite or ErrRange.
func (d *ShapeDef) Validate() error {
	err := errors.Join(
		check.Magnitude("physics3: ShapeDef.Density", d.Density),
		check.Coefficient("physics3: ShapeDef.Friction", d.Friction),
		check.Coefficient("physics3: ShapeDef.Restitution", d.Restitution),
		check.Coefficient("physics3: ShapeDef.RollingResistance", d.RollingResistance),
		check.Coefficient("physics3: ShapeDef.TwistResistance", d.TwistResistance),
		checkVector("physics3: ShapeDef.TangentVelocity", d.TangentVelocity),
	)
	for i, v := range d.TangentVelocity {
		if max(v, -v) > check.MaxCoefficient {
			err = errors.Join(err, fault.Element(ErrRange, "physics3: ShapeDef.TangentVelocity", i, v))
		}
	}
	return err
}
