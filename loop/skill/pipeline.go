package skill

import (
	"encoding/json"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/statehash"
)

// request is a call on its way through the pipeline.
type request struct {
	actor    Actor
	skill    string
	cause    uint64
	input    []byte
	withheld *withheld // the input was too long to be kept
	refused  *Error    // before anything was looked at
}

// withheld is what is known of an input that was too long.
type withheld struct {
	hash  uint64
	bytes uint64
}

// Call runs a skill within a tick, for a system or an agent, and returns its output as JSON. It
// goes the same way as calls from outside: the skill is looked up, the input checked against its
// schema, the permission, then the rate; then the handler runs, and every call becomes an event,
// also one that is refused. The error is an *Error, or that of the log, which ends the Sim.
//
// It is for a system that runs by itself and is not in the middle of a query.
func (r *Registry) Call(t *evertick.Tick, a Actor, name string, input []byte, cause uint64) (json.RawMessage, error) {
	if t == nil || t.Sim != r.sim {
		panic("skill: Call: tick of another Sim")
	}
	return r.call(t, &request{actor: a, skill: name, input: input, cause: cause})
}

// Apply is Call for an actor that AddActor has made known by its name: the form in which agents
// hand over their actions. An unknown actor is forbidden everything. With package loop/agent, whose
// actions have PlainNames, the input as Data, and which keeps the error in its records:
//
//	Apply: func(t *evertick.Tick, q *agent.Queued) error {
//		return skills.Apply(t, q.Agent.String(), q.Name, q.Data, q.Decision)
//	}
func (r *Registry) Apply(t *evertick.Tick, actor, name string, args []byte, cause uint64) error {
	a, ok := r.actors[actor]
	if !ok {
		a = Actor{Name: actor}
	}
	_, err := r.Call(t, a, name, args, cause)
	return err
}

// Applier is what carries out the actions of agents: Registry.Apply is one.
type Applier func(t *evertick.Tick, actor, name string, args []byte, cause uint64) error

func (r *Registry) call(t *evertick.Tick, q *request) (json.RawMessage, error) {
	q.trim()
	r.state.calls++
	ev := Event{
		Seq: r.state.calls, Tick: t.N, Actor: q.actor.Name, Profile: q.actor.Profile, Entity: q.actor.Entity,
		Skill: q.skill, Cause: q.cause,
	}
	if q.withheld != nil {
		ev.Input = q.withheld.hash
	} else {
		ev.Input = statehash.Bytes(q.input, 1, false)
	}
	out, refused := r.attempt(t, q, &ev)
	if refused != nil {
		refused.Skill = q.skill
		ev.Code = refused.Code
	} else {
		ev.Output = statehash.Bytes(out, 1, false)
	}
	if err := r.record(t, &ev); err != nil {
		return nil, err
	}
	if refused != nil {
		return nil, refused
	}
	return out, nil
}

// trim cuts names that no actor and no skill can have to what an event holds.
func (q *request) trim() {
	q.actor.Name = cut(q.actor.Name, maxActor)
	q.actor.Profile = cut(q.actor.Profile, maxProfile)
	q.skill = cut(q.skill, maxCalled)
}

// attempt is the pipeline up to the trace.
func (r *Registry) attempt(t *evertick.Tick, q *request, ev *Event) (json.RawMessage, *Error) {
	if q.refused != nil {
		return nil, q.refused
	}
	e, ok := r.skills[q.skill]
	if !ok {
		return nil, refuse(NotFound, "", "no such skill")
	}
	ev.Skill = e.full
	p, refused := r.validate(e, q)
	if refused != nil {
		return nil, refused
	}
	if refused := r.permit(&q.actor, e, &p); refused != nil {
		return nil, refused
	}
	if refused := r.state.take(e, q.actor.Name, t.N, r.config.Buckets); refused != nil {
		return nil, refused
	}
	c := &Call{Tick: t, Sim: r.sim, Registry: r, Actor: q.actor, Skill: e.full, Cause: q.cause, Seq: ev.Seq}
	v, err := p.run(c)
	if err != nil {
		return nil, asError(err, q.skill)
	}
	out, refused := r.marshal(v)
	if refused != nil {
		return nil, refused
	}
	if c.after != nil {
		r.after = append(r.after, c.after)
	}
	return out, nil
}

// validate checks an input against its schema and decodes it.
func (r *Registry) validate(e *entry, q *request) (prepared, *Error) {
	if n := q.bytes(); n > uint64(r.config.InputBytes) {
		return prepared{}, refuse(InvalidInput, "", "input of %d bytes, of which %d are allowed", n, r.config.InputBytes)
	}
	bad := func(err error) (prepared, *Error) {
		return prepared{}, &Error{Code: InvalidInput, Text: short(err), Cause: err}
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
	if q.withheld != nil {
		return q.withheld.bytes
	}
	return uint64(len(q.input))
}
