package replay

import (
	"errors"
	"fmt"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/worldlog"
)

// Options of a recording. The zero value works.
type Options struct {
	// Log says how the log is written.
	Log worldlog.Options
	// SnapshotTicks takes a snapshot after every so many ticks. 0: none but those of
	// Recorder.Snapshot.
	SnapshotTicks uint64
	// ColumnTicks records the hash of every column after every so many ticks, so that a
	// replay that diverges can name the column. 0: never.
	ColumnTicks uint64
}

// Recorder writes a running Sim into a log. Its methods are for the goroutine that steps the Sim. If the Sim
// steps back and runs ticks again, see evertick.Sim.StepBack, the log has each tick once. If it then runs
// them with other inputs, its next step returns an error: fork the log for that.
type Recorder struct {
	sim    *evertick.Sim
	log    *worldlog.Log
	opt    Options
	buf    []byte
	record worldlog.Record
	seen   uint64 // inputs refused until the last tick
	closed bool
	open   bool // a tick has begun and has not ended
}

// Record begins a log in dir, which must hold no log, of a Sim at tick 0 that the scenario of this name has
// built. From then on every tick is in the log once Step has returned. Step returns an error of the log, see
// evertick.Hooks.AfterTick. Errors of Record wrap ErrRange if the Sim has run, or are those of
// worldlog.Create.
func Record(dir, scenario string, sim *evertick.Sim, opt Options) (*Recorder, error) {
	return record(dir, worldlog.Identity{Scenario: scenario, SimVersion: evertick.SimVersion, Seed: sim.Seed()}, sim, opt)
}

func record(dir string, id worldlog.Identity, sim *evertick.Sim, opt Options) (*Recorder, error) {
	if sim.Ticks() != 0 {
		return nil, fault.Field(fault.ErrRange, "replay: Record: ticks of the Sim", sim.Ticks())
	}
	log, err := worldlog.Create(dir, id, opt.Log)
	if err != nil {
		return nil, err
	}
	if err := appendFirst(log, sim); err != nil {
		return nil, errors.Join(err, log.Close())
	}
	return attach(sim, log, opt), nil
}

// appendFirst appends the records that begin a log.
func appendFirst(log *worldlog.Log, sim *evertick.Sim) error {
	return errors.Join(
		log.Append(&worldlog.Record{Type: worldlog.Config, Data: appendConfig(nil, sim)}),
		log.Append(&worldlog.Record{Type: worldlog.Schema, Data: appendSchema(nil, sim)}))
}

func attach(sim *evertick.Sim, log *worldlog.Log, opt Options) *Recorder {
	r := &Recorder{sim: sim, log: log, opt: opt, seen: refused(sim)}
	sim.AddHooks(evertick.Hooks{BeforeTick: r.begin, AfterTick: r.commit})
	return r
}

// refused returns how many inputs the queue has refused.
func refused(sim *evertick.Sim) uint64 {
	s := sim.InputStats()
	return s.Full + s.Duplicate
}

func (r *Recorder) begin(*evertick.Tick) error {
	r.open = true
	return nil
}

// CommitFailed puts the tick that has just failed into the log, with its inputs and with hash 0, as it left
// no state. So Verify reproduces the error, and Shrink can find the inputs that cause it. Nothing can be
// recorded after it. The error is that of worldlog.Log, or ErrRange if no tick has failed since the last one
// in the log.
func (r *Recorder) CommitFailed() error {
	if !r.open || r.closed {
		return fault.Field(fault.ErrRange, "replay: CommitFailed: ticks of a Sim that has not failed", r.sim.Ticks())
	}
	r.open = false
	n := r.sim.Ticks()
	if err := r.inputs(&evertick.Tick{Sim: r.sim, N: n}); err != nil {
		return err
	}
	return r.log.Commit(n, 0, worldlog.Counts{Live: uint64(r.sim.World.Len())})
}

// inputs writes the inputs of a tick.
func (r *Recorder) inputs(t *evertick.Tick) error {
	for i := range t.Inputs() {
		if err := r.input(t.N, &t.Inputs()[i]); err != nil {
			return fmt.Errorf("replay: %w", err)
		}
	}
	return nil
}

// commit writes the tick that has run.
func (r *Recorder) commit(t *evertick.Tick) error {
	r.open = false
	if r.closed || t.Again() { // a tick that ran again is in the log already
		return nil
	}
	if err := r.inputs(t); err != nil {
		return err
	}
	if every(r.opt.ColumnTicks, t.N) {
		r.buf = appendColumns(r.buf[:0], r.sim.ColumnHashes())
		if err := r.append(worldlog.Record{Type: worldlog.Columns, Data: r.buf}); err != nil {
			return fmt.Errorf("replay: %w", err)
		}
	}
	now := refused(r.sim)
	counts := worldlog.Counts{Dropped: now - r.seen, Live: uint64(r.sim.World.Len())}
	r.seen = now
	if err := r.log.Commit(t.N, r.sim.Hash(), counts); err != nil {
		return fmt.Errorf("replay: %w", err)
	}
	if every(r.opt.SnapshotTicks, t.N) {
		if err := r.Snapshot(); err != nil && !errors.Is(err, worldlog.ErrBusy) {
			return fmt.Errorf("replay: %w", err)
		}
	}
	return nil
}

// every reports whether tick n, counted from 0, is the last of a period.
func every(period, n uint64) bool { return period > 0 && (n+1)%period == 0 }

func (r *Recorder) input(tick uint64, in *evertick.Input) error {
	r.buf = appendInput(r.buf[:0], tick, in)
	return r.append(worldlog.Record{Type: worldlog.Input, Source: in.Source, Seq: in.Seq, Kind: in.Kind, Data: r.buf})
}

// append keeps the record in r, so that it is not allocated.
func (r *Recorder) append(rec worldlog.Record) error {
	r.record = rec
	return r.log.Append(&r.record)
}

// Mark adds a note for people and tools to the next tick.
func (r *Recorder) Mark(text string) error {
	return r.append(worldlog.Record{Type: worldlog.Marker, Data: []byte(text)})
}

// Snapshot saves the state after the last tick beside the log: it copies the state at once,
// and another goroutine writes it. Errors are those of evertick.Sim.Snapshot and worldlog.Log.WriteSnapshot,
// among them worldlog.ErrBusy if the last ones are still being written. Before the first
// tick it is ErrRange.
func (r *Recorder) Snapshot() error {
	if r.sim.Ticks() == 0 {
		return fault.Field(fault.ErrRange, "replay: Snapshot: ticks", 0)
	}
	return snapshotInto(r.log, r.sim)
}

// snapshotInto saves the state of a Sim beside its log.
func snapshotInto(log *worldlog.Log, sim *evertick.Sim) error {
	return log.SnapshotWith(sim.Ticks()-1, sim.Hash(), sim.Snapshot)
}

// Sim returns the Sim that is recorded.
func (r *Recorder) Sim() *evertick.Sim { return r.sim }

// Log returns the log: which ticks are durable, and what it has cost.
func (r *Recorder) Log() *worldlog.Log { return r.log }

// Close ends the recording, and the log. The Sim may go on without it.
func (r *Recorder) Close() error {
	r.closed = true
	return r.log.Close()
}
