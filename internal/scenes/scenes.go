// Package scenes builds worlds of rigid bodies that tests and measurements share. A
// scene is the same for every engine and does not depend on anything but its name, its
// size and its seed. Bodies sleep, and fast ones are kept from passing through thin ones, only in
// scenes that are about that, and where NewAs is told so.
package scenes

import (
	"fmt"
	"math"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics"
)

// Dt is the length of a step in seconds.
const Dt = float32(1. / 60)

// Kind is a kind of scene.
type Kind struct {
	Name  string
	About string // what N counts, and what is in the scene
	N     int    // the usual size

	Sleeps     bool // bodies at rest fall asleep
	Continuous bool // fast bodies do not pass through thin ones

	build func(s *Scene) error
	size  func(n int) (bodies int) // that are dynamic

	weightless bool // no gravity
	pushed     bool // Push pushes bodies about
}

// Kinds are all kinds of scenes.
var Kinds = []Kind{
	{
		Name: "arena", N: 1024, weightless: true, pushed: true, build: (*Scene).arena, size: func(n int) int { return n },
		About: "n bodies, by turns discs of 1 m and boxes of 0.9 m, fill 40 % of a walled square and are pushed about",
	},
	{
		Name: "tumbler", N: 2000, build: (*Scene).tumbler, size: func(n int) int { return n },
		About: "n boxes of 0.25 m in a square drum that turns by 25° a second",
	},
	{
		Name: "pyramid", N: 100, build: func(s *Scene) error { return s.onePyramid() }, size: boxesOf,
		About: "a pyramid of n rows of boxes of 1 m",
	},
	{
		Name: "pyramids", N: 400, build: (*Scene).pyramids, size: func(n int) int { return n * boxesOf(smallRows) },
		About: "n pyramids of 10 rows, 55 boxes each, on floors above each other, as many of these as pyramids on one",
	},
	{
		Name: "smash", N: 9600, weightless: true, Sleeps: true, Continuous: true, build: (*Scene).smash,
		size:  func(n int) int { return n + 1 },
		About: "n boxes of 0.4 m in a block, half as long again as high, asleep until a box of 4 m hits them at 40 m/s",
	},
	{
		Name: "jointgrid", N: 100, build: (*Scene).jointgrid, size: func(n int) int { return n * n },
		About: "n rows of n discs, each joined to its neighbours, hang from seven in the middle of the upper row",
	},
	{
		Name: "bridge", N: 60, build: (*Scene).bridge, size: func(n int) int { return n + n/discEvery },
		About: "a bridge of n planks of 1 m between two banks, with a disc on every third",
	},
	{
		Name: "ragdolls", N: 64, build: (*Scene).ragdolls, size: func(n int) int { return n * len(limbs) },
		About: "n dolls of 11 boxes and 10 joints with limits fall in a room",
	},
	{
		Name: "hinges", N: 8, Sleeps: true, build: (*Scene).hinges, size: func(n int) int { return n * hingeRows },
		About: "n towers of 20 boxes, joined two by two by hinges with limits and springs, fall over and asleep",
	},
}

// KindOf returns the kind of scene with the given name.
func KindOf(name string) (Kind, bool) {
	for _, k := range Kinds {
		if k.Name == name {
			return k, true
		}
	}
	return Kind{}, false
}

// MaxN is the largest size of a scene of this kind.
func (k *Kind) MaxN() int {
	n := 1
	for n < 1<<20 && k.size(2*n)+1 <= physics.MaxCapacity {
		n *= 2
	}
	return n
}

// Scene is a world and what pushes its bodies about.
type Scene struct {
	World  *physics.World
	Bodies []physics.Body // that are dynamic
	Joints int            // how many there are
	N      int

	kind Kind
	seed uint64
	tick uint64
}

