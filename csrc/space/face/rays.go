//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

package face

/*
#cgo noescape et_space_cast_rays
#cgo nocallback et_space_cast_rays
#cgo noescape et_space_cast_rays_all
#cgo nocallback et_space_cast_rays_all
#include "../rays.h"
*/
import "C"

// C structs that package internal/rigid3 packs, as it has types of the same layout.
type (
	Tree   = C.et_space_tree
	Ray    = C.et_space_ray
	RayHit = C.et_space_ray_hit
	Rays   = C.et_space_ray_batch
)

// Sizes of the C structs, in bytes.
const (
	NodeSize   = C.sizeof_et_space_node
	TargetSize = C.sizeof_et_space_target
	TreeSize   = C.sizeof_et_space_tree
	RaySize    = C.sizeof_et_space_ray
	RayHitSize = C.sizeof_et_space_ray_hit

	WaitingSize = C.sizeof_et_space_waiting
	RaysSize    = C.sizeof_et_space_ray_batch
)

// The functions, as rays.h describes them.

func CastRays(level int32, t *Tree, b *Rays) (done, waiting int) {
	var count C.int64_t
	done = int(C.et_space_cast_rays(C.int32_t(level), *t, *b, &count))
	return done, int(count)
}

func CastRaysAll(level int32, t *Tree, rays *Ray, ends []uint32, out *RayHit, fill, room int) int {
	return int(C.et_space_cast_rays_all(C.int32_t(level), *t, rays, C.int64_t(len(ends)), u32(ends), out, C.int64_t(fill), C.int64_t(room)))
}
