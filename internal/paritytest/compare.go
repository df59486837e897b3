package paritytest

import (
	"bytes"
	"fmt"
	"math"
	"unsafe"
)

// Number is an element type of a column or of an argument of a kernel: four or eight bytes, without pointers.
type Number interface {
	~float32 | ~float64 | ~int32 | ~uint32 | ~int64 | ~uint64
}

// Bits returns nil if two slices have the same bits, and otherwise an error
// that names the first index at which they differ, with both values in hex.
func Bits[T Number](what string, got, want []T) error {
	if bytes.Equal(asBytes(got), asBytes(want)) {
		return nil
	}
	return firstDifference(what, got, want, func(a, b T) bool { return pattern(a) == pattern(b) })
}

// Floats is Bits, except that a NaN equals any NaN: the payload of a result depends on the order in which the
// compiler puts the operands.
func Floats(what string, got, want []float32) error {
	if bytes.Equal(asBytes(got), asBytes(want)) {
		return nil
	}
	return firstDifference(what, got, want, func(a, b float32) bool {
		return math.Float32bits(a) == math.Float32bits(b) || a != a && b != b
	})
}

func firstDifference[T Number](what string, got, want []T, same func(a, b T) bool) error {
	for i := range min(len(got), len(want)) {
		if !same(got[i], want[i]) {
			digits := 2 * int(unsafe.Sizeof(got[i]))
			return fmt.Errorf("%s[%d]: got %0*x (%v), want %0*x (%v)",
				what, i, digits, pattern(got[i]), got[i], digits, pattern(want[i]), want[i])
		}
	}
	if len(got) != len(want) {
		return fmt.Errorf("%s: got %d elements, want %d; the first %d agree", what, len(got), len(want), min(len(got), len(want)))
	}
	return nil
}

// pattern returns the bits of a number.
func pattern[T Number](v T) uint64 {
	if unsafe.Sizeof(v) == 4 {
		return uint64(*(*uint32)(unsafe.Pointer(&v)))
	}
	return *(*uint64)(unsafe.Pointer(&v))
}

func asBytes[T Number](s []T) []byte {
	if len(s) == 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), uintptr(len(s))*unsafe.Sizeof(s[0]))
}
