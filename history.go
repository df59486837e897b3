package evertick

import (
	"errors"
	"fmt"
	"unsafe"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/loop"
)

// ErrReplaying is returned by Push while StepBack or Forward run ticks again, unless
// the input is one that was pushed in that tick when it ran first, or a feed told its inputs.
var ErrReplaying = errors.New("ticks are run again")

// HistoryConfig says what a Sim keeps of ticks that are over, for StepBack. The zero value
// keeps nothing.
type HistoryConfig struct {
	// Keep is the number of snapshots kept, up to 1<<20: StepBack reaches (Keep-1) × Every ticks
	// or more, once as many have run. 0: there is no history.
	Keep int
	// Every is the number of ticks from one to the next, up to 1<<30. 0: 60.
	Every int
	// Bytes is the memory that snapshots and the inputs of the ticks between may take
	// together. The oldest go when there is more, but for one; until the next snapshot it
	// may be a quarter more, and one comes early where inputs are more than that. 0: 64 MiB.
	Bytes int64
}

const (
	defaultHistoryEvery = 60
	defaultHistoryBytes = 64 << 20
)

// Validate returns an error that wraps ErrRange for each field out of its range.
func (c HistoryConfig) Validate() error {
	var errs []error
	if c.Keep < 0 || c.Keep > 1<<20 {
		errs = append(errs, fault.Field(ErrRange, "evertick: Config.History.Keep", c.Keep))
	}
	if c.Every < 0 || c.Every > 1<<30 {
		errs = append(errs, fault.Field(ErrRange, "evertick: Config.History.Every", c.Every))
	}
	if c.Bytes < 0 {
		errs = append(errs, fault.Field(ErrRange, "evertick: Config.History.Bytes", c.Bytes))
	}
	return errors.Join(errs...)
}

func (c HistoryConfig) withDefaults() HistoryConfig {
	if c.Every == 0 {
		c.Every = defaultHistoryEvery
	}
	if c.Bytes == 0 {
		c.Bytes = defaultHistoryBytes
	}
	return c
}

// history is snapshots, and what came from outside in the ticks since the oldest. The
// ticks of log follow each other; while the Sim stands in the past, some of them are to come.
type history struct {
	HistoryConfig
	marks []historyMark // ascending
	log   []tickLog
	first uint64 // tick of log[0]
	tail  []byte // what was pushed behind the last tick of log, when the Sim went back
	undo  []byte // the state before a StepBack
	since int64  // bytes of the log behind the last mark

	spareMarks, spareLogs [][]byte
}

type historyMark struct {
	tick uint64 // that comes next
	data []byte
}

// tickLog is what a tick got from outside, as input.go encodes inputs.
type tickLog struct {
	data  []byte // what was pushed before it, or told by the feed; and while it ran
	split int    // where the second begins
	fed   bool
	hash  uint64 // that it left behind
}

func (h *history) on() bool { return h.Keep > 0 }

// tickLogBytes is what a tick without inputs takes.
const tickLogBytes = int64(unsafe.Sizeof(tickLog{}))

// size is the memory that it takes.
func (log *tickLog) size() int64 { return tickLogBytes + int64(cap(log.data)) }

// end is the tick behind the last one known.
func (h *history) end() uint64 { return h.first + uint64(len(h.log)) }

// HistoryBytes returns the memory that the history takes.
func (s *Sim) HistoryBytes() int64 {
	h := &s.history
	n := int64(cap(h.tail) + cap(h.undo))
	for _, list := range [...][][]byte{h.spareMarks, h.spareLogs} {
		for _, b := range list {
			n += int64(cap(b))
		}
	}
	for i := range h.marks {
		n += int64(cap(h.marks[i].data))
	}
	for i := range h.log {
		n += h.log[i].size()
	}
	return n
}

// OldestTick returns the earliest tick that StepBack can reach, which is that of Ticks if
// there is no history yet.
func (s *Sim) OldestTick() uint64 {
	if len(s.history.marks) == 0 {
		return s.n
	}
	return s.history.marks[0].tick
}

// StepBack goes n ticks back, to the state that the last of the others has left behind: it
// restores the nearest snapshot before and runs again what follows, with the inputs
// that these ticks had. Inputs that have arrived since are forgotten; Forward brings
// them back, a Step goes another way. A Sim that has failed goes back too, then n = 0
// is to the beginning of the tick that failed.
//
// Ticks that are run again call systems and hooks; Tick.Again tells them. If a tick leaves
// another hash behind than before, something has changed the Sim other than by inputs:
// between ticks, or in what systems keep without AddState. That is ErrStale naming the tick;
// the Sim is then where it was, as with any other error. A tick before OldestTick is
// ErrRange, naming that; without Config.History it is ErrUnsupported.
func (s *Sim) StepBack(n uint64) error {
	h := &s.history
	if s.stepping {
		panic("evertick: StepBack within a step")
	}
	if !h.on() {
		return fault.Field(ErrUnsupported, "evertick: StepBack: Config.History.Keep", h.Keep)
	}
	if len(h.marks) == 0 && n == 0 && s.failed == nil {
		return nil
	}
	if n > s.n || s.n-n < s.OldestTick() {
		return fmt.Errorf("evertick: StepBack: %d ticks back from %d, the oldest is %d: %w", n, s.n, s.OldestTick(), ErrRange)
	}
	return s.travel(s.n - n)
}

