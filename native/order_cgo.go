//go:build cgo

package native

import "github.com/evertick/evertick/csrc"

// Rows longer than the C side sorts by merging need scratch.
var _ [csrc.ScratchFrom]byte = [mergedRow]byte{}

func sortRowsC(l Level, by RowOrder, limit, from int, ends, slots []uint32, dist2 []float32, scratch []uint64) bool {
	return csrc.Order(cLevels[l], by == ByDistance, limit, from, ends, slots, dist2, scratch)
}
