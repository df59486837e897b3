package replica

import (
	"encoding/binary"
	"math"
	"unicode/utf8"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/columns"
	"github.com/evertick/evertick/internal/wire"
	"github.com/zeebo/xxh3"
)

// Rotation is the name of the column that Planar and Quat send: the four components of World.Rotation.
const Rotation = "rotation"

const (
	mostLanes  = 8 // of a group
	mostGroups = 256
	mostTags   = 32
	mostName   = 255
	tagKind    = columns.Uint32
)

// Schema describes what a server sends of each entity.
type Schema struct {
	Groups []Group // public ones first
	Tags   []string
}

// Group is a set of fields that are sent together.
type Group struct {
	Owner     bool // sent only to the session that owns the entity
	Predicted bool // the differences are those to a linear prediction
	Fields    []Field
}

// Field is a column on the wire: see docs/replica-wire.md.
type Field struct {
	Name       string // of the column; empty for the tags
	Codec      CodecKind
	Kind       ecs.Kind
	Components uint8
	Bits       uint8   // of a lane; of a Quat, of all lanes but the first
	Step       float32 // of Quantised
}

// laneCount returns the number of lanes of the field.
func (f Field) laneCount() int {
	switch {
	case f.Codec == KindPlanar || f.Codec == KindTags:
		return 1
	case f.Codec == KindQuat:
		return 4
	case f.Codec == KindExact && f.Kind.Size() == 8:
		return 2 * int(f.Components)
	}
	return int(f.Components)
}

// laneBits returns the bits of a lane of the field.
func (f Field) laneBits(lane int) uint8 {
	if f.Codec == KindQuat && lane == 0 {
		return 2
	}
	return f.Bits
}

// laneCount returns the number of lanes of the group.
func (g Group) laneCount() (n int) {
	for _, f := range g.Fields {
		n += f.laneCount()
	}
	return n
}

// laneBits returns the bits of all lanes of the group. The others are 0.
func (g Group) laneBits() (bits [mostLanes]uint8) {
	n := 0
	for _, f := range g.Fields {
		for lane := range f.laneCount() {
			bits[n] = f.laneBits(lane)
			n++
		}
	}
	return bits
}

// Hash returns the hash of the schema, as a Hello may hold it.
func (s *Schema) Hash() uint64 { return xxh3.Hash(s.append(nil)) }

func (s *Schema) append(dst []byte) []byte {
	dst = binary.AppendUvarint(dst, uint64(len(s.Groups)))
	for _, g := range s.Groups {
		flags := byte(0)
		if g.Owner {
			flags |= 1
		}
		if g.Predicted {
			flags |= 2
		}
		dst = binary.AppendUvarint(append(dst, flags), uint64(len(g.Fields)))
		for _, f := range g.Fields {
			dst = appendText(dst, f.Name)
			dst = append(dst, byte(f.Codec), byte(f.Kind), f.Components, f.Bits)
			dst = wire.AppendF32s(dst, f.Step)
		}
	}
	dst = binary.AppendUvarint(dst, uint64(len(s.Tags)))
	for _, t := range s.Tags {
		dst = appendText(dst, t)
	}
	return dst
}

// readSchema reads a schema to the end of r.
func readSchema(r *wire.Reader) (s Schema) {
	for range r.Count(r.Canonical(0, mostGroups), mostGroups, 2) {
		flags := r.U8()
		g := Group{Owner: flags&1 != 0, Predicted: flags&2 != 0}
		previous := len(s.Groups) - 1
		if flags > 2 || previous >= 0 && s.Groups[previous].Owner && !g.Owner {
			r.Fail("flags of a group", flags)
		}
		for range r.Count(r.Canonical(1, mostLanes), mostLanes, 9) {
			g.Fields = append(g.Fields, readField(r))
		}
		if n := g.laneCount(); n > mostLanes {
			r.Fail("lanes of a group", n)
		}
		s.Groups = append(s.Groups, g)
	}
	for range r.Count(r.Canonical(0, mostTags), mostTags, 1) {
		s.Tags = append(s.Tags, readText(r, mostName))
	}
	if r.Done() != nil {
		return Schema{}
	}
	return s
}

func readField(r *wire.Reader) Field {
	f := Field{Name: readText(r, mostName), Codec: CodecKind(r.U8()), Kind: ecs.Kind(r.U8()), Components: r.U8(), Bits: r.U8(), Step: r.F32()}
	if !f.valid() {
		r.Fail("field", f.Name)
		return Field{}
	}
	return f
}

// valid reports whether a field is one that a Codec returns.
func (f Field) valid() bool {
	float32s := f.Kind.IsFloat() && f.Kind.Size() == 4
	if (f.Name == "") != (f.Codec == KindTags) || f.Codec != KindQuantised && math.Float32bits(f.Step) != 0 || f.Components == 0 || f.Kind.Size() == 0 || f.laneCount() > mostLanes {
		return false
	}
	switch f.Codec {
	case KindExact:
		return int(f.Bits) == min(8*f.Kind.Size(), 32)
	case KindQuantised:
		return float32s && f.Bits >= 2 && f.Bits <= defaultBits && f.Step > 0 && f.Step <= math.MaxFloat32
	case KindAngle:
		return float32s && f.Bits >= 2 && f.Bits <= mostAngleBits
	case KindPlanar, KindQuat:
		return float32s && f.Bits >= 2 && f.Bits <= mostAngleBits && f.Components == 4 && f.Name == Rotation
	case KindTags:
		return f.Kind == tagKind && f.Bits == 32 && f.Components == 1 && f.Name == ""
	}
	return false
}

func appendText(dst []byte, s string) []byte {
	return append(binary.AppendUvarint(dst, uint64(len(s))), s...)
}

func readText(r *wire.Reader, most int) string {
	s := string(r.Bytes(r.Count(r.Canonical(0, uint64(most)), most, 1)))
	if !utf8.ValidString(s) {
		r.Fail("text", s)
	}
	return s
}
