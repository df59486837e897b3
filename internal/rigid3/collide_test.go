package rigid3

import (
	"math"
	"math/rand/v2"
	"os"
	"testing"

	"github.com/evertick/evertick/internal/broad"
	"github.com/evertick/evertick/internal/hull"
	"github.com/evertick/evertick/internal/paritytest"
	"github.com/evertick/evertick/internal/vec"
	"github.com/evertick/evertick/native"
)

var origin = Pose{Q: Identity}

func at(x, y, z float32) *Pose { return &Pose{Vec{x, y, z}, Identity} }

// testHulls are the polytopes of all tests.
var testHulls Hulls

func box(x, y, z float32) *Shape {
	s := NewBoxShape(Vec{x, y, z}, origin, 0)
	return &s
}

func ball(r float32) *Shape {
	s := NewSphere(Vec{}, r)
	return &s
}

// upright is a capsule along y.
func upright(r, half float32) *Shape { return capsule(Vec{0, -half, 0}, Vec{0, half, 0}, r) }

func capsule(p, q Vec, r float32) *Shape {
	s := NewCapsule(p, q, r)
	return &s
}

// hullShape adds a hull to testHulls.
func hullShape(p *hull.Polyhedron) *Shape {
	n := testHulls.Len()
	testHulls.Set(n, NewPolytope(p))
	s := NewHullShape(uint32(n), origin, 0)
	return &s
}

// core returns the core of a shape, in its pose in the body.
func (s *Shape) core() *Polytope {
	t := s.polytope(&testHulls, new(boxArrays))
	t.Vertices = append([]Vec(nil), t.Vertices...)
	for i, v := range t.Vertices {
		t.Vertices[i] = s.Pose.Transform(v)
	}
	return &t
}

// collide is CollidePairs for one pair.
func collide(a, b *Shape, pa, pb *Pose) Manifold {
	out := []Manifold{{Count: 7}}
	CollidePairs(native.Go, []Shape{*a, *b}, &testHulls, []uint32{0, 1}, []Pose{*pa, *pb}, &broad.Pairs{A: []uint32{0}, B: []uint32{1}}, nil, out)
	return out[0]
}

// checkManifold checks what holds for each manifold: 1 to 4 points, a unit normal, the mirror image if the shapes change roles.
func checkManifold(t *testing.T, a, b *Shape, pa, pb *Pose) Manifold {
	t.Helper()
	m, other := collide(a, b, pa, pb), collide(b, a, pb, pa)
	if m.Count > MaxPoints || m.Count > 0 && math.Abs(float64(m.Normal.length())-1) > 1e-5 {
		t.Fatalf("%d points, normal %v", m.Count, m.Normal)
	}
	if m.Count == 0 {
		if m != (Manifold{}) {
			t.Fatalf("not empty: %v", m)
		}
		return m
	}
	for i := range m.Points[:m.Count] {
		p := &m.Points[i]
		if d := p.AnchorA.Add(pa.P).Sub(p.AnchorB.Add(pb.P)).length(); d > 1e-5*(1+pa.P.length()+pb.P.length()) {
			t.Fatalf("the anchors of point %d are %g apart", i, d)
		}
		if i > 0 && m.Points[i-1].ID >= p.ID {
			t.Fatalf("IDs %#x, %#x", m.Points[i-1].ID, p.ID)
		}
	}
	if a.Kind.rank() != b.Kind.rank() {
		if other.Count != m.Count || other.Normal != m.Normal.neg() || other.Points[0].AnchorB != m.Points[0].AnchorA {
			t.Fatalf("%v is not the mirror image of %v", other, m)
		}
	}
	return m
}

func deepest(m *Manifold) float64 {
	least := math.Inf(1)
	for i := range m.Points[:m.Count] {
		least = min(least, float64(m.Points[i].Separation))
	}
	return least
}

