package rigid

// minkowskiDifference is the Minkowski difference of shapes B and A, without their radii, in the frame of the body of
// B: the set of all differences between a point of B and a point of A. It is a convex polygon whose vertices are
// differences of vertices. Its distance from a point is that of B from A moved to that point.
type minkowskiDifference struct {
	v, n    [2 * MaxVertices]Vec // vertices, and the outward normals of the edges after them
	b, a    [2 * MaxVertices]uint8
	ofB     [2 * MaxVertices]bool // the edge is of B, not of A
	count   int
	radius  float32 // sum of the two
	radiusB float32 // of B
}

// transform is the pose of a body.
type transform struct{ x, y, cos, sin float32 }

// relative returns the pose of q as seen from p.
func (p *transform) relative(q *transform) transform {
	dx, dy := q.x-p.x, q.y-p.y
	return transform{
		float32(p.cos*dx) + float32(p.sin*dy), float32(p.cos*dy) - float32(p.sin*dx),
		float32(p.cos*q.cos) + float32(p.sin*q.sin), float32(p.cos*q.sin) - float32(p.sin*q.cos),
	}
}

// rotate rotates a direction.
func (p *transform) rotate(v Vec) Vec {
	return Vec{float32(p.cos*v.X) - float32(p.sin*v.Y), float32(p.sin*v.X) + float32(p.cos*v.Y)}
}

// apply transforms a point.
func (p *transform) apply(v Vec) Vec {
	v = p.rotate(v)
	return Vec{v.X + p.x, v.Y + p.y}
}

// set makes the difference of b and a shape a with the pose at. It merges the edges of b and the reversed edges of a
// in the order of their directions. The polygon is convex, and two successive edges meet in each vertex.
func (d *minkowskiDifference) set(b *target, a *Shape, at *transform) {
	nb, na := int(b.Count&^targetSensor), int(a.Count)
	d.radiusB, d.radius = b.Radius, b.Radius+a.Radius
	var av, an [MaxVertices]Vec
	for i := range na {
		v, n := at.rotate(a.Vertices[i]), at.rotate(a.Normals[i])
		av[i], an[i] = Vec{-v.X, -v.Y}, Vec{-n.X, -n.Y}
	}
	i, j := firstEdge(b.Normals[:nb]), firstEdge(an[:na])
	edgesB, edgesA := nb, na
	if nb == 1 {
		edgesB = 0
	}
	if na == 1 {
		edgesA = 0
	}
	d.count = max(edgesA+edgesB, 1)
	for k := range d.count {
		d.v[k] = Vec{b.Vertices[i].X + av[j].X, b.Vertices[i].Y + av[j].Y}
		d.b[k], d.a[k] = uint8(i), uint8(j)
		if edgesB > 0 && (edgesA == 0 || !angleLess(&an[j], &b.Normals[i])) {
			d.n[k], d.ofB[k] = b.Normals[i], true
			i, edgesB = nextIndex(i, nb), edgesB-1
		} else if edgesA > 0 {
			d.n[k], d.ofB[k] = an[j], false
			j, edgesA = nextIndex(j, na), edgesA-1
		}
	}
}

func nextIndex(i, n int) int {
	if i++; i == n {
		return 0
	}
	return i
}

// inLowerHalf reports whether a direction is in the second half of the plane, counted counter-clockwise from
// the first axis.
func (v *Vec) inLowerHalf() bool { return v.Y < 0 || v.Y == 0 && v.X < 0 }

// angleLess reports whether p comes before q, counted counter-clockwise from the first axis.
func angleLess(p, q *Vec) bool {
	if lp, lq := p.inLowerHalf(), q.inLowerHalf(); lp != lq {
		return lq
	}
	return cross2(p.X, p.Y, q.X, q.Y) > 0
}

// firstEdge is the edge whose normal has the lowest angle.
func firstEdge(normals []Vec) int {
	for i := range normals {
		before := i - 1
		if i == 0 {
			before = len(normals) - 1
		}
		if normals[before].inLowerHalf() && !normals[i].inLowerHalf() {
			return i
		}
	}
	return 0
}

// closestFeature is the part of a difference that is closest to a point.
type closestFeature struct {
	distance float32 // from the polygon; negative inside: the least way out
	normal   Vec     // of length one, towards the point
	edge     int     // the closest edge, or the edge after the closest vertex
	along    float32 // metres from the beginning of the edge
}

// closest returns the feature that is closest to a point, the first of equals. For a point inside the polygon it is
// the edge with the nearest line, for a point outside a point on an edge. Points on the boundary count as inside. If
// the point coincides with a vertex, or lies on an edge of a polygon without inside, the normal is that of the edge;
// for a single point it is the second axis.
func (d *minkowskiDifference) closest(x, y float32) closestFeature {
	if d.count == 1 {
		nx, ny, length := normalizeOr(x-d.v[0].X, y-d.v[0].Y, 0, 1)
		return closestFeature{distance: length, normal: Vec{nx, ny}}
	}
	deepest, best, square := closestFeature{distance: -inf}, closestFeature{}, inf
	edges := d.count
	if edges == 2 {
		edges = 1 // the other edge is the same
	}
	for i := range edges {
		v, w, n := &d.v[i], &d.v[nextIndex(i, d.count)], &d.n[i]
		mx, my := x-v.X, y-v.Y
		s := float32(n.X*mx) + float32(n.Y*my)
		u := float32(n.X*my) - float32(n.Y*mx)
		side := float32(n.X*(w.Y-v.Y)) - float32(n.Y*(w.X-v.X))
		along := maxFloat(minFloat(u, side), 0)
		off := u - along
		if s > deepest.distance {
			deepest = closestFeature{s, *n, i, along}
		}
		if e := float32(s*s) + float32(off*off); e < square {
			square, best = e, closestFeature{abs(s), *n, i, along}
			if s < 0 {
				best.normal = Vec{-n.X, -n.Y}
			}
			if off != 0 {
				best.distance = -1 // a vertex, see below
			}
		}
	}
	if d.count > 2 && deepest.distance <= 0 {
		if around := boxAround(d.v[:d.count]); around.overlaps(x, y, x, y) {
			return deepest
		}
	}
	if best.distance < 0 {
		v, n := &d.v[best.edge], &d.n[best.edge]
		px, py := v.X-float32(n.Y*best.along), v.Y+float32(n.X*best.along)
		best.normal.X, best.normal.Y, best.distance = normalizeOr(x-px, y-py, best.normal.X, best.normal.Y)
	}
	return best
}

// pointOfB is the point of B, without its radius, that belongs to a closest feature.
func (d *minkowskiDifference) pointOfB(b *target, p *closestFeature) Vec {
	v := b.Vertices[d.b[p.edge]]
	if !d.ofB[p.edge] || d.count == 1 {
		return v
	}
	n := &d.n[p.edge]
	return Vec{v.X - float32(n.Y*p.along), v.Y + float32(n.X*p.along)}
}
