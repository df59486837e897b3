package neighbours

import (
	"math"

	"github.com/evertick/evertick/native"
)

// Keep selects which points within the radius a row of Self holds.
type Keep uint8

const (
	KeepAll    Keep = iota // the centre itself too
	KeepOthers             // all but the centre
	KeepAbove              // those with a higher slot than the centre: each pair once
)

// SelfQuery makes every point the centre of a query; all have one radius, in metres.
type SelfQuery struct {
	Radius float32 // finite and not negative
	Keep   Keep
	Places bool // rows have the places of points instead of their slots, and Keep compares places
}

const (
	packLen    = 4096
	packStride = packLen + 80 // keeps the four arrays in different cache sets
)

// Packed is the scratch of Self: the points near a few centres, gathered. Its contents are unspecified between calls.
type Packed struct {
	x, y, z [packStride]float32
	slot    [packStride]uint32
}

// Self answers queries at the points at places first to last-1, in this order. The row of a place is the row of
// Radius, in grid order, for a query at that point, without the points that Keep leaves out. Rows are appended as by
// Radius; Ends[0] belongs to place first. The points are finite, each in its cell.
//
// It returns the number of rows written, which is less than last-first only if the next row needs more room.
// Len()+Pad elements after Fill are always enough for one row. It panics when lengths do not fit, if Points
// contradicts itself, and on a level that Resolve refuses.
func Self(level native.Level, g *Grid, p *Points, q *SelfQuery, first, last int, rows *Rows, scratch *Packed) int {
	p.check(g)
	if first < 0 || last < first || last > p.Len() {
		panic("neighbours: Self: places are out of range")
	}
	if q.Keep > KeepAbove {
		panic("neighbours: Self: no such Keep")
	}
	rows.check(last - first)
	if first == last {
		return 0
	}
	var done int
	if level = must(level); level == native.Go {
		done = selfGo(g, p, q, first, last, rows, scratch)
	} else {
		done = selfC(level, g, p, q, first, last, rows, scratch)
	}
	if done < 0 {
		panic("neighbours: Self: Points.Start does not ascend, or a point is not in its cell")
	}
	return rows.answered(done)
}

// selfBatchLen is the number of centres for which points are gathered together. A batch may have half as many more,
// to avoid a small last batch. The answer does not depend on it.
const selfBatchLen = 10

// selfBatch is the state of the pure-Go kernel for a batch: the centres at places first to last-1, which lie in one
// row of cells.
type selfBatch struct {
	g           *Grid
	p           *Points
	keep        Keep
	places      bool
	r2, reach   float32
	first, last int
	lo, hi      [3]float32 // the box around the centres
}

// selfGo is the pure-Go kernel. For each batch it packs the points that some centre can accept, and then tests each
// centre against them. Loops store every candidate and advance after a hit only, so that no branch depends on the
// data.
func selfGo(g *Grid, p *Points, q *SelfQuery, first, last int, rows *Rows, scratch *Packed) int {
	b := selfBatch{g: g, p: p, keep: q.Keep, places: q.Places, r2: q.Radius * q.Radius, reach: Reach(q.Radius)}
	fill := rows.Fill
	for at := first; at < last; {
		if !b.cut(at, last) {
			return -1
		}
		n := b.pack(scratch)
		if n == contradiction {
			return -1
		}
		for ; at < b.last; at++ {
			if n == noRoom {
				fill = b.sweep(at, rows, fill)
			} else if len(rows.Slots)-fill < n+1 {
				fill = noRoom
			} else {
				fill = b.answer(at, scratch, n, rows, fill)
			}
			if fill == contradiction {
				return -1
			}
			if fill == noRoom {
				return at - first
			}
			rows.Ends[at-first] = uint32(fill)
		}
	}
	return last - first
}

// cut takes the next batch from places first to last-1. It returns false if Start contradicts the points.
func (b *selfBatch) cut(first, last int) bool {
	x, y, z, _ := b.p.at(first)
	row := (b.g.Cell(2, z)*b.g.N[1] + b.g.Cell(1, y)) * b.g.N[0]
	from, to := int(b.p.Start[row]), int(b.p.Start[row+b.g.N[0]])
	if from > first || to <= first || to > b.p.Len() {
		return false
	}
	if last = min(last, to); last > first+selfBatchLen+selfBatchLen/2 {
		last = first + selfBatchLen
	}
	b.first, b.last = first, last
	b.lo, b.hi = [3]float32{x, y, z}, [3]float32{x, y, z}
	for i := first + 1; i < last; i++ {
		x, y, z, _ := b.p.at(i)
		b.lo[0], b.hi[0] = min(b.lo[0], x), max(b.hi[0], x)
		b.lo[1], b.hi[1] = min(b.lo[1], y), max(b.hi[1], y)
		b.lo[2], b.hi[2] = min(b.lo[2], z), max(b.hi[2], z)
	}
	return true
}

// at returns the point at a place.
func (p *Points) at(place int) (x, y, z float32, slot uint32) {
	b, lane := &p.Blocks[place/BlockLen], place%BlockLen
	return b.X[lane], b.Y[lane], b.Z[lane], b.Slot[lane]
}

// at returns the point at a place, with what rows have of it.
func (b *selfBatch) at(place int) (x, y, z float32, slot uint32) {
	x, y, z, slot = b.p.at(place)
	if b.places {
		slot = uint32(place)
	}
	return x, y, z, slot
}

// around returns the rows of cells that the centres in a box can reach.
func (b *selfBatch) around(lo, hi *[3]float32) walk {
	first, last := b.g.around(lo, hi, b.reach)
	return b.g.walk(b.p.Start, first, last)
}

