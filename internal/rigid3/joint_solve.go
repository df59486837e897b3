package rigid3

import (
	"math"

	"github.com/evertick/evertick/internal/trig"
)

// jointBodies is the two bodies of a joint in an iteration.
type jointBodies struct {
	a, b           *State
	vA, wA, vB, wB Vec
	massA, massB   Vec // inverse masses along the axes of the world

	// Impulses on both bodies act at anchor B: so they exert no torque together, whatever the gap. If each acted at its own anchor, the
	// joints of a chain whose end is a thousand times as heavy as a link would drive it on.
	armA, armB Vec // of anchor B, from both centres
	gap        Vec // from anchor A to anchor B
}

func (b *JointBlock) load(i int, states []State, m *jointBodies) {
	i &= Lanes - 1
	m.a, m.b = &states[b.A[i]], &states[b.B[i]]
	m.vA, m.wA, m.vB, m.wB = m.a.V, m.a.W, m.b.V, m.b.W
	m.massA, m.massB = Vec{m.a.InvMass, m.a.InvMass, m.a.InvMass}, Vec{m.b.InvMass, m.b.InvMass, m.b.InvMass}
	if b.Flags&flagLocked != 0 {
		m.massA, m.massB = m.massA.unlocked(m.a.Locks), m.massB.unlocked(m.b.Locks)
	}
	m.armB = m.b.Q.Rotate(b.AnchorB.at(i))
	m.armA = b.DeltaCentre.at(i).Add(m.b.D.Sub(m.a.D)).Add(m.armB)
	m.gap = m.armA.Sub(m.a.Q.Rotate(b.AnchorA.at(i)))
}

// store writes the velocities of the bodies that are dynamic.
func (b *JointBlock) store(i int, m *jointBodies) {
	if b.DynamicA>>i&1 != 0 {
		m.a.V, m.a.W = m.vA, m.wA
	}
	if b.DynamicB>>i&1 != 0 {
		m.b.V, m.b.W = m.vB, m.wB
	}
}

// turn applies torques about the centres.
func (b *JointBlock) turn(i int, m *jointBodies, onA, onB Vec) {
	i &= Lanes - 1
	t := &b.InertiaA
	m.wA = Vec{m.wA.X - t.x(i, onA), m.wA.Y - t.y(i, onA), m.wA.Z - t.z(i, onA)}
	t = &b.InertiaB
	m.wB = Vec{m.wB.X + t.x(i, onB), m.wB.Y + t.y(i, onB), m.wB.Z + t.z(i, onB)}
}

// apply applies an impulse and torques about the centres, and adds them to what the joint has applied.
func (b *JointBlock) apply(i int, m *jointBodies, impulse, onA, onB Vec) {
	i &= Lanes - 1
	m.vA = m.vA.Sub(Vec{float32(m.massA.X * impulse.X), float32(m.massA.Y * impulse.Y), float32(m.massA.Z * impulse.Z)})
	m.vB = m.vB.Add(Vec{float32(m.massB.X * impulse.X), float32(m.massB.Y * impulse.Y), float32(m.massB.Z * impulse.Z)})
	b.turn(i, m, onA, onB)
	b.Impulse.set(i, b.Impulse.at(i).Add(impulse))
	b.TorqueA.set(i, b.TorqueA.at(i).Add(onA))
	b.TorqueB.set(i, b.TorqueB.at(i).Add(onB))
}

// WarmStartJoints applies the accumulated impulses of blocks [lo, hi) of joints, in the first sub-step: see IntegrateVelocities.
func (s *System) WarmStartJoints(lo, hi int) { kernelsOf(s.Level).warmStartJoints(s, lo, hi) }

// SolveJoints runs one iteration with bias of each joint of blocks [lo, hi). It first replaces what the accumulated impulses did in the
// last sub-step, when the anchors and axes were different, by what they do now: without that bodies that turn would be accelerated.
// Then it solves the rows together, and each coordinate with parts: its spring, its motor, its limits. Impulses are accumulated, and
// clamped as sums.
//
// For a row with error C an iteration without bias makes the velocity v zero. One with bias also removes C, as a spring of JointHertz and
// JointDamping does, at most at the rate of an error of maxPositionError. In a sub-step a joint may approach a limit at distance C > 0 by
// C.
//
// A spring makes one implicit Euler step. Both iterations solve it for the error at which the sub-step began, so that the second does
// not change a spring that acts alone. With the new error it would damp a second time. A motor seeks no speed that would pass a
// limit in the sub-step, and a spring moves its coordinate no further: so neither presses against one.
func (s *System) SolveJoints(lo, hi int) { kernelsOf(s.Level).solveJoints(s, lo, hi) }

// RelaxJoints runs one iteration without bias, which follows after the positions were integrated.
func (s *System) RelaxJoints(lo, hi int) { kernelsOf(s.Level).relaxJoints(s, lo, hi) }

