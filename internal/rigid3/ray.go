package rigid3

import "math"

// Ray is the points O + t*D for 0 <= t <= MaxT, with a filter. The coordinates are at most 2^60, and the square of the length of D is a
// normal number.
type Ray struct {
	O, D           Vec
	MaxT           float32
	Exclude        uint32 // a body whose shapes it does not hit; NoShape: none
	Category, Mask uint64 // it hits shapes with a bit of Mask in their category, and of Category in their mask
	Flags          uint32
	inv            Vec // of D
}

// Flags of a Ray.
const (
	IncludeSensors = 1 << iota // hit sensors, too
	SkipInside                 // do not hit shapes in or on which it begins
)

// RayHit is where a ray hits a shape.
type RayHit struct {
	T      float32 // NoShape: MaxT
	Normal Vec     // of the surface, length one; zero if the ray begins in or on the shape
	Point  Vec     // on the surface; where the ray begins if that is in or on the shape, and where it ends without a hit
	Shape  uint32  // or NoShape
	Face   uint32  // of a surface: the triangle; else 0
}

// maxReciprocal is the largest float32. It replaces the reciprocal of a component that is zero, or so small that its reciprocal is infinite.
// A product with it is not NaN, and is beyond all T unless the ray begins on the bound itself.
const maxReciprocal = math.MaxFloat32

func (r *Ray) prepare() { r.inv = Vec{reciprocal(r.D.X), reciprocal(r.D.Y), reciprocal(r.D.Z)} }

func reciprocal(d float32) float32 {
	if d == 0 {
		return maxReciprocal
	}
	return maxFloat(minFloat(1/d, maxReciprocal), -maxReciprocal)
}

// exitSlack covers the rounding of the exit from a box: entry and exit are each off by three roundings.
const exitSlack = 1 + 0x1p-20

// boxEntry returns the T at which the ray enters a box, 0 if it begins inside, and false if it does not enter by maxT. Each operation is
// monotone in the bounds: a ray that enters a box also enters a box around it, at a T that is not larger.
func (r *Ray) boxEntry(lo, hi Vec, maxT float32) (float32, bool) {
	if r.inv.X < 0 {
		lo.X, hi.X = hi.X, lo.X
	}
	if r.inv.Y < 0 {
		lo.Y, hi.Y = hi.Y, lo.Y
	}
	if r.inv.Z < 0 {
		lo.Z, hi.Z = hi.Z, lo.Z
	}
	enter := maxFloat(maxFloat((lo.X-r.O.X)*r.inv.X, (lo.Y-r.O.Y)*r.inv.Y), maxFloat((lo.Z-r.O.Z)*r.inv.Z, 0))
	exit := minFloat(minFloat((hi.X-r.O.X)*r.inv.X, (hi.Y-r.O.Y)*r.inv.Y), (hi.Z-r.O.Z)*r.inv.Z)
	return enter, enter <= minFloat(float32(exit*exitSlack), maxT)
}

// accepts reports whether the filter of the ray accepts a target.
func (r *Ray) accepts(g *target) bool {
	return g.category&r.Mask != 0 && g.mask&r.Category != 0 && g.body != r.Exclude && (!g.sensor || r.Flags&IncludeSensors != 0)
}

// cast returns where the ray hits an accepted target whose box it enters at entry. Its T is at least entry, so that a tree may skip boxes.
func (r *Ray) cast(g *target, entry float32) (hit RayHit, ok bool) {
	c := localRay{o: g.pose.unrotate(r.O.wide64().Sub(g.pose.p)), d: g.pose.unrotate(r.D.wide64())}
	c.dd = c.d.Dot(c.d)
	t, n, face, how := 0., vec64{}, uint32(0), castMisses
	if g.kind == KindSurface {
		t, n, face, how = c.castSurface(g, r.MaxT)
	} else {
		t, n, how = c.castShape(g)
	}
	if how == castMisses || how == castInside && r.Flags&SkipInside != 0 {
		return hit, false
	}
	hit = RayHit{T: maxFloat(float32(t), entry), Shape: g.shape, Face: face}
	if !(hit.T <= r.MaxT) {
		return hit, false
	}
	if how == castInside {
		hit.Point = r.O
		return hit, true
	}
	hit.Normal = g.pose.rotate(n).narrow()
	hit.Point = r.O.wide64().addTimes(r.D.wide64(), t).narrow()
	return hit, true
}

// end returns where the ray is at MaxT.
func (r *Ray) end() Vec { return r.O.wide64().addTimes(r.D.wide64(), float64(r.MaxT)).narrow() }

// localRay is a ray in the axes of a core.
type localRay struct {
	o, d vec64
	dd   float64 // the square of the length of d
}

// castResult is how a ray hits a shape.
type castResult uint8

const (
	castMisses castResult = iota
	castEnters
	castInside // it begins in or on the shape
)

