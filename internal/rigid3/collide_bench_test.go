package rigid3

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/hull"
	"github.com/evertick/evertick/native"
)

// boulder is one of 16 hulls.
func boulder(rng *rand.Rand) *Shape {
	for len(boulders) < 16 {
		boulders = append(boulders, newBoulder(rng))
	}
	return boulders[rng.IntN(len(boulders))]
}

var boulders []*Shape

// newBoulder is a hull of 32 points on a sphere of half a metre.
func newBoulder(rng *rand.Rand) *Shape { return hullOf(rng, 32) }

// hullOf is a hull of points on a sphere of half a metre.
func hullOf(rng *rand.Rand, n int) *Shape {
	var points [][3]float32
	for range n {
		v := Vec{float32(rng.NormFloat64()), float32(rng.NormFloat64()), float32(rng.NormFloat64())}
		v = v.Times(.5 / v.length())
		points = append(points, [3]float32{v.X, v.Y, v.Z})
	}
	p, err := hull.Build(points, n)
	if err != nil {
		panic(err)
	}
	return hullShape(p)
}

// pairScene is pairs of bodies, each pair by itself.
type pairScene struct {
	shapes []Shape
	bodyOf []uint32
	poses  []Pose
	pairs  broad.Pairs
}

// pairsOf draws n pairs whose distance is gap, or less: negative for overlap. The boxes around those of a gap of 4 cm overlap in most cases.
func pairsOf(rng *rand.Rand, n int, gap float32, a, b func(*rand.Rand) *Shape, draw func(*rand.Rand) Quat) *pairScene {
	s := &pairScene{}
	for range n {
		x, y := a(rng), b(rng)
		pa, pb := &Pose{Vec{}, draw(rng)}, &Pose{Vec{}, draw(rng)}
		way := Vec{float32(rng.NormFloat64()), float32(rng.NormFloat64()), float32(rng.NormFloat64())}.unit(Vec{1, 0, 0})
		if x.Kind == KindBox && y.Kind == KindBox { // less often edges than that
			way = Vec{float32(rng.NormFloat64()) / 4, float32(rng.NormFloat64()) / 4, 1}.unit(Vec{1, 0, 0})
		}
		lo, hi := float32(0), float32(4)
		for range 24 {
			pb.P = way.Times((lo + hi) / 2)
			if m := collide(x, y, pa, pb); m.Count > 0 && float32(deepest(&m)) < min(gap, SpeculativeDistance) {
				lo = (lo + hi) / 2
			} else {
				hi = (lo + hi) / 2
			}
		}
		pb.P = way.Times(lo + max(0, gap-SpeculativeDistance))
		at := uint32(len(s.shapes))
		s.pairs.Add(at, at+1)
		s.shapes, s.bodyOf, s.poses = append(s.shapes, *x, *y), append(s.bodyOf, at, at+1), append(s.poses, *pa, *pb)
	}
	return s
}

// benchScenes has n pairs in each scene.
func benchScenes(n int) (names []string, scenes []*pairScene) {
	rng := rand.New(rand.NewPCG(7, 7))
	cube := func(*rand.Rand) *Shape { return box(.5, .5, .5) }
	upright := func(rng *rand.Rand) Quat {
		q := Quat{.01 * rng.Float32(), .01 * rng.Float32(), float32(rng.NormFloat64()), float32(rng.NormFloat64())}
		return q.Normalize()
	}
	add := func(name string, s *pairScene) { names, scenes = append(names, name), append(scenes, s) }
	add("boxes=stacked", pairsOf(rng, n, -.001, cube, cube, upright))
	add("boxes=touching", pairsOf(rng, n, -.001, cube, cube, randomQuat))
	add("boxes=apart", pairsOf(rng, n, .1, cube, cube, randomQuat))
	add("hulls=touching", pairsOf(rng, n, -.001, boulder, boulder, randomQuat))
	add("hulls=deep", pairsOf(rng, n, -.02, boulder, boulder, randomQuat))
	add("hulls=apart", pairsOf(rng, n, .1, boulder, boulder, randomQuat))
	add("box,hull=touching", pairsOf(rng, n, -.001, cube, boulder, randomQuat))
	add("box,sphere=touching", pairsOf(rng, n, -.001, cube, func(*rand.Rand) *Shape { return ball(.3) }, randomQuat))
	add("box,capsule=touching", pairsOf(rng, n, -.001, cube, func(*rand.Rand) *Shape { return uprightCapsule() }, randomQuat))
	add("hull,sphere=touching", pairsOf(rng, n, -.001, boulder, func(*rand.Rand) *Shape { return ball(.3) }, randomQuat))
	add("hull,capsule=touching", pairsOf(rng, n, -.001, boulder, func(*rand.Rand) *Shape { return uprightCapsule() }, randomQuat))
	add("capsules=touching", pairsOf(rng, n, -.001, func(*rand.Rand) *Shape { return uprightCapsule() }, func(*rand.Rand) *Shape { return uprightCapsule() }, randomQuat))
	add("spheres=touching", pairsOf(rng, n, -.001, func(*rand.Rand) *Shape { return ball(.3) }, func(*rand.Rand) *Shape { return ball(.3) }, randomQuat))
	return names, scenes
}

