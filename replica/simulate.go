package replica

import (
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/evertick/evertick"
)

const (
	// logBytes is how much of the last Inputs messages a Server keeps, besides the last message: some
	// 10 s of 10 players at 60 Hz.
	logBytes = 64 << 10
	// snapshotAge is the number of ticks for which a Snapshot is sent to all clients that need one, and for
	// which a client waits for another one: no client can make the Server encode its state in each tick.
	snapshotAge = 30
)

// checkSimulate returns the error, a wrapped Code, for a client that wants to simulate and cannot. A
// transport that is not ordered is refused: no message of the mode can be left out.
func checkSimulate(h *Hello, ordered bool) error {
	switch {
	case h.Mode != Simulate:
		return nil
	case h.SimVersion != evertick.SimVersion:
		return fmt.Errorf("%w: Hello.SimVersion = %d, that of the server is %d", WrongVersion, h.SimVersion, evertick.SimVersion)
	case !ordered:
		return fmt.Errorf("%w: mode Simulate needs an ordered transport", WrongVersion)
	}
	return nil
}

// inputStream is the part of a Server for clients in mode Simulate, its followers. It keeps a log of the last
// Inputs messages, which are the same for all followers, and the last Snapshot. Each follower has a position in
// that log. So a client that stalls, or comes back, gets the messages that it lacks, or a Snapshot if the
// log no longer has them.
//
// capture runs on the goroutine of the Sim, the other methods on any. Without followers nothing is
// kept, and capture does nothing. Sim.Hash is computed in each tick anyway, once for all that read it.
type inputStream struct {
	count atomic.Int32 // followers

	mu           sync.Mutex // guards what follows, and all followers
	log          messageLog
	era          uint64 // how often the Sim has gone back, or was restored
	wanted       bool   // a follower needs a Snapshot
	snapshot     []byte // message; not changed any more, so it is sent without the lock. nil: none
	snapshotTick uint64
	err          error // of taking it

	message []byte // scratch of capture

	out []byte // scratch of send
}

// follower is the part of a Session in mode Simulate.
type follower struct {
	next  uint64 // tick of the Inputs message that it needs next
	era   uint64 // of next
	lost  bool   // it needs a Snapshot
	quiet uint64 // tick from which on it may get another Snapshot
}

// sent says what send has sent.
type sent struct {
	inputs, inputBytes       int
	snapshots, snapshotBytes int
	refused                  bool // the connection did not take a message
}

// join adds a follower, which holds the state at a tick; 0: none.
func (s *inputStream) join(f *follower, held uint64) {
	s.count.Add(1)
	s.resume(f, held)
}

// resume is for a follower that comes back on a new connection.
func (s *inputStream) resume(f *follower, held uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.quiet = 0
	s.place(f, held)
}

// resync is for a Resync message.
func (s *inputStream) resync(f *follower, held uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.place(f, held)
}

func (s *inputStream) place(f *follower, held uint64) {
	f.next, f.era, f.lost = held, s.era, held == 0
	s.wanted = s.wanted || f.lost || !s.log.reaches(held)
}

// leave removes a follower.
func (s *inputStream) leave() {
	if s.count.Add(-1) > 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.log, s.wanted, s.snapshot = messageLog{}, false, nil
}

