package rigid

import (
	"math"

	"github.com/evertick/evertick/native"
)

// jointPair is what the joint of a lane works on: two bodies, and where its anchors are.
type jointPair struct {
	vax, vay, wa, ma, ia float32
	vbx, vby, wb, mb, ib float32

	ax, ay, bx, by float32 // anchors from the centres, now
	dx, dy         float32 // anchor B from anchor A

	axis, across direction // of kinds that have them

	given thrust // in the sub-step so far
}

// thrust is an impulse on B and its reverse on A, with those that turn A and B as it is not at their
// centres.
type thrust struct{ x, y, turnA, turnB float32 }

func (t *thrust) add(o thrust) {
	t.x += o.x
	t.y += o.y
	t.turnA += o.turnA
	t.turnB += o.turnB
}

// take gathers the bodies of lane i. Anchors and axes turn with their bodies, so that lengths hold
// through a step.
func (m *jointPair) take(b *JointBlock, i uint32, states []State) {
	stateA, stateB := &states[b.A[i&(Lanes-1)]], &states[b.B[i&(Lanes-1)]]
	i &= Lanes - 1
	m.vax, m.vay, m.wa, m.ma, m.ia = stateA.VX, stateA.VY, stateA.W, stateA.InvMass, b.InvIA[i]
	m.vbx, m.vby, m.wb, m.mb, m.ib = stateB.VX, stateB.VY, stateB.W, stateB.InvMass, b.InvIB[i]
	m.ax, m.ay = turned(stateA.C, stateA.S, b.AnchorAX[i], b.AnchorAY[i])
	m.bx, m.by = turned(stateB.C, stateB.S, b.AnchorBX[i], b.AnchorBY[i])
	m.dx = ((b.DeltaCentreX[i] + (stateB.DX - stateA.DX)) + m.bx) - m.ax
	m.dy = ((b.DeltaCentreY[i] + (stateB.DY - stateA.DY)) + m.by) - m.ay
	m.given = thrust{b.ImpulseX[i], b.ImpulseY[i], b.AngularImpulseA[i], b.AngularImpulseB[i]}
	if b.Kind == JointDistance {
		m.alongAnchors()
	} else if b.Kind.hasLine() {
		m.alongAxis(turned(stateA.C, stateA.S, b.AxisX[i], b.AxisY[i]))
	}
}

// put writes the velocities of dynamic bodies back, and what was given.
func (m *jointPair) put(b *JointBlock, i uint32, states []State) {
	lane := i & (Lanes - 1)
	b.ImpulseX[lane], b.ImpulseY[lane], b.AngularImpulseA[lane], b.AngularImpulseB[lane] = m.given.x, m.given.y, m.given.turnA, m.given.turnB
	if b.DynamicA>>i&1 != 0 {
		st := &states[b.A[i&(Lanes-1)]]
		st.VX, st.VY, st.W = m.vax, m.vay, m.wa
	}
	if b.DynamicB>>i&1 != 0 {
		st := &states[b.B[i&(Lanes-1)]]
		st.VX, st.VY, st.W = m.vbx, m.vby, m.wb
	}
}

// push gives a thrust.
func (m *jointPair) push(t thrust) {
	m.vax -= float32(m.ma * t.x)
	m.vay -= float32(m.ma * t.y)
	m.wa -= float32(m.ia * t.turnA)
	m.vbx += float32(m.mb * t.x)
	m.vby += float32(m.mb * t.y)
	m.wb += float32(m.ib * t.turnB)
	m.given.add(t)
}

func (m *jointPair) turn(impulse float32) {
	m.wa -= float32(m.ia * impulse)
	m.wb += float32(m.ib * impulse)
}

// atAnchors is the thrust of an impulse on the anchors.
func (m *jointPair) atAnchors(x, y float32) thrust {
	return thrust{x, y, float32(m.ax*y) - float32(m.ay*x), float32(m.bx*y) - float32(m.by*x)}
}

