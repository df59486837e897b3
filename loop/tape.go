package loop

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
)

// A tape is, in this order:
//
//	"evtkloop", uvarint version
//	uvarint length of the Config in JSON, and that
//	the inputs, each a uvarint whose low two bits say which it is:
//		0 Advance: zigzag of its time less the time of the Advance before
//		1 AdvanceTo: zigzag of its time less the time of the AdvanceTo before, less
//			the same for that one
//		2 another: the rest is its code, arguments follow as uvarints
//
// AppendBinary adds the CRC-32C of all that in four bytes, little-endian.
const (
	tapeMagic   = "evtkloop"
	tapeVersion = 1

	tapeKindBits  = 2
	tapeAdvance   = 0
	tapeAdvanceTo = 1
	tapeOther     = 2
)

// The codes of other inputs.
const (
	opAdvance      = iota // zigzag that takes more than 62 bits
	opAdvanceTo           // the same
	opStartNew            // no argument
	opResetTiming         // no argument
	opSetPaused           // 0 or 1
	opRunThenPause        // steps
	opSetMenu             // 0 or 1
	opSetPhase            // phase
	opFreeze              // ns
	opStartTimer          // id, clock, ns
	opSetScale            // channel, ns, bits of the value; length of the owner, owner
	opReleaseScale        // channel; length of the owner, owner
	opShift               // zigzag of the steps that Drive has put back since, how many still run
	opHalt                // no argument: a step has panicked
	opResume              // no argument
)

// Tape holds the inputs of a Loop since New or StartNew, in their order: elapsed times, and the
// calls of all methods that change later frames. The frames are a function of these, so Replay
// repeats them, bit for bit, on any machine with the same version of this package. So you can
// examine a hitch that occurred once as often as you need.
//
// A frame takes three bytes as a rule, so an hour at 60 Hz is about 650 kB.
//
// The zero Tape is ready for Loop.Record. It is not safe for concurrent use.
type Tape struct {
	// Limit is the most bytes that Len may come to, 0 means no limit. The first
	// input for which there is no room ends the recording: see Err.
	Limit int

	data   []byte // all but the checksum
	inputs int    // where they begin in data
	config Config
	loop   *Loop // that records, nil once the recording has ended
	err    error

	times tapeTimes
	last  checkpoint // of the Loop after the last input
}

// tapeTimes is what the next time is encoded against. Differences wrap.
type tapeTimes struct{ elapsed, now, passed int64 }

// checkpoint is the part of a Loop that shows whether the Loop is still as its tape left it.
type checkpoint struct {
	units, wall   uint64 // are moved by inputs alone
	tick, backlog uint64 // Drive puts steps back, and takes them out again
	running       uint64
	halted        bool
}

func (l *Loop) checkpoint() checkpoint {
	return checkpoint{
		units: l.units, wall: l.wall,
		tick: l.tick, backlog: l.backlog, running: l.running, halted: l.fault != nil,
	}
}

// Record makes l write its inputs to t from now on, until Record is called
// again; nil ends it. t loses what it held. The Loop must be as New or
// StartNew left it: otherwise the error is ErrRange, and nothing changes.
//
// A copy of l does not record. If l is overwritten, for example by a saved copy,
// its recording ends with the next input: see Tape.Err.
func (l *Loop) Record(t *Tape) error {
	if l.unit == 0 {
		panic("loop: Loop not made by New")
	}
	if t == nil {
		l.tape = nil
		return nil
	}
	fresh := Loop{setup: l.setup}
	fresh.StartNew()
	if l.state != fresh.state {
		return fault.Field(ErrRange, "loop: Record: a Loop that has been used, at tick", l.tick)
	}
	config, err := json.Marshal(l.config)
	if err != nil {
		return fmt.Errorf("loop: Record: %w", err)
	}
	*t = Tape{Limit: t.Limit, data: t.data[:0], config: l.config, loop: l, last: l.checkpoint()}
	t.data = append(t.data, tapeMagic...)
	t.data = wire.AppendUvarints(t.data, tapeVersion)
	t.data = wire.AppendPrefixed(t.data, config)
	t.inputs = len(t.data)
	l.tape = t
	return nil
}

// Fork returns a copy of l that does not record.
func (l *Loop) Fork() Loop {
	fork := *l
	fork.tape, fork.driven = nil, nil
	return fork
}

