package scenes3

import (
	"math"

	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics3"
)

func init() {
	register(Definition{
		Name: "pyramid3", N: 100, Scale: "rows", Few: 8, Ticks: 200, Warmup: 40, build: (*Scene).onePyramid, size: boxesOf,
		Help: "a flat pyramid of n rows of boxes of 1 m",
	}, Definition{
		Name: "pyramids3", N: 196, Scale: "pyramids", Few: 2, Ticks: 100, Warmup: 20, build: (*Scene).pyramids,
		size: func(n int) int { return n * boxesOf(smallRows) },
		Help: "n pyramids of 10 rows, 55 boxes each, on one floor",
	}, Definition{
		Name: "pile3", N: 5120, Scale: "hulls", Few: 96, Ticks: 500, Warmup: 100, build: (*Scene).pile, size: func(n int) int { return n },
		Help: "n hulls of 32 points and 4 m, in layers of 64, fall in a heap",
	})
}

// Streams of random numbers, one for each use.
const (
	streamPlace uint32 = iota
	streamPush
	streamHull
	streamRays
)

// boxesOf returns the number of boxes of a pyramid.
func boxesOf(rows int) int { return rows * (rows + 1) / 2 }

// pyramid stands on its base, whose middle is at (x, 0, z). Its boxes touch.
func (s *Scene) pyramid(rows int, x, z, density float32) error {
	const half = 0.5
	for row := range rows {
		for i := range rows - row {
			at := x + float32(i) - float32(rows-row-1)/2
			if err := s.addCube([3]float32{at, float32(row) + half, z}, half, density); err != nil {
				return err
			}
		}
	}
	return nil
}

func (s *Scene) onePyramid() error {
	if err := s.floor(max(100, float32(s.N)), 100); err != nil {
		return err
	}
	return s.pyramid(s.N, 0, 0, 1)
}

// smallRows are the rows of one of many pyramids.
const smallRows = 10

// pyramids stand a metre apart in a row along x; rows are 11.6 m apart, as 14 of them are on a floor of 154 m.
func (s *Scene) pyramids() error {
	const pitchX, pitchZ = smallRows + 1, 152. / 13
	across := edgeOf(s.N, 2)
	half := float32(across) * pitchX / 2
	if err := s.floor(half+1, half+1); err != nil {
		return err
	}
	for i := range s.N {
		x := float32((float32(i%across) + 0.5 - float32(across)/2) * pitchX)
		z := float32((float32(i/across) + 0.5 - float32(across)/2) * pitchZ)
		if err := s.pyramid(smallRows, x, z, 100); err != nil {
			return err
		}
	}
	return nil
}

// pile starts as 64 columns of hulls, none of which touch. All have the same shape and turn.
func (s *Scene) pile() error {
	const radius, across, points = 2, 8, 32
	if err := s.floor(250, 250); err != nil {
		return err
	}
	hull, err := s.randomHull(points, radius)
	if err != nil {
		return err
	}
	shape := physics3.DefaultShapeDef()
	shape.Density = 1000
	for i := range s.N {
		def := physics3.DefaultBodyDef()
		x, z, layer := i%across, i/across%across, i/(across*across)
		def.Position = [3]float32{(float32(x) - across/2) * 2 * radius, float32(1+2*layer) * radius, (float32(z) - across/2) * 2 * radius}
		b, err := s.add(def)
		if err == nil {
			_, err = s.World.CreateHull(b, shape, hull, physics3.Placement{})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// randomHull has its vertices on a sphere, evenly distributed.
func (s *Scene) randomHull(n int, radius float32) (*physics3.Hull, error) {
	r := loop.NewRand(s.seed, 0, 0, streamHull)
	points := make([][3]float32, 0, n)
	for len(points) < n {
		x, y, z := r.Range(-1, 1), r.Range(-1, 1), r.Range(-1, 1)
		square := (float32(x*x) + float32(y*y)) + float32(z*z)
		if square > 1 || square < 0.01 {
			continue
		}
		scale := radius / float32(math.Sqrt(float64(square)))
		points = append(points, [3]float32{x * scale, y * scale, z * scale})
	}
	return physics3.NewHull(points, physics3.HullOptions{})
}