// capture keeps a tick. It is called in AfterTick; at is the time at which the tick ended, in µs. A
// tick that runs again is in the log already. If the Sim has gone back, or was restored, the log
// begins anew.
func (s *inputStream) capture(t *evertick.Tick, at uint64) {
	if s.count.Load() == 0 || t.Again() {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	a := applied{tick: t.N, hash: t.Sim.Hash(), at: at, inputs: t.Inputs()}
	s.message = a.append(s.message[:0])
	if s.log.next != t.N {
		if s.log.begin() != s.log.next {
			s.era++
		}
		s.log.reset(t.N)
		s.snapshot = nil
	}
	s.log.add(s.message)
	if s.wanted {
		s.wanted = false
		s.takeSnapshot(t.Sim)
	}
}

// takeSnapshot takes a Snapshot unless the last one still serves.
func (s *inputStream) takeSnapshot(sim *evertick.Sim) {
	if s.serves() {
		return
	}
	message := appendSnapshotHead(make([]byte, 0, len(s.snapshot)+len(s.snapshot)/8), sim.Ticks(), sim.Hash())
	s.snapshot, s.snapshotTick = nil, sim.Ticks()
	if message, s.err = sim.Snapshot(message); s.err == nil {
		s.snapshot = message
	}
}

// serves reports whether there is a Snapshot that is not old, and the log has all ticks since.
func (s *inputStream) serves() bool {
	return s.snapshot != nil && s.log.reaches(s.snapshotTick) && s.log.next-s.snapshotTick < snapshotAge
}

// send sends a follower what it lacks, as far as the connection takes it. Only one goroutine at a time
// may call it. An error: the Sim has no snapshots, and the session must end.
func (s *inputStream) send(f *follower, c Conn) (n sent, err error) {
	for more := true; more; {
		if !s.sendInputs(f, c, &n) {
			break
		}
		if more, err = s.sendSnapshot(f, c, &n); err != nil {
			break
		}
	}
	return n, err
}

// sendInputs sends Inputs messages. It reports whether the follower needs a Snapshot. mu is not locked while the
// connection takes a message: capture must not wait for that, and a transport in memory may call resync.
func (s *inputStream) sendInputs(f *follower, c Conn, n *sent) (lost bool) {
	for {
		tick, more, lost := s.nextInputs(f)
		if !more {
			return lost
		}
		if n.refused = !c.Send(s.out); n.refused {
			return false
		}
		n.inputs, n.inputBytes = n.inputs+1, n.inputBytes+len(s.out)
		s.mu.Lock()
		if f.next == tick { // not another place, by resync
			f.next++
		}
		s.mu.Unlock()
	}
}

// nextInputs copies the message that the follower needs next to out. more is false if there is none.
func (s *inputStream) nextInputs(f *follower) (tick uint64, more, lost bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f.lost = f.lost || f.era != s.era || !s.log.reaches(f.next)
	if f.lost || f.next == s.log.next {
		return f.next, false, f.lost
	}
	s.out = append(s.out[:0], s.log.message(f.next)...)
	return f.next, true, false
}

// sendSnapshot sends a Snapshot if there is one and the follower may get it. It reports whether it did.
func (s *inputStream) sendSnapshot(f *follower, c Conn, n *sent) (bool, error) {
	message, tick, era, err := s.snapshotFor(f)
	if message == nil {
		return false, err
	}
	if n.refused = !c.Send(message); n.refused {
		return false, nil
	}
	n.snapshots, n.snapshotBytes = n.snapshots+1, n.snapshotBytes+len(message)
	s.mu.Lock()
	defer s.mu.Unlock()
	*f = follower{next: tick, era: era, quiet: s.log.next + snapshotAge}
	return true, nil
}

// snapshotFor returns the Snapshot for a follower, or nil if it has to wait for one.
func (s *inputStream) snapshotFor(f *follower) (message []byte, tick, era uint64, err error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if f.quiet > s.log.next && f.quiet-s.log.next <= snapshotAge {
		return nil, 0, 0, nil
	}
	if s.serves() {
		return s.snapshot, s.snapshotTick, s.era, nil
	}
	s.wanted = true
	return nil, 0, 0, s.err
}

// messageLog keeps the messages of consecutive ticks. When the newer half is full it becomes the older
// one, whose messages are dropped. So it has the messages of at least logBytes/2, or the last one.
type messageLog struct {
	halves [2]messageHalf // the older one first
	next   uint64         // tick after the last one
}

// messageHalf is a part of the log without gaps.
type messageHalf struct {
	first    uint64
	messages []byte
	ends     []int // of each message
}

// begin returns the first tick of the log.
func (l *messageLog) begin() uint64 { return l.halves[0].first }

// reaches reports whether the log has all messages from a tick on.
func (l *messageLog) reaches(tick uint64) bool { return tick >= l.begin() && tick <= l.next }

// reset empties the log: the next message is the one of tick.
func (l *messageLog) reset(tick uint64) {
	for i := range l.halves {
		l.halves[i].reset(tick)
	}
	l.next = tick
}

func (h *messageHalf) reset(tick uint64) {
	if cap(h.messages) > 2*logBytes { // of a single large message
		h.messages = nil
	}
	h.first, h.messages, h.ends = tick, h.messages[:0], h.ends[:0]
}

// add adds the message of the tick next. It copies it.
func (l *messageLog) add(message []byte) {
	h := &l.halves[1]
	if len(h.ends) > 0 && len(h.messages)+len(message) > logBytes/2 {
		l.halves[0], l.halves[1] = l.halves[1], l.halves[0]
		h.reset(l.next)
	}
	h.messages = append(h.messages, message...)
	h.ends = append(h.ends, len(h.messages))
	l.next++
}

// message returns the message of a tick that the log has. It is valid until the next add.
func (l *messageLog) message(tick uint64) []byte {
	h := &l.halves[1]
	if tick < h.first {
		h = &l.halves[0]
	}
	i, from := int(tick-h.first), 0
	if i > 0 {
		from = h.ends[i-1]
	}
	return h.messages[from:h.ends[i]]
}
