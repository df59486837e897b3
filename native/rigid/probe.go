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

func (f *ShapeHit) closer(than *ShapeHit) bool {
	return f.T < than.T || f.T == than.T && f.Shape < than.Shape
}

// Place makes a probe ready for queries. It returns false if it has no box.
func (p *ShapeQuery) Prepare() bool {
	b, ok := p.Shape.bounds(p.X, p.Y, p.Cos, p.Sin, boxMargin)
	if ok {
		p.box, ok = grownBox(b[0], b[1], b[2], b[3])
	}
	p.OX, p.OY = p.X, p.Y
	p.prepare()
	return ok
}

func (p *ShapeQuery) pose() pose { return pose{p.X, p.Y, p.Cos, p.Sin} }

// view is a probe as seen from a target.
type probeView struct {
	at     pose       // of the target
	origin pose       // of the probe, as seen from there
	d      difference // of the two
}

func (v *probeView) of(p *ShapeQuery, g *target) {
	v.at = pose{g.X, g.Y, g.Cos, g.Sin}
	q := p.pose()
	v.origin = v.at.seen(&q)
	v.d.of(g, p.Shape, &v.origin)
}

// touches reports whether two boxes overlap, or touch.
func (b *box) touches(x0, y0, x1, y1 float32) bool {
	return x0 <= b[2] && y0 <= b[3] && b[0] <= x1 && b[1] <= y1
}

// overlaps reports whether the probe overlaps a target, or touches it.
func (p *ShapeQuery) overlaps(g *target) bool {
	var v probeView
	v.of(p, g)
	near := v.d.from(v.origin.x, v.origin.y)
	return near.distance <= v.d.radius
}

// beyond is how far a box is from that of the probe; 0 if they touch.
func (p *ShapeQuery) beyond(x0, y0, x1, y1 float32) float32 {
	dx := most(most(x0-p.box[2], p.box[0]-x1), 0)
	dy := most(most(y0-p.box[3], p.box[1]-y1), 0)
	return most(dx, dy)
}

// measure returns the distance of the probe from a target whose box is that far beyond its own.
func (p *ShapeQuery) measure(g *target, beyond float32) ShapeHit {
	var v probeView
	v.of(p, g)
	near := v.d.from(v.origin.x, v.origin.y)
	f := ShapeHit{T: near.distance - v.d.radius, Shape: g.Shape}
	if beyond > 0 {
		f.T = most(f.T, beyond)
	}
	v.put(g, &near, &f)
	return f
}

// put tells of normal and point.
func (v *probeView) put(g *target, near *near, f *ShapeHit) {
	n, q := near.normal, v.d.touch(g, near)
	f.Normal = v.at.turn(n)
	f.Normal = Vec{f.Normal.X + 0, f.Normal.Y + 0} // no -0
	f.Point = v.at.place(Vec{q.X + float32(n.X*v.d.own), q.Y + float32(n.Y*v.d.own)})
}

// entry returns the parameter at which the box of the probe comes to another, and false if it
// does not by maxT. See Ray.entry.
func (p *ShapeQuery) entry(x0, y0, x1, y1, maxT float32) (float32, bool) {
	fromX, toX := x0-p.box[2], x1-p.box[0]
	if p.invX < 0 {
		fromX, toX = toX, fromX
	}
	fromY, toY := y0-p.box[3], y1-p.box[1]
	if p.invY < 0 {
		fromY, toY = toY, fromY
	}
	enter := most(most(fromX*p.invX, fromY*p.invY), 0)
	exit := least(toX*p.invX, toY*p.invY)
	return enter, enter <= least(float32(exit*exitSlack), maxT)
}

// strikes returns where the probe, moved along its ray, meets a target that it comes near to
// at the given parameter: its origin meets the difference of the two as a ray does.
func (p *ShapeQuery) strikes(g *target, entry float32) (f ShapeHit, ok bool) {
	var v probeView
	v.of(p, g)
	c := course{
		x: v.origin.x, y: v.origin.y,
		dx: float32(g.Cos*p.DX) + float32(g.Sin*p.DY), dy: float32(g.Cos*p.DY) - float32(g.Sin*p.DX),
	}
	c.dd = float32(c.dx*c.dx) + float32(c.dy*c.dy)
	t, n, how := c.meets(v.d.v[:v.d.count], v.d.n[:v.d.count], v.d.radius)
	if how == misses || how == within && p.Flags&SkipInside != 0 {
		return f, false
	}
	f.T, f.Shape = most(t, entry), g.Shape
	if !(f.T <= p.MaxT) {
		return f, false
	}
	if how == within {
		f.Point = Vec{p.X, p.Y}
		return f, true
	}
	near := v.d.from(c.x+float32(f.T*c.dx), c.y+float32(f.T*c.dy))
	v.put(g, &near, &f)
	f.Normal = v.at.turn(n)
	f.Normal = Vec{f.Normal.X + 0, f.Normal.Y + 0}
	return f, true
}
