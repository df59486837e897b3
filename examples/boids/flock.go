package main

import (
	"errors"
	"math"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

// The box that boids stay in, and the rules that they follow, in m, m/s and m/s².
const (
	width, height = 160, 96
	sight         = 5  // how far a boid sees others
	margin        = 12 // from a wall, where it turns back
	slow, fast    = 8, 16
)

// flock is a Sim whose entities are boids, and the columns of their own.
type flock struct {
	sim *evertick.Sim
	columns

	near spatial.Sums // over the neighbours of each boid, computed anew in each tick: no state
	x, y seen
}

type columns struct {
	Velocity struct{ X, Y *ecs.Column[float32] } // m/s
}

// newFlock spawns n boids at places that depend on the seed alone.
func newFlock(n int, seed uint64, cfg evertick.Config) (*flock, error) {
	cfg.Capacity, cfg.Seed = n, seed
	cfg.Spatial.CellSize = sight
	sim, err := evertick.New(cfg)
	if err != nil {
		return nil, err
	}
	f := &flock{sim: sim}
	sim.Register(&f.columns)
	sim.Add(evertick.BeforePhysics, "move", f.move)
	sim.Add(evertick.AfterIndex, "steer", f.steer)
	if err := errors.Join(sim.Check(), sim.World.SpawnN(make([]ecs.ID, n))); err != nil {
		return nil, err
	}
	x, y := sim.World.Position.X, sim.World.Position.Y
	vx, vy := f.Velocity.X.Values(), f.Velocity.Y.Values()
	f.x, f.y = f.see(x, vx), f.see(y, vy)
	for i := range n { // slots of a new world are 0, 1, 2, …
		r := loop.NewRand(seed, 0, uint64(i), 0)
		x[i], y[i] = r.Range(0, width), r.Range(0, height)
		vx[i], vy[i] = r.Range(-fast, fast), r.Range(-fast, fast)
	}
	return f, nil
}

// move adds to each position its velocity times the length of a tick.
func (f *flock) move(t *evertick.Tick) error {
	native.Integrate(f.sim.Level(), f.sim.World.Position.X, f.Velocity.X.Values(), t.Dt)
	native.Integrate(f.sim.Level(), f.sim.World.Position.Y, f.Velocity.Y.Values(), t.Dt)
	f.sim.World.Position.Touch()
	return nil
}

// guide:begin sums

// seen is what each boid sees of its neighbours along an axis.
type seen struct {
	middle []float32 // m from itself to the middle of the others
	course []float32 // m/s by which their mean velocity differs from its own
	close  []float32 // unit vectors to the others, summed, of which the close ones count more
}

// see adds the sums along an axis to those that steer computes.
func (f *flock) see(at, velocity []float32) seen {
	s := seen{make([]float32, len(at)), make([]float32, len(at)), make([]float32, len(at))}
	f.near.Terms = append(f.near.Terms,
		spatial.Term{Of: at, Own: at, Reduce: spatial.Mean, To: s.middle},
		spatial.Term{Of: velocity, Own: velocity, Reduce: spatial.Mean, To: s.course},
		spatial.Term{Of: at, Own: at, Weight: spatial.SpikyGradient, To: s.close})
	return s
}

// turn is the acceleration of boid i: towards the middle of the others, in their direction, and away from
// close ones. Every product that feeds a sum is converted, which keeps it from being fused, so the hash is
// the same on every machine.
func (s *seen) turn(i int) float32 {
	return float32(2*s.middle[i]) + float32(3*s.course[i]) - float32(16*s.close[i])
}

// guide:end

// steer sums over the neighbours of all boids in one call, and turns each boid by what it sees.
func (f *flock) steer(t *evertick.Tick) error {
	// guide:begin steer
	if err := f.sim.Index.SumSelf(&spatial.Self{Radius: sight}, &f.near); err != nil {
		return err
	}
	// guide:end
	x, y, vx, vy := f.sim.World.Position.X, f.sim.World.Position.Y, f.Velocity.X.Values(), f.Velocity.Y.Values()
	for i := range vx {
		ax, ay := f.x.turn(i)+wall(x[i], width), f.y.turn(i)+wall(y[i], height)
		vx[i], vy[i] = limit(vx[i]+float32(ax*t.Dt), vy[i]+float32(ay*t.Dt))
	}
	f.Velocity.X.Touch()
	f.Velocity.Y.Touch()
	return nil
}

// wall pushes back from the walls at 0 and at far.
func wall(at, far float32) float32 {
	return float32(6*max(0, margin-at)) - float32(6*max(0, at-(far-margin)))
}

// limit keeps the speed between slow and fast.
func limit(vx, vy float32) (float32, float32) {
	speed := float32(math.Sqrt(float64(float32(vx*vx) + float32(vy*vy))))
	if speed == 0 {
		return slow, 0
	}
	to := min(max(speed, slow), fast) / speed
	return vx * to, vy * to
}
