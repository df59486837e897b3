/* More of the vocabulary of lanes.h, for the kernels of shapes.h.
 *
 *   testu            mask of (a & b) != 0
 *   lt               mask of a < b; false where either is NaN
 *   sqrt             IEEE 754, rounded to nearest even; NaN below -0
 *   max              a where a > b, else b: b where either is NaN or both are zeros
 *   select           a in the lanes of the mask, b in the others
 */
#ifndef EVERTICK_LANES_SHAPES_H
#define EVERTICK_LANES_SHAPES_H

#include "lanes.h"

HELPER(c) c_mask c_testu(c_u a, c_u b) { return (a & b) != 0; }
HELPER(c) c_mask c_lt(c_f a, c_f b) { return a < b; }
HELPER(c) c_f c_max(c_f a, c_f b) { return a > b ? a : b; }
HELPER(c) c_f c_select(c_mask m, c_f a, c_f b) { return m ? a : b; }

#if defined(__x86_64__)
/* The instruction itself: sqrtf may set errno, and needs libm. */
HELPER(c) c_f c_sqrt(c_f a) { return _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(a))); }

HELPER(avx2) avx2_mask avx2_testu(avx2_u a, avx2_u b) {
	const __m256i none = _mm256_cmpeq_epi32(_mm256_and_si256(a, b), _mm256_setzero_si256());
	return 0xffu ^ (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(none));
}
HELPER(avx2) avx2_mask avx2_lt(avx2_f a, avx2_f b) {
	return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LT_OQ));
}
HELPER(avx2) avx2_f avx2_sqrt(avx2_f a) { return _mm256_sqrt_ps(a); }
HELPER(avx2) avx2_f avx2_max(avx2_f a, avx2_f b) { return _mm256_max_ps(a, b); }
HELPER(avx2) avx2_f avx2_select(avx2_mask m, avx2_f a, avx2_f b) {
	const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
	const __m256i on = _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int32_t)m), bit), bit);
	return _mm256_blendv_ps(b, a, _mm256_castsi256_ps(on));
}

HELPER(avx512) avx512_mask avx512_testu(avx512_u a, avx512_u b) { return _mm512_test_epi32_mask(a, b); }
HELPER(avx512) avx512_mask avx512_lt(avx512_f a, avx512_f b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
HELPER(avx512) avx512_f avx512_sqrt(avx512_f a) { return _mm512_sqrt_ps(a); }
HELPER(avx512) avx512_f avx512_max(avx512_f a, avx512_f b) { return _mm512_max_ps(a, b); }
HELPER(avx512) avx512_f avx512_select(avx512_mask m, avx512_f a, avx512_f b) {
	return _mm512_mask_blend_ps((__mmask16)m, b, a);
}
#elif defined(__aarch64__)
HELPER(c) c_f c_sqrt(c_f a) { return vget_lane_f32(vsqrt_f32(vdup_n_f32(a)), 0); }

HELPER(neon) neon_mask neon_testu(neon_u a, neon_u b) { return neon_bits(vtstq_u32(a, b)); }
HELPER(neon) neon_mask neon_lt(neon_f a, neon_f b) { return neon_bits(vcltq_f32(a, b)); }
HELPER(neon) neon_f neon_sqrt(neon_f a) { return vsqrtq_f32(a); }
HELPER(neon) neon_f neon_max(neon_f a, neon_f b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }
HELPER(neon) neon_f neon_select(neon_mask m, neon_f a, neon_f b) {
	static const uint32_t weights[4] = {1, 2, 4, 8};
	return vbslq_f32(vtstq_u32(vdupq_n_u32(m), vld1q_u32(weights)), a, b);
}
#else
/* Rounded twice, and still right: the root of a float is never so near the
 * middle of two floats that its double would not tell the side. */
HELPER(c) c_f c_sqrt(c_f a) { return (float)__builtin_sqrt((double)a); }
#endif

#endif
