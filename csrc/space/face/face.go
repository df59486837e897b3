//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

package face

/*
#cgo CFLAGS: -std=c11 -O2 -fno-fast-math -fvisibility=hidden -Wall -Wextra -Wno-unknown-pragmas
#cgo noescape et_space_prepare_bodies
#cgo nocallback et_space_prepare_bodies
#cgo noescape et_space_prepare_contacts
#cgo nocallback et_space_prepare_contacts
#cgo noescape et_space_integrate_velocities
#cgo nocallback et_space_integrate_velocities
#cgo noescape et_space_warm_start
#cgo nocallback et_space_warm_start
#cgo noescape et_space_solve_contacts
#cgo nocallback et_space_solve_contacts
#cgo noescape et_space_integrate_positions
#cgo nocallback et_space_integrate_positions
#cgo noescape et_space_relax_contacts
#cgo nocallback et_space_relax_contacts
#cgo noescape et_space_apply_restitution
#cgo nocallback et_space_apply_restitution
#cgo noescape et_space_store_impulses
#cgo nocallback et_space_store_impulses
#cgo noescape et_space_finalize_bodies
#cgo nocallback et_space_finalize_bodies
#cgo noescape et_space_prepare_joints
#cgo nocallback et_space_prepare_joints
#cgo noescape et_space_warm_start_joints
#cgo nocallback et_space_warm_start_joints
#cgo noescape et_space_solve_joints
#cgo nocallback et_space_solve_joints
#cgo noescape et_space_relax_joints
#cgo nocallback et_space_relax_joints
#cgo noescape et_space_store_joint_impulses
#cgo nocallback et_space_store_joint_impulses
#cgo noescape et_space_solve
#cgo nocallback et_space_solve
#include "../system.h"
*/
import "C"

import (
	"unsafe"

	_ "github.com/evertick/evertick/csrc"       // for its headers
	_ "github.com/evertick/evertick/csrc/space" // the functions
)

// System is a C struct that package internal/rigid3 packs, as it has a type of the same layout.
type System = C.et_space_system

// Sizes of the C structs, in bytes, and the place of one in another.
const (
	ContactSize      = C.sizeof_et_space_contact
	ManifoldSize     = C.sizeof_et_space_manifold
	HitSize          = C.sizeof_et_space_hit
	MaterialSize     = C.sizeof_et_space_material
	StateSize        = C.sizeof_et_space_state
	PoseSize         = C.sizeof_et_space_pose
	InertiaSize      = C.sizeof_et_space_inertia
	JointSize        = C.sizeof_et_space_joint
	JointBlockSize   = C.sizeof_et_space_joint_block
	JointPartsSize   = C.sizeof_et_space_joint_parts
	ContactBlockSize = C.sizeof_et_space_block
	SystemSize       = C.sizeof_et_space_system
	SpanSize         = C.sizeof_et_space_span
	StepOffset       = unsafe.Offsetof(System{}.step)
)

// The stages of a step, as system.h describes them.

func PrepareBodies(level int32, s *System, lo, hi int) {
	C.et_space_prepare_bodies(C.int32_t(level), *s, C.int64_t(lo), C.int64_t(hi))
}
func PrepareContacts(level int32, s *System, lo, hi int) {
	C.et_space_prepare_contacts(C.int32_t(level), *s, C.int64_t(lo), C.int64_t(hi))
}
func IntegrateVelocities(level int32, s *System, sub, lo, hi int) {
	C.et_space_integrate_velocities(C.int32_t(level), *s, C.int64_t(sub), C.int64_t(lo), C.int64_t(hi))
}
func WarmStart(level int32, s *System, lo, hi int) {
	C.et_space_warm_start(C.int32_t(level), *s, C.int64_t(lo), C.int64_t(hi))
}
func SolveContacts(level int32, s *System, lo, hi int) {
	C.et_space_solve_contacts(C.int32_t(level), *s, C.int64_t(lo), C.int64_t(hi))
}
func IntegratePositions(level int32, s *System, lo, hi int) {
	C.et_space_integrate_positions(C.int32_t(level), *s, C.int64_t(lo), C.int64_t(hi))
}
func RelaxContacts(level int32, s *System, lo, hi int) {
	C.et_space_relax_contacts(C.int32_t(level), *s, C.int64_t(lo), C.int64_t(hi))
}
func ApplyRestitution(level int32, s *System, lo, hi int) {
	C.et_space_apply_restitution(C.int32_t(level), *s, C.int64_t(lo), C.int64_t(hi))
}
func StoreImpulses(level int32, s *System, lo, hi int) {
	C.et_space_store_impulses(C.int32_t(level), *s, C.int64_t(lo), C.int64_t(hi))
}
func FinalizeBodies(level int32, s *System, lo, hi int) {
	C.et_space_finalize_bodies(C.int32_t(level), *s, C.int64_t(lo), C.int64_t(hi))
}

func PrepareJoints(level int32, s *System, lo, hi int) {
	C.et_space_prepare_joints(C.int32_t(level), *s, C.int64_t(lo), C.int64_t(hi))
}
func WarmStartJoints(level int32, s *System, lo, hi int) {
	C.et_space_warm_start_joints(C.int32_t(level), *s, C.int64_t(lo), C.int64_t(hi))
}
func SolveJoints(level int32, s *System, lo, hi int) {
	C.et_space_solve_joints(C.int32_t(level), *s, C.int64_t(lo), C.int64_t(hi))
}
func RelaxJoints(level int32, s *System, lo, hi int) {
	C.et_space_relax_joints(C.int32_t(level), *s, C.int64_t(lo), C.int64_t(hi))
}
func StoreJointImpulses(level int32, s *System, lo, hi int) {
	C.et_space_store_joint_impulses(C.int32_t(level), *s, C.int64_t(lo), C.int64_t(hi))
}

// Solve runs all stages, as et_space_solve describes.
func Solve(level int32, s *System) { C.et_space_solve(C.int32_t(level), *s) }