// Faces that meet have four points.
func TestFourPoints(t *testing.T) {
	m := checkManifold(t, box(1, 1, 1), box(1, 1, 1), &origin, at(1.9999, 0, 0))
	if m.Count != 4 || m.Normal != (Vec{1, 0, 0}) {
		t.Fatalf("%d points, normal %v", m.Count, m.Normal)
	}
	for _, p := range m.Points {
		if math.Abs(float64(p.Separation)+1e-4) > 2e-6 || abs(p.AnchorA.Y) != 1 || abs(p.AnchorA.Z) != 1 {
			t.Errorf("%+v", p)
		}
	}
	m = checkManifold(t, box(1, 1, 1), box(10, 1, 10), at(9.5, 1.9, 9.5), &origin)
	if m.Count != 4 || m.Normal != (Vec{0, -1, 0}) {
		t.Fatalf("%d points, normal %v", m.Count, m.Normal)
	}
	for _, p := range m.Points {
		x, z := p.AnchorB.X, p.AnchorB.Z
		if math.Abs(float64(p.Separation)+.1) > 1e-5 || (abs(x-8.5) > 1e-5 && abs(x-10) > 1e-5) || (abs(z-8.5) > 1e-5 && abs(z-10) > 1e-5) {
			t.Errorf("%+v", p)
		}
	}
}

// Where axes are equal, the normal is always one of the coordinate axes.
func TestTiesOfAxes(t *testing.T) {
	for _, c := range []struct {
		a, b  *Shape
		p     *Pose
		depth float64
	}{{box(10, 10, 10), box(5, 5, 5), at(14, 14, 14), 1}, {box(.5, .5, .5), box(.05, .05, .05), at(.4, .4, .4), .15}} {
		for _, m := range []Manifold{checkManifold(t, c.a, c.b, &origin, c.p), checkManifold(t, c.b, c.a, c.p, &origin)} {
			if n := m.Normal; abs(n.X)+abs(n.Y)+abs(n.Z) != 1 {
				t.Errorf("normal %v", n)
			}
			if math.Abs(deepest(&m)+c.depth) > 1e-5 {
				t.Errorf("depth %g, want %g", -deepest(&m), c.depth)
			}
		}
	}
}

// A capsule beside a box, and a large one beside a larger box.
func TestCapsuleBesideBox(t *testing.T) {
	m := checkManifold(t, upright(.5, .425), box(.05, .75, .5), at(10.97, .925, 61.02), at(11.5, .75, 60.5))
	if m.Count != 2 || math.Abs(-deepest(&m)-.019584) > 2e-5 {
		t.Fatalf("%+v", m)
	}
	near(t, "normal", []float64{float64(m.Normal.X), float64(m.Normal.Y), float64(m.Normal.Z)}, []float64{.999133, 0, -.041631}, 1e-4)
	lo, hi := m.Points[0].AnchorB.Y+.75, m.Points[1].AnchorB.Y+.75
	near(t, "heights", []float64{float64(min(lo, hi)), float64(max(lo, hi))}, []float64{.5, 1.35}, 2e-5)

	c := capsule(Vec{30, 82, 29}, Vec{67, 68, 11}, 36)
	m = checkManifold(t, c, box(36, 18, 20), &origin, at(62, 81, 79))
	if m.Count == 0 || math.Abs(-deepest(&m)-6) > 1e-3 || m.Normal.Z < .9999 {
		t.Errorf("%+v", m)
	}
}

// A capsule, one of length zero and a ball go down through a floor.
func TestNoHolesInASweep(t *testing.T) {
	floor := box(50, 50, 50)
	for k := range 200 {
		y := -.5 + float32(k)/200
		pose := at(0, y, 0)
		long := checkManifold(t, upright(.5, .5), floor, pose, at(0, -50, 0))
		point := checkManifold(t, upright(.5, 0), floor, pose, at(0, -50, 0))
		round := checkManifold(t, ball(.5), floor, pose, at(0, -50, 0))
		if long.Count == 0 || point.Count == 0 || round.Count == 0 {
			t.Fatalf("y %g: no contact: %d, %d, %d points", y, long.Count, point.Count, round.Count)
		}
		if math.Abs(-deepest(&long)-float64(1-y)) > 5e-4 || math.Abs(-deepest(&point)-float64(.5-y)) > 5e-4 {
			t.Fatalf("y %g: depth %g and %g", y, -deepest(&long), -deepest(&point))
		}
		if point != round {
			t.Fatalf("y %g: a capsule of length 0 and a ball differ:\n%+v\n%+v", y, point, round)
		}
	}
}

// The size of the floor does not matter.
func TestCubeOnFloors(t *testing.T) {
	for _, s := range []float32{1, 10, 25, 50, 100, 1000} {
		for _, x := range []float32{0, .9 * s} {
			m := checkManifold(t, box(.1, .1, .1), box(s, .25, s), at(x, .349, x), &origin)
			if m.Count != 4 || math.Abs(deepest(&m)+.001) > 1e-4 {
				t.Errorf("floor %g, at %g: %d points, depth %g", s, x, m.Count, -deepest(&m))
			}
		}
	}
}

