package rigid

import (
	"math"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/native"
)

const (
	linearParts  = PartSpring | PartMotor | PartLimits
	angularParts = PartAngularSpring | PartAngularMotor | PartAngularLimits
	softParts    = PartSpring | PartFriction
	angularShift = 3 // from the parts of Linear to those of Angular
)

// allowedParts are the parts that a kind can have, and usualParts those that most joints of the kind have.
var (
	allowedParts = [numJointKinds]JointParts{
		NoJoint:        PartAngularLimits, // for RelativeAngle
		JointDistance:  PartTuned | linearParts | angularParts | PartSpringRange,
		JointPoint:     PartTuned | softParts | angularParts | PartVelocity,
		JointWeld:      PartTuned,
		JointPrismatic: PartTuned | linearParts,
		JointWheel:     PartTuned | linearParts | angularParts,
	}
	usualParts = [numJointKinds]JointParts{JointDistance: PartSpring, JointWheel: PartSpring}
)

func (j *Joint) usedParts() JointParts { return j.Parts & allowedParts[j.Kind] }

func (k JointKind) hasPoint() bool         { return k == JointPoint || k == JointWeld }
func (k JointKind) hasPerpendicular() bool { return k == JointPrismatic || k == JointWheel }
func (k JointKind) locksAngle() bool       { return k == JointWeld || k == JointPrismatic }

// BuildJoints assigns the joints to blocks, makes room for them, and finds their trees, once in each step.
func (s *System) BuildJoints() {
	if len(s.Joints) == 0 && s.JointColours.joints == 0 && len(s.JointBlocks) == 0 {
		return
	}
	defer s.findTrees()
	s.JointColours.update(s.JointsVersion, s.Joints, s.Bodies.InvMass)
	s.JointBlocks = buffer.Resized(s.JointBlocks, s.JointColours.Blocks())
}

// PrepareJoints fills blocks of joints [lo, hi) from the joints, the poses and the states before the step. It does
// not write fields of parts that no joint of a block has.
func (s *System) PrepareJoints(level native.Level, lo, hi int) {
	kernelsOf(level).prepareJoints(s, lo, hi)
}

func (s *System) prepareJointsGo(lo, hi int) {
	for i := lo; i < hi; i++ {
		s.prepareJointBlock(&s.JointBlocks[i], (*[Lanes]uint32)(s.JointColours.Edge[i*Lanes:]))
	}
}

func (s *System) prepareJointBlock(b *JointBlock, joint *[Lanes]uint32) {
	first := &s.Joints[joint[0]]
	b.Joints, b.Kind, b.Parts = 0, first.Kind, 0
	b.DynamicA, b.DynamicB, b.RigidLinear, b.RigidAngular = 0, 0, 0, 0
	for _, n := range joint {
		if n != NoContact {
			b.Joints++
			b.Parts |= s.Joints[n].usedParts()
		}
	}
	for i, n := range joint[:b.Joints] {
		j := &s.Joints[n]
		b.A[i], b.B[i] = j.A, j.B
		b.InvIA[i], b.InvIB[i] = s.Bodies.InvInertia[j.A], s.Bodies.InvInertia[j.B]
		b.AngularMass[i] = inverse(b.InvIA[i] + b.InvIB[i])
		if s.States[j.A].InvMass > 0 {
			b.DynamicA |= 1 << i
		}
		if s.States[j.B].InvMass > 0 {
			b.DynamicB |= 1 << i
		}
		s.prepareFrames(b, i, j)
		if b.Parts&PartTuned != 0 {
			soft := s.step.jointSoftnessOf(j)
			b.BiasRate[i], b.MassScale[i], b.ImpulseScale[i] = soft.biasRate, soft.massScale, soft.impulseScale
		}
		if b.Parts&(linearParts|PartFriction) != 0 {
			s.prepareLinear(b, i, j)
		}
		if b.Parts&angularParts != 0 {
			s.prepareAngular(b, i, j)
		}
	}
}

