package rigid3

import "github.com/evertick/evertick/internal/buffer"

// loadStates sets the states from the velocities, without translation and rotation, and the inverse inertias in the axes of the world.
// These are held for the step: the first-order change of the direction of an impulse is below the error of the sub-steps.
func (s *System) loadStates() {
	b := &s.Bodies
	s.inertia = buffer.Resized(s.inertia, len(s.States))
	for i := range s.States {
		s.States[i] = State{V: b.V[i], InvMass: b.InvMass[i], W: b.W[i], Q: Identity}
		m := b.Pose[i].Q.Mul(b.Principal[i]).Matrix()
		s.inertia[i] = m.RotateDiagonal(b.InvInertia[i])
	}
}

// integrateVelocities applies gravity, forces, torques, damping and the gyroscopic term to the dynamic bodies for a sub-step.
func (s *System) integrateVelocities() {
	b, k := &s.Bodies, &s.step
	for i := range s.States {
		st := &s.States[i]
		if !(st.InvMass > 0) {
			continue
		}
		a := k.gravity.times(b.GravityScale[i]).add(b.Force[i].times(st.InvMass))
		st.V = st.V.addTimes(a, k.h).times(1 / (1 + float32(k.h*b.LinearDamping[i])))
		q := st.Q.Mul(b.Pose[i].Q).Mul(b.Principal[i])
		m := q.Matrix()
		w, torque, inv := m.MulTransposed(st.W), m.MulTransposed(b.Torque[i]), b.InvInertia[i]
		w = Gyroscopic(w, b.Moments[i], k.h)
		w = w.addTimes(Vec{float32(torque.X * inv.X), float32(torque.Y * inv.Y), float32(torque.Z * inv.Z)}, k.h)
		if w != m.MulTransposed(st.W) { // what nothing turns keeps its bits
			st.W = m.Mul(w)
		}
		st.W = st.W.times(1 / (1 + float32(k.h*b.AngularDamping[i])))
		k.clamp(st)
	}
}

// clamp bounds the speed of a body, and its rotation in a sub-step.
func (k *stepContext) clamp(st *State) {
	if v := st.V.length(); v > k.maxSpeed {
		st.V = st.V.times(k.maxSpeed / v)
	}
	if w := st.W.length(); w > k.maxSpin {
		st.W = st.W.times(k.maxSpin / w)
	}
}

// integratePositions moves and rotates the bodies by their velocities for a sub-step.
func (s *System) integratePositions() {
	for i := range s.States {
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

// storeStates writes velocities and poses back. What has not moved keeps its bits.
func (s *System) storeStates() {
	b := &s.Bodies
	for i := range s.States {
		st := &s.States[i]
		b.V[i], b.W[i] = st.V, st.W
		if st.D != (Vec{}) {
			b.Pose[i].P = b.Pose[i].P.add(st.D)
		}
		if st.Q != Identity {
			b.Pose[i].Q = st.Q.Mul(b.Pose[i].Q).Normalize()
		}
	}
}
