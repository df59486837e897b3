package physics3

import (
	"math"

	"github.com/evertick/evertick/internal/rigid3"
	"github.com/evertick/evertick/internal/vec"
)

// JointState is where the bodies of a joint are relative to each other, how they move, and what the joint does.
type JointState struct {
	// Force in N and Torque in N·m are what the joint exerted on body B in the last sub-step of the last step, in the axes of the world: the force
	// at the point of FrameB, and the torque besides. The opposite ones acted on body A at the same place.
	Force, Torque [3]float32
	// MotorForce is what the motor exerted on body B then, along the axis or about it: a force in N for distance and prismatic joints, and a torque
	// in N·m for revolute joints and wheels. It is part of Force or Torque. Other kinds have 0.
	MotorForce float32
	// PointA and PointB are the points of the frames in world coordinates, in metres. For a mouse joint PointA is its target.
	PointA, PointB [3]float32
	// Translation is how far PointB is from PointA along the axes of FrameA, and Length the distance of the two, in metres.
	Translation [3]float32
	Length      float32
	// Angle is the angle of a hinge, a wheel, or a twist, in radians: how far frame B is turned about its x axis, seen from frame A. Each turn counts 2π,
	// from the angle at the first step of the joint, which is the one nearest to the middle of its limits, or to 0 without limits.
	Angle float32
	// Swing is the turn that carries the x axis of frame A to that of frame B: about y, such as that of steering, and about z. Its parts are twice the
	// arc tangents of the axis of the turn times the tangent of half its angle. Cone is its angle, in [0, π].
	Swing [2]float32
	Cone  float32
	// LinearVelocity of PointB relative to PointA in m/s, and AngularVelocity of body B relative to body A in rad/s, along the axes of FrameA and as
	// seen from body A. The speed of a slider is LinearVelocity[0], and that of a hinge AngularVelocity[0].
	LinearVelocity, AngularVelocity [3]float32
	// Separation is how far the bodies are from where the joint holds them, in metres, and AngularSeparation in radians, not negative: beyond limits, and
	// along axes that are locked and no spring. Motor, mouse and filter joints have 0.
	Separation, AngularSeparation float32
}

// JointState returns the state of a joint. Errors: ErrStale.
func (w *World) JointState(j Joint) (JointState, error) {
	i, err := w.jointIndex(j)
	if err != nil {
		return JointState{}, err
	}
	return w.solver.jointState(i), nil
}

func (s *solver) jointState(i int) (to JointState) {
	kind := JointKind(s.joints.rows[i].kind)
	j := s.configuredJoint(i)
	j.Kept = s.joints.solved[i].Kept
	a, b := s.pose(int(j.A)), s.pose(int(j.B))
	force, torque := s.jointReaction(i)
	to.Force, to.Torque = arrayOf(force), arrayOf(torque)
	switch kind {
	case DistanceJoint:
		to.MotorForce = j.MotorForce(rigid3.Length, s.subStepRate)
	case PrismaticJoint:
		to.MotorForce = j.MotorForce(rigid3.LinearX, s.subStepRate)
	case RevoluteJoint, WheelJoint:
		to.MotorForce = j.MotorForce(rigid3.Twist, s.subStepRate)
	}
	armA, armB := a.Q.Rotate(j.AnchorA), b.Q.Rotate(j.AnchorB)
	pointA, pointB := a.P.Add(armA), b.P.Add(armB)
	to.PointA, to.PointB = arrayOf(pointA), arrayOf(pointB)
	at := j.Coordinates(&a, &b)
	to.Translation, to.Length = [3]float32(at[:3]), at[rigid3.Length]
	to.Angle, to.Swing, to.Cone = at[rigid3.Twist], [2]float32{at[rigid3.SwingY], at[rigid3.SwingZ]}, at[rigid3.Cone]
	to.LinearVelocity, to.AngularVelocity = s.jointVelocity(&j, armA, armB, pointB.Sub(pointA), a.Q)
	to.Separation, to.AngularSeparation = jointSeparation(kind, &j, &at)
	return to
}

// jointVelocity returns the velocity of anchor B relative to A, as seen from body A, and the angular velocity, both along the axes of frame A.
func (s *solver) jointVelocity(j *rigid3.Joint, armA, armB, delta rigid3.Vec, q rigid3.Quat) (linear, angular [3]float32) {
	a, b := int(j.A), int(j.B)
	wA, wB := s.angularVelocity(a), s.angularVelocity(b)
	v := s.linearVelocity(b).Add(wB.Cross(armB)).Sub(s.linearVelocity(a).Add(wA.Cross(armA))).Sub(wA.Cross(delta))
	frame := q.Mul(j.FrameA)
	return arrayOf(frame.Unrotate(v)), arrayOf(frame.Unrotate(wB.Sub(wA)))
}

func jointSeparation(kind JointKind, j *rigid3.Joint, at *[rigid3.NumCoordinates]float32) (linear, angular float32) {
	if kind == MotorJoint || kind == MouseJoint {
		return 0, 0
	}
	held := j.Locked
	if j.Soft&rigid3.SoftLinear != 0 {
		held &^= linearRows
	}
	if j.Soft&rigid3.SoftAngular != 0 {
		held &^= angularRows
	}
	for k, v := range at {
		beyond := float32(0)
		switch axis := &j.Axes[k]; {
		case held>>k&1 != 0:
			beyond = v
		case axis.Parts&rigid3.PartLimits != 0:
			beyond = max(axis.Lower-v, v-axis.Upper, 0)
		}
		if k == rigid3.Length || k <= rigid3.LinearZ {
			linear += float32(beyond * beyond)
		} else {
			angular += float32(beyond * beyond)
		}
	}
	return float32(math.Sqrt(float64(linear))), float32(math.Sqrt(float64(angular)))
}

// jointReaction returns the force and the torque of a joint on body B.
func (s *solver) jointReaction(i int) (force, torque rigid3.Vec) {
	return s.joints.solved[i].Reaction(s.subStepRate)
}

// checkLoads destroys the joints whose load exceeded BreakForce or BreakTorque, and reports those of the others whose load exceeded
// ForceThreshold or TorqueThreshold.
func (s *solver) checkLoads() {
	if s.joints.breakable == 0 && s.joints.reporting == 0 {
		return
	}
	for i := range s.joints.rows {
		r := &s.joints.rows[i]
		if r.breakForce == 0 && r.breakTorque == 0 && r.forceThreshold == 0 && r.torqueThreshold == 0 || s.jointAsleep(i) {
			continue
		}
		force, torque := s.jointReaction(i)
		j := Joint{uint32(i), s.jointTable.IDs.Generation[i]}
		if exceeds(force, r.breakForce) || exceeds(torque, r.breakTorque) {
			a, b := s.jointTable.Bodies(i)
			appendEvent(&s.events.Broken, Broken{
				Joint: j, A: Body{a, s.bodies.Generation[a]}, B: Body{b, s.bodies.Generation[b]},
				Force: arrayOf(canonical(force)), Torque: arrayOf(canonical(torque)), Tick: s.steps,
			})
			s.destroyJoint(i)
		} else if exceeds(force, r.forceThreshold) || exceeds(torque, r.torqueThreshold) {
			appendEvent(&s.events.JointLoads, JointLoad{j, arrayOf(canonical(force)), arrayOf(canonical(torque))})
		}
	}
}

// exceeds reports whether a force or a torque exceeds a bound, where 0 is none. NaN does not, and infinity does.
func exceeds(load rigid3.Vec, most float32) bool {
	return most > 0 && vec.Length(vec.Wide(arrayOf(load))) > float64(most)
}
