package scenes

import (
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/spatial"
)

// Boids keep clear of their neighbours, match their velocity and keep to their middle: C. W.
// Reynolds, "Flocks, Herds, and Schools: A Distributed Behavioral Model", SIGGRAPH 1987.
const (
	swarmNear   = 16   // neighbours of a boid, at one boid a cubic metre
	swarmSpeed  = 6    // m/s, at most
	swarmApart  = 1.5  // m²/s²; over the squared distance, away from each neighbour
	swarmSoft   = 0.25 // m², added to that, so that the quotient is never infinite
	swarmClose  = 0.6  // 1/s², towards the middle of the neighbours
	swarmHome   = 10   // 1/s², towards the place at which a boid began
	swarmHeight = 8    // m, of the layer in which boids fly over bodies
	swarmBlob   = 1024 // boids of a blob
	swarmWide   = 2.8  // m, standard deviation in a blob: on average there is about one boid a cubic metre
)

// Spreads are the distributions of a swarm. Uniform: one boid a cubic metre, in a box whose faces wrap around. Clusters:
// Gaussian blobs. Tail: most boids are near the middle, but one in a hundred is a hundred times as far away.
var Spreads = []string{"uniform", "clusters", "tail"}

func init() {
	near := math.Cbrt(3 * swarmNear / (4 * math.Pi)) // the radius of a sphere with so many, at one per cubic metre
	arena, _ := Find("arena")
	register(sims, "swarm", SimDefinition{
		Name: "swarm", build: newSwarm,
		Help: "n boids, about one a cubic metre, of which each perceives and steers in every tick, and the bodies of an arena, if there are any, which they perceive as well",
		Params: Params{
			Entities: 16384, MaxEntities: 1_000_000, MaxBodies: arena.MaxN(), Radius: float32(near), Spread: Spreads[0], Ticks: 400, Warmup: 100,
		},
	})
}

// swarm is n boids, and bodies. All of them perceive in every tick; only boids steer. Boids are in the slots below n,
// bodies in those from n on.
type swarm struct {
	sim   *evertick.Sim
	arena *Scene // nil: no bodies
	n     int
	wraps bool
	box   [3]float32 // m, around the origin
	sums  spatial.Sums
	ask   spatial.Self
	vel   native.Vec3
	acc   native.Vec3
	home  native.Vec3 // where boids began; nil columns if the box wraps around
	mid   native.Vec3 // offset of the middle of the neighbours
	away  native.Vec3 // sum of offsets over squared distances
	pool  *native.Pool

	moving, steering *blocks // of the systems move and steer
}

func newSwarm(p Params, cfg evertick.Config) (*Sim, error) {
	if !slices.Contains(Spreads, p.Spread) {
		return nil, fmt.Errorf("scenes: spread %q: %v: %w", p.Spread, Spreads, fault.ErrRange)
	}
	w := &swarm{n: p.Entities, wraps: p.Spread == "uniform", box: swarmBox(p), pool: native.NewPool(max(1, cfg.Workers))}
	arena, _ := Find("arena")
	cfg.Capacity = p.Entities + p.Bodies
	if p.Bodies > 0 {
		cfg.Capacity += fixtures
	}
	cfg.Physics = arena.configure(p.Bodies, cfg.Physics)
	cfg.Physics.Plane, cfg.Physics.DisableSleep, cfg.Physics.DisableContinuous = physics.XZ, true, true
	cfg.Spatial.CellSize = p.Radius
	if w.wraps && p.Bodies == 0 {
		for a, edge := range w.box {
			cfg.Spatial.Bounds.Min[a], cfg.Spatial.Bounds.Max[a] = -edge/2, edge/2
		}
	}
	var err error
	if w.sim, err = evertick.New(cfg); err != nil {
		return nil, err
	}
	if err := w.populate(p.Spread, cfg.Seed); err != nil {
		return nil, err
	}
	w.perceiveBy(p.Radius)
	workers, level := w.pool.Workers(), w.sim.Level()
	w.moving, w.steering = newBlocks(workers, level, w.n, w.moveRows), newBlocks(workers, level, w.n, w.steerRows)
	scene := &Sim{Sim: w.sim, Params: p, Counters: []Counter{{"neighbours", w.neighbours}}, swarm: w}
	return scene, w.addSystems(arena, p.Bodies, cfg.Seed)
}

