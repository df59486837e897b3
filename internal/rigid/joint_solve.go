package rigid

import (
	"math"

	"github.com/evertick/evertick/native"
)

// jointBodies are the two bodies and the anchors of the joint in a lane.
type jointBodies struct {
	vax, vay, wa, ma, ia float32
	vbx, vby, wb, mb, ib float32

	ax, ay, bx, by float32 // current anchors, from the centres
	dx, dy         float32 // from anchor A to anchor B

	axis, perpendicular constraintAxis // in kinds that have them

	velocityX, velocityY float32 // of anchor B relative to A that PartVelocity seeks

	applied jointImpulse // in the sub-step so far
}

// jointImpulse is an impulse on B and the opposite one on A, with the angular impulses that they exert about the
// centres of A and B.
type jointImpulse struct{ x, y, angularA, angularB float32 }

func (t *jointImpulse) add(o jointImpulse) {
	t.x += o.x
	t.y += o.y
	t.angularA += o.angularA
	t.angularB += o.angularB
}

// load loads the bodies of lane i. Anchors and axes turn with their bodies, so lengths stay constant during a step.
func (m *jointBodies) load(b *JointBlock, i uint32, states []State) {
	stateA, stateB := &states[b.A[i&(Lanes-1)]], &states[b.B[i&(Lanes-1)]]
	i &= Lanes - 1
	m.vax, m.vay, m.wa, m.ma, m.ia = stateA.VX, stateA.VY, stateA.W, stateA.InvMass, b.InvIA[i]
	m.vbx, m.vby, m.wb, m.mb, m.ib = stateB.VX, stateB.VY, stateB.W, stateB.InvMass, b.InvIB[i]
	m.ax, m.ay = rotate(stateA.C, stateA.S, b.AnchorAX[i], b.AnchorAY[i])
	m.bx, m.by = rotate(stateB.C, stateB.S, b.AnchorBX[i], b.AnchorBY[i])
	m.dx = ((b.DeltaCentreX[i] + (stateB.DX - stateA.DX)) + m.bx) - m.ax
	m.dy = ((b.DeltaCentreY[i] + (stateB.DY - stateA.DY)) + m.by) - m.ay
	m.applied = jointImpulse{b.ImpulseX[i], b.ImpulseY[i], b.AngularImpulseA[i], b.AngularImpulseB[i]}
	if b.Kind == JointDistance {
		m.setDistanceAxis()
	} else if b.Kind.hasPerpendicular() {
		m.setSlideAxis(rotate(stateA.C, stateA.S, b.AxisX[i], b.AxisY[i]))
	} else if b.Parts&PartVelocity != 0 {
		m.velocityX, m.velocityY = rotate(stateA.C, stateA.S, b.AxisX[i], b.AxisY[i])
	}
}

// store writes back the velocities of dynamic bodies and the applied impulse.
func (m *jointBodies) store(b *JointBlock, i uint32, states []State) {
	lane := i & (Lanes - 1)
	b.ImpulseX[lane], b.ImpulseY[lane], b.AngularImpulseA[lane], b.AngularImpulseB[lane] = m.applied.x, m.applied.y, m.applied.angularA, m.applied.angularB
	if b.DynamicA>>i&1 != 0 {
		st := &states[b.A[i&(Lanes-1)]]
		st.VX, st.VY, st.W = m.vax, m.vay, m.wa
	}
	if b.DynamicB>>i&1 != 0 {
		st := &states[b.B[i&(Lanes-1)]]
		st.VX, st.VY, st.W = m.vbx, m.vby, m.wb
	}
}

// applyImpulse applies an impulse and records it.
func (m *jointBodies) applyImpulse(t jointImpulse) {
	m.vax -= float32(m.ma * t.x)
	m.vay -= float32(m.ma * t.y)
	m.wa -= float32(m.ia * t.angularA)
	m.vbx += float32(m.mb * t.x)
	m.vby += float32(m.mb * t.y)
	m.wb += float32(m.ib * t.angularB)
	m.applied.add(t)
}

func (m *jointBodies) applyAngularImpulse(impulse float32) {
	m.wa -= float32(m.ia * impulse)
	m.wb += float32(m.ib * impulse)
}

// impulseAtAnchors is an impulse that acts at the anchors.
func (m *jointBodies) impulseAtAnchors(x, y float32) jointImpulse {
	return jointImpulse{x, y, float32(m.ax*y) - float32(m.ay*x), float32(m.bx*y) - float32(m.by*x)}
}

