package rigid

import (
	"math"

	"github.com/evertick/evertick/native"
)

// Bodies are columns with an element per body.
type Bodies struct {
	VX, VY, W           []float32 // m/s, rad/s
	InvMass, InvInertia []float32 // 1/kg, 1/(kg·m²); InvMass 0: not dynamic, and then InvInertia is 0 too

	ForceX, ForceY, Torque        []float32 // N, N·m
	GravityScale                  []float32
	LinearDamping, AngularDamping []float32 // 1/s, ≥ 0

	// FreeX, FreeY and FreeW are used by the stages only: the velocities without contacts in the sub-step.
	FreeX, FreeY, FreeW []float32
}

// LoadStates sets the states of bodies [lo, hi): velocities and inverse masses from their columns, no
// translation and no rotation.
func (s *System) LoadStates(level native.Level, lo, hi int) {
	kernelsOf(level).loadStates(s, lo, hi)
}

func (s *System) loadStatesGo(lo, hi int) {
	b := &s.Bodies
	for i := lo; i < hi; i++ {
		s.States[i] = State{VX: b.VX[i], VY: b.VY[i], W: b.W[i], InvMass: b.InvMass[i], C: 1}
	}
}

// IntegrateVelocities applies gravity, forces, damping and the speed limits to the dynamic bodies of [lo, hi),
// at the beginning of sub-step sub; the first is 0.
//
// Without contacts the velocity of a body would be
//
//	free = (v + h·(gravity·scale + force/m)) / (1 + h·damping)
//
// with the velocity v at the end of the last sub-step. Warm starting adds the effect that the accumulated impulses of
// its contacts had in the last sub-step, from its first to its last iteration: v minus the free velocity of that
// sub-step. So blocks are warm-started in the first sub-step only.
func (s *System) IntegrateVelocities(level native.Level, sub, lo, hi int) {
	kernelsOf(level).integrateVelocities(s, sub, lo, hi)
}

func (s *System) integrateVelocitiesGo(sub, lo, hi int) {
	b, k, states := &s.Bodies, &s.step, s.States[lo:hi]
	h, gravity, most, fastest := k.h, k.gravity, float32(k.maxLinearSpeed*k.maxLinearSpeed), k.maxAngularSpeed
	forceX, forceY, torque := b.ForceX[lo:hi][:len(states)], b.ForceY[lo:hi][:len(states)], b.Torque[lo:hi][:len(states)]
	gravityScale, invInertia := b.GravityScale[lo:hi][:len(states)], b.InvInertia[lo:hi][:len(states)]
	linearDamping, angularDamping := b.LinearDamping[lo:hi][:len(states)], b.AngularDamping[lo:hi][:len(states)]
	freeX, freeY, freeW := b.FreeX[lo:hi][:len(states)], b.FreeY[lo:hi][:len(states)], b.FreeW[lo:hi][:len(states)]
	for i := range states {
		st := &states[i]
		oldX, oldY, oldW, invMass := st.VX, st.VY, st.W, st.InvMass
		ax := float32(gravity.X*gravityScale[i]) + float32(forceX[i]*invMass)
		ay := float32(gravity.Y*gravityScale[i]) + float32(forceY[i]*invMass)
		linear := 1 / (1 + float32(h*linearDamping[i]))
		angular := 1 / (1 + float32(h*angularDamping[i]))
		vx, vy := float32((oldX+float32(h*ax))*linear), float32((oldY+float32(h*ay))*linear)
		if float32(vx*vx)+float32(vy*vy) > most {
			vx, vy = clampSpeed(k.maxLinearSpeed, vx, vy)
		}
		w := float32((oldW + float32(h*float32(torque[i]*invInertia[i]))) * angular)
		w = maxFloat(-fastest, minFloat(fastest, w)) // a NaN stays
		warmX, warmY, warmW := float32(0), float32(0), float32(0)
		if sub > 0 {
			warmX, warmY, warmW = oldX-freeX[i], oldY-freeY[i], oldW-freeW[i]
		}
		freeX[i], freeY[i], freeW[i] = vx, vy, w
		if invMass > 0 {
			st.VX, st.VY, st.W = vx+warmX, vy+warmY, w+warmW
		}
	}
}

// tiny scales a velocity whose square overflows, so that its square is in range.
const tiny = 0x1p-70

