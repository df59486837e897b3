package native

// Traced returns how many spheres the last rays were tested with.
func Traced(tr *Tracer) int {
	n := 0
	for _, s := range tr.spans {
		n += int(s.last - s.first)
	}
	return n
}

// WalkedRows returns how many rows a walk over a box of cells has.
func WalkedRows(g *Grid, start []uint32, lo, hi [3]int32) int {
	w := g.walk(start, lo, hi)
	return int(w.rows) * int(w.layers)
}
