package ecs

import (
	"bytes"
	"encoding/binary"
	"math/rand/v2"
	"testing"
)

// listed is a world with columns and tags to write to, in its own order of registration.
func listed(t testing.TB, swapped bool) (*World, Tag, Tag, *Column[int16]) {
	t.Helper()
	w := newWorld(t, 32)
	var hot Tag
	if swapped {
		hot = tag(t, w, "hot")
		addColumn[float64](t, w, "other")
	}
	c, err := AddColumn[int16](w, "hp")
	if err != nil {
		t.Fatal(err)
	}
	cold := tag(t, w, "cold")
	if !swapped {
		hot = tag(t, w, "hot")
	}
	if err := w.SpawnN(make([]ID, 6)); err != nil {
		t.Fatal(err)
	}
	return w, hot, cold, c
}

func recordSome(t testing.TB, c *Commands, hot, cold Tag, hp *Column[int16]) {
	t.Helper()
	a := c.Spawn()
	b := c.Spawn()
	c.Set(hot, a)
	c.Unset(cold, 2)
	c.Set(cold, 3)
	Write(c, hp, b, -7)
	Write(c, hp, 1, 300)
	c.Despawn(4)
	for _, err := range []error{c.SetPosition(a, 1, 2, 3), c.SetRotation(1, 0, 0, 0.6, 0.8), c.SetScale(b, 4, 5, 6)} {
		if err != nil {
			t.Fatal(err)
		}
	}
	c.Unset(hot, b)
}

// A list that was saved has the same effect in another world.
func TestCommandsSnapshot(t *testing.T) {
	w, hot, cold, hp := listed(t, false)
	c := w.NewCommands()
	apply(t, w, c)
	born := c.Spawn()
	apply(t, w, c)
	recordSome(t, c, hot, cold, hp)
	saved := c.Snapshot(nil)

	v, _, _, _ := listed(t, true)
	v.NewCommands() // so that the numbers of the lists differ
	d := v.NewCommands()
	if err := v.CopyFrom(w); err != nil {
		t.Fatal(err)
	}
	d.Spawn() // is forgotten
	if err := d.Restore(saved); err != nil {
		t.Fatal(err)
	}
	if d.Spawned(0) != c.Resolve(born) || d.Len() != c.Len() {
		t.Errorf("Spawned %d, %d commands; want %d, %d", d.Spawned(0), d.Len(), c.Resolve(born), c.Len())
	}
	more, again := c.Spawn(), d.Spawn()
	c.Set(hot, more)
	d.Set(tag(t, v, "hot"), again)
	apply(t, w, c)
	apply(t, v, d)
	other, _, _, _ := listed(t, true)
	if err := other.CopyFrom(w); err != nil || other.Hash() != v.Hash() {
		t.Errorf("other state after the list, %v", err)
	}

	// Going back: ids of the round that was saved are valid again.
	if err := c.Restore(saved); err != nil || !bytes.Equal(c.Snapshot(nil), saved) {
		t.Errorf("the restored list differs: %v", err)
	}
	c.Set(hot, c.firstProvisional())
}

// The error names columns and tags that do not exist, and nothing is changed.
func TestCommandsRestoreRefuses(t *testing.T) {
	w, hot, cold, hp := listed(t, false)
	c := w.NewCommands()
	recordSome(t, c, hot, cold, hp)
	saved := c.Snapshot(nil)

	bare := newWorld(t, 32)
	d := bare.NewCommands()
	d.Spawn()
	before := d.Snapshot(nil)
	wantError(t, d.Restore(saved), ErrUnsupported, `tag = hot`)
	tag(t, bare, "hot")
	tag(t, bare, "cold")
	wantError(t, d.Restore(saved), ErrUnsupported, "column = hp")
	if !bytes.Equal(d.Snapshot(nil), before) {
		t.Error("the list was changed")
	}
	if err := bare.Restore(w.Snapshot(nil)); err != nil { // which has a column that is not registered
		t.Fatal(err)
	}
	wantError(t, d.Restore(saved), ErrUnsupported, "column = hp")
	addColumn[int16](t, bare, "hp")
	if err := d.Restore(saved); err != nil {
		t.Error(err)
	}

	// A tag may be one that a prepared snapshot will add.
	fresh := newWorld(t, 32)
	addColumn[int16](t, fresh, "hp")
	e := fresh.NewCommands()
	if err := fresh.Prepare(w.Snapshot(nil)); err != nil {
		t.Fatal(err)
	}
	if err := e.Prepare(saved); err != nil {
		t.Fatal(err)
	}
	fresh.Commit()
	e.Commit()
	apply(t, fresh, e)
	apply(t, w, c)
	if fresh.Hash() != w.Hash() {
		t.Error("other state after the list")
	}
	wantPanic(t, "ecs: Commands.Commit without Prepare", e.Commit)
	wantPanic(t, "ecs: use of Commands that NewCommands did not make", func() { new(Commands).Prepare(saved) })
}

