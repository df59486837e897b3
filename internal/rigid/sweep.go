package rigid

import "math"

// sweep is the way of a body during a step, stored from its end: time 0 is before the step and time 1 after it.
type sweep struct {
	x, y, cos, sin float32     // at time 1
	dx, dy         float32     // translation
	angle          float32     // rotation in radians
	locks          MotionLocks // motions that other bodies cannot cause
}

// set returns false if the way is not finite. Rotations do not determine the number of whole turns: set chooses the
// number nearest to the angle that the angular velocity gives in dt seconds, up to two turns.
func (p *sweep) set(s *State, poses *Poses, body uint32, dt float32) bool {
	*p = sweep{x: poses.X[body], y: poses.Y[body], cos: poses.Cos[body], sin: poses.Sin[body], dx: s.DX, dy: s.DY}
	if s.S != 0 || s.C != 1 {
		p.angle = Atan2(s.S, s.C)
		turns := float32((float32(s.W*dt) - p.angle) * (0.5 / math.Pi))
		turns = float32(math.Floor(float64(minFloat(maxFloat(turns, -2), 2) + 0.5)))
		p.angle += float32(turns * (2 * math.Pi))
	}
	return p.finite()
}

func (p *sweep) finite() bool {
	sum := ((p.x + p.y) + (p.cos + p.sin)) + ((p.dx + p.dy) + p.angle)
	return sum-sum == 0
}

// stopAt ends a way at a time. A way that ends where it begins keeps its rotation.
func (p *sweep) stopAt(t float32) {
	if t == 1 {
		return
	}
	if t == 0 {
		p.x, p.y, p.dx, p.dy = p.x-p.dx, p.y-p.dy, 0, 0
		return
	}
	p.x, p.y, p.cos, p.sin = p.transform(t)
	p.dx, p.dy, p.angle = float32(t*p.dx), float32(t*p.dy), float32(t*p.angle)
}

// slide removes the part of a way that leads into an obstacle, relative to which the body moves by dx and dy.
// It removes nothing along a locked axis. It returns false if the way does not lead into the obstacle.
func (p *sweep) slide(out Vec, dx, dy float32) bool {
	in := float32(dx*out.X) + float32(dy*out.Y)
	if !(in < 0) {
		return false
	}
	x, y := float32(in*out.X), float32(in*out.Y)
	if p.locks.X {
		x = 0
	}
	if p.locks.Y {
		y = 0
	}
	p.x, p.y, p.dx, p.dy = p.x-x, p.y-y, p.dx-x, p.dy-y
	return true
}

// carriedFrom returns the way of a body that moves along own until time t, and from then on keeps its place in the
// frame of the body with the way p, except for locked motions.
func (p *sweep) carriedFrom(own *sweep, t float32) sweep {
	back := 1 - t
	turn := float32(back * p.angle)
	x, y, _, _ := p.transform(t)
	x, y = rotateBack(own.x-x, own.y-y, -turn)
	x, y = p.x+x, p.y+y
	cos, sin := rotateBack(own.cos, own.sin, -turn)
	if own.locks.X {
		x = own.x
	}
	if own.locks.Y {
		y = own.y
	}
	if own.locks.Rotation {
		cos, sin, turn = own.cos, own.sin, 0
	}
	return sweep{x, y, cos, sin, x - own.x, y - own.y, turn, own.locks}
}

// transform is the pose at a time.
func (p *sweep) transform(t float32) (x, y, cos, sin float32) {
	back := 1 - t
	x, y = p.x-float32(back*p.dx), p.y-float32(back*p.dy)
	cos, sin = rotateBack(p.cos, p.sin, float32(back*p.angle))
	return x, y, cos, sin
}

// rotateBack rotates clockwise.
func rotateBack(cos, sin, angle float32) (c, s float32) {
	if angle == 0 {
		return cos, sin
	}
	sn, cs := SinCos(angle)
	return float32(cos*cs) + float32(sin*sn), float32(sin*cs) - float32(cos*sn)
}

