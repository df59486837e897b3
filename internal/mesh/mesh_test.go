package mesh

import (
	"errors"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/vec"
)

// grid returns n by n squares of two triangles each, with heights.
func grid(n int, height func(x, z int) float32) (vertices [][3]float32, triangles [][3]uint32) {
	for z := range n + 1 {
		for x := range n + 1 {
			vertices = append(vertices, [3]float32{float32(x), height(x, z), float32(z)})
		}
	}
	for z := range n {
		for x := range n {
			a := uint32(z*(n+1) + x)
			b, c, d := a+1, a+uint32(n)+1, a+uint32(n)+2
			triangles = append(triangles, [3]uint32{a, c, b}, [3]uint32{b, c, d})
		}
	}
	return vertices, triangles
}

func flat(int, int) float32 { return 0 }

func cook(t testing.TB, vertices [][3]float32, triangles [][3]uint32) (*Mesh, *Report) {
	t.Helper()
	m, r, err := Cook(vertices, triangles)
	if err != nil {
		t.Fatal(err)
	}
	return m, r
}

func countEdges(m *Mesh) (kinds [4]int) {
	for i := range m.Triangles {
		for _, e := range m.Triangles[i].Edges {
			kinds[e]++
		}
	}
	return kinds
}

func TestKindsOfEdges(t *testing.T) {
	const n = 10
	vertices, triangles := grid(n, flat)
	m, r := cook(t, vertices, triangles)
	if kinds := countEdges(m); kinds != [4]int{4 * n, 6*n*n - 4*n, 0, 0} || r.Open != 4*n {
		t.Errorf("a flat grid has edges %v, report %+v", kinds, r)
	}
	// A roof and a valley along x = 1.
	for _, c := range []struct {
		height float32
		kind   Edge
	}{{0.1, Convex}, {-0.1, Concave}, {1e-5, Flat}, {-1e-5, Flat}} {
		vertices, triangles := grid(2, func(x, z int) float32 { return c.height * float32(x%2) })
		if c.kind == Concave {
			for i := range vertices {
				vertices[i][1]++ // the sign of heights does not matter
			}
		}
		m, _ := cook(t, vertices, triangles)
		n := 0
		for i := range m.Triangles {
			tr := &m.Triangles[i]
			for k, e := range tr.Edges {
				a, b := m.Vertices[tr.Vertices[k]], m.Vertices[tr.Vertices[(k+1)%3]]
				if a[0] == 1 && b[0] == 1 {
					if n++; e != c.kind {
						t.Errorf("height %g: kind %d, want %d", c.height, e, c.kind)
					}
				}
			}
		}
		if n != 4 {
			t.Errorf("%d edges along the ridge", n)
		}
	}
}

func TestOddTriangles(t *testing.T) {
	vertices := [][3]float32{{0, 0, 0}, {1, 0, 0}, {0, 0, 1}, {2, 0, 0}, {0, 0, 0}, {0, 1, 0}, {1, 0, 1}}
	m, r := cook(t, vertices, [][3]uint32{
		{0, 1, 3}, // collinear
		{0, 2, 1},
		{0, 0, 1}, // an edge
		{4, 2, 1}, // again, by an equal vertex
		{2, 1, 4}, // and again, from another corner
		{0, 1, 2}, // reversed
		{0, 4, 5}, // two equal vertices
		{0, 5, 1}, // a third one at the edge of 0 and 1
		{1, 2, 6},
	})
	want := &Report{Degenerate: []uint32{0, 2, 6}, Doubled: []uint32{3, 4}, Open: 4, Shared: 2}
	if !reflect.DeepEqual(r, want) || len(m.Triangles) != 4 || len(m.Vertices) != 5 {
		t.Errorf("%d triangles, %d vertices, report %+v, want %+v", len(m.Triangles), len(m.Vertices), r, want)
	}
}

func TestRefusals(t *testing.T) {
	nan := float32(math.NaN())
	good := [][3]float32{{0, 0, 0}, {1, 0, 0}, {0, 1, 0}}
	for _, c := range []struct {
		vertices  [][3]float32
		triangles [][3]uint32
		want      error
	}{
		{append(slices.Clone(good), [3]float32{0, nan, 0}), [][3]uint32{{0, 1, 2}}, fault.ErrNotFinite},
		{append(slices.Clone(good), [3]float32{0, 0, -1.1e6}), [][3]uint32{{0, 1, 2}}, fault.ErrRange},
		{good, [][3]uint32{{0, 1, 2}, {0, 1, 3}}, fault.ErrRange},
		{good, nil, fault.ErrRange},
		{good, [][3]uint32{{0, 1, 1}}, fault.ErrRange},
	} {
		if _, _, err := Cook(c.vertices, c.triangles); !errors.Is(err, c.want) {
			t.Errorf("%v: %v, want %v", c.triangles, err, c.want)
		}
	}
}

