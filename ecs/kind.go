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
	kindNames = [...]string{"?", "int8", "int16", "int32", "int64",
		"uint8", "uint16", "uint32", "uint64", "float32", "float64"}
	kindSizes = [256]uint8{0, 1, 2, 4, 8, 1, 2, 4, 8, 4, 8}
)

// String returns the Go type, or "?" for a kind that does not exist.
func (k kind) String() string {
	if int(k) >= len(kindNames) {
		return kindNames[0]
	}
	return kindNames[k]
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
	switch k := t.Kind(); k {
	case reflect.Float32:
		return kindFloat32, count
	case reflect.Float64:
		return kindFloat64, count
	case reflect.Int8, reflect.Int16, reflect.Int32, reflect.Int64:
		return kindInt8 + kind(k-reflect.Int8), count
	case reflect.Uint8, reflect.Uint16, reflect.Uint32, reflect.Uint64:
		return kindUint8 + kind(k-reflect.Uint8), count
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
	v := k.bits(b, i)
	switch k {
	case kindInt8:
		return int8(v)
	case kindInt16:
		return int16(v)
	case kindInt32:
		return int32(v)
	case kindInt64:
		return int64(v)
	case kindUint8:
		return uint8(v)
	case kindUint16:
		return uint16(v)
	case kindUint32:
		return uint32(v)
	case kindFloat32:
		return math.Float32frombits(uint32(v))
	case kindFloat64:
		return math.Float64frombits(v)
	}
	return v
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
