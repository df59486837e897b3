package broad

import (
	"bytes"
	"math"
	"math/bits"
	"unsafe"

	"github.com/evertick/evertick/internal/buffer"
)

// pairCache holds the inputs of the last call and what was derived from them.
type pairCache struct {
	n       int
	version uint64
	copied  bool // filters and boxes hold those of the last call
	filters Filters
	boxes   Boxes // of the shapes that do not move, with the intervals in filters

	moving, stationary []uint64 // a bit for each shape
	filter             pairFilter
}

// updateCache updates what may have changed, and returns false if nothing has.
func (b *Phase) updateCache(boxes *Boxes, filters *Filters, version uint64) bool {
	k, n := &b.cache, len(filters.Body)
	same := n == k.n && (version != 0 && version == k.version || version == 0 && k.copied)
	k.n, k.version = n, version
	k.filter.filters = filters
	if same && version == 0 {
		b.change.Store(false)
		b.each(1+(n-1)/b.partSize(n), b.tasks.compare)
		same = !b.change.Load()
	}
	if !same {
		k.update(boxes, filters, version == 0)
	}
	return !same
}

// comparePart compares a part of the shapes with those of the last call.
func (b *Phase) comparePart(part int) {
	lo := part * b.partSize(b.cache.n)
	if !b.cache.equal(b.boxes, b.cache.filter.filters, lo, min(lo+b.partSize(b.cache.n), b.cache.n)) {
		b.change.Store(true)
	}
}

func (k *pairCache) update(boxes *Boxes, filters *Filters, copied bool) {
	if k.copied = copied; copied {
		k.filters.Body = append(k.filters.Body[:0], filters.Body...)
		k.filters.Moves = append(k.filters.Moves[:0], filters.Moves...)
		k.filters.Category = append(k.filters.Category[:0], filters.Category...)
		k.filters.Mask = append(k.filters.Mask[:0], filters.Mask...)
		k.filters.Group = append(k.filters.Group[:0], filters.Group...)
		k.boxes.MinX = append(k.boxes.MinX[:0], boxes.MinX...)
		k.boxes.MinY = append(k.boxes.MinY[:0], boxes.MinY...)
		k.boxes.MaxX = append(k.boxes.MaxX[:0], boxes.MaxX...)
		k.boxes.MaxY = append(k.boxes.MaxY[:0], boxes.MaxY...)
		k.filters.SpanMin = append(k.filters.SpanMin[:0], filters.SpanMin...)
		k.filters.SpanMax = append(k.filters.SpanMax[:0], filters.SpanMax...)
	}
	k.splitMoving(filters.Moves)
	k.filter.update(filters)
}

// equal compares shapes [lo, hi); lo is a multiple of 64.
func (k *pairCache) equal(boxes *Boxes, f *Filters, lo, hi int) bool {
	o := &k.filters
	if !sameBits(o.Body[lo:hi], f.Body[lo:hi]) || !sameBits(o.Moves[lo:hi], f.Moves[lo:hi]) ||
		!sameBits(o.Group[lo:hi], f.Group[lo:hi]) || !sameBits(o.Category[lo:hi], f.Category[lo:hi]) ||
		!sameBits(o.Mask[lo:hi], f.Mask[lo:hi]) || o.Spanned() != f.Spanned() {
		return false
	}
	for w := lo / 64; w < (hi+63)/64; w++ {
		for rest := k.stationary[w]; rest != 0; rest &= rest - 1 {
			i := w*64 + bits.TrailingZeros64(rest)
			if !(sameBits32(k.boxes.MinX[i], boxes.MinX[i]) && sameBits32(k.boxes.MinY[i], boxes.MinY[i]) &&
				sameBits32(k.boxes.MaxX[i], boxes.MaxX[i]) && sameBits32(k.boxes.MaxY[i], boxes.MaxY[i])) {
				return false
			}
			if f.Spanned() && !(sameBits32(o.SpanMin[i], f.SpanMin[i]) && sameBits32(o.SpanMax[i], f.SpanMax[i])) {
				return false
			}
		}
	}
	return true
}

func sameBits32(a, b float32) bool { return math.Float32bits(a) == math.Float32bits(b) }

// sameBits compares slices of equal length as memory.
func sameBits[T bool | uint32 | int32 | uint64](a, b []T) bool {
	if len(a) == 0 {
		return true
	}
	size := len(a) * int(unsafe.Sizeof(a[0]))
	return bytes.Equal(unsafe.Slice((*byte)(unsafe.Pointer(&a[0])), size), unsafe.Slice((*byte)(unsafe.Pointer(&b[0])), size))
}

