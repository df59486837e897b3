package evertick

import (
	"errors"
	"fmt"
	"math/bits"
	"sync"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/loop"
)

// Input is something from outside that a tick has to know: what a player pressed, what
// another process has sent.
type Input struct {
	// Tick is the earliest tick at whose start it applies.
	Tick uint64
	// Source says who sends it, and Seq numbers what a source sends; gaps are allowed.
	Source uint32
	Seq    uint64
	// Kind and Data are the business of systems.
	Kind uint32
	Data []byte
}

// InputConfig bounds what waits for its tick. The zero value works.
type InputConfig struct {
	// Capacity is the most inputs that wait at once, from 1 to 1<<30. 0: 4096.
	Capacity int
	// Bytes is the most that their Data add up to. 0: 1<<20.
	Bytes int64
}

const (
	defaultInputs     = 4096
	defaultInputBytes = 1 << 20
)

// Validate returns an error that wraps ErrRange for each field out of its range.
func (c InputConfig) Validate() error {
	var errs []error
	if c.Capacity < 0 || c.Capacity > 1<<30 {
		errs = append(errs, fault.Field(ErrRange, "evertick: Config.Inputs.Capacity", c.Capacity))
	}
	if c.Bytes < 0 {
		errs = append(errs, fault.Field(ErrRange, "evertick: Config.Inputs.Bytes", c.Bytes))
	}
	return errors.Join(errs...)
}

// InputStats are counts of inputs since New. Those of ticks that StepBack and Forward run
// again count again.
type InputStats struct {
	Pushed    uint64 // accepted by Push
	Full      uint64 // refused for want of room
	Duplicate uint64 // refused since one of the same Source and Seq waits already
	Ignored   uint64 // not taken since a feed was set
	Late      uint64 // applied at a tick after their own

	Waiting      int // now
	WaitingBytes int64
	// The most that ever waited at once, and the most bytes of Data.
	HighWater      int
	HighWaterBytes int64
}

// Feed tells the inputs of a tick: it appends them to dst and returns the result. What
// Data points to must hold until it is called again.
type Feed func(tick uint64, dst []Input) ([]Input, error)

// inputs is what waits for its tick, and what the tick that runs has been given.
type inputs struct {
	mu      sync.Mutex
	queue   *loop.Queue[payload]
	buffers buffers
	feed    Feed
	ignored uint64
	large   uint64 // refused, as they would not fit into an empty queue

	capacity          int
	bytes             int64
	tooMany, tooLarge error // of a queue that is full: built once, as a flood of refusals shall not allocate
	never             *fault.Limit

	now  []Input // of the tick
	mine bool    // now holds buffers of ours
	fed  bool    // now is from a feed
	due  []loop.Entry[payload]

	decoded []loop.Entry[payload] // scratch

	// For the history: what has arrived, encoded, since the last tick began or ended, what
	// had arrived before the tick that runs, and the log from which ticks are run again.
	recording       bool
	arrived, before []byte
	replay          *tickLog
	again           bool // while StepBack and Forward are at work
}

type payload struct {
	kind uint32
	data []byte // one of buffers
}

func newInputs(c InputConfig) (inputs, error) {
	if c.Bytes == 0 {
		c.Bytes = defaultInputBytes
	}
	if c.Capacity == 0 {
		c.Capacity = defaultInputs
	}
	q, err := loop.NewQueue(loop.QueueConfig[payload]{
		Capacity: c.Capacity, MaxBytes: c.Bytes, Size: func(p payload) int { return len(p.data) },
	})
	return inputs{
		queue: q, capacity: c.Capacity, bytes: c.Bytes,
		tooMany:  fault.Field(loop.ErrFull, "evertick: Config.Inputs.Capacity", c.Capacity),
		tooLarge: fault.Field(loop.ErrFull, "evertick: Config.Inputs.Bytes", c.Bytes),
		never:    &fault.Limit{Field: "evertick: Config.Inputs.Bytes", Value: "an input", Most: c.Bytes, Err: loop.ErrFull},
	}, err
}

// named is err of the queue, in the words of Config, where so many inputs were to wait.
func (q *inputs) named(err error, waiting int) error {
	switch {
	case !errors.Is(err, loop.ErrFull):
		return err
	case waiting > q.capacity:
		return q.tooMany
	}
	return q.tooLarge
}

