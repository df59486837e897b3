package mesh

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/vec"
)

const (
	// MaxTriangles bounds the triangles of a mesh.
	MaxTriangles = 1 << 24
	// MaxCoordinate bounds coordinates, in metres.
	MaxCoordinate = 1 << 20
	// None is no triangle.
	None = ^uint32(0)
)

// Mesh is a set of triangles. It does not change once it is made.
type Mesh struct {
	Vertices  [][3]float32 // ascending by x, then y, then z; each once
	Triangles []Triangle   // in the order of the leaves of the tree
	Nodes     []Node       // Nodes[0] is the root
}

// Triangle is a triangle. It is counter-clockwise seen from its front.
type Triangle struct {
	Vertices   [3]uint32 // the lowest first
	Neighbours [3]uint32 // by edge: the triangle on the other side, or None; edge k begins at vertex k
	Edges      [3]Edge   // how the two meet
	Number     uint32    // of the triangle in the input
}

// Edge is how two triangles meet.
type Edge uint8

// The kinds of edges.
const (
	// Open is an edge of one triangle, or one that more than two share, or two whose fronts are on different sides: each ends there for itself.
	Open Edge = iota
	// Flat is an edge between two triangles in one plane, within flatSine.
	Flat
	// Convex is an edge from which both triangles fall away.
	Convex
	// Concave is an edge from which both rise.
	Concave
)

// flatSine is the sine of the angle between two planes up to which they count as one: about the rounding error of the corners of a square metre
// a kilometre from the origin.
const flatSine = 1e-4

// Report says what Cook has found in a set of triangles.
type Report struct {
	Degenerate []uint32 // numbers of triangles without an area, which are left out
	Doubled    []uint32 // numbers of triangles that are there again with the same orientation, which are left out
	Open       int      // edges of one triangle
	Shared     int      // edges of more than two triangles, or of two whose fronts are on different sides
}

// Cook makes a mesh. A triangle and its reverse are two triangles: a sheet with two faces. Errors wrap fault.ErrNotFinite or fault.ErrRange: they
// name the vertex with a coordinate that is not finite or beyond MaxCoordinate, or the triangle with a vertex that is not there.
func Cook(vertices [][3]float32, triangles [][3]uint32) (*Mesh, *Report, error) {
	if len(triangles) > MaxTriangles {
		return nil, nil, fault.Field(fault.ErrRange, "mesh: len(triangles)", len(triangles))
	}
	for i, v := range vertices {
		for _, c := range v {
			switch {
			case !fault.Finite(c):
				return nil, nil, fault.Element(fault.ErrNotFinite, "mesh: vertices", i, v)
			case max(c, -c) > MaxCoordinate:
				return nil, nil, fault.Element(fault.ErrRange, "mesh: vertices", i, v)
			}
		}
	}
	for i, t := range triangles {
		for _, v := range t {
			if uint64(v) >= uint64(len(vertices)) {
				return nil, nil, fmt.Errorf("%w: there are %d vertices", fault.Element(fault.ErrRange, "mesh: triangles", i, t), len(vertices))
			}
		}
	}
	m, r := &Mesh{}, &Report{}
	m.weld(vertices, triangles, r)
	if len(m.Triangles) == 0 {
		return nil, r, fault.Field(fault.ErrRange, "mesh: triangles with an area", 0)
	}
	m.buildTree()
	m.connect(r)
	return m, r, nil
}

// weld sets the vertices that triangles use, and the triangles, in an order that depends on these alone.
func (m *Mesh) weld(vertices [][3]float32, triangles [][3]uint32, r *Report) {
	used := make([]bool, len(vertices))
	for i, t := range triangles {
		if degenerate(vertices, t) {
			r.Degenerate = append(r.Degenerate, uint32(i))
			continue
		}
		for _, v := range t {
			used[v] = true
		}
	}
	var order []uint32 // of the used vertices
	for i, u := range used {
		if u {
			order = append(order, uint32(i))
		}
	}
	at := func(i uint32) [3]float32 { // without negative zeros
		v := vertices[i]
		return [3]float32{v[0] + 0, v[1] + 0, v[2] + 0}
	}
	slices.SortFunc(order, func(a, b uint32) int {
		p, q := at(a), at(b)
		return slices.Compare(p[:], q[:])
	})
	number := make([]uint32, len(vertices))
	for _, i := range order {
		if n := len(m.Vertices); n == 0 || m.Vertices[n-1] != at(i) {
			m.Vertices = append(m.Vertices, at(i))
		}
		number[i] = uint32(len(m.Vertices) - 1)
	}
	next := 0 // of the degenerate triangles
	for i, t := range triangles {
		if next < len(r.Degenerate) && r.Degenerate[next] == uint32(i) {
			next++
			continue
		}
		v := [3]uint32{number[t[0]], number[t[1]], number[t[2]]}
		for v[0] > v[1] || v[0] > v[2] {
			v = [3]uint32{v[1], v[2], v[0]}
		}
		m.Triangles = append(m.Triangles, Triangle{Vertices: v, Number: uint32(i)})
	}
	slices.SortFunc(m.Triangles, func(a, b Triangle) int {
		return cmp.Or(slices.Compare(a.Vertices[:], b.Vertices[:]), cmp.Compare(a.Number, b.Number))
	})
	kept := m.Triangles[:0]
	for _, t := range m.Triangles {
		if n := len(kept); n > 0 && kept[n-1].Vertices == t.Vertices {
			r.Doubled = append(r.Doubled, t.Number)
		} else {
			kept = append(kept, t)
		}
	}
	slices.Sort(r.Doubled)
	m.Triangles = kept
}

