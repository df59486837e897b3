package agent

import (
	"time"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
)

// The state is, all little-endian: uint32 version; uint64 next, recorded, chain, perceived, and
// floor; uint32 how many floors, and them; the counts, plain ones and those of reasons, with
// uint32 how many; uint32 how many agents, and them; uint32 actions, and them; uint32 events, and
// them. Agents, actions and events are as appendMember, appendQueued and appendEvent write
// them.
const (
	stateVersion = 1
)

// AppendState implements evertick.State.
func (a *Agents) AppendState(dst []byte) []byte {
	dst = wire.AppendU32s(dst, stateVersion)
	dst = wire.AppendU64s(dst, a.next, a.recorded, a.chain, a.perceived, a.floor)
	dst = wire.AppendU32s(dst, uint32(len(a.floors)))
	dst = wire.AppendU64s(dst, a.floors...)
	dst = wire.AppendU32s(dst, plainStats+uint32(reasonEnd))
	for _, v := range a.stats.fields() {
		dst = wire.AppendU64s(dst, *v)
	}
	dst = wire.AppendU64s(dst, a.stats.Reasons[:]...)
	dst = wire.AppendU32s(dst, uint32(len(a.list)))
	for i := range a.list {
		dst = appendMember(dst, &a.list[i])
	}
	dst = wire.AppendU32s(dst, uint32(len(a.queue)))
	for i := range a.queue {
		dst = appendQueued(dst, &a.queue[i])
	}
	dst = wire.AppendU32s(dst, uint32(len(a.events)))
	for i := range a.events {
		dst = appendEvent(dst, &a.events[i])
	}
	return dst
}

func appendMember(dst []byte, m *member) []byte {
	s := &m.spec
	dst = wire.AppendU64s(dst, uint64(m.id))
	dst = wire.AppendU32s(dst, s.IntervalTicks, s.Phase, s.Weight, s.DeadlineTicks, s.LatencyTicks, uint32(s.Provider))
	dst = wire.AppendF32s(dst, s.Radius)
	dst = wire.AppendU64s(dst, uint64(s.Timeout))
	dst = wire.AppendBool(append(dst, byte(s.Shed)), m.pending)
	dst = wire.AppendU64s(dst, m.decision, m.hash, m.issued, m.cause, m.share, m.turns)
	return appendOutcome(dst, &m.last)
}

func appendQueued(dst []byte, q *queued) []byte {
	dst = wire.AppendU64s(dst, q.tick, uint64(q.agent), q.decision, q.cause)
	dst = wire.AppendU32s(dst, uint32(q.index))
	return appendAction(dst, q.kind, &Action{Target: q.target, After: q.after, Args: q.args, Data: q.data})
}

// restored is where RestoreState builds before it commits.
type restored struct {
	next, recorded, chain, perceived, floor uint64
	floors                                  []uint64
	stats                                   Stats
	list                                    []member
	queue                                   []queued
	events                                  []Event
	busy                                    []int
	flying                                  int
}

func corrupt(what string, v any) error {
	return fault.Field(fault.ErrCorrupt, "agent: state: "+what, v)
}

// RestoreState implements evertick.State. The state must be of agents of the same Config; one
// that Config could not have led to is ErrCorrupt, one of another version or number of
// providers ErrUnsupported, and one with more than fits ErrCapacity.
func (a *Agents) RestoreState(src []byte) error {
	p := wire.NewReader(src)
	if v := p.U32(); p.Err() != nil || v != stateVersion {
		return fault.Field(fault.ErrUnsupported, "agent: state: version", v)
	}
	r := &a.parsed
	*r = restored{list: r.list[:0], queue: r.queue[:0], events: r.events[:0], floors: r.floors[:0], busy: r.busy[:0]}
	r.next, r.recorded, r.chain, r.perceived, r.floor = p.U64(), p.U64(), p.U64(), p.U64(), p.U64()
	for _, read := range [...]func(*wire.Reader, *restored) error{a.readFloors, a.readStats, a.readMembers, a.readQueue, a.readEvents} {
		if err := read(&p, r); err != nil {
			return err
		}
		if p.Err() != nil {
			return corrupt("bytes", len(src))
		}
	}
	if p.Len() > 0 || r.next == 0 {
		return corrupt("bytes", len(src))
	}
	a.commit(r)
	return nil
}

