package ecs

import (
	"slices"
	"testing"

	"github.com/evertick/evertick/native"
)

func TestDespawnN(t *testing.T) {
	w := newWorld(t, 1000)
	ids := make([]ID, 700)
	w.SpawnN(ids)
	marked := tag(t, w, "marked")
	marked.SetAll(ids[100:300])
	before := w.Hash()
	wantError(t, w.DespawnN([]ID{ids[3], ids[500], 9999}), ErrStale, "DespawnN ids[2] = ent_9999")
	wantError(t, w.DespawnN([]ID{ids[3], ids[500], ids[3]}), ErrStale, "DespawnN ids[2] = ent_4")
	if w.Hash() != before || w.Len() != 700 {
		t.Fatal("a refused batch changed something")
	}
	one := newWorld(t, 1000) // the same, one by one
	one.SpawnN(make([]ID, 700))
	tag(t, one, "marked").SetAll(ids[100:300])
	doomed := append(slices.Clone(ids[250:270]), ids[699], ids[0], ids[64])
	if err := w.DespawnN(doomed); err != nil {
		t.Fatal(err)
	}
	for _, id := range doomed {
		one.Despawn(id)
	}
	if w.Hash() != one.Hash() || w.Version() != one.Version() || w.Len() != 677 {
		t.Fatal("a batch differs from one by one")
	}
	if err := w.DespawnN(nil); err != nil {
		t.Fatal(err)
	}
	for range 200 { // the free slots are found again, lowest first
		a, b := spawn(t, w), spawn(t, one)
		sa, _ := w.Slot(a)
		sb, _ := one.Slot(b)
		if a != b || sa != sb {
			t.Fatalf("%v in %d, want %v in %d", a, sa, b, sb)
		}
	}
	if n := w.DespawnWhere(With(marked)); n != 180 || marked.Count() != 0 || w.Len() != 697 {
		t.Fatal(n, marked.Count(), w.Len())
	}
	if n := w.DespawnWhere(); n != 697 || w.Len() != 0 || native.CountRows(w.LiveMask()) != 0 {
		t.Fatal(n, w.Len())
	}
}

func TestBatchesAllocateNothing(t *testing.T) {
	w := newWorld(t, 4000)
	ids := make([]ID, 3000)
	a := tag(t, w, "a")
	q := w.NewQuery(With(a))
	var slots []Slot
	n := testing.AllocsPerRun(50, func() {
		w.SpawnN(ids)
		a.SetWhere()
		h, _ := w.Handle(ids[7])
		if !w.Valid(h) || q.Count() != 3000 {
			t.Fatal("the batch was not spawned")
		}
		slots = q.Slots(slots)
		a.UnsetWhere(With(a))
		w.DespawnN(ids[:1000])
		w.DespawnWhere(Without(a))
	})
	if n != 0 {
		t.Errorf("%g allocations", n)
	}
}

// SpawnSlot is Spawn, and its slot is that of the entity.
func TestSpawnSlot(t *testing.T) {
	a, b := newWorld(t, 5), newWorld(t, 5)
	var observed Slot
	b.OnSpawn(func(_ ID, slot Slot) { observed = slot })
	for i := range 20 {
		if i%3 == 2 {
			a.Despawn(ID(i/2 + 1))
			b.Despawn(ID(i/2 + 1))
		}
		id, err := a.Spawn()
		also, slot, errSlot := b.SpawnSlot()
		if id != also || (err == nil) != (errSlot == nil) {
			t.Fatalf("%v, %v; want %v, %v", also, errSlot, id, err)
		}
		if err != nil {
			wantError(t, errSlot, ErrCapacity, err.Error())
			if slot != 0 {
				t.Error("a slot with an error", slot)
			}
			continue
		}
		if want, ok := b.Slot(also); !ok || slot != want || slot != observed {
			t.Fatalf("%v is in slot %d, want %d", also, slot, want)
		}
	}
	if a.Hash() != b.Hash() {
		t.Error("other worlds")
	}
	b.DespawnWhere()
	if n := testing.AllocsPerRun(100, func() {
		id, _, err := b.SpawnSlot()
		if err != nil || !b.Despawn(id) {
			t.Fatal(err)
		}
	}); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
