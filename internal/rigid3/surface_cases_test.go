package rigid3

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/mesh"
	"github.com/evertick/evertick/internal/paritytest"
)

// oneTriangle is a surface of one triangle.
func oneTriangle(t *testing.T, a, b, c [3]float32) *mesh.Mesh {
	t.Helper()
	return cookMesh(t, [][3]float32{a, b, c}, [][3]uint32{{0, 1, 2}})
}

// Case 79: a nearly level triangle far from the origin, whose edges are awkward.
func TestAwkwardTriangle(t *testing.T) {
	for _, c := range []struct {
		move      [3]float64
		tolerance float64
	}{{tolerance: 1e-3}, {[3]float64{-2834, -198, 644}, 1e-4}} {
		moved := func(x, y, z float64) [3]float32 {
			return [3]float32{float32(x + c.move[0]), float32(y + c.move[1]), float32(z + c.move[2])}
		}
		s := surfaceScene{surface: oneTriangle(t, moved(2832.862, 200, -641.5822), moved(2834.611, 200.0066, -643.3685), moved(2834.289, 200, -640.1809)), twoSided: true}
		for _, shape := range []struct {
			shape  *Shape
			height float64
		}{{ball(.3), .3}, {upright(.2, .4), .6}, {capsule(Vec{-.1, 0, 0}, Vec{.1, 0, 0}, .2), .2}, {box(.1, .1, .1), .1}} {
			p := moved(2833.92067, 200.0022+shape.height-.005, -641.71053)
			ms := s.collide(shape.shape, at(p[0], p[1], p[2]))
			if len(ms) != 1 || math.Abs(deepestOf(ms)+.005) > c.tolerance+.004*float64(shape.shape.MaxExtent(nil)) || ms[0].Normal.Y < .99999 {
				t.Errorf("moved by %v, kind %d: %+v", c.move, shape.shape.Kind, ms)
			}
		}
	}
}

// Case 20: a capsule beside a triangle that is almost parallel.
func TestCapsuleBesideTriangle(t *testing.T) {
	for i, c := range []struct {
		capsule *Shape
		a, b, c [3]float32
		depth   float64
		normal  Vec
	}{
		{upright(.37, .5), [3]float32{-.479988575, -1.36185002, .26996696}, [3]float32{-.104996204, .38815248, .269967079}, [3]float32{-.104996204, -1.36185002, .26996696}, .080334, Vec{.362473, 0, -.931994}},
		{upright(.42, .675), [3]float32{-.0904417038, -4.72410202, .307858467}, [3]float32{-.0904417038, 5.27589798, .307857513}, [3]float32{9.9095583, 5.27589798, .307864189}, .112142, Vec{0, 0, -1}},
		{upright(.5, .65), [3]float32{-.474807739, 17.2921791, .212532043}, [3]float32{-.474807739, -2.70782185, .212535858}, [3]float32{-.85749054, -2.70782185, -.711341858}, -.019999, Vec{.923880, 0, -.382684}},
	} {
		s := surfaceScene{surface: oneTriangle(t, c.a, c.b, c.c), twoSided: true}
		ms := s.collide(c.capsule, &origin)
		if len(ms) != 1 || math.Abs(deepestOf(ms)+c.depth) > 1e-5 || ms[0].Normal.Sub(c.normal).length() > 1e-3 {
			t.Errorf("%d: want depth %g along %v: %+v", i+1, c.depth, c.normal, ms)
		}
	}
}

// A capsule whose end sticks deep in flat ground is as deep as that, although the triangle that it passes through is at the border of the ground: its
// edge to the other one is where the ground goes on.
func TestCapsuleThroughFlatGround(t *testing.T) {
	s := surfaceScene{surface: cookMesh(t, [][3]float32{{-2, 0, -2}, {-2, 0, 2}, {2, 0, 2}, {2, 0, -2}}, [][3]uint32{{0, 1, 2}, {0, 2, 3}})}
	for _, end := range []Vec{{.01, -.0285, .03}, {-.2, -.0285, .2}, {0, -.0285, 1.5}, {0, -.0285, 1.95}} { // the last two are near the border
		for _, other := range []Vec{{.1, .4, -.3}, {.4, .4, .1}, {0, .4, -.01}, {.5, .1, -.5}} {
			ms := s.collide(capsule(end, end.Add(other), .03), &origin)
			if len(ms) != 1 || ms[0].Normal != (Vec{0, 1, 0}) || math.Abs(deepestOf(ms)+.0585) > 1e-6 {
				t.Errorf("from %v by %v: %+v", end, other, ms)
			}
		}
	}
}

