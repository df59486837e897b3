package agent

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync/atomic"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/spatial"
	"github.com/evertick/evertick/worldlog"
)

// Agents are the agents of a Sim. Its methods are for the goroutine that steps the Sim, and
// Add, Remove, Cancel and Notify change the simulation: call them in its setup and in
// systems. Close and Live are for any goroutine.
type Agents struct {
	sim      *evertick.Sim
	cfg      Config
	rules    rules
	tagMasks [][]uint64 // of Config.Tags

	state

	// The records, which a Restore discards.
	ring     []Record
	ringFrom uint64 // the last record before those in the ring
	log      worldlog.Appender
	logErr   error

	// The running tick.
	now        uint64
	live       bool
	turns      []turn
	candidates []int  // turns for which nothing but the limits matters
	limited    []bool // providers whose limit turns candidates away
	free       []int  // what the limits of each provider leave
	admitted   []int  // turns that are asked
	turnedAway []int  // turns that are not
	answers    []receivedAnswer
	fallback   []Action
	newActions []queued // of the decision that is accepted
	dueActions []queued // that are being applied
	applying   Queued

	// Scratch memory.
	queries   spatial.Queries
	found     spatial.Result
	buf       []byte
	encoded   []byte
	visible   []int
	scratch   Perception
	logRecord worldlog.Record
	restoring state

	redecider *redecider

	requests requests
	nextTick atomic.Uint64 // for answers; 0: not known
}

// state is what AppendState writes.
type state struct {
	list      []agentState // by id
	queue     []queued     // by (tick, agent, decision, index)
	events    []Event
	next      uint64 // number of the next decision
	recorded  uint64 // number of the last record
	chain     uint64
	perceived uint64   // hash of all perceptions so far
	classes   []class  // by priority: see admit.go
	minPass   []uint64 // for each class: one for all candidates, and one for each provider
	stats     Stats
	notBefore []uint64 // the tick from which each provider may be asked: see RetryError

	// Derived from the list.
	busy     []int // decisions in flight, by provider
	inFlight int   // all of them
}

// agentState is the state of an agent.
type agentState struct {
	id       ecs.ID
	spec     Spec
	decision uint64 // in flight; 0: none
	hash     uint64 // of its perception
	issued   uint64 // tick
	cause    uint64 // record Issued
	pending  bool   // has lost a turn, and is asked as soon as possible
	waiting  int    // actions in the queue
	acts     int    // actions in this tick
	pass     uint64 // see admit.go
	turns    uint64
	last     Outcome
}

