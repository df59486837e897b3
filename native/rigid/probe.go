package rigid

// ShapeQuery is a shape somewhere, and what it can find: for overlaps, distances and casts. Its
// coordinates are below 2^60. A cast moves it by D, as a Ray.
type ShapeQuery struct {
	Shape    *Shape
	X, Y     float32
	Cos, Sin float32
	Ray      // of its origin; OX and OY are X and Y
	box      box
}

// Found is what a probe finds.
type ShapeHit struct {
	T      float32 // of a cast; of a distance, that: negative where the two overlap
	Normal Vec     // of the shape, outwards, of length one
	Point  Vec     // on the surface of the shape
	Shape  uint32  // or NoShape
}

func (f *ShapeHit) before(than *ShapeHit) bool {
	return f.T < than.T || f.T == than.T && f.Shape < than.Shape
}

// Place makes a probe ready for queries. It returns false if it has no box.
func (p *ShapeQuery) Prepare() bool {
	b, ok := p.Shape.bounds(p.X, p.Y, p.Cos, p.Sin, boxMargin)
	if ok {
		p.box, ok = fattenBox(b[0], b[1], b[2], b[3])
	}
	p.OX, p.OY = p.X, p.Y
	p.prepare()
	return ok
}

func (p *ShapeQuery) pose() transform { return transform{p.X, p.Y, p.Cos, p.Sin} }

// view is a probe as seen from a target.
type relativeQuery struct {
	target     transform           // of the target
	origin     transform           // of the probe, as seen from there
	difference minkowskiDifference // of the two
}

func (v *relativeQuery) set(p *ShapeQuery, g *target) {
	v.target = transform{g.X, g.Y, g.Cos, g.Sin}
	q := p.pose()
	v.origin = v.target.relative(&q)
	v.difference.set(g, p.Shape, &v.origin)
}

// touches reports whether two boxes overlap, or touch.
func (b *box) overlaps(x0, y0, x1, y1 float32) bool {
	return x0 <= b[2] && y0 <= b[3] && b[0] <= x1 && b[1] <= y1
}

// overlaps reports whether the probe overlaps a target, or touches it.
func (p *ShapeQuery) overlapsTarget(g *target) bool {
	var v relativeQuery
	v.set(p, g)
	near := v.difference.closest(v.origin.x, v.origin.y)
	return near.distance <= v.difference.radius
}

// beyond is how far a box is from that of the probe; 0 if they touch.
func (p *ShapeQuery) boxDistance(x0, y0, x1, y1 float32) float32 {
	dx := maxFloat(maxFloat(x0-p.box[2], p.box[0]-x1), 0)
	dy := maxFloat(maxFloat(y0-p.box[3], p.box[1]-y1), 0)
	return maxFloat(dx, dy)
}

// measure returns the distance of the probe from a target whose box is that far beyond its own.
func (p *ShapeQuery) distance(g *target, beyond float32) ShapeHit {
	var v relativeQuery
	v.set(p, g)
	near := v.difference.closest(v.origin.x, v.origin.y)
	f := ShapeHit{T: near.distance - v.difference.radius, Shape: g.Shape}
	if beyond > 0 {
		f.T = maxFloat(f.T, beyond)
	}
	v.setHit(g, &near, &f)
	return f
}

// put tells of normal and point.
func (v *relativeQuery) setHit(g *target, near *closestFeature, f *ShapeHit) {
	n, q := near.normal, v.difference.pointOfB(g, near)
	f.Normal = v.target.rotate(n)
	f.Normal = Vec{f.Normal.X + 0, f.Normal.Y + 0} // no -0
	f.Point = v.target.apply(Vec{q.X + float32(n.X*v.difference.radiusB), q.Y + float32(n.Y*v.difference.radiusB)})
}

// entry returns the parameter at which the box of the probe comes to another, and false if it
// does not by maxT. See Ray.entry.
func (p *ShapeQuery) boxEntry(x0, y0, x1, y1, maxT float32) (float32, bool) {
	fromX, toX := x0-p.box[2], x1-p.box[0]
	if p.invX < 0 {
		fromX, toX = toX, fromX
	}
	fromY, toY := y0-p.box[3], y1-p.box[1]
	if p.invY < 0 {
		fromY, toY = toY, fromY
	}
	enter := maxFloat(maxFloat(fromX*p.invX, fromY*p.invY), 0)
	exit := minFloat(toX*p.invX, toY*p.invY)
	return enter, enter <= minFloat(float32(exit*exitSlack), maxT)
}

// strikes returns where the probe, moved along its ray, meets a target that it comes near to
// at the given parameter: its origin meets the difference of the two as a ray does.
func (p *ShapeQuery) cast(g *target, entry float32) (f ShapeHit, ok bool) {
	var v relativeQuery
	v.set(p, g)
	c := localRay{
		x: v.origin.x, y: v.origin.y,
		dx: float32(g.Cos*p.DX) + float32(g.Sin*p.DY), dy: float32(g.Cos*p.DY) - float32(g.Sin*p.DX),
	}
	c.dd = float32(c.dx*c.dx) + float32(c.dy*c.dy)
	t, n, how := c.cast(v.difference.v[:v.difference.count], v.difference.n[:v.difference.count], v.difference.radius)
	if how == castMisses || how == castInside && p.Flags&SkipInside != 0 {
		return f, false
	}
	f.T, f.Shape = maxFloat(t, entry), g.Shape
	if !(f.T <= p.MaxT) {
		return f, false
	}
	if how == castInside {
		f.Point = Vec{p.X, p.Y}
		return f, true
	}
	near := v.difference.closest(c.x+float32(f.T*c.dx), c.y+float32(f.T*c.dy))
	v.setHit(g, &near, &f)
	f.Normal = v.target.rotate(n)
	f.Normal = Vec{f.Normal.X + 0, f.Normal.Y + 0}
	return f, true
}
