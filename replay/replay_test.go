package replay_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/worldlog"
)

// A run verifies, and the report says what was in it.
func TestVerify(t *testing.T) {
	dir, hashes := recorded(t, scenario(nil), 300, replay.Options{SnapshotTicks: 64})
	ticks := 0
	rep, err := replay.Verify(dir, scenario(nil), replay.VerifyOptions{Progress: func(uint64) { ticks++ }})
	if err != nil {
		t.Fatal(err)
	}
	inputs := uint64(0)
	for tick := range uint64(300) {
		if _, ok := inputOf(tick); ok {
			inputs++
		}
	}
	if rep.Ticks != 300 || ticks != 300 || rep.Hash != hashes[299] || rep.Inputs != inputs || rep.Torn {
		t.Errorf("%+v, %d ticks; want 300, %d inputs, hash %x", rep, ticks, inputs, hashes[299])
	}
}

// Recording changes nothing of a run.
func TestRecordChangesNothing(t *testing.T) {
	_, hashes := recorded(t, scenario(nil), 100, replay.Options{SnapshotTicks: 10, ColumnTicks: 1})
	sim, err := scenario(nil).New(5)
	if err != nil {
		t.Fatal(err)
	}
	for i, want := range hashes {
		if drive(t, sim, 1); sim.Hash() != want {
			t.Fatalf("tick %d: hash %x without a log, %x with one", i, sim.Hash(), want)
		}
	}
}

// A fault in a tick is found in that tick, and named as well as the log allows.
func TestVerifyDiverged(t *testing.T) {
	const at = 41
	wrong := func(y *yard) {
		y.wrong = func(tick *evertick.Tick) error {
			if tick.N == at {
				y.sim.World.Position.Y[3] += 0.25
			}
			return nil
		}
	}
	for _, c := range []struct {
		name    string
		opt     replay.Options
		columns bool
		where   bool
	}{
		{"hash alone", replay.Options{}, false, false},
		{"columns", replay.Options{ColumnTicks: 1}, true, false},
		{"snapshot", replay.Options{SnapshotTicks: 6}, false, true},
	} {
		dir, hashes := recorded(t, scenario(nil), 60, c.opt)
		rep, err := replay.Verify(dir, scenario(wrong), replay.VerifyOptions{})
		var e *replay.DivergedError
		if !errors.As(err, &e) || !errors.Is(err, replay.ErrDiverged) {
			t.Fatalf("%s: %v", c.name, err)
		}
		if e.Tick != at || e.Want != hashes[at] || e.Got == e.Want || rep.Ticks != at {
			t.Errorf("%s: %v; %+v; want tick %d", c.name, e, rep, at)
		}
		if c.columns != slices.Contains(e.Columns, "position.y") {
			t.Errorf("%s: columns %v", c.name, e.Columns)
		}
		if c.where != (e.Where != nil) {
			t.Errorf("%s: where: %v", c.name, e.Where)
		}
		advice := strings.Contains(err.Error(), "to learn which column, record with Options.ColumnTicks = 1")
		if advice != (!c.columns && !c.where) {
			t.Errorf("%s: %v", c.name, err)
		}
		if w := e.Where; w != nil && (w.World.Slot != 3 || w.World.Name != "position.y" || w.ID == 0) {
			t.Errorf("%s: %v", c.name, w)
		}
	}
}

// Queries that answer otherwise are found at once if there is a probe.
func TestQueryProbe(t *testing.T) {
	const at = 17
	sc := func(wrong bool) replay.Scenario {
		return scenario(func(y *yard) {
			y.probed = true
			y.wrong = func(tick *evertick.Tick) error {
				if wrong && tick.N == at { // asked once more, which changes nothing else
					y.probe.Slots(y.seen.Slots)
				}
				return nil
			}
		})
	}
	dir, _ := recorded(t, sc(false), 30, replay.Options{ColumnTicks: 1})
	if _, err := replay.Verify(dir, sc(false), replay.VerifyOptions{}); err != nil {
		t.Fatal(err)
	}
	_, err := replay.Verify(dir, sc(true), replay.VerifyOptions{})
	var e *replay.DivergedError
	if !errors.As(err, &e) || e.Tick != at || !slices.Equal(e.Columns, []string{"state.queries"}) {
		t.Errorf("%v; want tick %d, column state.queries", err, at)
	}
}