// constraintAxis is a unit vector along which impulses act, the cross products of the anchors with it, and
// where anchor B is on it relative to anchor A.
type constraintAxis struct{ x, y, crossA, crossB, translation float32 }

// setDistanceAxis sets the axis from anchor to anchor. It has no length if they coincide.
func (m *jointBodies) setDistanceAxis() {
	at := float32(math.Sqrt(float64(float32(m.dx*m.dx) + float32(m.dy*m.dy))))
	inv := inverse(at)
	x, y := float32(m.dx*inv), float32(m.dy*inv)
	m.axis = constraintAxis{x, y, float32(m.ax*y) - float32(m.ay*x), float32(m.bx*y) - float32(m.by*x), at}
}

// setSlideAxis sets the axis and the perpendicular to its left. Impulses on A act at anchor B.
func (m *jointBodies) setSlideAxis(x, y float32) {
	ax, ay, bx, by, dx, dy := m.ax+m.dx, m.ay+m.dy, m.bx, m.by, m.dx, m.dy
	m.axis = constraintAxis{x, y, float32(ax*y) - float32(ay*x), float32(bx*y) - float32(by*x), float32(dx*x) + float32(dy*y)}
	m.perpendicular = constraintAxis{-y, x, float32(ax*x) + float32(ay*y), float32(bx*x) + float32(by*y), float32(dy*x) - float32(dx*y)}
}

// velocityAlong is the velocity of anchor B relative to A along u.
func (m *jointBodies) velocityAlong(u *constraintAxis) float32 {
	v := float32((m.vbx-m.vax)*u.x) + float32((m.vby-m.vay)*u.y)
	return v + (float32(m.wb*u.crossB) - float32(m.wa*u.crossA))
}

// invMassAlong is the velocity that a unit impulse along u gives: an inverse effective mass.
func (m *jointBodies) invMassAlong(u *constraintAxis) float32 {
	angular := float32(float32(m.ia*u.crossA)*u.crossA) + float32(float32(m.ib*u.crossB)*u.crossB)
	return (m.ma + m.mb) + angular
}

func (u *constraintAxis) impulse(impulse float32) jointImpulse {
	return jointImpulse{float32(impulse * u.x), float32(impulse * u.y), float32(impulse * u.crossA), float32(impulse * u.crossB)}
}

// totalImpulse is the current impulse of a JointAxis.
func (d *AxisBlock) totalImpulse(i uint32) float32 {
	i &= Lanes - 1
	return ((d.SpringImpulse[i] + d.MotorImpulse[i]) + d.LowerImpulse[i]) - d.UpperImpulse[i]
}

// accumulatedImpulse is the accumulated impulse, with the current anchors and axes.
func (b *JointBlock) accumulatedImpulse(i uint32, m *jointBodies) (t jointImpulse) {
	i &= Lanes - 1
	if b.Kind.hasPoint() {
		return m.impulseAtAnchors(b.ImpulseX[i], b.ImpulseY[i])
	}
	if b.Parts&linearParts != 0 {
		t = m.axis.impulse(b.Linear.totalImpulse(i))
	}
	if b.Kind.hasPerpendicular() {
		t.add(m.perpendicular.impulse(b.PerpendicularImpulse[i]))
	}
	return t
}

// WarmStartJoints applies the accumulated impulses of blocks of joints [lo, hi) to the
// velocities of their bodies.
func (s *System) WarmStartJoints(level native.Level, lo, hi int) {
	kernelsOf(level).warmStartJoints(s, lo, hi)
}

func (s *System) warmStartJointsGo(lo, hi int) {
	var m jointBodies
	for n := lo; n < hi; n++ {
		b := &s.JointBlocks[n]
		for i := range b.Joints {
			m.load(b, i, s.States)
			if b.Parts&angularParts != 0 {
				m.applyAngularImpulse(b.Angular.totalImpulse(i))
			}
			if b.Kind.locksAngle() {
				m.applyAngularImpulse(b.Angular.SpringImpulse[i&(Lanes-1)])
			}
			t := b.accumulatedImpulse(i, &m)
			m.applyImpulse(t)
			m.applied = t
			m.store(b, i, s.States)
		}
	}
}

