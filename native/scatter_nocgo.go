//go:build !cgo

package native

func scatterRowsC(Level, *Rows, int, []uint32, *RowsTo) int { panic("native: built without cgo") }