// swarmBox returns the box of a swarm that is one boid a cubic metre: a cube or, over bodies, a layer.
func swarmBox(p Params) [3]float32 {
	edge := float32(math.Cbrt(float64(p.Entities)))
	if p.Bodies == 0 {
		return [3]float32{edge, edge, edge}
	}
	edge = float32(math.Sqrt(float64(p.Entities) / swarmHeight))
	return [3]float32{edge, swarmHeight, edge}
}

// addSystems adds the bodies, if there are any, and the systems of both.
func (w *swarm) addSystems(arena Definition, bodies int, seed uint64) error {
	if bodies > 0 { // after the boids, so that these have the lowest slots
		var err error
		if w.arena, err = arena.addTo(w.sim, bodies, seed); err != nil {
			return err
		}
		if err := addSystems(w.sim, system{evertick.AfterPhysics, "velocities", w.copyVelocities}); err != nil {
			return err
		}
	}
	return addSystems(w.sim,
		system{evertick.BeforePhysics, "move", w.move},
		system{evertick.AfterIndex, "perceive", w.perceive},
		system{evertick.AfterIndex, "steer", w.steer},
	)
}

func (w *swarm) populate(spread string, seed uint64) error {
	world := w.sim.World
	columns := []namedColumn{
		{"velocity.x", &w.vel.X}, {"velocity.y", &w.vel.Y}, {"velocity.z", &w.vel.Z},
		{"acceleration.x", &w.acc.X}, {"acceleration.y", &w.acc.Y}, {"acceleration.z", &w.acc.Z},
	}
	if !w.wraps {
		columns = append(columns, namedColumn{"home.x", &w.home.X}, namedColumn{"home.y", &w.home.Y}, namedColumn{"home.z", &w.home.Z})
	}
	if err := addColumns(world, columns...); err != nil {
		return err
	}
	ids := make([]ecs.ID, w.n)
	if err := world.SpawnN(ids); err != nil {
		return err
	}
	for slot, id := range ids { // the slots of a new world are in the order of its ids
		r := loop.NewRand(seed, 0, uint64(id), streamPlace)
		pos := w.place(spread, slot, seed, &r)
		if err := world.SetPosition(id, pos[0], pos[1], pos[2]); err != nil {
			return err
		}
		w.vel.X[slot], w.vel.Y[slot], w.vel.Z[slot] = r.Range(-1, 1), r.Range(-1, 1), r.Range(-1, 1)
		if !w.wraps {
			w.home.X[slot], w.home.Y[slot], w.home.Z[slot] = pos[0], pos[1], pos[2]
		}
	}
	return nil
}

// place draws the position at which a boid begins.
func (w *swarm) place(spread string, slot int, seed uint64, r *loop.Rand) (pos [3]float32) {
	switch spread {
	case "clusters": // the middles of blobs are in an area four times as large
		blob := loop.NewRand(seed, 0, uint64(slot%((w.n+swarmBlob-1)/swarmBlob)), streamBlob)
		area := [3]float32{2 * w.box[0], w.box[1], 2 * w.box[2]}
		for axis, edge := range area {
			pos[axis] = blob.Range(-edge/2, edge/2) + float32(r.Normal32()*swarmWide)
		}
	case "tail":
		// The mean of scale^-3, without denser, is a quarter: so the density in the middle is one boid a cubic metre.
		const denser = 0.63 // the cube root of a quarter
		scale := denser / max(1-r.Float32(), 1e-3)
		for axis, edge := range w.box {
			pos[axis] = float32(r.Range(-edge/2, edge/2) * scale)
		}
	default:
		for axis, edge := range w.box {
			pos[axis] = r.Range(-edge/2, edge/2)
		}
	}
	return pos
}