// Case 24: a small triangle far from a huge cube.
func TestFarSmallTriangle(t *testing.T) {
	s := surfaceScene{twoSided: true, surface: oneTriangle(t, [3]float32{-81.5637589, -126.987244, -146.771729}, [3]float32{-81.8749924, -127.270691, -146.544403}, [3]float32{-81.6972275, -127.383545, -146.773254})}
	// The axes of the cube, from its corners.
	x, y := Vec{193.559326, 301.451, 110.81744}.unit(Vec{}), Vec{-248.210442, 222.511963, -171.750732}.unit(Vec{})
	z := x.Cross(y)
	w := sqrt(maxFloat(1+x.X+y.Y+z.Z, 0)) / 2
	q := Quat{(y.Z - z.Y) / (4 * w), (z.X - x.Z) / (4 * w), (x.Y - y.X) / (4 * w), w}.Normalize()
	if ms := s.collide(box(187.5, 187.5, 187.5), &Pose{Vec{-3.305228, -105.07488, 491.901}, q}); len(ms) != 0 {
		t.Errorf("%+v", ms)
	}
}

// Two triangles that are kilometres large are as precise as small ones: the normal is straight up anywhere, on the diagonal too.
func TestLargeTriangles(t *testing.T) {
	rng := rand.New(rand.NewPCG(paritytest.Seed(), 1))
	s := surfaceScene{surface: cookMesh(t, [][3]float32{{-4000, 0, -4000}, {4000, 0, -4000}, {4000, 0, 4000}, {-4000, 0, 4000}}, [][3]uint32{{0, 2, 1}, {0, 3, 2}})}
	for range 300 {
		shape := randomTouching(rng)
		pose := &Pose{Vec{7800 * (rng.Float32() - .5), 0, 7800 * (rng.Float32() - .5)}, randomQuat(rng)}
		if rng.IntN(2) == 0 {
			pose.P.Z = pose.P.X
		}
		lo, _ := shape.bounds(&testHulls, pose, 0)
		pose.P.Y = -.004 - lo.Y
		core, world := coreAt(shape, pose)
		if world.apply(core.Centre.wide64()).y < .01 {
			continue
		}
		ms := s.collide(shape, pose)
		if len(ms) != 1 || ms[0].Normal != (Vec{0, 1, 0}) || math.Abs(deepestOf(ms)+.004) > 1e-5 {
			t.Fatalf("kind %d at %v: %+v", shape.Kind, pose.P, ms)
		}
	}
}

// Along a ridge normals lie between those of its sides, and in a valley they are those of its sides, wherever the surface is divided.
func TestRidgesAndValleys(t *testing.T) {
	seed := paritytest.Seed()
	counts := [2]int{}
	for i := range 300 {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		slope := [4]float32{.01, .1, .5, 1}[rng.IntN(4)]
		valley := rng.IntN(2)
		s := surfaceScene{surface: gridMesh(t, rng, 8, [3]float32{.3, .5, 1}[rng.IntN(3)], 0, func(x, z float32) float32 {
			if valley == 1 {
				return slope * abs(x)
			}
			return -slope * abs(x)
		})}
		shape := randomTouching(rng)
		pose := &Pose{Vec{.3 * (rng.Float32() - .5), .5, .3 * (rng.Float32() - .5)}, randomQuat(rng)}
		if rng.IntN(2) == 0 {
			pose.Q = Identity
		}
		pose.P.Y += float32(s.overlapUpwards(shape, pose)) - .004*rng.Float32()
		if lo, hi := shape.bounds(&testHulls, pose, .05); lo.X < -1 || lo.Z < -1 || hi.X > 1 || hi.Z > 1 {
			continue
		}
		l := math.Sqrt(1 + float64(slope)*float64(slope))
		side := float64(slope) / l
		for _, m := range s.collide(shape, pose) {
			counts[valley]++
			x, z := math.Abs(float64(m.Normal.X)), math.Abs(float64(m.Normal.Z))
			if z > 1e-6 && (valley == 1 || float64(m.Normal.Y) < 1/l-1e-4) || x > side+1e-4 || valley == 1 && x < side-1e-6 {
				t.Fatalf("seed %d, case %d: kind %d, slope %g, valley %d: %+v", seed, i, shape.Kind, slope, valley, m)
			}
		}
	}
	if counts[0] < 50 || counts[1] < 50 {
		t.Errorf("seed %d: %v manifolds", seed, counts)
	}
}

