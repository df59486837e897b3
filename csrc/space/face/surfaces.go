//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

package face

/*
#cgo noescape et_space_collide_surface
#cgo nocallback et_space_collide_surface
#include "../surfaces.h"
*/
import "C"

// C structs that package internal/rigid3 packs, as it has types of the same layout.
type (
	Surface = C.et_space_surface
	Touches = C.et_space_touches
)

// Sizes of the C structs, in bytes, and constants that Go has as well.
const (
	BranchSize          = C.sizeof_et_space_branch
	TriangleSize        = C.sizeof_et_space_triangle
	FaceSize            = C.sizeof_et_space_face
	SurfaceManifoldSize = C.sizeof_et_space_surface_manifold
	SurfaceSize         = C.sizeof_et_space_surface
	TouchesSize         = C.sizeof_et_space_touches
	MaxManifolds        = C.ET_SPACE_MANIFOLDS
	Left                = C.ET_SPACE_LEFT
)

// CollideSurface is as surfaces.h describes it.
func CollideSurface(level int32, s *Scene, f *Surface, t *Touches) int {
	return int(C.et_space_collide_surface(C.int32_t(level), *s, *f, *t))
}
