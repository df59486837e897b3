package agent

import (
	"cmp"
	"errors"
	"slices"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
)

// queued is an action that waits.
type queued struct {
	tick     uint64
	agent    ecs.ID
	decision uint64
	cause    uint64 // record Accepted
	index    int
	kind     int
	after    uint32
	target   ecs.ID
	args     []float32
	data     []byte
}

// order is that in which actions are applied.
func (q *queued) order(o *queued) int {
	return cmp.Or(cmp.Compare(q.tick, o.tick), cmp.Compare(q.agent, o.agent), cmp.Compare(q.decision, o.decision), cmp.Compare(q.index, o.index))
}

// apply is the system before physics: it accepts answers, expires decisions, and applies actions.
func (a *Agents) apply(t *evertick.Tick) error {
	a.beginTick(t)
	a.removeDespawned(t)
	a.receiveAnswers(t)
	a.expire(t)
	a.applyDue(t)
	return a.takeLogErr()
}

// receivedAnswer is an answer among the inputs of the tick.
type receivedAnswer struct {
	Answer
	err error
	raw []byte
}

// receiveAnswers handles the answers among the inputs, in the order of agents and decisions.
func (a *Agents) receiveAnswers(t *evertick.Tick) {
	a.answers = a.answers[:0]
	for _, in := range t.Inputs() {
		if in.Kind == a.cfg.Kind && in.Source == a.cfg.Source {
			ans, err := a.rules.decode(in.Data)
			a.answers = append(a.answers, receivedAnswer{ans, err, in.Data})
		}
	}
	if len(a.answers) == 0 {
		return
	}
	slices.SortStableFunc(a.answers, func(x, y receivedAnswer) int {
		return cmp.Or(cmp.Compare(x.Agent, y.Agent), cmp.Compare(x.Decision, y.Decision))
	})
	for i := range a.answers {
		a.handleAnswer(t, &a.answers[i])
	}
	clear(a.answers)
}

func (a *Agents) handleAnswer(t *evertick.Tick, ans *receivedAnswer) {
	if ans.Agent == 0 { // not even the head could be read
		a.record(t, Record{Type: Rejected, Reason: reasonOf(ans.err, Malformed)})
		return
	}
	i, ok := a.find(ans.Agent)
	if !ok || ans.Decision == 0 || a.list[i].decision != ans.Decision {
		a.record(t, Record{Type: Rejected, Reason: a.whyUnexpected(i, ok, ans.Decision), Agent: ans.Agent, Decision: ans.Decision})
		return
	}
	m := &a.list[i]
	if m.hash != ans.Hash { // the expected answer is still to come
		a.record(t, Record{Type: Rejected, Reason: StaleAnswer, Cause: m.cause, Agent: m.id, Decision: m.decision})
		return
	}
	if a.redecider != nil {
		a.redecider.compare(&a.rules, ans)
	}
	cause, earliest := m.cause, max(t.N, m.issued+uint64(m.spec.LatencyTicks))
	a.clearInFlight(m)
	a.requests.drop(ans.Decision)
	a.accept(t, m, &ans.Answer, ans.err, ans.raw, cause, earliest)
}

// whyUnexpected returns why no answer is expected to a decision.
func (a *Agents) whyUnexpected(i int, there bool, decision uint64) Reason {
	if decision == 0 || decision >= a.next {
		return Unasked
	}
	if there {
		if l := &a.list[i].last; l.Decision == decision && (l.Type == Accepted || l.Type == Applied || l.Type == Rejected) {
			return Duplicate
		}
	}
	return Late
}

func reasonOf(err error, otherwise Reason) Reason {
	var refused *RefusedError
	if errors.As(err, &refused) {
		return refused.Reason
	}
	return otherwise
}

// accept queues the actions of an answer, all or none, to be due from a tick on.
func (a *Agents) accept(t *evertick.Tick, m *agentState, ans *Answer, err error, raw []byte, cause, earliest uint64) {
	r := Record{Type: Accepted, Cause: cause, Agent: m.id, Decision: ans.Decision, Actions: len(ans.Actions)}
	switch n := len(ans.Actions); {
	case err != nil:
		r.Type, r.Reason, r.Actions = Rejected, reasonOf(err, Malformed), 0
		a.reportFailure(t, &r, err.Error())
	case ans.Reason != NoReason:
		r.Type, r.Reason = recordTypeOf(ans.Reason), ans.Reason
		if ans.Reason == ProviderBusy {
			a.delayProvider(m.spec.Provider, t.N+ans.Ticks)
		}
		a.reportFailure(t, &r, ans.Text)
	case m.waiting+n > a.cfg.AgentQueue || len(a.queue)+n > a.cfg.Queue:
		r.Type, r.Reason = Rejected, QueueFull
		a.reportFailure(t, &r, "")
	default:
		r.Hash = hashOf(raw[answerHeader:])
	}
	m.last = Outcome{ans.Decision, t.N, r.Type, r.Reason}
	seq := a.record(t, r)
	if r.Type != Accepted {
		return
	}
	if len(ans.Actions) == 0 {
		m.last.Type = Applied
		a.record(t, Record{Type: Applied, Cause: seq, Agent: m.id, Decision: ans.Decision})
		return
	}
	a.enqueue(m, ans, seq, earliest)
}

// recordTypeOf returns how a failure ends a decision.
func recordTypeOf(why Reason) RecordType {
	switch why {
	case TimedOut, DeadlinePassed:
		return Expired
	case Closed, Orphaned, Removed, Despawned, Withdrawn:
		return Cancelled
	}
	return Rejected
}

