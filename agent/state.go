package agent

import (
	"math"
	"time"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
)

// The encoding of the state, all little-endian: uint32 version; uint64 next, recorded, chain, perceived and
// the common minimum pass of class 0; then lists, each after its uint32 length: the minimum passes of the providers
// in class 0, the counts (plain ones, then by reason), agents, actions and events. Agents, actions and events
// are as appendAgent, appendQueued and appendEvent write them.
//
// A state in which no agent has had a priority other than 0 is of version 1. Version 2 continues with a byte for
// the priority of each agent, and a list of the other classes: uint32 priority; uint64 admitted, shedLimit and
// the minimum passes, the common one first. Version 3 is written once a provider has been busy. It continues
// as version 2, where the list may be empty, and then with the count of reason ProviderBusy, which the counts before do
// not have, and the tick from which each provider may be asked, all uint64.
const (
	stateVersion      = 1
	prioritiesVersion = 2
	delaysVersion     = 3

	countedReasons = ProviderBusy // reasons below it have a count in each version
)

// AppendState implements evertick.State.
func (a *Agents) AppendState(dst []byte) []byte {
	version := uint32(stateVersion)
	switch {
	case a.stats.Reasons[ProviderBusy] > 0:
		version = delaysVersion
	case len(a.classes) > 1:
		version = prioritiesVersion
	}
	dst = wire.AppendU32s(dst, version)
	least := a.minPasses(0)
	dst = wire.AppendU64s(dst, a.next, a.recorded, a.chain, a.perceived, least[0])
	dst = wire.AppendU32s(dst, uint32(len(least)-1))
	dst = wire.AppendU64s(dst, least[1:]...)
	dst = wire.AppendU32s(dst, plainStats+uint32(countedReasons))
	for _, v := range a.stats.fields() {
		dst = wire.AppendU64s(dst, *v)
	}
	dst = wire.AppendU64s(dst, a.stats.Reasons[:countedReasons]...)
	dst = wire.AppendU32s(dst, uint32(len(a.list)))
	for i := range a.list {
		dst = appendAgent(dst, &a.list[i])
	}
	dst = wire.AppendU32s(dst, uint32(len(a.queue)))
	for i := range a.queue {
		dst = appendQueued(dst, &a.queue[i])
	}
	dst = wire.AppendU32s(dst, uint32(len(a.events)))
	for i := range a.events {
		dst = appendEvent(dst, &a.events[i])
	}
	if version >= prioritiesVersion {
		dst = a.appendPriorities(dst)
	}
	if version == delaysVersion {
		dst = wire.AppendU64s(dst, a.stats.Reasons[ProviderBusy])
		dst = wire.AppendU64s(dst, a.notBefore...)
	}
	return dst
}

func (a *Agents) appendPriorities(dst []byte) []byte {
	for i := range a.list {
		dst = append(dst, a.list[i].spec.Priority)
	}
	dst = wire.AppendU32s(dst, uint32(len(a.classes)-1))
	for i := 1; i < len(a.classes); i++ {
		c := &a.classes[i]
		dst = wire.AppendU32s(dst, uint32(c.priority))
		dst = wire.AppendU64s(dst, c.admitted, c.shedLimit)
		dst = wire.AppendU64s(dst, a.minPasses(i)...)
	}
	return dst
}

func appendAgent(dst []byte, m *agentState) []byte {
	s := &m.spec
	dst = wire.AppendU64s(dst, uint64(m.id))
	dst = wire.AppendU32s(dst, s.IntervalTicks, s.Phase, s.Weight, s.DeadlineTicks, s.LatencyTicks, uint32(s.Provider))
	dst = wire.AppendF32s(dst, s.Radius)
	dst = wire.AppendU64s(dst, uint64(s.Timeout))
	dst = wire.AppendBool(append(dst, byte(s.Shed)), m.pending)
	dst = wire.AppendU64s(dst, m.decision, m.hash, m.issued, m.cause, m.pass, m.turns)
	return appendOutcome(dst, &m.last)
}