func (s *System) warmStartJointsGo(lo, hi int) {
	for i := lo; i < hi; i++ {
		b := &s.JointBlocks[i]
		var m jointBodies
		var r jointRows
		for i := range int(b.Joints) {
			b.load(i, s.States, &m)
			if b.Class == classPoint {
				b.refreshPoint(i, &m, true)
			} else {
				p := &s.jointParts[b.Parts]
				b.makeRows(i, &m, p, &r)
				b.refresh(i, &m, p, &r)
			}
			b.store(i, &m)
		}
	}
}

func (s *System) solveJointsGo(lo, hi int) {
	for i := lo; i < hi; i++ {
		s.solveJointBlock(&s.JointBlocks[i], true)
	}
}

func (s *System) relaxJointsGo(lo, hi int) {
	for i := lo; i < hi; i++ {
		s.solveJointBlock(&s.JointBlocks[i], false)
	}
}

func (s *System) solveJointBlock(b *JointBlock, useBias bool) {
	var m jointBodies
	var r jointRows
	for i := range int(b.Joints) {
		i &= Lanes - 1
		b.load(i, s.States, &m)
		if b.Class == classPoint {
			if useBias {
				b.refreshPoint(i, &m, false)
			}
			b.solvePoint(i, &m, useBias)
			b.store(i, &m)
			continue
		}
		p := &s.jointParts[b.Parts]
		b.makeRows(i, &m, p, &r)
		if useBias {
			b.refresh(i, &m, p, &r)
		}
		b.solveRows(i, &m, p, &r, useBias)
		for c := range p.Coordinates {
			if p.Coordinates[c].Parts[i] != 0 {
				b.solveAxis(i, &m, p, &r, c, &s.step, useBias)
			}
		}
		b.store(i, &m)
	}
}

// rigidSoftness is that of an iteration without bias.
var rigidSoftness = softness{massScale: 1}

// refreshPoint applies the change of the torques of the accumulated impulse, and of the impulse itself if that is new.
func (b *JointBlock) refreshPoint(i int, m *jointBodies, isNew bool) {
	i &= Lanes - 1
	impulse := b.Impulse.at(i)
	onA, onB := m.armA.Cross(impulse), m.armB.Cross(impulse)
	if isNew {
		m.vA = m.vA.Sub(Vec{float32(m.massA.X * impulse.X), float32(m.massA.Y * impulse.Y), float32(m.massA.Z * impulse.Z)})
		m.vB = m.vB.Add(Vec{float32(m.massB.X * impulse.X), float32(m.massB.Y * impulse.Y), float32(m.massB.Z * impulse.Z)})
	}
	b.turn(i, m, onA.Sub(b.TorqueA.at(i)), onB.Sub(b.TorqueB.at(i)))
	b.TorqueA.set(i, onA)
	b.TorqueB.set(i, onB)
}

// solvePoint solves a joint that holds its point only.
func (b *JointBlock) solvePoint(i int, m *jointBodies, useBias bool) {
	i &= Lanes - 1
	a := m.vA.Add(m.wA.Cross(m.armA))
	v := m.vB.Add(m.wB.Cross(m.armB)).Sub(a)
	if useBias {
		v = v.addTimes(m.gap, float32(b.BiasRate[i]*slowing(m.gap))).Times(b.MassScale[i])
	}
	k := b.pointMatrix(i, m)
	change := k.solve(v).neg()
	if useBias {
		change = change.Sub(b.Impulse.at(i).Times(b.ImpulseScale[i]))
	}
	change = Vec{notTiny(change.X), notTiny(change.Y), notTiny(change.Z)}
	b.apply(i, m, change, m.armA.Cross(change), m.armB.Cross(change))
}

// notTiny is an impulse, or 0 if it is tiny or not a number. Where a load fades along many joints, impulses would become denormals otherwise,
// with which some CPUs compute a hundred times as slowly.
func notTiny(impulse float32) float32 {
	if abs(impulse) > tinyImpulse {
		return impulse
	}
	return 0
}

const tinyImpulse = 0x1p-60

// maxPositionError is the error in metres beyond which an iteration with bias removes it at the same speed as that one. It also bounds the
// force against a load: chains with a heavy end stretch until their errors make as much force as the load, so it must be large.
// An angle needs no bound: the error of one is at most a turn.
const maxPositionError = 4

// slowing is by how much less than its rate an error is removed.
func slowing(gap Vec) float32 {
	return maxPositionError / sqrt(maxFloat(gap.Dot(gap), maxPositionError*maxPositionError))
}

