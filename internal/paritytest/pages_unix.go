//go:build darwin || dragonfly || freebsd || linux || netbsd || openbsd

package paritytest

import (
	"testing"

	"golang.org/x/sys/unix"
)

// GuardPages reports whether buffers lie between pages that cannot be touched.
const GuardPages = true

// reserve maps at least size bytes of memory between two forbidden pages.
func reserve(tb testing.TB, size int) ([]byte, error) {
	page := unix.Getpagesize()
	size = (size + page - 1) / page * page
	mem, err := unix.Mmap(-1, 0, size+2*page, unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE)
	if err != nil {
		return nil, err
	}
	tb.Cleanup(func() {
		if err := unix.Munmap(mem); err != nil {
			tb.Errorf("paritytest: munmap: %v", err)
		}
	})
	for _, guard := range [][]byte{mem[:page], mem[page+size:]} {
		if err := unix.Mprotect(guard, unix.PROT_NONE); err != nil {
			return nil, err
		}
	}
	return mem[page : page+size : page+size], nil
}
