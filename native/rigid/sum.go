package rigid

// difference is the set of all differences of a point of shape B and one of shape A, without
// their radii, as seen from the body of B: a convex polygon whose distance from a point is that
// of B from A moved there. Its vertices are differences of vertices.
type difference struct {
	v, n   [2 * MaxVertices]Vec // corners, and the outward normals of the edges behind them
	b, a   [2 * MaxVertices]uint8
	ofB    [2 * MaxVertices]bool // whose edge it is
	count  int
	radius float32 // of both
	own    float32 // of B
}

// pose is where a body is.
type pose struct{ x, y, cos, sin float32 }

func (p *Poses) of(body uint32) pose { return pose{p.X[body], p.Y[body], p.Cos[body], p.Sin[body]} }

// seen returns the pose of q as seen from p.
func (p *pose) seen(q *pose) pose {
	dx, dy := q.x-p.x, q.y-p.y
	return pose{
		float32(p.cos*dx) + float32(p.sin*dy), float32(p.cos*dy) - float32(p.sin*dx),
		float32(p.cos*q.cos) + float32(p.sin*q.sin), float32(p.cos*q.sin) - float32(p.sin*q.cos),
	}
}

// turn turns a direction.
func (p *pose) turn(v Vec) Vec {
	return Vec{float32(p.cos*v.X) - float32(p.sin*v.Y), float32(p.sin*v.X) + float32(p.cos*v.Y)}
}

// place returns where a point is.
func (p *pose) place(v Vec) Vec {
	v = p.turn(v)
	return Vec{v.X + p.x, v.Y + p.y}
}

// of makes the difference of b and a shape a that is turned as at shows. The edges of both,
// those of a turned round, come in the order of their directions: the polygon is
// convex, and each of its corners is where two edges that follow each other meet.
func (d *difference) of(b *target, a *Shape, at *pose) {
	nb, na := int(b.Count&^targetSensor), int(a.Count)
	d.own, d.radius = b.Radius, b.Radius+a.Radius
	var av, an [MaxVertices]Vec
	for i := range na {
		v, n := at.turn(a.Vertices[i]), at.turn(a.Normals[i])
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
		if edgesB > 0 && (edgesA == 0 || !turnsLess(&an[j], &b.Normals[i])) {
			d.n[k], d.ofB[k] = b.Normals[i], true
			i, edgesB = following(i, nb), edgesB-1
		} else if edgesA > 0 {
			d.n[k], d.ofB[k] = an[j], false
			j, edgesA = following(j, na), edgesA-1
		}
	}
}

func following(i, n int) int {
	if i++; i == n {
		return 0
	}
	return i
}

// lower reports whether a direction is in the half of the plane that comes last, counted
// counter-clockwise from the first axis.
func (v *Vec) lower() bool { return v.Y < 0 || v.Y == 0 && v.X < 0 }

// turnsLess reports whether p comes before q, counted counter-clockwise from the first axis.
func turnsLess(p, q *Vec) bool {
	if lp, lq := p.lower(), q.lower(); lp != lq {
		return lq
	}
	return wedge(p.X, p.Y, q.X, q.Y) > 0
}

// firstEdge is the edge whose normal comes first.
func firstEdge(normals []Vec) int {
	for i := range normals {
		before := i - 1
		if i == 0 {
			before = len(normals) - 1
		}
		if normals[before].lower() && !normals[i].lower() {
			return i
		}
	}
	return 0
}

// near is what of a difference is nearest to a point.
type near struct {
	distance float32 // of the polygon; negative inside: the least way out
	normal   Vec     // of length one, towards the point
	edge     int     // or the edge behind the corner
	along    float32 // metres from the beginning of the edge
}

// from returns what is nearest to a point: of equals the first. If the point is inside the
// polygon that is the edge whose line is nearest; if it is outside, a point on an edge. Points
// on the boundary count as inside. Where it coincides with a corner, or lies on a side of what
// has no inside, the normal is that of the edge, and of a single point the second axis.
func (d *difference) from(x, y float32) near {
	if d.count == 1 {
		nx, ny, length := toward(x-d.v[0].X, y-d.v[0].Y, 0, 1)
		return near{distance: length, normal: Vec{nx, ny}}
	}
	deepest, best, square := near{distance: -inf}, near{}, inf
	edges := d.count
	if edges == 2 {
		edges = 1 // the other one is the same
	}
	for i := range edges {
		v, w, n := &d.v[i], &d.v[following(i, d.count)], &d.n[i]
		mx, my := x-v.X, y-v.Y
		s := float32(n.X*mx) + float32(n.Y*my)
		u := float32(n.X*my) - float32(n.Y*mx)
		side := float32(n.X*(w.Y-v.Y)) - float32(n.Y*(w.X-v.X))
		along := most(least(u, side), 0)
		off := u - along
		if s > deepest.distance {
			deepest = near{s, *n, i, along}
		}
		if e := float32(s*s) + float32(off*off); e < square {
			square, best = e, near{abs(s), *n, i, along}
			if s < 0 {
				best.normal = Vec{-n.X, -n.Y}
			}
			if off != 0 {
				best.distance = -1 // a corner, see below
			}
		}
	}
	if d.count > 2 && deepest.distance <= 0 {
		if around := boxOf(d.v[:d.count]); around.touches(x, y, x, y) {
			return deepest
		}
	}
	if best.distance < 0 {
		v, n := &d.v[best.edge], &d.n[best.edge]
		px, py := v.X-float32(n.Y*best.along), v.Y+float32(n.X*best.along)
		best.normal.X, best.normal.Y, best.distance = toward(x-px, y-py, best.normal.X, best.normal.Y)
	}
	return best
}

// touch is the point of B, without its radius, that belongs to what is near.
func (d *difference) touch(b *target, p *near) Vec {
	v := b.Vertices[d.b[p.edge]]
	if !d.ofB[p.edge] || d.count == 1 {
		return v
	}
	n := &d.n[p.edge]
	return Vec{v.X - float32(n.Y*p.along), v.Y + float32(n.X*p.along)}
}
