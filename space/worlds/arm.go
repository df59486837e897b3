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
	armHalf   = 0.3 // m: half of the distance between the centres of the ends of a link
	armRadius = 0.06
	armHertz  = 8
	armNear   = 0.12 // m: distance at which the hand has reached the goal
	armSteps  = 400
	armObs    = 7 + 7 + 3 + 3
	armReward = 10

	// Entities, in the order in which they are made.
	armUpper = 0
	armLower = 1
	armGoal  = 2
	armAll   = 3
)

// Arm returns the world in which an arm of two links of 0.72 m, which is held by a shoulder at the origin, reaches for a goal below it, without gravity.
//
// The action has three numbers from -1 to 1: the target of the shoulder, a ball joint, about x and about z, up to 2.2 rad, and that of the elbow, a hinge, from 0 to 2.4 rad.
// Springs turn the joints to them. A step is a tick of 1/60 s. The reward is the number of metres by which the hand has come nearer to the goal, less 0.001, and 10 more
// if it is within 0.12 m of it, which ends the episode; the episode is truncated after 400 steps.
//
// The observation has 20 numbers, in m and radians per second: of each link its rotation as the quaternion x, y, z, w and its angular velocity; the position of the hand; and that of
// the goal.
func Arm() train.SimDefinition {
	inf := float32(math.Inf(1))
	return train.SimDefinition{
		Name: "arm", Scenario: "train/arm", Obs: train.Box(armObs, -inf, inf), Action: armAction, MaxSteps: armSteps,
		View: physics.DrawnBox{Min: [2]float32{-1.6, -1.6}, Max: [2]float32{1.6, 1.6}}, Draw: drawArm,
		New: func(cfg evertick.Config) (train.Game, error) { return newArm(cfg) },
	}
}

var armAction = train.Box(3, -1, 1)

// arm is the game.
type arm struct {
	sim      *evertick.Sim
	bodies   *space.Bodies
	shoulder physics3.SphericalJointDef // scratch, as are the next
	elbow    physics3.RevoluteJointDef
	anchor   physics3.Body // the body without an entity that holds the shoulder

	distance float32 // from the hand to the goal, after the last tick
	reward   float32
	over     bool
}

func newArm(cfg evertick.Config) (*arm, error) {
	sim, bodies, err := newSim(cfg, armAll, 0)
	if err != nil {
		return nil, err
	}
	g := &arm{sim: sim, bodies: bodies}
	if g.anchor, err = bodies.World().CreateBody(physics3.DefaultBodyDef()); err != nil {
		return nil, err
	}
	return g, errors.Join(
		sim.AddState("arm", g),
		sim.Add(evertick.BeforePhysics, "action", g.applyAction),
		sim.Add(evertick.AfterPhysics, "reward", g.updateReward))
}

func (g *arm) Sim() *evertick.Sim { return g.sim }

func (g *arm) Outcome() (float32, bool) { return g.reward, g.over }

// AppendState implements evertick.State.
func (g *arm) AppendState(dst []byte) []byte {
	return wire.AppendBool(wire.AppendF32s(dst, g.distance, g.reward), g.over)
}

// RestoreState implements evertick.State.
func (g *arm) RestoreState(src []byte) error {
	r := wire.NewReader(src)
	distance, reward, over := r.F32(), r.F32(), r.Bool()
	if r.Done() != nil {
		return fault.Field(fault.ErrCorrupt, "worlds: arm: length of the state", len(src))
	}
	if !fault.Finite(distance) || !fault.Finite(reward) {
		return fault.Field(fault.ErrCorrupt, "worlds: arm: distance and reward", [2]float32{distance, reward})
	}
	g.distance, g.reward, g.over = distance, reward, over
	return nil
}