// prepareFrames fills in anchors, centres and axis, the impulses of rows, and the relative angle if it is used.
func (s *System) prepareFrames(b *JointBlock, i int, j *Joint) {
	p := &s.Poses
	cosA, sinA, cosB, sinB := p.Cos[j.A], p.Sin[j.A], p.Cos[j.B], p.Sin[j.B]
	b.AnchorAX[i], b.AnchorAY[i] = rotate(cosA, sinA, j.AnchorA.X, j.AnchorA.Y)
	b.AnchorBX[i], b.AnchorBY[i] = rotate(cosB, sinB, j.AnchorB.X, j.AnchorB.Y)
	b.DeltaCentreX[i], b.DeltaCentreY[i] = p.X[j.B]-p.X[j.A], p.Y[j.B]-p.Y[j.A]
	b.ImpulseX[i], b.ImpulseY[i] = j.PointImpulse.X, j.PointImpulse.Y
	if b.Kind.hasPerpendicular() {
		b.PerpendicularImpulse[i] = j.PointImpulse.X
		b.AxisX[i], b.AxisY[i] = rotate(cosA, sinA, j.Axis.X, j.Axis.Y)
	}
	if b.Parts&PartVelocity != 0 {
		b.AxisX[i], b.AxisY[i] = 0, 0
		if j.Parts&PartVelocity != 0 {
			b.AxisX[i], b.AxisY[i] = rotate(cosA, sinA, j.Axis.X, j.Axis.Y)
		}
	}
	if b.usesAngle() {
		b.Angle[i] = j.RelativeAngle(s.Angle[j.B] - s.Angle[j.A])
	}
	if b.Kind.locksAngle() {
		b.Angular.SpringImpulse[i] = j.AngularImpulse.Spring
	}
}

// usesAngle reports whether the joints use the relative angle.
func (b *JointBlock) usesAngle() bool {
	return b.Kind.locksAngle() || b.Parts&(PartAngularSpring|PartAngularLimits) != 0
}

// rotate rotates a vector by an angle.
func rotate(cos, sin, x, y float32) (float32, float32) {
	return float32(cos*x) - float32(sin*y), float32(sin*x) + float32(cos*y)
}

// rounding is 1.5·2^23: floats from there on are whole.
const rounding = 12582912

// nearestAngle is the angle of the direction a that is nearest to near: a less a multiple of 2π. If they are 2^24 or more
// apart, so is the result.
func nearestAngle(a, near float32) float32 {
	turns := (float32((a-near)*(0.5/math.Pi)) + rounding) - rounding
	return a - float32(turns*(2*math.Pi))
}

// RelativeAngle is the relative angle of the bodies, given the angle of B less that of A. Of the angles that differ by
// whole turns it is the one nearest to the middle of the limits, or to 0 without limits. So a limit holds until it is
// exceeded by half of the angle that the limits forbid.
func (j *Joint) RelativeAngle(difference float32) float32 {
	return nearestAngle(difference-j.ReferenceAngle, j.middleAngle())
}

// middleAngle is the middle between the limits of the angle, 0 without them.
func (j *Joint) middleAngle() float32 {
	if j.usedParts()&PartAngularLimits == 0 {
		return 0
	}
	return 0.5 * (j.Angular.Lower + j.Angular.Upper)
}

// prepareLinear fills in Linear. A point without a spring is as rigid as a spring of 0 Hz. One with a spring
// has a compliance: the inverse mass of its bodies times ImpulseScale.
func (s *System) prepareLinear(b *JointBlock, i int, j *Joint) {
	parts, d := j.usedParts(), &b.Linear
	rigid := d.prepare(i, &j.Linear, &j.LinearImpulse, parts, &s.step)
	if b.Kind.hasPoint() {
		switch {
		case parts&PartFriction != 0:
			d.BiasRate[i], d.ImpulseScale[i], rigid = 0, 0, false
		case parts&PartSpring == 0:
			d.MaxSpringImpulse[i], rigid = inf, true
		default:
			d.ImpulseScale[i] = d.ImpulseScale[i] / maxFloat(d.MassScale[i], minMassScale)
		}
	}
	if b.Parts&PartSpringRange != 0 {
		d.MinSpringImpulse[i] = -d.MaxSpringImpulse[i]
		if parts&PartSpringRange != 0 && parts&PartSpring != 0 {
			d.MinSpringImpulse[i], d.MaxSpringImpulse[i] = float32(j.MinSpringForce*s.step.h), float32(j.Linear.MaxSpringForce*s.step.h)
		}
	}
	if rigid {
		b.RigidLinear |= 1 << i
	}
}

