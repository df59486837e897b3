package skill

import (
	"bytes"
	"cmp"
	"errors"
	"slices"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
	"github.com/google/jsonschema-go/jsonschema"
)

// ApprovePermission is the permission of the skills of Approvals. Calls of skills with this permission need no
// approval.
const ApprovePermission = "skills.approve"

// Approvals registers the skills by which an actor decides on the calls that are held for approval, because of
// Def.Approval or Profile.Approval:
//
//	skills.pending   lists them
//	skills.approve   runs one, in the same tick, as its own actor
//	skills.reject    ends one as NotApproved
//
// All have the permission ApprovePermission. No actor decides on its own calls. Decisions are calls, and so
// inputs: a replay repeats them.
//
// An approved call is validated and checked against the profile of its actor again. Then it passes the hooks and
// the handler, which see the world at the time of the approval: an entity that no longer lives is StaleEntity.
// The rate limit has counted the call when it was submitted, and does not count it again.
func Approvals(r *Registry) error {
	reason := 200
	return errors.Join(
		Register(r, Def{
			Name: "skills.pending", Permission: ApprovePermission, ReadOnly: true,
			Description: "Lists the calls that wait for approval, oldest first.",
			Constrain: func(s *jsonschema.Schema) {
				bound(s, 0, 1<<53, "after")
				bound(s, 1, 64, "limit")
			},
		}, pending),
		Register(r, Def{
			Name: "skills.approve", Permission: ApprovePermission,
			Description: "Runs a call that waits for approval, after this one in the same tick.",
			Constrain:   func(s *jsonschema.Schema) { bound(s, 1, 1<<53, "call") },
		}, approve),
		Register(r, Def{
			Name: "skills.reject", Permission: ApprovePermission,
			Description: "Refuses a call that waits for approval.",
			Constrain: func(s *jsonschema.Schema) {
				bound(s, 1, 1<<53, "call")
				property(s, "reason").MaxLength = &reason
			},
		}, reject),
	)
}

// heldCall is a call that waits for approval.
type heldCall struct {
	request
	seq  uint64 // of the event with which it was held
	tick uint64 // of that event
}

// findHeld returns the index of a held call.
func (s *state) findHeld(seq uint64) (int, bool) {
	return slices.BinarySearchFunc(s.held, seq, func(h heldCall, seq uint64) int { return cmp.Compare(h.seq, seq) })
}

// expires returns the tick that ends the call at its beginning if there is no decision before.
func (h *heldCall) expires(c *Config) uint64 { return h.tick + uint64(c.HeldTicks) }

// needsApproval reports whether a call that was permitted must be approved.
func (r *Registry) needsApproval(a *Actor, e *entry) bool {
	if e.Permission == ApprovePermission {
		return false
	}
	return e.Approval || matches(r.profiles[a.Profile].Approval, e.Permission)
}

// hold keeps a call until it is decided.
func (r *Registry) hold(q *request, e *entry, seq, tick uint64) *Error {
	s, n := &r.state, 0
	for i := range s.held {
		if s.held[i].actor.Name == q.actor.Name {
			n++
		}
	}
	switch most := max(1, r.config.Held/4); {
	case len(s.held) >= r.config.Held:
		return refuse(CapacityExceeded, "", "too many calls wait for approval: %d", r.config.Held)
	case n >= most:
		return refuse(CapacityExceeded, "", "too many calls of the actor wait for approval: %d", most)
	}
	h := heldCall{*q, seq, tick}
	h.skill, h.input = e.full, bytes.Clone(q.input)
	s.held = append(s.held, h)
	q.waits = true
	return refuse(PendingApproval, "", "call %d waits for approval", seq)
}

// decision is the decision of an approver on a held call.
type decision struct {
	heldCall
	refused *Error // nil: approved
}

// decide removes a held call, and leaves the decision on it to c, the call of the approver.
func (c *Call) decide(call uint64, refused *Error) (decisionOutput, error) {
	s := &c.Registry.state
	i, ok := s.findHeld(call)
	if !ok {
		return decisionOutput{}, refuse(InvalidInput, "call", "no call %d waits for approval", call)
	}
	h := s.held[i]
	if h.actor.Name == c.Actor.Name {
		return decisionOutput{}, refuse(Forbidden, "call", "an actor cannot decide on its own call")
	}
	s.held = slices.Delete(s.held, i, i+1)
	c.decided = &decision{h, refused}
	return decisionOutput{call, h.actor.Name, h.skill}, nil
}

// end ends a held call: it runs if it is approved, and is refused otherwise. cause is the event that decided.
func (r *Registry) end(t *evertick.Tick, d *decision, cause uint64) error {
	q := d.request
	q.held, q.cause, q.refused = d.seq, cause, d.refused
	res, err := r.call(t, &q)
	if err != nil {
		return err
	}
	cq := &r.queue
	cq.Lock()
	defer cq.Unlock()
	if p := cq.held[d.seq]; p != nil {
		delete(cq.held, d.seq)
		p.res = res
		cq.ready = append(cq.ready, p)
	}
	return nil
}

