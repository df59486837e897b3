package hugepage

import (
	"bytes"
	"testing"
)

// For any length and alignment, Advise changes no memory and stays within it.
func TestAdvise(t *testing.T) {
	mem := bytes.Repeat([]byte{7}, 5*pageBytes)
	for _, n := range []int{0, 1, 4096, pageBytes, Least - 1, Least, Least + 1, len(mem) - 4096} {
		for _, from := range []int{0, 1, 64, 4095, 4096} {
			if from+n <= len(mem) {
				Advise(mem[from : from+n])
			}
		}
	}
	if !bytes.Equal(mem, bytes.Repeat([]byte{7}, len(mem))) {
		t.Error("Advise changes memory")
	}
}

func TestWithin(t *testing.T) {
	for _, at := range []uintptr{0, 64, 4096, pageBytes - 64, pageBytes, 3*pageBytes + 4096} {
		for _, n := range []int{Least, Least + 1, 2*Least - 1, 2 * Least} {
			from, to := within(at, n)
			begin, end := at+uintptr(from), at+uintptr(to)
			if begin%pageBytes != 0 || end%pageBytes != 0 || from < 0 || to > n || begin >= end {
				t.Errorf("of %d bytes at %#x: %d to %d", n, at, from, to)
			}
			if uintptr(from) >= pageBytes || n-to >= pageBytes {
				t.Errorf("of %d bytes at %#x only %d to %d", n, at, from, to)
			}
		}
	}
}
