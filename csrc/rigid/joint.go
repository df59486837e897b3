//go:build cgo

package rigid

/*
#cgo noescape et_prepare_joints
#cgo nocallback et_prepare_joints
#cgo noescape et_warm_start_joints
#cgo nocallback et_warm_start_joints
#cgo noescape et_solve_joints
#cgo nocallback et_solve_joints
#cgo noescape et_store_joints
#cgo nocallback et_store_joints
#include "joint.h"
*/
import "C"

import "unsafe"

// Sizes of the C structs of joints, in bytes.
const (
	JointSize      = C.sizeof_et_joint
	JointBlockSize = C.sizeof_et_joint_block
)

// JointBodies are columns of bodies, and the length of a sub-step: see et_prepare_joints.
type JointBodies struct {
	InvInertia, X, Y, Cos, Sin, Angle []float32
	H                                 float32
}

// PrepareJoints fills n blocks, as joint.h says of et_prepare_joints; blocks and joints
// point at structs of the sizes above, and rigid is rate, mass and impulse, here and below.
func PrepareJoints(level int32, blocks unsafe.Pointer, joint []uint32, n int, joints, states unsafe.Pointer, b *JointBodies,
	rigid [3]float32) {
	C.et_prepare_joints(C.int32_t(level), (*C.et_joint_block)(blocks), u32(joint), C.int64_t(n), (*C.et_joint)(joints),
		(*C.et_state)(states), f32(b.InvInertia), f32(b.X), f32(b.Y), f32(b.Cos), f32(b.Sin), f32(b.Angle),
		C.float(rigid[0]), C.float(rigid[1]), C.float(rigid[2]), C.float(b.H))
}

// WarmStartJoints applies the impulses of n blocks, as joint.h says of et_warm_start_joints.
func WarmStartJoints(level int32, blocks unsafe.Pointer, n int, states unsafe.Pointer) {
	C.et_warm_start_joints(C.int32_t(level), (*C.et_joint_block)(blocks), C.int64_t(n), (*C.et_state)(states))
}

// SolveJoints iterates n blocks, as joint.h says of et_solve_joints.
func SolveJoints(level int32, blocks unsafe.Pointer, n int, states unsafe.Pointer, rigid [3]float32, invH float32, biased bool) {
	C.et_solve_joints(C.int32_t(level), (*C.et_joint_block)(blocks), C.int64_t(n), (*C.et_state)(states),
		C.float(rigid[0]), C.float(rigid[1]), C.float(rigid[2]), C.float(invH), flag(biased))
}

// StoreJoints writes the impulses of n blocks to joints, as joint.h says of et_store_joints.
func StoreJoints(blocks unsafe.Pointer, joint []uint32, n int, joints unsafe.Pointer) {
	C.et_store_joints((*C.et_joint_block)(blocks), u32(joint), C.int64_t(n), (*C.et_joint)(joints))
}
