package rigid

// Ray is the points O + t*D for 0 <= t <= MaxT, with a filter. The coordinates are below 2^60, and the square
// of the length of D is a normal number.
type Ray struct {
	OX, OY, DX, DY float32
	MaxT           float32
	Exclude        uint32 // a body whose shapes it does not hit; NoShape: none
	Category, Mask uint64 // it hits shapes with a bit of Mask in their category, and of Category in their mask
	Flags          uint32
	invX, invY     float32 // of D

	// With the flag WithSpan it hits only shapes whose interval along the third axis overlaps or touches this one, as
	// in broad.Phase.FindPairs. Shapes without an interval have all of the axis.
	SpanMin, SpanMax float32
	_                uint32
}

// Flags of a Ray.
const (
	IncludeSensors = 1 << iota // hit sensors, too
	SkipInside                 // do not hit shapes in or on which it begins
	WithSpan                   // it has an interval
)

// RayHit is where a ray hits a shape.
type RayHit struct {
	T      float32 // NoShape: MaxT
	Normal Vec     // of the surface, length one; zero if the ray begins in or on the shape
	Shape  uint32  // or NoShape
}

// maxReciprocal is the largest float32. It replaces the reciprocal of a component that is zero, or so small that its
// reciprocal is infinite. A product with it is not NaN, and is beyond all T unless the ray begins on the bound
// itself.
const maxReciprocal = 0x1.fffffep127

func (r *Ray) prepare() { r.invX, r.invY = reciprocal(r.DX), reciprocal(r.DY) }

func reciprocal(d float32) float32 {
	if d == 0 {
		return maxReciprocal
	}
	return maxFloat(minFloat(1/d, maxReciprocal), -maxReciprocal)
}

// exitSlack covers the rounding of the exit from a box: entry and exit are each off by three roundings.
const exitSlack = 1 + 0x1p-20

// boxEntry returns the T at which the ray enters a box, 0 if it begins inside, and false if it does not enter
// by maxT. Each operation is monotone in the bounds: a ray that enters a box also enters a box around it, at a
// T that is not larger.
func (r *Ray) boxEntry(x0, y0, x1, y1, maxT float32) (float32, bool) {
	if r.invX < 0 {
		x0, x1 = x1, x0
	}
	if r.invY < 0 {
		y0, y1 = y1, y0
	}
	enter := maxFloat(maxFloat((x0-r.OX)*r.invX, (y0-r.OY)*r.invY), 0)
	exit := minFloat((x1-r.OX)*r.invX, (y1-r.OY)*r.invY)
	return enter, enter <= minFloat(float32(exit*exitSlack), maxT)
}

// accepts reports whether the filter of the ray accepts a target.
func (r *Ray) accepts(g *target) bool {
	return g.Category&r.Mask != 0 && g.Mask&r.Category != 0 && g.Body != r.Exclude &&
		(g.Count&targetSensor == 0 || r.Flags&IncludeSensors != 0) &&
		(r.Flags&WithSpan == 0 || g.SpanMin <= r.SpanMax && r.SpanMin <= g.SpanMax)
}

// localRay is a ray as seen from a body.
type localRay struct {
	x, y, dx, dy float32
	dd           float32 // the square of the length of d
}

// castResult is how a ray hits a shape.
type castResult uint8

const (
	castMisses castResult = iota
	castEnters
	castInside // it begins in or on the shape
)

// cast returns where the ray hits an accepted target whose box it enters at entry.
func (r *Ray) cast(g *target, entry float32) (hit RayHit, ok bool) {
	ox, oy := r.OX-g.X, r.OY-g.Y
	c := localRay{
		x: float32(g.Cos*ox) + float32(g.Sin*oy), y: float32(g.Cos*oy) - float32(g.Sin*ox),
		dx: float32(g.Cos*r.DX) + float32(g.Sin*r.DY), dy: float32(g.Cos*r.DY) - float32(g.Sin*r.DX),
	}
	c.dd = float32(c.dx*c.dx) + float32(c.dy*c.dy)
	count := g.Count &^ targetSensor
	t, n, how := c.cast(g.Vertices[:count], g.Normals[:count], g.Radius)
	if how == castMisses || how == castInside && r.Flags&SkipInside != 0 {
		return hit, false
	}
	hit = RayHit{
		T:      maxFloat(t, entry),
		Normal: Vec{(float32(g.Cos*n.X) - float32(g.Sin*n.Y)) + 0, (float32(g.Sin*n.X) + float32(g.Cos*n.Y)) + 0}, // no -0
		Shape:  g.Shape,
	}
	return hit, hit.T <= r.MaxT
}

// cast returns where c enters a polygon with a radius.
func (c *localRay) cast(vertices, normals []Vec, radius float32) (float32, Vec, castResult) {
	switch n := len(vertices); {
	case n == 1:
		return c.castDisc(&vertices[0], radius)
	case n > 2 && radius == 0:
		return c.castPolygon(vertices, normals)
	}
	return c.castRounded(vertices, normals, radius)
}

