package physics

import (
	"math"

	"github.com/evertick/evertick/internal/check"
	"github.com/evertick/evertick/internal/rigid"
	"github.com/evertick/evertick/native"
)

// JointForce returns the force in N that the joint exerted on body B, in world coordinates, in the
// last sub-step of the last step; the opposite force acted on body A. Errors: ErrStale.
func (w *World) JointForce(j Joint) ([2]float32, error) {
	i, err := w.joint(j)
	if err != nil {
		return [2]float32{}, err
	}
	force, _ := w.solver.jointReaction(i)
	return [2]float32{force.X, force.Y}, nil
}

// JointTorque returns the torque in N·m that the joint exerted on body B in addition to the force of JointForce:
// of angular springs, motors and limits, and of constraints that prevent rotation.
func (w *World) JointTorque(j Joint) (float32, error) {
	i, err := w.joint(j)
	if err != nil {
		return 0, err
	}
	_, torque := w.solver.jointReaction(i)
	return torque, nil
}

// JointMotorForce returns what the motor of j exerted on body B in the last sub-step of the last step: a force in N
// along the axis for distance and prismatic joints, and a torque in N·m for the other kinds. It is part of JointForce or
// JointTorque, and 0 without a motor. A motor does not press against a limit of its joint. Errors: ErrStale.
func (w *World) JointMotorForce(j Joint) (float32, error) {
	i, err := w.joint(j)
	if err != nil {
		return 0, err
	}
	s := w.solver
	solved := &s.joints.solved[i]
	switch JointKind(s.joints.rows[i].kind) {
	case DistanceJoint, PrismaticJoint:
		return solved.LinearImpulse.Motor * s.subStepRate, nil
	}
	return solved.AngularImpulse.Motor * s.subStepRate, nil
}

// jointReaction returns the force and the torque of a joint on body B.
func (s *solver) jointReaction(i int) (force rigid.Vec, torque float32) {
	s.centre.Cos, s.centre.Sin = s.cols.Cos, s.cols.Sin
	o := s.origins(len(s.centre.X))
	for _, body := range s.jointTable.Owner[2*i : 2*i+2] {
		o.UpdateCentresOfMass(native.Go, &s.centre, int(body), int(body)+1)
	}
	return s.joints.solved[i].Reaction(&s.centre, s.subStepRate)
}

// JointPoints returns the points of the frames in world coordinates, in metres;
// for a mouse joint the first is its target. Errors: ErrStale.
func (w *World) JointPoints(j Joint) (a, b [2]float32, err error) {
	i, err := w.joint(j)
	if err != nil {
		return a, b, err
	}
	a, b = w.solver.jointAnchors(i)
	return a, b, nil
}

func (s *solver) jointAnchors(i int) (a, b [2]float32) {
	r := &s.joints.rows[i]
	a = s.worldPoint(int(s.jointTable.Owner[2*i]), r.frameA.Point[0], r.frameA.Point[1])
	b = s.worldPoint(int(s.jointTable.Owner[2*i+1]), r.frameB.Point[0], r.frameB.Point[1])
	if JointKind(r.kind) == MouseJoint {
		a = [2]float32(r.numbers[:2])
	}
	return a, b
}

// jointDirection returns the direction from the point of body A to the point of body B, and their distance.
func (s *solver) jointDirection(i int) (x, y, length float32) {
	a, b := s.jointAnchors(i)
	x, y = b[0]-a[0], b[1]-a[1]
	length = sqrt(float32(x*x) + float32(y*y))
	if length > 0 {
		x, y = x/length, y/length
	}
	return x, y, length
}

func sqrt(v float32) float32 { return float32(math.Sqrt(float64(v))) }

// jointAxis returns the axis of frame A in world coordinates.
func (s *solver) jointAxis(i int) (x, y float32) {
	sin, cos := rigid.SinCos(s.joints.rows[i].frameA.Angle)
	return s.rotate(int(s.jointTable.Owner[2*i]), cos, sin)
}

// JointAngle returns the angle from the axis of FrameA to that of FrameB, in radians: the angle of a revolute joint. It is
// in [-π, π], or, with EnableLimit, at most π from the middle of the limits. Errors: ErrStale.
func (w *World) JointAngle(j Joint) (float32, error) {
	i, err := w.joint(j)
	if err != nil {
		return 0, err
	}
	return w.solver.jointAngle(i), nil
}

func (s *solver) jointAngle(i int) float32 {
	return s.joints.solved[i].RelativeAngle(s.cols.Angle[s.jointTable.Owner[2*i+1]] - s.cols.Angle[s.jointTable.Owner[2*i]])
}

// JointTranslation returns the distance from the point of FrameA to that of FrameB along the
// axis of FrameA, in metres: the translation of a prismatic joint, or of the suspension of a
// wheel. Errors: ErrStale.
func (w *World) JointTranslation(j Joint) (float32, error) {
	i, err := w.joint(j)
	if err != nil {
		return 0, err
	}
	along, _ := w.solver.jointOffset(i)
	return along, nil
}

// jointOffset returns the vector from the point of FrameA to that of FrameB, along the axis of FrameA and to its left.
func (s *solver) jointOffset(i int) (along, across float32) {
	a, b := s.jointAnchors(i)
	x, y := s.jointAxis(i)
	dx, dy := b[0]-a[0], b[1]-a[1]
	return float32(x*dx) + float32(y*dy), float32(x*dy) - float32(y*dx)
}

