package ecs

import (
	"slices"
	"testing"

	"github.com/evertick/evertick/native"
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
		wantPanic(t, "ecs: Query with a zero Tag, or one of another world", func() {
			for range w.Query(With(bad)) {
			}
		})
	}
	wantPanic(t, "ecs: use of a zero Tag", func() { Tag{}.Set(1) })
}

func TestQueryWhileTagging(t *testing.T) {
	w := newWorld(t, 300)
	ids := make([]ID, 200)
	w.SpawnN(ids)
	prey := tag(t, w, "prey")
	prey.SetAll(ids[20:])

	var visited []Slot
	for s := range w.Query(With(prey)) {
		visited = append(visited, s)
		prey.Unset(ids[s])         // itself
		prey.Unset(ids[(s+1)%200]) // the next one is not visited
		if s == 30 {
			prey.Unset(ids[34])
			prey.Set(ids[0]) // passed already
		}
	}
	want := []Slot{20, 22, 24, 26, 28, 30, 32} // then 34 does not match, and 35 is reached
	for s := Slot(35); s < 200; s += 2 {
		want = append(want, s)
	}
	if !slices.Equal(visited, want) {
		t.Fatalf("visited %v", visited)
	}
}

// TestQueryLocksTheWorld: changing the set of entities while a query iterates panics and
// changes nothing. It is allowed again once the iteration has ended, in whichever way.
func TestQueryLocksTheWorld(t *testing.T) {
	w := newWorld(t, 300)
	ids := make([]ID, 200)
	w.SpawnN(ids)
	snap := w.Snapshot(nil)
	changes := map[string]func(){
		"Spawn":        func() { w.Spawn() },
		"SpawnN":       func() { w.SpawnN(make([]ID, 2)) },
		"Despawn":      func() { w.Despawn(ids[7]) },
		"DespawnN":     func() { w.DespawnN(ids[:2]) },
		"DespawnWhere": func() { w.DespawnWhere() },
		"Restore":      func() { w.Restore(snap) },
	}
	const held = "ecs: entities must not come or go while a query iterates, an observer runs or a handle is released: record it in Commands"
	before := w.Hash()
	for name, change := range changes {
		for range w.Query() {
			for range w.NewQuery().All() {
				break
			}
			wantPanic(t, held, change)
			break
		}
		wantPanic(t, held, func() {
			for range w.Query() {
				change()
			}
		})
		if w.Hash() != before {
			t.Fatalf("%s changed the world while a query iterated", name)
		}
	}
	for range w.Query() {
		break
	}
	spawn(t, w)
}

func TestQueryBitmaps(t *testing.T) {
	w := newWorld(t, 1000)
	ids := make([]ID, 900)
	w.SpawnN(ids)
	a, b, c := tag(t, w, "a"), tag(t, w, "b"), tag(t, w, "c")
	for i, id := range ids {
		if i%2 == 0 {
			a.Set(id)
		}
		if i%3 == 0 {
			b.Set(id)
		}
		if i%5 == 0 {
			c.Set(id)
		}
		if i%7 == 0 {
			w.Despawn(id)
		}
	}
	for name, terms := range map[string][]Term{
		"all": nil, "with": {With(a, b)}, "without": {Without(a, c)}, "any": {Any(b, c)}, "mixed": {With(a), Any(b, c), Without(c)},
		"any of none": {Any()}, "with none": {With(), Without()}, "two any": {Any(a), Any(b)},
	} {
		q := w.NewQuery(terms...)
		check := func() {
			t.Helper()
			want := slices.Collect(w.Query(terms...))
			if got := slices.Collect(q.All()); !slices.Equal(got, want) {
				t.Errorf("%s: All is %v, want %v", name, got, want)
			}
			for range 2 { // the second time from what it kept, which the caller's list is not
				got := q.Slots(nil)
				if got == nil || !slices.Equal(got, want) || q.Count() != len(want) {
					t.Errorf("%s: Slots is %v, want %v", name, got, want)
				}
				for i := range got {
					got[i] = 77
				}
			}
			if mask := q.Mask(); len(mask) != 16 || !slices.Equal(native.RowsOf(nil, mask), want) {
				t.Errorf("%s: Mask is %x", name, mask)
			}
		}
		check()
		c.UnsetWhere(With(b))
		check()
		id := spawn(t, w)
		a.Set(id)
		check()
		w.Despawn(id)
		check()
		c.SetWhere(With(b))
	}
	q := w.NewQuery()
	few := newWorld(t, 1000)
	spawn(t, few)
	if err := w.Restore(few.Snapshot(nil)); err != nil || q.Count() != 1 {
		t.Fatal(err, q.Count())
	}
	if !slices.Equal(w.LiveMask(), q.Mask()) || !slices.Equal(a.Mask(), make([]uint64, 16)) {
		t.Error("LiveMask or Tag.Mask is wrong")
	}
	terms := []Tag{a}
	q = w.NewQuery(With(terms...))
	terms[0] = b
	if q.terms[0].tags[0] != a {
		t.Error("NewQuery keeps the caller's slice")
	}
	wantPanic(t, "ecs: Query with a zero Tag, or one of another world", func() { few.NewQuery(With(a)) })
}