// refreshApplied replaces the effect of the accumulated impulses of the last sub-step, whose anchors and axes were
// different, by their effect with the current ones. Without it bodies that turn would be accelerated.
func (b *JointBlock) refreshApplied(i uint32, m *jointBodies) {
	now := b.accumulatedImpulse(i, m)
	if b.Kind.hasPoint() { // the impulse is the same
		m.wa -= float32(m.ia * (now.angularA - m.applied.angularA))
		m.wb += float32(m.ib * (now.angularB - m.applied.angularB))
	} else {
		m.applyImpulse(jointImpulse{now.x - m.applied.x, now.y - m.applied.y, now.angularA - m.applied.angularA, now.angularB - m.applied.angularB})
	}
	m.applied = now
}

// SolveJoints runs one iteration of each joint of blocks [lo, hi): springs and motors, limits, then rows. Rows come
// last, so that they hold exactly when the iteration ends. Parts of Angular come before those of Linear. Impulses are
// accumulated, and clamped as sums.
//
// For a row with position error C an iteration without bias makes the velocity v zero; it runs after the positions
// were integrated. An iteration with bias also removes C, as a spring of JointHertz and JointDamping does; a joint with
// PartTuned uses its Hertz and Damping instead. In a sub-step a joint may approach a limit at distance C > 0 by C.
//
// A spring with a frequency makes one implicit Euler step. Both iterations solve it for the position at which the
// sub-step began, so that the second does not change a spring that acts alone. With the new position it would damp a
// second time.
//
// The rows of a joint are solved together. The row of the angle is eliminated: the other rows get the impulses that
// fit it. They do not anticipate the correction of the angle, so that joints which contradict each other do not
// accelerate. A JointAxis is solved together with the rows, too: Angular with a point, Linear with the rows across it. It
// acts on the velocity that the rows will leave, with the effective mass while they act.
func (s *System) SolveJoints(level native.Level, useBias bool, lo, hi int) {
	kernelsOf(level).solveJoints(s, useBias, lo, hi)
}

func (s *System) solveJointsGo(useBias bool, lo, hi int) {
	soft := rigidSoftness
	if useBias {
		soft = s.step.jointSoftness
	}
	it := jointStep{soft, s.step.invH, useBias}
	var m jointBodies
	for n := lo; n < hi; n++ {
		b := &s.JointBlocks[n]
		for i := range b.Joints {
			m.load(b, i, s.States)
			if useBias {
				b.refreshApplied(i, &m)
				it.softness = b.softness(i, soft)
			}
			b.solveJoint(i, s.States, &m, &it)
			m.store(b, i, s.States)
		}
	}
}

// softness returns that of lane i: shared, if no joint of the block has PartTuned.
func (b *JointBlock) softness(i uint32, shared softness) softness {
	if b.Parts&PartTuned == 0 {
		return shared
	}
	i &= Lanes - 1
	return softness{b.BiasRate[i], b.MassScale[i], b.ImpulseScale[i]}
}

// maxPositionError is the position error, in metres or radians, beyond which an iteration with bias removes an error more
// slowly than its rate. maxBoundedError is the error up to which its force then has a bound.
const maxPositionError, maxBoundedError = 0.25, 1

// slowed is the softness for a position error of some size. Errors above maxPositionError are removed at its speed, so that
// bodies that are connected from far away come together at a bounded speed. The force of the softness has a bound, too, up to
// maxBoundedError: a damper that replaced the missing speed there would drive light bodies that connect heavy ones. Beyond, the
// damper grows with the error and the force against a load with it.
func (s softness) slowed(size float32) softness {
	part := maxPositionError / maxFloat(size, maxPositionError)
	impulse := float32(s.impulseScale * minFloat(float32(part*(maxBoundedError/maxPositionError)), 1))
	return softness{float32(s.biasRate * part), s.massScale + (s.impulseScale - impulse), impulse}
}

// jointStep holds the settings of an iteration of a joint.
type jointStep struct {
	softness softness // of rows and of springs that are rigid
	invH     float32
	useBias  bool
}

// positionError is the error of a spring: x in an iteration with bias, which stores it; the stored one
// otherwise.
func (it *jointStep) positionError(x float32, stored *float32) float32 {
	if it.useBias {
		*stored = x
	}
	return *stored
}

