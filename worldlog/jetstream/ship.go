package jetstream

import (
	"bytes"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/worldlog"
)

// Shipper sends a log to a stream. Its methods may be called from any goroutine.
type Shipper struct {
	link
	c      ShipConfig
	log    *worldlog.Log
	id     worldlog.Identity
	owner  owner
	claims [claimSize]byte // random, in the messages that begin its terms: two processes with copies of a log have one owner

	// Of the goroutine that ships:
	in       *summer // reads the local log
	waiting  bool    // in.encoded is a tick that the last message had no room for
	waitFrom sum     // rolling checksum before it
	term     uint64  // 0: none yet
	seq      uint64  // of the last message of the stream
	next     uint64  // tick that the stream lacks
	sum      sum     // rolling checksum before it
	begun    uint64  // times that it began a term: no two of its messages have the same Nats-Msg-Id
	anew     bool    // the stream does not have what it must, and its ticks are to be shipped from the first one on
	purge    uint64  // messages before this one are to be removed; 0: none
	front    uint64  // first message of the stream, if it has the first tick
	looked   time.Time
	body     []byte
	data     []byte

	cancel  context.CancelFunc
	closing chan struct{}
	once    sync.Once
	done    chan struct{}
	wake    chan struct{} // the Sim has ended a tick; holds one
	ended   atomic.Pointer[error]
	acked   atomic.Uint64 // next, for the Sim
	left    atomic.Bool   // the Sim no longer depends on the Shipper
	holed   atomic.Uint64 // a message that was found to be missing; 0: none

	mu    sync.Mutex
	stats ShipStats
	since time.Time // when the stream began to lack a tick; zero: it lacks none
}

// ShipStats count what a Shipper has done.
type ShipStats struct {
	Term      uint64
	Shipped   uint64 // ticks from the first one on that the stream has confirmed
	Committed uint64 // ticks that the local log has accepted
	Behind    uint64 // ticks that the stream lacks
	BehindNs  int64  // how long it has lacked a tick; 0: it lacks none
	Messages  uint64 // confirmed
	Bytes     uint64 // in them
	Retries   uint64 // messages sent again, or looked for because no answer came
	LastErr   error  // why the last message had to be sent again, or the local log cannot be read; nil: neither
	// Restarts counts how often the stream had lost messages, or had damaged ones, so that ticks were shipped again.
	Restarts uint64

	Snapshots   uint64 // put into the object store
	SnapshotErr error  // the last failure, which does not stop shipping
}

// Ship sends each tick of a recording to a stream, which it makes if there is none, until Close, the end of ctx, or an error.
// Call it on the goroutine that steps the Sim, which never waits for the stream. The log must be on the file system of the
// operating system.
//
// It begins after the last tick of the stream, which the local log must have, with the same rolling checksum. Errors: ErrLost
// (it lacks ticks of the stream), ErrForeign (another run) together with ErrUnsupported for another scenario or SimVersion,
// ErrBranched (other ticks), *FencedError (another log ships to the stream), ErrForged, ErrRange; or those of the server.
//
// A later error ends the Shipper, see Err, and the next Step of the Sim returns it. A local log that cannot be read is no such
// error: the Shipper tries again. Stats reports why, and how many ticks the stream lacks; ShipConfig.MaxBehind limits these.
func Ship(ctx context.Context, nc *nats.Conn, rec *replay.Recorder, c ShipConfig) (*Shipper, error) {
	if rec == nil {
		panic("jetstream: nil Recorder")
	}
	s, err := newShipper(nc, rec.Log(), c)
	if err != nil {
		return nil, err
	}
	if err := s.ensure(ctx); err != nil {
		return nil, err
	}
	if err := s.align(ctx); err != nil {
		if s.in != nil {
			err = errors.Join(err, s.in.reader.Close())
		}
		return nil, err
	}
	s.start(ctx, rec.Sim())
	return s, nil
}

func newShipper(nc *nats.Conn, log *worldlog.Log, c ShipConfig) (*Shipper, error) {
	id := log.Identity()
	name, err := streamName(c.Name, id.Scenario)
	if err != nil {
		return nil, err
	}
	l, err := newLink(nc, name, c.Key)
	if err != nil {
		return nil, err
	}
	c, err = c.withDefaults(int(nc.MaxPayload()))
	if err != nil {
		return nil, err
	}
	s := &Shipper{link: *l, c: c, log: log, id: id,
		closing: make(chan struct{}), done: make(chan struct{}), wake: make(chan struct{}, 1)}
	rand.Read(s.claims[:])
	s.owner, err = ownerOf(s.log.Dir())
	return s, err
}

// ensure makes the stream if there is none.
func (s *Shipper) ensure(ctx context.Context) error {
	err := s.open(ctx)
	if !errors.Is(err, jetstream.ErrStreamNotFound) {
		return err
	}
	c := s.c.Stream
	c.Name, c.Subjects, c.Discard, c.DenyDelete = s.name, []string{s.ticks}, jetstream.DiscardOld, true
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	stream, err := s.js.CreateStream(ctx, c)
	if err != nil {
		return fmt.Errorf("jetstream: stream %s: %w", s.name, err)
	}
	s.stream = stream
	return nil
}

