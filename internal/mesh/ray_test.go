package mesh

import (
	"math"
	"math/big"
	"math/rand/v2"
	"testing"

	"github.com/evertick/evertick/internal/vec"
)

// firstOfAll tests all triangles.
func firstOfAll(s Surface, r *Ray) RayHit {
	b := s.Bounds()
	c := newCaster(r, &b)
	for i := range s.Len() {
		if f := s.Face(uint32(i)); f.Number != None {
			c.triangle(&f.Vertices, f.Number)
		}
	}
	return c.hit
}

// randomRay goes from a place near a box to one in it, or along an axis, or through vertices.
func randomRay(rng *rand.Rand, s Surface) Ray {
	b := s.Bounds()
	within := func() (p [3]float64) {
		for k := range p {
			extent := float64(b.Max[k]) - float64(b.Min[k]) + 1
			p[k] = float64(b.Min[k]) - 0.5 + extent*rng.Float64()
		}
		return p
	}
	vertex := func() [3]float64 {
		for {
			if f := s.Face(uint32(rng.IntN(s.Len()))); f.Number != None {
				return vec.Wide(f.Vertices[rng.IntN(3)])
			}
		}
	}
	r := Ray{O: within(), MaxT: math.Inf(1), TwoSided: rng.IntN(2) == 0}
	to := within()
	switch rng.IntN(4) {
	case 0:
		to = vertex()
	case 1:
		r.O, to = vertex(), vertex()
		for k := range r.O {
			d := to[k] - r.O[k]
			r.O[k] -= d
		}
	}
	r.D = vec.Sub(to, r.O)
	switch rng.IntN(5) {
	case 0: // along an axis
		k := rng.IntN(3)
		d := r.D[k]
		r.D = [3]float64{}
		r.D[k] = d
	case 1:
		r.D[rng.IntN(3)] = 0
	case 2:
		r.MaxT = rng.Float64()
	}
	if r.D == [3]float64{} {
		r.D[1] = -1
	}
	if rng.IntN(4) == 0 { // from far away
		for k := range r.O {
			r.O[k] -= 1000 * r.D[k]
		}
		r.MaxT *= 1001
	}
	return r
}

func checkRays(t *testing.T, rng *rand.Rand, s Surface, n int) (hits int) {
	t.Helper()
	for range n {
		r := randomRay(rng, s)
		got, want := s.CastRay(r), firstOfAll(s, &r)
		if got != want {
			t.Fatalf("ray %+v hits %+v, want %+v", r, got, want)
		}
		if got.Number == None {
			continue
		}
		hits++
		f := s.Face(got.Number)
		normal := vec.Cross(vec.Sub(vec.Wide(f.Vertices[1]), vec.Wide(f.Vertices[0])), vec.Sub(vec.Wide(f.Vertices[2]), vec.Wide(f.Vertices[0])))
		if !r.TwoSided && !(vec.Dot(normal, r.D) <= 1e-9*vec.Length(normal)*vec.Length(r.D)) {
			t.Fatalf("ray %+v hits a triangle from behind", r)
		}
		at := vec.Add(r.O, vec.Scale(r.D, got.T))
		if h := vec.Dot(normal, vec.Sub(at, vec.Wide(f.Vertices[0]))) / vec.Length(normal); math.Abs(h) > 1e-6 {
			t.Fatalf("ray %+v: the point is %g m from the triangle", r, h)
		}
	}
	return hits
}

func TestRaysAgainstAllTriangles(t *testing.T) {
	rng := rand.New(rand.NewPCG(11, 12))
	hits := 0
	for range 20 {
		vertices, triangles := soup(rng)
		m, _ := cook(t, vertices, triangles)
		hits += checkRays(t, rng, m, 60)
		hits += checkRays(t, rng, randomTerrain(t, rng), 60)
	}
	if hits < 500 {
		t.Errorf("only %d hits", hits)
	}
}

// A ray that enters a closed mesh hits it, also where it goes exactly through vertices and edges.
func TestNothingLeaksThroughMeshes(t *testing.T) {
	rng := rand.New(rand.NewPCG(13, 14))
	vertices, triangles := ball(rng, 6)
	m, r := cook(t, vertices, triangles)
	if r.Open != 0 || r.Shared != 0 {
		t.Fatalf("the ball is not closed: %+v", r)
	}
	n := 4000
	if testing.Short() {
		n = 1000
	}
	for range n {
		f := m.Face(uint32(rng.IntN(m.Len())))
		a, b := vec.Wide(f.Vertices[rng.IntN(3)]), vec.Wide(f.Vertices[rng.IntN(3)])
		at := vec.Scale(vec.Add(a, b), 0.5)
		if rng.IntN(2) == 0 { // somewhere on the edge, as nearly as float64 can say
			at = vec.Add(a, vec.Scale(vec.Sub(b, a), rng.Float64()))
		}
		ray := Ray{D: [3]float64{rng.Float64() - 0.5, rng.Float64() - 0.5, rng.Float64() - 0.5}, MaxT: math.Inf(1), TwoSided: rng.IntN(2) == 0}
		if rng.IntN(2) == 0 {
			ray.D = [3]float64{}
			ray.D[rng.IntN(3)] = 1
		}
		// A ray from the middle of the ball hits the back of a triangle, and a ray to the middle hits a front.
		if ray.TwoSided && rng.IntN(2) == 0 {
			ray.D = at
		} else {
			ray.O = vec.Scale(at, 3)
			ray.D = vec.Scale(at, -2)
		}
		if got := m.CastRay(ray); got.Number == None {
			t.Fatalf("ray %+v hits nothing", ray)
		}
	}
}