// Push hands an input to the simulation, from any goroutine. It applies at the start of
// in.Tick, or of the next tick if that has begun: all systems of a tick see the same
// inputs. Data is copied. If Config.Inputs leaves no room the error is loop.ErrFull,
// which wraps ErrCapacity, and names the field, and the size of Data that would never
// fit; if an input of that Source and Seq waits already,
// loop.ErrDuplicate. The input is then not taken.
//
// An input that a system pushes is one of a later tick. While a feed is set (see
// SetInputs), what is pushed is counted and forgotten.
func (s *Sim) Push(in Input) error { return s.inputs.push(&in) }

func (q *inputs) push(in *Input) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.replay != nil && (q.replay.fed || q.replay.pushed(in)):
		return nil
	case q.replay != nil || q.again:
		return fmt.Errorf("evertick: Push: source %d, seq %d: %w", in.Source, in.Seq, ErrReplaying)
	case q.feed != nil:
		q.ignored++
		return nil
	}
	err := q.put(in)
	if err == nil && q.recording {
		q.arrived = appendInput(q.arrived, in)
	}
	return err
}

func (q *inputs) put(in *Input) error {
	if int64(len(in.Data)) > q.bytes { // not worth a copy
		q.large++
		return q.never.Exceeded(int64(len(in.Data)))
	}
	data := q.buffers.copyOf(in.Data)
	err := q.queue.Push(loop.Entry[payload]{Tick: in.Tick, Source: in.Source, Seq: in.Seq, Value: payload{in.Kind, data}})
	if err != nil {
		q.buffers.give(data)
		err = q.named(err, q.queue.Len()+1)
	}
	return err
}

// SetInputs makes the inputs of each tick from the next one on those that feed tells, as
// they are, instead of what was pushed: to run again what was recorded. What waits goes on
// waiting. nil ends it. An error of feed is that of Step, which has then done nothing.
func (s *Sim) SetInputs(feed Feed) {
	s.inputs.mu.Lock()
	defer s.inputs.mu.Unlock()
	s.inputs.feed = feed
}

// InputStats returns what became of inputs.
func (s *Sim) InputStats() InputStats {
	q := &s.inputs
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.queue.Stats()
	return InputStats{
		Pushed: c.Pushed, Full: c.Full + q.large, Duplicate: c.Duplicate, Ignored: q.ignored, Late: c.Late,
		Waiting: q.queue.Len(), WaitingBytes: q.queue.Bytes(),
		HighWater: c.HighWater, HighWaterBytes: c.HighWaterBytes,
	}
}

// Inputs returns the inputs of this tick, by (Tick, Source, Seq): first those that are
// late, whose Tick is that of an earlier one; in the order of the feed if there is one. The
// slice and what it points to are to be read only, and good until the tick is over.
func (t *Tick) Inputs() []Input { return t.Sim.inputs.now }

// Fed reports whether a feed told the inputs of this tick (see Sim.SetInputs): as in a
// replay, where whoever would ask the world outside must not, as its answers come as inputs.
func (t *Tick) Fed() bool { return t.Sim.inputs.fed }

// take makes the inputs of a tick known.
func (q *inputs) take(tick uint64) error {
	feed, err := q.takeWaiting(tick)
	if feed == nil {
		return err
	}
	q.now, err = feed(tick, q.now) // without the lock: it may push
	q.fed = true
	return err
}

// takeWaiting takes what waits, unless there is a feed, which it returns.
func (q *inputs) takeWaiting(tick uint64) (Feed, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.release()
	q.fed = false
	if q.replay != nil {
		return nil, q.takeAgain(tick, q.replay)
	}
	q.before = append(q.before[:0], q.arrived...)
	q.arrived = q.arrived[:0]
	if q.feed == nil {
		q.takeDue(tick)
	}
	return q.feed, nil
}

func (q *inputs) takeDue(tick uint64) {
	q.due = q.queue.Due(tick, q.due[:0])
	for i := range q.due {
		e := &q.due[i]
		q.now = append(q.now, Input{Tick: e.Tick, Source: e.Source, Seq: e.Seq, Kind: e.Value.kind, Data: e.Value.data})
	}
	clear(q.due)
	q.mine = true
}

// release ends the inputs of the tick before.
func (q *inputs) release() {
	if q.mine {
		for i := range q.now {
			q.buffers.give(q.now[i].Data)
		}
	}
	clear(q.now)
	q.now, q.mine = q.now[:0], false
}

// buffers keeps memory for Data, by the power of two that is its capacity.
type buffers struct {
	free [64][][]byte
}

