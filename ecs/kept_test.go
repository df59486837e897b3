package ecs

import (
	"bytes"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// knowing is a world of 5 rows with columns that stranger lacks.
func knowing(t testing.TB, capacity int) (*World, *Column[float32], *Column[[3]int16]) {
	w := newWorld(t, capacity)
	mana, err := AddColumn[float32](w, "mana")
	if err != nil {
		t.Fatal(err)
	}
	AddColumn[int32](w, "hp")
	pack, err := AddArrayColumn[[3]int16](w, "pack")
	if err != nil {
		t.Fatal(err)
	}
	w.SpawnN(make([]ID, 5))
	w.Despawn(3)
	for i := range 5 {
		mana.Values()[i] = float32(i) + 0.5
		pack.Values()[i] = [3]int16{int16(i), -1, 7}
	}
	pack.Touch()
	mana.Touch()
	w.Position.Touch()
	mana.Touch()
	return w, mana, pack
}

func stranger(t testing.TB, capacity int) *World {
	w := newWorld(t, capacity)
	AddColumn[int32](w, "hp")
	return w
}

func restored(t testing.TB, w *World, from *World) *World {
	t.Helper()
	if err := w.Restore(from.Snapshot(nil)); err != nil {
		t.Fatal(err)
	}
	return w
}

func TestKeptColumns(t *testing.T) {
	a, mana, pack := knowing(t, 9)
	b := restored(t, stranger(t, 12), a)
	if d, found := Diff(a, b); found || a.Hash() != b.Hash() {
		t.Fatal(d)
	}
	if b.LastTouch() != 4 || b.Position.Version() != 3 || b.Scale.Version() != 0 || b.Generation() != 1 {
		t.Error("versions are not the saved ones", b.LastTouch(), b.Position.Version())
	}
	if _, found := FindColumn[float32](b, "mana"); found {
		t.Error("a kept column has a handle")
	}
	c := restored(t, newWorld(t, 5), b) // with hp kept too
	if d, found := Diff(a, c); found || len(c.kept) != 3 {
		t.Fatal(d)
	}

	nan := float32(math.NaN())
	mana.Values()[1], pack.Values()[4][2] = nan, 9
	restored(t, b, a)
	if name, id, found := b.FirstNaN(); !found || name != "mana" || id != 2 {
		t.Errorf("NaN in %s of %v, %v", name, id, found)
	}
	if b.Hash() != a.Hash() || len(b.kept) != 2 {
		t.Error("the second Restore")
	}

	_, err := AddColumn[int32](b, "mana")
	wantError(t, err, ErrUnsupported, "AddColumn", "mana", "float32")
	_, err = AddArrayColumn[[4]int16](b, "pack")
	wantError(t, err, ErrUnsupported, "pack", "[3]int16")
	got, err := AddArrayColumn[[3]int16](b, "pack")
	if err != nil || len(got.Values()) != 12 || got.Values()[4] != [3]int16{4, -1, 9} || got.Version() != 1 {
		t.Fatal(got, err)
	}
	if found, ok := FindColumn[[3]int16](b, "pack"); !ok || &found.Values()[0] != &got.Values()[0] || b.Hash() != a.Hash() {
		t.Error("an adopted column is not found, or changed the hash")
	}
	b.SpawnN(make([]ID, 8))
	if got.Values()[5] != [3]int16{} || got.Values()[2] != [3]int16{} || got.Values()[4] != [3]int16{4, -1, 9} {
		t.Error("an adopted column is not reset", got.Values())
	}
	_, err = AddArrayColumn[[3]int16](b, "pack")
	wantError(t, err, ErrRange, "already used")

	restored(t, b, stranger(t, 1))
	if len(b.kept) != 0 || len(b.columns) != 12 || len(b.byName) != 12 || len(b.resets.wide) != 1 {
		t.Error("kept columns outlive a snapshot without them")
	}
}

// TestKeptOfAnotherType: what is kept is no obligation.
func TestKeptOfAnotherType(t *testing.T) {
	a, _, _ := knowing(t, 9)
	b := restored(t, stranger(t, 9), a)
	other := newWorld(t, 9)
	addColumn[uint8](t, other, "mana")[0] = 3
	spawn(t, other)
	restored(t, b, other)
	if len(b.kept) != 1 || b.kept[0].kind != KindUint8 || b.kept[0].mem[0] != 0 {
		t.Fatal("the new column is not kept")
	}
}

// TestKeptMemory: a snapshot does not say how much a world allocates.
func TestKeptMemory(t *testing.T) {
	a := newWorld(t, 1)
	for i := range 500 {
		if _, err := AddArrayColumn[[1024]float64](a, ID(i).String()); err != nil {
			t.Fatal(err)
		}
	}
	b := restored(t, newWorld(t, 1<<18), a)
	held := func() (n int) {
		for _, c := range b.kept {
			n += len(c.mem)
		}
		return n
	}
	if n := held(); n != 0 || len(b.kept) != 500 {
		t.Fatalf("%d bytes for %d columns without rows", n, len(b.kept))
	}
	spawn(t, b)
	if n := held(); n != 500*8192 {
		t.Fatalf("%d bytes for one row", n)
	}
	spawn(t, b)
	spawn(t, b)
	if n := held(); n != 500*4*8192 {
		t.Fatalf("%d bytes for three rows", n)
	}
}

func TestKeptCapacity(t *testing.T) {
	a, b := newWorld(t, 1), newWorld(t, 1)
	for i := range 510 {
		addColumn[int8](t, a, "a"+ID(i).String())
		addColumn[int8](t, b, "b"+ID(i).String())
	}
	before := b.Hash()
	wantError(t, b.Restore(a.Snapshot(nil)), ErrCapacity, "ecs: snapshot: columns = 1030")
	wantError(t, b.CopyFrom(a), ErrCapacity, "ecs: CopyFrom: columns = 1030")
	if b.Hash() != before || len(b.kept) != 0 {
		t.Fatal("the world has changed")
	}
	c := restored(t, newWorld(t, 1), a)
	for i := range maxColumns - len(c.columns) {
		addColumn[int8](t, c, "c"+ID(i).String())
	}
	_, err := AddColumn[int8](c, "more")
	wantError(t, err, ErrCapacity)
	addColumn[int8](t, c, "aent_3") // not a new column
	if err := c.Restore(a.Snapshot(nil)); err != nil {
		t.Fatal(err)
	}
}

// TestKeptIsKnown: a world with kept columns behaves like one that has added them.
func TestKeptIsKnown(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, err := New(Config{Capacity: 200})
		if err != nil {
			t.Fatal(err)
		}
		b, _ := New(Config{Capacity: 200})
		AddColumn[float64](a, "one")
		AddArrayColumn[[3]uint8](a, "many")
		grow := func(w *World, n int) { w.SpawnN(make([]ID, n)) }
		grow(a, rapid.IntRange(0, 100).Draw(t, "entities"))
		scribble := func() {
			for _, c := range a.columns[10:] {
				for i := range c.mem[:c.size()*a.high] {
					c.mem[i] = byte(i*7 + 1)
				}
			}
		}
		scribble()
		sync := func() {
			if rapid.Bool().Draw(t, "by bytes") {
				err = b.Restore(a.Snapshot(nil))
			} else {
				err = b.CopyFrom(a)
			}
			if err != nil {
				t.Fatal(err)
			}
		}
		sync()
		for range rapid.IntRange(1, 30).Draw(t, "operations") {
			ids := slices.Collect(a.IDs())
			n := rapid.IntRange(1, 70).Draw(t, "n")
			some := ids[:min(n, len(ids))]
			switch rapid.IntRange(0, 5).Draw(t, "op") {
			case 0:
				a.Spawn()
				b.Spawn()
			case 1:
				grow(a, n)
				grow(b, n)
			case 2:
				for _, id := range some {
					a.Despawn(id)
					b.Despawn(id)
				}
			case 3:
				a.DespawnN(some)
				b.DespawnN(some)
			case 4:
				scribble()
				sync()
			case 5:
				sync()
			}
			if d, found := Diff(a, b); found || a.Hash() != b.Hash() {
				t.Fatal(d)
			}
		}
		one, err := AddColumn[float64](b, "one")
		want, _ := FindColumn[float64](a, "one")
		if err != nil || !bytes.Equal(one.column.rows(0, b.high), want.column.rows(0, a.high)) || a.Hash() != b.Hash() {
			t.Fatal("the added column differs", err)
		}
	})
}
