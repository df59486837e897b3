package skill

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/loop"
)

// Caller calls skills from outside, on any goroutine, as an actor.
type Caller struct {
	r     *Registry
	actor Actor
}

// Caller returns a Caller for an actor. Each call is checked against the profile of that
// name; errors are those of Actor.Validate.
func (r *Registry) Caller(a Actor) (*Caller, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	return &Caller{r, a}, nil
}

// Actor returns the actor as which it calls.
func (c *Caller) Actor() Actor { return c.actor }

// Result is the result of a call.
type Result struct {
	Output json.RawMessage // nil if there is an error
	Err    error           // *Error, or the reason why the call was dropped
	Tick   uint64          // in which it ran
	Seq    uint64          // of its event
}

// Pending is a call that waits for its tick, or for approval.
type Pending struct {
	held  atomic.Uint64
	actor string
	ticks int // that have ended since it was submitted
	done  chan struct{}
	once  sync.Once
	res   Result
}

// Done is closed when the tick of the call is complete. For a call that is held for approval, that is the tick in
// which it runs after the approval, is rejected, or expires.
func (p *Pending) Done() <-chan struct{} { return p.done }

// Result waits until Done is closed, and returns the result.
func (p *Pending) Result() Result {
	<-p.done
	return p.res
}

// Held returns the number of the event with which the call was held for approval, 0 if it was not.
func (p *Pending) Held() uint64 { return p.held.Load() }

func (p *Pending) finish(res Result) {
	p.once.Do(func() {
		p.res = res
		close(p.done)
	})
}

// Stats counts calls from outside since New.
type Stats struct {
	Submitted uint64 // queued
	Full      uint64 // rejected, as too many calls waited
	Answered  uint64
	Lost      uint64 // queued, but the Sim was restored, has got its inputs from a feed, or has ended
	Waiting   int    // for their tick, now
	Held      int    // for approval, now
}

// Stats returns the counts of calls from outside. It may be called from any goroutine.
func (r *Registry) Stats() Stats {
	cq := &r.queue
	cq.Lock()
	defer cq.Unlock()
	s := cq.counts
	s.Waiting, s.Held = len(cq.waiting), len(cq.held)
	return s
}

// callQueue holds the calls from outside, for any goroutine.
type callQueue struct {
	sync.Mutex
	now      uint64              // the tick that has not ended
	seq      uint64              // of the last input
	waiting  map[uint64]*Pending // by the seq of their inputs
	held     map[uint64]*Pending // for approval, by the seq of their first events
	ready    []*Pending          // of this tick
	byActor  map[string]int
	rejected map[string]uint64 // calls that were not queued since the last tick, by actor
	counts   Stats
	closed   error
}

func (cq *callQueue) init(now uint64) {
	cq.now, cq.waiting, cq.held = now, map[uint64]*Pending{}, map[uint64]*Pending{}
	cq.byActor, cq.rejected = map[string]int{}, map[string]uint64{}
}

// Submit queues a call for the next tick, as an input of the Sim: calls run at the beginning of the tick,
// in the order in which they were submitted, and a log of the Sim has them. input is a JSON
// object, or empty for one without fields. cause says what led to the call, 0 for nothing.
//
// If Config.Calls or ActorCalls wait already, or the Sim has no room for another input, the
// error is an *Error with CapacityExceeded, and the call is rejected and counted; after Close the error
// is ErrClosed. All other errors are in the result, after the tick.
func (c *Caller) Submit(name string, input []byte, cause uint64) (*Pending, error) {
	data := c.r.appendCall(nil, &request{actor: c.actor, skill: name, input: input, cause: cause})
	cq := &c.r.queue
	cq.Lock()
	defer cq.Unlock()
	if cq.closed != nil {
		return nil, fmt.Errorf("skill: Submit: %w", cq.closed)
	}
	config := &c.r.config
	switch {
	case len(cq.waiting) >= config.Calls:
		return nil, cq.reject(c.actor.Name, name, "too many calls wait", config.Calls, nil)
	case cq.byActor[c.actor.Name] >= config.ActorCalls:
		return nil, cq.reject(c.actor.Name, name, "too many calls of the actor wait", config.ActorCalls, nil)
	}
	p := &Pending{actor: c.actor.Name, done: make(chan struct{})}
	for {
		cq.seq++
		err := c.r.sim.Push(evertick.Input{Tick: cq.now, Source: LogKind, Seq: cq.seq, Kind: LogKind, Data: data})
		if err == nil {
			break
		}
		if !errors.Is(err, loop.ErrDuplicate) { // a call from before a Restore
			return nil, cq.reject(c.actor.Name, name, "the queue of inputs is full; bytes of the call", len(data), err)
		}
	}
	cq.waiting[cq.seq] = p
	cq.byActor[p.actor]++
	cq.counts.Submitted++
	return p, nil
}

