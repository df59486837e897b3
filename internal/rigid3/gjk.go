package rigid3

import "math"

// corePair is two convex cores with the pose of B as seen from A. It computes in the axes of A.
type corePair struct {
	a, b       Polytope
	boxA, boxB bool // the vertices are those of Vec.box
	at         pose64
}

// coreGap is how two cores are apart.
type coreGap struct {
	distance float64 // negative where they overlap: the length of the least translation that separates them
	normal   vec64   // from A to B, of length one
	onA      vec64   // the point of A that is closest to B
}

// simplexVertex is a vertex of the Minkowski difference: a point of A minus a point of B, with the numbers of both.
type simplexVertex struct {
	w, a vec64
	i, j int
}

// simplex is up to four vertices, and the weights of its point closest to the origin.
type simplex struct {
	v      [4]simplexVertex
	weight [4]float64
	n      int
}

const (
	// maxGJK bounds the iterations of GJK. Each but the last ones comes nearer; few cores need more than ten.
	maxGJK = 64

	// gjkTolerance is the relative error of the square of a distance at which GJK ends.
	gjkTolerance = 1e-13

	// touchTolerance is the distance of two cores, relative to their extent, below which they count as touching.
	touchTolerance = 1e-13

	// flatTolerance is the height of a tetrahedron, relative to its extent, below which rounding decides on which side of a face the fourth vertex
	// is. The origin counts as outside of it: otherwise cores whose vertices lie in one plane would overlap by chance.
	flatTolerance = 1e-13
)

func supportOf(t *Polytope, isBox bool, d vec64) int {
	if isBox {
		k := 0
		if d.x > 0 {
			k = 1
		}
		if d.y > 0 {
			k |= 2
		}
		if d.z > 0 {
			k |= 4
		}
		return k
	}
	at, most := 0, t.Vertices[0].wide64().Dot(d)
	for i := 1; i < len(t.Vertices); i++ {
		if e := t.Vertices[i].wide64().Dot(d); e > most {
			at, most = i, e
		}
	}
	return at
}

// vertex returns the vertex of the difference that is farthest along -d.
func (p *corePair) vertex(d vec64) simplexVertex {
	i, j := supportOf(&p.a, p.boxA, d.neg()), supportOf(&p.b, p.boxB, p.at.unrotate(d))
	a := p.a.Vertices[i].wide64()
	return simplexVertex{a.Sub(p.at.apply(p.b.Vertices[j].wide64())), a, i, j}
}

// separated returns the distance of two cores; false if they overlap or touch. Both have vertices.
//
// It is the distance of the origin from the Minkowski difference, by the algorithm of Gilbert, Johnson and Keerthi (IEEE Journal of Robotics and
// Automation 4, 1988). Each step leads from the simplex to the vertex of the difference farthest beyond it towards the origin.
func (p *corePair) separated() (g coreGap, apart bool) {
	s := simplex{n: 1, weight: [4]float64{1}}
	s.v[0] = p.vertex(p.at.p.neg())
	v := s.v[0].w
	size := v.Dot(v)
	square := size
	for range maxGJK {
		if square <= float64(size*(touchTolerance*touchTolerance)) {
			return g, false
		}
		c := p.vertex(v)
		size = max(c.w.Dot(c.w), size)
		if !(square-v.Dot(c.w) > float64(gjkTolerance*square)) || s.has(&c) {
			break
		}
		last := s
		s.v[s.n] = c
		s.n++
		w := s.solve()
		if s.n == 4 {
			return g, false
		}
		next := w.Dot(w)
		if !(next < square) { // as near as float64 can say
			s = last
			break
		}
		v, square = w, next
	}
	g.distance = math.Sqrt(square)
	g.normal = vec64{-v.x / g.distance, -v.y / g.distance, -v.z / g.distance}
	for k := range s.n {
		g.onA = g.onA.addTimes(s.v[k].a, s.weight[k])
	}
	return g, true
}

func (s *simplex) has(c *simplexVertex) bool {
	for k := range s.n {
		if s.v[k].i == c.i && s.v[k].j == c.j {
			return true
		}
	}
	return false
}

// solve reduces the simplex to the vertices of its part that is closest to the origin, and returns the point there. Four vertices remain if the
// origin is inside.
func (s *simplex) solve() vec64 {
	switch s.n {
	case 2:
		s.weight = segmentWeights(s.v[0].w, s.v[1].w)
	case 3:
		s.weight = triangleWeights(s.v[0].w, s.v[1].w, s.v[2].w)
	case 4:
		weights, inside := s.tetrahedronWeights()
		if inside {
			return vec64{}
		}
		s.weight = weights
	}
	n, point := 0, vec64{}
	for k := range s.n {
		if w := s.weight[k]; w > 0 {
			s.v[n], s.weight[n] = s.v[k], w
			point = point.addTimes(s.v[k].w, w)
			n++
		}
	}
	s.n = n
	return point
}