// insideOrMiss decides for a c on the inner side of all edges. It is inside, unless it is outside the box of the
// vertices: rounding allows places beyond the tip of a thin polygon.
func (c *localRay) insideOrMiss(vertices []Vec) castResult {
	if around := boxAround(vertices); around.overlaps(c.x, c.y, c.x, c.y) {
		return castInside
	}
	return castMisses
}

// boxAround is the box of some points.
func boxAround(points []Vec) box {
	b := inverted
	for i := range points {
		v := &points[i]
		b[0], b[1], b[2], b[3] = minFloat(v.X, b[0]), minFloat(v.Y, b[1]), maxFloat(v.X, b[2]), maxFloat(v.Y, b[3])
	}
	return b
}

// castDisc casts against a disc.
func (c *localRay) castDisc(centre *Vec, radius float32) (float32, Vec, castResult) {
	mx, my := centre.X-c.x, centre.Y-c.y
	r2 := radius * radius
	if float32(mx*mx)+float32(my*my) <= r2 {
		return 0, Vec{}, castInside
	}
	t, ok := c.discEntry(mx, my, r2)
	if !ok {
		return 0, Vec{}, castMisses
	}
	return t, c.normal(mx, my, t), castEnters
}

// discEntry returns where c enters a disc at m, relative to the beginning of c, which is outside.
func (c *localRay) discEntry(mx, my, r2 float32) (float32, bool) {
	s := (float32(mx*c.dx) + float32(my*c.dy)) / c.dd
	lx, ly := mx-float32(s*c.dx), my-float32(s*c.dy)
	e := float32(lx*lx) + float32(ly*ly)
	if !(s >= 0 && e <= r2) {
		return 0, false
	}
	return maxFloat(s-sqrt((r2-e)/c.dd), 0), true
}

// normal is the direction from m to c at t; the reverse of c where these coincide.
func (c *localRay) normal(mx, my, t float32) Vec {
	inv := 1 / sqrt(c.dd)
	nx, ny, _ := normalizeOr(float32(t*c.dx)-mx, float32(t*c.dy)-my, float32(-c.dx*inv), float32(-c.dy*inv))
	return Vec{nx, ny}
}

// castPolygon casts against a polygon of three and more vertices without a radius. c enters at the last of the
// edges that it reaches from outside, unless it has left another one by then.
func (c *localRay) castPolygon(vertices, normals []Vec) (float32, Vec, castResult) {
	k, enter, exit := -1, float32(0), inf
	normals = normals[:len(vertices)]
	for i := range vertices {
		v, n := &vertices[i], &normals[i]
		s := float32(n.X*(c.x-v.X)) + float32(n.Y*(c.y-v.Y))
		speed := float32(n.X*c.dx) + float32(n.Y*c.dy)
		if s > 0 {
			if !(speed < 0) {
				return 0, Vec{}, castMisses
			}
			if t := s / -speed; k < 0 || t > enter {
				k, enter = i, t
			}
		} else if speed > 0 {
			exit = minFloat(-s/speed, exit)
		}
	}
	switch {
	case k < 0:
		return 0, Vec{}, c.insideOrMiss(vertices)
	case !(enter <= exit):
		return 0, Vec{}, castMisses
	}
	return enter, normals[k], castEnters
}

// castRounded casts against shapes with a radius, and segments. c enters at the first of the edges, moved
// outwards by the radius, and of the discs around the vertices.
func (c *localRay) castRounded(vertices, normals []Vec, r float32) (float32, Vec, castResult) {
	r2, count := r*r, len(vertices)
	inside := count > 2
	how, best, onDisc, m, normal := castMisses, float32(0), false, Vec{}, Vec{}
	for i := range count {
		v, w, n := &vertices[i], &vertices[0], &normals[i]
		if i+1 < count {
			w = &vertices[i+1]
		}
		mx, my := c.x-v.X, c.y-v.Y
		s := float32(n.X*mx) + float32(n.Y*my)
		u := float32(n.X*my) - float32(n.Y*mx)
		side := float32(n.X*(w.Y-v.Y)) - float32(n.Y*(w.X-v.X))
		inside = inside && s <= 0
		if s >= 0 && s <= r && u >= 0 && u <= side || float32(mx*mx)+float32(my*my) <= r2 {
			return 0, Vec{}, castInside
		}
		speed := float32(n.X*c.dx) + float32(n.Y*c.dy)
		if s > r && speed < 0 {
			t := (s - r) / -speed
			ut := u + float32(t*(float32(n.X*c.dy)-float32(n.Y*c.dx)))
			if ut >= 0 && ut <= side && (how == castMisses || t < best) {
				how, best, onDisc, normal = castEnters, t, false, *n
			}
		}
		if r > 0 {
			if t, ok := c.discEntry(-mx, -my, r2); ok && (how == castMisses || t < best) {
				how, best, onDisc, m = castEnters, t, true, Vec{-mx, -my}
			}
		}
	}
	if inside && c.insideOrMiss(vertices) == castInside {
		return 0, Vec{}, castInside
	}
	if onDisc {
		normal = c.normal(m.X, m.Y, best)
	}
	return best, normal, how
}
