package ecs

import (
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// play is one tick of a small game: a function of the state alone, with the next id as
// the source of randomness. Entities move, lose life, have tags, die and are spawned.
func play(t *rapid.T, w *World) {
	hurt, err := w.Tag("hurt")
	if err != nil {
		t.Fatal(err)
	}
	hp, _ := FindColumn[int32](w, "hp")
	dice := uint64(w.table.next)*0x9e3779b97f4a7c15 + w.Version()
	roll := func(n uint64) uint64 {
		dice ^= dice >> 29
		dice *= 0xbf58476d1ce4e5b9
		return dice >> 33 % n
	}
	for s := range w.Query() {
		w.Position.X[s] += w.Scale.X[s] * float32(roll(100))
		hp.Values()[s] -= int32(roll(4))
		if id, _ := w.ID(s); roll(5) == 0 {
			hurt.Set(id)
		}
	}
	w.Position.Touch()
	var dead []ID
	for s := range w.Query(With(hurt)) {
		if hp.Values()[s] < 0 {
			dead = append(dead, w.ids[s])
		}
	}
	if err := w.DespawnN(dead); err != nil {
		t.Fatal(err)
	}
	born := make([]ID, min(w.Cap()-w.Len(), int(roll(9))))
	if err := w.SpawnN(born); err != nil {
		t.Fatal(err)
	}
	for _, id := range born {
		s, _ := w.Slot(id)
		hp.Values()[s] = int32(roll(20))
		w.SetScale(id, float32(roll(3)), 1, 1)
	}
	if len(born) > 0 {
		hp.Touch()
	}
}

// TestReplay: a run to tick n, and one that goes back to tick k and on to n, by a
// snapshot or a copy, in the same world or another, have the same result. That includes
// columns that the other world has not added.
func TestReplay(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		room := rapid.IntRange(10, 150).Draw(t, "capacity")
		with := func(unknown bool) *World {
			w, err := New(Config{Capacity: room})
			if err != nil {
				t.Fatal(err)
			}
			if unknown {
				AddArrayColumn[[3]uint16](w, "armour")
			}
			AddColumn[int32](w, "hp")
			return w
		}
		w := with(true)
		armour, _ := FindColumn[[3]uint16](w, "armour")
		w.SpawnN(make([]ID, rapid.IntRange(0, room).Draw(t, "entities")))
		for i := range w.high {
			armour.Values()[i] = [3]uint16{uint16(i), 2, 3}
		}
		n := rapid.IntRange(1, 20).Draw(t, "n")
		var snapshots [][]byte
		var clones []*World
		var hashes, touches []uint64
		for range n {
			snapshots, clones = append(snapshots, w.Snapshot(nil)), append(clones, w.Clone())
			hashes, touches = append(hashes, w.Hash()), append(touches, w.LastTouch())
			play(t, w)
		}
		last := w.Snapshot(nil)
		other, stranger := with(true), with(false)
		for k := range n {
			for name, back := range map[string]func() (*World, error){
				"Restore":                       func() (*World, error) { return w, w.Restore(snapshots[k]) },
				"Restore elsewhere":             func() (*World, error) { return other, other.Restore(snapshots[k]) },
				"Restore of unknown columns":    func() (*World, error) { return stranger, stranger.Restore(snapshots[k]) },
				"CopyFrom":                      func() (*World, error) { return w, w.CopyFrom(clones[k]) },
				"CopyFrom with unknown columns": func() (*World, error) { return stranger, stranger.CopyFrom(clones[k]) },
				"Clone":                         func() (*World, error) { return clones[k].Clone(), nil },
			} {
				w, err := back()
				if err != nil || w.Hash() != hashes[k] || w.LastTouch() != touches[k] {
					t.Fatalf("%s at tick %d: %v", name, k, err)
				}
				for range n - k {
					play(t, w)
				}
				same := with(false)
				same.Restore(last)
				if d, found := Diff(same, w); found || w.LastTouch() != same.LastTouch() || w.Version() != same.Version() {
					t.Fatalf("%s at tick %d: %v", name, k, d)
				}
				if w != stranger && !slices.Equal(w.Snapshot(nil), last) {
					t.Fatalf("%s at tick %d: another snapshot", name, k)
				}
			}
		}
	})
}
