package replay_test

import (
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/worldlog"
)

func feed(tick uint64, dst []evertick.Input) ([]evertick.Input, error) {
	if in, ok := inputOf(tick); ok {
		dst = append(dst, in)
	}
	return dst, nil
}

// A scenario of which snapshots know all passes.
func TestSyncTest(t *testing.T) {
	if err := replay.SyncTest(scenario(nil), 5, 120, feed); err != nil {
		t.Error(err)
	}
	if err := replay.SyncTest(scenario(func(y *yard) { y.probed = true }), 5, 20, nil); err != nil {
		t.Error(err)
	}
}

// A counter that no snapshot has is caught, with the system that counts and the body that
// it pushes.
func TestSyncTestForgotten(t *testing.T) {
	err := replay.SyncTest(scenario(func(y *yard) { y.forget = true }), 5, 50, feed)
	var e *replay.SyncError
	if !errors.As(err, &e) || !errors.Is(err, replay.ErrDiverged) {
		t.Fatal(err)
	}
	if e.System != "obey" || e.Where.ID == 0 {
		t.Errorf("%v; want system obey", e)
	}
	// The counter is a multiple of 7 in the second run of the tick, or in that of a Sim anew, first.
	if e.Tick > 7 {
		t.Errorf("%v; found late", e)
	}
}

// What only a Sim that was built anew does not know is caught too.
func TestSyncTestAnew(t *testing.T) {
	err := replay.SyncTest(scenario(func(y *yard) {
		var met bool
		y.wrong = func(tick *evertick.Tick) error {
			if tick.N == 20 {
				met = true
			}
			if tick.N == 30 && met {
				y.sim.World.Position.Z[1] = 1
			}
			return nil
		}
	}), 5, 40, feed)
	var e *replay.SyncError
	if !errors.As(err, &e) || e.Tick != 30 || !e.Anew || e.System != "wrong" || e.Where.World.Name != "position.z" || e.Where.World.Slot != 1 {
		t.Errorf("%v; want tick 30, built anew, system wrong, position.z of slot 1", err)
	}
}

// Two logs of the same run are equal.
func TestDiffEqual(t *testing.T) {
	a, _ := recorded(t, scenario(nil), 50, replay.Options{})
	b, _ := recorded(t, scenario(nil), 50, replay.Options{SnapshotTicks: 10, Log: worldlog.Options{SegmentTicks: 7}})
	if d, err := replay.Diff(a, b, scenario(nil), nil); d != nil || err != nil {
		t.Errorf("%v, %v", d, err)
	}
	c, _ := recorded(t, scenario(nil), 40, replay.Options{})
	d, err := replay.Diff(a, c, scenario(nil), nil)
	if err != nil || d == nil || d.Tick != 40 || !d.EndsB || d.EndsA {
		t.Errorf("%v, %v", d, err)
	}
}

// branched is a fork of the log in dir after tick 29, with another input in tick 30.
func branched(t *testing.T, dir string, ticks int) string {
	t.Helper()
	branch := t.TempDir()
	rec, sim, err := replay.Fork(dir, scenario(nil), 29, branch, replay.Options{ColumnTicks: 1})
	if err != nil {
		t.Fatal(err)
	}
	if err := sim.Push(evertick.Input{Tick: 30, Source: 9, Kind: push, Data: []byte{4, 100}}); err != nil {
		t.Fatal(err)
	}
	drive(t, sim, ticks)
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	return branch
}

// Where logs part, the tick, the column and the entity are named, with both values.
func TestDiff(t *testing.T) {
	a, _ := recorded(t, scenario(nil), 50, replay.Options{ColumnTicks: 1})
	b := branched(t, a, 20)
	d, err := replay.Diff(a, b, scenario(nil), nil)
	if err != nil || d == nil {
		t.Fatal(d, err)
	}
	if d.Tick != 30 || !d.Inputs || d.InputTick != 30 || !slices.Contains(d.Columns, "body.VelX") && !slices.Contains(d.Columns, "position.x") {
		t.Errorf("%v", d)
	}
	if d.Where == nil || d.Where.ID == 0 || !strings.Contains(d.String(), "0x") {
		t.Errorf("where: %v", d)
	}
}

// A log that was not made by this code yields what it contains, and that it does not replay.
func TestDiffNotReplayable(t *testing.T) {
	a, _ := recorded(t, scenario(nil), 30, replay.Options{})
	b, _ := recorded(t, scenario(func(y *yard) {
		y.wrong = func(tick *evertick.Tick) error {
			if tick.N == 12 {
				y.sim.World.Position.Z[1] = 1
			}
			return nil
		}
	}), 30, replay.Options{})
	d, err := replay.Diff(a, b, scenario(nil), nil)
	if !errors.Is(err, replay.ErrDiverged) || d == nil || d.Tick != 12 || d.Inputs || d.HashA == d.HashB {
		t.Errorf("%v, %v", d, err)
	}
}

// Columns are compared by name, also where only one side has some.
func TestDiffering(t *testing.T) {
	columns := func(names string, other string) (c []ecs.ColumnHash) {
		for _, name := range strings.Split(names, "") {
			h := uint64(1)
			if name == other {
				h = 2
			}
			c = append(c, ecs.ColumnHash{Name: name, Hash: h})
		}
		return c
	}
	for _, c := range []struct{ a, b, other, want string }{
		{"abc", "abc", "", ""},
		{"abc", "abc", "b", "b"},
		{"abc", "ac", "", "b"},
		{"ac", "abc", "", "b"},
		{"abc", "ab", "", "c"},
		{"ab", "abc", "", "c"},
		{"abd", "acd", "d", "bcd"},
	} {
		if got := strings.Join(replay.Differing(columns(c.a, ""), columns(c.b, c.other)), ""); got != c.want {
			t.Errorf("%s and %s, %q not the same: %q, want %q", c.a, c.b, c.other, got, c.want)
		}
	}
}

// Inputs that differ and change nothing are a difference all the same.
func TestDiffInputsOnly(t *testing.T) {
	run := func(in evertick.Input) string {
		dir := t.TempDir()
		sim, err := scenario(nil).New(5)
		if err != nil {
			t.Fatal(err)
		}
		rec, err := replay.Record(dir, "yard", sim, replay.Options{})
		if err != nil {
			t.Fatal(err)
		}
		if err := sim.Push(in); err != nil {
			t.Fatal(err)
		}
		drive(t, sim, 10)
		if err := rec.Close(); err != nil {
			t.Fatal(err)
		}
		return dir
	}
	a := run(evertick.Input{Tick: 6, Source: 9, Seq: 10, Kind: 20})
	b := run(evertick.Input{Tick: 6, Source: 9, Seq: 11, Kind: 19})
	d, err := replay.Diff(a, b, scenario(nil), nil)
	if err != nil || d == nil || d.Tick != 6 || !d.Inputs || d.InputTick != 6 || d.HashA != d.HashB || d.Where != nil {
		t.Errorf("%v, %v", d, err)
	}
}

// The state after a tick is the same with snapshots and without.
func TestSeekPlain(t *testing.T) {
	dir, hashes := recorded(t, scenario(nil), 30, replay.Options{SnapshotTicks: 10})
	sim, err := replay.SeekPlain(dir, scenario(nil), 25, nil)
	if err != nil || sim.Hash() != hashes[25] {
		t.Fatal(err)
	}
	near, err := replay.Seek(dir, scenario(nil), 25, nil)
	if err != nil {
		t.Fatal(err)
	}
	if d, found := evertick.Diff(sim, near); found {
		t.Error(d)
	}
}
