package scenes

import (
	"errors"
	"fmt"
	"math"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics"
)

// Dt is the length of a step in seconds.
const Dt = float32(1. / 60)

// Definition describes a scene of bodies alone.
type Definition struct {
	Name  string
	Help  string // what N counts, and what is in the scene
	N     int    // the usual size
	Scale string // what N counts, in one word, of a scene whose cost is measured against its size

	Ticks, Warmup int // of a measurement; 0: 600 and 120, or 160 and 40 of more than 4,096

	Sleeps     bool // bodies at rest fall asleep
	Continuous bool // fast bodies do not pass through thin ones

	build func(s *Scene) error
	size  func(n int) (bodies int) // that are dynamic

	weightless bool // no gravity
	pushed     bool // Push pushes bodies about
}

// MaxN is the largest size of the scene.
func (d *Definition) MaxN() int {
	n := 1
	for n < 1<<20 && d.size(2*n)+1 <= physics.MaxCapacity {
		n *= 2
	}
	return n
}

// Scene is a world of bodies and the pushes that keep it moving.
type Scene struct {
	World  *physics.World
	Bodies []physics.Body // that are dynamic
	Joints int
	N      int

	def    Definition
	seed   uint64
	tick   uint64
	create func(physics.BodyDef) (physics.Body, error)
}

// New builds a scene of size n, 1 to MaxN. c provides engine, level and workers; capacity, gravity,
// sleep and continuous collision are the scene's. Errors: fault.ErrRange, and those of package
// physics.
func New(name string, n int, seed uint64, c physics.Config) (*Scene, error) {
	d, _ := Find(name)
	c.DisableContinuous, c.DisableSleep = !d.Continuous, !d.Sleeps
	return NewAs(name, n, seed, c)
}

// NewAs is like New, but c decides on continuous collision and on sleep.
func NewAs(name string, n int, seed uint64, c physics.Config) (*Scene, error) {
	d, err := find(name, n)
	if err != nil {
		return nil, err
	}
	w, err := physics.New(d.configure(n, c))
	if err != nil {
		return nil, err
	}
	s := &Scene{World: w, N: n, def: d, seed: seed, create: w.CreateBody}
	return s, d.build(s)
}

// configure sets the capacity and the gravity of the scene.
func (d *Definition) configure(n int, c physics.Config) physics.Config {
	c.Capacity = d.size(n) + 1
	c.Gravity = [2]float32{0, -10}
	if d.weightless {
		c.Gravity = [2]float32{}
	}
	return c
}

// NewSim is like NewAs, but the bodies are those of a Sim, each of an entity, and a system pushes them. c provides seed,
// level, workers and, in Physics, sleep and continuous collision. Its bodies move as those of the scene alone do.
func NewSim(name string, n int, c evertick.Config) (*evertick.Sim, error) {
	d, err := find(name, n)
	if err != nil {
		return nil, err
	}
	c.Physics = d.configure(n, c.Physics)
	c.Capacity = c.Physics.Capacity
	sim, err := evertick.New(c)
	if err != nil {
		return nil, err
	}
	s := &Scene{World: sim.Physics, N: n, def: d, seed: c.Seed}
	s.create = func(def physics.BodyDef) (physics.Body, error) {
		id, err := sim.World.Spawn()
		if err != nil {
			return physics.Body{}, err
		}
		slot, _ := sim.World.Slot(id)
		sim.World.Position.X[slot], sim.World.Position.Y[slot] = def.Position[0], def.Position[1]
		return sim.CreateBody(id, def)
	}
	return sim, errors.Join(d.build(s), sim.Add(evertick.BeforePhysics, "push", func(*evertick.Tick) error { return s.Push() }))
}

func find(name string, n int) (Definition, error) {
	d, ok := Find(name)
	if !ok {
		return d, fmt.Errorf("scenes: no scene is called %q: %w", name, fault.ErrRange)
	}
	if n < 1 || n > d.MaxN() {
		return d, fault.Field(fault.ErrRange, "scenes: n of "+name, n)
	}
	return d, nil
}

// Step is Push and a step of the world.
func (s *Scene) Step() error {
	if err := s.Push(); err != nil {
		return err
	}
	return s.World.Step(Dt)
}

// pushEvery is the number of steps between two pushes of a body: a step pushes an eighth of an
// arena.
const pushEvery = 8

// Push applies the impulses from outside before the next step: to an eighth of the bodies of an
// arena, up to 1 N·s along each axis, which changes their velocity by up to 1.3 m/s.
func (s *Scene) Push() error {
	tick := s.tick
	s.tick++
	if !s.def.pushed {
		return nil
	}
	for i := int(tick % pushEvery); i < len(s.Bodies); i += pushEvery {
		r := loop.NewRand(s.seed, tick, uint64(i), streamPush)
		x, y := r.Range(-1, 1), r.Range(-1, 1)
		if err := s.World.ApplyLinearImpulseToCenter(s.Bodies[i], [2]float32{x, y}); err != nil {
			return err
		}
	}
	return nil
}

// Tick returns the number of calls of Push.
func (s *Scene) Tick() uint64 { return s.tick }

// fixture returns a body that is not dynamic and turns at the given rate.
func (s *Scene) fixture(kind physics.BodyType, turn float32) (physics.Body, error) {
	def := physics.DefaultBodyDef()
	def.Type, def.AngularVelocity, def.DisableSleep = kind, turn, true
	return s.create(def)
}

// room surrounds a square of the given half edge by four boxes of a body.
func (s *Scene) room(b physics.Body, def physics.ShapeDef, half float32) error {
	const thick = 0.5 // half of it
	outer := half + 2*thick
	for _, side := range [][2]float32{{0, -1}, {1, 0}, {0, 1}, {-1, 0}} {
		hx, hy := float32(thick), outer
		if side[0] == 0 {
			hx, hy = outer, thick
		}
		wall := physics.Box(hx, hy)
		for i := range wall.Count {
			wall.Vertices[i][0] += float32(side[0] * (half + thick))
			wall.Vertices[i][1] += float32(side[1] * (half + thick))
		}
		if _, err := s.World.CreatePolygon(b, def, wall); err != nil {
			return err
		}
	}
	return nil
}

// add makes a dynamic body.
func (s *Scene) add(def physics.BodyDef) (physics.Body, error) {
	def.Type, def.DisableSleep = physics.DynamicBody, s.World.Config().DisableSleep
	b, err := s.create(def)
	s.Bodies = append(s.Bodies, b)
	return b, err
}

func (s *Scene) addBox(x, y, half float32) error {
	def := physics.DefaultBodyDef()
	def.Position = [2]float32{x, y}
	return s.addBoxAs(def, half)
}

func (s *Scene) addBoxAs(def physics.BodyDef, half float32) error {
	b, err := s.add(def)
	if err != nil {
		return err
	}
	_, err = s.World.CreatePolygon(b, physics.DefaultShapeDef(), physics.Box(half, half))
	return err
}

// columns returns the edge of the smallest square of n places.
func columns(n int) int { return int(math.Ceil(math.Sqrt(float64(n)))) }