// direction is a unit vector along which the bodies are pushed, with the levers of the
// impulse, and where anchor B is on it as seen from anchor A.
type direction struct{ x, y, leverA, leverB, at float32 }

// alongAnchors makes the axis that from anchor to anchor. If they are in one place it has no
// length.
func (m *jointPair) alongAnchors() {
	at := float32(math.Sqrt(float64(float32(m.dx*m.dx) + float32(m.dy*m.dy))))
	inv := inverse(at)
	x, y := float32(m.dx*inv), float32(m.dy*inv)
	m.axis = direction{x, y, float32(m.ax*y) - float32(m.ay*x), float32(m.bx*y) - float32(m.by*x), at}
}

// alongAxis sets the axis and the direction to its left. A is pushed where anchor B is.
func (m *jointPair) alongAxis(x, y float32) {
	ax, ay, bx, by, dx, dy := m.ax+m.dx, m.ay+m.dy, m.bx, m.by, m.dx, m.dy
	m.axis = direction{x, y, float32(ax*y) - float32(ay*x), float32(bx*y) - float32(by*x), float32(dx*x) + float32(dy*y)}
	m.across = direction{-y, x, float32(ax*x) + float32(ay*y), float32(bx*x) + float32(by*y), float32(dy*x) - float32(dx*y)}
}

// speed is that of anchor B along u.
func (m *jointPair) speed(u *direction) float32 {
	v := float32((m.vbx-m.vax)*u.x) + float32((m.vby-m.vay)*u.y)
	return v + (float32(m.wb*u.leverB) - float32(m.wa*u.leverA))
}

// yield is the speed that a unit impulse along u gives: an inverse effective mass.
func (m *jointPair) yield(u *direction) float32 {
	turning := float32(float32(m.ia*u.leverA)*u.leverA) + float32(float32(m.ib*u.leverB)*u.leverB)
	return (m.ma + m.mb) + turning
}

func (u *direction) thrust(impulse float32) thrust {
	return thrust{float32(impulse * u.x), float32(impulse * u.y), float32(impulse * u.leverA), float32(impulse * u.leverB)}
}

// sum is the impulse of a JointAxis as it is.
func (d *AxisBlock) sum(i uint32) float32 {
	i &= Lanes - 1
	return ((d.SpringImpulse[i] + d.MotorImpulse[i]) + d.LowerImpulse[i]) - d.UpperImpulse[i]
}

// held is the thrust of the accumulated impulses with anchors and axes as they are now.
func (b *JointBlock) held(i uint32, m *jointPair) (t thrust) {
	i &= Lanes - 1
	if b.Kind.hasPoint() {
		return m.atAnchors(b.ImpulseX[i], b.ImpulseY[i])
	}
	if b.Parts&linearParts != 0 {
		t = m.axis.thrust(b.Linear.sum(i))
	}
	if b.Kind.hasLine() {
		t.add(m.across.thrust(b.PerpendicularImpulse[i]))
	}
	return t
}

// WarmStartJoints applies the accumulated impulses of blocks of joints [lo, hi) to the
// velocities of their bodies.
func (s *System) WarmStartJoints(level native.Level, lo, hi int) {
	blocks := s.JointBlocks[lo:hi]
	if level = must(level); level != native.Go && len(blocks) > 0 {
		s.warmStartJointsC(level, blocks)
		return
	}
	s.warmStartJointsGo(blocks)
}

func (s *System) warmStartJointsGo(blocks []JointBlock) {
	var m jointPair
	for n := range blocks {
		b := &blocks[n]
		for i := range b.Joints {
			m.take(b, i, s.States)
			if b.Parts&turnParts != 0 {
				m.turn(b.Angular.sum(i))
			}
			if b.Kind.hasLock() {
				m.turn(b.Angular.SpringImpulse[i&(Lanes-1)])
			}
			t := b.held(i, &m)
			m.push(t)
			m.given = t
			m.put(b, i, s.States)
		}
	}
}