// align finds the tick of the local log after which the stream ends, and begins a term there. The first one of a Shipper is higher
// than all in the stream. One that runs and begins again, as the stream has lost messages, keeps its own: it does not know
// which terms the stream has lost with them, so that a higher one could belong to a newer master.
func (s *Shipper) align(ctx context.Context) error {
	for {
		e, err := s.end(ctx)
		if err != nil {
			return err
		}
		term, err := s.locate(ctx, e)
		if err != nil {
			return err
		}
		err = s.claim(ctx, e.seq, term)
		if err == nil && s.anew {
			s.anew, s.purge = false, s.seq
			s.removeOld(ctx)
		}
		if !errors.Is(err, errMoved) {
			return err
		}
	}
}

// locate sets the position of the stream, and returns the term to begin.
func (s *Shipper) locate(ctx context.Context, e end) (term uint64, err error) {
	s.waiting = false
	if s.in == nil {
		if s.in, err = newSummer(s.log.Dir(), s.sums); err != nil {
			return 0, err
		}
	}
	if err := s.mayBegin(ctx, e); err != nil {
		return 0, err
	}
	m, from := e.last, s.id.FirstTick
	if m != nil && !s.anew {
		from = m.next()
	} else if m != nil && e.limited {
		from = s.firstTick(ctx, e)
	}
	if err := s.in.seek(from); err != nil {
		return 0, err
	}
	if m != nil && !s.anew && (s.in.next != from || s.in.sum != m.after) {
		switch {
		case m.term < s.term: // an older master has written to a stream that had lost the term of this one
			s.anew = true
			return s.locate(ctx, e)
		case s.in.next < from:
			return 0, fmt.Errorf("jetstream: the stream ends with tick %d, the local log with tick %d: %w", from-1, int64(s.in.next)-1, ErrLost)
		}
		return 0, fmt.Errorf("jetstream: the local log has another tick than the stream among those before tick %d: %w", from, ErrBranched)
	}
	s.next, s.sum = s.in.next, s.in.sum
	switch {
	case s.term > 0:
		return s.term, nil
	case m == nil: // of a stream that was emptied, only the number of messages is known, which no term exceeds
		return e.seq + 1, nil
	}
	return m.term + 1, nil
}

// mayBegin reports why this Shipper may not begin a term at the end of a stream.
func (s *Shipper) mayBegin(ctx context.Context, e end) error {
	m := e.last
	if m == nil {
		if s.term > 0 && e.seq > s.seq+1 { // one more can be from this Shipper, if no answer came
			return s.fenced(ctx, e)
		}
		return nil
	}
	if err := checkRun(&s.id, &m.id); err != nil {
		return err
	}
	switch {
	case s.began(m):
		return nil
	case s.term == 0 && (m.owner == s.owner || s.c.Claim), m.term < s.term, m.term == s.term && m.owner == s.owner:
		return nil
	}
	return s.fenced(ctx, e)
}

// fenced returns the error for a stream that another master has.
func (s *Shipper) fenced(ctx context.Context, e end) error {
	fenced := &FencedError{Term: s.term, From: 1}
	common := s.acked.Load()
	if e.last != nil {
		fenced.By = e.last.term
		if both, err := s.common(ctx, s.in, e); err == nil {
			common = both
		}
	}
	tick, ok := s.log.CommittedTick()
	if !ok {
		return fenced
	}
	fenced.From, fenced.To = common, tick
	return fenced
}

// errMoved: somebody else has written to the stream since its end was read.
var errMoved = errors.New("jetstream: the stream has moved on")

// claim begins a term.
func (s *Shipper) claim(ctx context.Context, seq, term uint64) error {
	before := s.term
	s.seq, s.term = seq, term
	s.begun++
	m := s.message(kindTerm, s.next, 0, s.sum, s.sum, s.claims[:])
	err := s.send(ctx, m)
	var rewound *rewoundError
	if errors.As(err, &rewound) || errors.Is(err, ErrFenced) {
		err = errMoved
	}
	if err != nil {
		s.term = before // it is not the master of this term
	}
	return err
}

// began reports whether this Shipper began the term of m by that message.
func (s *Shipper) began(m *message) bool {
	return m.kind == kindTerm && bytes.Equal(m.body, s.claims[:])
}

func (s *Shipper) message(k kind, first uint64, count uint32, before, after sum, body []byte) *message {
	return &message{kind: k, term: s.term, owner: s.owner, id: s.id, first: first, count: count, before: before, after: after, body: body}
}

