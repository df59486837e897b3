package spatial

import (
	"math"
	"math/bits"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/neighbours"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/native"
)

// The points of an index are, all little-endian:
//
//	uint32 points, highest slot + 1; uint8 1 if there are categories
//	for each point: uint32 slot, float32 x, y and z; uint32 category, if there are any
//
// in the order of the grid.
const pointBytes = 4 + 3*4 // without the category

// Snapshot appends the points of the last Build and their categories to dst and returns the
// extended slice. Use it to save a world together with an index of an earlier state. To allocate
// nothing, pass the previous result truncated to [:0].
func (ix *Index) Snapshot(dst []byte) []byte {
	ix.mustBeInitialized()
	p := &ix.points
	dst = wire.AppendU32s(dst, uint32(ix.n), ix.limit())
	dst = wire.AppendBool(dst, p.Category != nil)
	for i := range ix.n {
		b, lane := &p.Blocks[i/neighbours.BlockLen], i%neighbours.BlockLen
		dst = wire.AppendU32s(dst, b.Slot[lane])
		dst = wire.AppendF32s(dst, b.X[lane], b.Y[lane], b.Z[lane])
		if p.Category != nil {
			dst = wire.AppendU32s(dst, p.Category[i])
		}
	}
	return dst
}

// limit returns the highest slot + 1, or 0.
func (ix *Index) limit() uint32 {
	limit := uint32(0)
	for i := range ix.points.Blocks {
		for _, s := range ix.points.Blocks[i].Slot[:min(neighbours.BlockLen, ix.n-i*neighbours.BlockLen)] {
			limit = max(limit, s+1)
		}
	}
	return limit
}

// Restore builds the index of the points of a Snapshot, and gives them their categories.
// Configurations may differ. Data that is truncated or contradicts itself is ErrCorrupt, and the
// index stays as it was; a snapshot has no checksum of its own. Other errors are those of Build.
// Restore allocates columns up to the highest slot.
func (ix *Index) Restore(data []byte) error {
	if err := ix.CheckSnapshot(data, native.MaxSlots); err != nil {
		return err
	}
	r, in := &ix.restored, wire.NewReader(data)
	n, limit, categories := int(in.U32()), int(in.U32()), in.Bool()
	points := in.Rest()
	step := len(points) / max(n, 1)
	r.slots = resize(r.slots, n)[:0]
	for w, word := range r.seen { // the slots, ascending
		for ; word != 0; word &= word - 1 {
			r.slots = append(r.slots, uint32(w<<6|bits.TrailingZeros64(word)))
		}
	}
	if n == 0 {
		r.slots = []uint32{} // nil would be all rows
	}
	for _, column := range [...]*[]float32{&r.x, &r.y, &r.z} {
		*column = resize(*column, limit)
	}
	if categories {
		r.category = resize(r.category, limit)
	}
	for ; len(points) > 0; points = points[step:] {
		slot := wire.U32At(points, 0)
		r.x[slot], r.y[slot], r.z[slot] = wire.F32At(points, 1), wire.F32At(points, 2), wire.F32At(points, 3)
		if categories {
			r.category[slot] = wire.U32At(points, 4)
		}
	}
	if err := ix.Build(r.x, r.y, r.z, r.slots); err != nil || !categories {
		return err
	}
	ix.SetCategories(r.category)
	return nil
}

// CopyFrom makes the index one of the points of src, with their categories, as if it had been built
// from the same columns. If CellSize and Bounds are the same it copies the grid of src; otherwise it
// does what Restore of a Snapshot does. Errors are those of Build. It allocates nothing once the index
// has held as many points. A copy from ix itself has no effect.
func (ix *Index) CopyFrom(src *Index) error {
	ix.mustBeInitialized()
	src.mustBeInitialized()
	if ix == src {
		return nil
	}
	if ix.cfg.CellSize != src.cfg.CellSize || ix.cfg.Bounds != src.cfg.Bounds {
		ix.restored.copied = src.Snapshot(ix.restored.copied[:0])
		return ix.Restore(ix.restored.copied)
	}
	p, from := &ix.points, &src.points
	ix.grid, ix.cell, ix.box, ix.n, p.Limit = src.grid, src.cell, src.box, src.n, from.Limit
	p.Start = aligned(p.Start, len(from.Start), 1)
	copy(p.Start, from.Start)
	p.Blocks = aligned(p.Blocks, len(from.Blocks), 0)
	copy(p.Blocks, from.Blocks)
	if p.Category = nil; from.Category != nil {
		ix.category = resize(ix.category, len(from.Category))
		copy(ix.category, from.Category)
		p.Category = ix.category
	}
	ix.builds++
	return nil
}

// restored is scratch of Restore.
type restored struct {
	seen     []uint64 // slots, as a bitmap
	slots    []uint32
	x, y, z  []float32
	category []uint32
	copied   []byte // of CopyFrom
}

// CheckSnapshot returns the ErrCorrupt that Restore would, and changes nothing. Slots from
// rows on are ErrCapacity.
func (ix *Index) CheckSnapshot(data []byte, rows int) error {
	ix.mustBeInitialized()
	corrupt := func(what string, v any) error {
		return fault.Field(fault.ErrCorrupt, "spatial: snapshot: "+what, v)
	}
	r := wire.NewReader(data)
	n, limit, categories := uint64(r.U32()), r.U32(), r.U8()
	if r.Err() != nil {
		return corrupt("length", len(data))
	}
	if limit > native.MaxSlots || categories > 1 {
		return corrupt("limit of the slots", limit)
	}
	if uint(limit) > uint(rows) {
		return fault.Field(fault.ErrCapacity, "spatial: snapshot: limit of the slots", limit)
	}
	step, points := pointBytes+4*int(categories), r.Rest()
	if uint64(len(points)) != n*uint64(step) {
		return corrupt("length", len(points))
	}
	seen := ix.restored.seen[:0]
	for ; len(points) > 0; points = points[step:] {
		slot := wire.U32At(points, 0)
		if slot >= limit {
			return corrupt("slot", slot)
		}
		for uint(slot/64) >= uint(len(seen)) {
			seen = append(seen, 0)
		}
		if seen[slot/64]&(1<<(slot%64)) != 0 {
			return corrupt("slot twice", slot)
		}
		seen[slot/64] |= 1 << (slot % 64)
		for k := range 3 {
			if v := wire.F32At(points, 1+k); !fault.Finite(v) {
				return corrupt("coordinate", v)
			}
		}
	}
	ix.restored.seen = seen
	return nil
}

// Indexes reports whether the index has exactly the points of the columns, bit for bit, at
// the slots of a bitmap, and no categories: the result of a Build of them.
func (ix *Index) Indexes(x, y, z []float32, live []uint64) bool {
	ix.mustBeInitialized()
	z = planar(z, len(x))
	if ix.points.Category != nil || ix.points.Limit > len(x) {
		return false
	}
	n := 0
	for _, word := range live {
		n += bits.OnesCount64(word)
	}
	if n != ix.n {
		return false
	}
	for i := range ix.points.Blocks {
		b := &ix.points.Blocks[i]
		for lane, s := range b.Slot[:min(neighbours.BlockLen, ix.n-i*neighbours.BlockLen)] {
			same := live[s/64]&(1<<(s%64)) != 0 && !differ(b.X[lane], x[s]) && !differ(b.Y[lane], y[s]) && !differ(b.Z[lane], z[s])
			if !same {
				return false
			}
		}
	}
	return true
}

func differ(a, b float32) bool { return math.Float32bits(a) != math.Float32bits(b) }
