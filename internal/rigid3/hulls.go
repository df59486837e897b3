package rigid3

import "github.com/evertick/evertick/internal/mesh"

// Hulls are the polytopes of a world, and its surfaces, by number. The zero value has none.
type Hulls struct {
	polytopes []*Polytope
	surfaces  []Surface

	// The same for kernels, without pointers.
	flat    []flatHull
	floats  []float32
	indices []uint16
	unused  int // floats of polytopes that were removed
}

// flatHull is a Polytope whose numbers begin at floats and indices: columns of vertices, planes and cosines of edges, each filled
// with copies of its first element to a multiple of hullLanes; then for each face the first of its corners, and after the last their number;
// the corners and sides of all faces; and the ends and faces of edges.
type flatHull struct {
	vertices, faces, edges uint32 // 0 vertices: none
	floats, indices        uint32
	centre                 Vec
	inner                  float32
}

const hullLanes = 16

// Set gives a polytope a number, or frees the number if it is nil. Numbers should be small: the memory is proportional to the greatest.
func (h *Hulls) Set(i int, t *Polytope) {
	for len(h.polytopes) <= i {
		h.polytopes, h.flat = append(h.polytopes, nil), append(h.flat, flatHull{})
	}
	if old := h.polytopes[i]; old != nil {
		h.unused += old.flatFloats()
		h.polytopes[i], h.flat[i] = nil, flatHull{}
		if h.unused > len(h.floats)/2 {
			h.floats, h.indices, h.unused = h.floats[:0], h.indices[:0], 0
			for k, t := range h.polytopes {
				if t != nil {
					h.flatten(k, t)
				}
			}
		}
	}
	if t != nil {
		h.polytopes[i] = t
		h.flatten(i, t)
	}
}

// Len returns one more than the greatest number that Set has had since Reset.
func (h *Hulls) Len() int { return len(h.polytopes) }

// At returns the polytope of a number, or nil.
func (h *Hulls) At(i int) *Polytope {
	if i < len(h.polytopes) {
		return h.polytopes[i]
	}
	return nil
}

// Reset removes all polytopes and surfaces.
func (h *Hulls) Reset() {
	clear(h.polytopes)
	clear(h.surfaces)
	*h = Hulls{polytopes: h.polytopes[:0], surfaces: h.surfaces[:0], flat: h.flat[:0], floats: h.floats[:0], indices: h.indices[:0]}
}

// Surface is triangles that shapes collide with: in front of them, or on both sides.
type Surface struct {
	mesh.Surface // nil: none
	TwoSided     bool
}

// SetSurface gives a surface a number, or frees the number if there is none. Surfaces have numbers of their own.
func (h *Hulls) SetSurface(i int, s Surface) {
	for len(h.surfaces) <= i {
		h.surfaces = append(h.surfaces, Surface{})
	}
	h.surfaces[i] = s
}

// surface returns the surface of a number, or none.
func (h *Hulls) surface(i uint32) Surface {
	if h == nil || int64(i) >= int64(len(h.surfaces)) {
		return Surface{}
	}
	return h.surfaces[i]
}

// cornersOf returns the corners of the box around a surface, if there is one.
func (h *Hulls) cornersOf(i uint32, b *boxArrays) []Vec {
	s := h.surface(i)
	if s.Surface == nil {
		return nil
	}
	box := s.Bounds()
	for k := range b.vertices {
		v := box.Min
		for axis := range v {
			if k>>axis&1 != 0 {
				v[axis] = box.Max[axis]
			}
		}
		b.vertices[k] = Vec{v[0], v[1], v[2]}
	}
	return b.vertices[:]
}

func (h *Hulls) at(i uint32) *Polytope {
	if h == nil || int64(i) >= int64(len(h.polytopes)) {
		return nil
	}
	return h.polytopes[i]
}

func padded(n int) int { return (n + hullLanes - 1) / hullLanes * hullLanes }

func (t *Polytope) flatFloats() int {
	return 3*padded(len(t.Vertices)) + 4*padded(len(t.Planes)) + padded(len(t.Edges))
}

func (h *Hulls) flatten(i int, t *Polytope) {
	h.flat[i] = flatHull{uint32(len(t.Vertices)), uint32(len(t.Planes)), uint32(len(t.Edges)), uint32(len(h.floats)), uint32(len(h.indices)), t.Centre, t.inner}
	column := func(n int, at func(k int) float32) {
		for k := range padded(n) {
			if k >= n {
				k = 0
			}
			h.floats = append(h.floats, at(k))
		}
	}
	v, p := t.Vertices, t.Planes
	column(len(v), func(k int) float32 { return v[k].X })
	column(len(v), func(k int) float32 { return v[k].Y })
	column(len(v), func(k int) float32 { return v[k].Z })
	column(len(p), func(k int) float32 { return p[k].Normal.X })
	column(len(p), func(k int) float32 { return p[k].Normal.Y })
	column(len(p), func(k int) float32 { return p[k].Normal.Z })
	column(len(p), func(k int) float32 { return p[k].Offset })
	column(len(t.Edges), func(k int) float32 { return t.Edges[k].cosine })
	corners := 0
	for k := range t.Faces {
		h.indices = append(h.indices, uint16(corners))
		corners += len(t.Faces[k].Vertices)
	}
	h.indices = append(h.indices, uint16(corners))
	for k := range t.Faces {
		for _, v := range t.Faces[k].Vertices {
			h.indices = append(h.indices, uint16(v))
		}
	}
	for k := range t.Faces {
		h.indices = append(h.indices, t.Faces[k].Edges...)
	}
	for _, field := range []func(e *Edge) uint16{
		func(e *Edge) uint16 { return uint16(e.From) }, func(e *Edge) uint16 { return uint16(e.To) },
		func(e *Edge) uint16 { return e.Left }, func(e *Edge) uint16 { return e.Right },
	} {
		for k := range t.Edges {
			h.indices = append(h.indices, field(&t.Edges[k]))
		}
	}
}