// A sheet of two sides, or of two triangles with their backs together, keeps shapes on the side of their centre.
func TestThinSheets(t *testing.T) {
	rng := rand.New(rand.NewPCG(paritytest.Seed(), 2))
	corners := [][3]float32{{-2, 0, -2}, {2, 0, -2}, {2, 0, 2}, {-2, 0, 2}}
	one := surfaceScene{surface: cookMesh(t, corners, [][3]uint32{{0, 2, 1}, {0, 3, 2}}), twoSided: true}
	two := surfaceScene{surface: cookMesh(t, corners, [][3]uint32{{0, 2, 1}, {0, 3, 2}, {0, 1, 2}, {0, 2, 3}})}
	for range 300 {
		shape := randomTouching(rng)
		up := float32(1 - 2*rng.IntN(2))
		pose := &Pose{Vec{rng.Float32() - .5, 0, rng.Float32() - .5}, randomQuat(rng)}
		lo, hi := shape.bounds(&testHulls, pose, 0)
		if up > 0 {
			pose.P.Y = -.004 - lo.Y
		} else {
			pose.P.Y = .004 - hi.Y
		}
		core, world := coreAt(shape, pose)
		if c := world.apply(core.Centre.wide64()); abs(float32(c.y)) < .01 || lo.X < -1.5 || lo.Z < -1.5 || hi.X > 1.5 || hi.Z > 1.5 {
			continue
		}
		for _, s := range []*surfaceScene{&one, &two} {
			ms := s.collide(shape, pose)
			if len(ms) != 1 || ms[0].Normal != (Vec{0, up, 0}) || math.Abs(deepestOf(ms)+.004) > 1e-5 {
				t.Fatalf("kind %d, side %g: %+v", shape.Kind, up, ms)
			}
		}
	}
}

// The surface and the shape may be turned together, and the surface may have a pose in its body.
func TestTurnedSurface(t *testing.T) {
	seed := paritytest.Seed()
	for i := range 100 {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		s := surfaceScene{surface: gridMesh(t, rng, 8, .5, .3, func(x, z float32) float32 { return .2 * float32(rng.IntN(3)) })}
		shape := randomTouching(rng)
		pose := &Pose{Vec{rng.Float32() - .5, .5, rng.Float32() - .5}, randomQuat(rng)}
		pose.P.Y += float32(s.overlapUpwards(shape, pose)) - .004
		turn := Pose{Vec{rng.Float32(), rng.Float32(), rng.Float32()}, randomQuat(rng)}
		local := Pose{Vec{rng.Float32(), rng.Float32(), rng.Float32()}, randomQuat(rng)}
		// turn = body × local
		body := Pose{Q: turn.Q.Mul(local.Q.Inverse())}
		body.P = turn.P.Sub(body.Q.Rotate(local.P))
		turned := turn.Times(pose)
		var other SurfaceCollider
		var out [MaxSurfaceManifolds]SurfaceManifold
		want := s.collide(shape, pose)
		n := other.Collide(s.surface, false, shape, &testHulls, &body, &turned, &local, &out)
		if n == 0 || len(want) == 0 || math.Abs(deepestOf(out[:n])-deepestOf(want)) > 1e-4+referenceTolerance {
			t.Fatalf("seed %d, case %d: %+v, turned %+v", seed, i, want, out[:n])
		}
		// The deepest contact of a manifold decides its normal: rounding, if another one is as deep.
		angle := 1e-3
		if c := s.k.contacts; len(c) > 1 && c[1].depth-c[0].depth < 1e-5 {
			angle += math.Sqrt(2 * (1 - mergeCosine))
		}
		if n == 1 && len(want) == 1 && float64(turn.Q.Rotate(want[0].Normal).Sub(out[0].Normal).length()) > angle {
			t.Fatalf("seed %d, case %d: normal %v, turned %v", seed, i, want[0].Normal, out[0].Normal)
		}
		for _, m := range out[:n] {
			for _, p := range m.Points[:m.Count] {
				if d := p.AnchorA.Add(body.P).Sub(p.AnchorB.Add(turned.P)).length(); d > 1e-5 {
					t.Fatalf("seed %d, case %d: anchors %g apart", seed, i, d)
				}
			}
		}
	}
}

