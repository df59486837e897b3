package rigid3

import (
	"github.com/evertick/evertick/internal/hull"
	"github.com/evertick/evertick/internal/vec"
)

const (
	// LinearSlop is an overlap in metres that does not matter: soft contacts rest with it.
	LinearSlop = 0.005

	// SpeculativeDistance is the distance in metres up to which two shapes have contact points, which keep them from
	// passing each other in one step.
	SpeculativeDistance = 4 * LinearSlop

	// MaxHullVertices is the largest number of vertices of a Polytope. Then it has fewer than 256 faces and 384 edges.
	MaxHullVertices = 128
)

// Polytope is a convex polyhedron, a segment with two vertices, or a point with one. It does not change once it is made.
type Polytope struct {
	Vertices []Vec
	Planes   []Plane // of the faces
	Faces    []Face
	Edges    []Edge
	Centre   Vec     // the centre of mass
	extent   Vec     // half of a box about the origin around all vertices
	inner    float32 // the radius of a ball about it that is inside of all planes
	mass     Mass
}

// Plane is the points p with Normal·p = Offset. No vertex v of the polytope has Normal·v > Offset.
type Plane struct {
	Normal Vec
	Offset float32
}

// Face is the corners and sides of a face of a Polytope.
type Face struct {
	Vertices []uint8  // counter-clockwise seen from outside
	Edges    []uint16 // Edges[i] is the edge from vertex i to the next one
}

// Edge is an edge of a Polytope between two vertices, From < To. Seen from outside, Left and Right are the faces beside it. A segment
// has no faces.
type Edge struct {
	From, To    uint8
	Left, Right uint16
	cosine      float32 // of half the angle between the normals of both
}

// NewPolytope returns a polyhedron in float32. The normal of a face is Newell's, of its rounded vertices; the offset is that of the
// vertex that is farthest along it, so that none is outside. It panics if there are more than MaxHullVertices vertices.
func NewPolytope(p *hull.Polyhedron) *Polytope {
	if len(p.Vertices) > MaxHullVertices {
		panic("rigid3: NewPolytope: more than MaxHullVertices vertices")
	}
	volume, centre, inertia := p.Mass()
	t := &Polytope{Centre: narrow(centre), mass: Mass{volume, centre, inertia}}
	for _, v := range p.Vertices {
		t.Vertices = append(t.Vertices, Vec{v[0], v[1], v[2]})
	}
	for _, corners := range p.Faces {
		a, n := vec.Wide(p.Vertices[corners[0]]), [3]float64{}
		for k := 1; k+1 < len(corners); k++ {
			b, c := vec.Wide(p.Vertices[corners[k]]), vec.Wide(p.Vertices[corners[k+1]])
			n = vec.Add(n, vec.Cross(vec.Sub(b, a), vec.Sub(c, a)))
		}
		f := Plane{Normal: narrow(vec.Scale(n, 1/vec.Length(n)))}
		for i, v := range t.Vertices {
			if d := f.Normal.Dot(v); i == 0 || d > f.Offset {
				f.Offset = d
			}
		}
		t.Planes, t.Faces = append(t.Planes, f), append(t.Faces, Face{Vertices: corners})
	}
	t.addEdges()
	t.setBounds()
	return t
}

// setBounds sets the extent, inner, and the cosines of edges, which are rounded to the safe side.
func (t *Polytope) setBounds() {
	for _, v := range t.Vertices {
		t.extent = Vec{maxFloat(abs(v.X), t.extent.X), maxFloat(abs(v.Y), t.extent.Y), maxFloat(abs(v.Z), t.extent.Z)}
	}
	least := float32(maxFinite)
	for i := range t.Planes {
		least = minFloat(-t.Planes[i].distance(t.Centre), least)
	}
	t.inner = maxFloat(float32(least*(1-1e-5)), 0)
	for i := range t.Edges {
		e := &t.Edges[i]
		square := 0.5 + float32(0.5*t.Planes[e.Left].Normal.Dot(t.Planes[e.Right].Normal))
		e.cosine = maxFloat(sqrt(maxFloat(square, 0))-1e-5, 0)
	}
}

func narrow(v [3]float64) Vec { return Vec{float32(v[0]), float32(v[1]), float32(v[2])} }

// boxFaces are the corners of the faces of a box, towards -x, +x, -y, +y, -z and +z. Bit k of the number of a corner says on which side
// it is along axis k.
var boxFaces = [6][4]uint8{{0, 4, 6, 2}, {1, 3, 7, 5}, {0, 1, 5, 4}, {2, 6, 7, 3}, {0, 2, 3, 1}, {4, 5, 7, 6}}

// unitBox has the faces and edges of all boxes.
var unitBox = func() *Polytope {
	t := &Polytope{}
	for k := range boxFaces {
		t.Faces = append(t.Faces, Face{Vertices: boxFaces[k][:]})
	}
	t.addEdges()
	for i := range t.Edges {
		t.Edges[i].cosine = 0.7071 // a little less than that of 45°
	}
	return t
}()

// box returns a box with half extents around the origin, in the memory of b. Its planes are exact.
func (half Vec) box(b *boxArrays) Polytope {
	x, y, z := half.X, half.Y, half.Z
	b.vertices = [8]Vec{{-x, -y, -z}, {x, -y, -z}, {-x, y, -z}, {x, y, -z}, {-x, -y, z}, {x, -y, z}, {-x, y, z}, {x, y, z}}
	b.planes = [6]Plane{{Vec{X: -1}, x}, {Vec{X: 1}, x}, {Vec{Y: -1}, y}, {Vec{Y: 1}, y}, {Vec{Z: -1}, z}, {Vec{Z: 1}, z}}
	return Polytope{Vertices: b.vertices[:], Planes: b.planes[:], Faces: unitBox.Faces, Edges: unitBox.Edges, extent: half, inner: minFloat(x, minFloat(y, z))}
}

// addEdges numbers the edges in the order of the faces.
func (t *Polytope) addEdges() {
	number := map[[2]uint8]uint16{}
	for left := range t.Faces {
		f := &t.Faces[left]
		f.Edges = nil
		for k, u := range f.Vertices {
			v := f.Vertices[(k+1)%len(f.Vertices)]
			key := [2]uint8{min(u, v), max(u, v)}
			e, known := number[key]
			if !known {
				e = uint16(len(t.Edges))
				number[key] = e
				t.Edges = append(t.Edges, Edge{From: key[0], To: key[1]})
			}
			if u < v {
				t.Edges[e].Left = uint16(left)
			} else {
				t.Edges[e].Right = uint16(left)
			}
			f.Edges = append(f.Edges, e)
		}
	}
}