// ball returns an uneven closed mesh around the origin: a cube whose sides are divided.
func ball(rng *rand.Rand, n int) (vertices [][3]float32, triangles [][3]uint32) {
	scale := map[[3]int]float32{}
	for side := range 6 {
		k, sign := side/2, 1-2*(side%2)
		base := uint32(len(vertices))
		for i := range (n + 1) * (n + 1) {
			var v [3]int
			v[k], v[(k+1)%3], v[(k+2)%3] = sign*n, 2*(i%(n+1))-n, 2*(i/(n+1))-n
			if _, ok := scale[v]; !ok {
				scale[v] = 0.5 + rng.Float32()
			}
			vertices = append(vertices, [3]float32{float32(v[0]) * scale[v], float32(v[1]) * scale[v], float32(v[2]) * scale[v]})
		}
		for i := range n * n {
			a := base + uint32(i/n*(n+1)+i%n)
			b, c, d := a+1, a+uint32(n)+1, a+uint32(n)+2
			quad := [2][3]uint32{{a, b, c}, {b, d, c}}
			if sign < 0 {
				quad = [2][3]uint32{{a, c, b}, {b, c, d}}
			}
			triangles = append(triangles, quad[:]...)
		}
	}
	return vertices, triangles
}

// Any ray that comes from above and ends below hits a terrain without holes: on grid lines, at samples and on the border as well.
func TestNothingLeaksThroughTerrain(t *testing.T) {
	rng := rand.New(rand.NewPCG(15, 16))
	const n = 24
	heights := make([]float32, n*n)
	for i := range heights {
		heights[i] = rng.Float32()
	}
	f := field(t, HeightFieldDef{Width: n, Depth: n, Cell: [2]float32{0.3, 0.7}, Heights: heights})
	s := f.Surface()
	for i := range 4000 {
		var x, z float64
		switch i % 4 {
		case 0: // a sample
			x, z = float64(s.coordinate(0, rng.IntN(n))), float64(s.coordinate(1, rng.IntN(n)))
		case 1: // a grid line
			x, z = float64(s.coordinate(0, rng.IntN(n))), float64(s.bounds.Max[2])*rng.Float64()
		case 2:
			x, z = float64(s.bounds.Max[0])*rng.Float64(), float64(s.coordinate(1, rng.IntN(n)))
		case 3: // a diagonal
			x0, z0, u := rng.IntN(n-1), rng.IntN(n-1), rng.Float64()
			x = float64(s.coordinate(0, x0+1)) + u*float64(s.coordinate(0, x0)-s.coordinate(0, x0+1))
			z = float64(s.coordinate(1, z0)) + u*float64(s.coordinate(1, z0+1)-s.coordinate(1, z0))
		}
		r := Ray{O: [3]float64{x, 5, z}, D: [3]float64{0, -1, 0}, MaxT: 10}
		if i%8 >= 4 { // through the same place, aslant: it enters the field within its border
			to := [3]float64{float64(s.bounds.Max[0]) * rng.Float64(), -2, float64(s.bounds.Max[2]) * rng.Float64()}
			r.D = vec.Sub(to, r.O)
		}
		if got := s.CastRay(r); got.Number == None {
			t.Fatalf("ray %+v hits nothing", r)
		}
	}
}

// Sides of edges are decided as if there was no rounding.
func TestSideIsExact(t *testing.T) {
	rng := rand.New(rand.NewPCG(17, 18))
	zero := 0
	for range 20000 {
		ax, ay := rng.Float64()-0.5, rng.Float64()-0.5
		s := float64(rng.IntN(9)) - 4.5
		bx, by := ax*s, ay*s
		if rng.IntN(2) == 0 {
			bx = math.Nextafter(bx, float64(rng.IntN(2)))
		}
		p, q := new(big.Float).SetPrec(200), new(big.Float).SetPrec(200)
		p.Mul(big.NewFloat(ax), big.NewFloat(by))
		q.Mul(big.NewFloat(ay), big.NewFloat(bx))
		want, got := p.Cmp(q), side2(ax, ay, bx, by)
		if (got > 0) != (want > 0) || (got < 0) != (want < 0) || side2(bx, by, ax, ay) != -got {
			t.Fatalf("side of (%g, %g), (%g, %g) is %g, want the sign %d", ax, ay, bx, by, got, want)
		}
		if want == 0 {
			zero++
		}
	}
	if zero == 0 {
		t.Error("no point was on a line")
	}
}

func TestRaysAllocateNothing(t *testing.T) {
	terrain := hills(t, 100)
	m, _ := cooked(t, hills(t, 30))
	n := testing.AllocsPerRun(10, func() {
		for _, s := range [2]Surface{terrain, m} {
			r := Ray{O: [3]float64{1, 9, 2}, D: [3]float64{20, -12, 20}, MaxT: 9}
			if s.CastRay(r).Number == None {
				t.Error("no hit")
			}
		}
	})
	if n != 0 {
		t.Errorf("%g allocations", n)
	}
}

func BenchmarkRays(b *testing.B) {
	terrain := hills(b, 1000)
	m, _ := cooked(b, hills(b, 224))
	for _, c := range []struct {
		name string
		s    Surface
	}{{"terrain", terrain}, {"mesh", m}} {
		for _, steep := range []float64{100, 1, 0.05} {
			b.Run(c.name+"/"+map[float64]string{100: "down", 1: "aslant", 0.05: "grazing"}[steep], func(b *testing.B) {
				rng := rand.New(rand.NewPCG(1, 2))
				for b.Loop() {
					x, z := 20+180*rng.Float64(), 20+180*rng.Float64()
					r := Ray{O: [3]float64{x, 5, z}, D: [3]float64{rng.Float64() - 0.5, -0.5 * steep, rng.Float64() - 0.5}, MaxT: 1000}
					c.s.CastRay(r)
				}
			})
		}
	}
}