// travel takes the Sim to a tick in the past.
func (s *Sim) travel(target uint64) error {
	h, before, from := &s.history, s.failed, s.n
	s.inputs.close(true)
	defer s.inputs.close(false)
	if before == nil {
		var err error
		if h.undo, err = s.Snapshot(h.undo[:0]); err != nil {
			return err
		}
	}
	atEnd := h.ahead(s.n) == 0
	arrived := s.inputs.forgetArrived(before != nil)
	err := s.restore(h.before(target).data)
	for err == nil && s.n < target {
		err = s.again()
	}
	if err == nil {
		if atEnd {
			h.tail = arrived
		}
		return s.catchUp()
	}
	if before != nil {
		s.failed, s.n = before, from
		s.inputs.rememberArrived(arrived, true)
		return err
	}
	if e := s.restore(h.undo); e != nil {
		s.failed = e
	}
	s.inputs.rememberArrived(arrived, false)
	return err
}

// catchUp brings back what was pushed behind the last tick, if the Sim stands there.
func (s *Sim) catchUp() error {
	h := &s.history
	if h.ahead(s.n) > 0 {
		return nil
	}
	err := s.inputs.pushAll(h.tail, true)
	h.tail = nil
	return err
}

// before returns the latest snapshot that is not later than a tick. There is one.
func (h *history) before(tick uint64) *historyMark {
	i := len(h.marks) - 1
	for h.marks[i].tick > tick {
		i--
	}
	return &h.marks[i]
}

// Forward runs n ticks again that StepBack has undone, with the inputs that they had. If
// there are fewer it is ErrRange and nothing happens; if inputs were pushed since the
// StepBack, which would not have a place, ErrStale. Else errors are those of StepBack,
// where the Sim then stands at the tick that came out in another way.
func (s *Sim) Forward(n uint64) error {
	h := &s.history
	if s.stepping {
		panic("evertick: Forward within a step")
	}
	if s.failed != nil {
		return s.failed
	}
	if ahead := h.ahead(s.n); n > ahead {
		return fault.Field(ErrRange, "evertick: Forward: ticks", n)
	}
	if n == 0 {
		return nil
	}
	s.inputs.close(true)
	defer s.inputs.close(false)
	if s.inputs.hasArrived() {
		return fault.Field(ErrStale, "evertick: Forward: inputs pushed since StepBack", true)
	}
	for range n {
		if err := s.again(); err != nil {
			return err
		}
	}
	return s.catchUp()
}

// ahead is the number of ticks that were undone.
func (h *history) ahead(now uint64) uint64 {
	if end := h.end(); len(h.log) > 0 && now < end {
		return end - now
	}
	return 0
}

// again runs a tick of the log.
func (s *Sim) again() error {
	if err := s.Check(); err != nil {
		return err
	}
	log := &s.history.log[s.n-s.history.first]
	s.inputs.replayFrom(log)
	defer s.inputs.replayFrom(nil)
	tick := s.n
	if err := s.stepOnce(); err != nil && err != s.stop {
		return err
	}
	if s.hash != log.hash {
		return fault.Field(ErrStale, fmt.Sprintf("evertick: tick %d run again: hash", tick), fmt.Sprintf("%016x, was %016x", s.hash, log.hash))
	}
	return s.inputs.pushAll(log.data[log.split:], false)
}

// Again reports whether the tick has run before: see Sim.StepBack. What a system does
// beyond the simulation, as to play a sound, it does not do again then.
func (t *Tick) Again() bool { return t.Sim.inputs.again }

// beginTick prepares the history for a tick that has not run before.
func (s *Sim) beginTick() error {
	h := &s.history
	if !h.on() {
		return nil
	}
	if h.ahead(s.n) > 0 || h.tail != nil {
		h.cut(s.n)
	}
	if len(h.marks) == 0 {
		h.first, h.log = s.n, h.log[:0]
		s.inputs.forgetArrived(false) // they wait in the snapshot
		return s.mark()
	}
	return nil
}

// cut forgets what lies ahead.
func (h *history) cut(now uint64) {
	for h.end() > now {
		last := &h.log[len(h.log)-1]
		h.spareLogs = append(h.spareLogs, last.data)
		h.log = h.log[:len(h.log)-1]
	}
	for n := len(h.marks); n > 0 && h.marks[n-1].tick > now; n-- {
		h.spareMarks = append(h.spareMarks, h.marks[n-1].data)
		h.marks = h.marks[:n-1]
	}
	h.tail, h.since = nil, 0
	for i := h.marks[len(h.marks)-1].tick - h.first; i < uint64(len(h.log)); i++ {
		h.since += h.log[i].size()
	}
}

