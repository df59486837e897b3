//go:build cgo

package rigid

/*
#cgo noescape et_angles
#cgo nocallback et_angles
#cgo noescape et_start
#cgo nocallback et_start
#cgo noescape et_velocities
#cgo nocallback et_velocities
#cgo noescape et_positions
#cgo nocallback et_positions
#cgo noescape et_finish
#cgo nocallback et_finish
#cgo noescape et_mass_centres
#cgo nocallback et_mass_centres
#cgo noescape et_follow
#cgo nocallback et_follow
#cgo noescape et_usable
#cgo nocallback et_usable
#cgo noescape et_prepare
#cgo nocallback et_prepare
#cgo noescape et_warm_start
#cgo nocallback et_warm_start
#cgo noescape et_solve
#cgo nocallback et_solve
#cgo noescape et_sub_steps
#cgo nocallback et_sub_steps
#cgo noescape et_restitution
#cgo nocallback et_restitution
#cgo noescape et_store
#cgo nocallback et_store
#include "joint.h"
*/
import "C"

import "unsafe"

// Sizes of the C structs of a contact solver, in bytes.
const (
	ContactSize      = C.sizeof_et_contact
	StateSize        = C.sizeof_et_state
	HitSize          = C.sizeof_et_hit
	ContactBlockSize = C.sizeof_et_contact_block
)

// Angles computes out[i] = Atan2(sin[i], cos[i]); lengths are equal.
func Angles(level int32, cos, sin, out []float32) {
	C.et_angles(C.int32_t(level), f32(cos), f32(sin), f32(out), C.int64_t(len(out)))
}

// Start sets states from columns, as solve.h says of et_start; states point at
// structs of StateSize, here and below.
func Start(level int32, states unsafe.Pointer, vx, vy, w, invMass []float32, lo, hi int) {
	C.et_start(C.int32_t(level), (*C.et_state)(states), f32(vx), f32(vy), f32(w), f32(invMass), C.int64_t(lo), C.int64_t(hi))
}

// Forces are columns of bodies, and what holds for all of them: see et_velocities.
type Forces struct {
	InvInertia, X, Y, Torque, GravityScale, Linear, Angular []float32
	FreeX, FreeY, FreeW                                     []float32
	GravityX, GravityY, H, MaxSpeed, MaxTurn                float32
	Warm                                                    bool
}

// Velocities integrates velocities, as solve.h says of et_velocities.
func Velocities(level int32, states unsafe.Pointer, f *Forces, lo, hi int) {
	C.et_velocities(C.int32_t(level), (*C.et_state)(states), f32(f.InvInertia), f32(f.X), f32(f.Y), f32(f.Torque),
		f32(f.GravityScale), f32(f.Linear), f32(f.Angular), f32(f.FreeX), f32(f.FreeY), f32(f.FreeW),
		C.float(f.GravityX), C.float(f.GravityY), C.float(f.H), C.float(f.MaxSpeed), C.float(f.MaxTurn), flag(f.Warm),
		C.int64_t(lo), C.int64_t(hi))
}

// Positions integrates positions, as solve.h says of et_positions.
func Positions(level int32, states unsafe.Pointer, h, maxSpeed, maxTurn float32, lo, hi int) {
	C.et_positions(C.int32_t(level), (*C.et_state)(states), C.float(h), C.float(maxSpeed), C.float(maxTurn),
		C.int64_t(lo), C.int64_t(hi))
}

// Finish writes states back to columns, as solve.h says of et_finish.
func Finish(level int32, states unsafe.Pointer, vx, vy, w, x, y, cos, sin, angle []float32, maxSpeed, maxTurn float32,
	lo, hi int) {
	C.et_finish(C.int32_t(level), (*C.et_state)(states), f32(vx), f32(vy), f32(w), f32(x), f32(y), f32(cos), f32(sin),
		f32(angle), C.float(maxSpeed), C.float(maxTurn), C.int64_t(lo), C.int64_t(hi))
}

// Origins are columns of bodies: see et_mass_centres.
type Origins struct {
	X, Y, CentreX, CentreY, Cos, Sin, MassX, MassY []float32
}

// MassCentres places centres of mass, as solve.h says of et_mass_centres.
func MassCentres(level int32, o *Origins, lo, hi int) {
	C.et_mass_centres(C.int32_t(level), f32(o.X), f32(o.Y), f32(o.CentreX), f32(o.CentreY), f32(o.Cos), f32(o.Sin), f32(o.MassX),
		f32(o.MassY), C.int64_t(lo), C.int64_t(hi))
}

