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

// apply is the system before physics: answers come in, decisions expire, actions are done.
func (a *Agents) apply(t *evertick.Tick) error {
	a.begin(t)
	a.gone(t)
	a.arrive(t)
	a.expire(t)
	a.act(t)
	return a.takeLogErr()
}

// arrived is an answer that has come in.
type arrived struct {
	Answer
	err error
	raw []byte
}

// arrive takes the answers among the inputs, in the order of agents and decisions.
func (a *Agents) arrive(t *evertick.Tick) {
	a.answers = a.answers[:0]
	for _, in := range t.Inputs() {
		if in.Kind == a.cfg.Kind && in.Source == a.cfg.Source {
			ans, err := a.rules.decode(in.Data)
			a.answers = append(a.answers, arrived{ans, err, in.Data})
		}
	}
	if len(a.answers) == 0 {
		return
	}
	slices.SortStableFunc(a.answers, func(x, y arrived) int {
		return cmp.Or(cmp.Compare(x.Agent, y.Agent), cmp.Compare(x.Decision, y.Decision))
	})
	for i := range a.answers {
		a.takeAnswer(t, &a.answers[i])
	}
	clear(a.answers)
}

func (a *Agents) takeAnswer(t *evertick.Tick, ans *arrived) {
	if ans.Agent == 0 { // not even the head could be read
		a.record(t, Record{Type: Rejected, Reason: reasonOf(ans.err, Malformed)})
		return
	}
	i, ok := a.find(ans.Agent)
	if !ok || ans.Decision == 0 || a.list[i].decision != ans.Decision {
		a.record(t, Record{Type: Rejected, Reason: a.unwanted(i, ok, ans.Decision), Agent: ans.Agent, Decision: ans.Decision})
		return
	}
	m := &a.list[i]
	if m.hash != ans.Hash { // the one that is waited for is still to come
		a.record(t, Record{Type: Rejected, Reason: StaleAnswer, Cause: m.cause, Agent: m.id, Decision: m.decision})
		return
	}
	if a.second != nil {
		a.second.compare(&a.rules, ans)
	}
	cause, earliest := m.cause, max(t.N, m.issued+uint64(m.spec.LatencyTicks))
	a.land(m)
	a.flights.drop(ans.Decision)
	a.accept(t, m, &ans.Answer, ans.err, ans.raw, cause, earliest)
}

