package ecs

import "slices"

// maxRounds is how deep rounds of observers may nest, on every machine alike. It is what the stack of a browser has room
// for; an overflow of the stack would end the program.
const maxRounds = 1 << 10

// observers is a list of functions to call for an entity.
type observers = functions[func(ID, Slot)]

// functions is a list of functions to call. It is copied when it changes, so that
// a round that is under way keeps its list.
type functions[F func(ID, Slot) | func([]Slot)] []*observer[F]

type observer[F func(ID, Slot) | func([]Slot)] struct {
	call    F
	stopped bool
}

// add appends f, and returns the function that removes it again. count follows the length. It
// panics if f is nil.
func (o *functions[F]) add(count *int, f F) (stop func()) {
	if f == nil {
		panic("ecs: nil observer")
	}
	own := &observer[F]{call: f}
	*o = append(slices.Clip(*o), own)
	*count++
	return func() {
		own.stopped = true
		if i := slices.Index(*o, own); i >= 0 {
			*o = slices.Delete(slices.Clone(*o), i, i+1)
			*count--
		}
	}
}

// notify calls observers while the world is locked: one round.
func (w *World) notify(o observers, id ID, slot Slot) {
	if w.rounds == maxRounds {
		panic("ecs: observers nest more than 1,024 deep")
	}
	w.lock()
	w.rounds++
	defer w.endRound()
	for _, f := range o {
		if !f.stopped {
			f.call(id, slot)
		}
	}
}

func (w *World) endRound() {
	w.rounds--
	w.unlock()
}

// OnSpawn registers f to be called for every entity that is created from now on, and
// returns a function that removes it.
//
// Observers run within the call that changes the world, in the order in
// which they were registered. Those of OnSpawn and Tag.OnSet run after the change, those
// of OnDespawn and Tag.OnUnset before it. A batch calls them for one entity after
// another: SpawnN in the order of creation, others in ascending
// order of slots, or in the order of the ids passed to them.
//
// An observer may write to columns, change tags, and add and remove observers: see Observers in the
// comment of the package. It must not spawn or despawn, which panics; it can record that in
// Commands. Restore and CopyFrom replace everything. They call no observers; they change Generation.
func (w *World) OnSpawn(f func(id ID, slot Slot)) (stop func()) {
	return w.onSpawn.add(new(int), f)
}

// OnDespawn registers f to be called for every entity that is about to be despawned,
// while its row and its tags are still there, and returns a function that removes it.
// The rules are those of OnSpawn.
func (w *World) OnDespawn(f func(id ID, slot Slot)) (stop func()) {
	return w.onDespawn.add(&w.despawnWatchers, f)
}

// OnSet registers f to be called for every entity that gets the tag and did not have it,
// and returns a function that removes it. The rules are those of World.OnSpawn.
func (t Tag) OnSet(f func(id ID, slot Slot)) (stop func()) {
	s := t.must()
	s.observe()
	return s.onSet.add(new(int), f)
}

// OnUnset registers f to be called for every entity that is about to lose the tag, and
// returns a function that removes it. An entity that is despawned loses its tags after
// the observers of OnDespawn were called. The rules are those of World.OnSpawn.
func (t Tag) OnUnset(f func(id ID, slot Slot)) (stop func()) {
	s := t.must()
	s.observe()
	return s.onUnset.add(&s.world.despawnWatchers, f)
}

// OnReorder registers f to be called at the end of each Reorder that moves anything, and returns a
// function that removes it. The entity in slot i was in slot from[i] before, and no other rows are
// in use. f may read the world, write to columns and change tags; it must not spawn, despawn or
// reorder, which panics. from is valid during the call, and only to be read. A program that keeps
// slots from one tick to another maps them here. Restore and CopyFrom call no observers: after a
// change of Generation it looks them up anew.
func (w *World) OnReorder(f func(from []Slot)) (stop func()) {
	return w.onReorder.add(new(int), f)
}

// notifyReorder calls the observers of OnReorder.
func (w *World) notifyReorder(from []Slot) {
	w.lock()
	defer w.unlock()
	for _, f := range w.onReorder {
		if !f.stopped {
			f.call(from)
		}
	}
}

