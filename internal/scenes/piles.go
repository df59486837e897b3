package scenes

import (
	"math"

	"github.com/evertick/evertick/physics"
)

func init() {
	registerBodies(Definition{
		Name: "pyramid", N: 100, Scale: "rows", Ticks: 200, Warmup: 40, build: (*Scene).onePyramid, size: boxesOf,
		Help: "a pyramid of n rows of boxes of 1 m",
	}, Definition{
		Name: "pyramids", N: 400, Ticks: 40, Warmup: 8, build: (*Scene).pyramids, size: func(n int) int { return n * boxesOf(smallRows) },
		Help: "n pyramids of 10 rows, 55 boxes each, on floors above each other, with as many floors as pyramids on one",
	}, Definition{
		Name: "smash", N: 9600, Ticks: 300, Warmup: 60, // the block is hit at 66
		weightless: true, Sleeps: true, Continuous: true, build: (*Scene).smash, size: func(n int) int { return n + 1 },
		Help: "n boxes of 0.4 m in a block, half as long again as high, asleep until a box of 4 m hits them at 40 m/s",
	})
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
	if err := s.polygons(ground, boxAt(0, -1, float32(s.N)+10, 1)); err != nil {
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

// smash starts with the block asleep, to the right of the origin, if bodies sleep. The box that
// hits it needs 66 steps to get there. The boxes have gaps of 1.5 cm for the skins of box2d: there
// closer boxes push each other apart for seconds.
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
