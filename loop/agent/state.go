package agent

import (
	"encoding/binary"
	"math"
	"time"

	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
)

// The encoding of the state, all little-endian: uint32 version; uint64 next, recorded, chain, perceived and
// minPass; then lists, each after its uint32 length: the minimum passes of providers, the counts (plain ones, then
// those of reasons), agents, actions and events. Agents, actions and events are as appendAgent, appendQueued
// and appendEvent write them.
const stateVersion = 1

// AppendState implements evertick.State.
func (a *Agents) AppendState(dst []byte) []byte {
	le := binary.LittleEndian
	dst = le.AppendUint32(dst, stateVersion)
	dst = appendUints(dst, a.next, a.recorded, a.chain, a.perceived, a.minPass)
	dst = le.AppendUint32(dst, uint32(len(a.providerMinPass)))
	dst = appendUints(dst, a.providerMinPass...)
	dst = le.AppendUint32(dst, plainStats+uint32(reasonEnd))
	for _, v := range a.stats.fields() {
		dst = le.AppendUint64(dst, *v)
	}
	dst = appendUints(dst, a.stats.Reasons[:]...)
	dst = le.AppendUint32(dst, uint32(len(a.list)))
	for i := range a.list {
		dst = appendAgent(dst, &a.list[i])
	}
	dst = le.AppendUint32(dst, uint32(len(a.queue)))
	for i := range a.queue {
		dst = appendQueued(dst, &a.queue[i])
	}
	dst = le.AppendUint32(dst, uint32(len(a.events)))
	for i := range a.events {
		dst = appendEvent(dst, &a.events[i])
	}
	return dst
}

func appendUints(dst []byte, values ...uint64) []byte {
	for _, v := range values {
		dst = binary.LittleEndian.AppendUint64(dst, v)
	}
	return dst
}

func appendAgent(dst []byte, m *agentState) []byte {
	le, s := binary.LittleEndian, &m.spec
	dst = le.AppendUint64(dst, uint64(m.id))
	for _, v := range [...]uint32{s.IntervalTicks, s.Phase, s.Weight, s.DeadlineTicks, s.LatencyTicks, uint32(s.Provider)} {
		dst = le.AppendUint32(dst, v)
	}
	dst = appendFloats(dst, s.Radius)
	dst = le.AppendUint64(dst, uint64(s.Timeout))
	dst = append(dst, byte(s.Shed), bit(m.pending))
	dst = appendUints(dst, m.decision, m.hash, m.issued, m.cause, m.pass, m.turns)
	return appendOutcome(dst, &m.last)
}

func bit(b bool) byte {
	if b {
		return 1
	}
	return 0
}

func appendQueued(dst []byte, q *queued) []byte {
	dst = appendUints(dst, q.tick, uint64(q.agent), q.decision, q.cause)
	dst = binary.LittleEndian.AppendUint32(dst, uint32(q.index))
	return appendAction(dst, q.kind, &Action{Target: q.target, After: q.after, Args: q.args, Data: q.data})
}

func corrupt(what string, v any) error {
	return fault.Field(fault.ErrCorrupt, "agent: state: "+what, v)
}

