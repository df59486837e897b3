//go:build cgo

package csrc

/*
#cgo noescape et_nan32
#cgo nocallback et_nan32
#cgo noescape et_nan64
#cgo nocallback et_nan64
#include "nan.h"
*/
import "C"

import "unsafe"

// NaN32 tells whether there is a NaN in x.
func NaN32(level int32, x []float32) bool {
	return C.et_nan32(C.int32_t(level), (*C.uint32_t)(unsafe.Pointer(unsafe.SliceData(x))), C.int64_t(len(x))) != 0
}

// NaN64 does the same for doubles.
func NaN64(level int32, x []float64) bool {
	return C.et_nan64(C.int32_t(level), (*C.uint64_t)(unsafe.Pointer(unsafe.SliceData(x))), C.int64_t(len(x))) != 0
}
