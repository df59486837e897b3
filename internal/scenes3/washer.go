package scenes3

import (
	"math"

	"github.com/evertick/evertick/internal/trig"
	"github.com/evertick/evertick/physics3"
)

func init() {
	register(Definition{
		Name: "washer3", N: 8000, Scale: "boxes", Few: 40, Ticks: 1000, Warmup: 200, build: (*Scene).washer, size: func(n int) int { return n },
		Help: "n boxes of 0.4 m in a drum with four fins, open at its ends, that turns by 25° a second",
	})
}

// washer has a drum of 20 m by 32 m for 8,000 boxes, which begin in a cube with gaps of 0.4 m. Boxes that leave it fall on a floor.
func (s *Scene) washer() error {
	const segments, fins, half = 36, 4, 0.2
	edge := edgeOf(s.N, 3)
	scale := float32(edge) / 20
	inner, wall, outer, depth, height := 14*scale, 16*scale, 18*scale, 10*scale, float32(21*scale)
	if err := s.floor(60, 60); err != nil {
		return err
	}
	def, shape := physics3.DefaultBodyDef(), physics3.DefaultShapeDef()
	shape.Density = 1000
	def.Type, def.DisableSleep, def.Position = physics3.KinematicBody, true, [3]float32{0, height, 0}
	def.LinearVelocity, def.AngularVelocity = [3]float32{0.001, -0.002, 0}, [3]float32{0, 0, 25 * math.Pi / 180}
	drum, err := s.World.CreateBody(def)
	// The ends of a segment of the wall are moved outwards by 1°, so that it overlaps the next one.
	const step, overlap = 2 * math.Pi / segments, math.Pi / 180
	for i := 0; i < segments && err == nil; i++ {
		angle := float32(float32(i) * step)
		err = s.plate(drum, shape, angle-overlap, angle+step+overlap, wall, outer, depth)
		if err == nil && i%(segments/fins) == 0 {
			err = s.plate(drum, shape, angle, angle+step, inner, wall, depth)
		}
	}
	const pitch = 4 * half
	for i := 0; i < s.N && err == nil; i++ {
		at := func(k int) float32 { return float32((float32(k) - float32(edge)/2) * pitch) }
		err = s.addCube([3]float32{at(i / (edge * edge)), at(i/edge%edge) + height, at(i % edge)}, half, 1000)
	}
	return err
}

// plate attaches a part of a ring about z to a body: from one angle and radius to another.
func (s *Scene) plate(b physics3.Body, shape physics3.ShapeDef, from, to, inner, outer, depth float32) error {
	points := make([][3]float32, 0, 8)
	for _, angle := range [2]float32{from, to} {
		sin, cos := trig.SinCos(angle)
		for _, r := range [2]float32{inner, outer} {
			points = append(points, [3]float32{r * cos, r * sin, -depth}, [3]float32{r * cos, r * sin, depth})
		}
	}
	hull, err := physics3.NewHull(points, physics3.HullOptions{})
	if err == nil {
		_, err = s.World.CreateHull(b, shape, hull, physics3.Placement{})
	}
	return err
}
