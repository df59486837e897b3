package ecs

import (
	"fmt"
	"reflect"

	"github.com/evertick/evertick/internal/columns"
)

// Number is what a column can hold: types without pointers and of the same
// width on every architecture, hence no int, uint or uintptr.
type Number interface {
	~int8 | ~int16 | ~int32 | ~int64 | ~uint8 | ~uint16 | ~uint32 | ~uint64 | ~float32 | ~float64
}

// Kind is the type of a number in a column. String returns the Go type, as in "float32", Size the
// bytes of a number; IsFloat and IsSigned say how to read these. The values are part of the snapshot
// format and never change.
type Kind = columns.Kind

// The kinds of numbers that a column can have.
const (
	KindInt8    = columns.Int8
	KindInt16   = columns.Int16
	KindInt32   = columns.Int32
	KindInt64   = columns.Int64
	KindUint8   = columns.Uint8
	KindUint16  = columns.Uint16
	KindUint32  = columns.Uint32
	KindUint64  = columns.Uint64
	KindFloat32 = columns.Float32
	KindFloat64 = columns.Float64
)

// maxCount bounds the numbers in a row.
const maxCount = 1024

// kindOf returns the kind of the numbers in a row of type t and their count, or 0 if no
// column can have this type.
func kindOf(t reflect.Type) (Kind, int) {
	count := 1
	if t.Kind() == reflect.Array {
		if count = t.Len(); count < 1 || count > maxCount {
			return 0, 0
		}
		t = t.Elem()
	}
	return columns.KindOf(t), count
}

// typeName is the Go type of a row.
func typeName(k Kind, count int) string {
	if count == 1 {
		return k.String()
	}
	return fmt.Sprintf("[%d]%v", count, k)
}
