//go:build cgo

package native

import "github.com/evertick/evertick/csrc"

func scatterRowsC(from *Rows, begin int, number []uint32, to *RowsTo) int {
	dist2 := from.Dist2
	if to.Dist2 == nil {
		dist2 = nil
	}
	return csrc.ScatterRows(number, from.Ends, uint32(begin), from.Slots, dist2, to.Offsets, to.Slots, to.Dist2)
}
