package physics

import (
	"math"

	"github.com/evertick/evertick/internal/fault"
)

// MaxPolygonVertices is the largest number of vertices of a Polygon.
const MaxPolygonVertices = 8

// flatness is the least height of a corner over a side, relative to the extent of the
// polygon. Coordinates are rounded to 6e-8 of their size, so a flatter
// corner may have been concave before rounding, which nobody can detect.
const flatness = 1e-6

// Polygon is a convex polygon in body coordinates, in metres. Its vertices may
// come in any order; each must be a corner of their convex hull.
type Polygon struct {
	// Vertices holds the corners; those from Count on are ignored.
	Vertices [MaxPolygonVertices][2]float32
	// Count is the number of corners, 3 to MaxPolygonVertices.
	Count int
	// Radius in metres rounds the polygon, which grows by it on all sides; not negative.
	Radius float32
}

// Box returns the axis-aligned rectangle around the origin of the body with half
// extents hx and hy, in metres. CreatePolygon refuses a zero or non-finite extent.
func Box(hx, hy float32) Polygon {
	p := Polygon{Count: 4}
	p.Vertices[0] = [2]float32{-hx, -hy}
	p.Vertices[1] = [2]float32{hx, -hy}
	p.Vertices[2] = [2]float32{hx, hy}
	p.Vertices[3] = [2]float32{-hx, hy}
	return p
}

// NewPolygon returns the convex polygon with the given corners, in
// counter-clockwise order from the first. Errors wrap ErrRange (fewer than 3 or
// more than MaxPolygonVertices points, a point that is no corner of the hull,
// no area) or ErrNotFinite.
func NewPolygon(points ...[2]float32) (Polygon, error) {
	p := Polygon{Count: len(points)}
	copy(p.Vertices[:], points)
	return p.hull()
}

// hull returns p in counter-clockwise order from its first vertex, or an error if it
// is not a convex polygon.
func (p Polygon) hull() (Polygon, error) {
	if err := fault.Between("physics: Polygon.Count", p.Count, 3, MaxPolygonVertices); err != nil {
		return p, err
	}
	if err := checkNotNegative("physics: Polygon.Radius", p.Radius); err != nil {
		return p, err
	}
	for i, v := range p.Vertices[:p.Count] {
		if !fault.Finite(v[0]) || !fault.Finite(v[1]) {
			return p, fault.Element(ErrNotFinite, "physics: Polygon.Vertices", i, v)
		}
	}
	sorted := p.counterClockwise()
	if v, ok := sorted.flatCorner(); ok {
		for i := range p.Count {
			if p.Vertices[i] == v {
				return p, because(fault.Element(ErrRange, "physics: Polygon.Vertices", i, v),
					"not a corner of a convex polygon with area")
			}
		}
	}
	return sorted, nil
}

// counterClockwise sorts the vertices by angle around their mean, starting
// with the first. The mean is inside if the points are the corners of a convex
// polygon; otherwise the order is meaningless, and flatCorner detects that.
func (p Polygon) counterClockwise() Polygon {
	n := p.Count
	var mean vec
	for _, v := range p.Vertices[:n] {
		mean = mean.add(widen(v))
	}
	mean = vec{mean.x / float64(n), mean.y / float64(n)}
	first := widen(p.Vertices[0]).sub(mean)
	before := func(a, b vec) bool {
		if ha, hb := first.half(a), first.half(b); ha != hb {
			return ha < hb
		}
		return a.cross(b) > 0
	}
	out := Polygon{Count: n, Radius: p.Radius}
	out.Vertices[0] = p.Vertices[0]
	for i := 1; i < n; i++ {
		d := widen(p.Vertices[i]).sub(mean)
		j := i
		for ; j > 1 && before(d, widen(out.Vertices[j-1]).sub(mean)); j-- {
			out.Vertices[j] = out.Vertices[j-1]
		}
		out.Vertices[j] = p.Vertices[i]
	}
	return out
}

// flatCorner returns a vertex that is not clearly on the inner side of a side to which it
// does not belong. There is none exactly if the vertices are
// a strictly convex polygon in counter-clockwise order.
func (p *Polygon) flatCorner() ([2]float32, bool) {
	n := p.Count
	extent := 0.0
	for _, v := range p.Vertices[1:n] {
		extent = max(extent, widen(v).sub(widen(p.Vertices[0])).length())
	}
	for i := range n {
		next := (i + 1) % n
		from := widen(p.Vertices[i])
		side := widen(p.Vertices[next]).sub(from)
		least := flatness * extent * side.length()
		for j := range n {
			if j == i || j == next {
				continue
			}
			if !(side.cross(widen(p.Vertices[j]).sub(from)) > least) {
				return p.Vertices[j], true
			}
		}
	}
	return [2]float32{}, false
}

// vec is a float32 pair in float64, where differences and products of two
// float32 neither overflow nor underflow.
type vec struct{ x, y float64 }

func widen(v [2]float32) vec { return vec{float64(v[0]), float64(v[1])} }

func (a vec) add(b vec) vec       { return vec{a.x + b.x, a.y + b.y} }
func (a vec) sub(b vec) vec       { return vec{a.x - b.x, a.y - b.y} }
func (a vec) cross(b vec) float64 { return float64(a.x*b.y) - float64(a.y*b.x) }
func (a vec) dot(b vec) float64   { return float64(a.x*b.x) + float64(a.y*b.y) }
func (a vec) length() float64     { return math.Sqrt(a.dot(a)) }

// half returns 0 if b is within half a turn counter-clockwise of a, else 1.
func (a vec) half(b vec) int {
	c := a.cross(b)
	if c > 0 || (c == 0 && a.dot(b) > 0) {
		return 0
	}
	return 1
}
