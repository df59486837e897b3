package scenes3

import (
	"math"

	"github.com/evertick/evertick/internal/trig"
	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics3"
)

func init() {
	register(Definition{
		Name: "terrain3", N: 4300, Scale: "bodies", Few: 80, Ticks: 400, Warmup: 100, build: (*Scene).rain, size: func(n int) int { return n },
		Help: "n capsules of 0.3 to 0.8 m rain on a wavy mesh of 7,200 triangles and a torus of 1,024",
	}, Definition{
		Name: "mesh3", N: 1764, Scale: "bodies", Few: 64, Ticks: 500, Warmup: 100, build: (*Scene).hilly, size: func(n int) int { return n },
		Help: "n bodies of 1 m, by turns boxes, balls, capsules and hulls, fall on a hilly mesh of 20,000 triangles, in layers of 441",
	})
}

// rain has the bodies of figures of 14 limbs without their joints, in columns of ten above a square of 34 m.
func (s *Scene) rain() error {
	if err := s.hills(60, 1.5, 0.5, 0.5); err != nil {
		return err
	}
	if err := s.addMesh(torus(32, 16, 8, 1.5), [3]float32{0, 1.5, 0}); err != nil {
		return err
	}
	const layers, pitch, up, first = 10, 1.6, 0.9, 5
	edge := edgeOf((s.N+layers-1)/layers, 2)
	shape := physics3.DefaultShapeDef()
	shape.Density = 1000
	for i := range s.N {
		r := loop.NewRand(s.seed, 0, uint64(i), streamPlace)
		def := physics3.DefaultBodyDef()
		def.Rotation = [4]float32{r.Range(-1, 1), r.Range(-1, 1), r.Range(-1, 1), r.Range(0.1, 1)}
		x, z, layer := i%edge, i/edge%edge, i/(edge*edge)
		at := func(k int) float32 { return float32((float32(k) + 0.5 - float32(edge)/2) * pitch) }
		def.Position = [3]float32{at(x), first + float32(float32(layer)*up), at(z)}
		b, err := s.add(def)
		if err == nil {
			half, radius := limb(i % 14)
			_, err = s.World.CreateCapsule(b, shape, physics3.Capsule{P1: [3]float32{0, -half, 0}, P2: [3]float32{0, half, 0}, Radius: radius})
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// limb returns half the segment, and the radius, of a limb: four of the trunk and the head, five of the arms, five of the legs.
func limb(i int) (half, radius float32) {
	switch {
	case i < 4:
		return 0.1, 0.14
	case i < 9:
		return 0.13, 0.05
	}
	return 0.2, 0.07
}

// hilly has layers of 21 by 21 bodies, 7.5 m apart, above a mesh of 300 m.
func (s *Scene) hilly() error {
	const across, pitch = 21, 7.5
	if err := s.hills(100, 3, 5, 0.12); err != nil {
		return err
	}
	hull, err := s.randomHull(16, arenaBall)
	if err != nil {
		return err
	}
	shape := physics3.DefaultShapeDef()
	shape.Friction = 0.3
	for i := range s.N {
		r := loop.NewRand(s.seed, 0, uint64(i), streamPlace)
		def := physics3.DefaultBodyDef()
		def.Rotation = [4]float32{r.Range(-1, 1), r.Range(-1, 1), r.Range(-1, 1), r.Range(0.1, 1)}
		x, z, layer := i%across, i/across%across, i/(across*across)
		def.Position = [3]float32{(float32(x) - across/2) * pitch, float32(15 + 2*layer), (float32(z) - across/2) * pitch}
		b, err := s.add(def)
		if err == nil && (x+z+layer)%4 == 3 {
			_, err = s.World.CreateHull(b, shape, hull, physics3.Placement{})
		} else if err == nil {
			err = s.mixed(b, (x+z+layer)%4)
		}
		if err != nil {
			return err
		}
	}
	return nil
}

// hills is a static body with waves.
func (s *Scene) hills(n int, cell, height, perMetre float32) error {
	return s.addMesh(waves(n, cell, height, perMetre), [3]float32{})
}

// waves is a square of n by n cells, whose heights are a product of two waves.
func waves(n int, cell, height, perMetre float32) (d physics3.MeshDef) {
	at := func(k int) float32 { return float32((float32(k) - float32(n)/2) * cell) }
	for i := range (n + 1) * (n + 1) {
		x, z := at(i%(n+1)), at(i/(n+1))
		sin, _ := trig.SinCos(float32(x * perMetre))
		_, cos := trig.SinCos(float32(z * perMetre))
		d.Vertices = append(d.Vertices, [3]float32{x, float32(float32(height*sin) * cos), z})
	}
	for i := range n * n {
		a := uint32(i/n*(n+1) + i%n)
		b, c := a+1, a+uint32(n)+1
		d.Triangles = append(d.Triangles, [3]uint32{a, c, b}, [3]uint32{b, c, c + 1})
	}
	return d
}

// torus is a ring that lies flat, of 2·around·across triangles.
func torus(around, across int, major, minor float32) (d physics3.MeshDef) {
	n := around * across
	for i := range n {
		sinI, cosI := trig.SinCos(float32(float32(i/across) * float32(2*math.Pi/float32(around))))
		sinK, cosK := trig.SinCos(float32(float32(i%across) * float32(2*math.Pi/float32(across))))
		r := major + float32(minor*cosK)
		d.Vertices = append(d.Vertices, [3]float32{float32(r * cosI), float32(minor * sinK), float32(r * sinI)})
		next, up := (i+across)%n, i/across*across+(i+1)%across
		a, b, c, both := uint32(i), uint32(up), uint32(next), uint32((up+across)%n)
		d.Triangles = append(d.Triangles, [3]uint32{a, b, both}, [3]uint32{a, both, c})
	}
	return d
}

// addMesh makes a static body with a mesh.
func (s *Scene) addMesh(d physics3.MeshDef, at [3]float32) error {
	mesh, _, err := physics3.NewMesh(d)
	if err != nil {
		return err
	}
	def := physics3.DefaultBodyDef()
	def.Position = at
	b, err := s.World.CreateBody(def)
	if err == nil {
		_, err = s.World.CreateMesh(b, physics3.DefaultShapeDef(), mesh, physics3.Placement{})
	}
	return err
}
