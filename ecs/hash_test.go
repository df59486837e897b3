package ecs

import (
	"math"
	"slices"
	"testing"
)

// TestGoldenHash pins the hash of a small scenario, for every architecture. It
// changes only together with a line in the changelog under "Determinism".
func TestGoldenHash(t *testing.T) {
	w := sample(t)
	for _, c := range w.ColumnHashes() {
		t.Logf("%-12s %#016x", c.Name, c.Hash)
	}
	const want = 0x88d51d64c42cd126
	if got := w.Hash(); got != want {
		t.Fatalf("hash %#016x, want %#016x", got, uint64(want))
	}
}

// TestHashSees: every single thing that decides the future changes the hash.
func TestHashSees(t *testing.T) {
	base := sample(t).Hash()
	seen := map[uint64]string{base: "no change"}
	try := func(name string, change func(w *World)) {
		t.Helper()
		w := sample(t)
		change(w)
		h := w.Hash()
		if other, ok := seen[h]; ok {
			t.Errorf("%s has the hash of %s", name, other)
		}
		seen[h] = name
	}
	for i, c := range sample(t).columns {
		try(c.name, func(w *World) { w.columns[i].mem[4*c.size()] ^= 1 })
	}
	try("a tag set", func(w *World) { tag(t, w, "ally").Set(4) })
	try("a tag unset", func(w *World) { tag(t, w, "ally").Unset(3) })
	try("another tag", func(w *World) { tag(t, w, "empty").SetAll([]ID{1, 3}) })
	try("tags swapped", func(w *World) { tag(t, w, "ally").Clear(); tag(t, w, "empty").SetAll([]ID{1, 3}) })
	try("spawn", func(w *World) { spawn(t, w) })
	try("despawn", func(w *World) { w.Despawn(4) })
	try("despawn and spawn", func(w *World) { w.Despawn(4); spawn(t, w) })
	try("spawn and despawn", func(w *World) { w.Despawn(spawn(t, w)) })
	try("two spawns and despawns", func(w *World) { w.Despawn(spawn(t, w)); w.Despawn(spawn(t, w)) })
	try("positive zero", func(w *World) { w.Position.Y[3] = 0 })
	try("NaN to infinity", func(w *World) { w.Position.Z[3] = float32(math.Inf(1)) })
	try("a new column", func(w *World) { addColumn[int8](t, w, "new") })
}

// TestHashIgnores: what decides nothing does not.
func TestHashIgnores(t *testing.T) {
	w := sample(t)
	base := w.Hash()
	tag(t, w, "new")
	w.Position.Z[3] = float32(math.NaN())
	w.Position.Z[7] = 5 // a row never used
	if w.Hash() != base {
		t.Fatal("the hash depends on an empty tag, the payload of a NaN, or an unused row")
	}
}

func TestColumnHashesOrder(t *testing.T) {
	w := sample(t)
	var names []string
	for _, c := range w.ColumnHashes() {
		names = append(names, c.Name)
	}
	want := []string{"identity", "heat", "hp", "level", "position.x", "position.y", "position.z",
		"rotation.w", "rotation.x", "rotation.y", "rotation.z", "scale.x", "scale.y", "scale.z"}
	if !slices.Equal(names, want) {
		t.Fatalf("order %v", names)
	}
}

func TestFirstNaN(t *testing.T) {
	w, err := New(Config{Capacity: 70})
	if err != nil {
		t.Fatal(err)
	}
	ids := make([]ID, 70)
	if err := w.SpawnN(ids); err != nil {
		t.Fatal(err)
	}
	w.Despawn(ids[5])
	nan := float32(math.NaN())
	w.Scale.Y[5] = nan
	if c, id, found := w.FirstNaN(); found {
		t.Fatalf("a free row counts: %s of %v", c, id)
	}
	w.Scale.Y[69], w.Scale.Y[66], w.Scale.Z[0] = nan, nan, nan
	if c, id, found := w.FirstNaN(); !found || c != "scale.y" || id != ids[66] {
		t.Fatalf("found %s of %v, %v; want scale.y of %v", c, id, found, ids[66])
	}
	if n := testing.AllocsPerRun(100, func() { w.FirstNaN() }); n != 0 {
		t.Errorf("%v allocations", n)
	}
}
