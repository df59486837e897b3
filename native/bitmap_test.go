package native_test

import (
	"math"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// The functions of bitmaps do to each bit what their comments define, also where the result is one of the operands.
func TestBitmaps(t *testing.T) {
	run := paritytest.Start(t, "bitmaps")
	var slots []uint32
	for range paritytest.Rounds(300) {
		n := run.IntN(500)
		a, b := drawnBitmap(run, n), drawnBitmap(run, n)
		for name, c := range map[string]struct { // order-free: each is checked for itself
			of  func(to, a, b []uint64)
			bit func(a, b bool) bool
		}{
			"And":    {native.And, func(a, b bool) bool { return a && b }},
			"Or":     {native.Or, func(a, b bool) bool { return a || b }},
			"AndNot": {native.AndNot, func(a, b bool) bool { return a && !b }},
		} {
			got, one, other := make([]uint64, len(a)), slices.Clone(a), slices.Clone(b)
			c.of(got, a, b)
			c.of(one, one, b)
			c.of(other, a, other)
			for i := range 64 * len(a) {
				want := c.bit(isNamed(a, i), isNamed(b, i))
				if isNamed(got, i) != want || isNamed(one, i) != want || isNamed(other, i) != want {
					t.Fatalf("%s of %x and %x: bit %d of %x, %x, %x is not %t", name, a, b, i, got, one, other, want)
				}
			}
		}
		want := namedRows(a, 64*len(a))
		slots = native.RowsOf(slots, a)
		if native.CountRows(a) != len(want) || !slices.EqualFunc(slots, want, func(s uint32, i int) bool { return int(s) == i }) {
			t.Fatalf("%x names %d, of which there are %d, want %d", a, slots, native.CountRows(a), want)
		}
	}
}

func drawnBitmap(run *paritytest.Run, n int) []uint64 {
	for {
		if b := drawBitmap(run, n); b != nil {
			return b
		}
	}
}

func TestRowsOfKeepsMemory(t *testing.T) {
	if got := native.RowsOf(nil, nil); got == nil || len(got) != 0 {
		t.Errorf("the rows of nothing are %#v", got)
	}
	all, few := []uint64{math.MaxUint64, math.MaxUint64}, []uint64{0, 5}
	dst := native.RowsOf(nil, all)
	if got := native.RowsOf(dst[:0], few); !slices.Equal(got, []uint32{64, 66}) || &got[0] != &dst[0] {
		t.Errorf("%d, or in other memory", got)
	}
	if n := testing.AllocsPerRun(20, func() { dst = native.RowsOf(dst, all) }); n != 0 && !paritytest.Instrumented {
		t.Errorf("%g allocations", n)
	}
}

func TestBitmapMisuse(t *testing.T) {
	one, two := make([]uint64, 1), make([]uint64, 2)
	expectPanic(t, "native: And: bitmaps differ in length", func() { native.And(one, two, one) })
	expectPanic(t, "native: Or: bitmaps differ in length", func() { native.Or(one, one, two) })
	expectPanic(t, "native: AndNot: bitmaps differ in length", func() { native.AndNot(two, one, one) })
}