// Seek gives the state after any tick, whatever snapshots there are.
func TestSeek(t *testing.T) {
	for _, period := range []uint64{0, 1, 7, 40, 1000} {
		dir, hashes := recorded(t, scenario(nil), 100, replay.Options{SnapshotTicks: period, Log: worldlog.Options{SegmentTicks: 9, KeepSnapshots: -1}})
		for _, tick := range []uint64{0, 1, 6, 7, 39, 40, 57, 98, 99} {
			sim, err := replay.Seek(dir, scenario(nil), tick, nil)
			if err != nil {
				t.Fatalf("every %d: %v", period, err)
			}
			if sim.Hash() != hashes[tick] || sim.Ticks() != tick+1 {
				t.Errorf("every %d: tick %d: hash %x behind %d ticks, want %x", period, tick, sim.Hash(), sim.Ticks(), hashes[tick])
			}
			// It takes live inputs, and goes on as the run did.
			drive(t, sim, int(99-tick))
			if sim.Hash() != hashes[99] {
				t.Errorf("every %d: from tick %d on to the end: hash %x, want %x", period, tick, sim.Hash(), hashes[99])
			}
		}
		if _, err := replay.Seek(dir, scenario(nil), 100, nil); !errors.Is(err, evertick.ErrRange) {
			t.Errorf("tick that is not there: %v", err)
		}
	}
}

// A snapshot that is damaged, or that says what is not so, is passed over for an older one.
func TestSeekDamagedSnapshot(t *testing.T) {
	dir, hashes := recorded(t, scenario(nil), 100, replay.Options{SnapshotTicks: 30})
	names, err := filepath.Glob(filepath.Join(dir, "*.evsnap"))
	if err != nil || len(names) != 3 {
		t.Fatal(names, err)
	}
	slices.Sort(names)
	for i := 2; i >= 0; i-- {
		data, err := os.ReadFile(names[i])
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)/2+i] ^= 0x10
		if err := os.WriteFile(names[i], data, 0o666); err != nil {
			t.Fatal(err)
		}
		sim, err := replay.Seek(dir, scenario(nil), 95, nil)
		if err != nil || sim.Hash() != hashes[95] {
			t.Fatalf("%d snapshots damaged: %v", 3-i, err)
		}
	}
}

// A snapshot of another run is not believed.
func TestSeekForeignSnapshot(t *testing.T) {
	dir, hashes := recorded(t, scenario(nil), 50, replay.Options{SnapshotTicks: 20})
	other, _ := recorded(t, scenario(func(y *yard) {
		y.wrong = func(tick *evertick.Tick) error { y.sim.World.Position.Y[1] += 1; return nil }
	}), 50, replay.Options{SnapshotTicks: 20})
	name := "snapshot-00000000000000000039.evsnap"
	data, err := os.ReadFile(filepath.Join(other, name))
	if err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(filepath.Join(dir, name), data, 0o666); err != nil {
		t.Fatal(err)
	}
	sim, err := replay.Seek(dir, scenario(nil), 45, nil)
	if err != nil || sim.Hash() != hashes[45] {
		t.Fatal(err)
	}
}

// A log is refused by what it is not of, and the error says both.
func TestRefused(t *testing.T) {
	dir, _ := recorded(t, scenario(nil), 10, replay.Options{})
	named := func(sc replay.Scenario, name string) replay.Scenario { sc.Name = name; return sc }
	for _, c := range []struct {
		what string
		sc   replay.Scenario
		says []string
	}{
		{"scenario", named(scenario(nil), "garden"), []string{`"yard"`, `"garden"`}},
		{"capacity", scenario(func(y *yard) { y.capacity = 128 }), []string{"64", "128"}},
		{"more columns", scenario(func(y *yard) { y.columns = []string{"heat"} }), []string{"heat"}},
	} {
		_, err := replay.Verify(dir, c.sc, replay.VerifyOptions{})
		if !errors.Is(err, evertick.ErrUnsupported) {
			t.Errorf("%s: %v", c.what, err)
			continue
		}
		for _, s := range c.says {
			if !strings.Contains(err.Error(), s) {
				t.Errorf("%s: %q does not say %s", c.what, err, s)
			}
		}
	}
	more, _ := recorded(t, scenario(func(y *yard) { y.columns = []string{"heat"} }), 10, replay.Options{})
	if _, err := replay.Verify(more, scenario(func(y *yard) { y.columns = []string{"cold"} }), replay.VerifyOptions{}); !errors.Is(err, evertick.ErrUnsupported) {
		t.Errorf("other columns: %v", err)
	}
	if _, err := replay.Verify(more, scenario(nil), replay.VerifyOptions{}); !errors.Is(err, evertick.ErrUnsupported) {
		t.Errorf("fewer columns: %v", err)
	}
}

// A Sim that has run cannot be recorded from tick 0.
func TestRecordLate(t *testing.T) {
	sim, err := scenario(nil).New(5)
	if err != nil {
		t.Fatal(err)
	}
	drive(t, sim, 1)
	if _, err := replay.Record(t.TempDir(), "yard", sim, replay.Options{}); !errors.Is(err, evertick.ErrRange) {
		t.Error(err)
	}
}

