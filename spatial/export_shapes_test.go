package spatial

import "github.com/evertick/evertick/native"

// SetCategories gives every point the categories of its slot.
func SetCategories(ix *Index, ofSlot func(uint32) uint32) {
	ix.points.Category = make([]uint32, native.BlockLen*len(ix.points.Blocks))
	for at := range ix.n {
		_, _, _, slot := ix.point(at)
		ix.points.Category[at] = ofSlot(slot)
	}
}
