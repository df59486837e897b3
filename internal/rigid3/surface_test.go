package rigid3

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/evertick/evertick/internal/mesh"
	"github.com/evertick/evertick/internal/paritytest"
)

// cookMesh is mesh.Cook for a test.
func cookMesh(t testing.TB, vertices [][3]float32, triangles [][3]uint32) *mesh.Mesh {
	t.Helper()
	m, _, err := mesh.Cook(vertices, triangles)
	if err != nil {
		t.Fatal(err)
	}
	return m
}

// gridMesh is n × n squares around the origin, each of two triangles along a diagonal that is drawn. Inner vertices are moved by a share of a square.
func gridMesh(t testing.TB, rng *rand.Rand, n int, square, share float32, height func(x, z float32) float32) *mesh.Mesh {
	t.Helper()
	var vertices [][3]float32
	var triangles [][3]uint32
	for i := range n + 1 {
		for j := range n + 1 {
			x, z := float32(i-n/2)*square, float32(j-n/2)*square
			if i > 0 && j > 0 && i < n && j < n {
				x += (rng.Float32() - .5) * square * share
				z += (rng.Float32() - .5) * square * share
			}
			vertices = append(vertices, [3]float32{x, height(x, z), z})
		}
	}
	for i := range n {
		for j := range n {
			a := uint32(i*(n+1) + j)
			b, c, d := a+1, a+uint32(n)+1, a+uint32(n)+2
			if rng.IntN(2) == 0 {
				triangles = append(triangles, [3]uint32{a, b, c}, [3]uint32{b, d, c})
			} else {
				triangles = append(triangles, [3]uint32{a, d, c}, [3]uint32{a, b, d})
			}
		}
	}
	return cookMesh(t, vertices, triangles)
}

// surfaceScene is a surface at the origin and a shape.
type surfaceScene struct {
	k        SurfaceCollider
	surface  mesh.Surface
	twoSided bool
	out      [MaxSurfaceManifolds]SurfaceManifold
}

func (s *surfaceScene) collide(shape *Shape, pose *Pose) []SurfaceManifold {
	return s.out[:s.k.Collide(s.surface, s.twoSided, shape, &testHulls, &origin, pose, &origin, &s.out)]
}

// deepestOf returns the least separation of manifolds, or +Inf.
func deepestOf(ms []SurfaceManifold) float64 {
	least := math.Inf(1)
	for i := range ms {
		least = min(least, deepest(&ms[i].Manifold))
	}
	return least
}

// coreAt returns a shape's core and its pose.
func coreAt(shape *Shape, pose *Pose) (t Polytope, at pose64) {
	at.set(pose, &shape.Pose)
	return shape.polytope(&testHulls, new(boxArrays)), at
}

// distanceTo returns the distance of a shape from the triangles of a surface that have their front at its centre, negative if it overlaps, and
// whether its core meets one of them.
func (s *surfaceScene) distanceTo(shape *Shape, pose *Pose) (least float64, meets bool) {
	core, at := coreAt(shape, pose)
	centre := at.apply(core.Centre.wide64())
	least = math.Inf(1)
	for i := range s.surface.Len() {
		f := s.surface.Face(uint32(i))
		a, b, c := vecOf(f.Vertices[0]), vecOf(f.Vertices[1]), vecOf(f.Vertices[2])
		n := b.wide64().Sub(a.wide64()).Cross(c.wide64().Sub(a.wide64())).unit(vec64{})
		if !s.twoSided && centre.Sub(a.wide64()).Dot(n) < 0 {
			continue
		}
		p := corePair{a: Polytope{Vertices: []Vec{a, b, c}}, b: core, boxB: shape.Kind == KindBox, at: at}
		g, apart := p.separated()
		if !apart {
			g.distance, meets = 0, true
		}
		least = min(least, g.distance-float64(shape.Radius))
	}
	return least, meets
}

// overlapUpwards returns by how much a shape must be lifted to be apart from all triangles, to a tenth of a millimetre; negative: it can be lowered.
func (s *surfaceScene) overlapUpwards(shape *Shape, pose *Pose) float64 {
	lo, hi := float32(-2), float32(2)
	both := surfaceScene{surface: s.surface, twoSided: true}
	for hi-lo > 1e-4 {
		middle := (lo + hi) / 2
		lifted := Pose{pose.P.Add(Vec{Y: middle}), pose.Q}
		if d, _ := both.distanceTo(shape, &lifted); d > 0 && both.isAboveAll(shape, &lifted) {
			hi = middle
		} else {
			lo = middle
		}
	}
	return float64(hi)
}

