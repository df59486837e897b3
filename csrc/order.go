//go:build cgo

package csrc

/*
#cgo noescape et_order
#cgo nocallback et_order
#include "order.h"
*/
import "C"

import "unsafe"

// ScratchFrom is the length of a row above which Order needs scratch.
const ScratchFrom = C.ET_SCRATCH_FROM

// Order sorts rows, as order.h says of et_order, and returns false if a slot is
// not below limit. There is at least one row. Nil slices are passed as NULL.
func Order(level int32, byDistance bool, limit, from int, ends, slots []uint32, dist2 []float32, scratch []uint64) bool {
	var distance C.int32_t
	if byDistance {
		distance = 1
	}
	return C.et_order(C.int32_t(level), distance, C.uint32_t(limit), C.uint32_t(from),
		(*C.uint32_t)(unsafe.SliceData(ends)), C.int64_t(len(ends)), (*C.uint32_t)(unsafe.SliceData(slots)),
		(*C.float)(unsafe.SliceData(dist2)), (*C.uint64_t)(unsafe.SliceData(scratch))) == 0
}
