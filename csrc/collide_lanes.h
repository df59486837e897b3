/* Operations that only the kernels of contact manifolds need, beyond those of lanes.h.
 *
 *   truth            one truth value per lane
 *   less, upto       a < b, a <= b; false where either is NaN
 *   both, either     a & b, a | b
 *   unless           a & ~b
 *   any              whether any lane is true
 *   choose           a in the lanes where t is true, b in the others
 *   read4            four columns of one row per lane, from column at on: lane i of to[k] is
 *                    rows[i][at + k]
 *   write4           stores them back
 */
#ifndef EVERTICK_COLLIDE_LANES_H
#define EVERTICK_COLLIDE_LANES_H

#include "lanes.h"

typedef int32_t c_truth;
HELPER(c) c_truth c_less(c_f a, c_f b) { return a < b; }
HELPER(c) c_truth c_upto(c_f a, c_f b) { return a <= b; }
HELPER(c) c_truth c_both(c_truth a, c_truth b) { return a & b; }
HELPER(c) c_truth c_either(c_truth a, c_truth b) { return a | b; }
HELPER(c) c_truth c_unless(c_truth a, c_truth b) { return a & ~b; }
HELPER(c) int c_any(c_truth a) { return a; }
HELPER(c) c_f c_choose(c_truth t, c_f a, c_f b) { return t ? a : b; }
HELPER(c) void c_read4(const float *const *rows, int at, c_f *to) {
	for (int k = 0; k < 4; k++)
		to[k] = rows[0][at + k];
}
HELPER(c) void c_write4(float *const *rows, int at, const c_f *from) {
	for (int k = 0; k < 4; k++)
		rows[0][at + k] = from[k];
}

#if X86_VECTORS
typedef __m256 avx2_truth;
HELPER(avx2) avx2_truth avx2_less(avx2_f a, avx2_f b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
HELPER(avx2) avx2_truth avx2_upto(avx2_f a, avx2_f b) { return _mm256_cmp_ps(a, b, _CMP_LE_OQ); }
HELPER(avx2) avx2_truth avx2_both(avx2_truth a, avx2_truth b) { return _mm256_and_ps(a, b); }
HELPER(avx2) avx2_truth avx2_either(avx2_truth a, avx2_truth b) { return _mm256_or_ps(a, b); }
HELPER(avx2) avx2_truth avx2_unless(avx2_truth a, avx2_truth b) { return _mm256_andnot_ps(b, a); }
HELPER(avx2) int avx2_any(avx2_truth a) { return _mm256_movemask_ps(a); }
HELPER(avx2) avx2_f avx2_choose(avx2_truth t, avx2_f a, avx2_f b) { return _mm256_blendv_ps(b, a, t); }
/* Transposes 4 by 4 floats within each 128 bits. */
HELPER(avx2) void avx2_turn4(const __m256 *r, __m256 *to) {
	const __m256 a = _mm256_unpacklo_ps(r[0], r[1]), b = _mm256_unpackhi_ps(r[0], r[1]);
	const __m256 c = _mm256_unpacklo_ps(r[2], r[3]), d = _mm256_unpackhi_ps(r[2], r[3]);
	to[0] = _mm256_shuffle_ps(a, c, 0x44);
	to[1] = _mm256_shuffle_ps(a, c, 0xee);
	to[2] = _mm256_shuffle_ps(b, d, 0x44);
	to[3] = _mm256_shuffle_ps(b, d, 0xee);
}
HELPER(avx2) void avx2_read4(const float *const *rows, int at, avx2_f *to) {
	__m256 r[4];
	for (int i = 0; i < 4; i++)
		r[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(rows[i] + at)), _mm_loadu_ps(rows[i + 4] + at), 1);
	avx2_turn4(r, to);
}
HELPER(avx2) void avx2_write4(float *const *rows, int at, const avx2_f *from) {
	__m256 r[4];
	avx2_turn4(from, r);
	for (int i = 0; i < 4; i++) {
		_mm_storeu_ps(rows[i] + at, _mm256_castps256_ps128(r[i]));
		_mm_storeu_ps(rows[i + 4] + at, _mm256_extractf128_ps(r[i], 1));
	}
}

