package scenes

import (
	"math"

	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics"
	"github.com/evertick/evertick/physics/box2d"
)

func init() {
	registerBodies(Definition{
		Name: "jointgrid", N: 100, Ticks: 160, Warmup: 40, build: (*Scene).jointgrid, size: func(n int) int { return n * n },
		Help: "n rows of n discs, each joined to its neighbours, hang from seven in the middle of the upper row",
	}, Definition{
		Name: "bridge", N: 60, build: (*Scene).bridge, size: func(n int) int { return n + n/discEvery },
		Help: "a bridge of n planks of 1 m between two banks, with a disc on every third",
	}, Definition{
		Name: "ragdolls", N: 64, build: (*Scene).ragdolls, size: func(n int) int { return n * len(limbs) },
		Help: "n dolls of 11 boxes and 10 joints with limits fall in a room",
	}, Definition{
		Name: "hinges", N: 8, Sleeps: true, build: (*Scene).hinges, size: func(n int) int { return n * hingeRows },
		Help: "n towers of 20 boxes, joined two by two by hinges with limits and springs, fall over and fall asleep",
	})
}

// hinge joins two bodies at a point. It holds the point in the coordinates of each body.
type hinge struct {
	a, b         physics.Body
	atA, atB     [2]float32
	limited      bool
	lower, upper float32 // rad, of the angle of b less the angle of a
	hertz        float32 // of a spring that holds that angle at zero; 0: none. Not with box2d
}

// damping is the damping ratio of such springs.
const damping = 0.5

func (s *Scene) join(h hinge) error {
	s.Joints++
	if s.World.Config().Engine != nil {
		return box2d.CreateHinge(s.World, box2d.Hinge{
			A: h.a, B: h.b, PointA: h.atA, PointB: h.atB, EnableLimit: h.limited, LowerAngle: h.lower, UpperAngle: h.upper,
		})
	}
	def := physics.RevoluteJointDef{
		EnableLimit: h.limited, LowerAngle: h.lower, UpperAngle: h.upper,
		EnableSpring: h.hertz > 0, Hertz: h.hertz, Damping: damping,
	}
	def.BodyA, def.BodyB = h.a, h.b
	def.FrameA.Point, def.FrameB.Point = h.atA, h.atB
	_, err := s.World.CreateRevoluteJoint(def)
	return err
}

// jointgrid hangs from seven discs in the middle of its upper row, or from all of that row. The
// discs collide with nothing.
func (s *Scene) jointgrid() error {
	shape := physics.DefaultShapeDef()
	shape.Filter = physics.Filter{Category: 2, Mask: 1}
	grid := make([]physics.Body, 0, s.N*s.N)
	for i := range s.N * s.N {
		row, col := i/s.N, i%s.N
		def := physics.DefaultBodyDef()
		def.Position = [2]float32{float32(col), -float32(row)}
		create := s.add
		if row == 0 && max(col-s.N/2, s.N/2-col) <= 3 {
			create = s.create
		}
		b, err := create(def)
		if err != nil {
			return err
		}
		if _, err := s.World.CreateCircle(b, shape, physics.Circle{Radius: 0.4}); err != nil {
			return err
		}
		if row > 0 {
			if err := s.join(hinge{a: grid[i-s.N], b: b, atA: [2]float32{0, -0.5}, atB: [2]float32{0, 0.5}}); err != nil {
				return err
			}
		}
		if col > 0 {
			if err := s.join(hinge{a: grid[i-1], b: b, atA: [2]float32{0.5, 0}, atB: [2]float32{-0.5, 0}}); err != nil {
				return err
			}
		}
		grid = append(grid, b)
	}
	return nil
}

// bridge hangs between two banks, with discs on it.
func (s *Scene) bridge() error {
	const half, thick = 0.5, 0.125
	banks, err := s.fixture(physics.StaticBody, 0)
	if err != nil {
		return err
	}
	length := float32(s.N) // of planks of 1 m
	for _, x := range []float32{-length/2 - 10, length/2 + 10} {
		if err := s.polygons(banks, boxAt(x, -10, 10, 10)); err != nil {
			return err
		}
	}
	plank := physics.DefaultShapeDef()
	plank.Density = 20
	last, at := banks, [2]float32{-length / 2, -thick}
	for i := range s.N {
		def := physics.DefaultBodyDef()
		def.Position, def.AngularDamping = [2]float32{float32(i) + half - length/2, -thick}, 0.1
		b, err := s.add(def)
		if err != nil {
			return err
		}
		if _, err := s.World.CreatePolygon(b, plank, physics.Box(half, thick)); err != nil {
			return err
		}
		if err := s.join(hinge{a: last, b: b, atA: at, atB: [2]float32{-half, 0}}); err != nil {
			return err
		}
		last, at = b, [2]float32{half, 0}
	}
	if err := s.join(hinge{a: last, b: banks, atA: at, atB: [2]float32{length / 2, -thick}}); err != nil {
		return err
	}
	for i := range s.N / discEvery {
		def := physics.DefaultBodyDef()
		def.Position = [2]float32{float32((float32(i)+0.5)*discEvery) - float32(length/2), 1}
		b, err := s.add(def)
		if err != nil {
			return err
		}
		if _, err := s.World.CreateCircle(b, physics.DefaultShapeDef(), physics.Circle{Radius: 0.5}); err != nil {
			return err
		}
	}
	return nil
}

// discEvery is the number of planks of a bridge for each disc on it.
const discEvery = 3

