package native

// Traced returns how many spheres the last rays were tested with.
func Traced(tr *Tracer) int {
	n := 0
	for _, s := range tr.spans {
		n += int(s.last - s.first)
	}
	return n
}