func appendQueued(dst []byte, q *queued) []byte {
	dst = wire.AppendU64s(dst, q.tick, uint64(q.agent), q.decision, q.cause)
	dst = wire.AppendU32s(dst, uint32(q.index))
	return appendAction(dst, q.kind, &Action{Target: q.target, After: q.after, Args: q.args, Data: q.data})
}

func corrupt(what string, v any) error {
	return fault.Field(fault.ErrCorrupt, "agent: state: "+what, v)
}

// RestoreState implements evertick.State. The state must come from agents of the same Config; a state
// that this Config cannot lead to is ErrCorrupt, one of another version or number of
// providers ErrUnsupported, and one with more than fits ErrCapacity.
func (a *Agents) RestoreState(src []byte) error {
	p := wire.NewReader(src)
	version := p.U32()
	if p.Err() != nil || version < stateVersion || version > delaysVersion {
		return fault.Field(fault.ErrUnsupported, "agent: state: version", version)
	}
	r := &a.restoring
	*r = state{list: r.list[:0], queue: r.queue[:0], events: r.events[:0], classes: append(r.classes[:0], class{}), minPass: r.minPass[:0], busy: r.busy[:0], notBefore: r.notBefore[:0]}
	r.next, r.recorded, r.chain, r.perceived, r.minPass = p.U64(), p.U64(), p.U64(), p.U64(), append(r.minPass, p.U64())
	parts := [...]func(*wire.Reader, *state) error{a.readMinPass, a.readStats, a.readAgents, a.readQueue, a.readEvents, a.readPriorities, a.readDelays}
	for _, read := range parts[:len(parts)-int(delaysVersion-version)] {
		if err := read(&p, r); err != nil {
			return err
		}
		if p.Err() != nil {
			return corrupt("bytes", len(src))
		}
	}
	if p.Len() > 0 || r.next == 0 || version == prioritiesVersion && len(r.classes) == 1 { // without classes it would be of version 1
		return corrupt("bytes", len(src))
	}
	a.commit(r)
	return nil
}

func (a *Agents) commit(r *state) {
	a.state, *r = *r, a.state
	clear(r.queue)
	a.ringFrom = a.recorded
	a.requests.markDirty()
	if a.cfg.Send == nil { // Sim.Push accepts late inputs, a Rollback refuses them
		a.nextTick.Store(0) // not known until the next tick begins
	}
}

func (a *Agents) readMinPass(p *wire.Reader, r *state) error {
	if n := p.U32(); int64(n) != int64(len(a.limited)) {
		return fault.Field(fault.ErrUnsupported, "agent: state: providers", n)
	}
	for range a.limited {
		r.minPass, r.busy, r.notBefore = append(r.minPass, p.U64()), append(r.busy, 0), append(r.notBefore, 0)
	}
	return nil
}

// readPriorities reads the priorities of the agents that were read, and the classes. A class may have no agents
// any more.
func (a *Agents) readPriorities(p *wire.Reader, r *state) error {
	for i := range r.list {
		r.list[i].spec.Priority = p.U8()
	}
	n := p.U32()
	if n > math.MaxUint8 {
		return corrupt("priorities", n)
	}
	for i := range n {
		c := class{}
		v := p.U32()
		c.priority, c.admitted, c.shedLimit = uint8(v), p.U64(), p.U64()
		if p.Err() != nil || v > math.MaxUint8 || c.priority <= r.classes[i].priority {
			return corrupt("priority", v)
		}
		r.classes = append(r.classes, c)
		for range a.limits() {
			r.minPass = append(r.minPass, p.U64())
		}
	}
	for i := range r.list {
		if _, ok := r.findClass(r.list[i].spec.Priority); !ok {
			return corrupt("priority of", r.list[i].id)
		}
	}
	return nil
}

// readDelays reads from which tick providers may be asked.
func (a *Agents) readDelays(p *wire.Reader, r *state) error {
	n := p.U64()
	if n == 0 { // it would be of another version
		return corrupt("busy providers", n)
	}
	r.stats.Reasons[ProviderBusy] = n
	p.U64s(r.notBefore)
	return nil
}

