package jetstream

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/nats-io/nats.go"
	"github.com/nats-io/nats.go/jetstream"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/worldlog"
)

// Follower runs the Sim of a stream. It is for one goroutine, but for Stats.
type Follower struct {
	link
	c  FollowConfig
	sc replay.Scenario
	id worldlog.Identity
	f  *replay.Follower

	messages *pump
	beat     *nats.Subscription

	// Where in the stream it is:
	placed bool   // the five below are known
	seq    uint64 // of the last message that was taken
	term   uint64
	owner  owner  // of that message
	next   uint64 // tick that comes next in the stream
	sum    sum    // rolling checksum before it

	ownSum sum      // rolling checksum before the next tick of the Sim
	queue  [][]byte // encoded ticks of the message that was taken last, which the Sim has not run
	parts  []byte   // of a tick of which not all parts have come
	old    uint64   // last message that the stream had when this began to read it
	split  [][]byte
	tick   worldlog.Tick
	taken  bool      // TakeOver has passed the Sim on
	asked  time.Time // when the server was asked for the end of the stream last, or a message came
	moved  time.Time // when no message was missing

	mu      sync.Mutex
	stats   FollowStats
	pending bool      // the stream has more messages
	heard   time.Time // when the stream was known to have no more
	life    time.Time // when the last message or sign of life has come, or could not have come
	voice   time.Time // when the master was known to live
	polled  time.Time
}

// FollowStats say where a Follower is.
type FollowStats struct {
	Term   uint64
	Ticks  uint64 // from the first one on that the Sim has run, each with the hash of the stream
	Stream uint64 // ticks that the stream is known to have
	Behind uint64 // ticks that it lacks of these
	// InStep: within the last second the stream had no tick that the Sim has not run, and the master gave a sign of life
	// or a new message. It needs a ShipConfig.Beat below one second.
	InStep   bool
	Messages uint64
	Bytes    uint64 // in them
	Attached uint64 // times that it began to read the stream, again after a failure
}

const (
	// askEvery is how often the Follower asks for the end of the stream while nothing comes.
	askEvery = 250 * time.Millisecond
	// stepWait is how long the Follower counts as in step after the stream had no more ticks and the master was heard.
	stepWait = time.Second
	// stuckWait is how long messages of the stream may not come before the Follower reads it anew.
	stuckWait = 3 * time.Second
)

// Follow builds the Sim of a stream. It waits until there is a stream with a message, or ctx ends, and does not run a
// tick: Step does. Errors are those of replay.NewFollower; ErrForged, ErrTrimmed (the stream begins after the tick that is
// needed), *BranchedError; or those of the server.
func Follow(ctx context.Context, nc *nats.Conn, sc replay.Scenario, c FollowConfig) (*Follower, error) {
	name, err := streamName(c.Name, sc.Name)
	if err != nil {
		return nil, err
	}
	l, err := newLink(nc, name, c.Key)
	if err != nil {
		return nil, err
	}
	f := &Follower{link: *l, c: c, sc: sc}
	if err := f.begin(ctx); err != nil {
		return nil, errors.Join(err, f.Close())
	}
	return f, nil
}

func (f *Follower) begin(ctx context.Context) error {
	e, err := f.awaitStream(ctx)
	if err != nil {
		return err
	}
	f.id = e.last.id
	if err := f.build(ctx, e); err != nil {
		return err
	}
	if f.beat, err = f.nc.Subscribe(f.beats, f.hearer()); err != nil {
		return fmt.Errorf("jetstream: %w", err)
	}
	f.touch()
	f.note(func(st *FollowStats) { st.Ticks, st.Stream, st.Term = f.own(), e.last.next(), e.last.term })
	return f.attach(ctx)
}

func (f *Follower) note(set func(*FollowStats)) {
	f.mu.Lock()
	defer f.mu.Unlock()
	set(&f.stats)
}

// awaitStream waits until the stream has a message.
func (f *Follower) awaitStream(ctx context.Context) (end, error) {
	for wait := firstWait; ; wait = min(2*wait, askEvery) {
		err := f.open(ctx)
		if err == nil {
			var e end
			if e, err = f.end(ctx); err == nil && e.last != nil {
				return e, nil
			}
		}
		if isFault(err) {
			return end{}, err
		}
		if !pause(ctx, wait) {
			return end{}, errors.Join(err, ctx.Err())
		}
	}
}

