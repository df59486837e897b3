package spatial

import "github.com/evertick/evertick/native"

// Disorder returns how far apart in memory the rows of points are that are next to each other in the grid: the mean
// distance of successive slots of SortPermutation, divided by a third of the highest slot + 2, which is that mean for slots in
// random order. So it is about 1 for rows that have nothing to do with space, nearly 0 after the rows were reordered
// by SortPermutation, and grows as points move. Fewer than two points have 0.
//
// It is a function of the points alone, the same on every machine and level: all sums are of integers, and there is one
// division. It takes a pass over the slots, a fraction of the time of Build.
func (ix *Index) Disorder() float64 {
	if ix.n < 2 {
		return 0
	}
	sum, highest := uint64(0), uint32(0)
	last := ix.points.Blocks[0].Slot[0]
	for i := 0; i < ix.n; i += native.BlockLen {
		for _, slot := range ix.points.Blocks[i/native.BlockLen].Slot[:min(native.BlockLen, ix.n-i)] {
			sum += uint64(max(slot, last) - min(slot, last))
			highest = max(highest, slot)
			last = slot
		}
	}
	// Both are below 2^53, as there are at most 2^24 slots.
	return float64(3*sum) / float64(uint64(ix.n-1)*(uint64(highest)+2))
}
