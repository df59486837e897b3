//go:build cgo && !386 && !arm && !mips && !mipsle

package face

/*
#cgo noescape et_space_collide
#cgo nocallback et_space_collide
#include "../geometry.h"
*/
import "C"

// C structs that package internal/rigid3 packs, as it has types of the same layout.
type (
	Scene      = C.et_space_scene
	Collisions = C.et_space_collisions
)

// Sizes of the C structs, in bytes, and constants that Go has as well.
const (
	ShapeSize      = C.sizeof_et_space_shape
	HullSize       = C.sizeof_et_space_hull
	SceneSize      = C.sizeof_et_space_scene
	CollisionsSize = C.sizeof_et_space_collisions
	MaxVertices    = C.ET_SPACE_VERTICES
)

// Collide is et_space_collide, as geometry.h describes it.
func Collide(level int32, s *Scene, c *Collisions) bool {
	return C.et_space_collide(C.int32_t(level), *s, *c) != 0
}
