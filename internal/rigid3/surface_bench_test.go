package rigid3

import (
	"fmt"
	"math/rand/v2"
	"testing"
)

// BenchmarkSurface measures the manifolds of one shape and a surface, per shape and, reported, per triangle near it.
func BenchmarkSurface(b *testing.B) {
	flat := func(x, z float32) float32 { return 0 }
	rng := rand.New(rand.NewPCG(1, 2))
	rough := func(x, z float32) float32 { return .1 * rng.Float32() }
	for _, c := range []struct {
		name   string
		shape  *Shape
		square float32
		height func(x, z float32) float32
		y      float32
	}{
		{"sphere", ball(.5), 1, flat, .499},
		{"capsule", capsule(Vec{-.5, 0, 0}, Vec{.5, 0, 0}, .3), 1, flat, .299},
		{"box", box(.5, .5, .5), 1, flat, .499},
		{"box-fine", box(.5, .5, .5), .1, flat, .499},
		{"box-rough", box(.5, .5, .5), .25, rough, .58},
		{"hull", hullShapeOf(24), 1, flat, .4},
	} {
		b.Run(fmt.Sprintf("shape=%s", c.name), func(b *testing.B) {
			s := surfaceScene{surface: gridMesh(b, rand.New(rand.NewPCG(3, 4)), 40, c.square, 0, c.height)}
			poses := make([]Pose, 64)
			for i := range poses {
				poses[i] = Pose{Vec{rng.Float32(), c.y, rng.Float32()}, Quat{Y: rng.Float32(), W: 1}.Normalize()}
			}
			faces := 0
			for i := 0; b.Loop(); i++ {
				s.collide(c.shape, &poses[i%len(poses)])
				faces += len(s.k.faces)
			}
			b.ReportMetric(float64(faces)/float64(b.N), "triangles")
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(faces), "ns/triangle")
		})
	}
}

func hullShapeOf(n int) *Shape {
	s := *hullOf(rand.New(rand.NewPCG(3, 9)), n)
	return &s
}
