package spatial

import (
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/neighbours"
)

// Boxes is a batch of closed boxes with sides along the axes, in metres, one box
// an index. A point is inside when
//
//	MinX <= x && x <= MaxX && MinY <= y && y <= MaxY && MinZ <= z && z <= MaxZ
//
// Nothing is computed, so nothing is rounded; -0 equals +0. A box of zero width along an axis
// contains the points that lie exactly there.
type Boxes struct {
	MinX, MinY, MinZ, MaxX, MaxY, MaxZ []float32 // a nil MinZ or MaxZ is zero everywhere
	// Exclude has for each box a slot whose point is left out, or NoSlot. Nil: none.
	Exclude []uint32
	// Mask and Live are as in Queries.
	Mask []uint32
	Live []uint64
	// Order of each row: BySlot or Grid. There are no distances to sort by.
	Order Order
}

// Validate returns the first fault of the batch: a value that is NaN or infinite
// (ErrNotFinite), a minimum above its maximum, which names the minimum, or an order that is
// neither BySlot nor Grid (ErrRange). It panics if the slices differ in length.
func (b *Boxes) Validate() error {
	n, minZ, maxZ := len(b.MinX), b.minZ(), b.maxZ()
	mustBeLong("spatial: Boxes: MinX, MinY, MinZ, MaxX, MaxY and MaxZ differ in length", n, b.MinY, minZ, b.MaxX, b.MaxY, maxZ)
	mustBeLongOrNil("spatial: Boxes: Exclude or Mask and MinX differ in length", n, b.Exclude, b.Mask)
	if b.Order != BySlot && b.Order != Grid {
		return fault.Field(ErrRange, "spatial: Boxes.Order", b.Order)
	}
	if !allFinite(anyValue, b.MinX, b.MinY, minZ, b.MaxX, b.MaxY, maxZ) {
		return b.firstFault()
	}
	for i := range n {
		if b.MinX[i] > b.MaxX[i] || b.MinY[i] > b.MaxY[i] || minZ[i] > maxZ[i] {
			return b.firstFault()
		}
	}
	return nil
}

func (b *Boxes) minZ() []float32 { return planar(b.MinZ, len(b.MinX)) }
func (b *Boxes) maxZ() []float32 { return planar(b.MaxZ, len(b.MinX)) }

func (b *Boxes) firstFault() error {
	lo, hi := [3][]float32{b.MinX, b.MinY, b.minZ()}, [3][]float32{b.MaxX, b.MaxY, b.maxZ()}
	return firstFault("Boxes.MinX Boxes.MinY Boxes.MinZ Boxes.MaxX Boxes.MaxY Boxes.MaxZ", func(i int) error {
		for a, name := range [...]string{"MinX", "MinY", "MinZ"} {
			if lo[a][i] > hi[a][i] {
				return fault.Element(ErrRange, "spatial: Boxes."+name, i, lo[a][i])
			}
		}
		return nil
	}, lo[0], lo[1], lo[2], hi[0], hi[1], hi[2])
}

// Overlap finds the points inside each box, on the index's level. out.Dist2 is
// left empty. Errors are those of Boxes.Validate, with out as it was; ErrRange if
// there are more than 2^31-1 results, and ErrFloatEnv, with out empty.
func (ix *Index) Overlap(q *Boxes, out *Result) error {
	if err := q.Validate(); err != nil {
		return err
	}
	w := scratchOf(&out.scratch)
	s := &w.overlap
	s.ix, s.q = ix, q
	s.live.set(ix, q.Live)
	err := w.rows.collect(task{
		searcher: s, ix: ix, query: "Overlap", rows: len(q.MinX), chunk: chunkQueries,
		order: q.Order, parallel: ix.parallelFrom,
	}, &out.Offsets, &out.Slots, &out.Dist2)
	s.ix, s.q, out.Of = nil, nil, out.Of[:0]
	return err
}

// overlapSearch is the searcher of Overlap.
type overlapSearch struct {
	ix   *Index
	q    *Boxes
	live liveBits
}

func (s *overlapSearch) search(_, from, to int, rows *neighbours.Rows) int {
	q := s.q
	part := neighbours.Boxes{
		Lo: [3][]float32{q.MinX[from:to], q.MinY[from:to], q.minZ()[from:to]},
		Hi: [3][]float32{q.MaxX[from:to], q.MaxY[from:to], q.maxZ()[from:to]},
	}
	f := neighbours.Filter{Exclude: cut(q.Exclude, from, to), Mask: cut(q.Mask, from, to), Live: s.live.bits}
	return neighbours.Overlap(s.ix.level, &s.ix.grid, &s.ix.points, &part, &f, rows)
}
