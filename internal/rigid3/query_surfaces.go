package rigid3

import (
	"math"

	"github.com/evertick/evertick/internal/mesh"
)

// castSurface casts against the triangles of a surface, see CastRaysClosest. The normal points to the side from which the ray comes.
func (c *localRay) castSurface(g *target, maxT float32) (t float64, normal vec64, face uint32, how castResult) {
	s := g.surface
	if s.Surface == nil {
		return 0, normal, 0, castMisses
	}
	hit := s.CastRay(mesh.Ray{O: c.o.array(), D: c.d.array(), MaxT: float64(maxT), TwoSided: s.TwoSided})
	if hit.Number == mesh.None {
		return 0, normal, 0, castMisses
	}
	f := s.Face(hit.Number)
	normal = normalOf(&f)
	if normal.Dot(c.d) > 0 {
		normal = normal.neg()
	}
	return hit.T, normal, hit.Number, castEnters
}

func (a vec64) array() [3]float64 { return [3]float64{a.x, a.y, a.z} }

// normalOf returns the unit normal of a triangle.
func normalOf(f *mesh.Face) vec64 {
	a := wideArray(f.Vertices[0])
	return wideArray(f.Vertices[1]).Sub(a).Cross(wideArray(f.Vertices[2]).Sub(a)).unit(vec64{y: 1})
}

// triangleCore is a triangle as a core: a prism of no height.
type triangleCore struct {
	vertices [3]Vec
	planes   [5]Plane // the front, the back, and beside each edge
	edges    [6]Edge  // of the front, then of the back
	normal   vec64
}

func (c *triangleCore) set(f *mesh.Face) {
	for i, v := range f.Vertices {
		c.vertices[i] = Vec{v[0], v[1], v[2]}
	}
	c.normal = normalOf(f)
}

// overlap moves the origin of the pair to a corner of the triangle, where its planes are precise, and returns by how much the two overlap.
func (c *triangleCore) overlap(v *corePair) coreGap {
	by := v.a.Vertices[0].wide64()
	for i := range c.vertices {
		c.vertices[i] = c.vertices[i].wide64().Sub(by).narrow()
	}
	n := c.normal.narrow()
	c.planes[0], c.planes[1] = Plane{Normal: n}, Plane{Normal: n.neg()}
	for i := range c.vertices {
		from, to := c.vertices[i].wide64(), c.vertices[(i+1)%3].wide64()
		beside := to.Sub(from).Cross(c.normal).unit(vec64{})
		c.planes[2+i] = Plane{Normal: beside.narrow(), Offset: float32(beside.Dot(from))}
		e := Edge{From: uint8(i), To: uint8((i + 1) % 3), Left: 0, Right: uint16(2 + i)}
		c.edges[i] = e
		e.Left = 1
		c.edges[3+i] = e
	}
	v.a.Planes, v.a.Edges = c.planes[:], c.edges[:]
	v.at.p = v.at.p.Sub(by)
	g := v.overlap()
	g.onA = g.onA.Add(by)
	return g
}

// surfaceQuery is memory for what a query does with each triangle near it.
type surfaceQuery struct {
	memory boxArrays
	core   triangleCore
	box    mesh.Box
	faces  []mesh.Face
	query  Polytope // the core of the query
	at     pose64   // of the query, as seen from the surface
	middle vec64    // of the query
	radius float64
}

// begin prepares for a surface. It returns false if there is nothing to do.
func (q *surfaceQuery) begin(p *ShapeQuery, g *target) bool {
	if g.surface.Surface == nil {
		return false
	}
	q.query = p.core.vertices(&q.memory)
	q.at, q.radius = g.pose.relative(&p.core.pose), float64(p.core.radius)
	q.middle = q.at.apply(q.query.Centre.wide64())
	return len(q.query.Vertices) > 0
}

// list lists the triangles whose boxes meet that of the query between two fractions of a translation, grown by a distance.
func (q *surfaceQuery) list(g *target, d vec64, from, to, within float64) {
	lo, hi := vec64{math.Inf(1), math.Inf(1), math.Inf(1)}, vec64{math.Inf(-1), math.Inf(-1), math.Inf(-1)}
	for _, v := range q.query.Vertices {
		a := q.at.apply(v.wide64())
		for _, b := range [2]vec64{a.addTimes(d, from), a.addTimes(d, to)} {
			lo, hi = lo.least(b), hi.most(b)
		}
	}
	r := q.radius + within + boxMargin
	q.box = mesh.Box{
		Min: [3]float32{roundDown(lo.x - r), roundDown(lo.y - r), roundDown(lo.z - r)}, Max: [3]float32{-roundDown(-hi.x - r), -roundDown(-hi.y - r), -roundDown(-hi.z - r)},
	}
	q.faces = g.surface.AppendFaces(q.faces[:0], &q.box)
}

