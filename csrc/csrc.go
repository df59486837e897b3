//go:build cgo

package csrc

/*
#cgo CFLAGS: -std=c11 -O3 -fno-fast-math -fvisibility=hidden -Wall -Wextra -Wno-unknown-pragmas
#cgo !amd64,!arm64 LDFLAGS: -lm
#cgo noescape et_radius
#cgo nocallback et_radius
#cgo noescape et_live
#cgo nocallback et_live
#cgo noescape et_keep_live
#cgo nocallback et_keep_live
#include "evertick.h"
*/
import "C"

import "unsafe"

// Levels as the C side numbers them.
const (
	C      = int32(C.ET_C)
	AVX2   = int32(C.ET_AVX2)
	AVX512 = int32(C.ET_AVX512)
	NEON   = int32(C.ET_NEON)
)

// GridSize is the size of the C struct behind Radius's grid, in bytes.
const GridSize = C.sizeof_et_grid

// BlockSize is the size of a block of points, in bytes.
const BlockSize = C.sizeof_et_block

// Compiler names the C compiler that built this package, with its version.
func Compiler() string { return C.GoString(C.et_compiler()) }

// FlushDenormals turns flushing of denormals to zero on or off in the calling
// thread; lock the goroutine to its thread first. It exists to test the probe
// of the floating-point environment.
func FlushDenormals(on bool) {
	var flag C.int32_t
	if on {
		flag = 1
	}
	C.et_flush_denormals(flag)
}

// Radius answers a batch of queries, as evertick.h says of et_radius; grid points
// at GridSize bytes and blocks at blocks. Nil slices are passed as NULL.
func Radius(level int32, grid unsafe.Pointer, start []uint32, blocks unsafe.Pointer, category []uint32, live []uint16,
	qx, qy, qz, qr []float32, exclude, mask []uint32, ends, out []uint32, d2 []float32, fill int) int {
	return int(C.et_radius(C.int32_t(level), (*C.et_grid)(grid), u32(start), (*C.et_block)(blocks), u32(category),
		(*C.uint16_t)(unsafe.SliceData(live)), f32(qx), f32(qy), f32(qz), f32(qr), u32(exclude), u32(mask),
		C.int64_t(len(qx)), u32(ends), u32(out), f32(d2), C.int64_t(fill), C.int64_t(len(out))))
}

// Live looks up the bits of points in a bitmap, as evertick.h says of et_live.
func Live(level int32, blocks unsafe.Pointer, points int, bitmap []uint64, live []uint16) {
	C.et_live(C.int32_t(level), (*C.et_block)(blocks), C.uint32_t(points), (*C.uint64_t)(unsafe.SliceData(bitmap)),
		(*C.uint16_t)(unsafe.SliceData(live)))
}

// KeepLive filters rows by a bitmap, as evertick.h says of et_keep_live; ends is not
// empty.
func KeepLive(bitmap []uint64, from int, ends, slots []uint32, dist2 []float32) {
	C.et_keep_live((*C.uint64_t)(unsafe.SliceData(bitmap)), C.uint32_t(from), u32(ends), C.int64_t(len(ends)), u32(slots), f32(dist2))
}

func f32(s []float32) *C.float   { return (*C.float)(unsafe.SliceData(s)) }
func u32(s []uint32) *C.uint32_t { return (*C.uint32_t)(unsafe.SliceData(s)) }
func u64(s []uint64) *C.uint64_t { return (*C.uint64_t)(unsafe.SliceData(s)) }