// bounds is a box around a shape on its whole way. No point of it is farther than reach from the centre of the
// body but for the radius, so a turn by a moves it at most reach·a²/8 away from the straight line between its
// ends.
func (p *sweep) bounds(s *Shape, reach float32) box {
	x, y, cos, sin := p.transform(0)
	bulge := float32(float32(reach*p.angle) * float32(p.angle*0.125))
	a, _ := s.bounds(x, y, cos, sin, bulge)
	b, _ := s.bounds(p.x, p.y, p.cos, p.sin, bulge)
	return box{minFloat(a[0], b[0]), minFloat(a[1], b[1]), maxFloat(a[2], b[2]), maxFloat(a[3], b[3])}
}

// sweptShape is a shape on its way.
type sweptShape struct {
	shape      *Shape
	proxy      shapeProxy
	coresReady bool // cores are set
	cores      [3]shapeProxy
	normal     Vec // if the shape stays at its place: away from the obstacle, in its axes at time 0
}

func (s *sweptShape) set(shape *Shape) {
	s.shape, s.coresReady = shape, false
	s.proxy.set(shape)
}

// makeCores makes the cores, in the order in which they are tried.
func (s *sweptShape) makeCores() {
	if s.coresReady {
		return
	}
	s.coresReady = true
	s.cores[0].setCore(s.shape)
	s.cores[1].setHalf(s.shape)
	s.cores[2].setDisc(s.shape.Centroid, float32(0.5*s.shape.extent()))
}

const (
	// targetSeparation is the distance from an obstacle at which a shape stops: the next step makes a contact of the
	// two. It may stop up to separationTolerance farther away, which saves iterations.
	targetSeparation    = LinearSlop
	separationTolerance = 0.25 * LinearSlop

	// maxAdvances is the largest number of iterations of an advance. A shape that needs more, as few turning shapes
	// do, stops where it is then.
	maxAdvances = 32
)

// stopTime returns when an obstacle stops the shape, which touches it at time touch. It returns 1 if the obstacle
// does not stop the shape before the time before.
func (s *sweptShape) stopTime(v *relativeSweep, touch, before float32) float32 {
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
	if s.movesDeeper(v) {
		return 0
	}
	return 1
}

// movesDeeper reports whether the disc, which touches the obstacle and has its centre outside, comes nearer by
// more than separationTolerance.
func (s *sweptShape) movesDeeper(v *relativeSweep) bool {
	var from, to shapeProxy
	o := &s.cores[len(s.cores)-1]
	v.place(o, 0, &from)
	_, nx, ny := gjkDistance(&from, &v.obstacle)
	v.place(o, 1, &to)
	s.normal = Vec{nx, ny}
	return float32((to.x[0]-from.x[0])*nx)+float32((to.y[0]-from.y[0])*ny) < -separationTolerance
}

// chainPair is a segment of a chain and another shape. One of them is the obstacle of a relativeSweep.
type chainPair struct {
	segment, other *Shape
	smooth         *ChainSegment
	segmentMoves   bool // the segment moves, other is the obstacle
}

// chainStopTime is stopTime for a segment of a chain: a shape stops only where the two have a contact.
func (s *sweptShape) chainStopTime(v *relativeSweep, c *chainPair, touch, before float32) float32 {
	if c.startsBehind(v) {
		return 1
	}
	if touch > 0 && c.collides(v, touch) {
		return s.stopTime(v, touch, before)
	}
	inside := false
	for i := range s.cores {
		t := v.advance(&s.cores[i], 0, 0, before)
		if t == 1 || t > 0 && c.collides(v, t) {
			return t
		}
		inside = t == 0
	}
	if inside && c.collides(v, 0) && s.movesDeeper(v) {
		return 0
	}
	var middle shapeProxy
	middle.setDisc(s.shape.Centroid, 0)
	if t := v.advance(&middle, 0, 0, before); t > 0 && t < 1 && c.collides(v, t) {
		return t
	}
	return 1
}