// splitMoving makes the bitmaps of the shapes that move and that do not.
func (k *pairCache) splitMoving(moves []bool) {
	words := (len(moves) + 63) / 64
	k.moving, k.stationary = buffer.Resized(k.moving, words), buffer.Resized(k.stationary, words)
	for w := range words {
		moving, still := uint64(0), uint64(0)
		for i, m := range moves[w*64 : min(w*64+64, len(moves))] {
			if m {
				moving |= 1 << i
			} else {
				still |= 1 << i
			}
		}
		k.moving[w], k.stationary[w] = moving, still
	}
}

// maxKinds is the largest number of kinds of filters that a table holds.
const maxKinds = 64

// pairFilter decides whether two shapes can pair, of which at least one moves. Shapes with equal category and
// mask are of one kind. If there are few kinds, a table states which of them agree.
type pairFilter struct {
	filters      *Filters
	acceptsAll   bool             // any two shapes can pair
	bodiesDiffer bool             // no moving shape shares its body with another one
	seen         []uint64         // bodies, then those of moving shapes
	grouped      bool             // some shapes have a group
	kinds        int              // 0: too many
	kind         []uint8          // by shape
	agree        [maxKinds]uint64 // bit j of agree[i]: kinds i and j agree
}

func (r *pairFilter) update(f *Filters) {
	r.kinds, r.grouped, r.acceptsAll = 0, false, false
	r.bodiesDiffer = f.movingBodiesDiffer(&r.seen)
	for _, g := range f.Group {
		r.grouped = r.grouped || g != 0
	}
	r.kind = buffer.Resized(r.kind, len(f.Category))
	var category, mask [maxKinds]uint64
	kinds := 0
	for i := range f.Category {
		k := 0
		for k < kinds && (category[k] != f.Category[i] || mask[k] != f.Mask[i]) {
			k++
		}
		if k == maxKinds {
			return
		}
		category[k], mask[k] = f.Category[i], f.Mask[i]
		kinds = max(kinds, k+1)
		r.kind[i] = uint8(k)
	}
	r.kinds, r.acceptsAll = kinds, !r.grouped && r.bodiesDiffer
	for i := range kinds {
		r.agree[i] = 0
		for j := range kinds {
			if category[i]&mask[j] != 0 && category[j]&mask[i] != 0 {
				r.agree[i] |= 1 << j
			} else {
				r.acceptsAll = false
			}
		}
	}
}

// movingBodiesDiffer reports whether no moving shape shares its body with another shape. It may return false
// for bodies with large numbers.
func (f *Filters) movingBodiesDiffer(seen *[]uint64) bool {
	most := uint32(0)
	for _, x := range f.Body {
		most = max(most, x)
	}
	words := int(most/64) + 1
	if words > len(f.Body)+1 {
		return false
	}
	*seen = buffer.Resized(*seen, 2*words)
	clear(*seen)
	all, moving := (*seen)[:words], (*seen)[words:]
	for i, x := range f.Body {
		w, bit := x/64, uint64(1)<<(x%64)
		if moving[w]&bit != 0 || f.Moves[i] && all[w]&bit != 0 {
			return false
		}
		all[w] |= bit
		if f.Moves[i] {
			moving[w] |= bit
		}
	}
	return true
}

// Spanned reports whether shapes have intervals.
func (f *Filters) Spanned() bool { return len(f.SpanMin) > 0 }

// spansOverlap reports whether the intervals of two shapes overlap or touch, if there are any.
func (f *Filters) spansOverlap(a, b uint32) bool {
	return !f.Spanned() || f.SpanMin[a] <= f.SpanMax[b] && f.SpanMin[b] <= f.SpanMax[a]
}

// ShouldCollide reports whether two shapes can pair if one of them moves.
func (f *Filters) ShouldCollide(a, b uint32) bool {
	if f.Body[a] == f.Body[b] || !f.spansOverlap(a, b) {
		return false
	}
	if f.Group[a] == f.Group[b] && f.Group[a] != 0 {
		return f.Group[a] > 0
	}
	return f.Category[a]&f.Mask[b] != 0 && f.Category[b]&f.Mask[a] != 0
}

// shouldCollide reports whether shapes a and b can pair if their intervals overlap.
func (r *pairFilter) shouldCollide(a, b uint32) bool {
	f := r.filters
	if !r.bodiesDiffer && f.Body[a] == f.Body[b] {
		return false
	}
	if r.grouped && f.Group[a] == f.Group[b] && f.Group[a] != 0 {
		return f.Group[a] > 0
	}
	if r.kinds > 0 {
		return r.agree[r.kind[a]]>>r.kind[b]&1 != 0
	}
	return f.Category[a]&f.Mask[b] != 0 && f.Category[b]&f.Mask[a] != 0
}
