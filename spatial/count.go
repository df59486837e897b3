package spatial

import "github.com/evertick/evertick/native"

// Count stores in counts[i] how many points are within radius i of q: the length
// of row i of Radius, with the same filters, without the row. q.Order and
// q.SkipDist2 mean nothing here, but an unknown order is refused. Errors are those
// of Queries.Validate, with counts as they were, and ErrFloatEnv. It panics if
// counts and q.X differ in length.
func (ix *Index) Count(q *Queries, counts []uint32) error {
	if err := q.checkCounts(counts); err != nil {
		return err
	}
	b := ix.scratches.borrow()
	defer ix.scratches.giveBack(b)
	t := &b.count
	t.ix, t.q, t.counts, t.live = ix, q, counts, t.lanes.of(ix, q.Live)
	err := b.pools.run(ix, len(q.X), chunkQueries, t)
	t.ix, t.q, t.counts = nil, nil, nil
	return err
}

func (q *Queries) checkCounts(counts []uint32) error {
	if len(counts) != len(q.X) {
		panic("spatial: Count: counts and Queries.X differ in length")
	}
	return q.Validate()
}

type countTask struct {
	ix     *Index
	q      *Queries
	counts []uint32
	live   []uint16
	lanes  lanes
}

// Do answers one chunk of queries; it implements native.Task.
func (t *countTask) Do(_, c int) {
	q := t.q
	lo, hi := c*chunkQueries, min((c+1)*chunkQueries, len(q.X))
	part := native.Queries{X: q.X[lo:hi], Y: q.Y[lo:hi], Z: q.z()[lo:hi], Radius: q.Radius[lo:hi]}
	part.Exclude, part.Mask, part.Live = cut(q.Exclude, lo, hi), cut(q.Mask, lo, hi), t.live
	native.Count(t.ix.level, &t.ix.grid, &t.ix.points, &part, t.counts[lo:hi])
}

// CountOracle is the specification of Count: it tests every point.
func (ix *Index) CountOracle(q *Queries, counts []uint32) error {
	if err := q.checkCounts(counts); err != nil {
		return err
	}
	ix.checkLive(q.Live)
	for i := range q.X {
		counts[i] = 0
		r2 := float32(q.Radius[i] * q.Radius[i])
		for at := range ix.n {
			x, y, z, _ := ix.point(at)
			dx, dy, dz := x-q.X[i], y-q.Y[i], z-q.z()[i]
			d2 := float32(float32(dx*dx)+float32(dy*dy)) + float32(dz*dz)
			if d2 <= r2 && ix.passes(q.Exclude, q.Mask, q.Live, i, at) {
				counts[i]++
			}
		}
	}
	return nil
}
