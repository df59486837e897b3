package space_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/simtest"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/replay/search"
)

// crowded reports whether so many entities are near the floor: bodies that have fallen on it.
func crowded(most int) replay.Failure {
	return func(sim *evertick.Sim, err error) bool {
		n := 0
		for _, slot := range sim.World.LiveSlots(nil) {
			if y := sim.World.Position.Y[slot]; y > 0 && y < 1 {
				n++
			}
		}
		return err != nil || n >= most
	}
}

// A search for seeds and a search for the inputs that matter find the same on any number of workers, each on a level of its own.
func TestSearchOfALife(t *testing.T) {
	ticks := 120
	if testing.Short() {
		ticks = 60
	}
	dir := filepath.Join(t.TempDir(), "run")
	record(t, dir, ticks)
	sim, err := replay.Seek(dir, lifeScenario(1), uint64(ticks-1), nil)
	if err != nil {
		t.Fatal(err)
	}
	most := 1 // as many as there are at the end, so that the log fails in its last tick at the latest
	for crowded(most+1)(sim, nil) {
		most++
	}
	seeds := uint64(12)
	if testing.Short() {
		seeds = 4
	}
	var wantSeeds []search.Found
	var want replay.ShrinkReport
	for i, level := range native.Levels() {
		sc := lifeOn(level, 1)
		pool := search.Local{Workers: 1 + i, Registry: &search.Registry{Scenarios: []replay.Scenario{sc}, Failures: map[string]replay.Failure{"crowded": crowded(most), "some": crowded(2)}}}
		var found []search.Found
		for f, err := range search.FindSeeds(context.Background(), pool, search.Seeds{Scenario: sc.Name, Failure: "some", From: 1, To: 1 + seeds, Ticks: 40}) {
			if err != nil {
				t.Fatal(err)
			}
			found = append(found, f)
		}
		to := filepath.Join(t.TempDir(), "shrunk")
		rep, err := search.Shrink(context.Background(), pool, dir, sc, to, "crowded", replay.ShrinkOptions{})
		if err != nil {
			t.Fatal(err)
		}
		if i == 0 {
			wantSeeds, want = found, rep
			if len(found) == 0 || len(found) == int(seeds) || rep.Inputs >= rep.Was || !rep.Minimal {
				t.Errorf("%d seeds found; %+v", len(found), rep)
			}
		}
		if len(found) != len(wantSeeds) || rep != want {
			t.Errorf("level %v: %d seeds, %+v; want %d, %+v", level, len(found), rep, len(wantSeeds), want)
		}
		for k := range min(len(found), len(wantSeeds)) {
			if found[k] != wantSeeds[k] {
				t.Errorf("level %v: found %+v, want %+v", level, found[k], wantSeeds[k])
			}
		}
		again, err := replay.Seek(to, lifeScenario(2), rep.Tick, nil)
		if err != nil || !crowded(most)(again, nil) {
			t.Errorf("level %v: the log that is left does not fail at tick %d: %v", level, rep.Tick, err)
		}
	}
}

// FuzzForkOfALife forks a log at any tick, on any level: without an input the branch has the hashes of the log, and with one Diff names the tick after
// which they differ.
func FuzzForkOfALife(f *testing.F) {
	const ticks = 60
	dir := filepath.Join(f.TempDir(), "run")
	hashes := record(f, dir, ticks)
	for i := range 5 {
		f.Add(uint8(i), uint8(13*i), uint8(3*i), i%2 == 0)
	}
	f.Fuzz(func(t *testing.T, level, at, wait uint8, push bool) {
		sc := lifeOn(native.Levels()[int(level)%len(native.Levels())], 1+int(level)%2)
		from := uint64(at) % (ticks - 1)
		branch := filepath.Join(t.TempDir(), "branch")
		rec, sim, err := replay.Fork(dir, sc, from, branch, replay.Options{})
		if err != nil {
			t.Fatal(err)
		}
		due := sim.Ticks() + uint64(wait)%uint64(ticks-int(sim.Ticks()))
		for sim.Ticks() < ticks {
			n := sim.Ticks()
			if in, ok := inputAt(n, ticks); ok {
				if err := sim.Push(in); err != nil {
					t.Fatal(err)
				}
			}
			if push && n == due {
				in := spawnInput(n)
				in.Source = 99
				if err := sim.Push(in); err != nil {
					t.Fatal(err)
				}
			}
			simtest.Step(t, sim, 1)
			if (n < due || !push) && sim.Hash() != hashes[n] {
				t.Fatalf("forked after tick %d, tick %d has another hash", from, n)
			}
		}
		if err := rec.Close(); err != nil {
			t.Fatal(err)
		}
		d, err := replay.Diff(dir, branch, sc, nil)
		if err != nil {
			t.Fatal(err)
		}
		if !push && d != nil || push && sim.Hash() != hashes[ticks-1] && (d == nil || d.Tick < due || d.Tick > due+1) {
			t.Errorf("forked after tick %d, input at tick %d (%t): difference %+v", from, due, push, d)
		}
	})
}
