// Package scenes3 builds worlds of bodies in space that tests, golden hashes and measurements share, as package scenes does for the plane. Each
// scene registers itself in its own file, and depends only on its name, its size and its seed. It is a package of its own, so that programs and
// tests of the plane do not build the kernels for space.
//
// The counts, sizes, materials and sub-steps of jointgrid3, pyramid3, pyramids3, pile3 and washer3 are those of the benchmark of Box3D, so that times can be
// compared.
package scenes3

import (
	"fmt"
	"maps"
	"math"
	"slices"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/physics3"
	"github.com/evertick/evertick/physics3/rig"
)

// gravity in m/s², of scenes that have it.
const gravity = 10

// Dt is the length of a step in seconds.
const Dt = float32(1. / 60)

// Definition describes a scene.
type Definition struct {
	Name  string
	Help  string // what N counts, and what is in the scene
	N     int    // the usual size
	Scale string // what N counts, in one word
	Few   int    // a size at which a step takes about a millisecond in pure Go

	Ticks, Warmup int // of a measurement

	build func(s *Scene) error
	size  func(n int) (bodies int) // that are dynamic, and some that are not

	weightless bool                 // no gravity
	push       func(s *Scene) error // what happens from outside before each step; nil: nothing
	query      func(s *Scene) error // what is asked after each step, as a part of it; nil: nothing
}

// fixtures is the largest number of bodies of a scene that are not dynamic, apart from those that its size counts.
const fixtures = 2

var all = map[string]Definition{}

func register(definitions ...Definition) {
	for _, d := range definitions {
		if _, taken := all[d.Name]; taken {
			panic("scenes3: two scenes of one name")
		}
		all[d.Name] = d
	}
}

// All returns the scenes, by name.
func All() (definitions []Definition) {
	for _, name := range slices.Sorted(maps.Keys(all)) {
		definitions = append(definitions, all[name])
	}
	return definitions
}

// Find returns the scene with the given name.
func Find(name string) (Definition, bool) {
	d, ok := all[name]
	return d, ok
}

// MaxN is the largest size of the scene.
func (d *Definition) MaxN() int {
	n := 1
	for n < 1<<20 && d.size(2*n)+fixtures <= physics3.MaxCapacity {
		n *= 2
	}
	return n
}

// Scene is a world of bodies and the pushes that keep it moving.
type Scene struct {
	World  *physics3.World
	Bodies []physics3.Body // that are dynamic
	N      int
	Joints int // number of joints

	def    Definition
	drives [2]physics3.Joint // whose motors a scene drives
	seed   uint64
	tick   uint64
	batch  rayBatch
	crowd  crowd
	dolls  []*rig.Ragdoll
	cars   *rig.Vehicles
}

// New builds a scene of size n, 1 to MaxN. c provides level, workers and sleep; capacity and gravity are the scene's. Errors: fault.ErrRange, and
// those of package physics3.
func New(name string, n int, seed uint64, c physics3.Config) (*Scene, error) {
	d, ok := Find(name)
	if !ok {
		return nil, fmt.Errorf("scenes3: no scene is called %q: %w", name, fault.ErrRange)
	}
	if n < 1 || n > d.MaxN() {
		return nil, fault.Field(fault.ErrRange, "scenes3: n of "+name, n)
	}
	c.Capacity, c.Gravity = d.size(n)+fixtures, [3]float32{0, -gravity, 0}
	if d.weightless {
		c.Gravity = [3]float32{}
	}
	w, err := physics3.New(c)
	if err != nil {
		return nil, err
	}
	s := &Scene{World: w, N: n, def: d, seed: seed}
	return s, d.build(s)
}

// Step is Push and Advance.
func (s *Scene) Step() error {
	if err := s.Push(); err != nil {
		return err
	}
	return s.Advance()
}

// Advance is a step of the world, and what the scene asks it after a step.
func (s *Scene) Advance() error {
	if err := s.World.Step(Dt); err != nil || s.def.query == nil {
		return err
	}
	return s.def.query(s)
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

// floor is a static box whose top is at height 0.
func (s *Scene) floor(halfX, halfZ float32) error {
	def := physics3.DefaultBodyDef()
	def.Position = [3]float32{0, -1, 0}
	b, err := s.World.CreateBody(def)
	if err == nil {
		_, err = s.World.CreateBox(b, physics3.DefaultShapeDef(), physics3.Box{Half: [3]float32{halfX, 1, halfZ}})
	}
	return err
}

// add makes a dynamic body.
func (s *Scene) add(def physics3.BodyDef) (physics3.Body, error) {
	def.Type = physics3.DynamicBody
	b, err := s.World.CreateBody(def)
	s.Bodies = append(s.Bodies, b)
	return b, err
}

// addCube makes a dynamic cube of the given half edge and density.
func (s *Scene) addCube(position [3]float32, half, density float32) error {
	def, shape := physics3.DefaultBodyDef(), physics3.DefaultShapeDef()
	def.Position, shape.Density = position, density
	b, err := s.add(def)
	if err == nil {
		_, err = s.World.CreateBox(b, shape, physics3.Box{Half: [3]float32{half, half, half}})
	}
	return err
}

// edgeOf returns the edge of the smallest square, or cube, of n places.
func edgeOf(n int, dimensions float64) int {
	edge := int(math.Round(math.Pow(float64(n), 1/dimensions)))
	places := edge * edge
	if dimensions == 3 {
		places *= edge
	}
	if places < n {
		edge++
	}
	return edge
}
