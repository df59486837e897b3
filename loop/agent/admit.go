package agent

import (
	"cmp"
	"slices"

	"github.com/evertick/evertick"
)

// Who is asked where a limit lets not all be: the agents of least share, of equal share that of
// the least id. A share grows by unit/weight with each decision that one is asked for while
// others are turned away by a limit that holds for both, so shares of agents that contend all
// the time stay level, and what they get is in the ratio of their weights. While there is
// room for all, nobody's grows: nobody pays later for what has cost no one anything.
//
// An agent that comes back, from a long interval say, has a share from long ago: it is
// lifted to the floor, the least share among those who contended last, and so cannot make up
// for turns that it did not want. There is a floor for each provider, for those who contend
// for it, and one for the limits of all together.
const shareUnit = 1 << 20 // of weight 1: so that the greatest weight has a whole share

// joining returns the share of an agent that is new.
func (a *Agents) joining(provider int) uint64 { return max(a.floor, a.floors[provider]) }

// admit asks who can be asked, of those who are due.
func (a *Agents) admit(t *evertick.Tick) {
	a.stats.Perceived += uint64(len(a.turns))
	a.contend = a.contend[:0]
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
			m.share = max(m.share, a.joining(m.spec.Provider))
			a.contend = append(a.contend, i)
		}
	}
	if len(a.contend) > 0 {
		slices.SortFunc(a.contend, a.byShare)
		a.choose(t)
	}
}

func (a *Agents) byShare(i, j int) int {
	x, y := &a.list[a.turns[i].at], &a.list[a.turns[j].at]
	return cmp.Or(cmp.Compare(x.share, y.share), cmp.Compare(x.id, y.id))
}

// choose goes through those who contend, by share, and asks or sheds each of them once.
func (a *Agents) choose(t *evertick.Tick) {
	clear(a.tooMany)
	room, all := min(a.cfg.StartsPerTick, a.cfg.InFlight-a.flying), false
	a.rooms()
	n := 0
	for _, i := range a.contend { // asked ones move to the front, the order stays
		p := a.list[a.turns[i].at].spec.Provider
		switch {
		case a.room[p] <= 0:
			a.tooMany[p] = true
		case room <= 0:
			all = true
		default:
			a.room[p]--
			room--
			a.chosen[n] = i
			n++
			continue
		}
		a.stats.ShedLimit++
		a.turned = append(a.turned, i)
	}
	a.raiseFloors(all)
	for _, i := range a.chosen[:n] {
		m := &a.list[a.turns[i].at]
		if all || a.tooMany[m.spec.Provider] {
			m.share += shareUnit / uint64(m.spec.Weight)
		}
		m.pending = false
		a.issue(t, i)
	}
	for _, i := range a.turned {
		a.shed(t, i)
	}
	a.turned = a.turned[:0]
}

// rooms counts how many each provider can take in this tick.
func (a *Agents) rooms() {
	a.room = a.room[:0]
	for p := range a.cfg.Providers {
		c := &a.cfg.Providers[p]
		a.room = append(a.room, min(c.StartsPerTick, c.InFlight-a.busy[p]))
	}
	a.chosen = slices.Grow(a.chosen[:0], len(a.contend))[:len(a.contend)]
}

// raiseFloors lifts the floors of the limits that were reached.
func (a *Agents) raiseFloors(all bool) {
	if all {
		a.floor = max(a.floor, a.list[a.turns[a.contend[0]].at].share)
	}
	for p, reached := range a.tooMany {
		if !reached {
			continue
		}
		for _, i := range a.contend { // by share: the first is the least
			if m := &a.list[a.turns[i].at]; m.spec.Provider == p {
				a.floors[p] = max(a.floors[p], m.share)
				break
			}
		}
	}
}

// shed gives away the turn of an agent that cannot be asked.
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

// issue asks the provider of turn i.
func (a *Agents) issue(t *evertick.Tick, i int) {
	p := new(Perception)
	a.fill(p, i)
	m := &a.list[a.turns[i].at]
	m.decision, m.hash, m.issued = a.next, p.Hash, t.N
	a.next++
	m.turns++
	a.busy[m.spec.Provider]++
	a.flying++
	seen := a.record(t, Record{Type: Perceived, Agent: m.id, Decision: m.decision, Hash: p.Hash})
	m.cause = a.record(t, Record{Type: Issued, Cause: seen, Provider: m.spec.Provider, Agent: m.id, Decision: m.decision, Hash: p.Hash})
	a.ask(m, p)
}

// fallBack decides turn i on the tick. Its actions are due in the next.
func (a *Agents) fallBack(t *evertick.Tick, i int) {
	p := &a.scratch
	a.fill(p, i)
	a.fallback = a.cfg.Fallback(p, a.fallback[:0])
	m := &a.list[a.turns[i].at]
	m.turns++
	h := head{a.next, m.id, p.Hash}
	a.next++
	a.stats.Fallbacks++
	seen := a.record(t, Record{Type: Perceived, Agent: m.id, Decision: h.decision, Hash: p.Hash})
	cause := a.record(t, Record{Type: Issued, Reason: ByFallback, Cause: seen, Agent: m.id, Decision: h.decision, Hash: p.Hash})
	data := a.rules.encodeOrFail(h, &Decision{a.fallback})
	a.buf = append(a.buf[:0], data...)
	ans, err := a.rules.decode(a.buf)
	a.accept(t, m, &ans, err, a.buf, cause, t.N+1)
}
