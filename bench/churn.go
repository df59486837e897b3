package main

import (
	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
)

const (
	churnN    = 10_000
	churnMaxN = 1_000_000
	churnGone = 0.1  // of all entities, a tick
	churnTags = 0.25 // of all entities change a tag, a tick
	churnArea = 200  // m
	churnCell = 5    // m
)

// churn is a storm of changes: in each tick a tenth of the entities goes and as many come, a quarter
// gains or loses a tag, all by Commands; n are alive behind each tick.
type churn struct {
	sim     *evertick.Sim
	n       int
	hot     ecs.Tag
	cold    ecs.Tag
	mild    *ecs.Query // hot and not cold
	born    *ecs.Column[float32]
	live    []ecs.Slot
	changes int64 // commands recorded in the tick
}

// newChurn builds the scene churn.
func newChurn(p params, cfg evertick.Config) (*scene, error) {
	cfg.Capacity = 2 * p.entities // what goes and what comes may both have a row within a tick
	cfg.Spatial.CellSize = churnCell
	c := &churn{n: p.entities}
	var err error
	if c.sim, err = evertick.New(cfg); err != nil {
		return nil, err
	}
	if err := c.populate(cfg.Seed); err != nil {
		return nil, err
	}
	s := &scene{params: p, sim: c.sim, step: c.sim.Step}
	s.count("changes", func() int64 { return c.changes })
	return s, addSystems(c.sim, []namedSystem{
		{evertick.AfterIndex, "select", c.find},
		{evertick.AfterIndex, "storm", c.storm},
	})
}

func (c *churn) populate(seed uint64) (err error) {
	world := c.sim.World
	if c.hot, err = world.Tag("hot"); err != nil {
		return err
	}
	if c.cold, err = world.Tag("cold"); err != nil {
		return err
	}
	if c.born, err = ecs.AddColumn[float32](world, "born"); err != nil {
		return err
	}
	c.mild = world.NewQuery(ecs.With(c.hot), ecs.Without(c.cold))
	ids := make([]ecs.ID, c.n)
	if err := world.SpawnN(ids); err != nil {
		return err
	}
	for _, id := range ids {
		r := loop.NewRand(seed, 0, uint64(id), streamPlace)
		if err := world.SetPosition(id, r.Range(0, churnArea), 0, r.Range(0, churnArea)); err != nil {
			return err
		}
	}
	return nil
}

// find walks over those that are hot and not cold, and ages them.
func (c *churn) find(t *evertick.Tick) error {
	born := c.born.Values()
	for slot := range c.mild.All() {
		born[slot] += t.Dt
	}
	c.born.Touch()
	return nil
}

// storm records what comes, goes and changes.
func (c *churn) storm(t *evertick.Tick) error {
	w, commands := c.sim.World, t.Commands()
	c.live = w.LiveSlots(c.live[:0])
	alive := len(c.live)
	for _, slot := range c.live {
		id, _ := w.ID(slot)
		r := t.Rand(id, streamChurn)
		switch u := r.Float32(); {
		case u < churnGone:
			commands.Despawn(id)
			alive--
		case u < churnGone+churnTags:
			c.turn(commands, id, r.Uint32())
		}
	}
	for i := range c.n - alive {
		id := commands.Spawn()
		r := t.Rand(ecs.ID(i), streamBirth)
		if err := commands.SetPosition(id, r.Range(0, churnArea), 0, r.Range(0, churnArea)); err != nil {
			return err
		}
		if r.Bool() {
			commands.Set(c.hot, id)
		}
	}
	c.changes = int64(commands.Len())
	return nil
}

// turn changes a tag.
func (c *churn) turn(commands *ecs.Commands, id ecs.ID, bits uint32) {
	tag := c.hot
	if bits&1 == 0 {
		tag = c.cold
	}
	if bits&2 == 0 {
		commands.Set(tag, id)
	} else {
		commands.Unset(tag, id)
	}
}