// pack gathers the points near the batch. It returns their number, contradiction, or noRoom.
func (b *selfBatch) pack(to *Packed) int {
	w := b.around(&b.lo, &b.hi)
	n := 0
	for k := range w.layers {
		for j := range w.rows {
			first, last, ok := w.points(b.p.Start, j, k)
			if !ok {
				return contradiction
			}
			if last-first > packLen-n {
				return noRoom
			}
			n = b.gather(first, last, to, n)
		}
	}
	return n
}

// gather packs the points at places first to last-1 that some centre could accept. The test is that of membership,
// with the point of the box nearest to the candidate as centre. It drops nothing that a centre q of the batch
// accepts. Along each axis that point c lies between the candidate p and q, or is p, so |p - c| <= |p - q|. Rounding
// is monotone, so the rounded difference, its rounded square and the rounded sums of the squares are each at most
// those in the test of q.
func (b *selfBatch) gather(first, last int, to *Packed, n int) int {
	lo, hi, r2 := b.lo, b.hi, b.r2
	for at := first; at < last; at = at/BlockLen*BlockLen + BlockLen {
		from := &b.p.Blocks[at/BlockLen]
		end := min(last-at/BlockLen*BlockLen, BlockLen)
		for i := at % BlockLen; i < end; i++ {
			x, y, z := from.X[i%BlockLen], from.Y[i%BlockLen], from.Z[i%BlockLen]
			dx, dy, dz := outside(x, lo[0], hi[0]), outside(y, lo[1], hi[1]), outside(z, lo[2], hi[2])
			d2 := float32(float32(dx*dx)+float32(dy*dy)) + float32(dz*dz)
			if uint(n) >= packStride { // never: one test in place of four checks of bounds
				return n
			}
			to.x[n], to.y[n], to.z[n] = x, y, z
			if to.slot[n] = from.Slot[i%BlockLen]; b.places {
				to.slot[n] = uint32(at/BlockLen*BlockLen + i)
			}
			near := 0
			if d2 <= r2 {
				near = 1
			}
			n += near
		}
	}
	return n
}

// outside is the rounded difference between v and the nearest value in [lo, hi].
func outside(v, lo, hi float32) float32 { return v - min(max(v, lo), hi) }

// answer appends the row of a centre from n packed points.
func (b *selfBatch) answer(at int, from *Packed, n int, rows *Rows, fill int) int {
	cx, cy, cz, own := b.at(at)
	base, most := b.kept(own)
	r2, x, y, z, slots := b.r2, from.x[:n], from.y[:n], from.z[:n], from.slot[:n]
	out := rows.Slots[fill : fill+n+1]
	if rows.Dist2 != nil {
		return fill + answerDist2(from, n, cx, cy, cz, r2, base, most, out, rows.Dist2[fill:fill+n+1])
	}
	hits := 0
	for i, slot := range slots {
		dx, dy, dz := x[i]-cx, y[i]-cy, z[i]-cz
		d2 := float32(float32(dx*dx)+float32(dy*dy)) + float32(dz*dz)
		out[hits] = slot
		hits += keeps(d2, r2, slot, base, most)
	}
	return fill + hits
}

func answerDist2(from *Packed, n int, cx, cy, cz, r2 float32, base, most uint32, out []uint32, dist2 []float32) int {
	dist2 = dist2[:len(out)]
	x, y, z, slots := from.x[:n], from.y[:n], from.z[:n], from.slot[:n]
	hits := 0
	for i, slot := range slots {
		dx, dy, dz := x[i]-cx, y[i]-cy, z[i]-cz
		d2 := float32(float32(dx*dx)+float32(dy*dy)) + float32(dz*dz)
		out[hits], dist2[hits] = slot, d2
		hits += keeps(d2, r2, slot, base, most)
	}
	return hits
}

// sweep appends the row of a centre without packing, for neighbourhoods that
// exceed the scratch.
func (b *selfBatch) sweep(at int, rows *Rows, fill int) int {
	x, y, z, own := b.at(at)
	base, most := b.kept(own)
	centre := [3]float32{x, y, z}
	w := b.around(&centre, &centre)
	for k := range w.layers {
		for j := range w.rows {
			first, last, ok := w.points(b.p.Start, j, k)
			if !ok {
				return contradiction
			}
			if last-first >= len(rows.Slots)-fill {
				return noRoom
			}
			for i := first; i < last; i++ {
				px, py, pz, slot := b.at(i)
				dx, dy, dz := px-x, py-y, pz-z
				d2 := float32(float32(dx*dx)+float32(dy*dy)) + float32(dz*dz)
				rows.Slots[fill] = slot
				if rows.Dist2 != nil {
					rows.Dist2[fill] = d2
				}
				fill += keeps(d2, b.r2, slot, base, most)
			}
		}
	}
	return fill
}

// kept returns which hits the row of a slot holds: those for which slot - base is at most most. The difference wraps
// around: for own it is the largest number, and for slots below own at least 1<<31.
func (b *selfBatch) kept(own uint32) (base, most uint32) {
	switch b.keep {
	case KeepAll:
		return own + 1, math.MaxUint32
	case KeepAbove:
		return own + 1, native.MaxSlots
	}
	return own + 1, math.MaxUint32 - 1
}

// keeps is 1 for a hit that the row holds and 0 for any other point. The compiler turns the tests into set
// instructions.
func keeps(d2, r2 float32, slot, base, most uint32) int {
	near, kept := 0, 0
	if d2 <= r2 {
		near = 1
	}
	if slot-base <= most {
		kept = 1
	}
	return near & kept
}
