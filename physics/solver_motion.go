package physics

import (
	"math"

	"github.com/evertick/evertick/internal/fault"
	"github.com/evertick/evertick/native/rigid"
)

func (s *solver) ApplyLinearImpulseToCenter(i int, impulse [2]float32) error {
	c := s.cols
	vx := c.VX[i] + float32(c.InvMass[i]*impulse[0])
	vy := c.VY[i] + float32(c.InvMass[i]*impulse[1])
	return s.setVelocity("physics: ApplyLinearImpulseToCenter: impulse", impulse, i, vx, vy, c.W[i])
}

func (s *solver) ApplyLinearImpulse(i int, impulse, point [2]float32) error {
	c := s.cols
	vx := c.VX[i] + float32(c.InvMass[i]*impulse[0])
	vy := c.VY[i] + float32(c.InvMass[i]*impulse[1])
	x, y := s.arm(i, point)
	w := c.W[i] + float32(c.InvInertia[i]*(float32(x*impulse[1])-float32(y*impulse[0])))
	return s.setVelocity("physics: ApplyLinearImpulse: impulse", impulse, i, vx, vy, w)
}

func (s *solver) ApplyAngularImpulse(i int, impulse float32) error {
	c := s.cols
	w := c.W[i] + float32(c.InvInertia[i]*impulse)
	return s.setVelocity("physics: ApplyAngularImpulse: impulse", impulse, i, c.VX[i], c.VY[i], w)
}

// arm returns the vector from the centre of mass to a point of the world.
func (s *solver) arm(i int, point [2]float32) (x, y float32) {
	c := s.cols
	cx, cy := s.turned(i, c.CentreX[i], c.CentreY[i])
	return point[0] - (c.X[i] + cx), point[1] - (c.Y[i] + cy)
}

func (s *solver) setVelocity(field string, value any, i int, vx, vy, w float32) error {
	if !usable(vx) || !usable(vy) || !usable(w) {
		return because(fault.Field(ErrRange, field, value), "the velocity would overflow")
	}
	s.cols.VX[i], s.cols.VY[i], s.cols.W[i] = vx, vy, w
	return nil
}

// usable reports whether v is finite and not huge.
func usable(v float32) bool { return math.Abs(float64(v)) < huge }

func (s *solver) ApplyForce(i int, force, point [2]float32) error {
	x, y := s.arm(i, point)
	return s.push("physics: ApplyForce: force", force, i, force, float32(x*force[1])-float32(y*force[0]))
}

func (s *solver) ApplyForceToCenter(i int, force [2]float32) error {
	return s.push("physics: ApplyForceToCenter: force", force, i, force, 0)
}

func (s *solver) ApplyTorque(i int, torque float32) error {
	return s.push("physics: ApplyTorque: torque", torque, i, [2]float32{}, torque)
}

// push adds to what acts during the next step.
func (s *solver) push(field string, value any, i int, force [2]float32, torque float32) error {
	c := s.cols
	if c.Type[i] != DynamicBody {
		return nil
	}
	x, y, turn := c.ForceX[i]+force[0], c.ForceY[i]+force[1], c.Torque[i]+torque
	if !usable(x) || !usable(y) || !usable(turn) {
		return because(fault.Field(ErrRange, field, value), "the sum would overflow")
	}
	c.ForceX[i], c.ForceY[i], c.Torque[i] = x, y, turn
	return nil
}

func (s *solver) SetVelocity(i int, linear [2]float32, angular float32) error {
	return s.setVelocity("physics: SetVelocity: linear, angular", [3]float32{linear[0], linear[1], angular}, i,
		linear[0], linear[1], angular)
}

func (s *solver) SetTransform(i int, position [2]float32, angle float32) error {
	if err := s.turn("physics: SetTransform: angle", i, angle); err != nil {
		return err
	}
	s.cols.X[i], s.cols.Y[i] = position[0], position[1]
	return nil
}

// aim returns the velocity with which a body that nothing stops is at the given place
// after a step of dt seconds. The sub-steps turn it by 2·atan(w·h/2) each.
func (s *solver) aim(i int, position [2]float32, angle, dt float32) (linear [2]float32, angular float32, err error) {
	const field = "physics: SetTargetTransform: angle"
	c := s.cols
	sin, cos := rigid.SinCos(angle)
	if cos != cos {
		return linear, 0, because(fault.Field(ErrRange, field, angle), "more than 65536 rad")
	}
	turn := rigid.Atan2(float32(sin*c.Cos[i])-float32(cos*c.Sin[i]), float32(cos*c.Cos[i])+float32(sin*c.Sin[i]))
	n := float32(s.subSteps())
	halfSin, halfCos := rigid.SinCos(turn / (2 * n))
	angular = 2 * n * halfSin / (halfCos * dt)
	x, y := s.turned(i, c.CentreX[i], c.CentreY[i])
	toX, toY := float32(cos*c.CentreX[i])-float32(sin*c.CentreY[i]), float32(sin*c.CentreX[i])+float32(cos*c.CentreY[i])
	linear[0] = ((position[0] + toX) - (c.X[i] + x)) / dt
	linear[1] = ((position[1] + toY) - (c.Y[i] + y)) / dt
	return linear, angular, nil
}
