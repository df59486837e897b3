package agent

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/loop"
)

// Nothing in this file decides anything: its results reach the simulation as inputs.

// requests are the decisions in flight: those that providers work on, outside the ticks.
type requests struct {
	mu      sync.Mutex
	byID    map[uint64]*request
	unsent  []evertick.Input
	calls   []providerCalls // by provider
	running int
	closed  bool
	drained chan struct{}
	dirty   bool // state and requests may disagree: see reconcile
	counts  LiveStats
}

// request is a decision in flight. Its provider works on it, or will be called once the Sim is live.
type request struct {
	head
	provider  int
	p         *Perception
	timeout   time.Duration
	cancel    context.CancelCauseFunc // nil: the provider was not called yet
	over      bool                    // it has its answer, or needs none
	data      []byte                  // the answer that was sent
	abandoned chan struct{}           // closed when abandon has returned
}

// providerCalls counts the calls of a provider.
type providerCalls struct {
	running   int       // have not returned yet
	abandoned int       // of these, nobody waits for the result
	notBefore time.Time // wall time before which it is not called
}

// LiveStats count calls since New. They belong to this process: a replay makes no calls.
type LiveStats struct {
	Calls     uint64 // of providers
	Returned  uint64
	Panics    uint64
	Late      uint64 // returned after their context was done
	Running   int    // calls that have not returned
	Abandoned int    // of these, nobody waits for the result
	Unsent    int    // answers for which the Sim has no room yet
	Resent    uint64 // answers that were sent again, after a Restore or because the Sim had no room
}

func (rs *requests) init(providers int) {
	rs.byID = make(map[uint64]*request)
	rs.calls = make([]providerCalls, max(1, providers))
	rs.drained = make(chan struct{})
}

// Live returns the counts of calls.
func (a *Agents) Live() LiveStats {
	rs := &a.requests
	rs.mu.Lock()
	defer rs.mu.Unlock()
	s := rs.counts
	s.Running, s.Unsent = rs.running, len(rs.unsent)
	for i := range rs.calls {
		s.Abandoned += rs.calls[i].abandoned
	}
	return s
}

// askProvider requests a decision, now or as soon as the Sim is live. If a tick runs again and asks for the
// same decision with the same perception, the request in flight stays.
func (a *Agents) askProvider(m *agentState, p *Perception) {
	h := head{m.decision, m.id, m.hash}
	if a.redecider != nil {
		a.redecider.ask(a, h, p)
	}
	rs := &a.requests
	rs.mu.Lock()
	q := rs.byID[h.decision]
	if q != nil && q.head != h {
		q.end(errDropped)
		q = nil
	}
	if q == nil {
		q = &request{head: h, provider: m.spec.Provider, p: p, timeout: m.spec.Timeout}
		rs.byID[h.decision] = q
	}
	rs.mu.Unlock()
	if a.live {
		a.startCall(q)
	}
}

var (
	errClosed   = errors.New("agent: closed")
	errDropped  = errors.New("agent: the decision is not needed any more")
	errTimedOut = errors.New("agent: the provider timed out")
)

// end ends a request without an answer. The requests are locked.
func (q *request) end(why error) {
	q.over = true
	if q.cancel != nil {
		q.cancel(why)
	}
}

// drop forgets a decision that the simulation has finished with.
func (rs *requests) drop(decision uint64) {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	if q := rs.byID[decision]; q != nil {
		q.end(errDropped)
		delete(rs.byID, decision)
	}
}

