package spatial

import (
	"slices"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/native"
)

// Boxes is a batch of closed boxes with sides along the axes, in metres, one box
// an index. A point is inside when
//
//	MinX <= x && x <= MaxX && MinY <= y && y <= MaxY && MinZ <= z && z <= MaxZ
//
// Nothing is computed, so that nothing is rounded; -0 equals +0. A box of no
// width along an axis has the points that lie exactly there.
type Boxes struct {
	MinX, MinY, MinZ, MaxX, MaxY, MaxZ []float32 // a nil MinZ or MaxZ is zero everywhere
	// Exclude names for each box a slot that is left out, or NoSlot. Nil: none.
	Exclude []uint32
	// Mask and Live are as in Queries.
	Mask []uint32
	Live []uint64
	// Order of each row: BySlot or Grid. Boxes know no distance.
	Order Order
}

// Validate reports the first fault of the batch: a value that is NaN or infinite
// (ErrNotFinite), a side that ends before it begins, which the lower end is named
// for, or an order that is neither BySlot nor Grid (ErrRange). It panics if the
// slices differ in length.
func (b *Boxes) Validate() error {
	n := len(b.MinX)
	if len(b.MinY) != n || len(b.minZ()) != n || len(b.MaxX) != n || len(b.MaxY) != n || len(b.maxZ()) != n {
		panic("spatial: Boxes: MinX, MinY, MinZ, MaxX, MaxY and MaxZ differ in length")
	}
	if b.Exclude != nil && len(b.Exclude) != n || b.Mask != nil && len(b.Mask) != n {
		panic("spatial: Boxes: Exclude or Mask and MinX differ in length")
	}
	if b.Order != BySlot && b.Order != Grid {
		return fault.Field(ErrRange, "spatial: Boxes.Order", b.Order)
	}
	minZ, maxZ := b.minZ(), b.maxZ()
	for i := range n {
		if !fault.Finite((b.MinX[i]-b.MinX[i])+(b.MinY[i]-b.MinY[i])+(minZ[i]-minZ[i])+
			(b.MaxX[i]-b.MaxX[i])+(b.MaxY[i]-b.MaxY[i])+(maxZ[i]-maxZ[i])) ||
			b.MinX[i] > b.MaxX[i] || b.MinY[i] > b.MaxY[i] || minZ[i] > maxZ[i] {
			return b.fault(i)
		}
	}
	return nil
}

func (b *Boxes) minZ() []float32 { return planar(b.MinZ, len(b.MinX)) }
func (b *Boxes) maxZ() []float32 { return planar(b.MaxZ, len(b.MinX)) }

// fault finds what is wrong with box i.
func (b *Boxes) fault(i int) error {
	sides := [...]struct {
		name string
		v    float32
	}{
		{"spatial: Boxes.MinX", b.MinX[i]}, {"spatial: Boxes.MinY", b.MinY[i]}, {"spatial: Boxes.MinZ", b.minZ()[i]},
		{"spatial: Boxes.MaxX", b.MaxX[i]}, {"spatial: Boxes.MaxY", b.MaxY[i]}, {"spatial: Boxes.MaxZ", b.maxZ()[i]},
	}
	for _, s := range sides {
		if !fault.Finite(s.v) {
			return fault.Element(ErrNotFinite, s.name, i, s.v)
		}
	}
	for a := range 3 {
		if sides[a].v > sides[a+3].v {
			return fault.Element(ErrRange, sides[a].name, i, sides[a].v)
		}
	}
	return nil
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
	s.ix, s.q, s.live = ix, q, s.lanes.of(ix, q.Live)
	err := w.rows.collect(task{
		searcher: s, ix: ix, what: "Overlap", rows: len(q.MinX), chunk: chunkQueries,
		order: q.Order, parallel: ix.parallelFrom,
	}, &out.Offsets, &out.Slots, &out.Dist2)
	s.ix, s.q, out.Of = nil, nil, out.Of[:0]
	return err
}

// overlapSearch is the searcher of Overlap.
type overlapSearch struct {
	ix    *Index
	q     *Boxes
	live  []uint16
	lanes lanes
}

func (s *overlapSearch) search(_, from, to int, rows *native.Rows) int {
	q := s.q
	part := native.Boxes{
		Lo: [3][]float32{q.MinX[from:to], q.MinY[from:to], q.minZ()[from:to]},
		Hi: [3][]float32{q.MaxX[from:to], q.MaxY[from:to], q.maxZ()[from:to]},
	}
	f := native.Filter{Exclude: cut(q.Exclude, from, to), Mask: cut(q.Mask, from, to), Live: s.live}
	return native.Overlap(s.ix.level, &s.ix.grid, &s.ix.points, &part, &f, rows)
}

// OverlapOracle is the specification of Overlap: for each box it tests every
// point, in grid order.
func (ix *Index) OverlapOracle(q *Boxes, out *Result) error {
	if err := q.Validate(); err != nil {
		return err
	}
	ix.checkLive(q.Live)
	out.Offsets, out.Slots, out.Dist2, out.Of = append(out.Offsets[:0], 0), out.Slots[:0], out.Dist2[:0], out.Of[:0]
	for i := range q.MinX {
		from := len(out.Slots)
		for at := range ix.n {
			x, y, z, slot := ix.point(at)
			if q.MinX[i] <= x && x <= q.MaxX[i] && q.MinY[i] <= y && y <= q.MaxY[i] && q.minZ()[i] <= z && z <= q.maxZ()[i] &&
				ix.passes(q.Exclude, q.Mask, q.Live, i, at) {
				out.Slots = append(out.Slots, slot)
			}
		}
		if len(out.Slots) > maxResults {
			n := len(out.Slots)
			out.empty()
			return tooManyResults("OverlapOracle", n)
		}
		if q.Order == BySlot {
			slices.Sort(out.Slots[from:])
		}
		out.Offsets = append(out.Offsets, uint32(len(out.Slots)))
	}
	return nil
}

// point returns the point in a place, places being in grid order.
func (ix *Index) point(at int) (x, y, z float32, slot uint32) {
	b, lane := &ix.points.Blocks[at/native.BlockLen], at%native.BlockLen
	return b.X[lane], b.Y[lane], b.Z[lane], b.Slot[lane]
}
