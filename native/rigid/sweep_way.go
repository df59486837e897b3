package rigid

import "math"

// path is the way of a body during a step, as seen from its end: time 0 is before the step and
// time 1 after it.
type path struct {
	x, y, cos, sin float32 // at time 1
	dx, dy         float32 // how far it moved
	turn           float32 // by which angle it turned
}

// of returns false if the way is not finite. Rotations tell by how much a body turned but for
// whole turns; it is taken to be nearest to what its angular velocity comes to in dt
// seconds, up to two of them.
func (p *path) of(s *State, poses *Poses, body uint32, dt float32) bool {
	*p = path{
		poses.X[body], poses.Y[body], poses.Cos[body], poses.Sin[body],
		s.DX, s.DY, 0,
	}
	if s.S != 0 || s.C != 1 {
		p.turn = Atan2(s.S, s.C)
		turns := float32((float32(s.W*dt) - p.turn) * (0.5 / math.Pi))
		turns = float32(math.Floor(float64(least(most(turns, -2), 2) + 0.5)))
		p.turn += float32(turns * (2 * math.Pi))
	}
	sum := ((p.x + p.y) + (p.cos + p.sin)) + ((p.dx + p.dy) + p.turn)
	return sum-sum == 0
}

// at is the pose at a time.
func (p *path) at(t float32) (x, y, cos, sin float32) {
	back := 1 - t
	x, y = p.x-float32(back*p.dx), p.y-float32(back*p.dy)
	cos, sin = turnedBack(p.cos, p.sin, float32(back*p.turn))
	return x, y, cos, sin
}

// turnedBack turns a rotation clockwise.
func turnedBack(cos, sin, angle float32) (c, s float32) {
	if angle == 0 {
		return cos, sin
	}
	sn, cs := SinCos(angle)
	return float32(cos*cs) + float32(sin*sn), float32(sin*cs) - float32(cos*sn)
}

// box is around all places of a shape on the way. No point of it is farther than reach from the
// centre of the body but for the radius, so a turn by a takes it no farther than reach·a²/8
// from the straight line between its ends.
func (p *path) box(s *Shape, reach float32) box {
	x, y, cos, sin := p.at(0)
	bulge := float32(float32(reach*p.turn) * float32(p.turn*0.125))
	a, _ := s.bounds(x, y, cos, sin, bulge)
	b, _ := s.bounds(p.x, p.y, p.cos, p.sin, bulge)
	return box{least(a[0], b[0]), least(a[1], b[1]), most(a[2], b[2]), most(a[3], b[3])}
}

// swept is a shape on its way.
type swept struct {
	shape *Shape
	full  outline
	ready bool // the cores are
	cores [3]outline
}

func (s *swept) of(shape *Shape) {
	s.shape, s.ready = shape, false
	s.full.set(shape)
}

// makeCores makes what must not touch an obstacle: of those that do not do so already, the
// first.
func (s *swept) makeCores() {
	if s.ready {
		return
	}
	s.ready = true
	s.cores[0].setCore(s.shape)
	s.cores[1].setHalf(s.shape)
	s.cores[2].setDisc(s.shape.Centroid, float32(0.5*s.shape.extent()))
}

const (
	// touching is how near to an obstacle a shape stops: the step that follows makes a
	// contact of that. It may stop at up to closeness more, so that a few iterations do.
	touching  = LinearSlop
	closeness = 0.25 * LinearSlop

	// approaches bounds the iterations of an advance. A shape that is not there by then,
	// which happens to few that turn, stops where it has come to.
	approaches = 32
)

// meets returns when the shape is stopped by an obstacle, a shape of body at its pose; 1 if it is
// not, or not before the given time.
func (s *swept) meets(p *path, o *Shape, poses *Poses, body uint32, before float32) float32 {
	var v view
	if !v.of(p, o, poses, body) || v.misses(&s.full, o) {
		return 1
	}
	touch := v.advance(&s.full, touching, 0, before)
	if touch == 1 {
		return 1
	}
	s.makeCores()
	if touch > 0 {
		if v.advance(&s.cores[0], 0, touch, 1) < 1 {
			return touch
		}
		return 1
	}
	for i := range s.cores {
		if t := v.advance(&s.cores[i], 0, 0, before); t > 0 {
			return t
		}
	}
	if v.enters(&s.cores[len(s.cores)-1]) {
		return 0
	}
	return 1
}