func (b *JointBlock) solveJoint(i uint32, states []State, m *jointBodies, it *jointStep) {
	angle := float32(0)
	if b.usesAngle() {
		angle = b.currentAngle(i, states)
	}
	if parts := b.Parts & angularParts; parts != 0 {
		m.applyAngularImpulse(b.Angular.solve(i, parts>>angularShift, b.angularState(i, m, angle, it), b.RigidAngular>>i&1 != 0, it))
	}
	if parts := b.Parts & linearParts; parts != 0 && !b.Kind.hasPoint() {
		m.applyImpulse(m.axis.impulse(b.Linear.solve(i, b.Parts, b.linearState(i, m, angle, it), b.RigidLinear>>i&1 != 0, it)))
	}
	lane, r := i&(Lanes-1), b.solveRows(i, m, angle, it)
	if b.Kind.hasPerpendicular() {
		b.PerpendicularImpulse[lane] = r.perpendicular
	}
	if b.Kind.locksAngle() {
		b.Angular.SpringImpulse[lane] = r.angle
	}
}

// currentAngle returns the current relative angle.
func (b *JointBlock) currentAngle(i uint32, states []State) float32 {
	i &= Lanes - 1
	stateA, stateB := &states[b.A[i]], &states[b.B[i]]
	sin := float32(stateB.S*stateA.C) - float32(stateB.C*stateA.S)
	cos := float32(stateB.C*stateA.C) + float32(stateB.S*stateA.S)
	return b.Angle[i] + Atan2(sin, cos)
}

// axisState is the state on which a JointAxis acts. The velocity is what the rows of the joint will leave of it. invMass is
// the inverse of the effective mass while the rows act as they do in this iteration. heldInvMass is that while they hold:
// the softness of springs and limits is in its units.
type axisState struct{ position, velocity, invMass, heldInvMass float32 }

func (b *JointBlock) angularState(i uint32, m *jointBodies, angle float32, it *jointStep) axisState {
	invMass := m.ia + m.ib
	state := axisState{angle, m.wb - m.wa, invMass, invMass}
	if b.Kind.hasPoint() {
		after := *m
		r := b.solveRows(i, &after, angle, it)
		state.velocity = after.wb - after.wa
		held := r.heldInvMass(m)
		if !r.bounded {
			state.heldInvMass = held
		}
		if !r.clamped {
			state.invMass = r.softness.yieldingInvMass(invMass, held)
		}
	}
	return state
}

func (b *JointBlock) linearState(i uint32, m *jointBodies, angle float32, it *jointStep) axisState {
	u := &m.axis
	invMass := m.invMassAlong(u)
	if b.Kind == JointDistance {
		if !(u.translation > 0) {
			invMass = 0
		}
		return axisState{u.translation, m.velocityAlong(u), invMass, invMass}
	}
	after := *m
	r := b.solveRows(i, &after, angle, it)
	held := b.heldInvMassAlong(i, m)
	return axisState{u.translation, after.velocityAlong(u), r.softness.yieldingInvMass(invMass, held), held}
}

// yieldingInvMass is an inverse mass between that without rows and that while they hold, as rows with this softness yield.
func (s *softness) yieldingInvMass(free, held float32) float32 {
	return float32(s.impulseScale*free) + float32(s.massScale*held)
}

// impulse is the new impulse of a soft constraint with velocity v.
func (a *axisState) impulse(soft *softness, v, old float32) float32 {
	compliance := float32(a.heldInvMass * soft.impulseScale)
	inv := inverse(float32(a.invMass*soft.massScale) + compliance)
	return (old - float32(float32(inv*soft.massScale)*v)) - float32(float32(inv*compliance)*old)
}

// solve does one iteration of a JointAxis, with parts given as those of Linear, and returns the impulse to add.
func (d *AxisBlock) solve(i uint32, parts JointParts, state axisState, rigid bool, it *jointStep) (sum float32) {
	i &= Lanes - 1
	add := func(impulse float32) {
		sum += impulse
		state.velocity += float32(state.invMass * impulse)
	}
	if parts&PartSpring != 0 {
		soft := softness{d.BiasRate[i], d.MassScale[i], d.ImpulseScale[i]}
		x := it.positionError(state.position-d.Target[i], &d.Error[i])
		if rigid {
			soft = it.softness.slowed(abs(x))
		}
		old, limit := d.SpringImpulse[i], d.MaxSpringImpulse[i]
		least := -limit
		if parts&PartSpringRange != 0 {
			least = d.MinSpringImpulse[i]
		}
		total := maxFloat(minFloat(state.impulse(&soft, state.velocity+float32(soft.biasRate*x), old), limit), least)
		if parts&PartLimits != 0 {
			total = d.yieldToLimits(i, &state, total, old, it)
		}
		d.SpringImpulse[i] = total
		add(total - old)
	}
	if parts&PartMotor != 0 {
		old, limit := d.MotorImpulse[i], d.MaxMotorImpulse[i]
		total := clamp(old-float32(inverse(state.invMass)*(state.velocity-d.MotorSpeed[i])), limit)
		if parts&PartLimits != 0 {
			total = d.yieldToLimits(i, &state, total, old, it)
		}
		d.MotorImpulse[i] = total
		add(total - old)
	}
	if parts&PartLimits != 0 {
		old := d.LowerImpulse[i]
		d.LowerImpulse[i] = it.solveLimit(&state, state.position-d.Lower[i], state.velocity, old)
		add(d.LowerImpulse[i] - old)
		old = d.UpperImpulse[i]
		d.UpperImpulse[i] = it.solveLimit(&state, d.Upper[i]-state.position, -state.velocity, old)
		add(old - d.UpperImpulse[i])
	}
	return sum
}

