package ecs

import (
	"bytes"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
)

func TestClone(t *testing.T) {
	w := sample(t)
	w.Rotation.Touch()
	c := w.Clone()
	if d, found := Diff(w, c); found || c.Cap() != w.Cap() || c.Generation() != 1 || !bytes.Equal(w.Snapshot(nil), c.Snapshot(nil)) {
		t.Fatal("the clone differs", d)
	}
	hp, ok := FindColumn[int32](c, "hp")
	mine, _ := FindColumn[int32](w, "hp")
	if !ok || hp.Name() != "hp" || hp.Values()[4] != -4 {
		t.Fatal("a column is lost")
	}
	hp.Values()[4] = 0
	hp.Touch()
	tag(t, c, "ally").Clear()
	spawn(t, c)
	if mine.Values()[4] != -4 || w.LastTouch() != 1 || c.LastTouch() != 2 || tag(t, w, "ally").Count() != 2 || w.Len() != 4 {
		t.Error("the clone shares its state")
	}
	for _, name := range []string{"ally", "hp ", ""} {
		if _, ok := FindColumn[int32](c, name); ok {
			t.Errorf("column %q found", name)
		}
	}
	if _, ok := FindColumn[uint32](c, "hp"); ok {
		t.Error("found in another type")
	}
	if x, ok := FindColumn[float32](c, "position.x"); !ok || &x.Values()[0] != &c.Position.X[0] {
		t.Error("a built-in column is not found")
	}
}

func TestCopyFrom(t *testing.T) {
	src := sample(t)
	w := twin(t, 100)
	mana := addColumn[float32](t, w, "mana")
	w.SpawnN(make([]ID, 90))
	for i := range mana {
		mana[i] = 3
	}
	lost := tag(t, w, "lost")
	lost.Set(80)
	q := w.NewQuery(With(tag(t, w, "ally")))
	calls := 0
	w.OnDespawn(func(ID, Slot) { calls++ })
	var released []int
	bodies := NewBinding(w, func(_ ID, handle int) { released = append(released, handle) })
	for i, id := range []ID{1, 2, 3, 70} { // 1 and 3 are in src, in the same slots
		if err := bodies.Bind(id, i); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.CopyFrom(src); err != nil {
		t.Fatal(err)
	}
	same := twin(t, 100)
	addColumn[float32](t, same, "mana")
	restored(t, same, src)
	if d, found := Diff(w, same); found {
		t.Fatal(d)
	}
	if !slices.Equal(released, []int{1, 3}) || bodies.Len() != 2 {
		t.Errorf("released %v", released)
	}
	if w.Generation() != 1 || calls != 0 || lost.Count() != 0 || w.HighWater() != 5 || slices.Max(mana[:90]) != 0 {
		t.Error("not the state of src and nothing else")
	}
	if got := q.Slots(nil); !slices.Equal(got, []Slot{0, 2}) {
		t.Errorf("a query finds %v", got)
	}
	if id := spawn(t, w); id != 6 || w.ids[1] != 6 {
		t.Errorf("the next entity is %v", id)
	}
	checkConsistent(t, w)

	if err := w.CopyFrom(w); err != nil || w.Generation() != 1 {
		t.Error("a copy from itself does something")
	}
	before := w.Hash()
	wantError(t, newWorld(t, 4).CopyFrom(src), ErrCapacity, "ecs: CopyFrom: rows = 5")
	wrong := newWorld(t, 8)
	addColumn[uint32](t, wrong, "hp")
	wantError(t, wrong.CopyFrom(src), ErrUnsupported, "column hp = int32")
	for range w.Query() {
		wantPanic(t, "ecs: entities must not come or go while a query iterates, an observer runs or a handle is released: record it in Commands", func() { w.CopyFrom(src) })
		if err := src.CopyFrom(w); err == nil {
			t.Error("rows that do not fit")
		}
		break
	}
	if w.Hash() != before || wrong.Len() != 0 || w.pending.ids != nil {
		t.Error("a refused copy changed something")
	}
}

// A copy that is prepared changes nothing until Commit; Discard forgets it.
func TestPrepareCopy(t *testing.T) {
	src, w := sample(t), twin(t, 100)
	before := w.Hash()
	for range 2 {
		if err := w.PrepareCopy(src); err != nil || w.Hash() != before || w.Generation() != 0 {
			t.Fatalf("%v, or a change", err)
		}
		for id := range ID(9) {
			slot, ok := src.Slot(id)
			if got, prepared := w.PreparedSlot(id); prepared != ok || got != slot {
				t.Errorf("%v will be in slot %d, %t", id, got, prepared)
			}
		}
		w.Discard()
	}
	wantPanic(t, "ecs: Commit without Prepare", w.Commit)
	wantPanic(t, "ecs: PrepareCopy from the world itself", func() { _ = w.PrepareCopy(w) })
	if err := w.PrepareCopy(src); err != nil {
		t.Fatal(err)
	}
	w.Commit()
	if d, found := Diff(w, src); found {
		t.Error(d)
	}
	restored(t, w, newWorld(t, 5)) // a snapshot after a copy
	checkConsistent(t, w)
}

// TestCopyFromPages alternates between tables of many pages and few.
func TestCopyFromPages(t *testing.T) {
	sparse := newWorld(t, 3000)
	for range 60 { // one survivor in a page
		ids := make([]ID, pageIDs)
		if err := sparse.SpawnN(ids); err != nil {
			t.Fatal(err)
		}
		sparse.DespawnN(ids[1:])
	}
	dense := newWorld(t, 3000)
	dense.SpawnN(make([]ID, 2500))
	w := newWorld(t, 3000)
	for range 3 {
		for _, src := range []*World{sparse, dense, newWorld(t, 1)} {
			if err := w.CopyFrom(src); err != nil {
				t.Fatal(err)
			}
			if d, found := Diff(w, src); found || w.Version() != src.Version() {
				t.Fatal(d)
			}
			if w.table.pages != src.table.pages || len(w.table.spare) > sparePages {
				t.Fatalf("%d pages and %d spare, want %d", w.table.pages, len(w.table.spare), src.table.pages)
			}
			if !slices.Equal(slices.Collect(w.IDs()), slices.Collect(src.IDs())) {
				t.Fatal("other ids")
			}
		}
	}
	checkConsistent(t, w)
}

func TestCopyFromAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("not run: instrumented code allocates")
	}
	a, _, _ := knowing(t, 3000)
	tag(t, a, "x").Set(1)
	ids := make([]ID, 2500)
	b := a.Clone()
	b.SpawnN(ids)
	b.DespawnN(ids[:200])
	b.SpawnN(ids[:200])
	w := stranger(t, 3000)
	w.CopyFrom(b)
	w.CopyFrom(a)
	bodies := NewBinding(w, func(ID, int) {})
	bodies.Bind(1, 7)
	if n := testing.AllocsPerRun(50, func() { w.CopyFrom(a); w.CopyFrom(b) }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
