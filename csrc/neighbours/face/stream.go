//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

package face

/*
#cgo noescape et_stream
#cgo nocallback et_stream
#cgo noescape et_sweep
#cgo nocallback et_sweep
#include "../stream.h"
*/
import "C"

import "unsafe"

// Sizes of the C structs of a sieve, in bytes.
const (
	TorusSize    = C.sizeof_et_torus
	CentreSize   = C.sizeof_et_centre
	CentresSize  = C.sizeof_et_centres
	ListSize     = C.sizeof_et_list
	ProgressSize = C.sizeof_et_progress
)

// LongList and SweepRun are ET_LONG_LIST and ET_SWEEP of stream.h.
const (
	LongList = C.ET_LONG_LIST
	SweepRun = C.ET_SWEEP
)

// Sieve is et_sieve. Torus, Lists, Blocks and Centres point at structs of the sizes above; Lists may be nil.
type Sieve struct {
	Torus, Lists, Blocks, Centres unsafe.Pointer
	Bits, Rank, IDs               []uint32
}

// Hits mirrors neighbours.Hits.
type Hits struct {
	Query, Slot []uint32
	Dist2       []float32
	Fill        int
}

func (h *Hits) c() C.et_hits {
	return C.et_hits{query: u32(h.Query), slot: u32(h.Slot), dist2: f32(h.Dist2), fill: C.int64_t(h.Fill), cap: C.int64_t(len(h.Slot))}
}

// Stream is et_stream. progress points at a struct of ProgressSize bytes.
func Stream(level int32, s *Sieve, c *Columns, to int, h *Hits, progress unsafe.Pointer) int {
	sieve := C.et_sieve{torus: (*C.et_torus)(s.Torus), bits: u32(s.Bits), rank: u32(s.Rank), ids: u32(s.IDs), lists: (*C.et_list)(s.Lists),
		blocks: (*C.et_centres)(s.Blocks), centres: (*C.et_centre)(s.Centres)}
	return int(C.et_stream(C.int32_t(level), sieve, c.c(), C.int64_t(to), h.c(), (*C.et_progress)(progress)))
}

// Sweep is et_sweep of the queries in wide.
func Sweep(level int32, wide []uint32, centres unsafe.Pointer, c *Columns, to int, h *Hits, progress unsafe.Pointer) int {
	return int(C.et_sweep(C.int32_t(level), u32(wide), C.int64_t(len(wide)), (*C.et_centre)(centres), c.c(), C.int64_t(to), h.c(),
		(*C.et_progress)(progress)))
}
