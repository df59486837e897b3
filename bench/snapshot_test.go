package main

import (
	"testing"

	"github.com/evertick/evertick"
)

// savedCapstone is the capstone with its actions in the snapshot.
func savedCapstone(tb testing.TB) *scene {
	tb.Helper()
	p, err := sceneParams("capstone")
	if err != nil {
		tb.Fatal(err)
	}
	s, err := newScene(p, evertick.Config{Seed: 1})
	if err == nil {
		err = s.sim.AddState("actions", queuedActions{s})
	}
	if err != nil {
		tb.Fatal(err)
	}
	return s
}

func steps(tb testing.TB, s *scene, n int) {
	tb.Helper()
	for range n {
		if err := s.sim.Step(); err != nil {
			tb.Fatal(err)
		}
	}
}

// The capstone goes on from a snapshot as from what was saved, in a scene of its own.
func TestCapstoneRestores(t *testing.T) {
	s, other := savedCapstone(t), savedCapstone(t)
	const every, last = 40, 200
	var snaps [][]byte
	var hashes []uint64
	for s.sim.Ticks() < last {
		if s.sim.Ticks()%every == 0 {
			b, err := s.sim.Snapshot(nil)
			if err != nil {
				t.Fatal(err)
			}
			snaps = append(snaps, b)
		}
		hashes = append(hashes, s.sim.Hash())
		steps(t, s, 1)
	}
	for i := len(snaps) - 1; i >= 0; i-- {
		if err := other.sim.Restore(snaps[i]); err != nil {
			t.Fatal(err)
		}
		for k := i * every; k < last; k++ {
			if other.sim.Hash() != hashes[k] {
				t.Fatalf("from the snapshot of tick %d: tick %d differs", i*every, k)
			}
			steps(t, other, 1)
		}
	}
}

func BenchmarkSimSnapshot(b *testing.B) {
	s := savedCapstone(b)
	steps(b, s, 300)
	data, err := s.sim.Snapshot(nil)
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if data, err = s.sim.Snapshot(data[:0]); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkSimRestore(b *testing.B) {
	s := savedCapstone(b)
	steps(b, s, 300)
	data, err := s.sim.Snapshot(nil)
	if err != nil {
		b.Fatal(err)
	}
	b.SetBytes(int64(len(data)))
	b.ReportAllocs()
	for b.Loop() {
		if err := s.sim.Restore(data); err != nil {
			b.Fatal(err)
		}
	}
}
