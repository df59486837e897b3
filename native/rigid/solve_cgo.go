//go:build cgo

package rigid

import (
	"unsafe"

	csrc "github.com/evertick/evertick/csrc/rigid"
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
	b, k := &s.Bodies, &s.pace
	return csrc.Forces{
		InvInertia: b.InvInertia, X: b.ForceX, Y: b.ForceY, Torque: b.Torque,
		GravityScale: b.GravityScale, Linear: b.LinearDamping, Angular: b.AngularDamping,
		FreeX: b.FreeX, FreeY: b.FreeY, FreeW: b.FreeW,
		GravityX: k.gravity.X, GravityY: k.gravity.Y, H: k.h, MaxSpeed: k.maxSpeed, MaxTurn: k.maxTurnRate,
	}
}

func (s *System) subStepsC(l native.Level) {
	f, k := s.forces(), &s.pace
	csrc.SubSteps(cLevel(l), s.states(), len(s.States), &f, first(s.Blocks), len(s.Blocks), k.moving.numbers(), k.fixed.numbers(),
		k.invH, k.push, firstJoints(s.JointBlocks), len(s.JointBlocks), k.joint.numbers(), k.subSteps)
}

func (s *System) integratePositionsC(l native.Level, lo, hi int) {
	k := &s.pace
	csrc.Positions(cLevel(l), s.states(), k.h, k.maxSpeed, k.maxTurnRate, lo, hi)
}

func (s *System) finishC(l native.Level, lo, hi int) {
	b, p, k := &s.Bodies, &s.Poses, &s.pace
	csrc.Finish(cLevel(l), s.states(), b.VX, b.VY, b.W, p.X, p.Y, p.Cos, p.Sin, s.Angle, k.maxSpeed, k.maxTurnRate, lo, hi)
}

func (o *Origins) columns(p *Poses) csrc.Origins {
	return csrc.Origins{X: o.X, Y: o.Y, CentreX: o.CentreX, CentreY: o.CentreY, Cos: p.Cos, Sin: p.Sin, MassX: p.X, MassY: p.Y}
}

func centresC(l native.Level, o *Origins, p *Poses, lo, hi int) {
	c := o.columns(p)
	csrc.MassCentres(cLevel(l), &c, lo, hi)
}

func followC(l native.Level, o *Origins, states []State, p *Poses, lo, hi int, moved []uint32) int {
	c := o.columns(p)
	return csrc.Follow(cLevel(l), unsafe.Pointer(unsafe.SliceData(states)), &c, lo, hi, moved)
}

func usableC(l native.Level, memory []float32, stride, columns, n int) bool {
	return csrc.Usable(cLevel(l), memory, stride, columns, n)
}

func (s *System) prepareC(l native.Level, blocks []ContactBlock, contact []uint32) {
	m := &s.Materials
	csrc.Prepare(cLevel(l), first(blocks), contact, len(blocks), unsafe.Pointer(unsafe.SliceData(s.Manifolds)),
		unsafe.Pointer(unsafe.SliceData(s.Contacts)), s.states(), s.Bodies.InvInertia, &csrc.Surfaces{
			Body: s.BodyOf, Friction: m.Friction, Restitution: m.Restitution, Rolling: m.RollingResistance,
			TangentSpeed: m.TangentSpeed, MixFriction: int32(s.pace.friction), MixRestitution: int32(s.pace.restitution),
		})
}

func (s *System) warmStartC(l native.Level, blocks []ContactBlock) {
	csrc.WarmStart(cLevel(l), first(blocks), len(blocks), s.states())
}

func (s *System) solveC(l native.Level, useBias bool, blocks []ContactBlock) {
	moving, fixed := rigidly, rigidly
	if useBias {
		moving, fixed = s.pace.moving, s.pace.fixed
	}
	csrc.Solve(cLevel(l), first(blocks), len(blocks), s.states(), moving.numbers(), fixed.numbers(), s.pace.invH, s.pace.push, useBias)
}

func (s softness) numbers() [3]float32 { return [3]float32{s.rate, s.mass, s.impulse} }

func (s *System) restitutionC(l native.Level, blocks []ContactBlock) {
	csrc.Restitution(cLevel(l), first(blocks), len(blocks), s.states(), s.pace.threshold)
}

func (s *System) storeC(blocks []ContactBlock, contact []uint32) {
	csrc.Store(first(blocks), contact, len(blocks), unsafe.Pointer(unsafe.SliceData(s.Contacts)), unsafe.Pointer(unsafe.SliceData(s.Hits)))
}
