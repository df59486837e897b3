package scenes

import (
	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

// Blobs are as far apart as they are wide, so that a grid has full cells and empty ones.
const (
	clusterBlobs  = 64
	clusterArea   = 200  // m, edge of the square in which the middles of blobs lie
	clusterSpread = 4    // m, standard deviation of a coordinate
	clusterPull   = 0.25 // 1/s², towards the middle
	clusterRate   = 0.5  // 1/s, root of the pull: the standard deviation of speeds for a metre of clusterSpread
)

func init() {
	register(sims, "clusters", SimDefinition{
		Name: "clusters", build: newClusters,
		Help:   "n entities in 64 Gaussian blobs, of a standard deviation of 4 m, in 200 by 200 m; in every tick q of them, in turns, find their neighbours",
		Params: Params{Entities: 8192, MaxEntities: 1_000_000, Perceivers: 1024, Radius: 2, Ticks: 1200, Warmup: 200},
	})
}

// clusters is n entities in 64 Gaussian blobs, each of which oscillates about the middle of its
// blob. With normal positions and velocities, of standard deviations s and s*w, an ensemble of
// oscillators of frequency w is stationary: the blobs keep their shape.
type clusters struct {
	sim     *evertick.Sim
	ops     native.Ops
	q       spatial.Queries
	found   spatial.Result
	queries int
	homeX   []float32 // columns, by slot
	homeZ   []float32
	velX    []float32
	velZ    []float32
	accel   []float32 // scratch
	crowd   []float32 // neighbours that an entity found in its last query
	radius  float32
}

func newClusters(p Params, cfg evertick.Config) (*Sim, error) {
	cfg.Capacity = p.Entities
	cfg.Spatial.CellSize = p.Radius
	c := &clusters{queries: min(p.Perceivers, p.Entities), radius: p.Radius}
	var err error
	if c.sim, err = evertick.New(cfg); err != nil {
		return nil, err
	}
	c.ops = native.Ops{Level: c.sim.Level(), Pool: native.NewPool(max(1, cfg.Workers))}
	if err := c.populate(p.Entities, cfg.Seed); err != nil {
		return nil, err
	}
	scene := &Sim{Sim: c.sim, Params: p, Counters: []Counter{{"hits", func() int64 { return int64(len(c.found.Slots)) }}}}
	return scene, addSystems(c.sim,
		system{evertick.BeforePhysics, "swing", c.swing},
		system{evertick.AfterIndex, "perceive", c.perceive},
		system{evertick.AfterIndex, "notice", c.notice},
	)
}

func (c *clusters) populate(n int, seed uint64) error {
	world := c.sim.World
	if err := addColumns(world, namedColumn{"home.x", &c.homeX}, namedColumn{"home.z", &c.homeZ},
		namedColumn{"velocity.x", &c.velX}, namedColumn{"velocity.z", &c.velZ}, namedColumn{"crowd", &c.crowd}); err != nil {
		return err
	}
	c.accel = make([]float32, world.Cap())
	ids := make([]ecs.ID, n)
	if err := world.SpawnN(ids); err != nil {
		return err
	}
	for slot, id := range ids {
		blob := loop.NewRand(seed, 0, uint64(slot%clusterBlobs), streamBlob)
		c.homeX[slot], c.homeZ[slot] = blob.Range(-clusterArea/2, clusterArea/2), blob.Range(-clusterArea/2, clusterArea/2)
		r := loop.NewRand(seed, 0, uint64(id), streamPlace)
		x := c.homeX[slot] + float32(r.Normal32()*clusterSpread)
		z := c.homeZ[slot] + float32(r.Normal32()*clusterSpread)
		if err := world.SetPosition(id, x, 0, z); err != nil {
			return err
		}
		c.velX[slot] = r.Normal32() * (clusterSpread * clusterRate)
		c.velZ[slot] = r.Normal32() * (clusterSpread * clusterRate)
	}
	return nil
}

// swing moves all entities by the semi-implicit Euler method.
func (c *clusters) swing(t *evertick.Tick) error {
	pos := &c.sim.World.Position
	for _, axis := range [2]struct{ home, vel, pos []float32 }{{c.homeX, c.velX, pos.X}, {c.homeZ, c.velZ, pos.Z}} {
		if err := c.ops.Copy(c.accel, axis.home); err != nil {
			return err
		}
		if err := c.ops.Axpy(c.accel, -1, axis.pos); err != nil {
			return err
		}
		if err := c.ops.Axpy(axis.vel, clusterPull*t.Dt, c.accel); err != nil {
			return err
		}
		if err := c.ops.Integrate(axis.pos, axis.vel, t.Dt); err != nil {
			return err
		}
	}
	c.sim.World.Position.Touch()
	return nil
}

// perceive finds the neighbours of some entities, in turns.
func (c *clusters) perceive(t *evertick.Tick) error {
	q, pos, n := &c.q, &c.sim.World.Position, uint64(c.sim.World.Len())
	q.X, q.Y, q.Z, q.Radius, q.Exclude = q.X[:0], q.Y[:0], q.Z[:0], q.Radius[:0], q.Exclude[:0]
	first := t.N % n * uint64(c.queries) % n
	for i := range c.queries {
		slot := ecs.Slot((first + uint64(i)) % n)
		q.X, q.Y, q.Z = append(q.X, pos.X[slot]), append(q.Y, pos.Y[slot]), append(q.Z, pos.Z[slot])
		q.Radius, q.Exclude = append(q.Radius, c.radius), append(q.Exclude, slot)
	}
	return c.sim.Index.Radius(q, &c.found)
}

func (c *clusters) notice(*evertick.Tick) error {
	for row, slot := range c.q.Exclude {
		c.crowd[slot] = float32(len(c.found.Row(row)))
	}
	return nil
}
