package spatial

import (
	"syscall"
	"unsafe"
)

// hugeFrom is the size, in bytes, from which memory is better had in pages of
// 2 MB: rows that are copied here and there miss the TLB otherwise.
const hugeFrom = 8 << 20

// hugePages asks for large pages behind a slice that was made just now. It is a
// hint: nothing depends on whether the system follows it.
func hugePages[T float32 | uint32](s []T) {
	const page = 4096
	s = s[:cap(s)]
	mem := unsafe.Slice((*byte)(unsafe.Pointer(unsafe.SliceData(s))), 4*len(s))
	if len(mem) < hugeFrom {
		return
	}
	skip := -uintptr(unsafe.Pointer(unsafe.SliceData(s))) % page
	mem = mem[skip:]
	_ = syscall.Madvise(mem[:len(mem)&^(page-1)], syscall.MADV_HUGEPAGE)
}
