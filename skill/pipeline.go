package skill

import (
	"encoding/json"
	"errors"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/statehash"
)

// request is a call in the pipeline.
type request struct {
	actor     Actor
	skill     string
	cause     uint64
	input     []byte
	oversized *oversized // the input was too long to keep
	refused   *Error     // before anything was looked at
	held      uint64     // number of the event with which it was held; 0: it was not

	agentDecision AgentDecision // that it carries out

	waits   bool      // it is held now
	decided *decision // the decision that it has made on another call
}

// oversized describes an input that was too long.
type oversized struct {
	hash  uint64
	bytes uint64
}

// Call runs a skill within a tick, for a system or an agent, and returns its output as JSON. It
// takes the same steps as a call from outside: it looks up the skill, checks the input against its
// schema, the permission and the rate, and runs the handler; every call becomes an event, also a refused
// one. The error is an *Error, or that of the log, which ends the Sim. A call that needs approval is held: it
// returns PendingApproval, and has its end in the trace.
//
// It must not be called while another system runs beside it, or inside the loop of a query.
func (r *Registry) Call(t *evertick.Tick, a Actor, name string, input []byte, cause uint64) (json.RawMessage, error) {
	return r.callNow(t, &request{actor: a, skill: name, input: input, cause: cause})
}

// CallOf is Call for a call that carries out a decision of an agent, as any actor. Its event has the decision, and the
// number of it as cause.
func (r *Registry) CallOf(t *evertick.Tick, a Actor, name string, input []byte, d AgentDecision) (json.RawMessage, error) {
	if d.Number == 0 {
		d = AgentDecision{}
	}
	return r.callNow(t, &request{actor: a, skill: name, input: input, cause: d.Number, agentDecision: d})
}

func (r *Registry) callNow(t *evertick.Tick, q *request) (json.RawMessage, error) {
	if t == nil || t.Sim != r.sim {
		panic("skill: Call: tick of another Sim")
	}
	res, err := r.call(t, q)
	if err != nil {
		return nil, err
	}
	return res.Output, res.Err
}

// Apply is CallOf for an actor that AddActor has registered, by its name: the form for the actions of
// agents. decision is the number of a decision of the agents of agent.DefaultSource, 0 for none; ApplierOf is for
// others. The actor need not be the agent: several agents may act as one actor. Every call of an unknown actor is
// forbidden. A call that is held for approval is no error: the agent has done its part. With package agent, whose
// actions have PlainNames and the input as Data, and which keeps the error in its records:
//
//	Apply: func(t *evertick.Tick, q *agent.Queued) error {
//		return skills.Apply(t, q.Agent.String(), q.Name, q.Data, q.Decision)
//	}
func (r *Registry) Apply(t *evertick.Tick, actor, name string, args []byte, decision uint64) error {
	return r.apply(t, actor, name, args, AgentDecision{Number: decision})
}

// ApplierOf returns Apply for the decisions of agents whose agent.Config.Source is source.
func (r *Registry) ApplierOf(source uint32) Applier {
	return func(t *evertick.Tick, actor, name string, args []byte, decision uint64) error {
		return r.apply(t, actor, name, args, AgentDecision{source, decision})
	}
}

func (r *Registry) apply(t *evertick.Tick, actor, name string, args []byte, d AgentDecision) error {
	a, ok := r.actors[actor]
	if !ok {
		a = Actor{Name: actor}
	}
	_, err := r.CallOf(t, a, name, args, d)
	var e *Error
	if errors.As(err, &e) && e.Code == PendingApproval {
		return nil
	}
	return err
}

// Applier carries out the actions of agents: Registry.Apply is one.
type Applier func(t *evertick.Tick, actor, name string, args []byte, decision uint64) error

// call runs a call. The error is that of the log.
func (r *Registry) call(t *evertick.Tick, q *request) (Result, error) {
	q.trim()
	r.state.calls++
	ev := Event{
		Seq: r.state.calls, Tick: t.N, Actor: q.actor.Name, Profile: q.actor.Profile, Entity: q.actor.Entity,
		Skill: q.skill, Cause: q.cause, Held: q.held, Decision: q.agentDecision,
	}
	if q.oversized != nil {
		ev.Input = q.oversized.hash
	} else {
		ev.Input = statehash.Bytes(q.input, 1, false)
	}
	out, refused := r.execute(t, q, &ev)
	if refused != nil {
		refused.Skill = q.skill
		ev.Code = refused.Code
	} else {
		ev.Output = statehash.Bytes(out, 1, false)
	}
	res := Result{Output: out, Tick: t.N, Seq: ev.Seq}
	if refused != nil {
		res.Err = refused
	}
	err := r.record(t, &ev)
	if err == nil && q.decided != nil {
		err = r.end(t, q.decided, ev.Seq)
	}
	return res, err
}

// trim truncates names that are too long for an event, which no actor and no skill can have.
func (q *request) trim() {
	q.actor.Name = truncate(q.actor.Name, maxActor)
	q.actor.Profile = truncate(q.actor.Profile, maxProfile)
	q.skill = truncate(q.skill, maxCalled)
}

// execute is the pipeline up to the trace.
func (r *Registry) execute(t *evertick.Tick, q *request, ev *Event) (json.RawMessage, *Error) {
	if q.refused != nil {
		return nil, q.refused
	}
	e, ok := r.skills[q.skill]
	if !ok {
		return nil, refuse(NotFound, "", "there is no such skill")
	}
	ev.Skill = e.full
	p, refused := r.validate(e, q)
	if refused != nil {
		return nil, refused
	}
	if refused := r.permit(&q.actor, e, p.target); refused != nil {
		return nil, refused
	}
	if q.held == 0 {
		if refused := r.state.takeToken(e, q.actor.Name, t.N, r.config.Buckets); refused != nil {
			return nil, refused
		}
		if r.needsApproval(&q.actor, e) {
			return nil, r.hold(q, e, ev.Seq, t.N)
		}
	}
	c := &Call{
		Tick: t, Sim: r.sim, Registry: r, Actor: q.actor, Skill: e.full, Cause: q.cause, Decision: q.agentDecision, Held: q.held, Seq: ev.Seq,
		JSON: q.input, Input: p.input,
	}
	out, refused := r.runHooks(c, &p)
	if refused == nil {
		q.decided = c.decided
	}
	return out, refused
}

// validate checks an input against its schema and decodes it.
func (r *Registry) validate(e *entry, q *request) (prepared, *Error) {
	if n := q.bytes(); n > uint64(r.config.InputBytes) {
		return prepared{}, refuse(InvalidInput, "", "the input has %d bytes, more than %d", n, r.config.InputBytes)
	}
	bad := func(err error) (prepared, *Error) {
		return prepared{}, &Error{Code: InvalidInput, Text: shorten(err), Cause: err}
	}
	data, err := checkJSON(q.input)
	if err != nil {
		return bad(err)
	}
	var v map[string]any
	if err := json.Unmarshal(data, &v); err != nil {
		return bad(err)
	}
	if err := e.input.Validate(v); err != nil {
		return bad(err)
	}
	p, err := e.prepare(data)
	if err != nil {
		return bad(err)
	}
	return p, nil
}

func (q *request) bytes() uint64 {
	if q.oversized != nil {
		return q.oversized.bytes
	}
	return uint64(len(q.input))
}
