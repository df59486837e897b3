package agent

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/loop"
)

// Nothing in this file decides anything: what comes of it reaches the simulation as an input.

// flight is a decision that a provider is at work on, or is to be.
type flight struct {
	head
	provider int
	p        *Perception
	timeout  time.Duration
	cancel   context.CancelCauseFunc // nil: nobody was asked yet
	over     bool                    // nothing more is to come of it
	data     []byte                  // the answer that was sent
	gaveUp   chan struct{}           // closed when the end of its time has been dealt with
}

// crew is the calls of a provider.
type crew struct {
	running   int // have not returned yet
	abandoned int // of these, given up
}

// LiveStats are counts of calls since New. They are of this process: a replay has none.
type LiveStats struct {
	Calls     uint64 // of providers
	Returned  uint64
	Panics    uint64
	Late      uint64 // returned when nobody waited any more
	Running   int    // calls that have not returned
	Abandoned int    // of these, given up
	Unsent    int    // answers for which the Sim has no room yet
	Resent    uint64 // answers that were sent once more, behind a Restore or for want of room
}

func (f *flights) init(providers int) {
	f.byID = make(map[uint64]*flight)
	f.crew = make([]crew, max(1, providers))
	f.drained = make(chan struct{})
}

// Live returns the counts of calls.
func (a *Agents) Live() LiveStats {
	f := &a.flights
	f.mu.Lock()
	defer f.mu.Unlock()
	s := f.counts
	s.Running, s.Unsent = f.running, len(f.unsent)
	for i := range f.crew {
		s.Abandoned += f.crew[i].abandoned
	}
	return s
}

// ask has a provider decide, now or as soon as the Sim is live. A decision that is asked for again
// with the same perception, in a tick that runs again, is that which is on its way.
func (a *Agents) ask(m *member, p *Perception) {
	h := head{m.decision, m.id, m.hash}
	if a.second != nil {
		a.second.ask(a, h, p)
	}
	fs := &a.flights
	fs.mu.Lock()
	f := fs.byID[h.decision]
	if f != nil && f.head != h {
		f.end(errDropped)
		f = nil
	}
	if f == nil {
		f = &flight{head: h, provider: m.spec.Provider, p: p, timeout: m.spec.Timeout}
		fs.byID[h.decision] = f
	}
	fs.mu.Unlock()
	if a.live {
		a.start(f)
	}
}

var (
	errDropped  = errors.New("agent: nobody waits for the decision any more")
	errTimedOut = errors.New("agent: the time is up")
)

// end ends a flight without an answer. flights are locked.
func (f *flight) end(why error) {
	f.over = true
	if f.cancel != nil {
		f.cancel(why)
	}
}

// drop forgets a decision that the simulation has done with.
func (fs *flights) drop(decision uint64) {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	if f := fs.byID[decision]; f != nil {
		f.end(errDropped)
		delete(fs.byID, decision)
	}
}

