//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

package face

/*
#cgo noescape et_shape_bounds
#cgo nocallback et_shape_bounds
#cgo noescape et_collide
#cgo nocallback et_collide
#cgo noescape et_cast_rays_closest
#cgo nocallback et_cast_rays_closest
#cgo noescape et_cast_rays_all
#cgo nocallback et_cast_rays_all
#include "../query.h"
*/
import "C"

import "unsafe"

// C structs that package internal/rigid fills from its types of the same layout.
type (
	Poses      = C.et_poses
	Boxes      = C.et_boxes
	QueryTree  = C.et_query_tree
	Collisions = C.et_collisions
)

// Sizes of the C structs, in bytes.
const (
	PosesSize      = C.sizeof_et_poses
	BoxesSize      = C.sizeof_et_boxes
	QueryTreeSize  = C.sizeof_et_query_tree
	ShapeSize      = C.sizeof_et_shape
	ManifoldSize   = C.sizeof_et_manifold
	CollisionsSize = C.sizeof_et_collisions
	NodeSize       = C.sizeof_et_node
	TargetSize     = C.sizeof_et_target
	QueryRaySize   = C.sizeof_et_query_ray
	RayHitSize     = C.sizeof_et_ray_hit
)

// Bounds computes the boxes of shapes, as et_shape_bounds describes. Here and below, shapes, manifolds, rays and hits
// are structs of the sizes above.
func Bounds(level int32, shapes unsafe.Pointer, bodyOf []uint32, p *Poses, bodies int, margin float32, out *Boxes) int {
	return int(C.et_shape_bounds(C.int32_t(level), (*C.et_shape)(shapes), u32(bodyOf), C.int64_t(len(bodyOf)), *p, C.int64_t(bodies),
		C.float(margin), *out))
}

// Collide computes the manifolds of pairs, as et_collide describes.
func Collide(level int32, shapes unsafe.Pointer, bodyOf []uint32, p *Poses, bodies int, c *Collisions) bool {
	return C.et_collide(C.int32_t(level), (*C.et_shape)(shapes), u32(bodyOf), C.uint32_t(len(bodyOf)), *p, C.uint32_t(bodies), *c) != 0
}

// CastRaysClosest casts n rays, as et_cast_rays_closest describes.
func CastRaysClosest(level int32, t *QueryTree, rays unsafe.Pointer, n int, out unsafe.Pointer) {
	C.et_cast_rays_closest(C.int32_t(level), *t, (*C.et_query_ray)(rays), C.int64_t(n), (*C.et_ray_hit)(out))
}

// CastRaysAll casts one ray for each element of ends, as et_cast_rays_all describes.
func CastRaysAll(level int32, t *QueryTree, rays unsafe.Pointer, ends []uint32, out unsafe.Pointer, fill, room int) int {
	return int(C.et_cast_rays_all(C.int32_t(level), *t, (*C.et_query_ray)(rays), C.int64_t(len(ends)), u32(ends),
		(*C.et_ray_hit)(out), C.int64_t(fill), C.int64_t(room)))
}
