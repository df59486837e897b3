//go:build cgo

package csrc

/*
#cgo noescape et_knn
#cgo nocallback et_knn
#include "knn.h"
*/
import "C"

import "unsafe"

// MostNeighbours is the largest k of KNN.
const MostNeighbours = C.ET_MOST_NEIGHBOURS

// KNN answers a batch of queries as knn.h says of et_knn; grid points at GridSize
// bytes. Nil slices of category, live, radius, exclude, mask and d2, and a
// nil box, are passed as NULL.
func KNN(level int32, grid unsafe.Pointer, start []uint32, blocks unsafe.Pointer, category []uint32, live []uint16,
	qx, qy, qz, radius []float32, exclude, mask []uint32, k int, box *[2][3]float32, ends, out []uint32, d2 []float32) int {
	return int(C.et_knn(C.int32_t(level), (*C.et_grid)(grid), u32(start), (*C.et_block)(blocks),
		u32(category), (*C.uint16_t)(unsafe.SliceData(live)), f32(qx), f32(qy), f32(qz), f32(radius),
		u32(exclude), u32(mask), C.int64_t(len(qx)), C.int32_t(k), (*C.float)(unsafe.Pointer(box)), u32(ends), u32(out), f32(d2)))
}
