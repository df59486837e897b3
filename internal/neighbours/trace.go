package neighbours

import "math"

// This file finds the spheres that a ray may meet, from the cells of their centres. It computes in float64 on all
// levels, and leaves out only spheres that the test of Rays cannot accept.
//
// Let the test accept a sphere at C whose r2 did not overflow, and u = 2^-24. If the origin is inside, Reach shows
// that C is within reach(R) of O along each axis. Otherwise e <= r2, and Reach, whose argument holds for l as for a
// difference, gives |l| <= reach(R) along each axis with room to spare. l was computed from m, which differs from C -
// O by at most u|C - O|, and from s*d, rounded by u|s*d| + 2^-150. As |C - O| is at most |s*d| plus the distance looked for,
//
//	|C - (O + s*d)| <= reach(R) + 2^-22 |s*d|      along each axis, with 0 <= s
//
// for the same s and d as in the test, whatever their own errors: only an upper bound of s is needed in addition.
// entry is s - root, where root is at most sqrt(r2)*part for the largest radius, and entry*scale is at most MaxT. So
//
//	s <= (MaxT (1+2^-22) + 2^-148) / scale (1+2^-22) + root (1+2^-22) + 2^-70
//
// So all centres are in a segment that widens: along an axis where d > 0, between O - w + s d (1-2^-22) and O + w + s
// d (1+2^-22). The range of s in which it touches a slab of cells, and what it touches in a range of s, are linear.
// float64 rounds each of these sums by at most a few 2^-53 of its terms. For the terms in s, the slack of 2^-22,
// twice what was needed, is far more; for the others, w has 2^-48 of their sizes beyond reach(R).
const widening = 0x1p-22

// swath is such a segment, with the data of the grid and the points that its methods need.
type swath struct {
	d             [3]float64
	below, above  [3]float64 // O - w and O + w
	wide, tight   [3]float64 // 1 / (d (1+2^-22)) and 1 / (d (1-2^-22))
	min, max      [3]float64 // the box of the points
	corner, cells [3]float64 // of the grid: its lower corner, the size of a cell
}

// stretch is the part of a swath for s in [from, to].
type stretch struct{ from, to float64 }

func (l *swath) set(g *Grid, s *Spheres, r *ray, reach float32) {
	for a := range 3 {
		o, d := float64(r.o[a]), float64(r.d[a])
		l.d[a], l.wide[a], l.tight[a] = d, 1/float64(d*(1+widening)), 1/float64(d*(1-widening))
		l.min[a], l.max[a] = float64(s.Min[a]), float64(s.Max[a])
		l.corner[a], l.cells[a] = float64(g.Min[a]), 1/float64(g.Inv[a])
		sizes := math.Abs(o) + math.Abs(l.corner[a]) + math.Abs(l.min[a]) + math.Abs(l.max[a])
		if k := g.Pieces[a]; k != 0 {
			sizes += math.Abs(float64(g.Piece[a].Min[0])) + math.Abs(float64(g.Piece[a].Min[k-1]))
		}
		w := float64(reach) + float64(sizes*0x1p-48)
		l.below[a], l.above[a] = o-w, o+w
	}
}

func (tr *Tracer) trace(g *Grid, p *Points, s *Spheres, r *ray) {
	reach, r2 := Reach(s.Largest), s.Largest*s.Largest
	if !(reach <= math.MaxFloat32) {
		tr.add(p, 0, g.N[0]*g.N[1]*g.N[2]-1)
		return
	}
	l := &tr.swath
	l.set(g, s, r, reach)
	farthest := float64((float64(float64(r.maxT)*(1+widening)) + 0x1p-148) / float64(r.scale) * (1 + widening))
	root := math.Sqrt(float64(r2)) * float64(r.part)
	all := stretch{0, farthest + float64(root*(1+widening)) + 0x1p-70}
	for a := range 3 {
		all = l.narrow(all, a, l.min[a], l.max[a])
	}
	lo, hi, ok := l.box(g, all)
	if !ok {
		return
	}
	if sparse(g, p, hi[2]-lo[2]+1, lo, hi) {
		tr.add(p, g.number(lo), g.number(hi))
		return
	}
	for k := lo[2]; k <= hi[2]; k++ {
		from, to := l.slab(g, 2, k)
		tr.layer(g, p, l, l.narrow(all, 2, from, to), k)
	}
}

// layer adds the rows of one layer of cells.
func (tr *Tracer) layer(g *Grid, p *Points, l *swath, part stretch, k int32) {
	first, last, ok := l.reached(g, 1, part)
	if !ok {
		return
	}
	if last-first > 3 { // a few rows are cheap
		lo, hi, ok := l.box(g, part)
		if lo[2], hi[2] = k, k; ok && sparse(g, p, last-first+1, lo, hi) {
			tr.add(p, g.number(lo), g.number(hi))
			return
		}
	}
	for j := first; j <= last; j++ {
		from, to := l.slab(g, 1, j)
		if first, last, ok := l.reached(g, 0, l.narrow(part, 1, from, to)); ok {
			row := (k*g.N[1] + j) * g.N[0]
			tr.add(p, row+first, row+last)
		}
	}
}

