package spatial

import "github.com/evertick/evertick/internal/neighbours"

// Disorder returns how far apart in memory the rows of points are that are next to each other in the grid: the mean
// distance between successive slots of SortPermutation, divided by (highest slot + 2) / 3, which is that mean for slots
// in random order. So it is about 1 for rows that have nothing to do with space, nearly 0 after World.Reorder has put them
// in the order of SortPermutation, and it grows as points move. With fewer than two points it is 0.
//
// It depends on the points alone, and is the same on every machine and level: it adds integers and divides once. It takes
// a pass over the slots, a fraction of the time of Build.
func (ix *Index) Disorder() float64 {
	if ix.n < 2 {
		return 0
	}
	sum, highest := uint64(0), uint32(0)
	last := ix.points.Blocks[0].Slot[0]
	for i := 0; i < ix.n; i += neighbours.BlockLen {
		for _, slot := range ix.points.Blocks[i/neighbours.BlockLen].Slot[:min(neighbours.BlockLen, ix.n-i)] {
			sum += uint64(max(slot, last) - min(slot, last))
			highest = max(highest, slot)
			last = slot
		}
	}
	// Both are below 2^53, as there are at most 2^24 slots.
	return float64(3*sum) / float64(uint64(ix.n-1)*(uint64(highest)+2))
}
