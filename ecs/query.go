package ecs

import (
	"iter"
	"math/bits"
)

// Term is one condition of a Query.
type Term struct {
	tags    []Tag
	without bool
}

// With is the condition to have all of the tags.
func With(tags ...Tag) Term { return Term{tags, false} }

// Without is the condition to have none of the tags.
func Without(tags ...Tag) Term { return Term{tags, true} }

// Query yields the slots of the entities that satisfy every term, in ascending
// order; with no terms, of all entities. Written in the range clause it does
// not allocate:
//
//	for s := range w.Query(ecs.With(enemy), ecs.Without(asleep)) {
//
// The body may spawn, despawn and tag: a slot is visited if it matches at the
// moment when the iteration reaches it, and reaches it once. An entity spawned
// by the body is thus visited if its slot lies ahead. A Restore in the body ends
// the iteration.
//
// A tag of another world panics.
func (w *World) Query(terms ...Term) iter.Seq[Slot] {
	return func(yield func(Slot) bool) { w.each(terms, yield) }
}

func (w *World) each(terms []Term, yield func(Slot) bool) {
	for _, term := range terms {
		for _, t := range term.tags {
			if t.set == nil || t.set.world != w {
				panic("ecs: Query with a tag of another world")
			}
		}
	}
	generation := w.generation
	for i := 0; i < words(w.high); i++ { // high can rise meanwhile
		edits := w.edits
		for m := w.match(terms, i); m != 0; {
			bit := bits.TrailingZeros64(m)
			if !yield(Slot(i<<6 | bit)) {
				return
			}
			if w.edits != edits {
				if w.generation != generation {
					return
				}
				edits = w.edits
				m = w.match(terms, i)
			}
			m &= ^uint64(1) << bit // what lies ahead
		}
	}
}

// match returns the matches among slots 64i to 64i+63.
func (w *World) match(terms []Term, i int) uint64 {
	m := w.live.word(i)
	for _, term := range terms {
		for _, t := range term.tags {
			if term.without {
				m &^= t.set.bits[i]
			} else {
				m &= t.set.bits[i]
			}
		}
	}
	return m
}
