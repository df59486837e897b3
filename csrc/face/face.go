//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

package face

/*
#cgo CFLAGS: -std=c11 -O2 -fno-fast-math -fvisibility=hidden -Wall -Wextra -Wno-unknown-pragmas
#include "../evertick.h"
*/
import "C"

import (
	"unsafe"

	_ "github.com/evertick/evertick/csrc" // the functions
)

// The numbers of the levels in C.
const (
	C      = int32(C.ET_C)
	AVX2   = int32(C.ET_AVX2)
	AVX512 = int32(C.ET_AVX512)
	NEON   = int32(C.ET_NEON)
)

// Compiler names the C compiler that built this package, with its version.
func Compiler() string { return C.GoString(C.et_compiler()) }

// FlushDenormals turns flushing of denormals to zero on or off in the calling
// thread; lock the goroutine to its thread first. It exists to test the probe
// of the floating-point environment.
func FlushDenormals(on bool) { C.et_flush_denormals(flag(on)) }

// A nil slice becomes NULL.

func f32(s []float32) *C.float   { return (*C.float)(unsafe.SliceData(s)) }
func u32(s []uint32) *C.uint32_t { return (*C.uint32_t)(unsafe.SliceData(s)) }
func u64(s []uint64) *C.uint64_t { return (*C.uint64_t)(unsafe.SliceData(s)) }
func flag(on bool) (f C.int32_t) {
	if on {
		f = 1
	}
	return f
}
