package proof

import (
	"errors"
	"math"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/spatial"
)

const (
	agents     = 96 // at the start
	minAgents  = 64 // if there are fewer, new ones join
	maxAgents  = 144
	maxFood    = 60
	perception = 4   // m
	maxSpeed   = 6   // m/s
	shoveReach = 2.5 // m
	shoveEvery = 64  // ticks between two shoves of an agent
	clearance  = 1.5 // m
	foodTicks  = 2400
	chunkRows  = 12 // of a chunk of agents: never derived from the number of workers
	maxChunks  = (maxAgents + chunkRows) / chunkRows
)

// random returns the random numbers of an entity in the running tick, for code without a Tick.
func (s *Scene) random(entity uint64, stream uint32) loop.Rand {
	return loop.NewRand(s.seed, s.Sim.Ticks(), entity, stream)
}

// senses are the queries of the agents and their results.
type senses struct {
	queries  spatial.Queries
	near     spatial.Result
	nearest  spatial.NearestQueries
	closest  spatial.Result
	boxes    spatial.Boxes
	inside   spatial.Result
	rays     spatial.Rays
	raySlots []uint32
	rayT     []float32
	pairs    spatial.Result
	slots    []ecs.Slot // the agent of each query
	look     looking
}

// perceive makes queries of every kind to the index.
func (s *Scene) perceive(*evertick.Tick) error {
	q, p := &s.senses, &s.Sim.World.Position
	q.slots = q.slots[:0]
	for slot := range s.Sim.World.Query(ecs.With(s.tags.agent)) {
		q.slots = append(q.slots, slot)
	}
	n := len(q.slots)
	a, k, b, r := &q.queries, &q.nearest, &q.boxes, &q.rays
	for _, column := range []*[]float32{
		&a.X, &a.Y, &a.Z, &a.Radius, &b.MinX, &b.MinY, &b.MinZ, &b.MaxX, &b.MaxY, &b.MaxZ,
		&r.OX, &r.OY, &r.OZ, &r.DX, &r.DY, &r.DZ, &r.MaxT, &q.rayT,
	} {
		*column = resize(*column, n)
	}
	a.Exclude, q.raySlots = resize(a.Exclude, n), resize(q.raySlots, n)
	c := &s.cols
	for i, slot := range q.slots {
		x, y, z := p.X[slot], p.Y[slot], p.Z[slot]
		a.X[i], a.Y[i], a.Z[i], a.Radius[i], a.Exclude[i] = x, y, z, perception, slot
		b.MinX[i], b.MinY[i], b.MinZ[i], b.MaxX[i], b.MaxY[i], b.MaxZ[i] = x-3, y-0.5, z-3, x+3, y+0.5, z+3
		r.OX[i], r.OY[i], r.OZ[i], r.MaxT[i] = x, y, z, 2
		r.DX[i], r.DY[i], r.DZ[i] = c.velX[slot], c.velY[slot], c.velZ[slot]+1
	}
	k.X, k.Y, k.Z, k.K, k.Radius, k.Exclude = a.X, a.Y, a.Z, 3, a.Radius, a.Exclude
	b.Exclude, r.Exclude = a.Exclude, a.Exclude
	ix := s.Sim.Index
	return errors.Join(ix.Radius(a, &q.near), ix.KNN(k, &q.closest), ix.Overlap(b, &q.inside),
		ix.RayClosest(s.Sim.World.Scale.X, r, q.raySlots, q.rayT), ix.Pairs(&spatial.Self{Radius: 1}, &q.pairs))
}

// resize returns a slice of length n, in the memory of v if that fits.
func resize[T any](v []T, n int) []T {
	if cap(v) < n {
		return make([]T, n, 2*n)
	}
	return v[:n]
}

// mind is the task in which agents decide, in chunks that any worker may take.
type mind struct {
	scene  *Scene
	dt     float32
	rows   int
	merge  []int // the order in which chunks are merged
	moods  [maxChunks]float32
	births [maxChunks]*ecs.Commands
}

// think lets all agents decide, chunk by chunk, and merges the results of the chunks
// in their order: sums of floats, and births, which issue ids.
func (s *Scene) think(t *evertick.Tick) error {
	m := &s.mind
	m.scene, m.dt, m.rows = s, t.Dt, len(s.senses.slots)
	chunks := (m.rows + chunkRows - 1) / chunkRows
	for i := range chunks {
		if m.births[i] == nil {
			m.births[i] = s.Sim.World.NewCommands()
		}
	}
	m.merge = m.merge[:0]
	if err := s.ops.Pool.Run(chunks, m); err != nil {
		return err
	}
	for i := range chunks {
		m.merge = append(m.merge, i)
	}
	slot, _ := s.Sim.World.Slot(s.totals)
	for _, i := range m.merge {
		s.cols.mood[slot] = float32(s.cols.mood[slot]*0.99) + m.moods[i]
		if _, err := s.Sim.World.Apply(m.births[i]); err != nil {
			return err
		}
	}
	return nil
}

