package scenes

import "testing"

// Another capstone that restores a snapshot continues as the one that saved it.
func TestCapstoneRestores(t *testing.T) {
	s, other := newTestScene(t, "capstone", 1), newTestScene(t, "capstone", 1)
	const every, last = 40, 200
	var snaps [][]byte
	var hashes []uint64
	for s.Ticks() < last {
		if s.Ticks()%every == 0 {
			b, err := s.Snapshot(nil)
			if err != nil {
				t.Fatal(err)
			}
			snaps = append(snaps, b)
		}
		hashes = append(hashes, s.Hash())
		advance(t, s, 1)
	}
	for i := len(snaps) - 1; i >= 0; i-- {
		if err := other.Restore(snaps[i]); err != nil {
			t.Fatal(err)
		}
		for k := i * every; k < last; k++ {
			if other.Hash() != hashes[k] {
				t.Fatalf("from the snapshot of tick %d: tick %d differs", i*every, k)
			}
			advance(t, other, 1)
		}
	}
}

func BenchmarkSimSnapshot(b *testing.B) {
	s := newTestScene(b, "capstone", 1)
	advance(b, s, 300)
	data, err := s.Snapshot(nil)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if data, err = s.Snapshot(data[:0]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSimRestore(b *testing.B) {
	s := newTestScene(b, "capstone", 1)
	advance(b, s, 300)
	data, err := s.Snapshot(nil)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if err := s.Restore(data); err != nil {
			b.Fatal(err)
		}
	}
}