// Follow places origins, as solve.h says of et_follow.
func Follow(level int32, states unsafe.Pointer, o *Origins, lo, hi int, moved []uint32) int {
	return int(C.et_follow(C.int32_t(level), (*C.et_state)(states), f32(o.X), f32(o.Y), f32(o.CentreX), f32(o.CentreY),
		f32(o.Cos), f32(o.Sin), f32(o.MassX), f32(o.MassY), C.int64_t(lo), C.int64_t(hi), u32(moved)))
}

// Usable tells whether floats are usable, as solve.h says of et_usable.
func Usable(level int32, memory []float32, stride, columns, n int) bool {
	return C.et_usable(C.int32_t(level), (*C.uint32_t)(unsafe.Pointer(unsafe.SliceData(memory))), C.int64_t(stride),
		C.int64_t(columns), C.int64_t(n)) != 0
}

// Surfaces are columns of shapes and the rules that mix them: see et_prepare.
type Surfaces struct {
	Body                                         []uint32
	Friction, Restitution, Rolling, TangentSpeed []float32
	MixFriction, MixRestitution                  int32
}

// Prepare fills n blocks, as solve.h says of et_prepare; blocks, manifolds and
// contacts point at structs of the sizes above.
func Prepare(level int32, blocks unsafe.Pointer, contact []uint32, n int, manifolds, contacts, states unsafe.Pointer,
	invInertia []float32, s *Surfaces) {
	C.et_prepare(C.int32_t(level), (*C.et_contact_block)(blocks), u32(contact), C.int64_t(n), (*C.et_manifold)(manifolds),
		(*C.et_contact)(contacts), (*C.et_state)(states), u32(s.Body), f32(invInertia), f32(s.Friction), f32(s.Restitution),
		f32(s.Rolling), f32(s.TangentSpeed), C.int32_t(s.MixFriction), C.int32_t(s.MixRestitution))
}

// WarmStart applies the impulses of n blocks, as solve.h says of et_warm_start.
func WarmStart(level int32, blocks unsafe.Pointer, n int, states unsafe.Pointer) {
	C.et_warm_start(C.int32_t(level), (*C.et_contact_block)(blocks), C.int64_t(n), (*C.et_state)(states))
}

// Solve iterates n blocks, as solve.h says of et_solve; moving and fixed are rate,
// mass and impulse.
func Solve(level int32, blocks unsafe.Pointer, n int, states unsafe.Pointer, moving, fixed [3]float32, invH, push float32,
	biased bool) {
	C.et_solve(C.int32_t(level), (*C.et_contact_block)(blocks), C.int64_t(n), (*C.et_state)(states),
		C.float(moving[0]), C.float(moving[1]), C.float(moving[2]), C.float(fixed[0]), C.float(fixed[1]), C.float(fixed[2]),
		C.float(invH), C.float(push), flag(biased))
}

// SubSteps does all sub-steps of bodies, n blocks of contacts and those of joints, as
// solve.h says of et_sub_steps.
func SubSteps(level int32, states unsafe.Pointer, bodies int, f *Forces, blocks unsafe.Pointer, n int, moving, fixed [3]float32,
	invH, push float32, joints unsafe.Pointer, nj int, rigid [3]float32, subSteps int) {
	C.et_sub_steps(C.int32_t(level), (*C.et_state)(states), C.int64_t(bodies), f32(f.InvInertia), f32(f.X), f32(f.Y),
		f32(f.Torque), f32(f.GravityScale), f32(f.Linear), f32(f.Angular), f32(f.FreeX), f32(f.FreeY), f32(f.FreeW),
		C.float(f.GravityX), C.float(f.GravityY), C.float(f.H), C.float(f.MaxSpeed), C.float(f.MaxTurn),
		(*C.et_contact_block)(blocks), C.int64_t(n), C.float(moving[0]), C.float(moving[1]), C.float(moving[2]),
		C.float(fixed[0]), C.float(fixed[1]), C.float(fixed[2]), C.float(invH), C.float(push),
		(*C.et_joint_block)(joints), C.int64_t(nj), C.float(rigid[0]), C.float(rigid[1]), C.float(rigid[2]), C.int32_t(subSteps))
}

// Restitution makes n blocks bounce, as solve.h says of et_restitution.
func Restitution(level int32, blocks unsafe.Pointer, n int, states unsafe.Pointer, threshold float32) {
	C.et_restitution(C.int32_t(level), (*C.et_contact_block)(blocks), C.int64_t(n), (*C.et_state)(states), C.float(threshold))
}

// Store writes the impulses of n blocks to contacts and hits, structs of the sizes above,
// as solve.h says of et_store.
func Store(blocks unsafe.Pointer, contact []uint32, n int, contacts, hits unsafe.Pointer) {
	C.et_store((*C.et_contact_block)(blocks), u32(contact), C.int64_t(n), (*C.et_contact)(contacts), (*C.et_hit)(hits))
}

func flag(on bool) C.int32_t {
	if on {
		return 1
	}
	return 0
}