// pair returns triangle i and the query.
func (q *surfaceQuery) pair(i int) corePair {
	q.core.set(&q.faces[i])
	return corePair{a: Polytope{Vertices: q.core.vertices[:]}, b: q.query, at: q.at}
}

// overlaps reports whether the query touches a triangle, on either side.
func (q *surfaceQuery) overlaps(p *ShapeQuery, g *target) bool {
	if !q.begin(p, g) {
		return false
	}
	q.list(g, vec64{}, 0, 0, 0)
	for i := range q.faces {
		v := q.pair(i)
		if near, apart := v.separated(); !apart || near.distance <= q.radius {
			return true
		}
	}
	return false
}

// distance returns the least of the distances from the triangles, if it is at most within. Where the query overlaps a triangle, that is by how much,
// as for convex shapes. beyond is at most the distance. Of equal ones the lowest triangle counts.
func (q *surfaceQuery) distance(p *ShapeQuery, g *target, beyond, within float32) (f ShapeHit, ok bool) {
	if !q.begin(p, g) {
		return f, false
	}
	limit := max(float64(within), 0)
	for reach := min(float64(beyond)+q.size(), limit); ; reach = min(8*reach, limit) {
		q.list(g, vec64{}, 0, 0, reach)
		best := coreGap{distance: math.Inf(1)}
		for i := range q.faces {
			v := q.pair(i)
			near, apart := v.separated()
			if !apart {
				near = q.core.overlap(&v)
			}
			if near.distance < best.distance {
				best, f.Face = near, q.faces[i].Number
			}
		}
		if d := best.distance - q.radius; d <= reach || !(reach < limit) || len(q.faces) == g.surface.Len() {
			if len(q.faces) == 0 {
				return f, false
			}
			f.T, f.Shape = float32(d), g.shape
			g.setHit(&best, &f)
			return f, true
		}
	}
}

// size is about the extent of the query, and not zero.
func (q *surfaceQuery) size() float64 {
	most := q.radius
	for _, v := range q.query.Vertices {
		most = max(most, float64(abs(v.X)), float64(abs(v.Y)), float64(abs(v.Z)))
	}
	return max(most, LinearSlop)
}

// maxSweeps bounds the parts of a cast.
const maxSweeps = 64

// cast returns where the query hits a triangle first, of several at the same T the lowest. It hits the front of a triangle, and the back if the
// surface is two-sided. It hits a front if it moves against the normal, and its middle begins at most LinearSlop behind the plane. It looks at parts
// of the way one after the other, so that it does not list all triangles in the box around a long one; that changes no result.
func (q *surfaceQuery) cast(p *ShapeQuery, g *target, entry float32) (f ShapeHit, ok bool) {
	if !q.begin(p, g) {
		return f, false
	}
	d, maxT := g.pose.unrotate(p.D.wide64()), float64(p.MaxT)
	parts := min(max(math.Ceil(maxT*d.length()/(16*q.size())), 1), maxSweeps)
	best, gap, inside := math.Inf(1), coreGap{}, false
	for k := 0.; k < parts && maxT*k/parts <= best; k++ {
		q.list(g, d, maxT*k/parts, maxT*(k+1)/parts, CastTolerance)
		for i := range q.faces {
			t, at, how := q.castFace(i, g, d, min(best, maxT))
			number := q.faces[i].Number
			if how == castMisses || how == castInside && p.Flags&SkipInside != 0 || t > best || t == best && number >= f.Face {
				continue
			}
			best, gap, inside, f.Face = t, at, how == castInside, number
		}
	}
	if math.IsInf(best, 1) {
		return f, false
	}
	f.T, f.Shape = maxFloat(float32(best), entry), g.shape
	if inside {
		f.Point = p.Pose.P
	} else {
		g.setHit(&gap, &f)
	}
	return f, f.T <= p.MaxT
}

// castFace casts against triangle i.
func (q *surfaceQuery) castFace(i int, g *target, d vec64, maxT float64) (float64, coreGap, castResult) {
	v := q.pair(i)
	height := q.core.normal.Dot(q.middle.Sub(v.a.Vertices[0].wide64()))
	if !g.surface.TwoSided && !(height >= -LinearSlop) {
		return 0, coreGap{}, castMisses
	}
	near, apart := v.separated()
	if !apart || near.distance <= q.radius {
		return 0, near, castInside
	}
	if !g.surface.TwoSided && !(q.core.normal.Dot(d) < 0) {
		return 0, coreGap{}, castMisses
	}
	t, near, ok := v.advance(near, d, q.radius, maxT)
	if !ok {
		return 0, near, castMisses
	}
	return t, near, castEnters
}
