//go:build !cgo

package native

func measureC(Level, []float32, []float32, []float32, []uint32) (lo, hi [3]float32, ok bool) {
	panic("native: built without cgo")
}

func sampleC(Level, []float32, []float32, []float32, []uint32, uint32, []uint32, int) int {
	panic("native: built without cgo")
}

func buildC(Level, *Grid, []float32, []float32, []float32, []uint32, *Points, []uint32) bool {
	panic("native: built without cgo")
}

func numberC(Level, *Grid, []float32, []float32, []float32, []uint32, []uint32, []uint32) bool {
	panic("native: built without cgo")
}

func scatterC(Level, []float32, []float32, []float32, []uint32, []uint32, []uint32, []Block) {
	panic("native: built without cgo")
}

func transposeC(Level, []Block, int, int, int) { panic("native: built without cgo") }
