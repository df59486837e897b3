package evertick

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/bits"
	"sync"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/history"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/loop"
)

// Input is data from outside for a tick: what a player pressed, what another process has sent.
type Input struct {
	// Tick is the earliest tick at whose start it applies.
	Tick uint64
	// Source identifies the sender, and Seq numbers its inputs; gaps are allowed.
	Source uint32
	Seq    uint64
	// At is the time at which the sender acted: nanoseconds since the Loop began, as loop.Frame.WallNs
	// counts them. 0: unknown.
	At uint64
	// Fraction is the part of Tick that had passed when the sender acted, in 2^-32 of a tick. Systems
	// may use it for events between two ticks. It is stored because a replay has no clock to compute
	// it from At. loop.Timeline.TickAt returns both Tick and Fraction.
	Fraction uint32
	// Kind and Data are for systems to interpret.
	Kind uint32
	Data []byte
}

// InputConfig bounds the inputs that wait for their tick. The zero value works.
type InputConfig struct {
	// Capacity is the most inputs that wait at once, from 1 to 1<<30. 0: 4096. An input is refused if
	// its source has at least three times as many inputs waiting as there is room left. So a source
	// alone gets three quarters of Capacity: see loop.Queue.
	Capacity int
	// Bytes is the most that their Data add up to. 0: 1<<20. It is shared as Capacity is. One Data
	// has at most 1<<31 - 1 bytes.
	Bytes int64
	// PerSource is the most inputs of one source that wait at once, from 1 to 1<<30, whatever its
	// share is. 0: 1<<30.
	PerSource int
	// PerSourceBytes is the most that the Data of one source add up to. 0: no limit of its own. Set it
	// where a sender could fill Bytes with one Data.
	PerSourceBytes int64
	// Arrivals, if not nil, measures for each source when the inputs that are passed to Push arrive,
	// by Config.Clock, even under Config.Untimed. Now of that clock must then be safe for concurrent
	// use. Any goroutine can ask Arrivals for the lead that a source should have. An input for tick 0,
	// which applies as soon as possible, is counted, but its lateness is not measured.
	Arrivals *loop.Arrivals
}

const (
	defaultInputs     = 4096
	defaultInputBytes = 1 << 20
)

// validate returns an error that wraps ErrRange for each field out of its range.
func (c InputConfig) validate() error {
	return errors.Join(
		fault.Between("evertick: Config.Inputs.Capacity", c.Capacity, 0, 1<<30),
		fault.Between("evertick: Config.Inputs.Bytes", c.Bytes, 0, math.MaxInt64),
		fault.Between("evertick: Config.Inputs.PerSource", c.PerSource, 0, 1<<30),
		fault.Between("evertick: Config.Inputs.PerSourceBytes", c.PerSourceBytes, 0, math.MaxInt64))
}

// InputStats are counts of inputs since New. Inputs of ticks that StepBack and Forward run again
// are counted again.
type InputStats struct {
	Pushed    uint64 // accepted by Push
	Full      uint64 // refused because there was no room
	Share     uint64 // of the ones in Full, those whose source had used its share
	Duplicate uint64 // refused because one of the same Source and Seq waits already
	Ignored   uint64 // dropped because a feed was set
	Late      uint64 // applied at a tick after their own, other than 0

	Waiting      int // now
	WaitingBytes int64
	// The most that ever waited at once, and the most bytes of Data.
	HighWater      int
	HighWaterBytes int64
}

// Feed returns the inputs of a tick, appended to dst. What Data points to must stay valid until the
// next call.
type Feed func(tick uint64, dst []Input) ([]Input, error)

// inputs holds the inputs that wait for their tick, and the inputs of the running tick.
type inputs struct {
	mu       sync.Mutex
	queue    *loop.Queue[payload]
	buffers  buffers
	feed     Feed
	ignored  uint64
	tooLarge uint64 // refused because they would not fit even into an empty queue

	capacity      int
	bytes         int64
	errCapacity   error // of a full queue: built once, because many refusals in a row must not allocate
	errBytes      error
	tooLargeError *fault.Limit
	shares        fault.SourceLimits

	arrivals *loop.Arrivals // nil: not measured
	clock    loop.Clock     // nil without arrivals
	clockAt  int64          // its time at the frame of timeline
	timeline loop.Timeline

	current []Input // of the running tick
	owned   bool    // the Data of current are of buffers
	fed     bool    // current is from a feed
	due     []loop.Entry[payload]

	decoded []loop.Entry[payload] // scratch

	// For the history: what arrived since the last tick began or ended, what
	// arrived before the running tick, and the log of the tick that is run again.
	recording              bool
	arrived, arrivedBefore []byte
	replay                 *history.Log
	rerunning              bool // while StepBack and Forward run
}

