package ecs

import (
	"fmt"
	"slices"
	"testing"
)

func TestObservers(t *testing.T) {
	w := newWorld(t, 100)
	x := w.Position.X
	a, b := tag(t, w, "a"), tag(t, w, "b")
	var log []string
	note := func(what string) func(ID, Slot) {
		return func(id ID, slot Slot) {
			if live, _ := w.ID(slot); live != id {
				t.Errorf("%s of %v, which is not in slot %d", what, id, slot)
			}
			log = append(log, fmt.Sprintf("%s %v x=%g a=%v b=%v", what, id, x[slot], a.Has(id), b.Has(id)))
		}
	}
	want := func(lines ...string) {
		t.Helper()
		if !slices.Equal(log, lines) {
			t.Errorf("%q\nwant %q", log, lines)
		}
		log = nil
	}
	x[0] = 5
	w.OnSpawn(note("spawn"))
	stop := w.OnSpawn(func(id ID, slot Slot) { x[slot] = 7; a.Set(id) })
	w.OnDespawn(note("despawn"))
	a.OnSet(note("set a"))
	b.OnUnset(note("unset b"))
	a.OnUnset(note("unset a"))

	ids := make([]ID, 2)
	w.SpawnN(ids)
	want("spawn ent_1 x=0 a=false b=false", "set a ent_1 x=7 a=true b=false",
		"spawn ent_2 x=0 a=false b=false", "set a ent_2 x=7 a=true b=false")
	stop()
	stop()
	last := spawn(t, w)
	want("spawn ent_3 x=0 a=false b=false")
	a.Set(ids[0]) // has it
	a.Unset(last) // does not have it
	b.SetAll(ids)
	want()
	a.SetWhere()
	want("set a ent_3 x=0 a=true b=false")
	b.UnsetWhere(With(a))
	want("unset b ent_1 x=7 a=true b=true", "unset b ent_2 x=7 a=true b=true")
	b.SetAll(ids)
	w.DespawnN([]ID{ids[1], ids[0]})
	want("despawn ent_1 x=7 a=true b=true", "unset a ent_1 x=7 a=true b=true", "unset b ent_1 x=7 a=true b=true",
		"despawn ent_2 x=7 a=true b=true", "unset a ent_2 x=7 a=true b=true", "unset b ent_2 x=7 a=true b=true")
	w.Despawn(ids[0])
	want()
	w.Despawn(last)
	want("despawn ent_3 x=0 a=true b=false", "unset a ent_3 x=0 a=true b=false")
}

func TestObserversLockTheWorld(t *testing.T) {
	w := newWorld(t, 10)
	id := spawn(t, w)
	const held = "ecs: entities must not come or go while a query iterates, an observer runs or a handle is released: record it in Commands"
	stop := w.OnDespawn(func(ID, Slot) { w.Spawn() })
	wantPanic(t, held, func() { w.Despawn(id) })
	wantPanic(t, held, func() { w.DespawnN([]ID{id}) })
	stop()
	if w.Len() != 1 {
		t.Fatal("a despawn that panicked had an effect")
	}
	if err := w.DespawnN([]ID{id}); err != nil { // nothing of the batch that panicked is left
		t.Fatal(err)
	}
	wantPanic(t, "ecs: nil observer", func() { w.OnSpawn(nil) })
}

// An observer that tags other entities of the same batch causes no wrong call, and no
// second one.
func TestObserversTagWithinABatch(t *testing.T) {
	w := newWorld(t, 100)
	a := tag(t, w, "a")
	ids := make([]ID, 4)
	if err := w.SpawnN(ids); err != nil {
		t.Fatal(err)
	}
	var set, unset []ID
	a.OnSet(func(id ID, slot Slot) {
		set = append(set, id)
		if !a.Has(id) {
			t.Errorf("%v was given a tag but does not have it", id)
		}
		if id == ids[0] {
			a.Set(ids[3])
			a.Unset(ids[2]) // does not have it yet
		}
	})
	a.OnUnset(func(id ID, slot Slot) {
		unset = append(unset, id)
		if !a.Has(id) {
			t.Errorf("%v loses a tag that it has lost", id)
		}
		if id == ids[0] {
			a.Unset(ids[2])
		}
	})
	if n := a.SetWhere(); n != 3 || !slices.Equal(set, []ID{1, 4, 2, 3}) || len(unset) != 0 || a.Count() != 4 {
		t.Errorf("set %d: %v, and unset %v", n, set, unset)
	}
	if n := a.UnsetWhere(); n != 3 || !slices.Equal(unset, []ID{1, 3, 2, 4}) || len(set) != 4 || a.Count() != 0 {
		t.Errorf("unset %d: %v, and set %v", n, unset, set)
	}
}