// endTick records a tick that is over. If a hook behind it has failed there is no
// snapshot: the hook may have left something half done.
func (s *Sim) endTick() error {
	h := &s.history
	if !h.on() {
		return nil
	}
	log := tickLog{hash: s.hash, data: takeSpare(&h.spareLogs)}
	s.inputs.seal(&log)
	h.log = append(h.log, log)
	h.since += log.size()
	due := s.n-h.marks[len(h.marks)-1].tick >= uint64(h.Every) || h.since > h.Bytes/4
	if !due || s.failed != nil {
		return nil
	}
	return s.mark()
}

// mark adds a snapshot, and lets the oldest go if there are too many.
func (s *Sim) mark() error {
	h := &s.history
	s.endRestored()
	data, err := s.encode(takeSpare(&h.spareMarks))
	if err != nil {
		return err
	}
	h.marks, h.since = append(h.marks, historyMark{s.n, data}), 0
	for len(h.marks) > h.Keep {
		h.dropOldest()
	}
	for s.HistoryBytes() > h.Bytes && len(h.marks) > 1 {
		h.dropOldest()
		h.spareMarks, h.spareLogs = nil, nil
	}
	return nil
}

func takeSpare(list *[][]byte) []byte {
	n := len(*list)
	if n == 0 {
		return nil
	}
	b := (*list)[n-1][:0]
	*list = (*list)[:n-1]
	return b
}

// dropOldest forgets the oldest snapshot and the ticks up to the next.
func (h *history) dropOldest() {
	h.spareMarks = append(h.spareMarks, h.marks[0].data)
	n := copy(h.marks, h.marks[1:])
	h.marks[n] = historyMark{}
	h.marks = h.marks[:n]
	gone := len(h.log)
	if n > 0 {
		gone = int(h.marks[0].tick - h.first)
		h.first = h.marks[0].tick
	}
	for i := range gone {
		h.spareLogs = append(h.spareLogs, h.log[i].data)
	}
	left := copy(h.log, h.log[gone:])
	clear(h.log[left:])
	h.log = h.log[:left]
}

// clear forgets everything: the state was replaced from outside.
func (h *history) clear() {
	for len(h.marks) > 0 {
		h.dropOldest()
	}
	h.tail = nil
}

// replayFrom makes the inputs of the next tick those of a log; nil ends it.
func (q *inputs) replayFrom(log *tickLog) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.replay = log
}

// close keeps out what is pushed from other goroutines while ticks are run again.
func (q *inputs) close(closed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.again = closed
}

// takeAgain makes known the inputs that a tick had.
func (q *inputs) takeAgain(tick uint64, log *tickLog) error {
	data := log.data[:log.split]
	if !log.fed {
		if err := q.putAll(data, false); err != nil {
			return err
		}
		q.takeDue(tick)
		return nil
	}
	for r := wire.NewReader(data); r.Len() > 0; {
		in := readInput(&r)
		in.Data = q.buffers.copyOf(in.Data)
		q.now = append(q.now, in)
	}
	q.mine = true
	return nil
}

// pushed reports whether an input was pushed while a tick ran.
func (log *tickLog) pushed(in *Input) bool {
	for r := wire.NewReader(log.data[log.split:]); r.Len() > 0; {
		if was := readInput(&r); was.Source == in.Source && was.Seq == in.Seq {
			return true
		}
	}
	return false
}

// pushAll puts encoded inputs back; arriving says that they count as pushed now.
func (q *inputs) pushAll(data []byte, arriving bool) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	return q.putAll(data, arriving)
}

func (q *inputs) putAll(data []byte, arriving bool) error {
	if arriving {
		q.arrived = append(q.arrived, data...)
	}
	for r := wire.NewReader(data); r.Len() > 0; {
		e := q.readEntry(&r)
		if err := q.queue.Push(e); err != nil {
			q.buffers.give(e.Value.data)
			if !errors.Is(err, loop.ErrDuplicate) { // it waits in the snapshot already
				return err
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

// forgetArrived returns what has arrived since the last tick, and before it, if that has failed.
func (q *inputs) forgetArrived(failed bool) []byte {
	q.mu.Lock()
	defer q.mu.Unlock()
	var list []byte
	if failed {
		list = append(list, q.before...)
	}
	list = append(list, q.arrived...)
	q.arrived = q.arrived[:0]
	return list
}

// rememberArrived undoes forgetArrived.
func (q *inputs) rememberArrived(arrived []byte, failed bool) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if failed {
		arrived = arrived[len(q.before):]
	}
	q.arrived = append(q.arrived[:0], arrived...)
}

// seal completes the log of a tick.
func (q *inputs) seal(log *tickLog) {
	q.mu.Lock()
	defer q.mu.Unlock()
	log.fed = q.fed
	if q.fed {
		for i := range q.now {
			log.data = appendInput(log.data, &q.now[i])
		}
		log.split = len(log.data)
		log.data = append(log.data, q.before...) // which goes on waiting
	} else {
		log.data = append(log.data, q.before...)
		log.split = len(log.data)
	}
	log.data = append(log.data, q.arrived...)
	q.before, q.arrived = q.before[:0], q.arrived[:0]
}