// What is not finite, huge, or no shape touches nothing.
func TestSurfaceRefuses(t *testing.T) {
	s := surfaceScene{surface: oneTriangle(t, [3]float32{-1, 0, -1}, [3]float32{0, 0, 1}, [3]float32{1, 0, -1})}
	nan := float32(math.NaN())
	shapes := []*Shape{ball(.5), upright(.3, .2), box(.5, .5, .5), hullShapeOf(12)}
	for _, shape := range shapes {
		if len(s.collide(shape, at(0, .4, 0))) == 0 {
			t.Errorf("kind %d: no manifold", shape.Kind)
		}
		for _, pose := range []Pose{
			{Vec{nan, 0, 0}, Identity}, {Vec{0, inf, 0}, Identity}, {Vec{0, 0, -1e30}, Identity}, {Vec{0, .4, 0}, Quat{}}, {Vec{0, .4, 0}, Quat{nan, 0, 0, 1}},
			{Vec{0, .4, 0}, Quat{1e20, 0, 0, 1}}, {Vec{1 << 24, .4, 1 << 24}, Identity},
		} {
			if ms := s.collide(shape, &pose); len(ms) != 0 {
				t.Errorf("kind %d at %v: %+v", shape.Kind, pose, ms)
			}
			if n := s.k.Collide(s.surface, false, shape, &testHulls, &pose, at(0, .4, 0), &origin, &s.out); n != 0 {
				t.Errorf("kind %d, surface at %v: %d manifolds", shape.Kind, pose, n)
			}
		}
		for _, broken := range []func(*Shape){
			func(s *Shape) { s.Kind = KindNone }, func(s *Shape) { s.Radius = nan }, func(s *Shape) { s.Half.Y = inf }, func(s *Shape) { s.Pose.P.X = nan },
		} {
			c := *shape
			if broken(&c); len(s.collide(&c, at(0, .4, 0))) != 0 {
				t.Errorf("%+v: %+v", c, s.out[0])
			}
		}
	}
	if ms := s.collide(&Shape{Kind: KindHull, Hull: 1 << 20, Pose: origin}, at(0, .4, 0)); len(ms) != 0 {
		t.Errorf("a hull that is not there: %+v", ms)
	}
}

// Nothing is allocated once the memory has grown.
func TestSurfaceAllocations(t *testing.T) {
	rng := rand.New(rand.NewPCG(4, 4))
	s := surfaceScene{surface: gridMesh(t, rng, 20, .1, .3, func(x, z float32) float32 { return .05 * rng.Float32() })}
	for _, shape := range []*Shape{ball(.5), capsule(Vec{-.5, 0, 0}, Vec{.5, 0, 0}, .3), box(.5, .5, .5), hullShapeOf(24)} {
		if n := testing.AllocsPerRun(20, func() { s.collide(shape, at(0, .45, 0)) }); n != 0 {
			t.Errorf("kind %d: %g allocations", shape.Kind, n)
		}
	}
}

