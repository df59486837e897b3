package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"
)

// A server whose disk has lost or damaged messages goes on without them, and says so only once it reads their place. The
// Shipper alone has the ticks that are missing then, so it looks for gaps, and ships its log again, after which it removes
// what was in the stream before.

const (
	// scrubEvery is how long after it has read through the stream the Shipper does so again.
	scrubEvery = time.Hour
	// serverEvery is how often it looks whether it is connected to another server, or to one that was started again.
	serverEvery = 250 * time.Millisecond
	// scrubBatch messages are read without a pause of scrubPause: at most 50,000 in a second.
	scrubBatch = 500
	scrubPause = 10 * time.Millisecond
	// scrubWait is how long a message may take to come.
	scrubWait = 5 * time.Second
)

// errDamaged: the stream lacks messages within.
var errDamaged = errors.New("jetstream: the stream has lost messages; the log is shipped again")

// look asks for the state of the stream, and ships the log again if messages are missing. The next look is after a Beat.
func (s *Shipper) look(ctx context.Context) error {
	s.looked = time.Now()
	if s.purge > 0 {
		s.removeOld(ctx)
		return nil
	}
	ask, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	e, err := s.state(ask)
	if err != nil {
		s.note(func(st *ShipStats) { st.LastErr = err })
		return nil
	}
	if e.has == 0 || s.holed.Load() < e.first && !e.holes() && !s.lacksFirst(ctx, e) {
		return nil
	}
	s.anew = true
	return s.again(ctx, errDamaged)
}

// lacksFirst reports whether the first messages of a stream without limits are gone.
func (s *Shipper) lacksFirst(ctx context.Context, e end) bool {
	return !e.limited && e.first != s.front && s.firstTick(ctx, e) > s.id.FirstTick
}

// firstTick returns the first tick of a stream, or of the run if the message with it cannot be read.
func (s *Shipper) firstTick(ctx context.Context, e end) uint64 {
	m, err := s.get(ctx, e.first)
	if err != nil {
		return s.id.FirstTick
	}
	if m.first == s.id.FirstTick {
		s.front = e.first
	}
	return m.first
}

// removeOld removes what the stream had before its ticks came again. If the server cannot now, a later look tries again.
func (s *Shipper) removeOld(ctx context.Context) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	if err := s.stream.Purge(ctx, jetstream.WithPurgeSequence(s.purge)); err != nil {
		s.note(func(st *ShipStats) {
			st.LastErr = fmt.Errorf("jetstream: stream %s: removing damaged messages: %w", s.name, err)
		})
		return
	}
	s.purge = 0
}

// patrol reads through the stream when it begins, when the connection is to another server or to one that was started again, and
// now and then.
func (s *Shipper) patrol(ctx context.Context, stop <-chan struct{}) {
	var server string
	var next time.Time
	for {
		if id := s.nc.ConnectedServerId(); id != "" && (id != server || time.Now().After(next)) {
			missing, err := s.scrub(ctx, stop)
			switch {
			case err == nil:
				server, next = id, time.Now().Add(scrubEvery)
				s.holed.Store(missing)
			case !errors.Is(err, context.Canceled):
				s.note(func(st *ShipStats) { st.LastErr = err })
			}
		}
		select {
		case <-stop:
			return
		case <-ctx.Done():
			return
		case <-time.After(serverEvery):
		}
	}
}

// scrub reads the headers of all messages that the stream has now, for which the server reads and checks all of each. It
// returns the first one that is missing; 0: none.
func (s *Shipper) scrub(ctx context.Context, stop <-chan struct{}) (missing uint64, err error) {
	ask, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	stream, err := s.js.Stream(ask, s.name)
	if err != nil {
		return 0, err
	}
	state := stream.CachedInfo().State
	if state.Msgs == 0 {
		return 0, nil
	}
	c, err := s.js.OrderedConsumer(ask, s.name, jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverByStartSequencePolicy,
		OptStartSeq: state.FirstSeq, HeadersOnly: true})
	if err != nil {
		return 0, err
	}
	from, err := c.Messages()
	if err != nil {
		return 0, err
	}
	messages := newPump(from)
	defer messages.stop()
	for next := state.FirstSeq; next <= state.LastSeq; {
		select {
		case msg, ok := <-messages.out:
			if !ok {
				return 0, jetstream.ErrMsgIteratorClosed
			}
			meta, err := msg.Metadata()
			if err != nil {
				return 0, err
			}
			if meta.Sequence.Stream > next {
				if gone, err := s.missing(ctx, next); gone || err != nil {
					return next, err
				}
			}
			next = meta.Sequence.Stream + 1
			if next%scrubBatch == 0 && !pause(ctx, scrubPause) {
				return 0, ctx.Err()
			}
		case <-stop:
			return 0, context.Canceled
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-time.After(scrubWait):
			if gone, err := s.missing(ctx, next); gone || err != nil {
				return next, err
			}
			return 0, fmt.Errorf("jetstream: stream %s: message %d does not come", s.name, next)
		}
	}
	return 0, nil
}

// missing reports whether the stream has no message of a number that is within it: it did not come, and cannot be read.
func (s *Shipper) missing(ctx context.Context, seq uint64) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	stream, err := s.js.Stream(ctx, s.name)
	if err != nil {
		return false, err
	}
	if state := stream.CachedInfo().State; seq < state.FirstSeq || seq > state.LastSeq { // removed since
		return false, nil
	}
	_, err = stream.GetMsg(ctx, seq)
	if errors.Is(err, jetstream.ErrMsgNotFound) {
		return true, nil
	}
	return false, err
}
