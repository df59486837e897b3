package ecs

import "slices"

// observers is a list of functions to call for an entity.
type observers = functions[func(ID, Slot)]

// functions is a list of functions to call. It is copied when it changes, so that
// an observer can remove itself while it is called.
type functions[F func(ID, Slot) | func([]Slot)] []*F

// add appends f, and returns the function that removes it again. count follows the length. It
// panics if f is nil.
func (o *functions[F]) add(count *int, f F) (stop func()) {
	if f == nil {
		panic("ecs: nil observer")
	}
	own := &f
	*o = append(slices.Clip(*o), own)
	*count++
	return func() {
		if i := slices.Index(*o, own); i >= 0 {
			*o = slices.Delete(slices.Clone(*o), i, i+1)
			*count--
		}
	}
}

// call calls observers for an entity.
func call(o observers, id ID, slot Slot) {
	for _, f := range o {
		(*f)(id, slot)
	}
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
// An observer may write to columns and change tags. It must not spawn or despawn, which
// panics; it can record that in Commands. Restore and CopyFrom replace everything. They
// call no observers; they change Generation.
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
	return t.must().onSet.add(new(int), f)
}

// OnUnset registers f to be called for every entity that is about to lose the tag, and
// returns a function that removes it. An entity that is despawned loses its tags after
// the observers of OnDespawn were called; if one of these sets a tag whose observers
// were called already, the entity loses it without another call. The rules are those of
// World.OnSpawn.
func (t Tag) OnUnset(f func(id ID, slot Slot)) (stop func()) {
	s := t.must()
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
		(*f)(from)
	}
}

// notify calls observers while the world is locked.
func (w *World) notify(o observers, id ID, slot Slot) {
	w.lock()
	defer w.unlock()
	call(o, id, slot)
}

// notifyDespawn calls the observers of an entity that is about to be despawned.
func (w *World) notifyDespawn(id ID, slot Slot) {
	w.lock()
	defer w.unlock()
	call(w.onDespawn, id, slot)
	for _, t := range w.tags {
		if len(t.onUnset) != 0 && t.has(slot) {
			call(t.onUnset, id, slot)
		}
	}
}
