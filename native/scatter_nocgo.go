//go:build !cgo

package native

func scatterRowsC(*Rows, int, []uint32, *RowsTo) int { panic("native: built without cgo") }
