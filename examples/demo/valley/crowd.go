package valley

import (
	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/spatial"
)

const (
	walkers     = 2000
	shoulder    = 0.9 // height of the point that a walker is
	personal    = 1.6 // how far a walker sees others
	frightens   = 6   // how far it sees what moves fast
	fastEnough  = 3   // m/s
	stroll, run = 1.5, 5
	edge        = 44   // how far from the middle goals are
	arrived     = 3    // from a goal
	calming     = 0.06 // of the fear from one look to the next
	lookAround  = 3    // ticks between two looks of a walker
)

// crowd is what walkers see, anew in each tick.
type crowd struct {
	sums           spatial.Sums
	closeX, closeZ []float32 // unit vectors to the others, summed, of which the close ones count more
	dangers        spatial.Queries
	first          ecs.Slot // of the walkers, which have slots in a row
}

// rocks are what walkers go around: the stairs, the tower and the pillars, as x, z and radius.
var rocks = [...][3]float32{
	{stairsX - stairs*tread/2 - 1, 0, 5}, {towerX, 0, towerRadius + 1.5}, {bridgeFrom - 1, 0, 2.5}, {bridgeTo + 1, 0, 2.5},
}

func (v *valley) buildCrowd() error {
	capacity := v.sim.World.Cap()
	c := &v.crowd
	c.closeX, c.closeZ = make([]float32, capacity), make([]float32, capacity)
	p := &v.sim.World.Position
	c.sums.Terms = []spatial.Term{
		{Of: p.X, Own: p.X, Weight: spatial.SpikyGradient, To: c.closeX},
		{Of: p.Z, Own: p.Z, Weight: spatial.SpikyGradient, To: c.closeZ},
	}
	for i := range walkers {
		id, slot, err := v.sim.World.SpawnSlot()
		if err != nil {
			return err
		}
		if i == 0 {
			c.first = slot
		}
		r := loop.NewRand(v.sim.Seed(), 0, uint64(i), 2)
		x, z := somewhere(&r)
		p.X[slot], p.Y[slot], p.Z[slot] = x, v.ground.at(x, z)+shoulder, z
		x, z = somewhere(&r)
		v.Goal.Values()[slot] = [2]float32{x, z}
		v.Walker.Set(id)
	}
	return nil
}

// somewhere is a point of the valley at random.
func somewhere(r *loop.Rand) (x, z float32) {
	for range 8 {
		x, z = r.Range(-edge, edge), r.Range(-edge, edge)
		if length(x, z) < edge {
			break
		}
	}
	return x, z
}

// walk moves the walkers over the land.
func (v *valley) walk(t *evertick.Tick) error {
	p, vx, vz := &v.sim.World.Position, v.Velocity.X.Values(), v.Velocity.Z.Values()
	for slot := v.crowd.first; slot < v.crowd.first+walkers; slot++ {
		x := min(max(p.X[slot]+float32(vx[slot]*t.Dt), -half), half)
		z := min(max(p.Z[slot]+float32(vz[slot]*t.Dt), -half), half)
		p.X[slot], p.Y[slot], p.Z[slot] = x, v.ground.at(x, z)+shoulder, z
	}
	p.Touch()
	return nil
}

// perceive turns each walker to its goal, away from others, from rocks and from what moves fast.
func (v *valley) perceive(t *evertick.Tick) error {
	if t.N%lookAround != 0 {
		return nil
	}
	dt := float32(lookAround * t.Dt)
	if err := v.beAfraid(); err != nil {
		return err
	}
	if err := v.sim.Index.SumSelf(&spatial.Self{Radius: personal}, &v.crowd.sums); err != nil {
		return err
	}
	p, vx, vz := &v.sim.World.Position, v.Velocity.X.Values(), v.Velocity.Z.Values()
	goals, fear := v.Goal.Values(), v.Fear.Values()
	for slot := v.crowd.first; slot < v.crowd.first+walkers; slot++ {
		x, z := p.X[slot], p.Z[slot]
		gx, gz := goals[slot][0]-x, goals[slot][1]-z
		d := length(gx, gz)
		if d < arrived {
			id, _ := v.sim.World.ID(slot)
			r := t.Rand(id, 3)
			goals[slot][0], goals[slot][1] = somewhere(&r)
		}
		pace := stroll / max(d, 1)
		ax := float32(2*(float32(gx*pace)-vx[slot])) - float32(5*v.crowd.closeX[slot])
		az := float32(2*(float32(gz*pace)-vz[slot])) - float32(5*v.crowd.closeZ[slot])
		for _, rock := range rocks {
			rx, rz := x-rock[0], z-rock[1]
			if far := length(rx, rz); far < rock[2] {
				push := float32(12*(rock[2]-far)) / max(far, 0.1)
				ax, az = ax+float32(rx*push), az+float32(rz*push)
			}
		}
		vx[slot], vz[slot] = limit(vx[slot]+float32(ax*dt), vz[slot]+float32(az*dt), stroll+float32((run-stroll)*fear[slot]))
		fear[slot] = max(0, fear[slot]-calming)
	}
	v.Velocity.X.Touch()
	v.Velocity.Z.Touch()
	v.Goal.Touch()
	v.Fear.Touch()
	return nil
}

// beAfraid pushes walkers away from balls, bricks and cars that move fast near them.
func (v *valley) beAfraid() error {
	q := &v.crowd.dangers
	q.X, q.Y, q.Z, q.Radius = q.X[:0], q.Y[:0], q.Z[:0], q.Radius[:0]
	p := &v.sim.World.Position
	for i := range v.world.Rows() {
		body, there := v.world.BodyAt(i)
		if !there || !v.world.Awake(body) {
			continue
		}
		id, owned := v.bodies.Entity(body)
		if !owned {
			continue
		}
		velocity, _, err := v.world.Velocity(body)
		if err != nil {
			return err
		}
		if max(velocity[0], -velocity[0], velocity[2], -velocity[2]) < fastEnough {
			continue
		}
		slot, _ := v.sim.World.Slot(id)
		q.X, q.Y, q.Z, q.Radius = append(q.X, p.X[slot]), append(q.Y, p.Y[slot]), append(q.Z, p.Z[slot]), append(q.Radius, frightens)
	}
	q.SkipDist2 = true
	if err := v.sim.Index.Radius(q, &v.near); err != nil {
		return err
	}
	vx, vz, fear := v.Velocity.X.Values(), v.Velocity.Z.Values(), v.Fear.Values()
	for i := range q.X {
		for _, slot := range v.near.Row(i) {
			if slot < v.crowd.first || slot >= v.crowd.first+walkers {
				continue
			}
			x, z := p.X[slot]-q.X[i], p.Z[slot]-q.Z[i]
			d := max(length(x, z), 0.1)
			push := float32(1.5*(frightens-min(d, frightens))) / (d * frightens)
			vx[slot], vz[slot] = vx[slot]+float32(x*push), vz[slot]+float32(z*push)
			fear[slot] = 1
		}
	}
	return nil
}

// limit shortens a velocity that is faster than most.
func limit(x, z, most float32) (float32, float32) {
	if speed := length(x, z); speed > most {
		return x * (most / speed), z * (most / speed)
	}
	return x, z
}
