//go:build cgo

package csrc

/*
#cgo noescape et_scatter_rows
#cgo nocallback et_scatter_rows
#include "scatter.h"
*/
import "C"

// ScatterRows copies rows to other places, as scatter.h says of et_scatter_rows.
// Nil d2 are passed as NULL.
func ScatterRows(number, ends []uint32, begin uint32, slots []uint32, d2 []float32,
	offsets, toSlots []uint32, toD2 []float32) int {
	return int(C.et_scatter_rows(u32(number), u32(ends), C.int64_t(len(number)), C.uint32_t(begin),
		u32(slots), f32(d2), C.int64_t(len(slots)), u32(offsets), C.int64_t(len(offsets)),
		u32(toSlots), f32(toD2), C.int64_t(len(toSlots))))
}