// Do is one chunk. It writes to the rows of its own agents only.
func (m *mind) Do(_, chunk int) {
	mood := float32(0)
	for row := chunk * chunkRows; row < min((chunk+1)*chunkRows, m.rows); row++ {
		mood += m.scene.decide(row, m)
		m.scene.updateLife(row, m.births[chunk])
	}
	m.moods[chunk] = mood
}

// decide accelerates an agent according to its perception, and returns its mood.
func (s *Scene) decide(row int, m *mind) (mood float32) {
	c, p, q := &s.cols, &s.Sim.World.Position, &s.senses
	self := q.slots[row]
	id, _ := s.Sim.World.ID(self)
	r := s.random(uint64(id), streamWander)
	ax, ay, az := r.Range(-2, 2), r.Range(-2, 2), r.Range(-1, 1)
	c.target[self], c.pushX[self], c.pushY[self] = 0, 0, 0
	gain := float32(-0.03)
	dist2 := q.near.Dist2Row(row)
	for i, other := range q.near.Row(row) {
		dx, dy, dz := p.X[other]-p.X[self], p.Y[other]-p.Y[self], p.Z[other]-p.Z[self]
		pull := float32(0.2)
		switch kind(c.kind[other]) {
		case agent:
			if c.team[other] != c.team[self] {
				pull = -0.4
				mood += 0.1 / (dist2[i] + 0.1)
				gain -= 0.002 / (dist2[i] + 0.1)
			}
		case food:
			pull = 1.5
			gain += 0.05 / (dist2[i] + 1)
		case part, bullet:
			pull = -0.3
			if dist2[i] < shoveReach*shoveReach {
				c.target[self], c.pushX[self], c.pushY[self] = other+1, dx, dy+0.5
			}
		}
		if dist2[i] < clearance*clearance {
			pull -= 1 / (dist2[i] + 0.2)
		}
		ax, ay, az = ax+float32(dx*pull), ay+float32(dy*pull), az+float32(dz*pull)
	}
	for _, other := range q.closest.Row(row) {
		c.seen[self] = c.seen[self]*31 + other
	}
	c.seen[self] += uint32(len(q.inside.Row(row)))
	if q.raySlots[row] != spatial.NoSlot {
		ay += 1 / (q.rayT[row] + 0.5)
	}
	c.accX[self], c.accY[self], c.accZ[self] = ax+wall(p.X[self], -roomX, roomX), ay+wall(p.Y[self], 0, roomY), az+wall(p.Z[self], 0, roomZ)
	c.energy[self] += float32(gain * m.dt * 4)
	return mood - float32(c.energy[self]*0.1)
}

// wall is the acceleration away from the nearer of two walls.
func wall(v, low, high float32) float32 {
	const margin = 3
	switch {
	case v < low+margin:
		return float32((low + margin - v) * 4)
	case v > high-margin:
		return float32((high - margin - v) * 4)
	}
	return 0
}

// updateLife records births and deaths: an agent with much energy has a child, one without dies.
func (s *Scene) updateLife(row int, births *ecs.Commands) {
	c := &s.cols
	self := s.senses.slots[row]
	id, _ := s.Sim.World.ID(self)
	p := &s.Sim.World.Position
	switch e := c.energy[self]; {
	case e < 0:
		births.Despawn(id)
	case e > 1.2 && len(s.senses.slots) < maxAgents-maxChunks:
		c.energy[self] = e / 2
		child := births.Spawn()
		_ = births.SetPosition(child, p.X[self]+0.3, p.Y[self]+0.3, p.Z[self])
		births.Set(s.tags.agent, child) // initBorn does the rest
	case e < 0.2:
		births.Set(s.tags.alarmed, id)
	default:
		births.Unset(s.tags.alarmed, id)
	}
}

// initBorn sets the columns of the agents that were born in the last tick.
func (s *Scene) initBorn(t *evertick.Tick) error {
	c, w := &s.cols, s.Sim.World
	for slot := range w.Query(ecs.With(s.tags.agent)) {
		if kind(c.kind[slot]) == agent {
			continue
		}
		id, _ := w.ID(slot)
		r := t.Rand(id, streamBirth)
		c.kind[slot], c.energy[slot], c.drag[slot], c.fading[slot] = uint8(agent), r.Range(0.4, 0.8), r.Range(0.1, 0.5), 1
		c.team[slot] = int16(r.Uint32n(5)) - 2
	}
	return nil
}

