/* Operations that only reductions need, beyond those of lanes.h.
 *
 *   sums       LANES sums in double precision
 *   zeros      sums that are all 0
 *   addto      adds each lane of a vector of floats to the sum of that lane
 *   storesums  stores sums to memory, in the order of the lanes
 *   beyond     mask of a >= limit; limit is at most 2^31, a is any number
 */
#ifndef EVERTICK_REDUCE_LANES_H
#define EVERTICK_REDUCE_LANES_H

#include "lanes.h"

typedef double c_sums;
HELPER(c) c_sums c_zeros(void) { return 0; }
HELPER(c) c_sums c_addto(c_sums s, c_f a) { return s + (double)a; }
HELPER(c) void c_storesums(double *p, c_sums s) { *p = s; }
HELPER(c) c_mask c_beyond(c_u a, c_u limit) { return a >= limit; }

#if X86_VECTORS
typedef struct {
	__m256d low, high;
} avx2_sums;
HELPER(avx2) avx2_sums avx2_zeros(void) { return (avx2_sums){_mm256_setzero_pd(), _mm256_setzero_pd()}; }
HELPER(avx2) avx2_sums avx2_addto(avx2_sums s, avx2_f a) {
	return (avx2_sums){_mm256_add_pd(s.low, _mm256_cvtps_pd(_mm256_castps256_ps128(a))),
	                   _mm256_add_pd(s.high, _mm256_cvtps_pd(_mm256_extractf128_ps(a, 1)))};
}
HELPER(avx2) void avx2_storesums(double *p, avx2_sums s) {
	_mm256_storeu_pd(p, s.low);
	_mm256_storeu_pd(p + 4, s.high);
}
/* a is below limit as an unsigned number if it is below it as a signed one and not negative. */
HELPER(avx2) avx2_mask avx2_beyond(avx2_u a, avx2_u limit) {
	const __m256i below = _mm256_cmpgt_epi32(limit, a);
	return 0xffu ^ avx2_bits(_mm256_andnot_si256(a, below));
}

typedef struct {
	__m512d low, high;
} avx512_sums;
HELPER(avx512) avx512_sums avx512_zeros(void) { return (avx512_sums){_mm512_setzero_pd(), _mm512_setzero_pd()}; }
HELPER(avx512) avx512_sums avx512_addto(avx512_sums s, avx512_f a) {
	const __m256 high = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(a), 1));
	return (avx512_sums){_mm512_add_pd(s.low, _mm512_cvtps_pd(_mm512_castps512_ps256(a))),
	                     _mm512_add_pd(s.high, _mm512_cvtps_pd(high))};
}
HELPER(avx512) void avx512_storesums(double *p, avx512_sums s) {
	_mm512_storeu_pd(p, s.low);
	_mm512_storeu_pd(p + 8, s.high);
}
HELPER(avx512) avx512_mask avx512_beyond(avx512_u a, avx512_u limit) { return _mm512_cmpge_epu32_mask(a, limit); }
#endif

#if defined(__aarch64__)
typedef struct {
	float64x2_t low, high;
} neon_sums;
HELPER(neon) neon_sums neon_zeros(void) { return (neon_sums){vdupq_n_f64(0), vdupq_n_f64(0)}; }
HELPER(neon) neon_sums neon_addto(neon_sums s, neon_f a) {
	return (neon_sums){vaddq_f64(s.low, vcvt_f64_f32(vget_low_f32(a))), vaddq_f64(s.high, vcvt_high_f64_f32(a))};
}
HELPER(neon) void neon_storesums(double *p, neon_sums s) {
	vst1q_f64(p, s.low);
	vst1q_f64(p + 2, s.high);
}
HELPER(neon) neon_mask neon_beyond(neon_u a, neon_u limit) { return neon_bits(vcgeq_u32(a, limit)); }
#endif

#endif
