package replica

import (
	"fmt"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
)

// ErrDiverged is wrapped by the errors for a Sim whose hash differs from the server's. It is the ErrDiverged of
// package replay.
var ErrDiverged = fault.ErrDiverged

// SimulatorConfig of a Simulator. The zero value works.
type SimulatorConfig struct {
	// Scenario is compared with Config.Scenario of the server.
	Scenario string
	// Predicted is a second Sim, built as the first one. It runs ahead of the server with the client's
	// own inputs: see Simulator.Predict. nil: there is no prediction.
	Predicted *evertick.Sim
	// Ahead is the largest number of ticks by which Predicted runs ahead, 1 to 1024. 0: 60.
	Ahead int
	// Compared, if it is set, is called after each tick that Sim has run, and after each Snapshot, with the
	// number of completed ticks and both hashes, of Sim and of the server. Their difference is
	// also the error of Client.Receive. It must not step Sim.
	Compared func(ticks, own, server uint64)
}

// SimulatorStats are counts since NewSimulator.
type SimulatorStats struct {
	Ticks     uint64 // that were run, with the hash of the server
	Snapshots uint64 // that were restored
	Diverged  uint64 // ticks and Snapshots with another hash than the server's
	Rolled    uint64 // ticks that the prediction has run again
}

// Simulator is the part of a Client in mode Simulate: see ClientConfig.Simulator. It runs a Sim in step
// with the server's. It begins with a Snapshot, and then runs each tick with the inputs that the
// server has applied in it. After each tick it compares Sim.Hash with the server's. So the bandwidth
// does not depend on the number of entities, and the Simulator detects a difference of one bit in the
// same tick, whatever the cause: another build of the game, a memory error, or a change on the server that
// no input has made.
//
// Build the Sim as the server's: the same systems, columns and states, with the seed and the rate of
// the server. Only inputs may change the Sim of the server: after Sim.SetMode or a spawn between two ticks
// the hashes differ, and a new Snapshot follows. Inputs that wait in the Snapshot are dropped, since the
// messages of their ticks will hold them.
//
// Such a client has the whole state, also what its player must not see: use mode View for games with
// secrets.
//
// A Simulator is for the goroutine of its Client. After warm-up a tick allocates nothing beyond what
// Sim.Step does.
type Simulator struct {
	sim        *evertick.Sim
	scenario   string
	compared   func(ticks, own, server uint64)
	source     uint32 // of the session
	tick       applied
	running    bool // receive runs a tick
	ran        bool // the last message was of the tick that has run
	lost       bool // the state differs from the server's: it takes a Snapshot
	gap        bool // the message for the next tick did not come, and the server was asked
	prediction prediction
	hashes     []ecs.ColumnHash // scratch
	stats      SimulatorStats
}

// NewSimulator takes over the inputs of sim, and of SimulatorConfig.Predicted. The error wraps evertick.ErrRange.
// It panics if sim is nil, or if both are the same.
func NewSimulator(sim *evertick.Sim, c SimulatorConfig) (*Simulator, error) {
	if sim == nil || sim == c.Predicted {
		panic("replica: NewSimulator: nil Sim, or one that is also SimulatorConfig.Predicted")
	}
	if err := fault.Between("replica: SimulatorConfig.Ahead", c.Ahead, 0, mostAhead); err != nil {
		return nil, err
	}
	s := &Simulator{sim: sim, scenario: c.Scenario, compared: c.Compared, lost: true}
	s.prediction.init(sim, c.Predicted, c.Ahead)
	sim.SetInputs(s.feed)
	return s, nil
}

// Sim returns the Sim. It has the state of the server after the last tick that arrived. Only the
// Simulator may step it or write to it.
func (s *Simulator) Sim() *evertick.Sim { return s.sim }

// Predicted returns SimulatorConfig.Predicted. Only the Simulator may step it or write to it.
func (s *Simulator) Predicted() *evertick.Sim { return s.prediction.sim }

// Stats returns the counts.
func (s *Simulator) Stats() SimulatorStats {
	s.stats.Rolled = s.prediction.rolled
	return s.stats
}

// held returns the tick of the state that the Simulator holds, for a Hello or a Resync message: 0 if it
// needs a Snapshot.
func (s *Simulator) held() uint64 {
	if s.lost {
		return 0
	}
	return s.sim.Ticks()
}

// welcome compares the server with the Sim. The error wraps evertick.ErrUnsupported.
func (s *Simulator) welcome(w *welcome) error {
	switch {
	case w.simVersion != evertick.SimVersion:
		return fmt.Errorf("%w, this is %d", fault.Field(fault.ErrUnsupported, "replica: Welcome: SimVersion", w.simVersion), evertick.SimVersion)
	case w.scenario != s.scenario:
		return fmt.Errorf("%w, SimulatorConfig.Scenario is %q", fault.Field(fault.ErrUnsupported, "replica: Welcome: scenario", fmt.Sprintf("%q", w.scenario)), s.scenario)
	case w.seed != s.sim.Seed():
		return fmt.Errorf("%w, that of the Sim is %d", fault.Field(fault.ErrUnsupported, "replica: Welcome: seed", w.seed), s.sim.Seed())
	}
	if !w.resumed || w.session != s.source {
		s.prediction.pending, s.prediction.stale, s.source = nil, true, w.session
	}
	return nil
}