// A mesh depends on the set of triangles alone.
func TestOrderDoesNotMatter(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for range 20 {
		vertices, triangles := soup(rng)
		m, _ := cook(t, vertices, triangles)
		// Other numbers for vertices, some of them twice, another first corner, and another order.
		var twice [][3]float32
		number := make([]uint32, len(vertices))
		for _, i := range rng.Perm(len(vertices)) {
			for range 1 + rng.IntN(2) {
				number[i] = uint32(len(twice))
				twice = append(twice, vertices[i])
			}
		}
		var shuffled [][3]uint32
		var from []uint32
		for _, i := range rng.Perm(len(triangles)) {
			k := rng.IntN(3)
			v := triangles[i]
			shuffled = append(shuffled, [3]uint32{number[v[k]], number[v[(k+1)%3]], number[v[(k+2)%3]]})
			from = append(from, uint32(i))
		}
		o, _ := cook(t, twice, shuffled)
		for i := range o.Triangles {
			o.Triangles[i].Number = from[o.Triangles[i].Number]
		}
		for i := range m.Triangles { // of doubled triangles another one may be kept
			if a, b := triangles[m.Triangles[i].Number], triangles[o.Triangles[i].Number]; m.Triangles[i].Number != o.Triangles[i].Number {
				if sorted(a) != sorted(b) {
					t.Fatalf("triangle %d is %v, or %v", i, a, b)
				}
				o.Triangles[i].Number = m.Triangles[i].Number
			}
		}
		if !reflect.DeepEqual(m.Vertices, o.Vertices) || !reflect.DeepEqual(m.Triangles, o.Triangles) || !sameNodes(m.Nodes, o.Nodes) {
			t.Fatal("the mesh depends on the order")
		}
	}
}

func sorted(v [3]uint32) [3]uint32 {
	slices.Sort(v[:])
	return v
}

// sameNodes compares the bits, as nodes have NaN.
func sameNodes(a, b []Node) bool {
	return slices.EqualFunc(a, b, func(p, q Node) bool {
		for k := range p.Min {
			for i := range Width {
				if math.Float32bits(p.Min[k][i]) != math.Float32bits(q.Min[k][i]) || math.Float32bits(p.Max[k][i]) != math.Float32bits(q.Max[k][i]) {
					return false
				}
			}
		}
		return p.First == q.First && p.Count == q.Count
	})
}

// soup returns triangles on few vertices of a small lattice, so that many share edges, corners and planes.
func soup(rng *rand.Rand) (vertices [][3]float32, triangles [][3]uint32) {
	seen := map[[3]float32]bool{}
	for len(vertices) < 40 {
		v := [3]float32{float32(rng.IntN(5)), float32(rng.IntN(5)), float32(rng.IntN(5))}
		if !seen[v] {
			seen[v] = true
			vertices = append(vertices, v)
		}
	}
	for range 10 + rng.IntN(200) {
		triangles = append(triangles, [3]uint32{uint32(rng.IntN(40)), uint32(rng.IntN(40)), uint32(rng.IntN(40))})
	}
	return vertices, triangles
}

// Neighbours and kinds against all pairs of triangles.
func TestNeighboursAgainstAllPairs(t *testing.T) {
	rng := rand.New(rand.NewPCG(3, 4))
	joined := 0
	for range 30 {
		vertices, triangles := soup(rng)
		m, _ := cook(t, vertices, triangles)
		for i := range m.Triangles {
			for k := range 3 {
				a, b := m.Triangles[i].Vertices[k], m.Triangles[i].Vertices[(k+1)%3]
				others, opposed, want := 0, 0, uint32(None)
				for j := range m.Triangles {
					for e := range 3 {
						c, d := m.Triangles[j].Vertices[e], m.Triangles[j].Vertices[(e+1)%3]
						if j != i && (c == a && d == b || c == b && d == a) {
							others++
							if c == b {
								opposed++
								want = uint32(j)
							}
						}
					}
				}
				if others != 1 || opposed != 1 {
					want = None
				}
				got := m.Triangles[i].Neighbours[k]
				if got != want {
					t.Fatalf("neighbour %d of %d is %d, want %d", k, i, int32(got), int32(want))
				}
				if got == None {
					continue
				}
				joined++
				if kind := kindOf(m, i, int(got), m.Vertices[a]); m.Triangles[i].Edges[k] != kind {
					t.Fatalf("edge %d of %d is of kind %d, want %d", k, i, m.Triangles[i].Edges[k], kind)
				}
			}
		}
	}
	if joined < 100 {
		t.Errorf("only %d edges join two triangles", joined)
	}
}