type payload struct {
	at             uint64
	fraction, kind uint32
	data           []byte // one of buffers
}

func inputOf(e *loop.Entry[payload]) Input {
	v := &e.Value
	return Input{Tick: e.Tick, Source: e.Source, Seq: e.Seq, At: v.at, Fraction: v.fraction, Kind: v.kind, Data: v.data}
}

// entryOf returns an input as the queue holds it, with a copy of its Data.
func (q *inputs) entryOf(in *Input) loop.Entry[payload] {
	v := payload{in.At, in.Fraction, in.Kind, q.buffers.copyOf(in.Data)}
	return loop.Entry[payload]{Tick: in.Tick, Source: in.Source, Seq: in.Seq, Value: v}
}

func newInputs(c InputConfig) (inputs, error) {
	c.Bytes = cmp.Or(c.Bytes, defaultInputBytes)
	c.Capacity = cmp.Or(c.Capacity, defaultInputs)
	q, err := loop.NewQueue(loop.QueueConfig[payload]{
		Capacity: c.Capacity, MaxBytes: c.Bytes, Size: func(p payload) int { return len(p.data) },
		PerSource: c.PerSource, PerSourceBytes: c.PerSourceBytes,
	})
	return inputs{
		queue: q, capacity: c.Capacity, bytes: min(c.Bytes, history.MaxData), arrivals: c.Arrivals,
		errCapacity:   fault.Field(loop.ErrFull, "evertick: Config.Inputs.Capacity", c.Capacity),
		errBytes:      fault.Field(loop.ErrFull, "evertick: Config.Inputs.Bytes", c.Bytes),
		tooLargeError: &fault.Limit{Field: "evertick: Config.Inputs.Bytes", Value: "an input", Most: min(c.Bytes, history.MaxData), Err: loop.ErrFull},
		shares: fault.SourceLimits{Limits: [...]fault.Limit{ // in the order of loop.Queue
			{Field: "evertick: Config.Inputs.Capacity", Most: int64(c.Capacity), Err: loop.ErrShare},
			{Field: "evertick: Config.Inputs.Bytes", Most: c.Bytes, Err: loop.ErrShare},
			{Field: "evertick: Config.Inputs.PerSource", Most: int64(c.PerSource), Err: loop.ErrShare},
			{Field: "evertick: Config.Inputs.PerSourceBytes", Most: c.PerSourceBytes, Err: loop.ErrShare},
		}},
	}, err
}

// configError replaces the error of a full queue by one that names the field of Config. waiting is
// the number of inputs that would have waited.
func (q *inputs) configError(err error, waiting int) error {
	if share, ok := err.(*fault.SourceLimit); ok {
		return q.shares.Of(share.Which, share.Source)
	}
	switch {
	case !errors.Is(err, loop.ErrFull):
		return err
	case waiting > q.capacity:
		return q.errCapacity
	}
	return q.errBytes
}

// Push hands an input to the simulation, from any goroutine. It applies at the start of in.Tick, or
// of the next tick if in.Tick has begun: all systems of a tick see the same inputs. Data is copied.
// If Config.Inputs leaves no room the error is loop.ErrFull, which wraps ErrCapacity; it names the
// field, and the size of Data if such Data would never fit. If the source has used its share the
// error is loop.ErrShare, which wraps loop.ErrFull, and also names the source; so a flood from one
// source does not make Push refuse the inputs of others. If an input of that Source and Seq waits
// already, the error is loop.ErrDuplicate. After an error the input is not accepted.
//
// An input that a system pushes applies in a later tick. While a feed is set (see SetInputs),
// inputs that are pushed are counted and dropped.
func (s *Sim) Push(in Input) error { return s.inputs.push(&in) }