// Whatever the bytes are: a list that is accepted can be applied, and saved unchanged.
func TestCommandsRestoreForged(t *testing.T) {
	w, hot, cold, hp := listed(t, false)
	c := w.NewCommands()
	recordSome(t, c, hot, cold, hp)
	saved, state := c.Snapshot(nil), w.Snapshot(nil)
	rng := rand.New(rand.NewPCG(1, 2))
	taken, cases := 0, 20000
	if testing.Short() {
		cases = 2000
	}
	for i := range cases {
		data := bytes.Clone(saved)
		switch i % 4 {
		case 0:
			data = data[:rng.IntN(len(data))]
		case 1:
			data = append(data, byte(i))
		case 2:
			data[rng.IntN(len(data))] = byte(rng.Uint32())
		case 3:
			binary.LittleEndian.PutUint32(data[rng.IntN(len(data)-4):], rng.Uint32()>>rng.IntN(32))
		}
		before := c.Snapshot(nil)
		if err := c.Restore(data); err != nil {
			if !bytes.Equal(c.Snapshot(nil), before) {
				t.Fatalf("seed 1 2, case %d: refused, but changed: %v", i, err)
			}
			continue
		}
		taken++
		if again := c.Snapshot(nil); !bytes.Equal(again[2:], data[2:]) && i%4 != 2 && i%4 != 3 {
			t.Fatalf("seed 1 2, case %d: saved again it differs", i)
		}
		w.Apply(c)
		if err := w.Restore(state); err != nil {
			t.Fatal(err)
		}
	}
	if taken < cases/20 {
		t.Errorf("%d accepted: the test is too weak", taken)
	}
}

// The two halves of Restore.
func TestPrepare(t *testing.T) {
	w := sample(t)
	data := w.Snapshot(nil)
	v := twin(t, 8)
	spawn(t, v)
	before := v.Hash()
	wantPanic(t, "ecs: Commit without Prepare", v.Commit)
	if err := v.Prepare(data); err != nil || v.Hash() != before {
		t.Fatalf("%v, or the world was changed", err)
	}
	if slot, ok := v.PreparedSlot(4); !ok || slot != 3 {
		t.Errorf("entity 4 will be in slot %d, %t", slot, ok)
	}
	if _, ok := v.PreparedSlot(2); ok {
		t.Error("a despawned entity has a slot")
	}
	v.Discard()
	wantPanic(t, "ecs: Commit without Prepare", v.Commit)
	if _, ok := v.PreparedSlot(4); ok {
		t.Error("a discarded state is still prepared")
	}
	if err := v.CopyFrom(v.Clone()); err != nil || v.Hash() != before {
		t.Fatalf("after a Discard: %v", err)
	}
	if err := v.Prepare(data); err != nil {
		t.Fatal(err)
	}
	wantError(t, v.Prepare(data[:40]), ErrCorrupt)
	wantPanic(t, "ecs: Commit without Prepare", v.Commit)
	if err := v.Prepare(data); err != nil {
		t.Fatal(err)
	}
	v.Commit()
	if v.Hash() != w.Hash() {
		t.Error("not the state that was prepared")
	}
	var err error
	if n := testing.AllocsPerRun(20, func() { err = v.Restore(data) }); n != 0 || err != nil {
		t.Errorf("%g allocations, %v", n, err)
	}
}

func TestUnbindAll(t *testing.T) {
	w := newWorld(t, 100)
	ids := make([]ID, 100)
	if err := w.SpawnN(ids); err != nil {
		t.Fatal(err)
	}
	b := NewBinding(w, func(id ID, h int) { t.Errorf("%d of %s is released", h, id) })
	for i := 0; i < 100; i += 7 {
		if err := b.Bind(ids[i], i); err != nil {
			t.Fatal(err)
		}
	}
	b.UnbindAll()
	if _, has := b.Get(ids[7]); has || b.Len() != 0 {
		t.Errorf("%d are bound", b.Len())
	}
	for _, id := range ids {
		w.Despawn(id)
	}
}
