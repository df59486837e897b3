package rigid3

import (
	"fmt"
	"testing"

	"github.com/evertick/evertick/internal/mesh"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// All levels find the same triangles of a mesh that may stop a shape, in memory that they must not leave.
func TestParityMeshSweep(t *testing.T) {
	run := paritytest.Start(t, "MeshSweep")
	g, out := &guardedSurface{}, paritytest.NewBuffer[uint32](t, maxSwept)
	var mem ImpactMemory
	some, crowded, left := 0, 0, 0
	for range paritytest.Sample(1000) {
		square := [...]float32{.05, .3, 2}[run.IntN(3)]
		grid := gridMesh(t, run.Rand, 1+run.IntN(24), square, .2, func(x, z float32) float32 { return square * run.Float32() })
		shape, m := randomShape(run.Rand), randomMotion(run.Rand, true)
		mem.shape.set(&shape, &testHulls)
		if len(mem.shape.whole.points) == 0 {
			continue
		}
		m.by = m.by.Times(run.Float64())
		mem.path.set(&mem.shape, &m)
		var frame pose64
		off := vec64{run.Float64() - .5, run.Float64() - .5, run.Float64() - .5}
		near := m.from.addTimes(m.by, run.Float64()).addTimes(off, 4*run.Float64())
		frame.set(&Pose{near.narrow(), randomQuat(run.Rand)}, &origin)
		mem.path.enter(&frame, mem.shape.middle(&testHulls))
		s := meshSweep{path: &mem.path, radius: float64(run.IntN(2)) * .01, twoSided: run.IntN(2) == 0}
		s.box, _ = mem.path.box(s.radius)
		for _, side := range paritytest.Sides {
			placed := g.place(t, SurfacePairs{Hulls: &Hulls{surfaces: []Surface{{Surface: grid}}}}, run, side)
			s.mesh = placed.Hulls.surfaces[0].Surface.(*mesh.Mesh)
			room := 1 + run.IntN(maxSwept)
			if run.IntN(2) == 0 {
				room = maxSwept
			}
			want := make([]uint32, room)
			n := s.findGo(want)
			for _, level := range native.Levels() {
				run.Case(level)
				got := out.Place(room, side, 0)
				found := kernelsOf(level).sweep(&s, got)
				if found != n {
					run.Check(fmt.Errorf("%d triangles, want %d", found, n))
				}
				run.Check(g.check(), out.Check(), paritytest.Bits("triangles", got[:max(n, 0)], want[:max(n, 0)]))
			}
			switch {
			case n < 0:
				crowded++
			case n > 0:
				some++
			case len(s.faces) > 0:
				left++
			}
		}
	}
	t.Logf("triangles in %d cases, too many in %d, none of those near in %d", some, crowded, left)
	if some == 0 {
		t.Error("no triangle was found")
	}
}
