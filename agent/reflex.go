package agent

import (
	"fmt"
	"slices"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	reflexes "github.com/evertick/evertick/internal/reflex"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

// ReflexConfig describes a reflex: code that decides for agents on the tick, since it takes less time than a
// turn of a provider would. It decides for all of them in one call, from sums over what they perceive. An entity
// may have reflexes and be one of the Agents, too: a provider then decides now and then where it goes, and its
// reflexes steer in every tick.
type ReflexConfig struct {
	// Name of the system, "reflex" if empty.
	Name string
	// Tag is the tag of the entities that have the reflex.
	Tag string
	// PerTick is the number of agents that react in a tick, by turns, in the order of their slots. 0: all.
	PerTick int
	// Senses are what they perceive.
	Senses []*Sense
	// React lets the agents in these slots act: row i of each Sense is what the agent in agents[i] perceives. What
	// it writes is part of the tick. Its error ends the Sim as the error of a system does. agents is valid during the
	// call.
	React func(t *evertick.Tick, agents []ecs.Slot) error
}

// A Sense is what agents perceive of their neighbours, as sums: see spatial.Sums. An agent is no neighbour of
// itself. The results are valid until the next tick. Only reflexes of one Sim can share a Sense.
type Sense struct {
	// Neighbours have at least one of these Tags. None: all entities.
	Tags []string
	// Radius of perception in metres.
	Radius float32
	// Terms are the sums, at most 64. Of and Own are columns by slot, of which Own is read at the slot of the agent.
	// To is a result by row; the reflex sets it.
	Terms     []spatial.Term
	Softening float32 // square metres, for spatial.InverseSquare
	// FindNearest asks for Nearest and NearestDist2.
	FindNearest bool
	// FindRows asks for Rows: the neighbours themselves, in order spatial.Grid. For agents that treat several kinds of
	// neighbours differently, one loop over rows can take less time than several senses.
	FindRows bool

	Counts       []uint32   // neighbours of each agent
	Nearest      []ecs.Slot // the nearest one, spatial.NoSlot if there is none
	NearestDist2 []float32  // its squared distance, in square metres
	Rows         spatial.Result

	world   *ecs.World // that of its reflexes; nil: it has none
	masks   [][]uint64
	live    []uint64 // the union of masks, if there are several
	queries spatial.Queries
	radius  []float32
	sums    spatial.Sums
	own     [][]float32 // of each term, by row
}

// reflex is a reflex of a Sim.
type reflex struct {
	sim   *evertick.Sim
	cfg   ReflexConfig
	turns reflexes.Turns
}

// NewReflex adds a reflex to a Sim, as a system of AfterIndex. It keeps nothing between ticks, so no snapshot
// contains it, and a replay computes it again. Its errors are those of Validate, of ecs.World.Tag for the tags, and of
// Sim.Add, and ErrRange for a Sense of another Sim. It panics without a Sim.
func NewReflex(sim *evertick.Sim, cfg ReflexConfig) error {
	if sim == nil {
		panic("agent: NewReflex: nil Sim")
	}
	if cfg.Name == "" {
		cfg.Name = "reflex"
	}
	cfg.Senses = slices.Clone(cfg.Senses)
	if err := cfg.Validate(); err != nil {
		return err
	}
	r := &reflex{sim: sim, cfg: cfg, turns: reflexes.Turns{PerTick: cfg.PerTick}}
	var err error
	if r.turns.Members, err = sim.World.Tag(cfg.Tag); err != nil {
		return fmt.Errorf("agent: ReflexConfig.Tag: %w", err)
	}
	for i, s := range cfg.Senses {
		if s.world != nil && s.world != sim.World {
			return fault.Element(fault.ErrRange, "agent: ReflexConfig.Senses", i, "one of another Sim")
		}
		if err := s.open(sim.World); err != nil {
			return fmt.Errorf("agent: ReflexConfig.Senses[%d].Tags: %w", i, err)
		}
	}
	if err := sim.Add(evertick.AfterIndex, cfg.Name, r.run); err != nil {
		return err
	}
	for _, s := range cfg.Senses {
		s.world = sim.World
	}
	return nil
}

// Validate reports every fault of the configuration at once: a PerTick or a radius that is negative, a nil React or
// Sense, and terms that spatial.Sums refuses are ErrRange; a radius or a softening that is NaN or infinite is
// ErrNotFinite. It panics on a Term with Own but without Of.
func (c *ReflexConfig) Validate() error {
	f := newFaults()
	f.Range("ReflexConfig.PerTick", c.PerTick, 0, limit)
	if c.React == nil {
		f.bad("ReflexConfig.React", nil)
	}
	for i, s := range c.Senses {
		at := fmt.Sprintf("ReflexConfig.Senses[%d]", i)
		switch {
		case s == nil:
			f.bad(at, nil)
			continue
		case !fault.Finite(s.Radius):
			f.Add(fault.ErrNotFinite, at+".Radius", s.Radius)
		case s.Radius < 0:
			f.bad(at+".Radius", s.Radius)
		}
		f.Join((&spatial.Sums{Softening: s.Softening, Terms: s.Terms}).Validate())
	}
	return f.Err()
}

// open looks up the tags, and copies the terms.
func (s *Sense) open(w *ecs.World) error {
	s.masks = s.masks[:0]
	for _, name := range s.Tags {
		tag, err := w.Tag(name)
		if err != nil {
			return err
		}
		s.masks = append(s.masks, tag.Mask())
	}
	s.sums = spatial.Sums{Softening: s.Softening, Terms: slices.Clone(s.Terms)}
	s.own = make([][]float32, len(s.Terms))
	return nil
}

// filter returns the set of entities that can be neighbours, nil for all.
func (s *Sense) filter() []uint64 {
	switch len(s.masks) {
	case 0:
		return nil
	case 1:
		return s.masks[0]
	}
	s.live = append(s.live[:0], s.masks[0]...)
	for _, mask := range s.masks[1:] {
		native.Or(s.live, s.live, mask)
	}
	return s.live
}

// run is the system.
func (r *reflex) run(t *evertick.Tick) error {
	r.turns.Next(r.sim.World, t.N)
	for i, s := range r.cfg.Senses {
		if err := s.perceive(r.sim.Index, &r.turns.Centres); err != nil {
			return fmt.Errorf("agent: sense %d: %w", i, err)
		}
	}
	return r.cfg.React(t, r.turns.Agents)
}

// perceive searches around the agents: centres has their positions and slots.
func (s *Sense) perceive(ix *spatial.Index, centres *spatial.Queries) error {
	n := len(centres.X)
	s.radius = reflexes.Resize(s.radius, n)
	for i := range s.radius {
		s.radius[i] = s.Radius
	}
	q := &s.queries
	*q = *centres
	q.Radius, q.Live, q.Order = s.radius, s.filter(), spatial.Grid
	s.Counts = reflexes.Resize(s.Counts, n)
	if s.FindRows {
		if err := ix.Radius(q, &s.Rows); err != nil {
			return err
		}
		for i := range s.Counts {
			s.Counts[i] = s.Rows.Offsets[i+1] - s.Rows.Offsets[i]
		}
		if len(s.Terms) == 0 && !s.FindNearest {
			return nil
		}
	}
	s.prepareSums(n)
	return ix.Sum(q, &s.sums)
}

// prepareSums makes room for n rows of results, and gathers what the agents have themselves.
func (s *Sense) prepareSums(n int) {
	s.sums.Counts = s.Counts
	if s.FindNearest {
		s.Nearest, s.NearestDist2 = reflexes.Resize(s.Nearest, n), reflexes.Resize(s.NearestDist2, n)
		s.sums.Nearest, s.sums.NearestDist2 = s.Nearest, s.NearestDist2
	}
	for i := range s.Terms {
		t := &s.Terms[i]
		t.To = reflexes.Resize(t.To, n)
		s.sums.Terms[i].To = t.To
		if t.Own != nil {
			s.own[i] = reflexes.Gather(s.own[i], t.Own, s.queries.Exclude)
			s.sums.Terms[i].Own = s.own[i]
		}
	}
}
