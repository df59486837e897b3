package scenes

import (
	"math"

	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics"
)

func init() {
	registerBodies(Definition{
		Name: "arena", N: 1024, Scale: "bodies", weightless: true, build: (*Scene).arena, push: (*Scene).pushAbout, size: func(n int) int { return n },
		Help: "n bodies, alternately discs of 1 m and boxes of 0.9 m, fill 40 % of a walled square and are pushed about",
	}, Definition{
		Name: "tumbler", N: 2000, Scale: "boxes", build: (*Scene).tumbler, size: func(n int) int { return n },
		Help: "n boxes of 0.25 m in a square drum that turns by 25° a second",
	})
}

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

// pushEvery is the number of steps between two pushes of a body: a step pushes an eighth of an
// arena.
const pushEvery = 8

// pushAbout applies impulses to an eighth of the bodies, up to 1 N·s along each axis, which changes
// their velocity by up to 1.3 m/s.
func (s *Scene) pushAbout() error {
	for i := int(s.tick % pushEvery); i < len(s.Bodies); i += pushEvery {
		r := loop.NewRand(s.seed, s.tick, uint64(i), streamPush)
		x, y := r.Range(-1, 1), r.Range(-1, 1)
		if err := s.World.ApplyLinearImpulseToCenter(s.Bodies[i], [2]float32{x, y}); err != nil {
			return err
		}
	}
	return nil
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
