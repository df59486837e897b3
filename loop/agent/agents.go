package agent

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop/worldlog"
	"github.com/evertick/evertick/spatial"
)

// Agents are the agents of a Sim. Its methods are for the goroutine that steps the Sim, and
// Add, Remove, Cancel and Notify change the simulation: they are for its setup and for
// systems. Close and Live are for any goroutine.
type Agents struct {
	sim   *evertick.Sim
	cfg   Config
	rules rules
	masks [][]uint64 // of Config.Tags

	// The state.
	list      []member // by id
	queue     []queued // by (tick, agent, decision, index)
	events    []Event
	next      uint64 // number of the next decision
	recorded  uint64 // number of the last record
	chain     uint64
	perceived uint64 // hashes of all perceptions so far
	floor     uint64 // see admit.go
	floors    []uint64
	stats     Stats

	// What follows from it.
	busy   []int // decisions on their way, by provider
	flying int   // all of them

	// The records, which a Restore forgets.
	ring     []Record
	ringFrom uint64 // the last that is not in it
	log      *worldlog.Log
	logErr   error

	// Of the running tick.
	now      uint64
	live     bool
	turns    []turn
	contend  []int // turns that want to be asked
	tooMany  []bool
	answers  []arrived
	room     []int // left of each provider's limits
	chosen   []int // turns that are asked
	turned   []int // turns that are turned away
	fallback []Action
	fresh    []queued // actions of the decision that arrives
	acting   []queued // actions that are being applied
	given    Queued

	queries spatial.Queries
	seen    spatial.Result
	buf     []byte
	line    []byte
	known   []int
	scratch Perception
	logged  worldlog.Record
	parsed  restored

	second *second

	flights flights
	soon    atomic.Uint64 // the next tick, for answers
}

// member is an agent.
type member struct {
	id       ecs.ID
	spec     Spec
	decision uint64 // on its way; 0: none
	hash     uint64 // of its perception
	issued   uint64 // tick
	cause    uint64 // record Issued
	pending  bool   // has lost a turn, to be asked as soon as it can be
	waiting  int    // actions in the queue
	acts     int    // actions in this tick
	share    uint64 // see admit.go
	turns    uint64
	last     Outcome
}

// New adds agents to a Sim: a state, a system that applies what was decided, before physics, and
// one that perceives and asks, behind the index. Errors are those of Config.Validate, and
// of Sim.AddState if there are agents of this name.
func New(sim *evertick.Sim, cfg Config) (*Agents, error) {
	if sim == nil {
		panic("agent: New: nil Sim")
	}
	if err := cfg.Validate(); err != nil {
		return nil, err
	}
	cfg = cfg.withDefaults()
	a := &Agents{
		sim: sim, cfg: cfg, rules: rules{cfg.Actions, cfg.MaxActions, cfg.MaxBytes}, next: 1,
		floors: make([]uint64, max(1, len(cfg.Providers))), busy: make([]int, max(1, len(cfg.Providers))),
		tooMany: make([]bool, max(1, len(cfg.Providers))),
		ring:    make([]Record, cfg.Records), events: make([]Event, 0, min(cfg.Events, 1024)),
	}
	a.flights.init(len(cfg.Providers))
	a.soon.Store(sim.Ticks())
	for _, name := range cfg.Tags {
		tag, err := sim.World.Tag(name)
		if err != nil {
			return nil, fmt.Errorf("agent: Config.Tags: %w", err)
		}
		a.masks = append(a.masks, tag.Mask())
	}
	if err := sim.AddState(cfg.Name, a); err != nil {
		return nil, fmt.Errorf("agent: Config.Name: %w", err)
	}
	return a, errors.Join(
		sim.Add(evertick.BeforePhysics, cfg.Name+".apply", a.apply),
		sim.Add(evertick.AfterIndex, cfg.Name+".perceive", a.perceive))
}

// find returns where an agent is in list, or would be.
func (a *Agents) find(id ecs.ID) (int, bool) {
	if n := len(a.list); n == 0 || a.list[n-1].id < id {
		return n, false
	}
	return slices.BinarySearchFunc(a.list, id, func(m member, id ecs.ID) int { return cmp.Compare(m.id, id) })
}

// Add makes an entity an agent. An entity that is not there is ErrStale, one that is an agent
// or a Spec out of range ErrRange, more than Config.MaxAgents ErrCapacity.
func (a *Agents) Add(id ecs.ID, s Spec) error {
	s = s.withDefaults(&a.cfg)
	if err := s.validate(&a.cfg); err != nil {
		return err
	}
	if _, ok := a.sim.World.Slot(id); !ok {
		return fault.Field(fault.ErrStale, "agent: Add: entity", id)
	}
	i, there := a.find(id)
	if there {
		return fault.Field(fault.ErrRange, "agent: Add: entity that is an agent", id)
	}
	if len(a.list) >= a.cfg.MaxAgents {
		return fault.Field(fault.ErrCapacity, "agent: Config.MaxAgents", a.cfg.MaxAgents)
	}
	a.list = slices.Insert(a.list, i, member{id: id, spec: s, share: a.joining(s.Provider)})
	return nil
}

