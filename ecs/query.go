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

// In is the condition that a bitmap names an entity: bit s%64 of word s/64 is set, where s is its slot. Ops.Compare of
// package native writes such bitmaps. A slot beyond the end of the bitmap is not named. The term keeps the slice, and
// reads each word when it is evaluated. NewQuery panics on it.
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
func (w *World) Query(terms ...Term) iter.Seq[Slot] { return w.uncached(terms).All() }

// Runs yields the runs lo to hi-1 of rows whose entities satisfy every term, in ascending order; with no terms,
// of all entities. A run is as long as possible: the rows lo-1 and hi do not match. It is the fastest way to visit
// many entities, since the loop over rows is a plain loop over slices:
//
//	for lo, hi := range w.Runs(ecs.With(moving)) {
//		x, v := x[lo:hi], v[lo:hi]
//		for i := range x {
//			x[i] += float32(v[i] * dt)
//		}
//	}
//
// Written in the range clause it does not allocate, and the compiler inlines the body.
//
// The body may set and unset tags. The run stays as it is: Runs matches the rows from hi on after the body, and
// yields no row twice. Unlike World.Query it does not refuse spawns, despawns, Restore and Reorder in the body: it panics
// when the body has ended, unless the body ends the iteration. Record such changes in Commands.
//
// A tag of another world panics.
func (w *World) Runs(terms ...Term) iter.Seq2[int, int] { return w.uncached(terms).Runs() }

// uncached returns a query without a cache, which evaluates its terms word by word.
func (w *World) uncached(terms []Term) *Query {
	return &Query{world: w, terms: terms, changes: w.changes - 1}
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
	m := w.live.levels[0][i]
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
			some := uint64(0)
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

// Query is a condition on tags that is evaluated again and again. It caches its result,
// as a bitmap and for Slots as a list, for as long as no entity comes or goes and no tag changes: every method, and
// an iteration when it begins, first computes it anew if something has changed. Only one
// goroutine at a time may call its methods, or iterate.
type Query struct {
	world   *World
	terms   []Term
	mask    []uint64
	changes uint64 // of the world, when mask was computed
	slots   []Slot
	listed  uint64 // changes of the world, when slots was computed
}

// NewQuery returns a Query for the entities that satisfy every term; with no terms,
// for all. It panics on a tag of another world, and on In: nothing reports that a bitmap has changed.
func (w *World) NewQuery(terms ...Term) *Query {
	w.checkTerms(terms)
	q := &Query{world: w, mask: make([]uint64, words(w.Cap())), changes: w.changes - 1, listed: w.changes - 1}
	for _, t := range terms { // the caller may write to its slices
		if t.kind == withRows {
			panic("ecs: NewQuery with In, whose bitmap may change unnoticed")
		}
		q.terms = append(q.terms, Term{tags: append([]Tag(nil), t.tags...), kind: t.kind})
	}
	return q
}

// All yields the slots that match, as World.Query does, also where the body changes tags.
func (q *Query) All() iter.Seq[Slot] {
	return func(yield func(Slot) bool) {
		q.begin()
		q.world.whileLocked(func() { // here, not in a function of its own: that took 5 to 10 percent longer
			w := q.world
			for i := range words(w.high) {
				changes := w.changes
				for m := q.word(i); m != 0; {
					slot := Slot(i<<6 | bits.TrailingZeros64(m))
					m &= m - 1
					if !yield(slot) {
						return
					}
					if w.changes != changes {
						changes = w.changes
						m = q.word(i) & (^uint64(1) << (slot & 63)) // the slots that follow
					}
				}
			}
		})
	}
}

// Runs yields the runs of rows that match, as World.Runs does, also where the body changes tags.
func (q *Query) Runs() iter.Seq2[int, int] {
	// There is no lock, so that the compiler inlines all of this and the body: a lock needs a defer, which
	// releases it when the body panics, and the loop would become a function of its own.
	return func(yield func(lo, hi int) bool) {
		q.begin()
		w := q.world
		changes, entities := w.changes, w.entities()
		for i := 0; i < words(w.high); i++ {
			for m := q.word(i); m != 0; {
				end := m + m&-m // the bit after the lowest run, or 0
				lo, hi := i<<6|bits.TrailingZeros64(m), 0
				if m &= end; end != 0 {
					hi = i<<6 | bits.TrailingZeros64(end)
				} else {
					hi = q.runEnd(i + 1)
				}
				if !yield(lo, hi) {
					return
				}
				if end == 0 || w.changes != changes {
					w.mustHave(entities)
					changes = w.changes
					i, m = q.after(hi)
				}
			}
		}
	}
}

// begin computes the cache of a query anew if something has changed, or checks the terms of one without a cache.
func (q *Query) begin() {
	if q.mask == nil {
		q.world.checkTerms(q.terms)
	} else {
		q.Mask()
	}
}

// whileLocked calls f while no entity may come or go.
func (w *World) whileLocked(f func()) {
	w.lock()
	defer w.unlock()
	f()
}

// runEnd returns the first slot from word i on that does not match.
func (q *Query) runEnd(i int) int {
	for n := words(q.world.high); i < n; i++ {
		if m := q.word(i); m != full {
			return i<<6 | bits.TrailingZeros64(^m)
		}
	}
	return i << 6
}

// after returns the word of a slot, and the matching slots in it from that slot on.
func (q *Query) after(slot int) (i int, m uint64) {
	if i = slot >> 6; i < words(q.world.high) {
		m = q.word(i) & (full << (slot & 63))
	}
	return i, m
}

// entitySet identifies the set of entities and their slots: it changes with them.
type entitySet struct{ version, generation uint64 }

func (w *World) entities() entitySet { return entitySet{w.Version(), w.generation} }

// mustHave panics unless the world has the same entities in the same slots as before.
func (w *World) mustHave(before entitySet) {
	if w.entities() != before {
		panic("ecs: entities came or went in the body of Runs: record it in Commands")
	}
}

// Count returns the number of entities that match.
func (q *Query) Count() int { return native.CountRows(q.Mask()) }

// Slots returns the slots that match, ascending, in the memory of dst if they fit:
// pass the previous result to allocate nothing. Without matches the result is empty but not nil, as from native.RowsOf.
// While nothing has changed a call copies the list of the call before.
func (q *Query) Slots(dst []Slot) []Slot {
	if mask := q.Mask(); q.listed != q.changes {
		q.slots, q.listed = native.RowsOf(q.slots, mask), q.changes
	}
	if dst == nil {
		dst = make([]Slot, 0, len(q.slots))
	}
	return append(dst[:0], q.slots...)
}

// Mask returns the result as a bitmap: bit s%64 of word s/64 is set if slot s
// matches, and there is a bit for each row of the world. It is what the Live filter
// of package spatial and the operations of package native take. The memory belongs
// to the query: only read it. It is valid until another method is called, or an iteration begins.
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

// word returns the matching slots among 64i to 64i+63.
func (q *Query) word(i int) uint64 {
	if q.changes != q.world.changes {
		return q.world.match(q.terms, i)
	}
	return q.mask[i]
}
