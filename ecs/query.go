package ecs

import (
	"iter"
	"math/bits"
)

// Term is one condition of a Query.
type Term struct {
	tags []Tag
	kind termKind
}

type termKind uint8

const (
	withAll termKind = iota
	withNone
	withAny
)

// With is the condition to have all of the tags.
func With(tags ...Tag) Term { return Term{tags, withAll} }

// Without is the condition to have none of the tags.
func Without(tags ...Tag) Term { return Term{tags, withNone} }

// Any is the condition to have at least one of the tags; Any of no tags holds for
// no entity.
func Any(tags ...Tag) Term { return Term{tags, withAny} }

// Query yields the slots of the entities that satisfy every term, in ascending
// order; with no terms, of all entities. Written in the range clause it does
// not allocate:
//
//	for s := range w.Query(ecs.With(enemy), ecs.Without(asleep)) {
//
// The body may tag: a slot is visited if it matches at the moment when the
// iteration reaches it, and reaches it once. Entities do not come or go meanwhile:
// to spawn, despawn or restore in the body panics, before anything is changed.
// Record it in Commands, or collect the slots first, with Query.Slots.
//
// A tag of another world panics.
func (w *World) Query(terms ...Term) iter.Seq[Slot] {
	return func(yield func(Slot) bool) { w.each(terms, yield) }
}

func (w *World) each(terms []Term, yield func(Slot) bool) {
	w.checkTerms(terms)
	w.walkers.Add(1)
	defer w.walkers.Add(-1)
	for i := range words(w.high) {
		edits := w.edits
		for m := w.match(terms, i); m != 0; {
			bit := bits.TrailingZeros64(m)
			if !yield(Slot(i<<6 | bit)) {
				return
			}
			if w.edits != edits {
				edits = w.edits
				m = w.match(terms, i)
			}
			m &= ^uint64(1) << bit // what lies ahead
		}
	}
}

func (w *World) checkTerms(terms []Term) {
	for _, term := range terms {
		for _, t := range term.tags {
			if t.set == nil || t.set.world != w {
				panic("ecs: Query with a zero Tag, or one of another world")
			}
		}
	}
}

// match returns the matches among slots 64i to 64i+63.
func (w *World) match(terms []Term, i int) uint64 {
	m := w.live.word(i)
	for _, term := range terms {
		switch term.kind {
		case withAll:
			for _, t := range term.tags {
				m &= t.set.bits[i]
			}
		case withNone:
			for _, t := range term.tags {
				m &^= t.set.bits[i]
			}
		case withAny:
			var some uint64
			for _, t := range term.tags {
				some |= t.set.bits[i]
			}
			m &= some
		}
	}
	return m
}

// Query is a condition on tags that is asked again and again. It keeps its answer
// as a bitmap for as long as no entity comes or goes and no tag changes. Its
// methods are for one goroutine at a time.
type Query struct {
	world *World
	terms []Term
	mask  []uint64
	edits uint64 // of the world, when mask was made
}

// NewQuery returns a Query for the entities that satisfy every term; with no terms,
// for all. It panics on a tag of another world.
func (w *World) NewQuery(terms ...Term) *Query {
	w.checkTerms(terms)
	q := &Query{world: w, mask: make([]uint64, words(w.Cap())), edits: w.edits - 1}
	for _, t := range terms { // the caller may write to its slices
		q.terms = append(q.terms, Term{append([]Tag(nil), t.tags...), t.kind})
	}
	return q
}

// All yields the slots that match, as World.Query does.
func (q *Query) All() iter.Seq[Slot] {
	return func(yield func(Slot) bool) { q.world.each(q.terms, yield) }
}

// Count returns the number of entities that match.
func (q *Query) Count() int { return countBits(q.Mask()) }

// Slots returns the slots that match, ascending, in the memory of dst if they fit:
// pass the previous result to allocate nothing.
func (q *Query) Slots(dst []Slot) []Slot { return slotsOf(q.Mask(), dst) }

// Mask returns the answer as a bitmap: bit s%64 of word s/64 tells whether slot s
// matches, and there is a bit for each row of the world. It is what the Live filter
// of package spatial and the operations of package native take. The memory belongs
// to the query and is to be read only; it is good until Mask is called again.
func (q *Query) Mask() []uint64 {
	w := q.world
	if q.edits == w.edits {
		return q.mask
	}
	used := words(w.high)
	for i := range used {
		q.mask[i] = w.match(q.terms, i)
	}
	clear(q.mask[used:]) // a Restore can lower high
	q.edits = w.edits
	return q.mask
}

// countBits returns the number of bits that are set.
func countBits(mask []uint64) int {
	n := 0
	for _, m := range mask {
		n += bits.OnesCount64(m)
	}
	return n
}

// slotsOf returns the numbers of the bits that are set, in the memory of dst if
// they fit. None are not nil: to an index, nil slots are all rows.
func slotsOf(mask []uint64, dst []Slot) []Slot {
	n := countBits(mask)
	if dst == nil || cap(dst) < n {
		dst = make([]Slot, n)
	}
	dst = dst[:n]
	n = 0
	for i, m := range mask {
		for ; m != 0; m &= m - 1 {
			dst[n] = Slot(i<<6 | bits.TrailingZeros64(m))
			n++
		}
	}
	return dst
}

// eachBit calls f for the slots of a mask in word i, ascending.
func eachBit(i int, mask uint64, f func(Slot)) {
	for ; mask != 0; mask &= mask - 1 {
		f(Slot(i<<6 | bits.TrailingZeros64(mask)))
	}
}