// build makes the Sim, from the local log if there is one.
func (f *Follower) build(ctx context.Context, e end) error {
	var err error
	f.f, err = replay.NewFollower(f.sc, f.id, replay.FollowerOptions{Dir: f.c.Dir, Log: f.c.Log})
	if err != nil {
		return err
	}
	f.ownSum = f.sums.start(&f.id)
	own := f.own()
	if f.c.Dir == "" {
		return f.restore(ctx, e)
	}
	if own == 0 {
		return nil
	}
	if err = f.checkLog(ctx, e); !errors.Is(err, ErrBranched) || !f.c.SetAside {
		return err
	}
	if err := errors.Join(f.f.Close(), setAside(f.c.Dir)); err != nil {
		return err
	}
	return f.build(ctx, e)
}

// checkLog compares the log in Dir with the stream.
func (f *Follower) checkLog(ctx context.Context, e end) error {
	in, err := newSummer(f.c.Dir, f.sums)
	if err != nil {
		return err
	}
	if err = in.until(f.own()); err == nil {
		f.ownSum = in.sum
		err = f.checkOwn(ctx, e)
	}
	var branched *BranchedError
	if errors.As(err, &branched) {
		common, failed := f.common(ctx, in, e)
		branched.Common, err = common, errors.Join(err, failed)
	}
	return errors.Join(err, in.reader.Close())
}

// setAside renames a directory to the first name dir.branch-N that is free.
func setAside(dir string) error {
	for n := 1; ; n++ {
		to := fmt.Sprintf("%s.branch-%d", strings.TrimRight(dir, string(os.PathSeparator)), n)
		if _, err := os.Stat(to); err == nil {
			continue
		} else if !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("jetstream: %w", err)
		}
		if err := os.Rename(dir, to); err != nil {
			return fmt.Errorf("jetstream: %w", err)
		}
		return nil
	}
}

// own returns how many ticks the Sim has run, which is the number of the next one.
func (f *Follower) own() uint64 { return f.f.Sim().Ticks() }

// from returns the message from which the Sim can go on: the last one that begins before its next tick.
func (f *Follower) from(ctx context.Context, e end) (uint64, error) {
	own := f.own()
	if own == 0 {
		return e.first, nil
	}
	seq, err := f.search(ctx, e.first, e.seq, func(m *message) bool { return m.first >= own })
	return max(seq-1, e.first), err
}

// checkOwn compares the ticks of the Sim with the stream.
func (f *Follower) checkOwn(ctx context.Context, e end) error {
	own := f.own()
	seq, err := f.from(ctx, e)
	if err != nil {
		return err
	}
	for ; seq <= e.seq; seq++ {
		m, err := f.get(ctx, seq)
		if err != nil {
			return err
		}
		if m.first > own {
			return f.trimmed(m, seq)
		}
		at, err := m.sumAt(f.sums, own)
		if err != nil {
			return err
		}
		if at == nil {
			continue
		}
		if *at == f.ownSum {
			return nil
		}
		break
	}
	return &BranchedError{Dir: f.c.Dir, Local: own, Stream: e.last.next()}
}

func (f *Follower) trimmed(m *message, seq uint64) error {
	return fmt.Errorf("jetstream: stream %s: message %d, the first, begins with tick %d, and tick %d is needed: %w", f.name, seq, m.first, f.own(), ErrTrimmed)
}

// attach begins to read the stream.
func (f *Follower) attach(ctx context.Context) error {
	f.detach()
	if err := f.open(ctx); err != nil {
		return err
	}
	e, err := f.end(ctx)
	if err != nil {
		return err
	}
	seq := f.seq + 1
	if f.placed {
		other, err := f.replaced(ctx, e)
		if err != nil {
			return err
		}
		f.placed = !other
	}
	if !f.placed { // it has lost messages, or this is the beginning
		if e.last == nil || e.last.next() < f.own() {
			return errAhead
		}
		if seq, err = f.from(ctx, e); err != nil {
			return err
		}
	}
	ctx, cancel := context.WithTimeout(ctx, askWait)
	defer cancel()
	c, err := f.js.OrderedConsumer(ctx, f.name, jetstream.OrderedConsumerConfig{DeliverPolicy: jetstream.DeliverByStartSequencePolicy, OptStartSeq: seq})
	if err != nil {
		return fmt.Errorf("jetstream: stream %s: %w", f.name, err)
	}
	m, err := c.Messages()
	if err != nil {
		return fmt.Errorf("jetstream: stream %s: %w", f.name, err)
	}
	f.messages, f.old = newPump(m), e.seq
	f.note(func(st *FollowStats) { st.Attached++ })
	return nil
}

