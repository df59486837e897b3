//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

package face

/*
#cgo noescape et_recycle
#cgo nocallback et_recycle
#cgo noescape et_load_states
#cgo nocallback et_load_states
#cgo noescape et_prepare_joints
#cgo nocallback et_prepare_joints
#cgo noescape et_prepare_contacts
#cgo nocallback et_prepare_contacts
#cgo noescape et_integrate_velocities
#cgo nocallback et_integrate_velocities
#cgo noescape et_warm_start_joints
#cgo nocallback et_warm_start_joints
#cgo noescape et_warm_start_contacts
#cgo nocallback et_warm_start_contacts
#cgo noescape et_solve_joints
#cgo nocallback et_solve_joints
#cgo noescape et_solve_contacts
#cgo nocallback et_solve_contacts
#cgo noescape et_integrate_positions
#cgo nocallback et_integrate_positions
#cgo noescape et_apply_restitution
#cgo nocallback et_apply_restitution
#cgo noescape et_store_joint_impulses
#cgo nocallback et_store_joint_impulses
#cgo noescape et_store_contact_impulses
#cgo nocallback et_store_contact_impulses
#cgo noescape et_store_states
#cgo nocallback et_store_states
#cgo noescape et_solve
#cgo nocallback et_solve
#cgo noescape et_update_centres
#cgo nocallback et_update_centres
#cgo noescape et_update_origins
#cgo nocallback et_update_origins
#cgo noescape et_find_fast
#cgo nocallback et_find_fast
#cgo noescape et_all_in_range
#cgo nocallback et_all_in_range
#cgo noescape et_angles
#cgo nocallback et_angles
#cgo noescape et_write_entities
#cgo nocallback et_write_entities
#cgo noescape et_first_changed
#cgo nocallback et_first_changed
#include "../entities.h"
*/
import "C"

import "unsafe"

// C structs that package internal/rigid packs, as it has types of the same layout.
type (
	System    = C.et_system
	Recycling = C.et_recycling
	Origins   = C.et_origins
	Entities  = C.et_entities
	Written   = C.et_written
)

// Sizes of the C structs, in bytes, and the place of one in another.
const (
	ContactSize      = C.sizeof_et_contact
	BaseManifoldSize = C.sizeof_et_base_manifold
	RecyclingSize    = C.sizeof_et_recycling
	StateSize        = C.sizeof_et_state
	HitSize          = C.sizeof_et_hit
	ContactBlockSize = C.sizeof_et_contact_block
	JointSize        = C.sizeof_et_joint
	JointBlockSize   = C.sizeof_et_joint_block
	SystemSize       = C.sizeof_et_system
	OriginsSize      = C.sizeof_et_origins
	EntitiesSize     = C.sizeof_et_entities
	WrittenSize      = C.sizeof_et_written
	StepOffset       = unsafe.Offsetof(System{}.step)
)

// Recycle makes manifolds from contacts, as et_recycle describes.
func Recycle(level int32, r *Recycling, pairs, contacts []uint32, from []int32, out unsafe.Pointer) int {
	return int(C.et_recycle(C.int32_t(level), *r, u32(pairs), u32(contacts), C.int64_t(len(contacts)),
		(*C.int32_t)(unsafe.SliceData(from)), (*C.et_manifold)(out)))
}

// The stages of a step, as system.h describes them.

func LoadStates(level int32, s *System, lo, hi int) {
	C.et_load_states(C.int32_t(level), *s, C.int64_t(lo), C.int64_t(hi))
}
func PrepareJoints(level int32, s *System, lo, hi int) {
	C.et_prepare_joints(C.int32_t(level), *s, C.int64_t(lo), C.int64_t(hi))
}
func PrepareContacts(level int32, s *System, lo, hi int) {
	C.et_prepare_contacts(C.int32_t(level), *s, C.int64_t(lo), C.int64_t(hi))
}
func IntegrateVelocities(level int32, s *System, sub, lo, hi int) {
	C.et_integrate_velocities(C.int32_t(level), *s, C.int32_t(sub), C.int64_t(lo), C.int64_t(hi))
}

