//go:build !cgo

package native

func knnC(Level, *Grid, *Points, *NearestQueries, []uint32, []uint32, []float32) int {
	panic("native: built without cgo")
}
