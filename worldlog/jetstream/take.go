package jetstream

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/nats-io/nats.go/jetstream"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/worldlog"
)

// Run follows until ctx ends, or an error of Step.
func (f *Follower) Run(ctx context.Context) error {
	for {
		if err := f.Step(ctx); err != nil {
			return err
		}
	}
}

// Step runs the next tick of the stream. It waits until there is one, also while the server cannot be reached, or until ctx
// ends. Errors are *replay.DivergedError with the tick; ErrForeign, ErrForged, ErrGap, ErrCorrupt for the content of the
// stream; ErrTrimmed; *BranchedError; those of the local log; or ctx.Err(), after which Step goes on.
func (f *Follower) Step(ctx context.Context) error {
	if f.taken {
		return errTaken
	}
	for len(f.queue) == 0 {
		if err := f.takeNext(ctx); err != nil {
			return err
		}
	}
	return f.apply()
}

// takeNext takes the next message. One that does not follow is an error only if the stream still has the message before: a
// stream that was replaced is read anew, from the rolling checksum of the Sim.
func (f *Follower) takeNext(ctx context.Context) error {
	msg, err := f.receive(ctx)
	if err != nil {
		return err
	}
	if err = f.take(msg); err == nil || !f.placed {
		return err
	}
	e, endErr := f.end(ctx)
	other := false
	if endErr == nil {
		other, endErr = f.replaced(ctx, e)
	}
	if endErr == nil && !other || isFault(endErr) {
		return err
	}
	f.detach() // if the server gives no answer now, the message comes again
	f.placed = !other
	return nil
}

var errTaken = fmt.Errorf("jetstream: the Sim was taken over: %w", ErrClosed)

// apply runs the first tick of the queue.
func (f *Follower) apply() error {
	encoded := f.queue[0]
	if err := decodeTick(encoded, f.own(), &f.tick); err != nil {
		return fmt.Errorf("jetstream: stream %s, message %d: %w", f.name, f.seq, err)
	}
	if err := f.f.Apply(&f.tick); err != nil {
		return err
	}
	if f.queue = f.queue[1:]; len(f.queue) == 0 {
		f.ownSum = f.sum
	}
	f.note(func(st *FollowStats) { st.Ticks = f.own() })
	return nil
}

// receive returns the next message. What it waits for between questions to the server is kept from call to call, so that calls
// with a short time each get on.
func (f *Follower) receive(ctx context.Context) (jetstream.Msg, error) {
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		var out chan jetstream.Msg
		if f.messages != nil {
			out = f.messages.out
		}
		timer := time.NewTimer(askEvery - time.Since(f.asked))
		select {
		case msg, ok := <-out:
			timer.Stop()
			if ok {
				f.asked, f.moved = time.Now(), time.Now()
				return msg, nil
			}
			f.detach()
		case <-timer.C:
			stuck, err := f.ask(ctx)
			f.asked = time.Now()
			if isFault(err) {
				return nil, err
			}
			if !stuck {
				f.moved = f.asked
			}
			if f.messages != nil && time.Since(f.moved) < stuckWait {
				continue
			}
		case <-ctx.Done():
			timer.Stop()
			return nil, ctx.Err()
		}
		if err := f.attach(ctx); isFault(err) {
			return nil, err
		}
		f.moved = time.Now()
		if f.messages == nil && !pause(ctx, firstWait) {
			return nil, ctx.Err()
		}
	}
}