// JointSeparation returns how far the bodies are from where the joint holds them: a distance in metres and an angle in
// radians, not negative. Each is 0 within limits, and where a spring, a motor or nothing holds the bodies. Motor, mouse
// and filter joints return 0. Errors: ErrStale.
func (w *World) JointSeparation(j Joint) (linear, angular float32, err error) {
	i, err := w.joint(j)
	if err != nil {
		return 0, 0, err
	}
	linear, angular = w.solver.jointSeparation(i)
	return linear, angular, nil
}

func (s *solver) jointSeparation(i int) (linear, angular float32) {
	j, angle := &s.joints.solved[i], s.jointAngle(i)
	_, _, length := s.jointDirection(i)
	along, across := s.jointOffset(i)
	switch kind := JointKind(s.joints.rows[i].kind); kind {
	case DistanceJoint:
		linear = beyondLimits(&j.Linear, j.Parts&rigid.PartLimits != 0, length)
		if j.Parts&rigid.PartSpring != 0 && j.Linear.Hertz == 0 {
			linear = abs(length - j.Linear.Target)
		}
	case RevoluteJoint:
		linear, angular = length, beyondLimits(&j.Angular, j.Parts&rigid.PartAngularLimits != 0, angle)
	case PrismaticJoint, WheelJoint:
		beyond := beyondLimits(&j.Linear, j.Parts&rigid.PartLimits != 0, along)
		linear = sqrt(float32(across*across) + float32(beyond*beyond))
		if kind == PrismaticJoint {
			angular = abs(angle)
		}
	case WeldJoint:
		if j.Parts&rigid.PartSpring == 0 {
			linear = length
		}
		if j.Angular.Hertz == 0 {
			angular = abs(angle)
		}
	}
	return linear, angular
}

// beyondLimits returns how far x is beyond the limits of an axis, if it has limits.
func beyondLimits(axis *rigid.JointAxis, limited bool, x float32) float32 {
	if !limited {
		return 0
	}
	return max(axis.Lower-x, x-axis.Upper, 0)
}

func abs(v float32) float32 { return max(v, -v) }

// JointLength returns the distance between the points of the frames, in metres: the length of a
// distance joint. Errors: ErrStale.
func (w *World) JointLength(j Joint) (float32, error) {
	i, err := w.joint(j)
	if err != nil {
		return 0, err
	}
	_, _, length := w.solver.jointDirection(i)
	return length, nil
}

// JointSpeed returns the speed that the motor of j controls: how fast the length of a distance
// joint or the translation of a prismatic joint grows, in m/s, and for the other kinds how
// fast body B turns relative to body A, in rad/s. Errors: ErrStale.
func (w *World) JointSpeed(j Joint) (float32, error) {
	i, err := w.joint(j)
	if err != nil {
		return 0, err
	}
	s := w.solver
	switch JointKind(s.joints.rows[i].kind) {
	case DistanceJoint:
		x, y, _ := s.jointDirection(i)
		return s.slideSpeed(i, x, y), nil
	case PrismaticJoint:
		x, y := s.jointAxis(i)
		_, across := s.jointOffset(i)
		return s.slideSpeed(i, x, y) + float32(s.cols.W[s.jointTable.Owner[2*i]]*across), nil
	}
	return s.cols.W[s.jointTable.Owner[2*i+1]] - s.cols.W[s.jointTable.Owner[2*i]], nil
}

// slideSpeed returns the speed of the point of body B along a direction, relative to that of
// body A.
func (s *solver) slideSpeed(i int, x, y float32) float32 {
	a, b := s.jointAnchors(i)
	ax, ay := s.speedAt(int(s.jointTable.Owner[2*i]), a)
	bx, by := s.speedAt(int(s.jointTable.Owner[2*i+1]), b)
	return float32(x*(bx-ax)) + float32(y*(by-ay))
}

// speedAt returns the velocity of a point of a body.
func (s *solver) speedAt(i int, point [2]float32) (x, y float32) {
	dx, dy := s.leverArm(i, point)
	w := s.cols.W[i]
	return s.cols.VX[i] - float32(w*dy), s.cols.VY[i] + float32(w*dx)
}

// checkLoads destroys the joints whose load exceeded BreakForce or BreakTorque, and reports those of the others whose
// load exceeded ForceThreshold or TorqueThreshold.
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
		if exceeds(force, torque, r.breakForce, r.breakTorque) {
			s.events.Broken = append(s.events.Broken, s.brokenEvent(i, force, torque))
			s.destroyJoint(i)
		} else if exceeds(force, torque, r.forceThreshold, r.torqueThreshold) {
			appendEvent(&s.events.JointLoads, JointLoad{Joint{uint32(i), s.jointTable.IDs.Generation[i]},
				canonicalNaN2(force.X, force.Y), check.CanonicalNaN(torque)})
		}
	}
}

// exceeds reports whether a load exceeds a bound, where 0 is none. NaN does not.
func exceeds(force rigid.Vec, torque, maxForce, maxTorque float32) bool {
	strength := sqrt(float32(force.X*force.X) + float32(force.Y*force.Y))
	return maxForce > 0 && strength > maxForce || maxTorque > 0 && abs(torque) > maxTorque
}

func (s *solver) brokenEvent(i int, force rigid.Vec, torque float32) Broken {
	a, b := s.jointTable.Owner[2*i], s.jointTable.Owner[2*i+1]
	return Broken{
		Joint: Joint{uint32(i), s.jointTable.IDs.Generation[i]},
		A:     Body{a, s.bodies.Generation[a]}, B: Body{b, s.bodies.Generation[b]},
		Force: canonicalNaN2(force.X, force.Y), Torque: check.CanonicalNaN(torque), Tick: s.steps,
	}
}
