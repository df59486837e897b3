package rigid3

import (
	"math"

	"github.com/evertick/evertick/native"
)

// Boxes are axis-aligned boxes in columns: Min[0], Min[1] and Min[2] are the least x, y and z.
type Boxes struct{ Min, Max [3][]float32 }

// Resize makes the columns n long. Their contents are unspecified.
func (b *Boxes) Resize(n int) {
	for k := range b.Min {
		if cap(b.Min[k]) < n || cap(b.Max[k]) < n {
			b.Min[k], b.Max[k] = make([]float32, n, n+n/2), make([]float32, n, n+n/2)
		}
		b.Min[k], b.Max[k] = b.Min[k][:n], b.Max[k][:n]
	}
}

// Range returns boxes [lo, hi).
func (b *Boxes) Range(lo, hi int) (r Boxes) {
	for k := range b.Min {
		r.Min[k], r.Max[k] = b.Min[k][lo:hi], b.Max[k][lo:hi]
	}
	return r
}

// Bounds computes the box around each shape, grown by margin metres on all sides; shape i belongs to body bodyOf[i]. It is that of the
// vertices in the world, so that it is as small as float32 can say: no vertex is outside by more than rounding. A bound that is zero is +0.
//
// The box around a surface is that of the corners of its own box.
//
// A shape that was removed gets the inverted box, from +Inf to -Inf, which overlaps nothing. So does a shape whose bounds are not finite,
// or whose rotation is longer than 2³¹: a broken body touches no other.
//
// Bounds panics if lengths differ, and if a body has no pose.
func Bounds(level native.Level, shapes []Shape, hulls *Hulls, bodyOf []uint32, poses []Pose, margin float32, out *Boxes) {
	n := len(shapes)
	for k := range out.Min {
		if len(out.Min[k]) != n || len(out.Max[k]) != n {
			panic("rigid3: Bounds: shapes and out differ in length")
		}
	}
	if len(bodyOf) != n {
		panic("rigid3: Bounds: shapes and bodyOf differ in length")
	}
	k := kernelsOf(level)
	if n < boundsBreakEven {
		k = &goKernels
	}
	s := placedShapes{shapes, hulls, bodyOf, poses}
	if k.bounds(s, margin, *out) < n {
		panic("rigid3: Bounds: a shape has no pose")
	}
	if k != &goKernels && hulls != nil && len(hulls.surfaces) > 0 {
		s.boundSurfaces(margin, out)
	}
}

// boundsBreakEven is the number of shapes from which on a kernel gains more than its call costs.
const boundsBreakEven = 4

// boundSurfaces computes the boxes that a kernel leaves inverted.
func (p placedShapes) boundSurfaces(margin float32, out *Boxes) {
	for i := range p.shapes {
		if p.shapes[i].Kind == KindSurface {
			lo, hi := p.shapes[i].bounds(p.hulls, &p.poses[p.bodyOf[i]], margin)
			out.set(i, lo, hi)
		}
	}
}

func (b *Boxes) set(i int, lo, hi Vec) {
	b.Min[0][i], b.Min[1][i], b.Min[2][i] = lo.X, lo.Y, lo.Z
	b.Max[0][i], b.Max[1][i], b.Max[2][i] = hi.X, hi.Y, hi.Z
}

// boundsGo returns the number of boxes computed. It stops at a shape that has no pose.
func (p placedShapes) boundsGo(margin float32, out Boxes) int {
	shapes, bodyOf, poses := p.shapes, p.bodyOf, p.poses
	for i := range shapes {
		s := &shapes[i]
		lo, hi := Vec{inf, inf, inf}, Vec{-inf, -inf, -inf}
		if s.Kind != KindNone {
			if uint(bodyOf[i]) >= uint(len(poses)) {
				return i
			}
			lo, hi = s.bounds(p.hulls, &poses[bodyOf[i]], margin)
		}
		out.set(i, lo, hi)
	}
	return len(shapes)
}

var inf = float32(math.Inf(1))

// maxMatrix bounds the sum of the absolute numbers of a matrix, so that no product of it with a coordinate overflows.
const maxMatrix = 1 << 64

func (s *Shape) bounds(hulls *Hulls, body *Pose, margin float32) (lo, hi Vec) {
	world := body.Times(&s.Pose)
	m := world.Q.Matrix()
	lo, hi = Vec{inf, inf, inf}, Vec{-inf, -inf, -inf}
	if !(m.absSum() <= maxMatrix) {
		return lo, hi
	}
	switch s.Kind {
	case KindSphere, KindCapsule:
		h := m.Mul(s.Half)
		hi = Vec{abs(h.X), abs(h.Y), abs(h.Z)}
		lo = hi.neg()
	case KindBox:
		hi = Vec{m.X.absDot(s.Half), m.Y.absDot(s.Half), m.Z.absDot(s.Half)}
		lo = hi.neg()
	case KindHull, KindSurface:
		var b boxArrays
		vertices := s.hullVertices(hulls, &b)
		if len(vertices) == 0 {
			return lo, hi
		}
		for _, v := range vertices {
			p := m.Mul(v)
			lo = Vec{minFloat(p.X, lo.X), minFloat(p.Y, lo.Y), minFloat(p.Z, lo.Z)}
			hi = Vec{maxFloat(p.X, hi.X), maxFloat(p.Y, hi.Y), maxFloat(p.Z, hi.Z)}
		}
	default:
		return lo, hi
	}
	r := s.Radius + margin
	zero := Vec{} // makes -0 +0
	lo, hi = lo.Add(world.P).Sub(Vec{r, r, r}).Add(zero), hi.Add(world.P).Add(Vec{r, r, r}).Add(zero)
	if sum := (lo.X + lo.Y + lo.Z) + (hi.X + hi.Y + hi.Z); sum-sum != 0 {
		return Vec{inf, inf, inf}, Vec{-inf, -inf, -inf}
	}
	return lo, hi
}

// hullVertices returns the vertices of a hull, or the corners of the box around a surface.
func (s *Shape) hullVertices(hulls *Hulls, b *boxArrays) []Vec {
	if s.Kind == KindSurface {
		return hulls.cornersOf(s.Hull, b)
	}
	if t := hulls.at(s.Hull); t != nil {
		return t.Vertices
	}
	return nil
}

func (m *Mat) absSum() float32 {
	return (abs(m.X.X) + abs(m.X.Y) + abs(m.X.Z)) + (abs(m.Y.X) + abs(m.Y.Y) + abs(m.Y.Z)) + (abs(m.Z.X) + abs(m.Z.Y) + abs(m.Z.Z))
}

// absDot is the dot product of absolute values, for b ≥ 0: the greatest of a with a corner of the box of half extents b.
func (a Vec) absDot(b Vec) float32 {
	return (float32(abs(a.X)*b.X) + float32(abs(a.Y)*b.Y)) + float32(abs(a.Z)*b.Z)
}
