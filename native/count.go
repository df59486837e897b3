package native

// Count stores in counts[i] how many points are within radius q.Radius[i] of
// query i and pass its filters: the length of the row that Radius would give. It
// panics when lengths do not fit or Points contradicts itself, and on a level
// that Resolve refuses.
func Count(level Level, g *Grid, p *Points, q *Queries, counts []uint32) {
	q.check()
	if len(counts) != len(q.X) {
		panic("native: Count: Queries and counts differ in length")
	}
	if len(counts) == 0 {
		return
	}
	p.check(g)
	q.checkLive(p)
	f := &Filter{q.Exclude, q.Mask, q.Live}
	ok := false
	if level = must(level); level == Go {
		ok = countGo(g, p, q, f, counts)
	} else {
		ok = countC(level, g, p, q, f, counts)
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
		s := f.sieve(i, p)
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

// countRow has no branch that depends on the data but for the ends of the row.
func countRow(p *Points, s *sieve, first, last int, centre [3]float32, r2 float32) int {
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
