package ecs

import "slices"

// observers is a list of functions to call. It is copied when it changes, so that
// one who is called may leave it.
type observers []*func(ID, Slot)

// add appends f, and returns the function that takes it out again. count follows
// the length.
func (o *observers) add(count *int, f func(ID, Slot)) (stop func()) {
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

func (o observers) call(id ID, slot Slot) {
	for _, f := range o {
		(*f)(id, slot)
	}
}

// OnSpawn has f called for every entity that is created from now on, and returns a
// function that ends this.
//
// Observers are called within the call that changes the world, in the order in
// which they were registered. What comes (OnSpawn, Tag.OnSet) they are told when it
// is there, what goes (OnDespawn, Tag.OnUnset) while it still is. A batch tells of
// its entities one by one: SpawnN in the order of creation, others in ascending
// order of slots, or of the ids that they were given.
//
// An observer may write to columns and tag. Entities must not come or go through
// it, which panics; it can record that in Commands. Restore and CopyFrom, which
// replace everything, tell nobody: they move Generation.
func (w *World) OnSpawn(f func(id ID, slot Slot)) (stop func()) {
	return w.onSpawn.add(new(int), f)
}

// OnDespawn has f called for every entity that is about to go, with its row and
// its tags still there, and returns a function that ends this. The rules are
// those of OnSpawn.
func (w *World) OnDespawn(f func(id ID, slot Slot)) (stop func()) {
	return w.onDespawn.add(&w.farewells, f)
}

// OnSet has f called for every entity that is given the tag and did not have it,
// and returns a function that ends this. The rules are those of World.OnSpawn.
func (t Tag) OnSet(f func(id ID, slot Slot)) (stop func()) {
	return t.must().onSet.add(new(int), f)
}

// OnUnset has f called for every entity that is about to lose the tag, and returns
// a function that ends this. One that is despawned loses its tags after the
// observers of OnDespawn were called; tags that these observers give it then are
// taken without a word. The rules are those of World.OnSpawn.
func (t Tag) OnUnset(f func(id ID, slot Slot)) (stop func()) {
	s := t.must()
	return s.onUnset.add(&s.world.farewells, f)
}

// tell calls observers, and holds the world to its entities meanwhile.
func (w *World) tell(o observers, id ID, slot Slot) {
	w.walkers.Add(1)
	defer w.walkers.Add(-1)
	o.call(id, slot)
}

// sayFarewell tells whoever watches an entity that it is about to go.
func (w *World) sayFarewell(id ID, slot Slot) {
	w.walkers.Add(1)
	defer w.walkers.Add(-1)
	w.onDespawn.call(id, slot)
	for _, t := range w.tags {
		if len(t.onUnset) != 0 && t.has(slot) {
			t.onUnset.call(id, slot)
		}
	}
}
