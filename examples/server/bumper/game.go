// Package bumper is the game of examples/server and examples/web: discs on ice between four walls, seen from above.
package bumper

import (
	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/replay"
)

// Kinds of inputs. The Source of an input is the session of a player, from 1.
const (
	Join   = 1 + iota // a disc appears, unless Data is Watch
	Thrust            // Data: two int8, the push along x and y in 127ths
	Leave             // the disc disappears
)

// Watch is the Data of the Join of a session without a disc.
const Watch = "watch"

const (
	side  = 40  // of the arena, in metres
	discs = 60  // without a player
	force = 400 // N, of a full thrust
)

// guide:begin scenario

// Scenario is the game. It is a function of the seed and the inputs, so a log of the inputs is
// a recording of it.
var Scenario = replay.Scenario{Name: "bumper", New: func(seed uint64) (*evertick.Sim, error) {
	sim, err := evertick.New(evertick.Config{
		Capacity: 256, Seed: seed, Loop: loop.Config{Pacing: loop.Precise},
	})
	if err != nil {
		return nil, err
	}
	g := &game{sim: sim}
	sim.Register(g)
	sim.Add(evertick.BeforePhysics, "players", g.players)
	sim.Add(evertick.BeforePhysics, "drive", g.drive)
	if err := sim.Check(); err != nil { // of all that was registered and added
		return nil, err
	}
	return sim, g.build()
}}

// game keeps all state in columns, so restoring the Sim restores the game.
type game struct {
	sim   *evertick.Sim
	Owner *ecs.Column[uint32]     // session of the player that drives the disc; 0: none
	Push  *ecs.Column[[2]float32] // the force on it, in N
}

// players applies the inputs of the tick. They come from outside, so it ignores those that
// make no sense.
func (g *game) players(t *evertick.Tick) error {
	for _, in := range t.Inputs() {
		player := in.Source
		slot, there := g.disc(player)
		switch {
		case in.Kind == Join && !there && player != 0 && string(in.Data) != Watch:
			r := t.Rand(0, in.Source)
			if err := g.spawn(player, r.Range(2, side-2), r.Range(2, side-2)); err != nil {
				return err
			}
		case in.Kind == Thrust && there && len(in.Data) == 2:
			g.Push.Values()[slot] = [2]float32{
				float32(int8(in.Data[0])) * force / 127, float32(int8(in.Data[1])) * force / 127,
			}
			g.Push.Touch()
		case in.Kind == Leave && there:
			id, _ := g.sim.World.ID(slot)
			g.sim.World.Despawn(id) // also destroys its body
		}
	}
	return nil
}

// guide:end

// disc returns the row of a player's disc.
func (g *game) disc(player uint32) (ecs.Slot, bool) {
	for slot := range g.sim.World.Query() {
		if player != 0 && g.Owner.Values()[slot] == player {
			return slot, true
		}
	}
	return 0, false
}

// drive pushes every disc by the force of its player.
func (g *game) drive(t *evertick.Tick) error {
	for slot := range g.sim.World.Query() {
		push := g.Push.Values()[slot]
		if push == [2]float32{} {
			continue
		}
		id, _ := g.sim.World.ID(slot)
		if body, ok := g.sim.Body(id); ok {
			if err := g.sim.Physics.ApplyForceToCenter(body, push); err != nil {
				return err
			}
		}
	}
	return nil
}

// build makes the walls and the discs without a player.
func (g *game) build() error {
	walls, err := g.sim.Physics.CreateBody(physics.DefaultBodyDef())
	if err != nil {
		return err
	}
	corners := [][2]float32{{0, 0}, {side, 0}, {side, side}, {0, side}}
	for i, a := range corners {
		if _, err := g.sim.Physics.CreateSegment(walls, physics.DefaultShapeDef(), physics.Segment{P1: a, P2: corners[(i+1)%4]}); err != nil {
			return err
		}
	}
	for i := range discs {
		r := loop.NewRand(g.sim.Seed(), 0, uint64(i), 0)
		if err := g.spawn(0, r.Range(2, side-2), r.Range(2, side-2)); err != nil {
			return err
		}
	}
	return nil
}

// spawn makes a disc for a player, unless the world is full.
func (g *game) spawn(player uint32, x, y float32) error {
	if g.sim.World.Len() == g.sim.World.Cap() {
		return nil
	}
	id, slot, err := g.sim.World.SpawnSlot()
	if err != nil {
		return err
	}
	g.Owner.Values()[slot] = player
	g.Owner.Touch()
	def := physics.DefaultBodyDef()
	def.Type, def.Position, def.LinearDamping = physics.DynamicBody, [2]float32{x, y}, 0.3
	body, err := g.sim.CreateBody(id, def)
	if err != nil {
		return err
	}
	shape := physics.DefaultShapeDef()
	shape.Density, shape.Restitution = 10, 0.9
	_, err = g.sim.Physics.CreateCircle(body, shape, physics.Circle{Radius: 0.7})
	return err
}
