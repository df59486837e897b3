//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

package celllist

/*
#cgo CFLAGS: -std=c11 -O3 -Wall -Wextra -Wno-unknown-pragmas
#include "celllist.h"
*/
import "C"

import (
	"unsafe"

	"github.com/evertick/evertick/native"
)

const hasC = true

func (l *List) levelC() C.int32_t {
	switch l.Level {
	case native.AVX2:
		return C.CL_AVX2
	case native.AVX512:
		return C.CL_AVX512
	}
	return C.CL_C
}

func (l *List) c() C.cl_list {
	return C.cl_list{grid: *(*C.cl_grid)(unsafe.Pointer(&l.grid)), start: u32(l.start), cell_of: u32(l.cellOf), points: points(l.points)}
}

func (l *List) sortC(x, y, z []float32) {
	C.cl_sort(l.levelC(), l.c(), f32(x), f32(y), f32(z), C.int64_t(len(x)))
}

func (l *List) findC(centres []Point, radius float32, out *Rows) int {
	return int(C.cl_find(l.levelC(), l.c(), points(centres), C.int64_t(len(centres)), C.float(radius),
		u32(out.Ends), u32(out.Slots), C.int64_t(len(out.Slots))))
}

func f32(s []float32) *C.float     { return (*C.float)(unsafe.SliceData(s)) }
func u32(s []uint32) *C.uint32_t   { return (*C.uint32_t)(unsafe.SliceData(s)) }
func points(s []Point) *C.cl_point { return (*C.cl_point)(unsafe.Pointer(unsafe.SliceData(s))) }
