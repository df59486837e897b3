package rigid

// shapeProxy is the set of all points within radius of the hull of some points, in the frame of a body.
type shapeProxy struct {
	x, y     [MaxVertices]float32
	n        int
	radius   float32
	maxReach float32 // no point of the hull is farther from the origin
}

// set copies the points of a shape; Count is 1 to MaxVertices.
func (o *shapeProxy) set(s *Shape) {
	o.n, o.radius, o.maxReach = int(s.Count), s.Radius, 0
	for i, v := range s.Vertices[:o.n] {
		o.setPoint(i, v)
	}
}

func (o *shapeProxy) setPoint(i int, v Vec) {
	o.x[i], o.y[i] = v.X, v.Y
	if d := sqrt(float32(v.X*v.X) + float32(v.Y*v.Y)); d > o.maxReach {
		o.maxReach = d
	}
}

// setDisc makes a disc.
func (o *shapeProxy) setDisc(centre Vec, radius float32) {
	o.n, o.radius, o.maxReach = 1, radius, 0
	o.setPoint(0, centre)
}

// setCore makes the core of a shape: it removes half of the extent all around. Shapes that enter less deeply do not
// reach the core. If a side of a polygon would vanish, the core is the shape at half its size.
func (o *shapeProxy) setCore(s *Shape) {
	depth := float32(0.5 * s.extent())
	o.set(s)
	if o.radius >= depth {
		o.radius -= depth
		return
	}
	if depth -= o.radius; o.inset(s, depth) {
		o.radius = 0
		return
	}
	o.setHalf(s)
}

// setHalf makes the shape at half its size, around its centroid.
func (o *shapeProxy) setHalf(s *Shape) {
	o.n, o.radius, o.maxReach = int(s.Count), float32(0.5*s.Radius), 0
	for i, v := range s.Vertices[:o.n] {
		o.setPoint(i, Vec{float32(0.5 * (v.X + s.Centroid.X)), float32(0.5 * (v.Y + s.Centroid.Y))})
	}
}

// inset moves the sides of a polygon inwards. It returns false if a side would vanish.
func (o *shapeProxy) inset(s *Shape, depth float32) bool {
	o.maxReach = 0
	before := s.Normals[o.n-1]
	for i, v := range s.Vertices[:o.n] {
		n := s.Normals[i]
		open := 1 + (float32(before.X*n.X) + float32(before.Y*n.Y))
		if !(open > 1e-3) {
			return false
		}
		k := depth / open
		o.setPoint(i, Vec{v.X - float32(k*(before.X+n.X)), v.Y - float32(k*(before.Y+n.Y))})
		before = n
	}
	for i := range o.n {
		next := i + 1
		if next == o.n {
			next = 0
		}
		n := s.Normals[i]
		if !(float32(n.X*(o.y[next]-o.y[i]))-float32(n.Y*(o.x[next]-o.x[i])) > 0) {
			return false
		}
	}
	return true
}

// extent is the distance of the surface from the centroid where it is nearest, along a normal. For a segment it is
// zero.
func (s *Shape) extent() float32 {
	if s.Count < 3 {
		return s.Radius
	}
	d := inf
	for i, v := range s.Vertices[:s.Count] {
		n := s.Normals[i]
		d = minFloat(d, float32(n.X*(v.X-s.Centroid.X))+float32(n.Y*(v.Y-s.Centroid.Y)))
	}
	return d + s.Radius
}

// simplexVertex is a vertex of the Minkowski difference: a point of one proxy minus a point of the other, with the
// indices of the points.
type simplexVertex struct {
	x, y float32
	i, j int
}

