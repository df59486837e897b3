package replay

import (
	"errors"
	"fmt"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/worldlog"
)

// Fork begins a log in newDir that has the ticks of the log in dir up to and including the given
// tick. It returns a Sim in the state after that tick, which it records there from then on. The new
// log is complete; its Identity.Parent is the chain hash of the old one after that tick, which
// proves what it branched from. Errors are those of Seek and Record, and ErrUnsupported if ticks of the old log were archived or
// dropped.
func Fork(dir string, sc Scenario, tick uint64, newDir string, opt Options) (*Recorder, *evertick.Sim, error) {
	chain, err := chainAt(dir, tick, opt.Log.FS)
	if err != nil {
		return nil, nil, err
	}
	sim, err := Seek(dir, sc, tick, opt.Log.FS)
	if err != nil {
		return nil, nil, err
	}
	log, err := copyUntil(dir, tick, newDir, chain, opt.Log)
	if err != nil {
		return nil, nil, err
	}
	return attach(sim, log, opt), sim, nil
}

// chainAt returns the chain hash after a tick.
func chainAt(dir string, tick uint64, fsys worldlog.FS) (chain [32]byte, err error) {
	r, err := worldlog.OpenReader(dir, fsys)
	if err != nil {
		return chain, err
	}
	defer r.Close()
	next := r.Identity().FirstTick
	for t, err := range r.Ticks(0) {
		if err != nil {
			return chain, err
		}
		if t.Tick > next {
			return chain, fmt.Errorf("replay: Fork: the log begins with tick %d, and the new one would lack those before: %w", t.Tick, fault.ErrUnsupported)
		}
		next = t.Tick + 1
		if t.Tick == tick {
			return r.Chain(), nil
		}
	}
	return chain, fault.Field(fault.ErrRange, "replay: tick that the log does not have", tick)
}

// copyUntil writes a log with the ticks up to and including the given one.
func copyUntil(dir string, tick uint64, newDir string, parent [32]byte, opt worldlog.Options) (*worldlog.Log, error) {
	r, err := worldlog.OpenReader(dir, opt.FS)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	id := r.Identity()
	id.Parent = parent
	log, err := worldlog.Create(newDir, id, opt)
	if err != nil {
		return nil, err
	}
	for t, err := range r.Ticks(0) {
		if err == nil && t.Tick <= tick {
			err = copyTick(log, t)
		}
		if err != nil {
			return nil, errors.Join(fmt.Errorf("replay: Fork: %w", err), log.Close())
		}
		if t.Tick >= tick {
			break
		}
	}
	return log, nil
}

func copyTick(log *worldlog.Log, t *worldlog.Tick) error {
	for i := range t.Records {
		// The snapshots are not copied.
		if t.Records[i].Type == worldlog.SnapshotRef {
			continue
		}
		if err := log.Append(&t.Records[i]); err != nil {
			return err
		}
	}
	return log.Commit(t.Tick, t.Hash, t.Counts)
}