// The order of the vertices and of the triangles in the input does not matter, nor what the memory was used for.
func TestSurfaceOrder(t *testing.T) {
	seed := paritytest.Seed()
	var reused SurfaceCollider
	for i := range 60 {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		s := surfaceScene{surface: gridMesh(t, rng, 8, .3, .3, func(x, z float32) float32 { return .05 * float32(rng.IntN(3)) })}
		m := s.surface.(*mesh.Mesh)
		order := rng.Perm(len(m.Vertices))
		vertices, triangles := make([][3]float32, len(order)), make([][3]uint32, len(m.Triangles))
		for from, to := range order {
			vertices[to] = m.Vertices[from]
		}
		for from, to := range rng.Perm(len(triangles)) {
			v, first := m.Triangles[from].Vertices, rng.IntN(3)
			for j := range v {
				triangles[to][j] = uint32(order[v[(first+j)%3]])
			}
		}
		other := surfaceScene{k: reused, surface: cookMesh(t, vertices, triangles)}
		shape := randomTouching(rng)
		pose := &Pose{Vec{rng.Float32() - .5, .3 * rng.Float32(), rng.Float32() - .5}, randomQuat(rng)}
		want, got := s.collide(shape, pose), other.collide(shape, pose)
		if !slices.Equal(want, got) {
			t.Fatalf("seed %d, case %d: %+v, in another order %+v", seed, i, want, got)
		}
		reused = other.k
	}
}

// Triangles that cross and share edges at random, from a millimetre to a kilometre large: manifolds are well formed, and there is one wherever the core
// of a shape meets the front of a triangle.
func TestSurfaceOfSoup(t *testing.T) {
	seed := paritytest.Seed()
	found := 0
	for i := range 150 {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		size := float32(math.Pow(10, 6*rng.Float64()-3))
		vertices := make([][3]float32, 12)
		for k := range vertices {
			for j := range 3 {
				vertices[k][j] = size * (rng.Float32() - .5)
			}
			if rng.IntN(2) == 0 {
				vertices[k][1] = 0
			}
		}
		triangles := make([][3]uint32, 24)
		for k := range triangles {
			triangles[k] = [3]uint32{uint32(rng.IntN(12)), uint32(rng.IntN(12)), uint32(rng.IntN(12))}
		}
		m, _, err := mesh.Cook(vertices, triangles)
		if err != nil {
			continue
		}
		s := surfaceScene{surface: m, twoSided: rng.IntN(2) == 0}
		for range 4 {
			shape := randomTouching(rng)
			pose := &Pose{Vec{rng.Float32() - .5, rng.Float32() - .5, rng.Float32() - .5}.Times(minFloat(size, 1)), randomQuat(rng)}
			ms := s.collide(shape, pose)
			found += len(ms)
			for j := range ms {
				c := &ms[j]
				if c.Count < 1 || c.Count > MaxPoints || math.Abs(float64(c.Normal.length())-1) > 1e-5 || int(c.Face) >= m.Len() || j > 0 && c.least() < ms[j-1].least() {
					t.Fatalf("seed %d, case %d: manifold %d of %+v", seed, i, j, ms)
				}
				for n := range c.Points[:c.Count] {
					p := &c.Points[n]
					if sum := p.AnchorA.absSum() + p.AnchorB.absSum() + abs(p.Separation); !(sum <= maxReach) || p.Separation > SpeculativeDistance || n > 0 && p.ID <= c.Points[n-1].ID {
						t.Fatalf("seed %d, case %d: point %d of %+v", seed, i, n, c)
					}
				}
			}
			if _, meets := s.distanceTo(shape, pose); meets && len(ms) == 0 && size > .1 {
				t.Fatalf("seed %d, case %d: kind %d of radius %g meets a triangle of %g m, and has no manifold", seed, i, shape.Kind, shape.Radius, size)
			}
		}
	}
	if found == 0 {
		t.Errorf("seed %d: no manifold", seed)
	}
}
