package rigid3

import (
	"cmp"
	"math"
	"slices"

	"github.com/evertick/evertick/internal/mesh"
)

const (
	// MaxSurfaceManifolds is the most manifolds of a shape and a surface.
	MaxSurfaceManifolds = 8

	// frontTolerance is a distance in metres. A shape touches the front of a triangle if its centre is at most so far behind the plane. Shapes at
	// rest overlap by LinearSlop, and the centre of a thin one may be as deep.
	frontTolerance = LinearSlop

	// sideTolerance is by how much, in metres, a point may be beside a triangle and count as above it, so that none falls between two triangles.
	sideTolerance = 0.01 * LinearSlop

	// coneTolerance is the sine of the angle by which a direction may leave the normals of an edge or a vertex.
	coneTolerance = 1e-4
)

// SurfaceManifold is a Manifold of a surface, which is A, and a shape, which is B.
type SurfaceManifold struct {
	Manifold
	Face uint32 // the triangle with the deepest point
}

// SurfaceCollider is memory for the computation of the manifolds of a surface and a shape. It allocates until it has grown to the greatest number of
// triangles that a shape meets.
type SurfaceCollider struct {
	near     mesh.Box    // around the shape; as a local variable it would be allocated
	faces    []mesh.Face // that meet it, ascending by number
	farFace  mesh.Face   // one that does not
	contacts []faceContact
	points   []contactPoint // of all contacts
	picked   []contactPoint // of a manifold
	clipping clipping
	box      boxArrays
	triangle [3]Vec // the corners of one

	most      float32 // how far the triangle is outside of the plane of the polyhedron that separates most
	mostPlane int     // its number

	frame  pose64  // of the surface
	body   pose64  // of the shape
	framed [2]Pose // what frame was made from: most calls in a row are for one surface

	// Of the current call. The origin is that of the shape. Its axes are those of the surface for round shapes, and those of the shape for others.
	surface  mesh.Surface
	twoSided bool
	radius   float32
	margin   float32  // of the distance of the core
	at       pose64   // the shape as seen from the surface
	turned   bool     // the axes are those of the shape
	half     vec64    // of a sphere or capsule: from its middle to its second end
	extent   vec64    // half of a box around the core
	core     Polytope // of a polyhedron
	isBox    bool
	centre   vec64 // decides which side of a triangle the shape is on
	middle   vec64 // the same in the axes of the surface
}

// faceContact is the contact of the shape with one triangle.
type faceContact struct {
	normal     vec64 // in the axes of the surface, of length one
	toward     vec64 // of a spare contact: the line of the closest points, from the surface
	first, end int32 // in points
	depth      float32
	face       uint32
	cluster    int8
	spare      bool // it counts only if no other contact is as deep: see dropCovered
}

// Collide makes the manifolds of a surface and a shape: those with the deepest points if there are more than MaxSurfaceManifolds. It returns how
// many there are. All have points. They ascend by the separation of their deepest point. The result is a function of the set
// of triangles and of their order.
//
// A shape touches a triangle of a one-sided surface if the centre of its core is at most LinearSlop behind the plane. In a two-sided surface the
// side of that centre is the front.
//
// The normal of a contact is that of a triangle, or lies between those of the triangles that meet at a convex edge or vertex. Where triangles are
// flush or meet in a valley no contact has the direction of their edge, so that a body slides over flat ground as over one triangle. Contacts whose
// normals agree make one manifold of at most MaxPoints points.
//
// There are no manifolds if a pose is not finite, or its rotation is far from length one, nor if the shape is larger than 2²⁴ m or farther away.
func (k *SurfaceCollider) Collide(surface mesh.Surface, twoSided bool, shape *Shape, hulls *Hulls, poseSurface, poseShape *Pose, localSurface *Pose, out *[MaxSurfaceManifolds]SurfaceManifold) int {
	if !k.find(surface, twoSided, shape, hulls, poseSurface, poseShape, localSurface) {
		return 0
	}
	k.contacts, k.points = k.contacts[:0], k.points[:0]
	var f surfaceFace
	for i := range k.faces {
		if !k.place(&k.faces[i], &f) {
			continue
		}
		switch shape.Kind {
		case KindSphere:
			k.collideSphere(&f)
		case KindCapsule:
			k.collideCapsule(&f)
		default:
			k.collidePolytope(&f)
		}
	}
	k.surface = nil
	if len(k.contacts) == 0 {
		return 0
	}
	n := k.merge()
	origin := poseShape.Q.Rotate(shape.Pose.P)
	apart := poseShape.P.Sub(poseSurface.P)
	axes := &k.frame
	if k.turned {
		axes = &k.body
	}
	for c := range n {
		k.write(int8(c), &k.frame, axes, origin, apart, &out[c])
	}
	// An inner point that was left out may have been a little deeper.
	slices.SortStableFunc(out[:n], func(a, b SurfaceManifold) int { return cmp.Compare(a.least(), b.least()) })
	return n
}

// find finds the triangles near a shape. It returns false if the shape touches none.
func (k *SurfaceCollider) find(surface mesh.Surface, twoSided bool, shape *Shape, hulls *Hulls, poseSurface, poseShape, localSurface *Pose) bool {
	if !k.begin(surface, twoSided, shape, hulls, poseSurface, poseShape, localSurface) {
		return false
	}
	k.setFrame(poseSurface, localSurface)
	k.body.set(poseShape, &shape.Pose)
	k.at = k.frame.relative(&k.body)
	k.half = k.at.rotate(shape.Half.wide64())
	k.extent, k.middle = k.half.absolute(), k.toSurface(k.centre)
	if k.turned {
		k.extent = k.core.extent.wide64()
	}
	ok := false
	if k.near, ok = k.bounds(shape); !ok {
		return false
	}
	k.faces = surface.AppendFaces(k.faces[:0], &k.near)
	return true
}