// New adds agents to a Sim: a state, a system before physics that applies decisions, and
// one after the index that builds perceptions and requests decisions. Errors are those of
// Config.Validate, and of Sim.AddState if there are agents of this name.
func New(sim *evertick.Sim, cfg Config) (*Agents, error) {
	if sim == nil {
		panic("agent: New: nil Sim")
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	providers := max(1, len(cfg.Providers))
	a := &Agents{
		sim: sim, cfg: cfg, rules: rulesOf(&cfg), limited: make([]bool, providers), ring: make([]Record, cfg.Records),
		state: state{
			next: 1, classes: make([]class, 1), minPass: make([]uint64, 1+providers), busy: make([]int, providers), notBefore: make([]uint64, providers),
			events: make([]Event, 0, min(cfg.Events, 1024)),
		},
	}
	a.requests.init(providers)
	a.nextTick.Store(sim.Ticks())
	for _, name := range cfg.Tags {
		tag, err := sim.World.Tag(name)
		if err != nil {
			return nil, fmt.Errorf("agent: Config.Tags: %w", err)
		}
		a.tagMasks = append(a.tagMasks, tag.Mask())
	}
	if err := sim.AddState(cfg.Name, a); err != nil {
		return nil, fmt.Errorf("agent: Config.Name: %w", err)
	}
	return a, errors.Join(
		sim.Add(evertick.BeforePhysics, cfg.Name+".apply", a.apply),
		sim.Add(evertick.AfterIndex, cfg.Name+".perceive", a.perceive))
}

// find returns where an agent is in list, or would be.
func (a *Agents) find(id ecs.ID) (int, bool) { return findAgent(a.list, id) }

func findAgent(list []agentState, id ecs.ID) (int, bool) {
	if n := len(list); n == 0 || list[n-1].id < id {
		return n, false
	}
	return slices.BinarySearchFunc(list, id, func(m agentState, id ecs.ID) int { return cmp.Compare(m.id, id) })
}

// Add makes an entity an agent. An entity that does not live is ErrStale, one that is an agent
// already or a Spec out of range ErrRange, and more than Config.MaxAgents ErrCapacity.
func (a *Agents) Add(id ecs.ID, s Spec) error {
	s = s.withDefaults(&a.cfg)
	if err := s.validate(&a.cfg); err != nil {
		return err
	}
	if _, ok := a.sim.World.Slot(id); !ok {
		return fault.Field(fault.ErrStale, "agent: Add: entity", id)
	}
	i, exists := a.find(id)
	if exists {
		return fault.Field(fault.ErrRange, "agent: Add: the entity is an agent already: id", id)
	}
	if len(a.list) >= a.cfg.MaxAgents {
		return fault.Field(fault.ErrCapacity, "agent: Config.MaxAgents", a.cfg.MaxAgents)
	}
	a.addClass(s.Priority)
	a.list = slices.Insert(a.list, i, agentState{id: id, spec: s, pass: a.startPass(&s)})
	return nil
}

// Remove ends an agent, not its entity: the decision in flight is cancelled, and its waiting
// actions are not applied. It reports whether the entity was an agent. It is for systems, whose
// Tick it takes.
func (a *Agents) Remove(t *evertick.Tick, id ecs.ID) bool {
	i, ok := a.find(id)
	if ok {
		a.cancelAll(t, i, Removed)
		a.list = slices.Delete(a.list, i, i+1)
	}
	return ok
}

// Cancel withdraws the decision of an agent that is in flight, and reports whether there was
// one. The waiting actions of earlier decisions are still applied.
func (a *Agents) Cancel(t *evertick.Tick, id ecs.ID) bool {
	i, ok := a.find(id)
	if !ok || a.list[i].decision == 0 {
		return false
	}
	a.endDecision(t, &a.list[i], Cancelled, Withdrawn)
	return true
}

// cancelAll cancels the decision and the waiting actions of an agent that is about to be removed.
func (a *Agents) cancelAll(t *evertick.Tick, i int, why Reason) {
	m := &a.list[i]
	if m.decision != 0 {
		a.endDecision(t, m, Cancelled, why)
	}
	if m.waiting == 0 {
		return
	}
	kept := a.queue[:0]
	for j := range a.queue {
		q := &a.queue[j]
		if q.agent != m.id {
			kept = append(kept, *q)
			continue
		}
		a.record(t, Record{Type: Cancelled, Reason: why, Cause: q.cause, Agent: m.id, Decision: q.decision, Index: q.index, Actions: 1})
	}
	clear(a.queue[len(kept):])
	a.queue, m.waiting = kept, 0
}

// Len returns the number of agents.
func (a *Agents) Len() int { return len(a.list) }

// Spec returns the Spec of an agent, its defaults filled in.
func (a *Agents) Spec(id ecs.ID) (Spec, bool) {
	i, ok := a.find(id)
	if !ok {
		return Spec{}, false
	}
	return a.list[i].spec, true
}

// InFlight returns the number of the decision of an agent that is in flight, and 0 if there
// is none.
func (a *Agents) InFlight(id ecs.ID) uint64 {
	if i, ok := a.find(id); ok {
		return a.list[i].decision
	}
	return 0
}

// Last returns the outcome of the last decision of an agent.
func (a *Agents) Last(id ecs.ID) (Outcome, bool) {
	i, ok := a.find(id)
	if !ok {
		return Outcome{}, false
	}
	return a.list[i].last, true
}

// Waiting returns the number of actions that wait for their tick.
func (a *Agents) Waiting() int { return len(a.queue) }

// endDecision ends the decision of an agent that is in flight.
func (a *Agents) endDecision(t *evertick.Tick, m *agentState, how RecordType, why Reason) {
	d, cause := m.decision, m.cause
	a.clearInFlight(m)
	m.last = Outcome{d, t.N, how, why}
	a.record(t, Record{Type: how, Reason: why, Cause: cause, Agent: m.id, Decision: d})
	a.requests.drop(d)
}

// clearInFlight marks an agent as having no decision in flight.
func (a *Agents) clearInFlight(m *agentState) {
	m.decision, m.cause, m.hash = 0, 0, 0
	a.busy[m.spec.Provider]--
	a.inFlight--
}

// removeDespawned removes the agents whose entity was despawned.
func (a *Agents) removeDespawned(t *evertick.Tick) {
	kept := 0
	for i := range a.list {
		if _, ok := a.sim.World.Slot(a.list[i].id); !ok {
			a.cancelAll(t, i, Despawned)
			continue
		}
		if kept != i {
			a.list[kept] = a.list[i]
		}
		kept++
	}
	clear(a.list[kept:])
	a.list = a.list[:kept]
}

// perceive is the system after the index: it builds the perceptions of the agents that are due, and
// requests their decisions.
func (a *Agents) perceive(t *evertick.Tick) error {
	a.beginTick(t)
	a.removeDespawned(t)
	a.collectDue(t)
	if len(a.turns) > 0 {
		if err := a.buildPerceptions(); err != nil {
			return fmt.Errorf("agent: perceptions: %w", err)
		}
		a.admit(t)
	}
	if a.live {
		a.reconcile()
	}
	return a.takeLogErr()
}

// beginTick notes the tick, and whether providers are called in it.
func (a *Agents) beginTick(t *evertick.Tick) {
	a.now = t.N
	a.nextTick.Store(t.N + 1)
	a.live = a.cfg.Mode == Live && t.N >= a.cfg.LiveFrom && !t.Again() && (a.cfg.Send != nil || !t.Fed())
	if !a.live {
		a.requests.markDirty()
	}
}

func (a *Agents) takeLogErr() error {
	err := a.logErr
	a.logErr = nil
	return err
}

// collectDue lists the agents that are due in this tick.
func (a *Agents) collectDue(t *evertick.Tick) {
	a.turns = a.turns[:0]
	for i := range a.list {
		m := &a.list[i]
		every := uint64(m.spec.IntervalTicks)
		regular := t.N%every == uint64(m.spec.Phase)
		if regular {
			a.stats.Due++
		}
		if !regular && (!m.pending || m.decision != 0) {
			continue
		}
		slot, _ := a.sim.World.Slot(m.id)
		a.turns = append(a.turns, turn{at: i, slot: slot})
	}
}

// SetMode sets the Mode from the next tick on.
func (a *Agents) SetMode(m Mode) {
	if m >= modeEnd {
		panic("agent: SetMode: no such Mode")
	}
	a.cfg.Mode = m
}
