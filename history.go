package evertick

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/history"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/loop"
)

// ErrReplaying is returned by Push while StepBack or Forward run ticks again. Push accepts an input
// then only if the same input was pushed in that tick when it first ran, or if a feed returned the
// inputs of that tick.
var ErrReplaying = errors.New("ticks are run again")

// HistoryConfig says what a Sim keeps of past ticks, for StepBack. The zero value keeps nothing.
type HistoryConfig struct {
	// Keep is the number of snapshots kept, up to 1<<20: StepBack reaches at least (Keep-1) × Every
	// ticks back, once so many have run. 0: there is no history.
	Keep int
	// Every is the number of ticks between two snapshots, up to 1<<30. 0: 60.
	Every int
	// Bytes is the memory that snapshots and the inputs of the ticks between them may take
	// together. When it is used up, the oldest snapshots are dropped, except the last one. Until
	// the next snapshot the history may take a quarter more; if inputs exceed that, a snapshot is
	// taken early. 0: 64 MiB.
	Bytes int64
}

// validate returns an error that wraps ErrRange for each field out of its range.
func (c HistoryConfig) validate() error {
	return errors.Join(
		fault.Between("evertick: Config.History.Keep", c.Keep, 0, 1<<20),
		fault.Between("evertick: Config.History.Every", c.Every, 0, 1<<30),
		fault.Between("evertick: Config.History.Bytes", c.Bytes, 0, math.MaxInt64))
}

func (c HistoryConfig) withDefaults() HistoryConfig {
	c.Every = cmp.Or(c.Every, 60)
	c.Bytes = cmp.Or(c.Bytes, 64<<20)
	return c
}

// HistoryBytes returns the memory that the history takes.
func (s *Sim) HistoryBytes() int64 { return s.history.Size() }

// OldestTick returns the earliest tick that StepBack can reach, or Ticks if there is no history
// yet.
func (s *Sim) OldestTick() uint64 { return s.history.Oldest(s.ticks) }

// StepBack goes n ticks back, to the state before the last n ticks: it restores the nearest earlier
// snapshot and runs the ticks after it again, with the inputs that they had. It sets aside inputs
// that have arrived since: they wait again when StepBack or Forward comes to the tick before which
// they arrived, and a Step drops them with the undone ticks. DropInputs counts as an arrival.
// StepBack also works on a Sim that has failed; n = 0 then goes to the beginning of the tick that
// failed, before which its inputs and those that have arrived since wait together. If Config.Inputs
// has no room for both the error is loop.ErrFull; DropInputs makes room.
//
// When ticks run again, their systems and hooks are called again; Tick.Again reports that. If such
// a tick ends with another hash than before, something other than inputs has changed the Sim:
// between ticks, or in what systems keep without AddState. The error is then ErrStale and names the
// tick, and the Sim is where it was, as after any other error. A tick before OldestTick is ErrRange
// and names OldestTick; without Config.History the error is ErrUnsupported.
func (s *Sim) StepBack(n uint64) error {
	h := &s.history
	if s.stepping {
		panic("evertick: StepBack within a step")
	}
	if !h.On() {
		return fault.Field(ErrUnsupported, "evertick: StepBack: Config.History.Keep", h.Keep)
	}
	if h.Empty() && n == 0 && s.failed == nil {
		return nil
	}
	if n > s.ticks || s.ticks-n < s.OldestTick() {
		return fmt.Errorf("evertick: StepBack: %d ticks back from %d, the oldest is %d: %w", n, s.ticks, s.OldestTick(), ErrRange)
	}
	return s.stepBackTo(s.ticks - n)
}

