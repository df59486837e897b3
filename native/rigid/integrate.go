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
	b, k := &s.Bodies, &s.step
	for i := lo; i < hi; i++ {
		st, h := &s.States[i], k.h
		ax := float32(k.gravity.X*b.GravityScale[i]) + float32(b.ForceX[i]*st.InvMass)
		ay := float32(k.gravity.Y*b.GravityScale[i]) + float32(b.ForceY[i]*st.InvMass)
		linear := 1 / (1 + float32(h*b.LinearDamping[i]))
		angular := 1 / (1 + float32(h*b.AngularDamping[i]))
		vx, vy := clampSpeed(k.maxLinearSpeed, float32((st.VX+float32(h*ax))*linear), float32((st.VY+float32(h*ay))*linear))
		w := float32((st.W + float32(h*float32(b.Torque[i]*b.InvInertia[i]))) * angular)
		w = maxFloat(-k.maxAngularSpeed, minFloat(k.maxAngularSpeed, w)) // a NaN stays
		warmX, warmY, warmW := float32(0), float32(0), float32(0)
		if sub > 0 {
			warmX, warmY, warmW = st.VX-b.FreeX[i], st.VY-b.FreeY[i], st.W-b.FreeW[i]
		}
		b.FreeX[i], b.FreeY[i], b.FreeW[i] = vx, vy, w
		if st.InvMass > 0 {
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
	for i := lo; i < hi; i++ {
		st, h := &s.States[i], s.step.h
		st.VX, st.VY, st.W = s.step.clampVelocity(st)
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
	b, p := &s.Bodies, &s.Poses
	for i := lo; i < hi; i++ {
		st := &s.States[i]
		b.VX[i], b.VY[i], b.W[i] = s.step.clampVelocity(st)
		if st.DX != 0 {
			p.X[i] += st.DX
		}
		if st.DY != 0 {
			p.Y[i] += st.DY
		}
		if st.C == 1 && st.S == 0 {
			continue
		}
		cos := float32(p.Cos[i]*st.C) - float32(p.Sin[i]*st.S)
		sin := float32(p.Sin[i]*st.C) + float32(p.Cos[i]*st.S)
		length := float32(math.Sqrt(float64(float32(cos*cos) + float32(sin*sin))))
		p.Cos[i], p.Sin[i] = cos/length, sin/length
		s.Angle[i] = Atan2(p.Sin[i], p.Cos[i])
	}
}
