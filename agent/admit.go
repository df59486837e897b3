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
//
// All of this is done for each class of Spec.Priority, from the highest to the lowest: a class gets what the
// limits leave after the classes above it. Passes are compared within a class only. A turn that is taken from
// a lower class costs nothing, so the passes of a class do not depend on how many lower agents wait.
const strideUnit = 1 << 20 // the stride of weight 1, so large that the greatest weight has a stride of a whole number

// class is what the agents of a priority share. The class of priority 0 always exists; others exist from
// the first agent that had them.
type class struct {
	priority  uint8
	admitted  uint64 // turns that were asked for; in class 0 both are 0: Classes computes them from Stats
	shedLimit uint64 // turns lost because a limit was reached
}

// ClassStats counts the turns of the agents of a Spec.Priority, since tick 0 of the Sim.
type ClassStats struct {
	Priority  uint8
	Issued    uint64 // decisions requested from providers
	ShedLimit uint64 // turns lost because a limit was reached
}

// Classes appends to dst the counts of each priority that an agent has had, highest first. The last is
// the one of priority 0. Like Stats, they are part of the state.
func (a *Agents) Classes(dst []ClassStats) []ClassStats {
	rest := ClassStats{Issued: a.stats.Issued - a.stats.Fallbacks, ShedLimit: a.stats.ShedLimit}
	for i := len(a.classes) - 1; i > 0; i-- {
		c := &a.classes[i]
		dst = append(dst, ClassStats{c.priority, c.admitted, c.shedLimit})
		rest.Issued -= c.admitted
		rest.ShedLimit -= c.shedLimit
	}
	return append(dst, rest)
}

// findClass returns the index of a class, or where it would be.
func (s *state) findClass(priority uint8) (int, bool) {
	if priority == 0 {
		return 0, true
	}
	return slices.BinarySearchFunc(s.classes, priority, func(c class, p uint8) int { return cmp.Compare(c.priority, p) })
}

// addClass adds the class of a priority, unless there is one.
func (a *Agents) addClass(priority uint8) {
	if i, exists := a.findClass(priority); !exists {
		a.classes = slices.Insert(a.classes, i, class{priority: priority})
		a.minPass = slices.Insert(a.minPass, i*a.limits(), make([]uint64, a.limits())...)
	}
}

// limits returns the number of minimum passes in a class: one for all candidates, and one for each provider.
func (a *Agents) limits() int { return 1 + len(a.limited) }

// minPasses returns the minimum passes of class i.
func (a *Agents) minPasses(i int) []uint64 { return a.minPass[i*a.limits() : (i+1)*a.limits()] }

// startPass returns the pass of a new agent.
func (a *Agents) startPass(s *Spec) uint64 {
	i, _ := a.findClass(s.Priority)
	m := a.minPasses(i)
	return max(m[0], m[1+s.Provider])
}

// shedAtLimit drops the turn of an agent that a limit turns away.
func (a *Agents) shedAtLimit(t *evertick.Tick, i int) {
	a.stats.ShedLimit++
	if p := a.list[a.turns[i].at].spec.Priority; p != 0 {
		c, _ := a.findClass(p)
		a.classes[c].shedLimit++
	}
	a.shed(t, i)
}

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
			a.shedAtLimit(t, i)
		default:
			m.pass = max(m.pass, a.startPass(&m.spec))
			a.candidates = append(a.candidates, i)
		}
	}
	if len(a.candidates) > 0 {
		slices.SortFunc(a.candidates, a.byTurn)
		a.admitCandidates(t)
	}
}

func (a *Agents) byTurn(i, j int) int {
	x, y := &a.list[a.turns[i].at], &a.list[a.turns[j].at]
	return cmp.Or(cmp.Compare(y.spec.Priority, x.spec.Priority), cmp.Compare(x.pass, y.pass), cmp.Compare(x.id, y.id))
}

// admitCandidates asks or sheds each candidate once, class by class, in the order of their passes.
func (a *Agents) admitCandidates(t *evertick.Tick) {
	a.free, a.admitted, a.turnedAway = a.free[:0], a.admitted[:0], a.turnedAway[:0]
	for p := range a.cfg.Providers {
		c := &a.cfg.Providers[p]
		free := min(c.StartsPerTick, c.InFlight-a.busy[p])
		if t.N < a.notBefore[p] {
			free = 0
		}
		a.free = append(a.free, free)
	}
	free := min(a.cfg.StartsPerTick, a.cfg.InFlight-a.inFlight)
	for rest := a.candidates; len(rest) > 0; {
		n := 1
		for n < len(rest) && a.priorityOf(rest[n]) == a.priorityOf(rest[0]) {
			n++
		}
		free = a.admitClass(rest[:n], free)
		rest = rest[n:]
	}
	for _, i := range a.admitted {
		a.list[a.turns[i].at].pending = false
		a.issue(t, i)
	}
	for _, i := range a.turnedAway {
		a.shedAtLimit(t, i)
	}
}

func (a *Agents) priorityOf(turn int) uint8 { return a.list[a.turns[turn].at].spec.Priority }

// admitClass chooses among the candidates of a class, and raises the passes of those that took a turn from
// others of the class. It returns what is left of the common limits.
func (a *Agents) admitClass(candidates []int, free int) int {
	clear(a.limited)
	first, all := len(a.admitted), false // all: the common limits turn candidates away
	for _, i := range candidates {
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
		a.turnedAway = append(a.turnedAway, i)
	}
	at, _ := a.findClass(a.priorityOf(candidates[0]))
	a.raiseMinPass(a.minPasses(at), candidates, all)
	for _, i := range a.admitted[first:] {
		m := &a.list[a.turns[i].at]
		if all || a.limited[m.spec.Provider] {
			m.pass += strideUnit / uint64(m.spec.Weight)
		}
	}
	if at > 0 {
		a.classes[at].admitted += uint64(len(a.admitted) - first)
	}
	return free
}

// raiseMinPass raises the minimum passes of a class, for the limits that were reached.
func (a *Agents) raiseMinPass(least []uint64, candidates []int, all bool) {
	if all {
		least[0] = max(least[0], a.list[a.turns[candidates[0]].at].pass)
	}
	for p, reached := range a.limited {
		if !reached {
			continue
		}
		for _, i := range candidates { // by pass: the first is the least
			if m := &a.list[a.turns[i].at]; m.spec.Provider == p {
				least[1+p] = max(least[1+p], m.pass)
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