typedef __mmask16 avx512_truth;
HELPER(avx512) avx512_truth avx512_less(avx512_f a, avx512_f b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
HELPER(avx512) avx512_truth avx512_upto(avx512_f a, avx512_f b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
HELPER(avx512) avx512_truth avx512_both(avx512_truth a, avx512_truth b) { return a & b; }
HELPER(avx512) avx512_truth avx512_either(avx512_truth a, avx512_truth b) { return a | b; }
HELPER(avx512) avx512_truth avx512_unless(avx512_truth a, avx512_truth b) { return (avx512_truth)(a & ~b); }
HELPER(avx512) int avx512_any(avx512_truth a) { return a; }
HELPER(avx512) avx512_f avx512_choose(avx512_truth t, avx512_f a, avx512_f b) { return _mm512_mask_blend_ps(t, b, a); }
HELPER(avx512) void avx512_turn4(const __m512 *r, __m512 *to) {
	const __m512 a = _mm512_unpacklo_ps(r[0], r[1]), b = _mm512_unpackhi_ps(r[0], r[1]);
	const __m512 c = _mm512_unpacklo_ps(r[2], r[3]), d = _mm512_unpackhi_ps(r[2], r[3]);
	to[0] = _mm512_shuffle_ps(a, c, 0x44);
	to[1] = _mm512_shuffle_ps(a, c, 0xee);
	to[2] = _mm512_shuffle_ps(b, d, 0x44);
	to[3] = _mm512_shuffle_ps(b, d, 0xee);
}
HELPER(avx512) void avx512_read4(const float *const *rows, int at, avx512_f *to) {
	__m512 r[4];
	for (int i = 0; i < 4; i++) {
		r[i] = _mm512_castps128_ps512(_mm_loadu_ps(rows[i] + at));
		r[i] = _mm512_insertf32x4(r[i], _mm_loadu_ps(rows[i + 4] + at), 1);
		r[i] = _mm512_insertf32x4(r[i], _mm_loadu_ps(rows[i + 8] + at), 2);
		r[i] = _mm512_insertf32x4(r[i], _mm_loadu_ps(rows[i + 12] + at), 3);
	}
	avx512_turn4(r, to);
}
HELPER(avx512) void avx512_write4(float *const *rows, int at, const avx512_f *from) {
	__m512 r[4];
	avx512_turn4(from, r);
	for (int i = 0; i < 4; i++) {
		_mm_storeu_ps(rows[i] + at, _mm512_castps512_ps128(r[i]));
		_mm_storeu_ps(rows[i + 4] + at, _mm512_extractf32x4_ps(r[i], 1));
		_mm_storeu_ps(rows[i + 8] + at, _mm512_extractf32x4_ps(r[i], 2));
		_mm_storeu_ps(rows[i + 12] + at, _mm512_extractf32x4_ps(r[i], 3));
	}
}
#endif

#if defined(__aarch64__)
typedef uint32x4_t neon_truth;
HELPER(neon) neon_truth neon_less(neon_f a, neon_f b) { return vcltq_f32(a, b); }
HELPER(neon) neon_truth neon_upto(neon_f a, neon_f b) { return vcleq_f32(a, b); }
HELPER(neon) neon_truth neon_both(neon_truth a, neon_truth b) { return vandq_u32(a, b); }
HELPER(neon) neon_truth neon_either(neon_truth a, neon_truth b) { return vorrq_u32(a, b); }
HELPER(neon) neon_truth neon_unless(neon_truth a, neon_truth b) { return vbicq_u32(a, b); }
HELPER(neon) int neon_any(neon_truth a) { return vmaxvq_u32(a) != 0; }
HELPER(neon) neon_f neon_choose(neon_truth t, neon_f a, neon_f b) { return vbslq_f32(t, a, b); }
HELPER(neon) void neon_turn4(const float32x4_t *r, float32x4_t *to) {
	const float64x2_t a = vreinterpretq_f64_f32(vtrn1q_f32(r[0], r[1])), b = vreinterpretq_f64_f32(vtrn2q_f32(r[0], r[1]));
	const float64x2_t c = vreinterpretq_f64_f32(vtrn1q_f32(r[2], r[3])), d = vreinterpretq_f64_f32(vtrn2q_f32(r[2], r[3]));
	to[0] = vreinterpretq_f32_f64(vtrn1q_f64(a, c));
	to[1] = vreinterpretq_f32_f64(vtrn1q_f64(b, d));
	to[2] = vreinterpretq_f32_f64(vtrn2q_f64(a, c));
	to[3] = vreinterpretq_f32_f64(vtrn2q_f64(b, d));
}
HELPER(neon) void neon_read4(const float *const *rows, int at, neon_f *to) {
	float32x4_t r[4];
	for (int i = 0; i < 4; i++)
		r[i] = vld1q_f32(rows[i] + at);
	neon_turn4(r, to);
}
HELPER(neon) void neon_write4(float *const *rows, int at, const neon_f *from) {
	float32x4_t r[4];
	neon_turn4(from, r);
	for (int i = 0; i < 4; i++)
		vst1q_f32(rows[i] + at, r[i]);
}
#endif

#endif
