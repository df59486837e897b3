package rigid3

import (
	"math"

	"github.com/evertick/evertick/internal/mesh"
)

// surfaceFace is a triangle near a shape, in the axes of the computation, with its origin at the shape. The triangle may be a million times as
// large as the shape, so its planes are computed in float64.
type surfaceFace struct {
	*mesh.Face
	flipped bool         // its back is the front
	convex  bool         // an edge is convex or open
	flat    bool         // all edges are flat
	edges   [3]mesh.Edge // seen from the front
	up      vec64        // the normal, in the axes of the surface
	normal  vec64        // the same in those of the computation
	offset  float64      // of the points p of the plane: normal·p
	corners [3]vec64
	across  [3]vec64   // vectors at a right angle to the edges and the normal, outwards, as long as the edges
	squares [3]float64 // of their lengths

	// Of the sides that setSide has made: most tests can do without the root of their length.
	made   [3]bool
	side   [3]vec64   // normals of the planes through the edges, outwards
	beside [3]float64 // their offsets
}

// place sets a triangle. It returns false if that is too far from the shape, or does not have its front there. Of a polyhedron it sets what separate
// sets.
func (k *SurfaceCollider) place(face *mesh.Face, f *surfaceFace) bool {
	a, b, c := wideArray(face.Vertices[0]), wideArray(face.Vertices[1]), wideArray(face.Vertices[2])
	n := b.Sub(a).Cross(c.Sub(a))
	a = a.Sub(k.at.p)
	square := n.Dot(n)
	if !(square > 0) || k.isApart(n, square, a) {
		return false
	}
	f.corners = [3]vec64{k.toAxes(a), k.toAxes(b.Sub(k.at.p)), k.toAxes(c.Sub(k.at.p))}
	if k.turned && !k.separate(f) {
		return false
	}
	l := math.Sqrt(square)
	n = vec64{n.x / l, n.y / l, n.z / l}
	f.Face, f.edges, f.up, f.flat, f.flipped, f.convex = face, face.Edges, n, true, false, false
	f.normal, f.offset = k.toAxes(n), n.Dot(a)
	outwards := f.normal
	if height := f.normal.Dot(k.centre) - f.offset; k.twoSided && height < 0 {
		f.flipped, f.up, f.normal, f.offset = true, n.neg(), f.normal.neg(), -f.offset
	} else if height < -frontTolerance {
		return false
	}
	if -f.offset-k.reach(f.normal) > float64(k.margin) {
		return false
	}
	for i, kind := range f.edges {
		switch {
		case f.flipped && kind == mesh.Convex:
			f.edges[i] = mesh.Concave
		case f.flipped && kind == mesh.Concave:
			f.edges[i] = mesh.Convex
		}
		f.convex, f.flat = f.convex || isRidge(f.edges[i]), f.flat && kind == mesh.Flat
		f.across[i] = f.corners[(i+1)%3].Sub(f.corners[i]).Cross(outwards)
		f.squares[i] = f.across[i].Dot(f.across[i])
	}
	f.made = [3]bool{}
	return true
}

// The early tests compare squares, without a root. Their limits are so far beyond the exact ones that rounding does not decide: coordinates are below
// 2²⁷ m, so that heights in float64 are right to a micrometre.

// isApart reports whether a triangle is certainly too far from the shape, or has its back there. It has a corner at a and the normal n of any length.
func (k *SurfaceCollider) isApart(n vec64, square float64, a vec64) bool {
	const most = 1.02 * frontTolerance
	height := -n.Dot(a)
	if k.twoSided {
		height = max(height, -height)
	} else if behind := -n.Dot(k.middle) - height; behind > 0 && float64(behind*behind) > float64(most*most*square) {
		return true
	}
	over, margin := height-k.reach(k.toAxes(n)), float64(1.01*float64(k.margin))
	return over > 0 && float64(over*over) > float64(float64(margin*margin)*square)
}

// isBeside reports whether the core is certainly too far beyond an edge of a triangle to touch it. What follows is partly in float32, so the limit
// grows with the triangle.
func (k *SurfaceCollider) isBeside(f *surfaceFace) bool {
	size := max(f.corners[0].sum(), f.corners[1].sum(), f.corners[2].sum()) + k.extent.sum()
	margin := float64(1.01*float64(k.margin)) + float64(1e-5*size)
	for i := range 3 {
		side, reach := f.across[i], 0.
		if k.turned {
			reach = k.reach(side)
		} else {
			reach = math.Abs(side.Dot(k.half))
		}
		over := -side.Dot(f.corners[i]) - reach
		if over > 0 && float64(over*over) > float64(float64(margin*margin)*f.squares[i]) {
			return true
		}
	}
	return false
}

