package evertick

import (
	"fmt"
	"math"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/native"
)

// CopyFrom replaces the state by that of src. It does what Restore does with a snapshot of src, and
// has the same errors, but does not encode the world, the bodies and the index, so it takes a
// fraction of the time. Afterwards the next steps of both give the same hashes. src is not changed.
// A copy from s itself does nothing.
//
// Call it between ticks of both, or in an AfterTick hook of src; within any other part of a step it
// panics. If src has failed, CopyFrom returns its error. It allocates nothing once s has held a
// state as large, with columns of all these names, as long as the states of AddState do not allocate.
func (s *Sim) CopyFrom(src *Sim) error {
	if s == src {
		return nil
	}
	switch {
	case src == nil:
		panic("evertick: CopyFrom from a nil Sim")
	case s.stepping, src.stepping && !src.inAfterTick:
		panic("evertick: CopyFrom within a step")
	case src.failed != nil && !src.inAfterTick:
		return src.failed
	case src.moveErr != nil:
		return src.moveErr
	}
	if err := native.CheckFloatEnv(); err != nil {
		return fmt.Errorf("evertick: CopyFrom: %w", err)
	}
	err := s.replace(s.prepareCopy(src))
	if err == nil {
		s.startAnew()
	}
	return err
}

// prepareCopy does the part of CopyFrom that can fail, as prepare does for Restore.
func (s *Sim) prepareCopy(src *Sim) error {
	const prefix = "evertick: CopyFrom: "
	if math.Float32bits(src.dt) != math.Float32bits(s.dt) {
		return fault.Field(ErrUnsupported, prefix+"Config.Loop: length of a tick in seconds", src.dt)
	}
	if len(src.states) != len(s.states) {
		return fmt.Errorf("%w, this Sim has %d", fault.Field(ErrUnsupported, prefix+"states", len(src.states)), len(s.states))
	}
	for i := range src.states {
		if name := src.states[i].name; name != s.states[i].name {
			return fmt.Errorf("%w, where this Sim has %q", fault.Field(ErrUnsupported, prefix+"state", fmt.Sprintf("%.40q", name)), s.states[i].name)
		}
	}
	src.releaseStaleBodies()
	src.hashIfDue()
	if err := s.World.PrepareCopy(src.World); err != nil {
		return err
	}
	if err := beyondWorld("CopyFrom", s.Physics.PrepareCopy(src.Physics)); err != nil {
		return err
	}
	r := &s.restoring
	r.src, r.ticks, r.seed, r.hash, r.mode = src, src.ticks, src.seed, src.hash, src.mode
	r.hashes = append(r.hashes[:0], src.hashes...)
	return s.prepareEncoded(src)
}

// prepareEncoded encodes and decodes the parts that are small, or known only as bytes: commands,
// inputs, the states of AddState, and the index if the worlds differ in capacity.
func (s *Sim) prepareEncoded(src *Sim) error {
	r := &s.restoring
	b := src.commands.Snapshot(s.copyBuffer[:0])
	commands := len(b)
	b = src.inputs.encode(b)
	inputs := len(b)
	if src.World.Cap() != s.World.Cap() {
		b = src.encodeIndex(b)
	}
	index := len(b)
	r.ends = r.ends[:0]
	for i := range src.states {
		b = src.states[i].state.AppendState(b)
		r.ends = append(r.ends, len(b))
	}
	s.copyBuffer = b
	r.states = r.states[:0]
	from := index
	for _, to := range r.ends {
		r.states = append(r.states, b[from:to:to])
		from = to
	}
	r.inputs = b[commands:inputs:inputs]
	if err := s.commands.Prepare(b[:commands:commands]); err != nil {
		return err
	}
	return s.prepareIndex(b[inputs:index:index])
}
