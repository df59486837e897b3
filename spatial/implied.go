package spatial

import (
	"sync/atomic"

	"github.com/evertick/evertick/native"
)

// What a nil slice stands for. Both columns are shared by all indexes, only read, and
// replaced by longer ones where they are too short.
var (
	zeros atomic.Pointer[[]float32] // of a plane: the third coordinate
	every atomic.Pointer[[]uint32]  // row i holds i
)

// planar returns z, or n zeros if it is nil.
func planar(z []float32, n int) []float32 {
	if z != nil {
		return z
	}
	return first(&zeros, n, func(int) float32 { return 0 })
}

// rowsOf returns slots, or those of all n rows if it is nil. There is one that is too
// large if n is.
func rowsOf(slots []uint32, n int) []uint32 {
	if slots != nil {
		return slots
	}
	return first(&every, min(n, native.MaxSlots+1), func(i int) uint32 { return uint32(i) })
}

func first[T any](column *atomic.Pointer[[]T], n int, value func(i int) T) []T {
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