// expire ends the held calls without a decision after Config.HeldTicks.
func (r *Registry) expire(t *evertick.Tick) error {
	for len(r.state.held) > 0 && r.state.held[0].expires(&r.config) <= t.N {
		h := r.state.held[0]
		r.state.held = slices.Delete(r.state.held, 0, 1)
		refused := refuse(ApprovalExpired, "", "no decision within %d ticks", r.config.HeldTicks)
		if err := r.end(t, &decision{h, refused}, h.seq); err != nil {
			return err
		}
	}
	return nil
}

// approveInput is the input of skills.approve.
type approveInput struct {
	Call uint64 `json:"call" jsonschema:"number of the call, as in skills.pending"`
}

// rejectInput is the input of skills.reject.
type rejectInput struct {
	Call   uint64 `json:"call" jsonschema:"number of the call, as in skills.pending"`
	Reason string `json:"reason,omitempty" jsonschema:"for the actor of the call"`
}

// decisionOutput is the output of skills.approve and skills.reject.
type decisionOutput struct {
	Call  uint64 `json:"call"`
	Actor string `json:"actor"`
	Skill string `json:"skill"`
}

func approve(c *Call, in approveInput) (decisionOutput, error) { return c.decide(in.Call, nil) }

func reject(c *Call, in rejectInput) (decisionOutput, error) {
	text := "rejected by " + c.Actor.Name
	if in.Reason != "" {
		text += ": " + in.Reason
	}
	return c.decide(in.Call, &Error{Code: NotApproved, Text: text})
}

// pendingInput is the input of skills.pending.
type pendingInput struct {
	After uint64 `json:"after,omitempty" jsonschema:"only calls with higher numbers"`
	Limit int    `json:"limit,omitempty" jsonschema:"maximum number of calls; default 8"`
}

// HeldCall is a call that waits for approval.
type HeldCall struct {
	Call    uint64 `json:"call" jsonschema:"its number"`
	Tick    uint64 `json:"tick" jsonschema:"the tick since which it waits"`
	Expires uint64 `json:"expires" jsonschema:"the tick in which it ends if there is no decision"`
	Actor   string `json:"actor"`
	Profile string `json:"profile"`
	Skill   string `json:"skill"`
	Cause   uint64 `json:"cause,omitempty" jsonschema:"what led to it"`
	// Decision is the number of the decision of an agent that it carries out.
	Decision uint64 `json:"decision,omitempty" jsonschema:"number of the decision of an agent that it carries out"`
	Input    string `json:"input" jsonschema:"JSON"`
}

// PendingOutput is the output of skills.pending.
type PendingOutput struct {
	Calls []HeldCall `json:"calls" jsonschema:"oldest first"`
	More  int        `json:"more" jsonschema:"number of later calls that are not listed"`
}

func pending(c *Call, in pendingInput) (PendingOutput, error) {
	out, limit := PendingOutput{Calls: []HeldCall{}}, cmp.Or(in.Limit, 8)
	held := c.Registry.state.held
	for i := range held {
		h := &held[i]
		switch {
		case h.seq <= in.After:
		case len(out.Calls) == limit:
			out.More++
		default:
			out.Calls = append(out.Calls, HeldCall{
				h.seq, h.tick, h.expires(&c.Registry.config), h.actor.Name, h.actor.Profile, h.skill, h.cause, h.agentDecision.Number, string(h.input),
			})
		}
	}
	return out, nil
}

// appendHeld encodes the held calls. For each: seq and tick as uvarints, and the call as in an input, after its
// length.
func (s *state) appendHeld(dst []byte) []byte {
	dst = wire.AppendUvarints(dst, uint64(len(s.held)))
	for i := range s.held {
		h := &s.held[i]
		dst = wire.AppendUvarints(dst, h.seq, h.tick)
		s.registry.scratch = s.registry.appendCall(s.registry.scratch[:0], &h.request)
		dst = wire.AppendPrefixed(dst, s.registry.scratch)
	}
	return dst
}

// readHeld reads what appendHeld wrote.
func (s *state) readHeld(r *wire.Reader) {
	n := r.Count(r.Uvarint(), s.registry.config.Held, 3)
	if n == 0 {
		r.Fail("held calls", n)
	}
	for range n {
		h := heldCall{seq: r.Uvarint(), tick: r.Uvarint()}
		data := r.Prefixed(maxHeld)
		if r.Err() != nil {
			return
		}
		var err error
		if h.request, err = parseCall(data); err != nil {
			r.FailWith(err)
			return
		}
		h.input = bytes.Clone(h.input)
		e, ok := s.registry.skills[h.skill]
		if last := len(s.held) - 1; !ok || e.full != h.skill || h.oversized != nil || h.seq == 0 || h.seq > s.calls || last >= 0 && s.held[last].seq >= h.seq ||
			!bytes.Equal(s.registry.appendCall(nil, &h.request), data) {
			r.FailWith(fault.Field(fault.ErrCorrupt, "skill: state: held call", h.seq))
			return
		}
		s.held = append(s.held, h)
	}
}

// maxHeld bounds the bytes of a held call: the longest input that a Config allows, and names.
const maxHeld = 1<<20 + 1024
