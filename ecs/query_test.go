package ecs

import (
	"slices"
	"testing"
)

func TestTags(t *testing.T) {
	w := newWorld(t, 100)
	ids := make([]ID, 100)
	w.SpawnN(ids)
	a := tag(t, w, "a")
	if again := tag(t, w, "a"); again != a || a.Name() != "a" {
		t.Fatal("a tag is not itself")
	}
	if err := a.SetAll(ids[20:30]); err != nil || a.Count() != 10 {
		t.Fatal(err, a.Count())
	}
	w.Despawn(ids[25])
	if a.Count() != 9 {
		t.Fatal("a despawned entity still counts")
	}
	wantError(t, a.SetAll([]ID{ids[1], ids[25]}), ErrStale, "ids[1] = ent_26")
	wantError(t, a.UnsetAll([]ID{ids[20], ids[25]}), ErrStale, "ids[1] = ent_26")
	if a.Has(ids[1]) || !a.Has(ids[20]) {
		t.Fatal("a failed batch changed something")
	}
	if err := a.UnsetAll(ids[20:22]); err != nil || a.Count() != 7 {
		t.Fatal(err, a.Count())
	}
	a.Clear()
	if a.Count() != 0 {
		t.Fatal("Clear leaves some")
	}
}

func TestTagLimit(t *testing.T) {
	w := newWorld(t, 1)
	_, err := w.Tag("")
	wantError(t, err, ErrRange, "Tag name")
	for i := range MaxTags {
		tag(t, w, ID(i).String())
	}
	_, err = w.Tag("one more")
	wantError(t, err, ErrCapacity, "256")
	tag(t, w, "ent_0") // the old ones are still found
}

func TestQueryMisuse(t *testing.T) {
	w, other := newWorld(t, 1), newWorld(t, 1)
	foreign := tag(t, other, "a")
	for _, bad := range []Tag{{}, foreign} {
		wantPanic(t, "ecs: Query with a tag of another world", func() {
			for range w.Query(With(bad)) {
			}
		})
	}
	wantPanic(t, "ecs: use of a zero Tag", func() { Tag{}.Set(1) })
}

func TestQueryWhileChanging(t *testing.T) {
	w := newWorld(t, 300)
	ids := make([]ID, 200)
	w.SpawnN(ids)
	prey := tag(t, w, "prey")
	prey.SetAll(ids)

	var visited []Slot
	for s := range w.Query(With(prey)) {
		visited = append(visited, s)
		w.Despawn(ids[s])         // itself
		w.Despawn(ids[(s+1)%200]) // the one ahead is not visited
		if s == 10 {
			prey.Unset(ids[14])
			prey.Set(spawn(t, w)) // into slot 0, behind
		}
	}
	want := []Slot{0, 2, 4, 6, 8, 10, 12} // then 14 does not match, and 15 is reached
	for s := Slot(15); s < 200; s += 2 {
		want = append(want, s)
	}
	if !slices.Equal(visited, want) {
		t.Fatalf("visited %v", visited)
	}

	w = newWorld(t, 300)
	w.SpawnN(ids[:1])
	n := 0
	for s := range w.Query() { // each spawn lies ahead: the capacity ends it
		if int(s) != n {
			t.Fatalf("slot %d after %d", s, n)
		}
		n++
		w.Spawn()
	}
	if n != 300 {
		t.Fatalf("visited %d", n)
	}
}

func TestIDsWhileChanging(t *testing.T) {
	w := newWorld(t, 5000)
	ids := make([]ID, 4000)
	w.SpawnN(ids)
	var visited []ID
	for id := range w.IDs() {
		visited = append(visited, id)
		w.Despawn(id)
		w.Despawn(id + 1)
		w.Spawn() // never visited, and its page may be one just released
	}
	if len(visited) != 2000 || visited[1] != 3 || visited[1999] != 3999 {
		t.Fatalf("visited %d: %v …", len(visited), visited[:2])
	}

	w = newWorld(t, 5000)
	far := []ID{spawn(t, w)} // one in every third page
	for range 4 {
		w.SpawnN(ids[:3*pageIDs])
		for _, id := range ids[:3*pageIDs-1] {
			w.Despawn(id)
		}
		far = append(far, ids[3*pageIDs-1])
	}
	visited = visited[:0]
	for id := range w.IDs() {
		visited = append(visited, id)
		w.Despawn(id)
	}
	if !slices.Equal(visited, far) || w.Len() != 0 {
		t.Fatalf("visited %v, want %v", visited, far)
	}

	w.SpawnN(ids)
	snap := w.Snapshot(nil)
	n := 0
	for range w.IDs() {
		if n++; n == 1000 {
			if err := w.Restore(snap); err != nil {
				t.Fatal(err)
			}
		}
	}
	for range w.Query() {
		if n++; n == 2000 {
			if err := w.Restore(snap); err != nil {
				t.Fatal(err)
			}
		}
	}
	if n != 2000 {
		t.Fatalf("a Restore does not end the iteration: %d", n)
	}
	for range w.IDs() {
		break
	}
	for range w.Query() {
		break
	}
}
