package jetstream

import (
	"context"
	"errors"
	"fmt"
	"sort"
	"strings"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/worldlog"
)

// askWait is how long a request to the server may take.
const askWait = 2 * time.Second

// streamPrefix begins the names of streams and buckets.
const streamPrefix = "evertick-"

// link is a stream as both ends see it.
type link struct {
	nc     *nats.Conn
	js     jetstream.JetStream
	stream jetstream.Stream
	name   string // as NATS names the stream and the bucket
	ticks  string // subject
	beats  string // subject
	sums   *sums
}

// streamName returns the name for a stream: name, or the scenario's name, in which other characters are replaced.
func streamName(name, scenario string) (string, error) {
	allowed := func(r rune) rune {
		if r == '-' || r == '_' || '0' <= r && r <= '9' || 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' {
			return r
		}
		return '_'
	}
	if name == "" {
		name = strings.Map(allowed, scenario)
	}
	if name == "" || len(name) > 255 || strings.Map(allowed, name) != name {
		return "", fault.Field(ErrRange, "jetstream: Name", name)
	}
	return name, nil
}

func newLink(nc *nats.Conn, name string, key []byte) (*link, error) {
	if nc == nil {
		panic("jetstream: nil connection")
	}
	js, err := jetstream.New(nc)
	if err != nil {
		return nil, fmt.Errorf("jetstream: %w", err)
	}
	return &link{nc: nc, js: js, name: streamPrefix + name, ticks: "evertick." + name + ".tick",
		beats: "evertick." + name + ".beat", sums: newSums(key)}, nil
}

// open finds the stream.
func (l *link) open(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	stream, err := l.js.Stream(ctx, l.name)
	if err != nil {
		return fmt.Errorf("jetstream: stream %s: %w", l.name, err)
	}
	l.stream = stream
	return nil
}

// end is where a stream ends.
type end struct {
	first, seq uint64   // of the first and the last message
	last       *message // nil: there is none
	has        uint64   // messages, as far as the server knows
	limited    bool     // the stream has limits, by which it drops its first messages
}

// end reads the last message of the stream. Errors of the network wrap neither ErrForged, ErrCorrupt nor ErrUnsupported.
func (l *link) end(ctx context.Context) (end, error) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	e, err := l.state(ctx)
	if err == nil && e.has > 0 {
		e.last, err = l.get(ctx, e.seq)
	}
	return e, err
}

// state is end without the last message.
func (l *link) state(ctx context.Context) (end, error) {
	info, err := l.stream.Info(ctx)
	if err != nil {
		return end{}, fmt.Errorf("jetstream: stream %s: %w", l.name, err)
	}
	e := end{first: info.State.FirstSeq, seq: info.State.LastSeq, has: info.State.Msgs}
	c := info.Config
	e.limited = c.MaxAge > 0 || c.MaxBytes > 0 || c.MaxMsgs > 0 || c.MaxMsgsPerSubject > 0
	return e, nil
}

// holes reports whether messages within the stream are gone, as far as the server knows.
func (e *end) holes() bool { return e.has > 0 && e.has < e.seq-e.first+1 }

// get reads a message.
func (l *link) get(ctx context.Context, seq uint64) (*message, error) {
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	raw, err := l.stream.GetMsg(ctx, seq)
	if err != nil {
		return nil, fmt.Errorf("jetstream: stream %s, message %d: %w", l.name, seq, err)
	}
	return l.decode(raw.Data, seq)
}

// decode decodes a message of the stream.
func (l *link) decode(data []byte, seq uint64) (*message, error) {
	m := new(message)
	err := m.decode(data, l.sums)
	if err == nil && m.kind >= kindSnapshot {
		err = fault.Field(ErrCorrupt, "kind", m.kind)
	}
	if err != nil {
		return nil, fmt.Errorf("jetstream: stream %s, message %d: %w", l.name, seq, err)
	}
	return m, nil
}

