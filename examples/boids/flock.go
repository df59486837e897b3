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
	sight         = 5   // how far a boid sees others
	tooClose      = 2.4 // it turns away from boids that are nearer
	margin        = 12  // from a wall, where it turns back
	slow, fast    = 8, 16
)

// flock is a Sim whose entities are boids, and the columns of their own.
type flock struct {
	sim *evertick.Sim
	columns

	ax, ay []float32 // m/s², computed anew in each tick: no state
	near   spatial.Result
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
	f := &flock{sim: sim, ax: make([]float32, n), ay: make([]float32, n)}
	sim.Register(&f.columns)
	sim.Add(evertick.BeforePhysics, "move", f.move)
	sim.Add(evertick.AfterIndex, "steer", f.steer)
	if err := errors.Join(sim.Check(), sim.World.SpawnN(make([]ecs.ID, n))); err != nil {
		return nil, err
	}
	x, y := sim.World.Position.X, sim.World.Position.Y
	vx, vy := f.Velocity.X.Values(), f.Velocity.Y.Values()
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

// steer finds the neighbours of all boids in one query, and turns each boid by what it sees.
func (f *flock) steer(t *evertick.Tick) error {
	if err := f.sim.Index.RadiusSelf(&spatial.Self{Radius: sight, SkipDist2: true}, &f.near); err != nil {
		return err
	}
	for row, boid := range f.near.Of {
		f.look(boid, f.near.Row(row))
	}
	vx, vy := f.Velocity.X.Values(), f.Velocity.Y.Values()
	for i := range vx {
		vx[i], vy[i] = limit(vx[i]+float32(f.ax[i]*t.Dt), vy[i]+float32(f.ay[i]*t.Dt))
	}
	f.Velocity.X.Touch()
	f.Velocity.Y.Touch()
	return nil
}

// look computes the acceleration of boid i: towards the middle of the others, in their
// direction, and away from those that are too close. Every product that feeds a sum is
// converted, which keeps it from being fused, so the hash is the same on every machine.
func (f *flock) look(i uint32, others []uint32) {
	x, y, vx, vy := f.sim.World.Position.X, f.sim.World.Position.Y, f.Velocity.X.Values(), f.Velocity.Y.Values()
	var midX, midY, alongX, alongY, awayX, awayY float32
	for _, j := range others {
		dx, dy := x[j]-x[i], y[j]-y[i]
		midX, midY = midX+dx, midY+dy
		alongX, alongY = alongX+(vx[j]-vx[i]), alongY+(vy[j]-vy[i])
		if d2 := float32(dx*dx) + float32(dy*dy); d2 < tooClose*tooClose {
			awayX, awayY = awayX-dx, awayY-dy
		}
	}
	n := float32(max(1, len(others)))
	f.ax[i] = float32(2*midX/n) + float32(3*alongX/n) + float32(12*awayX) + wall(x[i], width)
	f.ay[i] = float32(2*midY/n) + float32(3*alongY/n) + float32(12*awayY) + wall(y[i], height)
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
