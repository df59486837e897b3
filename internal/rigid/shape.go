package rigid

import (
	"fmt"
	"math"

	"github.com/evertick/evertick/internal/fault"
)

// Errors that the constructors of shapes return, wrapped.
var (
	ErrNotFinite = fault.ErrNotFinite
	ErrRange     = fault.ErrRange
)

// MaxCoordinate is the largest coordinate and the largest radius of a shape in
// metres. float32 resolves 6 cm there, and no square of it overflows.
const MaxCoordinate = 1 << 20

// flatness is the least height of a corner above a side, relative to the extent of the polygon. Coordinates are
// rounded to 6e-8 of their size, so a flatter corner may have been concave before rounding.
const flatness = 1e-6

// MakeCircle returns a disc. Errors wrap ErrNotFinite or ErrRange: a coordinate
// beyond MaxCoordinate, or a radius that is not positive.
func MakeCircle(center Vec, radius float32) (Shape, error) {
	if err := checkPoints("rigid: MakeCircle: center", []Vec{center}); err != nil {
		return Shape{}, err
	}
	if err := checkRadius("rigid: MakeCircle: radius", radius, true); err != nil {
		return Shape{}, err
	}
	s := Shape{Centroid: center, Radius: radius, Count: 1}
	s.Vertices[0] = center
	return s, nil
}

// MakeCapsule returns all points within radius of the segment from p to q. Errors
// are those of MakeCircle, and ErrRange if p and q are less than LinearSlop apart.
func MakeCapsule(p, q Vec, radius float32) (Shape, error) {
	if err := checkRadius("rigid: MakeCapsule: radius", radius, true); err != nil {
		return Shape{}, err
	}
	return makeHull("rigid: MakeCapsule: ends", []Vec{p, q}, radius)
}

// MakeSegment returns the segment from p to q, which has no mass and collides on
// both sides. Errors are those of MakeCapsule.
func MakeSegment(p, q Vec) (Shape, error) {
	return makeHull("rigid: MakeSegment: ends", []Vec{p, q}, 0)
}

// MakeBox returns the rectangle of the given half extents around the origin with
// all points within radius of it; Shape.Transformed moves it. Errors wrap
// ErrNotFinite or ErrRange: an extent below LinearSlop / 2 or above MaxCoordinate,
// or a negative radius.
func MakeBox(halfX, halfY, radius float32) (Shape, error) {
	for i, h := range [2]float32{halfX, halfY} {
		switch name := [2]string{"halfX", "halfY"}[i]; {
		case !fault.Finite(h):
			return Shape{}, fault.Field(ErrNotFinite, "rigid: MakeBox: "+name, h)
		case h < LinearSlop/2:
			return Shape{}, fault.Field(ErrRange, "rigid: MakeBox: "+name, h)
		}
	}
	return MakePolygon([]Vec{{-halfX, -halfY}, {halfX, -halfY}, {halfX, halfY}, {-halfX, halfY}}, radius)
}

// MakePolygon returns all points within radius of the convex polygon with the given
// corners, 3 to MaxVertices of them in counter-clockwise order. Errors wrap
// ErrNotFinite or ErrRange: a wrong number of corners, a coordinate beyond
// MaxCoordinate, a corner less than LinearSlop from the next, one that is not a
// corner of the convex hull or out of order, or a negative radius.
func MakePolygon(corners []Vec, radius float32) (Shape, error) {
	if n := len(corners); n < 3 || n > MaxVertices {
		return Shape{}, fault.Field(ErrRange, "rigid: MakePolygon: number of corners", n)
	}
	if err := checkRadius("rigid: MakePolygon: radius", radius, false); err != nil {
		return Shape{}, err
	}
	return makeHull("rigid: MakePolygon: corners", corners, radius)
}

