package rigid

import (
	"github.com/evertick/evertick/native"
)

// MaxPairs bounds the number of pairs where everything is in one place; see
// Broad.Pairs.
const MaxPairs = 256

// Broad finds the pairs of shapes whose boxes overlap. The zero Broad is ready, for
// one goroutine at a time; it keeps its buffers, so that nothing is allocated once
// it has seen the largest scene.
//
// The boxes that move are sorted anew in each call: layers of boxes of similar size,
// in each the rows of a grid, in each row by columns. Boxes that do not move
// are sorted when they change. No time or memory goes to the space between boxes,
// and a few boxes far away do not make the cells of the others larger.
type Broad struct {
	known  known  // what the call before was told
	moving sorted // boxes of this call
	still  sorted // boxes kept from call to call
	raw    []found
	order  ordering
	crowd  crowd
}

// found are pairs in the order of the search.
type found struct {
	a, b []uint32
	fill int
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
// two, that it could pair with. No shape that fewer than MaxPairs+1 others meet
// loses a pair, and there are at most 2*MaxPairs pairs for each shape.
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
	level = must(level)
	if b.known.update(boxes, filters, version) {
		b.still.build(level, boxes, b.known.still, true)
	}
	b.moving.build(level, boxes, b.known.moving, false)
	if b.search(level, n) {
		b.order.sort(level, n, &b.raw[0], &b.known.rule, out)
	} else {
		b.crowd.search(level, boxes, &b.known, out)
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
