package ecs

import (
	"iter"
	"math/bits"

	"github.com/evertick/evertick/native"
)

// Term is one condition of a Query.
type Term struct {
	tags []Tag
	kind termKind
	rows []uint64 // of withRows
}

type termKind uint8

const (
	withAll termKind = iota
	withNone
	withAny
	withRows
)

// With is the condition that an entity has all of the tags.
func With(tags ...Tag) Term { return Term{tags: tags, kind: withAll} }

// Without is the condition that it has none of the tags.
func Without(tags ...Tag) Term { return Term{tags: tags, kind: withNone} }

// Any is the condition that it has at least one of the tags; Any of no tags holds for
// no entity.
func Any(tags ...Tag) Term { return Term{tags: tags, kind: withAny} }

// In is the condition that a bitmap has the bit of an entity's slot, bit s%64 of word s/64, such as Ops.Compare of
// package native writes; slots that are beyond the bitmap do not satisfy it. The term keeps the slice, and reads a word
// when it is evaluated. NewQuery refuses it.
func In(bitmap []uint64) Term { return Term{kind: withRows, rows: bitmap} }

// Query yields the slots of the entities that satisfy every term, in ascending order; with
// no terms, of all entities. Written in the range clause it does not allocate:
//
//	for s := range w.Query(ecs.With(enemy), ecs.Without(asleep)) {
//
// The body may set and unset tags: the iteration reaches each slot once and visits it if
// it matches at that moment. Spawning, despawning or restoring in the body panics, before
// anything is changed. Record such changes in Commands, or collect the slots first, with
// Query.Slots.
//
// A tag of another world panics.
func (w *World) Query(terms ...Term) iter.Seq[Slot] {
	return func(yield func(Slot) bool) { w.each(terms, yield) }
}

func (w *World) each(terms []Term, yield func(Slot) bool) {
	w.checkTerms(terms)
	w.lock()
	defer w.unlock()
	for i := range words(w.high) {
		changes := w.changes
		for m := w.match(terms, i); m != 0; {
			bit := bits.TrailingZeros64(m)
			if !yield(Slot(i<<6 | bit)) {
				return
			}
			if w.changes != changes {
				changes = w.changes
				m = w.match(terms, i)
			}
			m &= ^uint64(1) << bit // the slots that follow
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

// match returns the matching slots among 64i to 64i+63.
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
		case withRows:
			if i >= len(term.rows) {
				return 0
			}
			m &= term.rows[i]
		}
	}
	return m
}

// Query is a condition on tags that is evaluated again and again. It caches its result
// as a bitmap for as long as no entity comes or goes and no tag changes. Only one
// goroutine at a time may call its methods.
type Query struct {
	world   *World
	terms   []Term
	mask    []uint64
	changes uint64 // of the world, when mask was computed
}

// NewQuery returns a Query for the entities that satisfy every term; with no terms,
// for all. It panics on a tag of another world, and on In: nothing reports that a bitmap has changed.
func (w *World) NewQuery(terms ...Term) *Query {
	w.checkTerms(terms)
	q := &Query{world: w, mask: make([]uint64, words(w.Cap())), changes: w.changes - 1}
	for _, t := range terms { // the caller may write to its slices
		if t.kind == withRows {
			panic("ecs: NewQuery with In, whose bitmap may change unnoticed")
		}
		q.terms = append(q.terms, Term{tags: append([]Tag(nil), t.tags...), kind: t.kind})
	}
	return q
}

// All yields the slots that match, as World.Query does.
func (q *Query) All() iter.Seq[Slot] {
	return func(yield func(Slot) bool) { q.world.each(q.terms, yield) }
}

// Count returns the number of entities that match.
func (q *Query) Count() int { return native.CountRows(q.Mask()) }

// Slots returns the slots that match, ascending, in the memory of dst if they fit:
// pass the previous result to allocate nothing.
func (q *Query) Slots(dst []Slot) []Slot { return native.RowsOf(dst, q.Mask()) }

// Mask returns the result as a bitmap: bit s%64 of word s/64 is set if slot s
// matches, and there is a bit for each row of the world. It is what the Live filter
// of package spatial and the operations of package native take. The memory belongs
// to the query: only read it. It is valid until Mask is called again.
func (q *Query) Mask() []uint64 {
	w := q.world
	if q.changes == w.changes {
		return q.mask
	}
	used := words(w.high)
	for i := range used {
		q.mask[i] = w.match(q.terms, i)
	}
	clear(q.mask[used:]) // a Restore can lower high
	q.changes = w.changes
	return q.mask
}