// maxRejectedActors is the number of actors whose rejected calls are counted separately within a tick.
const maxRejectedActors = 256

func (cq *callQueue) reject(actor, skill, what string, n int, cause error) error {
	cq.counts.Full++
	if _, known := cq.rejected[actor]; !known && len(cq.rejected) >= maxRejectedActors {
		actor = ""
	}
	cq.rejected[actor]++
	e := refuse(CapacityExceeded, "", "%s: %d", what, n)
	e.Skill, e.Cause = truncate(skill, maxCalled), cause
	return e
}

// Call submits a call and waits for its result. If ctx is done before, the call may still run. If the call is held
// for approval when ctx is done, the error is an *Error with PendingApproval, and Result.Seq is Pending.Held.
// It must not be called within a tick, where it would wait endlessly: use Registry.Call there.
func (c *Caller) Call(ctx context.Context, name string, input []byte, cause uint64) (Result, error) {
	p, err := c.Submit(name, input, cause)
	if err != nil {
		return Result{}, err
	}
	select {
	case <-p.done:
		return p.res, p.res.Err
	case <-ctx.Done():
		if seq := p.Held(); seq != 0 {
			e := refuse(PendingApproval, "", "call %d waits for approval", seq)
			e.Skill, e.Cause = truncate(name, maxCalled), ctx.Err()
			return Result{Err: e, Seq: seq}, e
		}
		return Result{}, fmt.Errorf("skill: Call: %s: %w", truncate(name, maxCalled), ctx.Err())
	}
}

// Close answers the waiting calls with ErrClosed, and refuses later ones. Call it when the Sim is not
// stepped any more. cause may say why; it may be nil.
func (r *Registry) Close(cause error) {
	err := ErrClosed
	if cause != nil {
		err = fmt.Errorf("%w: %w", ErrClosed, cause)
	}
	cq := &r.queue
	cq.Lock()
	defer cq.Unlock()
	if cq.closed == nil {
		cq.closed = err
	}
	for seq := range cq.waiting {
		cq.drop(seq, err)
	}
	cq.dropHeld(err, new(state))
	cq.dropReady(err)
}

// dropReady drops the calls that ran in a tick that was not completed.
func (cq *callQueue) dropReady(err error) {
	for _, p := range cq.ready {
		cq.counts.Lost++
		p.finish(Result{Err: fmt.Errorf("skill: %w", err)})
	}
	clear(cq.ready)
	cq.ready = cq.ready[:0]
}

// dropHeld ends the wait for held calls that the state does not hold.
func (cq *callQueue) dropHeld(err error, s *state) {
	for seq, p := range cq.held { // in any order: each has its own result
		if i, ok := s.findHeld(seq); !ok || s.held[i].actor.Name != p.actor {
			delete(cq.held, seq)
			cq.counts.Lost++
			p.finish(Result{Err: fmt.Errorf("skill: %w", err)})
		}
	}
}

// drop drops a waiting call.
func (cq *callQueue) drop(seq uint64, err error) {
	p := cq.waiting[seq]
	cq.remove(seq, p)
	cq.counts.Lost++
	p.finish(Result{Err: fmt.Errorf("skill: %w", err)})
}

func (cq *callQueue) remove(seq uint64, p *Pending) {
	delete(cq.waiting, seq)
	if cq.byActor[p.actor]--; cq.byActor[p.actor] == 0 {
		delete(cq.byActor, p.actor)
	}
}

// A call as the data of an input: a byte for the version, one for the form, uvarint cause and
// entity of the actor, the strings profile, actor and skill, and then the input, or the hash and the length of
// an input that was too long. Version 2 has the source and the number of a decision, as uvarints, after the form: it
// is that of held calls that carry out a decision.
const (
	callVersion    = 1
	decidedVersion = 2
	formWhole      = 0
	formOversized  = 1
)

func (r *Registry) appendCall(dst []byte, q *request) []byte {
	q.trim()
	form := byte(formWhole)
	if len(q.input) > r.config.InputBytes {
		form = formOversized
	}
	if d := q.agentDecision; d != (AgentDecision{}) {
		dst = wire.AppendUvarints(append(dst, decidedVersion, form), uint64(d.Source), d.Number)
	} else {
		dst = append(dst, callVersion, form)
	}
	dst = wire.AppendUvarints(dst, q.cause, uint64(q.actor.Entity))
	dst = wire.AppendPrefixed(dst, q.actor.Profile)
	dst = wire.AppendPrefixed(dst, q.actor.Name)
	dst = wire.AppendPrefixed(dst, q.skill)
	if form == formWhole {
		return append(dst, q.input...)
	}
	dst = wire.AppendU64s(dst, statehash.Bytes(q.input, 1, false))
	return wire.AppendUvarints(dst, uint64(len(q.input)))
}

