package physics3

import (
	"errors"
	"fmt"
	"slices"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/hull"
	"github.com/evertick/evertick/internal/rigid3"
	"github.com/evertick/evertick/internal/statehash"
)

// MaxHullVertices is the greatest number of vertices of a Hull.
const MaxHullVertices = rigid3.MaxHullVertices

// Hull is a convex polyhedron. It is immutable, so any number of shapes, worlds and goroutines can share it. A world knows it by its
// content: two hulls of the same vertices and radius are one.
type Hull struct {
	shape  *hull.Polyhedron
	core   *rigid3.Polytope
	mass   rigid3.Mass // at density 1
	radius float32
	digest uint64
}

// HullOptions are options of NewHull.
type HullOptions struct {
	// MaxVertices bounds the number of vertices, 4 to MaxHullVertices. 0: MaxHullVertices. Where the hull of all points has more,
	// NewHull keeps those that are farthest outside of what it has, one after the other, so that little is cut off.
	MaxVertices int
	// Radius makes a rounded hull: all points within Radius of the polyhedron, in metres. Its mass is that of the polyhedron.
	Radius float32
}

// NewHull returns the convex hull of points, in metres. Points that lie within a rounding error of a face belong to it: 3·2^-23 of the
// sum of the greatest coordinates, or 2^-20 of the extent, if that is more. The result does not depend on the order of the points, nor
// on points given twice.
//
// Errors: ErrNotFinite and ErrRange, which names the point, for a coordinate that is not finite or beyond 2^20 m; ErrRange for points in
// one place, on a line or in a plane, and for options out of range.
func NewHull(points [][3]float32, o HullOptions) (*Hull, error) {
	if err := o.validate(); err != nil {
		return nil, err
	}
	for i, p := range points {
		for _, v := range p {
			switch {
			case !fault.Finite(v):
				return nil, fault.Element(ErrNotFinite, "physics3: NewHull: points", i, p)
			case max(v, -v) > maxCoordinate:
				return nil, check.Because(fault.Element(ErrRange, "physics3: NewHull: points", i, p), "beyond 2^20 m")
			}
		}
	}
	most := o.MaxVertices
	if most == 0 {
		most = MaxHullVertices
	}
	return buildHull(points, most, o.Radius)
}

func (o *HullOptions) validate() error {
	err := check.Between("physics3: HullOptions.Radius", o.Radius, 0, maxCoordinate)
	if o.MaxVertices != 0 {
		err = errors.Join(err, fault.Between("physics3: HullOptions.MaxVertices", o.MaxVertices, hull.MinVertices, MaxHullVertices))
	}
	return err
}

// buildHull builds hulls of the vertices of the last one until these stay the same. So the hull of its vertices is this hull, as a
// snapshot needs it.
func buildHull(points [][3]float32, most int, radius float32) (*Hull, error) {
	for {
		p, err := hull.Build(points, most)
		if err != nil {
			return nil, check.Because(fault.Field(ErrRange, "physics3: NewHull: len(points)", len(points)), flatOr(err))
		}
		if !slices.Equal(p.Vertices, points) {
			points = p.Vertices
			continue
		}
		h := &Hull{shape: p, core: rigid3.NewPolytope(p), radius: radius}
		h.mass.Mass, h.mass.Centre, h.mass.Inertia = p.Mass()
		if !(h.mass.Mass > 0) {
			return nil, check.Because(fault.Field(ErrRange, "physics3: NewHull: len(points)", len(points)), "the hull has no volume")
		}
		h.digest = statehash.Add(statehash.Rows(buffer.Words[float32](p.Vertices)), "Radius", statehash.Rows([]float32{radius}))
		return h, nil
	}
}

func flatOr(err error) string {
	if errors.Is(err, hull.ErrFlat) {
		return "they lie in one plane"
	}
	return fmt.Sprint(err)
}

// same reports whether two hulls have the same content.
func (h *Hull) same(o *Hull) bool {
	return h == o || h.digest == o.digest && h.hasContent(o.shape.Vertices, o.radius)
}

func (h *Hull) hasContent(vertices [][3]float32, radius float32) bool {
	return h.radius == radius && slices.Equal(h.shape.Vertices, vertices)
}