// start calls the provider, unless it was called. Who was and has answered is quoted.
func (a *Agents) start(f *flight) {
	fs := &a.flights
	fs.mu.Lock()
	crew := &fs.crew[f.provider]
	switch {
	case f.data != nil:
		fs.counts.Resent++
		fs.mu.Unlock()
		a.send(f.head, f.data)
		return
	case f.over || f.cancel != nil:
		fs.mu.Unlock()
		return
	case fs.closed:
		fs.mu.Unlock()
		a.deliver(f, f.failure(nil, Closed, errClosed.Error()))
		return
	case crew.running >= a.cfg.Providers[f.provider].Abandoned: // all of which may be given up
		n := crew.running
		fs.mu.Unlock()
		a.deliver(f, f.failure(nil, Abandoned, fmt.Sprintf("agent: %d calls of the provider have not returned", n)))
		return
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	f.cancel, f.gaveUp = cancel, make(chan struct{})
	crew.running++
	fs.running++
	fs.counts.Calls++
	fs.mu.Unlock()
	go a.fly(ctx, f)
}

// fly runs on a goroutine of its own.
func (a *Agents) fly(ctx context.Context, f *flight) {
	ctx, cancel := context.WithTimeoutCause(ctx, f.timeout, errTimedOut)
	stop := context.AfterFunc(ctx, func() { a.giveUp(ctx, f) })
	data := f.failure(nil, ProviderError, "agent: the provider ended its goroutine")
	defer func() { // also if it does
		gaveUp := !stop()
		if gaveUp {
			<-f.gaveUp
		} else if why := f.ended(ctx); why != nil { // a provider that heeds ctx may be as fast as giveUp
			data = why
		}
		a.returned(f, data, gaveUp, ctx.Err() != nil)
		cancel()
		f.cancel(nil)
	}()
	data = a.call(ctx, f)
}

// call asks the provider.
func (a *Agents) call(ctx context.Context, f *flight) (data []byte) {
	defer func() {
		if v := recover(); v != nil {
			a.flights.mu.Lock()
			a.flights.counts.Panics++
			a.flights.mu.Unlock()
			data = f.failure(nil, ProviderPanic, fmt.Sprint(v))
		}
	}()
	d, err := a.cfg.Providers[f.provider].Provider.Decide(ctx, f.p)
	if err != nil {
		return f.failure(nil, ProviderError, err.Error())
	}
	return a.rules.encodeOrFail(f.head, &d)
}

// giveUp is called when the time of a call is up, or nobody waits for it.
func (a *Agents) giveUp(ctx context.Context, f *flight) {
	defer close(f.gaveUp)
	fs := &a.flights
	fs.mu.Lock()
	fs.crew[f.provider].abandoned++
	fs.mu.Unlock()
	a.deliver(f, f.ended(ctx))
}

// ended returns the answer that the end of ctx is, nil if it has not ended.
func (f *flight) ended(ctx context.Context) []byte {
	switch cause := context.Cause(ctx); cause {
	case nil:
		return nil
	case errTimedOut:
		return f.failure(nil, TimedOut, cause.Error())
	case errClosed:
		return f.failure(nil, Closed, cause.Error())
	default: // nobody waits for it: it is not sent
		return f.failure(nil, Withdrawn, cause.Error())
	}
}

// returned ends a call. It takes the call off those of its provider before it delivers: the tick that
// takes the answer may ask the provider again, and an answered call must not count against Abandoned
// then. It counts the call as returned, and no longer running, once the answer is sent.
func (a *Agents) returned(f *flight, data []byte, gaveUp, late bool) {
	fs := &a.flights
	fs.mu.Lock()
	fs.crew[f.provider].running--
	if gaveUp {
		fs.crew[f.provider].abandoned--
	}
	fs.mu.Unlock()
	if !gaveUp {
		a.deliver(f, data)
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.counts.Returned++
	if late {
		fs.counts.Late++
	}
	fs.running--
	if fs.closed && fs.running == 0 {
		close(fs.drained)
	}
}

// deliver sends the one answer that a flight has.
func (a *Agents) deliver(f *flight, data []byte) {
	fs := &a.flights
	fs.mu.Lock()
	over := f.over
	if !over {
		f.over, f.data = true, data
	}
	fs.mu.Unlock()
	if !over {
		a.send(f.head, data)
	}
}

// send makes an answer an input of the next tick. If there is no room it stays here until
// there is.
func (a *Agents) send(h head, data []byte) {
	a.post(evertick.Input{Tick: a.soon.Load(), Source: a.cfg.Source, Seq: h.decision, Kind: a.cfg.Kind, Data: data})
}

func (a *Agents) post(in evertick.Input) {
	push := a.cfg.Send
	if push == nil {
		push = a.sim.Push
	}
	err := push(in)
	if err == nil || errors.Is(err, loop.ErrDuplicate) { // that one waits already
		return
	}
	fs := &a.flights
	fs.mu.Lock()
	fs.unsent = append(fs.unsent, in)
	fs.mu.Unlock()
}

// reconcile brings what is at work in line with what the state waits for, when a Restore or a
// replay has parted them; and sends again what found no room.
func (a *Agents) reconcile() {
	fs := &a.flights
	fs.mu.Lock()
	dirty, unsent := fs.dirty, fs.unsent
	fs.dirty, fs.unsent = false, nil
	fs.counts.Resent += uint64(len(unsent))
	fs.mu.Unlock()
	for _, in := range unsent {
		if fs.has(in.Seq) {
			in.Tick = a.soon.Load()
			a.post(in)
		}
	}
	if !dirty {
		return
	}
	wanted := make(map[uint64]bool)
	for i := range a.list {
		m := &a.list[i]
		if m.decision == 0 {
			continue
		}
		h := head{m.decision, m.id, m.hash}
		wanted[h.decision] = true
		a.resume(h, m)
	}
	fs.mu.Lock()
	defer fs.mu.Unlock()
	for d, f := range fs.byID { // in any order: it only ends what is not wanted
		if d < a.next && !wanted[d] {
			f.end(errDropped)
			delete(fs.byID, d)
		}
	}
}

// resume sees to it that somebody is at work on a decision of the state. If nobody knows what
// was perceived it is orphaned.
func (a *Agents) resume(h head, m *member) {
	fs := &a.flights
	fs.mu.Lock()
	f := fs.byID[h.decision]
	if f == nil || f.head != h {
		if f != nil {
			f.end(errDropped)
		}
		f = &flight{head: h, provider: m.spec.Provider}
		fs.byID[h.decision] = f
		fs.mu.Unlock()
		a.deliver(f, h.failure(nil, Orphaned, "agent: restored, and nobody is at work on it"))
		return
	}
	fs.mu.Unlock()
	a.start(f)
}

func (fs *flights) has(decision uint64) bool {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	return fs.byID[decision] != nil
}

// soil says that a Restore or a replay may have parted state and flights.
func (fs *flights) soil() {
	fs.mu.Lock()
	defer fs.mu.Unlock()
	fs.dirty = true
}

// Close cancels all calls, and waits until the last has returned or ctx is done; the error
// is then that of ctx, and says how many have not. Decisions on their way are cancelled with
// the next ticks, as are those asked for later: the Sim may go on. A second Close waits again.
func (a *Agents) Close(ctx context.Context) error {
	fs := &a.flights
	fs.mu.Lock()
	if !fs.closed {
		fs.closed = true
		for _, f := range fs.byID { // in any order: answers are sorted where they arrive
			if f.cancel != nil {
				f.cancel(errClosed)
			}
		}
		if fs.running == 0 {
			close(fs.drained)
		}
	}
	fs.mu.Unlock()
	select {
	case <-fs.drained:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("agent: Close: %d calls of providers have not returned: %w", a.Live().Running, ctx.Err())
	}
}
