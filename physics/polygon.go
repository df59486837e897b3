package physics

import (
	"fmt"
	"math"
	"slices"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/internal/rigid"
)

// MaxPolygonVertices is the largest number of vertices of a Polygon.
const MaxPolygonVertices = 8

// flatness is the least height of a corner over a side, relative to the extent of the
// polygon. Coordinates are rounded to 6e-8 of their size, so a flatter
// corner may have been concave before rounding, which nobody can detect.
const flatness = 1e-6

// Polygon is a convex polygon in body coordinates, in metres. Its vertices may
// come in any order; each must be a corner of their convex hull, at least rigid.LinearSlop, 5 mm, from the next: contacts
// rest with overlaps of that order. A
// thinner body, such as a playing card, can be a Capsule.
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
	if err := check.NotNegative("physics: Polygon.Radius", p.Radius); err != nil {
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
				return p, check.Because(fault.Element(ErrRange, "physics: Polygon.Vertices", i, v),
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
	for i := range n { // a corner between its neighbours is named itself, not one of them
		if i := (i + 1) % n; p.isFlat((i+n-1)%n, i, (i+1)%n, extent) {
			return p.Vertices[i], true
		}
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

// checkSpacing returns an error that names a corner of p which is too close to the next one in counter-clockwise order.
func (p *Polygon) checkSpacing(sorted *Polygon) error {
	n := sorted.Count
	for i, v := range sorted.Vertices[:n] {
		next := sorted.Vertices[(i+1)%n]
		if float32(widen(next).sub(widen(v)).length()) < rigid.LinearSlop {
			given := p.Vertices[:n]
			return check.Because(fault.Element(ErrRange, "physics: Polygon.Vertices", slices.Index(given, v), v),
				fmt.Sprintf("less than 5 mm from Vertices[%d] = %v", slices.Index(given, next), next))
		}
	}
	return nil
}

// isFlat reports whether corner i between two others is not clearly outside the line through them.
func (p *Polygon) isFlat(last, i, next int, extent float64) bool {
	from := widen(p.Vertices[last])
	side := widen(p.Vertices[next]).sub(from)
	return !(widen(p.Vertices[i]).sub(from).cross(side) > flatness*extent*side.length())
}

// Hull returns the convex hull of points as a polygon. Points inside the hull, on a side of it, or less than
// rigid.LinearSlop from a corner are left out. The corners are in counter-clockwise order, from the first of them in the
// order of the points. Errors wrap ErrNotFinite, or ErrRange if fewer than 3 or more than MaxPolygonVertices corners remain.
func Hull(points ...[2]float32) (Polygon, error) {
	for i, v := range points {
		if !fault.Finite(v[0]) || !fault.Finite(v[1]) {
			return Polygon{}, fault.Element(ErrNotFinite, "physics: Hull: points", i, v)
		}
	}
	corners := hullOf(points)
	for { // the nearest to a neighbour first, then the flattest
		i := worstCorner(corners)
		if i < 0 {
			break
		}
		corners = slices.Delete(corners, i, i+1)
	}
	if n := len(corners); n < 3 || n > MaxPolygonVertices {
		return Polygon{}, check.Because(fault.Field(ErrRange, "physics: Hull: points", len(points)), fmt.Sprintf("their hull has %d corners", n))
	}
	isCorner := func(v [2]float32) bool { return slices.Contains(corners, v) }
	at := slices.Index(corners, points[slices.IndexFunc(points, isCorner)])
	return NewPolygon(slices.Concat(corners[at:], corners[:at])...)
}

// hullOf returns the corners of the convex hull in counter-clockwise order, by Andrew's monotone chain.
func hullOf(points [][2]float32) [][2]float32 {
	sorted := slices.Compact(slices.SortedFunc(slices.Values(points), func(a, b [2]float32) int { return slices.Compare(a[:], b[:]) }))
	if len(sorted) < 3 {
		return sorted
	}
	var hull [][2]float32
	for range 2 { // the lower side, then the upper one
		least := len(hull)
		for _, v := range sorted {
			for len(hull) > least+1 {
				a, b := widen(hull[len(hull)-2]), widen(hull[len(hull)-1])
				if b.sub(a).cross(widen(v).sub(a)) > 0 {
					break
				}
				hull = hull[:len(hull)-1]
			}
			hull = append(hull, v)
		}
		hull = hull[:len(hull)-1]
		slices.Reverse(sorted)
	}
	return hull
}

// worstCorner returns the corner of a hull to leave out: one that is too near to the next, or the flattest of those that
// are too flat; -1 if there is none.
func worstCorner(corners [][2]float32) int {
	n, worst, extent := len(corners), -1, 0.0
	for _, v := range corners {
		extent = max(extent, widen(v).sub(widen(corners[0])).length())
	}
	least := math.Inf(1)
	for i := range corners {
		v, last, next := widen(corners[i]), widen(corners[(i+n-1)%n]), widen(corners[(i+1)%n])
		if n > 1 && next.sub(v).length() < rigid.LinearSlop {
			return i
		}
		side := next.sub(last)
		if height := v.sub(last).cross(side); n > 2 && height <= 2*flatness*extent*side.length() && height < least {
			worst, least = i, height
		}
	}
	return worst
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