// gjkDistance returns the distance of two hulls, without their radii, and a unit vector in whose direction all of a
// is at least that far beyond all of b. Up to rounding no other direction gives more. The distance is zero, without a
// direction, if the hulls overlap or touch.
//
// It is the distance of the origin from the Minkowski difference, by the algorithm of Gilbert, Johnson and Keerthi
// (IEEE Journal of Robotics and Automation 4, 1988). Each step leads from a side or a vertex of the difference to the
// vertex farthest beyond it towards the origin.
func gjkDistance(a, b *shapeProxy) (distance, nx, ny float32) {
	var s [3]simplexVertex
	s[0] = simplexVertex{a.x[0] - b.x[0], a.y[0] - b.y[0], 0, 0}
	n := 1
	for range 2 * MaxVertices {
		var vx, vy float32 // from the origin to the closest point of the simplex, of any length
		n, vx, vy = solveSimplex(&s, n)
		square := float32(vx*vx) + float32(vy*vy)
		if n == 3 || !(square > 0) {
			return 0, 0, 0
		}
		inv := 1 / sqrt(square)
		nx, ny = float32(vx*inv), float32(vy*inv)
		i, j := a.supportMin(nx, ny), b.support(nx, ny)
		c := simplexVertex{a.x[i] - b.x[j], a.y[i] - b.y[j], i, j}
		distance = float32(c.x*nx) + float32(c.y*ny)
		for _, old := range s[:n] {
			if old.i == i && old.j == j {
				return maxFloat(distance, 0), nx, ny
			}
		}
		s[n] = c
		n++
	}
	return maxFloat(distance, 0), nx, ny
}

// supportMin and support return the first point that is least, or greatest, along a direction.

func (o *shapeProxy) supportMin(nx, ny float32) (k int) {
	d := float32(o.x[0]*nx) + float32(o.y[0]*ny)
	for i := 1; i < o.n; i++ {
		if e := float32(o.x[i]*nx) + float32(o.y[i]*ny); e < d {
			k, d = i, e
		}
	}
	return k
}

func (o *shapeProxy) support(nx, ny float32) (k int) { return o.supportMin(-nx, -ny) }

// solveSimplex reduces a simplex to the vertices that define its point closest to the origin. It returns how many
// remain, and the direction of that point. Three remain if the origin is inside; the direction is zero if the origin
// is on the simplex. The vertex added last is the last one, and the origin is not beyond the side of the other two.
func solveSimplex(s *[3]simplexVertex, n int) (left int, vx, vy float32) {
	switch n {
	case 1:
		return 1, s[0].x, s[0].y
	case 2:
		return solveSegment(&s[0], &s[1], s)
	}
	a, b, c := s[0], s[1], s[2]
	area := cross2(b.x-a.x, b.y-a.y, c.x-a.x, c.y-a.y)
	beyondB := !(float32(area*cross2(c.x-b.x, c.y-b.y, -b.x, -b.y)) > 0)
	beyondA := !(float32(area*cross2(a.x-c.x, a.y-c.y, -c.x, -c.y)) > 0)
	if !beyondA && !beyondB {
		return 3, 0, 0
	}
	if !beyondA || beyondB && segmentDistanceSquare(&b, &c) < segmentDistanceSquare(&a, &c) {
		a = b
	}
	return solveSegment(&a, &c, s)
}

// solveSegment is solveSimplex for two vertices. The remaining ones become the first of to.
func solveSegment(p, q *simplexVertex, to *[3]simplexVertex) (left int, vx, vy float32) {
	a, b := *p, *q
	ex, ey := b.x-a.x, b.y-a.y
	t := -(float32(ex*a.x) + float32(ey*a.y))
	if !(t > 0) {
		to[0] = a
		return 1, a.x, a.y
	}
	if t >= float32(ex*ex)+float32(ey*ey) {
		to[0] = b
		return 1, b.x, b.y
	}
	to[0], to[1] = a, b
	switch side := cross2(ex, ey, a.x, a.y); {
	case side > 0:
		return 2, -ey, ex
	case side < 0:
		return 2, ey, -ex
	}
	return 2, 0, 0
}

// segmentDistanceSquare is the square of the distance of a side from the origin.
func segmentDistanceSquare(a, b *simplexVertex) float32 {
	ex, ey := b.x-a.x, b.y-a.y
	t, square := -(float32(ex*a.x) + float32(ey*a.y)), float32(ex*ex)+float32(ey*ey)
	switch {
	case !(t > 0):
		return float32(a.x*a.x) + float32(a.y*a.y)
	case t >= square:
		return float32(b.x*b.x) + float32(b.y*b.y)
	}
	side := cross2(ex, ey, a.x, a.y)
	return float32(side*side) / square
}

func cross2(ax, ay, bx, by float32) float32 { return float32(ax*by) - float32(ay*bx) }