func (q *inputs) push(in *Input) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.replay != nil && (q.replay.Fed || q.replay.Pushed(in.Source, in.Seq)):
		return nil
	case q.replay != nil || q.rerunning:
		return fmt.Errorf("evertick: Push: source %d, seq %d: %w", in.Source, in.Seq, ErrReplaying)
	case q.feed != nil:
		q.ignored++
		return nil
	}
	err := q.enqueue(in)
	if q.arrivals != nil {
		q.measure(in, err)
	}
	if err == nil && q.recording {
		q.arrived = history.AppendArrival(q.arrived, (*history.Input)(in))
	}
	return err
}

func (q *inputs) enqueue(in *Input) error {
	if int64(len(in.Data)) > q.bytes { // it can never fit, so do not copy it
		q.tooLarge++
		return q.tooLargeError.Exceeded(int64(len(in.Data)))
	}
	e := q.entryOf(in)
	err := q.queue.Push(e)
	if err != nil {
		q.buffers.release(e.Value.data)
		err = q.configError(err, q.queue.Len()+1)
	}
	return err
}

// measure passes the time at which an input has arrived to Arrivals.
func (q *inputs) measure(in *Input, err error) {
	a := loop.Arrival{Source: in.Source, At: in.At, Err: err}
	a.NowNs = q.timeline.WallNs() + uint64(max(0, q.clock.Now()-q.clockAt))
	if in.Tick > 0 {
		a.DueNs = max(1, q.timeline.DueAt(in.Tick)) // 0: for no certain tick
	}
	q.arrivals.Add(a)
}

// updateTimeline sets the line between time and ticks, for Timeline and Push. It is called at the
// beginning of each tick of a frame, and at the end of a frame.
func (s *Sim) updateTimeline() {
	t := s.loop.Timeline().Add(s.ticks - s.loop.Tick())
	q := &s.inputs
	q.mu.Lock()
	defer q.mu.Unlock()
	if q.arrivals != nil && t.WallNs() != q.timeline.WallNs() { // the first time in a frame
		q.clockAt = q.clock.Now()
	}
	q.timeline = t
}

// Timeline relates wall time, on the axis of loop.Frame.WallNs, to ticks as Ticks and Tick.N count
// them. It belongs to the last frame of Advance or Run: a change of Ticks by Step or Restore shows
// from the next frame on. Any goroutine may call it. With it a connection finds the tick for which an
// input is in time, and the Fraction of an Input.
func (s *Sim) Timeline() loop.Timeline {
	s.inputs.mu.Lock()
	defer s.inputs.mu.Unlock()
	return s.inputs.timeline
}

// SetInputs makes feed the source of the inputs of each tick, from the next one on, in place of
// Push: to run a recording again. The inputs are used as they are. Inputs that wait keep waiting. A
// nil feed ends it. Step returns an error of feed, and has then done nothing.
func (s *Sim) SetInputs(feed Feed) {
	s.inputs.mu.Lock()
	defer s.inputs.mu.Unlock()
	s.inputs.feed = feed
}

// InputStats returns the counts of inputs.
func (s *Sim) InputStats() InputStats {
	q := &s.inputs
	q.mu.Lock()
	defer q.mu.Unlock()
	c := q.queue.Stats()
	return InputStats{
		Pushed: c.Pushed, Full: c.Full + q.tooLarge, Share: c.Share, Duplicate: c.Duplicate, Ignored: q.ignored, Late: c.Late,
		Waiting: q.queue.Len(), WaitingBytes: q.queue.Bytes(),
		HighWater: c.HighWater, HighWaterBytes: c.HighWaterBytes,
	}
}

// Inputs returns the inputs of this tick, sorted by (Tick, Source, Seq), so that late ones, whose
// Tick is an earlier one, come first. If there is a feed, they are in the order of the feed. The
// slice and its Data are read-only, and valid until the tick is over.
func (t *Tick) Inputs() []Input { return t.Sim.inputs.current }

// Fed reports whether a feed returned the inputs of this tick (see Sim.SetInputs). It is true in a
// replay: a system must not query the outside world then, since the recorded answers come as
// inputs.
func (t *Tick) Fed() bool { return t.Sim.inputs.fed }

// take sets the inputs of a tick.
func (q *inputs) take(tick uint64) error {
	feed, err := q.takeWaiting(tick)
	if feed == nil {
		return err
	}
	q.current, err = feed(tick, q.current) // without the lock: it may push
	q.fed = true
	if err != nil {
		q.undoTake()
	}
	return err
}

