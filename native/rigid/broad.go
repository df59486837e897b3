package rigid

import (
	"sync/atomic"

	"github.com/evertick/evertick/native"
)

// MaxPairs and MinPairs bound the number of pairs where everything is in one place, and with it the memory
// and the time of a step; see Broad.Pairs.
const (
	MaxPairs = 256
	MinPairs = 8
)

// budget is the greatest number of pairs of n shapes: with what MinPairs leaves at most, and as many as
// a few hundred shapes need to meet all others. In a pile a shape has about four pairs.
func budget(n int) int { return 2*MinPairs*n + 1<<16 }

// Broad finds the pairs of shapes whose boxes overlap. The zero Broad is ready, for
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
type Broad struct {
	// Share has f called for each part in [0, parts), in any order and perhaps at the same
	// time, and returns when all are done. nil: one after the other.
	Share func(parts int, f func(part int))

	// Omitted is the number of pairs that the last call of Pairs left out since there were too many.
	Omitted int

	known  known  // what the call before was told
	moving sorted // boxes of this call
	still  sorted // boxes kept from call to call
	jobs   []job
	groups []int   // first job of each group, and the end of the last
	raw    []found // by group
	total  atomic.Int64
	order  ordering
	crowd  crowd

	builder
	out    *Pairs // of the call of Pairs that runs
	change atomic.Bool
	tasks  tasks
}

// tasks are methods of a Broad, bound once, that do a part each.
type tasks struct{ same, search, divide, order func(part int) }

// begin is called first.
func (b *Broad) begin(level native.Level, boxes *Boxes, out *Pairs) {
	if b.tasks.same == nil {
		b.tasks = tasks{b.samePart, b.searchPart, b.dividePart, b.orderPart}
	}
	b.builder.begin(must(level), boxes, b.Share)
	b.out = out
}

// found are pairs in the order of the search.
type found struct {
	a, b []uint32
	fill int
	at   [maxParts]uint32 // pairs by part of a, then where the next one goes
}

// Pairs replaces out by all pairs of shapes A < B, ascending by A, then B, of which
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
// Where everything is in one place the pairs are too many to be of use. So a pair is
// left out if each of its two shapes has MaxPairs others, with numbers between the
// two, that it could pair with. If more than 16 pairs for each shape, of all those in the columns,
// and 65536 are left by that, then it is half of MaxPairs that counts, or a half of
// this, and so on down to MinPairs: the greatest with which they are not more. No shape that
// no more than MinPairs others meet loses a pair. Omitted says how many pairs were left out.
//
// version says whether filters, and the boxes of shapes that do not move, may have
// changed since the call before: if it is not zero and the same as then, Broad
// takes it that they, and the number of shapes, have not. With version zero it
// compares them.
//
// Pairs panics if columns differ in length, if there are more than native.MaxSlots
// shapes, and on a level that native.Resolve refuses. The level does not change the
// result.
func (b *Broad) Pairs(level native.Level, boxes *Boxes, filters *Filters, version uint64, out *Pairs) {
	n := boxes.check()
	if filters.check() != n {
		panic("rigid: Broad.Pairs: boxes and filters differ in length")
	}
	if n > native.MaxSlots {
		panic("rigid: Broad.Pairs: more than native.MaxSlots shapes")
	}
	b.begin(level, boxes, out)
	if b.update(boxes, filters, version) {
		b.build(&b.still, b.known.still, true)
	}
	b.build(&b.moving, b.known.moving, false)
	if b.search(n) {
		b.Omitted = b.sortPairs(n)
	} else {
		b.Omitted = b.crowd.search(b.level, boxes, &b.known, out)
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
