//go:build !cgo || purego || 386 || arm || mips || mipsle

package neighbours

import "github.com/evertick/evertick/native"

// Without cgo only level Go is left, which calls none of these.

const withoutCgo = "neighbours: built without cgo"

func radiusC(native.Level, *Grid, *Points, *Queries, *Rows) int    { panic(withoutCgo) }
func countC(native.Level, *Grid, *Points, *Queries, []uint32) bool { panic(withoutCgo) }
func knnC(native.Level, *Grid, *Points, *NearestQueries, []uint32, []uint32, []float32) int {
	panic(withoutCgo)
}
func selfC(native.Level, *Grid, *Points, *SelfQuery, int, int, *Rows, *Packed) int { panic(withoutCgo) }
func overlapC(native.Level, *Grid, *Points, *Boxes, *Filter, *Rows) int            { panic(withoutCgo) }
func rayClosestC(native.Level, *Points, *Spheres, *Filter, *Tracer, []uint32, []float32) {
	panic(withoutCgo)
}
func rayAllC(native.Level, *Points, *Spheres, *Filter, *Tracer, *Rows) int { panic(withoutCgo) }
func liveC(native.Level, *Points, []uint64, []uint16)                      { panic(withoutCgo) }
func keepLiveC([]uint64, int, []uint32, []uint32, []float32)               { panic(withoutCgo) }
func scatterRowsC(*Rows, int, []uint32, *RowsTo) int                       { panic(withoutCgo) }
func sortRowsC(native.Level, RowOrder, int, int, []uint32, []uint32, []float32, []uint64) bool {
	panic(withoutCgo)
}

func weighC(native.Level, Weight, float32, []float32, []uint32, []float32, []float32) {
	panic(withoutCgo)
}
func fillRecordsC([][]float32, float32, []uint32, int, int, []Record)   { panic(withoutCgo) }
func spreadRecordsC([][]Record, []int, []uint32, int, int, [][]float32) { panic(withoutCgo) }
func sumRowsC(native.Level, *RowSums)                                   { panic(withoutCgo) }

func measureC(native.Level, []float32, []float32, []float32, []uint32) (lo, hi [3]float32, ok bool) {
	panic(withoutCgo)
}
func sampleC(native.Level, []float32, []float32, []float32, []uint32, uint32, []uint32, int) int {
	panic(withoutCgo)
}
func buildC(native.Level, *Grid, []float32, []float32, []float32, []uint32, *Points, []uint32) bool {
	panic(withoutCgo)
}
func numberC(native.Level, *Grid, []float32, []float32, []float32, []uint32, []uint32, []uint32) bool {
	panic(withoutCgo)
}
func scatterC(native.Level, []float32, []float32, []float32, []uint32, []uint32, []uint32, []Block) {
	panic(withoutCgo)
}
func transposeC(native.Level, []Block, int, int, int) { panic(withoutCgo) }

func streamC(native.Level, *Sieve, *Columns, int, int, *Hits) (int, Stop) { panic(withoutCgo) }
func sweepC(native.Level, *Sieve, *Columns, *Position, int, *Hits) bool   { panic(withoutCgo) }