// start lets the Sim and the goroutine run.
func (s *Shipper) start(ctx context.Context, sim *evertick.Sim) {
	ctx, s.cancel = context.WithCancel(ctx)
	sim.AddHooks(evertick.Hooks{AfterTick: s.afterTick})
	s.note(func(st *ShipStats) { st.Term = s.term })
	s.looked = time.Now()
	go s.run(ctx)
}

// afterTick runs on the goroutine of the Sim.
func (s *Shipper) afterTick(t *evertick.Tick) error {
	if s.left.Load() {
		return nil
	}
	if err := s.ended.Load(); err != nil {
		return *err
	}
	if most := s.c.MaxBehind; most > 0 && t.N+1-min(t.N+1, s.acked.Load()) > most {
		return fmt.Errorf("jetstream: tick %d: the stream has ticks up to %d, MaxBehind is %d: %w", t.N, int64(s.acked.Load())-1, most, ErrBehind)
	}
	select {
	case s.wake <- struct{}{}:
	default:
	}
	return nil
}

func (s *Shipper) note(f func(*ShipStats)) {
	s.mu.Lock()
	defer s.mu.Unlock()
	f(&s.stats)
}

// Stats returns the counts so far.
func (s *Shipper) Stats() ShipStats {
	s.mu.Lock()
	defer s.mu.Unlock()
	st := s.stats
	st.Shipped = s.acked.Load()
	if tick, ok := s.log.CommittedTick(); ok {
		st.Committed = tick + 1
	}
	st.Behind = st.Committed - min(st.Committed, st.Shipped)
	if st.Behind > 0 && !s.since.IsZero() {
		st.BehindNs = time.Since(s.since).Nanoseconds()
	}
	return st
}

// Err returns why the Shipper has ended, or nil.
func (s *Shipper) Err() error {
	if err := s.ended.Load(); err != nil && !errors.Is(*err, ErrClosed) {
		return *err
	}
	return nil
}

// Done is closed when the Shipper has ended.
func (s *Shipper) Done() <-chan struct{} { return s.done }

// Close ships what the local log has accepted, and ends the Shipper; the Sim may go on without it. It
// waits until ctx ends. The error is that of the Shipper, or of ctx with the number of ticks that are not in the stream.
func (s *Shipper) Close(ctx context.Context) error {
	s.left.Store(true)
	s.once.Do(func() { close(s.closing) })
	select {
	case <-s.done:
	case <-ctx.Done():
		s.cancel()
		<-s.done
		if st := s.Stats(); s.Err() == nil && st.Behind > 0 {
			return fmt.Errorf("jetstream: %d ticks are not in the stream: %w", st.Behind, ctx.Err())
		}
	}
	return s.Err()
}

// run ships until something ends it.
func (s *Shipper) run(ctx context.Context) {
	defer close(s.done)
	stop := make(chan struct{})
	var others sync.WaitGroup
	others.Go(func() { s.shelve(ctx, stop) })
	others.Go(func() { s.patrol(ctx, stop) })
	err := s.loop(ctx)
	if !errors.Is(err, errFinished) {
		s.cancel()
	}
	close(stop)
	others.Wait()
	if errors.Is(err, errFinished) || ctx.Err() != nil && !isFault(err) {
		err = fmt.Errorf("jetstream: %w", ErrClosed)
	}
	s.ended.Store(&err)
	s.cancel()
	if e := s.in.reader.Close(); e != nil {
		s.note(func(st *ShipStats) { st.LastErr = e })
	}
}

// errFinished: all has been shipped after Close.
var errFinished = errors.New("finished")

func (s *Shipper) loop(ctx context.Context) error {
	for {
		if time.Since(s.looked) >= s.c.Beat {
			if err := s.look(ctx); err != nil {
				return err
			}
		}
		m, err := s.gather()
		if err == nil && m == nil {
			err = s.idle(ctx)
		} else if err == nil {
			s.lacks()
			err = s.send(ctx, m)
		}
		if isReadError(err) {
			err = s.unread(ctx, err)
		}
		var rewound *rewoundError
		if errors.As(err, &rewound) {
			err = s.again(ctx, rewound)
		}
		if err != nil {
			return err
		}
	}
}

// again begins its term again where a stream ends that has lost messages, or at the first tick.
func (s *Shipper) again(ctx context.Context, why error) error {
	s.note(func(st *ShipStats) { st.LastErr = why; st.Restarts++ })
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		err := s.ensure(ctx)
		if err == nil {
			err = s.align(ctx)
		}
		if err == nil || isFault(err) && !isReadError(err) {
			s.note(func(st *ShipStats) { st.Term = s.term })
			return err
		}
		s.note(func(st *ShipStats) { st.LastErr = err })
		if !pause(ctx, wait) {
			return ctx.Err()
		}
	}
}

// ready returns the ticks that may be shipped.
func (s *Shipper) ready() uint64 {
	tick, ok := s.log.WrittenTick()
	if s.c.Durable {
		tick, ok = s.log.DurableTick()
	}
	if !ok {
		return 0
	}
	return tick + 1
}
