package neighbours

import (
	"math"

	"github.com/evertick/evertick/native"
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
// point is within.
//
// Three filters may be nil. Exclude names for each query a slot to leave out. Mask holds for each query a set of
// categories: points in none of them are left out. Live has BlockLen bits for each block of the points: points whose
// bit is zero are left out for all queries.
type Queries struct {
	X, Y, Z, Radius []float32
	Exclude, Mask   []uint32
	Live            []uint16
}

func (q *Queries) check() {
	n := len(q.X)
	if len(q.Y) != n || len(q.Z) != n || len(q.Radius) != n ||
		q.Exclude != nil && len(q.Exclude) != n || q.Mask != nil && len(q.Mask) != n {
		panic("neighbours: Queries differ in length")
	}
}

func (q *Queries) checkLive(p *Points) {
	if q.Live != nil && len(q.Live) < len(p.Blocks) {
		panic("neighbours: Queries.Live is too short")
	}
}

// Rows collects the answers. Row q ends before Ends[q] and begins where row q-1 ends; the first begins at Fill. A row
// is in grid order: cells by z, y, x, then place. Dist2 is nil, or as long as Slots, and holds the squared distances,
// or what a search defines in their place.
type Rows struct {
	Ends  []uint32
	Slots []uint32
	Dist2 []float32
	Fill  int
}

func (r *Rows) check(queries int) {
	if len(r.Ends) < queries || r.Dist2 != nil && len(r.Dist2) != len(r.Slots) {
		panic("neighbours: Rows differ in length")
	}
	if r.Fill < 0 || r.Fill > len(r.Slots) || uint64(len(r.Slots)) > math.MaxUint32 {
		panic("neighbours: Rows.Fill or the length of Rows.Slots is out of range")
	}
}

// room reports whether n more points and Pad would fit.
func (r *Rows) room(fill, n int) bool { return n+Pad <= len(r.Slots)-fill }

// answered updates Fill after n queries and returns n.
func (r *Rows) answered(n int) int {
	if n < 0 {
		panic(descending)
	}
	if n > 0 {
		r.Fill = int(r.Ends[n-1])
	}
	return n
}

// Radius answers as many queries as fit into rows and returns their number. Fill is then the end of the last answered
// row; the elements after it are unspecified. If the number is less than len(q.X), give rows more room and call again
// with the remaining queries. Room for all points and Pad more is always enough for one row. It panics when lengths
// do not fit or Points contradicts itself, and on a level that Resolve refuses.
func Radius(level native.Level, g *Grid, p *Points, q *Queries, rows *Rows) int {
	if len(q.X) == 0 {
		return 0
	}
	p.check(g)
	q.check()
	q.checkLive(p)
	rows.check(len(q.X))
	if level = must(level); level == native.Go {
		return rows.answered(radiusGo(g, p, q, rows))
	}
	return rows.answered(radiusC(level, g, p, q, rows))
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

// radiusGo is the pure-Go kernel.
func radiusGo(g *Grid, p *Points, q *Queries, rows *Rows) int {
	s := search{g: g, p: p, rows: rows, live: q.Live}
	fill := rows.Fill
	for i := range q.X {
		s.centre = [3]float32{q.X[i], q.Y[i], q.Z[i]}
		s.r2 = q.Radius[i] * q.Radius[i]
		s.exclude = native.NoSlot
		if q.Exclude != nil {
			s.exclude = q.Exclude[i]
		}
		s.mask, s.category = math.MaxUint32, nil
		if q.Mask != nil {
			s.mask, s.category = q.Mask[i], p.Category
		}
		if s.mask == 0 {
			rows.Ends[i] = uint32(fill)
			continue
		}
		switch end := s.row(Reach(q.Radius[i]), fill); end {
		case noRoom:
			return i
		case contradiction:
			return -1
		default:
			rows.Ends[i], fill = uint32(end), end
		}
	}
	return len(q.X)
}

// search is one query.
type search struct {
	g        *Grid
	p        *Points
	rows     *Rows
	centre   [3]float32
	r2       float32
	exclude  uint32
	mask     uint32
	category []uint32
	live     []uint16
	runs     [32]run
	n        int // runs
}

// run is a range of places.
type run struct{ first, last uint32 }

const (
	noRoom        = -1
	contradiction = -2
)

// row appends the row of a query at fill and returns its end. If there are so many rows of cells that visiting them,
// empty or not, costs more than testing all points from the first row to the last, it tests all these points instead.
func (s *search) row(reach float32, fill int) int {
	g, start := s.g, s.p.Start
	var lo, hi [3]int32
	for a, c := range s.centre {
		lo[a], hi[a] = g.Cell(a, c-reach), g.Cell(a, c+reach)
	}
	from, to := (lo[2]*g.N[1]+lo[1])*g.N[0]+lo[0], (hi[2]*g.N[1]+hi[1])*g.N[0]+hi[0]
	cellRows := int(hi[2]-lo[2]+1) * int(hi[1]-lo[1]+1)
	if int(start[to+1]-start[from])/BlockLen < cellRows {
		s.runs[0], s.n = run{start[from], start[to+1]}, 1
		return s.flush(fill)
	}
	for k := lo[2]; k <= hi[2]; k++ {
		for j := lo[1]; j <= hi[1]; j++ {
			cells := (k*g.N[1] + j) * g.N[0]
			s.runs[s.n] = run{start[cells+lo[0]], start[cells+hi[0]+1]}
			if s.n++; s.n == len(s.runs) {
				if fill = s.flush(fill); fill < 0 {
					return fill
				}
			}
		}
	}
	return s.flush(fill)
}

// flush appends the hits among the runs. Its loops store every candidate and advance after a hit only, so that no
// branch depends on the data.
func (s *search) flush(fill int) int {
	candidates, total := 0, s.p.Len()
	for _, r := range s.runs[:s.n] {
		if r.first > r.last || uint(r.last) > uint(total) {
			return contradiction
		}
		candidates += int(r.last - r.first)
	}
	if candidates >= len(s.rows.Slots)-fill {
		return noRoom
	}
	switch {
	case s.live != nil || s.category != nil:
		fill = s.filtered(fill)
	case s.rows.Dist2 != nil:
		fill = s.nearDist2(fill)
	default:
		fill = s.near(fill)
	}
	s.n = 0
	return fill
}

// near is flush without filters other than Exclude, and without distances.
func (s *search) near(fill int) int {
	blocks, out := s.p.Blocks, s.rows.Slots
	cx, cy, cz, r2, exclude := s.centre[0], s.centre[1], s.centre[2], s.r2, s.exclude
	for _, r := range s.runs[:s.n] {
		for at := r.first; at < r.last; at++ {
			b, i := &blocks[at/BlockLen], at%BlockLen
			dx, dy, dz := b.X[i]-cx, b.Y[i]-cy, b.Z[i]-cz
			d2 := float32(float32(dx*dx)+float32(dy*dy)) + float32(dz*dz)
			out[fill] = b.Slot[i]
			fill += within(d2, r2, b.Slot[i], exclude)
		}
	}
	return fill
}

// nearDist2 is near with distances.
func (s *search) nearDist2(fill int) int {
	blocks, out, dist2 := s.p.Blocks, s.rows.Slots, s.rows.Dist2
	dist2 = dist2[:len(out)]
	cx, cy, cz, r2, exclude := s.centre[0], s.centre[1], s.centre[2], s.r2, s.exclude
	for _, r := range s.runs[:s.n] {
		for at := r.first; at < r.last; at++ {
			b, i := &blocks[at/BlockLen], at%BlockLen
			dx, dy, dz := b.X[i]-cx, b.Y[i]-cy, b.Z[i]-cz
			d2 := float32(float32(dx*dx)+float32(dy*dy)) + float32(dz*dz)
			out[fill], dist2[fill] = b.Slot[i], d2
			fill += within(d2, r2, b.Slot[i], exclude)
		}
	}
	return fill
}

// filtered is flush for points that pass the filters, with distances if wanted.
func (s *search) filtered(fill int) int {
	for _, r := range s.runs[:s.n] {
		for at := r.first; at < r.last; at++ {
			b, i := &s.p.Blocks[at/BlockLen], at%BlockLen
			if s.live != nil && s.live[at/BlockLen]>>i&1 == 0 || s.category != nil && s.category[at]&s.mask == 0 {
				continue
			}
			dx, dy, dz := b.X[i]-s.centre[0], b.Y[i]-s.centre[1], b.Z[i]-s.centre[2]
			d2 := float32(float32(dx*dx)+float32(dy*dy)) + float32(dz*dz)
			s.rows.Slots[fill] = b.Slot[i]
			if s.rows.Dist2 != nil {
				s.rows.Dist2[fill] = d2
			}
			fill += within(d2, s.r2, b.Slot[i], s.exclude)
		}
	}
	return fill
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
