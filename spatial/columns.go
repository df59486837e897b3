package spatial

import (
	"math"
	"strings"
	"sync/atomic"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/native"
)

// Columns are points, indexed by slot. Slots lists the slots of the points, ascending. As
// for Index.Build, a nil Z is zero everywhere, and nil Slots are all rows.
type Columns struct {
	X, Y, Z []float32 // metres
	Slots   []uint32
	// Category is the argument of Index.SetCategories, or nil.
	Category []uint32
}

// Defaults for nil slices. All indexes share both columns and only read them; a longer
// one replaces a column that is too short.
var (
	zeros atomic.Pointer[[]float32] // for a nil z
	every atomic.Pointer[[]uint32]  // for nil slots: row i holds i
)

// planar returns z, or n zeros if it is nil.
func planar(z []float32, n int) []float32 {
	if z != nil {
		return z
	}
	return firstRows(&zeros, n, func(int) float32 { return 0 })
}

// rowsOf returns slots, or all n rows if it is nil. If n is too large, so is the
// last slot.
func rowsOf(slots []uint32, n int) []uint32 {
	if slots != nil {
		return slots
	}
	return firstRows(&every, min(n, native.MaxSlots+1), func(i int) uint32 { return uint32(i) })
}

func firstRows[T any](column *atomic.Pointer[[]T], n int, value func(i int) T) []T {
	if have := column.Load(); have != nil && len(*have) >= n {
		return (*have)[:n:n]
	}
	longer := make([]T, n+n/4)
	for i := range longer {
		longer[i] = value(i)
	}
	column.Store(&longer)
	return longer[:n:n]
}

// mustBeLong panics with message unless all columns have length n.
func mustBeLong(message string, n int, columns ...[]float32) {
	for _, c := range columns {
		if len(c) != n {
			panic(message)
		}
	}
}

// mustBeLongOrNil panics with message unless each filter is nil or has length n.
func mustBeLongOrNil(message string, n int, filters ...[]uint32) {
	for _, f := range filters {
		if f != nil && len(f) != n {
			panic(message)
		}
	}
}

// allFinite reports whether no value is NaN, infinite or below least.
func allFinite(least float32, columns ...[]float32) bool {
	for _, c := range columns {
		for _, v := range c {
			if !(least <= v && v <= math.MaxFloat32) {
				return false
			}
		}
	}
	return true
}

// anyValue as the least value allows all finite values.
const anyValue = -math.MaxFloat32

// firstFault returns the fault of the lowest row of a batch that has one: ErrNotFinite for
// its first column with a NaN or an infinity, or else what outOfRange returns. names are
// the names of the columns, separated by spaces.
func firstFault(names string, outOfRange func(i int) error, columns ...[]float32) error {
	for i := range columns[0] {
		for j, c := range columns {
			if !fault.Finite(c[i]) {
				return fault.Element(ErrNotFinite, "spatial: "+strings.Fields(names)[j], i, c[i])
			}
		}
		if err := outOfRange(i); err != nil {
			return err
		}
	}
	return nil
}

// negative returns a function that returns ErrRange for a row below zero.
func negative(name string, column []float32) func(i int) error {
	return func(i int) error {
		if column[i] < 0 {
			return fault.Element(ErrRange, "spatial: "+name, i, column[i])
		}
		return nil
	}
}
