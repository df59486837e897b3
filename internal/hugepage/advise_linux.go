package hugepage

import (
	"unsafe"

	"golang.org/x/sys/unix"
)

// Advise asks for huge pages in mem, which should not have been touched yet. It
// is only a hint: if the system refuses it, nothing changes.
func Advise(mem []byte) {
	if len(mem) < Least {
		return
	}
	from, to := within(uintptr(unsafe.Pointer(unsafe.SliceData(mem))), len(mem))
	_ = unix.Madvise(mem[from:to], unix.MADV_HUGEPAGE)
}