func uprightCapsule() *Shape { return upright(.3, .4) }

func BenchmarkCollidePairs(b *testing.B) {
	names, scenes := benchScenes(512)
	for i, s := range scenes {
		out := make([]Manifold, len(s.pairs.A))
		for _, level := range native.Levels() {
			b.Run(fmt.Sprintf("%s/level=%v", names[i], level), func(b *testing.B) {
				for b.Loop() {
					CollidePairs(level, s.shapes, &testHulls, s.bodyOf, s.poses, &s.pairs, nil, out)
				}
				points := 0
				for k := range out {
					points += int(out[k].Count)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(out)), "ns/pair")
				b.ReportMetric(float64(points)/float64(len(out)), "points/pair")
			})
		}
	}
}

// The scenes of the benchmark are what their names say.
func TestBenchScenes(t *testing.T) {
	names, scenes := benchScenes(40)
	for i, s := range scenes {
		out := make([]Manifold, len(s.pairs.A))
		CollidePairs(native.Go, s.shapes, &testHulls, s.bodyOf, s.poses, &s.pairs, nil, out)
		touching := 0
		for k := range out {
			if out[k].Count > 0 && math.Abs(deepest(&out[k])) < .03 {
				touching++
			}
		}
		want := len(out)
		if names[i][len(names[i])-5:] == "apart" {
			want = 0
		}
		if touching != want {
			t.Errorf("%s: %d of %d touch", names[i], touching, len(out))
		}
	}
}

func BenchmarkBounds(b *testing.B) {
	names, scenes := benchScenes(512)
	for i, s := range scenes[:7] {
		if i%3 != 0 { // boxes; hulls; both
			continue
		}
		var boxes Boxes
		boxes.Resize(len(s.shapes))
		for _, level := range native.Levels() {
			b.Run(fmt.Sprintf("%s/level=%v", names[i], level), func(b *testing.B) {
				for b.Loop() {
					Bounds(level, s.shapes, &testHulls, s.bodyOf, s.poses, .1, &boxes)
				}
				b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(s.shapes)), "ns/shape")
			})
		}
	}
}

func BenchmarkRecycle(b *testing.B) {
	s := &recycleScene{}
	for i := range uint32(512) {
		at := twoBoxes(0, 0, 0, 0)
		at.Old[0].A, at.Old[0].B = 2*i, 2*i+1
		s.Old, s.Bases, s.Marks, s.Poses = append(s.Old, at.Old...), append(s.Bases, at.Bases...), append(s.Marks, 1), append(s.Poses, at.Poses...)
		s.BodyOf = append(s.BodyOf, 2*i, 2*i+1)
		s.pairs.Add(2*i, 2*i+1)
	}
	from, out := noneRecycled(len(s.Old)), make([]Manifold, len(s.Old))
	for _, level := range native.Levels() {
		b.Run(fmt.Sprintf("level=%v", level), func(b *testing.B) {
			for b.Loop() {
				if s.Recycle(level, &s.pairs, from, out) != len(out) {
					b.Fatal("not all were recycled")
				}
			}
			b.ReportMetric(float64(b.Elapsed().Nanoseconds())/float64(b.N)/float64(len(out)), "ns/contact")
		})
	}
}
