package agent

import (
	"cmp"
	"slices"

	"github.com/evertick/evertick"
)

// Admission is stride scheduling (C. A. Waldspurger, W. E. Weihl, "Stride Scheduling: Deterministic
// Proportional-Share Resource Management", MIT/LCS/TM-528, 1995). If a limit does not admit all candidates,
// those with the lowest pass are asked, and among equal passes those with the lowest id. A pass grows by the
// stride, strideUnit/weight, with each decision that the agent is asked for while a limit that applies to it
// turns others away. So the passes of agents that compete all the time stay level, and the ratio of their
// turns is the ratio of their weights. While all are admitted no pass grows: a turn that took nothing from
// others costs nothing later.
//
// An agent that returns after a long interval has an old, low pass. Its pass is raised to the minimum pass:
// the least one among the last candidates. So it cannot make up for turns that it did not want. There is a
// minimum for the candidates of each provider, and one for all together.
const strideUnit = 1 << 20 // the stride of weight 1: that of the greatest weight is a whole number

// startPass returns the pass of a new agent.
func (a *Agents) startPass(provider int) uint64 { return max(a.minPass, a.providerMinPass[provider]) }

// admit asks as many of the due agents as the limits allow.
func (a *Agents) admit(t *evertick.Tick) {
	a.stats.Perceived += uint64(len(a.turns))
	a.candidates = a.candidates[:0]
	for i := range a.turns {
		m := &a.list[a.turns[i].at]
		switch {
		case m.decision != 0:
			a.stats.ShedBusy++
			a.shed(t, i)
		case m.waiting >= a.cfg.AgentQueue || len(a.queue) >= a.cfg.Queue:
			a.stats.ShedQueue++
			m.pending = m.spec.Shed == Coalesce
		case len(a.cfg.Providers) == 0:
			a.stats.ShedLimit++
			a.shed(t, i)
		default:
			m.pass = max(m.pass, a.startPass(m.spec.Provider))
			a.candidates = append(a.candidates, i)
		}
	}
	if len(a.candidates) > 0 {
		slices.SortFunc(a.candidates, a.byPass)
		a.admitCandidates(t)
	}
}

func (a *Agents) byPass(i, j int) int {
	x, y := &a.list[a.turns[i].at], &a.list[a.turns[j].at]
	return cmp.Or(cmp.Compare(x.pass, y.pass), cmp.Compare(x.id, y.id))
}

// admitCandidates asks or sheds each candidate once, in the order of their passes.
func (a *Agents) admitCandidates(t *evertick.Tick) {
	clear(a.limited)
	a.free, a.admitted, a.turnedAway = a.free[:0], a.admitted[:0], a.turnedAway[:0]
	for p := range a.cfg.Providers {
		c := &a.cfg.Providers[p]
		a.free = append(a.free, min(c.StartsPerTick, c.InFlight-a.busy[p]))
	}
	free, all := min(a.cfg.StartsPerTick, a.cfg.InFlight-a.inFlight), false // all: the common limits turn candidates away
	for _, i := range a.candidates {
		p := a.list[a.turns[i].at].spec.Provider
		switch {
		case a.free[p] <= 0:
			a.limited[p] = true
		case free <= 0:
			all = true
		default:
			a.free[p]--
			free--
			a.admitted = append(a.admitted, i)
			continue
		}
		a.stats.ShedLimit++
		a.turnedAway = append(a.turnedAway, i)
	}
	a.raiseMinPass(all)
	for _, i := range a.admitted {
		m := &a.list[a.turns[i].at]
		if all || a.limited[m.spec.Provider] {
			m.pass += strideUnit / uint64(m.spec.Weight)
		}
		m.pending = false
		a.issue(t, i)
	}
	for _, i := range a.turnedAway {
		a.shed(t, i)
	}
}

// raiseMinPass raises the minimum passes of the limits that were reached.
func (a *Agents) raiseMinPass(all bool) {
	if all {
		a.minPass = max(a.minPass, a.list[a.turns[a.candidates[0]].at].pass)
	}
	for p, reached := range a.limited {
		if !reached {
			continue
		}
		for _, i := range a.candidates { // by pass: the first is the least
			if m := &a.list[a.turns[i].at]; m.spec.Provider == p {
				a.providerMinPass[p] = max(a.providerMinPass[p], m.pass)
				break
			}
		}
	}
}

// shed drops the turn of an agent that cannot be asked.
func (a *Agents) shed(t *evertick.Tick, i int) {
	m := &a.list[a.turns[i].at]
	switch m.spec.Shed {
	case Coalesce:
		if !m.pending {
			a.stats.Coalesced++
		}
		m.pending = true
	case Fallback:
		a.fallBack(t, i)
	}
}

// issue requests the decision of turn i from its provider.
func (a *Agents) issue(t *evertick.Tick, i int) {
	p := new(Perception)
	a.fillPerception(p, i)
	m := &a.list[a.turns[i].at]
	m.decision, m.hash, m.issued = a.next, p.Hash, t.N
	a.next++
	m.turns++
	a.busy[m.spec.Provider]++
	a.inFlight++
	seen := a.record(t, Record{Type: Perceived, Agent: m.id, Decision: m.decision, Hash: p.Hash})
	m.cause = a.record(t, Record{Type: Issued, Cause: seen, Provider: m.spec.Provider, Agent: m.id, Decision: m.decision, Hash: p.Hash})
	a.askProvider(m, p)
}

// fallBack lets Config.Fallback decide turn i on the tick. Its actions are due in the next tick.
func (a *Agents) fallBack(t *evertick.Tick, i int) {
	p := &a.scratch
	a.fillPerception(p, i)
	a.fallback = a.cfg.Fallback(p, a.fallback[:0])
	m := &a.list[a.turns[i].at]
	m.turns++
	h := head{a.next, m.id, p.Hash}
	a.next++
	a.stats.Fallbacks++
	seen := a.record(t, Record{Type: Perceived, Agent: m.id, Decision: h.decision, Hash: p.Hash})
	cause := a.record(t, Record{Type: Issued, Reason: ByFallback, Cause: seen, Agent: m.id, Decision: h.decision, Hash: p.Hash})
	data := a.rules.encodeOrFail(h, &Decision{a.fallback})
	ans, err := a.rules.decode(data)
	a.accept(t, m, &ans, err, data, cause, t.N+1)
}
