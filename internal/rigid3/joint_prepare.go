package rigid3

import (
	"math"

	"github.com/evertick/evertick/internal/buffer"
	"github.com/evertick/evertick/internal/trig"
)

// dealJoints assigns the joints to blocks and makes room for them.
func (s *System) dealJoints() {
	s.findTrees()
	defer s.listTrees()
	c := &s.JointColours
	s.jointCut = 0
	switch {
	case s.jointsSplit: // some may be in groups
		c.layOut(s.JointOrder)
		if c.version = 0; s.groups.Len() == 0 {
			c.version, c.joints, c.bodies = s.JointsVersion, len(s.Joints), len(s.States)
		}
	case len(s.Joints) == 0 && c.joints == 0:
		s.JointBlocks, s.jointParts = s.JointBlocks[:0], s.jointParts[:0]
		return
	default:
		c.update(s.JointsVersion, s.Joints, s.JointOrder, s.Bodies.InvMass)
	}
	s.JointBlocks = buffer.Resized(s.JointBlocks, c.Blocks())
	s.jointParts = buffer.Resized(s.jointParts, s.classifyJointBlocks())
}

// classifyJointBlocks sets the classes of the blocks, and returns how many of them have JointParts.
func (s *System) classifyJointBlocks() (parts int) {
	return s.classifyJointsOf(0, len(s.JointBlocks), 0)
}

// classifyJointsOf is classifyJointBlocks for blocks [lo, hi), after blocks with so many JointParts.
func (s *System) classifyJointsOf(lo, hi, parts int) int {
	for i := lo; i < hi; i++ {
		b := &s.JointBlocks[i]
		b.Class, b.Parts = uint32(s.Joints[s.JointColours.Edge[i*Lanes]].class()), uint32(parts)
		if b.Class != classPoint {
			parts++
		}
	}
	return parts
}

// PrepareJoints fills blocks [lo, hi) of joints from the joints, the poses and the states before the step.
func (s *System) PrepareJoints(lo, hi int) { kernelsOf(s.Level).prepareJoints(s, lo, hi) }

func (s *System) prepareJointsGo(lo, hi int) {
	for i := lo; i < hi; i++ {
		s.prepareJointBlock(&s.JointBlocks[i], (*[Lanes]uint32)(s.JointColours.Edge[i*Lanes:]))
	}
}

func (s *System) prepareJointBlock(b *JointBlock, joints *[Lanes]uint32) {
	b.Joints, b.Flags, b.DynamicA, b.DynamicB = 0, 0, 0, 0
	var parts *JointParts
	if b.Class != classPoint {
		parts = &s.jointParts[b.Parts]
		parts.Axes, parts.AnySoft = 0, 0
	}
	for i, n := range joints {
		if n == NoContact {
			b.A[i], b.B[i] = b.A[0], b.B[0]
			continue
		}
		b.Joints++
		j := &s.Joints[n]
		s.prepareJoint(b, i, j)
		if parts != nil {
			parts.Axes |= j.axes()
			parts.AnySoft |= j.Soft
			s.prepareParts(parts, i, j)
		}
	}
}

func (s *System) prepareJoint(b *JointBlock, i int, j *Joint) {
	i &= Lanes - 1
	b.A[i], b.B[i] = j.A, j.B
	stateA, stateB := &s.States[j.A], &s.States[j.B]
	if stateA.InvMass > 0 {
		b.DynamicA |= 1 << i
	}
	if stateB.InvMass > 0 {
		b.DynamicB |= 1 << i
	}
	if stateA.Locks|stateB.Locks != 0 {
		b.Flags |= flagLocked
	}
	poseA, poseB := &s.Bodies.Poses[j.A], &s.Bodies.Poses[j.B]
	b.AnchorA.set(i, poseA.Q.Rotate(j.AnchorA))
	b.AnchorB.set(i, poseB.Q.Rotate(j.AnchorB))
	b.DeltaCentre.set(i, poseB.P.Sub(poseA.P))
	b.InertiaA.set(i, &s.inertia[j.A].Sym)
	b.InertiaB.set(i, &s.inertia[j.B].Sym)
	b.Impulse.set(i, Vec{})
	if b.Class == classPoint {
		b.Impulse.set(i, Vec{j.Kept.Rows[0], j.Kept.Rows[1], j.Kept.Rows[2]})
	}
	b.TorqueA.set(i, Vec{})
	b.TorqueB.set(i, Vec{})
	soft := s.step.jointSoftnessOf(j)
	b.BiasRate[i], b.MassScale[i], b.ImpulseScale[i] = soft.biasRate, soft.massScale, soft.impulseScale
}

func (s *System) prepareParts(p *JointParts, i int, j *Joint) {
	i &= Lanes - 1
	p.Locked[i], p.Soft[i] = j.Locked, j.Soft
	frameA, frameB := s.Bodies.Poses[j.A].Q.Mul(j.FrameA), s.Bodies.Poses[j.B].Q.Mul(j.FrameB)
	setQuat(&p.FrameA, i, frameA)
	setQuat(&p.FrameB, i, frameB)
	setQuat(&p.Target, i, j.Target.Normalize())
	p.Twist[i] = j.twistNear(frameA.Inverse().Mul(frameB))
	for k := range p.Rows {
		p.Rows[k][i], p.Error[k][i] = 0, 0
		if j.Locked>>k&1 != 0 {
			p.Rows[k][i] = j.Kept.Rows[k]
		}
	}
	p.Linear.prepare(i, &j.Linear, &s.step)
	p.Angular.prepare(i, &j.Angular, &s.step)
	axes := j.axes()
	for c := range p.Coordinates {
		l := &p.Coordinates[c]
		l.Parts[i] = 0
		if axes>>c&1 != 0 {
			l.prepare(i, &j.Axes[c], &j.Kept.Axes[c], &s.step)
		}
	}
}

