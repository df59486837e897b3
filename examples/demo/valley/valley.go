// Package valley is the world of examples/demo: a ring of hills around a place with a tower, stairs down which ragdolls tumble, a bridge over a
// road, cars that drive on it, and a crowd that gets out of the way. All that happens follows from the seed, the tick and the balls that are thrown.
//
// Metres, seconds and kilograms; y is up.
package valley

import (
	"github.com/evertick/evertick"
	"github.com/evertick/evertick/ecs"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics3"
	"github.com/evertick/evertick/physics3/rig"
	"github.com/evertick/evertick/replay"
	"github.com/evertick/evertick/space"
	"github.com/evertick/evertick/spatial"
)

const gravity = 10

// Scenario is the world with a seed.
var Scenario = replay.Scenario{Name: "valley", New: func(seed uint64) (*evertick.Sim, error) {
	return New(evertick.Config{Seed: seed})
}}

// New builds the world at tick 0. The capacity is its own.
func New(c evertick.Config) (*evertick.Sim, error) {
	v, err := build(c)
	if err != nil {
		return nil, err
	}
	return v.sim, nil
}

func build(c evertick.Config) (*valley, error) {
	c.Capacity, c.Previous = walkers+bricks+cars+mostBalls, true
	c.Spatial.CellSize, c.Physics.Plane = personal, physics.XZ // seen from above

	sim, err := evertick.New(c)
	if err != nil {
		return nil, err
	}
	bodies, err := space.Attach(sim, physics3.Config{Capacity: mostBodies, Gravity: [3]float32{0, -gravity, 0}})
	if err != nil {
		return nil, err
	}
	v := &valley{sim: sim, bodies: bodies, world: bodies.World(), cars: rig.NewVehicles(bodies.World())}
	sim.Register(&v.columns)
	sim.AddState("valley", v)
	sim.Add(evertick.BeforePhysics, "throw", v.throwBalls)
	sim.Add(evertick.BeforePhysics, "rebuild", v.rebuild)
	sim.Add(evertick.BeforePhysics, "tumble", v.tumble)
	sim.Add(evertick.BeforePhysics, "drive", v.drive)
	sim.Add(evertick.BeforePhysics, "walk", v.walk)
	sim.Add(evertick.AfterIndex, "perceive", v.perceive)
	if err := sim.Check(); err != nil {
		return nil, err
	}
	for _, part := range []func() error{v.buildGround, v.buildTower, v.buildBridge, v.buildCars, v.buildCrowd} {
		if err := part(); err != nil {
			return nil, err
		}
	}
	return v, nil
}

// mostBodies is the room for bodies: those of entities, the planks, the bones, and the ground with its two pillars and the stairs.
const mostBodies = bricks + cars + mostBalls + planks + dolls*bones + 4

// valley has its state in columns, in bodies, and in what AppendState lists.
type valley struct {
	sim    *evertick.Sim
	bodies *space.Bodies
	world  *physics3.World
	columns

	ground  heights
	tower   []brick
	cars    *rig.Vehicles
	chassis [cars]physics3.Body
	crowd   crowd
	hits    physics3.RayHits // buffers
	near    spatial.Result
	gone    []ecs.ID

	// State.
	dolls  [dolls][bones]physics3.Body // the zero Body: not yet dropped
	stuck  [cars]uint32                // ticks for which a car has not got on
	fallen uint64                      // tick at which the tower had fallen; 0: it stands
}

// columns of entities.
type columns struct {
	Ball     ecs.Tag
	Walker   ecs.Tag
	Thrown   *ecs.Column[uint32]                 // tick at which a ball was thrown
	Velocity struct{ X, Z *ecs.Column[float32] } // m/s, of walkers
	Goal     *ecs.Column[[2]float32]             // where a walker goes: x, z
	Fear     *ecs.Column[float32]                // of a walker, from 0 to 1
}