// receive takes a Snapshot or an Inputs message. An error wraps evertick.ErrCorrupt for a
// malformed message, evertick.ErrRange for one that leaves ticks out, ErrDiverged if the hash differs from the server's, or
// is the error of Sim.Restore or Sim.Step. Until waits is false again, messages of other ticks are ignored.
func (s *Simulator) receive(message []byte) error {
	s.ran = false
	if len(message) > 0 && message[0] == kindSnapshot {
		return s.restore(message)
	}
	if err := s.tick.parse(message); err != nil {
		return err
	}
	next := s.sim.Ticks()
	switch {
	case s.lost || s.tick.tick < next:
		return nil
	case s.tick.tick == next:
		s.gap = false
		return s.run()
	case s.gap:
		return nil
	}
	s.gap = true
	return fmt.Errorf("%w, %d is next", fault.Field(fault.ErrRange, "replica: Inputs: tick", s.tick.tick), next)
}

// run runs the tick of the message.
func (s *Simulator) run() error {
	s.running, s.lost = true, true // also after a panic
	err := step(s.sim)
	s.running = false
	if err != nil {
		return err
	}
	got := s.sim.Hash()
	s.compare(got, s.tick.hash)
	if got != s.tick.hash {
		return s.diverged("tick", s.tick.tick, got, s.tick.hash)
	}
	s.lost, s.ran = false, true
	s.stats.Ticks++
	if s.prediction.sim != nil {
		s.prediction.drop(s.isDone)
		s.prediction.confirm()
	}
	return nil
}

// waits reports whether the Simulator needs other messages than the next ticks': it has asked for
// them, or is to ask with held.
func (s *Simulator) waits() bool { return s.lost || s.gap }

// acted returns the highest number of an input of the client that the last tick has applied, 0: none. The
// Server itself pushes Config.Left, with a number that no client uses.
func (s *Simulator) acted() (seq uint64) {
	for i := range s.tick.inputs {
		if in := &s.tick.inputs[i]; in.Source == s.source && in.Seq < 1<<63 {
			seq = max(seq, in.Seq)
		}
	}
	return seq
}

// isDone reports whether an input of the client was applied in the tick of the message, or was lost: a
// later one was applied, and on an ordered transport it had arrived before.
func (s *Simulator) isDone(in *pendingInput) bool {
	for i := range s.tick.inputs {
		a := &s.tick.inputs[i]
		if a.Source == s.source && (a.Seq == in.Seq || a.Seq > in.Seq && in.at <= s.tick.tick) {
			return true
		}
	}
	return false
}

// feed returns the inputs of the message.
func (s *Simulator) feed(tick uint64, dst []evertick.Input) ([]evertick.Input, error) {
	if !s.running {
		return dst, fault.Field(fault.ErrRange, "replica: Sim not stepped by its Simulator: tick", tick)
	}
	return append(dst, s.tick.inputs...), nil
}

// restore takes a Snapshot. The hash is computed again from the state.
func (s *Simulator) restore(message []byte) error {
	tick, hash, state, err := parseSnapshot(message)
	if err != nil {
		return err
	}
	if err := s.sim.Restore(state); err != nil {
		return fmt.Errorf("replica: Snapshot: %w", err)
	}
	s.sim.DropInputs()
	s.lost, s.gap, s.prediction.stale = true, false, true
	s.hashes = s.sim.AppendColumnHashes(s.hashes[:0])
	got := ecs.Fold(s.hashes)
	s.compare(got, hash)
	if got != hash || s.sim.Ticks() != tick {
		return s.diverged("Snapshot of tick", tick, got, hash)
	}
	s.lost = false
	s.stats.Snapshots++
	s.prediction.drop(func(in *pendingInput) bool { return in.at < tick }) // whether it was applied is unknown
	return nil
}

func (s *Simulator) compare(own, server uint64) {
	if s.compared != nil {
		s.compared(s.sim.Ticks(), own, server)
	}
}

func (s *Simulator) diverged(what string, tick, got, want uint64) error {
	s.stats.Diverged++
	return fmt.Errorf("replica: %s %d: hash %016x, that of the server is %016x: %w", what, tick, got, want, ErrDiverged)
}

// input adds an input of the client to the prediction, if there is one.
func (s *Simulator) input(kind uint32, data []byte, tick, seq uint64) error {
	if s.prediction.sim == nil {
		return nil
	}
	return s.prediction.add(evertick.Input{Tick: tick, Source: s.source, Seq: seq, Kind: kind, Data: data})
}

// Predict runs Predicted from the state of Sim until it has completed tick ticks, but at most
// SimulatorConfig.Ahead ticks ahead of Sim. It applies the inputs of Client.Input that the server has not
// applied yet: each in its tick, in the first tick if its own has passed, and for tick 0 in the tick that
// Predicted runs next. It drops an input when a tick has applied this or a later one, or 240 ticks after
// its tick. Predict assumes that no other session acts. When a tick of the server has another hash than
// the predicted one, Predict begins anew from the state of Sim, so the prediction is right again at once.
// It does not go back. Before the first Snapshot it does nothing.
//
// Errors are those of Sim.CopyFrom and Sim.Step. It panics without SimulatorConfig.Predicted.
func (s *Simulator) Predict(tick uint64) error {
	if s.prediction.sim == nil {
		panic("replica: Simulator.Predict without SimulatorConfig.Predicted")
	}
	if s.lost {
		return nil
	}
	return s.prediction.runTo(tick)
}
