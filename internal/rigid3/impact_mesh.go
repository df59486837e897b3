package rigid3

import (
	"github.com/evertick/evertick/internal/mesh"
	"github.com/evertick/evertick/native"
)

// meshSweep finds the triangles of a mesh at rest that may stop a shape on its path.
type meshSweep struct {
	mesh     *mesh.Mesh
	path     *corePath
	box      mesh.Box // around the path
	radius   float64  // of the mesh
	twoSided bool

	faces []mesh.Face // memory
}

// maxSwept is the number of triangles up to which a sweep finds those that may stop a shape in one call.
const maxSwept = 64

// SetLevel sets the level of the kernels. Without it all is done in Go.
func (w *Continuous) SetLevel(level native.Level) { w.kernels = kernelsOf(level) }

// findGo writes the triangles that corePath.passes does not leave out, ascending. It returns how many there are, or -1 if there is no room.
func (s *meshSweep) findGo(out []uint32) int {
	s.faces = s.mesh.AppendFaces(s.faces[:0], &s.box)
	n := 0
	for i := range s.faces {
		if s.path.passes(&s.faces[i].Vertices, s.radius, s.twoSided) {
			continue
		}
		if n == len(out) {
			return -1
		}
		out[n] = s.faces[i].Number
		n++
	}
	return n
}

// passes is misses for the whole step, without a root: most triangles near a path are left out by it.
func (c *corePath) passes(triangle *[3][3]float32, radius float64, twoSided bool) bool {
	v := [3]vec64{wideArray(triangle[0]), wideArray(triangle[1]), wideArray(triangle[2])}
	normal := v[1].Sub(v[0]).Cross(v[2].Sub(v[0]))
	if !twoSided && exceeds(normal.Dot(v[0].Sub(c.middle)), frontTolerance+rounding, normal.Dot(normal)) {
		return true
	}
	if c.keepsApart(normal, &v, radius) {
		return true
	}
	for k := range v {
		if c.keepsApart(v[(k+1)%3].Sub(v[k]).Cross(normal), &v, radius) {
			return true
		}
	}
	return false
}

// keepsApart is isApart for the whole step and a vector of any length.
func (c *corePath) keepsApart(n vec64, v *[3]vec64, radius float64) bool {
	square, reach := n.Dot(n), c.coreReach+radius
	if square == 0 {
		return false
	}
	p, q, r := n.Dot(v[0]), n.Dot(v[1]), n.Dot(v[2])
	least, most := c.along(n, 1)
	return exceeds(least-max(p, q, r), reach, square) || exceeds(min(p, q, r)-most, reach, square)
}

// exceeds reports whether a product with a vector, of which square is the square of the length, is more than the distance by that length.
func exceeds(along, distance, square float64) bool {
	a, b := float64(along*along), float64(float64(distance*distance)*square)
	if distance >= 0 {
		return along > 0 && a > b
	}
	return along >= 0 || a < b
}

func setTriangle(to *[3]Vec, from *[3][3]float32) {
	for k := range from {
		to[k] = Vec{from[k][0], from[k][1], from[k][2]}
	}
}

// meshImpact is surfaceImpact for a mesh at rest with the path in its axes. It returns false if it has done nothing, because there are too many triangles.
func (w *Continuous) meshImpact(q *impactQuery, mem *ImpactMemory, shape, other uint32, by *motion, m *mesh.Mesh, twoSided bool) bool {
	s, o := &mem.sweep, &w.Shapes[other]
	s.mesh, s.path, s.box, s.radius, s.twoSided = m, &mem.path, mem.box, float64(o.Radius), twoSided
	sweep := goKernels.sweep
	if w.kernels != nil {
		sweep = w.kernels.sweep
	}
	n := sweep(s, mem.swept[:])
	s.mesh = nil
	if n < 0 {
		return false
	}
	mem.face = convexCore{mem.triangle[:], false, float64(o.Radius), &o.Pose}
	for _, number := range mem.swept[:n] {
		v := &m.Triangles[number].Vertices
		setTriangle(&mem.triangle, &[3][3]float32{m.Vertices[v[0]], m.Vertices[v[1]], m.Vertices[v[2]]})
		front := frontOf(&mem.face, twoSided)
		if q.time == 1 || !mem.path.misses(&mem.face, &front, q.time) {
			w.coreImpact(q, mem, &mem.face, by, shape, other, &front)
		}
	}
	return true
}
