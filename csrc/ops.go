//go:build cgo

package csrc

/*
#include "ops.h"
*/
import "C"

// The functions below do in the rows of live, which may be nil, what the methods of
// native.Ops say. All columns have one length; teleported may be nil.

// Integrate computes, in the rows of live, pos[i] += float32(vel[i] * dt).
func Integrate(level int32, pos, vel []float32, dt float32, live []uint64) {
	C.et_integrate(C.int32_t(level), f32(pos), f32(vel), C.float(dt), u64(live), C.int64_t(len(pos)))
}

// Scale multiplies a column by a number.
func Scale(level int32, x []float32, a float32, live []uint64) {
	C.et_scale(C.int32_t(level), f32(x), C.float(a), u64(live), C.int64_t(len(x)))
}

// Damp divides each v[i] by 1 + dt*c[i].
func Damp(level int32, v, c []float32, dt float32, live []uint64) {
	C.et_damp(C.int32_t(level), f32(v), f32(c), C.float(dt), u64(live), C.int64_t(len(v)))
}

// Clamp moves what is outside [lo, hi] to its ends.
func Clamp(level int32, x []float32, lo, hi float32, live []uint64) {
	C.et_clamp(C.int32_t(level), f32(x), C.float(lo), C.float(hi), u64(live), C.int64_t(len(x)))
}

// Wrap moves what is outside [lo, hi) by multiples of hi-lo.
func Wrap(level int32, x []float32, lo, hi float32, live []uint64) {
	C.et_wrap(C.int32_t(level), f32(x), C.float(lo), C.float(hi), u64(live), C.int64_t(len(x)))
}

// Lerp interpolates between two columns.
func Lerp(level int32, out, prev, cur []float32, alpha float32, teleported, live []uint64) {
	C.et_lerp(C.int32_t(level), f32(out), f32(prev), f32(cur), C.float(alpha), u64(teleported), u64(live), C.int64_t(len(out)))
}

// ClampLength shortens vectors to a length of max.
func ClampLength(level int32, x, y, z []float32, max float32, live []uint64) {
	C.et_clamp_length(C.int32_t(level), vec3(x, y, z), C.float(max), u64(live), C.int64_t(len(x)))
}

// Dist2 computes squared distances of points from (x, y, z).
func Dist2(level int32, out, px, py, pz []float32, x, y, z float32, live []uint64) {
	C.et_dist2(C.int32_t(level), f32(out), vec3(px, py, pz), C.float(x), C.float(y), C.float(z), u64(live), C.int64_t(len(out)))
}

// Nlerp interpolates between the quaternions of columns 4 to 7 and 8 to 11 into
// columns 0 to 3.
func Nlerp(level int32, c *[12][]float32, alpha float32, teleported, live []uint64) {
	C.et_nlerp(C.int32_t(level), quat(c[0], c[1], c[2], c[3]), quat(c[4], c[5], c[6], c[7]), quat(c[8], c[9], c[10], c[11]),
		C.float(alpha), u64(teleported), u64(live), C.int64_t(len(c[0])))
}

// NormalizeQuat gives quaternions the length 1.
func NormalizeQuat(level int32, x, y, z, w []float32, live []uint64) {
	C.et_normalize_quat(C.int32_t(level), quat(x, y, z, w), u64(live), C.int64_t(len(x)))
}

// IntegrateQuat turns the quaternions of columns 0 to 3 by the angular velocities
// of columns 4 to 6.
func IntegrateQuat(level int32, c *[7][]float32, dt float32, live []uint64) {
	C.et_integrate_quat(C.int32_t(level), quat(c[0], c[1], c[2], c[3]), vec3(c[4], c[5], c[6]),
		C.float(dt), u64(live), C.int64_t(len(c[0])))
}

// Move moves bodies; columns are those of et_motion, in its order.
func Move(level int32, c *[16][]float32, dt float32, live []uint64) {
	m := C.et_motion{
		pos: vec3(c[0], c[1], c[2]), vel: vec3(c[3], c[4], c[5]), acc: vec3(c[6], c[7], c[8]),
		rot: quat(c[9], c[10], c[11], c[12]), ang: vec3(c[13], c[14], c[15]),
	}
	C.et_move(C.int32_t(level), m, C.float(dt), u64(live), C.int64_t(len(c[0])))
}

func vec3(x, y, z []float32) C.et_vec3 { return C.et_vec3{x: f32(x), y: f32(y), z: f32(z)} }
func quat(x, y, z, w []float32) C.et_quat {
	return C.et_quat{x: f32(x), y: f32(y), z: f32(z), w: f32(w)}
}
