package rigid3

import (
	"math"

	"github.com/evertick/evertick/internal/mesh"
)

// pathMargin is by how much in metres a shape must stay farther away from an obstacle than where a sweep ends: its tolerance, and as much for rounding.
const pathMargin = 2 * separationTolerance

// rounding is by how much in metres a place on a path may be off, and by how much relative to distances.
const rounding = 1e-6

// corePath bounds a shape on the path of its body, and its first core: both are inside of the hull of its points at both ends, grown by reach and by
// coreReach.
//
// Half of the least extent lies between the core and the surface of the shape, so the core reaches less far than the shape by as much in every
// direction. Between the ends, a point at r from the axis of the turn is off the straight line by at most r·a²/8 for an angle a, and by at most 2·r.
type corePath struct {
	n      int
	world  [2 * MaxHullVertices]vec64
	local  [2 * MaxHullVertices]vec64 // in the axes of an obstacle
	middle vec64                      // of the shape before the step, in these axes
	start  pose64

	reach, coreReach float64

	// Of the first core: by how much at most its points are outside of the hull of those at the start, farther than the shape would be by pathMargin; how
	// far its corners are from the centre of mass; and how far they move as the body turns.
	inner, far, spin float64
}

// set takes the path of a shape whose body has the motion m.
func (c *corePath) set(s *sweptShape, m *motion) {
	c.n = 2 * len(s.whole.points)
	var ends [2]pose64
	var centres [2]vec64
	for i := range ends {
		p, q := m.at(float64(i))
		centres[i] = p
		ends[i].setWide(p, q, s.whole.pose)
	}
	c.start = ends[0]
	far, wide, long := 0., 0., 0. // squares of distances: from the axis of the turn, from the origin, and from the centre of mass
	for i, v := range s.whole.points {
		p, q := ends[0].apply(v.wide64()), ends[1].apply(v.wide64())
		c.world[2*i], c.world[2*i+1] = p, q
		r := p.Sub(centres[0])
		wide, long = max(wide, p.Dot(p), q.Dot(q)), max(long, r.Dot(r))
		if m.angle != 0 {
			turn := m.axis.Cross(r)
			far = max(far, turn.Dot(turn))
		}
	}
	bulge := float64(math.Sqrt(far) * min(float64(0.125*float64(m.angle*m.angle)), 2))
	c.inner = s.whole.radius - float64(firstCore*s.extent) + pathMargin + float64(rounding*math.Sqrt(max(wide, far)))
	c.coreReach = c.inner + bulge
	// The core is as far inside of the hull of the points as half of the extent is more than the radius, and so nearer to the centre, and to the axis.
	inset := max(float64(firstCore*s.extent)-s.whole.radius, 0)
	c.far = max(math.Sqrt(long)-inset, 0)
	c.spin = float64(m.angle * max(math.Sqrt(far)-inset, 0))
	c.reach = c.coreReach + float64(firstCore*s.extent) + targetSeparation
}

// bounds returns a box around the core on its path. It returns false, and a box that meets none, if that is too large.
func (c *corePath) bounds() (lo, hi Vec, ok bool) { return boxAround(c.world[:c.n], c.coreReach) }

// boxAround returns a box around points and what is within a distance of them. It returns false, and a box that meets none, if that is too large.
func boxAround(points []vec64, reach float64) (lo, hi Vec, ok bool) {
	from, to := points[0], points[0]
	for _, p := range points[1:] {
		from, to = from.least(p), to.most(p)
	}
	return fattenBox(from.Sub(vec64{reach, reach, reach}).narrow(), to.Add(vec64{reach, reach, reach}).narrow())
}

// enter takes the path into the axes of an obstacle that does not move.
func (c *corePath) enter(frame *pose64, middle Vec) {
	for i, p := range c.world[:c.n] {
		c.local[i] = frame.unrotate(p.Sub(frame.p))
	}
	c.middle = frame.unrotate(c.start.apply(middle.wide64()).Sub(frame.p))
}

// box returns a box around the core on its path, in the axes of the obstacle, whose radius is radius. It returns false if that is too large.
func (c *corePath) box(radius float64) (mesh.Box, bool) {
	a, b, ok := boxAround(c.local[:c.n], c.coreReach+radius)
	return mesh.Box{Min: [3]float32{a.X, a.Y, a.Z}, Max: [3]float32{b.X, b.Y, b.Z}}, ok
}

// misses reports whether a triangle with a front cannot stop the shape by a time: its middle begins on the back, or a plane keeps the core apart from the
// triangle, or the shape until then. It tries planes along the triangle, and across it along its edges.
func (c *corePath) misses(triangle *convexCore, front *faceFront, before float64) bool {
	if !front.both && front.normal.Dot(c.middle)-front.offset < -(frontTolerance+rounding) {
		return true
	}
	v := [3]vec64{triangle.points[0].wide64(), triangle.points[1].wide64(), triangle.points[2].wide64()}
	if c.isApart(front.normal, &v, triangle.radius, before) {
		return true
	}
	for k := range v {
		out := v[(k+1)%3].Sub(v[k]).Cross(front.normal).unit(vec64{})
		if c.isApart(out, &v, triangle.radius, before) {
			return true
		}
	}
	return false
}

// isApart reports whether a plane across a unit vector keeps the core apart from a triangle with a radius, or the shape until a time. It is false for
// no direction.
func (c *corePath) isApart(n vec64, v *[3]vec64, radius, before float64) bool {
	if n == (vec64{}) {
		return false
	}
	// The rounding of the normal of a needle puts its corners off one plane.
	p, q, r := n.Dot(v[0]), n.Dot(v[1]), n.Dot(v[2])
	top, bottom := max(p, q, r)+radius, min(p, q, r)-radius
	least, most := c.along(n, 1)
	if least-c.coreReach > top || most+c.coreReach < bottom {
		return true
	}
	if before < 1 {
		least, most = c.along(n, before)
	}
	return least-c.reach > top || most+c.reach < bottom
}

// along returns between what the points are along a direction, until a time of a motion without turn.
func (c *corePath) along(n vec64, until float64) (least, most float64) {
	least, most = math.Inf(1), math.Inf(-1)
	for i := 0; i < c.n; i += 2 {
		from, to := n.Dot(c.local[i]), n.Dot(c.local[i+1])
		if until < 1 {
			to = from + float64((to-from)*until)
		}
		least, most = min(least, from, to), max(most, from, to)
	}
	return least, most
}