// randomPolytope draws a hull, as a shape.
func randomPolytope(rng *rand.Rand) *Shape {
	if rng.IntN(3) == 0 {
		return box(float32(.2+rng.Float64()), float32(.2+rng.Float64()), float32(.2+rng.Float64()))
	}
	var points [][3]float32
	for range 4 + rng.IntN(29) {
		points = append(points, [3]float32{float32(rng.NormFloat64()) / 2, float32(rng.NormFloat64()) / 2, float32(rng.NormFloat64()) / 2})
	}
	p, err := hull.Build(points, 64)
	if err != nil {
		return box(1, .5, .7)
	}
	return hullShape(p)
}

func randomQuat(rng *rand.Rand) Quat {
	return Quat{float32(rng.NormFloat64()), float32(rng.NormFloat64()), float32(rng.NormFloat64()), float32(rng.NormFloat64())}.Normalize()
}

// wide64 returns the vertices of a shape in the world, in float64.
func wide64(s *Shape, pose *Pose) (vs [][3]float64) {
	r := rotation([4]float64{float64(pose.Q.X), float64(pose.Q.Y), float64(pose.Q.Z), float64(pose.Q.W)})
	for _, v := range s.core().Vertices {
		w := [3]float64{float64(v.X), float64(v.Y), float64(v.Z)}
		vs = append(vs, [3]float64{vec.Dot(r[0], w) + float64(pose.P.X), vec.Dot(r[1], w) + float64(pose.P.Y), vec.Dot(r[2], w) + float64(pose.P.Z)})
	}
	return vs
}

// greatestSeparation is the separating axis test over the normals of all faces and all cross products of edges, in float64. If the
// polyhedra are apart, the greatest separation may be along an axis of neither kind, and a cross product of edges may come nearer to that
// than those which make faces of the Minkowski difference. Then faces counts only the latter.
func greatestSeparation(a, b *Shape, pa, pb *Pose) (all, faces float64) {
	va, vb := wide64(a, pa), wide64(b, pb)
	all, faces = math.Inf(-1), math.Inf(-1)
	try := func(n [3]float64, face bool) {
		l := vec.Length(n)
		if l < 1e-9 {
			return
		}
		n = vec.Scale(n, 1/l)
		maxA, minB, minA, maxB := math.Inf(-1), math.Inf(1), math.Inf(1), math.Inf(-1)
		for _, v := range va {
			maxA, minA = max(maxA, vec.Dot(n, v)), min(minA, vec.Dot(n, v))
		}
		for _, v := range vb {
			maxB, minB = max(maxB, vec.Dot(n, v)), min(minB, vec.Dot(n, v))
		}
		all = max(all, minB-maxA, minA-maxB)
		if face {
			faces = max(faces, minB-maxA, minA-maxB)
		}
	}
	var normals [2][][3]float64
	for k, s := range []*Shape{a, b} {
		vs := [][][3]float64{va, vb}[k]
		for _, f := range s.core().Faces {
			n := [3]float64{}
			for i := 1; i+1 < len(f.Vertices); i++ {
				n = vec.Add(n, vec.Cross(vec.Sub(vs[f.Vertices[i]], vs[f.Vertices[0]]), vec.Sub(vs[f.Vertices[i+1]], vs[f.Vertices[0]])))
			}
			n = vec.Scale(n, 1/vec.Length(n))
			normals[k] = append(normals[k], n)
			try(n, true)
		}
	}
	coreA, coreB := a.core(), b.core()
	for _, e := range coreA.Edges {
		for _, f := range coreB.Edges {
			cross := arcsCross(normals[0][e.Left], normals[0][e.Right], vec.Scale(normals[1][f.Left], -1), vec.Scale(normals[1][f.Right], -1))
			try(vec.Cross(vec.Sub(va[e.To], va[e.From]), vec.Sub(vb[f.To], vb[f.From])), cross)
		}
	}
	return all, faces
}

// arcsCross reports whether the arcs between the unit vectors a and b, and between c and d, clearly cross on the sphere.
func arcsCross(a, b, c, d [3]float64) bool {
	ab, cd := vec.Cross(b, a), vec.Cross(d, c)
	ca, da, ac, bc := vec.Dot(c, ab), vec.Dot(d, ab), vec.Dot(a, cd), vec.Dot(b, cd)
	return ca*da < -1e-9 && ac*bc < -1e-9 && ca*bc > 1e-9
}

