package ecs

import (
	"encoding/binary"
	"fmt"
	"math"
	"reflect"
	"strconv"
)

// Number is what a column can hold: types without pointers and of the same
// width on every architecture, hence no int, uint or uintptr.
type Number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// kind is the type of a number in a column; the values are part of the snapshot format.
type kind uint8

const (
	kindInt8 kind = 1 + iota
	kindInt16
	kindInt32
	kindInt64
	kindUint8
	kindUint16
	kindUint32
	kindUint64
	kindFloat32
	kindFloat64
)

var (
	kindTypes = [...]reflect.Type{nil,
		reflect.TypeFor[int8](), reflect.TypeFor[int16](), reflect.TypeFor[int32](), reflect.TypeFor[int64](),
		reflect.TypeFor[uint8](), reflect.TypeFor[uint16](), reflect.TypeFor[uint32](), reflect.TypeFor[uint64](),
		reflect.TypeFor[float32](), reflect.TypeFor[float64]()}

	kindSizes = [256]uint8{0, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8}
)

// String returns the Go type, or "?" for a kind that does not exist.
func (k kind) String() string {
	if k.size() == 0 {
		return "?"
	}
	return kindTypes[k].String()
}

// size is the number of bytes of a number, 0 for a kind that does not exist.
func (k kind) size() int { return int(kindSizes[k]) }

func (k kind) isFloat() bool { return k == kindFloat32 || k == kindFloat64 }

// maxCount bounds the numbers in a row.
const maxCount = 1024

// kindOf returns the kind of the numbers in a row of type t and their count, or 0 if no
// column can have this type.
func kindOf(t reflect.Type) (kind, int) {
	count := 1
	if t.Kind() == reflect.Array {
		if count = t.Len(); count < 1 || count > maxCount {
			return 0, 0
		}
		t = t.Elem()
	}
	for k, known := range kindTypes[1:] {
		if known.Kind() == t.Kind() {
			return kind(k + 1), count
		}
	}
	return 0, 0
}

// typeName is the Go type of a row.
func typeName(k kind, count int) string {
	if count == 1 {
		return k.String()
	}
	return fmt.Sprintf("[%d]%v", count, k)
}

// bits returns the i-th number of b. All NaNs have the same bits here.
func (k kind) bits(b []byte, i int) uint64 {
	switch k.size() {
	case 1:
		return uint64(b[i])
	case 2:
		return uint64(binary.NativeEndian.Uint16(b[2*i:]))
	case 4:
		v := binary.NativeEndian.Uint32(b[4*i:])
		if f := math.Float32frombits(v); k.isFloat() && f != f {
			return 0x7fc00000
		}
		return uint64(v)
	}
	v := binary.NativeEndian.Uint64(b[8*i:])
	if f := math.Float64frombits(v); k.isFloat() && f != f {
		return 0x7ff8000000000000
	}
	return v
}

// number returns the i-th number of b.
func (k kind) number(b []byte, i int) any {
	bits, v := k.bits(b, i), reflect.New(kindTypes[k]).Elem()
	switch {
	case k == kindFloat32:
		v.SetFloat(float64(math.Float32frombits(uint32(bits))))
	case k == kindFloat64:
		v.SetFloat(math.Float64frombits(bits))
	case v.CanInt():
		v.SetInt(int64(bits)) // keeps the low bits
	default:
		v.SetUint(bits)
	}
	return v.Interface()
}

// append appends the i-th number of b as text.
func (k kind) append(dst, b []byte, i int) []byte {
	v := k.bits(b, i)
	switch k {
	case kindFloat32:
		return strconv.AppendFloat(dst, float64(math.Float32frombits(uint32(v))), 'g', -1, 32)
	case kindFloat64:
		return strconv.AppendFloat(dst, math.Float64frombits(v), 'g', -1, 64)
	case kindInt8, kindInt16, kindInt32, kindInt64:
		unused := 64 - 8*k.size()
		return strconv.AppendInt(dst, int64(v<<unused)>>unused, 10)
	}
	return strconv.AppendUint(dst, v, 10)
}