func (s *Sim) stepBackTo(target uint64) error {
	h, failed, from := &s.history, s.failed, s.ticks
	s.inputs.setRerunning(true)
	defer s.inputs.setRerunning(false)
	if failed == nil {
		var err error
		if h.Backup, err = s.Snapshot(h.Backup[:0]); err != nil {
			return err
		}
	}
	arrived, aside := s.inputs.takeArrived(failed != nil), h.Aside
	if len(arrived) > 0 {
		h.Aside = slices.Insert(slices.Clone(aside), 0, history.Aside{Tick: from, Data: arrived})
	}
	err := s.restore(h.SnapshotBefore(target))
	for err == nil && s.ticks < target {
		err = s.rerun()
	}
	if err == nil {
		err = s.pushAside()
	}
	if err == nil {
		return nil
	}
	h.Aside = aside
	if failed != nil {
		s.failed, s.ticks = failed, from
		s.inputs.putArrivedBack(arrived, true)
		return err
	}
	if e := s.restore(h.Backup); e != nil {
		s.failed = e
	}
	s.inputs.putArrivedBack(arrived, false)
	return err
}

// pushAside pushes again what arrived before the tick that runs next.
func (s *Sim) pushAside() error {
	h := &s.history
	if len(h.Aside) == 0 || h.Aside[0].Tick != s.ticks {
		return nil
	}
	data := h.Aside[0].Data
	h.Aside = h.Aside[1:]
	return s.inputs.pushAll(data, true)
}

// Forward runs n ticks again that StepBack has undone, with the inputs that they had. If fewer
// ticks are undone it is ErrRange and nothing happens. If inputs were pushed or dropped since a StepBack,
// here or before one of the ticks, it is ErrStale and nothing happens, because no tick
// would take them. Other errors are those of StepBack, but the Sim
// then stays at the tick that ended with another hash.
func (s *Sim) Forward(n uint64) error {
	if s.stepping {
		panic("evertick: Forward within a step")
	}
	if s.failed != nil {
		return s.failed
	}
	if n > s.history.Undone(s.ticks) {
		return fault.Field(ErrRange, "evertick: Forward: ticks", n)
	}
	if n == 0 {
		return nil
	}
	s.inputs.setRerunning(true)
	defer s.inputs.setRerunning(false)
	if s.inputs.hasArrived() {
		return fault.Field(ErrStale, "evertick: Forward: inputs pushed since StepBack, or dropped, before tick", s.ticks)
	}
	if aside := s.history.Aside; len(aside) > 0 && aside[0].Tick < s.ticks+n {
		return fault.Field(ErrStale, "evertick: Forward: inputs pushed since StepBack, or dropped, before tick", aside[0].Tick)
	}
	for range n {
		if err := s.rerun(); err != nil {
			return err
		}
	}
	return s.pushAside()
}

// rerun runs a tick of the log again.
func (s *Sim) rerun() error {
	if err := s.Check(); err != nil {
		return err
	}
	log := s.history.LogOf(s.ticks)
	s.inputs.setReplay(log)
	defer s.inputs.setReplay(nil)
	tick := s.ticks
	if err := s.stepUnrecorded(); err != nil && err != s.stopErr {
		return err
	}
	if s.Hash() != log.Hash {
		return fault.Field(ErrStale, fmt.Sprintf("evertick: tick %d run again: hash", tick), fmt.Sprintf("%016x, was %016x", s.Hash(), log.Hash))
	}
	return s.inputs.pushAll(log.Data[log.Split:], false)
}

// Again reports whether the tick has run before: see Sim.StepBack. A system then skips its effects
// outside the simulation, such as playing a sound.
func (t *Tick) Again() bool { return t.Sim.inputs.rerunning }

// prepareHistory is called before a tick that has not run before.
func (s *Sim) prepareHistory() error {
	h := &s.history
	if !h.On() {
		return nil
	}
	h.DropUndone(s.ticks)
	if h.Empty() {
		h.Begin(s.ticks)
		s.inputs.takeArrived(false) // they are in the snapshot
		return s.addCheckpoint()
	}
	return nil
}

// recordTick records a completed tick. If an AfterTick hook has failed it takes no snapshot: the
// hook may have left its work half done.
func (s *Sim) recordTick() error {
	h := &s.history
	if !h.On() {
		return nil
	}
	log := h.NewLog(s.Hash())
	s.inputs.recordInto(&log)
	if due := h.Append(log, s.ticks); !due || s.failed != nil {
		return nil
	}
	return s.addCheckpoint()
}