// The separation of polyhedra against all axes in float64: where they overlap by more than a little, the manifold is as deep, but for
// what the preference of faces allows; where an axis separates them by more than the margin there is none.
func TestHullsAgainstAllAxes(t *testing.T) {
	cases := 400
	if os.Getenv("EVERTICK_LONG") != "" {
		cases = 1_000_000
	}
	seed := paritytest.Seed()
	apart, edges, faces := 0, 0, 0
	for i := range cases {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		a, b := randomPolytope(rng), randomPolytope(rng)
		pa := &Pose{Vec{float32(rng.NormFloat64()), float32(rng.NormFloat64()), float32(rng.NormFloat64())}, randomQuat(rng)}
		pb := &Pose{pa.P.Add(Vec{float32(rng.NormFloat64()), float32(rng.NormFloat64()), float32(rng.NormFloat64())}.Times(.8)), randomQuat(rng)}
		m := checkManifold(t, a, b, pa, pb)
		want, ofFaces := greatestSeparation(a, b, pa, pb)
		switch {
		case ofFaces > SpeculativeDistance+1e-4:
			apart++
			if m.Count != 0 {
				t.Fatalf("seed %d, case %d: %d points, but %g apart", seed, i, m.Count, ofFaces)
			}
		case want < -1e-4:
			if m.Count == 0 {
				t.Fatalf("seed %d, case %d: no points, overlap %g", seed, i, -want)
			}
			if got := deepest(&m); got < want-referenceTolerance-edgeTolerance-1e-4 || got > want+1e-4 && m.Count == 1 && m.Points[0].ID>>30 == edgeFeature {
				t.Fatalf("seed %d, case %d: depth %g, want %g", seed, i, -got, -want)
			}
			if m.Points[0].ID>>30 == edgeFeature {
				edges++
			} else {
				faces++
			}
		}
	}
	if apart < cases/10 || edges < cases/50 || faces < cases/10 {
		t.Errorf("seed %d: %d apart, %d contacts of edges, %d of faces", seed, apart, edges, faces)
	}
}

// Points that are kept hold at least half of the area, and the deepest one.
func TestReduce(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 5))
	for range 2000 {
		var all []contactPoint
		n := 1 + rng.IntN(12)
		for k := range n {
			sin, cos := math.Sincos(2 * math.Pi * (float64(k) + rng.Float64()*.9) / float64(n))
			all = append(all, contactPoint{Vec{float32(cos), float32(2 * sin), 0}, float32(rng.NormFloat64()), uint32(rng.IntN(1000)*100 + k)})
		}
		area := func(ps []contactPoint) (sum float64) { // of the hull of points on an ellipse, ordered around it
			angle := func(p *contactPoint) float64 { return math.Atan2(float64(p.p.Y)/2, float64(p.p.X)) }
			sorted := append([]contactPoint(nil), ps...)
			for i := range sorted {
				for k := i; k > 0 && angle(&sorted[k]) < angle(&sorted[k-1]); k-- {
					sorted[k], sorted[k-1] = sorted[k-1], sorted[k]
				}
			}
			for i := 1; i+1 < len(sorted); i++ {
				sum += float64(sorted[i].p.Sub(sorted[0].p).Cross(sorted[i+1].p.Sub(sorted[0].p)).Z) / 2
			}
			return sum
		}
		least := float32(math.Inf(1))
		for _, p := range all {
			least = min(least, p.separation)
		}
		full := area(all)
		kept := reduce(append([]contactPoint(nil), all...), Vec{0, 0, 1})
		found := false
		for _, p := range kept {
			found = found || p.separation == least
		}
		if len(kept) != min(n, 4) || !found || area(kept) < full/2 {
			t.Fatalf("%d of %d points, deepest kept: %v, area %g of %g", len(kept), n, found, area(kept), full)
		}
	}
}

