/* Two operations that only the streaming kernels need, beyond those of lanes.h.
 *
 *   rising    mask of a < b and b < limit; a and limit are at most 2^31, b is any
 *             number
 *   residue   the bits of t + 1.5*2^23, masked, and shifted left: for
 *             |t| <= 2^22 that is t rounded to an integer, modulo mask + 1, which
 *             is a power of two of at most 2^22
 */
#ifndef EVERTICK_STREAM_LANES_H
#define EVERTICK_STREAM_LANES_H

#include "../lanes.h"

#define ROUNDING 12582912.0f /* 1.5 * 2^23: floats from there on are whole */

HELPER(c) c_mask c_rising(c_u a, c_u b, c_u limit) { return (a < b) & (b < limit); }
HELPER(c) c_u c_residue(c_f t, c_u mask, uint32_t shift) { return (c_asu(t + ROUNDING) & mask) << shift; }

#if X86_VECTORS
/* b is below limit as an unsigned number if it is not negative and below it as a signed one. As a is not negative,
 * a < b signed includes that b is not negative. */
HELPER(avx2) avx2_mask avx2_rising(avx2_u a, avx2_u b, avx2_u limit) {
	const __m256i up = _mm256_and_si256(_mm256_cmpgt_epi32(b, a), _mm256_cmpgt_epi32(limit, b));
	return avx2_bits(_mm256_andnot_si256(a, up));
}
HELPER(avx2) avx2_u avx2_residue(avx2_f t, avx2_u mask, uint32_t shift) {
	const __m256i whole = _mm256_castps_si256(_mm256_add_ps(t, _mm256_set1_ps(ROUNDING)));
	return _mm256_sll_epi32(_mm256_and_si256(whole, mask), _mm_cvtsi32_si128((int32_t)shift));
}

HELPER(avx512) avx512_mask avx512_rising(avx512_u a, avx512_u b, avx512_u limit) {
	return (uint32_t)_mm512_cmplt_epu32_mask(a, b) & (uint32_t)_mm512_cmplt_epu32_mask(b, limit);
}
HELPER(avx512) avx512_u avx512_residue(avx512_f t, avx512_u mask, uint32_t shift) {
	const __m512i whole = _mm512_castps_si512(_mm512_add_ps(t, _mm512_set1_ps(ROUNDING)));
	return _mm512_sll_epi32(_mm512_and_si512(whole, mask), _mm_cvtsi32_si128((int32_t)shift));
}
#endif

#if defined(__aarch64__)
HELPER(neon) neon_mask neon_rising(neon_u a, neon_u b, neon_u limit) {
	return neon_bits(vandq_u32(vcltq_u32(a, b), vcltq_u32(b, limit)));
}
HELPER(neon) neon_u neon_residue(neon_f t, neon_u mask, uint32_t shift) {
	const uint32x4_t whole = vreinterpretq_u32_f32(vaddq_f32(t, vdupq_n_f32(ROUNDING)));
	return vshlq_u32(vandq_u32(whole, mask), vdupq_n_s32((int32_t)shift));
}
#endif

#endif
