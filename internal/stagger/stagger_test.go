package stagger

import (
	"testing"
	"unsafe"
)

// Up to 64 columns laid at a stride start at different lines of a page, whatever
// their length, and do not overlap.
func TestStride(t *testing.T) {
	for _, n := range []int{1, 4, 63, 64, 65, 4000, 4031, 4032, 4033, 4095, 4096, 4097, 65536, 65537} {
		step := Stride(n)
		if step < n {
			t.Errorf("a stride of %d for %d bytes", step, n)
		}
		mem := Bytes(64*step, 3)
		seen := map[uintptr]bool{}
		for i := range 64 {
			column := View[uint32](mem[i*step : i*step+n])
			if len(column) != n/4 || cap(column) != n/4 {
				t.Fatalf("%d rows and room for %d in %d bytes", len(column), cap(column), n)
			}
			seen[uintptr(unsafe.Pointer(unsafe.SliceData(column)))%pageBytes] = true
		}
		if len(seen) != 64 || !seen[3*lineBytes] {
			t.Errorf("64 columns of %d bytes start at %d places of a page", n, len(seen))
		}
	}
}
