package rigid_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/native"
)

// benchScene is a scene of bodies of one shape each.
type benchScene struct {
	shapes  []rigid.Shape
	bodyOf  []uint32
	poses   rigid.Poses
	filters broad.Filters
}

func (s *benchScene) add(x, y, angle float64, shape rigid.Shape, moves bool) {
	i := uint32(len(s.shapes))
	s.shapes, s.bodyOf = append(s.shapes, shape), append(s.bodyOf, i)
	p := &s.poses
	p.X, p.Y = append(p.X, float32(x)), append(p.Y, float32(y))
	p.Cos, p.Sin = append(p.Cos, float32(math.Cos(angle))), append(p.Sin, float32(math.Sin(angle)))
	f := &s.filters
	f.Body, f.Moves = append(f.Body, i), append(f.Moves, moves)
	f.Category, f.Mask, f.Group = append(f.Category, 1), append(f.Mask, ^uint64(0)), append(f.Group, 0)
}

func rectangle(w, h float32) rigid.Shape {
	s := rigid.Shape{Count: 4}
	s.Vertices = [8]rigid.Vec{{X: -w, Y: -h}, {X: w, Y: -h}, {X: w, Y: h}, {X: -w, Y: h}}
	return s
}

// arena is n discs and boxes of about a metre that fill 40 % of a square of four
// walls, with tiles that do not move where they are.
func crowdedArena(n, tiles int) *benchScene {
	s, r := &benchScene{}, rand.New(rand.NewPCG(1, 2))
	half := math.Sqrt(float64(n)*0.8/0.4) / 2
	for i := range n {
		shape := disc(0.5)
		if i%2 == 0 {
			shape = rectangle(0.45, 0.45)
		}
		s.add((r.Float64()*2-1)*half, (r.Float64()*2-1)*half, r.Float64()*6, shape, true)
	}
	wall := rectangle(float32(half)+2, 1)
	for k := range 4 {
		a := float64(k) * math.Pi / 2
		s.add((half+1)*math.Sin(a), (half+1)*math.Cos(a), a, wall, false)
	}
	for range tiles {
		s.add((r.Float64()*2-1)*half, (r.Float64()*2-1)*half, 0, rectangle(0.5, 0.5), false)
	}
	return s
}

func crowdedPyramid(base int) *benchScene {
	s := &benchScene{}
	s.add(0, -1, 0, rectangle(1000, 1), false)
	for row := range base {
		for k := range base - row {
			s.add(float64(k)*1.25-float64(base-row)*0.625, float64(row)+0.5, 0, rectangle(0.5, 0.5), true)
		}
	}
	return s
}

// sizes are n boxes of 0.1 to 100 metres, as many of each power of two.
func sizes(n int) *benchScene {
	s, r := &benchScene{}, rand.New(rand.NewPCG(1, 2))
	half := math.Sqrt(float64(n)) * 10
	for range n {
		size := float32(0.05 * math.Exp(r.Float64()*r.Float64()*math.Log(1000)))
		s.add((r.Float64()*2-1)*half, (r.Float64()*2-1)*half, 0, rectangle(size, size), true)
	}
	return s
}

// outliers is an arena of which 1 % have left to far away.
func outliers(n int) *benchScene {
	s := crowdedArena(n, 0)
	for i := 0; i < n; i += 100 {
		s.poses.Y[i] -= float32(1e6) * float32(i)
	}
	return s
}

var benchScenes = []struct {
	name  string
	scene func() *benchScene
}{
	{"arena/n=1024", func() *benchScene { return crowdedArena(1024, 0) }},
	{"arena/n=16384", func() *benchScene { return crowdedArena(16384, 0) }},
	{"tiles/n=16384", func() *benchScene { return crowdedArena(16384, 10000) }},
	{"pyramid/n=5050", func() *benchScene { return crowdedPyramid(100) }},
	{"sizes/n=16384", func() *benchScene { return sizes(16384) }},
	{"outliers/n=16384", func() *benchScene { return outliers(16384) }},
}

func BenchmarkBounds(b *testing.B) {
	for _, scene := range benchScenes {
		s := scene.scene()
		out := newBoxes(len(s.shapes))
		for _, level := range native.Levels() {
			b.Run(fmt.Sprintf("%s/level=%v", scene.name, level), func(b *testing.B) {
				for b.Loop() {
					rigid.Bounds(level, s.shapes, s.bodyOf, &s.poses, rigid.SpeculativeDistance/2, &out)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(s.shapes)), "ns/shape")
			})
		}
	}
}

// BenchmarkPairs is Bounds and Pairs.
func BenchmarkPairs(b *testing.B) {
	for _, scene := range benchScenes {
		s := scene.scene()
		boxes := newBoxes(len(s.shapes))
		for _, level := range native.Levels() {
			b.Run(fmt.Sprintf("%s/level=%v", scene.name, level), func(b *testing.B) {
				var phase broad.Phase
				var out broad.Pairs
				for b.Loop() {
					rigid.Bounds(level, s.shapes, s.bodyOf, &s.poses, rigid.SpeculativeDistance/2, &boxes)
					phase.FindPairs(level, &boxes, &s.filters, 1, &out)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(s.shapes)), "ns/shape")
				b.ReportMetric(float64(len(out.A)), "pairs")
			})
		}
	}
}
