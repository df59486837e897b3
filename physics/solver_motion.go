package physics

import (
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

// arm returns the vector from the centre of mass to a point of the world.
func (s *solver) arm(i int, point [2]float32) (x, y float32) {
	c := s.cols
	cx, cy := s.turned(i, c.CentreX[i], c.CentreY[i])
	return point[0] - (c.X[i] + cx), point[1] - (c.Y[i] + cy)
}

func (s *solver) setVelocity(field string, impulse [2]float32, i int, vx, vy, w float32) error {
	if !fault.Finite(vx) || !fault.Finite(vy) || !fault.Finite(w) {
		return because(fault.Field(ErrRange, field, impulse), "the velocity would overflow")
	}
	s.cols.VX[i], s.cols.VY[i], s.cols.W[i] = vx, vy, w
	return nil
}

func (s *solver) ApplyForceToCenter(i int, force [2]float32) error {
	if c := s.cols; c.Type[i] == DynamicBody {
		c.ForceX[i] += force[0]
		c.ForceY[i] += force[1]
	}
	return nil
}

func (s *solver) SetVelocity(i int, linear [2]float32, angular float32) error {
	c := s.cols
	c.VX[i], c.VY[i], c.W[i] = linear[0], linear[1], angular
	return nil
}

func (s *solver) SetTransform(i int, position [2]float32, angle float32) error {
	sin, cos := rigid.SinCos(angle)
	if cos != cos {
		return fault.Field(ErrRange, "physics: SetTransform: angle", angle)
	}
	c := s.cols
	c.X[i], c.Y[i] = position[0], position[1]
	c.Cos[i], c.Sin[i], c.Angle[i] = cos, sin, rigid.Atan2(sin, cos)
	return nil
}
