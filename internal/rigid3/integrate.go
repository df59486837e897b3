package rigid3

import "math"

// PrepareBodies sets the states of bodies [lo, hi): velocities and inverse masses from their columns, no translation and no rotation, and
// nothing along locked axes. It also computes the inverse inertias in the axes of the world. These are held for the step: the
// first-order change of the direction of an impulse is below the error of the sub-steps.
//
// To the solver, a locked axis is one along which a body has an infinite mass, or about which it has an infinite moment. So a contact
// that pushes along such an axis finds a body that does not yield, and what stands on it rests as on a static one. If the solver used
// the whole mass and the locks stopped the body after each iteration, a stack would sink in until many iterations have corrected it.
func (s *System) PrepareBodies(lo, hi int) { kernelsOf(s.Level).prepareBodies(s, lo, hi) }

func (s *System) prepareBodiesGo(lo, hi int) {
	b := &s.Bodies
	for i := lo; i < hi; i++ {
		st, inertia := &s.States[i], &s.inertia[i].Sym
		*st = State{V: vecAt(&b.V, i), InvMass: b.InvMass[i], W: vecAt(&b.W, i), Q: Identity}
		m := b.Poses[i].Q.Mul(b.Principal[i]).Matrix()
		*inertia = m.RotateDiagonal(vecAt(&b.InvInertia, i))
		if locks := b.Locks[i]; locks != 0 && st.InvMass > 0 {
			st.Locks = uint32(locks)
			st.applyLocks()
			inertia.lock(st.Locks / LockRotationX)
		}
	}
}

// applyLocks removes what is left of the velocity along locked axes.
func (s *State) applyLocks() {
	s.V, s.W = s.V.unlocked(s.Locks), s.W.unlocked(s.Locks/LockRotationX)
}

// lock makes an inverse inertia that of a body which cannot rotate about some axes: the inverse of the rows and columns of the inertia
// that are left. Elimination finds it from the inverse.
func (s *Sym) lock(axes uint32) {
	if axes&1 != 0 {
		x, y := eliminate(s.XX, s.XY, s.XZ)
		s.YY, s.ZZ, s.YZ = s.YY-float32(x*s.XY), s.ZZ-float32(y*s.XZ), s.YZ-float32(x*s.XZ)
		s.XX, s.XY, s.XZ = 0, 0, 0
	}
	if axes&2 != 0 {
		x, y := eliminate(s.YY, s.XY, s.YZ)
		s.XX, s.ZZ, s.XZ = s.XX-float32(x*s.XY), s.ZZ-float32(y*s.YZ), s.XZ-float32(x*s.YZ)
		s.YY, s.XY, s.YZ = 0, 0, 0
	}
	if axes&4 != 0 {
		x, y := eliminate(s.ZZ, s.XZ, s.YZ)
		s.XX, s.YY, s.XY = s.XX-float32(x*s.XZ), s.YY-float32(y*s.YZ), s.XY-float32(x*s.YZ)
		s.ZZ, s.XZ, s.YZ = 0, 0, 0
	}
}

// eliminate returns the shares of a row, of which pivot is the diagonal, in the rows of a and b.
func eliminate(pivot, a, b float32) (x, y float32) {
	d := inverse(pivot)
	return float32(a * d), float32(b * d)
}

// IntegrateVelocities applies gravity, forces, torques, damping and the gyroscopic term to the dynamic bodies of [lo, hi) for a
// sub-step; the first is 0. A body with locked rotations has no gyroscopic term.
//
// These make the free velocity of a body from its velocity at the end of the last sub-step: what it would be without contacts. Warm
// starting adds the effect that the accumulated impulses of its contacts had in the last sub-step, from its first to its last iteration:
// the velocity minus the free one of that sub-step. So blocks are warm-started in the first sub-step only.
func (s *System) IntegrateVelocities(sub, lo, hi int) {
	kernelsOf(s.Level).integrateVelocities(s, sub, lo, hi)
}

