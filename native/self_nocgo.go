//go:build !cgo

package native

func selfC(Level, *Grid, *Points, *SelfQuery, int, int, *Rows, *Packed) int {
	panic("native: built without cgo")
}
