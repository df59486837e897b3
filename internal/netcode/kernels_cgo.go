//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

package netcode

import (
	"github.com/evertick/evertick/csrc/face"
	"github.com/evertick/evertick/native"
)

// The C side numbers levels in the order of native.Level, from native.C on.
var (
	_ [face.AVX2]byte   = [native.AVX2 - native.C]byte{}
	_ [face.AVX512]byte = [native.AVX512 - native.C]byte{}
	_ [face.NEON]byte   = [native.NEON - native.C]byte{}
)

func cLevel(l native.Level) int32 { return int32(l - native.C) }

func quantiseC(l native.Level, dst []int32, src []float32, scale float32, limit int32) {
	face.Quantise(cLevel(l), dst, src, scale, limit)
}

func quantiseAngleC(l native.Level, dst []int32, src []float32, bits int) {
	face.QuantiseAngle(cLevel(l), dst, src, bits)
}

func quantisePlanarC(l native.Level, dst []int32, sin, cos []float32, bits int) {
	face.QuantisePlanar(cLevel(l), dst, sin, cos, bits)
}

func quantiseQuatC(l native.Level, dst QuatLanes, src native.Quat, scale float32, limit int32) {
	face.QuantiseQuat(cLevel(l), (*face.QuatLanes)(&dst), face.Quat(src), scale, limit)
}

func deltaC(l native.Level, arena []int32, stride, now, base, previous int, shape *DeltaLanes, records []uint32, changed, wide []uint64) {
	face.Delta(cLevel(l), arena, &face.DeltaShape{Stride: stride, Now: now, Base: base, Previous: previous,
		Lanes: shape.Lanes, Bits: shape.Bits, Width: shape.Width}, records, changed, wide)
}

func mergeC(known, view []uint32, gone []uint64, m *Merged) {
	stays, leaves, enters := face.Merge(known, view, gone, m.Stays, m.Leaves, m.Enters)
	m.Stays, m.Leaves, m.Enters = m.Stays[:stays], m.Leaves[:leaves], m.Enters[:enters]
}

func gatherRecordsC(stays []uint32, plain, predicted *Source, width uint, out *Gathered) {
	bits, wide := face.GatherRecords(stays, (*face.Source)(plain), (*face.Source)(predicted), width, out.Mask, out.Bits, out.Wide)
	out.Mask, out.Bits, out.Wide = out.Mask[:(len(stays)+7)/8], out.Bits[:(bits+7)/8], out.Wide[:wide]
}
