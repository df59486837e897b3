package spatial

import (
	"unsafe"

	"github.com/evertick/evertick/internal/hugepage"
	"github.com/evertick/evertick/internal/stagger"
)

// aligned is resize for the large arrays of an index, which begin at the given
// line of 64 bytes within a page, and have huge pages where they can. Many indexes
// never grow: the first time there is no room left over.
func aligned[T any](s []T, n, line int) []T {
	if cap(s) < n {
		var zero T
		room := 0
		if cap(s) > 0 {
			room = n / 4
		}
		mem := stagger.Bytes((n+room)*int(unsafe.Sizeof(zero)), line)
		hugepage.Advise(mem)
		s = stagger.View[T](mem)
	}
	return s[:n]
}

// makeHuge is make for rows of results: many of them are copied here and there,
// and miss the TLB where pages are small.
func makeHuge[T float32 | uint32](n int) []T {
	s := make([]T, n)
	if n > 0 {
		hugepage.Advise(unsafe.Slice((*byte)(unsafe.Pointer(&s[0])), 4*n))
	}
	return s
}

// resizeHuge is resize with makeHuge.
func resizeHuge[T float32 | uint32](s []T, n int) []T {
	if cap(s) < n {
		s = makeHuge[T](n + n/4)
	}
	return s[:n]
}