// New builds a scene of size n, 1 to MaxN. c brings engine, level and workers; capacity,
// gravity, sleep and continuous collision are the scene's. Errors: fault.ErrRange, and those of
// package physics.
func New(name string, n int, seed uint64, c physics.Config) (*Scene, error) {
	kind, _ := KindOf(name)
	c.DisableContinuous, c.DisableSleep = !kind.Continuous, !kind.Sleeps
	return NewAs(name, n, seed, c)
}

// NewAs is New, but that c decides on continuous collision and on sleep.
func NewAs(name string, n int, seed uint64, c physics.Config) (*Scene, error) {
	kind, ok := KindOf(name)
	if !ok {
		return nil, fmt.Errorf("scenes: no scene is called %q: %w", name, fault.ErrRange)
	}
	if n < 1 || n > kind.MaxN() {
		return nil, fault.Field(fault.ErrRange, "scenes: n of "+name, n)
	}
	c.Capacity = kind.size(n) + 1
	c.Gravity = [2]float32{0, -10}
	if kind.weightless {
		c.Gravity = [2]float32{}
	}
	w, err := physics.New(c)
	if err != nil {
		return nil, err
	}
	s := &Scene{World: w, N: n, kind: kind, seed: seed}
	return s, kind.build(s)
}

// Step is Push and a step of the world.
func (s *Scene) Step() error {
	if err := s.Push(); err != nil {
		return err
	}
	return s.World.Step(Dt)
}

// Streams of random numbers, one for each use.
const (
	streamPlace uint32 = iota
	streamPush
)

// pushed is how many bodies share a push: an eighth of an arena is pushed in a step, by
// turns.
const pushed = 8

// Push applies what acts from outside before the next step: to an eighth of the bodies of an
// arena an impulse of up to 1 N·s along each axis, which changes their velocity by up
// to 1.3 m/s.
func (s *Scene) Push() error {
	tick := s.tick
	s.tick++
	if !s.kind.pushed {
		return nil
	}
	for i := int(tick % pushed); i < len(s.Bodies); i += pushed {
		r := loop.NewRand(s.seed, tick, uint64(i), streamPush)
		x, y := r.Range(-1, 1), r.Range(-1, 1)
		if err := s.World.ApplyLinearImpulseToCenter(s.Bodies[i], [2]float32{x, y}); err != nil {
			return err
		}
	}
	return nil
}

// Tick returns the number of times that the bodies were pushed.
func (s *Scene) Tick() uint64 { return s.tick }

