package broad_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/native"
)

// cube is a pile of n boxes of about a metre in space, as wide as it is high, on a floor that does not move. gap is the distance
// of their centres: below 1.3 each meets most of the 26 around it, at 3 few.
func cube(n int, gap float64) *boxes3 {
	s, rng := &boxes3{}, rand.New(rand.NewPCG(3, 4))
	side := int(math.Ceil(math.Cbrt(float64(n))))
	for k := range s.least { // shape 0 does not move; see boxes3.pairs
		far := float32(side) * float32(gap)
		s.least[k], s.most[k] = append(s.least[k], -far), append(s.most[k], 2*far)
	}
	s.most[1][0] = -0.4
	for i := range n {
		at := [3]int{i % side, i / (side * side), i / side % side}
		for k := range s.least {
			centre, half := float64(at[k])*gap+0.2*rng.Float64(), 0.5+0.2*rng.Float64() // turned at random
			s.least[k], s.most[k] = append(s.least[k], float32(centre-half)), append(s.most[k], float32(centre+half))
		}
	}
	return s
}

// BenchmarkPairsInSpace finds the pairs of boxes in space, with the second axis as the third.
func BenchmarkPairsInSpace(b *testing.B) {
	for _, scene := range []struct {
		name string
		gap  float64
	}{{"pile", 1.1}, {"cloud", 3}} {
		for _, n := range []int{1000, 5000, 20000} {
			s := cube(n, scene.gap)
			f := s.filters()
			for i := range f.Moves {
				f.Moves[i] = i > 0
			}
			boxes := s.planar(1, f)
			for _, level := range native.Levels() {
				b.Run(fmt.Sprintf("scene=%s/n=%d/level=%v", scene.name, n, level), func(b *testing.B) {
					var phase broad.Phase
					var out broad.Pairs
					for b.Loop() {
						phase.FindPairs(level, boxes, f, 1, &out)
					}
					b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/shape")
					b.ReportMetric(float64(len(out.A))/float64(n), "pairs/shape")
				})
			}
		}
	}
}

func BenchmarkThirdAxis(b *testing.B) {
	for _, n := range []int{1000, 20000} {
		s := cube(n, 1.1)
		b.Run(fmt.Sprintf("n=%d", n), func(b *testing.B) {
			for b.Loop() {
				broad.ThirdAxis(&s.least, &s.most, 0)
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(n), "ns/shape")
		})
	}
}
