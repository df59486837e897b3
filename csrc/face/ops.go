//go:build cgo && !purego && !386 && !arm && !mips && !mipsle

package face

/*
#cgo noescape et_sum
#cgo nocallback et_sum
#cgo noescape et_first_not_finite
#cgo nocallback et_first_not_finite
#cgo noescape et_first_beyond
#cgo nocallback et_first_beyond
#cgo noescape et_nan32
#cgo nocallback et_nan32
#cgo noescape et_nan64
#cgo nocallback et_nan64
#include "../ops.h"
*/
import "C"

import "unsafe"

// The functions below work on the rows of live, which may be nil, as the methods of native.Ops say. All columns have
// one length, which is not 0; teleported may be nil.

// Vec3 and Quat mirror native.Vec3 and native.Quat.
type (
	Vec3 struct{ X, Y, Z []float32 }
	Quat struct{ X, Y, Z, W []float32 }
)

func (v *Vec3) c() C.et_vec3 { return C.et_vec3{x: f32(v.X), y: f32(v.Y), z: f32(v.Z)} }
func (q *Quat) c() C.et_quat { return C.et_quat{x: f32(q.X), y: f32(q.Y), z: f32(q.Z), w: f32(q.W)} }

// Integrate computes pos[i] += float32(vel[i] * dt).
func Integrate(level int32, pos, vel []float32, dt float32, live []uint64) {
	C.et_integrate(C.int32_t(level), f32(pos), f32(vel), C.float(dt), u64(live), C.int64_t(len(pos)))
}

// Scale multiplies a column by a number.
func Scale(level int32, x []float32, a float32, live []uint64) {
	C.et_scale(C.int32_t(level), f32(x), C.float(a), u64(live), C.int64_t(len(x)))
}

// Affine computes out[i] = x[i]*a + b.
func Affine(level int32, out, x []float32, a, b float32, live []uint64) {
	C.et_affine(C.int32_t(level), f32(out), f32(x), C.float(a), C.float(b), u64(live), C.int64_t(len(out)))
}

// Select copies the rows of which from a, and the others from b.
func Select(level int32, out []float32, which []uint64, a, b []float32, live []uint64) {
	C.et_select(C.int32_t(level), f32(out), u64(which), f32(a), f32(b), u64(live), C.int64_t(len(out)))
}

// The last Comparison of package native, as C counts them.
const NotEqual = C.ET_NOT_EQUAL

// Compare writes a bitmap of the rows of x for which a comparison with y holds, or with limit if y is nil.
func Compare(level int32, to []uint64, x []float32, how uint8, y []float32, limit float32, live []uint64) {
	C.et_compare(C.int32_t(level), u64(to), f32(x), C.int32_t(how), f32(y), C.float(limit), u64(live), C.int64_t(len(x)))
}

// Damp divides each v[i] by 1 + dt*c[i].
func Damp(level int32, v, c []float32, dt float32, live []uint64) {
	C.et_damp(C.int32_t(level), f32(v), f32(c), C.float(dt), u64(live), C.int64_t(len(v)))
}

// Clamp moves values outside [lo, hi] to the nearer bound.
func Clamp(level int32, x []float32, lo, hi float32, live []uint64) {
	C.et_clamp(C.int32_t(level), f32(x), C.float(lo), C.float(hi), u64(live), C.int64_t(len(x)))
}

// Wrap moves values outside [lo, hi) by multiples of hi-lo.
func Wrap(level int32, x []float32, lo, hi float32, live []uint64) {
	C.et_wrap(C.int32_t(level), f32(x), C.float(lo), C.float(hi), u64(live), C.int64_t(len(x)))
}

// Lerp interpolates linearly between two columns.
func Lerp(level int32, out, prev, cur []float32, alpha float32, teleported, live []uint64) {
	C.et_lerp(C.int32_t(level), f32(out), f32(prev), f32(cur), C.float(alpha), u64(teleported), u64(live), C.int64_t(len(out)))
}

// ClampLength shortens vectors to a length of at most most.
func ClampLength(level int32, v Vec3, most float32, live []uint64) {
	C.et_clamp_length(C.int32_t(level), v.c(), C.float(most), u64(live), C.int64_t(len(v.X)))
}

// Dist2 computes squared distances of points from (x, y, z).
func Dist2(level int32, out []float32, p Vec3, x, y, z float32, live []uint64) {
	C.et_dist2(C.int32_t(level), f32(out), p.c(), C.float(x), C.float(y), C.float(z), u64(live), C.int64_t(len(out)))
}