// pointMatrix is the matrix from impulses at the anchors to velocities there.
func (b *JointBlock) pointMatrix(i int, m *jointBodies) Sym {
	ka, kb := b.InertiaA.lever(i, m.armA), b.InertiaB.lever(i, m.armB)
	return Sym{
		(m.massA.X + m.massB.X) + (ka.XX + kb.XX), (m.massA.Y + m.massB.Y) + (ka.YY + kb.YY), (m.massA.Z + m.massB.Z) + (ka.ZZ + kb.ZZ),
		ka.XY + kb.XY, ka.XZ + kb.XZ, ka.YZ + kb.YZ,
	}
}

// lever is [r]·M·[r]ᵀ, with the matrix [r] of the cross product with r: what an impulse at r does to the velocity there, by rotation.
func (l *SymLanes) lever(i int, r Vec) Sym {
	// The columns of M·[r]ᵀ are M·(r×e) for the axes e.
	x, y, z := Vec{0, r.Z, -r.Y}, Vec{-r.Z, 0, r.X}, Vec{r.Y, -r.X, 0}
	xx, yy, zz, xy, xz, yz := l.XX[i], l.YY[i], l.ZZ[i], l.XY[i], l.XZ[i], l.YZ[i]
	mx := Vec{float32(xy*x.Y) + float32(xz*x.Z), float32(yy*x.Y) + float32(yz*x.Z), float32(yz*x.Y) + float32(zz*x.Z)}
	my := Vec{float32(xx*y.X) + float32(xz*y.Z), float32(xy*y.X) + float32(yz*y.Z), float32(xz*y.X) + float32(zz*y.Z)}
	mz := Vec{float32(xx*z.X) + float32(xy*z.Y), float32(xy*z.X) + float32(yy*z.Y), float32(xz*z.X) + float32(yz*z.Y)}
	return Sym{
		float32(x.Y*mx.Y) + float32(x.Z*mx.Z), float32(y.X*my.X) + float32(y.Z*my.Z), float32(z.X*mz.X) + float32(z.Y*mz.Y),
		float32(x.Y*my.Y) + float32(x.Z*my.Z), float32(x.Y*mz.Y) + float32(x.Z*mz.Z), float32(y.X*mz.X) + float32(y.Z*mz.Z),
	}
}

// solve is s⁻¹·v of a matrix that is not negative. Rows that are multiples of others, but for rounding, get no impulse.
func (s *Sym) solve(v Vec) Vec {
	d0 := pivot(s.XX, s.XX)
	l1, l2 := float32(s.XY*d0), float32(s.XZ*d0)
	d1 := pivot(s.YY-float32(l1*s.XY), s.YY)
	u12 := s.YZ - float32(l1*s.XZ)
	l12 := float32(u12 * d1)
	d2 := pivot((s.ZZ-float32(l2*s.XZ))-float32(l12*u12), s.ZZ)
	y := v.Y - float32(l1*v.X)
	z := (v.Z - float32(l2*v.X)) - float32(l12*y)
	z = float32(z * d2)
	y = float32(y*d1) - float32(l12*z)
	return Vec{(float32(v.X*d0) - float32(l1*y)) - float32(l2*z), y, z}
}

// pivot is the inverse of what elimination has left of an element of the diagonal, or 0 if that is not more than rounding.
func pivot(left, diagonal float32) float32 {
	if left > float32(leastPivot*diagonal) {
		return inverse(left)
	}
	return 0
}

const leastPivot = 0x1p-20

// jointRow is how a coordinate depends on the motion of the bodies: its speed is lin·(vB - vA) + b·wB - a·wA, and an impulse
// along it is lin on B, with the torque b, and the opposite on A, with a.
type jointRow struct {
	lin, a, b Vec
	at        float32 // the coordinate, or the error of a row
}

func (r *jointRow) speed(m *jointBodies) float32 {
	return r.lin.Dot(m.vB.Sub(m.vA)) + (r.b.Dot(m.wB) - r.a.Dot(m.wA))
}

// jointRows are the rows of a joint in an iteration, and its other coordinates.
type jointRows struct {
	n    int
	at   [NumRows]int // the coordinate of each row
	rows [NumRows]jointRow
	axes [NumCoordinates]jointRow

	lower [NumRows][NumRows]float32 // L of L·D·Lᵀ, the matrix of the rows with their compliances
	d     [NumRows]float32          // D⁻¹
}

// jointFrame is the axes of frame A in the axes of the world, and the rotation of frame B relative to it.
type jointFrame struct {
	x, y, z Vec
	q       Quat
	y2, z2  float32 // the axis of the swing times the tangent of half its angle
}

func makeFrame(qa, qb Quat) (f jointFrame) {
	f.q = qa.Inverse().Mul(qb)
	axes := qa.Matrix()
	f.x, f.y, f.z = Vec{axes.X.X, axes.Y.X, axes.Z.X}, Vec{axes.X.Y, axes.Y.Y, axes.Z.Y}, Vec{axes.X.Z, axes.Y.Z, axes.Z.Z}
	f.y2, f.z2 = f.q.swing()
	return f
}