// castShape returns where c enters a shape, and the normal there.
func (c *localRay) castShape(g *target) (float64, vec64, castResult) {
	r := float64(g.radius)
	switch g.kind {
	case KindSphere:
		return c.castBall(vec64{}, float64(r*r))
	case KindCapsule:
		h := g.half.wide64()
		return c.castCapsule(h.neg(), h, float64(r*r))
	case KindBox:
		if r == 0 {
			return c.castBox(g.half.wide64())
		}
	}
	var b boxArrays
	t := g.polytope(&b)
	if len(t.Planes) == 0 {
		return 0, vec64{}, castMisses
	}
	return c.castPolytope(&t, r)
}

// castBall casts against a ball with the square of its radius.
func (c *localRay) castBall(centre vec64, r2 float64) (float64, vec64, castResult) {
	m := centre.Sub(c.o)
	if m.Dot(m) <= r2 {
		return 0, vec64{}, castInside
	}
	t, ok := c.ballEntry(m, r2)
	if !ok {
		return 0, vec64{}, castMisses
	}
	return t, c.from(m, t), castEnters
}

// ballEntry returns where c enters a ball at m, relative to the beginning of c, which is outside.
func (c *localRay) ballEntry(m vec64, r2 float64) (float64, bool) {
	s := m.Dot(c.d) / c.dd
	l := m.addTimes(c.d, -s)
	e := l.Dot(l)
	if !(s >= 0 && e <= r2) {
		return 0, false
	}
	return max(s-math.Sqrt((r2-e)/c.dd), 0), true
}

// from is the direction from m to c at t; the reverse of c where these coincide.
func (c *localRay) from(m vec64, t float64) vec64 {
	return c.d.Times(t).Sub(m).unit(c.d.neg().unit(vec64{}))
}

const (
	// farLine is by how much the square of the distance of two lines must be larger than that of a radius so that they are apart without doubt.
	farLine = 1 + 0x1p-10

	// lineRounding is the square of the rounding of m·(u×d), relative to its factors.
	lineRounding = 0x1p-86
)

// castCapsule casts against all points within the square root of r2 of the segment from p to q. c enters the cylinder around the segment, or
// the ball at the end that is on its way.
func (c *localRay) castCapsule(p, q vec64, r2 float64) (float64, vec64, castResult) {
	u, m := q.Sub(p), c.o.Sub(p)
	uu, w := u.Dot(u), u.Cross(c.d)
	apart := m.Dot(w) // the distance of the lines times the length of w
	if float64(apart*apart) > float64(float64(r2*w.Dot(w))*farLine)+float64(float64(float64(m.Dot(m)*uu)*c.dd)*lineRounding) {
		return 0, vec64{}, castMisses
	}
	along, slope := 0., 0.
	if uu > 0 {
		along, slope = m.Dot(u)/uu, c.d.Dot(u)/uu
	}
	if near := m.addTimes(u, -min(max(along, 0), 1)); near.Dot(near) <= r2 {
		return 0, vec64{}, castInside
	}
	across, d := m.addTimes(u, -along), c.d.addTimes(u, -slope)
	y := along // where c comes to the cylinder without ends: from 0 at p to 1 at q
	if dd := d.Dot(d); uu > 0 && dd > 0 {
		s := -across.Dot(d) / dd
		l := across.addTimes(d, s)
		if e := l.Dot(l); e > r2 {
			y = along + float64(slope*s)
		} else if t := s - math.Sqrt((r2-e)/dd); t >= 0 {
			if y = along + float64(slope*t); y >= 0 && y <= 1 {
				return t, across.addTimes(d, t).unit(c.d.neg().unit(vec64{})), castEnters
			}
		}
	}
	end := m.neg()
	if y > 0.5 {
		end = q.Sub(c.o)
	}
	t, ok := c.ballEntry(end, r2)
	if !ok {
		return 0, vec64{}, castMisses
	}
	return t, c.from(end, t), castEnters
}

// castBox casts against a box without a radius, see castPlanes.
func (c *localRay) castBox(half vec64) (float64, vec64, castResult) {
	o, d, h := [3]float64{c.o.x, c.o.y, c.o.z}, [3]float64{c.d.x, c.d.y, c.d.z}, [3]float64{half.x, half.y, half.z}
	axis, enter, exit := -1, 0., math.Inf(1)
	for k := range o {
		s, speed := max(o[k], -o[k])-h[k], d[k]
		if o[k] < 0 {
			speed = -speed
		}
		switch {
		case s > 0:
			if !(speed < 0) {
				return 0, vec64{}, castMisses
			}
			if t := s / -speed; axis < 0 || t > enter {
				axis, enter = k, t
			}
			exit = min((s+(h[k]+h[k]))/-speed, exit)
		case speed > 0:
			exit = min(-s/speed, exit)
		case speed < 0:
			exit = min((s+(h[k]+h[k]))/-speed, exit)
		}
	}
	switch {
	case axis < 0:
		return 0, vec64{}, castInside
	case !(enter <= exit):
		return 0, vec64{}, castMisses
	}
	n := [3]float64{}
	n[axis] = math.Copysign(1, o[axis])
	return enter, vec64{n[0], n[1], n[2]}, castEnters
}

