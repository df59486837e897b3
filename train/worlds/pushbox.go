package worlds

import (
	"errors"
	"math"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/wire"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/train"
)

const (
	boxHalf      = 5 // m: half an edge of the room
	pusherRadius = 0.4
	boxEdge      = 0.5 // m: half an edge of the box
	pusherForce  = 12  // N
	boxDamping   = 3   // 1/s
	boxNear      = 0.5 // m: distance at which the box has reached the goal
	boxSteps     = 900
	boxObs       = 4 + 4 + 3 + 2
	boxChoices   = 5
	boxReward    = 10

	// Entities, in the order in which they are made.
	boxPusher = 0
	boxBox    = 1
	boxGoal   = 2
	boxWalls  = 3
	boxAll    = 4
)

// PushBox returns the world in which a disc of 0.4 m radius pushes a box of 1 m to a goal, in a
// room of 10 m that is seen from above: rigid bodies without gravity, slowed down by damping.
//
// Choices are 0 to wait, and 1 to 4 to push with 12 N along +x, -x, +y, -y; the mask is false
// for a wall that the disc touches. A step is a tick of 1/60 s. The reward is the number of metres
// by which the box has come nearer to the goal, less 0.001, and 10 more if the box is within
// 0.5 m of it, which ends the episode; the episode is truncated after 900 steps.
//
// The observation has 13 numbers, in m, m/s and radians per second: position and velocity of the
// disc; position, cosine and sine of the angle of the box; its velocity and its speed of
// rotation; and the position of the goal.
func PushBox() train.SimDefinition {
	inf := float32(math.Inf(1))
	return train.SimDefinition{
		Name: "pushbox", Scenario: "train/pushbox", Obs: train.Box(boxObs, -inf, inf), Action: boxAction, MaxSteps: boxSteps,
		View: room(boxHalf), Draw: drawPushBox,
		New: func(cfg evertick.Config) (train.Game, error) { return newPushBox(cfg) },
	}
}

var boxAction = train.Choice(boxChoices)

// boxDirections are the directions of the choices.
var boxDirections = [boxChoices][2]float32{{0, 0}, {1, 0}, {-1, 0}, {0, 1}, {0, -1}}

// pushBox is the game.
type pushBox struct {
	sim      *evertick.Sim
	distance float32 // from the box to the goal, after the last tick
	reward   float32
	over     bool
}

func newPushBox(cfg evertick.Config) (*pushBox, error) {
	cfg.Capacity = boxAll
	cfg.Inputs = evertick.InputConfig{Capacity: 16, Bytes: 1 << 10}
	sim, err := evertick.New(cfg)
	if err != nil {
		return nil, err
	}
	g := &pushBox{sim: sim}
	return g, errors.Join(
		sim.AddState("pushbox", g),
		sim.Add(evertick.BeforePhysics, "action", g.applyAction),
		sim.Add(evertick.AfterIndex, "reward", g.updateReward))
}

func (g *pushBox) Sim() *evertick.Sim { return g.sim }

func (g *pushBox) Outcome() (float32, bool) { return g.reward, g.over }

// AppendState implements evertick.State.
func (g *pushBox) AppendState(dst []byte) []byte {
	return wire.AppendBool(wire.AppendF32s(dst, g.distance, g.reward), g.over)
}

// RestoreState implements evertick.State.
func (g *pushBox) RestoreState(src []byte) error {
	r := wire.NewReader(src)
	distance, reward, over := r.F32(), r.F32(), r.Bool()
	if r.Done() != nil {
		return fault.Field(fault.ErrCorrupt, "worlds: pushbox: length of the state", len(src))
	}
	if !fault.Finite(distance) || !fault.Finite(reward) {
		return fault.Field(fault.ErrCorrupt, "worlds: pushbox: distance and reward", [2]float32{distance, reward})
	}
	g.distance, g.reward, g.over = distance, reward, over
	return nil
}

// applyAction creates the world in the first tick, and pushes the disc as the action says.
func (g *pushBox) applyAction(t *evertick.Tick) error {
	o, err := train.Orders(t, boxAction)
	if err != nil {
		return err
	}
	if o.Begin {
		return g.create(o.Seed)
	}
	choice := o.Choice()
	if choice < 1 || choice >= boxChoices {
		return nil
	}
	body, ok := g.body(boxPusher)
	if !ok {
		return nil // a forged state has none
	}
	d := boxDirections[choice]
	return g.sim.Physics.ApplyForceToCenter(body, [2]float32{d[0] * pusherForce, d[1] * pusherForce})
}

// body returns the body of the entity in a slot.
func (g *pushBox) body(slot ecs.Slot) (physics.Body, bool) {
	id, ok := g.sim.World.ID(slot)
	if !ok {
		return physics.Body{}, false
	}
	return g.sim.Body(id)
}

