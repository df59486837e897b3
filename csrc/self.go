//go:build cgo

package csrc

/*
#cgo noescape et_self
#cgo nocallback et_self
#include "self.h"
*/
import "C"

import "unsafe"

// PackSize is the size of the scratch of Self, in bytes.
const PackSize = C.sizeof_et_pack

// Self answers for the points at places [first, last), as self.h says of
// et_self; grid points at GridSize bytes, scratch at PackSize. A nil d2 is passed
// as NULL.
func Self(level int32, grid unsafe.Pointer, start []uint32, blocks unsafe.Pointer, r2, reach float32, keep int32,
	first, last int, ends, out []uint32, d2 []float32, fill int, scratch unsafe.Pointer) int {
	return int(C.et_self(C.int32_t(level), (*C.et_grid)(grid), u32(start), (*C.et_block)(blocks), C.float(r2), C.float(reach),
		C.int32_t(keep), C.int64_t(first), C.int64_t(last), u32(ends), u32(out), f32(d2), C.int64_t(fill), C.int64_t(len(out)),
		(*C.et_pack)(scratch)))
}
