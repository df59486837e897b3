package scenes3

import (
	"math"

	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics3"
)

func init() {
	register(Definition{
		Name: "arena3", N: 1024, Scale: "bodies", Few: 64, Ticks: 600, Warmup: 120, weightless: true, build: (*Scene).arena, push: (*Scene).pushAbout,
		size: func(n int) int { return n },
		Help: "n bodies, by turns balls of 1 m, boxes of 0.9 m and capsules of 1.2 m, fill a fifth of a closed box and are pushed about",
	})
}

// Sizes of the bodies of an arena, in metres.
const (
	arenaBall                       = 0.5
	arenaBox                        = 0.45
	arenaCapsule, arenaCapsuleRound = 0.25, 0.35 // half the segment, and the radius
)

// arena starts with the bodies on a grid, turned at random. Two boxes are not next to each other, where they could overlap.
func (s *Scene) arena() error {
	const fill = 0.2
	const round = arenaCapsuleRound
	const ball, box = 4. / 3 * math.Pi * arenaBall * arenaBall * arenaBall, 8 * arenaBox * arenaBox * arenaBox
	const capsule = math.Pi*round*round*2*arenaCapsule + 4./3*math.Pi*round*round*round
	edge := edgeOf(s.N, 3)
	pitch := float32(math.Cbrt((ball + box + capsule) / 3 / fill))
	if err := s.room(float32(edge) * pitch / 2); err != nil {
		return err
	}
	for i := range s.N {
		r := loop.NewRand(s.seed, 0, uint64(i), streamPlace)
		def := physics3.DefaultBodyDef()
		def.LinearDamping, def.AngularDamping = 0.5, 0.5
		def.Rotation = [4]float32{r.Range(-1, 1), r.Range(-1, 1), r.Range(-1, 1), r.Range(0.1, 1)}
		k := [3]int{i % edge, i / edge % edge, i / (edge * edge)}
		for axis := range k {
			def.Position[axis] = float32((float32(k[axis]) + 0.5 - float32(edge)/2) * pitch)
		}
		b, err := s.add(def)
		if err == nil {
			err = s.mixed(b, k[0]+k[1]+k[2])
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// mixed attaches a ball, a box or a capsule to a body.
func (s *Scene) mixed(b physics3.Body, kind int) (err error) {
	shape := physics3.DefaultShapeDef()
	shape.Friction = 0.3
	switch kind % 3 {
	case 0:
		_, err = s.World.CreateSphere(b, shape, physics3.Sphere{Radius: arenaBall})
	case 1:
		_, err = s.World.CreateBox(b, shape, physics3.Box{Half: [3]float32{arenaBox, arenaBox, arenaBox}})
	default:
		_, err = s.World.CreateCapsule(b, shape, physics3.Capsule{P1: [3]float32{0, -arenaCapsule, 0}, P2: [3]float32{0, arenaCapsule, 0}, Radius: arenaCapsuleRound})
	}
	return err
}

// room surrounds a cube of the given half edge by six boxes of a static body.
func (s *Scene) room(half float32) error {
	const thick = 1 // half of it
	b, err := s.World.CreateBody(physics3.DefaultBodyDef())
	shape := physics3.DefaultShapeDef()
	shape.Friction = 0.3
	for side := 0; side < 6 && err == nil; side++ {
		wall := physics3.Box{Half: [3]float32{half + 2*thick, half + 2*thick, half + 2*thick}}
		wall.Half[side/2], wall.Center[side/2] = thick, half+thick
		if side%2 == 1 {
			wall.Center[side/2] = -half - thick
		}
		_, err = s.World.CreateBox(b, shape, wall)
	}
	return err
}

// pushEvery is the number of steps between two pushes of a body: a step pushes an eighth of an arena.
const pushEvery = 8

// pushAbout applies impulses to an eighth of the bodies, up to half of 1 N·s along each axis, which changes their velocity by up to 1.4 m/s.
func (s *Scene) pushAbout() error {
	for i := int(s.tick % pushEvery); i < len(s.Bodies); i += pushEvery {
		r := loop.NewRand(s.seed, s.tick, uint64(i), streamPush)
		x, y, z := r.Range(-0.5, 0.5), r.Range(-0.5, 0.5), r.Range(-0.5, 0.5)
		if err := s.World.ApplyLinearImpulseToCenter(s.Bodies[i], [3]float32{x, y, z}); err != nil {
			return err
		}
	}
	return nil
}
