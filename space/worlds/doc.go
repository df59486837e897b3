// Package worlds has training worlds with bodies in space for package train, beside those of train/worlds:
//
//	ballpole     a pole on a ball joint is balanced by forces on the disc below it
//	arm          an arm of two links reaches for a place, by the targets of its joints
//
// They are examples of how to write others: the observations have quaternions, and the actions are forces and targets of joints. Both draw their random numbers
// from the seed of the episode alone and give the same bits on every machine. Pictures show them from the side, x to the right and y up.
package worlds

import (
	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics3"
	"github.com/evertick/evertick/space"
	"github.com/evertick/evertick/train"
)

// All returns all worlds of this package, for train.Register, and for the scenarios by which package replay runs their logs.
func All() []train.SimDefinition { return []train.SimDefinition{BallPole(), Arm()} }

// newSim returns a Sim with bodies in space that do not sleep.
func newSim(cfg evertick.Config, bodies int, gravity float32) (*evertick.Sim, *space.Bodies, error) {
	cfg.Capacity = bodies
	cfg.Inputs = evertick.InputConfig{Capacity: 16, Bytes: 1 << 10}
	cfg.Physics.Capacity = 1
	sim, err := evertick.New(cfg)
	if err != nil {
		return nil, nil, err
	}
	b, err := space.Attach(sim, physics3.Config{Gravity: [3]float32{1: gravity}, DisableSleep: true})
	return sim, b, err
}

// bodyAt returns the body of the entity in a slot. A forged state may have none.
func bodyAt(sim *evertick.Sim, b *space.Bodies, slot ecs.Slot) (physics3.Body, bool) {
	id, ok := sim.World.ID(slot)
	if !ok {
		return physics3.Body{}, false
	}
	return b.Body(id)
}

// observed appends the rotation of an entity, as the quaternion x, y, z, w, and the angular velocity of its body.
func observed(dst []float32, sim *evertick.Sim, b *space.Bodies, slot ecs.Slot) []float32 {
	q := &sim.World.Rotation
	dst = append(dst, q.X[slot], q.Y[slot], q.Z[slot], q.W[slot])
	var spin [3]float32
	if body, ok := bodyAt(sim, b, slot); ok {
		_, spin, _ = b.World().Velocity(body) // the body lives
	}
	return append(dst, spin[:]...)
}

// axis returns the y axis of the body of an entity, in world coordinates.
func axis(sim *evertick.Sim, slot ecs.Slot) [3]float32 {
	q := &sim.World.Rotation
	x, y, z, w := q.X[slot], q.Y[slot], q.Z[slot], q.W[slot]
	return [3]float32{
		2 * (float32(x*y) - float32(w*z)),
		1 - 2*(float32(x*x)+float32(z*z)),
		2 * (float32(y*z) + float32(w*x)),
	}
}

// along returns the point of an entity at a distance from its position along its y axis.
func along(sim *evertick.Sim, slot ecs.Slot, distance float32) [3]float32 {
	p, a := &sim.World.Position, axis(sim, slot)
	return [3]float32{p.X[slot] + float32(distance*a[0]), p.Y[slot] + float32(distance*a[1]), p.Z[slot] + float32(distance*a[2])}
}

// capsule gives an entity a dynamic body with one capsule along y.
func capsule(b *space.Bodies, id ecs.ID, def physics3.BodyDef, half, radius float32) (physics3.Body, error) {
	def.Type = physics3.DynamicBody
	body, err := b.Create(id, def)
	if err == nil {
		_, err = b.World().CreateCapsule(body, physics3.DefaultShapeDef(), physics3.Capsule{P1: [3]float32{1: -half}, P2: [3]float32{1: half}, Radius: radius})
	}
	return body, err
}

// drawCapsule draws such a body from the side.
func drawCapsule(sim *evertick.Sim, dst *physics.Drawing, slot ecs.Slot, half, radius float32, color physics.Color) {
	a, b := along(sim, slot, -half), along(sim, slot, half)
	dst.AddPolygon([][2]float32{{a[0], a[1]}, {b[0], b[1]}}, radius, color, true)
}

// Streams of random numbers.
const (
	streamTilt = iota
	streamGoal
)
