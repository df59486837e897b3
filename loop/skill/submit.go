package skill

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/statehash"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/loop"
)

// Caller calls skills from outside, from any goroutine, in the name of an actor.
type Caller struct {
	r     *Registry
	actor Actor
}

// Caller returns a Caller for an actor. What it may do is decided at each call, by the
// profile of that name; errors are those of Actor.Validate.
func (r *Registry) Caller(a Actor) (*Caller, error) {
	if err := a.Validate(); err != nil {
		return nil, err
	}
	return &Caller{r, a}, nil
}

// Actor returns in whose name it calls.
func (c *Caller) Actor() Actor { return c.actor }

// Result is how a call has ended.
type Result struct {
	Output json.RawMessage // nil if there is an error
	Err    error           // *Error, or why the call is lost
	Tick   uint64          // in which it ran
	Seq    uint64          // of its event
}

// Pending is a call that waits for its tick.
type Pending struct {
	actor string
	seen  int // ticks that have ended since it was handed over
	done  chan struct{}
	once  sync.Once
	res   Result
}

// Done is closed when the tick of the call is complete.
func (p *Pending) Done() <-chan struct{} { return p.done }

// Result returns how the call has ended. It is to be read when Done is closed.
func (p *Pending) Result() Result {
	<-p.done
	return p.res
}

func (p *Pending) end(res Result) {
	p.once.Do(func() {
		p.res = res
		close(p.done)
	})
}

// Stats counts calls from outside since New.
type Stats struct {
	Submitted uint64 // taken
	Full      uint64 // refused at the door, as too many waited
	Answered  uint64
	Lost      uint64 // taken, and forgotten by a Sim that was restored, fed otherwise or has ended
	Waiting   int    // now
}

// Stats returns what became of calls from outside. It may be called from any goroutine.
func (r *Registry) Stats() Stats {
	m := &r.mail
	m.Lock()
	defer m.Unlock()
	s := m.counts
	s.Waiting = len(m.waiting)
	return s
}

func (m *mailbox) init(now uint64) {
	m.now, m.waiting, m.byActor, m.refused = now, map[uint64]*Pending{}, map[string]int{}, map[string]uint64{}
}

// Submit hands a call over to the next tick, as an input of the Sim: calls run at its beginning,
// in the order in which they were handed over, and a log of the Sim has them. input is a JSON
// object, or empty for one without fields. cause says what has led to the call, 0 for nothing.
//
// If Config.Calls or ActorCalls wait already, or the Sim has no room for another input, the
// error is an *Error with CapacityExceeded, and the call is counted and not taken; after Close it
// is ErrClosed. Whatever else is wrong is said by the result, after the tick.
func (c *Caller) Submit(name string, input []byte, cause uint64) (*Pending, error) {
	data := c.r.appendCall(nil, &request{actor: c.actor, skill: name, input: input, cause: cause})
	m := &c.r.mail
	m.Lock()
	defer m.Unlock()
	if m.closed != nil {
		return nil, fmt.Errorf("skill: Submit: %w", m.closed)
	}
	config := &c.r.config
	switch {
	case len(m.waiting) >= config.Calls:
		return nil, m.turnAway(c.actor.Name, name, "calls that wait", config.Calls, nil)
	case m.byActor[c.actor.Name] >= config.ActorCalls:
		return nil, m.turnAway(c.actor.Name, name, "calls of the actor that wait", config.ActorCalls, nil)
	}
	p := &Pending{actor: c.actor.Name, done: make(chan struct{})}
	for {
		m.seq++
		err := c.r.sim.Push(evertick.Input{Tick: m.now, Source: LogKind, Seq: m.seq, Kind: LogKind, Data: data})
		if err == nil {
			break
		}
		if !errors.Is(err, loop.ErrDuplicate) { // of a life before a Restore
			return nil, m.turnAway(c.actor.Name, name, "bytes of the call", len(data), err)
		}
	}
	m.waiting[m.seq] = p
	m.byActor[p.actor]++
	m.counts.Submitted++
	return p, nil
}

// mostDoors is for how many actors refusals at the door are told apart within a tick.
const mostDoors = 256

func (m *mailbox) turnAway(actor, skill, what string, n int, cause error) error {
	m.counts.Full++
	if _, known := m.refused[actor]; !known && len(m.refused) >= mostDoors {
		actor = ""
	}
	m.refused[actor]++
	e := refuse(CapacityExceeded, "", "%s: %d", what, n)
	e.Skill, e.Cause = cut(skill, maxCalled), cause
	return e
}

// Call is Submit, and waits for the result. If ctx is done before, the call may still run.
// Within a tick it would wait for ever: that is what Registry.Call is for.
func (c *Caller) Call(ctx context.Context, name string, input []byte, cause uint64) (Result, error) {
	p, err := c.Submit(name, input, cause)
	if err != nil {
		return Result{}, err
	}
	select {
	case <-p.done:
		return p.res, p.res.Err
	case <-ctx.Done():
		return Result{}, fmt.Errorf("skill: Call: %s: %w", cut(name, maxCalled), ctx.Err())
	}
}

// Close answers the calls that wait with ErrClosed, and refuses those to come: for when nobody
// steps the Sim any more. cause may say why; it may be nil.
func (r *Registry) Close(cause error) {
	err := ErrClosed
	if cause != nil {
		err = fmt.Errorf("%w: %w", ErrClosed, cause)
	}
	m := &r.mail
	m.Lock()
	defer m.Unlock()
	if m.closed == nil {
		m.closed = err
	}
	for seq := range m.waiting {
		m.lose(seq, err)
	}
	m.abandon(err)
}