// isAboveAll reports whether the centre of a shape is above all triangles that are below or above it.
func (s *surfaceScene) isAboveAll(shape *Shape, pose *Pose) bool {
	core, at := coreAt(shape, pose)
	c := at.apply(core.Centre.wide64())
	for i := range s.surface.Len() {
		f := s.surface.Face(uint32(i))
		v := [3]vec64{wideArray(f.Vertices[0]), wideArray(f.Vertices[1]), wideArray(f.Vertices[2])}
		n := v[1].Sub(v[0]).Cross(v[2].Sub(v[0]))
		inside := true
		for k := range v {
			side := v[(k+1)%3].Sub(v[k]).Cross(vec64{y: 1})
			inside = inside && side.Dot(c.Sub(v[k])) <= 0
		}
		if inside && n.Dot(c.Sub(v[0])) < 0 {
			return false
		}
	}
	return true
}

// randomTouching draws a shape of some decimetres.
func randomTouching(rng *rand.Rand) *Shape {
	size := func() float32 { return .05 + .5*rng.Float32() }
	radius := float32(0)
	if rng.IntN(4) == 0 {
		radius = .2 * rng.Float32()
	}
	pose := Pose{Q: Identity}
	if rng.IntN(2) == 0 {
		pose = Pose{Vec{size(), -size(), size()}, randomQuat(rng)}
	}
	var s Shape
	switch rng.IntN(5) {
	case 0:
		s = NewSphere(pose.P, size())
	case 1:
		s = NewCapsule(pose.P, pose.P.Add(Vec{size(), size(), -size()}), size()/2)
	case 2, 3:
		s = NewBoxShape(Vec{size(), size(), size()}, pose, radius)
	default:
		s = NewHullShape(someHull(rng).Hull, pose, radius)
	}
	return &s
}

// A ball on a floor of two triangles, at all places on their common edge, touches once, straight up.
func TestBallOnTwoTriangles(t *testing.T) {
	s := surfaceScene{surface: cookMesh(t, [][3]float32{{-1, 0, -1}, {1, 0, -1}, {1, 0, 1}, {-1, 0, 1}}, [][3]uint32{{0, 2, 1}, {0, 3, 2}})}
	for i := range 100 {
		x := float32(i)/50 - .99
		ms := s.collide(ball(.5), at(x, .49, x))
		if len(ms) != 1 || ms[0].Count != 1 || ms[0].Normal != (Vec{0, 1, 0}) || math.Abs(deepestOf(ms)+.01) > 1e-6 {
			t.Fatalf("x %g: %+v", x, ms)
		}
	}
	if ms := s.collide(ball(.5), at(0, -.1, 0)); len(ms) != 0 {
		t.Errorf("behind the floor: %+v", ms)
	}
	s.twoSided = true
	if ms := s.collide(ball(.5), at(0, -.1, 0)); len(ms) != 1 || ms[0].Normal != (Vec{0, -1, 0}) {
		t.Errorf("two sides: %+v", ms)
	}
}

