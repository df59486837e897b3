package ecs

import (
	"unsafe"

	"github.com/evertick/evertick/internal/statehash"
)

// bytesOf is rows as bytes in the order of the machine.
func bytesOf[T ~uint64](rows []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(rows))), 8*len(rows))
}

// bytesOfOne is a row of a column as bytes in the order of the machine.
func bytesOfOne[T any](row *T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(row)), unsafe.Sizeof(*row))
}

// copyLittle copies rows of size bytes each from little-endian order to that of
// the machine, or back: one is the inverse of the other and both are the same.
func copyLittle(dst, src []byte, size int) {
	n := copy(dst, src)
	statehash.Little(dst[:n], size)
}
