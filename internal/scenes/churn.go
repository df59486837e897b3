package scenes

import (
	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
)

const (
	churnDeaths = 0.1  // of all entities, a tick
	churnTags   = 0.25 // of all entities change a tag, a tick
	churnArea   = 200  // m
	churnCell   = 5    // m
)

func init() {
	register(sims, "churn", SimDefinition{
		Name: "churn", build: newChurn,
		Help:   "n entities; in every tick a tenth dies, as many are born, and a quarter gains or loses a tag, all by Commands",
		Params: Params{Entities: 10_000, MaxEntities: 1_000_000, Ticks: 600, Warmup: 100},
	})
}

// churn changes many entities in each tick: a tenth dies and as many are born, a quarter gains or
// loses a tag, all by Commands. After each tick n are alive.
type churn struct {
	sim *evertick.Sim
	n   int
	churnColumns
	mild    *ecs.Query // hot and not cold
	live    []ecs.Slot
	changes int64 // commands recorded in the tick
}

type churnColumns struct {
	Hot, Cold ecs.Tag
	Born      *ecs.Column[float32]
}

func newChurn(p Params, cfg evertick.Config) (*Sim, error) {
	cfg.Capacity = 2 * p.Entities // those that die and those that are born may both have a row within a tick
	cfg.Spatial.CellSize = churnCell
	c := &churn{n: p.Entities}
	var err error
	if c.sim, err = evertick.New(cfg); err != nil {
		return nil, err
	}
	if err := c.populate(cfg.Seed); err != nil {
		return nil, err
	}
	scene := &Sim{Sim: c.sim, Params: p, Counters: []Counter{{"changes", func() int64 { return c.changes }}}}
	return scene, addSystems(c.sim,
		system{evertick.AfterIndex, "select", c.age},
		system{evertick.AfterIndex, "storm", c.change},
	)
}

func (c *churn) populate(seed uint64) error {
	world := c.sim.World
	if err := c.sim.Register(&c.churnColumns); err != nil {
		return err
	}
	c.mild = world.NewQuery(ecs.With(c.Hot), ecs.Without(c.Cold))
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

// age adds to the age of entities that are hot and not cold.
func (c *churn) age(t *evertick.Tick) error {
	born := c.Born.Values()
	for lo, hi := range c.mild.Runs() {
		for row := lo; row < hi; row++ {
			born[row] += t.Dt
		}
	}
	c.Born.Touch()
	return nil
}

// change records deaths, births and changes of tags.
func (c *churn) change(t *evertick.Tick) error {
	w, commands := c.sim.World, t.Commands()
	c.live = w.LiveSlots(c.live[:0])
	alive := len(c.live)
	for _, slot := range c.live {
		id, _ := w.ID(slot)
		r := t.Rand(id, streamChurn)
		switch u := r.Float32(); {
		case u < churnDeaths:
			commands.Despawn(id)
			alive--
		case u < churnDeaths+churnTags:
			c.changeTag(commands, id, r.Uint32())
		}
	}
	for i := range c.n - alive {
		id := commands.Spawn()
		r := t.Rand(ecs.ID(i), streamBirth)
		if err := commands.SetPosition(id, r.Range(0, churnArea), 0, r.Range(0, churnArea)); err != nil {
			return err
		}
		if r.Bool() {
			commands.Set(c.Hot, id)
		}
	}
	c.changes = int64(commands.Len())
	return nil
}

func (c *churn) changeTag(commands *ecs.Commands, id ecs.ID, bits uint32) {
	tag := c.Hot
	if bits&1 == 0 {
		tag = c.Cold
	}
	if bits&2 == 0 {
		commands.Set(tag, id)
	} else {
		commands.Unset(tag, id)
	}
}
