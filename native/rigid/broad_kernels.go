package rigid

import "github.com/evertick/evertick/native"

// The kernels of Broad on the level asked for.

func measure(level native.Level, boxes *Boxes, which []uint64, ids []uint32, sum *summary) {
	measureGo(boxes, which, ids, sum)
}

func keys(level native.Level, p *plan, layers []layer, to []uint64) {
	keysGo(p, layers, to)
}

// sortKeys sorts the first n keys, whose highest count bits decide.
func sortKeys(level native.Level, s *sorted, n uint32, count uint) {
	keys, tmp := sortKeysGo(s.keys[:n], s.tmp[:n], count)
	s.keys, s.tmp = keys, tmp
}

func place(level native.Level, boxes *Boxes, body []uint32, p *plan, s *sorted) {
	placeGo(boxes, body, p, s)
}

func sweep(level native.Level, s, _ *sorted, l, _ *layer, from uint32, to *found) uint32 {
	return sweepGo(s, l, from, to)
}

func span(level native.Level, s, t *sorted, l, k *layer, from uint32, to *found) uint32 {
	return spanGo(s, t, l, k, from, to)
}

func cross(level native.Level, s, t *sorted, l, k *layer, from uint32, to *found) uint32 {
	return crossGo(s, t, l, k, from, to)
}

func scatter(level native.Level, n int, raw *found, ends []uint32, out *Pairs) uint32 {
	return scatterGo(n, raw, ends, out)
}
