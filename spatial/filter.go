package spatial

import "github.com/evertick/evertick/internal/neighbours"

// SetCategories gives each point a set of up to 32 categories: category[s] belongs to
// slot s. Queries.Mask selects by them until the next Build; a point of an index
// without categories is in all of them. SetCategories reads the column and does not
// keep it. As during Build, no other call may use the index meanwhile. It panics if
// category is shorter than the columns that the index was built from.
func (ix *Index) SetCategories(category []uint32) {
	if len(category) < ix.points.Limit {
		panic("spatial: SetCategories: category is shorter than the columns of Build")
	}
	if ix.n == 0 {
		return // it stays an index without categories, as which a Snapshot restores it
	}
	ix.category = resize(ix.category, len(ix.points.Blocks)*neighbours.BlockLen)
	p := &ix.points
	p.Category = ix.category
	for b := range p.Blocks {
		slots := p.Blocks[b].Slot[:min(neighbours.BlockLen, ix.n-b*neighbours.BlockLen)]
		to := p.Category[b*neighbours.BlockLen:][:neighbours.BlockLen]
		for i, s := range slots {
			to[i] = category[s]
		}
	}
}

// checkLive panics if a bitmap lacks bits, or if the index was not made by New. A nil
// bitmap is allowed.
func (ix *Index) checkLive(live []uint64) {
	ix.mustBeInitialized()
	if live != nil && len(live) < (ix.points.Limit+63)/64 {
		panic(shortLive)
	}
}

const shortLive = "spatial: Live is shorter than the columns of Build"

// liveBits is a bitmap by slot in the form of the kernels.
type liveBits struct {
	bits []uint16 // nil: no filter
	room []uint16
}

func (l *liveBits) set(ix *Index, live []uint64) {
	ix.checkLive(live)
	if l.bits = nil; live == nil {
		return
	}
	if l.room = resize(l.room, len(ix.points.Blocks)); l.room == nil {
		l.room = []uint16{} // nil stands for no filter
	}
	neighbours.Live(ix.level, &ix.points, live, l.room)
	l.bits = l.room
}

// cut returns the part of a filter, which may be nil, for queries first to last-1.
func cut(filter []uint32, first, last int) []uint32 {
	if filter == nil {
		return nil
	}
	return filter[first:last]
}