// addCheckpoint adds a snapshot to the history.
func (s *Sim) addCheckpoint() error {
	data, err := s.encode(s.history.SpareSnapshot())
	if err != nil {
		return err
	}
	s.history.AddCheckpoint(s.ticks, data)
	return nil
}

// setReplay makes the next tick take its inputs from a log; nil ends it.
func (q *inputs) setReplay(log *history.Log) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.replay = log
}

// setRerunning makes Push refuse the inputs of other goroutines while ticks are run again.
func (q *inputs) setRerunning(on bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.rerunning = on
}

// takeLogged sets the inputs that a tick had.
func (q *inputs) takeLogged(tick uint64, log *history.Log) error {
	data := log.Data[:log.Split]
	if !log.Fed {
		if err := q.enqueueAll(data, false); err != nil {
			return err
		}
		q.takeDue(tick)
		return nil
	}
	for r := wire.NewReader(data); r.Len() > 0; {
		_, in := history.ReadArrival(&r)
		in.Data = q.buffers.copyOf(in.Data)
		q.current = append(q.current, Input(in))
	}
	q.owned = true
	return nil
}

// pushAll repeats what arrived; with arriving it counts as arriving now.
func (q *inputs) pushAll(data []byte, arriving bool) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.enqueueAll(data, arriving)
}

func (q *inputs) enqueueAll(data []byte, arriving bool) error {
	if arriving {
		q.arrived = append(q.arrived, data...)
	}
	for r := wire.NewReader(data); r.Len() > 0; {
		kind, in := history.ReadArrival(&r)
		if kind != history.ArrivedInput {
			q.drop()
			continue
		}
		e := q.entryOf((*Input)(&in))
		err := q.queue.Push(e)
		if errors.Is(err, loop.ErrShare) { // inputs that a failed tick took, and those that came in it, wait together
			q.due = append(q.queue.AppendWaiting(q.due[:0]), e)
			err = q.queue.Restore(q.due) // does not check shares
			clear(q.due)
		}
		if err != nil {
			q.buffers.release(e.Value.data)
			if !errors.Is(err, loop.ErrDuplicate) { // the snapshot holds it already
				return q.configError(err, q.queue.Len()+1)
			}
		}
	}
	return nil
}

func (q *inputs) hasArrived() bool {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.arrived) > 0
}

// takeArrived removes and returns what arrived since the last tick. If that tick has failed, what arrived
// before it comes first, and what it dropped itself was not dropped.
func (q *inputs) takeArrived(failed bool) []byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	var list []byte
	if failed {
		list = append(list, q.arrivedBefore...)
	}
	for r := wire.NewReader(q.arrived); r.Len() > 0; {
		begin := len(q.arrived) - r.Len()
		if kind, _ := history.ReadArrival(&r); kind != history.ArrivedDropWithin || !failed {
			list = append(list, q.arrived[begin:len(q.arrived)-r.Len()]...)
		}
	}
	q.arrived = q.arrived[:0]
	return list
}

// putArrivedBack undoes takeArrived.
func (q *inputs) putArrivedBack(arrived []byte, failed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if failed {
		arrived = arrived[len(q.arrivedBefore):]
	}
	q.arrived = append(q.arrived[:0], arrived...)
}

// recordInto completes the log of a tick.
func (q *inputs) recordInto(log *history.Log) {
	q.mu.Lock()
	defer q.mu.Unlock()
	log.Fed = q.fed
	if q.fed {
		for i := range q.current {
			log.Data = history.AppendArrival(log.Data, (*history.Input)(&q.current[i]))
		}
		log.Split = len(log.Data)
		log.Data = append(log.Data, q.arrivedBefore...) // which keep waiting
	} else {
		log.Data = append(log.Data, q.arrivedBefore...)
		log.Split = len(log.Data)
	}
	log.Data = append(log.Data, q.arrived...)
	q.arrivedBefore, q.arrived = q.arrivedBefore[:0], q.arrived[:0]
}