func segmentWeights(a, b vec64) (w [4]float64) {
	u := b.Sub(a)
	t, uu := -a.Dot(u), u.Dot(u)
	switch {
	case !(t > 0):
		w[0] = 1
	case t >= uu:
		w[1] = 1
	default:
		w[1] = t / uu
		w[0] = 1 - w[1]
	}
	return w
}

// triangleWeights returns the weights of the point of a triangle that is closest to the origin: a corner, a point of a side, or one of the inside.
func triangleWeights(a, b, c vec64) (w [4]float64) {
	ab, ac := b.Sub(a), c.Sub(a)
	d1, d2 := -ab.Dot(a), -ac.Dot(a)
	if d1 <= 0 && d2 <= 0 {
		w[0] = 1
		return w
	}
	d3, d4 := -ab.Dot(b), -ac.Dot(b)
	if d3 >= 0 && d4 <= d3 {
		w[1] = 1
		return w
	}
	vc := float64(d1*d4) - float64(d3*d2)
	if vc <= 0 && d1 >= 0 && d3 <= 0 {
		w[1] = ratio(d1, d1-d3)
		w[0] = 1 - w[1]
		return w
	}
	d5, d6 := -ab.Dot(c), -ac.Dot(c)
	if d6 >= 0 && d5 <= d6 {
		w[2] = 1
		return w
	}
	vb := float64(d5*d2) - float64(d1*d6)
	if vb <= 0 && d2 >= 0 && d6 <= 0 {
		w[2] = ratio(d2, d2-d6)
		w[0] = 1 - w[2]
		return w
	}
	va := float64(d3*d6) - float64(d5*d4)
	if va <= 0 && d4-d3 >= 0 && d5-d6 >= 0 {
		w[2] = ratio(d4-d3, (d4-d3)+(d5-d6))
		w[1] = 1 - w[2]
		return w
	}
	sum := (va + vb) + vc
	w[1], w[2] = vb/sum, vc/sum
	w[0] = (1 - w[1]) - w[2]
	return w
}

// ratio is a/b for 0 <= a <= b, and 0 where both are 0.
func ratio(a, b float64) float64 {
	if !(b > 0) {
		return 0
	}
	return a / b
}

// tetrahedronWeights reports whether the origin is inside of the tetrahedron. If not, it returns the weights of the point that is closest to the
// origin. It looks for that point on the faces that the origin is in front of: on all four if the vertices are in one plane.
func (s *simplex) tetrahedronWeights() (w [4]float64, inside bool) {
	inside = true
	least := math.Inf(1)
	for _, f := range [4][4]int{{0, 1, 2, 3}, {0, 1, 3, 2}, {0, 2, 3, 1}, {1, 2, 3, 0}} {
		a, b, c, d := s.v[f[0]].w, s.v[f[1]].w, s.v[f[2]].w, s.v[f[3]].w
		n := b.Sub(a).Cross(c.Sub(a))
		height, size := n.Dot(d.Sub(a)), max(a.Dot(a), d.Dot(d))
		if float64(height*-n.Dot(a)) > 0 && float64(height*height) > float64(flatTolerance*flatTolerance)*float64(size*n.Dot(n)) {
			continue
		}
		inside = false
		face := triangleWeights(a, b, c)
		p := a.Times(face[0]).addTimes(b, face[1]).addTimes(c, face[2])
		if square := p.Dot(p); square < least {
			least, w = square, [4]float64{}
			w[f[0]], w[f[1]], w[f[2]] = face[0], face[1], face[2]
		}
	}
	return w, inside
}

// gap returns how two cores are apart.
func (p *corePair) gap() coreGap {
	if g, apart := p.separated(); apart {
		return g
	}
	return p.overlap()
}

// overlap returns by how much two cores that meet overlap. It is the separating axis test: the axes are the normals of all faces, and the cross
// products of an edge of each whose arcs on the sphere of normals cross, which are those that make a face of the Minkowski difference. The first
// of the axes with the greatest separation counts, faces of A first, then those of B.
func (p *corePair) overlap() coreGap {
	best := coreGap{distance: math.Inf(-1)}
	for i := range p.a.Planes {
		n := p.a.Planes[i].Normal.wide64()
		q := p.at.apply(p.b.Vertices[supportOf(&p.b, p.boxB, p.at.unrotate(n).neg())].wide64())
		if d := n.Dot(q) - float64(p.a.Planes[i].Offset); d > best.distance {
			best = coreGap{d, n, q.addTimes(n, -d)}
		}
	}
	for i := range p.b.Planes {
		own := p.b.Planes[i].Normal.wide64()
		n := p.at.rotate(own)
		q := p.a.Vertices[supportOf(&p.a, p.boxA, n.neg())].wide64()
		if d := (n.Dot(q) - float64(p.b.Planes[i].Offset)) - n.Dot(p.at.p); d > best.distance {
			best = coreGap{d, n.neg(), q}
		}
	}
	p.overlapEdges(&best)
	if best.distance == math.Inf(-1) { // segments on one line, or points: any direction across
		along := vec64{}
		if v := p.a.Vertices; len(v) > 1 {
			along = v[1].wide64().Sub(v[0].wide64())
		} else if v := p.b.Vertices; len(v) > 1 {
			along = p.at.rotate(v[1].wide64().Sub(v[0].wide64()))
		}
		v := p.vertex(vec64{y: 1})
		best = coreGap{0, along.unit(vec64{x: 1}).perpendicular(), v.a}
	}
	return best
}

