package native

import (
	"math"
	"math/bits"
)

// Pad is the number of elements that Rows needs beyond its results, so that a
// kernel may store whole vectors.
const Pad = BlockLen

// Queries are centres and radii: a point is within when
//
//	(dx*dx + dy*dy) + dz*dz <= r*r
//
// with d = point - centre, each operation rounded to float32. All values are
// finite and radii not negative; but r*r may overflow to +Inf, and then every
// point is within. Exclude is nil, or names for each query a slot left out.
type Queries struct {
	X, Y, Z, Radius []float32
	Exclude         []uint32
}

func (q *Queries) check() {
	n := len(q.X)
	if len(q.Y) != n || len(q.Z) != n || len(q.Radius) != n || q.Exclude != nil && len(q.Exclude) != n {
		panic("native: Radius: Queries differ in length")
	}
}

// Rows collects the answers: row q ends before Ends[q] and begins where row q-1
// ends, the first at Fill. Dist2 is nil, or as long as Slots.
type Rows struct {
	BySlot bool // sort each row by slot; else it is in grid order (cell, then place)
	Ends   []uint32
	Slots  []uint32
	Dist2  []float32
	Fill   int

	marks       []uint64 // a bit per slot, then the two summaries; zero between calls
	markWords   int
	dist2OfSlot []float32
}

func (r *Rows) check(queries int) {
	if len(r.Ends) < queries || r.Dist2 != nil && len(r.Dist2) != len(r.Slots) {
		panic("native: Radius: Rows differ in length")
	}
	if r.Fill < 0 || r.Fill > len(r.Slots) || uint64(len(r.Slots)) > math.MaxUint32 {
		panic("native: Radius: Rows.Fill or the length of Rows.Slots is out of range")
	}
}

// reserve prepares the scratch for slots below n.
func (r *Rows) reserve(n int) {
	words := (n + 63) / 64
	mid := (words + 63) / 64
	top := (mid + 63) / 64
	if words > r.markWords {
		r.markWords = words
		r.marks = make([]uint64, words+mid+top)
	}
	if r.Dist2 != nil && len(r.dist2OfSlot) < 64*r.markWords {
		r.dist2OfSlot = make([]float32, 64*r.markWords)
	}
}

// Radius answers as many queries as fit into rows and returns their number;
// Fill is then the end of the last answered row. When the number is less than
// len(q.X), give rows more room and call again with the remaining queries: room
// for all points and Pad more is always enough for one row. It panics when
// lengths do not fit or Points contradicts itself, and on a level that Resolve
// refuses.
func Radius(level Level, g *Grid, p *Points, q *Queries, rows *Rows) int {
	if len(q.X) == 0 {
		return 0
	}
	p.check(g)
	q.check()
	rows.check(len(q.X))
	if rows.BySlot {
		rows.reserve(p.Limit)
	}
	var done int
	if level = must(level); level == Go {
		done = radiusGo(g, p, q, rows)
	} else {
		done = radiusC(level, g, p, q, rows)
	}
	if done < 0 {
		rows.marks, rows.markWords = nil, 0 // some may be left set
		panic("native: Points.Start does not ascend, or a slot is not below Points.Limit")
	}
	if done > 0 {
		rows.Fill = int(rows.Ends[done-1])
	}
	return done
}

// Reach bounds how far from the centre, along any axis, the membership test can
// accept a point: r and a little more.
//
// Let fl round to nearest, u = 2^-24 and r2 = fl(r*r). A point that passes has
// fl(dx*dx) <= r2, because adding the other two squares cannot lower the sum:
// they are not negative and rounding is monotone. Where nothing underflows that
// gives |dx|(1-u)^½ <= r(1+u)^½, and an underflow moves a square by at most
// 2^-150, so |dx| <= r(1+2u) + 2^-74. dx itself is a rounded difference, exact
// where it underflows: the true distance along x is at most |dx|(1+u). All of
// it is below r(1+2^-21) + 2^-71, and the value returned, itself rounded three
// times, is above. A coordinate p in [c-reach, c+reach] is also in
// [fl(c-reach), fl(c+reach)], since p is a float and rounding is monotone: the
// cells of these two ends enclose the cell of every point that passes,
// whatever the cell size.
//
// When r2 overflows every point passes, and the reach is infinite.
func Reach(r float32) float32 {
	if r2 := r * r; r2 > math.MaxFloat32 {
		return r2
	}
	return float32(r*(1+0x1p-20)) + 0x1p-70
}

// box is a range of cells: first and last along each axis, and how many cells
// the axis has.
type box struct{ lo, hi, n [3]int32 }

func boxAround(g *Grid, centre [3]float32, reach float32) box {
	b := box{n: g.N}
	for a, c := range centre {
		b.lo[a] = g.Cell(a, c-reach)
		b.hi[a] = g.Cell(a, c+reach)
	}
	b.fold(1)
	b.fold(2)
	return b
}

