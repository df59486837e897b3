package ecs

import (
	"math/bits"

	"github.com/evertick/evertick/internal/fault"
)

// lock forbids spawns and despawns until the matching unlock.
func (w *World) lock()   { w.locks.Add(1) }
func (w *World) unlock() { w.locks.Add(-1) }

// mustBeUnlocked panics if the set of entities must not change now.
func (w *World) mustBeUnlocked() {
	if w.locks.Load() != 0 {
		panic("ecs: entities must not come or go while a query iterates, an observer runs or a handle is released: record it in Commands")
	}
}

// Spawn creates an entity in the lowest free slot and resets its row. It is
// ErrCapacity in a full world. If you write to the row next, SpawnSlot saves the call of Slot.
func (w *World) Spawn() (ID, error) {
	id, _, err := w.SpawnSlot()
	return id, err
}

// SpawnSlot is Spawn, and also returns the slot of the new entity, for callers that write to its
// row:
//
//	id, slot, err := w.SpawnSlot()
//	if err != nil {
//		return err
//	}
//	speed[slot] = 3
//
// The slot and the id together are the Handle{slot, id}.
func (w *World) SpawnSlot() (ID, Slot, error) {
	w.mustBeUnlocked()
	if w.count == len(w.ids) {
		return 0, 0, fault.Field(ErrCapacity, "ecs: Config.Capacity", len(w.ids))
	}
	slot := w.live.allocate()
	id := w.table.issue(slot)
	w.ids[slot] = id
	if int(slot) == w.high {
		w.raiseHighWater(w.high + 1)
	}
	w.resets.resetRow(int(slot))
	if w.jumped != nil {
		w.jumped[slot>>6] |= 1 << (slot & 63)
	}
	w.count++
	w.changes++
	if len(w.onSpawn) != 0 {
		w.notify(w.onSpawn, id, slot)
	}
	return id, slot, nil
}

// SpawnN creates len(dst) entities, as that many calls of Spawn would, and puts their ids
// into dst. If they do not all fit it is ErrCapacity and nothing, not even dst, is changed.
func (w *World) SpawnN(dst []ID) error {
	w.mustBeUnlocked()
	if free := len(w.ids) - w.count; len(dst) > free {
		return fault.Field(ErrCapacity, "ecs: SpawnN len(dst)", len(dst))
	}
	for rest := dst; len(rest) > 0; {
		rest = rest[w.spawnRun(rest):]
	}
	if len(w.onSpawn) != 0 {
		for _, id := range dst {
			slot, _ := w.table.slot(id)
			w.notify(w.onSpawn, id, slot)
		}
	}
	return nil
}

// spawnRun fills a prefix of dst, as much as fits into one run of free slots,
// and returns its length.
func (w *World) spawnRun(dst []ID) int {
	slot, n := w.live.allocateRun(len(dst))
	lo, hi := int(slot), int(slot)+n
	ids := w.ids[lo:hi]
	for i := range ids {
		ids[i] = w.table.issue(slot + Slot(i))
	}
	copy(dst, ids)
	if hi > w.high {
		w.raiseHighWater(hi)
	}
	w.resets.reset(lo, hi)
	if w.jumped != nil {
		w.jumped[lo>>6] |= full >> (64 - n) << (lo & 63)
	}
	w.count += n
	w.changes++
	return n
}

// raiseHighWater makes more rows part of the state, before the caller resets them.
func (w *World) raiseHighWater(high int) {
	w.high = high
	for _, c := range w.kept {
		c.reserve(high, w.Cap())
	}
}

// Despawn ends an entity: its id never resolves again, its tags are gone and
// its slot is free. The values in its row stay until the slot is used again. It
// reports false, and changes nothing, if there is no such entity (any more).
func (w *World) Despawn(id ID) bool {
	w.mustBeUnlocked()
	if w.despawnWatchers != 0 {
		slot, ok := w.table.slot(id)
		if ok {
			w.despawning.add(int(slot>>6), 1<<(slot&63))
			w.despawnMarked()
		}
		return ok
	}
	slot, ok := w.table.remove(id)
	if !ok {
		return false
	}
	w.ids[slot] = 0
	w.live.remove(int(slot>>6), 1<<(slot&63))
	for _, t := range w.tags {
		t.bits[slot>>6] &^= 1 << (slot & 63)
	}
	w.count--
	w.changes++
	return true
}

// DespawnN is Despawn for every id. If one is stale, or occurs in ids twice, it is
// ErrStale naming its index, and nothing is changed. All observers are called,
// in ascending order of slots, before the first entity is gone.
func (w *World) DespawnN(ids []ID) error {
	w.mustBeUnlocked()
	if i := w.markDespawning(ids); i < len(ids) {
		w.despawning.clear()
		return fault.Element(ErrStale, "ecs: DespawnN ids", i, ids[i])
	}
	w.despawnMarked()
	return nil
}

// markDespawning adds the slots of ids to despawning, which is empty, up to the first id
// that is stale or was added before. It returns how many it added.
func (w *World) markDespawning(ids []ID) int {
	words, from, to := w.despawning.words, len(w.despawning.words), 0
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
		w.despawning.from, w.despawning.to = from, to
	}
	return n
}

// DespawnWhere despawns the entities that satisfy every term, as DespawnN does, and
// returns their number. With no terms it empties the world.
func (w *World) DespawnWhere(terms ...Term) int {
	w.mustBeUnlocked()
	w.checkTerms(terms)
	before := w.count
	for i := range words(w.high) {
		if m := w.match(terms, i); m != 0 {
			w.despawning.add(i, m)
		}
	}
	w.despawnMarked()
	return before - w.count
}

// despawnMarked despawns the entities in despawning and empties it.
func (w *World) despawnMarked() {
	b := &w.despawning
	defer b.clear() // also when an observer panics
	if w.despawnWatchers > len(w.blobs) {
		w.notifyDespawns()
	}
	for _, blobs := range w.blobs {
		for i := b.from; i < b.to; i++ {
			blobs.removeSlots(i, b.words[i])
		}
	}
	for i := b.from; i < b.to; i++ {
		m := b.words[i]
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
	w.changes++
}