func setQuat(l *[4][Lanes]float32, i int, q Quat) {
	l[0][i], l[1][i], l[2][i], l[3][i] = q.X, q.Y, q.Z, q.W
}

func quatOf(l *[4][Lanes]float32, i int) Quat { return Quat{l[0][i], l[1][i], l[2][i], l[3][i]} }

// twistNear is the twist of frame B relative to frame A with its turns. It is the one nearest to that of the last step: so turns are
// counted as long as a step turns by less than half of one.
func (j *Joint) twistNear(q Quat) float32 {
	near := j.Kept.Twist
	if j.Kept.Known == 0 {
		near = 0
		if a := &j.Axes[Twist]; a.Parts&PartLimits != 0 {
			near = float32(0.5*clamp(a.Lower, maxTwist)) + float32(0.5*clamp(a.Upper, maxTwist))
		}
	}
	return nearestAngle(2*trig.Atan2(q.X, q.W), near)
}

// maxTwist is beyond what limits of a twist are good for: 2^16 turns.
const maxTwist = 0x1p16 * 2 * math.Pi

// wholeFloats is 1.5·2^23: floats from there on are whole.
const wholeFloats = 12582912

// nearestAngle is the angle of the direction a that is nearest to near: a less a multiple of 2π. If they are 2^24 or more apart, so is
// the result.
func nearestAngle(a, near float32) float32 {
	turns := (float32((a-near)*(0.5/math.Pi)) + wholeFloats) - wholeFloats
	return a - float32(turns*(2*math.Pi))
}

// prepare sets lane i to a drive. At 0 Hz only the velocity is left.
func (l *DriveLanes) prepare(i int, d *Drive, step *stepContext) {
	soft := softness{massScale: 1}
	if d.Hertz > 0 {
		soft = step.boundedSoftness(d.Hertz, d.Damping)
	}
	l.BiasRate[i], l.Compliance[i] = soft.biasRate, soft.impulseScale/maxFloat(soft.massScale, minMassScale)
	l.MaxImpulse[i] = impulseBound(d.MaxForce, step)
	l.Velocity.set(i, d.Velocity)
}

// impulseBound is the impulse of a greatest force in a sub-step; 0: no bound.
func impulseBound(force float32, step *stepContext) float32 {
	if force > 0 {
		return float32(force * step.h)
	}
	return inf
}

func (l *AxisLanes) prepare(i int, a *JointAxis, kept *AxisImpulse, step *stepContext) {
	parts, soft := a.Parts, softness{}
	if parts&PartSpring != 0 {
		if a.Hertz > 0 {
			soft = step.boundedSoftness(a.Hertz, a.Damping)
		} else {
			parts &^= PartSpring
		}
	}
	l.Parts[i] = parts
	l.Target[i], l.Error[i] = a.Target, 0
	l.BiasRate[i], l.MassScale[i], l.ImpulseScale[i] = soft.biasRate, soft.massScale, soft.impulseScale
	l.LowerSpringImpulse[i], l.UpperSpringImpulse[i] = -inf, inf
	if lower, upper := a.LowerSpringForce, a.UpperSpringForce; lower < 0 || lower > 0 || upper < 0 || upper > 0 {
		l.LowerSpringImpulse[i], l.UpperSpringImpulse[i] = float32(lower*step.h), float32(upper*step.h)
	}
	l.MotorSpeed[i], l.MaxMotorImpulse[i] = a.MotorSpeed, float32(a.MaxMotorForce*step.h)
	l.Lower[i], l.Upper[i] = -inf, inf
	l.Spring[i], l.Motor[i], l.LowerImpulse[i], l.UpperImpulse[i] = 0, 0, 0, 0
	if parts&PartSpring != 0 {
		l.Spring[i] = kept.Spring
	}
	if parts&PartMotor != 0 {
		l.Motor[i] = kept.Motor
	}
	if parts&PartLimits != 0 {
		l.Lower[i], l.Upper[i] = a.Lower, a.Upper
		l.LowerImpulse[i], l.UpperImpulse[i] = maxFloat(kept.Lower, 0), maxFloat(kept.Upper, 0)
	}
}

// boundedSoftness limits hertz and damping to maxStiffness.
func (k *stepContext) boundedSoftness(hertz, damping float32) softness {
	soft := makeSoftness(minFloat(hertz, maxStiffness), minFloat(damping, maxStiffness), k.h)
	if !(soft.massScale > 0) {
		soft.biasRate = 0 // it could be infinite
	}
	return soft
}

// jointSoftnessOf is the softness of rows and limits of a joint.
func (k *stepContext) jointSoftnessOf(j *Joint) softness {
	if !(j.Hertz > 0 || j.Damping > 0) {
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