// swing returns the axis of the swing of a rotation, times the tangent of half its angle.
func (q Quat) swing() (y, z float32) {
	if square := float32(q.W*q.W) + float32(q.X*q.X); square > leastSwing {
		inv := 1 / square
		return float32((float32(q.W*q.Y) - float32(q.X*q.Z)) * inv), float32((float32(q.W*q.Z) + float32(q.X*q.Y)) * inv)
	}
	return float32(q.Y * (1 / leastSwingCos)), float32(q.Z * (1 / leastSwingCos))
}

const leastSwing, leastSwingCos = 0x1p-20, 0x1p-10 // of half the angle: the square of the cosine, and the cosine

// combine is x·a + y·b + z·c of the axes of the frame.
func (f *jointFrame) combine(a, b, c float32) Vec {
	return f.x.Times(a).addTimes(f.y, b).addTimes(f.z, c)
}

// linear is a row of the gap along an axis.
func (m *jointBodies) linear(axis Vec) jointRow {
	return jointRow{axis, m.armA.Cross(axis), m.armB.Cross(axis), m.gap.Dot(axis)}
}

// angular is the row of Twist, SwingY or SwingZ.
func (f *jointFrame) angular(c int, twist float32) jointRow {
	var u Vec
	at := twist
	switch c {
	case Twist:
		u = f.combine(1, f.z2, -f.y2)
	case SwingY:
		s := 2 / (1 + float32(f.y2*f.y2))
		u = f.combine(-float32(s*f.z2), float32(s*(0.5*(1+(float32(f.y2*f.y2)-float32(f.z2*f.z2))))), float32(s*float32(f.y2*f.z2)))
		at = 2 * trig.Atan2(f.y2, 1)
	case SwingZ:
		s := 2 / (1 + float32(f.z2*f.z2))
		u = f.combine(float32(s*f.y2), float32(s*float32(f.y2*f.z2)), float32(s*(0.5*(1+(float32(f.z2*f.z2)-float32(f.y2*f.y2))))))
		at = 2 * trig.Atan2(f.z2, 1)
	}
	return jointRow{Vec{}, u, u, at}
}

// cone is the row of Cone. Without a swing it has no direction.
func (f *jointFrame) cone() jointRow {
	t := sqrt(float32(f.y2*f.y2) + float32(f.z2*f.z2))
	inv := inverse(t)
	u := f.y.Times(float32(f.y2*inv)).addTimes(f.z, float32(f.z2*inv))
	return jointRow{Vec{}, u, u, 2 * trig.Atan2(t, 1)}
}

// rotationVector is the rotation as a vector: its axis times its angle, at most π.
func (q Quat) rotationVector() Vec {
	v := q.vector()
	if q.W < 0 {
		v = v.neg()
	}
	l := v.length()
	if l > leastSine {
		return v.Times(2 * trig.Atan2(l, abs(q.W)) / l)
	}
	return v.Times(2)
}

const leastSine = 0x1p-14 // below it, the angle and its sine are equal

// makeRows computes the rows and coordinates of a joint from the poses of its bodies now.
func (b *JointBlock) makeRows(i int, m *jointBodies, p *JointParts, r *jointRows) {
	i &= Lanes - 1
	f := makeFrame(m.a.Q.Mul(quatOf(&p.FrameA, i)), m.b.Q.Mul(quatOf(&p.FrameB, i)))
	raw := 2 * trig.Atan2(f.q.X, f.q.W)
	p.Twist[i] = nearestAngle(raw, p.Twist[i])
	locked := p.Locked[i]
	r.n = 0
	var rotation Vec
	if locked&lockedAngles == lockedAngles {
		q := f.q
		if p.Soft[i]&SoftAngular != 0 {
			q = q.Mul(quatOf(&p.Target, i).Inverse())
		}
		rotation = q.rotationVector()
	}
	for c := range NumRows {
		if lockedOf[b.Class]>>c&1 == 0 {
			continue
		}
		row := &r.rows[r.n]
		r.at[r.n] = c
		r.n++
		switch {
		case locked>>c&1 == 0:
			*row = jointRow{}
		case c == LinearX:
			*row = m.linear(f.x)
		case c == LinearY:
			*row = m.linear(f.y)
		case c == LinearZ:
			*row = m.linear(f.z)
		case locked&lockedAngles != lockedAngles:
			*row = f.angular(c, nearestAngle(raw, 0))
		case c == Twist:
			*row = jointRow{Vec{}, f.x, f.x, rotation.X}
		case c == SwingY:
			*row = jointRow{Vec{}, f.y, f.y, rotation.Y}
		default:
			*row = jointRow{Vec{}, f.z, f.z, rotation.Z}
		}
	}
	for c := range p.Coordinates {
		if p.Coordinates[c].Parts[i] == 0 {
			continue
		}
		r.axes[c] = f.coordinate(c, m, p.Twist[i])
	}
}

