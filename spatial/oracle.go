package spatial

import (
	"cmp"
	"math"
	"slices"

	"github.com/evertick/evertick/internal/neighbours"
)

// The oracles are the specifications of the queries, written plainly. The queries return
// the same bytes on every level.

// neighbour is a point that passed the test of a query.
type neighbour struct {
	slot uint32
	key  float32 // the squared distance, or t of a ray
}

// point returns point number at in grid order.
func (ix *Index) point(at int) (x, y, z float32, slot uint32) {
	b, lane := &ix.points.Blocks[at/neighbours.BlockLen], at%neighbours.BlockLen
	return b.X[lane], b.Y[lane], b.Z[lane], b.Slot[lane]
}

// distance returns a point and its squared distance from a centre.
func (ix *Index) distance(at int, cx, cy, cz float32) neighbour {
	x, y, z, slot := ix.point(at)
	dx, dy, dz := x-cx, y-cy, z-cz
	return neighbour{slot, float32(float32(dx*dx)+float32(dy*dy)) + float32(dz*dz)}
}

// passes reports whether a point passes the filters of query i.
func (ix *Index) passes(exclude, mask []uint32, live []uint64, i, at int) bool {
	_, _, _, slot := ix.point(at)
	category := uint32(math.MaxUint32)
	if ix.points.Category != nil {
		category = ix.points.Category[at]
	}
	return (exclude == nil || exclude[i] != slot) && (mask == nil || mask[i]&category != 0) &&
		(live == nil || live[slot/64]>>(slot%64)&1 != 0)
}

// sort sorts neighbours that are in grid order.
func (o Order) sort(found []neighbour) {
	switch o {
	case BySlot:
		slices.SortFunc(found, func(a, b neighbour) int { return cmp.Compare(a.slot, b.slot) })
	case ByDistance:
		slices.SortFunc(found, func(a, b neighbour) int {
			return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.slot, b.slot))
		})
	}
}

// addRows replaces the result by n rows. find appends the neighbours of a row, in grid
// order.
func (r *Result) addRows(query string, n int, order Order, skipKey bool, find func(i int, found []neighbour) []neighbour) error {
	r.empty()
	r.Offsets = append(r.Offsets, 0)
	var found []neighbour
	for i := range n {
		found = find(i, found[:0])
		order.sort(found)
		if total := len(r.Slots) + len(found); total > maxResults {
			r.empty()
			return tooManyResults(query, total)
		}
		for _, f := range found {
			r.Slots = append(r.Slots, f.slot)
			if !skipKey {
				r.Dist2 = append(r.Dist2, f.key)
			}
		}
		r.Offsets = append(r.Offsets, uint32(len(r.Slots)))
	}
	return nil
}

// RadiusOracle is the specification of Radius: for each query it tests every point in
// the cells that the radius can reach, and sorts those that it found.
func (ix *Index) RadiusOracle(q *Queries, out *Result) error {
	if err := q.Validate(); err != nil {
		return err
	}
	ix.checkLive(q.Live)
	return out.addRows("RadiusOracle", len(q.X), q.Order, q.SkipDist2, func(i int, found []neighbour) []neighbour {
		return ix.around(q, i, found)
	})
}

// around appends the points within query i, in grid order.
func (ix *Index) around(q *Queries, i int, found []neighbour) []neighbour {
	g, p := &ix.grid, &ix.points
	r := q.Radius[i]
	r2 := float32(r * r)
	centre, reach := [3]float32{q.X[i], q.Y[i], q.z()[i]}, neighbours.Reach(r)
	var lo, hi [3]int32
	for a, c := range centre {
		lo[a], hi[a] = g.Cell(a, c-reach), g.Cell(a, c+reach)
	}
	for cz := lo[2]; cz <= hi[2]; cz++ {
		for cy := lo[1]; cy <= hi[1]; cy++ {
			for cx := lo[0]; cx <= hi[0]; cx++ {
				cell := (cz*g.N[1]+cy)*g.N[0] + cx
				for at := int(p.Start[cell]); at < int(p.Start[cell+1]); at++ {
					f := ix.distance(at, centre[0], centre[1], centre[2])
					if f.key <= r2 && ix.passes(q.Exclude, q.Mask, q.Live, i, at) {
						found = append(found, f)
					}
				}
			}
		}
	}
	return found
}

