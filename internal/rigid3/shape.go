package rigid3

import (
	"math"

	"github.com/evertick/evertick/internal/vec"
)

// Kind says what the core of a Shape is.
type Kind uint32

// The kinds of shapes. KindNone is that of a shape that was removed, which touches nothing.
const (
	KindNone    Kind = iota
	KindSphere       // a point
	KindCapsule      // a segment
	KindBox
	KindHull    // a polytope of Hulls
	KindSurface // triangles of Hulls: see CollideSurfaces
)

// Shape is all points within Radius of a core, in the frame of its body, whose origin is the centre of mass.
type Shape struct {
	Pose   Pose    // of the core in the body
	Half   Vec     // of a box: half extents; of a capsule: from its middle to its second end, where Pose has no rotation; else 0
	Radius float32 // metres
	Kind   Kind
	Hull   uint32 // of KindHull and KindSurface: its number in Hulls; else 0
}

// NewSphere returns a sphere.
func NewSphere(centre Vec, radius float32) Shape {
	return Shape{Pose: Pose{centre, Identity}, Radius: radius, Kind: KindSphere}
}

// NewCapsule returns all points within a radius of the segment from p1 to p2.
func NewCapsule(p1, p2 Vec, radius float32) Shape {
	middle := Vec{float32(0.5*p1.X) + float32(0.5*p2.X), float32(0.5*p1.Y) + float32(0.5*p2.Y), float32(0.5*p1.Z) + float32(0.5*p2.Z)}
	half := p2.Sub(p1).Times(0.5)
	return Shape{Pose: Pose{middle, Identity}, Half: half, Radius: radius, Kind: KindCapsule}
}

// NewBoxShape returns a box with half extents, which a radius rounds.
func NewBoxShape(half Vec, pose Pose, radius float32) Shape {
	return Shape{Pose: pose, Half: half, Radius: radius, Kind: KindBox}
}

// NewHullShape returns the polytope with a number in Hulls, which a radius rounds.
func NewHullShape(hull uint32, pose Pose, radius float32) Shape {
	return Shape{Pose: pose, Radius: radius, Kind: KindHull, Hull: hull}
}

// NewSurfaceShape returns the triangles with a number in Hulls.
func NewSurfaceShape(surface uint32, pose Pose) Shape {
	return Shape{Pose: pose, Kind: KindSurface, Hull: surface}
}

// Translated returns the shape moved by a vector, for another centre of mass.
func (s *Shape) Translated(by Vec) Shape {
	moved := *s
	moved.Pose.P = s.Pose.P.Add(by)
	return moved
}

// Mass returns the mass of the shape at density 1, in the frame of the body. The radius of a sphere and of a capsule is all of their
// mass. That of a box or a hull does not count: it rounds the corners, and its share is small.
func (s *Shape) Mass(hulls *Hulls) Mass {
	p, h := wide(s.Pose.P), wide(s.Half)
	q := [4]float64{float64(s.Pose.Q.X), float64(s.Pose.Q.Y), float64(s.Pose.Q.Z), float64(s.Pose.Q.W)}
	switch s.Kind {
	case KindSphere:
		return SphereMass(p, float64(s.Radius))
	case KindCapsule:
		return CapsuleMass(vec.Sub(p, h), vec.Add(p, h), float64(s.Radius))
	case KindBox:
		m := BoxMass(h)
		return m.Placed(p, q)
	case KindHull:
		if t := hulls.at(s.Hull); t != nil {
			return t.mass.Placed(p, q)
		}
	}
	return Mass{}
}

func wide(v Vec) [3]float64 { return [3]float64{float64(v.X), float64(v.Y), float64(v.Z)} }

// MaxExtent returns the distance in metres of the farthest point from the origin of the body, which is its centre of mass.
func (s *Shape) MaxExtent(hulls *Hulls) float32 {
	var b boxArrays
	t := s.polytope(hulls, &b)
	if s.Kind == KindSurface {
		t.Vertices = hulls.cornersOf(s.Hull, &b)
	}
	most := float32(0)
	for _, v := range t.Vertices {
		p := s.Pose.Transform(v)
		most = maxFloat(p.Dot(p), most)
	}
	return sqrt(most) + s.Radius
}

// CoreExtent returns no less than the distance in metres of the farthest corner of its core, which is what remains of the shape without half of its least
// extent all around, from the centre of mass. A corner is the middle of a ball and the end of the axis of a capsule: these turn without leaving their place.
func (s *Shape) CoreExtent(hulls *Hulls) float32 {
	inset := float32(firstCore*s.MinExtent(hulls)) - s.Radius
	return maxFloat(s.MaxExtent(hulls)-s.Radius-maxFloat(inset, 0), 0)
}

// MinExtent returns the least distance in metres of a point inside the shape, its middle, from the surface: a body that moves by less in a step
// does not pass a plane unnoticed. It is +Inf for a shape that was removed.
func (s *Shape) MinExtent(hulls *Hulls) float32 {
	least := float32(math.Inf(1))
	switch s.Kind {
	case KindSphere, KindCapsule:
		least = 0
	case KindBox, KindHull:
		var b boxArrays
		t := s.polytope(hulls, &b)
		for i := range t.Planes {
			least = minFloat(t.Planes[i].Offset-t.Planes[i].Normal.Dot(t.Centre), least)
		}
	}
	return least + s.Radius
}

// boxArrays is the memory for the numbers of a box as a Polytope.
type boxArrays struct {
	vertices [8]Vec
	planes   [6]Plane
}

// polytope returns the core of a shape, which has no vertices if there is none.
func (s *Shape) polytope(hulls *Hulls, b *boxArrays) Polytope {
	switch s.Kind {
	case KindSphere:
		b.vertices[0] = Vec{}
		return Polytope{Vertices: b.vertices[:1]}
	case KindCapsule:
		b.vertices[0], b.vertices[1] = s.Half.neg(), s.Half
		return Polytope{Vertices: b.vertices[:2]}
	case KindBox:
		return s.Half.box(b)
	case KindHull:
		if t := hulls.at(s.Hull); t != nil {
			return *t
		}
	}
	return Polytope{}
}
