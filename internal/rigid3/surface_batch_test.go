package rigid3

import (
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/mesh"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/native"
)

// A kernel makes the same manifolds of a shape whichever other shapes it gets with it, and however little room there is for them.
func TestSurfaceBatches(t *testing.T) {
	run := paritytest.Start(t, "collide_surface")
	hulls := testHulls
	short, crowded := 0, 0
	for scenes := 0; scenes < 12; {
		s := newSurfaceParity(t, run, &hulls, 40)
		hulls.polytopes, hulls.flat, hulls.floats, hulls.indices = testHulls.polytopes, testHulls.flat, testHulls.floats, testHulls.indices
		surface := slices.IndexFunc(s.scene.Shapes, func(s Shape) bool { return s.Kind == KindSurface })
		m, ok := hulls.surface(s.scene.Shapes[surface].Hull).Surface.(*mesh.Mesh)
		if !ok {
			continue
		}
		scenes++
		p := &surfacePart{SurfacePairs: &s.scene, shape: uint32(surface), mesh: m}
		var shapes []uint32
		for i := range s.scene.Shapes {
			if s.scene.Shapes[i].Kind != KindSurface {
				shapes = append(shapes, uint32(i))
			}
		}
		for _, level := range native.Levels() {
			kernel := kernelsOf(level).surface
			if kernel == nil {
				continue
			}
			run.Case(level)
			counts := make([]uint8, len(shapes))
			all := make([]SurfaceManifold, MaxSurfaceManifolds*(len(shapes)+1))
			if n := kernel(p, shapes, counts, all); n != len(shapes) {
				t.Fatalf("%d of %d shapes", n, len(shapes))
			}
			room := MaxSurfaceManifolds + run.IntN(4)
			for from, made := 0, 0; from < len(shapes); {
				n := 1 + run.IntN(len(shapes)-from)
				got, out := make([]uint8, n), make([]SurfaceManifold, room)
				done := kernel(p, shapes[from:from+n], got, out)
				if done < 1 || done > n {
					t.Fatalf("%d of %d shapes with room for %d", done, n, room)
				}
				if done < n {
					short++
				}
				end := 0
				for _, c := range got[:done] {
					if c != surfaceLeft {
						end += int(c)
					} else {
						crowded++
					}
				}
				if !slices.Equal(got[:done], counts[from:from+done]) {
					t.Fatalf("%v manifolds, want %v", got[:done], counts[from:from+done])
				}
				run.Check(paritytest.Bits("manifolds", buffer.Words[uint32](out[:end]), buffer.Words[uint32](all[made:made+end])))
				from, made = from+done, made+end
			}
		}
	}
	if len(native.Levels()) > 1 && short == 0 {
		t.Error("there was always room")
	}
	t.Logf("%d times too little room, %d shapes left to Go", short, crowded)
}
