package replay

import (
	"errors"
	"fmt"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/worldlog"
)

// rerun is a Sim that runs ticks of a log again: the part that Player and Follower share.
type rerun struct {
	sim  *evertick.Sim
	tick *worldlog.Tick // that runs, or ran last
}

// use makes sim the one that runs. It ignores inputs of Push.
func (r *rerun) use(sim *evertick.Sim) {
	r.sim = sim
	sim.SetInputs(r.feed)
}

// live returns the Sim, which takes the inputs of Push from now on. None waits.
func (r *rerun) live() *evertick.Sim {
	r.sim.SetInputs(nil)
	r.sim.DropInputs()
	return r.sim
}

// feed returns the inputs of the tick that was read.
func (r *rerun) feed(tick uint64, dst []evertick.Input) ([]evertick.Input, error) {
	if r.tick == nil || r.tick.Tick != tick {
		return dst, fault.Field(fault.ErrRange, "replay: Sim not stepped by its Player or Follower: tick", tick)
	}
	for in, err := range inputsOf(r.tick) {
		if err != nil {
			return dst, err
		}
		dst = append(dst, in)
	}
	return dst, nil
}

// take makes t the next tick to run.
func (r *rerun) take(t *worldlog.Tick) error {
	if t.Tick != r.sim.Ticks() {
		return fmt.Errorf("%w, where %d comes next", fault.Field(fault.ErrCorrupt, "replay: tick in the log", t.Tick), r.sim.Ticks())
	}
	r.tick = t
	return nil
}

// run runs the tick that was taken, and compares the state hash.
func (r *rerun) run() error {
	if err := step(r.sim); err != nil {
		return err
	}
	if r.sim.Hash() == r.tick.Hash {
		return nil
	}
	e := &DivergedError{Tick: r.tick.Tick, Want: r.tick.Hash, Got: r.sim.Hash()}
	want, err := columnsOf(r.tick)
	if err != nil {
		return err
	}
	if want != nil {
		e.Columns = differing(want, r.sim.ColumnHashes())
	}
	return e
}

// step runs a tick. It ignores that a system asks to stop.
func step(sim *evertick.Sim) error {
	if err := sim.Step(); err != nil && !errors.Is(err, loop.ErrStop) {
		return fmt.Errorf("replay: %w", err)
	}
	return nil
}
