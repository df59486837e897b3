package netcode_test

import (
	"testing"

	"github.com/evertick/evertick/internal/stagger"
	"github.com/evertick/evertick/native"
)

// lengths are around every multiple of a vector, and around the chunks of a kernel.
func lengths() []int {
	var all []int
	for n := range 3*16 + 2 {
		all = append(all, n)
	}
	return append(all, 255, 256, 257, 1023, 1024, 1025)
}

func quat(c [][]float32) native.Quat { return native.Quat{X: c[0], Y: c[1], Z: c[2], W: c[3]} }

// staggered returns columns that a kernel reads without conflicts in the cache.
func staggered(columns, n int) [][]float32 {
	stride := stagger.Stride(4 * n)
	mem := stagger.Bytes(columns*stride, 0)
	all := make([][]float32, columns)
	for k := range all {
		all[k] = stagger.View[float32](mem[k*stride : k*stride+4*n : k*stride+4*n])
	}
	return all
}

func expectPanic(t *testing.T, want string, f func()) {
	t.Helper()
	defer func() {
		t.Helper()
		if got := recover(); got != want {
			t.Errorf("panic %v, want %q", got, want)
		}
	}()
	f()
}

func isNamed(bitmap []uint64, i int) bool { return bitmap[i/64]>>(i%64)&1 != 0 }

func panicOf(f func()) (got any) {
	defer func() { got = recover() }()
	f()
	return nil
}
