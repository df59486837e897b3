package ecs

import (
	"fmt"
	"slices"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/stagger"
)

// reorderScratch is the memory of Reorder, which keeps it for the next call.
type reorderScratch struct {
	rows  []byte // of one column
	blobs []movedBlob
}

// movedBlob is a blob of a row that moves.
type movedBlob struct {
	slot Slot   // where it goes
	at   uint32 // its record in the arena
}

// Reorder moves all entities to other rows: the entity in slot order[i] to slot i. order lists the slots of all entities,
// each once. spatial.Index.SortPermutation returns such a list if all entities are in the index. In that order neighbours
// in space are neighbours in memory, which makes passes over neighbours faster.
//
// Everything that belongs to a row moves with it: the values of all columns, Previous, tags, blobs, Jumped, and what Bindings
// hold. Ids keep their meaning, and so do recorded Commands. Slots that a program has stored do not: World.Slot
// returns the new ones. A Handle is no longer Valid if its entity has moved; World.Handle of its Gen returns a new one.
//
// Afterwards the entities are in slots 0 to Len()-1, and HighWater is Len(). The next Spawn takes slot Len(). What free rows
// held is gone. All columns and all Blobs that are not empty have a new Version, Generation is one higher, and the observers of
// OnReorder are called. If every entity is in its place already and no row below HighWater is free, nothing changes at all.
//
// A list of another length than Len() is ErrRange, and so is a slot that is free, beyond HighWater or listed twice; the
// error names its index, and nothing is changed. Reorder panics where Spawn does (while a query iterates, and within an
// observer or a release) and between HoldTouches and ReleaseTouches.
//
// It takes time in proportion to the bytes of all rows and blobs. It keeps memory for one more column, the widest one, and
// for one more of each Binding, and allocates nothing once it has both; Blobs allocate as described there.
func (w *World) Reorder(order []Slot) error {
	w.mustBeUnlocked()
	if w.holding {
		panic("ecs: Reorder between HoldTouches and ReleaseTouches")
	}
	if err := w.checkOrder(order); err != nil {
		return err
	}
	if w.inOrder(order) {
		return nil
	}
	w.moveColumns(order)
	w.moveIDs(order)
	for _, t := range w.tags {
		w.moveBits(t.bits, order)
	}
	for _, b := range w.blobs {
		if b.count > 0 {
			b.move(order, &w.reordering)
			b.version.touch()
		}
	}
	w.movePrevious(order)
	w.high = len(order)
	w.changes++
	w.generation++
	for _, b := range w.bindings {
		b.follow()
	}
	w.notifyReorder(order)
	return nil
}

// checkOrder returns an error unless order lists the slots of all entities, each once.
func (w *World) checkOrder(order []Slot) error {
	if len(order) != w.count {
		return fmt.Errorf("%w, for %d entities", fault.Field(ErrRange, "ecs: Reorder len(order)", len(order)), w.count)
	}
	seen := &w.despawning // which is empty
	defer seen.clear()
	for i, slot := range order {
		word, bit := int(slot>>6), uint64(1)<<(slot&63)
		if slot >= Slot(w.high) || w.live.word(word)&bit == 0 {
			return fmt.Errorf("%w, which has no entity", fault.Element(ErrRange, "ecs: Reorder order", i, slot))
		}
		if !seen.add(word, bit) {
			return fmt.Errorf("%w, for the second time", fault.Element(ErrRange, "ecs: Reorder order", i, slot))
		}
	}
	return nil
}

// inOrder reports whether Reorder would change nothing.
func (w *World) inOrder(order []Slot) bool {
	if len(order) != w.high {
		return false
	}
	for i, slot := range order {
		if slot != Slot(i) {
			return false
		}
	}
	return true
}

// moveColumns moves the rows of all columns, and resets those that are free afterwards, as if they had never been used.
func (w *World) moveColumns(order []Slot) {
	for i, c := range w.columns {
		w.reordering.move(c.mem, c.size(), order)
		c.reset(len(order), w.high)
		if i == 0 || c.version != w.columns[i-1].version {
			c.version.touch()
		}
	}
}

