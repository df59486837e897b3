package scenes

import (
	"errors"
	"fmt"
	"math"

	"github.com/evertick/evertick"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/physics"
)

// gravity in m/s², of scenes that have it.
const gravity = 10

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

	weightless bool                 // no gravity
	push       func(s *Scene) error // what happens from outside before each step; nil: nothing
}

// fixtures is the largest number of bodies of a scene that are not dynamic.
const fixtures = 2

// MaxN is the largest size of the scene.
func (d *Definition) MaxN() int {
	n := 1
	for n < 1<<20 && d.size(2*n)+fixtures <= physics.MaxCapacity {
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

	def  Definition
	seed uint64
	tick uint64

	create  func(physics.BodyDef) (physics.Body, error)
	destroy func(physics.Body) error
	mover   physics.Body // that is kinematic and changes its velocity
	columns []Column     // of the scene columns
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
	s := &Scene{World: w, N: n, def: d, seed: seed, create: w.CreateBody, destroy: w.DestroyBody}
	return s, d.build(s)
}

// configure sets the capacity and the gravity of the scene.
func (d *Definition) configure(n int, c physics.Config) physics.Config {
	c.Capacity = d.size(n) + fixtures
	c.Gravity = [2]float32{0, -gravity}
	if d.weightless {
		c.Gravity = [2]float32{}
	}
	return c
}

// NewSim is like NewAs, but the bodies are those of a Sim, each of an entity, and a system pushes them. c provides seed,
// level, workers and, in Physics, sleep and continuous collision. Its bodies move as they do in the scene alone.
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
	_, err = d.addTo(sim, n, c.Seed)
	return sim, err
}

// addTo builds the scene in a Sim whose physics configure has configured: each body has an entity, and the system push
// pushes them.
func (d *Definition) addTo(sim *evertick.Sim, n int, seed uint64) (*Scene, error) {
	s := &Scene{World: sim.Physics, N: n, def: *d, seed: seed}
	s.create = func(def physics.BodyDef) (physics.Body, error) {
		id, err := sim.World.Spawn()
		if err != nil {
			return physics.Body{}, err
		}
		slot, _ := sim.World.Slot(id)
		pos := &sim.World.Position
		second := pos.Y
		if sim.Physics.Config().Plane == physics.XZ {
			second = pos.Z
		}
		pos.X[slot], second[slot] = def.Position[0], def.Position[1]
		return sim.CreateBody(id, def)
	}
	s.destroy = func(b physics.Body) error {
		id, _ := sim.BodyEntity(b)
		if !sim.World.Despawn(id) {
			return fault.Field(fault.ErrStale, "scenes: entity of a body", b)
		}
		return nil
	}
	return s, errors.Join(d.build(s), sim.Add(evertick.BeforePhysics, "push", func(*evertick.Tick) error { return s.Push() }))
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

// Push does what happens from outside before the next step: what the scene's Help says beyond falling and turning.
func (s *Scene) Push() error {
	var err error
	if s.def.push != nil {
		err = s.def.push(s)
	}
	s.tick++
	return err
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
		wall := boxAt(float32(side[0]*(half+thick)), float32(side[1]*(half+thick)), hx, hy)
		if _, err := s.World.CreatePolygon(b, def, wall); err != nil {
			return err
		}
	}
	return nil
}

// boxAt returns a box with the given middle and half extents, in body coordinates.
func boxAt(x, y, hx, hy float32) physics.Polygon {
	box := physics.Box(hx, hy)
	for i := range box.Count {
		box.Vertices[i][0] += x
		box.Vertices[i][1] += y
	}
	return box
}

// polygons attaches shapes of the same material to a body.
func (s *Scene) polygons(b physics.Body, all ...physics.Polygon) error {
	for _, p := range all {
		if _, err := s.World.CreatePolygon(b, physics.DefaultShapeDef(), p); err != nil {
			return err
		}
	}
	return nil
}

// pit is open above: a floor at height 0 and two walls.
func (s *Scene) pit(half, height float32) error {
	const thick = 2 // half of it
	ground, err := s.fixture(physics.StaticBody, 0)
	if err != nil {
		return err
	}
	return s.polygons(ground, boxAt(0, -thick, half+2*thick, thick),
		boxAt(-half-thick, height/2, thick, height/2), boxAt(half+thick, height/2, thick, height/2))
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