// startsBehind reports whether the centroid of the other shape was behind the segment before the step: then it passes
// through.
func (c *chainPair) startsBehind(v *relativeSweep) bool {
	x, y, cos, sin := v.transform(0)
	at := c.other.Centroid
	if c.segmentMoves {
		x, y = -x, -y
		x, y = float32(cos*x)+float32(sin*y), float32(cos*y)-float32(sin*x)
	} else {
		x, y = x+(float32(cos*at.X)-float32(sin*at.Y))+v.centroid.X, y+(float32(sin*at.X)+float32(cos*at.Y))+v.centroid.Y
	}
	n, v1, v2, sm := c.segment.Normals[0], c.segment.Vertices[0], c.segment.Vertices[1], c.smooth
	if !(n.dot(x-v1.X, y-v1.Y) < 0) {
		return false
	}
	return c.other.Count > 1 || !inVertexRegion(sm.Before, n, x-v1.X, y-v1.Y) && !(sm.Last && inVertexRegion(n, sm.After, x-v2.X, y-v2.Y))
}

// collides reports whether the two have a contact at a time.
func (c *chainPair) collides(v *relativeSweep, t float32) bool {
	x, y, cos, sin := v.transform(t)
	px, py, pc, ps := [...]float32{0, x + v.centroid.X}, [...]float32{0, y + v.centroid.Y}, [...]float32{1, cos}, [...]float32{0, sin}
	poses := Poses{px[:], py[:], pc[:], ps[:]}
	var m Manifold
	if c.segmentMoves {
		collideChain(c.segment, c.smooth, c.other, 1, 0, &poses, &m)
	} else {
		collideChain(c.segment, c.smooth, c.other, 0, 1, &poses, &m)
	}
	return m.Count > 0
}

// relativeSweep is a way relative to an obstacle: in the axes of the body of the obstacle, which may move as well,
// and from the centroid of its shape.
type relativeSweep struct {
	sweep                   // in the axes of the obstacle at time 1; the angle is relative to it
	obstacleAngle   float32 // by which the obstacle turns about its centre of mass
	centroid        Vec     // relative to the centre of mass
	maxAcceleration float32 // the greatest in the axes of the obstacle; the unit of time is a step
	obstacle        shapeProxy
}

// set takes the way p of a shape and the way by of the body of an obstacle. It returns false if the relative
// way is not finite.
func (v *relativeSweep) set(p, by *sweep, o *Shape, poses *Poses, body uint32) bool {
	cos, sin := poses.Cos[body], poses.Sin[body]
	x, y := p.x-poses.X[body], p.y-poses.Y[body]
	dx, dy := p.dx-by.dx, p.dy-by.dy
	v.centroid = o.Centroid
	v.x = (float32(cos*x) + float32(sin*y)) - o.Centroid.X
	v.y = (float32(cos*y) - float32(sin*x)) - o.Centroid.Y
	v.dx, v.dy = float32(cos*dx)+float32(sin*dy), float32(cos*dy)-float32(sin*dx)
	v.cos, v.sin = float32(cos*p.cos)+float32(sin*p.sin), float32(cos*p.sin)-float32(sin*p.cos)
	v.angle, v.obstacleAngle = p.angle-by.angle, by.angle
	v.obstacle.n, v.obstacle.radius, v.obstacle.maxReach = int(o.Count), o.Radius, 0
	for i, q := range o.Vertices[:o.Count] {
		v.obstacle.setPoint(i, Vec{q.X - o.Centroid.X, q.Y - o.Centroid.Y})
	}
	if v.maxAcceleration = 0; v.obstacleAngle != 0 {
		far := maxFloat(sqrt(float32(x*x)+float32(y*y)), sqrt(float32((x-dx)*(x-dx))+float32((y-dy)*(y-dy))))
		way := sqrt(float32(dx*dx) + float32(dy*dy))
		v.maxAcceleration = float32(abs(v.obstacleAngle) * (2*way + float32(abs(v.obstacleAngle)*far)))
	}
	sum := ((v.x + v.y) + (v.cos + v.sin)) + ((v.dx + v.dy) + (v.angle + v.maxAcceleration))
	return sum-sum == 0
}

