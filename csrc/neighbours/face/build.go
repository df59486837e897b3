//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

package face

/*
#cgo noescape et_measure
#cgo nocallback et_measure
#cgo noescape et_sample
#cgo nocallback et_sample
#cgo noescape et_build
#cgo nocallback et_build
#cgo noescape et_number
#cgo nocallback et_number
#cgo noescape et_scatter
#cgo nocallback et_scatter
#cgo noescape et_transpose
#cgo nocallback et_transpose
#include "../build.h"
*/
import "C"

import "unsafe"

// The functions below are those of build.h. grid points at a struct of GridSize bytes, and blocks at structs of
// BlockSize.

// Measure finds the bounding box of one or more points.
func Measure(level int32, c *Columns, box *[6]float32) bool {
	return C.et_measure(C.int32_t(level), c.c(), (*C.float)(&box[0])) != 0
}

// Sample selects points by a hash of their bits. It finds up to room points, or up to room+16 if there are more.
func Sample(level int32, c *Columns, mask uint32, found []uint32, room int) int {
	return int(C.et_sample(C.int32_t(level), c.c(), C.uint32_t(mask), u32(found), C.int64_t(room)))
}

// Build sorts points into cells.
func Build(level int32, grid unsafe.Pointer, c *Columns, start []uint32, blocks unsafe.Pointer, cellOf []uint32) bool {
	return C.et_build(C.int32_t(level), (*C.et_grid)(grid), c.c(), u32(start), (*C.et_block)(blocks), u32(cellOf)) != 0
}

// Number is the first step of Build, for a range of the slots.
func Number(level int32, grid unsafe.Pointer, c *Columns, counts, cellOf []uint32) bool {
	return C.et_number(C.int32_t(level), (*C.et_grid)(grid), c.c(), u32(counts), u32(cellOf)) != 0
}

// Scatter is the third step of Build, for a range of the slots.
func Scatter(level int32, c *Columns, cursors, cellOf []uint32, blocks unsafe.Pointer) {
	C.et_scatter(C.int32_t(level), c.c(), C.int64_t(len(cursors)), u32(cursors), u32(cellOf), (*C.et_block)(blocks))
}

// Transpose is the last step of Build, for a range of the blocks.
func Transpose(level int32, blocks unsafe.Pointer, first, last, points int) {
	C.et_transpose(C.int32_t(level), (*C.et_block)(blocks), C.int64_t(first), C.int64_t(last), C.int64_t(points))
}
