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

func keys(level native.Level, p *plan, ids []uint32, layers []layer, to []uint64) {
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

func spread(level native.Level, keys []uint64, shift uint, next *[maxParts]uint32, to []uint64) {
	if level == native.Go {
		spreadGo(keys, shift, next, to)
	} else {
		spreadC(keys, shift, next, to)
	}
}

func countRows(level native.Level, keys []uint64, shift uint) int {
	if level == native.Go {
		return countRowsGo(keys, shift)
	}
	return countRowsC(keys, shift)
}

func place(level native.Level, boxes *Boxes, p *plan, s *sorted, lo, hi, rows int, layers []layer) int {
	if level == native.Go {
		return placeGo(boxes, p, s, lo, hi, rows, layers)
	}
	return placeC(boxes, p, s, lo, hi, rows, layers)
}

func sweep(level native.Level, s, _ *sorted, l, k *layer, from uint32, to *found) uint32 {
	if level == native.Go {
		return sweepGo(s, l, k, from, to)
	}
	if l.Rows > 1 {
		level = eightLanes(level)
	}
	return sweepC(level, s, l, k, from, to)
}

func span(level native.Level, s, t *sorted, l, k *layer, from uint32, to *found) uint32 {
	if level == native.Go {
		return spanGo(s, t, l, k, from, to)
	}
	return spanC(eightLanes(level), s, t, l, k, from, to)
}

func cross(level native.Level, s, t *sorted, l, k *layer, from uint32, to *found) uint32 {
	if level == native.Go {
		return crossGo(s, t, l, k, from, to)
	}
	return crossC(eightLanes(level), s, t, l, k, from, to)
}

func scatter(level native.Level, raw *found, lo uint32, ends []uint32, out *Pairs) uint32 {
	if level == native.Go {
		return scatterGo(raw, lo, ends, out)
	}
	return scatterC(raw, lo, ends, out)
}

func countPairs(level native.Level, raw *found, shift uint) {
	if level == native.Go {
		countPairsGo(raw, shift)
	} else {
		countPairsC(raw, shift)
	}
}

func divide(level native.Level, raw *found, shift uint, to *found) {
	if level == native.Go {
		divideGo(raw, shift, to)
	} else {
		divideC(raw, shift, to)
	}
}

func crowdRow(level native.Level, c *crowd, i int, r *rule, most bounds, to []uint32) int {
	if level == native.Go {
		return crowdRowGo(c, i, r, most, to)
	}
	return crowdRowC(level, c, i, r, most, to)
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