// unwanted says why nobody waits for a decision.
func (a *Agents) unwanted(i int, there bool, decision uint64) Reason {
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
func (a *Agents) accept(t *evertick.Tick, m *member, ans *Answer, err error, raw []byte, cause, earliest uint64) {
	r := Record{Type: Accepted, Cause: cause, Agent: m.id, Decision: ans.Decision, Actions: len(ans.Actions)}
	switch n := len(ans.Actions); {
	case err != nil:
		r.Type, r.Reason, r.Actions = Rejected, reasonOf(err, Malformed), 0
		a.failed(t, &r, err.Error())
	case ans.Reason != NoReason:
		r.Type, r.Reason = outcome(ans.Reason), ans.Reason
		a.failed(t, &r, ans.Text)
	case m.waiting+n > a.cfg.AgentQueue || len(a.queue)+n > a.cfg.Queue:
		r.Type, r.Reason = Rejected, QueueFull
		a.failed(t, &r, "")
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

// outcome is what a failure does to a decision.
func outcome(why Reason) RecordType {
	switch why {
	case TimedOut, DeadlinePassed:
		return Expired
	case Closed, Orphaned, Removed, Despawned, Withdrawn:
		return Cancelled
	}
	return Rejected
}

func (a *Agents) failed(t *evertick.Tick, r *Record, text string) {
	if a.cfg.OnFailure != nil {
		r.Tick = t.N
		a.cfg.OnFailure(r, text)
	}
}

// enqueue merges the actions of a decision into the queue.
func (a *Agents) enqueue(m *member, ans *Answer, cause, earliest uint64) {
	a.fresh = a.fresh[:0]
	for i := range ans.Actions {
		act := &ans.Actions[i]
		a.fresh = append(a.fresh, queued{
			tick: earliest + uint64(act.After), agent: m.id, decision: ans.Decision, cause: cause, index: i,
			kind: ans.kinds[i], after: act.After, target: act.Target, args: act.Args, data: act.Data,
		})
	}
	slices.SortFunc(a.fresh, func(x, y queued) int { return x.order(&y) })
	m.waiting += len(a.fresh)
	i, j := len(a.queue)-1, len(a.fresh)-1
	a.queue = append(a.queue, a.fresh...)
	for k := len(a.queue) - 1; j >= 0; k-- { // from the back, where most of them belong
		if i >= 0 && a.queue[i].order(&a.fresh[j]) > 0 {
			a.queue[k] = a.queue[i]
			i--
		} else {
			a.queue[k] = a.fresh[j]
			j--
		}
	}
	clear(a.fresh)
	a.stats.QueueHigh = max(a.stats.QueueHigh, uint64(len(a.queue)))
}

// expire ends decisions that have not arrived in time.
func (a *Agents) expire(t *evertick.Tick) {
	if a.flying == 0 {
		return
	}
	for i := range a.list {
		if m := &a.list[i]; m.decision != 0 && t.N >= m.issued+uint64(m.spec.DeadlineTicks) {
			a.settle(t, m, Expired, DeadlinePassed)
		}
	}
}

// act applies what is due. It is taken out of the queue first, since what it does may end
// agents.
func (a *Agents) act(t *evertick.Tick) {
	if len(a.queue) == 0 || a.queue[0].tick > t.N {
		return
	}
	a.takeDue(t.N)
	var done Record // of the decision whose actions are being done
	for i := range a.acting {
		q := &a.acting[i]
		if done.Decision != q.decision || done.Agent != q.agent {
			a.tell(t, &done)
			done = Record{Type: Applied, Cause: q.cause, Agent: q.agent, Decision: q.decision, Index: q.index}
		}
		if a.do(t, q) {
			done.Actions++
		}
	}
	a.tell(t, &done)
	clear(a.acting)
}

// takeDue moves what is due and within the limits from the queue to acting.
func (a *Agents) takeDue(now uint64) {
	for i := range a.list {
		a.list[i].acts = 0
	}
	a.acting = a.acting[:0]
	kept, i := 0, 0
	for ; i < len(a.queue) && a.queue[i].tick <= now && len(a.acting) < a.cfg.ActionsPerTick; i++ {
		q := &a.queue[i]
		at, _ := a.find(q.agent)
		m := &a.list[at] // who goes takes what waits along
		if m.acts >= a.cfg.AgentActionsPerTick {
			a.queue[kept] = *q
			kept++
			continue
		}
		m.acts++
		m.waiting--
		a.acting = append(a.acting, *q)
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

// tell records what was done of a decision.
func (a *Agents) tell(t *evertick.Tick, done *Record) {
	if done.Actions == 0 {
		return
	}
	if i, ok := a.find(done.Agent); ok && a.list[i].last.Decision == done.Decision {
		a.list[i].last = Outcome{done.Decision, t.N, Applied, NoReason}
	}
	a.record(t, *done)
}

// do applies an action, and reports whether it was done.
func (a *Agents) do(t *evertick.Tick, q *queued) bool {
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
		a.failed(t, &r, "")
	default:
		if a.cfg.Apply == nil {
			return true
		}
		a.given = Queued{
			Action: Action{Name: a.cfg.Actions[q.kind].Name, Target: q.target, Args: q.args, Data: q.data, After: q.after},
			Kind:   q.kind, Tick: q.tick, Agent: q.agent, Decision: q.decision, Index: q.index,
		}
		err := a.cfg.Apply(t, &a.given)
		if err == nil {
			return true
		}
		r.Reason = HandlerError
		a.failed(t, &r, err.Error())
	}
	if i, ok := a.find(q.agent); ok && a.list[i].last.Decision == q.decision {
		a.list[i].last = Outcome{q.decision, t.N, r.Type, r.Reason}
	}
	a.record(t, r)
	return false
}

func (a *Agents) alive(id ecs.ID) bool {
	_, ok := a.sim.World.Slot(id)
	return ok
}
