//go:build cgo

package csrc

/*
#cgo noescape et_measure
#cgo nocallback et_measure
#cgo noescape et_build
#cgo nocallback et_build
#include "build.h"
*/
import "C"

import "unsafe"

// Measure finds the box of the points of slots, which are not empty, as build.h
// says of et_measure.
func Measure(level int32, x, y, z []float32, limit int, slots []uint32, box *[6]float32) bool {
	return C.et_measure(C.int32_t(level), f32(x), f32(y), f32(z), C.uint32_t(limit),
		u32(slots), C.int64_t(len(slots)), (*C.float)(&box[0])) != 0
}

// Build sorts the points of slots into cells, as build.h says of et_build; grid
// points at GridSize bytes and blocks at blocks.
func Build(level int32, grid unsafe.Pointer, x, y, z []float32, limit int, slots []uint32,
	start []uint32, blocks unsafe.Pointer, cellOf []uint32) bool {
	return C.et_build(C.int32_t(level), (*C.et_grid)(grid), f32(x), f32(y), f32(z), C.uint32_t(limit),
		u32(slots), C.int64_t(len(slots)), u32(start), (*C.et_block)(blocks), u32(cellOf)) != 0
}
