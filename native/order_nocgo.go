//go:build !cgo

package native

func sortRowsC(Level, RowOrder, int, int, []uint32, []uint32, []float32, []uint64) bool {
	panic("native: built without cgo")
}