// limb is a box of a ragdoll and its joint to an earlier one. Lengths are in metres, of a doll of
// 1.8 m that stands at height 0.
type limb struct {
	y, hx, hy    float32 // centre and half extents
	to           int
	joint        float32 // height
	lower, upper float32 // rad
}

var limbs = [...]limb{
	{y: 1.16, hx: 0.15, hy: 0.27}, // chest
	{y: 0.78, hx: 0.13, hy: 0.09, to: 0, joint: 0.88, lower: -0.3, upper: 0.5}, // hips
	{y: 1.62, hx: 0.10, hy: 0.13, to: 0, joint: 1.47, lower: -0.5, upper: 0.5}, // head
	{y: 1.22, hx: 0.05, hy: 0.16, to: 0, joint: 1.36, lower: -0.5, upper: 2.5}, // upper arms
	{y: 1.22, hx: 0.05, hy: 0.16, to: 0, joint: 1.36, lower: -0.5, upper: 2.5}, //
	{y: 0.92, hx: 0.04, hy: 0.15, to: 3, joint: 1.07, lower: 0, upper: 2.2},    // lower arms
	{y: 0.92, hx: 0.04, hy: 0.15, to: 4, joint: 1.07, lower: 0, upper: 2.2},    //
	{y: 0.52, hx: 0.07, hy: 0.21, to: 1, joint: 0.72, lower: -0.4, upper: 1.6}, // upper legs
	{y: 0.52, hx: 0.07, hy: 0.21, to: 1, joint: 0.72, lower: -0.4, upper: 1.6}, //
	{y: 0.15, hx: 0.05, hy: 0.18, to: 7, joint: 0.32, lower: -2.2, upper: 0},   // lower legs
	{y: 0.15, hx: 0.05, hy: 0.18, to: 8, joint: 0.32, lower: -2.2, upper: 0},   //
}

// ragdolls start on a grid in a room, each turned by some quarters at random, and fall.
func (s *Scene) ragdolls() error {
	const pitch = 2.2
	across := columns(s.N)
	half := pitch * float32(across) / 2
	walls, err := s.fixture(physics.StaticBody, 0)
	if err == nil {
		err = s.room(walls, physics.DefaultShapeDef(), half)
	}
	for i := 0; i < s.N && err == nil; i++ {
		x := float32((float32(i%across)+0.5)*pitch) - half
		y := float32((float32(i/across)+0.5)*pitch) - half
		r := loop.NewRand(s.seed, 0, uint64(i), streamPlace)
		err = s.ragdoll(i, x, y, r.Uint32n(uint32(len(quarters))))
	}
	return err
}

// quarters are turns that need no sine: the angle, and the direction of up after the turn.
var quarters = [...]struct{ angle, x, y float32 }{{0, 0, 1}, {math.Pi / 2, -1, 0}, {math.Pi, 0, -1}, {-math.Pi / 2, 1, 0}}

// ragdoll creates number i with its middle at (x, y). Its limbs do not collide with each other.
func (s *Scene) ragdoll(i int, x, y float32, turn uint32) error {
	const middle = 0.9
	shape := physics.DefaultShapeDef()
	shape.Filter.Group = -int32(i) - 1
	q := quarters[turn]
	var all [len(limbs)]physics.Body
	for k, l := range limbs {
		up := l.y - middle
		def := physics.DefaultBodyDef()
		def.Position, def.Angle = [2]float32{x + float32(q.x*up), y + float32(q.y*up)}, q.angle
		b, err := s.add(def)
		if err != nil {
			return err
		}
		all[k] = b
		if _, err := s.World.CreatePolygon(b, shape, physics.Box(l.hx, l.hy)); err != nil {
			return err
		}
		if k == 0 {
			continue
		}
		if err := s.join(hinge{
			a: all[l.to], b: b, atA: [2]float32{0, l.joint - limbs[l.to].y}, atB: [2]float32{0, l.joint - l.y},
			limited: true, lower: l.lower, upper: l.upper,
		}); err != nil {
			return err
		}
	}
	return nil
}

// hingeRows are the boxes of a tower of the scene hinges, an even number.
const hingeRows = 20

// hinges are towers of boxes. A hinge at an edge joins every second box to the one on top of it: a
// spring holds the two together and limits let them open a little, so that all towers fall over.
func (s *Scene) hinges() error {
	const half, lean = 0.25, 0.1
	ground, err := s.fixture(physics.StaticBody, 0)
	if err != nil {
		return err
	}
	floor := physics.Segment{P1: [2]float32{-40, 0}, P2: [2]float32{40 + 4*float32(s.N), 0}}
	if _, err := s.World.CreateSegment(ground, physics.DefaultShapeDef(), floor); err != nil {
		return err
	}
	shape := physics.DefaultShapeDef()
	shape.Friction = 0.3
	for i := range s.N * hingeRows {
		column, row := i/hingeRows, i%hingeRows
		def := physics.DefaultBodyDef()
		def.Position = [2]float32{float32(4*float32(column)) + float32(lean*float32(row)), half + float32(2*half*float32(row))}
		b, err := s.add(def)
		if err != nil {
			return err
		}
		if _, err := s.World.CreatePolygon(b, shape, physics.Box(half, half)); err != nil {
			return err
		}
		if row%2 == 0 {
			continue
		}
		if err := s.join(hinge{
			a: s.Bodies[i-1], b: b, atA: [2]float32{half, half}, atB: [2]float32{half - lean, -half},
			limited: true, lower: -0.3, upper: 0.6, hertz: 0.5,
		}); err != nil {
			return err
		}
	}
	return nil
}
