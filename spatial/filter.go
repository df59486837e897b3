package spatial

import "github.com/evertick/evertick/native"

// SetCategories gives each point a set of up to 32 categories: category[s] is that
// of slot s. They are what Queries.Mask is compared with, until the next Build; a
// point of an index without categories is in all of them. The column is read now
// and not kept. It panics if category is shorter than the columns that the index
// was built from.
func (ix *Index) SetCategories(category []uint32) {
	if len(category) < ix.points.Limit {
		panic("spatial: SetCategories: category is shorter than the columns of Build")
	}
	ix.category = resize(ix.category, len(ix.points.Blocks)*native.BlockLen)
	p := &ix.points
	p.Category = ix.category
	for b := range p.Blocks {
		slots := p.Blocks[b].Slot[:min(native.BlockLen, ix.n-b*native.BlockLen)]
		to := p.Category[b*native.BlockLen:][:native.BlockLen]
		for i, s := range slots {
			to[i] = category[s]
		}
	}
}

// checkLive panics if a bitmap, which may be nil, lacks bits.
func (ix *Index) checkLive(live []uint64) {
	if live != nil && len(live) < (ix.points.Limit+63)/64 {
		panic("spatial: Queries: Live is shorter than the columns of Build")
	}
}

// liveLanes brings a bitmap into the form of the kernels, using to where it is
// large enough.
func (ix *Index) liveLanes(live []uint64, to []uint16) []uint16 {
	ix.checkLive(live)
	if live == nil {
		return to
	}
	to = resize(to, len(ix.points.Blocks))
	native.Live(ix.level, &ix.points, live, to)
	return to
}