// copyOf returns a copy of data in memory that was used before, if there is some.
func (b *buffers) copyOf(data []byte) []byte {
	if len(data) == 0 {
		return nil
	}
	class := bits.Len(uint(len(data) - 1))
	list := &b.free[class]
	n := len(*list)
	if n == 0 {
		return append(make([]byte, 0, 1<<class), data...)
	}
	room := (*list)[n-1]
	*list = (*list)[:n-1]
	return append(room[:0], data...)
}

// give takes memory of copyOf back.
func (b *buffers) give(data []byte) {
	if cap(data) == 0 {
		return
	}
	list := &b.free[bits.Len(uint(cap(data)-1))]
	*list = append(*list, data)
}

// The inputs in a snapshot are, all little-endian: uint32 how many; for each, uint64 tick,
// uint32 source, uint64 seq, uint32 kind, uint32 length of the data, and the data.

// encode appends what waits.
func (q *inputs) encode(dst []byte) []byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.due = q.queue.AppendWaiting(q.due[:0])
	dst = appendEntries(dst, q.due)
	clear(q.due)
	return dst
}

func appendEntries(dst []byte, entries []loop.Entry[payload]) []byte {
	dst = wire.AppendU32s(dst, uint32(len(entries)))
	for i := range entries {
		e := &entries[i]
		dst = appendInput(dst, &Input{Tick: e.Tick, Source: e.Source, Seq: e.Seq, Kind: e.Value.kind, Data: e.Value.data})
	}
	return dst
}

func appendInput(dst []byte, in *Input) []byte {
	dst = wire.AppendU64s(dst, in.Tick)
	dst = wire.AppendU32s(dst, in.Source)
	dst = wire.AppendU64s(dst, in.Seq)
	dst = wire.AppendU32s(dst, in.Kind, uint32(len(in.Data)))
	return append(dst, in.Data...)
}

// readInput reads what appendInput wrote. Data is part of what r reads.
func readInput(r *wire.Reader) Input {
	in := Input{Tick: r.U64(), Source: r.U32(), Seq: r.U64(), Kind: r.U32()}
	in.Data = r.Bytes(int(r.U32()))
	return in
}

// readEntry reads an input, and copies its Data.
func (q *inputs) readEntry(r *wire.Reader) loop.Entry[payload] {
	in := readInput(r)
	return loop.Entry[payload]{Tick: in.Tick, Source: in.Source, Seq: in.Seq, Value: payload{in.Kind, q.buffers.copyOf(in.Data)}}
}

// decode replaces what waits by what encode wrote, or changes nothing.
func (q *inputs) decode(data []byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	entries, err := q.decodeEntries(data)
	if err == nil {
		q.due = q.queue.AppendWaiting(q.due[:0]) // what will be gone
		if err = q.queue.Restore(entries); err == nil {
			entries = q.due
		}
		err = asCorrupt(q.named(err, len(entries)))
	}
	for i := range entries {
		q.buffers.give(entries[i].Value.data)
	}
	clear(q.decoded)
	clear(q.due)
	if err == nil {
		q.release()
	}
	return err
}

// asCorrupt is for what a queue refuses to hold: what waits twice was no queue.
func asCorrupt(err error) error {
	if errors.Is(err, loop.ErrDuplicate) {
		return fault.Field(ErrCorrupt, "evertick: snapshot: inputs", err)
	}
	return err
}

// decodeEntries copies entries. They are to be given back also if there is an error.
func (q *inputs) decodeEntries(data []byte) ([]loop.Entry[payload], error) {
	q.decoded = q.decoded[:0]
	r := wire.NewReader(data)
	for n := r.U32(); n > 0 && r.Err() == nil; n-- {
		q.decoded = append(q.decoded, q.readEntry(&r))
	}
	if r.Done() != nil {
		return q.decoded, fault.Field(ErrCorrupt, "evertick: snapshot: inputs: length", len(data))
	}
	return q.decoded, nil
}

// DropInputs forgets the inputs that wait for their tick: for one who goes on from a
// state that was restored, and knows better what is to come.
func (s *Sim) DropInputs() {
	q := &s.inputs
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, e := range q.queue.AppendWaiting(nil) {
		q.buffers.give(e.Value.data)
	}
	if err := q.queue.Restore(nil); err != nil {
		panic("evertick: DropInputs: a queue refuses to hold nothing")
	}
}