// kindOf takes the corner of triangle j that is farthest from the plane of i: on a lattice, exactly.
func kindOf(m *Mesh, i, j int, on [3]float32) Edge {
	n, height := m.Normal(&m.Triangles[i]), 0.
	for _, v := range m.Triangles[j].Vertices {
		if h := vec.Dot(n, vec.Sub(vec.Wide(m.Vertices[v]), vec.Wide(on))); math.Abs(h) > math.Abs(height) {
			height = h
		}
	}
	switch {
	case height > 0:
		return Concave
	case height < 0 || vec.Dot(n, m.Normal(&m.Triangles[j])) < 0:
		return Convex
	}
	return Flat
}

func TestOverlapsAgainstAllTriangles(t *testing.T) {
	rng := rand.New(rand.NewPCG(5, 6))
	for range 20 {
		vertices, triangles := soup(rng)
		m, _ := cook(t, vertices, triangles)
		checkOverlaps(t, m, rng)
	}
	wavy, triangles := grid(40, func(x, z int) float32 { return float32(math.Sin(float64(x)) + math.Cos(float64(z))) })
	m, _ := cook(t, wavy, triangles)
	checkOverlaps(t, m, rng)
	all := Box{[3]float32{-inf, -inf, -inf}, [3]float32{inf, inf, inf}}
	if n := len(m.AppendFaces(nil, &all)); n != len(m.Triangles) {
		t.Errorf("a box without bounds meets %d of %d triangles", n, len(m.Triangles))
	}
	if n := len(m.AppendFaces(nil, &nothing)); n != 0 {
		t.Errorf("a box of NaN meets %d triangles", n)
	}
}

func checkOverlaps(t *testing.T, m *Mesh, rng *rand.Rand) {
	t.Helper()
	found := 0
	for range 100 {
		var box Box
		for k := range box.Min {
			box.Min[k] = rng.Float32()*42 - 1
			box.Max[k] = box.Min[k] + rng.Float32()*4
			if rng.IntN(3) == 0 {
				box.Min[k], box.Max[k] = -1, 2
			}
		}
		var want []uint32
		for i := range m.Triangles {
			if b := m.BoxOf(&m.Triangles[i]); b.Overlaps(&box) {
				want = append(want, uint32(i))
			}
		}
		found += len(want)
		var got []uint32
		for _, f := range m.AppendFaces(nil, &box) {
			got = append(got, f.Number)
		}
		if !slices.Equal(got, want) {
			t.Fatalf("box %v meets %v, want %v", box, got, want)
		}
	}
	if found == 0 {
		t.Error("no box meets a triangle")
	}
}

// Long rows of equal middles, and sizes that grow by powers, must not make the tree deep.
func TestTreeIsNotDeep(t *testing.T) {
	var vertices [][3]float32
	var triangles [][3]uint32
	add := func(x, size float32) {
		n := uint32(len(vertices))
		vertices = append(vertices, [3]float32{x, 0, 0}, [3]float32{x + size, 0, 0}, [3]float32{x, size, 0})
		triangles = append(triangles, [3]uint32{n, n + 1, n + 2})
	}
	for i := range 2000 {
		add(0, 1+float32(i)/1000)
		add(float32(math.Pow(1.01, float64(i%1000))), 0.01)
	}
	m, _ := cook(t, vertices, triangles)
	var depth func(n uint32) int
	depth = func(n uint32) int {
		most := 0
		for i, first := range m.Nodes[n].First {
			if m.Nodes[n].Count[i] == 0 && first != 0 {
				most = max(most, depth(first))
			}
		}
		return most + 1
	}
	if d := depth(0); d > 25 {
		t.Errorf("depth %d", d)
	}
}

func BenchmarkCook(b *testing.B) {
	vertices, triangles := grid(224, func(x, z int) float32 { return float32(math.Sin(float64(x)*0.1) + math.Cos(float64(z)*0.1)) })
	b.ReportMetric(float64(len(triangles)), "triangles")
	for b.Loop() {
		cook(b, vertices, triangles)
	}
}