// makeHull makes a shape of two and more vertices.
func makeHull(field string, corners []Vec, radius float32) (Shape, error) {
	if err := checkPoints(field, corners); err != nil {
		return Shape{}, err
	}
	s := Shape{Radius: radius, Count: uint32(len(corners))}
	copy(s.Vertices[:], corners)
	for i := range corners {
		side := s.side(i)
		if float32(side.length()) < LinearSlop {
			return Shape{}, withRule(fault.Element(ErrRange, field, i, corners[i]), "too close to the next")
		}
		s.Normals[i] = side.over(side.length()).right().narrow()
	}
	if i := s.concaveVertex(); i >= 0 {
		return Shape{}, withRule(fault.Element(ErrRange, field, i, corners[i]),
			"not a corner of a convex polygon in counter-clockwise order")
	}
	s.Centroid = s.vertex(0).add(s.polygonMoments().centroid).narrow()
	return s, nil
}

// concaveVertex returns a vertex that is not clearly on the inner side of a side to which it does not belong, or -1.
// It is -1 exactly if the vertices are a strictly convex polygon in counter-clockwise order.
func (s *Shape) concaveVertex() int {
	n := int(s.Count)
	extent := 0.0
	for i := range n {
		extent = max(extent, s.vertex(i).sub(s.vertex(0)).length())
	}
	for i := range n {
		from, side := s.vertex(i), s.side(i)
		least := flatness * extent * side.length()
		for j := range n {
			if j != i && j != (i+1)%n && !(side.cross(s.vertex(j).sub(from)) > least) {
				return j
			}
		}
	}
	return -1
}

// Transformed returns the shape rotated about the origin by the angle of the given cosine
// and sine, and then moved by offset.
func (s *Shape) Transformed(offset Vec, cos, sin float32) Shape {
	turn := func(v Vec) Vec {
		return Vec{float32(cos*v.X) - float32(sin*v.Y), float32(sin*v.X) + float32(cos*v.Y)}
	}
	place := func(v Vec) Vec {
		v = turn(v)
		return Vec{v.X + offset.X, v.Y + offset.Y}
	}
	m := Shape{Centroid: place(s.Centroid), Radius: s.Radius, Count: s.Count}
	for i := range min(s.Count, MaxVertices) {
		m.Vertices[i], m.Normals[i] = place(s.Vertices[i]), turn(s.Normals[i])
	}
	return m
}

func checkPoints(field string, points []Vec) error {
	for i, p := range points {
		switch {
		case !fault.Finite(p.X) || !fault.Finite(p.Y):
			return fault.Element(ErrNotFinite, field, i, p)
		case max(p.X, -p.X, p.Y, -p.Y) > MaxCoordinate:
			return fault.Element(ErrRange, field, i, p)
		}
	}
	return nil
}

func checkRadius(field string, radius float32, positive bool) error {
	switch {
	case !fault.Finite(radius):
		return fault.Field(ErrNotFinite, field, radius)
	case radius < 0 || radius > MaxCoordinate || positive && radius == 0:
		return fault.Field(ErrRange, field, radius)
	}
	return nil
}

// withRule appends the broken rule to an error whose value alone does not explain it.
func withRule(err error, rule string) error { return fmt.Errorf("%w: %s", err, rule) }

// vec64 is a Vec in float64, where products of two float32 are exact.
type vec64 struct{ x, y float64 }

func (s *Shape) vertex(i int) vec64 { return vec64{float64(s.Vertices[i].X), float64(s.Vertices[i].Y)} }

// side returns the edge from vertex i to the next one.
func (s *Shape) side(i int) vec64 { return s.vertex((i + 1) % int(s.Count)).sub(s.vertex(i)) }

func (a vec64) add(b vec64) vec64     { return vec64{a.x + b.x, a.y + b.y} }
func (a vec64) sub(b vec64) vec64     { return vec64{a.x - b.x, a.y - b.y} }
func (a vec64) times(k float64) vec64 { return vec64{float64(a.x * k), float64(a.y * k)} }
func (a vec64) over(k float64) vec64  { return vec64{float64(a.x / k), float64(a.y / k)} }
func (a vec64) cross(b vec64) float64 { return float64(a.x*b.y) - float64(a.y*b.x) }
func (a vec64) dot(b vec64) float64   { return float64(a.x*b.x) + float64(a.y*b.y) }
func (a vec64) length() float64       { return math.Sqrt(a.dot(a)) }
func (a vec64) right() vec64          { return vec64{a.y, -a.x} } // a quarter turn clockwise
func (a vec64) narrow() Vec           { return Vec{float32(a.x), float32(a.y)} }