// ask asks for the end of the stream, and reports whether it has messages that do not come.
func (f *Follower) ask(ctx context.Context) (stuck bool, err error) {
	e, err := f.end(ctx)
	if errors.Is(err, jetstream.ErrStreamNotFound) {
		e, err = end{}, nil
	}
	if err != nil {
		f.touch() // no one could have been heard
		return false, err
	}
	if f.placed && e.seq <= f.seq {
		if other, _ := f.replaced(ctx, e); other { // no error: it asks for no message
			f.detach() // to be attached again
			f.placed = false
		}
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.polled = time.Now()
	if e.last != nil {
		f.stats.Stream = e.last.next()
	}
	if f.pending = e.seq != f.seq || !f.placed; !f.pending {
		f.heard = f.polled
	}
	return e.seq > f.seq, nil
}

// take checks a message of the stream, and puts its ticks into the queue.
func (f *Follower) take(msg jetstream.Msg) error {
	meta, err := msg.Metadata()
	if err != nil {
		return fmt.Errorf("jetstream: stream %s: %w", f.name, err)
	}
	seq := meta.Sequence.Stream
	m, err := f.decode(msg.Data(), seq)
	if err == nil {
		if err = f.follows(m, seq); err == nil {
			err = f.enqueue(m)
		}
		if err != nil {
			err = fmt.Errorf("jetstream: stream %s, message %d: %w", f.name, seq, err)
		}
	}
	if err != nil {
		return err
	}
	f.placed, f.seq, f.term, f.owner, f.next, f.sum = true, seq, m.term, m.owner, m.next(), m.after
	if len(f.queue) == 0 && f.next == f.own() {
		f.ownSum = f.sum
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.stats.Term = m.term
	f.stats.Messages++
	f.stats.Bytes += uint64(len(msg.Data()))
	f.stats.Ticks = f.own()
	f.stats.Stream = max(f.stats.Stream, m.next())
	f.life = time.Now()
	if seq > f.old {
		f.voice = f.life
	}
	if f.pending = meta.NumPending > 0; !f.pending {
		f.heard = f.life
	}
	return nil
}

// follows checks that m comes next.
func (f *Follower) follows(m *message, seq uint64) error {
	if err := checkRun(&f.id, &m.id); err != nil {
		return err
	}
	begins := m.kind == kindTerm && (m.term > f.term || m.term == f.term && m.owner == f.owner)
	again := begins && m.first < f.next // the stream had lost or damaged messages, whose ticks come again
	switch {
	case !f.placed || again:
		if m.first > f.own() || m.first == f.own() && m.part > 0 {
			return f.trimmed(m, seq)
		}
		f.parts = f.parts[:0]
		return nil
	case seq != f.seq+1:
		return fmt.Errorf("it follows message %d: %w", f.seq, ErrGap)
	case m.term < f.term || m.kind == kindTerm && !begins:
		return fmt.Errorf("%w after term %d", fault.Field(ErrCorrupt, "term", m.term), f.term)
	case m.term > f.term && m.kind != kindTerm:
		return fmt.Errorf("%w, which has not begun", fault.Field(ErrCorrupt, "term", m.term))
	case m.first > f.next:
		return fmt.Errorf("it begins with tick %d, and tick %d comes next: %w", m.first, f.next, ErrGap)
	case m.first < f.next:
		return fmt.Errorf("%w again, tick %d comes next", fault.Field(ErrCorrupt, "tick", m.first), f.next)
	case m.before != f.sum:
		return fmt.Errorf("the rolling checksum before tick %d: %w", m.first, ErrForged)
	}
	return nil
}

// enqueue puts the ticks of a message that follows into the queue, but for those that the Sim has run.
func (f *Follower) enqueue(m *message) error {
	own := f.own()
	at, err := m.sumAt(f.sums, own)
	if err != nil {
		return err
	}
	if at != nil && *at != f.ownSum {
		return &BranchedError{Dir: f.c.Dir, Common: m.first, Local: own, Stream: m.next()}
	}
	switch m.kind {
	case kindTicks:
		if f.split, err = m.split(f.sums, f.split[:0]); err != nil {
			return err
		}
		if own < m.next() {
			f.queue = f.split[own-m.first:]
		}
	case kindPart:
		return f.part(m, own)
	}
	f.parts = f.parts[:0]
	return nil
}

// part collects the parts of a tick.
func (f *Follower) part(m *message, own uint64) error {
	if m.part == 0 {
		f.parts = f.parts[:0]
	} else if len(f.parts) == 0 {
		if m.first < own {
			return nil // the Sim has run it, and the message before is not read
		}
		return fmt.Errorf("part %d of tick %d without those before: %w", m.part, m.first, ErrGap)
	}
	if len(f.parts)+len(m.body) > worldlog.MaxTick {
		return fault.Field(ErrCorrupt, "bytes of a tick", len(f.parts)+len(m.body))
	}
	f.parts = append(f.parts, m.body...)
	if m.count == 0 {
		return nil
	}
	if f.sums.tick(m.before, m.first, f.parts) != m.after {
		return fmt.Errorf("rolling checksum after tick %d: %w", m.first, ErrForged)
	}
	if own == m.first {
		f.queue = append(f.queue[:0], f.parts)
	}
	f.parts = nil
	return nil
}