func parseCall(data []byte) (request, error) {
	p := wire.NewReader(data)
	v, form := p.U8(), p.U8()
	var q request
	if v == decidedVersion {
		if q.agentDecision = parseDecision(&p); q.agentDecision.Number == 0 {
			p.Fail("number of a decision", 0)
		}
	}
	q.cause = p.Uvarint()
	q.actor.Entity = ecs.ID(p.Uvarint())
	q.actor.Profile, q.actor.Name, q.skill = p.String(maxProfile), p.String(maxActor), p.String(maxCalled)
	switch {
	case v != callVersion && v != decidedVersion || form > formOversized || p.Err() != nil:
		return request{}, fault.Field(fault.ErrCorrupt, "skill: call: bytes", len(data))
	case form == formWhole:
		q.input = p.Rest()
		return q, nil
	}
	q.oversized = &oversized{hash: p.U64(), bytes: p.Uvarint()}
	if p.Done() != nil {
		return request{}, fault.Field(fault.ErrCorrupt, "skill: call: bytes", len(data))
	}
	return q, nil
}

// run is the system: it runs the calls among the inputs of the tick.
func (r *Registry) run(t *evertick.Tick) error {
	r.after = r.after[:0]
	r.state.prune(t.N)
	if err := r.expire(t); err != nil {
		return err
	}
	if err := r.recordRejected(t); err != nil {
		return err
	}
	calls := 0
	for i := range t.Inputs() {
		in := &t.Inputs()[i]
		if in.Kind != LogKind || in.Source != LogKind {
			continue
		}
		calls++
		if err := r.runInput(t, in, calls > r.config.Calls); err != nil {
			return err
		}
	}
	return nil
}

// runInput runs one call, and keeps its result until the tick is complete.
func (r *Registry) runInput(t *evertick.Tick, in *evertick.Input, tooMany bool) error {
	r.state.input = max(r.state.input, in.Seq)
	q, err := parseCall(in.Data)
	switch {
	case err != nil: // not written by Submit: it becomes an event all the same
		q = request{input: in.Data, refused: &Error{Code: InvalidInput, Text: shorten(err), Cause: err}}
	case tooMany: // from a feed, or from before a Restore: Submit never queues more calls than run in a tick
		q.refused = refuse(CapacityExceeded, "", "more than %d calls in a tick", r.config.Calls)
	}
	res, err := r.call(t, &q)
	if err != nil {
		return err
	}
	cq := &r.queue
	cq.Lock()
	defer cq.Unlock()
	if p := cq.waiting[in.Seq]; p != nil {
		cq.remove(in.Seq, p)
		if q.waits {
			p.held.Store(res.Seq)
			cq.held[res.Seq] = p
			return nil
		}
		p.res = res
		cq.ready = append(cq.ready, p)
	}
	return nil
}

// recordRejected makes events of the calls that were rejected.
func (r *Registry) recordRejected(t *evertick.Tick) error {
	if t.Again() {
		return nil
	}
	cq := &r.queue
	cq.Lock()
	if len(cq.rejected) == 0 {
		cq.Unlock()
		return nil
	}
	events := make([]Event, 0, len(cq.rejected))
	for actor, n := range cq.rejected {
		events = append(events, Event{Tick: t.N, Actor: actor, Code: CapacityExceeded, Count: n})
	}
	clear(cq.rejected)
	cq.Unlock()
	slices.SortFunc(events, func(a, b Event) int { return cmp.Compare(a.Actor, b.Actor) })
	for i := range events {
		if err := r.record(t, &events[i]); err != nil {
			return err
		}
	}
	return nil
}

// afterTick delivers the results of a complete tick.
func (r *Registry) afterTick(t *evertick.Tick) error {
	if !t.Again() {
		for _, f := range r.after {
			f()
		}
	}
	r.after = r.after[:0]
	cq := &r.queue
	cq.Lock()
	defer cq.Unlock()
	cq.now = t.N + 1
	for _, p := range cq.ready {
		cq.counts.Answered++
		p.finish(p.res)
	}
	clear(cq.ready)
	cq.ready = cq.ready[:0]
	if t.Again() {
		return nil
	}
	for seq, p := range cq.waiting {
		// It was submitted before the last tick ended, so it should have run in this one.
		if p.ticks++; p.ticks == 2 {
			cq.drop(seq, errLost)
		}
	}
	return nil
}

var errLost = fmt.Errorf("the Sim did not run the call: it was restored, or its inputs come from a feed; the call may still run: %w", ErrClosed)

// restored reacts to a Restore of the state.
func (r *Registry) restored() {
	cq := &r.queue
	cq.Lock()
	cq.dropReady(errLost)                          // their tick has failed
	cq.seq, cq.now = max(cq.seq, r.state.input), 0 // the next tick is not known until it ends
	cq.dropHeld(errLost, &r.state)
	cq.Unlock()
	r.trace.keep(func(e *Event) bool { return e.Seq <= r.state.calls })
}
