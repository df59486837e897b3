//go:build cgo

package rigid

/*
#cgo noescape et_fast
#cgo nocallback et_fast
#include "sweep.h"
*/
import "C"

import "unsafe"

// Fast lists the fast bodies, as sweep.h says of et_fast; states point at structs of
// StateSize.
func Fast(level int32, states unsafe.Pointer, least, most []float32, lo, hi int, out []uint32) int {
	return int(C.et_fast(C.int32_t(level), (*C.et_state)(states), f32(least), f32(most), C.int64_t(lo), C.int64_t(hi), u32(out)))
}
