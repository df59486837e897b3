/* What the streaming kernels need beyond the vocabulary of lanes.h.
 *
 *   ramp      n, n + 1, n + 2 ... from lane 0 on
 *   fetch     p[i] for the index i in each lane
 *   fetchu    the same for uint32
 *   rising    mask of a < b and b < limit; a and limit are at most 2^31
 *   shares    mask of the lanes in which a and b have a bit in common
 *   residue   the bits of t + 1.5*2^23, masked, and shifted left: for
 *             |t| <= 2^22 that is t rounded to an integer, modulo mask + 1, which
 *             is a power of two of at most 2^22
 *   either    a | b
 *   marked    mask of the lanes whose bit number is set in a bitmap
 */
#ifndef EVERTICK_STREAM_LANES_H
#define EVERTICK_STREAM_LANES_H

#include <string.h>

#include "lanes.h"

#define ROUNDING 12582912.0f /* 1.5 * 2^23: floats from there on are whole */

HELPER(c) c_u c_ramp(uint32_t n) { return n; }
HELPER(c) c_f c_fetch(const float *p, c_u i) { return p[i]; }
HELPER(c) c_u c_fetchu(const uint32_t *p, c_u i) { return p[i]; }
HELPER(c) c_mask c_rising(c_u a, c_u b, c_u limit) { return (a < b) & (b < limit); }
HELPER(c) c_mask c_shares(c_u a, c_u b) { return (a & b) != 0; }
HELPER(c) c_u c_residue(c_f t, c_u mask, uint32_t shift) {
	const float whole = t + ROUNDING;
	uint32_t bits;
	memcpy(&bits, &whole, sizeof bits);
	return (bits & mask) << shift;
}
HELPER(c) c_u c_either(c_u a, c_u b) { return a | b; }
HELPER(c) c_mask c_marked(const uint32_t *bits, c_u i) { return bits[i >> 5] >> (i & 31u) & 1u; }

#if defined(__x86_64__)
HELPER(avx2) avx2_u avx2_ramp(uint32_t n) {
	return _mm256_add_epi32(_mm256_set1_epi32((int32_t)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
HELPER(avx2) avx2_f avx2_fetch(const float *p, avx2_u i) { return _mm256_i32gather_ps(p, i, 4); }
HELPER(avx2) avx2_u avx2_fetchu(const uint32_t *p, avx2_u i) { return _mm256_i32gather_epi32((const int *)p, i, 4); }
/* b as an unsigned number is below limit if it is not negative and below it as
 * a signed one; with a < b signed, a not negative, both follow. */
HELPER(avx2) avx2_mask avx2_rising(avx2_u a, avx2_u b, avx2_u limit) {
	const __m256i up = _mm256_and_si256(_mm256_cmpgt_epi32(b, a), _mm256_cmpgt_epi32(limit, b));
	return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_andnot_si256(a, up)));
}
HELPER(avx2) avx2_mask avx2_shares(avx2_u a, avx2_u b) {
	return avx2_nequ(_mm256_and_si256(a, b), _mm256_setzero_si256());
}
HELPER(avx2) avx2_u avx2_residue(avx2_f t, avx2_u mask, uint32_t shift) {
	const __m256i whole = _mm256_castps_si256(_mm256_add_ps(t, _mm256_set1_ps(ROUNDING)));
	return _mm256_sll_epi32(_mm256_and_si256(whole, mask), _mm_cvtsi32_si128((int32_t)shift));
}
HELPER(avx2) avx2_u avx2_either(avx2_u a, avx2_u b) { return _mm256_or_si256(a, b); }
HELPER(avx2) avx2_mask avx2_marked(const uint32_t *bits, avx2_u i) {
	/* Eight loads are a little faster than a gather here. */
	uint32_t w[8];
	_mm256_storeu_si256((__m256i *)(void *)w, _mm256_srli_epi32(i, 5));
	const __m256i word = _mm256_setr_epi32((int32_t)bits[w[0]], (int32_t)bits[w[1]], (int32_t)bits[w[2]],
	                                       (int32_t)bits[w[3]], (int32_t)bits[w[4]], (int32_t)bits[w[5]],
	                                       (int32_t)bits[w[6]], (int32_t)bits[w[7]]);
	const __m256i left = _mm256_andnot_si256(i, _mm256_set1_epi32(31));
	return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_sllv_epi32(word, left)));
}