// replaced reports whether the stream no longer has, at its place, the message that was taken last: it was restored from
// an older store, made anew, or trimmed. Its ticks are then compared with the Sim again.
func (f *Follower) replaced(ctx context.Context, e end) (bool, error) {
	m := e.last
	switch {
	case e.seq < f.seq:
		return true, nil
	case e.seq > f.seq && e.first > f.seq:
		return true, nil
	case e.seq > f.seq:
		var err error
		if m, err = f.get(ctx, f.seq); err != nil && !isFault(err) && !errors.Is(err, jetstream.ErrMsgNotFound) {
			return false, err
		} else if err != nil {
			return true, nil
		}
	}
	return m != nil && (m.after != f.sum || m.term != f.term), nil
}

// errAhead: the stream lacks ticks that the Sim has run, as after its server was restored from an older store.
var errAhead = errors.New("jetstream: the stream lacks ticks that the follower has run")

func (f *Follower) detach() {
	if f.messages != nil {
		f.messages.stop()
		f.messages = nil
	}
}

// pump passes messages on, so that waiting for one can end at any time.
type pump struct {
	from jetstream.MessagesContext
	out  chan jetstream.Msg
	end  chan struct{} // closed by stop
	once sync.Once
}

func newPump(from jetstream.MessagesContext) *pump {
	p := &pump{from: from, out: make(chan jetstream.Msg), end: make(chan struct{})}
	go func() {
		defer close(p.out)
		for {
			m, err := p.from.Next()
			if err != nil {
				return
			}
			select {
			case p.out <- m:
			case <-p.end:
				return
			}
		}
	}()
	return p
}

func (p *pump) stop() {
	p.once.Do(func() {
		close(p.end)
		go p.from.Stop() // it waits for requests of nats.go to a server that may be gone
	})
}

// hearer returns what takes signs of life.
func (f *Follower) hearer() nats.MsgHandler {
	sums := newSums(f.c.Key) // of this goroutine
	id := f.id
	return func(msg *nats.Msg) {
		var m message
		if m.decode(msg.Data, sums) != nil || m.kind != kindBeat || m.id != id {
			return
		}
		f.mu.Lock()
		defer f.mu.Unlock()
		if m.term >= f.stats.Term {
			f.life = time.Now()
			f.voice = f.life
		}
	}
}

func (f *Follower) touch() {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.life = time.Now()
}

// Sim returns the Sim, for inspection: only the Follower may step it. It is the same until TakeOver has passed it on, and
// after.
func (f *Follower) Sim() *evertick.Sim { return f.f.Sim() }

// Identity returns the run that the stream is of.
func (f *Follower) Identity() worldlog.Identity { return f.id }

// Stats returns where the Follower is. Any goroutine may call it.
func (f *Follower) Stats() FollowStats {
	f.mu.Lock()
	defer f.mu.Unlock()
	st := f.stats
	st.Behind = st.Stream - min(st.Stream, st.Ticks)
	st.InStep = f.ran() && time.Since(f.voice) < stepWait
	return st
}

// ran reports whether the Sim has run, within the last second, all that the stream has. The caller holds f.mu.
func (f *Follower) ran() bool {
	return f.stats.Stream <= f.stats.Ticks && !f.pending && time.Since(f.heard) < stepWait
}

// Close ends following, and closes the log in Dir.
func (f *Follower) Close() error {
	f.detach()
	if f.beat != nil {
		f.beat.Unsubscribe() // fails if the connection is closed, which ends it too
	}
	if f.f == nil {
		return nil
	}
	return f.f.Close()
}
