package rigid

import "math"

// Mass is the contribution of a shape of density one, 1 kg/m², to its body.
type Mass struct {
	Area     float32 // m²; the mass in kg
	Centroid Vec     // the centre of mass
	Inertia  float32 // kg·m² about Centroid
}

// Mass returns area, centroid and second moment of area. A segment has zeros, with its middle as centroid.
//
// The shape is the polygon of its vertices, a rectangle of length l and height r on each edge, and at each vertex the
// sector of angle f between its two rectangles. By integration in polar coordinates, a sector between unit normals m
// and n has area r²f/2, first moment r³/3 (n.y - m.y, m.x - n.x) and second moment r⁴f/4 about its vertex. A
// rectangle has the area l·r and the second moment l·r(l² + r²)/12 about its middle. A triangle of the edges a and b
// from the origin has the area c/2 and the second moment c/12 (a·a + a·b + b·b) with c = a×b. The sums are float64
// and rounded once. Quotients are converted explicitly, because a compiler may turn a division into a product.
func (s *Shape) Mass() Mass {
	if s.Count == 0 || s.Count > MaxVertices {
		return Mass{}
	}
	total := s.polygonMoments()
	if s.Radius > 0 {
		total = s.addRounding(total)
	}
	c := total.centroid
	if total.area > 0 {
		c = total.first.over(total.area)
	}
	inertia := max(0, total.second-float64(total.area*c.dot(c)))
	return Mass{float32(total.area), c.add(s.vertex(0)).narrow(), float32(inertia)}
}

// moments are the moments of the polygon of the vertices: area, first and second moment about vertex 0, and the
// centroid relative to vertex 0.
type moments struct {
	area     float64
	first    vec64
	second   float64
	centroid vec64
}

// polygonMoments returns the moments of the polygon of the vertices.
func (s *Shape) polygonMoments() moments {
	m, n := moments{}, int(s.Count)
	for i := 1; i+1 < n; i++ {
		a, b := s.vertex(i).sub(s.vertex(0)), s.vertex(i+1).sub(s.vertex(0))
		twice := a.cross(b)
		m.area += float64(twice / 2)
		m.first = m.first.add(a.add(b).times(twice / 6))
		m.second += float64(twice / 12 * (a.dot(a) + a.dot(b) + b.dot(b)))
	}
	if m.area > 0 {
		m.centroid = m.first.over(m.area)
	} else if n == 2 {
		m.centroid = s.side(0).over(2)
	}
	return m
}

// addRounding adds the part of the shape outside the polygon, within the radius of it.
func (s *Shape) addRounding(m moments) moments {
	n, r := int(s.Count), float64(s.Radius)
	for i := range n {
		v := s.vertex(i).sub(s.vertex(0))
		angle, first := 2*math.Pi, vec64{}
		if n > 1 {
			in, out := s.side((i+n-1)%n), s.side(i)
			length := out.length()
			normal := out.over(length).right()
			m.add(length*r, v.add(out.over(2)).add(normal.times(r/2)), vec64{}, (float64(length*length)+float64(r*r))/12)
			angle = cornerAngle(in, out)
			change := normal.sub(in.over(in.length()).right())
			first = vec64{change.y, -change.x}.times(2 * r / (3 * angle))
		}
		m.add(r*r*angle/2, v, first, r*r/2)
	}
	return m
}

// add adds a part of the given area: first and second are its moments about p,
// divided by the area.
func (m *moments) add(area float64, p, first vec64, second float64) {
	m.area += area
	m.first = m.first.add(p.add(first).times(area))
	m.second += float64(area * (p.dot(p) + float64(2*p.dot(first)) + second))
}

// cornerAngle returns the angle in (0, π] from one side of a polygon to the next one. The tangent of its half is sin
// / (1 + cos). Three more halvings by tan(x/2) = tan x / (1 + √(1 + tan² x)) bring it below 0.2, where eleven terms
// of the series of the arctangent have the precision of float64.
func cornerAngle(a, b vec64) float64 {
	sin, cos := a.cross(b), float64(a.length()*b.length())+a.dot(b)
	if !(sin > 0 && cos > 0) {
		return math.Pi // the ends of a capsule
	}
	t := sin / cos
	for range 3 {
		t /= 1 + math.Sqrt(1+float64(t*t))
	}
	square, sum := float64(t*t), 0.0
	for k := 21; k > 0; k -= 2 {
		sum = 1/float64(k) - float64(square*sum)
	}
	return 16 * t * sum
}