// applyAction creates the world in the first tick, and gives the joints their targets.
func (g *arm) applyAction(t *evertick.Tick) error {
	o, err := train.Orders(t, armAction)
	if err != nil {
		return err
	}
	if o.Begin {
		return g.create(o.Seed)
	}
	w := g.bodies.World()
	for i := range 2 {
		joint, ok := w.JointAt(i)
		if !ok {
			return nil // a forged state has none
		}
		if kind, err := w.JointKind(joint); err != nil || kind != [...]physics3.JointKind{physics3.SphericalJoint, physics3.RevoluteJoint}[i] {
			return err
		}
		if i == 0 {
			if err := w.JointDef(joint, &g.shoulder); err != nil {
				return err
			}
			g.shoulder.TargetRotation = [4]float32{bend(o.Float(0)), 0, bend(o.Float(1)), 1}
			err = w.SetJointDef(joint, &g.shoulder)
		} else {
			if err := w.JointDef(joint, &g.elbow); err != nil {
				return err
			}
			g.elbow.TargetAngle = 1.2 + float32(1.2*o.Float(2))
			err = w.SetJointDef(joint, &g.elbow)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// bend returns the part of a quaternion, whose w is 1, for a target from -1 to 1. 2 is the tangent of half of 2.2 rad.
func bend(target float32) float32 { return 2 * target }

func (g *arm) create(seed uint64) error {
	g.reward, g.over = 0, false
	var ids [armAll]ecs.ID
	if err := g.sim.World.SpawnN(ids[:]); err != nil {
		return err
	}
	const length = armHalf + armRadius // from the middle of a link to its end
	w := g.bodies.World()
	var links [2]physics3.Body
	for i := range links {
		def := physics3.DefaultBodyDef()
		def.Position[1], def.AngularDamping = -length*float32(1+2*i), 1
		var err error
		if links[i], err = capsule(g.bodies, ids[i], def, armHalf, armRadius); err != nil {
			return err
		}
	}
	shoulder := physics3.SphericalJointDef{JointDef: physics3.JointDef{BodyA: g.anchor, BodyB: links[0]}, EnableSpring: true, Hertz: armHertz, Damping: 1}
	shoulder.FrameB.Point = [3]float32{1: length}
	elbow := physics3.RevoluteJointDef{JointDef: physics3.JointDef{BodyA: links[0], BodyB: links[1]}, EnableSpring: true, Hertz: armHertz, Damping: 1}
	elbow.FrameA.Point, elbow.FrameB.Point = [3]float32{1: -length}, [3]float32{1: length}
	_, err := w.CreateJoint(&shoulder)
	if err == nil {
		_, err = w.CreateJoint(&elbow)
	}
	if err != nil {
		return err
	}
	goal := goalOf(seed)
	g.distance = apart([3]float32{1: -4 * length}, goal)
	return g.sim.World.SetPosition(ids[armGoal], goal[0], goal[1], goal[2])
}

// goalOf draws a place that the hand can reach, below the shoulder.
func goalOf(seed uint64) [3]float32 {
	r := loop.NewRand(seed, 0, 0, streamGoal)
	for range 64 {
		goal := [3]float32{r.Range(-1, 1), r.Range(-1, 0), r.Range(-1, 1)}
		if d := apart(goal, [3]float32{}); d > 0.6 && d < 1.2 {
			return goal
		}
	}
	return [3]float32{0.6, -0.6, 0}
}

func apart(a, b [3]float32) float32 {
	x, y, z := a[0]-b[0], a[1]-b[1], a[2]-b[2]
	return float32(math.Sqrt(float64((float32(x*x) + float32(y*y)) + float32(z*z))))
}

// hand is the lower end of the lower link.
func (g *arm) hand() [3]float32 { return along(g.sim, armLower, -armHalf-armRadius) }

func (g *arm) goal() [3]float32 {
	p := &g.sim.World.Position
	return [3]float32{p.X[armGoal], p.Y[armGoal], p.Z[armGoal]}
}

// updateReward compares the distance of the hand to the goal with that after the last tick.
func (g *arm) updateReward(*evertick.Tick) error {
	now := apart(g.hand(), g.goal())
	g.reward = (g.distance - now) - 0.001
	g.distance = now
	if g.over = now <= armNear; g.over {
		g.reward += armReward
	}
	return nil
}

// Observe implements train.Game.
func (g *arm) Observe(row train.Row) {
	o := observed(row.Float32[:0], g.sim, g.bodies, armUpper)
	o = observed(o, g.sim, g.bodies, armLower)
	hand, goal := g.hand(), g.goal()
	_ = append(append(o, hand[:]...), goal[:]...)
}

// drawArm draws the links and the goal from the side.
func drawArm(sim *evertick.Sim, dst *physics.Drawing) error {
	p := &sim.World.Position
	dst.AddCircle(physics.DrawnCircle{Center: [2]float32{p.X[armGoal], p.Y[armGoal]}, Radius: armNear, Color: 0x2e9e5b}, true)
	drawCapsule(sim, dst, armUpper, armHalf, armRadius, 0x30475e)
	drawCapsule(sim, dst, armLower, armHalf, armRadius, 0xd08a3e)
	return nil
}