// A log that is altered does not verify, whatever byte it is: no change goes unseen.
func TestCorruptLog(t *testing.T) {
	dir, _ := recorded(t, scenario(nil), 20, replay.Options{})
	name := filepath.Join(dir, "segment-0000000000.evlog")
	whole, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	for at := 0; at < len(whole); at += 13 {
		data := slices.Clone(whole)
		data[at] ^= 1 << (at % 8)
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
		if rep, err := replay.Verify(dir, scenario(nil), replay.VerifyOptions{}); err == nil && !rep.Torn {
			t.Fatalf("byte %d of %d changed: verified", at, len(whole))
		}
	}
}

// Behind a torn end, a run goes on as if nothing had been.
func TestResume(t *testing.T) {
	for _, snapshots := range []uint64{0, 16} {
		dir, hashes := recorded(t, scenario(nil), 100, replay.Options{SnapshotTicks: snapshots})
		crash(t, dir, 5)
		rep, err := replay.Verify(dir, scenario(nil), replay.VerifyOptions{})
		if err != nil || !rep.Torn || rep.Ticks != 99 {
			t.Fatalf("torn: %+v, %v", rep, err)
		}
		rec, sim, found, err := replay.Resume(dir, scenario(nil), replay.Options{SnapshotTicks: snapshots})
		if err != nil {
			t.Fatal(err)
		}
		if found.Ticks != 99 || found.Cut == nil || sim.Ticks() != 99 || sim.Hash() != hashes[98] {
			t.Fatalf("%+v; Sim behind %d ticks", found, sim.Ticks())
		}
		drive(t, sim, 21)
		if err := rec.Close(); err != nil {
			t.Fatal(err)
		}
		rep, err = replay.Verify(dir, scenario(nil), replay.VerifyOptions{})
		if err != nil || rep.Torn || rep.Ticks != 120 {
			t.Errorf("resumed: %+v, %v", rep, err)
		}
		if _, long := recorded(t, scenario(nil), 120, replay.Options{}); rep.Hash != long[119] {
			t.Errorf("resumed: hash %x, a run without a break has %x", rep.Hash, long[119])
		}
	}
}

// A log that is damaged is not resumed and not changed; the ticks before the damage can be
// gone on from in a log of their own.
func TestForkOfADamagedLog(t *testing.T) {
	for _, d := range []worldlog.Durability{worldlog.None, worldlog.Interval, worldlog.EveryTick} {
		opt := replay.Options{Log: worldlog.Options{Durability: d}}
		dir, hashes := recorded(t, scenario(nil), 100, opt)
		name := filepath.Join(dir, "segment-0000000000.evlog")
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		data[len(data)/2] ^= 4
		if err := os.WriteFile(name, data, 0o666); err != nil {
			t.Fatal(err)
		}
		_, _, _, err = replay.Resume(dir, scenario(nil), opt)
		var e *worldlog.CorruptError
		if !errors.As(err, &e) || e.Torn || !errors.Is(err, worldlog.ErrCorrupt) || e.Tick < 30 || e.Tick > 70 {
			t.Fatalf("%v: %v", d, err)
		}
		if after, err := os.ReadFile(name); err != nil || !slices.Equal(after, data) {
			t.Fatalf("%v: a log that was refused has changed, %v", d, err)
		}
		rec, sim, err := replay.Fork(dir, scenario(nil), e.Tick, t.TempDir(), opt)
		if err != nil {
			t.Fatalf("%v: %v", d, err)
		}
		if sim.Hash() != hashes[e.Tick] {
			t.Errorf("%v: hash %x, want %x", d, sim.Hash(), hashes[e.Tick])
		}
		drive(t, sim, 3)
		if err := rec.Close(); err != nil {
			t.Error(err)
		}
	}
}