// Grow makes room for n more bytes, so that recording them does not allocate. A
// negative n panics.
func (t *Tape) Grow(n int) { t.data = append(t.data, make([]byte, n)...)[:len(t.data)] }

// Len returns the number of bytes that t holds.
func (t *Tape) Len() int { return len(t.data) }

// Err returns why the recording ended before the program ended it: ErrCapacity if Limit was
// reached, ErrStale if the Loop was overwritten, nil if neither. What was recorded until then can
// be replayed.
func (t *Tape) Err() error { return t.err }

// Config returns the Config of the Loop that was recorded, defaults filled in.
func (t *Tape) Config() Config { return t.config }

// recorder returns the tape to which the next input of l is to be written, or
// nil.
func (l *Loop) recorder() *Tape {
	t := l.tape
	if t == nil || t.loop != l {
		return nil
	}
	t.recordShift(l.checkpoint())
	if t.loop == nil {
		return nil
	}
	return t
}

// recordShift records what Drive has done since the last input: it puts the steps of
// the frame back and takes each one out again once it has succeeded.
func (t *Tape) recordShift(at checkpoint) {
	if at == t.last {
		return
	}
	was := t.last
	back := was.tick - at.tick
	t.last.tick -= back
	t.last.backlog += back
	t.last.running = at.running
	t.last.halted = at.halted
	if at != t.last || was.halted && !at.halted {
		t.stop(fault.Field(fault.ErrStale, "loop: Tape: a Loop that was overwritten, at tick", at.tick))
		return
	}
	if back != 0 || at.running != was.running {
		t.append(opShift, zigzag(int64(back)), at.running)
	}
	if at.halted != was.halted && t.loop != nil {
		t.append(opHalt)
	}
}

// stop ends the recording.
func (t *Tape) stop(err error) { t.loop, t.err = nil, err }

// record writes an input that has been found valid.
func (l *Loop) record(op uint64, args ...uint64) {
	if t := l.recorder(); t != nil {
		t.append(op, args...)
	}
}

// recordOwner is record for an input with an owner.
func (l *Loop) recordOwner(owner string, op uint64, args ...uint64) {
	t := l.recorder()
	if t == nil {
		return
	}
	start := len(t.data)
	t.data = appendInput(t.data, op, args)
	t.data = wire.AppendPrefixed(t.data, owner)
	t.enforceLimit(start)
}

// recordElapsed writes an Advance.
func (l *Loop) recordElapsed(ns int64) {
	if t := l.recorder(); t != nil {
		t.appendTime(tapeAdvance, opAdvance, ns-t.times.elapsed)
		t.times.elapsed = ns
	}
}

// recordNow writes an AdvanceTo.
func (l *Loop) recordNow(ns int64) {
	if t := l.recorder(); t != nil {
		passed := ns - t.times.now
		t.appendTime(tapeAdvanceTo, opAdvanceTo, passed-t.times.passed)
		t.times.now, t.times.passed = ns, passed
	}
}

// recorded keeps the checkpoint of l after an input that has changed it.
func (l *Loop) recorded() {
	if t := l.tape; t != nil && t.loop == l {
		t.last = l.checkpoint()
	}
}

// appendTime writes a time, in the short form if it fits.
func (t *Tape) appendTime(kind, op uint64, difference int64) {
	z := zigzag(difference)
	if z>>(64-tapeKindBits) != 0 {
		t.append(op, z)
		return
	}
	start := len(t.data)
	t.data = wire.AppendUvarints(t.data, z<<tapeKindBits|kind)
	t.enforceLimit(start)
}

// append writes an input with a code.
func (t *Tape) append(op uint64, args ...uint64) {
	start := len(t.data)
	t.data = appendInput(t.data, op, args)
	t.enforceLimit(start)
}

func appendInput(dst []byte, op uint64, args []uint64) []byte {
	dst = wire.AppendUvarints(dst, op<<tapeKindBits|tapeOther)
	return wire.AppendUvarints(dst, args...)
}

// enforceLimit takes back what was written since start, and ends the recording, if it
// is over the limit.
func (t *Tape) enforceLimit(start int) {
	if t.Limit > 0 && len(t.data) > t.Limit {
		t.data = t.data[:start]
		t.stop(fault.Field(fault.ErrCapacity, "loop: Tape.Limit", t.Limit))
	}
}