// yieldToLimits bounds the impulse of a spring or a motor, which was old before: it moves nothing beyond a limit, and does
// not press against one. But it need not brake a motion to a limit. So a limit bears only what other joints, contacts and
// forces exert, and need not be stronger than the spring and the motor.
func (d *AxisBlock) yieldToLimits(i uint32, state *axisState, total, old float32, it *jointStep) float32 {
	i &= Lanes - 1
	mass := inverse(state.invMass)
	free := state.velocity + float32(state.invMass*(d.UpperImpulse[i]-d.LowerImpulse[i])) // without limits
	toUpper := old - float32(mass*(free-float32((d.Upper[i]-state.position)*it.invH)))
	toLower := old - float32(mass*(free-float32((d.Lower[i]-state.position)*it.invH)))
	return maxFloat(minFloat(total, maxFloat(toUpper, minFloat(old, 0))), minFloat(toLower, maxFloat(old, 0)))
}

func clamp(x, limit float32) float32 { return maxFloat(minFloat(x, limit), -limit) }

// solveLimit is the impulse of a limit at a distance that grows at the velocity v.
func (it *jointStep) solveLimit(state *axisState, distance, v, old float32) float32 {
	soft := it.softness.slowed(-distance)
	if distance > 0 {
		soft = softness{biasRate: it.invH, massScale: 1}
	}
	return maxFloat(state.impulse(&soft, v+float32(soft.biasRate*distance), old), 0)
}

// rowImpulses are the impulses of rows, and how these have yielded.
type rowImpulses struct {
	perpendicular, angle float32
	softness             softness

	// Of points: the inverse mass with the compliance, the matrix of impulses at the anchors, whether the impulse has a
	// bound, and whether it has reached it.
	mass             float32
	matrix           symmetricMatrix
	bounded, clamped bool
}

// solveRows does one iteration of the rows. It changes the velocities and the applied impulse of m only.
func (b *JointBlock) solveRows(i uint32, m *jointBodies, angle float32, it *jointStep) (r rowImpulses) {
	if b.Kind.hasPoint() {
		b.solvePoint(i, m, angle, it, &r)
	} else if b.Kind.hasPerpendicular() {
		b.solvePerpendicular(i, m, angle, it, &r)
	}
	return r
}

// lockedInvInertia is the inverse inertia of two bodies while the angle is held: that of their anchors relative to
// each other.
func (m *jointBodies) lockedInvInertia(angularMass float32) float32 {
	return float32(float32(m.ia*m.ib) * angularMass)
}

// rowSoftness is the softness of all rows of a joint, for the position error of its other rows. The rows share it: each, and the
// axis of the joint, takes the others to yield as it does itself. Far from each other, bodies would drive it on otherwise.
func (b *JointBlock) rowSoftness(size, angle float32, it *jointStep) softness {
	if b.Kind.locksAngle() {
		size = maxFloat(size, abs(angle))
	}
	return it.softness.slowed(size)
}

// solveAngle holds the angle and returns the impulse. angularVelocity is the value before the other rows. correction is the
// effect of these rows on it, which solveAngle removes.
func (b *JointBlock) solveAngle(i uint32, m *jointBodies, angularVelocity, angle, correction float32, soft *softness) float32 {
	i &= Lanes - 1
	old, mass := b.Angular.SpringImpulse[i], b.AngularMass[i]
	v := float32(soft.massScale*(angularVelocity+float32(soft.biasRate*angle))) + correction
	total := (old - float32(mass*v)) - float32(soft.impulseScale*old)
	m.applyAngularImpulse(total - old)
	return total
}

