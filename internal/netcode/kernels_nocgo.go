//go:build !cgo || purego || 386 || arm || mips || mipsle

package netcode

import "github.com/evertick/evertick/native"

// Without cgo only level Go is left, which calls none of these.

const withoutCgo = "netcode: built without cgo"

func quantiseC(native.Level, []int32, []float32, float32, int32)         { panic(withoutCgo) }
func quantiseAngleC(native.Level, []int32, []float32, int)               { panic(withoutCgo) }
func quantisePlanarC(native.Level, []int32, []float32, []float32, int)   { panic(withoutCgo) }
func quantiseQuatC(native.Level, QuatLanes, native.Quat, float32, int32) { panic(withoutCgo) }
func mergeC([]uint32, []uint32, []uint64, *Merged)                       { panic(withoutCgo) }
func gatherRecordsC([]uint32, *Source, *Source, uint, *Gathered)         { panic(withoutCgo) }
func deltaC(native.Level, []int32, int, int, int, int, *DeltaLanes, []uint32, []uint64, []uint64) {
	panic(withoutCgo)
}