// clampSpeed shortens a velocity to the speed limit, even if its square overflows. An infinite velocity becomes
// NaN, and NaN stays: clamping keeps it from other bodies, and the check for NaN after the step finds it.
func clampSpeed(limit, vx, vy float32) (float32, float32) {
	square := float32(vx*vx) + float32(vy*vy)
	if !(square > float32(limit*limit)) {
		return vx, vy
	}
	if math.IsInf(float64(square), 1) {
		vx, vy = float32(vx*tiny), float32(vy*tiny)
		square = float32(vx*vx) + float32(vy*vy)
	}
	scale := limit / sqrt(square)
	return float32(vx * scale), float32(vy * scale)
}

// exceeds reports whether a velocity is above the limits. A NaN is not.
func (k *stepContext) exceeds(vx, vy, w float32) bool {
	return float32(vx*vx)+float32(vy*vy) > float32(k.maxLinearSpeed*k.maxLinearSpeed) || abs(w) > k.maxAngularSpeed
}

// clampVelocity returns the velocity of a body, within the limits if the body is dynamic: contacts and joints may
// have exceeded them. An infinite angular velocity becomes NaN, too.
func (k *stepContext) clampVelocity(st *State) (vx, vy, w float32) {
	if !(st.InvMass > 0) {
		return st.VX, st.VY, st.W
	}
	vx, vy = clampSpeed(k.maxLinearSpeed, st.VX, st.VY)
	if w = st.W; abs(w) > k.maxAngularSpeed {
		w = maxFloat(-k.maxAngularSpeed, minFloat(k.maxAngularSpeed, w)) + (w - w)
	}
	return vx, vy, w
}

// IntegratePositions moves and rotates bodies [lo, hi) by their velocities for a sub-step. It clamps the velocities of
// dynamic bodies first, so no dynamic body moves by more than MaxSpeed·h, or turns by more than MaxRotation, in a
// sub-step. It turns by 2·atan(w·h/2) instead of w·h. With t = w·h/2 the cosine and sine of that angle are
// (1 - t²)/(1 + t²) and 2t/(1 + t²). The angle is too small by (w·h)³/12, and the length is one except for rounding.
func (s *System) IntegratePositions(level native.Level, lo, hi int) {
	kernelsOf(level).integratePositions(s, lo, hi)
}

func (s *System) integratePositionsGo(lo, hi int) {
	h, states := s.step.h, s.States[lo:hi]
	for i := range states {
		st := &states[i]
		if s.step.exceeds(st.VX, st.VY, st.W) {
			st.VX, st.VY, st.W = s.step.clampVelocity(st)
		}
		t := float32(float32(0.5*h) * st.W)
		square := float32(t * t)
		scale := 1 / (1 + square)
		cos, sin := float32((1-square)*scale), float32((t+t)*scale)
		st.DX += float32(h * st.VX)
		st.DY += float32(h * st.VY)
		st.C, st.S = float32(st.C*cos)-float32(st.S*sin), float32(st.S*cos)+float32(st.C*sin)
	}
}

// StoreStates writes velocities, poses and angles of bodies [lo, hi) back to their columns. It clamps
// velocities like IntegratePositions, adds translations to positions, and rotates and normalizes rotations;
// Angle is their Atan2. The position of a body that has not moved keeps its bits, and so do the rotation and
// angle of one that has not turned.
func (s *System) StoreStates(level native.Level, lo, hi int) {
	kernelsOf(level).storeStates(s, lo, hi)
}

func (s *System) storeStatesGo(lo, hi int) {
	b, p, states := &s.Bodies, &s.Poses, s.States[lo:hi]
	vx, vy, w := b.VX[lo:hi][:len(states)], b.VY[lo:hi][:len(states)], b.W[lo:hi][:len(states)]
	x, y, angle := p.X[lo:hi][:len(states)], p.Y[lo:hi][:len(states)], s.Angle[lo:hi][:len(states)]
	oldCos, oldSin := p.Cos[lo:hi][:len(states)], p.Sin[lo:hi][:len(states)]
	for i := range states {
		st := &states[i]
		vx[i], vy[i], w[i] = st.VX, st.VY, st.W
		if s.step.exceeds(st.VX, st.VY, st.W) {
			vx[i], vy[i], w[i] = s.step.clampVelocity(st)
		}
		if st.DX != 0 {
			x[i] += st.DX
		}
		if st.DY != 0 {
			y[i] += st.DY
		}
		if st.C == 1 && st.S == 0 {
			continue
		}
		cos := float32(oldCos[i]*st.C) - float32(oldSin[i]*st.S)
		sin := float32(oldSin[i]*st.C) + float32(oldCos[i]*st.S)
		length := sqrt(float32(cos*cos) + float32(sin*sin))
		cos, sin = cos/length, sin/length
		oldCos[i], oldSin[i] = cos, sin
		angle[i] = Atan2(sin, cos)
	}
}