func (a *Agents) readStats(p *wire.Reader, r *state) error {
	if n := p.U32(); n != plainStats+uint32(countedReasons) {
		return fault.Field(fault.ErrUnsupported, "agent: state: counts", n)
	}
	for _, v := range r.stats.fields() {
		*v = p.U64()
	}
	p.U64s(r.stats.Reasons[:countedReasons])
	return nil
}

func (a *Agents) readAgents(p *wire.Reader, r *state) error {
	n := p.U32()
	if int64(n) > int64(a.cfg.MaxAgents) {
		return fault.Field(fault.ErrCapacity, "agent: state: agents", n)
	}
	for i := range int(n) {
		m := readAgent(p)
		if p.Err() != nil {
			return corrupt("agents", n)
		}
		if s := m.spec; s.validate(&a.cfg) != nil || s.withDefaults(&a.cfg) != s || m.id == 0 || i > 0 && r.list[i-1].id >= m.id ||
			m.decision >= r.next || m.cause > r.recorded || m.last.Type >= recordEnd || m.last.Reason >= reasonEnd ||
			m.last.Decision >= r.next || m.decision == 0 && (m.hash|m.cause) != 0 || m.decision != 0 && (m.cause == 0 || len(a.cfg.Providers) == 0) {
			return corrupt("agent", m.id)
		}
		if m.decision != 0 {
			r.busy[m.spec.Provider]++
			r.inFlight++
		}
		r.list = append(r.list, m)
	}
	return nil
}

func readAgent(p *wire.Reader) (m agentState) {
	m.id = ecs.ID(p.U64())
	s := &m.spec
	s.IntervalTicks, s.Phase, s.Weight, s.DeadlineTicks, s.LatencyTicks = p.U32(), p.U32(), p.U32(), p.U32(), p.U32()
	provider := p.U32()
	s.Provider = int(provider)
	s.Radius = p.F32()
	s.Timeout = time.Duration(p.U64())
	s.Shed = Shed(p.U8())
	m.pending = p.Bool()
	m.decision, m.hash, m.issued, m.cause, m.pass, m.turns = p.U64(), p.U64(), p.U64(), p.U64(), p.U64(), p.U64()
	m.last = Outcome{Decision: p.U64(), Tick: p.U64(), Type: RecordType(p.U8()), Reason: Reason(p.U8())}
	if provider > maxProviders {
		p.Fail("provider", provider)
	}
	return m
}

func (a *Agents) readQueue(p *wire.Reader, r *state) error {
	n := p.U32()
	if int64(n) > int64(a.cfg.Queue) {
		return fault.Field(fault.ErrCapacity, "agent: state: actions", n)
	}
	for i := range int(n) {
		q := queued{tick: p.U64(), agent: ecs.ID(p.U64()), decision: p.U64(), cause: p.U64(), index: int(p.U32())}
		act := action(p)
		q.kind, q.target, q.after, q.args, q.data = act.kind, act.Target, act.After, act.Args, act.Data
		if p.Err() != nil || a.rules.check(q.kind, q.index, &act.Action) != nil || i > 0 && r.queue[i-1].order(&q) >= 0 ||
			q.decision == 0 || q.decision >= r.next || q.cause > r.recorded || q.index >= a.cfg.MaxActions {
			return corrupt("action", i)
		}
		at, ok := findAgent(r.list, q.agent)
		if !ok || r.list[at].waiting >= a.cfg.AgentQueue {
			return corrupt("action of", q.agent)
		}
		r.list[at].waiting++
		r.queue = append(r.queue, q)
	}
	return nil
}

func (a *Agents) readEvents(p *wire.Reader, r *state) error {
	n := p.U32()
	if int64(n) > int64(a.cfg.Events) {
		return fault.Field(fault.ErrCapacity, "agent: state: events", n)
	}
	for i := range int(n) {
		e := Event{Tick: p.U64(), Subject: ecs.ID(p.U64()), Object: ecs.ID(p.U64()), Kind: p.U32()}
		p.F32s(e.Position[:])
		e.Value = p.F32()
		if x := &e.Position; p.Err() != nil || !fault.Finite(x[0]) || !fault.Finite(x[1]) || !fault.Finite(x[2]) || !fault.Finite(e.Value) {
			return corrupt("event", i)
		}
		r.events = append(r.events, e)
	}
	return nil
}
