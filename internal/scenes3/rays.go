package scenes3

import (
	"math"

	"github.com/evertick/evertick/loop"
	"github.com/evertick/evertick/physics3"
)

func init() {
	register(Definition{
		Name: "rays3", N: 4096, Scale: "bodies", Few: 96, Ticks: 200, Warmup: 20, weightless: true,
		build: (*Scene).fog, push: (*Scene).aim, query: (*Scene).look, size: func(n int) int { return n },
		Help: "n balls, boxes and capsules drift above a wavy mesh of 24 n triangles, and after each step 2.4 n rays look for the first of them",
	})
}

const (
	fogPitch  = 3  // metres between two bodies
	fogHeight = 4  // above the mesh, in metres
	pushedBy  = 16 // every sixteenth ray pushes what it has hit
)

// rayBatch is what a scene with rays asks after each step.
type rayBatch struct {
	rays physics3.Rays
	hits physics3.RayHits
}

// fog has the bodies on a grid, turned and moving at random.
func (s *Scene) fog() error {
	edge := edgeOf(s.N, 3)
	half := float32(edge) * fogPitch / 2
	cells := int(math.Round(math.Sqrt(12.25 * float64(s.N))))
	if err := s.hills(cells, 3*half/float32(cells), 2, 0.2); err != nil {
		return err
	}
	for i := range s.N {
		r := loop.NewRand(s.seed, 0, uint64(i), streamPlace)
		def := physics3.DefaultBodyDef()
		def.Rotation = [4]float32{r.Range(-1, 1), r.Range(-1, 1), r.Range(-1, 1), r.Range(0.1, 1)}
		def.LinearVelocity = [3]float32{r.Range(-1, 1), r.Range(-1, 1), r.Range(-1, 1)}
		k := [3]int{i % edge, i / edge % edge, i / (edge * edge)}
		for axis := range k {
			def.Position[axis] = float32((float32(k[axis]) + 0.5) * fogPitch)
		}
		def.Position[0] -= half
		def.Position[1] += fogHeight
		def.Position[2] -= half
		b, err := s.add(def)
		if err == nil {
			err = s.mixed(b, k[0]+k[1]+k[2])
		}
		if err != nil {
			return err
		}
	}
	q := &s.batch.rays
	n := (s.N*625 + 255) / 256
	for _, c := range []*[]float32{&q.X, &q.Y, &q.Z, &q.DX, &q.DY, &q.DZ} {
		*c = make([]float32, n)
	}
	return nil
}

// aim pushes what some rays have hit, along the normal with 0.5 N·s, and aims all of them anew: from any place among the bodies, as far as half
// of their extent.
func (s *Scene) aim() error {
	q, hits := &s.batch.rays, &s.batch.hits
	for i := 0; i < len(hits.Shapes); i += pushedBy {
		if hits.Shapes[i] == (physics3.Shape{}) {
			continue
		}
		b, err := s.World.ShapeBody(hits.Shapes[i])
		if err == nil {
			err = s.World.ApplyLinearImpulseToCenter(b, [3]float32{-0.5 * hits.NormalX[i], -0.5 * hits.NormalY[i], -0.5 * hits.NormalZ[i]})
		}
		if err != nil {
			return err
		}
	}
	extent := float32(edgeOf(s.N, 3) * fogPitch)
	for i := range q.X {
		r := loop.NewRand(s.seed, s.tick, uint64(i), streamRays)
		at := func(from, to float32) float32 { return r.Range(float32(from*extent), float32(to*extent)) }
		q.X[i], q.Y[i], q.Z[i] = at(-0.5, 0.5), fogHeight+at(0, 1), at(-0.5, 0.5)
		q.DX[i], q.DY[i], q.DZ[i] = at(-0.5, 0.5), at(-0.5, 0.5), at(-0.5, 0.5)
	}
	return nil
}

// look casts the rays.
func (s *Scene) look() error { return s.World.RayClosest(&s.batch.rays, &s.batch.hits) }