// The distance of balls and capsules from polyhedra, against many points on the surface in float64.
func TestRoundAgainstHulls(t *testing.T) {
	cases := 1_200
	if os.Getenv("EVERTICK_LONG") != "" {
		cases = 300_000
	}
	seed := paritytest.Seed()
	counts := [3]int{}
	for i := range cases {
		rng := rand.New(rand.NewPCG(seed, uint64(i)))
		a := randomPolytope(rng)
		r := float32(.05 + .3*rng.Float64())
		half := float32(rng.Float64()) * float32(rng.IntN(2))
		b := upright(r, half)
		pa := &Pose{Q: randomQuat(rng)}
		pb := &Pose{Vec{float32(rng.NormFloat64()), float32(rng.NormFloat64()), float32(rng.NormFloat64())}.Times(.9), randomQuat(rng)}
		m := checkManifold(t, a, b, pa, pb)
		d := distanceToSegment(a, b, pa, pb)
		counts[m.Count]++
		if d > 1e-4 { // the cores are apart
			separation := d - float64(r)
			if separation > SpeculativeDistance+1e-4 && m.Count > 0 || separation < SpeculativeDistance-1e-4 && m.Count == 0 {
				t.Fatalf("seed %d, case %d: %d points, separation %g", seed, i, m.Count, separation)
			}
			if m.Count > 0 && math.Abs(deepest(&m)-separation) > 1e-4+referenceTolerance {
				t.Fatalf("seed %d, case %d: separation %g, want %g", seed, i, deepest(&m), separation)
			}
		} else if m.Count == 0 {
			t.Fatalf("seed %d, case %d: no points, although the cores meet", seed, i)
		}
	}
	if counts[0] < cases/20 || counts[1] < cases/20 || counts[2] < cases/100 {
		t.Errorf("seed %d: manifolds by points: %v", seed, counts)
	}
}

// distanceToSegment returns the distance of a polyhedron from the core of a capsule, by alternating projections from many starts, in
// float64: 0 if they meet.
func distanceToSegment(a, b *Shape, pa, pb *Pose) float64 {
	va, s := wide64(a, pa), wide64(b, pb)
	p, along := s[0], vec.Sub(s[len(s)-1], s[0])
	type plane struct {
		n [3]float64
		d float64
	}
	var planes []plane
	for _, f := range a.core().Faces {
		n := [3]float64{}
		for i := 1; i+1 < len(f.Vertices); i++ {
			n = vec.Add(n, vec.Cross(vec.Sub(va[f.Vertices[i]], va[f.Vertices[0]]), vec.Sub(va[f.Vertices[i+1]], va[f.Vertices[0]])))
		}
		n = vec.Scale(n, 1/vec.Length(n))
		planes = append(planes, plane{n, vec.Dot(n, va[f.Vertices[0]])})
	}
	// The part of the segment inside the polyhedron: from lo to hi, or none.
	lo, hi := 0.0, 1.0
	for _, f := range planes {
		at, slope := vec.Dot(f.n, p)-f.d, vec.Dot(f.n, along)
		switch {
		case slope > 1e-12:
			hi = min(hi, -at/slope)
		case slope < -1e-12:
			lo = max(lo, -at/slope)
		case at > 0:
			lo = 2
		}
	}
	if lo <= hi {
		return 0
	}
	best := math.Inf(1)
	ends := [][3]float64{p, vec.Add(p, along)}
	for fi, f := range a.core().Faces {
		for _, q := range ends {
			d := vec.Dot(planes[fi].n, q) - planes[fi].d
			inside := d > 0
			for k, u := range f.Vertices {
				from, to := va[u], va[f.Vertices[(k+1)%len(f.Vertices)]]
				if vec.Dot(vec.Cross(vec.Sub(to, from), planes[fi].n), vec.Sub(q, from)) > 0 {
					inside = false
				}
			}
			if inside {
				best = min(best, d)
			}
		}
	}
	for _, e := range a.core().Edges {
		from, u := va[e.From], vec.Sub(va[e.To], va[e.From])
		// The distance of two segments is convex in both parameters: minimize over one in closed form, over the other by trisection.
		f := func(t float64) float64 {
			q := vec.Add(p, vec.Scale(along, t))
			s := max(0, min(1, vec.Dot(u, vec.Sub(q, from))/vec.Dot(u, u)))
			return vec.Length(vec.Sub(q, vec.Add(from, vec.Scale(u, s))))
		}
		lo, hi := 0.0, 1.0
		for range 80 {
			x, y := lo+(hi-lo)/3, hi-(hi-lo)/3
			if f(x) < f(y) {
				hi = y
			} else {
				lo = x
			}
		}
		best = min(best, f(lo))
	}
	return best
}