// coordinate is the row of a coordinate.
func (f *jointFrame) coordinate(c int, m *jointBodies, twist float32) jointRow {
	switch c {
	case LinearX:
		return m.linear(f.x)
	case LinearY:
		return m.linear(f.y)
	case LinearZ:
		return m.linear(f.z)
	case Length:
		l := m.gap.length()
		row := m.linear(m.gap.Times(inverse(l)))
		row.at = l
		return row
	case Cone:
		return f.cone()
	}
	return f.angular(c, twist)
}

// add adds a multiple of a row to an impulse and torques.
func (r *jointRow) add(scale float32, impulse, onA, onB *Vec) {
	*impulse, *onA, *onB = impulse.addTimes(r.lin, scale), onA.addTimes(r.a, scale), onB.addTimes(r.b, scale)
}

// refresh replaces what the joint has applied by what its accumulated impulses are now.
func (b *JointBlock) refresh(i int, m *jointBodies, p *JointParts, r *jointRows) {
	i &= Lanes - 1
	var impulse, onA, onB Vec
	for k := range r.n {
		r.rows[k].add(p.Rows[r.at[k]][i], &impulse, &onA, &onB)
	}
	for c := range p.Coordinates {
		if l := &p.Coordinates[c]; l.Parts[i] != 0 {
			total := ((l.Spring[i] + l.Motor[i]) + l.LowerImpulse[i]) - l.UpperImpulse[i]
			r.axes[c].add(total, &impulse, &onA, &onB)
		}
	}
	b.apply(i, m, impulse.Sub(b.Impulse.at(i)), onA.Sub(b.TorqueA.at(i)), onB.Sub(b.TorqueB.at(i)))
}

// effect is what a unit impulse along a row does to the velocities: those of A with the opposite sign.
type effect struct{ lin, a, b Vec }

func (b *JointBlock) effect(i int, m *jointBodies, r *jointRow) effect {
	mass := m.massA.Add(m.massB)
	ta, tb := &b.InertiaA, &b.InertiaB
	return effect{
		Vec{float32(mass.X * r.lin.X), float32(mass.Y * r.lin.Y), float32(mass.Z * r.lin.Z)},
		Vec{ta.x(i, r.a), ta.y(i, r.a), ta.z(i, r.a)}, Vec{tb.x(i, r.b), tb.y(i, r.b), tb.z(i, r.b)},
	}
}

// on is what the effect is on the speed along a row.
func (e *effect) on(r *jointRow) float32 { return r.lin.Dot(e.lin) + (r.a.Dot(e.a) + r.b.Dot(e.b)) }

