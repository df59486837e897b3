package ecs

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/paritytest"
)

// moving is a world with everything that a row can have, and a note of what each entity has.
type moving struct {
	w        *World
	ids      []ID
	bytes    *Column[uint8]
	shorts   *Column[int16]
	singles  *Column[float32]
	doubles  *Column[float64]
	triples  *Column[[3]int16]
	blob     *Blobs
	tags     [2]Tag
	handles  *Binding[ID]
	released int
}

func newMoving(t testing.TB, capacity, n int, seed uint64) *moving {
	t.Helper()
	w, err := New(Config{Capacity: capacity, Previous: true})
	if err != nil {
		t.Fatal(err)
	}
	m := &moving{w: w}
	m.register(t)
	rng := rand.New(rand.NewPCG(seed, 1))
	m.ids = make([]ID, n)
	if err := w.SpawnN(m.ids); err != nil {
		t.Fatal(err)
	}
	w.KeepPrevious()
	for i, id := range m.ids {
		m.write(i, id, rng)
	}
	m.ids = slices.DeleteFunc(m.ids, func(id ID) bool { return rng.IntN(4) == 0 && w.Despawn(id) })
	m.released = 0
	return m
}

func (m *moving) register(t testing.TB) {
	var c struct {
		Bytes   *Column[uint8]
		Shorts  *Column[int16]
		Singles *Column[float32]
		Doubles *Column[float64]
		Triples *Column[[3]int16]
		Blob    *Blobs
		A, B    Tag
	}
	if err := m.w.Register(&c); err != nil {
		t.Fatal(err)
	}
	m.bytes, m.shorts, m.singles, m.doubles, m.triples, m.blob = c.Bytes, c.Shorts, c.Singles, c.Doubles, c.Triples, c.Blob
	m.tags = [...]Tag{c.A, c.B}
	m.handles = NewBinding[ID](m.w, func(ID, ID) { m.released++ })
}

func (m *moving) write(i int, id ID, rng *rand.Rand) {
	w := m.w
	for _, c := range append(slices.Collect(columnsOf(w.transforms())), slices.Collect(columnsOf(w.previous))...) {
		c[i] = rng.Float32()
	}
	m.bytes.Values()[i], m.shorts.Values()[i], m.singles.Values()[i] = uint8(rng.Uint32()), int16(rng.Uint32()), rng.Float32()
	m.doubles.Values()[i], m.triples.Values()[i] = rng.Float64(), [3]int16{int16(i), int16(rng.Uint32()), -1}
	for _, t := range m.tags {
		if rng.IntN(3) == 0 {
			t.Set(id)
		}
	}
	if rng.IntN(2) == 0 {
		m.blob.Set(id, fmt.Appendf(nil, "blob %*d", rng.IntN(20), i))
	}
	if rng.IntN(3) == 0 {
		w.Jump(id)
	}
	if rng.IntN(2) == 0 {
		m.handles.Bind(id, id)
	}
}

func columnsOf(t *Transforms) func(func([]float32) bool) {
	return func(yield func([]float32) bool) {
		for _, c := range t.columns() {
			if !yield(*c) {
				return
			}
		}
	}
}

// row returns everything that an entity has, as text.
func (m *moving) row(id ID) string {
	w := m.w
	slot, ok := w.Slot(id)
	if back, _ := w.ID(slot); !ok || back != id {
		return fmt.Sprintf("%v in slot %d, where %v is", id, slot, back)
	}
	s := fmt.Sprint(id)
	for c := range columnsOf(w.transforms()) {
		s += fmt.Sprint(" ", c[slot])
	}
	for c := range columnsOf(w.previous) {
		s += fmt.Sprint(" ", c[slot])
	}
	data, has := m.blob.Get(id)
	at, hasAt := m.blob.At(slot)
	h, bound := m.handles.Get(id)
	hAt, boundAt := m.handles.At(slot)
	return s + fmt.Sprint(m.bytes.Values()[slot], m.shorts.Values()[slot], m.singles.Values()[slot], m.doubles.Values()[slot],
		m.triples.Values()[slot], m.tags[0].Has(id), m.tags[1].Has(id), string(data), has, string(at), hasAt,
		h, bound, hAt, boundAt, w.jumped[slot>>6]>>(slot&63)&1)
}

