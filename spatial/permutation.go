package spatial

import (
	"slices"

	"github.com/evertick/evertick/native"
)

// SortPermutation returns the slots of the index in grid order (cells by z, y,
// x, then slot), in the memory of dst if they fit: pass the previous result to
// allocate nothing. It is the row of a query in order Grid that takes in every
// point.
//
// Columns whose rows stand in this order have neighbours next to each other: queries
// and whatever follows them walk through memory instead of jumping. To reorder
// columns of your own (an ecs.World keeps its rows), give row i of each what row
// perm[i] had, and translate slots that are kept elsewhere:
//
//	perm = index.SortPermutation(perm)
//	for i, old := range perm {
//		newX[i] = x[old]
//	}
//
// and build the index again, over slots 0 to len(perm)-1: its permutation is
// then 0, 1, 2, …, until points move to other cells.
func (ix *Index) SortPermutation(dst []uint32) []uint32 {
	dst = slices.Grow(dst[:0], ix.n)[:ix.n]
	for i := 0; i < ix.n; i += native.BlockLen {
		copy(dst[i:], ix.points.Blocks[i/native.BlockLen].Slot[:])
	}
	return dst
}