// lastingImpulse is the change of the impulse of a row, without the part that ImpulseScale removes anyway.
func (s *softness) lastingImpulse(total, old float32) float32 {
	return (total - old) + float32(s.impulseScale*old)
}

func (b *JointBlock) solvePerpendicular(i uint32, m *jointBodies, angle float32, it *jointStep, r *rowImpulses) {
	i &= Lanes - 1
	u, angularVelocity, coupling, soft := &m.perpendicular, m.wb-m.wa, float32(0), b.rowSoftness(abs(m.perpendicular.translation), angle, it)
	v, invMass := m.velocityAlong(u)+float32(soft.biasRate*u.translation), float32(0)
	if b.Kind.locksAngle() {
		invMass = m.lockedInvMassAlong(u, b.AngularMass[i])
		coupling = float32(m.ia*u.crossA) + float32(m.ib*u.crossB)
		v -= float32(coupling * float32(angularVelocity*b.AngularMass[i]))
	} else {
		invMass = m.invMassAlong(u)
	}
	old := b.PerpendicularImpulse[i]
	total := (old - float32(float32(inverse(invMass)*soft.massScale)*v)) - float32(soft.impulseScale*old)
	r.perpendicular, r.softness = total, soft
	m.applyImpulse(u.impulse(total - old))
	if b.Kind.locksAngle() {
		r.angle = b.solveAngle(i, m, angularVelocity, angle, float32(coupling*soft.lastingImpulse(total, old)), &soft)
	}
}

// lockedInvMassAlong is invMassAlong while the angle is held.
func (m *jointBodies) lockedInvMassAlong(u *constraintAxis, angularMass float32) float32 {
	arm := u.crossB - u.crossA
	return (m.ma + m.mb) + float32(float32(m.lockedInvInertia(angularMass)*arm)*arm)
}

// heldInvMassAlong is the inverse mass along the axis while the rows hold: the quotient of the determinants of their
// matrices with the axis and without it. The first one is written as a sum of terms that are not negative.
func (b *JointBlock) heldInvMassAlong(i uint32, m *jointBodies) float32 {
	u, v, mass := &m.axis, &m.perpendicular, m.ma+m.mb
	if b.Kind.locksAngle() {
		angularMass := b.AngularMass[i&(Lanes-1)]
		along, across := m.lockedInvMassAlong(u, angularMass), m.lockedInvMassAlong(v, angularMass)
		return float32(mass * ((along + across) - mass) * inverse(across))
	}
	along, across := m.invMassAlong(u), m.invMassAlong(v)
	turn := float32(u.crossA*v.crossB) - float32(v.crossA*u.crossB)
	det := float32(mass*((along+across)-mass)) + float32(float32(m.ia*m.ib)*float32(turn*turn))
	return float32(det * inverse(across))
}

// symmetricMatrix is a symmetric matrix with its determinant.
type symmetricMatrix struct{ xx, xy, yy, det float32 }

// pointMatrix is the matrix K from impulses at the anchors to velocities there, where mass is the inverse mass.
// The determinant is written as a sum of terms that are not negative.
func (m *jointBodies) pointMatrix(mass float32) (k symmetricMatrix) {
	rod := float32(m.ax*m.by) - float32(m.ay*m.bx)
	iax, iay, ibx, iby := float32(m.ia*m.ax), float32(m.ia*m.ay), float32(m.ib*m.bx), float32(m.ib*m.by)
	k.xx = mass + (float32(iay*m.ay) + float32(iby*m.by))
	k.yy = mass + (float32(iax*m.ax) + float32(ibx*m.bx))
	k.xy = -(float32(iax*m.ay) + float32(ibx*m.by))
	k.det = float32(mass*((k.xx+k.yy)-mass)) + float32(float32(m.ia*m.ib)*float32(rod*rod))
	return k
}

// lockedPointMatrix is pointMatrix while the angle is held.
func (m *jointBodies) lockedPointMatrix(mass, angularMass float32) (k symmetricMatrix) {
	x, y, inertia := m.bx-m.ax, m.by-m.ay, m.lockedInvInertia(angularMass)
	ix, iy := float32(inertia*x), float32(inertia*y)
	k.xx = mass + float32(iy*y)
	k.yy = mass + float32(ix*x)
	k.xy = -float32(ix * y)
	k.det = float32(mass * ((k.xx + k.yy) - mass))
	return k
}

