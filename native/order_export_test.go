package native

// SetScratch replaces the scratch of a sort.
func (s *Sorter) SetScratch(scratch []uint64) { s.scratch = scratch }

// ScratchLen returns the length of the scratch that a level needs for rows of up
// to n.
func ScratchLen(level Level, n int) int {
	if level == Go {
		return 2 * (n + pieceLen)
	}
	if n > mergedRow {
		return 2 * n
	}
	return 0
}