// countOracle is the specification of Count: it tests every point.
func (ix *Index) countOracle(q *Queries, counts []uint32) error {
	if err := q.checkCounts(counts); err != nil {
		return err
	}
	ix.checkLive(q.Live)
	all := &NearestQueries{X: q.X, Y: q.Y, Z: q.Z, Radius: q.Radius, Exclude: q.Exclude, Mask: q.Mask, Live: q.Live}
	var found []neighbour
	for i := range q.X {
		found = ix.passing(all, i, found[:0])
		counts[i] = uint32(len(found))
	}
	return nil
}

// knnOracle is the specification of KNN: for each query it sorts all points that pass the
// filters and takes the first K.
func (ix *Index) knnOracle(q *NearestQueries, out *Result) error {
	if err := q.Validate(); err != nil {
		return err
	}
	ix.checkLive(q.Live)
	out.empty()
	if err := tooMany(len(q.X), q.K); err != nil {
		return err
	}
	return out.addRows("KNNOracle", len(q.X), Grid, q.SkipDist2, func(i int, found []neighbour) []neighbour {
		found = ix.passing(q, i, found)
		ByDistance.sort(found)
		return found[:min(q.K, len(found))]
	})
}

// passing appends the points that query i does not leave out.
func (ix *Index) passing(q *NearestQueries, i int, found []neighbour) []neighbour {
	for at := range ix.n {
		f := ix.distance(at, q.X[i], q.Y[i], q.z()[i])
		if q.Radius != nil && !(f.key <= float32(q.Radius[i]*q.Radius[i])) {
			continue
		}
		if ix.passes(q.Exclude, q.Mask, q.Live, i, at) {
			found = append(found, f)
		}
	}
	return found
}

// overlapOracle is the specification of Overlap: for each box it tests every
// point, in grid order.
func (ix *Index) overlapOracle(q *Boxes, out *Result) error {
	if err := q.Validate(); err != nil {
		return err
	}
	ix.checkLive(q.Live)
	return out.addRows("OverlapOracle", len(q.MinX), q.Order, true, func(i int, found []neighbour) []neighbour {
		for at := range ix.n {
			x, y, z, slot := ix.point(at)
			if q.MinX[i] <= x && x <= q.MaxX[i] && q.MinY[i] <= y && y <= q.MaxY[i] && q.minZ()[i] <= z && z <= q.maxZ()[i] &&
				ix.passes(q.Exclude, q.Mask, q.Live, i, at) {
				found = append(found, neighbour{slot: slot})
			}
		}
		return found
	})
}

// radiusSelfOracle is the specification of RadiusSelf: RadiusOracle with a query
// at each point.
func (ix *Index) radiusSelfOracle(q *Self, out *Result) error {
	if err := ix.checkSelf(q); err != nil {
		return err
	}
	order := make([]int, ix.n)
	for i := range order {
		order[i] = i
	}
	if !q.RowsInGridOrder {
		slot := func(at int) uint32 { return ix.points.Blocks[at/neighbours.BlockLen].Slot[at%neighbours.BlockLen] }
		slices.SortFunc(order, func(a, b int) int { return cmp.Compare(slot(a), slot(b)) })
	}
	queries := &Queries{Live: q.Live, Order: q.Order, SkipDist2: q.SkipDist2}
	of := make([]uint32, 0, ix.n)
	for _, at := range order {
		x, y, z, slot := ix.point(at)
		queries.X, queries.Y, queries.Z = append(queries.X, x), append(queries.Y, y), append(queries.Z, z)
		queries.Radius = append(queries.Radius, q.Radius)
		if q.Mask != nil {
			queries.Mask = append(queries.Mask, q.Mask[slot])
		}
		of = append(of, slot)
	}
	if !q.IncludeSelf {
		queries.Exclude = of
	}
	if err := ix.RadiusOracle(queries, out); err != nil {
		return err
	}
	out.Of = of
	return nil
}