// solve is k⁻¹·(x, y).
func (k *symmetricMatrix) solve(x, y float32) (float32, float32) {
	inv := inverse(k.det)
	return float32((float32(k.yy*x) - float32(k.xy*y)) * inv), float32((float32(k.xx*y) - float32(k.xy*x)) * inv)
}

func (b *JointBlock) solvePoint(i uint32, m *jointBodies, angle float32, it *jointStep, r *rowImpulses) {
	i &= Lanes - 1
	mass := m.ma + m.mb
	vx := (m.vbx - float32(m.wb*m.by)) - (m.vax - float32(m.wa*m.ay))
	vy := (m.vby + float32(m.wb*m.bx)) - (m.vay + float32(m.wa*m.ax))
	oldX, oldY := m.applied.x, m.applied.y
	errorX, errorY := m.dx, m.dy
	soft := b.rowSoftness(maxFloat(abs(errorX), abs(errorY)), angle, it)
	if b.Parts&softParts != 0 {
		compliance := float32(0)
		errorX, errorY = it.positionError(errorX, &b.ErrorX[i]), it.positionError(errorY, &b.ErrorY[i])
		if b.RigidLinear>>i&1 == 0 {
			soft, compliance = softness{biasRate: b.Linear.BiasRate[i], massScale: 1}, float32(mass*b.Linear.ImpulseScale[i])
		}
		mass += compliance
		vx += float32(compliance * oldX)
		vy += float32(compliance * oldY)
	}
	if b.Parts&PartVelocity != 0 {
		vx -= m.velocityX
		vy -= m.velocityY
	}
	vx += float32(soft.biasRate * errorX)
	vy += float32(soft.biasRate * errorY)
	coupling := Vec{}
	var k symmetricMatrix
	if b.Kind.locksAngle() {
		k = m.lockedPointMatrix(mass, b.AngularMass[i])
		coupling = Vec{-(float32(m.ia*m.ay) + float32(m.ib*m.by)), float32(m.ia*m.ax) + float32(m.ib*m.bx)}
		angularImpulse := (m.wb - m.wa) * b.AngularMass[i]
		vx -= float32(coupling.X * angularImpulse)
		vy -= float32(coupling.Y * angularImpulse)
	} else {
		k = m.pointMatrix(mass)
	}
	x, y := k.solve(vx, vy)
	x = (oldX - float32(soft.massScale*x)) - float32(soft.impulseScale*oldX)
	y = (oldY - float32(soft.massScale*y)) - float32(soft.impulseScale*oldY)
	r.softness, r.mass, r.matrix = soft, mass, k
	if b.Parts&softParts != 0 {
		limit := b.Linear.MaxSpringImpulse[i]
		r.bounded, r.clamped = limit < inf, exceedsLength(x, y, limit)
		if r.clamped {
			x, y = k.bounded(vx-(float32(k.xx*oldX)+float32(k.xy*oldY)), vy-(float32(k.xy*oldX)+float32(k.yy*oldY)), limit)
		}
	}
	angularVelocity := m.wb - m.wa
	m.applyImpulse(m.impulseAtAnchors(x-oldX, y-oldY))
	m.applied.x, m.applied.y = x, y
	if b.Kind.locksAngle() {
		correction := float32(coupling.X*soft.lastingImpulse(x, oldX)) + float32(coupling.Y*soft.lastingImpulse(y, oldY))
		r.angle = b.solveAngle(i, m, angularVelocity, angle, correction, &soft)
	}
}

// heldInvMass is the inverse of the effective mass of the relative angle while the point holds: the quotient of the
// determinants of the matrices with the angle and without it. Both are sums of terms that are not negative. Both are divided
// by the inverse mass before they are built: products of three inverse masses can be infinite.
func (r *rowImpulses) heldInvMass(m *jointBodies) float32 {
	x, y, rod := m.bx-m.ax, m.by-m.ay, float32(m.ax*m.by)-float32(m.ay*m.bx)
	square, inertia := float32(x*x)+float32(y*y), float32(m.ia*m.ib)
	inv := inverse(((r.matrix.xx + r.matrix.yy) - r.mass) + float32(float32(inertia*float32(rod*rod))*inverse(r.mass)))
	return float32(float32(r.mass*inv)*(m.ia+m.ib)) + float32(float32(inertia*inv)*square)
}

