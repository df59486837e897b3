//go:build cgo

package csrc

/*
#cgo noescape et_count
#cgo nocallback et_count
#cgo noescape et_overlap
#cgo nocallback et_overlap
#cgo noescape et_ray_closest
#cgo nocallback et_ray_closest
#cgo noescape et_ray_all
#cgo nocallback et_ray_all
#include "shapes.h"
*/
import "C"

import "unsafe"

// Count counts for n queries, as shapes.h says of et_count. Nil slices of
// category, live, exclude and mask are passed as NULL.
func Count(level int32, grid unsafe.Pointer, start []uint32, blocks unsafe.Pointer, category []uint32, live []uint16,
	qx, qy, qz, qr []float32, exclude, mask, counts []uint32) int {
	return int(C.et_count(C.int32_t(level), (*C.et_grid)(grid), u32(start), (*C.et_block)(blocks), u32(category), u16(live),
		f32(qx), f32(qy), f32(qz), f32(qr), u32(exclude), u32(mask), C.int64_t(len(qx)), u32(counts)))
}

// Overlap answers n boxes, as shapes.h says of et_overlap. Nil slices of
// category, live, exclude and mask are passed as NULL.
func Overlap(level int32, grid unsafe.Pointer, start []uint32, blocks unsafe.Pointer, category []uint32, live []uint16,
	lo, hi *[3][]float32, exclude, mask, ends, out []uint32, fill int) int {
	return int(C.et_overlap(C.int32_t(level), (*C.et_grid)(grid), u32(start), (*C.et_block)(blocks), u32(category), u16(live),
		f32(lo[0]), f32(lo[1]), f32(lo[2]), f32(hi[0]), f32(hi[1]), f32(hi[2]), u32(exclude), u32(mask),
		C.int64_t(len(lo[0])), u32(ends), u32(out), C.int64_t(fill), C.int64_t(len(out))))
}

// Sizes of the C structs behind the rays and spans of RayClosest and RayAll, in
// bytes.
const (
	RaySize  = C.sizeof_et_ray
	SpanSize = C.sizeof_et_span
)

// RayClosest finds the closest hit of n rays, as shapes.h says of et_ray_closest;
// rays points at RaySize bytes each and spans at SpanSize bytes each. Nil slices
// of category and live are passed as NULL.
func RayClosest(level int32, blocks unsafe.Pointer, r2 []float32, category []uint32, live []uint16,
	rays unsafe.Pointer, spanEnds []uint32, spans unsafe.Pointer, slots []uint32, t []float32) {
	C.et_ray_closest(C.int32_t(level), (*C.et_block)(blocks), f32(r2), u32(category), u16(live),
		(*C.et_ray)(rays), u32(spanEnds), (*C.et_span)(spans), C.int64_t(len(spanEnds)), u32(slots), f32(t))
}

// RayAll finds all hits of n rays, as shapes.h says of et_ray_all, with arguments
// as in RayClosest.
func RayAll(level int32, blocks unsafe.Pointer, r2 []float32, category []uint32, live []uint16,
	rays unsafe.Pointer, spanEnds []uint32, spans unsafe.Pointer, ends, out []uint32, t []float32, fill int) int {
	return int(C.et_ray_all(C.int32_t(level), (*C.et_block)(blocks), f32(r2), u32(category), u16(live),
		(*C.et_ray)(rays), u32(spanEnds), (*C.et_span)(spans), C.int64_t(len(spanEnds)),
		u32(ends), u32(out), f32(t), C.int64_t(fill), C.int64_t(len(out))))
}

func u16(s []uint16) *C.uint16_t { return (*C.uint16_t)(unsafe.SliceData(s)) }