HELPER(avx512) avx512_u avx512_ramp(uint32_t n) {
	return _mm512_add_epi32(_mm512_set1_epi32((int32_t)n),
	                        _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}
HELPER(avx512) avx512_f avx512_fetch(const float *p, avx512_u i) { return _mm512_i32gather_ps(i, p, 4); }
HELPER(avx512) avx512_u avx512_fetchu(const uint32_t *p, avx512_u i) { return _mm512_i32gather_epi32(i, p, 4); }
HELPER(avx512) avx512_mask avx512_rising(avx512_u a, avx512_u b, avx512_u limit) {
	return (uint32_t)_mm512_cmplt_epu32_mask(a, b) & (uint32_t)_mm512_cmplt_epu32_mask(b, limit);
}
HELPER(avx512) avx512_mask avx512_shares(avx512_u a, avx512_u b) { return _mm512_test_epi32_mask(a, b); }
HELPER(avx512) avx512_u avx512_residue(avx512_f t, avx512_u mask, uint32_t shift) {
	const __m512i whole = _mm512_castps_si512(_mm512_add_ps(t, _mm512_set1_ps(ROUNDING)));
	return _mm512_sll_epi32(_mm512_and_si512(whole, mask), _mm_cvtsi32_si128((int32_t)shift));
}
HELPER(avx512) avx512_u avx512_either(avx512_u a, avx512_u b) { return _mm512_or_si512(a, b); }
HELPER(avx512) avx512_mask avx512_marked(const uint32_t *bits, avx512_u i) {
	const __m512i word = avx512_fetchu(bits, _mm512_srli_epi32(i, 5));
	return _mm512_test_epi32_mask(_mm512_rorv_epi32(word, i), _mm512_set1_epi32(1));
}
#endif

#if defined(__aarch64__)
HELPER(neon) neon_u neon_ramp(uint32_t n) {
	static const uint32_t lanes[4] = {0, 1, 2, 3};
	return vaddq_u32(vdupq_n_u32(n), vld1q_u32(lanes));
}
HELPER(neon) neon_u neon_fetchu(const uint32_t *p, neon_u i) {
	const uint32_t v[4] = {p[vgetq_lane_u32(i, 0)], p[vgetq_lane_u32(i, 1)],
	                       p[vgetq_lane_u32(i, 2)], p[vgetq_lane_u32(i, 3)]};
	return vld1q_u32(v);
}
HELPER(neon) neon_f neon_fetch(const float *p, neon_u i) {
	const float v[4] = {p[vgetq_lane_u32(i, 0)], p[vgetq_lane_u32(i, 1)],
	                    p[vgetq_lane_u32(i, 2)], p[vgetq_lane_u32(i, 3)]};
	return vld1q_f32(v);
}
HELPER(neon) neon_mask neon_rising(neon_u a, neon_u b, neon_u limit) {
	return neon_bits(vandq_u32(vcltq_u32(a, b), vcltq_u32(b, limit)));
}
HELPER(neon) neon_mask neon_shares(neon_u a, neon_u b) { return neon_bits(vtstq_u32(a, b)); }
HELPER(neon) neon_u neon_residue(neon_f t, neon_u mask, uint32_t shift) {
	const uint32x4_t whole = vreinterpretq_u32_f32(vaddq_f32(t, vdupq_n_f32(ROUNDING)));
	return vshlq_u32(vandq_u32(whole, mask), vdupq_n_s32((int32_t)shift));
}
HELPER(neon) neon_u neon_either(neon_u a, neon_u b) { return vorrq_u32(a, b); }
HELPER(neon) neon_mask neon_marked(const uint32_t *bits, neon_u i) {
	const uint32x4_t word = neon_fetchu(bits, vshrq_n_u32(i, 5));
	const int32x4_t right = vnegq_s32(vreinterpretq_s32_u32(vandq_u32(i, vdupq_n_u32(31))));
	return neon_bits(vtstq_u32(vshlq_u32(word, right), vdupq_n_u32(1)));
}
#endif

#endif