func (s *System) prepareAngular(b *JointBlock, i int, j *Joint) {
	if b.Angular.prepare(i, &j.Angular, &j.AngularImpulse, j.usedParts()&angularParts>>angularShift, &s.step) {
		b.RigidAngular |= 1 << i
	}
	if b.Parts&PartAngularSpring != 0 {
		near := b.Angle[i]
		if j.usedParts()&PartAngularLimits != 0 {
			near = j.middleAngle()
		}
		b.Angular.Target[i] = nearestAngle(j.Angular.Target, near)
	}
}

// prepare sets lane i to a JointAxis with some parts, given as those of Linear, and reports whether its spring
// is rigid.
func (d *AxisBlock) prepare(i int, settings *JointAxis, old *AxisImpulse, parts JointParts, step *stepContext) (rigid bool) {
	soft := softness{}
	d.MaxSpringImpulse[i], d.SpringImpulse[i] = 0, 0
	if parts&softParts != 0 {
		soft, rigid = step.springSoftness(settings.Hertz, settings.Damping)
		d.MaxSpringImpulse[i], d.SpringImpulse[i] = inf, old.Spring
		if settings.MaxSpringForce > 0 {
			d.MaxSpringImpulse[i] = float32(settings.MaxSpringForce * step.h)
		}
	}
	d.Target[i] = settings.Target
	d.setSoftness(i, soft)
	d.MotorSpeed[i], d.MaxMotorImpulse[i], d.MotorImpulse[i] = 0, 0, 0
	if parts&PartMotor != 0 {
		d.MotorSpeed[i], d.MaxMotorImpulse[i], d.MotorImpulse[i] = settings.MotorSpeed, float32(settings.MaxMotorForce*step.h), old.Motor
	}
	d.Lower[i], d.Upper[i], d.LowerImpulse[i], d.UpperImpulse[i] = -inf, inf, 0, 0
	if parts&PartLimits != 0 {
		d.Lower[i], d.Upper[i], d.LowerImpulse[i], d.UpperImpulse[i] = settings.Lower, settings.Upper, old.Lower, old.Upper
	}
	return rigid
}

func (d *AxisBlock) setSoftness(i int, s softness) {
	d.BiasRate[i], d.MassScale[i], d.ImpulseScale[i] = s.biasRate, s.massScale, s.impulseScale
}

// springSoftness is the softness of a spring, and whether it is rigid. It limits hertz and damping to maxStiffness.
func (k *stepContext) springSoftness(hertz, damping float32) (soft softness, rigid bool) {
	if !(hertz > 0) {
		return k.jointSoftness, true
	}
	return k.boundedSoftness(hertz, damping), false
}

func (k *stepContext) boundedSoftness(hertz, damping float32) softness {
	soft := makeSoftness(minFloat(hertz, maxStiffness), minFloat(damping, maxStiffness), k.h)
	if !(soft.massScale > 0) {
		soft.biasRate = 0 // it could be infinite
	}
	return soft
}

// jointSoftnessOf is the softness of rows, limits and rigid springs of a joint. As in Params, hertz is at most a
// quarter of the rate of the sub-steps.
func (k *stepContext) jointSoftnessOf(j *Joint) softness {
	if j.Parts&PartTuned == 0 {
		return k.jointSoftness
	}
	hertz, damping := k.jointHertz, k.jointDamping
	if j.Hertz > 0 {
		hertz = j.Hertz
	}
	if j.Damping > 0 {
		damping = j.Damping
	}
	return k.boundedSoftness(minFloat(hertz, 0.25*k.invH), damping)
}

const maxStiffness, minMassScale = 1e6, 1e-12
