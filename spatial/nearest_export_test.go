package spatial

import "github.com/evertick/evertick/native"

// Categorise gives the points of the last Build categories by slot.
func Categorise(ix *Index, of func(slot uint32) uint32) {
	p := &ix.points
	p.Category = make([]uint32, native.BlockLen*len(p.Blocks))
	for at := range p.Len() {
		p.Category[at] = of(p.Blocks[at/native.BlockLen].Slot[at%native.BlockLen])
	}
}
