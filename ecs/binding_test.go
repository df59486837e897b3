package ecs

import (
	"fmt"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"github.com/evertick/evertick/internal/paritytest"
)

// The handles of TestModel are bound, replaced, unbound, and released with their entities.

func (s *modelled) bind(t *rapid.T) {
	id := s.anyID(t)
	e := s.m.entities[id]
	switch rapid.SampledFrom([]string{"bind", "bind", "again", "unbind", "all"}).Draw(t, "how") {
	case "bind":
		s.handles++
		err := s.binding.Bind(id, s.handles)
		if (err == nil) != (e != nil) {
			t.Fatalf("Bind(%v): %v", id, err)
		}
		if e != nil {
			e.held = s.handles
		} else {
			s.released[s.handles]++ // was never bound
		}
	case "again":
		if e != nil && e.held != 0 && s.binding.Bind(id, e.held) != nil {
			t.Fatalf("Bind(%v) of an equal handle", id)
		}
	case "unbind":
		h, ok := s.binding.Unbind(id)
		if ok != (e != nil && e.held != 0) || ok && h != e.held {
			t.Fatalf("Unbind(%v) gives %d, %t", id, h, ok)
		}
		if ok {
			e.held = 0
			s.released[h]++
		}
	case "all":
		s.binding.ReleaseAll()
		for _, e := range s.m.entities {
			e.held = 0
		}
	}
}

// keepHandles keeps the handles of the entities that are still there.
func (m *model) keepHandles(before *model) {
	for id, e := range m.entities {
		e.held = 0
		if was := before.entities[id]; was != nil {
			e.held = was.held
		}
	}
}

func (s *modelled) checkHandles(t *rapid.T) {
	bound := map[int]bool{}
	for id, e := range s.m.entities {
		got, ok := s.binding.Get(id)
		at, atOK := s.binding.At(e.slot)
		if got != e.held || ok != (e.held != 0) || at != got || atOK != ok {
			t.Fatalf("%v holds %d, want %d", id, got, e.held)
		}
		bound[e.held] = ok
	}
	delete(bound, 0)
	for h := 1; h <= s.handles; h++ {
		if n := s.released[h]; n > 1 || (n == 0) != bound[h] {
			t.Fatalf("handle %d was released %d times, bound: %t", h, n, bound[h])
		}
	}
	var slots []Slot
	for id := range s.binding.All() {
		slot, _ := s.w.Slot(id)
		slots = append(slots, slot)
	}
	if len(slots) != len(bound) || s.binding.Len() != len(bound) || !slices.IsSorted(slots) {
		t.Fatalf("handles in slots %v, Len %d, want %d", slots, s.binding.Len(), len(bound))
	}
}

func TestBinding(t *testing.T) {
	w := newWorld(t, 300)
	ids := make([]ID, 200)
	w.SpawnN(ids)
	marked := tag(t, w, "marked")
	var log []string
	var first, second *Binding[string]
	release := func(binding string) func(ID, string) {
		return func(id ID, h string) {
			slot, there := w.Slot(id)
			_, bound := first.Get(id)
			log = append(log, fmt.Sprintf("%s %v %s slot=%d there=%v marked=%v bound=%v", binding, id, h, slot, there, marked.Has(id), bound))
		}
	}
	want := func(lines ...string) {
		t.Helper()
		if !slices.Equal(log, lines) {
			t.Errorf("%q\nwant %q", log, lines)
		}
		log = nil
	}
	first = NewBinding(w, release("first"))
	second = NewBinding(w, release("second"))
	w.OnDespawn(func(id ID, _ Slot) {
		if id == ids[150] {
			if err := first.Bind(id, "late"); err != nil { // released with the entity like any other
				t.Error(err)
			}
		}
		log = append(log, fmt.Sprint("observer ", id))
	})
	bind := func(b *Binding[string], id ID, h string) {
		t.Helper()
		if err := b.Bind(id, h); err != nil {
			t.Fatal(err)
		}
	}
	if _, ok := first.At(3); ok || first.Owners() != nil || first.Len() != 0 {
		t.Error("an empty Binding has something")
	}
	bind(first, ids[70], "a")
	bind(first, ids[2], "b")
	bind(second, ids[70], "c")
	bind(second, ids[70], "c")
	want()
	bind(second, ids[70], "d")
	want("second ent_71 c slot=70 there=true marked=false bound=true")
	if h, ok := second.Unbind(ids[70]); h != "d" || !ok {
		t.Error(h, ok)
	}
	if _, ok := second.Unbind(ids[70]); ok {
		t.Error("unbound twice")
	}
	bind(second, ids[70], "e")
	marked.Set(ids[70])
	c := w.NewCommands()
	c.Despawn(ids[70])
	apply(t, w, c)
	want("observer ent_71", "first ent_71 a slot=70 there=true marked=true bound=false",
		"second ent_71 e slot=70 there=true marked=true bound=false")
	wantError(t, first.Bind(ids[70], "z"), ErrStale, "ecs: Bind id = ent_71")

	bind(second, ids[151], "f")
	bind(first, ids[151], "g")
	if err := w.DespawnN([]ID{ids[151], ids[150]}); err != nil {
		t.Fatal(err)
	}
	want("observer ent_151", "observer ent_152",
		"first ent_151 late slot=150 there=true marked=false bound=false",
		"first ent_152 g slot=151 there=true marked=false bound=false",
		"second ent_152 f slot=151 there=true marked=false bound=false")

	bind(first, ids[3], "h")
	saved := w.Snapshot(nil)
	young := spawn(t, w)
	bind(first, young, "i") // in slot 70
	if err := w.Restore(saved); err != nil {
		t.Fatal(err)
	}
	want("first ent_201 i slot=4294967295 there=false marked=false bound=false")
	first.ReleaseAll()
	want("first ent_3 b slot=2 there=true marked=false bound=false", "first ent_4 h slot=3 there=true marked=false bound=false")
	if first.Len() != 0 || second.Len() != 0 || w.despawnWatchers != 1 {
		t.Errorf("%d and %d left, %d despawn watchers", first.Len(), second.Len(), w.despawnWatchers)
	}
}