func (m *moving) rows() (rows []string) {
	for _, id := range m.ids {
		rows = append(rows, m.row(id))
	}
	return rows
}

// shuffled returns the live slots in a random order.
func (m *moving) shuffled(rng *rand.Rand) []Slot {
	order := m.w.LiveSlots(nil)
	rng.Shuffle(len(order), func(i, j int) { order[i], order[j] = order[j], order[i] })
	return order
}

// Everything that an entity has moves with it, in worlds of any fill, and all that refers to slots stays right.
func TestReorder(t *testing.T) {
	run := paritytest.Start(t, "Reorder")
	for _, n := range []int{0, 1, 2, 63, 64, 65, 130, 1000, 1100} {
		for round := range paritytest.Rounds(10) {
			m := newMoving(t, 1100, n, run.Uint64())
			w := m.w
			before, want, live := m.rows(), make([]ID, 0, n), w.NewQuery()
			some := w.NewQuery(With(m.tags[0]))
			count := some.Count()
			order := m.shuffled(run.Rand)
			for _, slot := range order {
				id, _ := w.ID(slot)
				want = append(want, id)
			}
			versions := versionsOf(w)
			if err := w.Reorder(order); err != nil {
				t.Fatal(err)
			}
			if after := m.rows(); !slices.Equal(before, after) {
				t.Fatalf("%d entities, round %d:\n%q\n%q", n, round, before, after)
			}
			if !slices.Equal(w.ids[:len(want)], want) || w.HighWater() != len(want) || w.Len() != len(want) {
				t.Fatalf("entities %v, want %v; HighWater %d", w.ids[:w.high], want, w.HighWater())
			}
			if moved := w.Generation() == 1; moved != !slices.Equal(versions, versionsOf(w)) || !moved && n > 2 && len(want) < n {
				t.Fatalf("Generation %d, versions %v and %v", w.Generation(), versions, versionsOf(w))
			}
			if live.Count() != len(want) || some.Count() != count || m.released != 0 {
				t.Fatal("a query finds other entities, or a handle was released")
			}
			for i, id := range w.ids[len(want):] {
				if id != 0 || w.Rotation.W[len(want)+i] != 1 && len(want)+i < n || m.triples.Values()[len(want)+i] != [3]int16{} {
					t.Fatalf("row %d is not as new", len(want)+i)
				}
			}
			checkConsistent(t, w)
			checkBlobs(t, w)
		}
	}
}

// versionsOf returns the versions of all columns, and that of the blobs.
func versionsOf(w *World) (v []uint64) {
	for _, c := range w.Columns() {
		v = append(v, c.Version())
	}
	for _, b := range w.blobs {
		v = append(v, b.Version())
	}
	return v
}

// A restore, a copy and a clone of a reordered world equal it, and have the same future.
func TestReorderThenCopies(t *testing.T) {
	run := paritytest.Start(t, "ReorderThenCopies")
	for range paritytest.Rounds(20) {
		m := newMoving(t, 700, 600, run.Uint64())
		if err := m.w.Reorder(m.shuffled(run.Rand)); err != nil {
			t.Fatal(err)
		}
		other := newMoving(t, 700, 300, run.Uint64()) // whatever it had before
		if err := other.w.Restore(m.w.Snapshot(nil)); err != nil {
			t.Fatal(err)
		}
		clone := m.w.Clone()
		for range 50 {
			id, slot, err := m.w.SpawnSlot()
			if err != nil {
				t.Fatal(err)
			}
			doomed := m.ids[run.IntN(len(m.ids))]
			died := m.w.Despawn(doomed)
			for _, w := range []*World{other.w, clone} {
				if i, s, _ := w.SpawnSlot(); i != id || s != slot || w.Despawn(doomed) != died {
					t.Fatalf("the next entity is %v in slot %d, not %v in slot %d", i, s, id, slot)
				}
			}
		}
		for _, w := range []*World{other.w, clone} {
			if d, found := Diff(m.w, w); found || m.w.Hash() != w.Hash() || !bytes.Equal(m.w.Snapshot(nil), w.Snapshot(nil)) {
				t.Fatal("the futures differ", d)
			}
		}
	}
}

