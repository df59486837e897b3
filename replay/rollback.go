package replay

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
)

// RollbackConfig bounds the window of a Rollback. The zero value works.
type RollbackConfig struct {
	// Frames is how many ticks back it can go, 1 to 4096. 0: 8.
	Frames int
	// Ahead is the number of ticks, from the next one on, for which it accepts inputs, 1 to 4096.
	// 0: 64.
	Ahead int
}

const (
	defaultFrames = 8
	defaultAhead  = 64
	maxWindow     = 4096
)

// Validate returns an error that wraps ErrRange for each field out of its range.
func (c RollbackConfig) Validate() error {
	var errs []error
	if c.Frames < 0 || c.Frames > maxWindow {
		errs = append(errs, fault.Field(fault.ErrRange, "replay: RollbackConfig.Frames", c.Frames))
	}
	if c.Ahead < 0 || c.Ahead > maxWindow {
		errs = append(errs, fault.Field(fault.ErrRange, "replay: RollbackConfig.Ahead", c.Ahead))
	}
	return errors.Join(errs...)
}

// Rollback lets a Sim run ahead of inputs that come late, as games over a network do. It saves the
// state before each tick. When an input comes for a tick that has run, it goes back to that tick
// and runs the ticks again with the input. The state is then the same as if the input had come in
// time.
//
// It feeds the Sim: pass inputs to Advance and Confirm, not to Push. The state outside the world
// must be in snapshots, see evertick.State; SyncTest checks that. Ticks that run again call systems
// and hooks again. So a Recorder cannot be attached to the same Sim, and code for effects that must
// happen once, such as a sound, has to check Rolled.
//
// After warm-up it allocates nothing. It is for the goroutine that steps the Sim.
type Rollback struct {
	sim        *evertick.Sim
	back       uint64 // ticks that it can go back
	ahead      uint64
	states     []saved // by tick modulo their number
	slots      []slot  // the same
	rerunTicks uint64  // ticks run again so far
	begin      uint64  // the first tick that it has seen
	latest     uint64  // the latest tick that was next: slots are of the ticks around it
	failed     error
}

// saved is the state that a tick began with.
type saved struct {
	tick  uint64
	valid bool
	data  []byte
}

// slot has the inputs of a tick.
type slot struct {
	inputs []evertick.Input // by (Source, Seq); Data are the slot's own
}

// NewRollback takes over the inputs of a Sim, at any tick. Errors wrap ErrRange.
func NewRollback(sim *evertick.Sim, c RollbackConfig) (*Rollback, error) {
	if err := c.Validate(); err != nil {
		return nil, err
	}
	r := &Rollback{
		sim: sim, begin: sim.Ticks(), latest: sim.Ticks(),
		back: uint64(cmp.Or(c.Frames, defaultFrames)), ahead: uint64(cmp.Or(c.Ahead, defaultAhead)),
	}
	r.states, r.slots = make([]saved, r.back+1), make([]slot, r.back+r.ahead)
	sim.SetInputs(r.feed)
	return r, nil
}

func (r *Rollback) at(tick uint64) *slot { return &r.slots[tick%uint64(len(r.slots))] }

// feed returns the inputs of a tick.
func (r *Rollback) feed(tick uint64, dst []evertick.Input) ([]evertick.Input, error) {
	return append(dst, r.at(tick).inputs...), nil
}

// Oldest returns the earliest tick that an input can still be for.
func (r *Rollback) Oldest() uint64 {
	return max(r.begin, r.latest-min(r.latest, r.back))
}

// Bytes returns how much memory the saved states have.
func (r *Rollback) Bytes() (n int) {
	for i := range r.states {
		n += cap(r.states[i].data)
	}
	return n
}

// Rolled returns how many ticks have been run again so far.
func (r *Rollback) Rolled() uint64 { return r.rerunTicks }

// Save keeps the state that the next tick begins with. Advance calls it; call it after
// writing to the Sim between two ticks. The error is that of Sim.Snapshot.
func (r *Rollback) Save() error {
	s := r.saved(r.sim.Ticks())
	data, err := r.sim.Snapshot(s.data[:0])
	s.tick, s.valid, s.data = r.sim.Ticks(), err == nil, data
	return err
}

// saved returns the place for the state of a tick.
func (r *Rollback) saved(tick uint64) *saved { return &r.states[tick%uint64(len(r.states))] }

