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
