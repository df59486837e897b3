//go:build cgo

package rigid

import (
	"unsafe"

	"github.com/evertick/evertick/csrc"
	"github.com/evertick/evertick/native"
)

// These are passed to C by address.
var (
	_ [csrc.JointSize]byte      = [unsafe.Sizeof(Joint{})]byte{}
	_ [csrc.JointBlockSize]byte = [unsafe.Sizeof(JointBlock{})]byte{}
)

func firstJoints(blocks []JointBlock) unsafe.Pointer {
	return unsafe.Pointer(unsafe.SliceData(blocks))
}

func (s *System) joints() unsafe.Pointer { return unsafe.Pointer(unsafe.SliceData(s.Joints)) }

func (s *System) prepareJointsC(l native.Level, blocks []JointBlock, joint []uint32) {
	p := &s.Poses
	csrc.PrepareJoints(cLevel(l), firstJoints(blocks), joint, len(blocks), s.joints(), s.states(), &csrc.JointBodies{
		InvInertia: s.Bodies.InvInertia, X: p.X, Y: p.Y, Cos: p.Cos, Sin: p.Sin, Angle: s.Angle, H: s.step.h,
	}, s.step.jointSoftness.numbers())
}

func (s *System) warmStartJointsC(l native.Level, blocks []JointBlock) {
	csrc.WarmStartJoints(cLevel(l), firstJoints(blocks), len(blocks), s.states())
}

func (s *System) solveJointsC(l native.Level, useBias bool, blocks []JointBlock) {
	rigid := rigidSoftness
	if useBias {
		rigid = s.step.jointSoftness
	}
	csrc.SolveJoints(cLevel(l), firstJoints(blocks), len(blocks), s.states(), rigid.numbers(), s.step.invH, useBias)
}

func (s *System) storeJointsC(blocks []JointBlock, joint []uint32) {
	csrc.StoreJoints(firstJoints(blocks), joint, len(blocks), s.joints())
}