// overlapEdges improves best with the axes of two edges.
func (p *corePair) overlapEdges(best *coreGap) {
	for j := range edgesOf(&p.b) {
		f := p.b.edgeAt(j)
		from, v := p.at.apply(f.from), p.at.rotate(f.along)
		left, right := p.at.rotate(f.left).neg(), p.at.rotate(f.right).neg()
		tolerance := arcTolerance * v.sum()
		for i := range edgesOf(&p.a) {
			e := p.a.edgeAlong(i)
			// The arcs cross only if each has its ends on both sides of the plane of the other, which is at a right angle to its edge.
			if f.bounded && onOneSide(left.Dot(e.along), right.Dot(e.along), arcTolerance*e.along.sum()) {
				continue
			}
			if e.setNormals(&p.a, i); e.bounded && onOneSide(e.left.Dot(v), e.right.Dot(v), tolerance) {
				continue
			}
			n := e.along.Cross(v)
			square := n.Dot(n)
			if !(square > float64(parallel64*float64(e.along.Dot(e.along)*v.Dot(v)))) {
				continue
			}
			n = n.Times(1 / math.Sqrt(square))
			for range 2 {
				if (!f.bounded || onArc(n, left, right)) && (!e.bounded || onArc(n, e.left, e.right)) {
					if d := n.Dot(from.Sub(e.from)); d > best.distance {
						*best = coreGap{d, n, e.closestTo(from, v)}
					}
				}
				n = n.neg()
			}
		}
	}
}

// arcTolerance is the sine of the angle by which the normals of float32 can be off their plane, and more.
const arcTolerance = 1e-5

// onOneSide reports whether two numbers have the same sign, and are both farther from zero than a tolerance. It may be false up to twice the tolerance.
func onOneSide(a, b, tolerance float64) bool {
	return float64(a*b) > float64(tolerance*(math.Abs(a)+math.Abs(b)))
}

// parallel64 bounds the squared sine of the angle of two edges below which they count as parallel.
const parallel64 = 1e-12

// onArc reports whether a unit vector that is in the plane of two others is between them.
func onArc(n, left, right vec64) bool {
	across := left.Cross(right)
	return left.Cross(n).Dot(across) >= 0 && n.Cross(right).Dot(across) >= 0
}

// edge64 is an edge with the normals of the faces beside it, if it has any.
type edge64 struct {
	from, along, left, right vec64
	bounded                  bool
}

// edgesOf returns the number of edges; a segment has one.
func edgesOf(t *Polytope) int {
	if len(t.Vertices) == 2 {
		return 1
	}
	return len(t.Edges)
}

func (t *Polytope) edgeAt(i int) edge64 {
	e := t.edgeAlong(i)
	e.setNormals(t, i)
	return e
}

// edgeAlong returns an edge without the normals.
func (t *Polytope) edgeAlong(i int) (e edge64) {
	from, to := 0, 1
	if len(t.Vertices) != 2 {
		from, to = int(t.Edges[i].From), int(t.Edges[i].To)
	}
	e.from = t.Vertices[from].wide64()
	e.along = t.Vertices[to].wide64().Sub(e.from)
	return e
}

func (e *edge64) setNormals(t *Polytope, i int) {
	if len(t.Vertices) == 2 {
		return
	}
	beside := &t.Edges[i]
	e.left, e.right, e.bounded = t.Planes[beside.Left].Normal.wide64(), t.Planes[beside.Right].Normal.wide64(), true
}

// closestTo returns the point of the line of the edge that is closest to another line, which is not parallel.
func (e *edge64) closestTo(from, v vec64) vec64 {
	r := e.from.Sub(from)
	uu, vv, uv, ur, vr := e.along.Dot(e.along), v.Dot(v), e.along.Dot(v), e.along.Dot(r), v.Dot(r)
	return e.from.addTimes(e.along, (float64(uv*vr)-float64(ur*vv))/(float64(uu*vv)-float64(uv*uv)))
}
