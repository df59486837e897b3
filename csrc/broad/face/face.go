//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

package face

/*
#cgo CFLAGS: -std=c11 -O2 -fno-fast-math -fvisibility=hidden -Wall -Wextra -Wno-unknown-pragmas
#include "../broad.h"
*/
import "C"

import (
	"unsafe"

	_ "github.com/evertick/evertick/csrc"       // for its headers
	_ "github.com/evertick/evertick/csrc/broad" // the functions
)

// C structs that package internal/broad packs, as it has types of the same layout.
type (
	Boxes = C.et_boxes
	Grid  = C.et_grid
	Pairs = C.et_pairs
)

// Sizes of the C structs, in bytes.
const (
	BoxesSize   = C.sizeof_et_boxes
	LayerSize   = C.sizeof_et_layer
	SummarySize = C.sizeof_et_summary
	GridSize    = C.sizeof_et_grid
	PairsSize   = C.sizeof_et_pairs
)

// Constants that Go has as well.
const (
	ShapeBits = C.ET_SHAPE_BITS
	Padding   = C.ET_PADDING
	Layers    = C.ET_LAYERS
	Parts     = C.ET_PARTS
	ShortRow  = C.ET_SHORT_ROW
)

func f32(s []float32) *C.float   { return (*C.float)(unsafe.SliceData(s)) }
func u32(s []uint32) *C.uint32_t { return (*C.uint32_t)(unsafe.SliceData(s)) }
func u64(s []uint64) *C.uint64_t { return (*C.uint64_t)(unsafe.SliceData(s)) }
