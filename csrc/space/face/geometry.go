//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

package face

/*
#cgo noescape et_space_collide
#cgo nocallback et_space_collide
#cgo noescape et_space_bounds
#cgo nocallback et_space_bounds
#cgo noescape et_space_recycle
#cgo nocallback et_space_recycle
#include "../geometry.h"
*/
import "C"

import "unsafe"

// C structs that package internal/rigid3 packs, as it has types of the same layout.
type (
	Scene      = C.et_space_scene
	Collisions = C.et_space_collisions
	Recycling  = C.et_space_recycling
	Boxes      = C.et_space_boxes
)

// Sizes of the C structs, in bytes, and constants that Go has as well.
const (
	ShapeSize      = C.sizeof_et_space_shape
	HullSize       = C.sizeof_et_space_hull
	SceneSize      = C.sizeof_et_space_scene
	CollisionsSize = C.sizeof_et_space_collisions
	RecyclingSize  = C.sizeof_et_space_recycling
	BaseSize       = C.sizeof_et_space_base_manifold
	BoxesSize      = C.sizeof_et_space_boxes
	MaxVertices    = C.ET_SPACE_VERTICES
)

// The functions, as geometry.h describes them.

func Collide(level int32, s *Scene, c *Collisions) bool {
	return C.et_space_collide(C.int32_t(level), *s, *c) != 0
}

func Bounds(level int32, s *Scene, margin float32, out *Boxes) int {
	return int(C.et_space_bounds(C.int32_t(level), *s, C.float(margin), *out))
}

func Recycle(level int32, r *Recycling, pairs, contacts []uint32) int {
	return int(C.et_space_recycle(C.int32_t(level), *r, u32(pairs), u32(contacts), C.int64_t(len(pairs))))
}

func u32(s []uint32) *C.uint32_t { return (*C.uint32_t)(unsafe.SliceData(s)) }
