package broad

import "github.com/evertick/evertick/native"

// kernels are the functions that have a form in C, for one level. The Go form of each is its specification.
type kernels struct {
	measure         func(boxes *Boxes, members []uint64, lo, hi int, ids []uint32, sum *summary)
	makeKeys        func(p *gridPlan, ids []uint32, layers []layer, to []uint64)
	sortKeys        func(keys, tmp []uint64, count uint) (sorted, rest []uint64)
	countKeys       func(keys []uint64, shift uint, counts *[maxParts]uint32)
	scatterKeys     func(keys []uint64, shift uint, next *[maxParts]uint32, to []uint64)
	countRows       func(keys []uint64, shift uint) int
	fillRows        func(boxes *Boxes, p *gridPlan, s *Grid, lo, hi, rows int, layers []layer) int
	searchLayer     searchKernel
	searchRows      searchKernel
	searchDirectory searchKernel
	countPairs      func(p *pairBuffer, shift uint)
	partition       func(p *pairBuffer, shift uint, to *pairBuffer)
	scatterPairs    func(a, b []uint32, lo uint32, ends []uint32, out Pairs) (longest uint32)
	sortRows        func(ends, s, tmp []uint32)
	bruteForceRow   func(c *bruteForce, i int, r *pairFilter, limits pairLimits, to []uint32) int
}

var goKernels = kernels{
	measure: measureGo, makeKeys: makeKeysGo, sortKeys: sortKeysGo, countKeys: countKeysGo, scatterKeys: scatterKeysGo,
	countRows: countRowsGo, fillRows: fillRowsGo, searchLayer: searchLayerGo, searchRows: searchRowsGo,
	searchDirectory: searchDirectoryGo, countPairs: countPairsGo, partition: partitionGo, scatterPairs: scatterPairsGo,
	sortRows: sortRowsGo, bruteForceRow: bruteForceRowGo,
}

// fewBoxes is the number of boxes up to which Go has sorted them before a call of C, about 40 ns, has begun. Tests of
// kernels set it to 0.
var fewBoxes = 8

// kernelsFor returns the kernels of a level for n boxes. It panics if native.Resolve refuses the level.
func kernelsFor(l native.Level, n int) *kernels {
	l, err := native.Resolve(l)
	if err != nil {
		panic("broad: the level cannot run here; see native.Resolve")
	}
	if l == native.Go || n <= fewBoxes {
		return &goKernels
	}
	return &cKernels[l-native.C]
}