// perceiveBy prepares the sums over the neighbours within a radius: of offsets over squared distances, and the means of
// offsets and of relative velocities.
func (w *swarm) perceiveBy(radius float32) {
	pos, rows := &w.sim.World.Position, w.sim.World.Cap()
	w.ask = spatial.Self{Radius: radius, Order: spatial.Grid}
	w.sums = spatial.Sums{Counts: make([]uint32, rows), Softening: swarmSoft}
	vectors := func(of native.Vec3, to *native.Vec3, weight spatial.Weight, reduce spatial.Reduce) {
		for _, a := range [3]struct {
			of []float32
			to *[]float32
		}{{of.X, &to.X}, {of.Y, &to.Y}, {of.Z, &to.Z}} {
			if *a.to == nil {
				*a.to = make([]float32, rows)
			}
			w.sums.Terms = append(w.sums.Terms, spatial.Term{Of: a.of, Own: a.of, Weight: weight, Reduce: reduce, To: *a.to})
		}
	}
	positions := native.Vec3{X: pos.X, Y: pos.Y, Z: pos.Z}
	vectors(positions, &w.away, spatial.InverseSquare, spatial.Add)
	vectors(positions, &w.mid, spatial.Uniform, spatial.Mean)
	vectors(w.vel, &w.acc, spatial.Uniform, spatial.Mean)
}

// neighbours returns how many neighbours all boids together had in the last tick.
func (w *swarm) neighbours() (all int64) {
	for _, n := range w.sums.Counts[:w.n] {
		all += int64(n)
	}
	return all
}

// perceive computes the sums over the neighbours of all boids and bodies.
func (w *swarm) perceive(*evertick.Tick) error { return w.sim.Index.SumSelf(&w.ask, &w.sums) }

// copyVelocities copies the velocities of bodies into the columns of their entities.
func (w *swarm) copyVelocities(*evertick.Tick) error {
	c := w.sim.Physics.Columns()
	for _, b := range w.arena.Bodies {
		i := b.Index()
		w.vel.X[c.Slot[i]], w.vel.Z[c.Slot[i]] = c.VX[i], c.VY[i]
	}
	return nil
}

// move is a system: see moveRows.
func (w *swarm) move(*evertick.Tick) error {
	err := w.moving.run(w.pool)
	w.sim.World.Position.Touch()
	return err
}

func (w *swarm) steer(*evertick.Tick) error { return w.steering.run(w.pool) }

// moveRows applies the decisions of the tick before.
func (w *swarm) moveRows(o *native.Ops, lo, hi int) error {
	pos, vel, acc, dt := cut(w.positions(), lo, hi), cut(w.vel, lo, hi), cut(w.acc, lo, hi), w.sim.Dt()
	err := errors.Join(axpy(o, vel, dt, acc), o.ClampLength(vel, swarmSpeed), axpy(o, pos, dt, vel))
	if err != nil || !w.wraps {
		return err
	}
	for axis, x := range [3][]float32{pos.X, pos.Y, pos.Z} {
		if err := o.Wrap(x, -w.box[axis]/2, w.box[axis]/2); err != nil {
			return err
		}
	}
	return nil
}

// steerRows adds what boids have perceived to their accelerations, which begin as the relative velocities that perceive
// has put there.
func (w *swarm) steerRows(o *native.Ops, lo, hi int) error {
	acc := cut(w.acc, lo, hi)
	err := errors.Join(axpy(o, acc, swarmClose, cut(w.mid, lo, hi)), axpy(o, acc, -swarmApart, cut(w.away, lo, hi)))
	if err != nil || w.wraps {
		return err
	}
	return errors.Join(axpy(o, acc, swarmHome, cut(w.home, lo, hi)), axpy(o, acc, -swarmHome, cut(w.positions(), lo, hi)))
}

func (w *swarm) positions() native.Vec3 {
	p := &w.sim.World.Position
	return native.Vec3{X: p.X, Y: p.Y, Z: p.Z}
}

func cut(v native.Vec3, lo, hi int) native.Vec3 {
	return native.Vec3{X: v.X[lo:hi], Y: v.Y[lo:hi], Z: v.Z[lo:hi]}
}

// axpy computes y += a*x along three axes.
func axpy(o *native.Ops, y native.Vec3, a float32, x native.Vec3) error {
	return errors.Join(o.Axpy(y.X, a, x.X), o.Axpy(y.Y, a, x.Y), o.Axpy(y.Z, a, x.Z))
}
