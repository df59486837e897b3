//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

package face

/*
#cgo noescape et_quantise
#cgo nocallback et_quantise
#cgo noescape et_quantise_angle
#cgo nocallback et_quantise_angle
#cgo noescape et_quantise_planar
#cgo nocallback et_quantise_planar
#cgo noescape et_quantise_quat
#cgo nocallback et_quantise_quat
#cgo noescape et_delta
#cgo nocallback et_delta
#cgo noescape et_merge
#cgo nocallback et_merge
#cgo noescape et_gather_records
#cgo nocallback et_gather_records
#include "../replica.h"
*/
import "C"

import "unsafe"

// Quantise makes codes of a column times a scale; limit is the largest. There is one row or more, here and below.
func Quantise(level int32, dst []int32, src []float32, scale float32, limit int32) {
	C.et_quantise(C.int32_t(level), i32(dst), f32(src), C.float(scale), C.int32_t(limit), C.int64_t(len(dst)))
}

// QuantiseAngle makes codes of angles.
func QuantiseAngle(level int32, dst []int32, src []float32, bits int) {
	C.et_quantise_angle(C.int32_t(level), i32(dst), f32(src), C.int32_t(bits), C.int64_t(len(dst)))
}

// QuantisePlanar makes codes of rotations in a plane.
func QuantisePlanar(level int32, dst []int32, sin, cos []float32, bits int) {
	C.et_quantise_planar(C.int32_t(level), i32(dst), f32(sin), f32(cos), C.int32_t(bits), C.int64_t(len(dst)))
}

// QuatLanes mirrors netcode.QuatLanes.
type QuatLanes struct{ Index, A, B, C []int32 }

// QuantiseQuat makes codes of rotations.
func QuantiseQuat(level int32, dst *QuatLanes, src Quat, scale float32, limit int32) {
	lanes := C.et_quat_lanes{index: i32(dst.Index), a: i32(dst.A), b: i32(dst.B), c: i32(dst.C)}
	C.et_quantise_quat(C.int32_t(level), lanes, src.c(), C.float(scale), C.int32_t(limit), C.int64_t(len(dst.Index)))
}

// DeltaShape is et_delta_shape.
type DeltaShape struct {
	Stride, Now, Base, Previous, Lanes int
	Bits, Width                        [8]uint8
}

// Delta compares two states, or three.
func Delta(level int32, arena []int32, d *DeltaShape, records []uint32, changed, wide []uint64) {
	shape := C.et_delta_shape{stride: C.int64_t(d.Stride), now: C.int64_t(d.Now), base: C.int64_t(d.Base), previous: C.int64_t(d.Previous),
		lanes: C.int32_t(d.Lanes), bits: *(*[8]C.uint8_t)(unsafe.Pointer(&d.Bits)), width: *(*[8]C.uint8_t)(unsafe.Pointer(&d.Width))}
	C.et_delta(C.int32_t(level), i32(arena), shape, u32(records), u64(changed), u64(wide), C.int64_t(len(records)))
}

// Merge merges two lists, not both empty, and returns the lengths of the three that it writes.
func Merge(known, view []uint32, gone []uint64, stays, leaves, enters []uint32) (nStays, nLeaves, nEnters int) {
	to := C.et_merge_to{stays: u32(stays), leaves: u32(leaves), enters: u32(enters)}
	m := C.et_merge(entries(known), entries(view), u64(gone), to)
	return int(m.stays), int(m.leaves), int(m.enters)
}

func entries(s []uint32) C.et_entries { return C.et_entries{at: u32(s), n: C.int64_t(len(s))} }

// Source mirrors netcode.Source.
type Source struct {
	Records       []uint32
	Changed, Wide []uint64
}

func (s *Source) c() C.et_source {
	return C.et_source{records: u32(s.Records), changed: u64(s.Changed), wide: u64(s.Wide)}
}

// GatherRecords gathers records, and returns the number of bits and of entries in wide.
func GatherRecords(stays []uint32, plain, predicted *Source, width uint, mask, bits []byte, wide []uint32) (nBits, nWide int) {
	to := C.et_gather_to{mask: u8(mask), bits: u8(bits), wide: u32(wide)}
	g := C.et_gather_records(u32(stays), C.int64_t(len(stays)), plain.c(), predicted.c(), C.uint32_t(width), to)
	return int(g.bits), int(g.wide)
}

func i32(s []int32) *C.int32_t { return (*C.int32_t)(unsafe.SliceData(s)) }
func u8(s []byte) *C.uint8_t   { return (*C.uint8_t)(unsafe.SliceData(s)) }
