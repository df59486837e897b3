//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

package face

/*
#cgo CFLAGS: -std=c11 -O2 -fno-fast-math -fvisibility=hidden -Wall -Wextra -Wno-unknown-pragmas
#include "../rigid.h"
*/
import "C"

import (
	"unsafe"

	_ "github.com/evertick/evertick/csrc"       // for its headers
	_ "github.com/evertick/evertick/csrc/rigid" // the functions
)

func f32(s []float32) *C.float   { return (*C.float)(unsafe.SliceData(s)) }
func u32(s []uint32) *C.uint32_t { return (*C.uint32_t)(unsafe.SliceData(s)) }
func u64(s []uint64) *C.uint64_t { return (*C.uint64_t)(unsafe.SliceData(s)) }