// fold makes a box as wide as the grid one run of cells by folding the next
// axis into x: a huge radius walks over points, not over rows of empty cells.
func (b *box) fold(axis int) {
	if b.lo[0] != 0 || b.hi[0] != b.n[0]-1 {
		return
	}
	b.lo[0] = b.lo[axis] * b.n[0]
	b.hi[0] = b.hi[axis]*b.n[0] + b.n[0] - 1
	b.n[0] *= b.n[axis]
	b.lo[axis], b.hi[axis], b.n[axis] = 0, 0, 1
}

// radiusGo is the pure-Go kernel. Its inner loop stores every candidate and
// advances past the hits only, so that no branch depends on the data.
func radiusGo(g *Grid, p *Points, q *Queries, rows *Rows) int {
	fill := rows.Fill
	total := p.Start[len(p.Start)-1]
	for i := range q.X {
		centre := [3]float32{q.X[i], q.Y[i], q.Z[i]}
		r2 := q.Radius[i] * q.Radius[i]
		exclude := uint32(NoSlot)
		if q.Exclude != nil {
			exclude = q.Exclude[i]
		}
		b := boxAround(g, centre, Reach(q.Radius[i]))
		row := fill
		for k := b.lo[2]; k <= b.hi[2]; k++ {
			for j := b.lo[1]; j <= b.hi[1]; j++ {
				cells := (k*b.n[1] + j) * b.n[0]
				first, last := p.Start[cells+b.lo[0]], p.Start[cells+b.hi[0]+1]
				if first > last || last > total {
					return -1
				}
				if int(last-first) >= len(rows.Slots)-fill {
					return i
				}
				fill = scan(p, int(first), int(last), centre, r2, exclude, rows, fill)
			}
		}
		if rows.BySlot && !rows.sort(row, fill) {
			return -1
		}
		rows.Ends[i] = uint32(fill)
	}
	return len(q.X)
}

func scan(p *Points, first, last int, centre [3]float32, r2 float32, exclude uint32, rows *Rows, fill int) int {
	out := rows.Slots[fill : fill+last-first+1]
	n := 0
	for at := first; at < last; at = at/BlockLen*BlockLen + BlockLen {
		b := &p.Blocks[at/BlockLen]
		end := min(last-at/BlockLen*BlockLen, BlockLen)
		for i := at % BlockLen; i < end; i++ {
			dx, dy, dz := b.X[i%BlockLen]-centre[0], b.Y[i%BlockLen]-centre[1], b.Z[i%BlockLen]-centre[2]
			d2 := float32(float32(dx*dx)+float32(dy*dy)) + float32(dz*dz)
			slot := b.Slot[i%BlockLen]
			out[n] = slot
			if rows.Dist2 != nil {
				rows.Dist2[fill+n] = d2
			}
			n += within(d2, r2, slot, exclude)
		}
	}
	return fill + n
}

// within is 1 for a hit and 0 for a miss; the compiler turns both tests into
// set instructions.
func within(d2, r2 float32, slot, exclude uint32) int {
	near, other := 0, 0
	if d2 <= r2 {
		near = 1
	}
	if slot != exclude {
		other = 1
	}
	return near & other
}

// sort orders Slots[from:to] by slot, and returns false if one of them has no
// mark: each slot sets its bit in a bitmap, and
// the bits are read back in order. Two summary levels above the bitmap, a bit
// per word below, lead from one used word to the next.
func (r *Rows) sort(from, to int) bool {
	if to-from < 2 {
		return true
	}
	level := r.marks[:r.markWords]
	mid := r.marks[r.markWords:][:(r.markWords+63)/64]
	top := r.marks[r.markWords+len(mid):]
	for i, slot := range r.Slots[from:to] {
		if int(slot>>6) >= len(level) {
			return false
		}
		level[slot>>6] |= 1 << (slot & 63)
		mid[slot>>12] |= 1 << (slot >> 6 & 63)
		top[slot>>18] |= 1 << (slot >> 12 & 63)
		if r.Dist2 != nil {
			r.dist2OfSlot[slot] = r.Dist2[from+i]
		}
	}
	for t := range top {
		for ; top[t] != 0; top[t] &= top[t] - 1 {
			m := t<<6 | bits.TrailingZeros64(top[t])
			for ; mid[m] != 0; mid[m] &= mid[m] - 1 {
				w := m<<6 | bits.TrailingZeros64(mid[m])
				for ; level[w] != 0; level[w] &= level[w] - 1 {
					slot := uint32(w<<6 | bits.TrailingZeros64(level[w]))
					if r.Dist2 != nil {
						r.Dist2[from] = r.dist2OfSlot[slot]
					}
					r.Slots[from] = slot
					from++
				}
			}
		}
	}
	return true
}
