package space_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/host"
	"github.com/evertick/evertick/internal/sims3"
	"github.com/evertick/evertick/internal/simtest"
	"github.com/evertick/evertick/replay"
)

// lifeScenario is the life of entities in space for logs.
func lifeScenario(workers int) replay.Scenario {
	return replay.Scenario{Name: "life", New: func(seed uint64) (*evertick.Sim, error) {
		l, err := sims3.NewLife(seed, evertick.Config{Workers: workers})
		if err != nil {
			return nil, err
		}
		return l.Sim, nil
	}}
}

// spawnInput is an input that spawns an entity high above the floor.
func spawnInput(tick uint64) evertick.Input {
	return evertick.Input{Tick: tick, Source: 7, Seq: tick, Kind: 1, Data: []byte{byte(tick)}}
}

// record records a run of some ticks, with an input every ten ticks in the first half, and returns the hash after each tick.
func record(t *testing.T, dir string, ticks int) (hashes []uint64) {
	t.Helper()
	sc := lifeScenario(1)
	sim, err := sc.New(3)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := replay.Record(dir, sc.Name, sim, replay.Options{SnapshotTicks: 30, ColumnTicks: 10})
	if err != nil {
		t.Fatal(err)
	}
	for tick := range ticks {
		if tick%10 == 5 && tick < ticks/2 {
			if err := sim.Push(spawnInput(uint64(tick))); err != nil {
				t.Fatal(err)
			}
		}
		simtest.Step(t, sim, 1)
		hashes = append(hashes, sim.Hash())
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	return hashes
}

// A log of a life in space is verified by another number of workers, looked at in the middle, and forked; a difference is found at its tick.
func TestLogOfALife(t *testing.T) {
	const ticks, middle = 120, 70
	run, branch := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "branch")
	hashes := record(t, run, ticks)
	for workers := 1; workers <= 2; workers++ {
		rep, err := replay.Verify(run, lifeScenario(workers), replay.VerifyOptions{})
		if err != nil || rep.Ticks != ticks || rep.Hash != hashes[ticks-1] {
			t.Errorf("%d workers: %+v, %v", workers, rep, err)
		}
	}
	for _, tick := range []uint64{0, 29, middle, ticks - 1} {
		then, err := replay.Seek(run, lifeScenario(2), tick, nil)
		if err != nil || then.Hash() != hashes[tick] {
			t.Fatalf("tick %d: hash %x, want %x: %v", tick, then.Hash(), hashes[tick], err)
		}
	}
	rec, fork, err := replay.Fork(run, lifeScenario(1), middle, branch, replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	simtest.Step(t, fork, 10)
	if fork.Hash() != hashes[middle+10] {
		t.Error("the fork goes another way without an input")
	}
	if err := fork.Push(spawnInput(fork.Ticks())); err != nil {
		t.Fatal(err)
	}
	simtest.Step(t, fork, ticks-middle-11)
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	d, err := replay.Diff(run, branch, lifeScenario(1), nil)
	if err != nil || d == nil || d.Tick != middle+11 {
		t.Errorf("difference %+v, %v", d, err)
	}
}

// A log that a crash has cut anywhere in its last ticks is recovered, and the run goes on as it would have.
func TestCrashOfALife(t *testing.T) {
	const ticks = 80
	whole := filepath.Join(t.TempDir(), "run")
	hashes := record(t, whole, ticks)
	segments, err := filepath.Glob(filepath.Join(whole, "segment-*"))
	if err != nil || len(segments) == 0 {
		t.Fatal(segments, err)
	}
	slices.Sort(segments)
	last := filepath.Base(segments[len(segments)-1])
	info, err := os.Stat(filepath.Join(whole, last))
	if err != nil {
		t.Fatal(err)
	}
	cuts := 12
	if testing.Short() {
		cuts = 4
	}
	for i := range cuts {
		dir := filepath.Join(t.TempDir(), "cut")
		if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
			t.Fatal(err)
		}
		cut := int64(1 + 37*i*i)
		if err := os.Truncate(filepath.Join(dir, last), info.Size()-cut); err != nil {
			t.Fatal(err)
		}
		if err := os.Remove(filepath.Join(dir, "DURABLE")); err != nil { // it promises what the crash has taken
			t.Fatal(err)
		}
		rec, sim, rep, err := replay.Resume(dir, lifeScenario(1+i%2), replay.Options{})
		if err != nil {
			t.Fatalf("cut by %d bytes: %v", cut, err)
		}
		if sim.Ticks() >= ticks || sim.Ticks() < ticks/2 || sim.Hash() != hashes[sim.Ticks()-1] {
			t.Errorf("cut by %d bytes: at tick %d with hash %x, report %+v", cut, sim.Ticks(), sim.Hash(), rep)
		}
		simtest.Step(t, sim, ticks-int(sim.Ticks()))
		if sim.Hash() != hashes[ticks-1] {
			t.Errorf("cut by %d bytes: goes on another way", cut)
		}
		if err := rec.Close(); err != nil {
			t.Fatal(err)
		}
		if rep, err := replay.Verify(dir, lifeScenario(1), replay.VerifyOptions{}); err != nil || rep.Ticks != ticks {
			t.Errorf("cut by %d bytes, resumed: %+v, %v", cut, rep, err)
		}
	}
	damaged := filepath.Join(whole, filepath.Base(segments[0]))
	data, err := os.ReadFile(damaged)
	if err != nil {
		t.Fatal(err)
	}
	data[len(data)/3] ^= 4
	if err := os.WriteFile(damaged, data, 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := replay.Verify(whole, lifeScenario(1), replay.VerifyOptions{}); err == nil || errors.Is(err, replay.ErrDiverged) {
		t.Errorf("a damaged log: %v", err)
	}
}

// Nothing of a space is kept outside of snapshots.
func TestSyncOfALife(t *testing.T) {
	ticks := uint64(150)
	if testing.Short() {
		ticks = 60
	}
	feed := func(tick uint64, dst []evertick.Input) ([]evertick.Input, error) {
		if tick%7 == 3 {
			dst = append(dst, spawnInput(tick))
		}
		return dst, nil
	}
	if err := replay.SyncTest(lifeScenario(2), 5, ticks, feed); err != nil {
		t.Error(err)
	}
}

// With inputs that come up to six ticks late, a rollback leads to the states of a run in which they came in time.
func TestRollbackOfALife(t *testing.T) {
	const ticks, late = 150, 6
	inTime, err := lifeScenario(1).New(8)
	if err != nil {
		t.Fatal(err)
	}
	sim, err := lifeScenario(2).New(8)
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.NewRollback(sim, replay.RollbackConfig{Frames: 8})
	if err != nil {
		t.Fatal(err)
	}
	var waiting []evertick.Input
	for tick := range uint64(ticks) {
		if tick%9 == 0 && tick < ticks-2*late {
			if err := inTime.Push(spawnInput(tick)); err != nil {
				t.Fatal(err)
			}
			waiting = append(waiting, spawnInput(tick))
		}
		simtest.Step(t, inTime, 1)
		var due []evertick.Input
		if len(waiting) > 0 && tick >= waiting[0].Tick+late {
			due, waiting = waiting[:1], waiting[1:]
		}
		if err := r.Advance(due...); err != nil {
			t.Fatal(err)
		}
	}
	if r.Rolled() < 60 {
		t.Errorf("only %d ticks ran again", r.Rolled())
	}
	equal(t, fmt.Sprintf("after %d ticks, %d of them again", ticks, r.Rolled()), inTime, sim)
}

// A world with a space runs in a host and moves to another one.
func TestHostOfALife(t *testing.T) {
	saved := host.Saved{Name: "life", Seed: 21}
	for range 2 {
		h, err := host.New(host.Config{Workers: 2, Clock: simtest.ManualClock()})
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Add(host.World{Name: saved.Name, Scenario: lifeScenario(1), Seed: saved.Seed, Snapshot: saved.Snapshot, EstimateNs: 100_000}); err != nil {
			t.Fatal(err)
		}
		time.Sleep(20 * time.Millisecond)
		if saved, err = h.Remove(context.Background(), saved.Name); err != nil {
			t.Fatal(err)
		}
		if err := h.Close(); err != nil {
			t.Fatal(err)
		}
	}
	alone, err := lifeScenario(2).New(21)
	if err != nil {
		t.Fatal(err)
	}
	moved, err := lifeScenario(1).New(0)
	if err != nil {
		t.Fatal(err)
	}
	simtest.Restore(t, moved, saved.Snapshot)
	if moved.Ticks() == 0 {
		t.Error("the host has run no tick")
	}
	t.Logf("%d ticks", moved.Ticks())
	simtest.Step(t, alone, int(moved.Ticks()))
	equal(t, fmt.Sprintf("after %d ticks in two hosts", moved.Ticks()), alone, moved)
}
