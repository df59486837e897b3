//go:build !cgo

package rigid

import "github.com/evertick/evertick/native"

const withoutCgo = "rigid: built without cgo"

func boundsC(native.Level, []Shape, []uint32, *Poses, float32, *Boxes) int { panic(withoutCgo) }

func measureC(native.Level, *Boxes, []uint64, int, int, []uint32, *summary) { panic(withoutCgo) }

func keysC(*gridPlan, []uint32, []layer, []uint64) { panic(withoutCgo) }

func sortKeysC(_, _ []uint64, _ uint) ([]uint64, []uint64) { panic(withoutCgo) }

func fillRowsC(_ *Boxes, _ *gridPlan, _ *grid, _, _, _ int, _ []layer) int { panic(withoutCgo) }

func searchLayerC(_ native.Level, _ *grid, _, _ *layer, _ uint32, _ *pairBuffer) uint32 {
	panic(withoutCgo)
}

func searchRowsC(_ native.Level, _, _ *grid, _, _ *layer, _ uint32, _ *pairBuffer) uint32 {
	panic(withoutCgo)
}

func searchDirectoryC(_ native.Level, _, _ *grid, _, _ *layer, _ uint32, _ *pairBuffer) uint32 {
	panic(withoutCgo)
}

func scatterPairsC(*pairBuffer, uint32, []uint32, *Pairs) uint32 { panic(withoutCgo) }

func bruteForceRowC(native.Level, *bruteForce, int, *pairFilter, pairLimits, []uint32) int {
	panic(withoutCgo)
}

func countKeysC([]uint64, uint, *[maxParts]uint32) { panic(withoutCgo) }

func scatterKeysC([]uint64, uint, *[maxParts]uint32, []uint64) { panic(withoutCgo) }

func countRowsC([]uint64, uint) int { panic(withoutCgo) }

func countPairsC(*pairBuffer, uint) { panic(withoutCgo) }

func partitionC(*pairBuffer, uint, *pairBuffer) { panic(withoutCgo) }