// undoTake moves the inputs that arrived before a tick whose feed failed to those before the next tick.
func (q *inputs) undoTake() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.arrived, q.arrivedBefore = append(q.arrivedBefore, q.arrived...), q.arrived[:0]
}

// takeWaiting takes the waiting inputs that are due, unless there is a feed, which it returns.
func (q *inputs) takeWaiting(tick uint64) (Feed, error) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.release()
	q.fed = false
	if q.replay != nil {
		return nil, q.takeLogged(tick, q.replay)
	}
	q.arrivedBefore = append(q.arrivedBefore[:0], q.arrived...)
	q.arrived = q.arrived[:0]
	if q.feed == nil {
		q.takeDue(tick)
	}
	return q.feed, nil
}

func (q *inputs) takeDue(tick uint64) {
	q.due = q.queue.Due(tick, q.due[:0])
	for i := range q.due {
		q.current = append(q.current, inputOf(&q.due[i]))
	}
	clear(q.due)
	q.owned = true
}

// release releases the inputs of the tick before.
func (q *inputs) release() {
	if q.owned {
		for i := range q.current {
			q.buffers.release(q.current[i].Data)
		}
	}
	clear(q.current)
	q.current, q.owned = q.current[:0], false
}

// DropInputs drops the inputs that wait for their tick: for a program that continues from a
// restored state with other inputs. When StepBack and Forward run ticks again they drop them in the same place.
func (s *Sim) DropInputs() {
	q := &s.inputs
	q.mu.Lock()
	defer q.mu.Unlock()
	q.drop()
	if !q.recording || q.replay != nil {
		return
	}
	if s.stepping && !s.inAfterTick {
		q.arrived = append(q.arrived, history.ArrivedDropWithin)
	} else {
		q.arrived = append(q.arrived[:0], history.ArrivedDrop)
	}
}

func (q *inputs) drop() {
	for _, e := range q.queue.AppendWaiting(nil) {
		q.buffers.release(e.Value.data)
	}
	if err := q.queue.Restore(nil); err != nil {
		panic("evertick: DropInputs: a queue refuses to be empty")
	}
}

// buffers keeps memory for Data, in lists by capacity, which is a power of two.
type buffers struct {
	free [64][][]byte
}

// copyOf returns a copy of data, in released memory if there is some.
func (b *buffers) copyOf(data []byte) []byte {
	if len(data) == 0 {
		return nil
	}
	class := bits.Len(uint(len(data) - 1))
	room := history.Pop(&b.free[class])
	if room == nil {
		room = make([]byte, 0, 1<<class)
	}
	return append(room, data...)
}

// release keeps the memory of a copy for the next one.
func (b *buffers) release(data []byte) {
	if cap(data) > 0 {
		list := &b.free[bits.Len(uint(cap(data)-1))]
		*list = append(*list, data)
	}
}

// encode appends the inputs that wait: a uint32 count, and each as history.AppendInput writes it.
func (q *inputs) encode(dst []byte) []byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.due = q.queue.AppendWaiting(q.due[:0])
	dst = wire.AppendU32s(dst, uint32(len(q.due)))
	for i := range q.due {
		in := inputOf(&q.due[i])
		dst = history.AppendInput(dst, (*history.Input)(&in))
	}
	clear(q.due)
	return dst
}

// readEntry reads an input, and copies its Data.
func (q *inputs) readEntry(r *wire.Reader) loop.Entry[payload] {
	in := Input(history.ReadInput(r))
	return q.entryOf(&in)
}

// decode replaces the inputs that wait by those that encode wrote, or changes nothing.
func (q *inputs) decode(data []byte) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	entries, err := q.decodeEntries(data)
	if err == nil {
		q.due = q.queue.AppendWaiting(q.due[:0]) // to be released
		if err = q.queue.Restore(entries); err == nil {
			entries = q.due
		}
		err = q.configError(err, len(entries))
		if errors.Is(err, loop.ErrDuplicate) { // no queue holds an input twice
			err = fault.Field(ErrCorrupt, "evertick: snapshot: inputs", err)
		}
	}
	for i := range entries {
		q.buffers.release(entries[i].Value.data)
	}
	clear(q.decoded)
	clear(q.due)
	if err == nil {
		q.release()
	}
	return err
}

// decodeEntries copies entries. The caller releases them, even if there is an error.
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
