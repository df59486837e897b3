package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/evertick/evertick/worldlog"
)

// How long the Shipper waits for what it cannot be woken for.
const (
	firstWait = 20 * time.Millisecond
	lastWait  = time.Second
	// writeWait is how often it looks whether a tick that is committed has been written.
	writeWait = 100 * time.Microsecond
)

// gather returns the next message: the ticks that wait, as many as fit, or a part of one that is larger. nil: none waits.
func (s *Shipper) gather() (*message, error) {
	m := s.message(kindTicks, s.next, 0, s.sum, s.sum, s.body[:0])
	for ready := s.ready(); m.next() < ready || s.waiting; {
		if !s.waiting {
			s.waitFrom = s.in.sum
			if err := s.readTick(); err != nil {
				if isEnd(err) || m.count > 0 { // its bytes are there, and its last ones not yet visible
					break
				}
				return nil, err
			}
			s.waiting = true
		}
		if len(m.body)+len(s.in.encoded)+5 > s.c.BatchBytes {
			break
		}
		m.body = appendToBody(m.body, s.in.encoded)
		m.count++
		m.after = s.in.sum
		s.waiting = false
	}
	s.body = m.body
	if m.count > 0 {
		return m, nil
	}
	if s.waiting {
		return s.firstPart(), nil
	}
	return nil, nil
}

// lacks notes that the stream lacks a tick.
func (s *Shipper) lacks() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.since.IsZero() {
		s.since = time.Now()
	}
}

// readTick reads the next tick of the local log, with what was written since if need be.
func (s *Shipper) readTick() error {
	_, err := s.in.read()
	if !isEnd(err) {
		return err
	}
	if err := s.in.refresh(); err != nil {
		return err
	}
	_, err = s.in.read()
	return err
}

// firstPart returns the first part of the tick that waits.
func (s *Shipper) firstPart() *message {
	m := s.message(kindPart, s.next, 0, s.sum, s.sum, nil)
	m.parts = uint32((len(s.in.encoded) + s.c.BatchBytes - 1) / s.c.BatchBytes)
	s.part(m)
	return m
}

// part fills in the body of a part, and what the last one has.
func (s *Shipper) part(m *message) {
	from := int(m.part) * s.c.BatchBytes
	m.body = s.in.encoded[from:min(from+s.c.BatchBytes, len(s.in.encoded))]
	if m.part+1 == m.parts {
		m.count, m.after = 1, s.in.sum
	}
}

// send publishes a message, and of a tick in parts all of them.
func (s *Shipper) send(ctx context.Context, m *message) error {
	for {
		if err := s.publish(ctx, m); err != nil {
			return err
		}
		if m.kind != kindPart || m.part+1 == m.parts {
			s.confirm(m)
			return nil
		}
		m.part++
		s.part(m)
	}
}

// confirm notes a message that the stream has.
func (s *Shipper) confirm(m *message) {
	if m.kind == kindPart {
		s.waiting = false
	}
	s.next, s.sum = m.next(), m.after
	s.acked.Store(s.next)
	committed, ok := s.log.CommittedTick()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !ok || committed < s.next {
		s.since = time.Time{}
	} else {
		s.since = time.Now()
	}
}

// publish sends one message until the stream has it. The message names the sequence number that it expects to
// follow. Only one is under way at a time: of several, one that arrives after a refused one could follow the message of
// another master, whose number is just the one that it expects.
func (s *Shipper) publish(ctx context.Context, m *message) error {
	s.data = m.append(s.data[:0], s.sums)
	id := fmt.Sprintf("%x.%d.%d.%d.%d.%d", s.claims, s.begun, m.kind, m.first, m.count, m.part)
	for wait := firstWait; ; wait = min(2*wait, lastWait) {
		err := s.try(ctx, id)
		if err != nil && ctx.Err() != nil {
			return ctx.Err()
		}
		if err != nil {
			s.note(func(st *ShipStats) { st.Retries++; st.LastErr = err })
			err = s.find(ctx, m)
		}
		if err == nil {
			s.seq++
			s.note(func(st *ShipStats) { st.Messages++; st.Bytes += uint64(len(s.data)); st.LastErr = nil })
			return nil
		}
		var rewound *rewoundError
		if isFault(err) || errors.As(err, &rewound) || err == errMoved {
			return err
		}
		if !pause(ctx, wait) {
			return ctx.Err()
		}
	}
}

