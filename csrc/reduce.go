//go:build cgo

package csrc

/*
#cgo noescape et_sum
#cgo nocallback et_sum
#cgo noescape et_first_not_finite
#cgo nocallback et_first_not_finite
#cgo noescape et_first_beyond
#cgo nocallback et_first_beyond
#include "reduce.h"
*/
import "C"

import "unsafe"

// The functions below are those of reduce.h. Columns have one length, which is not
// 0; live may be nil.

// Bounds finds the least and the greatest of three columns.
func Bounds(level int32, x, y, z []float32, live []uint64, least, greatest *[3]float32) {
	C.et_bounds(C.int32_t(level), f32(x), f32(y), f32(z), u64(live), C.int64_t(len(x)), f32(least[:]), f32(greatest[:]))
}

// Sum adds up a column in double precision.
func Sum(level int32, x []float32, live []uint64) float64 {
	var sum C.double
	C.et_sum(C.int32_t(level), f32(x), u64(live), C.int64_t(len(x)), &sum)
	return float64(sum)
}

// FirstNotFinite returns the first row that is NaN or infinite, or -1.
func FirstNotFinite(level int32, x []float32, live []uint64) int {
	var row C.int64_t
	C.et_first_not_finite(C.int32_t(level), f32(x), u64(live), C.int64_t(len(x)), &row)
	return int(row)
}

// FirstBeyond returns the first row with index[i] >= limit, or -1; limit is at most
// 2^31.
func FirstBeyond(level int32, index []uint32, limit int, live []uint64) int {
	var row C.int64_t
	C.et_first_beyond(C.int32_t(level), u32(index), C.uint32_t(limit), u64(live), C.int64_t(len(index)), &row)
	return int(row)
}

// Copy computes dst[i] = src[i].
func Copy(level int32, dst, src []float32, live []uint64) {
	C.et_copy(C.int32_t(level), f32(dst), f32(src), u64(live), C.int64_t(len(dst)))
}

// Fill computes dst[i] = value.
func Fill(level int32, dst []float32, value float32, live []uint64) {
	C.et_fill(C.int32_t(level), f32(dst), C.float(value), u64(live), C.int64_t(len(dst)))
}

// Gather computes dst[i] = src[index[i]], for indices below 2^31.
func Gather(level int32, dst, src []float32, index []uint32, live []uint64) {
	C.et_gather(C.int32_t(level), f32(dst), f32(src), u32(index), u64(live), C.int64_t(len(dst)))
}

// Compose makes matrices of positions, quaternions and scales: the ten columns in
// that order.
func Compose(level int32, out []float32, byRow bool, columns *[10][]float32, live []uint64) {
	var rows C.int32_t
	if byRow {
		rows = 1
	}
	c := func(i int) *C.float { return (*C.float)(unsafe.SliceData(columns[i])) }
	C.et_compose(C.int32_t(level), f32(out), rows, c(0), c(1), c(2), c(3), c(4), c(5), c(6), c(7), c(8), c(9),
		u64(live), C.int64_t(len(columns[0])))
}