// abandon gives up the calls that were made in a tick that is not complete.
func (m *mailbox) abandon(err error) {
	for _, p := range m.ready {
		m.counts.Lost++
		p.end(Result{Err: fmt.Errorf("skill: %w", err)})
	}
	clear(m.ready)
	m.ready = m.ready[:0]
}

// lose gives a call up.
func (m *mailbox) lose(seq uint64, err error) {
	p := m.waiting[seq]
	m.forget(seq, p)
	m.counts.Lost++
	p.end(Result{Err: fmt.Errorf("skill: %w", err)})
}

func (m *mailbox) forget(seq uint64, p *Pending) {
	delete(m.waiting, seq)
	if m.byActor[p.actor]--; m.byActor[p.actor] == 0 {
		delete(m.byActor, p.actor)
	}
}

// A call as the data of an input: a byte for the version, one for the form, uvarint cause and
// entity of the actor, the strings profile, actor and skill, and then the input; of one that
// was too long its hash and its length instead.
const (
	callVersion  = 1
	formWhole    = 0
	formWithheld = 1
)

func (r *Registry) appendCall(dst []byte, q *request) []byte {
	q.trim()
	form := byte(formWhole)
	if len(q.input) > r.config.InputBytes {
		form = formWithheld
	}
	dst = append(dst, callVersion, form)
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
	q := request{cause: p.Uvarint()}
	q.actor.Entity = ecs.ID(p.Uvarint())
	q.actor.Profile, q.actor.Name, q.skill = p.String(maxProfile), p.String(maxActor), p.String(maxCalled)
	switch {
	case v != callVersion || form > formWithheld || p.Err() != nil:
		return request{}, fault.Field(ErrCorrupt, "skill: call: bytes", len(data))
	case form == formWhole:
		q.input = p.Rest()
		return q, nil
	}
	q.withheld = &withheld{hash: p.U64(), bytes: p.Uvarint()}
	if p.Done() != nil {
		return request{}, fault.Field(ErrCorrupt, "skill: call: bytes", len(data))
	}
	return q, nil
}

// run is the system: it makes the calls that this tick was given.
func (r *Registry) run(t *evertick.Tick) error {
	r.after = r.after[:0]
	r.state.prune(t.N)
	if err := r.tellDoors(t); err != nil {
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

// runInput makes one call, and keeps its result until the tick is complete.
func (r *Registry) runInput(t *evertick.Tick, in *evertick.Input, tooMany bool) error {
	r.state.input = max(r.state.input, in.Seq)
	q, err := parseCall(in.Data)
	switch {
	case err != nil: // somebody else's: an event all the same
		q = request{input: in.Data, refused: &Error{Code: InvalidInput, Text: short(err), Cause: err}}
	case tooMany: // of a feed, or of two lives: Submit takes no more than run
		q.refused = refuse(CapacityExceeded, "", "calls in a tick: %d", r.config.Calls)
	}
	out, err := r.call(t, &q)
	var refused *Error
	if err != nil && !errors.As(err, &refused) {
		return err
	}
	m := &r.mail
	m.Lock()
	defer m.Unlock()
	if p := m.waiting[in.Seq]; p != nil {
		p.res = Result{Output: out, Err: err, Tick: t.N, Seq: r.state.calls}
		m.forget(in.Seq, p)
		m.ready = append(m.ready, p)
	}
	return nil
}

// tellDoors makes events of the calls that were not let in.
func (r *Registry) tellDoors(t *evertick.Tick) error {
	if t.Again() {
		return nil
	}
	m := &r.mail
	m.Lock()
	if len(m.refused) == 0 {
		m.Unlock()
		return nil
	}
	events := make([]Event, 0, len(m.refused))
	for actor, n := range m.refused {
		events = append(events, Event{Tick: t.N, Actor: actor, Code: CapacityExceeded, Count: n})
	}
	clear(m.refused)
	m.Unlock()
	slices.SortFunc(events, func(a, b Event) int { return cmp.Compare(a.Actor, b.Actor) })
	for i := range events {
		if err := r.record(t, &events[i]); err != nil {
			return err
		}
	}
	return nil
}

// afterTick hands out the results of a tick that is complete.
func (r *Registry) afterTick(t *evertick.Tick) error {
	if !t.Again() {
		for _, f := range r.after {
			f()
		}
	}
	r.after = r.after[:0]
	m := &r.mail
	m.Lock()
	defer m.Unlock()
	m.now = t.N + 1
	for _, p := range m.ready {
		m.counts.Answered++
		p.end(p.res)
	}
	clear(m.ready)
	m.ready = m.ready[:0]
	if t.Again() {
		return nil
	}
	for seq, p := range m.waiting {
		// It was handed over before the last tick ended, so this one should have had it.
		if p.seen++; p.seen == 2 {
			m.lose(seq, errLost)
		}
	}
	return nil
}

var errLost = fmt.Errorf("the Sim has not taken the call, as it was restored or is fed otherwise; it may still run: %w", ErrClosed)

// restored is told that the state is another one.
func (r *Registry) restored() {
	m := &r.mail
	m.Lock()
	m.abandon(errLost)                          // their tick has failed
	m.seq, m.now = max(m.seq, r.state.input), 0 // which tick is next, the end of it will tell
	m.Unlock()
	r.trace.keep(func(e *Event) bool { return e.Seq <= r.state.calls })
}
