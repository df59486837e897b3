package scenes

import (
	"math"

	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics"
)

func init() {
	registerBodies(Definition{
		Name: "pile", N: 5000, Scale: "boxes", Ticks: 300, Warmup: 60, build: (*Scene).pile, size: func(n int) int { return n },
		Help: "n boxes of 0.5 m, turned at random, fall in a heap",
	}, Definition{
		Name: "compounds", N: 2000, Scale: "bodies", Ticks: 300, Warmup: 60, build: (*Scene).compounds, size: func(n int) int { return n },
		Help: "n bodies of three shapes: stacks of 16 tables, and columns of bars with discs that fall between them",
	}, Definition{
		Name: "junkyard", N: 2000, Scale: "bodies", Ticks: 600, Warmup: 120, build: (*Scene).junkyard, push: (*Scene).sweep, size: func(n int) int { return n },
		Help: "n bodies of two or three shapes, of five kinds, in a heap that a wall pushes to and fro",
	})
}

// pile is four times as wide as the boxes are high when they start.
func (s *Scene) pile() error {
	const half, pitch = 0.25, 0.75
	across := columns(4 * s.N)
	width := float32(float32(across) * pitch)
	if err := s.pit(width/2, width/2+5); err != nil {
		return err
	}
	for i := range s.N {
		r := loop.NewRand(s.seed, 0, uint64(i), streamPlace)
		def := physics.DefaultBodyDef()
		def.Angle = r.Range(-math.Pi, math.Pi)
		def.Position = [2]float32{float32((float32(i%across)+0.5)*pitch) - width/2, (float32(i/across) + 0.5) * pitch}
		if err := s.addBoxAs(def, half); err != nil {
			return err
		}
	}
	return nil
}

// compoundRows are the bodies of a column of the scene compounds.
const compoundRows = 16

// compounds stand and fall between walls. A table is 1 m high and has two legs. A bar is 1 m long, and the disc at one
// of its ends makes it turn as it falls.
func (s *Scene) compounds() error {
	const pitch, half = 1.6, 0.5
	across := (s.N + compoundRows - 1) / compoundRows
	width := float32(float32(across)*pitch) + 2
	if err := s.pit(width/2, 2*compoundRows); err != nil {
		return err
	}
	for i := range s.N {
		column, row := i/compoundRows, i%compoundRows
		def := physics.DefaultBodyDef()
		def.Position = [2]float32{float32((float32(column) + 0.5 - float32(across)/2) * pitch), half + float32(row)}
		if column%2 == 1 {
			def.Position[1] += 2 + float32(float32(row)*0.5)
		}
		b, err := s.add(def)
		switch {
		case err != nil:
		case column%2 == 0:
			err = s.polygons(b, boxAt(0, half-0.05, half, 0.05), boxAt(-0.4, -0.05, 0.05, half-0.05), boxAt(0.4, -0.05, 0.05, half-0.05))
		default:
			if err = s.polygons(b, physics.Box(half, 0.08), physics.Box(0.08, half)); err == nil {
				_, err = s.World.CreateCircle(b, physics.DefaultShapeDef(), physics.Circle{Center: [2]float32{0.35, 0}, Radius: 0.15})
			}
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// junk are the shapes of the bodies of a junkyard: an L, a T, a U, an arrow, and a bar whose ends become discs.
var junk = [...][]physics.Polygon{
	{boxAt(-0.3, 0, 0.15, 0.5), boxAt(0.15, -0.35, 0.3, 0.15)},
	{boxAt(0, 0.35, 0.5, 0.15), boxAt(0, -0.15, 0.15, 0.35)},
	{boxAt(0, -0.4, 0.5, 0.1), boxAt(-0.4, 0.1, 0.1, 0.4), boxAt(0.4, 0.1, 0.1, 0.4)},
	{boxAt(-0.2, 0, 0.4, 0.12), {Count: 3, Vertices: [physics.MaxPolygonVertices][2]float32{{0.2, -0.35}, {0.6, 0}, {0.2, 0.35}}}},
	{physics.Box(0.4, 0.1)},
}

const (
	sweepSteps = 240 // from one end of the sweep to the other
	junkPitch  = 1.5 // m between bodies at the beginning
)

// junkWidth returns the width of the yard, about three times the height of the bodies at the beginning.
func (s *Scene) junkWidth() (across int, width float32) {
	across = columns(3 * s.N)
	return across, float32(float32(across)*junkPitch) + 4
}

// junkyard has its pusher at the left wall. The pusher is as high as the walls, so that nothing gets over it.
func (s *Scene) junkyard() error {
	across, width := s.junkWidth()
	if err := s.pit(width/2, width); err != nil {
		return err
	}
	var err error
	if s.mover, err = s.fixture(physics.KinematicBody, 0); err == nil {
		err = s.polygons(s.mover, boxAt(1-width/2, width/2, 1, width/2))
	}
	for i := 0; i < s.N && err == nil; i++ {
		r := loop.NewRand(s.seed, 0, uint64(i), streamPlace)
		def := physics.DefaultBodyDef()
		def.Angle = r.Range(-math.Pi, math.Pi)
		def.Position = [2]float32{float32((float32(i%across)+0.5)*junkPitch) + 3 - width/2, (float32(i/across) + 0.5) * junkPitch}
		var b physics.Body
		if b, err = s.add(def); err != nil {
			break
		}
		if err = s.polygons(b, junk[i%len(junk)]...); err == nil && i%len(junk) == len(junk)-1 {
			err = s.discs(b, 0.4, 0.25)
		}
	}
	return err
}

// discs attaches two discs to a body, as far from its middle along the first axis.
func (s *Scene) discs(b physics.Body, far, radius float32) error {
	for _, x := range [2]float32{-far, far} {
		if _, err := s.World.CreateCircle(b, physics.DefaultShapeDef(), physics.Circle{Center: [2]float32{x, 0}, Radius: radius}); err != nil {
			return err
		}
	}
	return nil
}

// sweep moves the pusher to and fro through a quarter of the yard.
func (s *Scene) sweep() error {
	if s.tick%sweepSteps != 0 {
		return nil
	}
	_, width := s.junkWidth()
	speed := width / 4 / (sweepSteps * Dt)
	if s.tick/sweepSteps%2 == 1 {
		speed = -speed
	}
	return s.World.SetVelocity(s.mover, [2]float32{speed, 0}, 0)
}
