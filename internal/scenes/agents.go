package scenes

import (
	"math"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/native"
	"github.com/evertick/evertick/physics"
)

// Agents walk about, keep together, keep clear of each other, of scenery and of
// the walls, and shove bodies that come near. Bodies do not act on agents: the
// agents' columns are then the same on machines where the bodies' are not.
const (
	maxSpeed     = 4   // m/s
	maxAccel     = 8   // m/s²
	clearance    = 4   // m; nearer neighbours are avoided
	shoveReach   = 3   // m
	shoveImpulse = 2   // N·s
	stirImpulse  = 3   // N·s, at most, along each axis
	stirEvery    = 8   // ticks between two stirs of a body
	wallMargin   = 10  // m
	cohesion     = 0.5 // 1/s²
)

// action is what an agent decided: an acceleration for itself, and a push of a
// body if it names one. It is applied at the start of the next tick.
type action struct {
	agent      ecs.Slot
	ax, az     float32 // m/s²
	shoved     physics.Body
	pushX      float32 // N·s
	pushZ      float32
	wantsShove bool
}

// act applies the actions queued in the last tick, in the order of agents.
func (s *agents) act(t *evertick.Tick) error {
	for i := range s.actions {
		a := &s.actions[i]
		vx := s.velX[a.agent] + float32(a.ax*t.Dt)
		vz := s.velZ[a.agent] + float32(a.az*t.Dt)
		s.velX[a.agent], s.velZ[a.agent] = clampLength(vx, vz, maxSpeed)
		if a.wantsShove && s.sim.Physics.Valid(a.shoved) {
			if err := s.sim.Physics.ApplyLinearImpulseToCenter(a.shoved, [2]float32{a.pushX, a.pushZ}); err != nil {
				return err
			}
		}
	}
	s.actions = s.actions[:0]
	return nil
}

// move walks every row, not the agents alone: the others stand still, and one
// pass over whole columns is faster than picking rows.
func (s *agents) move(t *evertick.Tick) error {
	w := s.sim.World
	n := w.HighWater()
	native.Integrate(s.sim.Level(), w.Position.X[:n], s.velX[:n], t.Dt)
	native.Integrate(s.sim.Level(), w.Position.Z[:n], s.velZ[:n], t.Dt)
	return nil
}

// stir pushes each body every few ticks, so that none comes to rest.
func (s *agents) stir(t *evertick.Tick) error {
	if !s.Restless {
		return nil
	}
	for i := int(t.N % stirEvery); i < len(s.bodyIDs); i += stirEvery {
		r := t.Rand(s.bodyIDs[i], streamStir)
		push := [2]float32{r.Range(-stirImpulse, stirImpulse), r.Range(-stirImpulse, stirImpulse)}
		slot, _ := s.sim.World.Slot(s.bodyIDs[i])
		if err := s.sim.Physics.ApplyLinearImpulseToCenter(s.bodyOf[slot], push); err != nil {
			return err
		}
	}
	return nil
}

// perceive finds the neighbours of all agents whose turn it is, in one batch.
func (s *agents) perceive(t *evertick.Tick) error {
	q, pos := &s.queries, &s.sim.World.Position
	s.perceiver = s.perceiver[:0]
	q.X, q.Y, q.Z, q.Radius, q.Exclude = q.X[:0], q.Y[:0], q.Z[:0], q.Radius[:0], q.Exclude[:0]
	first := int(t.N * uint64(s.Perceivers) % uint64(s.Agents))
	for i := range s.Perceivers {
		a := (first + i) % s.Agents
		slot := s.agentAt[a]
		s.perceiver = append(s.perceiver, a)
		q.X, q.Y, q.Z = append(q.X, pos.X[slot]), append(q.Y, pos.Y[slot]), append(q.Z, pos.Z[slot])
		q.Radius, q.Exclude = append(q.Radius, s.Radius), append(q.Exclude, slot)
	}
	return s.sim.Index.Radius(q, &s.perceived)
}

func (s *agents) steer(t *evertick.Tick) error {
	for row, a := range s.perceiver {
		r := t.Rand(s.agentIDs[a], streamWander)
		act := s.decide(s.agentAt[a], s.perceived.Row(row), s.perceived.Dist2Row(row))
		act.ax += r.Range(-1, 1)
		act.az += r.Range(-1, 1)
		act.ax, act.az = clampLength(act.ax, act.az, maxAccel)
		s.actions = append(s.actions, act)
	}
	return nil
}

// decide sums up what an agent perceives, in slot order.
func (s *agents) decide(self ecs.Slot, slots []uint32, dist2 []float32) action {
	pos := &s.sim.World.Position
	x, z := pos.X[self], pos.Z[self]
	act := action{agent: self}
	var midX, midZ, friends float32
	nearest := float32(shoveReach * shoveReach)
	for i, other := range slots {
		dx, dz := pos.X[other]-x, pos.Z[other]-z
		if s.kinds[other] == body {
			if s.Restless && dist2[i] < nearest {
				nearest = dist2[i]
				act.shoved, act.wantsShove = s.bodyOf[other], true
				act.pushX, act.pushZ = clampLength(dx*shoveImpulse, dz*shoveImpulse, shoveImpulse)
			}
			continue
		}
		if s.kinds[other] == agent {
			midX, midZ, friends = midX+dx, midZ+dz, friends+1
		}
		if dist2[i] < clearance*clearance {
			away := 2 / (dist2[i] + 0.25) // m²/s² over m²: strong when close, never infinite
			act.ax -= float32(dx * away)
			act.az -= float32(dz * away)
		}
	}
	if friends > 0 {
		act.ax += float32(midX / friends * cohesion)
		act.az += float32(midZ / friends * cohesion)
	}
	act.ax += s.fromWall(x)
	act.az += s.fromWall(z)
	return act
}

// fromWall is the acceleration away from the wall that is near along one axis.
func (s *agents) fromWall(v float32) float32 {
	edge := float32(s.Area/2) - wallMargin // the compiler divides by multiplying
	switch {
	case v > edge:
		return edge - v
	case v < -edge:
		return -edge - v
	}
	return 0
}

// clampLength shortens (x, z) to a length of at most limit.
func clampLength(x, z, limit float32) (float32, float32) {
	l2 := float32(x*x) + float32(z*z)
	if l2 <= limit*limit {
		return x, z
	}
	scale := limit / float32(math.Sqrt(float64(l2)))
	return x * scale, z * scale
}