func WarmStartJoints(level int32, s *System, lo, hi int) {
	C.et_warm_start_joints(C.int32_t(level), *s, C.int64_t(lo), C.int64_t(hi))
}
func WarmStartContacts(level int32, s *System, lo, hi int) {
	C.et_warm_start_contacts(C.int32_t(level), *s, C.int64_t(lo), C.int64_t(hi))
}
func SolveJoints(level int32, s *System, useBias bool, lo, hi int) {
	C.et_solve_joints(C.int32_t(level), *s, flag(useBias), C.int64_t(lo), C.int64_t(hi))
}

func SolveContacts(level int32, s *System, useBias bool, lo, hi int) {
	C.et_solve_contacts(C.int32_t(level), *s, flag(useBias), C.int64_t(lo), C.int64_t(hi))
}

func IntegratePositions(level int32, s *System, lo, hi int) {
	C.et_integrate_positions(C.int32_t(level), *s, C.int64_t(lo), C.int64_t(hi))
}
func ApplyRestitution(level int32, s *System, lo, hi int) {
	C.et_apply_restitution(C.int32_t(level), *s, C.int64_t(lo), C.int64_t(hi))
}
func StoreJointImpulses(s *System, lo, hi int) {
	C.et_store_joint_impulses(*s, C.int64_t(lo), C.int64_t(hi))
}
func StoreContactImpulses(s *System, lo, hi int) {
	C.et_store_contact_impulses(*s, C.int64_t(lo), C.int64_t(hi))
}
func StoreStates(level int32, s *System, lo, hi int) {
	C.et_store_states(C.int32_t(level), *s, C.int64_t(lo), C.int64_t(hi))
}

// Solve runs all stages, as et_solve describes.
func Solve(level int32, s *System) { C.et_solve(C.int32_t(level), *s) }

// UpdateCentres sets centres of mass, as et_update_centres describes.
func UpdateCentres(level int32, o *Origins, p *Poses, lo, hi int) {
	C.et_update_centres(C.int32_t(level), *o, *p, C.int64_t(lo), C.int64_t(hi))
}

// UpdateOrigins sets origins, as et_update_origins describes. states points at structs of StateSize bytes.
func UpdateOrigins(level int32, o *Origins, states unsafe.Pointer, p *Poses, lo, hi int, moved []uint32) int {
	return int(C.et_update_origins(C.int32_t(level), *o, (*C.et_state)(states), *p, C.int64_t(lo), C.int64_t(hi), u32(moved)))
}

// FindFast lists the fast bodies, as et_find_fast describes.
func FindFast(level int32, min, max []float32, states unsafe.Pointer, lo, hi int, out []uint32) int {
	return int(C.et_find_fast(C.int32_t(level), f32(min), f32(max), (*C.et_state)(states), C.int64_t(lo), C.int64_t(hi), u32(out)))
}

// AllInRange reports whether floats are in range, as et_all_in_range describes.
func AllInRange(level int32, memory []float32, stride, columns, n int) bool {
	return C.et_all_in_range(C.int32_t(level), (*C.uint32_t)(unsafe.Pointer(unsafe.SliceData(memory))), C.int64_t(stride),
		C.int64_t(columns), C.int64_t(n)) != 0
}

// Angles computes out[i] = Atan2(sin[i], cos[i]); lengths are equal.
func Angles(level int32, cos, sin, out []float32) {
	C.et_angles(C.int32_t(level), f32(cos), f32(sin), f32(out), C.int64_t(len(out)))
}

// WriteEntities writes bodies to their entities, as et_write_entities describes.
func WriteEntities(level int32, e *Entities, o *Origins, p *Poses, slots []uint32, w *Written, lo, hi int) {
	C.et_write_entities(C.int32_t(level), *e, *o, *p, u32(slots), *w, C.int64_t(lo), C.int64_t(hi))
}

// FirstChanged finds the first body whose entity differs, as et_first_changed describes.
func FirstChanged(level int32, e *Entities, slots []uint32, w *Written, lo, hi int) int {
	return int(C.et_first_changed(C.int32_t(level), *e, u32(slots), *w, C.int64_t(lo), C.int64_t(hi)))
}

func flag(on bool) C.int32_t {
	if on {
		return 1
	}
	return 0
}
