package rigid3

import "math"

// drift bounds how a body moves in a step as seen from an obstacle, in the axes of the obstacle. A point at r from the centre of mass, p, of a body with
// velocity v and rotation ω has there the speed of u + (ω-ω')×r, where u = v - v' - ω'×(p-p'), and ' marks the obstacle. All of this is per step.
type drift struct {
	from, to vec64   // u at both ends of the step; in between it changes evenly
	speed    float64 // no less than the length of u
	turn     vec64   // ω-ω'
	round    float64 // the angle by which the obstacle turns
}

func (d *drift) set(m, by *motion) {
	v, at := m.by.Sub(by.by), m.from.Sub(by.from)
	d.from, d.to, d.turn, d.round = v, v, m.axis.Times(m.angle), by.angle
	if by.angle != 0 {
		spin := by.axis.Times(by.angle)
		d.turn = d.turn.Sub(spin)
		d.from, d.to = v.Sub(spin.Cross(at)), v.Sub(spin.Cross(at.Add(v)))
	}
	d.speed = math.Sqrt(max(d.from.Dot(d.from), d.to.Dot(d.to)))
}

// isSlow reports whether no point of a core, whose corners are within reach of the centre of mass, moves by more than half of an extent as seen from
// the obstacle. NaN does not.
func (d *drift) isSlow(reach, extent float64) bool {
	return d.speed+float64(d.turn.length()*reach) <= float64(fastShare*extent)
}

// driver is the motion of an obstacle as isSlowAgainst needs it.
type driver struct {
	from, by, spin vec64 // spin is the axis times the angle
}

func (m *motion) driver() driver { return driver{m.from, m.by, m.axis.Times(m.angle)} }

// maxSquare bounds the square of the sine of half the angle of a turn for which isSlowAgainst computes.
const maxSquare = 0.25

// isSlowAgainst is drift.isSlow for a body, without its motion. It may be false all the same. The turn is 2·asin(s) for a vector of length s, which is less
// than 2·s + 0.4·s³, and so than 2·s + 0.2·s², for squares up to maxSquare.
func (s *State) isSlowAgainst(o *driver, before, after Vec, dt float32, least, reach float64) bool {
	half := s.Q.vector().wide64()
	square := half.Dot(half)
	if !(square <= maxSquare) || s.Q.W < 0 || !(float32(s.W.Dot(s.W)*float32(dt*dt)) < 9) {
		return false
	}
	v, at := after.wide64().Sub(before.wide64()).Sub(o.by), before.wide64().Sub(o.from)
	turn := half.Times(2).Sub(o.spin)
	limit := float64(fastShare*least) - float64((turn.length()+float64(0.2*square))*reach)
	from, to := v.Sub(o.spin.Cross(at)), v.Sub(o.spin.Cross(at.Add(v)))
	return limit >= 0 && max(from.Dot(from), to.Dot(to)) <= float64(limit*limit)
}

// passesFaces reports whether a face of a convex obstacle with a radius, which begins the step in a frame, keeps the first core of the shape away from the
// obstacle during the whole step: the core is farther outside of its plane than it can move towards the plane.
func (c *corePath) passesFaces(d *drift, frame *pose64, planes []Plane, radius float64) bool {
	turn := c.turnAgainst(d)
	for i := range planes {
		// The normal turns with the obstacle, so u along it differs by at most |u| times the angle.
		n := frame.rotate(planes[i].Normal.wide64())
		in := max(float64(d.round*d.speed)-min(n.Dot(d.from), n.Dot(d.to)), 0) + turn
		outside := n.Dot(c.world[0])
		for k := 2; k < c.n; k += 2 {
			outside = min(outside, n.Dot(c.world[k]))
		}
		if outside-c.inner-n.Dot(frame.p)-float64(planes[i].Offset) > radius+in {
			return true
		}
	}
	return false
}

// turnAgainst returns how far at most a point of the core moves as its body turns relative to the obstacle: |ω-ω'|·|r|, or |ω×r| + |ω'|·|r|.
func (c *corePath) turnAgainst(d *drift) float64 {
	return min(float64(d.turn.length()*c.far), c.spin+float64(d.round*c.far))
}
