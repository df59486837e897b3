//go:build cgo

package csrc

/*
#cgo noescape et_stream
#cgo nocallback et_stream
#cgo noescape et_sweep
#cgo nocallback et_sweep
#include "stream.h"
*/
import "C"

import "unsafe"

// Sizes of the C structs behind a sieve, in bytes.
const (
	TorusSize    = C.sizeof_et_torus
	CentreSize   = C.sizeof_et_centre
	CentresSize  = C.sizeof_et_centres
	ListSize     = C.sizeof_et_list
	ProgressSize = C.sizeof_et_progress
)

// LongList and Sweep are ET_LONG_LIST and ET_SWEEP of stream.h.
const (
	LongList = C.ET_LONG_LIST
	Sweep    = C.ET_SWEEP
)

// Stream tests points with the queries of their cells, as stream.h says of
// et_stream; torus, lists, blocks, centres and progress point at structs of the
// sizes above. lists, category and live may be nil.
func Stream(level int32, torus unsafe.Pointer, bits, rank []uint32, lists unsafe.Pointer, ids []uint32,
	blocks, centres unsafe.Pointer, x, y, z []float32, limit int, slots, category []uint32, live []uint64, to int,
	hitQuery, hitSlot []uint32, hitDist2 []float32, progress unsafe.Pointer) int {
	return int(C.et_stream(C.int32_t(level), (*C.et_torus)(torus), u32(bits), u32(rank), (*C.et_list)(lists), u32(ids),
		(*C.et_centres)(blocks), (*C.et_centre)(centres), f32(x), f32(y), f32(z), C.int64_t(limit), u32(slots), u32(category),
		(*C.uint64_t)(unsafe.SliceData(live)), C.int64_t(to), u32(hitQuery), u32(hitSlot), f32(hitDist2),
		C.int64_t(len(hitSlot)), (*C.et_progress)(progress)))
}

// SweepWide tests points with each of some queries, as stream.h says of et_sweep.
func SweepWide(level int32, wide []uint32, centres unsafe.Pointer, x, y, z []float32, limit int, slots, category []uint32,
	live []uint64, to int, hitQuery, hitSlot []uint32, hitDist2 []float32, progress unsafe.Pointer) int {
	return int(C.et_sweep(C.int32_t(level), u32(wide), C.int64_t(len(wide)), (*C.et_centre)(centres),
		f32(x), f32(y), f32(z), C.int64_t(limit), u32(slots), u32(category), (*C.uint64_t)(unsafe.SliceData(live)), C.int64_t(to),
		u32(hitQuery), u32(hitSlot), f32(hitDist2), C.int64_t(len(hitSlot)), (*C.et_progress)(progress)))
}
