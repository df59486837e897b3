//go:build cgo

package rigid

/*
#cgo noescape et_rigid_ray_closest
#cgo nocallback et_rigid_ray_closest
#cgo noescape et_rigid_ray_all
#cgo nocallback et_rigid_ray_all
#include "query.h"
*/
import "C"

import "unsafe"

// Sizes of the C structs behind nodes, targets, rays and hits, in bytes.
const (
	NodeSize     = C.sizeof_et_node
	TargetSize   = C.sizeof_et_target
	QueryRaySize = C.sizeof_et_query_ray
	RayHitSize   = C.sizeof_et_ray_hit
)

// RigidRayClosest answers n rays, as query.h says of et_rigid_ray_closest; starts
// has one element more than there are levels.
func RigidRayClosest(level int32, nodes unsafe.Pointer, starts []uint32, at, rays unsafe.Pointer, n int, out unsafe.Pointer) {
	C.et_rigid_ray_closest(C.int32_t(level), (*C.et_node)(nodes), u32(starts), C.uint32_t(len(starts)-1),
		(*C.et_target)(at), (*C.et_query_ray)(rays), C.int64_t(n), (*C.et_ray_hit)(out))
}

// RigidRayAll answers as many rays as ends has elements, as query.h says of
// et_rigid_ray_all, with arguments as in RigidRayClosest.
func RigidRayAll(level int32, nodes unsafe.Pointer, starts []uint32, at, rays unsafe.Pointer, ends []uint32,
	out unsafe.Pointer, fill, room int) int {
	return int(C.et_rigid_ray_all(C.int32_t(level), (*C.et_node)(nodes), u32(starts), C.uint32_t(len(starts)-1),
		(*C.et_target)(at), (*C.et_query_ray)(rays), C.int64_t(len(ends)), u32(ends), (*C.et_ray_hit)(out),
		C.int64_t(fill), C.int64_t(room)))
}