// try sends the message once.
func (s *Shipper) try(ctx context.Context, id string) error {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	msg := &nats.Msg{Subject: s.ticks, Data: s.data}
	ack, err := s.js.PublishMsg(ctx, msg, jetstream.WithMsgID(id), jetstream.WithExpectLastSequence(s.seq), jetstream.WithExpectStream(s.name))
	if err == nil && ack.Sequence != s.seq+1 {
		err = fmt.Errorf("jetstream: message %d confirmed as %d", s.seq+1, ack.Sequence)
	}
	return err
}

// rewoundError says that the stream has fewer messages than it had.
type rewoundError struct{ had, has uint64 }

func (e *rewoundError) Error() string {
	return fmt.Sprintf("jetstream: the stream has %d messages, of %d", e.has, e.had)
}

// errNotYet: the stream does not have the message.
var errNotYet = errors.New("jetstream: the stream does not have the message")

// find looks whether the stream has m, which got no answer or a refusal: nil if it has, errNotYet if it ends before m.
func (s *Shipper) find(ctx context.Context, m *message) error {
	e, err := s.end(ctx)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		return &rewoundError{had: s.seq}
	}
	if err != nil {
		return err
	}
	if last := e.last; last != nil {
		if err := checkRun(&s.id, &last.id); err != nil {
			return err
		}
		if last.term > m.term || last.term == m.term && (last.owner != m.owner || last.kind == kindTerm && !s.began(last)) {
			return s.fenced(ctx, e)
		}
	}
	switch {
	case e.seq < s.seq, e.seq > s.seq && e.last == nil, e.last != nil && e.last.term < m.term && m.kind != kindTerm:
		return &rewoundError{had: s.seq, has: e.seq}
	case e.seq == s.seq:
		return errNotYet
	case e.seq == s.seq+1 && e.last != nil && e.last.term == m.term && e.last.next() == m.next() && e.last.part == m.part && e.last.after == m.after:
		return nil
	case m.kind == kindTerm:
		return errMoved
	}
	return fmt.Errorf("jetstream: stream %s: message %d, after %d, is not of this master: %w", s.name, e.seq, s.seq, ErrCorrupt)
}

// idle waits for a tick, and gives signs of life.
func (s *Shipper) idle(ctx context.Context) error {
	committed, ok := s.log.CommittedTick()
	closing := s.closing
	if ok && committed >= s.next { // it is being written
		s.lacks()
		if err := s.log.Err(); err != nil && !errors.Is(err, worldlog.ErrClosed) && s.ready() == s.next {
			return fmt.Errorf("jetstream: the local log has ended: %w", err)
		}
		if !pause(ctx, writeWait) {
			return ctx.Err()
		}
		return nil
	}
	select {
	case <-s.wake:
	case <-closing:
		return errFinished
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(s.c.Beat):
		return s.beat(ctx)
	}
	return nil
}

// unread waits until the local log, which could not be read, is to be read again. Meanwhile the master lives.
func (s *Shipper) unread(ctx context.Context, why error) error {
	s.lacks()
	s.note(func(st *ShipStats) { st.LastErr = why })
	if !pause(ctx, min(s.c.Beat, lastWait)) {
		return ctx.Err()
	}
	return s.beat(ctx)
}

// beat gives a sign of life, and looks whether another master has the stream.
func (s *Shipper) beat(ctx context.Context) error {
	if err := s.find(ctx, s.message(kindBeat, s.next, 0, s.sum, s.sum, nil)); err != errNotYet {
		if err == nil || !isFault(err) {
			var rewound *rewoundError
			if errors.As(err, &rewound) {
				return err
			}
			s.note(func(st *ShipStats) { st.LastErr = err })
			return nil
		}
		return err
	}
	return s.nc.Publish(s.beats, s.message(kindBeat, s.next, 0, s.sum, s.sum, nil).append(nil, s.sums))
}
