package native_test

import (
	"math"
	"testing"
	"unsafe"

	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// One value among many, at every place of short arrays and some of long ones.
func TestParityHasNaN(t *testing.T) {
	run := paritytest.Start(t, "HasNaN")
	const most = 1100
	values := []uint32{0, 1, 0x80000000, 0x7f800000, 0xff800000, 0x7f7fffff, 0xff7fffff, 0x3f800000, 0xffffffff,
		0x7f800001, 0xff800001, 0x7fc00000, 0xffc00000, 0x7fffffff, 0x7fbfffff}
	fills := []uint32{0, 0xff800000, 0x7f7fffff} // of which the second would show a carry into the lane beside it
	words := paritytest.NewBuffer[uint32](t, most)
	pairs := paritytest.NewBuffer[uint64](t, most)
	try := func(n, at int) {
		fill, v := fills[run.IntN(len(fills))], values[run.IntN(len(values))]
		for _, level := range native.Levels() {
			run.Case(level)
			side, gap := paritytest.Sides[run.IntN(2)], run.IntN(paritytest.MaxGap+1)
			x, y := words.Place(n, side, gap), pairs.Place(n, side, gap)
			for i := range x {
				x[i], y[i] = fill, math.Float64bits(float64(math.Float32frombits(fill)))
			}
			want := false
			if n > 0 {
				x[at] = v
				y[at] = double(v)
				want = v&0x7fffffff > 0x7f800000
			}
			want64 := n > 0 && y[at]&^(1<<63) > 0x7ff<<52
			got := native.HasNaN(level, unsafe.Slice((*float32)(unsafe.Pointer(unsafe.SliceData(x))), n))
			got64 := native.HasNaN64(level, unsafe.Slice((*float64)(unsafe.Pointer(unsafe.SliceData(y))), n))
			if got != want || got64 != want64 {
				t.Fatalf("level %s, %#x and %#x at %d of %d: %v and %v", level, v, y[max(0, min(at, n-1))], at, n, got, got64)
			}
			run.Check(words.Check(), pairs.Check())
		}
	}
	try(0, 0)
	for n := 1; n < 40; n++ {
		for at := range n {
			try(n, at)
		}
	}
	for range paritytest.Rounds(2000) {
		n := 1 + run.IntN(most)
		try(n, []int{0, n - 1, run.IntN(n)}[run.IntN(3)])
	}
}

// double makes a float64 of the bits of a float32: NaNs and infinities become such, with
// the payload in the lowest bits.
func double(v uint32) uint64 {
	d := uint64(v>>31)<<63 | uint64(v&0x007fffff)
	if v>>23&0xff == 0xff {
		return d | 0x7ff<<52
	}
	return d | uint64(v>>23&0xff)<<52
}

func BenchmarkHasNaN(b *testing.B) {
	x := make([]float32, 16384)
	for _, level := range native.Levels() {
		b.Run("level="+level.String(), func(b *testing.B) {
			b.SetBytes(int64(4 * len(x)))
			for b.Loop() {
				if native.HasNaN(level, x) {
					b.Fatal("found")
				}
			}
		})
	}
}
