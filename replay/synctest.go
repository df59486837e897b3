package replay

import (
	"fmt"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
)

// SyncError says in which tick a restored Sim diverged: some state that matters is not in
// the snapshot. It wraps ErrDiverged.
type SyncError struct {
	Tick uint64
	// Anew is set if a Sim that the scenario built anew diverged after the restore; otherwise
	// the same Sim did.
	Anew bool
	// System is the first system after which the two had different worlds or bodies. It is empty if
	// they differ only in the state that systems keep outside (see evertick.State).
	System string
	// Where is their first difference after the tick.
	Where evertick.Difference
}

// Error implements error.
func (e *SyncError) Error() string {
	sim := "stepped again from a save"
	if e.Anew {
		sim = "built anew and restored from a save"
	}
	text := fmt.Sprintf("replay: tick %d, %s: ", e.Tick, sim)
	if e.System != "" {
		text += fmt.Sprintf("system %q: ", e.System)
	}
	return text + e.Where.String() + ": " + ErrDiverged.Error()
}

// Unwrap returns ErrDiverged.
func (e *SyncError) Unwrap() error { return ErrDiverged }

// SyncTest finds state that a snapshot lacks. It runs each tick three times from the same
// snapshot: with the Sim, with that Sim restored, and with one that the scenario builds anew.
// All three must reach the same hash. The error is a *SyncError where they do not, or that of
// a step. feed, which may be nil, returns the inputs; it is called three times for each tick,
// and must return the same each time.
//
// State outside that has no effect within the given ticks is not found. SyncTest is slow: it
// is for tests.
func SyncTest(sc Scenario, seed, ticks uint64, feed evertick.Feed) error {
	sim, err := sc.build(seed)
	if err != nil {
		return err
	}
	if feed == nil {
		feed = func(_ uint64, dst []evertick.Input) ([]evertick.Input, error) { return dst, nil }
	}
	t := syncTest{sc: sc, seed: seed, feed: feed, sim: sim, trace: traceSystems(sim)}
	sim.SetInputs(feed)
	for range ticks {
		if err := t.tick(); err != nil {
			return err
		}
	}
	return nil
}

type syncTest struct {
	sc          Scenario
	seed        uint64
	feed        evertick.Feed
	sim         *evertick.Sim
	trace       *systemTrace
	save, after []byte
	want        []systemHash // of the first run of the tick
}

func (t *syncTest) tick() (err error) {
	if t.save, err = t.sim.Snapshot(t.save[:0]); err != nil {
		return err
	}
	if err := step(t.sim); err != nil {
		return err
	}
	hash := t.sim.Hash()
	if t.after, err = t.sim.Snapshot(t.after[:0]); err != nil {
		return err
	}
	t.want = append(t.want[:0], t.trace.systems...)
	if err := t.repeat(t.sim, t.trace, hash, false); err != nil {
		return err
	}
	witness, err := t.sc.build(t.seed)
	if err != nil {
		return err
	}
	witness.SetInputs(t.feed)
	return t.repeat(witness, traceSystems(witness), hash, true)
}

// repeat runs the tick once more, from the save.
func (t *syncTest) repeat(sim *evertick.Sim, way *systemTrace, hash uint64, anew bool) error {
	if err := sim.Restore(t.save); err != nil {
		return err
	}
	if err := step(sim); err != nil {
		return err
	}
	if sim.Hash() == hash {
		return nil
	}
	first, err := t.sc.build(t.seed)
	if err != nil {
		return err
	}
	if err := first.Restore(t.after); err != nil {
		return err
	}
	e := &SyncError{Tick: sim.Ticks() - 1, Anew: anew, System: firstDifference(t.want, way.systems)}
	e.Where, _ = evertick.Diff(first, sim)
	return e
}

// systemHash is the hash after a system ran.
type systemHash struct {
	system string
	hash   uint64
}

// systemTrace keeps the hashes after the systems of the last tick.
type systemTrace struct {
	systems []systemHash
	columns []ecs.ColumnHash
}

// traceSystems begins to trace the systems of a Sim.
func traceSystems(sim *evertick.Sim) *systemTrace {
	f := new(systemTrace)
	sim.AddHooks(evertick.Hooks{
		BeforeTick: func(*evertick.Tick) error {
			f.systems = f.systems[:0]
			return nil
		},
		AfterSystem: func(_ *evertick.Tick, system string) {
			f.columns = sim.World.AppendColumnHashes(f.columns[:0])
			f.columns = sim.Physics.AppendColumnHashes(f.columns)
			f.systems = append(f.systems, systemHash{system, ecs.Fold(f.columns)})
		},
	})
	return f
}

// firstDifference names the system at which two traces begin to differ.
func firstDifference(a, b []systemHash) string {
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return a[i].system
		}
	}
	return ""
}
