//go:build cgo

package rigid

import (
	"unsafe"

	"github.com/evertick/evertick/csrc"
	"github.com/evertick/evertick/native"
)

// These are passed to C by address.
var (
	_ [csrc.ContactSize]byte      = [unsafe.Sizeof(Contact{})]byte{}
	_ [csrc.StateSize]byte        = [unsafe.Sizeof(State{})]byte{}
	_ [csrc.HitSize]byte          = [unsafe.Sizeof(Hit{})]byte{}
	_ [csrc.ContactBlockSize]byte = [unsafe.Sizeof(ContactBlock{})]byte{}
)

func anglesC(l native.Level, cos, sin, out []float32) { csrc.Angles(cLevel(l), cos, sin, out) }

func (s *System) states() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s.States)) }

func first(blocks []ContactBlock) unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(blocks)) }

func (s *System) startC(l native.Level, lo, hi int) {
	b := &s.Bodies
	csrc.Start(cLevel(l), s.states(), b.VX, b.VY, b.W, b.InvMass, lo, hi)
}

func (s *System) integrateVelocitiesC(l native.Level, sub, lo, hi int) {
	f := s.forces()
	f.Warm = sub > 0
	csrc.Velocities(cLevel(l), s.states(), &f, lo, hi)
}

func (s *System) forces() csrc.Forces {
	b, k := &s.Bodies, &s.step
	return csrc.Forces{
		InvInertia: b.InvInertia, X: b.ForceX, Y: b.ForceY, Torque: b.Torque,
		GravityScale: b.GravityScale, Linear: b.LinearDamping, Angular: b.AngularDamping,
		FreeX: b.FreeX, FreeY: b.FreeY, FreeW: b.FreeW,
		GravityX: k.gravity.X, GravityY: k.gravity.Y, H: k.h, MaxSpeed: k.maxLinearSpeed, MaxTurn: k.maxAngularSpeed,
	}
}

func (s *System) subStepsC(l native.Level) {
	f, k := s.forces(), &s.step
	csrc.SubSteps(cLevel(l), s.states(), len(s.States), &f, first(s.Blocks), len(s.Blocks), k.contactSoftness.numbers(), k.staticSoftness.numbers(),
		k.invH, k.maxBiasVelocity, firstJoints(s.JointBlocks), len(s.JointBlocks), k.jointSoftness.numbers(), k.subSteps)
}

func (s *System) integratePositionsC(l native.Level, lo, hi int) {
	k := &s.step
	csrc.Positions(cLevel(l), s.states(), k.h, k.maxLinearSpeed, k.maxAngularSpeed, lo, hi)
}

func (s *System) finishC(l native.Level, lo, hi int) {
	b, p, k := &s.Bodies, &s.Poses, &s.step
	csrc.Finish(cLevel(l), s.states(), b.VX, b.VY, b.W, p.X, p.Y, p.Cos, p.Sin, s.Angle, k.maxLinearSpeed, k.maxAngularSpeed, lo, hi)
}

func (o *Origins) columns(p *Poses) csrc.Origins {
	return csrc.Origins{X: o.X, Y: o.Y, CentreX: o.CentreX, CentreY: o.CentreY, Cos: p.Cos, Sin: p.Sin, MassX: p.X, MassY: p.Y}
}

func updateCentresC(l native.Level, o *Origins, p *Poses, lo, hi int) {
	c := o.columns(p)
	csrc.MassCentres(cLevel(l), &c, lo, hi)
}

func updateOriginsC(l native.Level, o *Origins, states []State, p *Poses, lo, hi int, moved []uint32) int {
	c := o.columns(p)
	return csrc.Follow(cLevel(l), unsafe.Pointer(unsafe.SliceData(states)), &c, lo, hi, moved)
}

func allInRangeC(l native.Level, memory []float32, stride, columns, n int) bool {
	return csrc.Usable(cLevel(l), memory, stride, columns, n)
}

func (s *System) prepareC(l native.Level, blocks []ContactBlock, contact []uint32) {
	m := &s.Materials
	csrc.Prepare(cLevel(l), first(blocks), contact, len(blocks), unsafe.Pointer(unsafe.SliceData(s.Manifolds)),
		unsafe.Pointer(unsafe.SliceData(s.Contacts)), s.states(), s.Bodies.InvInertia, &csrc.Surfaces{
			Body: s.BodyOf, Friction: m.Friction, Restitution: m.Restitution, Rolling: m.RollingResistance,
			TangentSpeed: m.TangentSpeed, MixFriction: int32(s.step.frictionMix), MixRestitution: int32(s.step.restitutionMix),
		})
}

func (s *System) warmStartC(l native.Level, blocks []ContactBlock) {
	csrc.WarmStart(cLevel(l), first(blocks), len(blocks), s.states())
}

func (s *System) solveC(l native.Level, useBias bool, blocks []ContactBlock) {
	moving, fixed := rigidSoftness, rigidSoftness
	if useBias {
		moving, fixed = s.step.contactSoftness, s.step.staticSoftness
	}
	csrc.Solve(cLevel(l), first(blocks), len(blocks), s.states(), moving.numbers(), fixed.numbers(), s.step.invH, s.step.maxBiasVelocity, useBias)
}

func (s softness) numbers() [3]float32 { return [3]float32{s.biasRate, s.massScale, s.impulseScale} }

func (s *System) restitutionC(l native.Level, blocks []ContactBlock) {
	csrc.Restitution(cLevel(l), first(blocks), len(blocks), s.states(), s.step.restitutionThreshold)
}

func (s *System) storeC(blocks []ContactBlock, contact []uint32) {
	csrc.Store(first(blocks), contact, len(blocks), unsafe.Pointer(unsafe.SliceData(s.Contacts)), unsafe.Pointer(unsafe.SliceData(s.Hits)))
}
