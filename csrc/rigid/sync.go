//go:build cgo

package rigid

/*
#cgo noescape et_put
#cgo nocallback et_put
#cgo noescape et_differs
#cgo nocallback et_differs
#include "sync.h"
*/
import "C"

import "unsafe"

// Synced are columns of bodies, those that are kept of them, and those of entities: position,
// the two components of the quaternion that are not zero, and the two that are.
type Synced struct {
	X, Y, Cos, Sin        []float32
	Slot                  []uint32
	KeptX, KeptY, KeptSin []float32
	KeptCos               []float32
	ToX, ToY, ToTurn, ToW []float32
	ToZero1, ToZero2      []float32
	Flip                  bool
}

// Put writes bodies to their entities, as sync.h says of et_put.
func Put(level int32, s *Synced, lo, hi int) {
	C.et_put(C.int32_t(level), f32(s.X), f32(s.Y), f32(s.Cos), f32(s.Sin), u32(s.Slot),
		f32(s.KeptX), f32(s.KeptY), f32(s.KeptSin), f32(s.KeptCos),
		f32(s.ToX), f32(s.ToY), f32(s.ToTurn), f32(s.ToW), f32(s.ToZero1), f32(s.ToZero2), flag(s.Flip),
		C.int64_t(lo), C.int64_t(hi))
}

// Differs finds a body that is not where its entity is, as sync.h says of
// et_differs.
func Differs(level int32, s *Synced, lo, hi int) int {
	return int(C.et_differs(C.int32_t(level), u32(s.Slot), asBits(s.KeptX), asBits(s.KeptY), asBits(s.KeptSin), asBits(s.KeptCos),
		asBits(s.ToX), asBits(s.ToY), asBits(s.ToTurn), asBits(s.ToW), asBits(s.ToZero1), asBits(s.ToZero2),
		C.int64_t(lo), C.int64_t(hi)))
}

func asBits(s []float32) *C.uint32_t { return (*C.uint32_t)(unsafe.Pointer(unsafe.SliceData(s))) }
