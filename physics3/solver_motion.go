package physics3

import (
	"math"

	"github.com/evertick/evertick/internal/rigid3"
	"github.com/evertick/evertick/internal/trig"
)

// leverArm returns the vector from the centre of mass of a body to a point of the world.
func (s *solver) leverArm(i int, point [3]float32) rigid3.Vec { return vecOf(point).Sub(s.pose(i).P) }

// impulseChange returns how much the velocity of a body changes by an impulse and an angular impulse.
func (s *solver) impulseChange(i int, impulse, angular rigid3.Vec) (v, w rigid3.Vec) {
	c := s.cols
	v = impulse.Times(c.InvMass[i])
	inv := rigid3.Vec{X: c.InvInertiaX[i], Y: c.InvInertiaY[i], Z: c.InvInertiaZ[i]}
	if c.InvMass[i] == 0 {
		v = rigid3.Vec{} // even where the product is NaN
	}
	if inv == (rigid3.Vec{}) {
		return v, w
	}
	q := s.rotation(i).Mul(s.principal[i])
	l := q.Unrotate(angular)
	return v, q.Rotate(rigid3.Vec{X: float32(l.X * inv.X), Y: float32(l.Y * inv.Y), Z: float32(l.Z * inv.Z)})
}

// afterImpulse returns the velocity of a body after an impulse and an angular impulse.
func (s *solver) afterImpulse(i int, impulse, angular rigid3.Vec) (v, w rigid3.Vec) {
	dv, dw := s.impulseChange(i, impulse, angular)
	return s.linearVelocity(i).Add(dv), s.angularVelocity(i).Add(dw)
}

// applyImpulse changes the velocity of a body, and wakes it if it is dynamic. It returns false, and changes nothing, if the velocity
// would be out of range. The callers make the error, so that values are boxed only for a failure.
func (s *solver) applyImpulse(i int, impulse, angular rigid3.Vec) bool {
	v, w := s.afterImpulse(i, impulse, angular)
	if !inRange(v) || !inRange(w) {
		return false
	}
	s.putVelocity(i, v, w)
	s.sleep.WakeDynamic(i)
	return true
}

// putImpulse is applyImpulse for any result, which the next step checks.
func (s *solver) putImpulse(i int, impulse, angular rigid3.Vec) {
	v, w := s.afterImpulse(i, impulse, angular)
	s.putVelocity(i, canonical(v), canonical(w))
	s.sleep.WakeDynamic(i)
}

// applyForce adds to the force and the torque on a dynamic body during the next step, and wakes it. It returns false, and changes nothing,
// if the sum is out of range.
func (s *solver) applyForce(i int, force, torque rigid3.Vec) bool {
	if f, t := s.force(i).Add(force), s.torque(i).Add(torque); s.takesForces(i) && (!inRange(f) || !inRange(t)) {
		return false
	}
	s.addForce(i, force, torque)
	return true
}

// addForce is applyForce for any result, which the next step checks.
func (s *solver) addForce(i int, force, torque rigid3.Vec) {
	if s.takesForces(i) {
		s.putForce(i, canonical(s.force(i).Add(force)), canonical(s.torque(i).Add(torque)))
	}
	s.sleep.WakeDynamic(i)
}

func (s *solver) takesForces(i int) bool {
	return s.cols.Type[i] == DynamicBody && s.cols.Flags[i]&FlagDisabled == 0
}

func (s *solver) force(i int) rigid3.Vec {
	return rigid3.Vec{X: s.cols.ForceX[i], Y: s.cols.ForceY[i], Z: s.cols.ForceZ[i]}
}

func (s *solver) torque(i int) rigid3.Vec {
	return rigid3.Vec{X: s.cols.TorqueX[i], Y: s.cols.TorqueY[i], Z: s.cols.TorqueZ[i]}
}

func (s *solver) setVelocity(i int, v, w rigid3.Vec) {
	s.putVelocity(i, v, w)
	if v != (rigid3.Vec{}) || w != (rigid3.Vec{}) {
		s.sleep.Wake(i)
	}
}

func (s *solver) setTransform(i int, p rigid3.Vec, q rigid3.Quat) {
	s.setPosition(i, p)
	s.setRotation(i, q)
	s.sleep.WakeTeleported(i)
}

// velocityTo returns the velocity with which a body arrives at a place after a step of dt seconds, if nothing stops it. Each of n sub-steps
// of h seconds turns it by 2·atan(w·h/2).
func (s *solver) velocityTo(i int, p rigid3.Vec, q rigid3.Quat, dt float32) (v, w rigid3.Vec) {
	from := s.pose(i)
	to := rigid3.Pose{P: p.Add(q.Rotate(s.centre(i))), Q: q}
	v = to.P.Sub(from.P)
	v = rigid3.Vec{X: v.X / dt, Y: v.Y / dt, Z: v.Z / dt}
	turn := q.Mul(from.Q.Inverse())
	axis, cos := rigid3.Vec{X: turn.X, Y: turn.Y, Z: turn.Z}, turn.W
	if cos < 0 {
		axis, cos = axis.Times(-1), -cos
	}
	sin := float32(math.Sqrt(float64(axis.Dot(axis))))
	if sin == 0 {
		return v, rigid3.Vec{}
	}
	n := float32(s.sys.SubSteps)
	partSin, partCos := trig.SinCos(trig.Atan2(sin, cos) / n)
	return v, axis.Times(2 * n * partSin / (partCos * dt) / sin)
}
