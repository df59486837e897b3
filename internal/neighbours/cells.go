package neighbours

import "github.com/evertick/evertick/native"

// A Filter leaves points out of the answers to a batch of queries. The zero
// Filter leaves out none.
type Filter struct {
	Exclude []uint32 // a slot for each query, or NoSlot; nil: none
	// Mask has a set of categories for each query: a point passes if it is in one
	// of them. Nil: every point passes.
	Mask []uint32
	Live []uint16 // a bit for each lane of a block, lane 0 lowest; nil: all points are live
}

func (f *Filter) check(queries int, p *Points) {
	if f.Exclude != nil && len(f.Exclude) != queries || f.Mask != nil && len(f.Mask) != queries {
		panic("neighbours: Filter.Exclude or Mask differ in length from the queries")
	}
	if f.Live != nil && len(f.Live) < len(p.Blocks) {
		panic("neighbours: Filter.Live is too short")
	}
}

// category returns the column that masks are compared with, or nil if there is nothing to compare. Points without
// categories are in all of them, so only an empty mask leaves them out.
func (f *Filter) category(p *Points) []uint32 {
	if f.Mask == nil {
		return nil
	}
	return p.Category
}

// A queryFilter is a Filter for one query.
type queryFilter struct {
	exclude, mask uint32
	category      []uint32
	live          []uint16
	idle          bool // everything passes
}

func (f *Filter) of(i int, p *Points) queryFilter {
	s := queryFilter{exclude: native.NoSlot, mask: ^uint32(0), category: f.category(p), live: f.Live}
	if f.Exclude != nil {
		s.exclude = f.Exclude[i]
	}
	if f.Mask != nil {
		s.mask = f.Mask[i]
	}
	s.idle = s.exclude == native.NoSlot && s.category == nil && s.live == nil
	return s
}

// none reports whether the mask is empty, so that nothing passes.
func (s *queryFilter) none() bool { return s.mask == 0 }

// lanes returns the lanes of a block that pass.
func (s *queryFilter) lanes(p *Points, block int) uint32 {
	if s.idle {
		return 1<<BlockLen - 1
	}
	pass := uint32(1<<BlockLen - 1)
	if s.live != nil {
		pass = uint32(s.live[block])
	}
	for lane, slot := range p.Blocks[block].Slot {
		if slot == s.exclude {
			pass &^= 1 << lane
		}
	}
	if s.category != nil {
		for lane, c := range s.category[block*BlockLen:][:BlockLen] {
			if c&s.mask == 0 {
				pass &^= 1 << lane
			}
		}
	}
	return pass
}

const descending = "neighbours: Points.Start does not ascend"

// rowCost is the cost of visiting a row, in tested points.
const rowCost = 16

// A walk describes the rows of a box of cells: row (j, k) is the width cells from first + j*toRow + k*toLayer on,
// which are neighbours in memory.
type walk struct {
	first, width, rows, layers int32
	toRow, toLayer             int32
}

// around returns the first and the last cell, along each axis, that a query can reach from the box from lo to hi.
func (g *Grid) around(lo, hi *[3]float32, reach float32) (first, last [3]int32) {
	for a := range 3 {
		first[a], last[a] = g.Cell(a, lo[a]-reach), g.Cell(a, hi[a]+reach)
	}
	return first, last
}

// walk returns the rows of the box from cell lo to cell hi. If rows are so empty that visiting them costs more than
// testing all points from the first row to the last, it returns these as one row: a huge query visits points, not
// empty cells.
func (g *Grid) walk(start []uint32, lo, hi [3]int32) walk {
	first := (lo[2]*g.N[1]+lo[1])*g.N[0] + lo[0]
	last := (hi[2]*g.N[1]+hi[1])*g.N[0] + hi[0]
	w := walk{first, hi[0] - lo[0] + 1, hi[1] - lo[1] + 1, hi[2] - lo[2] + 1, g.N[0], g.N[0] * g.N[1]}
	if int64(w.rows)*int64(w.layers)*rowCost > int64(start[last+1])-int64(start[first]) {
		w.width, w.rows, w.layers = last-first+1, 1, 1
	}
	return w
}

// points returns the places of row (j, k), and false if start does not ascend.
func (w *walk) points(start []uint32, j, k int32) (first, last int, ok bool) {
	cells := w.first + j*w.toRow + k*w.toLayer
	f, l := start[cells], start[cells+w.width]
	return int(f), int(l), f <= l && l <= start[len(start)-1]
}
