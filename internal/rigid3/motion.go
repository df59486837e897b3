package rigid3

import (
	"math"

	"github.com/evertick/evertick/internal/trig"
)

// motion is the path of a body in a step: its centre of mass moves straight, and it turns evenly about an axis. Time 0 is before the step, and
// time 1 after it.
type motion struct {
	from, by vec64   // of the centre of mass: its place at time 0, and the translation
	rotation quat64  // at time 0
	axis     vec64   // of length one, or zero if the body does not turn
	angle    float64 // radians, ≥ 0
	end      Pose    // at time 1
	locks    uint32  // of the body
}

// maxTurns bounds the number of double turns that a motion is believed to have made beyond what its rotation says.
const maxTurns = 16

// set takes the poses before and after a step, and the rotation between them. That rotation is a product of small ones, so it says by which angle
// the body turned, up to multiples of two whole turns. Of these set chooses the one nearest to the angle expected about axis. It returns false if
// the motion is not finite.
func (m *motion) set(before, after *Pose, turn Quat, expected vec64) bool {
	*m = motion{from: before.P.wide64(), rotation: wideQuat(before.Q), end: *after}
	m.by = after.P.wide64().Sub(m.from)
	if v := turn.vector().wide64(); v != (vec64{}) {
		l := v.length()
		m.axis = vec64{v.x / l, v.y / l, v.z / l}
		m.angle = 2 * float64(trig.Atan2(float32(l), turn.W))
		double := (m.axis.Dot(expected) - m.angle) / (4 * math.Pi)
		m.angle += float64(4 * math.Pi * math.Floor(min(max(double, -maxTurns), maxTurns)+0.5))
		if m.angle < 0 {
			m.axis, m.angle = m.axis.neg(), -m.angle
		}
	}
	return m.isFinite()
}

func (m *motion) isFinite() bool {
	sum := ((m.from.x + m.from.y) + (m.from.z + m.by.x)) + ((m.by.y + m.by.z) + (m.rotation.w + m.rotation.v.x)) +
		((m.rotation.v.y + m.rotation.v.z) + (m.angle + m.axis.x))
	return sum-sum == 0
}

// still makes a motion that does not move.
func (m *motion) still(at *Pose) bool {
	*m = motion{from: at.P.wide64(), rotation: wideQuat(at.Q), end: *at}
	return m.isFinite()
}

// moves reports whether there is any motion.
func (m *motion) moves() bool { return m.by != (vec64{}) || m.angle != 0 }

// turnBy is the rotation by an angle about the axis of the motion.
func (m *motion) turnBy(angle float64) quat64 {
	if angle == 0 {
		return quat64{w: 1}
	}
	s, c := trig.SinCos(float32(0.5 * angle))
	sin, cos := float64(s), float64(c)
	l := math.Sqrt(float64(sin*sin) + float64(cos*cos))
	return quat64{m.axis.Times(sin / l), cos / l}
}

// at returns the centre of mass and the rotation at a time.
func (m *motion) at(t float64) (vec64, quat64) {
	return m.from.addTimes(m.by, t), m.turnBy(float64(t * m.angle)).Times(m.rotation)
}

// stopAt ends the motion at a time. A motion that ends where it begins keeps its rotation.
func (m *motion) stopAt(t float64) {
	switch {
	case t >= 1:
		return
	case t == 0:
		m.by = vec64{}
		m.end.P = m.from.narrow()
		return
	}
	m.by, m.angle = m.by.Times(t), float64(t*m.angle)
	m.setEnd()
}

// setEnd computes the pose at the end.
func (m *motion) setEnd() {
	p, q := m.at(1)
	m.end = Pose{p.narrow(), q.narrow().Normalize()}
}

// slide removes from the translation the part that leads into an obstacle, relative to which the body moves by relative; none along a locked axis.
// out points away from the obstacle. It returns false if the motion does not lead into it.
func (m *motion) slide(out, relative vec64) bool {
	in := relative.Dot(out)
	if !(in < 0) {
		return false
	}
	m.by = m.by.Sub(unlocked64(out.Times(in), m.locks))
	m.end.P = m.from.Add(m.by).narrow()
	return true
}

func unlocked64(v vec64, locks uint32) vec64 {
	if locks&LockX != 0 {
		v.x = 0
	}
	if locks&LockY != 0 {
		v.y = 0
	}
	if locks&LockZ != 0 {
		v.z = 0
	}
	return v
}

// carriedBy returns the motion of a body that has moved along m until time t and then keeps its place in the frame of the body with the motion o,
// until that has arrived: from that place on. Locked motions stay.
func (m *motion) carriedBy(o *motion, t float64) motion {
	p, q := m.at(t)
	op, oq := o.at(t)
	tp, tq := o.at(1)
	r := motion{from: p, rotation: q, locks: m.locks}
	turn := tq.Times(oq.inverse())
	r.by = unlocked64(tp.Add(turn.rotate(p.Sub(op))).Sub(p), m.locks)
	if m.locks&lockRotation == 0 {
		r.axis, r.angle = o.axis, float64((1-t)*o.angle)
	}
	r.setEnd()
	return r
}

// join makes the motion from the beginning of m to the end of next, which began at time t of m.
func (m *motion) join(next *motion, t float64) {
	whole := m.turnBy(float64(t * m.angle))
	then := next.turnBy(next.angle)
	m.by = next.from.Add(next.by).Sub(m.from)
	m.setTurn(then.Times(whole), next.angle+float64(t*m.angle))
	m.end = next.end
}

// setTurn sets the axis and the angle of a rotation, by the shorter way unless about is more than half a turn.
func (m *motion) setTurn(q quat64, about float64) {
	if q.w < 0 && about <= math.Pi {
		q = quat64{q.v.neg(), -q.w}
	}
	l := q.v.length()
	if m.axis, m.angle = (vec64{}), 0; l > 0 {
		m.axis = vec64{q.v.x / l, q.v.y / l, q.v.z / l}
		m.angle = 2 * float64(trig.Atan2(float32(l), float32(q.w)))
	}
}

// turn returns the rotation of the motion.
func (m *motion) turn() Quat {
	if m.angle == 0 {
		return Identity
	}
	return m.turnBy(m.angle).narrow()
}