// zigzag maps 0, -1, 1, -2 … to 0, 1, 2, 3 …
func zigzag(x int64) uint64 { return uint64(x)<<1 ^ uint64(x>>63) }

func unzigzag(z uint64) int64 { return int64(z>>1) ^ -int64(z&1) }

func bit(on bool) uint64 {
	if on {
		return 1
	}
	return 0
}

// AppendBinary appends the tape to dst, with a checksum; it implements
// encoding.BinaryAppender. An empty tape is ErrRange.
func (t *Tape) AppendBinary(dst []byte) ([]byte, error) {
	if len(t.data) == 0 {
		return dst, fault.Field(ErrRange, "loop: Tape.Len", 0)
	}
	return wire.AppendCRC(append(dst, t.data...), len(dst)), nil
}

// MarshalBinary implements encoding.BinaryMarshaler: see AppendBinary.
func (t *Tape) MarshalBinary() ([]byte, error) { return t.AppendBinary(nil) }

// UnmarshalBinary makes t what AppendBinary wrote; t keeps a copy of the data, and a recording to t
// ends. Limit stays. Nothing changes on an error: ErrCorrupt for data that is cut short, altered or
// no tape, ErrUnsupported for a tape of another version. It does not check whether a Loop can have
// recorded the inputs: Replay does.
func (t *Tape) UnmarshalBinary(data []byte) error {
	read, err := parseTape(data)
	if err != nil {
		return err
	}
	read.data = bytes.Clone(read.data)
	read.Limit = t.Limit
	*t = read
	return nil
}

// parseTape returns the tape in data, without a copy of it.
func parseTape(data []byte) (Tape, error) {
	content, crc, ok := wire.CutCRC(data)
	r := wire.NewReader(content)
	if magic := r.Bytes(len(tapeMagic)); string(magic) != tapeMagic {
		return Tape{}, fault.Field(fault.ErrCorrupt, "loop: tape: begins with", fmt.Sprintf("%q", data[:min(len(data), len(tapeMagic))]))
	}
	if !ok {
		return Tape{}, fault.Field(fault.ErrCorrupt, "loop: tape: checksum", fmt.Sprintf("%#08x", crc))
	}
	v := r.Uvarint()
	if r.Err() == nil && v != tapeVersion {
		return Tape{}, fault.Field(fault.ErrUnsupported, "loop: tape: version", v)
	}
	config := r.Prefixed(math.MaxInt)
	if r.Err() != nil {
		return Tape{}, fmt.Errorf("loop: tape: %w", r.Err())
	}
	t := Tape{data: content, inputs: r.Offset()}
	dec := json.NewDecoder(bytes.NewReader(config))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&t.config); err != nil {
		return Tape{}, fmt.Errorf("loop: tape: Config: %w: %w", err, fault.ErrCorrupt)
	}
	if err := t.config.Validate(); err != nil {
		return Tape{}, fmt.Errorf("loop: tape: %w: %w", err, fault.ErrCorrupt)
	}
	return t, nil
}

// Replay makes a new Loop with the Config of the recorded one, gives it all
// inputs and calls frame, unless it is nil, with each Frame: the same frames, in
// the same order, as the recorded Loop returned. LateNs and Overrun, which Run and
// the host fill in, are empty. An error of frame ends it and is returned as it is;
// ErrCorrupt for inputs that no Loop can have recorded, ErrRange for an empty tape.
func (t *Tape) Replay(frame func(Frame) error) error {
	if len(t.data) == 0 {
		return fault.Field(ErrRange, "loop: Tape.Len", 0)
	}
	l, err := New(t.config)
	if err != nil {
		return err
	}
	r := tapeReader{Reader: wire.NewReader(t.data)}
	for r.Bytes(t.inputs); r.Len() > 0; {
		f, ok := r.input(l)
		if r.Err() != nil || !ok {
			continue
		}
		r.granted, r.back = uint64(f.Steps), 0
		if frame == nil {
			continue
		}
		if err := frame(f); err != nil {
			return err
		}
	}
	if r.Err() != nil {
		return fmt.Errorf("loop: tape: %w", r.Err())
	}
	return nil
}

// tapeReader gives the inputs of a tape to a Loop.
type tapeReader struct {
	wire.Reader
	times         tapeTimes
	granted, back uint64 // steps of the last frame, and how many of them are put back
}

