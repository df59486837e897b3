//go:build cgo

package csrc

/*
#include "ops.h"
*/
import "C"

// Integrate computes, in the rows of live, pos[i] += float32(vel[i] * dt). Lengths
// are equal; live may be nil.
func Integrate(level int32, pos, vel []float32, dt float32, live []uint64) {
	C.et_integrate(C.int32_t(level), f32(pos), f32(vel), C.float(dt), u64(live), C.int64_t(len(pos)))
}