// search returns the first message from lo to hi for which is holds, hi+1 if none, and the message. It must hold for all
// that come after one for which it holds.
func (l *link) search(ctx context.Context, lo, hi uint64, is func(*message) bool) (uint64, error) {
	hi++
	for lo < hi {
		mid := lo + (hi-lo)/2
		m, err := l.get(ctx, mid)
		if errors.Is(err, jetstream.ErrMsgNotFound) { // trimmed since
			lo = mid + 1
			continue
		}
		if err != nil {
			return 0, err
		}
		if is(m) {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo, nil
}

// common returns how many ticks from the first one on a local log and a stream have both. It reads only the part of the log
// between two marks, of which the stream has the first and not the second.
func (l *link) common(ctx context.Context, in *summer, e end) (uint64, error) {
	failed := in.until(e.last.next()) // so that there are marks up to there
	parts := sort.Search(len(in.marks), func(i int) bool {
		has, err := l.has(ctx, in.marks[i], e)
		failed = errors.Join(failed, err)
		return !has
	})
	if failed != nil || parts == 0 {
		return 0, failed
	}
	from, to := in.marks[parts-1].next, uint64(maxTick)
	if parts < len(in.marks) {
		to = in.marks[parts].next
	}
	if first, err := l.get(ctx, e.first); err != nil {
		return 0, err
	} else if first.first > from { // what the stream had before is unknown
		from = first.first
	}
	if err := in.seek(from); err != nil || in.next != from {
		return 0, err
	}
	sums := []sum{in.sum} // before tick from, and those after
	for in.next < to {
		if _, err := in.read(); isEnd(err) {
			break
		} else if err != nil {
			return 0, err
		}
		sums = append(sums, in.sum)
	}
	is := func(tick uint64, at *sum) bool { // reports whether the log has that checksum, for a tick that is not before from
		return tick-from < uint64(len(sums)) && sums[tick-from] == *at
	}
	seq, err := l.search(ctx, e.first, e.seq, func(m *message) bool { return m.first >= from && !is(m.first, &m.before) })
	if err != nil || seq == e.first {
		return 0, err
	}
	m, err := l.get(ctx, seq-1)
	if err != nil {
		return 0, err
	}
	if is(m.next(), &m.after) {
		return m.next(), nil
	}
	encoded, err := m.split(l.sums, nil)
	at, tick := m.before, m.first
	for _, b := range encoded {
		if at = l.sums.tick(at, tick, b); tick+1 > from && !is(tick+1, &at) {
			break
		}
		tick++
	}
	return tick, err
}

// has reports whether a stream has a checksum; true also where it has been trimmed.
func (l *link) has(ctx context.Context, at mark, e end) (bool, error) {
	seq, err := l.search(ctx, e.first, e.seq, func(m *message) bool { return m.first > at.next })
	if err != nil || seq == e.first {
		return err == nil, err
	}
	m, err := l.get(ctx, seq-1)
	if err != nil {
		return false, err
	}
	got, err := m.sumAt(l.sums, at.next)
	return got != nil && *got == at.sum, err
}

// isFault reports whether an error is of the content of a stream, so that to try again does not help.
func isFault(err error) bool {
	for _, e := range []error{ErrCorrupt, ErrUnsupported, ErrForeign, ErrFenced, ErrLost, ErrBranched, ErrTrimmed} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// checkRun compares a run with the run of a message.
func checkRun(id, got *worldlog.Identity) error {
	switch {
	case got.Scenario != id.Scenario:
		return fmt.Errorf("jetstream: the stream is of scenario %q, not of %q: %w: %w", got.Scenario, id.Scenario, ErrForeign, ErrUnsupported)
	case got.SimVersion != id.SimVersion:
		return fmt.Errorf("jetstream: the stream is of SimVersion %d, not of %d: %w: %w", got.SimVersion, id.SimVersion, ErrForeign, ErrUnsupported)
	case *got != *id:
		return fmt.Errorf("jetstream: the stream is of seed %d, parent %x, not of %d, %x: %w", got.Seed, got.Parent[:8], id.Seed, id.Parent[:8], ErrForeign)
	}
	return nil
}

// pause waits, and reports whether ctx still runs.
func pause(ctx context.Context, d time.Duration) bool {
	select {
	case <-ctx.Done():
		return false
	case <-time.After(d):
		return true
	}
}
