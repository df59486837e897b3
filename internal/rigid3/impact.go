package rigid3

import "math"

const (
	// targetSeparation is the distance of two shapes at which continuous collision stops one of them: the next step has a contact of the two.
	targetSeparation = LinearSlop

	// separationTolerance is by how much farther apart they may be then, which saves iterations.
	separationTolerance = 0.25 * LinearSlop

	// maxImpactSteps bounds the iterations for one pair. A shape that needs more stops where it is then: it turns close to an obstacle.
	maxImpactSteps = 64

	// maxRootSteps bounds the iterations for the time at which a bound on a distance is used up.
	maxRootSteps = 6
)

// convexCore is the core of a shape in motion: the points of a frame that has a pose in the body.
type convexCore struct {
	points []Vec
	box    bool // the points are those of Vec.box
	radius float64
	pose   *Pose
}

// impact finds when two cores in motion touch. b is that which may be stopped, a the obstacle.
type impact struct {
	pair           corePair
	a, b           motion
	poseA, poseB   *Pose
	radius         float64 // of both
	radiusA        float64
	frameA, frameB pose64
	centreA        vec64 // of mass
	centreB        vec64
	boundA, boundB pathBounds
}

// set prepares two cores.
func (p *impact) set(a, b *convexCore, moveA, moveB *motion) {
	p.pair.a, p.pair.boxA = Polytope{Vertices: a.points}, a.box
	p.poseA, p.radiusA, p.a, p.b = a.pose, a.radius, *moveA, *moveB
	p.replace(b)
	p.placeA(0)
}

// replace puts another core in the place of b.
func (p *impact) replace(b *convexCore) {
	p.pair.b, p.pair.boxB = Polytope{Vertices: b.points}, b.box
	p.poseB, p.radius = b.pose, p.radiusA+b.radius
}

func (p *impact) placeA(t float64) {
	centre, q := p.a.at(t)
	p.centreA = centre
	p.frameA.setWide(centre, q, p.poseA)
}

// place moves both to where they are at a time.
func (p *impact) place(t float64) {
	if p.a.moves() {
		p.placeA(t)
	}
	centre, q := p.b.at(t)
	p.centreB = centre
	p.frameB.setWide(centre, q, p.poseB)
	p.pair.at = p.frameA.relative(&p.frameB)
}

// gapAt returns the distance of the shapes at a time, and the unit vector from a to b along which it is; false if their cores meet, or if the distance
// cannot be computed: that of a thin shape a billion times as long as thick.
func (p *impact) gapAt(t float64) (distance float64, n vec64, apart bool) {
	p.place(t)
	near, apart := p.pair.separated()
	if !apart || -p.pair.vertex(near.normal.neg()).w.Dot(near.normal) < -near.distance {
		return 0, n, false
	}
	return near.distance - p.radius, p.frameA.rotate(near.normal), true
}

// advance returns the time, from t on, at which the shapes come within a distance of each other, up to a tolerance, and the unit vector from a to b
// then. It returns t if they are already as near, and 1 if they are not before the time before, at most 1. If their cores meet at t, the vector is
// zero.
//
// It is conservative advancement with a bound of second order: along the normal of their distance, the two stay apart at least as long as each of
// their points, which moves along a circle whose centre moves straight, keeps to its side of a parabola.
func (p *impact) advance(t, distance, tolerance, before float64) (float64, vec64) {
	var n vec64
	for range maxImpactSteps {
		gap, normal, apart := p.gapAt(t)
		if !apart {
			return t, n
		}
		n = normal
		room := gap - distance
		if room <= tolerance { // about half of it remains
			return t, n
		}
		next := t + p.clearTime(n, room-float64(0.5*tolerance), 1-t)
		switch {
		case !(next < before): // also if room is NaN
			return 1, n
		case next == t: // as near as float64 can say
			return t, n
		}
		t = next
	}
	return t, n
}

// clearTime returns for how long, at most for the time most, the two cannot come nearer by room than they are now, along n from a to b. If that is
// so for all of most, it returns +Inf.
func (p *impact) clearTime(n vec64, room, most float64) float64 {
	p.boundB.set(p.pair.b.Vertices, &p.frameB, p.centreB, &p.b, n)
	p.boundA.set(p.pair.a.Vertices, &p.frameA, p.centreA, &p.a, n.neg())
	lowest := func(t float64) (value, slope float64) {
		av, as := p.boundA.at(t)
		bv, bs := p.boundB.at(t)
		return room + (av + bv), as + bs
	}
	high, _ := lowest(most)
	if high >= 0 {
		return math.Inf(1)
	}
	// The bound is concave: a chord is below it, and a tangent above. So the root is between those of both.
	lo, low, hi := 0., room, most
	for range maxRootSteps {
		at := lo + float64((hi-lo)*(low/(low-high)))
		if !(at > lo && at < hi) {
			break
		}
		lo = at
		var slope float64
		if low, slope = lowest(lo); !(low > float64(1e-3*room)) {
			break
		}
		if slope < 0 {
			if to := lo - low/slope; to < hi {
				hi = to
				high, _ = lowest(hi)
				if high >= 0 { // the tangent is the bound
					return hi
				}
			}
		}
	}
	return lo
}

// pathBounds bounds from below how far points are along a direction, from the nearest of them on.
type pathBounds struct {
	n      int
	points [MaxHullVertices]struct{ at, speed, curve float64 }
}

// set takes the points of a body at a pose, of which centre is the centre of mass, and the direction. A point at r from the centre has the velocity
// by + ω×r, and an acceleration of ω²·|axis×r|, of which the part across the axis counts.
func (b *pathBounds) set(vertices []Vec, frame *pose64, centre vec64, m *motion, n vec64) {
	b.n = 1
	b.points[0] = struct{ at, speed, curve float64 }{0, n.Dot(m.by), 0}
	if m.angle == 0 {
		return // all move alike
	}
	b.n = len(vertices)
	least := math.Inf(1)
	along := m.axis.Dot(n)
	bend := float64(float64(m.angle*m.angle) * math.Sqrt(max(1-float64(along*along), 0)))
	offset := frame.p.Sub(centre)
	for i, v := range vertices {
		r := frame.rotate(v.wide64()).Add(offset)
		turn := m.axis.Cross(r)
		at := n.Dot(r)
		b.points[i] = struct{ at, speed, curve float64 }{
			at, n.Dot(m.by) + float64(m.angle*n.Dot(turn)), float64(0.5 * float64(bend*turn.length())),
		}
		least = min(least, at)
	}
	for i := range b.n {
		b.points[i].at -= least
	}
}

// at returns the bound after a time, and its slope.
func (b *pathBounds) at(t float64) (value, slope float64) {
	value = math.Inf(1)
	square := float64(t * t)
	for i := range b.n {
		p := &b.points[i]
		if v := (p.at + float64(p.speed*t)) - float64(p.curve*square); v < value {
			value, slope = v, p.speed-float64(float64(2*p.curve)*t)
		}
	}
	return value, slope
}
