package rigid

import (
	"sync/atomic"

	"github.com/evertick/evertick/native"
)

// MaxPairs, MinPairs and MinStationaryPairs bound the number of pairs where everything is in one place, and with it the
// memory and the time of a step; see BroadPhase.FindPairs.
const (
	MaxPairs           = 256
	MinPairs           = 8
	MinStationaryPairs = 16 // as MinPairs, for pairs with a shape that does not move
)

// maxTotalPairs is the greatest number of pairs of n shapes of which least is the lowest bound: what that leaves at
// most, and as many as a few hundred shapes need to meet all others. In a pile a shape has about four pairs.
func maxTotalPairs(n, least int) int { return 2*least*n + 1<<16 }

// pairLimits are what counts for pairs of two shapes that move, and for pairs with one that does not.
type pairLimits struct{ moving, stationary uint32 }

// limit returns the bound for pairs with a shape, of one that moves, that moves too or does not.
func (b pairLimits) limit(moves bool) uint32 {
	if moves {
		return b.moving
	}
	return b.stationary
}

// halve halves the bounds that leave too many pairs of n shapes: of all pairs that are left, and of those of them
// with a shape that does not move. It returns false if none is to be halved.
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

// BroadPhase finds the pairs of shapes whose boxes overlap. The zero BroadPhase is ready, for
// one goroutine at a time; it keeps its buffers, so that nothing is allocated once
// it has seen the largest scene.
//
// The boxes that move are sorted anew in each call: layers of boxes of similar size,
// in each the rows of a grid, in each row by columns. Boxes that do not move
// are sorted when they change. No time or memory goes to the space between boxes,
// and a few boxes far away do not make the cells of the others larger.
//
// Several workers can share the work, which is then cut into parts by the number of shapes
// alone. That does not change the result.
type BroadPhase struct {
	// ParallelFor has f called for each part in [0, parts), in any order and perhaps at the same
	// time, and returns when all are done. nil: one after the other.
	ParallelFor func(parts int, f func(part int))

	// Omitted is the number of pairs that the last call of Pairs left out since there were too many.
	Omitted int

	cache      pairCache // what the call before was told
	moving     grid      // boxes of this call
	stationary grid      // boxes kept from call to call
	jobs       []job
	groups     []int        // first job of each group, and the end of the last
	buffers    []pairBuffer // by group
	total      atomic.Int64
	sorter     pairSorter
	bruteForce bruteForce

	gridBuilder
	out    *Pairs // of the call of Pairs that runs
	change atomic.Bool
	tasks  tasks
}

// tasks are methods of a BroadPhase, bound once, that do a part each.
type tasks struct{ compare, search, partition, sort func(part int) }

// begin is called first.
func (b *BroadPhase) begin(level native.Level, boxes *Boxes, out *Pairs) {
	if b.tasks.compare == nil {
		b.tasks = tasks{b.comparePart, b.searchPart, b.partitionPart, b.sortPairsPart}
	}
	b.gridBuilder.begin(level, boxes, b.ParallelFor)
	b.out = out
}

// pairBuffer are pairs in the order of the search.
type pairBuffer struct {
	a, b      []uint32
	n         int
	partStart [maxParts]uint32 // pairs by part of a, then where the next one goes
}

// FindPairs replaces out by all pairs of shapes A < B, ascending by A, then B, of which
//
//   - the boxes overlap, their borders included;
//   - the bodies differ, and at least one of them moves;
//   - the filters agree: shapes of the same group other than 0 pair if it is
//     positive, and any others if each has a bit of its category in the mask of the
//     other.
//
// A box with a Min above its Max, or with a bound that is not finite, overlaps
// nothing.
//
// Where everything is in one place the pairs are too many to be of use. So some are left out: the pairs
// of two shapes that move and the pairs of one that moves with one that does not, each sort by itself, as if there were
// no other.
//
//   - A pair is left out if each of its two shapes has MaxPairs others, with numbers between
//     the two, that it could pair with in a pair of the same sort.
//   - If more than 16 pairs of two shapes that move for each shape, of all those in the columns, and 65536 are left by
//     that, then it is half of MaxPairs that counts for them, or a half of this, and so on down to MinPairs:
//     the greatest with which they are not more.
//   - If more than 32 pairs with a shape that does not move for each shape and 65536 are left, then
//     the same goes for them, down to MinStationaryPairs.
//
// So there are never more than 48 pairs for each shape and 131072. No shape
// that no more than MinPairs others meet loses a pair. A shape that moves keeps its pairs with all shapes that do not,
// such as the floor it lies on, however many others lie there, if these are no more than MinStationaryPairs; and if they are no more than
// MaxPairs, unless those pairs alone are more than 32 for each shape and 65536. Omitted says how many pairs were left out.
//
// version says whether filters, and the boxes of shapes that do not move, may have
// changed since the call before: if it is not zero and the same as then, BroadPhase
// takes it that they, and the number of shapes, have not. With version zero it
// compares them.
//
// Pairs panics if columns differ in length, if there are more than native.MaxSlots
// shapes, and on a level that native.Resolve refuses. The level does not change the
// result.
func (b *BroadPhase) FindPairs(level native.Level, boxes *Boxes, filters *Filters, version uint64, out *Pairs) {
	n := boxes.check()
	if filters.check() != n {
		panic("rigid: BroadPhase.FindPairs: boxes and filters differ in length")
	}
	if n > native.MaxSlots {
		panic("rigid: BroadPhase.FindPairs: more than native.MaxSlots shapes")
	}
	b.begin(level, boxes, out)
	if b.updateCache(boxes, filters, version) {
		b.build(&b.stationary, b.cache.stationary, true)
	}
	b.build(&b.moving, b.cache.moving, false)
	if b.search(n) {
		b.Omitted = b.sortPairs(n)
	} else {
		b.Omitted = b.bruteForce.search(b.kernels, boxes, &b.cache, out)
	}
}

// check panics if columns differ in length, and returns their length.
func (f *Filters) check() int {
	n := len(f.Body)
	if len(f.Moves) != n || len(f.Category) != n || len(f.Mask) != n || len(f.Group) != n {
		panic("rigid: columns of Filters differ in length")
	}
	return n
}