// transform is the pose at a time, in the axes of the obstacle at that time.
func (v *relativeSweep) transform(t float32) (x, y, cos, sin float32) {
	x, y, cos, sin = v.sweep.transform(t)
	if v.obstacleAngle != 0 {
		x, y = rotateBack(x+v.centroid.X, y+v.centroid.Y, -float32((1-t)*v.obstacleAngle))
		x, y = x-v.centroid.X, y-v.centroid.Y
	}
	return x, y, cos, sin
}

// earliestTime returns the least time after t at which a proxy can have come nearer by room in the direction -n. A
// point of the proxy approaches at most as fast as the centre of its body, plus the angle times maxReach. If the
// obstacle turns, the way of that centre is curved in its axes: maxAcceleration adds to the speed.
func (v *relativeSweep) earliestTime(o *shapeProxy, t, room, nx, ny float32) float32 {
	turning := float32(abs(v.angle) * o.maxReach)
	if v.obstacleAngle == 0 {
		return room / (maxFloat(-(float32(v.dx*nx)+float32(v.dy*ny)), 0) + turning)
	}
	angle := -float32((1 - t) * v.obstacleAngle)
	dx, dy := rotateBack(v.dx, v.dy, angle)
	x, y, _, _ := v.transform(t)
	x, y = x+v.centroid.X, y+v.centroid.Y
	dx, dy = dx+float32(v.obstacleAngle*y), dy-float32(v.obstacleAngle*x)
	speed := maxFloat(-(float32(dx*nx)+float32(dy*ny)), 0) + turning
	return 2 * room / (speed + sqrt(float32(speed*speed)+float32(float32(2*v.maxAcceleration)*room)))
}

// passesBy reports whether the disc around the whole shape, in any rotation, passes the obstacle on one side.
// It does not handle obstacles that turn.
func (v *relativeSweep) passesBy(shape *shapeProxy) bool {
	if v.obstacleAngle != 0 {
		return false
	}
	length := sqrt(float32(v.dx*v.dx) + float32(v.dy*v.dy))
	room := float32(((shape.maxReach + shape.radius) + (v.obstacle.radius + targetSeparation)) * length)
	low, high := inf, -inf
	for i := range v.obstacle.n {
		d := cross2(v.dx, v.dy, v.obstacle.x[i]-v.x, v.obstacle.y[i]-v.y)
		low, high = minFloat(low, d), maxFloat(high, d)
	}
	return low > room || high < -room
}

// advance returns when a proxy comes within a distance of the obstacle, up to separationTolerance, from time t on. It
// returns t if the proxy is already there, and 1 if it is not there before the time before. It advances by as much
// time as the distance allows, however the proxy turns: conservative advancement.
func (v *relativeSweep) advance(o *shapeProxy, distance, t, before float32) float32 {
	var placed shapeProxy
	for range maxAdvances {
		v.place(o, t, &placed)
		room, nx, ny := gjkDistance(&placed, &v.obstacle)
		room = (room - (o.radius + v.obstacle.radius)) - distance
		if room <= separationTolerance { // about half of it remains
			return t
		}
		if t += v.earliestTime(o, t, room-0.5*separationTolerance, nx, ny); !(t < before) { // also if nothing moves, or if room is NaN
			return 1
		}
	}
	return t
}

// place is the proxy at a time.
func (v *relativeSweep) place(o *shapeProxy, t float32, to *shapeProxy) {
	x, y, cos, sin := v.transform(t)
	to.n = o.n
	for i := range o.n {
		to.x[i] = (float32(cos*o.x[i]) - float32(sin*o.y[i])) + x
		to.y[i] = (float32(sin*o.x[i]) + float32(cos*o.y[i])) + y
	}
}