// solveRows solves the rows together. K is the matrix from their impulses x to their speeds v. Rigid rows with the errors C want
//
//	K·change = -massScale·(v + biasRate·C) - impulseScale·u
//
// where u is what all impulses of the joint do to the row, those of axes as well: if only the rows counted, a limit under load would open the
// point. Soft rows, with the compliance g and the speed that they seek,
//
//	(K + g)·change = -(v - speed + biasRate·C + g·x)
//
// where g is a part of the inverse masses of the bodies for linear rows, and of their matrix for angular ones.
func (b *JointBlock) solveRows(i int, m *jointBodies, p *JointParts, r *jointRows, useBias bool) {
	i &= Lanes - 1
	var matrix [NumRows][NumRows]float32
	for k := range r.n {
		e := b.effect(i, m, &r.rows[k])
		for o := range k + 1 {
			matrix[k][o] = e.on(&r.rows[o])
			matrix[o][k] = matrix[k][o]
		}
	}
	linearCompliance, angularScale := float32(0), float32(0)
	if p.Soft[i]&SoftLinear != 0 {
		linearCompliance = float32(p.Linear.Compliance[i] * (m.a.InvMass + m.b.InvMass))
	}
	if p.Soft[i]&SoftAngular != 0 {
		angularScale = p.Angular.Compliance[i]
	}
	rate, massScale, impulseScale := b.BiasRate[i], b.MassScale[i], b.ImpulseScale[i]
	slow := float32(rate * slowing(m.gap))
	applied := jointRow{lin: b.Impulse.at(i), a: b.TorqueA.at(i), b: b.TorqueB.at(i)}
	all := b.effect(i, m, &applied)
	var change [NumRows]float32 // first the negative right side
	for k := range r.n {
		row, c := &r.rows[k], r.at[k]
		v := row.speed(m)
		angular := float32(0) // what the impulses of angular rows do
		for o := range r.n {
			if r.at[o] >= Twist {
				angular += float32(matrix[k][o] * p.Rows[r.at[o]][i])
			}
		}
		isLinear := c < Twist
		switch {
		case isLinear && p.Soft[i]&SoftLinear != 0:
			if useBias {
				p.Error[c][i] = row.at
			}
			change[k] = ((v - p.Linear.velocity(i, c)) + float32(p.Linear.BiasRate[i]*p.Error[c][i])) + float32(linearCompliance*p.Rows[c][i])
		case !isLinear && p.Soft[i]&SoftAngular != 0:
			if useBias {
				p.Error[c][i] = row.at
			}
			change[k] = ((v - p.Angular.velocity(i, c-Twist)) + float32(p.Angular.BiasRate[i]*p.Error[c][i])) + float32(angularScale*angular)
		case !useBias:
			change[k] = v
		case isLinear:
			change[k] = float32(massScale*(v+float32(slow*row.at))) + float32(impulseScale*all.on(row))
		default:
			change[k] = float32(massScale*(v+float32(rate*row.at))) + float32(impulseScale*all.on(row))
		}
	}
	for k := range r.n {
		if r.at[k] < Twist {
			matrix[k][k] += linearCompliance
			continue
		}
		for o := range k + 1 {
			if r.at[o] >= Twist {
				matrix[k][o] += float32(angularScale * matrix[k][o])
			}
		}
	}
	r.factor(&matrix)
	wanted := change
	r.backward(&change, r.n)
	if p.Soft[i] != 0 {
		p.bound(i, r, &matrix, &wanted, &change, angularScale)
	}
	for k := range r.n {
		change[k] = p.Rows[r.at[k]][i] - change[k]
	}
	var impulse, onA, onB Vec
	for k := range r.n {
		row := &p.Rows[r.at[k]][i]
		if more := notTiny(change[k] - *row); more != 0 {
			r.rows[k].add(more, &impulse, &onA, &onB)
			*row = change[k]
		}
	}
	b.apply(i, m, impulse, onA, onB)
}

func (l *DriveLanes) velocity(i, axis int) float32 {
	switch axis {
	case 0:
		return l.Velocity.X[i]
	case 1:
		return l.Velocity.Y[i]
	}
	return l.Velocity.Z[i]
}

// factor sets L and D⁻¹ from the lower triangle of a matrix.
func (r *jointRows) factor(matrix *[NumRows][NumRows]float32) {
	for k := range r.n {
		left := matrix[k][k]
		for o := range k {
			u := matrix[k][o]
			for q := range o {
				u -= float32(r.lower[o][q] * matrix[k][q])
			}
			matrix[k][o] = u // of L·D
			r.lower[k][o] = float32(u * r.d[o])
			left -= float32(r.lower[k][o] * u)
		}
		r.d[k] = pivot(left, matrix[k][k])
	}
}

// backward replaces x by the solution for x of the first n rows.
func (r *jointRows) backward(x *[NumRows]float32, n int) {
	for k := range n {
		for o := range k {
			x[k] -= float32(r.lower[k][o] * x[o])
		}
	}
	for k := n - 1; k >= 0; k-- {
		x[k] = float32(x[k] * r.d[k])
		for o := k + 1; o < n; o++ {
			x[k] -= float32(r.lower[o][k] * x[o])
		}
	}
}

// linearRows is the number of linear rows, which come first.
func (r *jointRows) linearRows() int {
	n := r.n
	for n > 0 && r.at[n-1] >= Twist {
		n--
	}
	return n
}

// bound shortens the impulses of soft rows to their bounds, where x is minus the change of each, and solves those of the other kind again: these
// must not rely on impulses that are not there. First come the torques, then the forces, then the torques that go with them.
func (p *JointParts) bound(i int, r *jointRows, matrix *[NumRows][NumRows]float32, wanted, x *[NumRows]float32, angularScale float32) {
	n := r.linearRows()
	if p.Soft[i]&SoftAngular != 0 && p.shorten(i, r, x, n, r.n, p.Angular.MaxImpulse[i]) {
		again := *wanted
		for k := range n {
			for o := n; o < r.n; o++ {
				again[k] -= float32(matrix[k][o] * x[o])
			}
		}
		r.backward(&again, n)
		copy(x[:n], again[:n])
	}
	if p.Soft[i]&SoftLinear == 0 || !p.shorten(i, r, x, 0, n, p.Linear.MaxImpulse[i]) {
		return
	}
	var v [3]float32
	for k := n; k < r.n; k++ {
		left := wanted[k]
		for o := range n {
			left -= float32(matrix[o][k] * x[o])
		}
		v[k-n] = left
	}
	k := Sym{}
	scaled := func(a, b int) float32 {
		if b += n; b < r.n {
			return matrix[a+n][b] + float32(angularScale*matrix[a+n][b])
		}
		return 0
	}
	diagonal := func(a int) float32 {
		if a += n; a < r.n {
			return matrix[a][a]
		}
		return 0
	}
	k.XX, k.YY, k.ZZ, k.XY, k.XZ, k.YZ = diagonal(0), diagonal(1), diagonal(2), scaled(0, 1), scaled(0, 2), scaled(1, 2)
	solved := k.solve(Vec{v[0], v[1], v[2]})
	copy(x[n:r.n], []float32{solved.X, solved.Y, solved.Z})
	if p.Soft[i]&SoftAngular != 0 {
		p.shorten(i, r, x, n, r.n, p.Angular.MaxImpulse[i])
	}
}

