//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

package rigid

import (
	"errors"
	"fmt"
	"testing"
	"unsafe"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// boundsGuards place what the kernel reads against guard pages.
type boundsGuards struct {
	shapes, bodyOf *paritytest.Buffer[uint32]
	pose           [4]*paritytest.Buffer[float32]
	side           paritytest.Side
}

func TestParityBoundsKernel(t *testing.T) {
	run := paritytest.Start(t, "BoundsKernel")
	g := &boundsGuards{shapes: paritytest.NewBuffer[uint32](t, 9000), bodyOf: paritytest.NewBuffer[uint32](t, 100)}
	for k := range g.pose {
		g.pose[k] = paritytest.NewBuffer[float32](t, 100)
	}
	for range paritytest.Rounds(200) {
		for _, level := range native.Levels() {
			if level != native.Go {
				run.Case(level)
				kernels := newKernels(int32(level-native.C), int32(level-native.C))
				run.Check(boundsOf(run, g, &kernels))
			}
		}
	}
}

// boundsOf compares the boxes of shapes that end, or begin, at a guard page.
func boundsOf(run *paritytest.Run, g *boundsGuards, kernels *kernels) error {
	g.side = paritytest.Sides[run.IntN(2)]
	n := 1 + run.IntN(40)
	const size = int(unsafe.Sizeof(Shape{})) / 4
	placed := g.shapes.PlaceCopy(make([]uint32, n*size), g.side, 0)
	shapes := unsafe.Slice((*Shape)(unsafe.Pointer(&placed[0])), n)
	bodyOf := g.bodyOf.PlaceCopy(make([]uint32, n), g.side, 0)
	for i := range shapes {
		s := &shapes[i]
		s.Count, s.Radius, bodyOf[i] = run.Uint32N(MaxVertices+1), run.Float32(), run.Uint32N(3)
		for k := range s.Vertices {
			s.Vertices[k] = Vec{run.Float32(), run.Float32()}
		}
		if s.Count > 0 && run.IntN(5) == 0 {
			s.Vertices[run.Uint32N(s.Count)].Y = run.Float(paritytest.AnyBits)
		}
	}
	if run.IntN(8) == 0 { // one is at fault
		bodyOf[run.IntN(n)] = 3
	}
	p := Poses{
		g.pose[0].PlaceCopy([]float32{0, 1, -2}, g.side, 0), g.pose[1].PlaceCopy([]float32{0, 5, 7}, g.side, 0),
		g.pose[2].PlaceCopy([]float32{1, 0, 0.6}, g.side, 0), g.pose[3].PlaceCopy([]float32{0, 1, 0.8}, g.side, 0),
	}
	want, got := make([][]float32, 4), make([][]float32, 4)
	for k := range want {
		want[k], got[k] = make([]float32, n), make([]float32, n)
	}
	done := boundsGo(shapes, bodyOf, p, 0.125, broad.Boxes{MinX: want[0], MinY: want[1], MaxX: want[2], MaxY: want[3]})
	if doneC := kernels.bounds(shapes, bodyOf, p, 0.125, broad.Boxes{MinX: got[0], MinY: got[1], MaxX: got[2], MaxY: got[3]}); doneC != done {
		return fmt.Errorf("bounds: %d shapes done, want %d", doneC, done)
	}
	if done == n {
		for k := range want {
			if err := paritytest.Bits("bounds", got[k], want[k]); err != nil {
				return err
			}
		}
	}
	for _, b := range g.pose {
		if err := b.Check(); err != nil {
			return err
		}
	}
	return errors.Join(g.shapes.Check(), g.bodyOf.Check())
}