// renew is for a sub-step that began with what the accumulated impulses gave in the one before, where
// anchors and axes were different: it makes that what they give now. Without it bodies
// that turn would be driven on.
func (b *JointBlock) renew(i uint32, m *jointPair) {
	now := b.held(i, m)
	if b.Kind.hasPoint() { // the impulse is the same
		m.wa -= float32(m.ia * (now.turnA - m.given.turnA))
		m.wb += float32(m.ib * (now.turnB - m.given.turnB))
	} else {
		m.push(thrust{now.x - m.given.x, now.y - m.given.y, now.turnA - m.given.turnA, now.turnB - m.given.turnB})
	}
	m.given = now
}

// SolveJoints does one iteration of each joint of blocks [lo, hi): springs and motors, limits, then
// what is rigid, so that it is this that holds when the iteration ends. Parts of Angular go
// before those of Linear. Impulses are accumulated, and bounded as sums.
//
// A row that is off by x has the velocity v made zero by a relaxing iteration, which follows after the
// positions were integrated; a biased one also removes x, as the spring that JointHertz and
// JointDamping describe. A limit that is x > 0 away may be approached by x in the sub-step.
//
// A spring of some frequency makes one implicit Euler step of the sub-step: both iterations solve it
// for the position in which the sub-step began, so that a spring on its own is left by the second as it
// was after the first. At the position to which it has led already it would damp once more.
//
// The rows of a joint are solved at once. What holds the angle is eliminated: the other rows are
// given the impulses that fit with it. How it is turned back if it is off is not foreseen, so that joints
// that cannot all hold do not drive each other on.
func (s *System) SolveJoints(level native.Level, useBias bool, lo, hi int) {
	blocks := s.JointBlocks[lo:hi]
	if level = must(level); level != native.Go && len(blocks) > 0 {
		s.solveJointsC(level, useBias, blocks)
		return
	}
	s.solveJointsGo(useBias, blocks)
}

func (s *System) solveJointsGo(useBias bool, blocks []JointBlock) {
	it := jointIteration{rigidly, s.pace.invH, useBias}
	if useBias {
		it.rigid = s.pace.joint
	}
	var m jointPair
	for n := range blocks {
		b := &blocks[n]
		for i := range b.Joints {
			m.take(b, i, s.States)
			if useBias {
				b.renew(i, &m)
			}
			b.solve(i, s.States, &m, &it)
			m.put(b, i, s.States)
		}
	}
}

// farthest is how much of what a joint is off a biased iteration removes at its rate, in metres or
// radians: bodies that are tied from afar come together at a bounded speed.
const farthest = 0.25

// jointIteration is what an iteration of all joints has in common.
type jointIteration struct {
	rigid  softness // of rows and of springs that are rigid
	invH   float32
	biased bool
}

// off is by how much a spring is off: x in a biased iteration, which stores it, and what that has stored
// in a relaxing one.
func (it *jointIteration) off(x float32, stored *float32) float32 {
	if it.biased {
		*stored = x
	}
	return *stored
}

func (b *JointBlock) solve(i uint32, states []State, m *jointPair, it *jointIteration) {
	angle := float32(0)
	if b.usesAngle() {
		angle = b.angle(i, states)
	}
	if parts := b.Parts & turnParts; parts != 0 {
		c := coordinate{angle, m.wb - m.wa, m.ia + m.ib, b.AngularMass[i&(Lanes-1)]}
		m.turn(b.Angular.solve(i, parts>>turnShift, c, b.RigidAngular>>i&1 != 0, it))
	}
	switch {
	case b.Kind.hasPoint():
		b.solvePoint(i, m, angle, it)
	case b.Parts&linearParts != 0:
		b.solveLinear(i, m, it)
	}
	if b.Kind.hasLine() {
		b.solveLine(i, m, angle, it)
	}
}

