package replica

import (
	"cmp"
	"math"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/internal/fault"
)

// Codec says how the values of a column become whole numbers on the wire: Exact, Quantised, Angle,
// Planar or Quat.
type Codec interface {
	// field returns the description of a column with this codec, or an error.
	field(c ecs.ColumnView) (Field, error)
}

// Exact sends the bits of any column. Floats that change are long: see Quantised.
type Exact struct{}

// Quantised sends a column of float32 as multiples of Step.
type Quantised struct {
	// Step is the distance of two values, in the unit of the column. A power of two is exact. 0: 1/256.
	Step float32
	// Bits of a value, 2 to 25: values saturate at ±(2^(Bits-1) - 1) steps. 0: 25.
	Bits uint8
}

// Angle sends a column of angles in radians, float32, in 2^Bits steps a turn. It wraps.
type Angle struct {
	Bits uint8 // 2 to 16; 0: 10
}

// Planar sends the column "rotation" as the angle about the normal of the plane of the Sim's bodies,
// in 2^Bits steps a turn.
type Planar struct {
	Bits uint8 // 2 to 16; 0: 10
}

// Quat sends the column "rotation" as the three smallest components, each of Bits, and the index of the
// fourth. A rotation and its negative, which turns the same way, are the same on the wire. What a client gets is within
// 141°/(2^(Bits-1) - 1) of a rotation of length 1: 0.07° with 12 bits. NaN in a component, and four zeros, become the
// identity. A rotation of another length becomes some rotation.
type Quat struct {
	Bits uint8 // 2 to 16; 0: 12
}

// CodecKind is a Codec in a Schema.
type CodecKind uint8

// The codecs of a Schema. KindTags is the codec of the tags, which are one lane.
const (
	KindExact CodecKind = 1 + iota
	KindQuantised
	KindAngle
	KindPlanar
	KindQuat
	KindTags
)

const (
	defaultStep      = 1.0 / 256
	defaultBits      = 25
	defaultAngleBits = 10
	defaultQuatBits  = 12 // within 0.07°, where 11 are not within 0.1°
	mostAngleBits    = 16
)

func (Exact) field(c ecs.ColumnView) (Field, error) {
	f := Field{Name: c.Name(), Codec: KindExact, Kind: c.Kind(), Components: uint8(min(c.Components(), math.MaxUint8)), Bits: uint8(min(8*c.Kind().Size(), 32))}
	if c.Components() > mostLanes || f.laneCount() > mostLanes {
		return f, fault.Field(fault.ErrUnsupported, "replica: Exact: lanes of "+c.Name(), c.Components())
	}
	return f, nil
}

func (q Quantised) field(c ecs.ColumnView) (Field, error) {
	if q.Step == 0 {
		q.Step = defaultStep
	}
	if q.Bits == 0 {
		q.Bits = defaultBits
	}
	if !(q.Step > 0) || q.Step > math.MaxFloat32 || 1/q.Step > math.MaxFloat32 {
		return Field{}, fault.Field(fault.ErrRange, "replica: Quantised.Step of "+c.Name(), q.Step)
	}
	if err := fault.Between("replica: Quantised.Bits of "+c.Name(), int(q.Bits), 2, defaultBits); err != nil {
		return Field{}, err
	}
	return floatField(c, KindQuantised, q.Bits, q.Step)
}

func (a Angle) field(c ecs.ColumnView) (Field, error) {
	bits := cmp.Or(a.Bits, defaultAngleBits)
	if err := checkAngleBits("replica: Angle.Bits of "+c.Name(), bits); err != nil {
		return Field{}, err
	}
	return floatField(c, KindAngle, bits, 0)
}

func (p Planar) field(c ecs.ColumnView) (Field, error) {
	return rotationField(c, "replica: Planar", KindPlanar, cmp.Or(p.Bits, defaultAngleBits))
}

func (q Quat) field(c ecs.ColumnView) (Field, error) {
	return rotationField(c, "replica: Quat", KindQuat, cmp.Or(q.Bits, defaultQuatBits))
}

// floatField describes a column of float32.
func floatField(c ecs.ColumnView, codec CodecKind, bits uint8, step float32) (Field, error) {
	if c.Kind() != columns.Float32 || c.Components() > mostLanes {
		return Field{}, fault.Field(fault.ErrUnsupported, "replica: codec for float32: kind of "+c.Name(), c.Kind())
	}
	return Field{Name: c.Name(), Codec: codec, Kind: c.Kind(), Components: uint8(c.Components()), Bits: bits, Step: step}, nil
}

// rotationField describes the column "rotation": c is its first component.
func rotationField(c ecs.ColumnView, name string, codec CodecKind, bits uint8) (Field, error) {
	if err := checkAngleBits(name+".Bits", bits); err != nil {
		return Field{}, err
	}
	return Field{Name: Rotation, Codec: codec, Kind: columns.Float32, Components: 4, Bits: bits}, nil
}

func checkAngleBits(name string, bits uint8) error {
	return fault.Between(name, int(bits), 2, mostAngleBits)
}
