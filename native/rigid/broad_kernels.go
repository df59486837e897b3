package rigid

import "github.com/evertick/evertick/native"

// The kernels of Broad, on the level asked for. Sorting and scattering compute nothing:
// C has one form for all levels.

func measure(level native.Level, boxes *Boxes, which []uint64, ids []uint32, sum *summary) {
	if level == native.Go {
		measureGo(boxes, which, ids, sum)
	} else {
		measureC(level, boxes, which, ids, sum)
	}
}

func keys(level native.Level, p *plan, layers []layer, to []uint64) {
	if level == native.Go {
		keysGo(p, layers, to)
	} else {
		keysC(p, layers, to)
	}
}

// sortKeys sorts the first n keys, whose highest count bits decide.
func sortKeys(level native.Level, s *sorted, n uint32, count uint) {
	if level == native.Go {
		s.keys, s.tmp = sortKeysGo(s.keys[:n], s.tmp[:n], count)
	} else {
		s.keys, s.tmp = sortKeysC(s.keys[:n], s.tmp[:n], count)
	}
}

func place(level native.Level, boxes *Boxes, p *plan, s *sorted) {
	if level == native.Go {
		placeGo(boxes, p, s)
	} else {
		placeC(boxes, p, s)
	}
}

func sweep(level native.Level, s, _ *sorted, l, _ *layer, from uint32, to *found) uint32 {
	if level == native.Go {
		return sweepGo(s, l, from, to)
	}
	if l.Rows > 1 {
		level = eightLanes(level)
	}
	return sweepC(level, s, l, from, to)
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

func scatter(level native.Level, raw *found, ends []uint32, out *Pairs) uint32 {
	if level == native.Go {
		return scatterGo(raw, ends, out)
	}
	return scatterC(raw, ends, out)
}

func crowdRow(level native.Level, c *crowd, i int, r *rule, to []uint32) int {
	if level == native.Go {
		return crowdRowGo(c, i, r, to)
	}
	return crowdRowC(level, c, i, r, to)
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
