package replay

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/worldlog"
)

// FollowerOptions of a Follower. The zero value works.
type FollowerOptions struct {
	// Dir is where the Follower writes the ticks into a log of its own, so that another run can continue from them.
	// If it holds a log, the Follower begins after the last whole tick of that. "": none.
	Dir string
	// Log says how that log is written, and which snapshots are taken beside it. ColumnTicks has an effect only
	// after TakeOver: the records of a tick are written as they came.
	Log Options
}

// Follower runs a Sim from ticks of a log that arrive one by one from anywhere, such as a network. It compares the
// state hash after each. It is for one goroutine.
//
// Inputs that are pushed to its Sim have no effect.
type Follower struct {
	rerun
	sc    Scenario
	id    worldlog.Identity
	opt   FollowerOptions
	log   *worldlog.Log // nil: none
	limit int           // bytes of a snapshot
	err   error         // why it cannot go on
}

// NewFollower returns a Follower before the first tick of the run that id describes, or after the last tick of the log
// in FollowerOptions.Dir. Errors wrap ErrUnsupported for another scenario or SimVersion, and for a log in Dir that
// is of another run; others are those of worldlog.Create, worldlog.Recover and Seek.
func NewFollower(sc Scenario, id worldlog.Identity, opt FollowerOptions) (*Follower, error) {
	sim, err := newSim(sc, id)
	if err != nil {
		return nil, err
	}
	f := &Follower{sc: sc, id: id, opt: opt, limit: sc.maxSnapshot(sim)}
	if opt.Dir != "" {
		if sim, err = f.open(sim); err != nil {
			return nil, err
		}
	}
	f.use(sim)
	return f, nil
}

// open opens the local log, and returns a Sim in the state after its last tick: sim if it has none.
func (f *Follower) open(sim *evertick.Sim) (*evertick.Sim, error) {
	log, rep, err := worldlog.Recover(f.opt.Dir, f.opt.Log.Log)
	if errors.Is(err, fs.ErrNotExist) {
		f.log, err = worldlog.Create(f.opt.Dir, f.id, f.opt.Log.Log)
		return sim, err
	}
	if err != nil {
		return nil, err
	}
	if log.Identity() != f.id {
		err = fmt.Errorf("replay: the log in %s is of another run: %+v, not %+v: %w", f.opt.Dir, log.Identity(), f.id, fault.ErrUnsupported)
	} else if rep.Ticks > 0 {
		sim, err = Seek(f.opt.Dir, f.sc, rep.Tick, f.opt.Log.Log.FS)
	}
	if err != nil {
		return nil, errors.Join(err, log.Close())
	}
	f.log = log
	return sim, nil
}

// Sim returns the Sim, for inspection. Only the Follower may step it.
func (f *Follower) Sim() *evertick.Sim { return f.sim }

// Log returns the log of FollowerOptions.Dir; nil: there is none.
func (f *Follower) Log() *worldlog.Log { return f.log }

// MaxSnapshot returns the bytes of data up to which Restore takes a snapshot: see Scenario.MaxSnapshot.
func (f *Follower) MaxSnapshot() int { return f.limit }

// Restore begins at a snapshot instead of the first tick. The Follower must not have run a tick, nor have a log, which
// would lack the ticks before. Errors wrap ErrRange for these; ErrUnsupported for a snapshot of another scenario,
// SimVersion or seed; ErrCorrupt if the state has another hash or number of ticks than the snapshot says. After an error
// the Follower is before the first tick, unless it wraps what the scenario returns.
func (f *Follower) Restore(s *worldlog.Snapshot) error {
	switch {
	case f.err != nil:
		return f.err
	case f.sim.Ticks() != 0:
		return fault.Field(fault.ErrRange, "replay: Follower.Restore: ticks of the Sim", f.sim.Ticks())
	case f.log != nil:
		return fault.Field(fault.ErrRange, "replay: Follower.Restore: FollowerOptions.Dir", f.opt.Dir)
	case s.Identity.Seed != f.id.Seed:
		return fmt.Errorf("%w, that of the run is %d", fault.Field(fault.ErrUnsupported, "replay: seed of the snapshot", s.Identity.Seed), f.id.Seed)
	case len(s.Data) > f.limit:
		return fmt.Errorf("%w, the limit is %d", fault.Field(fault.ErrCapacity, "replay: bytes of the snapshot", len(s.Data)), f.limit)
	}
	if err := checkIdentity(f.sc, s.Identity); err != nil {
		return err
	}
	err := f.sim.Restore(s.Data)
	if err == nil && (f.sim.Ticks() != s.Tick+1 || f.sim.Hash() != s.Hash) {
		err = fmt.Errorf("replay: snapshot of tick %d with hash %016x restores %d ticks and hash %016x: %w", s.Tick, s.Hash, f.sim.Ticks(), f.sim.Hash(), fault.ErrCorrupt)
	}
	if err == nil {
		f.sim.DropInputs()
		return nil
	}
	sim, e := f.sc.build(f.id.Seed)
	if e != nil {
		f.err = e
		return errors.Join(err, e)
	}
	f.use(sim)
	return err
}

// Apply runs a tick, compares the state hash after it, and writes the tick into the log of the Follower. t is not kept.
// A tick that does not come next, because one is missing or comes again, is ErrCorrupt and changes nothing. Other errors
// end the Follower, and every later call returns them: a *DivergedError, ErrUnsupported for the rate, capacity or
// columns of another scenario, or one of the log.
func (f *Follower) Apply(t *worldlog.Tick) error {
	if f.err != nil {
		return f.err
	}
	if err := f.take(t); err != nil {
		return err
	}
	f.err = f.apply(t)
	return f.err
}

func (f *Follower) apply(t *worldlog.Tick) error {
	if t.Tick == 0 {
		if err := checkFirst(f.sim, t); err != nil {
			return err
		}
	}
	if err := f.run(); err != nil || f.log == nil {
		return err
	}
	if err := copyTick(f.log, t); err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	if !every(f.opt.Log.SnapshotTicks, t.Tick) {
		return nil
	}
	f.sim.DropInputs() // a snapshot holds what waits, and what was pushed to a Follower is not part of the run
	if err := snapshotInto(f.log, f.sim); err != nil && !errors.Is(err, worldlog.ErrBusy) {
		return fmt.Errorf("replay: %w", err)
	}
	return nil
}

// TakeOver ends following: the Recorder records the Sim, which takes inputs from Push from now on, into the log of
// the Follower, after the ticks that are there. The Follower must not be used any more. Without a log it is ErrRange;
// after an error that ended the Follower it is that.
func (f *Follower) TakeOver() (*Recorder, error) {
	if f.err != nil {
		return nil, f.err
	}
	if f.log == nil {
		return nil, fault.Field(fault.ErrRange, "replay: Follower.TakeOver: FollowerOptions.Dir", f.opt.Dir)
	}
	if f.sim.Ticks() == 0 {
		if err := appendFirst(f.log, f.sim); err != nil {
			return nil, err
		}
	}
	f.err = errTaken
	return attach(f.live(), f.log, f.opt.Log), nil
}

var errTaken = errors.New("replay: the Follower has ended: its Sim was taken over")

// Close closes the log, unless TakeOver has passed it on.
func (f *Follower) Close() error {
	if f.log == nil || f.err == errTaken {
		return nil
	}
	return f.log.Close()
}