// RestoreState implements evertick.State. The state must come from agents of the same Config; a state
// that this Config cannot lead to is ErrCorrupt, one of another version or number of
// providers ErrUnsupported, and one with more than fits ErrCapacity.
func (a *Agents) RestoreState(src []byte) error {
	p := parser{b: src}
	if v := p.u32(); p.bad || v != stateVersion {
		return fault.Field(fault.ErrUnsupported, "agent: state: version", v)
	}
	r := &a.restoring
	*r = state{list: r.list[:0], queue: r.queue[:0], events: r.events[:0], providerMinPass: r.providerMinPass[:0], busy: r.busy[:0]}
	r.next, r.recorded, r.chain, r.perceived, r.minPass = p.u64(), p.u64(), p.u64(), p.u64(), p.u64()
	for _, read := range [...]func(*parser, *state) error{a.readMinPass, a.readStats, a.readAgents, a.readQueue, a.readEvents} {
		if err := read(&p, r); err != nil {
			return err
		}
		if p.bad {
			return corrupt("bytes", len(src))
		}
	}
	if len(p.b) > 0 || r.next == 0 {
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

func (a *Agents) readMinPass(p *parser, r *state) error {
	if n := p.u32(); int64(n) != int64(len(a.providerMinPass)) {
		return fault.Field(fault.ErrUnsupported, "agent: state: providers", n)
	}
	for range a.providerMinPass {
		r.providerMinPass, r.busy = append(r.providerMinPass, p.u64()), append(r.busy, 0)
	}
	return nil
}

func (a *Agents) readStats(p *parser, r *state) error {
	if n := p.u32(); n != plainStats+uint32(reasonEnd) {
		return fault.Field(fault.ErrUnsupported, "agent: state: counts", n)
	}
	for _, v := range r.stats.fields() {
		*v = p.u64()
	}
	for i := range r.stats.Reasons {
		r.stats.Reasons[i] = p.u64()
	}
	return nil
}

func (a *Agents) readAgents(p *parser, r *state) error {
	n := p.u32()
	if int64(n) > int64(a.cfg.MaxAgents) {
		return fault.Field(fault.ErrCapacity, "agent: state: agents", n)
	}
	for i := range int(n) {
		m := readAgent(p)
		if p.bad {
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

func readAgent(p *parser) (m agentState) {
	m.id = ecs.ID(p.u64())
	s := &m.spec
	s.IntervalTicks, s.Phase, s.Weight, s.DeadlineTicks, s.LatencyTicks = p.u32(), p.u32(), p.u32(), p.u32(), p.u32()
	provider := p.u32()
	s.Provider = int(provider)
	s.Radius = math.Float32frombits(p.u32())
	s.Timeout = time.Duration(p.u64())
	s.Shed = Shed(p.u8())
	pending := p.u8()
	m.pending = pending == 1
	m.decision, m.hash, m.issued, m.cause, m.pass, m.turns = p.u64(), p.u64(), p.u64(), p.u64(), p.u64(), p.u64()
	m.last = Outcome{Decision: p.u64(), Tick: p.u64(), Type: RecordType(p.u8()), Reason: Reason(p.u8())}
	p.bad = p.bad || pending > 1 || provider > maxProviders
	return m
}

func (a *Agents) readQueue(p *parser, r *state) error {
	n := p.u32()
	if int64(n) > int64(a.cfg.Queue) {
		return fault.Field(fault.ErrCapacity, "agent: state: actions", n)
	}
	for i := range int(n) {
		q := queued{tick: p.u64(), agent: ecs.ID(p.u64()), decision: p.u64(), cause: p.u64(), index: int(p.u32())}
		act := action(p)
		q.kind, q.target, q.after, q.args, q.data = act.kind, act.Target, act.After, act.Args, act.Data
		if p.bad || a.rules.check(q.kind, q.index, &act.Action) != nil || i > 0 && r.queue[i-1].order(&q) >= 0 ||
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

func (a *Agents) readEvents(p *parser, r *state) error {
	n := p.u32()
	if int64(n) > int64(a.cfg.Events) {
		return fault.Field(fault.ErrCapacity, "agent: state: events", n)
	}
	for i := range int(n) {
		e := Event{Tick: p.u64(), Subject: ecs.ID(p.u64()), Object: ecs.ID(p.u64()), Kind: p.u32()}
		for j := range e.Position {
			e.Position[j] = math.Float32frombits(p.u32())
			p.bad = p.bad || !fault.Finite(e.Position[j])
		}
		e.Value = math.Float32frombits(p.u32())
		if p.bad || !fault.Finite(e.Value) {
			return corrupt("event", i)
		}
		r.events = append(r.events, e)
	}
	return nil
}
