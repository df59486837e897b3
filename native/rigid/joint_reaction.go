package rigid

import "math"

// SubStepRate is the number of sub-steps in a second if a step is dt seconds long: what makes a
// force of the impulse of a sub-step.
func (p *Params) SubStepRate(dt float32) float32 {
	k := p.stepContext(dt)
	return k.invH
}

// Reaction returns the force in N that a joint exerts on B, and on A in reverse, and the torque
// in N·m of its angular parts, counter-clockwise on B; both are in the last sub-step. rate is
// SubStepRate of that step, and poses are those after it.
func (j *Joint) Reaction(p *Poses, rate float32) (force Vec, torque float32) {
	parts := j.usedParts()
	if j.Kind.hasPoint() {
		force = j.PointImpulse
	} else if j.Kind != NoJoint {
		axis := j.worldAxis(p)
		along := j.LinearImpulse.total(parts)
		across := float32(0)
		if j.Kind.hasPerpendicular() {
			across = j.PointImpulse.X
		}
		force.X = float32(along*axis.X) - float32(across*axis.Y)
		force.Y = float32(along*axis.Y) + float32(across*axis.X)
	}
	torque = j.AngularImpulse.total(parts >> angularShift)
	if j.Kind.locksAngle() {
		torque = j.AngularImpulse.Spring
	}
	return Vec{force.X * rate, force.Y * rate}, torque * rate
}

// sum is the impulse of some parts, which are those of a linear JointAxis.
func (d *AxisImpulse) total(parts JointParts) (sum float32) {
	if parts&PartSpring != 0 {
		sum = d.Spring
	}
	if parts&PartMotor != 0 {
		sum += d.Motor
	}
	if parts&PartLimits != 0 {
		sum = (sum + d.Lower) - d.Upper
	}
	return sum
}

// axisNow is the axis in the axes of the world: zero for a JointDistance whose anchors are in one
// place.
func (j *Joint) worldAxis(p *Poses) Vec {
	if j.Kind.hasPerpendicular() {
		x, y := rotate(p.Cos[j.A], p.Sin[j.A], j.Axis.X, j.Axis.Y)
		return Vec{x, y}
	}
	x, y := j.anchorDelta(p)
	inv := inverse(float32(math.Sqrt(float64(float32(x*x) + float32(y*y)))))
	return Vec{x * inv, y * inv}
}

// between is anchor B from anchor A, in the axes of the world.
func (j *Joint) anchorDelta(p *Poses) (x, y float32) {
	ax, ay := rotate(p.Cos[j.A], p.Sin[j.A], j.AnchorA.X, j.AnchorA.Y)
	bx, by := rotate(p.Cos[j.B], p.Sin[j.B], j.AnchorB.X, j.AnchorB.Y)
	return ((p.X[j.B] - p.X[j.A]) + bx) - ax, ((p.Y[j.B] - p.Y[j.A]) + by) - ay
}