// setFrame sets the frame of the surface. Zeros of both signs are different poses.
func (k *SurfaceCollider) setFrame(body, local *Pose) {
	if k.framed[0].hasBits(body) && k.framed[1].hasBits(local) {
		return
	}
	k.framed = [2]Pose{*body, *local}
	k.frame.set(body, local)
}

func (p *Pose) hasBits(o *Pose) bool {
	differ := func(a, b float32) uint32 { return math.Float32bits(a) ^ math.Float32bits(b) }
	return differ(p.P.X, o.P.X)|differ(p.P.Y, o.P.Y)|differ(p.P.Z, o.P.Z)|
		differ(p.Q.X, o.Q.X)|differ(p.Q.Y, o.Q.Y)|differ(p.Q.Z, o.Q.Z)|differ(p.Q.W, o.Q.W) == 0
}

// least returns the separation of the deepest point.
func (m *SurfaceManifold) least() float32 {
	least := m.Points[0].Separation
	for i := range m.Points[1:m.Count] {
		least = minFloat(m.Points[1+i].Separation, least)
	}
	return least
}

// begin sets what depends on the shape alone. It returns false if there is nothing to collide.
func (k *SurfaceCollider) begin(surface mesh.Surface, twoSided bool, shape *Shape, hulls *Hulls, poseSurface, poseShape, local *Pose) bool {
	rank := shape.Kind.rank()
	if rank == 0 {
		return false
	}
	q, r := poseSurface.Q.Mul(local.Q).absSum(), poseShape.Q.Mul(shape.Pose.Q).absSum()
	d := poseShape.P.Sub(poseSurface.P).Add(poseShape.Q.Rotate(shape.Pose.P).Sub(poseSurface.Q.Rotate(local.P)))
	if !(q <= maxQuat && q >= minQuat && r <= maxQuat && r >= minQuat && shape.Half.absSum()+(d.absSum()+abs(shape.Radius)) <= maxReach) {
		return false
	}
	k.surface, k.twoSided = surface, twoSided
	k.radius, k.margin = shape.Radius, shape.Radius+SpeculativeDistance
	k.turned, k.isBox, k.core, k.centre = rank == 3, shape.Kind == KindBox, Polytope{}, vec64{}
	if k.turned {
		k.core = shape.polytope(hulls, &k.box)
		k.centre = k.core.Centre.wide64()
		return len(k.core.Planes) > 0
	}
	return true
}

// minQuat bounds the sum of the absolute numbers of a quaternion from below, which is at least 1 for a rotation.
const minQuat = 0.5

// bounds returns the box around the shape in the axes of the surface, grown by SpeculativeDistance.
func (k *SurfaceCollider) bounds(shape *Shape) (box mesh.Box, ok bool) {
	m, half := &k.at, shape.Half.wide64()
	lo, hi := k.half, k.half.neg()
	switch shape.Kind {
	case KindSphere, KindCapsule:
		lo, hi = lo.least(hi), hi.most(lo)
	case KindBox:
		hi = vec64{m.x.absolute().Dot(half), m.y.absolute().Dot(half), m.z.absolute().Dot(half)}
		lo = hi.neg()
	case KindHull:
		for i, v := range k.core.Vertices {
			p := m.rotate(v.wide64())
			if i == 0 {
				lo, hi = p, p
			}
			lo, hi = vec64{lesser(p.x, lo.x), lesser(p.y, lo.y), lesser(p.z, lo.z)}, vec64{greater(p.x, hi.x), greater(p.y, hi.y), greater(p.z, hi.z)}
		}
	}
	r := float64(k.margin) + sideTolerance
	lo, hi = lo.Add(m.p).Sub(vec64{r, r, r}), hi.Add(m.p).Add(vec64{r, r, r})
	size := (hi.x - lo.x) + (hi.y - lo.y) + (hi.z - lo.z)
	if !(size <= maxReach && max(m.p.x, -m.p.x)+max(m.p.y, -m.p.y)+max(m.p.z, -m.p.z) <= 4*maxReach) {
		return box, false
	}
	box.Min = [3]float32{roundDown(lo.x), roundDown(lo.y), roundDown(lo.z)}
	box.Max = [3]float32{-roundDown(-hi.x), -roundDown(-hi.y), -roundDown(-hi.z)}
	return box, true
}

// roundDown returns the greatest float32 that is not above v.
func roundDown(v float64) float32 {
	r := float32(v)
	if float64(r) > v {
		return math.Nextafter32(r, -inf)
	}
	return r
}

// lesser and greater are min and max in fewer instructions. They do not order zeros, and return b if one is NaN.

func lesser(a, b float64) float64 {
	if a < b {
		return a
	}
	return b
}

func greater(a, b float64) float64 {
	if a > b {
		return a
	}
	return b
}

func (a vec64) absolute() vec64 { return vec64{max(a.x, -a.x), max(a.y, -a.y), max(a.z, -a.z)} }

// least and most are by component; none is NaN.

func (a vec64) least(b vec64) vec64 { return vec64{min(a.x, b.x), min(a.y, b.y), min(a.z, b.z)} }

func (a vec64) most(b vec64) vec64 { return vec64{max(a.x, b.x), max(a.y, b.y), max(a.z, b.z)} }
