package replay_test

import (
	"errors"
	"fmt"
	"iter"
	"slices"
	"testing"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/worldlog"
)

// cursed goes wrong when bad inputs number 2 and 5 have both come, and with end in an error.
func cursed(end bool) (replay.Scenario, replay.Failure) {
	var met [8]bool
	return scenario(func(y *yard) {
			met = [8]bool{}
			y.wrong = func(t *evertick.Tick) error {
				for _, in := range t.Inputs() {
					if in.Kind == bad {
						met[in.Data[0]] = true
					}
				}
				if end && met[2] && met[5] {
					return fmt.Errorf("cursed")
				}
				return nil
			}
		}), func(_ *evertick.Sim, err error) bool {
			return end == (err != nil) && met[2] && met[5]
		}
}

// withBad records a run with many inputs, of which eight are bad, and ends before it fails
// if it is to end in an error.
func withBad(t *testing.T, sc replay.Scenario) string {
	t.Helper()
	dir := t.TempDir()
	sim, err := sc.New(5)
	if err != nil {
		t.Fatal(err)
	}
	rec, err := replay.Record(dir, sc.Name, sim, replay.Options{})
	if err != nil {
		t.Fatal(err)
	}
	for tick := range uint64(100) {
		if tick%10 == 0 && tick/10 < 8 {
			if err := sim.Push(evertick.Input{Tick: tick, Source: 7, Seq: tick, Kind: bad, Data: []byte{byte(tick / 10)}}); err != nil {
				t.Fatal(err)
			}
		}
		drive(t, sim, 1)
	}
	if err := rec.Close(); err != nil {
		t.Fatal(err)
	}
	return dir
}

// Of all inputs the two are left that the failure needs.
func TestShrink(t *testing.T) {
	whole, _ := cursed(false)
	dir := withBad(t, whole)
	for _, end := range []bool{false, true} {
		sc, fails := cursed(end)
		var logs [2][]worldlog.Tick
		for i := range logs {
			small := t.TempDir()
			rep, err := replay.Shrink(dir, sc, small, fails, replay.ShrinkOptions{})
			if err != nil {
				t.Fatal(err)
			}
			if rep.Inputs != 2 || rep.Tick != 50 || !rep.Minimal || rep.Was < 50 || rep.Runs > rep.Was {
				t.Errorf("end %v: %+v", end, rep)
			}
			logs[i] = opened(t, small)
			found, err := replay.Verify(small, sc, replay.VerifyOptions{})
			if end != (err != nil) || errors.Is(err, replay.ErrDiverged) || !end && (found.Ticks != 51 || found.Inputs != 2) {
				t.Errorf("end %v: verified: %+v, %v", end, found, err)
			}
		}
		if !slices.EqualFunc(logs[0], logs[1], func(a, b worldlog.Tick) bool { return a.Hash == b.Hash && len(a.Records) == len(b.Records) }) {
			t.Error("not the same twice")
		}
		var kept []byte
		for _, tick := range logs[0] {
			for _, r := range tick.Records {
				if r.Type == worldlog.Input {
					kept = append(kept, r.Data[len(r.Data)-1])
				}
			}
		}
		if len(logs[0]) != 51 || !slices.Equal(kept, []byte{2, 5}) {
			t.Errorf("end %v: inputs kept: %v", end, kept)
		}
	}
}

// A log that does not fail has nothing to shrink, one that fails anyway no inputs, and a
// search that is cut short says so.
func TestShrinkEnds(t *testing.T) {
	sc, fails := cursed(false)
	dir := withBad(t, sc)
	never := func(*evertick.Sim, error) bool { return false }
	if _, err := replay.Shrink(dir, sc, t.TempDir(), never, replay.ShrinkOptions{}); !errors.Is(err, replay.ErrNoFailure) {
		t.Error(err)
	}
	always := func(*evertick.Sim, error) bool { return true }
	if rep, err := replay.Shrink(dir, sc, t.TempDir(), always, replay.ShrinkOptions{}); err != nil || rep.Inputs != 0 || rep.Tick != 0 || !rep.Minimal {
		t.Errorf("%+v, %v", rep, err)
	}
	rep, err := replay.Shrink(dir, sc, t.TempDir(), fails, replay.ShrinkOptions{MaxRuns: 5})
	if err != nil || rep.Minimal || rep.Runs != 5 || rep.Inputs < 2 {
		t.Errorf("%+v, %v", rep, err)
	}
	// A torn end is no fault.
	crash(t, dir, 3)
	if rep, err := replay.Shrink(dir, sc, t.TempDir(), fails, replay.ShrinkOptions{}); err != nil || rep.Inputs != 2 || rep.Tick != 50 {
		t.Errorf("torn: %+v, %v", rep, err)
	}
}

// A Try with too few outcomes is refused.
func TestShrinkTry(t *testing.T) {
	sc, _ := cursed(false)
	dir := withBad(t, sc)
	none := func(replay.Run, iter.Seq[replay.Trial]) iter.Seq2[replay.Outcome, error] {
		return func(func(replay.Outcome, error) bool) {}
	}
	if _, err := replay.Shrink(dir, sc, t.TempDir(), nil, replay.ShrinkOptions{Try: none}); !errors.Is(err, worldlog.ErrRange) {
		t.Error(err)
	}
}