// moveIDs moves the ids, and updates the table and the set of live slots.
func (w *World) moveIDs(order []Slot) {
	n := len(order)
	w.reordering.move(bytesOf(w.ids), 8, order)
	clear(w.ids[n:w.high])
	for i, id := range w.ids[:n] {
		w.table.move(id, Slot(i))
	}
	w.live.clear(w.high)
	for i := range n >> 6 {
		w.live.add(i, full)
	}
	if rest := n & 63; rest != 0 {
		w.live.add(n>>6, full>>(64-rest))
	}
}

// movePrevious moves the transforms of the last tick, and which rows have jumped.
func (w *World) movePrevious(order []Slot) {
	if w.previous == nil {
		return
	}
	for _, c := range w.previous.columns() {
		w.reordering.move(bytesOf(*c), 4, order)
	}
	w.moveBits(w.jumped, order)
}

// moveBits moves the bits of a set of slots.
func (w *World) moveBits(set []uint64, order []Slot) {
	used := set[:words(w.high)]
	if !slices.ContainsFunc(used, func(word uint64) bool { return word != 0 }) {
		return
	}
	moved := stagger.View[uint64](w.reordering.room(8 * words(len(order))))
	for i := range moved {
		var word uint64
		for bit, slot := range order[i<<6 : min(i<<6+64, len(order))] {
			word |= used[slot>>6] >> (slot & 63) & 1 << bit
		}
		moved[i] = word
	}
	clear(used[copy(used, moved):])
}

// room returns n bytes, which may hold anything.
func (s *reorderScratch) room(n int) []byte {
	if len(s.rows) < n {
		s.rows = stagger.Bytes(n, 0)
	}
	return s.rows[:n]
}

// move moves the rows of a column, of size bytes each: row i becomes what row order[i] was.
func (s *reorderScratch) move(mem []byte, size int, order []Slot) {
	moved := s.room(size * len(order))
	switch size {
	case 1:
		gather(moved, mem, order)
	case 2:
		gather(stagger.View[uint16](moved), stagger.View[uint16](mem), order)
	case 4:
		gather(stagger.View[uint32](moved), stagger.View[uint32](mem), order)
	case 8:
		gather(stagger.View[uint64](moved), stagger.View[uint64](mem), order)
	default:
		for i, slot := range order {
			copy(moved[i*size:(i+1)*size], mem[int(slot)*size:])
		}
	}
	copy(mem, moved)
}

// gather sets dst[i] to src[order[i]].
func gather[B uint8 | uint16 | uint32 | uint64](dst, src []B, order []Slot) {
	dst = dst[:len(order)]
	for i, slot := range order {
		dst[i] = src[slot]
	}
}

// move changes the slot of an id that is alive.
func (t *idTable) move(id ID, slot Slot) {
	t.find(uint64(id >> pageBits)).slots[id&pageMask] = slot + 1
}

// move gives each blob the new slot of its entity. The bytes stay where they are.
func (b *Blobs) move(order []Slot, s *reorderScratch) {
	s.blobs = s.blobs[:0]
	for i, slot := range order {
		if at := b.find(slot); at != nil {
			s.blobs = append(s.blobs, movedBlob{Slot(i), *at})
		}
	}
	for i := range b.groups {
		b.groups[i].has, b.groups[i].at = 0, b.groups[i].at[:0]
	}
	if n := len(order)>>6 + 1 - len(b.groups); n > 0 {
		b.groups = append(b.groups, make([]blobGroup, n)...)
	}
	b.sum = 0
	for _, m := range s.blobs {
		g := &b.groups[m.slot>>6]
		g.has |= 1 << (m.slot & 63)
		g.at = append(g.at, m.at)
		b.arena[m.at] = uint64(m.slot)<<32 | uint64(uint32(b.arena[m.at]))
		b.sum += blobHash(m.slot, b.record(m.at))
	}
}
