//go:build cgo

package rigid

/*
#cgo noescape et_collide
#cgo nocallback et_collide
#include "collide.h"
*/
import "C"

import "unsafe"

// Sizes of the C structs of shapes and manifolds, in bytes.
const (
	ShapeSize    = C.sizeof_et_shape
	ManifoldSize = C.sizeof_et_manifold
)

// Collide finds the manifolds of pairs of shapes, as collide.h says of
// et_collide; shapes points at ShapeSize bytes each, out at ManifoldSize. It
// returns false if a shape or a body is not there.
func Collide(level int32, shapes unsafe.Pointer, bodyOf []uint32, x, y, cos, sin []float32, a, b []uint32, out unsafe.Pointer) bool {
	return C.et_collide(C.int32_t(level), (*C.et_shape)(shapes), u32(bodyOf), C.uint32_t(len(bodyOf)),
		f32(x), f32(y), f32(cos), f32(sin), C.uint32_t(len(x)), u32(a), u32(b), C.int64_t(len(a)), (*C.et_manifold)(out)) != 0
}