// updatePopulation adds agents where they are few, removes old food, and adds new food.
func (s *Scene) updatePopulation(t *evertick.Tick) error {
	c, w := &s.cols, s.Sim.World
	growing := 0
	for slot := range w.Query(ecs.Without(s.tags.agent, s.tags.body)) {
		if kind(c.kind[slot]) != food {
			continue
		}
		if c.age[slot] <= foodTicks {
			growing++
			continue
		}
		id, _ := w.ID(slot)
		t.Commands().Despawn(id)
	}
	r := s.random(uint64(s.totals), streamGrowth)
	if growing < maxFood && t.N%8 == 0 {
		seed := t.Commands().Spawn()
		ecs.Write(t.Commands(), s.kinds, seed, uint8(food))
		s.keep(t.Commands().SetPosition(seed, r.Range(-roomX, roomX), r.Range(1, roomY), r.Range(0, roomZ)))
	}
	if s.tags.agent.Count() < minAgents {
		child := t.Commands().Spawn()
		s.keep(t.Commands().SetPosition(child, r.Range(-roomX, roomX), r.Range(1, roomY), r.Range(0, roomZ)))
		t.Commands().Set(s.tags.agent, child)
	}
	return s.built()
}

// shove lets agents push their targets, in two lists of commands.
func (s *Scene) shove(t *evertick.Tick) error {
	c, w := &s.cols, s.Sim.World
	i := 0
	for slot := range w.Query(ecs.With(s.tags.agent)) {
		target := c.target[slot]
		if target == 0 || (t.N+uint64(slot))%shoveEvery != 0 {
			continue
		}
		id, ok := w.ID(target - 1)
		b, has := s.Sim.Body(id)
		if !ok || !has {
			continue
		}
		s.lists[i%2].ApplyLinearImpulseToCenter(b, [2]float32{c.pushX[slot], c.pushY[slot]})
		i++
	}
	return s.Sim.Physics.Apply(s.lists[:]...)
}

// move moves agents with the operations on columns.
func (s *Scene) move(t *evertick.Tick) error {
	c, w := &s.cols, s.Sim.World
	s.ops.Live = s.tags.agent.Mask()
	vel := native.Vec3{X: c.velX, Y: c.velY, Z: c.velZ}
	pos := native.Vec3{X: w.Position.X, Y: w.Position.Y, Z: w.Position.Z}
	rot := native.Quat{X: w.Rotation.X, Y: w.Rotation.Y, Z: w.Rotation.Z, W: w.Rotation.W}
	motion := native.Motion{
		Pos: pos, Vel: vel, Acc: native.Vec3{X: c.accX, Y: c.accY, Z: c.accZ},
		Rot: rot, Ang: native.Vec3{X: c.spinX, Y: c.spinY, Z: c.spinZ},
	}
	err := errors.Join(s.ops.Damp(c.velX, c.drag, t.Dt), s.ops.Damp(c.velY, c.drag, t.Dt), s.ops.Damp(c.velZ, c.drag, t.Dt),
		s.ops.ClampLength(vel, maxSpeed), s.ops.Move(&motion, t.Dt), s.ops.NormalizeQuat(rot),
		s.ops.Wrap(w.Position.X, -roomX, roomX), s.ops.Clamp(w.Position.Y, 0.5, roomY), s.ops.Clamp(w.Position.Z, 0, roomZ))
	w.Position.Touch()
	w.Rotation.Touch()
	return err
}

// addDistance sums the distance of each entity in float64.
func (s *Scene) addDistance(t *evertick.Tick) error {
	c := &s.cols
	for slot := range s.Sim.World.Query() {
		vx, vy := float64(c.velX[slot]), float64(c.velY[slot])
		c.odometer[slot] += float64(math.Sqrt(float64(vx*vx)+float64(vy*vy)) * float64(t.Dt))
	}
	return nil
}

// fade ages all entities: a value goes through the denormal numbers to zero and begins again,
// and a trail of the last positions is kept.
func (s *Scene) fade(t *evertick.Tick) error {
	c, p := &s.cols, &s.Sim.World.Position
	for slot := range s.Sim.World.Query() {
		if c.fading[slot] *= 0.5; c.fading[slot] == 0 {
			c.fading[slot] = 1 + float32(p.X[slot]/256) // the compiler divides by multiplying
		}
		if t.N%4 == 0 {
			c.trail[slot] = [4]float32{c.trail[slot][1], c.trail[slot][2], c.trail[slot][3], p.X[slot] - p.Y[slot]}
		}
		c.age[slot]++
	}
	return nil
}

// settleDebts changes the debts of entities that are close to each other, and adds the energy of all to
// the totals.
func (s *Scene) settleDebts(*evertick.Tick) error {
	c := &s.cols
	for i, of := range s.senses.pairs.Of {
		for _, other := range s.senses.pairs.Row(i) {
			c.debt[of] += int64(other) - int64(of)
			c.debt[other] -= int64(c.team[of])
		}
	}
	sum, err := s.ops.Sum(c.energy)
	slot, _ := s.Sim.World.Slot(s.totals)
	c.mood[slot] += float32(sum * 0.01)
	return err
}
