// Package stagger allocates columns that do not compete for the same sets of the
// L1 cache. Columns of a power-of-two length that start at equal offsets within a
// page do compete, and a kernel over sixteen of them then runs at a third of its
// speed.
package stagger

import "unsafe"

const (
	lineBytes = 64   // a cache line
	pageBytes = 4096 // the span of one way of an L1 cache: 64 sets of one line
)

// Bytes returns n zero bytes at an address that is line*64 modulo 4096, with no
// spare capacity. The garbage collector does not move heap objects, so they
// stay there.
func Bytes(n, line int) []byte {
	mem := make([]byte, n+pageBytes)
	at := int(uintptr(unsafe.Pointer(unsafe.SliceData(mem))) % pageBytes)
	skip := (line*lineBytes - at) & (pageBytes - 1)
	return mem[skip : skip+n : skip+n]
}

// Stride is the smallest distance, n bytes or more, that is one line modulo
// 4096: columns at this distance are staggered.
func Stride(n int) int {
	return (max(n, lineBytes)-lineBytes+pageBytes-1)/pageBytes*pageBytes + lineBytes
}

// View is mem as rows of another type, which has no pointers. mem is aligned to
// a cache line.
func View[T any](mem []byte) []T {
	var zero T
	n := len(mem) / int(unsafe.Sizeof(zero))
	return unsafe.Slice((*T)(unsafe.Pointer(unsafe.SliceData(mem))), n)
}