// angle is the relative angle now.
func (b *JointBlock) angle(i uint32, states []State) float32 {
	i &= Lanes - 1
	stateA, stateB := &states[b.A[i]], &states[b.B[i]]
	sin := float32(stateB.S*stateA.C) - float32(stateB.C*stateA.S)
	cos := float32(stateB.C*stateA.C) + float32(stateB.S*stateA.S)
	return b.Angle[i] + Atan2(sin, cos)
}

func (b *JointBlock) solveLinear(i uint32, m *jointPair, it *jointIteration) {
	u := &m.axis
	yield := m.yield(u)
	mass := inverse(yield)
	if b.Kind == JointDistance && !(u.at > 0) {
		mass = 0
	}
	c := coordinate{u.at, m.speed(u), yield, mass}
	m.push(u.thrust(b.Linear.solve(i, b.Parts, c, b.RigidLinear>>i&1 != 0, it)))
}

// coordinate is what a JointAxis acts on: how far it is, its velocity, and the
// effective mass with its inverse.
type coordinate struct{ at, v, yield, mass float32 }

// solve does one iteration of a JointAxis, whose parts are those of a linear one, and returns the
// impulse to add.
func (d *AxisBlock) solve(i uint32, parts JointParts, c coordinate, rigid bool, it *jointIteration) (sum float32) {
	i &= Lanes - 1
	add := func(more float32) {
		sum += more
		c.v += float32(c.yield * more)
	}
	if parts&PartSpring != 0 {
		soft, reach := softness{d.BiasRate[i], d.MassScale[i], d.ImpulseScale[i]}, infinity
		if rigid {
			soft, reach = it.rigid, farthest
		}
		old, limit := d.SpringImpulse[i], d.MaxSpringImpulse[i]
		v := c.v + float32(soft.rate*it.off(upTo(c.at-d.Target[i], reach), &d.Error[i]))
		total := (old - float32(float32(c.mass*soft.mass)*v)) - float32(soft.impulse*old)
		d.SpringImpulse[i] = upTo(total, limit)
		add(d.SpringImpulse[i] - old)
	}
	if parts&PartMotor != 0 {
		old, limit := d.MotorImpulse[i], d.MaxMotorImpulse[i]
		d.MotorImpulse[i] = upTo(old-float32(c.mass*(c.v-d.MotorSpeed[i])), limit)
		add(d.MotorImpulse[i] - old)
	}
	if parts&PartLimits != 0 {
		old := d.LowerImpulse[i]
		d.LowerImpulse[i] = it.stop(c.at-d.Lower[i], c.v, c.mass, old)
		add(d.LowerImpulse[i] - old)
		old = d.UpperImpulse[i]
		d.UpperImpulse[i] = it.stop(d.Upper[i]-c.at, -c.v, c.mass, old)
		add(old - d.UpperImpulse[i])
	}
	return sum
}

func upTo(x, limit float32) float32 { return most(least(x, limit), -limit) }

// stop is the impulse of a limit that is x away and is left at the velocity v.
func (it *jointIteration) stop(x, v, mass, old float32) float32 {
	bias, scale, leak := float32(it.rigid.rate*upTo(x, farthest)), it.rigid.mass, it.rigid.impulse
	if x > 0 {
		bias, scale, leak = float32(x*it.invH), 1, 0
	}
	return most((old-float32(float32(mass*scale)*(v+bias)))-float32(leak*old), 0)
}

// locked is the inverse inertia of the two bodies about their centres that is left if their angle is
// held: of their anchors from each other.
func (m *jointPair) locked(turnMass float32) float32 { return float32(float32(m.ia*m.ib) * turnMass) }

// solveLock holds the angle, where spin is the velocity of turning before the other rows, and takes
// back what these gave to it.
func (b *JointBlock) solveLock(i uint32, m *jointPair, spin, angle, given float32, it *jointIteration) {
	i &= Lanes - 1
	old, mass := b.Angular.SpringImpulse[i], b.AngularMass[i]
	v := float32(it.rigid.mass*(spin+float32(it.rigid.rate*upTo(angle, farthest)))) + given
	total := (old - float32(mass*v)) - float32(it.rigid.impulse*old)
	b.Angular.SpringImpulse[i] = total
	m.turn(total - old)
}