func TestReleaseLocksTheWorld(t *testing.T) {
	w := newWorld(t, 10)
	a, b := spawn(t, w), spawn(t, w)
	var during func(ID)
	binding := NewBinding(w, func(id ID, _ int) { during(id) })
	other := NewBinding[string](w, nil)
	for i, f := range []func(ID){
		func(ID) { w.Spawn() },
		func(ID) { w.Despawn(b) },
		func(ID) { w.Apply() },
	} {
		during = f
		if err := binding.Bind(a, i); err != nil {
			t.Fatal(err)
		}
		wantPanic(t, "ecs: entities must not come or go while a query iterates, an observer runs or a handle is released: record it in Commands", func() { w.Despawn(a) })
	}
	during = func(id ID) { other.Bind(b, "x") }
	binding.Bind(a, 1)
	wantPanic(t, "ecs: Bind within a release", binding.ReleaseAll)
	other.Bind(b, "x")
	binding.Bind(a, 1)
	binding.Bind(b, 2)
	during = func(ID) {
		other.ReleaseAll()
		binding.Unbind(b)
	}
	if w.DespawnWhere() != 2 || w.Len() != 0 || other.Len() != 0 || binding.Len() != 0 || w.despawnWatchers != 0 {
		t.Error("something is left")
	}
}

func TestBindingAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	w := newWorld(t, 1000)
	b := NewBinding(w, func(ID, int) {})
	n := testing.AllocsPerRun(50, func() {
		for i := range 10 {
			id := spawn(t, w)
			b.Bind(id, i)
			b.Bind(id, i+1)
		}
		for id, h := range b.All() {
			if got, _ := b.Get(id); got != h {
				t.Fatal(got)
			}
		}
		w.DespawnWhere()
	})
	if n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// After a release that panics, the next entity of the slot has no handle.
func TestReleasePanicsInRestore(t *testing.T) {
	w := newWorld(t, 100)
	empty := w.Snapshot(nil)
	released := map[string]int{}
	release := func(name string, bad ID) func(ID, int) {
		return func(id ID, handle int) {
			released[fmt.Sprint(name, handle)]++
			if id >= bad {
				panic(name)
			}
		}
	}
	a, b := NewBinding(w, release("a", 2)), NewBinding(w, release("b", 3))
	for i := range 4 {
		id := spawn(t, w)
		_, _ = a.Bind(id, i), b.Bind(id, i)
	}
	wantPanic(t, "b", func() { _ = w.Restore(empty) })
	if len(released) != 8 || a.Len() != 0 || b.Len() != 0 {
		t.Errorf("released %v, and %d and %d are bound", released, a.Len(), b.Len())
	}
	for name, n := range released {
		if n != 1 {
			t.Errorf("%s was released %d times", name, n)
		}
	}
	if h, ok := a.Get(spawn(t, w)); ok {
		t.Errorf("the next entity has %d", h)
	}
}