// degenerate reports whether a triangle has no area. The differences of float32 coordinates are exact in float64 unless they differ by more than
// 2^29 times, and then a product that should be zero may not be: such a needle counts as having an area.
func degenerate(vertices [][3]float32, t [3]uint32) bool {
	a := vec.Wide(vertices[t[0]])
	return vec.Cross(vec.Sub(vec.Wide(vertices[t[1]]), a), vec.Sub(vec.Wide(vertices[t[2]]), a)) == [3]float64{}
}

// side is an edge of a triangle.
type side struct {
	low, high uint32 // its vertices
	triangle  uint32
	edge      uint8
	reversed  bool // it goes from high to low
}

// connect finds the neighbours.
func (m *Mesh) connect(r *Report) {
	sides := make([]side, 0, 3*len(m.Triangles))
	for i := range m.Triangles {
		t := &m.Triangles[i]
		t.Neighbours = [3]uint32{None, None, None}
		for k, from := range t.Vertices {
			to := t.Vertices[(k+1)%3]
			sides = append(sides, side{min(from, to), max(from, to), uint32(i), uint8(k), from > to})
		}
	}
	slices.SortFunc(sides, func(a, b side) int {
		return cmp.Or(cmp.Compare(a.low, b.low), cmp.Compare(a.high, b.high), cmp.Compare(a.triangle, b.triangle))
	})
	for lo := 0; lo < len(sides); {
		hi := lo + 1
		for hi < len(sides) && sides[hi].low == sides[lo].low && sides[hi].high == sides[lo].high {
			hi++
		}
		switch a := &sides[lo]; {
		case hi == lo+1:
			r.Open++
		case hi > lo+2 || sides[lo+1].reversed == a.reversed:
			r.Shared++
		default:
			m.join(a, &sides[lo+1])
		}
		lo = hi
	}
}

// join makes two triangles neighbours at an edge.
func (m *Mesh) join(a, b *side) {
	if a.reversed {
		a, b = b, a
	}
	t, u := &m.Triangles[a.triangle], &m.Triangles[b.triangle]
	kind := meet(&m.Vertices[a.low], &m.Vertices[a.high], &m.Vertices[t.Vertices[(a.edge+2)%3]], &m.Vertices[u.Vertices[(b.edge+2)%3]])
	t.Neighbours[a.edge], t.Edges[a.edge] = b.triangle, kind
	u.Neighbours[b.edge], u.Edges[b.edge] = a.triangle, kind
}

// meet returns how the triangles low, high, left and high, low, right meet. The sine of the angle between their planes is the distance of right
// from the plane of the first by its distance from the edge. Squares are compared. The lower vertex comes first, so that both ways give the same.
func meet(low, high, left, right *[3]float32) Edge {
	// Scalars: a terrain computes this for each edge of each triangle that it returns, and arrays of three would be kept in memory.
	x, y, z := float64(low[0]), float64(low[1]), float64(low[2])
	ax, ay, az := float64(high[0])-x, float64(high[1])-y, float64(high[2])-z // along the edge
	lx, ly, lz := float64(left[0])-x, float64(left[1])-y, float64(left[2])-z
	rx, ry, rz := float64(right[0])-x, float64(right[1])-y, float64(right[2])-z
	nx, ny, nz := float64(ay*lz)-float64(az*ly), float64(az*lx)-float64(ax*lz), float64(ax*ly)-float64(ay*lx) // of the first
	bx, by, bz := float64(ay*rz)-float64(az*ry), float64(az*rx)-float64(ax*rz), float64(ax*ry)-float64(ay*rx) // back of the second
	height := (float64(nx*rx) + float64(ny*ry)) + float64(nz*rz)
	edge := (float64(ax*ax) + float64(ay*ay)) + float64(az*az)
	areas := float64(((float64(nx*nx) + float64(ny*ny)) + float64(nz*nz)) * ((float64(bx*bx) + float64(by*by)) + float64(bz*bz)))
	switch {
	case float64(float64(height*height)*edge) > float64(areas*(flatSine*flatSine)):
		if height > 0 {
			return Concave
		}
		return Convex
	case (float64(nx*bx)+float64(ny*by))+float64(nz*bz) > 0:
		return Convex // folded over
	}
	return Flat
}

// Normal returns a vector that points to the front of a triangle. Its length is twice the area.
func (m *Mesh) Normal(t *Triangle) [3]float64 {
	a := vec.Wide(m.Vertices[t.Vertices[0]])
	return vec.Cross(vec.Sub(vec.Wide(m.Vertices[t.Vertices[1]]), a), vec.Sub(vec.Wide(m.Vertices[t.Vertices[2]]), a))
}