// Back in the order of creation, with no entity gone, a world has the hash of one that was never reordered.
func TestReorderBack(t *testing.T) {
	w, twin := newWorld(t, 300), newWorld(t, 300)
	for _, w := range []*World{w, twin} {
		ids := make([]ID, 200)
		w.SpawnN(ids)
		a := tag(t, w, "a")
		for i, id := range ids {
			w.Position.X[i] = float32(i)
			if i%3 == 0 {
				a.Set(id)
			}
			if i%5 == 0 {
				setBlob(t, w, "b", id, fmt.Sprint(i))
			}
		}
	}
	order, back := make([]Slot, 200), make([]Slot, 200)
	for i := range order {
		order[i] = Slot(i * 77 % 200)
		back[order[i]] = Slot(i)
	}
	w.Reorder(order)
	if w.Hash() == twin.Hash() {
		t.Fatal("nothing moved")
	}
	w.Reorder(back)
	if d, found := Diff(w, twin); found || w.Hash() != twin.Hash() {
		t.Fatal(d)
	}
	before := w.Snapshot(nil)
	generation, touches := w.Generation(), w.LastTouch()
	if err := w.Reorder(w.LiveSlots(nil)); err != nil || generation != w.Generation() || touches != w.LastTouch() || !bytes.Equal(before, w.Snapshot(nil)) {
		t.Error("a world in order was changed", err)
	}
}

func TestReorderErrors(t *testing.T) {
	w := newWorld(t, 10)
	w.SpawnN(make([]ID, 5))
	w.Despawn(2) // slot 1
	before := w.Snapshot(nil)
	for _, c := range []struct {
		order []Slot
		parts string
	}{
		{nil, "ecs: Reorder len(order) = 0"},
		{[]Slot{0, 2, 3}, "ecs: Reorder len(order) = 3"},
		{[]Slot{0, 2, 3, 4, 4}, "ecs: Reorder len(order) = 5"},
		{[]Slot{0, 2, 3, 1}, "ecs: Reorder order[3] = 1"},
		{[]Slot{0, 2, 3, 5}, "ecs: Reorder order[3] = 5"},
		{[]Slot{10, 2, 3, 4}, "ecs: Reorder order[0] = 10"},
		{[]Slot{0, 2, 1 << 31, 4}, "ecs: Reorder order[2] = 2147483648"},
		{[]Slot{0, 2, 0, 4}, "ecs: Reorder order[2] = 0"},
	} {
		wantError(t, w.Reorder(c.order), ErrRange, c.parts)
	}
	if !bytes.Equal(before, w.Snapshot(nil)) || w.Generation() != 0 {
		t.Error("a refused order changes the world")
	}
	const refused = "ecs: entities must not come or go while a query iterates, an observer runs or a handle is released: record it in Commands"
	order := []Slot{4, 3, 2, 0}
	for range w.Query() {
		wantPanic(t, refused, func() { w.Reorder(order) })
	}
	stop := w.OnReorder(func([]Slot) { wantPanic(t, refused, func() { w.Reorder(order) }) })
	wantPanic(t, "ecs: nil observer", func() { w.OnReorder(nil) })
	w.HoldTouches()
	wantPanic(t, "ecs: Reorder between HoldTouches and ReleaseTouches", func() { w.Reorder(order) })
	w.ReleaseTouches()
	h, _ := w.Handle(1)
	if err := w.Reorder(order); err != nil {
		t.Fatal(err)
	}
	if w.Valid(h) {
		t.Error("the handle of an entity that has moved is valid")
	}
	if h, ok := w.Handle(h.Gen); !ok || h != (Handle{3, 1}) || !w.Valid(h) {
		t.Errorf("the new handle is %v", h)
	}
	stop()
	wantPanic(t, "ecs: entities came or went in the body of Runs: record it in Commands", func() {
		for range w.Runs() {
			w.Reorder([]Slot{3, 2, 1, 0})
		}
	})
	var from []Slot
	w.OnReorder(func(order []Slot) { from = slices.Clone(order) })
	w.Reorder([]Slot{0, 1, 2, 3})
	if from != nil {
		t.Error("observers of a reorder that moved nothing")
	}
	w.Reorder([]Slot{1, 0, 3, 2})
	if !slices.Equal(from, []Slot{1, 0, 3, 2}) {
		t.Errorf("observers got %v", from)
	}
	if err := newWorld(t, 3).Reorder(nil); err != nil {
		t.Error(err)
	}
}

