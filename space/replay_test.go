package space_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/host"
	"github.com/evertick/evertick/internal/sims3"
	"github.com/evertick/evertick/internal/simtest"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/worldlog"
)

// lifeScenario is the life of entities in space for logs.
func lifeScenario(workers int) replay.Scenario { return lifeOn(native.Auto, workers) }

// lifeOn is lifeScenario on a level.
func lifeOn(level native.Level, workers int) replay.Scenario {
	return replay.Scenario{Name: "life", New: func(seed uint64) (*evertick.Sim, error) {
		l, err := sims3.NewLife(seed, evertick.Config{Level: level, Workers: workers})
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

// inputAt returns the input before a tick of a run of some ticks: there is one every ten ticks in the first half.
func inputAt(tick uint64, ticks int) (evertick.Input, bool) {
	return spawnInput(tick), tick%10 == 5 && tick < uint64(ticks/2)
}

// record records such a run, and returns the hash after each tick.
func record(t testing.TB, dir string, ticks int) (hashes []uint64) {
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
		if in, ok := inputAt(uint64(tick), ticks); ok {
			if err := sim.Push(in); err != nil {
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

// A log of a life in space is verified on each level, looked at in the middle, and forked; a difference is found at its tick.
func TestLogOfALife(t *testing.T) {
	const ticks, middle = 120, 70
	run, branch := filepath.Join(t.TempDir(), "run"), filepath.Join(t.TempDir(), "branch")
	hashes := record(t, run, ticks)
	for i, level := range native.Levels() {
		rep, err := replay.Verify(run, lifeOn(level, 1+i%2), replay.VerifyOptions{})
		if err != nil || rep.Ticks != ticks || rep.Hash != hashes[ticks-1] {
			t.Errorf("level %v: %+v, %v", level, rep, err)
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

// crashTicks is the length of the run that crashes.
const crashTicks = 80

// crashed is the log of a run: its files by name, and the hash after each tick.
type crashed struct {
	files  map[string][]byte
	last   string // the last segment
	hashes []uint64
}

func newCrashed(t testing.TB) *crashed {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "run")
	c := &crashed{files: map[string][]byte{}, hashes: record(t, dir, crashTicks)}
	list, err := os.ReadDir(dir)
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range list {
		if c.files[f.Name()], err = os.ReadFile(filepath.Join(dir, f.Name())); err != nil {
			t.Fatal(err)
		}
		if strings.HasPrefix(f.Name(), "segment-") {
			c.last = max(c.last, f.Name())
		}
	}
	if c.last == "" {
		t.Fatalf("no segment in %v", list)
	}
	return c
}

// write writes the log with another last segment into a folder. It promises nothing of what is durable, since the crash has taken that.
func (c *crashed) write(t testing.TB, dir string, segment []byte) {
	t.Helper()
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, data := range c.files {
		if name == "DURABLE" {
			continue
		}
		if name == c.last {
			data = segment
		}
		if err := os.WriteFile(filepath.Join(dir, name), data, 0o600); err != nil {
			t.Fatal(err)
		}
	}
}

// goOn resumes a log that a crash has damaged on some level, and runs to the end that the run has had. It reports whether there was a log.
// Where bytes were changed, those before the last snapshot are first read by Verify, which then says so.
func (c *crashed) goOn(t testing.TB, dir string, level native.Level, changed bool) bool {
	t.Helper()
	rec, sim, rep, err := replay.Resume(dir, lifeOn(level, 1+int(level)%2), replay.Options{})
	if errors.Is(err, worldlog.ErrCorrupt) || errors.Is(err, worldlog.ErrUnsupported) {
		return false
	}
	if err != nil {
		t.Fatal(err)
	}
	if sim.Ticks() > crashTicks || sim.Ticks() > 0 && sim.Hash() != c.hashes[sim.Ticks()-1] {
		t.Errorf("at tick %d with hash %x, report %+v", sim.Ticks(), sim.Hash(), rep)
	}
	for sim.Ticks() < crashTicks {
		at := sim.Ticks()
		if in, ok := inputAt(at, crashTicks); ok {
			if err := sim.Push(in); err != nil && !errors.Is(err, loop.ErrDuplicate) { // it may wait already
				t.Fatal(err)
			}
		}
		simtest.Step(t, sim, 1)
	}
	if sim.Hash() != c.hashes[crashTicks-1] {
		t.Errorf("goes on another way, report %+v", rep)
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	verified, err := replay.Verify(dir, lifeScenario(1), replay.VerifyOptions{})
	if changed && errors.Is(err, worldlog.ErrCorrupt) {
		return true
	}
	if err != nil || verified.Ticks != crashTicks {
		t.Errorf("resumed: %+v, %v", verified, err)
	}
	return true
}

// A log that a crash has cut anywhere in its last ticks is recovered on each level, and the run goes on as it would have.
func TestCrashOfALife(t *testing.T) {
	c := newCrashed(t)
	cuts, levels := 12, native.Levels()
	if testing.Short() {
		cuts = 4
	}
	for i := range max(cuts, len(levels)) {
		dir, cut := filepath.Join(t.TempDir(), "cut"), 1+37*i*i
		c.write(t, dir, c.files[c.last][:len(c.files[c.last])-cut])
		if !c.goOn(t, dir, levels[i%len(levels)], false) {
			t.Errorf("cut by %d bytes: no log", cut)
		}
	}
	damaged := filepath.Join(t.TempDir(), "damaged")
	data := slices.Clone(c.files[c.last])
	data[len(data)/3] ^= 4
	c.write(t, damaged, data)
	if _, err := replay.Verify(damaged, lifeScenario(1), replay.VerifyOptions{}); err == nil || errors.Is(err, replay.ErrDiverged) {
		t.Errorf("a damaged log: %v", err)
	}
}

// FuzzCrashOfALife replaces bytes in the last segment, and cuts it: what is recovered is a part of the run that goes on as the run did, or
// the log is refused.
func FuzzCrashOfALife(f *testing.F) {
	c := newCrashed(f)
	size := len(c.files[c.last])
	for i := range 4 {
		f.Add(uint8(i), uint32(size-1-37*i*i), uint32(1<<20), []byte{})
		f.Add(uint8(i), uint32(size), uint32(size/(i+1)), []byte{0, 0xff, 0x80})
	}
	f.Fuzz(func(t *testing.T, level uint8, keep, at uint32, patch []byte) {
		data := slices.Clone(c.files[c.last])
		data = data[:min(len(data), int(keep))]
		copy(data[min(len(data), int(at)):], patch)
		dir := filepath.Join(t.TempDir(), "log")
		c.write(t, dir, data)
		c.goOn(t, dir, native.Levels()[int(level)%len(native.Levels())], !bytes.HasPrefix(c.files[c.last], data))
	})
}

// FuzzLife cuts a run into pieces: between some of its ticks the state goes through a snapshot, a copy, or back and forth, to Sims of other levels and
// numbers of workers. The run ends in the state of one that went straight on.
func FuzzLife(f *testing.F) {
	f.Add(uint64(3), []byte{7, 0x10, 9, 0x20, 5, 0x35, 0x40, 12, 0x11, 0x22, 6})
	f.Add(uint64(1), []byte{0x44, 0x02, 0x42, 0x13, 0x05}) // the same input twice
	f.Add(uint64(8), []byte{0x0f, 0x0f, 0x10, 0x3f, 0x0f, 0x20, 0x43, 0x0f, 0x30, 0x0f})
	f.Fuzz(func(t *testing.T, seed uint64, script []byte) {
		script = script[:min(len(script), 40)]
		levels := native.Levels()
		config := func(n int) evertick.Config {
			return evertick.Config{Level: levels[n%len(levels)], Workers: 1 + n%2, History: evertick.HistoryConfig{Keep: 16, Every: 8}}
		}
		straight, run := newLifeFor(t, seed, evertick.Config{Level: native.Go}), newLifeFor(t, seed, config(0))
		for i, op := range script {
			n := int(op & 15)
			switch op >> 4 & 7 {
			default:
				simtest.Step(t, run.Sim, n)
				simtest.Step(t, straight.Sim, n)
			case 1:
				next := newLifeFor(t, seed+1, config(n))
				simtest.Step(t, next.Sim, n)
				simtest.Restore(t, next.Sim, simtest.Snapshot(t, run.Sim))
				run = next
			case 2:
				next := newLifeFor(t, seed+2, config(n))
				if err := next.Sim.CopyFrom(run.Sim); err != nil {
					t.Fatal(err)
				}
				run = next
			case 3: // as far as the history reaches
				at := run.Sim.Ticks()
				if err := run.Sim.StepBack(uint64(n)); err == nil {
					simtest.Step(t, run.Sim, int(at-run.Sim.Ticks()))
				} else if run.Sim.Ticks() != at {
					t.Fatalf("at tick %d after %v", run.Sim.Ticks(), err)
				}
			case 4:
				in := spawnInput(run.Sim.Ticks() + uint64(n))
				err, want := run.Sim.Push(in), straight.Sim.Push(in)
				if fmt.Sprint(err) != fmt.Sprint(want) || err != nil && !errors.Is(err, loop.ErrDuplicate) {
					t.Fatalf("operation %d of %x: %v, want %v", i, script, err, want)
				}
			case 5:
				if err := run.Sim.SetWorkers(1 + n); err != nil {
					t.Fatal(err)
				}
			}
			check(t, run)
			if run.Sim.Ticks() != straight.Sim.Ticks() || run.Sim.Hash() != straight.Sim.Hash() {
				d, _ := evertick.Diff(straight.Sim, run.Sim)
				t.Fatalf("operation %d of %x: %v", i, script, d)
			}
		}
	})
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

// rollBack runs a life with inputs of which each comes so many ticks late, of at most 7, and one in which they come in time, on another level.
// late says by tick how late its input comes, and has 8 or more for a tick without one. It returns how many ticks ran again.
func rollBack(t testing.TB, level native.Level, late []byte) uint64 {
	t.Helper()
	inTime, err := lifeOn(native.Go, 1).New(8)
	if err != nil {
		t.Fatal(err)
	}
	sim, err := lifeOn(level, 2).New(8)
	if err != nil {
		t.Fatal(err)
	}
	r, err := replay.NewRollback(sim, replay.RollbackConfig{Frames: 8})
	if err != nil {
		t.Fatal(err)
	}
	const most = 7
	for tick := range len(late) + most {
		if tick < len(late) && late[tick] <= most {
			if err := inTime.Push(spawnInput(uint64(tick))); err != nil {
				t.Fatal(err)
			}
		}
		simtest.Step(t, inTime, 1)
		var due []evertick.Input
		for from := max(0, tick-most); from <= min(tick, len(late)-1); from++ {
			if late[from] <= most && from+int(late[from]) == tick {
				due = append(due, spawnInput(uint64(from)))
			}
		}
		if err := r.Advance(due...); err != nil {
			t.Fatal(err)
		}
	}
	equal(t, fmt.Sprintf("level %v: after %d ticks, %d of them again", level, sim.Ticks(), r.Rolled()), inTime, sim)
	return r.Rolled()
}

// With inputs that come up to seven ticks late, a rollback leads to the states of a run in which they came in time, on each level.
func TestRollbackOfALife(t *testing.T) {
	late := make([]byte, 150)
	if testing.Short() {
		late = late[:80]
	}
	for tick := range late {
		if late[tick] = 8; tick%9 == 0 {
			late[tick] = byte(tick / 9 % 8)
		}
	}
	for _, level := range native.Levels() {
		if n := rollBack(t, level, late); n < 15 {
			t.Errorf("level %v: only %d ticks ran again", level, n)
		}
	}
}

// FuzzRollbackOfALife is TestRollbackOfALife for any lateness.
func FuzzRollbackOfALife(f *testing.F) {
	f.Add(uint8(0), []byte{0, 8, 3, 7, 7, 9, 0, 1, 5})
	f.Add(uint8(1), []byte("7654321001234567"))
	f.Fuzz(func(t *testing.T, level uint8, late []byte) {
		rollBack(t, native.Levels()[int(level)%len(native.Levels())], late[:min(len(late), 60)])
	})
}

// A world with a space runs in a host and moves to others, on each level.
func TestHostOfALife(t *testing.T) {
	saved := host.Saved{Name: "life", Seed: 21}
	for i := range max(2, len(native.Levels())) {
		level := native.Levels()[i%len(native.Levels())]
		h, err := host.New(host.Config{Workers: 2, Clock: simtest.ManualClock()})
		if err != nil {
			t.Fatal(err)
		}
		if err := h.Add(host.World{Name: saved.Name, Scenario: lifeOn(level, 1+i%2), Seed: saved.Seed, Snapshot: saved.Snapshot, EstimateNs: 100_000}); err != nil {
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
	equal(t, fmt.Sprintf("after %d ticks in several hosts", moved.Ticks()), alone, moved)
}
