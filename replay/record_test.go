package replay_test

import (
	"errors"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/worldlog"
)

// A run that ends in an error is in the log with the tick that failed, and a replay, and
// what is left of it by Shrink, come to that error.
func TestCommitFailed(t *testing.T) {
	sc, fails := cursed(true)
	dir, small := t.TempDir(), t.TempDir()
	sim, err := sc.New(5)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := replay.Record(dir, sc.Name, sim, replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	drive(t, sim, 10)
	if err := rec.CommitFailed(); !errors.Is(err, evertick.ErrRange) {
		t.Errorf("nothing has failed: %v", err)
	}
	for i, which := range []byte{1, 2, 5} {
		if err := sim.Push(evertick.Input{Tick: 12, Source: 7, Seq: uint64(i), Kind: bad, Data: []byte{which}}); err != nil {
			t.Fatal(err)
		}
	}
	drive(t, sim, 2)
	failure := sim.Step()
	if failure == nil {
		t.Fatal("no failure")
	}
	if err := errors.Join(rec.CommitFailed(), rec.Close()); err != nil {
		t.Fatal(err)
	}
	rep, err := replay.Verify(dir, sc, replay.VerifyOptions{})
	if err == nil || err.Error() != "replay: "+failure.Error() || rep.Ticks != 12 {
		t.Errorf("%+v, %v; want %v behind 12 ticks", rep, err, failure)
	}
	shrunk, err := replay.Shrink(dir, sc, small, fails, replay.ShrinkOptions{})
	if err != nil || shrunk.Inputs != 2 || shrunk.Tick != 12 {
		t.Errorf("%+v, %v", shrunk, err)
	}
	if _, err := replay.Verify(small, sc, replay.VerifyOptions{}); err == nil || err.Error() != "replay: "+failure.Error() {
		t.Errorf("shrunk: %v", err)
	}
}

// Records whose checksums hold and whose content makes no sense are refused.
func TestForgedRecords(t *testing.T) {
	for _, c := range []struct {
		what   string
		record worldlog.Record
		kind   error
	}{
		{"empty input", worldlog.Record{Type: worldlog.Input}, evertick.ErrCorrupt},
		{"input later than the run", worldlog.Record{Type: worldlog.Input, Data: []byte{9}}, evertick.ErrCorrupt},
		{"input whose length runs on", worldlog.Record{Type: worldlog.Input, Data: []byte{0x80, 0x80}}, evertick.ErrCorrupt},
		{"short config", worldlog.Record{Type: worldlog.Config, Data: []byte{1, 2}}, evertick.ErrCorrupt},
		{"long config", worldlog.Record{Type: worldlog.Config, Data: make([]byte, 13)}, evertick.ErrCorrupt},
		{"name longer than the schema", worldlog.Record{Type: worldlog.Schema, Data: []byte{200, 'x'}}, evertick.ErrUnsupported},
		{"columns cut short", worldlog.Record{Type: worldlog.Columns, Data: []byte{1, 'x', 0, 0}}, evertick.ErrCorrupt},
		{"column with a huge name", worldlog.Record{Type: worldlog.Columns, Data: []byte{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1}}, evertick.ErrCorrupt},
	} {
		dir := t.TempDir()
		log, err := worldlog.Create(dir, worldlog.Identity{Scenario: "yard", SimVersion: evertick.SimVersion, Seed: 5}, worldlog.Options{})
		if err != nil {
			t.Fatal(err)
		}
		// The hash is wrong, so that columns are looked at.
		if err := errors.Join(log.Append(&c.record), log.Commit(0, 1, worldlog.Counts{}), log.Close()); err != nil {
			t.Fatal(err)
		}
		if _, err := replay.Verify(dir, scenario(nil), replay.VerifyOptions{}); !errors.Is(err, c.kind) || errors.Is(err, replay.ErrDiverged) {
			t.Errorf("%s: %v, want %v", c.what, err, c.kind)
		}
	}
}

// A log that leaves out a tick, or begins later, is no log of a run from its start.
func TestForgedTicks(t *testing.T) {
	dir := t.TempDir()
	log, err := worldlog.Create(dir, worldlog.Identity{Scenario: "yard", SimVersion: evertick.SimVersion, Seed: 5}, worldlog.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := errors.Join(log.Commit(1, 1, worldlog.Counts{}), log.Close()); err != nil {
		t.Fatal(err)
	}
	if _, err := replay.Verify(dir, scenario(nil), replay.VerifyOptions{}); !errors.Is(err, evertick.ErrCorrupt) {
		t.Error(err)
	}
	late := t.TempDir()
	if log, err = worldlog.Create(late, worldlog.Identity{Scenario: "yard", SimVersion: evertick.SimVersion, FirstTick: 7}, worldlog.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := replay.Verify(late, scenario(nil), replay.VerifyOptions{}); !errors.Is(err, evertick.ErrUnsupported) {
		t.Error(err)
	}
	other := t.TempDir()
	if log, err = worldlog.Create(other, worldlog.Identity{Scenario: "yard", SimVersion: evertick.SimVersion + 1}, worldlog.Options{}); err != nil {
		t.Fatal(err)
	}
	if err := log.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := replay.Verify(other, scenario(nil), replay.VerifyOptions{}); !errors.Is(err, evertick.ErrUnsupported) {
		t.Error(err)
	}
}

// Marks, and inputs that found no room, are in the log.
func TestMarkAndDropped(t *testing.T) {
	dir := t.TempDir()
	sim, err := scenario(nil).New(5)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := replay.Record(dir, "yard", sim, replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	if err := rec.Snapshot(); !errors.Is(err, evertick.ErrRange) {
		t.Errorf("snapshot of no tick: %v", err)
	}
	in := evertick.Input{Tick: 2, Source: 8, Seq: 1, Kind: push, Data: []byte{1, 1}}
	for range 4 {
		_ = sim.Push(in) // three of them are refused: it waits already
	}
	drive(t, sim, 1)
	if err := rec.Mark("here"); err != nil {
		t.Fatal(err)
	}
	drive(t, sim, 2)
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	drive(t, sim, 1) // which is not recorded any more
	ticks := opened(t, dir)
	if len(ticks) != 3 {
		t.Fatalf("%d ticks", len(ticks))
	}
	for i, want := range []uint64{3, 0, 0} {
		if ticks[i].Counts.Dropped != want || ticks[i].Counts.Live < yardBodies {
			t.Errorf("tick %d: %+v", i, ticks[i].Counts)
		}
	}
	if r := ticks[1].Records; len(r) == 0 || r[0].Type != worldlog.Marker || string(r[0].Data) != "here" {
		t.Errorf("%v", r)
	}
	if _, err := replay.Verify(dir, scenario(nil), replay.VerifyOptions{}); err != nil {
		t.Error(err)
	}
}