// setSide sets the plane through an edge.
func (f *surfaceFace) setSide(i int) {
	if f.made[i] {
		return
	}
	f.made[i], f.side[i] = true, vec64{}
	if l := math.Sqrt(f.squares[i]); l > 0 {
		f.side[i] = vec64{f.across[i].x / l, f.across[i].y / l, f.across[i].z / l}
	}
	f.beside[i] = f.side[i].Dot(f.corners[i])
}

// outside returns 1 for a point that is certainly beyond an edge by more than sideTolerance, -1 for one that is certainly not, and else 0.
func (f *surfaceFace) outside(i int, p vec64) int {
	const least, most = 0.8 * sideTolerance, 1.2 * sideTolerance
	over := f.across[i].Dot(p.Sub(f.corners[i]))
	switch square := float64(over * over); {
	case !(over > 0) || square < float64(least*least*f.squares[i]):
		return -1
	case square > float64(most*most*f.squares[i]):
		return 1
	}
	return 0
}

// isRidge reports whether a shape can touch an edge from a direction that is not the normal of a triangle.
func isRidge(e mesh.Edge) bool { return e == mesh.Convex || e == mesh.Open }

// reach returns how far the core extends along a vector, or more.
func (k *SurfaceCollider) reach(n vec64) float64 {
	n = n.absolute()
	return (float64(n.x*k.extent.x) + float64(n.y*k.extent.y)) + float64(n.z*k.extent.z)
}

func wideArray(v [3]float32) vec64 { return vec64{float64(v[0]), float64(v[1]), float64(v[2])} }

// toAxes turns a vector from the axes of the surface into those of the computation, and toSurface turns it back.

func (k *SurfaceCollider) toAxes(v vec64) vec64 {
	if k.turned {
		return k.at.unrotate(v)
	}
	return v
}

func (k *SurfaceCollider) toSurface(v vec64) vec64 {
	if k.turned {
		return k.at.rotate(v)
	}
	return v
}

// height is how far a point is in front of the plane of the triangle.
func (f *surfaceFace) height(p vec64) float64 { return f.normal.Dot(p) - f.offset }

// isAbove reports whether a point is within the sides of the triangle.
func (f *surfaceFace) isAbove(p vec64) bool {
	for i := range 3 {
		where := f.outside(i, p)
		if where == 0 {
			if f.setSide(i); f.side[i].Dot(p)-f.beside[i] > sideTolerance {
				where = 1
			}
		}
		if where > 0 {
			return false
		}
	}
	return true
}

