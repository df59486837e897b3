package spatial

import (
	"cmp"
	"math"
	"slices"

	"github.com/evertick/evertick/native"
)

// neighbour is a point that passed the membership test.
type neighbour struct {
	slot  uint32
	dist2 float32
}

// RadiusOracle is the specification of Radius, written plainly: for each query
// it walks over the cells that the radius can reach, tests every point in them,
// and sorts what it found. Radius gives the same bytes on every level.
func (ix *Index) RadiusOracle(q *Queries, out *Result) error {
	if err := q.Validate(); err != nil {
		return err
	}
	ix.checkLive(q.Live)
	out.Offsets = append(out.Offsets[:0], 0)
	out.Slots, out.Dist2, out.Of = out.Slots[:0], out.Dist2[:0], out.Of[:0]
	var found []neighbour
	for i := range q.X {
		found = ix.around(q, i, found[:0])
		switch q.Order {
		case BySlot:
			slices.SortFunc(found, func(a, b neighbour) int { return cmp.Compare(a.slot, b.slot) })
		case ByDistance:
			slices.SortFunc(found, func(a, b neighbour) int {
				return cmp.Or(cmp.Compare(a.dist2, b.dist2), cmp.Compare(a.slot, b.slot))
			})
		}
		if total := len(out.Slots) + len(found); total > maxResults {
			out.empty()
			return tooManyResults("RadiusOracle", total)
		}
		for _, f := range found {
			out.Slots = append(out.Slots, f.slot)
			if !q.SkipDist2 {
				out.Dist2 = append(out.Dist2, f.dist2)
			}
		}
		out.Offsets = append(out.Offsets, uint32(len(out.Slots)))
	}
	return nil
}

// around appends the points within query i, in grid order.
func (ix *Index) around(q *Queries, i int, found []neighbour) []neighbour {
	g, p := &ix.grid, &ix.points
	r := q.Radius[i]
	r2 := float32(r * r)
	centre, reach := [3]float32{q.X[i], q.Y[i], q.z()[i]}, native.Reach(r)
	var lo, hi [3]int32
	for a, c := range centre {
		lo[a], hi[a] = g.Cell(a, c-reach), g.Cell(a, c+reach)
	}
	for cz := lo[2]; cz <= hi[2]; cz++ {
		for cy := lo[1]; cy <= hi[1]; cy++ {
			for cx := lo[0]; cx <= hi[0]; cx++ {
				cell := (cz*g.N[1]+cy)*g.N[0] + cx
				for at := int(p.Start[cell]); at < int(p.Start[cell+1]); at++ {
					x, y, z, slot := ix.point(at)
					dx, dy, dz := x-centre[0], y-centre[1], z-centre[2]
					d2 := float32(float32(dx*dx)+float32(dy*dy)) + float32(dz*dz)
					if d2 <= r2 && ix.passes(q.Exclude, q.Mask, q.Live, i, at) {
						found = append(found, neighbour{slot, d2})
					}
				}
			}
		}
	}
	return found
}

// passes tells whether the point in a place passes the filters of query i.
func (ix *Index) passes(exclude, mask []uint32, live []uint64, i, at int) bool {
	_, _, _, slot := ix.point(at)
	category := uint32(math.MaxUint32)
	if ix.points.Category != nil {
		category = ix.points.Category[at]
	}
	return (exclude == nil || exclude[i] != slot) && (mask == nil || mask[i]&category != 0) &&
		(live == nil || live[slot/64]>>(slot%64)&1 != 0)
}