// castPlanes casts against what is inside of the planes of a polytope, moved outwards by r. c enters at the last of the planes that it
// reaches from outside, unless it has left another one by then. The number of that plane is -1 if c begins inside of all.
func (c *localRay) castPlanes(t *Polytope, r float64) (face int, enter float64, ok bool) {
	face = -1
	exit := math.Inf(1)
	for i := range t.Planes {
		s, speed := c.reaches(&t.Planes[i], r)
		if s > 0 {
			if !(speed < 0) {
				return face, 0, false
			}
			if t := s / -speed; face < 0 || t > enter {
				face, enter = i, t
			}
		} else if speed > 0 {
			exit = min(-s/speed, exit)
		}
	}
	return face, enter, enter <= exit
}

// reaches returns how far c begins outside of a plane that is moved outwards by r, and how fast it goes on outwards.
func (c *localRay) reaches(p *Plane, r float64) (s, speed float64) {
	n := p.Normal.wide64()
	return (n.Dot(c.o) - float64(p.Offset)) - r, n.Dot(c.d)
}

// castPolytope casts against a polyhedron with a radius. With a radius c enters at the first of the faces, moved outwards by it, of the
// capsules around the edges, and of the polyhedron itself, which closes what rounding could leave open.
func (c *localRay) castPolytope(t *Polytope, r float64) (float64, vec64, castResult) {
	face, enter, ok := c.castPlanes(t, r)
	switch {
	case !ok:
		return 0, vec64{}, castMisses
	case face >= 0 && (r == 0 || t.isOver(face, c.o.addTimes(c.d, enter))):
		return enter, t.Planes[face].Normal.wide64(), castEnters
	case face < 0 && c.beginsInside(t, r):
		return 0, vec64{}, castInside
	case r == 0:
		return 0, vec64{}, castMisses
	}
	best, normal, how := 0., vec64{}, castMisses
	if face, enter, ok := c.castPlanes(t, 0); ok && face >= 0 {
		best, normal, how = enter, t.Planes[face].Normal.wide64(), castEnters
	}
	for i := range t.Planes {
		s, speed := c.reaches(&t.Planes[i], r)
		if s > 0 && speed < 0 {
			at := s / -speed
			if (how == castMisses || at < best) && t.isOver(i, c.o.addTimes(c.d, at)) {
				best, normal, how = at, t.Planes[i].Normal.wide64(), castEnters
			}
		}
	}
	for i := range t.Edges {
		p, q := t.edge(i)
		at, n, hit := c.castCapsule(p, q, float64(r*r))
		if hit == castEnters && (how == castMisses || at < best) {
			best, normal, how = at, n, hit
		}
	}
	return best, normal, how
}

// beginsInside reports whether c begins in or on a polyhedron with a radius, if it begins inside of all planes, moved outwards by it.
// Without a radius it must be in the box of the vertices as well: rounding allows places beyond the tip of a thin polyhedron.
func (c *localRay) beginsInside(t *Polytope, r float64) bool {
	inside := true
	for i := range t.Planes {
		if s, _ := c.reaches(&t.Planes[i], 0); s > 0 {
			inside = false
			if t.isOver(i, c.o) {
				return true
			}
		}
	}
	if inside {
		lo, hi := t.Vertices[0], t.Vertices[0]
		for _, v := range t.Vertices {
			lo = Vec{minFloat(v.X, lo.X), minFloat(v.Y, lo.Y), minFloat(v.Z, lo.Z)}
			hi = Vec{maxFloat(v.X, hi.X), maxFloat(v.Y, hi.Y), maxFloat(v.Z, hi.Z)}
		}
		a, b := c.o.Sub(lo.wide64()), hi.wide64().Sub(c.o)
		if min(a.x, a.y, a.z) >= 0 && min(b.x, b.y, b.z) >= 0 {
			return true
		}
	}
	for i := range t.Edges {
		p, q := t.edge(i)
		u, m := q.Sub(p), c.o.Sub(p)
		uu := u.Dot(u)
		if near := m.addTimes(u, -min(max(m.Dot(u)/uu, 0), 1)); uu > 0 && near.Dot(near) <= float64(r*r) {
			return true
		}
	}
	return false
}

// edge returns the ends of an edge.
func (t *Polytope) edge(i int) (p, q vec64) {
	e := &t.Edges[i]
	return t.Vertices[e.From].wide64(), t.Vertices[e.To].wide64()
}

// isOver reports whether a point is within the sides of a face, seen along its normal.
func (t *Polytope) isOver(face int, p vec64) bool {
	f, n := &t.Faces[face], t.Planes[face].Normal.wide64()
	from := t.Vertices[f.Vertices[len(f.Vertices)-1]].wide64()
	for _, u := range f.Vertices {
		to := t.Vertices[u].wide64()
		if to.Sub(from).Cross(n).Dot(p.Sub(from)) > 0 {
			return false
		}
		from = to
	}
	return true
}