// tagRounds says which entities gain or lose a tag just now, by slot. A change of a tag of an entity is one round of
// calls, and no other change of the two comes within it: so every observer sees gains and losses in
// turn, each once.
type tagRounds struct {
	gaining []uint64 // the observers of OnSet are being called
	revoked []uint64 // of those: loses the tag when the round has ended
	losing  []uint64 // the observers of OnUnset are being called, or were called in a despawn that has not ended
}

// observed reports whether the tag has or had observers.
func (s *tagSet) observed() bool { return s.rounds.losing != nil }

// observe makes room for rounds.
func (s *tagSet) observe() {
	if n := len(s.bits); !s.observed() {
		s.rounds = tagRounds{make([]uint64, n), make([]uint64, n), make([]uint64, n)}
	}
}

// gain gives the tag to an entity that lacks it, and calls the observers. An entity that was to lose the tag after
// this round keeps it.
func (s *tagSet) gain(id ID, slot Slot) (gained bool) {
	w, r, i, bit := s.world, &s.rounds, slot>>6, uint64(1)<<(slot&63)
	if s.has(slot) {
		r.revoked[i] &^= bit
		return false
	}
	s.bits[i] |= bit
	w.changes++
	w.setInDespawn = w.setInDespawn || w.despawning.words[i]&bit != 0
	if len(s.onSet) == 0 {
		return true
	}
	r.gaining[i] |= bit
	ended := false
	defer func() {
		revoked := r.revoked[i]&bit != 0
		r.gaining[i] &^= bit
		r.revoked[i] &^= bit
		if ended && revoked {
			s.lose(id, slot)
		}
	}()
	w.notify(s.onSet, id, slot)
	ended = true
	return true
}

// lose calls the observers of an entity that has the tag, and takes the tag away. Within a round of the two it
// decides at most what comes after the round.
func (s *tagSet) lose(id ID, slot Slot) (lost bool) {
	r, i, bit := &s.rounds, slot>>6, uint64(1)<<(slot&63)
	switch {
	case !s.has(slot) || r.losing[i]&bit != 0:
		return false
	case r.gaining[i]&bit != 0:
		r.revoked[i] |= bit
		return false
	}
	r.losing[i] |= bit
	defer func() { r.losing[i] &^= bit }()
	s.world.notify(s.onUnset, id, slot)
	s.bits[i] &^= bit
	s.world.changes++
	return true
}

// notifyDespawns calls the observers of all entities in despawning, and releases what is bound to them.
func (w *World) notifyDespawns() {
	b := &w.despawning
	defer func() { // also when an observer panics
		for _, t := range w.tags {
			if t.observed() {
				clear(t.rounds.losing[b.from:b.to])
			}
		}
	}()
	w.setInDespawn = false
	b.each(func(slot Slot) {
		if len(w.onDespawn) != 0 {
			w.notify(w.onDespawn, w.ids[slot], slot)
		}
		w.notifyLosses(slot)
	})
	w.notifyLateLosses()
	for _, binding := range w.bindings {
		for i := b.from; i < b.to; i++ {
			binding.releaseSlots(i, b.words[i])
		}
	}
	w.notifyLateLosses()
}

// notifyLosses calls the observers of the tags that a despawn takes from the entity in a slot. The tags stay until the
// despawn ends, as ones that are being lost.
func (w *World) notifyLosses(slot Slot) {
	i, bit := slot>>6, uint64(1)<<(slot&63)
	for _, t := range w.tags {
		if len(t.onUnset) != 0 && t.bits[i]&^t.rounds.losing[i]&bit != 0 {
			t.rounds.losing[i] |= bit
			w.notify(t.onUnset, w.ids[slot], slot)
		}
	}
}

// notifyLateLosses calls the observers for tags that observers and releases gave to entities whose turn had passed. It
// ends, since no tag that is being lost can be given.
func (w *World) notifyLateLosses() {
	for w.setInDespawn {
		w.setInDespawn = false
		w.despawning.each(w.notifyLosses)
	}
}