func (s *System) integrateVelocitiesGo(sub, lo, hi int) {
	b, k := &s.Bodies, &s.step
	for i := lo; i < hi; i++ {
		st := &s.States[i]
		if !(st.InvMass > 0) {
			continue
		}
		oldV, oldW := st.V, st.W
		a := k.gravity.Times(b.GravityScale[i]).Add(vecAt(&b.Force, i).Times(st.InvMass))
		st.V = st.V.addTimes(a, k.h).Times(1 / (1 + float32(k.h*b.LinearDamping[i])))
		torque := vecAt(&b.Torque, i)
		if st.Locks&lockRotation != 0 {
			st.W = st.W.addTimes(s.inertia[i].Mul(torque), k.h)
		} else if inv := vecAt(&b.InvInertia, i); inv.X != inv.Y || inv.Y != inv.Z || torque != (Vec{}) {
			m := st.Q.Mul(b.Poses[i].Q).Mul(b.Principal[i]).Matrix()
			old, t := m.MulTransposed(st.W), m.MulTransposed(torque)
			w := Gyroscopic(old, Vec{inverse(inv.X), inverse(inv.Y), inverse(inv.Z)}, k.h)
			w = w.addTimes(Vec{float32(t.X * inv.X), float32(t.Y * inv.Y), float32(t.Z * inv.Z)}, k.h)
			if w != old { // what nothing turns keeps its bits
				st.W = m.Mul(w)
			}
		}
		st.W = st.W.Times(1 / (1 + float32(k.h*b.AngularDamping[i])))
		k.clamp(st)
		if st.Locks != 0 {
			st.applyLocks()
		}
		freeV, freeW := st.V, st.W
		if sub > 0 {
			st.V, st.W = freeV.Add(oldV.Sub(s.freeV(i))), freeW.Add(oldW.Sub(s.freeW(i)))
		}
		s.setFree(i, freeV, freeW)
	}
}

func (s *System) freeV(i int) Vec { return Vec{s.free[0][i], s.free[1][i], s.free[2][i]} }
func (s *System) freeW(i int) Vec { return Vec{s.free[3][i], s.free[4][i], s.free[5][i]} }

func (s *System) setFree(i int, v, w Vec) {
	s.free[0][i], s.free[1][i], s.free[2][i] = v.X, v.Y, v.Z
	s.free[3][i], s.free[4][i], s.free[5][i] = w.X, w.Y, w.Z
}

// tiny scales a vector whose square overflows, so that its square is in range.
const tiny = 0x1p-70

// shortened returns v with at most a length, even if the square of v overflows. A vector with an infinite component becomes NaN, and
// NaN stays: the contacts keep it from other bodies, and the check for NaN after the step finds it.
func (v Vec) shortened(limit float32) Vec {
	square := v.Dot(v)
	if !(square > float32(limit*limit)) {
		return v
	}
	if square > math.MaxFloat32 {
		v = v.Times(tiny)
		square = v.Dot(v)
	}
	return v.Times(limit / sqrt(square))
}

// clamp bounds the speed of a body, and its rotation in a sub-step.
func (k *stepContext) clamp(st *State) {
	st.V, st.W = st.V.shortened(k.maxSpeed), st.W.shortened(k.maxSpin)
}

// IntegratePositions moves and rotates bodies [lo, hi) by their velocities for a sub-step. It clamps the velocities of dynamic bodies
// first, so no dynamic body moves by more than MaxSpeed·h, or turns by more than MaxRotation, in a sub-step.
func (s *System) IntegratePositions(lo, hi int) { kernelsOf(s.Level).integratePositions(s, lo, hi) }

func (s *System) integratePositionsGo(lo, hi int) {
	for i := lo; i < hi; i++ {
		st := &s.States[i]
		if st.InvMass > 0 {
			s.step.clamp(st)
		}
		st.D = st.D.addTimes(st.V, s.step.h)
		if st.W != (Vec{}) {
			st.Q = st.Q.Integrate(st.W, s.step.h)
		}
	}
}

// FinalizeBodies writes the velocities and poses of bodies [lo, hi) back to their columns. It clamps velocities like
// IntegratePositions. What has not moved keeps its bits.
func (s *System) FinalizeBodies(lo, hi int) { kernelsOf(s.Level).finalizeBodies(s, lo, hi) }

func (s *System) finalizeBodiesGo(lo, hi int) {
	b := &s.Bodies
	for i := lo; i < hi; i++ {
		st := s.States[i]
		if st.InvMass > 0 {
			s.step.clamp(&st)
		}
		setVec(&b.V, i, st.V)
		setVec(&b.W, i, st.W)
		pose := &b.Poses[i]
		if st.D != (Vec{}) {
			pose.P = pose.P.Add(st.D)
		}
		if st.Q != Identity {
			pose.Q = st.Q.Mul(pose.Q).Normalize()
		}
	}
}