// shorten shortens the impulses of rows [lo, hi), where x is minus the change of each, to a limit. It reports whether they were longer.
func (p *JointParts) shorten(i int, r *jointRows, x *[NumRows]float32, lo, hi int, limit float32) bool {
	square := float32(0)
	for k := lo; k < hi; k++ {
		next := p.Rows[r.at[k]][i] - x[k]
		square += float32(next * next)
	}
	scale := shortening(square, limit)
	if !(scale < 1) {
		return false
	}
	for k := lo; k < hi; k++ {
		old := p.Rows[r.at[k]][i]
		x[k] = old - float32((old-x[k])*scale)
	}
	return true
}

// shortening is the factor that shortens a vector, of which the square of the length is given, to a limit.
func shortening(square, limit float32) float32 {
	if square > float32(limit*limit) {
		return limit / sqrt(square)
	}
	return 1
}

// solveAxis solves the parts of a coordinate. Its impulse goes with impulses of the rows that leave the speeds of these as they are. Soft
// angular rows, which come last, are not among them: they give way, so a limit cannot rely on them, and their bound must not be one of the limit.
func (b *JointBlock) solveAxis(i int, m *jointBodies, p *JointParts, r *jointRows, c int, step *stepContext, useBias bool) {
	i &= Lanes - 1
	n := r.n
	if p.Soft[i]&SoftAngular != 0 {
		n = r.linearRows()
	}
	row := r.axes[c]
	e := b.effect(i, m, &row)
	var coupling, share [NumRows]float32
	for k := range n {
		coupling[k] = e.on(&r.rows[k])
	}
	share = coupling
	r.backward(&share, n)
	free := e.on(&row)
	held := free
	for k := range n {
		held -= float32(share[k] * coupling[k])
	}
	mass := pivot(held, free)
	soft := rigidSoftness
	if useBias {
		soft = softness{b.BiasRate[i], b.MassScale[i], b.ImpulseScale[i]}
	}
	l := &p.Coordinates[c]
	old := ((l.Spring[i] + l.Motor[i]) + l.LowerImpulse[i]) - l.UpperImpulse[i]
	l.solve(i, row.at, row.speed(m), held, mass, soft, step, useBias)
	change := (((l.Spring[i] + l.Motor[i]) + l.LowerImpulse[i]) - l.UpperImpulse[i]) - old
	if change == 0 {
		return
	}
	impulse, onA, onB := row.lin.Times(change), row.a.Times(change), row.b.Times(change)
	for k := range n {
		x := -float32(share[k] * change)
		r.rows[k].add(x, &impulse, &onA, &onB)
		p.Rows[r.at[k]][i] += x
	}
	b.apply(i, m, impulse, onA, onB)
}

// solve changes the impulses of the parts, at a coordinate x with the speed v. mass is the effective one, and held its inverse.
func (l *AxisLanes) solve(i int, x, v, held, mass float32, soft softness, step *stepContext, useBias bool) {
	parts, lower, upper := l.Parts[i], x-l.Lower[i], l.Upper[i]-x // the distances to the limits
	if parts&PartSpring != 0 {
		if useBias {
			l.Error[i] = x - l.Target[i]
		}
		old := l.Spring[i]
		next := old - float32(l.MassScale[i]*float32(mass*(v+float32(l.BiasRate[i]*l.Error[i])))) - float32(l.ImpulseScale[i]*old)
		next = maxFloat(minFloat(next, l.UpperSpringImpulse[i]), l.LowerSpringImpulse[i])
		if parts&PartLimits != 0 {
			free := v + float32(held*(l.UpperImpulse[i]-l.LowerImpulse[i])) // without limits
			next = yieldToLimits(next, old, float32(mass*(free-float32(upper*step.invH))), float32(mass*(free+float32(lower*step.invH))))
		}
		l.Spring[i] = notTiny(next)
		v += float32(held * (l.Spring[i] - old))
	}
	if parts&PartMotor != 0 {
		speed := maxFloat(minFloat(l.MotorSpeed[i], maxFloat(float32(upper*step.invH), 0)), minFloat(-float32(lower*step.invH), 0))
		old := l.Motor[i]
		l.Motor[i] = notTiny(clamp(old-float32(mass*(v-speed)), l.MaxMotorImpulse[i]))
		v += float32(held * (l.Motor[i] - old))
	}
	if parts&PartLimits != 0 {
		old := l.LowerImpulse[i]
		l.LowerImpulse[i] = limitImpulse(lower, v, mass, old, soft, step)
		v += float32(held * (l.LowerImpulse[i] - old))
		old = l.UpperImpulse[i]
		l.UpperImpulse[i] = limitImpulse(upper, -v, mass, old, soft, step)
	}
}

