//go:build !cgo || 386 || arm || mips || mipsle

package native

// Without cgo only level Go is left, which calls none of these.

const withoutCgo = "native: built without cgo"

func compiled(l Level) bool { return l == Go }
func compiler() string      { return "" }

func radiusC(Level, *Grid, *Points, *Queries, *Rows) int    { panic(withoutCgo) }
func countC(Level, *Grid, *Points, *Queries, []uint32) bool { panic(withoutCgo) }
func knnC(Level, *Grid, *Points, *NearestQueries, []uint32, []uint32, []float32) int {
	panic(withoutCgo)
}
func selfC(Level, *Grid, *Points, *SelfQuery, int, int, *Rows, *Packed) int       { panic(withoutCgo) }
func overlapC(Level, *Grid, *Points, *Boxes, *Filter, *Rows) int                  { panic(withoutCgo) }
func rayClosestC(Level, *Points, *Spheres, *Filter, *Tracer, []uint32, []float32) { panic(withoutCgo) }
func rayAllC(Level, *Points, *Spheres, *Filter, *Tracer, *Rows) int               { panic(withoutCgo) }
func liveC(Level, *Points, []uint64, []uint16)                                    { panic(withoutCgo) }
func keepLiveC([]uint64, int, []uint32, []uint32, []float32)                      { panic(withoutCgo) }
func scatterRowsC(*Rows, int, []uint32, *RowsTo) int                              { panic(withoutCgo) }
func sortRowsC(Level, RowOrder, int, int, []uint32, []uint32, []float32, []uint64) bool {
	panic(withoutCgo)
}

func weighC(Level, Weight, float32, []float32, []uint32, []float32, []float32) { panic(withoutCgo) }
func fillRecordsC([][]float32, float32, []uint32, int, int, []Record)          { panic(withoutCgo) }
func spreadRecordsC([][]Record, []int, []uint32, int, int, [][]float32)        { panic(withoutCgo) }
func sumRowsC(Level, *RowSums)                                                 { panic(withoutCgo) }

func measureC(Level, []float32, []float32, []float32, []uint32) (lo, hi [3]float32, ok bool) {
	panic(withoutCgo)
}
func sampleC(Level, []float32, []float32, []float32, []uint32, uint32, []uint32, int) int {
	panic(withoutCgo)
}
func buildC(Level, *Grid, []float32, []float32, []float32, []uint32, *Points, []uint32) bool {
	panic(withoutCgo)
}
func numberC(Level, *Grid, []float32, []float32, []float32, []uint32, []uint32, []uint32) bool {
	panic(withoutCgo)
}
func scatterC(Level, []float32, []float32, []float32, []uint32, []uint32, []uint32, []Block) {
	panic(withoutCgo)
}
func transposeC(Level, []Block, int, int, int) { panic(withoutCgo) }

func streamC(Level, *Sieve, *Columns, int, int, *Hits) (int, Stop) { panic(withoutCgo) }
func sweepC(Level, *Sieve, *Columns, *Position, int, *Hits) bool   { panic(withoutCgo) }

func hasNaNC(Level, []float32) bool                                      { panic(withoutCgo) }
func hasNaN64C(Level, []float64) bool                                    { panic(withoutCgo) }
func boundsC(Level, []float32, []float32, []float32, []uint64, *finding) { panic(withoutCgo) }
func sumC(Level, []float32, []uint64) float64                            { panic(withoutCgo) }
func firstNotFiniteC(Level, []float32, []uint64) int                     { panic(withoutCgo) }
func firstBeyondC(Level, []uint32, int, []uint64) int                    { panic(withoutCgo) }
func integrateC(Level, []float32, []float32, float32, []uint64)          { panic(withoutCgo) }

func quantiseC(Level, []int32, []float32, float32, int32)        { panic(withoutCgo) }
func quantiseAngleC(Level, []int32, []float32, int)              { panic(withoutCgo) }
func quantisePlanarC(Level, []int32, []float32, []float32, int)  { panic(withoutCgo) }
func quantiseQuatC(Level, QuatLanes, Quat, float32, int32)       { panic(withoutCgo) }
func mergeC([]uint32, []uint32, []uint64, *Merged)               { panic(withoutCgo) }
func gatherRecordsC([]uint32, *Source, *Source, uint, *Gathered) { panic(withoutCgo) }
func deltaC(Level, []int32, int, int, int, int, *DeltaLanes, []uint32, []uint64, []uint64) {
	panic(withoutCgo)
}

func compareC(Level, []uint64, []float32, []float32, float32, Comparison, []uint64) {
	panic(withoutCgo)
}

var scaleKernel, affineKernel, selectKernel, dampKernel, clampKernel, wrapKernel, lerpKernel, clampLengthKernel, dist2Kernel, nlerpKernel, normalizeQuatKernel,
	integrateQuatKernel, moveKernel, copyKernel, fillKernel, gatherKernel, composeByColumnKernel, composeByRowKernel opKernel