func TestTagWhere(t *testing.T) {
	w := newWorld(t, 200)
	ids := make([]ID, 150)
	w.SpawnN(ids)
	a, b := tag(t, w, "a"), tag(t, w, "b")
	a.SetAll(ids[10:80])
	if n := b.SetWhere(With(a)); n != 70 || b.Count() != 70 {
		t.Error(n, b.Count())
	}
	if n := b.SetWhere(); n != 80 || b.Count() != 150 {
		t.Error(n, b.Count())
	}
	if n := b.UnsetWhere(Without(a)); n != 80 || !slices.Equal(b.Mask(), a.Mask()) {
		t.Error(n)
	}
	if n := b.UnsetWhere(With(b)); n != 70 || b.Count() != 0 {
		t.Error(n)
	}
	if n := b.SetWhere(With(b)); n != 0 {
		t.Error(n)
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
	if n != 1000 {
		t.Fatalf("a Restore does not end the iteration: %d", n)
	}
	for range w.IDs() {
		break
	}
}

// In selects live slots of a bitmap wherever terms are evaluated without a cache.
func TestIn(t *testing.T) {
	w := newWorld(t, 200)
	ids := make([]ID, 150)
	if err := w.SpawnN(ids); err != nil {
		t.Fatal(err)
	}
	marked := tag(t, w, "marked")
	w.Despawn(ids[3])
	rows := []uint64{1<<3 | 1<<5 | 1<<63, 1, 1<<21 | 1<<22 | 1<<40} // 149 and 150 among them; there is no entity in 3, 150, 168
	if n := marked.SetWhere(In(rows)); n != 4 {
		t.Errorf("%d are marked", n)
	}
	rows[1] = 0
	if got := slices.Collect(w.Query(In(rows), With(marked))); !slices.Equal(got, []Slot{5, 63, 149}) {
		t.Errorf("slots %d", got)
	}
	if got := slices.Collect(w.Query(In(rows[:1]))); !slices.Equal(got, []Slot{5, 63}) {
		t.Errorf("slots of a short bitmap %d", got)
	}
	if n := w.DespawnWhere(In(rows), Without(marked)); n != 0 {
		t.Errorf("%d despawned", n)
	}
	if n := w.DespawnWhere(In(rows)); n != 3 || w.Len() != 146 || marked.Has(ids[63]) || !marked.Has(ids[64]) {
		t.Errorf("%d despawned, %d left", n, w.Len())
	}
	if n := w.DespawnWhere(In(nil)); n != 0 {
		t.Errorf("%d despawned by no bitmap", n)
	}
	wantPanic(t, "ecs: NewQuery with In, whose bitmap may change unnoticed", func() { w.NewQuery(With(marked), In(rows)) })
}