// create creates the disc, the box, the goal and the walls.
func (g *pushBox) create(seed uint64) error {
	g.reward, g.over = 0, false
	var ids [boxAll]ecs.ID
	if err := g.sim.World.SpawnN(ids[:]); err != nil {
		return err
	}
	at := places(seed)
	g.distance = apart(at[boxBox], at[boxGoal])
	r := loop.NewRand(seed, 0, boxBox, streamWander)
	return errors.Join(
		g.sim.World.SetPosition(ids[boxGoal], at[boxGoal][0], at[boxGoal][1], 0),
		g.disc(ids[boxPusher], at[boxPusher]),
		g.box(ids[boxBox], at[boxBox], r.Range(-math.Pi, math.Pi)),
		g.walls(ids[boxWalls]))
}

// places draws the positions of disc, box and goal, at least two metres apart. Usually a few tries are
// enough; after 64 it returns fixed positions.
func places(seed uint64) (at [3][2]float32) {
	r := loop.NewRand(seed, 0, 0, streamPlace)
	for range 64 {
		for i := range at {
			reach := float32(boxHalf - 1)
			if i == boxBox {
				reach = boxHalf - 2 // so that the disc can reach all sides of the box
			}
			at[i] = [2]float32{r.Range(-reach, reach), r.Range(-reach, reach)}
		}
		if apart(at[0], at[1]) > 2 && apart(at[1], at[2]) > 2 {
			return at
		}
	}
	return [3][2]float32{{-3, 0}, {0, 0}, {3, 0}}
}

func apart(a, b [2]float32) float32 {
	dx, dy := b[0]-a[0], b[1]-a[1]
	return float32(math.Sqrt(float64(float32(dx*dx) + float32(dy*dy))))
}

func (g *pushBox) disc(id ecs.ID, at [2]float32) error {
	def := physics.DefaultBodyDef()
	def.Type, def.Position, def.LinearDamping, def.DisableSleep = physics.DynamicBody, at, boxDamping, true
	b, err := g.sim.CreateBody(id, def)
	if err != nil {
		return err
	}
	_, err = g.sim.Physics.CreateCircle(b, physics.DefaultShapeDef(), physics.Circle{Radius: pusherRadius})
	return err
}

func (g *pushBox) box(id ecs.ID, at [2]float32, angle float32) error {
	def := physics.DefaultBodyDef()
	def.Type, def.Position, def.Angle, def.DisableSleep = physics.DynamicBody, at, angle, true
	def.LinearDamping, def.AngularDamping = boxDamping, boxDamping
	b, err := g.sim.CreateBody(id, def)
	if err != nil {
		return err
	}
	_, err = g.sim.Physics.CreatePolygon(b, physics.DefaultShapeDef(), physics.Box(boxEdge, boxEdge))
	return err
}

func (g *pushBox) walls(id ecs.ID) error {
	b, err := g.sim.CreateBody(id, physics.DefaultBodyDef())
	if err != nil {
		return err
	}
	corners := [4][2]float32{{-boxHalf, -boxHalf}, {boxHalf, -boxHalf}, {boxHalf, boxHalf}, {-boxHalf, boxHalf}}
	for i, from := range corners {
		to := corners[(i+1)%len(corners)]
		if _, err := g.sim.Physics.CreateSegment(b, physics.DefaultShapeDef(), physics.Segment{P1: from, P2: to}); err != nil {
			return err
		}
	}
	return nil
}

// updateReward compares the distance of the box to the goal with that after the last tick.
func (g *pushBox) updateReward(*evertick.Tick) error {
	pos := &g.sim.World.Position
	now := apart([2]float32{pos.X[boxBox], pos.Y[boxBox]}, [2]float32{pos.X[boxGoal], pos.Y[boxGoal]})
	g.reward = (g.distance - now) - 0.001
	g.distance = now
	if g.over = now <= boxNear; g.over {
		g.reward += boxReward
	}
	return nil
}

// Observe implements train.Game.
func (g *pushBox) Observe(row train.Row) {
	o := row.Float32
	clear(o)
	pos, rot := &g.sim.World.Position, &g.sim.World.Rotation
	o[0], o[1] = pos.X[boxPusher], pos.Y[boxPusher]
	o[4], o[5] = pos.X[boxBox], pos.Y[boxBox]
	// A quaternion about z has half the angle.
	w, z := rot.W[boxBox], rot.Z[boxBox]
	o[6], o[7] = float32(w*w)-float32(z*z), 2*float32(w*z)
	if b, ok := g.body(boxPusher); ok {
		if v, _, err := g.sim.Physics.Velocity(b); err == nil {
			o[2], o[3] = v[0], v[1]
		}
	}
	if b, ok := g.body(boxBox); ok {
		if v, turn, err := g.sim.Physics.Velocity(b); err == nil {
			o[8], o[9], o[10] = v[0], v[1], turn
		}
	}
	o[11], o[12] = pos.X[boxGoal], pos.Y[boxGoal]
}

// Mask is false for choices that push into a wall that the disc touches.
func (g *pushBox) Mask(of []bool) {
	const touching = boxHalf - pusherRadius - 0.05
	x, y := g.sim.World.Position.X[boxPusher], g.sim.World.Position.Y[boxPusher]
	of[0], of[1], of[2], of[3], of[4] = true, x < touching, x > -touching, y < touching, y > -touching
}