// Nlerp interpolates between quaternions.
func Nlerp(level int32, out, prev, cur *Quat, alpha float32, teleported, live []uint64) {
	C.et_nlerp(C.int32_t(level), out.c(), prev.c(), cur.c(), C.float(alpha), u64(teleported), u64(live), C.int64_t(len(out.X)))
}

// NormalizeQuat divides quaternions by their length.
func NormalizeQuat(level int32, q Quat, live []uint64) {
	C.et_normalize_quat(C.int32_t(level), q.c(), u64(live), C.int64_t(len(q.X)))
}

// IntegrateQuat rotates quaternions by angular velocities.
func IntegrateQuat(level int32, q Quat, omega Vec3, dt float32, live []uint64) {
	C.et_integrate_quat(C.int32_t(level), q.c(), omega.c(), C.float(dt), u64(live), C.int64_t(len(q.X)))
}

// Motion is et_motion.
type Motion struct {
	Pos, Vel, Acc Vec3
	Rot           Quat
	Ang           Vec3
}

// Move moves bodies.
func Move(level int32, m *Motion, dt float32, live []uint64) {
	c := C.et_motion{pos: m.Pos.c(), vel: m.Vel.c(), acc: m.Acc.c(), rot: m.Rot.c(), ang: m.Ang.c()}
	C.et_move(C.int32_t(level), c, C.float(dt), u64(live), C.int64_t(len(m.Pos.X)))
}

// Copy computes dst[i] = src[i].
func Copy(level int32, dst, src []float32, live []uint64) {
	C.et_copy(C.int32_t(level), f32(dst), f32(src), u64(live), C.int64_t(len(dst)))
}

// Fill computes dst[i] = value.
func Fill(level int32, dst []float32, value float32, live []uint64) {
	C.et_fill(C.int32_t(level), f32(dst), C.float(value), u64(live), C.int64_t(len(dst)))
}

// Gather computes dst[i] = src[index[i]], for indices below 2^31.
func Gather(level int32, dst, src []float32, index []uint32, live []uint64) {
	C.et_gather(C.int32_t(level), f32(dst), f32(src), u32(index), u64(live), C.int64_t(len(dst)))
}

// Compose makes matrices from positions, quaternions and scales.
func Compose(level int32, out []float32, byRow bool, pos Vec3, rot Quat, scale Vec3, live []uint64) {
	C.et_compose(C.int32_t(level), f32(out), flag(byRow), pos.c(), rot.c(), scale.c(), u64(live), C.int64_t(len(pos.X)))
}

// Bounds finds the least and the greatest values of three columns.
func Bounds(level int32, p Vec3, live []uint64, least, greatest *[3]float32) {
	C.et_bounds(C.int32_t(level), p.c(), u64(live), C.int64_t(len(p.X)), f32(least[:]), f32(greatest[:]))
}

// Sum adds up a column in double precision.
func Sum(level int32, x []float32, live []uint64) float64 {
	var sum C.double
	C.et_sum(C.int32_t(level), f32(x), u64(live), C.int64_t(len(x)), &sum)
	return float64(sum)
}

// FirstNotFinite returns the first row that is NaN or infinite, or -1.
func FirstNotFinite(level int32, x []float32, live []uint64) int {
	var row C.int64_t
	C.et_first_not_finite(C.int32_t(level), f32(x), u64(live), C.int64_t(len(x)), &row)
	return int(row)
}

// FirstBeyond returns the first row with index[i] >= limit, or -1; limit is at most
// 2^31.
func FirstBeyond(level int32, index []uint32, limit int, live []uint64) int {
	var row C.int64_t
	C.et_first_beyond(C.int32_t(level), u32(index), C.uint32_t(limit), u64(live), C.int64_t(len(index)), &row)
	return int(row)
}

// NaN32 reports whether there is a NaN in x.
func NaN32(level int32, x []float32) bool {
	return C.et_nan32(C.int32_t(level), (*C.uint32_t)(unsafe.Pointer(unsafe.SliceData(x))), C.int64_t(len(x))) != 0
}

// NaN64 reports whether there is a NaN in x.
func NaN64(level int32, x []float64) bool {
	return C.et_nan64(C.int32_t(level), (*C.uint64_t)(unsafe.Pointer(unsafe.SliceData(x))), C.int64_t(len(x))) != 0
}