// exceedsLength reports whether an impulse is longer than a limit.
func exceedsLength(x, y, limit float32) bool {
	return float32(x*x)+float32(y*y) > float32(limit*limit)
}

// bounded is the impulse of length bound for a velocity that is there without it, if k⁻¹ times the velocity is longer. If the
// bodies can turn, that does not point to the target of a spring. The exact impulse of a spring whose force has a bound is
// (k + shift)⁻¹ times the velocity, with the shift that gives it its length. Its direction changes from that of k⁻¹ to that
// of the velocity as the shift grows. It is taken with a lower bound of the shift.
func (k *symmetricMatrix) bounded(vx, vy, bound float32) (float32, float32) {
	speed := sqrt(float32(vx*vx) + float32(vy*vy))
	trace := k.xx + k.yy
	shift := minFloat(maxFloat(float32(speed*inverse(bound))-trace, 0), maxShift)
	scale := inverse(trace + shift)
	xx, xy, yy := float32((k.xx+shift)*scale), float32(k.xy*scale), float32((k.yy+shift)*scale)
	inv := -inverse(speed)
	x, y := float32(vx*inv), float32(vy*inv)
	x, y = float32(yy*x)-float32(xy*y), float32(xx*y)-float32(xy*x)
	inv = inverse(sqrt(float32(x*x) + float32(y*y))) // the direction comes first: the bound over a tiny length can be infinite
	return float32(bound * float32(x*inv)), float32(bound * float32(y*inv))
}

// maxShift keeps the sums of bounded finite. It is beyond all inverse masses.
const maxShift = 1e30

// StoreJointImpulses writes the impulses of blocks of joints [lo, hi) to their joints, or zeros if they are not bounded.
func (s *System) StoreJointImpulses(level native.Level, lo, hi int) {
	kernelsOf(level).storeJointImpulses(s, lo, hi)
}

func (s *System) storeJointImpulsesGo(lo, hi int) {
	for n := lo; n < hi; n++ {
		b := &s.JointBlocks[n]
		for i, j := range s.JointColours.Edge[n*Lanes:][:b.Joints] {
			b.storeImpulses(i&(Lanes-1), &s.Joints[j])
			if !b.bounded(i&(Lanes-1), &s.Joints[j], s.States) {
				s.Joints[j].PointImpulse, s.Joints[j].LinearImpulse, s.Joints[j].AngularImpulse = Vec{}, AxisImpulse{}, AxisImpulse{}
			}
		}
	}
}

// maxImpulseSpeed is the velocity in m/s or rad/s from which on the impulses of a joint are taken not to hold its bodies: those
// of joints that contradict each other grow in each step, and would become infinite.
const maxImpulseSpeed = 0x1p40

// bounded reports whether the impulses of a joint change no velocity by more than maxImpulseSpeed.
func (b *JointBlock) bounded(i int, j *Joint, states []State) bool {
	linear := (abs(j.PointImpulse.X) + abs(j.PointImpulse.Y)) + j.LinearImpulse.size()
	invMass := states[b.A[i]].InvMass + states[b.B[i]].InvMass
	return float32(linear*invMass) <= maxImpulseSpeed && float32(j.AngularImpulse.size()*(b.InvIA[i]+b.InvIB[i])) <= maxImpulseSpeed
}

func (a *AxisImpulse) size() float32 {
	return (abs(a.Spring) + abs(a.Motor)) + (abs(a.Lower) + abs(a.Upper))
}

func (b *JointBlock) storeImpulses(i int, j *Joint) {
	if b.Kind.hasPoint() {
		j.PointImpulse = Vec{b.ImpulseX[i], b.ImpulseY[i]}
	} else if b.Kind.hasPerpendicular() {
		j.PointImpulse.X = b.PerpendicularImpulse[i]
	}
	if b.Parts&linearParts != 0 && !b.Kind.hasPoint() {
		j.LinearImpulse = b.Linear.impulses(i)
	}
	if b.Parts&angularParts != 0 {
		j.AngularImpulse = b.Angular.impulses(i)
	} else if b.Kind.locksAngle() {
		j.AngularImpulse.Spring = b.Angular.SpringImpulse[i]
	}
}

func (d *AxisBlock) impulses(i int) AxisImpulse {
	return AxisImpulse{d.SpringImpulse[i], d.MotorImpulse[i], d.LowerImpulse[i], d.UpperImpulse[i]}
}