// pairsOracle is the specification of Pairs: radiusSelfOracle without the slots that are
// not above the slot of their row.
func (ix *Index) pairsOracle(q *Self, out *Result) error {
	all := *q
	all.SkipDist2 = false
	var r Result
	if err := ix.radiusSelfOracle(&all, &r); err != nil {
		if q.Validate() == nil {
			out.empty()
		}
		return err
	}
	err := out.addRows("PairsOracle", r.Len(), Grid, q.SkipDist2, func(i int, found []neighbour) []neighbour {
		for at, slot := range r.Row(i) {
			if slot > r.Of[i] {
				found = append(found, neighbour{slot, r.Dist2Row(i)[at]})
			}
		}
		return found
	})
	out.Of = r.Of
	return err
}

// rayAllOracle is the specification of RayAll: for each ray it tests every sphere.
func (ix *Index) rayAllOracle(radius []float32, q *Rays, out *RayHits) error {
	ix.checkRadius(radius)
	if err := cmp.Or(q.Validate(), ix.setSpheres(new(neighbours.Spheres), "RayAllOracle", radius)); err != nil {
		return err
	}
	ix.checkLive(q.Live)
	r := Result{Offsets: out.Offsets, Slots: out.Slots, Dist2: out.T}
	err := r.addRows("RayAllOracle", len(q.OX), ByDistance, false, func(i int, found []neighbour) []neighbour {
		return ix.rayHits(radius, q, i, found)
	})
	out.Offsets, out.Slots, out.T = r.Offsets, r.Slots, r.Dist2
	return err
}

// rayClosestOracle is the specification of RayClosest: the first of all hits.
func (ix *Index) rayClosestOracle(radius []float32, q *Rays, slots []uint32, t []float32) error {
	if err := cmp.Or(ix.checkClosest(radius, q, slots, t), ix.setSpheres(new(neighbours.Spheres), "RayClosestOracle", radius)); err != nil {
		return err
	}
	ix.checkLive(q.Live)
	for i := range q.OX {
		slots[i], t[i] = NoSlot, q.MaxT[i]
		hits := ix.rayHits(radius, q, i, nil)
		if ByDistance.sort(hits); len(hits) > 0 {
			slots[i], t[i] = hits[0].slot, hits[0].key
		}
	}
	return nil
}

// rayHits appends all spheres that ray i meets.
func (ix *Index) rayHits(radius []float32, q *Rays, i int, hits []neighbour) []neighbour {
	longest := max(q.DX[i], -q.DX[i], q.DY[i], -q.DY[i], q.dz()[i], -q.dz()[i])
	scale := float32(0x1p126)
	for float32(longest*scale) >= 2 { // until in [1, 2), or less if it is denormal
		scale /= 2
	}
	for at := range ix.n {
		x, y, z, slot := ix.point(at)
		if t, hit := q.intersect(i, scale, x, y, z, radius[slot]); hit && ix.passes(q.Exclude, q.Mask, q.Live, i, at) {
			hits = append(hits, neighbour{slot, t})
		}
	}
	return hits
}

// intersect is the formula of neighbours.Rays.
func (q *Rays) intersect(i int, scale, cx, cy, cz, radius float32) (t float32, hit bool) {
	dx, dy, dz := float32(q.DX[i]*scale), float32(q.DY[i]*scale), float32(q.dz()[i]*scale)
	inv := 1 / (float32(float32(dx*dx)+float32(dy*dy)) + float32(dz*dz))
	r2 := float32(radius * radius)
	mx, my, mz := cx-q.OX[i], cy-q.OY[i], cz-q.oz()[i]
	s := float32((float32(float32(mx*dx)+float32(my*dy)) + float32(mz*dz)) * inv)
	lx, ly, lz := mx-float32(s*dx), my-float32(s*dy), mz-float32(s*dz)
	e := float32(float32(lx*lx)+float32(ly*ly)) + float32(lz*lz)
	if float32(float32(mx*mx)+float32(my*my))+float32(mz*mz) <= r2 {
		return 0, true
	}
	if !(0 <= s && e <= r2) {
		return 0, false
	}
	part := float32(math.Sqrt(float64(inv)))
	entry := s - float32(float32(math.Sqrt(float64(r2-e)))*part)
	if entry > 0 {
		t = float32(entry * scale)
	}
	return t, t <= q.MaxT[i]
}
