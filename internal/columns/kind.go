package columns

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"strconv"

	"github.com/evertick/evertick/internal/stagger"
	"github.com/evertick/evertick/internal/statehash"
)

// Kind is the type of the numbers in a column. The values are those that snapshots hold.
type Kind uint8

// The kinds of numbers that a column can have.
const (
	Int8 Kind = 1 + iota
	Int16
	Int32
	Int64
	Uint8
	Uint16
	Uint32
	Uint64
	Float32
	Float64
)

var (
	types = [...]reflect.Type{nil,
		reflect.TypeFor[int8](), reflect.TypeFor[int16](), reflect.TypeFor[int32](), reflect.TypeFor[int64](),
		reflect.TypeFor[uint8](), reflect.TypeFor[uint16](), reflect.TypeFor[uint32](), reflect.TypeFor[uint64](),
		reflect.TypeFor[float32](), reflect.TypeFor[float64]()}

	sizes = [256]uint8{0, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8}
)

// KindOf returns the kind of a number of type t, or 0 if no column can have this type.
func KindOf(t reflect.Type) Kind {
	for k, known := range types[1:] {
		if known.Kind() == t.Kind() {
			return Kind(k + 1)
		}
	}
	return 0
}

// String returns the Go type, as in "float32", or "?" for a kind that does not exist.
func (k Kind) String() string {
	if k.Size() == 0 {
		return "?"
	}
	return types[k].String()
}

// Size returns the bytes of a number, 0 for a kind that does not exist.
func (k Kind) Size() int { return int(sizes[k]) }

// IsFloat reports whether the numbers are IEEE 754 floats.
func (k Kind) IsFloat() bool { return k == Float32 || k == Float64 }

// IsSigned reports whether the numbers are integers with a sign, in two's complement.
func (k Kind) IsSigned() bool { return k >= Int8 && k <= Int64 }

// Bits returns the bits of the i-th number of b, which is in the byte order of the machine. All NaNs have the same bits here.
func (k Kind) Bits(b []byte, i int) uint64 {
	switch k.Size() {
	case 1:
		return uint64(b[i])
	case 2:
		return uint64(binary.NativeEndian.Uint16(b[2*i:]))
	case 4:
		v := binary.NativeEndian.Uint32(b[4*i:])
		if f := math.Float32frombits(v); k.IsFloat() && f != f {
			return 0x7fc00000
		}
		return uint64(v)
	}
	v := binary.NativeEndian.Uint64(b[8*i:])
	if f := math.Float64frombits(v); k.IsFloat() && f != f {
		return 0x7ff8000000000000
	}
	return v
}

// value returns the i-th number of b in its type.
func (k Kind) value(b []byte, i int) any {
	bits, v := k.Bits(b, i), reflect.New(types[k]).Elem()
	switch {
	case k == Float32:
		v.SetFloat(float64(math.Float32frombits(uint32(bits))))
	case k == Float64:
		v.SetFloat(math.Float64frombits(bits))
	case k.IsSigned():
		v.SetInt(int64(bits)) // keeps the low bits
	default:
		v.SetUint(bits)
	}
	return v.Interface()
}

// appendFloats appends all numbers of b.
func (k Kind) appendFloats(dst []float64, b []byte) []float64 {
	switch k {
	case Int8:
		return appendNumbers[int8](dst, b)
	case Int16:
		return appendNumbers[int16](dst, b)
	case Int32:
		return appendNumbers[int32](dst, b)
	case Int64:
		return appendNumbers[int64](dst, b)
	case Uint8:
		return appendNumbers[uint8](dst, b)
	case Uint16:
		return appendNumbers[uint16](dst, b)
	case Uint32:
		return appendNumbers[uint32](dst, b)
	case Uint64:
		return appendNumbers[uint64](dst, b)
	case Float32:
		return appendNumbers[float32](dst, b)
	}
	return appendNumbers[float64](dst, b)
}

func appendNumbers[T statehash.Number](dst []float64, b []byte) []float64 {
	for _, v := range stagger.View[T](b) {
		dst = append(dst, float64(v))
	}
	return dst
}

// AppendText appends the i-th number of b, which is in the byte order of the machine, in decimal: a
// float in the shortest form that identifies its value.
func (k Kind) AppendText(dst, b []byte, i int) []byte {
	v := k.Bits(b, i)
	switch {
	case k == Float32:
		return strconv.AppendFloat(dst, float64(math.Float32frombits(uint32(v))), 'g', -1, 32)
	case k == Float64:
		return strconv.AppendFloat(dst, math.Float64frombits(v), 'g', -1, 64)
	case k.IsSigned():
		unused := 64 - 8*k.Size()
		return strconv.AppendInt(dst, int64(v<<unused)>>unused, 10)
	}
	return strconv.AppendUint(dst, v, 10)
}

// Text returns a number in decimal and its bits in hexadecimal, "1 (0x3f800000)", and any other
// value in decimal alone.
func Text(number any) string {
	switch v := number.(type) {
	case int:
		return strconv.Itoa(v)
	case float32:
		return fmt.Sprintf("%v (%#08x)", v, math.Float32bits(v))
	case float64:
		return fmt.Sprintf("%v (%#016x)", v, math.Float64bits(v))
	}
	r := reflect.ValueOf(number)
	switch {
	case r.CanInt():
		return fmt.Sprintf("%d (%#x)", number, uint64(r.Int())&(1<<r.Type().Bits()-1))
	case r.CanUint():
		return fmt.Sprintf("%d (%#x)", number, r.Uint())
	}
	return fmt.Sprint(number)
}
