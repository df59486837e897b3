package rigid

import "github.com/evertick/evertick/native"

// The kernels of BroadPhase, on the level asked for. Sorting and scattering compute nothing:
// C has one form for all levels.

func measure(level native.Level, boxes *Boxes, which []uint64, lo, hi int, ids []uint32, sum *summary) {
	if level == native.Go {
		measureGo(boxes, which, lo, hi, ids, sum)
	} else {
		measureC(level, boxes, which, lo, hi, ids, sum)
	}
}

func keys(level native.Level, p *gridPlan, ids []uint32, layers []layer, to []uint64) {
	if level == native.Go {
		keysGo(p, ids, layers, to)
	} else {
		keysC(p, ids, layers, to)
	}
}

// sortKeys sorts keys by count bits behind the shape. It returns the one of keys and tmp
// that holds the result: tmp if sortPasses is odd.
func sortKeys(level native.Level, keys, tmp []uint64, count uint) []uint64 {
	if level == native.Go {
		keys, _ = sortKeysGo(keys, tmp, count)
	} else {
		keys, _ = sortKeysC(keys, tmp, count)
	}
	return keys
}

func countKeys(level native.Level, keys []uint64, shift uint, counts *[maxParts]uint32) {
	if level == native.Go {
		countKeysGo(keys, shift, counts)
	} else {
		countKeysC(keys, shift, counts)
	}
}

func scatterKeys(level native.Level, keys []uint64, shift uint, next *[maxParts]uint32, to []uint64) {
	if level == native.Go {
		scatterKeysGo(keys, shift, next, to)
	} else {
		scatterKeysC(keys, shift, next, to)
	}
}

func countRows(level native.Level, keys []uint64, shift uint) int {
	if level == native.Go {
		return countRowsGo(keys, shift)
	}
	return countRowsC(keys, shift)
}

func fillRows(level native.Level, boxes *Boxes, p *gridPlan, s *grid, lo, hi, rows int, layers []layer) int {
	if level == native.Go {
		return fillRowsGo(boxes, p, s, lo, hi, rows, layers)
	}
	return fillRowsC(boxes, p, s, lo, hi, rows, layers)
}

func searchLayer(level native.Level, s, _ *grid, l, k *layer, from uint32, to *pairBuffer) uint32 {
	if level == native.Go {
		return searchLayerGo(s, l, k, from, to)
	}
	if l.Rows > 1 {
		level = eightLanes(level)
	}
	return searchLayerC(level, s, l, k, from, to)
}

func searchRows(level native.Level, s, t *grid, l, k *layer, from uint32, to *pairBuffer) uint32 {
	if level == native.Go {
		return searchRowsGo(s, t, l, k, from, to)
	}
	return searchRowsC(eightLanes(level), s, t, l, k, from, to)
}

func searchDirectory(level native.Level, s, t *grid, l, k *layer, from uint32, to *pairBuffer) uint32 {
	if level == native.Go {
		return searchDirectoryGo(s, t, l, k, from, to)
	}
	return searchDirectoryC(eightLanes(level), s, t, l, k, from, to)
}

func scatterPairs(level native.Level, raw *pairBuffer, lo uint32, ends []uint32, out *Pairs) uint32 {
	if level == native.Go {
		return scatterPairsGo(raw, lo, ends, out)
	}
	return scatterPairsC(raw, lo, ends, out)
}

func countPairs(level native.Level, raw *pairBuffer, shift uint) {
	if level == native.Go {
		countPairsGo(raw, shift)
	} else {
		countPairsC(raw, shift)
	}
}

func partition(level native.Level, raw *pairBuffer, shift uint, to *pairBuffer) {
	if level == native.Go {
		partitionGo(raw, shift, to)
	} else {
		partitionC(raw, shift, to)
	}
}

func bruteForceRow(level native.Level, c *bruteForce, i int, r *pairFilter, most pairLimits, to []uint32) int {
	if level == native.Go {
		return bruteForceRowGo(c, i, r, most, to)
	}
	return bruteForceRowC(level, c, i, r, most, to)
}

// eightLanes is the level for kernels that 16 lanes do not make faster: shapes have few
// vertices, and boxes few neighbours, and wide loads from anywhere cross more
// cache lines.
func eightLanes(l native.Level) native.Level {
	if l == native.AVX512 {
		return native.AVX2
	}
	return l
}