// taken is what the impulse of a row, old before, gives that is not leaked anyway.
func (it *jointIteration) taken(total, old float32) float32 {
	return (total - old) + float32(it.rigid.impulse*old)
}

func (b *JointBlock) solveLine(i uint32, m *jointPair, angle float32, it *jointIteration) {
	i &= Lanes - 1
	u, spin, share := &m.across, m.wb-m.wa, float32(0)
	v, yield := m.speed(u)+float32(it.rigid.rate*upTo(u.at, farthest)), float32(0)
	if b.Kind.hasLock() {
		arm := u.leverB - u.leverA
		yield = (m.ma + m.mb) + float32(float32(m.locked(b.AngularMass[i])*arm)*arm)
		share = float32(m.ia*u.leverA) + float32(m.ib*u.leverB)
		v -= float32(share * float32(spin*b.AngularMass[i]))
	} else {
		yield = m.yield(u)
	}
	old := b.PerpendicularImpulse[i]
	total := (old - float32(float32(inverse(yield)*it.rigid.mass)*v)) - float32(it.rigid.impulse*old)
	b.PerpendicularImpulse[i] = total
	m.push(u.thrust(total - old))
	if b.Kind.hasLock() {
		b.solveLock(i, m, spin, angle, float32(share*it.taken(total, old)), it)
	}
}

// matrix is a symmetric one, with its determinant.
type matrix struct{ xx, xy, yy, det float32 }

// yieldPoint is the matrix that makes velocities at the anchors of impulses there, where mass is the
// inverse mass. The determinant is written as a sum of what is not negative.
func (m *jointPair) yieldPoint(mass float32) (k matrix) {
	rod := float32(m.ax*m.by) - float32(m.ay*m.bx)
	iax, iay, ibx, iby := float32(m.ia*m.ax), float32(m.ia*m.ay), float32(m.ib*m.bx), float32(m.ib*m.by)
	k.xx = mass + (float32(iay*m.ay) + float32(iby*m.by))
	k.yy = mass + (float32(iax*m.ax) + float32(ibx*m.bx))
	k.xy = -(float32(iax*m.ay) + float32(ibx*m.by))
	k.det = float32(mass*((k.xx+k.yy)-mass)) + float32(float32(m.ia*m.ib)*float32(rod*rod))
	return k
}

// yieldLocked is that if the angle is held.
func (m *jointPair) yieldLocked(mass, turnMass float32) (k matrix) {
	x, y, inertia := m.bx-m.ax, m.by-m.ay, m.locked(turnMass)
	ix, iy := float32(inertia*x), float32(inertia*y)
	k.xx = mass + float32(iy*y)
	k.yy = mass + float32(ix*x)
	k.xy = -float32(ix * y)
	k.det = float32(mass * ((k.xx + k.yy) - mass))
	return k
}

// solve is k⁻¹·(x, y).
func (k *matrix) solve(x, y float32) (float32, float32) {
	inv := inverse(k.det)
	return float32((float32(k.yy*x) - float32(k.xy*y)) * inv), float32((float32(k.xx*y) - float32(k.xy*x)) * inv)
}