// A Reorder or Restore in the body ends the iterations that let a body change the world: none goes on in other rows.
func TestReorderEndsIterations(t *testing.T) {
	w := newWorld(t, 200)
	w.SpawnN(make([]ID, 130))
	blobs, err := w.Blobs("note")
	if err != nil {
		t.Fatal(err)
	}
	binding := NewBinding[int](w, nil)
	for slot := range w.Query() {
		id, _ := w.ID(slot)
		if err := errors.Join(blobs.Set(id, []byte{1}), binding.Bind(id, 1)); err != nil {
			t.Fatal(err)
		}
	}
	before := w.Snapshot(nil)
	order := w.LiveSlots(nil)
	slices.Reverse(order)
	for name, change := range map[string]func() error{
		"Reorder": func() error { return w.Reorder(order) },
		"Restore": func() error { return w.Restore(before) },
	} {
		visits := 0
		visit := func() {
			if visits++; visits%3 == 0 {
				if err := change(); err != nil {
					t.Fatal(err)
				}
			}
		}
		for range w.IDs() {
			visit()
		}
		for range blobs.All() {
			visit()
		}
		for range binding.All() {
			visit()
		}
		if visits != 9 {
			t.Errorf("%s in the third visit of three iterations: %d visits", name, visits)
		}
	}
}

// Commands that were recorded before name entities, not rows.
func TestReorderCommands(t *testing.T) {
	w := newWorld(t, 10)
	ids := make([]ID, 5)
	w.SpawnN(ids)
	a := tag(t, w, "a")
	c := w.NewCommands()
	c.Despawn(ids[0])
	c.Set(a, ids[1])
	if err := c.SetPosition(ids[2], 7, 0, 0); err != nil {
		t.Fatal(err)
	}
	child := c.Spawn()
	w.Reorder([]Slot{4, 3, 2, 1, 0})
	if _, err := w.Apply(c); err != nil {
		t.Fatal(err)
	}
	slot, _ := w.Slot(ids[2])
	born, _ := w.Slot(c.Resolve(child))
	if _, alive := w.Slot(ids[0]); alive || !a.Has(ids[1]) || w.Position.X[slot] != 7 || slot != 2 || born != 4 {
		t.Errorf("slot %d has x = %v, the new one is in slot %d", slot, w.Position.X[slot], born)
	}
}

