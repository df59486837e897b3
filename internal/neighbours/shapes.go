package neighbours

import "github.com/evertick/evertick/native"

// Boxes are closed boxes: a point is inside when Lo <= p and p <= Hi along each axis. The test only compares floats:
// -0 equals +0, and a NaN is inside nothing. All values are finite and Lo <= Hi.
type Boxes struct{ Lo, Hi [3][]float32 }

func (b *Boxes) check() {
	n := len(b.Lo[0])
	for a := range 3 {
		if len(b.Lo[a]) != n || len(b.Hi[a]) != n {
			panic("neighbours: Overlap: Boxes differ in length")
		}
	}
}

// Overlap finds the points inside each box that pass the filter. It answers as many boxes as fit into rows, whose
// Dist2 is not used, and returns their number. Fill is then the end of the last answered row. If the number is less
// than that of the boxes, give rows more room and call again with the remaining ones. Room for all points and Pad
// more is always enough for one row. It panics when lengths do not fit or Points contradicts itself, and on a level
// that Resolve refuses.
func Overlap(level native.Level, g *Grid, p *Points, b *Boxes, f *Filter, rows *Rows) int {
	b.check()
	n := len(b.Lo[0])
	if n == 0 {
		return 0
	}
	p.check(g)
	f.check(n, p)
	rows.check(n)
	if level = must(level); level == native.Go {
		return rows.answered(overlapGo(g, p, b, f, rows))
	}
	return rows.answered(overlapC(level, g, p, b, f, rows))
}

// overlapGo stores every candidate and advances after a hit only, so that only the ends of rows decide a branch.
func overlapGo(g *Grid, p *Points, b *Boxes, f *Filter, rows *Rows) int {
	fill := rows.Fill
	for i := range b.Lo[0] {
		var box [2][3]float32
		for a := range 3 {
			box[0][a], box[1][a] = b.Lo[a][i], b.Hi[a][i]
		}
		lo, hi := g.around(&box[0], &box[1], 0)
		s := f.of(i, p)
		w := g.walk(p.Start, lo, hi)
		if s.none() {
			w.layers = 0
		}
		for k := range w.layers {
			for j := range w.rows {
				first, last, ok := w.points(p.Start, j, k)
				if !ok {
					return -1
				}
				if !rows.room(fill, last-first) {
					return i
				}
				fill += overlapRow(p, &s, first, last, &box, rows.Slots[fill:fill+last-first+1])
			}
		}
		rows.Ends[i] = uint32(fill)
	}
	return len(b.Lo[0])
}

func overlapRow(p *Points, s *queryFilter, first, last int, box *[2][3]float32, out []uint32) int {
	lo, hi := box[0], box[1]
	n := 0
	for at := first; at < last; at = at/BlockLen*BlockLen + BlockLen {
		b := &p.Blocks[at/BlockLen]
		pass := s.lanes(p, at/BlockLen)
		end := min(last-at/BlockLen*BlockLen, BlockLen)
		for i := at % BlockLen; i < end; i++ {
			x, y, z := b.X[i%BlockLen], b.Y[i%BlockLen], b.Z[i%BlockLen]
			out[n] = b.Slot[i%BlockLen]
			n += between(lo[0], x, hi[0]) & between(lo[1], y, hi[1]) & between(lo[2], z, hi[2]) & int(pass>>(i%BlockLen))
		}
	}
	return n
}

// between is 1 where lo <= v and v <= hi, else 0: two set instructions.
func between(lo, v, hi float32) int {
	above, below := 0, 0
	if lo <= v {
		above = 1
	}
	if v <= hi {
		below = 1
	}
	return above & below
}

// Count stores in counts[i] how many points are within radius q.Radius[i] of
// query i and pass its filters: the length of the row that Radius would give. It
// panics when lengths do not fit or Points contradicts itself, and on a level
// that Resolve refuses.
func Count(level native.Level, g *Grid, p *Points, q *Queries, counts []uint32) {
	q.check()
	if len(counts) != len(q.X) {
		panic("neighbours: Count: Queries and counts differ in length")
	}
	if len(counts) == 0 {
		return
	}
	p.check(g)
	q.checkLive(p)
	ok := false
	if level = must(level); level == native.Go {
		ok = countGo(g, p, q, &Filter{q.Exclude, q.Mask, q.Live}, counts)
	} else {
		ok = countC(level, g, p, q, counts)
	}
	if !ok {
		panic(descending)
	}
}

func countGo(g *Grid, p *Points, q *Queries, f *Filter, counts []uint32) bool {
	for i := range q.X {
		centre, reach := [3]float32{q.X[i], q.Y[i], q.Z[i]}, Reach(q.Radius[i])
		r2 := q.Radius[i] * q.Radius[i]
		lo, hi := g.around(&centre, &centre, reach)
		s := f.of(i, p)
		if counts[i] = 0; s.none() {
			continue
		}
		w := g.walk(p.Start, lo, hi)
		n := 0
		for k := range w.layers {
			for j := range w.rows {
				first, last, ok := w.points(p.Start, j, k)
				if !ok {
					return false
				}
				n += countRow(p, &s, first, last, centre, r2)
			}
		}
		counts[i] = uint32(n)
	}
	return true
}

// countRow has no branch that depends on the data, except at the end of the row.
func countRow(p *Points, s *queryFilter, first, last int, centre [3]float32, r2 float32) int {
	n := 0
	for at := first; at < last; at = at/BlockLen*BlockLen + BlockLen {
		b := &p.Blocks[at/BlockLen]
		pass := s.lanes(p, at/BlockLen)
		end := min(last-at/BlockLen*BlockLen, BlockLen)
		for i := at % BlockLen; i < end; i++ {
			dx, dy, dz := b.X[i%BlockLen]-centre[0], b.Y[i%BlockLen]-centre[1], b.Z[i%BlockLen]-centre[2]
			d2 := float32(float32(dx*dx)+float32(dy*dy)) + float32(dz*dz)
			near := 0
			if d2 <= r2 {
				near = 1
			}
			n += near & int(pass>>(i%BlockLen))
		}
	}
	return n
}