// Over flat ground, however it is divided, each shape in each pose has one manifold straight up, with its lowest points: exactly on edges and on
// vertices too.
func TestFlatGround(t *testing.T) {
	seed := paritytest.Seed()
	rng := rand.New(rand.NewPCG(seed, 1))
	cases := 600
	if os.Getenv("EVERTICK_LONG") != "" {
		cases = 200_000
	}
	flat := func(x, z float32) float32 { return 0 }
	var s surfaceScene
	var square float32
	for i := range cases {
		if i%60 == 0 {
			square = [5]float32{2, 1, .5, .25, .1}[rng.IntN(5)]
			s.surface = gridMesh(t, rng, int(min(6/square, 30)), square, float32(rng.IntN(2))*.4, flat)
			s.twoSided = rng.IntN(2) == 0
		}
		shape := randomTouching(rng)
		pose := &Pose{Q: randomQuat(rng)}
		switch rng.IntN(3) {
		case 0:
			pose.Q = Identity
		case 1:
			pose.Q = Quat{float32(rng.NormFloat64()) * 1e-3, rng.Float32(), float32(rng.NormFloat64()) * 1e-3, 1}.Normalize()
		}
		if rng.IntN(2) == 0 {
			f := s.surface.Face(uint32(rng.IntN(s.surface.Len())))
			pose.P = vecOf(f.Vertices[0])
			if rng.IntN(2) == 0 {
				pose.P = pose.P.Add(vecOf(f.Vertices[1])).Times(.5)
			}
			pose.P = pose.P.Times(.2)
		} else {
			pose.P = Vec{rng.Float32() - .5, 0, rng.Float32() - .5}.Times(.5)
		}
		lo, _ := shape.bounds(&testHulls, pose, 0)
		want := float64(rng.Float32()*.05 - .03)
		if rng.IntN(8) == 0 && shape.Kind != KindHull {
			want = -.06
		}
		pose.P.Y = float32(want) - lo.Y
		core, world := coreAt(shape, pose)
		lo, hi := shape.bounds(&testHulls, pose, 0)
		ground := s.surface.Bounds()
		if c := world.apply(core.Centre.wide64()); c.y < .01 || lo.X < ground.Min[0]+.1 || lo.Z < ground.Min[2]+.1 || hi.X > ground.Max[0]-.1 || hi.Z > ground.Max[2]-.1 {
			continue
		}
		ms := s.collide(shape, pose)
		if want > SpeculativeDistance-1e-5 {
			if want > SpeculativeDistance+1e-5 && len(ms) != 0 {
				t.Fatalf("seed %d, case %d: apart by %g: %+v", seed, i, want, ms)
			}
			continue
		}
		tolerance := 2e-6 + 1e-6*float64(shape.MaxExtent(&testHulls))
		if shape.Kind == KindHull && want < -edgeTolerance {
			tolerance = edgeTolerance // the tip of a hull may be under a triangle that it is beside
		}
		if len(ms) != 1 || ms[0].Normal != (Vec{0, 1, 0}) || math.Abs(deepestOf(ms)-want) > tolerance {
			t.Fatalf("seed %d, case %d: kind %d, squares %g, deepest %g, want %g: %+v", seed, i, shape.Kind, square, deepestOf(ms), want, ms)
		}
		for j := range ms[0].Points[:ms[0].Count] {
			p := &ms[0].Points[j]
			if p.ID>>30 != vertexOfShape && tolerance < edgeTolerance {
				t.Fatalf("seed %d, case %d: kind %d, squares %g, a point that is no vertex: %+v", seed, i, shape.Kind, square, ms)
			}
			if d := p.AnchorB.Add(pose.P).Sub(p.AnchorA).length(); d > 1e-6 || math.Abs(float64(p.AnchorA.Y)-float64(p.Separation)/2) > 2e-6 {
				t.Fatalf("seed %d, case %d: anchors of %+v", seed, i, p)
			}
		}
		if shape.Kind == KindBox && pose.Q == Identity && shape.Pose.Q == Identity && ms[0].Count != 4 {
			t.Fatalf("seed %d, case %d: a box with %d points: %+v", seed, i, ms[0].Count, ms)
		}
	}
}

// On rough ground no contact is lost. Few are deeper than the height by which the shape must be lifted to be free: those on spikes that stick deep in
// the shape.
func TestRoughGround(t *testing.T) {
	seed := paritytest.Seed()
	cases := 250
	if os.Getenv("EVERTICK_LONG") != "" {
		cases = 100_000
	}
	touching, apart, deep := 0, 0, 0
	var s surfaceScene
	for i := range cases {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		steep := [4]float32{.05, .2, .5, 1}[rng.IntN(4)]
		s.surface = gridMesh(t, rng, 8, .3+.5*rng.Float32(), .5*rng.Float32(), func(x, z float32) float32 { return steep * float32(rng.IntN(9)) / 8 })
		shape := randomTouching(rng)
		pose := &Pose{Vec{rng.Float32() - .5, .5, rng.Float32() - .5}, randomQuat(rng)}
		pose.P.Y += float32(s.overlapUpwards(shape, pose))
		over := rng.Float32()*.05 - .03
		pose.P.Y -= over
		want, meets := s.distanceTo(shape, pose)
		ms := s.collide(shape, pose)
		got := deepestOf(ms)
		fail := func(what string) {
			t.Helper()
			t.Fatalf("seed %d, case %d, kind %d, radius %g: %s: deepest %g, distance %g, core meets %v, lowered by %g: %+v", seed, i, shape.Kind, shape.Radius, what, got, want, meets, over, ms)
		}
		for j := range ms {
			m := &ms[j]
			if m.Count == 0 || math.Abs(float64(m.Normal.length())-1) > 1e-5 {
				fail("manifold")
			}
			if m.Normal.Y < 0 {
				fail("a normal points down")
			}
			if j > 0 && deepest(&m.Manifold) < deepest(&ms[j-1].Manifold) {
				fail("order")
			}
		}
		switch {
		case want > SpeculativeDistance+1e-4:
			apart++
			if len(ms) > 0 {
				fail("contact of shapes apart")
			}
		case !meets:
			touching++
			if want < SpeculativeDistance-1e-4 && math.Abs(got-want) > edgeTolerance+referenceTolerance+1e-4 {
				fail("distance")
			}
		default:
			touching++
			if got > 1e-4 {
				fail("no contact")
			}
			if -got > float64(over)+float64(shape.Radius)+edgeTolerance+referenceTolerance {
				deep++
			}
		}
	}
	if touching < cases/3 || deep > cases/25 {
		t.Errorf("seed %d: %d touching, %d too deep, %d apart", seed, touching, deep, apart)
	}
}