// A handle stays with its entity when a Restore goes back to before a Reorder; if the entity is gone, it is released once.
func TestReorderAndRestoreKeepHandles(t *testing.T) {
	w := newWorld(t, 300)
	ids := make([]ID, 200)
	w.SpawnN(ids)
	saved := w.Snapshot(nil)
	late, _ := w.Spawn()
	var released []int
	b := NewBinding(w, func(_ ID, h int) { released = append(released, h) })
	other := NewBinding(w, func(_ ID, h int) {
		released = append(released, -h)
		if h == 1000 {
			panic("stop")
		}
	})
	for i, id := range append(slices.Clone(ids[:100]), late) {
		b.Bind(id, i)
	}
	other.Bind(late, 1000)
	another, _ := w.Spawn()
	other.Bind(another, 1001)
	order := w.LiveSlots(nil)
	slices.Reverse(order)
	w.Reorder(order)
	owners := b.Owners()
	wantPanic(t, "stop", func() { w.Restore(saved) })
	if !slices.Equal(released, []int{100, -1001, -1000}) && !slices.Equal(released, []int{100, -1000, -1001}) {
		t.Errorf("released %v", released)
	}
	for i, id := range ids {
		h, ok := b.Get(id)
		at, atOK := b.At(Slot(i))
		if ok != (i < 100) || ok && (h != i || at != i) || atOK != ok || ok && owners[i] != id {
			t.Fatalf("%v holds %d, %t", id, h, ok)
		}
	}
	if b.Len() != 100 || other.Len() != 0 {
		t.Errorf("%d and %d handles", b.Len(), other.Len())
	}
	w.Despawn(ids[3])
	if released[len(released)-1] != 3 {
		t.Error("a despawn does not release the handle")
	}
}

// Columns that only a snapshot brought move, too.
func TestReorderKeptColumns(t *testing.T) {
	m := newMoving(t, 100, 90, 5)
	w := newWorld(t, 100)
	if err := w.Restore(m.w.Snapshot(nil)); err != nil {
		t.Fatal(err)
	}
	order := m.shuffled(rand.New(rand.NewPCG(1, 2)))
	touches := w.LastTouch()
	for _, w := range []*World{w, m.w} {
		if err := w.Reorder(order); err != nil {
			t.Fatal(err)
		}
	}
	if d, found := Diff(w, m.w); found || w.Hash() != m.w.Hash() {
		t.Fatal(d)
	}
	for _, c := range w.Columns() {
		if c.Version() <= touches {
			t.Errorf("column %s was not touched", c.Name())
		}
	}
}

func TestReorderAllocatesNothing(t *testing.T) {
	if paritytest.Instrumented {
		t.Skip("instrumented builds allocate on their own account")
	}
	m := newMoving(t, 700, 600, 3)
	for _, id := range m.ids {
		m.blob.Set(id, []byte("every group is full"))
	}
	order := m.w.LiveSlots(nil)
	slices.Reverse(order)
	reorder := func() {
		if err := m.w.Reorder(order); err != nil {
			t.Fatal(err)
		}
		for i := range order { // from now on there are no free rows
			order[i] = Slot((i*7 + 1) % len(order))
		}
	}
	reorder()
	if len(order)%7 == 0 {
		t.Fatal("7 divides the number of entities")
	}
	if n := testing.AllocsPerRun(20, reorder); n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkReorder(b *testing.B) {
	for _, n := range []int{16384, 100_000, 1_000_000} {
		b.Run(fmt.Sprint("n=", n), func(b *testing.B) {
			w := newWorld(b, n)
			for _, name := range []string{"a", "b", "c"} { // thirteen columns of float32, as a flock has
				addColumn[float32](b, w, name)
			}
			w.SpawnN(make([]ID, n))
			order := w.LiveSlots(nil)
			rng := rand.New(rand.NewPCG(1, 1))
			// Entities move by some hundreds of rows, as they do after they have walked about for a while.
			for i := range order {
				j := min(i+rng.IntN(300), n-1)
				order[i], order[j] = order[j], order[i]
			}
			w.Reorder(order) // the first call allocates
			for b.Loop() {
				w.Reorder(order)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/row")
		})
	}
}
