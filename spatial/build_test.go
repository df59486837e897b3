package spatial_test

import (
	"fmt"
	"slices"
	"testing"
	"unsafe"

	"github.com/evertick/evertick/internal/neighbours"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

// A set of any size, after any other, is sorted into the same bytes on every
// level, in blocks that begin at a cache line.
func TestParityIndexBytes(t *testing.T) {
	run := paritytest.Start(t, "Index, bytes")
	indexes := map[native.Level]*spatial.Index{}
	for _, level := range native.Levels() {
		ix, err := spatial.New(spatial.Config{CellSize: 2, Level: level})
		if err != nil {
			t.Fatal(err)
		}
		indexes[level] = ix
	}
	for range paritytest.Rounds(60) {
		s := paritytest.Families[run.IntN(len(paritytest.Families))].Draw(run, 1<<run.IntN(12), 0)
		x, y, z := s.Columns()
		var want *neighbours.Points
		for _, level := range native.Levels() {
			run.Case(level)
			ix := indexes[level]
			run.Check(ix.Build(x, y, z, s.Slots))
			p := spatial.PointsOf(ix)
			if want == nil {
				want = p
			}
			run.Check(paritytest.Bits("Start", p.Start, want.Start))
			if !slices.Equal(p.Blocks, want.Blocks) {
				run.Check(fmt.Errorf("scene %s: Blocks differ", s.Name))
			}
			if at := uintptr(unsafe.Pointer(unsafe.SliceData(p.Blocks))); at%64 != 0 {
				run.Check(fmt.Errorf("scene %s: Blocks at %#x", s.Name, at))
			}
		}
	}
}

// Enough points for the kernels: the error names the first fault.
func TestBadPointAmongMany(t *testing.T) {
	const n = 100
	for _, level := range native.Levels() {
		for at := range n {
			ix, err := spatial.New(spatial.Config{Level: level})
			if err != nil {
				t.Fatal(err)
			}
			x, y, z, slots := make([]float32, n+1), make([]float32, n+1), make([]float32, n+1), make([]uint32, n)
			for i := range slots {
				slots[i] = uint32(i)
				if i >= 50 {
					slots[i]++
				}
			}
			s := slots[at]
			y[s], z[s] = nan, inf
			mustBe(t, ix.Build(x, y, z, slots), spatial.ErrNotFinite, fmt.Sprintf("spatial: Build: y[%d] = NaN: not finite", s))
			y[s], z[n] = 0, inf
			want := fmt.Sprintf("spatial: Build: z[%d] = +Inf: not finite", s)
			mustBe(t, ix.Build(x, y, z, slots), spatial.ErrNotFinite, want)
			z[s], slots[at] = 0, n+1
			mustBe(t, ix.Build(x, y, z, slots), spatial.ErrRange, fmt.Sprintf("spatial: Build: slots[%d] = %d: out of range", at, n+1))
			if ix.Len() != 0 {
				t.Errorf("level %s: %d points after an error", level, ix.Len())
			}
		}
	}
}
