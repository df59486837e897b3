package ecs

import (
	"math/bits"

	"github.com/evertick/evertick/internal/fault"
)

// DespawnN is Despawn for every id. If one is stale, or stands in ids twice, it is
// ErrStale naming its index, and nothing is changed. Observers are told of all,
// in ascending order of slots, before the first is gone.
func (w *World) DespawnN(ids []ID) error {
	w.mustBeStill()
	if i := w.leave(ids); i < len(ids) {
		w.leaving.clear()
		return fault.Element(ErrStale, "ecs: DespawnN ids", i, ids[i])
	}
	w.despawnLeaving()
	return nil
}

// leave adds the slots of ids to leaving, which is empty, up to the first that is stale
// or has been added, and returns how many these were.
func (w *World) leave(ids []ID) int {
	words, from, to := w.leaving.words, len(w.leaving.words), 0
	n := 0
	for _, id := range ids {
		slot, ok := w.table.slot(id)
		if !ok {
			break
		}
		word, bit := int(slot>>6), uint64(1)<<(slot&63)
		was := words[word]
		if was&bit != 0 {
			break
		}
		words[word] = was | bit
		from, to = min(from, word), max(to, word+1)
		n++
	}
	if n > 0 {
		w.leaving.from, w.leaving.to = from, to
	}
	return n
}

// DespawnWhere despawns the entities that satisfy every term, as DespawnN does, and
// returns their number. With no terms it empties the world.
func (w *World) DespawnWhere(terms ...Term) int {
	w.mustBeStill()
	w.checkTerms(terms)
	before := w.count
	for i := range words(w.high) {
		if m := w.match(terms, i); m != 0 {
			w.leaving.add(i, m)
		}
	}
	w.despawnLeaving()
	return before - w.count
}

func (w *World) despawnLeaving() {
	defer w.leaving.clear() // also when an observer panics
	if w.farewells != 0 {
		w.leaving.each(func(slot Slot) { w.sayFarewell(w.ids[slot], slot) })
		w.releaseLeaving()
	}
	for i := w.leaving.from; i < w.leaving.to; i++ {
		m := w.leaving.words[i]
		if m == 0 {
			continue
		}
		w.table.removeEach(w.ids[i<<6:min(i<<6+64, len(w.ids))], m)
		w.live.remove(i, m)
		for _, t := range w.tags {
			t.bits[i] &^= m
		}
		w.count -= bits.OnesCount64(m)
	}
	w.edits++
}

// slotBatch is a set of slots that something is about to be done to. Words outside
// [from, to) are zero, so that a small batch in a large world is cheap.
type slotBatch struct {
	words    []uint64
	from, to int
}

// add adds the slots of a mask in word i, and reports false if all of them were
// members.
func (b *slotBatch) add(i int, mask uint64) bool {
	if b.from == b.to {
		b.from, b.to = i, i+1
	}
	b.from, b.to = min(b.from, i), max(b.to, i+1)
	before := b.words[i]
	b.words[i] |= mask
	return b.words[i] != before
}

func (b *slotBatch) each(f func(Slot)) {
	for i := b.from; i < b.to; i++ {
		eachBit(i, b.words[i], f)
	}
}

func (b *slotBatch) clear() {
	clear(b.words[b.from:b.to])
	b.from, b.to = 0, 0
}
