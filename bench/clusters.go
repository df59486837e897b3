package main

import (
	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

// Blobs are as far apart as they are wide, so that a grid has full cells and empty ones.
const (
	clustersN      = 8192
	clustersMaxN   = 1_000_000
	clusterBlobs   = 64
	clusterArea    = 200  // m, edge of the square in which the middles of blobs lie
	clusterSpread  = 4    // m, standard deviation of a coordinate
	clusterAsks    = 1024 // queries a tick
	clusterRadius  = 2    // m
	clusterPull    = 0.25 // 1/s², towards the middle
	clusterQuicken = 0.5  // 1/s, root of the pull: what the speeds spread by for a metre of clusterSpread
)

// clusters is n entities in 64 Gaussian blobs, each swinging about the middle of its own. Speeds
// are such that the blobs stay what they are: with positions and velocities normal, of
// standard deviations s and s*w, an oscillator of frequency w is at rest as a whole.
type clusters struct {
	sim    *evertick.Sim
	ops    native.Ops
	q      spatial.Queries
	found  spatial.Result
	asks   int
	homeX  []float32 // columns, by slot
	homeZ  []float32
	velX   []float32
	velZ   []float32
	accel  []float32 // scratch
	crowd  []float32 // neighbours that an entity saw when it last asked
	radius float32
}

// newClusters builds the scene clusters.
func newClusters(p params, cfg evertick.Config) (*scene, error) {
	cfg.Capacity = p.entities
	cfg.Spatial.CellSize = p.radius
	c := &clusters{asks: min(p.perceivers, p.entities), radius: p.radius}
	var err error
	if c.sim, err = evertick.New(cfg); err != nil {
		return nil, err
	}
	c.ops = native.Ops{Level: c.sim.Level(), Pool: native.NewPool(max(1, cfg.Workers))}
	if err := c.populate(p.entities, cfg.Seed); err != nil {
		return nil, err
	}
	s := &scene{params: p, sim: c.sim, step: c.sim.Step}
	s.count("hits", func() int64 { return int64(len(c.found.Slots)) })
	return s, addSystems(c.sim, []namedSystem{
		{evertick.BeforePhysics, "swing", c.swing},
		{evertick.AfterIndex, "perceive", c.perceive},
		{evertick.AfterIndex, "notice", c.notice},
	})
}

func (c *clusters) populate(n int, seed uint64) error {
	world := c.sim.World
	for _, column := range []struct {
		name string
		to   *[]float32
	}{{"home.x", &c.homeX}, {"home.z", &c.homeZ}, {"velocity.x", &c.velX}, {"velocity.z", &c.velZ}, {"crowd", &c.crowd}} {
		if err := addColumn(world, column.name, column.to); err != nil {
			return err
		}
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
		c.velX[slot] = r.Normal32() * (clusterSpread * clusterQuicken)
		c.velZ[slot] = r.Normal32() * (clusterSpread * clusterQuicken)
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

// perceive asks for the neighbours of some entities, by turns.
func (c *clusters) perceive(t *evertick.Tick) error {
	q, pos, n := &c.q, &c.sim.World.Position, uint64(c.sim.World.Len())
	q.X, q.Y, q.Z, q.Radius, q.Exclude = q.X[:0], q.Y[:0], q.Z[:0], q.Radius[:0], q.Exclude[:0]
	first := t.N % n * uint64(c.asks) % n
	for i := range c.asks {
		slot := ecs.Slot((first + uint64(i)) % n)
		q.X, q.Y, q.Z = append(q.X, pos.X[slot]), append(q.Y, pos.Y[slot]), append(q.Z, pos.Z[slot])
		q.Radius, q.Exclude = append(q.Radius, c.radius), append(q.Exclude, slot)
	}
	return c.sim.Index.Radius(q, &c.found)
}

// notice keeps how many neighbours there were.
func (c *clusters) notice(*evertick.Tick) error {
	for row, slot := range c.q.Exclude {
		c.crowd[slot] = float32(len(c.found.Row(row)))
	}
	return nil
}