// NumVertices returns the number of vertices.
func (h *Hull) NumVertices() int { return len(h.shape.Vertices) }

// NumEdges returns the number of edges.
func (h *Hull) NumEdges() int { return len(h.core.Edges) }

// NumFaces returns the number of faces.
func (h *Hull) NumFaces() int { return len(h.shape.Faces) }

// Radius returns HullOptions.Radius.
func (h *Hull) Radius() float32 { return h.radius }

// AppendVertices appends the vertices to dst. They ascend by x, then y, then z.
func (h *Hull) AppendVertices(dst [][3]float32) [][3]float32 { return append(dst, h.shape.Vertices...) }

// AppendFace appends the numbers of the vertices of a face, 0 to NumFaces-1, to dst: counter-clockwise seen from outside, from the
// lowest on. It panics if there is no such face.
func (h *Hull) AppendFace(dst []uint32, face int) []uint32 {
	for _, v := range h.shape.Faces[face] {
		dst = append(dst, uint32(v))
	}
	return dst
}

// Volume returns the volume of the polyhedron in m³.
func (h *Hull) Volume() float32 { return float32(h.mass.Mass) }

// Center returns the centre of mass, in metres.
func (h *Hull) Center() [3]float32 { return narrow3(h.mass.Centre) }

// Inertia returns the inertia about the centre of mass at density 1, in kg·m²: xx, yy, zz, xy, xz, yz, of which the last three are
// -∫xy and so on.
func (h *Hull) Inertia() [6]float32 { return narrow6(h.mass.Inertia) }

func narrow3(v [3]float64) [3]float32 { return [3]float32{float32(v[0]), float32(v[1]), float32(v[2])} }

func narrow6(v [6]float64) (out [6]float32) {
	for k := range v {
		out[k] = float32(v[k])
	}
	return out
}

// contents are the hulls of the shapes of a world, and their surfaces, each by number.
type contents struct {
	rigid3.Hulls
	hulls    contentTable[*Hull]
	surfaces contentTable[surface]
	vertices [][3]float32 // scratch of readHulls
}

// add counts one more use of the hull or the surface of a geometry, if it has one, and sets its number.
func (t *contents) add(g *geometry) {
	switch {
	case g.hull != nil:
		g.Hull = uint32(t.hulls.find(g.hull))
		if !t.hulls.has(int(g.Hull)) {
			t.putHull(int(g.Hull), g.hull)
		}
		t.hulls.uses[g.Hull]++
	case g.surface != nil:
		g.Hull = uint32(t.surfaces.find(g.surface))
		if !t.surfaces.has(int(g.Hull)) {
			t.putSurface(int(g.Hull), g.surface)
		}
		t.surfaces.uses[g.Hull]++
	}
}

// remove counts one use less of the hull or the surface of a geometry.
func (t *contents) remove(g *geometry) {
	switch {
	case g.hull != nil:
		if t.hulls.drop(int(g.Hull)) {
			t.Set(int(g.Hull), nil)
		}
	case g.surface != nil:
		if t.surfaces.drop(int(g.Hull)) {
			t.SetSurface(int(g.Hull), rigid3.Surface{})
		}
	}
}

// putHull gives a hull a number without counting a use; nil is a free number.
func (t *contents) putHull(number int, h *Hull) {
	if t.hulls.put(number, h); h != nil {
		t.Set(number, h.core)
	}
}

// putSurface is putHull for a surface.
func (t *contents) putSurface(number int, s surface) {
	if t.surfaces.put(number, s); s != nil {
		t.SetSurface(number, s.triangles())
	}
}

// reset removes all hulls and surfaces.
func (t *contents) reset() {
	t.hulls.reset()
	t.surfaces.reset()
	t.Reset()
}

// copyFrom replaces all by those of another world.
func (t *contents) copyFrom(src *contents) {
	t.reset()
	for i, h := range src.hulls.items {
		t.putHull(i, h)
	}
	for i, s := range src.surfaces.items {
		t.putSurface(i, s)
	}
	copy(t.hulls.uses, src.hulls.uses)
	copy(t.surfaces.uses, src.surfaces.uses)
}
