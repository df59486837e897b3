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
// accelerate.
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

// maxPositionError is the greatest position error, in metres or radians, that an iteration with bias removes at its
// rate. So bodies that are connected from far away come together at a bounded speed.
const maxPositionError = 0.25

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
		state := axisState{angle, m.wb - m.wa, m.ia + m.ib, b.AngularMass[i&(Lanes-1)]}
		m.applyAngularImpulse(b.Angular.solve(i, parts>>angularShift, state, b.RigidAngular>>i&1 != 0, it))
	}
	switch {
	case b.Kind.hasPoint():
		b.solvePoint(i, m, angle, it)
	case b.Parts&linearParts != 0:
		b.solveLinear(i, m, it)
	}
	if b.Kind.hasPerpendicular() {
		b.solvePerpendicular(i, m, angle, it)
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

func (b *JointBlock) solveLinear(i uint32, m *jointBodies, it *jointStep) {
	u := &m.axis
	invMass := m.invMassAlong(u)
	effectiveMass := inverse(invMass)
	if b.Kind == JointDistance && !(u.translation > 0) {
		effectiveMass = 0
	}
	state := axisState{u.translation, m.velocityAlong(u), invMass, effectiveMass}
	m.applyImpulse(u.impulse(b.Linear.solve(i, b.Parts, state, b.RigidLinear>>i&1 != 0, it)))
}

// axisState is the state on which a JointAxis acts: position, velocity, and effective mass with its inverse.
type axisState struct{ position, velocity, invMass, effectiveMass float32 }

// solve does one iteration of a JointAxis, with parts given as those of Linear, and returns the impulse to add.
func (d *AxisBlock) solve(i uint32, parts JointParts, state axisState, rigid bool, it *jointStep) (sum float32) {
	i &= Lanes - 1
	add := func(impulse float32) {
		sum += impulse
		state.velocity += float32(state.invMass * impulse)
	}
	if parts&PartSpring != 0 {
		soft, maxError := softness{d.BiasRate[i], d.MassScale[i], d.ImpulseScale[i]}, inf
		if rigid {
			soft, maxError = it.softness, maxPositionError
		}
		old, limit := d.SpringImpulse[i], d.MaxSpringImpulse[i]
		least := -limit
		if parts&PartSpringRange != 0 {
			least = d.MinSpringImpulse[i]
		}
		v := state.velocity + float32(soft.biasRate*it.positionError(clamp(state.position-d.Target[i], maxError), &d.Error[i]))
		total := (old - float32(float32(state.effectiveMass*soft.massScale)*v)) - float32(soft.impulseScale*old)
		d.SpringImpulse[i] = maxFloat(minFloat(total, limit), least)
		add(d.SpringImpulse[i] - old)
	}
	if parts&PartMotor != 0 {
		old, limit := d.MotorImpulse[i], d.MaxMotorImpulse[i]
		d.MotorImpulse[i] = clamp(old-float32(state.effectiveMass*(state.velocity-d.MotorSpeed[i])), limit)
		add(d.MotorImpulse[i] - old)
	}
	if parts&PartLimits != 0 {
		old := d.LowerImpulse[i]
		d.LowerImpulse[i] = it.solveLimit(state.position-d.Lower[i], state.velocity, state.effectiveMass, old)
		add(d.LowerImpulse[i] - old)
		old = d.UpperImpulse[i]
		d.UpperImpulse[i] = it.solveLimit(d.Upper[i]-state.position, -state.velocity, state.effectiveMass, old)
		add(old - d.UpperImpulse[i])
	}
	return sum
}

func clamp(x, limit float32) float32 { return maxFloat(minFloat(x, limit), -limit) }

// solveLimit is the impulse of a limit at a distance that grows at the velocity v.
func (it *jointStep) solveLimit(distance, v, mass, old float32) float32 {
	bias, massScale, impulseScale := float32(it.softness.biasRate*clamp(distance, maxPositionError)), it.softness.massScale, it.softness.impulseScale
	if distance > 0 {
		bias, massScale, impulseScale = float32(distance*it.invH), 1, 0
	}
	return maxFloat((old-float32(float32(mass*massScale)*(v+bias)))-float32(impulseScale*old), 0)
}

// lockedInvInertia is the inverse inertia of two bodies while the angle is held: that of their anchors relative to
// each other.
func (m *jointBodies) lockedInvInertia(angularMass float32) float32 {
	return float32(float32(m.ia*m.ib) * angularMass)
}

// solveAngle holds the angle. angularVelocity is the value before the other rows. correction is the effect of these
// rows on it, which solveAngle removes.
func (b *JointBlock) solveAngle(i uint32, m *jointBodies, angularVelocity, angle, correction float32, it *jointStep) {
	i &= Lanes - 1
	old, mass := b.Angular.SpringImpulse[i], b.AngularMass[i]
	v := float32(it.softness.massScale*(angularVelocity+float32(it.softness.biasRate*clamp(angle, maxPositionError)))) + correction
	total := (old - float32(mass*v)) - float32(it.softness.impulseScale*old)
	b.Angular.SpringImpulse[i] = total
	m.applyAngularImpulse(total - old)
}

// lastingImpulse is the change of the impulse of a row, without the part that ImpulseScale removes anyway.
func (it *jointStep) lastingImpulse(total, old float32) float32 {
	return (total - old) + float32(it.softness.impulseScale*old)
}

func (b *JointBlock) solvePerpendicular(i uint32, m *jointBodies, angle float32, it *jointStep) {
	i &= Lanes - 1
	u, angularVelocity, coupling := &m.perpendicular, m.wb-m.wa, float32(0)
	v, invMass := m.velocityAlong(u)+float32(it.softness.biasRate*clamp(u.translation, maxPositionError)), float32(0)
	if b.Kind.locksAngle() {
		arm := u.crossB - u.crossA
		invMass = (m.ma + m.mb) + float32(float32(m.lockedInvInertia(b.AngularMass[i])*arm)*arm)
		coupling = float32(m.ia*u.crossA) + float32(m.ib*u.crossB)
		v -= float32(coupling * float32(angularVelocity*b.AngularMass[i]))
	} else {
		invMass = m.invMassAlong(u)
	}
	old := b.PerpendicularImpulse[i]
	total := (old - float32(float32(inverse(invMass)*it.softness.massScale)*v)) - float32(it.softness.impulseScale*old)
	b.PerpendicularImpulse[i] = total
	m.applyImpulse(u.impulse(total - old))
	if b.Kind.locksAngle() {
		b.solveAngle(i, m, angularVelocity, angle, float32(coupling*it.lastingImpulse(total, old)), it)
	}
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

func (b *JointBlock) solvePoint(i uint32, m *jointBodies, angle float32, it *jointStep) {
	i &= Lanes - 1
	soft, mass, maxError := it.softness, m.ma+m.mb, float32(maxPositionError)
	vx := (m.vbx - float32(m.wb*m.by)) - (m.vax - float32(m.wa*m.ay))
	vy := (m.vby + float32(m.wb*m.bx)) - (m.vay + float32(m.wa*m.ax))
	oldX, oldY := m.applied.x, m.applied.y
	errorX, errorY := m.dx, m.dy
	if b.Parts&softParts != 0 {
		compliance := float32(0)
		if b.RigidLinear>>i&1 == 0 {
			soft, compliance, maxError = softness{biasRate: b.Linear.BiasRate[i], massScale: 1}, float32(mass*b.Linear.ImpulseScale[i]), inf
		}
		mass += compliance
		vx += float32(compliance * oldX)
		vy += float32(compliance * oldY)
		errorX, errorY = it.positionError(errorX, &b.ErrorX[i]), it.positionError(errorY, &b.ErrorY[i])
	}
	if b.Parts&PartVelocity != 0 {
		vx -= m.velocityX
		vy -= m.velocityY
	}
	vx += float32(soft.biasRate * clamp(errorX, maxError))
	vy += float32(soft.biasRate * clamp(errorY, maxError))
	biasVelocity, coupling := Vec{vx, vy}, Vec{}
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
	if b.Parts&softParts != 0 {
		x, y = clampImpulse(x, y, b.Linear.MaxSpringImpulse[i], biasVelocity)
	}
	angularVelocity := m.wb - m.wa
	m.applyImpulse(m.impulseAtAnchors(x-oldX, y-oldY))
	m.applied.x, m.applied.y = x, y
	if b.Kind.locksAngle() {
		correction := float32(coupling.X*it.lastingImpulse(x, oldX)) + float32(coupling.Y*it.lastingImpulse(y, oldY))
		b.solveAngle(i, m, angularVelocity, angle, correction, it)
	}
}

// clampImpulse limits an impulse. It replaces one that is too long by one against biasVelocity, towards the target of
// the spring: if the bodies can turn, the impulse itself does not point there. The direction comes first: the limit over
// a tiny velocity can be infinite.
func clampImpulse(x, y, limit float32, biasVelocity Vec) (float32, float32) {
	if float32(x*x)+float32(y*y) > float32(limit*limit) {
		inv := inverse(sqrt(float32(biasVelocity.X*biasVelocity.X) + float32(biasVelocity.Y*biasVelocity.Y)))
		x, y = -limit*float32(biasVelocity.X*inv), -limit*float32(biasVelocity.Y*inv)
	}
	return x, y
}

// StoreJointImpulses writes the impulses of blocks of joints [lo, hi) to their joints.
func (s *System) StoreJointImpulses(level native.Level, lo, hi int) {
	kernelsOf(level).storeJointImpulses(s, lo, hi)
}

func (s *System) storeJointImpulsesGo(lo, hi int) {
	for n := lo; n < hi; n++ {
		b := &s.JointBlocks[n]
		for i, j := range s.JointColours.Joint[n*Lanes:][:b.Joints] {
			b.storeImpulses(i&(Lanes-1), &s.Joints[j])
		}
	}
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