// startCall calls the provider, unless it was called before. If it has answered, that answer is sent again.
func (a *Agents) startCall(q *request) {
	rs := &a.requests
	rs.mu.Lock()
	calls := &rs.calls[q.provider]
	switch {
	case q.data != nil:
		rs.counts.Resent++
		rs.mu.Unlock()
		a.send(q.head, q.data)
		return
	case q.over || q.cancel != nil:
		rs.mu.Unlock()
		return
	case rs.closed:
		rs.mu.Unlock()
		a.deliver(q, q.failure(nil, Closed, errClosed.Error()))
		return
	case calls.running >= a.cfg.Providers[q.provider].Abandoned: // any of them may be abandoned
		n := calls.running
		rs.mu.Unlock()
		a.deliver(q, q.failure(nil, Abandoned, fmt.Sprintf("agent: %d calls of the provider have not returned", n)))
		return
	case time.Now().Before(calls.notBefore):
		busy := &RetryError{NotBefore: calls.notBefore, Err: errBusy}
		rs.mu.Unlock()
		a.deliver(q, a.refusal(q.head, busy, a.cfg.Providers[q.provider].MaxDelay))
		return
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	q.cancel, q.abandoned = cancel, make(chan struct{})
	calls.running++
	rs.running++
	rs.counts.Calls++
	rs.mu.Unlock()
	go a.runCall(ctx, q)
}

// runCall runs on a goroutine of its own.
func (a *Agents) runCall(ctx context.Context, q *request) {
	ctx, cancel := context.WithTimeoutCause(ctx, q.timeout, errTimedOut)
	stop := context.AfterFunc(ctx, func() { a.abandon(ctx, q) })
	data := q.failure(nil, ProviderError, "agent: the provider ended its goroutine")
	defer func() { // also if the provider ends the goroutine
		abandoned := !stop()
		if abandoned {
			<-q.abandoned
		} else if failure := q.contextFailure(ctx); failure != nil { // the provider obeys ctx, and may return as early as abandon
			data = failure
		}
		a.finishCall(q, data, abandoned, ctx.Err() != nil)
		cancel()
		q.cancel(nil)
	}()
	data = a.callProvider(ctx, q)
}

func (a *Agents) callProvider(ctx context.Context, q *request) (data []byte) {
	defer func() {
		if v := recover(); v != nil {
			a.requests.mu.Lock()
			a.requests.counts.Panics++
			a.requests.mu.Unlock()
			data = q.failure(nil, ProviderPanic, fmt.Sprint(v))
		}
	}()
	c := &a.cfg.Providers[q.provider]
	d, err := c.Provider.Decide(ctx, q.p)
	if err != nil {
		if d, retry := delay(err, c.MaxDelay); retry != nil {
			a.requests.hold(q.provider, d)
		}
		return a.refusal(q.head, err, c.MaxDelay)
	}
	return a.rules.encodeOrFail(q.head, &d)
}

// abandon stops waiting for a call: it has timed out, or its result is not needed any more.
func (a *Agents) abandon(ctx context.Context, q *request) {
	defer close(q.abandoned)
	rs := &a.requests
	rs.mu.Lock()
	rs.calls[q.provider].abandoned++
	rs.mu.Unlock()
	a.deliver(q, q.contextFailure(ctx))
}

// contextFailure returns the answer that says why ctx is done, nil if it is not.
func (q *request) contextFailure(ctx context.Context) []byte {
	why := Withdrawn // not needed any more: it is not sent
	switch context.Cause(ctx) {
	case nil:
		return nil
	case errTimedOut:
		why = TimedOut
	case errClosed:
		why = Closed
	}
	return q.failure(nil, why, context.Cause(ctx).Error())
}

// finishCall ends a call. It takes the call off the list of its provider before it delivers the answer: the
// tick that takes the answer may ask the provider again, and the answered call must not count against
// Abandoned then. Once the answer is sent, the call counts as returned, and no longer as running.
func (a *Agents) finishCall(q *request, data []byte, abandoned, late bool) {
	rs := &a.requests
	rs.mu.Lock()
	rs.calls[q.provider].running--
	if abandoned {
		rs.calls[q.provider].abandoned--
	}
	rs.mu.Unlock()
	if !abandoned {
		a.deliver(q, data)
	}
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.counts.Returned++
	if late {
		rs.counts.Late++
	}
	rs.running--
	if rs.closed && rs.running == 0 {
		close(rs.drained)
	}
}

// deliver sends the answer of a request; a request has only one.
func (a *Agents) deliver(q *request, data []byte) {
	rs := &a.requests
	rs.mu.Lock()
	over := q.over
	if !over {
		q.over, q.data = true, data
	}
	rs.mu.Unlock()
	if !over {
		a.send(q.head, data)
	}
}

// send makes an answer an input of the next tick.
func (a *Agents) send(h head, data []byte) {
	a.push(evertick.Input{Tick: a.nextTick.Load(), Source: a.cfg.Source, Seq: h.decision, Kind: a.cfg.Kind, Data: data})
}

// push hands an input to the Sim. If the Sim has no room, the input waits in unsent until there is.
func (a *Agents) push(in evertick.Input) {
	push := a.cfg.Send
	if push == nil {
		push = a.sim.Push
	}
	err := push(in)
	if err == nil || errors.Is(err, loop.ErrDuplicate) { // the Sim has it already
		return
	}
	rs := &a.requests
	rs.mu.Lock()
	rs.unsent = append(rs.unsent, in)
	rs.mu.Unlock()
}

// reconcile makes the requests agree with the state after a Restore or a replay has changed the state, and
// sends again the answers for which the Sim had no room.
func (a *Agents) reconcile() {
	rs := &a.requests
	rs.mu.Lock()
	dirty, unsent := rs.dirty, rs.unsent
	rs.dirty, rs.unsent = false, nil
	rs.counts.Resent += uint64(len(unsent))
	rs.mu.Unlock()
	for _, in := range unsent {
		if rs.has(in.Seq) {
			in.Tick = a.nextTick.Load()
			a.push(in)
		}
	}
	if !dirty {
		return
	}
	wanted := make(map[uint64]bool)
	for i := range a.list {
		if m := &a.list[i]; m.decision != 0 {
			wanted[m.decision] = true
			a.resume(head{m.decision, m.id, m.hash}, m)
		}
	}
	rs.mu.Lock()
	defer rs.mu.Unlock()
	for d, q := range rs.byID { // in any order: it only ends what is not wanted
		if d < a.next && !wanted[d] {
			q.end(errDropped)
			delete(rs.byID, d)
		}
	}
}

// resume makes sure that a decision in flight has its request. If its perception is not known any more, the
// decision is orphaned.
func (a *Agents) resume(h head, m *agentState) {
	rs := &a.requests
	rs.mu.Lock()
	q := rs.byID[h.decision]
	if q == nil || q.head != h {
		if q != nil {
			q.end(errDropped)
		}
		q = &request{head: h, provider: m.spec.Provider}
		rs.byID[h.decision] = q
		rs.mu.Unlock()
		a.deliver(q, h.failure(nil, Orphaned, "agent: restored without the perception that the provider needs"))
		return
	}
	rs.mu.Unlock()
	a.startCall(q)
}

func (rs *requests) has(decision uint64) bool {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	return rs.byID[decision] != nil
}

// markDirty notes that a Restore or a replay may have changed which decisions are in flight.
func (rs *requests) markDirty() {
	rs.mu.Lock()
	defer rs.mu.Unlock()
	rs.dirty = true
}

// Close cancels all calls, and waits until the last one has returned or ctx is done; the error is then that
// of ctx, and says how many have not returned. Decisions in flight are cancelled in the next ticks, and so
// are those requested later: the Sim may go on. A second Close waits again.
func (a *Agents) Close(ctx context.Context) error {
	rs := &a.requests
	rs.mu.Lock()
	if !rs.closed {
		rs.closed = true
		for _, q := range rs.byID { // in any order: answers are sorted where they arrive
			if q.cancel != nil {
				q.cancel(errClosed)
			}
		}
		if rs.running == 0 {
			close(rs.drained)
		}
	}
	rs.mu.Unlock()
	select {
	case <-rs.drained:
		return nil
	case <-ctx.Done():
		return fmt.Errorf("agent: Close: %d calls of providers have not returned: %w", a.Live().Running, ctx.Err())
	}
}
