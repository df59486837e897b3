package scenes

import (
	"math"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

// Boids keep clear of their neighbours, keep to their course and to their middle: C. W.
// Reynolds, "Flocks, Herds, and Schools: A Distributed Behavioral Model", SIGGRAPH 1987.
const (
	swarmNear  = 16  // neighbours of a boid, at one boid a cubic metre
	swarmSpeed = 6   // m/s, at most
	swarmApart = 1.5 // m²/s² over the squared distance
	swarmAlong = 1   // 1/s
	swarmClose = 0.6 // 1/s²
	swarmChunk = 4096
)

func init() {
	near := math.Cbrt(3 * swarmNear / (4 * math.Pi)) // the radius of a sphere with so many, at one per cubic metre
	register(sims, "swarm", SimDefinition{
		Name: "swarm", build: newSwarm,
		Help:   "n boids, one per cubic metre, in a cube whose faces wrap around; each perceives and steers in every tick",
		Params: Params{Entities: 16384, MaxEntities: 1_000_000, Radius: float32(near), Ticks: 400, Warmup: 100},
	})
}

// swarm is n boids, one per cubic metre, in a cube whose faces wrap around. All of them perceive
// and steer in every tick.
type swarm struct {
	sim  *evertick.Sim
	ops  native.Ops // on all rows: no boid is born or dies
	pool *native.Pool
	edge float32 // m
	near spatial.Result
	ask  spatial.Self
	vel  native.Vec3
	acc  native.Vec3
}

func newSwarm(p Params, cfg evertick.Config) (*Sim, error) {
	w := &swarm{edge: float32(math.Cbrt(float64(p.Entities))), pool: native.NewPool(max(1, cfg.Workers))}
	cfg.Capacity = p.Entities
	cfg.Spatial.CellSize = p.Radius
	cfg.Spatial.Bounds = spatial.Bounds{Max: [3]float32{w.edge, w.edge, w.edge}}
	var err error
	if w.sim, err = evertick.New(cfg); err != nil {
		return nil, err
	}
	w.ops = native.Ops{Level: w.sim.Level(), Pool: w.pool}
	w.ask = spatial.Self{Radius: p.Radius, Order: spatial.Grid, SkipDist2: true, RowsInGridOrder: true}
	if err := w.populate(p.Entities, cfg.Seed); err != nil {
		return nil, err
	}
	scene := &Sim{Sim: w.sim, Params: p, Counters: []Counter{{"hits", func() int64 { return int64(len(w.near.Slots)) }}}}
	return scene, addSystems(w.sim,
		system{evertick.BeforePhysics, "fly", w.fly},
		system{evertick.AfterIndex, "perceive", w.perceive},
		system{evertick.AfterIndex, "steer", w.steer},
	)
}

func (w *swarm) populate(n int, seed uint64) error {
	world := w.sim.World
	if err := addColumns(world,
		namedColumn{"velocity.x", &w.vel.X}, namedColumn{"velocity.y", &w.vel.Y}, namedColumn{"velocity.z", &w.vel.Z},
		namedColumn{"acceleration.x", &w.acc.X}, namedColumn{"acceleration.y", &w.acc.Y}, namedColumn{"acceleration.z", &w.acc.Z},
	); err != nil {
		return err
	}
	ids := make([]ecs.ID, n)
	if err := world.SpawnN(ids); err != nil {
		return err
	}
	for slot, id := range ids { // the slots of a new world are in the order of its ids
		r := loop.NewRand(seed, 0, uint64(id), streamPlace)
		pos, vel := [3]float32{}, [3]float32{}
		for axis := range pos {
			pos[axis], vel[axis] = r.Range(0, w.edge), r.Range(-1, 1)
		}
		if err := world.SetPosition(id, pos[0], pos[1], pos[2]); err != nil {
			return err
		}
		w.vel.X[slot], w.vel.Y[slot], w.vel.Z[slot] = vel[0], vel[1], vel[2]
	}
	return nil
}

// fly applies the decisions of the tick before.
func (w *swarm) fly(t *evertick.Tick) error {
	pos := &w.sim.World.Position
	axes := [3]struct{ pos, vel, acc []float32 }{
		{pos.X, w.vel.X, w.acc.X}, {pos.Y, w.vel.Y, w.acc.Y}, {pos.Z, w.vel.Z, w.acc.Z},
	}
	for _, a := range axes {
		if err := w.ops.Integrate(a.vel, a.acc, t.Dt); err != nil {
			return err
		}
	}
	if err := w.ops.ClampLength(w.vel, swarmSpeed); err != nil {
		return err
	}
	for _, a := range axes {
		if err := w.ops.Integrate(a.pos, a.vel, t.Dt); err != nil {
			return err
		}
		if err := w.ops.Wrap(a.pos, 0, w.edge); err != nil {
			return err
		}
	}
	w.sim.World.Position.Touch()
	return nil
}

func (w *swarm) perceive(*evertick.Tick) error { return w.sim.Index.RadiusSelf(&w.ask, &w.near) }

// steer processes chunks of rows in parallel: a row writes only to its own boid.
func (w *swarm) steer(*evertick.Tick) error {
	return w.pool.Run((w.near.Len()+swarmChunk-1)/swarmChunk, w)
}

// Do steers the boids of a chunk; it implements native.Task.
func (w *swarm) Do(_, chunk int) {
	first := chunk * swarmChunk
	for row := first; row < min(first+swarmChunk, w.near.Len()); row++ {
		w.decide(w.near.Of[row], w.near.Row(row))
	}
}

// decide sums up the neighbours of a boid in the order of the grid.
func (w *swarm) decide(self ecs.Slot, slots []uint32) {
	w.acc.X[self], w.acc.Y[self], w.acc.Z[self] = 0, 0, 0
	if len(slots) == 0 {
		return
	}
	px, py, pz := w.sim.World.Position.X, w.sim.World.Position.Y, w.sim.World.Position.Z
	vx, vy, vz := w.vel.X, w.vel.Y, w.vel.Z
	x, y, z := px[self], py[self], pz[self]
	var away, mid, course [3]float32
	for _, other := range slots {
		dx, dy, dz := px[other]-x, py[other]-y, pz[other]-z
		push := swarmApart / (float32(dx*dx) + float32(dy*dy) + float32(dz*dz) + 0.25) // never infinite
		away[0], away[1], away[2] = away[0]+float32(dx*push), away[1]+float32(dy*push), away[2]+float32(dz*push)
		mid[0], mid[1], mid[2] = mid[0]+dx, mid[1]+dy, mid[2]+dz
		course[0], course[1], course[2] = course[0]+vx[other], course[1]+vy[other], course[2]+vz[other]
	}
	each := 1 / float32(len(slots))
	pull := func(axis int, v float32) float32 {
		along := float32(float32(float32(course[axis]*each)-v) * swarmAlong)
		return along + float32(float32(mid[axis]*each)*swarmClose) - away[axis]
	}
	w.acc.X[self], w.acc.Y[self], w.acc.Z[self] = pull(0, vx[self]), pull(1, vy[self]), pull(2, vz[self])
}
