//go:build !cgo

package native

func countC(Level, *Grid, *Points, *Queries, *Filter, []uint32) bool {
	panic("native: built without cgo")
}

func overlapC(Level, *Grid, *Points, *Boxes, *Filter, *Rows) int { panic("native: built without cgo") }

func rayClosestC(Level, *Points, *Spheres, *Filter, *Tracer, []uint32, []float32) {
	panic("native: built without cgo")
}

func rayAllC(Level, *Points, *Spheres, *Filter, *Tracer, *Rows) int {
	panic("native: built without cgo")
}
