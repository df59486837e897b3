package physics

import (
	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/rigid"
)

func (s *solver) ApplyLinearImpulseToCenter(i int, impulse [2]float32) error {
	c := s.cols
	vx := c.VX[i] + float32(c.InvMass[i]*impulse[0])
	vy := c.VY[i] + float32(c.InvMass[i]*impulse[1])
	if !s.setVelocity(i, vx, vy, c.W[i]) {
		return check.Overflow("physics: ApplyLinearImpulseToCenter: impulse", impulse)
	}
	s.sleep.WakeDynamic(i)
	return nil
}

func (s *solver) ApplyLinearImpulse(i int, impulse, point [2]float32) error {
	c := s.cols
	vx := c.VX[i] + float32(c.InvMass[i]*impulse[0])
	vy := c.VY[i] + float32(c.InvMass[i]*impulse[1])
	w := c.W[i] + s.angularChange(i, impulse, point)
	if !s.setVelocity(i, vx, vy, w) {
		return check.Overflow("physics: ApplyLinearImpulse: impulse", impulse)
	}
	s.sleep.WakeDynamic(i)
	return nil
}

// angularChange returns the change of the angular velocity by an impulse at a point.
func (s *solver) angularChange(i int, impulse, point [2]float32) float32 {
	inv := s.cols.InvInertia[i]
	if inv == 0 {
		return 0 // even where the product is infinite or NaN
	}
	x, y := s.leverArm(i, point)
	return float32(inv * (float32(x*impulse[1]) - float32(y*impulse[0])))
}

func (s *solver) ApplyAngularImpulse(i int, impulse float32) error {
	c := s.cols
	w := c.W[i] + float32(c.InvInertia[i]*impulse)
	if !s.setVelocity(i, c.VX[i], c.VY[i], w) {
		return check.Overflow("physics: ApplyAngularImpulse: impulse", impulse)
	}
	s.sleep.WakeDynamic(i)
	return nil
}

// leverArm returns the vector from the centre of mass to a point of the world.
func (s *solver) leverArm(i int, point [2]float32) (x, y float32) {
	centre := s.centreOfMass(i)
	return point[0] - centre[0], point[1] - centre[1]
}

// setVelocity returns false, and changes nothing, if the velocity is out of range. The callers make the
// error, so that values are boxed only for a failure.
func (s *solver) setVelocity(i int, vx, vy, w float32) bool {
	if !check.InRange(vx) || !check.InRange(vy) || !check.InRange(w) {
		return false
	}
	s.cols.VX[i], s.cols.VY[i], s.cols.W[i] = vx, vy, w
	return true
}

func (s *solver) ApplyForce(i int, force, point [2]float32) error {
	x, y := s.leverArm(i, point)
	if !s.applyForce(i, force, float32(x*force[1])-float32(y*force[0])) {
		return check.Overflow("physics: ApplyForce: force", force)
	}
	return nil
}

func (s *solver) ApplyForceToCenter(i int, force [2]float32) error {
	if !s.applyForce(i, force, 0) {
		return check.Overflow("physics: ApplyForceToCenter: force", force)
	}
	return nil
}

func (s *solver) ApplyTorque(i int, torque float32) error {
	if !s.applyForce(i, [2]float32{}, torque) {
		return check.Overflow("physics: ApplyTorque: torque", torque)
	}
	return nil
}

// applyForce adds to the force and torque on a dynamic body during the next step, and wakes it. It returns
// false, and changes nothing, if the sum is out of range.
func (s *solver) applyForce(i int, force [2]float32, torque float32) bool {
	if !s.addForce(i, force, torque) {
		return false
	}
	s.sleep.WakeDynamic(i)
	return true
}

// addForce is applyForce without waking the body.
func (s *solver) addForce(i int, force [2]float32, torque float32) bool {
	c := s.cols
	if c.Type[i] != DynamicBody || c.Flags[i]&FlagDisabled != 0 {
		return true
	}
	x, y, turn := c.ForceX[i]+force[0], c.ForceY[i]+force[1], c.Torque[i]+torque
	if !check.InRange(x) || !check.InRange(y) || !check.InRange(turn) {
		return false
	}
	c.ForceX[i], c.ForceY[i], c.Torque[i] = x, y, turn
	return true
}

func (s *solver) SetVelocity(i int, linear [2]float32, angular float32) error {
	if !s.setVelocity(i, linear[0], linear[1], angular) {
		return check.Overflow("physics: SetVelocity: linear, angular", [3]float32{linear[0], linear[1], angular})
	}
	if linear != [2]float32{} || angular != 0 {
		s.sleep.Wake(i)
	}
	return nil
}

func (s *solver) SetTransform(i int, position [2]float32, angle float32) error {
	if err := checkPlace("physics: SetTransform: position", "physics: SetTransform: angle", position, angle); err != nil {
		return err
	}
	sin, cos := rigid.SinCos(angle)
	s.setRotation(i, sin, cos)
	s.cols.X[i], s.cols.Y[i] = position[0], position[1]
	s.sleep.WakeTeleported(i)
	return nil
}

// velocityTo returns the velocity with which a body arrives at the given place after a step of dt seconds, if
// nothing stops it. Each sub-step turns it by 2·atan(w·h/2).
func (s *solver) velocityTo(i int, position [2]float32, angle, dt float32) (linear [2]float32, angular float32, err error) {
	if err := checkPlace("physics: SetTargetTransform: position", "physics: SetTargetTransform: angle",
		position, angle); err != nil {
		return linear, 0, err
	}
	c := s.cols
	sin, cos := rigid.SinCos(angle)
	turn := rigid.Atan2(float32(sin*c.Cos[i])-float32(cos*c.Sin[i]), float32(cos*c.Cos[i])+float32(sin*c.Sin[i]))
	n := float32(s.subSteps())
	halfSin, halfCos := rigid.SinCos(turn / (2 * n))
	angular = 2 * n * halfSin / (halfCos * dt)
	x, y := s.rotate(i, c.CentreX[i], c.CentreY[i])
	toX, toY := float32(cos*c.CentreX[i])-float32(sin*c.CentreY[i]), float32(sin*c.CentreX[i])+float32(cos*c.CentreY[i])
	linear[0] = ((position[0] + toX) - (c.X[i] + x)) / dt
	linear[1] = ((position[1] + toY) - (c.Y[i] + y)) / dt
	return linear, angular, nil
}
