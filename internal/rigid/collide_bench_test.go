package rigid_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/native"
)

// near adds the pairs whose boxes, of the given half extents and a margin, overlap.
// Bodies ascend by y.
func (s *scene) near(half []float32, margin float32) {
	p := &s.poses
	for a := range p.X {
		for b := a + 1; b < len(p.X) && p.Y[b]-p.Y[a] < 2+margin; b++ {
			reach := half[a] + half[b] + margin
			dx, dy := p.X[b]-p.X[a], p.Y[b]-p.Y[a]
			if max(dx, -dx, dy, -dy) <= reach {
				s.pair(uint32(a), uint32(b))
			}
		}
	}
}

// arena is n bodies on two fifths of the area, discs and boxes by turns.
func arena(n int) *scene {
	rng := rand.New(rand.NewPCG(1, 1))
	s := &scene{}
	half, y := []float32{}, make([]float64, n)
	side := 1.41 * math.Sqrt(float64(n))
	for i := range y {
		y[i] = within(rng, 0, side)
	}
	slices.Sort(y)
	for _, y := range y {
		x, angle := within(rng, 0, side), within(rng, 0, 7)
		if rng.IntN(2) == 0 {
			s.add(disc(0.5), x, y, angle)
			half = append(half, 0.5)
		} else {
			s.add(box(0.45, 0.45, 0), x, y, angle)
			half = append(half, float32(0.45*(math.Abs(math.Sin(angle))+math.Abs(math.Cos(angle)))))
		}
	}
	s.near(half, 0.05)
	return s
}

// pyramid is boxes in rows of rows to 1, slightly askew.
func pyramid(rows int) *scene {
	rng := rand.New(rand.NewPCG(1, 1))
	s := &scene{}
	s.add(box(500, 1, 0), 0, -1, 0)
	half := []float32{}
	for i := range rows {
		for j := range rows - i {
			s.add(box(0.5, 0.5, 0), 1.05*(float64(j)+float64(i)/2), 0.5+0.998*float64(i)+within(rng, 0, 1e-3), within(rng, -1e-3, 1e-3))
		}
	}
	for range s.shapes {
		half = append(half, 0.5)
	}
	s.near(half, 0.06)
	return s
}

// hulls is n pairs of eight-cornered polygons that touch.
func hulls(n int) *scene {
	rng := rand.New(rand.NewPCG(1, 1))
	s := &scene{}
	for range n {
		a := s.add(randomHull(rng, 0.1), within(rng, -50, 50), 0, 0)
		s.pair(a, s.add(randomHull(rng, 0.1), float64(s.poses.X[a])+0.9, 0.1, within(rng, 0, 7)))
	}
	return s
}

func BenchmarkCollide(b *testing.B) {
	for _, c := range []struct {
		name  string
		scene *scene
	}{{"arena16k", arena(16384)}, {"pyramid100", pyramid(100)}, {"hulls4k", hulls(4096)}} {
		s := c.scene
		out := make([]rigid.Manifold, len(s.pairs.A))
		for _, level := range native.Levels() {
			b.Run(fmt.Sprintf("scene=%s/level=%s", c.name, level), func(b *testing.B) {
				for b.Loop() {
					rigid.Collide(level, s.shapes, s.bodyOf, &s.poses, &s.pairs, out)
				}
				touching := 0
				for _, m := range out {
					touching += int(min(m.Count, 1))
				}
				n := float64(len(out))
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/n, "ns/pair")
				b.ReportMetric(n, "pairs")
				b.ReportMetric(float64(touching), "touching")
			})
		}
	}
}
