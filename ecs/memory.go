package ecs

import (
	"unsafe"

	"github.com/evertick/evertick/internal/statehash"
)

const (
	lineBytes = 64   // a cache line
	pageBytes = 4096 // the span of one way of an L1 cache: 64 sets of one line
)

// staggered returns n zero bytes at an address that is line*64 modulo 4096. The
// garbage collector does not move heap objects, so they stay there.
func staggered(n, line int) []byte {
	mem := make([]byte, n+pageBytes)
	at := int(uintptr(unsafe.Pointer(unsafe.SliceData(mem))) % pageBytes)
	skip := (line*lineBytes - at) & (pageBytes - 1)
	return mem[skip : skip+n : skip+n]
}

// stride is the smallest distance, n bytes or more, that is one line modulo
// 4096: columns laid at it one after another are staggered.
func stride(n int) int {
	return (max(n, lineBytes)-lineBytes+pageBytes-1)/pageBytes*pageBytes + lineBytes
}

// view is mem as rows of another type. The callers give memory without
// pointers, aligned to a cache line.
func view[T any](mem []byte) []T {
	var zero T
	n := len(mem) / int(unsafe.Sizeof(zero))
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(mem))), n)
}

// bytesOf is rows as bytes in the order of the machine.
func bytesOf[T ~uint64](rows []T) []byte {
	return unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(rows))), 8*len(rows))
}

// appendLittle appends rows of size bytes each, given in the order of the
// machine, in little-endian order.
func appendLittle(dst, rows []byte, size int) []byte {
	n := len(dst)
	dst = append(dst, rows...)
	statehash.Little(dst[n:], size)
	return dst
}

// copyLittle copies rows of size bytes each from little-endian order to that of
// the machine, or back: one is the inverse of the other and both are the same.
func copyLittle(dst, src []byte, size int) {
	n := copy(dst, src)
	statehash.Little(dst[:n], size)
}