// yieldToLimits bounds the impulse of a spring, which was old before: it moves nothing beyond a limit, and does not press against one. But it need
// not brake a motion to a limit. So a limit bears only what other joints, contacts and forces exert, and need not be stronger than the spring.
// The last two are by how much less or more impulse the coordinate would reach a limit at the end of the sub-step.
func yieldToLimits(total, old, fromUpper, fromLower float32) float32 {
	return maxFloat(minFloat(total, maxFloat(old-fromUpper, minFloat(old, 0))), minFloat(old-fromLower, maxFloat(old, 0)))
}

// maxLimitError is the same for how far a limit is exceeded, in metres or radians.
const maxLimitError = 4

// limitImpulse is the impulse of a limit at a distance that grows at the speed v.
func limitImpulse(distance, v, mass, old float32, soft softness, step *stepContext) float32 {
	bias := float32(distance * step.invH)
	if !(distance > 0) {
		bias = float32(soft.biasRate * maxFloat(distance, -maxLimitError))
	} else {
		soft = rigidSoftness
	}
	return notTiny(maxFloat((old-float32(soft.massScale*float32(mass*(v+bias))))-float32(soft.impulseScale*old), 0))
}

// StoreJointImpulses writes what blocks [lo, hi) of joints keep to their joints; zeros in place of impulses that are not bounded.
func (s *System) StoreJointImpulses(lo, hi int) { kernelsOf(s.Level).storeJointImpulses(s, lo, hi) }

func (s *System) storeJointImpulsesGo(lo, hi int) {
	for n := lo; n < hi; n++ {
		b := &s.JointBlocks[n]
		for i, j := range s.JointColours.Edge[n*Lanes:][:b.Joints] {
			s.storeJoint(b, i, &s.Joints[j].Kept)
		}
	}
}

// maxJointSpeed is the change of a velocity in m/s or rad/s from which on the impulses of a joint are taken not to hold its bodies: those
// of joints that contradict each other grow in each step, and would become infinite.
const maxJointSpeed = 0x1p40

// maxKeptTwist is the twist from which on turns cannot be counted any more.
const maxKeptTwist = 0x1p24

func (s *System) storeJoint(b *JointBlock, i int, k *KeptJoint) {
	i &= Lanes - 1
	impulse := b.Impulse.at(i)
	stateA, stateB := &s.States[b.A[i]], &s.States[b.B[i]]
	k.Impulse, k.Angular = impulse, Vec{}
	size := (abs(impulse.X) + abs(impulse.Y)) + abs(impulse.Z)
	bounded := float32(size*(stateA.InvMass+stateB.InvMass)) <= maxJointSpeed
	if b.Class == classPoint {
		if !bounded {
			impulse, k.Impulse = Vec{}, Vec{}
		}
		k.Rows[0], k.Rows[1], k.Rows[2] = impulse.X, impulse.Y, impulse.Z
		return
	}
	p := &s.jointParts[b.Parts]
	k.Twist, k.Known = p.Twist[i], 1
	if !(abs(k.Twist) <= maxKeptTwist) {
		k.Twist, k.Known = 0, 0
	}
	k.Angular = b.TorqueB.at(i).Sub(stateB.Q.Rotate(b.AnchorB.at(i)).Cross(impulse))
	bounded = bounded && (abs(k.Angular.X)+abs(k.Angular.Y))+abs(k.Angular.Z) <= math.MaxFloat32
	for c := range p.Rows {
		k.Rows[c] = p.Rows[c][i]
		bounded = bounded && abs(k.Rows[c]) <= maxJointSpeed
	}
	for c := range p.Coordinates {
		k.Axes[c] = AxisImpulse{}
		if l := &p.Coordinates[c]; l.Parts[i] != 0 {
			k.Axes[c] = AxisImpulse{l.Spring[i], l.Motor[i], l.LowerImpulse[i], l.UpperImpulse[i]}
			bounded = bounded && (abs(l.Spring[i])+abs(l.Motor[i]))+(abs(l.LowerImpulse[i])+abs(l.UpperImpulse[i])) <= maxJointSpeed
		}
	}
	if !bounded {
		*k = KeptJoint{Twist: k.Twist, Known: k.Known}
	}
}