// small returns a number up to most.
func (r *tapeReader) small(what string, most uint8) uint8 {
	v := r.Uvarint()
	if v > uint64(most) {
		r.Fail(what, v)
		return 0
	}
	return uint8(v)
}

func (r *tapeReader) byte(what string) uint8 { return r.small(what, math.MaxUint8) }
func (r *tapeReader) flag() bool             { return r.small("flag", 1) == 1 }
func (r *tapeReader) ns() int64              { return int64(r.Uvarint()) }
func (r *tapeReader) owner() string          { return r.String(math.MaxInt) }

// check sets the error of r if the Loop refuses an input: no Loop has recorded such an input.
func (r *tapeReader) check(err error) {
	if err != nil {
		r.FailWith(fmt.Errorf("%w: %w", err, fault.ErrCorrupt))
	}
}

// input reads the next input and gives it to l. It returns the frame, if the
// input is one that makes one.
func (r *tapeReader) input(l *Loop) (f Frame, ok bool) {
	v := r.Uvarint()
	code := v >> tapeKindBits
	switch v & (1<<tapeKindBits - 1) {
	case tapeAdvance:
		return r.advance(l, code)
	case tapeAdvanceTo:
		return r.advanceTo(l, code)
	case tapeOther:
		return r.other(l, code)
	}
	r.Fail("kind of input", v)
	return Frame{}, false
}

func (r *tapeReader) advance(l *Loop, z uint64) (Frame, bool) {
	r.times.elapsed += unzigzag(z)
	if !r.between(l) {
		return Frame{}, false
	}
	return l.Advance(r.times.elapsed), true
}

func (r *tapeReader) advanceTo(l *Loop, z uint64) (Frame, bool) {
	r.times.passed += unzigzag(z)
	r.times.now += r.times.passed
	if !r.between(l) {
		return Frame{}, false
	}
	return l.AdvanceTo(r.times.now), true
}

// between reports whether a frame may begin: it may not within a step.
func (r *tapeReader) between(l *Loop) bool {
	if l.running > 0 {
		r.Fail("steps that run during a frame", l.running)
	}
	return r.Err() == nil
}

// other reads the arguments of an input with a code. A missing argument reads as zero, which every
// input accepts, and r.Err remembers the fault.
func (r *tapeReader) other(l *Loop, code uint64) (f Frame, ok bool) {
	switch code {
	case opAdvance:
		return r.advance(l, r.Uvarint())
	case opAdvanceTo:
		return r.advanceTo(l, r.Uvarint())
	case opStartNew:
		l.StartNew()
		r.granted, r.back = 0, 0
	case opResetTiming:
		l.ResetTiming()
		r.granted, r.back = l.running, l.running
	case opSetPaused:
		l.SetPaused(r.flag())
	case opRunThenPause:
		l.RunThenPause(r.Uvarint())
	case opSetMenu:
		l.SetMenu(r.flag())
	case opSetPhase:
		r.check(l.SetPhase(r.byte("phase")))
	case opFreeze:
		r.check(l.Freeze(r.ns()))
	case opStartTimer:
		id, clock := TimerID(r.byte("timer")), TimerClock(r.byte("clock"))
		r.check(l.StartTimer(id, clock, r.ns()))
	case opSetScale:
		ch, ns := Channel(r.byte("channel")), r.ns()
		value := math.Float64frombits(r.Uvarint())
		r.check(l.SetScale(ch, r.owner(), value, ns))
	case opReleaseScale:
		ch := Channel(r.byte("channel"))
		r.check(l.ReleaseScale(ch, r.owner()))
	case opShift:
		steps := uint64(unzigzag(r.Uvarint()))
		r.shift(l, steps, r.Uvarint())
	case opHalt:
		l.fault = &PanicError{Tick: l.tick}
	case opResume:
		l.Resume()
	default:
		r.Fail("input", code)
	}
	return Frame{}, false
}

// shift puts steps of the last frame back, as Drive does, or takes them out again if steps is
// negative modulo 2^64. running is the number of steps that were put back and still run.
func (r *tapeReader) shift(l *Loop, steps, running uint64) {
	back := r.back + steps
	if r.Err() != nil || back > r.granted || running > back || l.backlog+steps > 1<<63 {
		r.Fail("steps put back", int64(steps))
		return
	}
	r.back = back
	l.tick -= steps
	l.backlog += steps
	l.running = running
}