// view is a way as seen from an obstacle, in the axes of its body, from its centroid.
type view struct {
	path
	obstacle outline
}

// of returns false if the way is not finite, so seen.
func (v *view) of(p *path, o *Shape, poses *Poses, body uint32) bool {
	cos, sin := poses.Cos[body], poses.Sin[body]
	x, y := p.x-poses.X[body], p.y-poses.Y[body]
	v.x = (float32(cos*x) + float32(sin*y)) - o.Centroid.X
	v.y = (float32(cos*y) - float32(sin*x)) - o.Centroid.Y
	v.dx, v.dy = float32(cos*p.dx)+float32(sin*p.dy), float32(cos*p.dy)-float32(sin*p.dx)
	v.cos, v.sin = float32(cos*p.cos)+float32(sin*p.sin), float32(cos*p.sin)-float32(sin*p.cos)
	v.turn = p.turn
	v.obstacle.n, v.obstacle.radius, v.obstacle.reach = int(o.Count), o.Radius, 0
	for i, q := range o.Vertices[:o.Count] {
		v.obstacle.put(i, Vec{q.X - o.Centroid.X, q.Y - o.Centroid.Y})
	}
	sum := ((v.x + v.y) + (v.cos + v.sin)) + (v.dx + v.dy)
	return sum-sum == 0
}

// misses reports whether the disc around all of the shape that turns passes the obstacle on
// one side.
func (v *view) misses(shape *outline, o *Shape) bool {
	length := sqrt(float32(v.dx*v.dx) + float32(v.dy*v.dy))
	room := float32(((shape.reach + shape.radius) + (v.obstacle.radius + touching)) * length)
	low, high := inf, -inf
	for i := range v.obstacle.n {
		d := wedge(v.dx, v.dy, v.obstacle.x[i]-v.x, v.obstacle.y[i]-v.y)
		low, high = least(low, d), most(high, d)
	}
	return low > room || high < -room
}

// advance returns when an outline comes within a distance of the obstacle, but for closeness,
// of the times from t on: t if it is there from the beginning, 1 if it is not there before the
// given time. It goes on by as much of the time as there is room, whichever way the outline
// turns: it cannot come nearer by more than its move towards the obstacle and turn
// times reach.
func (v *view) advance(o *outline, distance, t, before float32) float32 {
	var placed outline
	for range approaches {
		v.place(o, t, &placed)
		room, nx, ny := apart(&placed, &v.obstacle)
		room = (room - (o.radius + v.obstacle.radius)) - distance
		if room <= closeness { // half of it is left, by and large
			return t
		}
		speed := most(-(float32(v.dx*nx)+float32(v.dy*ny)), 0) + float32(abs(v.turn)*o.reach)
		if t += (room - 0.5*closeness) / speed; !(t < before) { // also if speed is 0, or room NaN
			return 1
		}
	}
	return t
}

// enters reports whether a disc that touches the obstacle, from where it is outside, comes nearer
// by more than closeness.
func (v *view) enters(o *outline) bool {
	var from, to outline
	v.place(o, 0, &from)
	_, nx, ny := apart(&from, &v.obstacle)
	v.place(o, 1, &to)
	return float32((to.x[0]-from.x[0])*nx)+float32((to.y[0]-from.y[0])*ny) < -closeness
}

// place is the outline at a time.
func (v *view) place(o *outline, t float32, to *outline) {
	x, y, cos, sin := v.at(t)
	to.n = o.n
	for i := range o.n {
		to.x[i] = (float32(cos*o.x[i]) - float32(sin*o.y[i])) + x
		to.y[i] = (float32(sin*o.x[i]) + float32(cos*o.y[i])) + y
	}
}