// Remove ends an agent, not its entity: the decision on its way is cancelled, and what waits
// of it is not done. It reports false if there is none. It is for systems, whose Tick it takes.
func (a *Agents) Remove(t *evertick.Tick, id ecs.ID) bool {
	i, ok := a.find(id)
	if ok {
		a.end(t, i, Removed)
		a.list = slices.Delete(a.list, i, i+1)
	}
	return ok
}

// Cancel withdraws the decision of an agent that is on its way, and reports whether there was
// one. What waits of earlier ones is done.
func (a *Agents) Cancel(t *evertick.Tick, id ecs.ID) bool {
	i, ok := a.find(id)
	if !ok || a.list[i].decision == 0 {
		return false
	}
	a.settle(t, &a.list[i], Cancelled, Withdrawn)
	return true
}

// end cancels all of an agent that is about to go.
func (a *Agents) end(t *evertick.Tick, i int, why Reason) {
	m := &a.list[i]
	if m.decision != 0 {
		a.settle(t, m, Cancelled, why)
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

// Spec returns what an agent was added with, its defaults filled in.
func (a *Agents) Spec(id ecs.ID) (Spec, bool) {
	i, ok := a.find(id)
	if !ok {
		return Spec{}, false
	}
	return a.list[i].spec, true
}

// InFlight returns the number of the decision of an agent that is on its way, and 0 if there
// is none.
func (a *Agents) InFlight(id ecs.ID) uint64 {
	if i, ok := a.find(id); ok {
		return a.list[i].decision
	}
	return 0
}

// Last returns what became of the last decision of an agent.
func (a *Agents) Last(id ecs.ID) (Outcome, bool) {
	i, ok := a.find(id)
	if !ok {
		return Outcome{}, false
	}
	return a.list[i].last, true
}

// Waiting returns the number of actions that wait for their tick.
func (a *Agents) Waiting() int { return len(a.queue) }

// settle ends the decision of an agent that is on its way.
func (a *Agents) settle(t *evertick.Tick, m *member, how RecordType, why Reason) {
	d, cause := m.decision, m.cause
	a.land(m)
	m.last = Outcome{d, t.N, how, why}
	a.record(t, Record{Type: how, Reason: why, Cause: cause, Agent: m.id, Decision: d})
	a.flights.drop(d)
}

// land frees what a decision on its way holds.
func (a *Agents) land(m *member) {
	m.decision, m.cause, m.hash = 0, 0, 0
	a.busy[m.spec.Provider]--
	a.flying--
}

// gone ends agents whose entity is gone.
func (a *Agents) gone(t *evertick.Tick) {
	kept := 0
	for i := range a.list {
		if _, ok := a.sim.World.Slot(a.list[i].id); !ok {
			a.end(t, i, Despawned)
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

// perceive is the system behind the index: who is due perceives, and is asked.
func (a *Agents) perceive(t *evertick.Tick) error {
	a.begin(t)
	a.gone(t)
	a.due(t)
	if len(a.turns) > 0 {
		if err := a.look(); err != nil {
			return fmt.Errorf("agent: perceptions: %w", err)
		}
		a.admit(t)
	}
	if a.live {
		a.reconcile()
	}
	return a.takeLogErr()
}

// begin finds out what kind of tick runs.
func (a *Agents) begin(t *evertick.Tick) {
	a.now = t.N
	a.soon.Store(t.N + 1)
	a.live = a.cfg.Mode == Live && t.N >= a.cfg.LiveFrom && !t.Again() && (a.cfg.Send != nil || !t.Fed())
	if !a.live {
		a.flights.soil()
	}
}

func (a *Agents) takeLogErr() error {
	err := a.logErr
	a.logErr = nil
	return err
}

// due lists who is due in this tick.
func (a *Agents) due(t *evertick.Tick) {
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

// SetMode says who answers, from the next tick on.
func (a *Agents) SetMode(m Mode) {
	if m >= modeEnd {
		panic("agent: SetMode: no such Mode")
	}
	a.cfg.Mode = m
}

var errClosed = errors.New("agent: closed")

// flights are at work off the tick: see flight.go.
type flights struct {
	mu      sync.Mutex
	byID    map[uint64]*flight
	unsent  []evertick.Input
	crew    []crew // by provider
	running int
	closed  bool
	drained chan struct{}
	dirty   bool // there may be decisions on their way that nobody works on, or the reverse
	counts  LiveStats
}