// A segment within a log is missing, or another one is in its place: each tick before it can be sought, verified and forked,
// with and without snapshots. A tick in it is an error, which leaves no new log.
func TestForkBesideGaps(t *testing.T) {
	const each, ticks = 10, 45
	for _, c := range []replay.Options{
		{Log: worldlog.Options{SegmentTicks: each, Durability: worldlog.None}},
		{Log: worldlog.Options{SegmentTicks: each, Durability: worldlog.None, Compress: true}, SnapshotTicks: 4},
	} {
		whole, hashes := recorded(t, scenario(nil), ticks, c)
		for gone := 1; gone < ticks/each; gone++ {
			dir := filepath.Join(t.TempDir(), "log")
			if err := os.CopyFS(dir, os.DirFS(whole)); err != nil {
				t.Fatal(err)
			}
			suffix := ".evlog"
			if c.Log.Compress {
				suffix += ".zst"
			}
			name := func(n int) string { return filepath.Join(dir, fmt.Sprintf("segment-%010d%s", n, suffix)) }
			err := os.Remove(name(gone))
			if gone == 2 {
				err = errors.Join(err, os.Link(name(1), name(gone)))
			}
			if err != nil {
				t.Fatal(err)
			}
			rep, err := replay.Verify(dir, scenario(nil), replay.VerifyOptions{})
			if !errors.Is(err, worldlog.ErrCorrupt) || rep.Ticks != uint64(each*gone) || rep.Hash != hashes[each*gone-1] {
				t.Errorf("without segment %d: Verify: %d ticks, %v", gone, rep.Ticks, err)
			}
			for _, tick := range []int{0, each*gone/2 + 1, each*gone - 1} {
				branch := filepath.Join(t.TempDir(), "branch")
				rec, sim, err := replay.Fork(dir, scenario(nil), uint64(tick), branch, c)
				if err != nil {
					t.Fatalf("without segment %d: Fork at tick %d: %v", gone, tick, err)
				}
				if sim.Hash() != hashes[tick] {
					t.Errorf("without segment %d: tick %d has another state", gone, tick)
				}
				drive(t, sim, 2)
				if err := rec.Close(); err != nil {
					t.Error(err)
				}
			}
			branch := filepath.Join(t.TempDir(), "branch")
			if _, _, err := replay.Fork(dir, scenario(nil), uint64(each*gone), branch, c); !errors.Is(err, worldlog.ErrCorrupt) {
				t.Errorf("without segment %d: Fork at its first tick: %v", gone, err)
			}
			if _, err := os.Stat(branch); !errors.Is(err, os.ErrNotExist) {
				t.Errorf("without segment %d: a new log is there: %v", gone, err)
			}
		}
	}
}

// A run of which no tick is whole begins at tick 0.
func TestResumeEmpty(t *testing.T) {
	dir, _ := recorded(t, scenario(nil), 0, replay.Options{})
	rec, sim, _, err := replay.Resume(dir, scenario(nil), replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	drive(t, sim, 5)
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	if rep, err := replay.Verify(dir, scenario(nil), replay.VerifyOptions{}); err != nil || rep.Ticks != 5 {
		t.Errorf("%+v, %v", rep, err)
	}
	if _, err := replay.Verify(dir, scenario(func(y *yard) { y.capacity = 128 }), replay.VerifyOptions{}); !errors.Is(err, evertick.ErrUnsupported) {
		t.Errorf("it has forgotten what it is of: %v", err)
	}
}

// A fork shares its past with its parent, says so, and goes its own way.
func TestFork(t *testing.T) {
	dir, hashes := recorded(t, scenario(nil), 80, replay.Options{SnapshotTicks: 25})
	branch := t.TempDir()
	rec, sim, err := replay.Fork(dir, scenario(nil), 49, branch, replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if sim.Hash() != hashes[49] {
		t.Fatal("not the state after tick 49")
	}
	if err := sim.Push(evertick.Input{Tick: 50, Source: 9, Kind: push, Data: []byte{1, 100}}); err != nil {
		t.Fatal(err)
	}
	drive(t, sim, 30)
	if sim.Hash() == hashes[79] {
		t.Error("another input changed nothing")
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	rep, err := replay.Verify(branch, scenario(nil), replay.VerifyOptions{})
	if err != nil || rep.Ticks != 80 || rep.Hash != sim.Hash() {
		t.Errorf("%+v, %v", rep, err)
	}
	r, err := worldlog.OpenReader(dir, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer r.Close()
	for range 50 {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if rep.Identity.Parent != r.Chain() || r.Chain() == [32]byte{} {
		t.Errorf("parent %x, want %x", rep.Identity.Parent, r.Chain())
	}
	old, young := opened(t, dir), opened(t, branch)
	for i := range 50 {
		if old[i].Hash != young[i].Hash {
			t.Errorf("tick %d: the past differs", i)
		}
	}
	if _, _, err := replay.Fork(dir, scenario(nil), 80, t.TempDir(), replay.Options{}); !errors.Is(err, evertick.ErrRange) {
		t.Errorf("tick that is not there: %v", err)
	}
}

// Recording a tick allocates nothing.
func TestRecordAllocs(t *testing.T) {
	sim, err := scenario(nil).New(5)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := replay.Record(t.TempDir(), "yard", sim, replay.Options{ColumnTicks: 1})
	if err != nil {
		t.Fatal(err)
	}
	data := []byte{2, 30}
	tick := func() {
		if err := sim.Push(evertick.Input{Tick: sim.Ticks(), Seq: sim.Ticks(), Kind: push, Data: data}); err != nil {
			t.Fatal(err)
		}
		if err := sim.Step(); err != nil {
			t.Fatal(err)
		}
	}
	for range 50 {
		tick()
	}
	if n := testing.AllocsPerRun(200, tick); n != 0 {
		t.Errorf("%v allocations a tick", n)
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
}