// sparse reports whether visiting that many rows, or layers, costs more than testing all points in the cells between
// the two.
func sparse(g *Grid, p *Points, rows int32, lo, hi [3]int32) bool {
	return int64(rows)*rowCost > int64(p.Start[g.number(hi)+1])-int64(p.Start[g.number(lo)])
}

func (g *Grid) number(c [3]int32) int32 { return (c[2]*g.N[1]+c[1])*g.N[0] + c[0] }

// add adds the points of cells first to last.
func (tr *Tracer) add(p *Points, first, last int32) {
	s := span{p.Start[first], p.Start[last+1]}
	if s.first > s.last || s.last > p.Start[len(p.Start)-1] {
		panic(descending)
	}
	from := 0
	if len(tr.ends) > 0 {
		from = int(tr.ends[len(tr.ends)-1])
	}
	if n := len(tr.spans); n > from && tr.spans[n-1].last == s.first {
		tr.spans[n-1].last = s.last
	} else if s.first < s.last {
		tr.spans = append(tr.spans, s)
	}
}

// slab returns bounds of the coordinates of the points in a layer of cells. i is the number of the layer within the
// core. A point of cell i > 0 has fl(fl(v-min)*inv) >= i, thus v - min >= i/inv (1-2u), unless v - min overflowed and
// is above 2^127. A point of a cell of the core before the last has less than i+1, thus v - min <= (i+1)/inv (1+2u).
// Cells at the ends also contain the points beyond. Of the cells above the core only the lower bound is known, and of
// those below only v < min.
func (l *swath) slab(g *Grid, axis int, j int32) (lo, hi float64) {
	if g.Pieces[axis] != 0 {
		return g.piecedSlab(axis, j)
	}
	lo, hi = math.Inf(-1), math.Inf(1)
	core, i := g.N[axis]-g.Low[axis]-g.High[axis], j-g.Low[axis]
	if i > 0 {
		lo = l.corner[axis] + min(float64(float64(float64(min(i, core))*l.cells[axis])*(1-widening)), 0x1p127)
	}
	if j < g.N[axis]-1 && i < core {
		hi = l.corner[axis] + float64(float64(float64(max(i+1, 0))*l.cells[axis])*(1+widening))
	}
	return lo, hi
}

// piecedSlab is slab for an axis with pieces, each of which is like a core. The point that begins a piece is in it, so
// all points of the piece before are below it.
func (g *Grid) piecedSlab(axis int, j int32) (lo, hi float64) {
	p, i := &g.Piece[axis], g.pieceOf(axis, j)
	begin, size, at, n := float64(p.Min[i]), 1/float64(p.Inv[i]), j-p.First[i], p.First[i+1]-p.First[i]
	lo, hi = begin+min(float64(float64(float64(at)*size)*(1-widening)), 0x1p127), begin+float64(float64(float64(at+1)*size)*(1+widening))
	if j == 0 {
		lo = math.Inf(-1)
	}
	if at == n-1 {
		if hi = math.Inf(1); i+1 < g.Pieces[axis] {
			hi = float64(p.Min[i+1])
		}
	}
	return lo, hi
}

// narrow returns the part of a stretch in which the swath touches [lo, hi]; if there is none, from is above to.
func (l *swath) narrow(part stretch, a int, lo, hi float64) stretch {
	in, out := lo-l.above[a], hi-l.below[a] // in is at most 0 and out at least 0 where it touches
	if l.d[a] == 0 {
		if in > 0 || out < 0 {
			part.to = -1
		}
		return part
	}
	if l.d[a] < 0 {
		in, out = out, in
	}
	if from := in * l.wide[a]; from > part.from {
		part.from = from
	}
	if to := out * l.tight[a]; to < part.to {
		part.to = to
	}
	return part
}

// reached returns the cells along an axis that a stretch touches, and false if it touches no point of the set.
func (l *swath) reached(g *Grid, a int, part stretch) (first, last int32, ok bool) {
	near, far := float64(part.from*(1-widening)), float64(part.to*(1+widening))
	if l.d[a] < 0 {
		near, far = far, near
	}
	lo, hi := l.below[a]+float64(near*l.d[a]), l.above[a]+float64(far*l.d[a])
	if lo < l.min[a] {
		lo = l.min[a]
	}
	if hi > l.max[a] {
		hi = l.max[a]
	}
	if !(part.from <= part.to && lo <= hi) {
		return 0, 0, false
	}
	// Rounding to float32 and Cell are monotone, and coordinates are floats.
	return g.Cell(a, float32(lo)), g.Cell(a, float32(hi)), true
}

func (l *swath) box(g *Grid, part stretch) (lo, hi [3]int32, ok bool) {
	ok = true
	for a := range 3 {
		var some bool
		lo[a], hi[a], some = l.reached(g, a, part)
		ok = ok && some
	}
	return lo, hi, ok
}
