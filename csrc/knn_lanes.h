/* What a selection needs beyond lanes.h:
 *
 *   asu, asf         the bits of a vector of floats, and back
 *   gtu              mask of a > b; a and b are below 2^31
 *   common           mask of the lanes in which a and b have a bit in common
 *   tied             n + 1 in the lanes where a == b and c > d, n in the others; c
 *                    and d are below 2^31
 */
#ifndef EVERTICK_KNN_LANES_H
#define EVERTICK_KNN_LANES_H

#include <string.h>

#include "lanes.h"

HELPER(c) c_u c_asu(c_f a) {
	c_u bits;
	memcpy(&bits, &a, sizeof bits);
	return bits;
}
HELPER(c) c_f c_asf(c_u a) {
	c_f f;
	memcpy(&f, &a, sizeof f);
	return f;
}
HELPER(c) c_mask c_gtu(c_u a, c_u b) { return a > b; }
HELPER(c) c_mask c_common(c_u a, c_u b) { return (a & b) != 0; }
HELPER(c) c_u c_tied(c_u n, c_u a, c_u b, c_u c, c_u d) { return n + ((a == b) & (c > d)); }

#if defined(__x86_64__)
HELPER(avx2) avx2_u avx2_asu(avx2_f a) { return _mm256_castps_si256(a); }
HELPER(avx2) avx2_f avx2_asf(avx2_u a) { return _mm256_castsi256_ps(a); }
HELPER(avx2) avx2_mask avx2_gtu(avx2_u a, avx2_u b) {
	return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(a, b)));
}
HELPER(avx2) avx2_mask avx2_common(avx2_u a, avx2_u b) {
	const __m256i none = _mm256_cmpeq_epi32(_mm256_and_si256(a, b), _mm256_setzero_si256());
	return 0xffu ^ (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(none));
}
HELPER(avx2) avx2_u avx2_tied(avx2_u n, avx2_u a, avx2_u b, avx2_u c, avx2_u d) {
	return _mm256_sub_epi32(n, _mm256_and_si256(_mm256_cmpeq_epi32(a, b), _mm256_cmpgt_epi32(c, d)));
}

HELPER(avx512) avx512_u avx512_asu(avx512_f a) { return _mm512_castps_si512(a); }
HELPER(avx512) avx512_f avx512_asf(avx512_u a) { return _mm512_castsi512_ps(a); }
HELPER(avx512) avx512_mask avx512_gtu(avx512_u a, avx512_u b) { return _mm512_cmpgt_epi32_mask(a, b); }
HELPER(avx512) avx512_mask avx512_common(avx512_u a, avx512_u b) { return _mm512_test_epi32_mask(a, b); }
HELPER(avx512) avx512_u avx512_tied(avx512_u n, avx512_u a, avx512_u b, avx512_u c, avx512_u d) {
	const __mmask16 m = _mm512_mask_cmpgt_epi32_mask(_mm512_cmpeq_epi32_mask(a, b), c, d);
	return _mm512_mask_add_epi32(n, m, n, _mm512_set1_epi32(1));
}
#endif

#if defined(__aarch64__)
HELPER(neon) neon_u neon_asu(neon_f a) { return vreinterpretq_u32_f32(a); }
HELPER(neon) neon_f neon_asf(neon_u a) { return vreinterpretq_f32_u32(a); }
HELPER(neon) neon_mask neon_gtu(neon_u a, neon_u b) { return neon_bits(vcgtq_u32(a, b)); }
HELPER(neon) neon_mask neon_common(neon_u a, neon_u b) { return neon_bits(vtstq_u32(a, b)); }
HELPER(neon) neon_u neon_tied(neon_u n, neon_u a, neon_u b, neon_u c, neon_u d) {
	return vsubq_u32(n, vandq_u32(vceqq_u32(a, b), vcgtq_u32(c, d)));
}
#endif

#endif