// fixture returns a body that is not dynamic and turns at the given rate.
func (s *Scene) fixture(kind physics.BodyType, turn float32) (physics.Body, error) {
	def := physics.DefaultBodyDef()
	def.Type, def.AngularVelocity, def.DisableSleep = kind, turn, true
	return s.World.CreateBody(def)
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
	b, err := s.World.CreateBody(def)
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

// arena starts with the bodies on a grid, turned at random.
func (s *Scene) arena() error {
	const radius, half, fill = 0.5, 0.45, 0.4
	const each = (math.Pi*radius*radius + 4*half*half) / 2 // m² of a body, on average
	edge := float32(math.Sqrt(float64(s.N) * each / fill))
	shape := physics.DefaultShapeDef()
	shape.Friction = 0.3
	walls, err := s.fixture(physics.StaticBody, 0)
	if err == nil {
		err = s.room(walls, shape, edge/2)
	}
	across := columns(s.N)
	pitch := edge / float32(across)
	for i := 0; i < s.N && err == nil; i++ {
		r := loop.NewRand(s.seed, 0, uint64(i), streamPlace)
		def := physics.DefaultBodyDef()
		def.LinearDamping, def.AngularDamping = 0.5, 0.5
		def.Angle = r.Range(-math.Pi, math.Pi)
		def.Position = [2]float32{
			float32((float32(i%across)+0.5)*pitch) - edge/2, float32((float32(i/across)+0.5)*pitch) - edge/2,
		}
		var b physics.Body
		if b, err = s.add(def); err != nil {
			break
		}
		if i%2 == 0 {
			_, err = s.World.CreateCircle(b, shape, physics.Circle{Radius: radius})
		} else {
			_, err = s.World.CreatePolygon(b, shape, physics.Box(half, half))
		}
	}
	return err
}

// tumbler starts with the boxes on a grid in the drum, which is 19 m wide for 2,000 of
// them: they fill a third of it.
func (s *Scene) tumbler() error {
	const box = 0.125
	half := 9.5 * float32(math.Sqrt(float64(s.N)/2000))
	drum, err := s.fixture(physics.KinematicBody, 25*math.Pi/180)
	if err == nil {
		err = s.room(drum, physics.DefaultShapeDef(), half)
	}
	across := columns(s.N)
	pitch := 1.9 * half / float32(across)
	for i := 0; i < s.N && err == nil; i++ {
		x := (float32(i%across) + 0.5 - float32(across)/2) * pitch
		y := (float32(i/across) + 0.5 - float32(across)/2) * pitch
		err = s.addBox(x, y, box)
	}
	return err
}

// boxesOf returns the number of boxes of a pyramid.
func boxesOf(rows int) int { return rows * (rows + 1) / 2 }

// pyramid stands on its base at (x, y), the middle of its lowest row. Its boxes touch.
func (s *Scene) pyramid(rows int, x, y float32) error {
	for row := range rows {
		for i := range rows - row {
			at := x + float32(i) - float32(rows-row-1)/2
			if err := s.addBox(at, y+float32(row)+0.5, 0.5); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Scene) onePyramid() error {
	ground, err := s.fixture(physics.StaticBody, 0)
	if err != nil {
		return err
	}
	slab := physics.Box(float32(s.N)+10, 1)
	for i := range slab.Count {
		slab.Vertices[i][1]--
	}
	if _, err := s.World.CreatePolygon(ground, physics.DefaultShapeDef(), slab); err != nil {
		return err
	}
	return s.pyramid(s.N, 0, 0)
}

// smallRows are the rows of one of many pyramids.
const smallRows = 10

// pyramids stand a metre apart; so do the top of one and the floor above.
func (s *Scene) pyramids() error {
	const pitch = smallRows + 1
	floors, err := s.fixture(physics.StaticBody, 0)
	if err != nil {
		return err
	}
	across := columns(s.N)
	end := float32(across * pitch)
	for i := range s.N {
		y := float32(i / across * pitch)
		if i%across == 0 {
			floor := physics.Segment{P1: [2]float32{-1, y}, P2: [2]float32{end + 1, y}}
			if _, err := s.World.CreateSegment(floors, physics.DefaultShapeDef(), floor); err != nil {
				return err
			}
		}
		if err := s.pyramid(smallRows, (float32(i%across)+0.5)*pitch, y); err != nil {
			return err
		}
	}
	return nil
}

// smash starts with the block asleep, from the origin on to the right, if bodies sleep. The box that
// hits it needs 66 steps to get there. The gaps of 1.5 cm are
// what the skins of box2d take up: closer boxes push each other apart there for seconds.
func (s *Scene) smash() error {
	const half, pitch, hammer = 0.2, 0.415, 2
	rows := max(1, int(math.Round(math.Sqrt(float64(s.N)*2/3))))
	def := physics.DefaultBodyDef()
	def.Asleep = !s.World.Config().DisableSleep
	for i := range s.N {
		x, y := float32(i/rows), float32(i%rows)-float32(rows-1)/2
		def.Position = [2]float32{pitch * x, pitch * y}
		if err := s.addBoxAs(def, half); err != nil {
			return err
		}
	}
	def = physics.DefaultBodyDef()
	def.Position, def.LinearVelocity = [2]float32{-46, 0}, [2]float32{40, 0}
	b, err := s.add(def)
	if err != nil {
		return err
	}
	heavy := physics.DefaultShapeDef()
	heavy.Density = 8
	_, err = s.World.CreatePolygon(b, heavy, physics.Box(hammer, hammer))
	return err
}