func (a *Agents) commit(r *restored) {
	a.next, a.recorded, a.chain, a.perceived, a.floor, a.stats = r.next, r.recorded, r.chain, r.perceived, r.floor, r.stats
	a.floors, r.floors = r.floors, a.floors
	a.list, r.list = r.list, a.list
	a.queue, r.queue = r.queue, a.queue
	a.events, r.events = r.events, a.events
	a.busy, r.busy = r.busy, a.busy
	a.flying = r.flying
	clear(r.queue)
	a.ringFrom = a.recorded
	a.flights.soil()
	if a.cfg.Send == nil { // Sim.Push takes what is late, and a Rollback would refuse it
		a.soon.Store(0) // which tick is next, the begin of it will tell
	}
}

func (a *Agents) readFloors(p *wire.Reader, r *restored) error {
	if n := p.U32(); int64(n) != int64(len(a.floors)) {
		return fault.Field(fault.ErrUnsupported, "agent: state: providers", n)
	}
	for range a.floors {
		r.floors, r.busy = append(r.floors, p.U64()), append(r.busy, 0)
	}
	return nil
}

func (a *Agents) readStats(p *wire.Reader, r *restored) error {
	if n := p.U32(); n != plainStats+uint32(reasonEnd) {
		return fault.Field(fault.ErrUnsupported, "agent: state: counts", n)
	}
	for _, v := range r.stats.fields() {
		*v = p.U64()
	}
	p.U64s(r.stats.Reasons[:])
	return nil
}

func (a *Agents) readMembers(p *wire.Reader, r *restored) error {
	n := p.U32()
	if int64(n) > int64(a.cfg.MaxAgents) {
		return fault.Field(fault.ErrCapacity, "agent: state: agents", n)
	}
	for i := range int(n) {
		m := readMember(p)
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
			r.flying++
		}
		r.list = append(r.list, m)
	}
	return nil
}

func readMember(p *wire.Reader) (m member) {
	m.id = ecs.ID(p.U64())
	s := &m.spec
	s.IntervalTicks, s.Phase, s.Weight, s.DeadlineTicks, s.LatencyTicks = p.U32(), p.U32(), p.U32(), p.U32(), p.U32()
	provider := p.U32()
	s.Provider = int(provider)
	s.Radius = p.F32()
	s.Timeout = time.Duration(p.U64())
	s.Shed = Shed(p.U8())
	m.pending = p.Bool()
	m.decision, m.hash, m.issued, m.cause, m.share, m.turns = p.U64(), p.U64(), p.U64(), p.U64(), p.U64(), p.U64()
	m.last = Outcome{Decision: p.U64(), Tick: p.U64(), Type: RecordType(p.U8()), Reason: Reason(p.U8())}
	if provider > maxProviders {
		p.Fail("provider", provider)
	}
	return m
}

func (a *Agents) readQueue(p *wire.Reader, r *restored) error {
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
		m := memberOf(r.list, q.agent)
		if m == nil || m.waiting >= a.cfg.AgentQueue {
			return corrupt("action of", q.agent)
		}
		m.waiting++
		r.queue = append(r.queue, q)
	}
	return nil
}

func memberOf(list []member, id ecs.ID) *member {
	lo, hi := 0, len(list)
	for lo < hi {
		mid := (lo + hi) / 2
		if list[mid].id < id {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(list) && list[lo].id == id {
		return &list[lo]
	}
	return nil
}

func (a *Agents) readEvents(p *wire.Reader, r *restored) error {
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
