//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

package face

/*
#cgo CFLAGS: -std=c11 -O2 -fno-fast-math -fvisibility=hidden -Wall -Wextra -Wno-unknown-pragmas
#include "../points.h"
*/
import "C"

import (
	"unsafe"

	_ "github.com/evertick/evertick/csrc"            // for its headers
	_ "github.com/evertick/evertick/csrc/neighbours" // the functions
)

// Sizes of the C structs of a grid and of a block of points, in bytes.
const (
	GridSize  = C.sizeof_et_grid
	BlockSize = C.sizeof_et_block
)

// Points is et_points. Grid points at a struct of GridSize bytes, and Blocks at structs of BlockSize.
type Points struct {
	Grid, Blocks unsafe.Pointer
	Start        []uint32
	Category     []uint32
	Live         []uint16
}

func (p *Points) c() C.et_points {
	return C.et_points{grid: (*C.et_grid)(p.Grid), start: u32(p.Start), blocks: (*C.et_block)(p.Blocks),
		category: u32(p.Category), live: u16(p.Live), n: C.uint32_t(p.Start[len(p.Start)-1])}
}

// Columns mirrors neighbours.Columns.
type Columns struct {
	X, Y, Z         []float32
	Slots, Category []uint32
	Live            []uint64
}

func (c *Columns) c() C.et_columns {
	const maxSlots = 1 << 24
	return C.et_columns{x: f32(c.X), y: f32(c.Y), z: f32(c.Z), slots: u32(c.Slots), category: u32(c.Category),
		live: u64(c.Live), n: C.int64_t(len(c.Slots)), limit: C.uint32_t(min(len(c.X), maxSlots))}
}

// Rows mirrors neighbours.Rows.
type Rows struct {
	Ends, Slots []uint32
	Dist2       []float32
	Fill        int
}

func (r *Rows) c() C.et_rows {
	return C.et_rows{ends: u32(r.Ends), slots: u32(r.Slots), dist2: f32(r.Dist2), fill: C.int64_t(r.Fill), cap: C.int64_t(len(r.Slots))}
}

// A nil slice becomes NULL.

func f32(s []float32) *C.float   { return (*C.float)(unsafe.SliceData(s)) }
func u16(s []uint16) *C.uint16_t { return (*C.uint16_t)(unsafe.SliceData(s)) }
func u32(s []uint32) *C.uint32_t { return (*C.uint32_t)(unsafe.SliceData(s)) }
func u64(s []uint64) *C.uint64_t { return (*C.uint64_t)(unsafe.SliceData(s)) }
func flag(on bool) (f C.int32_t) {
	if on {
		f = 1
	}
	return f
}