// Load goes back to the state that a tick began with: the next Advance runs that tick, with
// its present inputs. A tick whose state is not kept is ErrRange, and changes nothing; other
// errors are those of Sim.Restore.
func (r *Rollback) Load(tick uint64) error {
	s := r.saved(tick)
	there := s.valid && s.tick == tick
	if tick == r.sim.Ticks() && !there {
		return nil // the Sim is in that state
	}
	if tick < r.Oldest() || tick > r.sim.Ticks() || !there {
		return fault.Field(fault.ErrRange, fmt.Sprintf("replay: Load: tick, of %d to %d", r.Oldest(), r.sim.Ticks()), tick)
	}
	return r.sim.Restore(s.data)
}

// Advance adds inputs, as Confirm does, and runs the next tick. Errors are those of Confirm
// and Sim.Step.
func (r *Rollback) Advance(inputs ...evertick.Input) error {
	if _, err := r.Confirm(inputs...); err != nil {
		return err
	}
	return r.step()
}

// step saves and runs a tick.
func (r *Rollback) step() error {
	if err := r.Save(); err != nil {
		return err
	}
	if r.sim.Ticks() == r.latest {
		// The last tick of the window reuses the slot of a tick that has left it.
		gone := r.at(r.latest + r.ahead)
		gone.inputs = gone.inputs[:0]
		r.latest++
	}
	return step(r.sim)
}

// Confirm takes inputs, each for its Tick. One for a tick that has run makes the Sim go
// back to the earliest such tick and run again to the present. An input of the same
// Tick, Source and Seq as an earlier one replaces it, if it differs: this corrects a
// prediction. Confirm returns how many ticks were run again.
//
// A tick before Oldest, or RollbackConfig.Ahead or more after the latest that was next, is
// ErrRange: no input is taken then. Other errors are those of Sim.Restore and Sim.Step; after
// them every call returns the same error.
func (r *Rollback) Confirm(inputs ...evertick.Input) (ran int, err error) {
	if r.failed != nil {
		return 0, r.failed
	}
	now := r.sim.Ticks()
	for i := range inputs {
		if t := inputs[i].Tick; t < r.Oldest() || t >= r.latest+r.ahead {
			return 0, fault.Field(fault.ErrRange, fmt.Sprintf("replay: Confirm: input %d of source %d: tick, of %d to %d", inputs[i].Seq, inputs[i].Source, r.Oldest(), r.latest+r.ahead-1), t)
		}
	}
	from := now
	for i := range inputs {
		if r.at(inputs[i].Tick).set(&inputs[i]) {
			from = min(from, inputs[i].Tick)
		}
	}
	if from == now {
		return 0, nil
	}
	r.failed = r.rerun(from, now)
	return int(now - from), r.failed
}

func (r *Rollback) rerun(from, to uint64) error {
	if err := r.Load(from); err != nil {
		return err
	}
	for r.sim.Ticks() < to {
		if r.sim.Ticks() > from { // the state of from is as it was
			if err := r.Save(); err != nil {
				return err
			}
		}
		if err := step(r.sim); err != nil {
			return err
		}
		r.rerunTicks++
	}
	if s := r.saved(to); s.tick == to { // of the run before
		s.valid = false
	}
	return nil
}

// set adds or replaces an input, and reports whether it changed anything.
func (s *slot) set(in *evertick.Input) bool {
	i := 0
	for i < len(s.inputs) && before(&s.inputs[i], in) {
		i++
	}
	if i < len(s.inputs) && !before(in, &s.inputs[i]) {
		old := &s.inputs[i]
		if old.Kind == in.Kind && old.At == in.At && old.Fraction == in.Fraction && bytes.Equal(old.Data, in.Data) {
			return false
		}
		data := append(old.Data[:0], in.Data...)
		*old = *in
		old.Data = data
		return true
	}
	n := len(s.inputs)
	if n < cap(s.inputs) {
		s.inputs = s.inputs[:n+1] // reuses the memory of an earlier input
	} else {
		s.inputs = append(s.inputs, evertick.Input{})
	}
	data := append(s.inputs[n].Data[:0], in.Data...)
	copy(s.inputs[i+1:], s.inputs[i:n])
	s.inputs[i] = *in
	s.inputs[i].Data = data
	return true
}

// before is the order of inputs in a tick.
func before(a, b *evertick.Input) bool {
	return a.Source < b.Source || a.Source == b.Source && a.Seq < b.Seq
}
