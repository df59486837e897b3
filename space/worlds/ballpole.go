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
	"github.com/evertick/evertick/physics3"
	"github.com/evertick/evertick/space"
	"github.com/evertick/evertick/train"
)

const (
	poleHalf   = 0.5 // m: half of the distance between the centres of its ends
	poleRadius = 0.05
	discHalf   = 0.25 // m: half an edge of the box that the pole stands on
	discHeight = 0.05
	poleForce  = 10  // N
	poleLimit  = 2.5 // m from the middle
	poleFallen = 0.9 // cosine of the angle at which it has fallen
	poleSteps  = 500
	poleObs    = 4 + 7

	// Entities, in the order in which they are made.
	poleDisc = 0
	polePole = 1
	poleAll  = 2
)

// BallPole returns the world in which a pole of 1.1 m stands on a ball joint, on a plate that slides on a level without friction.
//
// The action is the force on the plate along x and along z, from -1 to 1 times 10 N. A step is a tick of 1/60 s. The reward is 1. The episode
// ends when the pole leans by more than 26° or the plate is more than 2.5 m from the middle, and is truncated after 500 steps.
//
// The observation has 11 numbers, in m, m/s and radians per second: x, z and the velocity along x and z of the plate; the rotation of the pole as the
// quaternion x, y, z, w, and its angular velocity.
func BallPole() train.SimDefinition {
	inf := float32(math.Inf(1))
	return train.SimDefinition{
		Name: "ballpole", Scenario: "train/ballpole", Obs: train.Box(poleObs, -inf, inf), Action: poleAction, MaxSteps: poleSteps,
		View: physics.DrawnBox{Min: [2]float32{-poleLimit - 0.5, -0.5}, Max: [2]float32{poleLimit + 0.5, 1.5}}, Draw: drawPole,
		New: func(cfg evertick.Config) (train.Game, error) { return newBallPole(cfg) },
	}
}

var poleAction = train.Box(2, -1, 1)

// ballPole is the game. Its whole state is in the bodies.
type ballPole struct {
	sim    *evertick.Sim
	bodies *space.Bodies
	over   bool
}

func newBallPole(cfg evertick.Config) (*ballPole, error) {
	sim, bodies, err := newSim(cfg, poleAll, -9.81)
	if err != nil {
		return nil, err
	}
	g := &ballPole{sim: sim, bodies: bodies}
	return g, errors.Join(
		sim.AddState("ballpole", g),
		sim.Add(evertick.BeforePhysics, "action", g.applyAction),
		sim.Add(evertick.AfterPhysics, "fallen", g.look))
}

func (g *ballPole) Sim() *evertick.Sim { return g.sim }

func (g *ballPole) Outcome() (float32, bool) { return 1, g.over }

// AppendState implements evertick.State.
func (g *ballPole) AppendState(dst []byte) []byte { return wire.AppendBool(dst, g.over) }

// RestoreState implements evertick.State.
func (g *ballPole) RestoreState(src []byte) error {
	r := wire.NewReader(src)
	over := r.Bool()
	if r.Done() != nil {
		return fault.Field(fault.ErrCorrupt, "worlds: ballpole: length of the state", len(src))
	}
	g.over = over
	return nil
}

// applyAction creates the bodies in the first tick, and pushes the plate.
func (g *ballPole) applyAction(t *evertick.Tick) error {
	o, err := train.Orders(t, poleAction)
	if err != nil {
		return err
	}
	if o.Begin {
		return g.create(o.Seed)
	}
	plate, ok := bodyAt(g.sim, g.bodies, poleDisc)
	if !ok {
		return nil
	}
	return g.bodies.World().ApplyForceToCenter(plate, [3]float32{o.Float(0) * poleForce, 0, o.Float(1) * poleForce})
}

func (g *ballPole) create(seed uint64) error {
	g.over = false
	var ids [poleAll]ecs.ID
	if err := g.sim.World.SpawnN(ids[:]); err != nil {
		return err
	}
	w := g.bodies.World()
	def := physics3.DefaultBodyDef()
	def.Type = physics3.DynamicBody
	def.LockY, def.LockRotationX, def.LockRotationY, def.LockRotationZ = true, true, true, true
	plate, err := g.bodies.Create(ids[poleDisc], def)
	if err != nil {
		return err
	}
	heavy := physics3.DefaultShapeDef()
	heavy.Density = 40 // 1 kg
	if _, err := w.CreateBox(plate, heavy, physics3.Box{Half: [3]float32{discHalf, discHeight, discHalf}}); err != nil {
		return err
	}
	def = physics3.DefaultBodyDef()
	r := loop.NewRand(seed, 0, 0, streamTilt)
	def.Rotation = [4]float32{r.Range(-0.04, 0.04), 0, r.Range(-0.04, 0.04), 1} // up to about 4.6° about x and about z
	pole, err := capsule(g.bodies, ids[polePole], def, poleHalf, poleRadius)
	if err != nil {
		return err
	}
	// The joint is at the lower end of the pole, which is where the pole begins.
	const foot = poleHalf + poleRadius
	joint := physics3.JointDef{BodyA: plate, BodyB: pole}
	joint.FrameA.Point, joint.FrameB.Point = [3]float32{1: discHeight}, [3]float32{1: -foot}
	if err := g.stand(pole, def.Rotation); err != nil {
		return err
	}
	_, err = w.CreateJoint(&physics3.SphericalJointDef{JointDef: joint})
	return err
}

// stand puts the pole, turned, on the plate.
func (g *ballPole) stand(pole physics3.Body, rotation [4]float32) error {
	w := g.bodies.World()
	foot, err := w.WorldPoint(pole, [3]float32{1: -poleHalf - poleRadius})
	if err != nil {
		return err
	}
	return w.SetTransform(pole, [3]float32{-foot[0], discHeight - foot[1], -foot[2]}, rotation)
}

// look sees whether the episode is over.
func (g *ballPole) look(*evertick.Tick) error {
	p := &g.sim.World.Position
	x, z := p.X[poleDisc], p.Z[poleDisc]
	g.over = !(axis(g.sim, polePole)[1] > poleFallen && x > -poleLimit && x < poleLimit && z > -poleLimit && z < poleLimit)
	return nil
}

// Observe implements train.Game.
func (g *ballPole) Observe(row train.Row) {
	p := &g.sim.World.Position
	var v [3]float32
	if plate, ok := bodyAt(g.sim, g.bodies, poleDisc); ok {
		v, _, _ = g.bodies.World().Velocity(plate) // the body lives
	}
	observed(append(row.Float32[:0], p.X[poleDisc], p.Z[poleDisc], v[0], v[2]), g.sim, g.bodies, polePole)
}

// drawPole draws plate and pole from the side.
func drawPole(sim *evertick.Sim, dst *physics.Drawing) error {
	p := &sim.World.Position
	x := p.X[poleDisc]
	dst.AddPolygon([][2]float32{{x - discHalf, -discHeight}, {x + discHalf, -discHeight}, {x + discHalf, discHeight}, {x - discHalf, discHeight}}, 0, 0x30475e, true)
	drawCapsule(sim, dst, polePole, poleHalf, poleRadius, 0xd08a3e)
	return nil
}
