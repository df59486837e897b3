package broad

import (
	"sync/atomic"

	"github.com/evertick/evertick/native"
)

// MaxPairs, MinPairs and MinStationaryPairs limit the number of pairs of a shape in scenes where many shapes are in
// one place. So they bound the memory and the time of a step; see Phase.FindPairs.
const (
	MaxPairs           = 256
	MinPairs           = 8
	MinStationaryPairs = 16 // like MinPairs, for pairs with a shape that does not move
)

// maxTotalPairs is the greatest number of pairs of n shapes. It leaves room for the lowest limit of each shape,
// and for the pairs of a few hundred shapes that all meet. In a pile a shape has about four pairs.
func maxTotalPairs(n, least int) int { return 2*least*n + 1<<16 }

// pairLimits are the limits per shape: for pairs of two shapes that move, and for pairs with one that does not.
type pairLimits struct{ moving, stationary uint32 }

// limit returns the limit for pairs whose second shape moves or not.
func (b pairLimits) limit(moves bool) uint32 {
	if moves {
		return b.moving
	}
	return b.stationary
}

// halve halves the limits that leave too many pairs of n shapes. kept counts all pairs, still those with a
// shape that does not move. It returns false if no limit is halved.
func (b *pairLimits) halve(n, kept, still int) bool {
	moving := kept-still > maxTotalPairs(n, MinPairs) && b.moving > MinPairs
	if moving {
		b.moving /= 2
	}
	if still > maxTotalPairs(n, MinStationaryPairs) && b.stationary > MinStationaryPairs {
		b.stationary /= 2
		return true
	}
	return moving
}

// Phase finds the pairs of shapes whose boxes overlap. The zero Phase is ready, for one goroutine at a
// time. It keeps its buffers: after the largest scene it allocates nothing.
//
// Each call sorts the boxes that move: into layers of boxes of similar size, in a layer by the rows of a grid,
// in a row by columns. Boxes that do not move are sorted when they change. Empty space costs no time or memory,
// and a few boxes far away do not enlarge the cells of the others.
//
// Several workers can share the work. The number of shapes alone decides how it is split, and the result does
// not depend on that.
type Phase struct {
	// ParallelFor calls f for each part in [0, parts), in any order and perhaps at the same time, and returns
	// when all are done. nil: one after the other.
	ParallelFor func(parts int, f func(part int))

	// Omitted is the number of pairs that the last FindPairs left out because there were too many.
	Omitted int

	cache      pairCache // inputs of the last call
	moving     Grid      // boxes of this call
	stationary Grid      // boxes kept from call to call
	jobs       []job
	groups     []int        // first job of each group, then the end of the last
	buffers    []pairBuffer // by group
	total      atomic.Int64
	sorter     pairSorter
	bruteForce bruteForce

	gridBuilder
	out    *Pairs // of the running FindPairs
	change atomic.Bool
	tasks  tasks
}

// tasks are methods of a Phase that do one part each, bound once.
type tasks struct{ compare, search, partition, sort func(part int) }

// begin prepares a call.
func (b *Phase) begin(level native.Level, boxes *Boxes, filters *Filters, out *Pairs) {
	if b.tasks.compare == nil {
		b.tasks = tasks{b.comparePart, b.searchPart, b.partitionPart, b.sortPairsPart}
	}
	b.gridBuilder.begin(level, boxes, filters, b.ParallelFor)
	b.out = out
}

// pairBuffer holds pairs in the order of the search.
type pairBuffer struct {
	a, b      []uint32
	n         int
	partStart [maxParts]uint32 // the number of pairs by part of a, then the position of the next one
}

// FindPairs replaces out by all pairs of shapes A < B, ascending by A, then B, for which
//
//   - the boxes overlap or touch;
//   - the bodies differ, and at least one of them moves;
//   - the filters agree: two shapes of the same group other than 0 pair if it is positive. Any others pair if
//     each has a bit of its category in the mask of the other;
//   - the intervals overlap or touch, if there are any: SpanMin of each is at most SpanMax of the other. So one with
//     a NaN overlaps nothing.
//
// A box with a Min above its Max, or with a bound that is not finite, overlaps nothing.
//
// Where many shapes are in one place there are too many pairs to be of use, so some are left out. Pairs of two shapes
// that move, and pairs with a shape that does not, are counted separately:
//
//   - A pair is left out if each of its two shapes has MaxPairs other partners of the same kind of pair, numbered
//     between the two.
//   - If more than 16 pairs of moving shapes per shape (of all shapes in the columns) plus 65536 remain, the limit
//     for them is halved, from MaxPairs down to MinPairs, until no more remain.
//   - If more than 32 pairs with a shape that does not move per shape plus 65536 remain, the limit for them is
//     halved in the same way, down to MinStationaryPairs.
//
// So there are never more than 48 pairs per shape plus 131072. A shape that meets at most MinPairs others loses
// no pair. A moving shape keeps its pairs with all shapes that do not move, such as the floor it lies on, if
// these are at most MinStationaryPairs, however many others lie there. If they are at most MaxPairs, it keeps
// them unless such pairs alone exceed 32 per shape plus 65536. Omitted is the number of pairs left out.
//
// version states whether the filters, and the boxes and intervals of shapes that do not move, may have changed since the last
// call. If it is not zero and the same as then, they and the number of shapes must be unchanged. With version
// zero FindPairs compares them. Intervals of shapes that move may change at any time, and so may whether there are any.
//
// FindPairs panics if columns differ in length, if there are more than native.MaxSlots shapes, and on a level
// that native.Resolve refuses. The level does not change the result.
func (b *Phase) FindPairs(level native.Level, boxes *Boxes, filters *Filters, version uint64, out *Pairs) {
	n := boxes.Len()
	if filters.check() != n {
		panic("broad: Phase.FindPairs: boxes and filters differ in length")
	}
	if n > native.MaxSlots {
		panic("broad: Phase.FindPairs: more than native.MaxSlots shapes")
	}
	b.begin(level, boxes, filters, out)
	if b.updateCache(boxes, filters, version) || b.stationary.spanned != filters.Spanned() {
		b.build(&b.stationary, b.cache.stationary, true)
	}
	b.build(&b.moving, b.cache.moving, false)
	if b.search(n) {
		b.Omitted = b.sortPairs(n)
	} else {
		b.Omitted = b.bruteForce.search(b.kernels, boxes, &b.cache, out)
	}
}

// Stationary returns the boxes that did not move in the last FindPairs.
func (b *Phase) Stationary() *Grid { return &b.stationary }

// check panics if columns differ in length, and returns their length.
func (f *Filters) check() int {
	n := len(f.Body)
	if len(f.Moves) != n || len(f.Category) != n || len(f.Mask) != n || len(f.Group) != n ||
		len(f.SpanMax) != len(f.SpanMin) || f.Spanned() && len(f.SpanMin) != n {
		panic("broad: columns of Filters differ in length")
	}
	return n
}