func (b *JointBlock) solvePoint(i uint32, m *jointPair, angle float32, it *jointIteration) {
	i &= Lanes - 1
	soft, mass, reach := it.rigid, m.ma+m.mb, float32(farthest)
	vx := (m.vbx - float32(m.wb*m.by)) - (m.vax - float32(m.wa*m.ay))
	vy := (m.vby + float32(m.wb*m.bx)) - (m.vay + float32(m.wa*m.ax))
	oldX, oldY := m.given.x, m.given.y
	offX, offY := m.dx, m.dy
	if b.Parts&softParts != 0 {
		give := float32(0)
		if b.RigidLinear>>i&1 == 0 {
			soft, give, reach = softness{rate: b.Linear.BiasRate[i], mass: 1}, float32(mass*b.Linear.ImpulseScale[i]), infinity
		}
		mass += give
		vx += float32(give * oldX)
		vy += float32(give * oldY)
		offX, offY = it.off(offX, &b.ErrorX[i]), it.off(offY, &b.ErrorY[i])
	}
	vx += float32(soft.rate * upTo(offX, reach))
	vy += float32(soft.rate * upTo(offY, reach))
	pull, share := Vec{vx, vy}, Vec{}
	var k matrix
	if b.Kind.hasLock() {
		k = m.yieldLocked(mass, b.AngularMass[i])
		share = Vec{-(float32(m.ia*m.ay) + float32(m.ib*m.by)), float32(m.ia*m.ax) + float32(m.ib*m.bx)}
		turning := (m.wb - m.wa) * b.AngularMass[i]
		vx -= float32(share.X * turning)
		vy -= float32(share.Y * turning)
	} else {
		k = m.yieldPoint(mass)
	}
	x, y := k.solve(vx, vy)
	x = (oldX - float32(soft.mass*x)) - float32(soft.impulse*oldX)
	y = (oldY - float32(soft.mass*y)) - float32(soft.impulse*oldY)
	if b.Parts&softParts != 0 {
		x, y = bounded(x, y, b.Linear.MaxSpringImpulse[i], pull)
	}
	spin := m.wb - m.wa
	m.push(m.atAnchors(x-oldX, y-oldY))
	m.given.x, m.given.y = x, y
	if b.Kind.hasLock() {
		given := float32(share.X*it.taken(x, oldX)) + float32(share.Y*it.taken(y, oldY))
		b.solveLock(i, m, spin, angle, given, it)
	}
}

// bounded is an impulse of up to a limit: one that is longer gives way to one against pull, which is
// where a spring draws to. It would not be that if the bodies can turn.
func bounded(x, y, limit float32, pull Vec) (float32, float32) {
	if float32(x*x)+float32(y*y) > float32(limit*limit) {
		scale := -float32(limit * inverse(float32(math.Sqrt(float64(float32(pull.X*pull.X)+float32(pull.Y*pull.Y))))))
		x, y = float32(pull.X*scale), float32(pull.Y*scale)
	}
	return x, y
}

// StoreJoints writes the impulses of blocks of joints [lo, hi) to their joints.
func (s *System) StoreJointImpulses(level native.Level, lo, hi int) {
	blocks := s.JointBlocks[lo:hi]
	joint := s.JointColours.Joint[lo*Lanes : hi*Lanes]
	if level = must(level); level != native.Go && len(blocks) > 0 {
		s.storeJointsC(blocks, joint)
		return
	}
	s.storeJointsGo(blocks, joint)
}

func (s *System) storeJointsGo(blocks []JointBlock, joint []uint32) {
	for n := range blocks {
		b := &blocks[n]
		for i, j := range joint[n*Lanes:][:b.Joints] {
			b.store(i&(Lanes-1), &s.Joints[j])
		}
	}
}

func (b *JointBlock) store(i int, j *Joint) {
	if b.Kind.hasPoint() {
		j.PointImpulse = Vec{b.ImpulseX[i], b.ImpulseY[i]}
	} else if b.Kind.hasLine() {
		j.PointImpulse.X = b.PerpendicularImpulse[i]
	}
	if b.Parts&linearParts != 0 && !b.Kind.hasPoint() {
		j.LinearImpulse = b.Linear.impulse(i)
	}
	if b.Parts&turnParts != 0 {
		j.AngularImpulse = b.Angular.impulse(i)
	} else if b.Kind.hasLock() {
		j.AngularImpulse.Spring = b.Angular.SpringImpulse[i]
	}
}

func (d *AxisBlock) impulse(i int) AxisImpulse {
	return AxisImpulse{d.SpringImpulse[i], d.MotorImpulse[i], d.LowerImpulse[i], d.UpperImpulse[i]}
}