func (a *Agents) reportFailure(t *evertick.Tick, r *Record, text string) {
	if a.cfg.OnFailure != nil {
		r.Tick = t.N
		a.cfg.OnFailure(r, text)
	}
}

// enqueue merges the actions of a decision into the queue.
func (a *Agents) enqueue(m *agentState, ans *Answer, cause, earliest uint64) {
	a.newActions = a.newActions[:0]
	for i := range ans.Actions {
		act := &ans.Actions[i]
		a.newActions = append(a.newActions, queued{
			tick: earliest + uint64(act.After), agent: m.id, decision: ans.Decision, cause: cause, index: i,
			kind: ans.kinds[i], after: act.After, target: act.Target, args: act.Args, data: act.Data,
		})
	}
	slices.SortFunc(a.newActions, func(x, y queued) int { return x.order(&y) })
	m.waiting += len(a.newActions)
	i, j := len(a.queue)-1, len(a.newActions)-1
	a.queue = append(a.queue, a.newActions...)
	for k := len(a.queue) - 1; j >= 0; k-- { // from the back, where most of them belong
		if i >= 0 && a.queue[i].order(&a.newActions[j]) > 0 {
			a.queue[k] = a.queue[i]
			i--
		} else {
			a.queue[k] = a.newActions[j]
			j--
		}
	}
	clear(a.newActions)
	a.stats.QueueHigh = max(a.stats.QueueHigh, uint64(len(a.queue)))
}

// expire ends decisions that have not arrived in time.
func (a *Agents) expire(t *evertick.Tick) {
	if a.inFlight == 0 {
		return
	}
	for i := range a.list {
		if m := &a.list[i]; m.decision != 0 && t.N >= m.issued+uint64(m.spec.DeadlineTicks) {
			a.endDecision(t, m, Expired, DeadlinePassed)
		}
	}
}

// applyDue applies the actions that are due. It takes them out of the queue first, since they may remove
// agents, which changes the queue.
func (a *Agents) applyDue(t *evertick.Tick) {
	if len(a.queue) == 0 || a.queue[0].tick > t.N {
		return
	}
	a.takeDue(t.N)
	var done Record // of the decision whose actions are being applied
	for i := range a.dueActions {
		q := &a.dueActions[i]
		if done.Decision != q.decision || done.Agent != q.agent {
			a.recordApplied(t, &done)
			done = Record{Type: Applied, Cause: q.cause, Agent: q.agent, Decision: q.decision, Index: q.index}
		}
		if a.applyAction(t, q) {
			done.Actions++
		}
	}
	a.recordApplied(t, &done)
	clear(a.dueActions)
}

// takeDue moves the actions that are due and within the limits from the queue to dueActions.
func (a *Agents) takeDue(now uint64) {
	for i := range a.list {
		a.list[i].acts = 0
	}
	a.dueActions = a.dueActions[:0]
	kept, i := 0, 0
	for ; i < len(a.queue) && a.queue[i].tick <= now && len(a.dueActions) < a.cfg.ActionsPerTick; i++ {
		q := &a.queue[i]
		at, _ := a.find(q.agent)
		m := &a.list[at] // there is one: removing an agent removes its actions
		if m.acts >= a.cfg.AgentActionsPerTick {
			a.queue[kept] = *q
			kept++
			continue
		}
		m.acts++
		m.waiting--
		a.dueActions = append(a.dueActions, *q)
	}
	a.stats.Deferred += uint64(kept)
	for j := i; j < len(a.queue) && a.queue[j].tick <= now; j++ {
		a.stats.Deferred++
	}
	if kept != i {
		n := kept + copy(a.queue[kept:], a.queue[i:])
		clear(a.queue[n:])
		a.queue = a.queue[:n]
	}
}

// recordApplied records how many actions of a decision were applied.
func (a *Agents) recordApplied(t *evertick.Tick, done *Record) {
	if done.Actions == 0 {
		return
	}
	a.updateLast(t, done)
	a.record(t, *done)
}

// updateLast makes a record of an action the outcome of its decision, if that is the last one of the agent.
func (a *Agents) updateLast(t *evertick.Tick, r *Record) {
	if i, ok := a.find(r.Agent); ok && a.list[i].last.Decision == r.Decision {
		a.list[i].last = Outcome{r.Decision, t.N, r.Type, r.Reason}
	}
}

// applyAction applies an action, and reports whether it was applied.
func (a *Agents) applyAction(t *evertick.Tick, q *queued) bool {
	r := Record{Type: Rejected, Cause: q.cause, Agent: q.agent, Decision: q.decision, Index: q.index, Actions: 1}
	_, alive := a.sim.World.Slot(q.agent)
	_, agent := a.find(q.agent)
	switch {
	case !alive:
		r.Type, r.Reason = Cancelled, Despawned
	case !agent:
		r.Type, r.Reason = Cancelled, Removed
	case q.target != 0 && !a.alive(q.target):
		r.Reason = StaleTarget
		a.reportFailure(t, &r, "")
	default:
		if a.cfg.Apply == nil {
			return true
		}
		a.applying = Queued{
			Action: Action{Name: a.cfg.Actions[q.kind].Name, Target: q.target, Args: q.args, Data: q.data, After: q.after},
			Kind:   q.kind, Tick: q.tick, Agent: q.agent, Decision: q.decision, Index: q.index,
		}
		err := a.cfg.Apply(t, &a.applying)
		if err == nil {
			return true
		}
		r.Reason = HandlerError
		a.reportFailure(t, &r, err.Error())
	}
	a.updateLast(t, &r)
	a.record(t, r)
	return false
}

func (a *Agents) alive(id ecs.ID) bool {
	_, ok := a.sim.World.Slot(id)
	return ok
}
