//go:build cgo

package native

import (
	"unsafe"

	"github.com/evertick/evertick/csrc"
)

// Packed is passed to C by address.
var _ [csrc.PackSize]byte = [unsafe.Sizeof(Packed{})]byte{}

func selfC(l Level, g *Grid, p *Points, q *SelfQuery, first, last int, rows *Rows, scratch *Packed) int {
	return csrc.Self(cLevels[l], unsafe.Pointer(g), p.Start, unsafe.Pointer(unsafe.SliceData(p.Blocks)),
		q.Radius*q.Radius, Reach(q.Radius), int32(q.Keep), first, last, rows.Ends, rows.Slots, rows.Dist2, rows.Fill,
		unsafe.Pointer(scratch))
}
