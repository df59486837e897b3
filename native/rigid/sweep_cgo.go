//go:build cgo

package rigid

import (
	"unsafe"

	csrc "github.com/evertick/evertick/csrc/rigid"
	"github.com/evertick/evertick/native"
)

func (e *Extents) fastC(l native.Level, states []State, lo, hi int, out []uint32) int {
	return csrc.Fast(cLevel(l), unsafe.Pointer(unsafe.SliceData(states)), e.Min, e.Max, lo, hi, out)
}