// face returns the triangle with a number, from those near the shape if it is one of them. It is valid until the next call.
func (k *SurfaceCollider) face(number uint32) *mesh.Face {
	lo, hi := 0, len(k.faces)
	for lo < hi {
		if mid := int(uint(lo+hi) / 2); k.faces[mid].Number < number {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo < len(k.faces) && k.faces[lo].Number == number {
		return &k.faces[lo]
	}
	k.farFace = k.surface.Face(number)
	return &k.farFace
}

// edgeAllows reports whether a contact at edge i of a triangle may have a unit vector as its normal, in the axes of the surface: whether that lies
// between the normals of both triangles, given that it is on the outer side of f. Then the other triangle falls away from the plane through the edge at
// a right angle to the vector.
func (k *SurfaceCollider) edgeAllows(f *surfaceFace, i int, d vec64) bool {
	switch f.edges[i] {
	case mesh.Open:
		return d.Dot(f.up) >= -coneTolerance
	case mesh.Convex:
		other, from := k.face(f.Neighbours[i]), wideArray(f.Vertices[i])
		for _, v := range other.Vertices {
			if v != f.Vertices[i] && v != f.Vertices[(i+1)%3] {
				to := wideArray(v).Sub(from)
				return d.Dot(to) <= float64(coneTolerance*to.length())
			}
		}
	}
	return false
}

// maxRing bounds the triangles around a vertex that are looked at.
const maxRing = 64

// cornerAllows reports whether a contact at corner i of a triangle may have a unit vector as its normal, in the axes of the surface: whether all
// triangles around the corner fall away from it. Where f falls away on both sides, it does not decide: some other triangle has a contact with
// that normal.
func (k *SurfaceCollider) cornerAllows(f *surfaceFace, i int, d vec64) bool {
	before, after := f.edges[(i+2)%3], f.edges[i]
	if !isRidge(before) && !isRidge(after) || (before == mesh.Open || after == mesh.Open) && !(d.Dot(f.up) >= -coneTolerance) {
		return false
	}
	from := wideArray(f.Vertices[i])
	for way := range 2 {
		at := i // the edge to cross, in the direction of edge i of f, then in the other one if there is an end
		if way == 1 {
			at = (i + 2) % 3
		}
		number, seen := f.Neighbours[at], 1
		for ; number != mesh.None && number != f.Number && seen < maxRing; seen++ {
			face := k.face(number)
			corner := cornerAt(face, f.Vertices[i])
			if corner < 0 {
				break
			}
			for j := 1; j < 3; j++ {
				to := wideArray(face.Vertices[(corner+j)%3]).Sub(from)
				if d.Dot(to) > float64(coneTolerance*to.length()) {
					return false
				}
			}
			if at = corner; way == 1 {
				at = (corner + 2) % 3
			}
			number = face.Neighbours[at]
		}
		if number == f.Number || seen == maxRing {
			break
		}
	}
	return true
}

// cornerAt returns the corner of a triangle at a vertex, or -1.
func cornerAt(face *mesh.Face, v [3]float32) int {
	for i := range face.Vertices {
		if face.Vertices[i] == v {
			return i
		}
	}
	return -1
}

// allows is edgeAllows or cornerAllows for a direction in the axes of the computation and the feature at the place from 0 to 1 of edge i.
func (k *SurfaceCollider) allows(f *surfaceFace, i int, at float64, d vec64) bool {
	d = k.toSurface(d)
	corner := i
	switch at {
	case 1:
		corner = (i + 1) % 3
		fallthrough
	case 0:
		isOpen := f.edges[corner] == mesh.Open || f.edges[(corner+2)%3] == mesh.Open
		return k.cornerAllows(f, corner, d) && !(isOpen && k.isSeam(f, i, at, d))
	}
	return k.edgeAllows(f, i, d) && !(f.edges[i] == mesh.Open && k.isSeam(f, i, at, d))
}

// edgeAxis returns the unit vector at a right angle to edge i and another vector from which the triangle falls away; false if both are parallel.
func (f *surfaceFace) edgeAxis(i int, along vec64) (vec64, bool) {
	u := f.corners[(i+1)%3].Sub(f.corners[i])
	n := u.Cross(along)
	square := n.Dot(n)
	if !(square > float64(parallelSquare*float64(u.Dot(u)*along.Dot(along)))) {
		return n, false
	}
	n = n.Times(1 / math.Sqrt(square))
	if n.Dot(f.corners[(i+2)%3].Sub(f.corners[i])) > 0 {
		n = n.neg()
	}
	return n, true
}

// edgeID is the ID of a point at edge i of a triangle and one of the shape. It is the same for both triangles of the edge.
func (f *surfaceFace) edgeID(i, edgeOfShape int) uint32 {
	kind := edgesMeet
	if f.edges[i] == mesh.Flat {
		kind = innerPoint
	}
	return featureID(kind, int(mixed(cornerHash(f.Vertices[i])+cornerHash(f.Vertices[(i+1)%3]))>>17), edgeOfShape)
}

// cornerID is the ID of a point at corner i of a triangle. It is the same for all triangles around the corner.
func (f *surfaceFace) cornerID(i int) uint32 {
	kind := uint32(vertexOfMesh)
	if f.edges[i] == mesh.Flat && f.edges[(i+2)%3] == mesh.Flat {
		kind = innerPoint
	}
	return kind<<30 | cornerHash(f.Vertices[i])>>2
}

func cornerHash(v [3]float32) uint32 {
	h := uint32(0)
	for _, c := range v {
		h = mixed(h ^ math.Float32bits(c+0))
	}
	return h
}

// mixed is a permutation whose bits depend on all bits of h.
func mixed(h uint32) uint32 {
	h = (h ^ h>>16) * 0x7feb352d
	h = (h ^ h>>15) * 0x846ca68b
	return h ^ h>>16
}

// isSeam reports whether another triangle goes on where edge i of f seems to end, and rises above the plane at a right angle to d there: the edge of
// more than two triangles, or the border of a part whose vertices are not those of the next.
func (k *SurfaceCollider) isSeam(f *surfaceFace, i int, at float64, d vec64) bool {
	from, to := wideArray(f.Vertices[i]), wideArray(f.Vertices[(i+1)%3])
	p := from.addTimes(to.Sub(from), at)
	for j := range k.faces {
		face := &k.faces[j]
		if face.Number == f.Number {
			continue
		}
		v := [3]vec64{wideArray(face.Vertices[0]).Sub(p), wideArray(face.Vertices[1]).Sub(p), wideArray(face.Vertices[2]).Sub(p)}
		rises := false
		for _, w := range v {
			rises = rises || d.Dot(w) > float64(coneTolerance*w.length())
		}
		n := v[1].Sub(v[0]).Cross(v[2].Sub(v[0]))
		l := n.length()
		if !rises || !(max(n.Dot(v[0]), -n.Dot(v[0])) <= float64(sideTolerance*l)) {
			continue
		}
		if centre := k.at.p.Add(k.toSurface(k.centre)).Sub(p); !k.twoSided && n.Dot(centre) < float64(-frontTolerance*l) {
			continue // its back
		}
		inside := true
		for e := range v {
			side := v[(e+1)%3].Sub(v[e]).Cross(n)
			inside = inside && -side.Dot(v[e]) <= float64(sideTolerance*side.length())
		}
		if inside {
			return true
		}
	}
	return false
}
