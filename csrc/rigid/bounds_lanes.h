/* The operations of bounds: vectors of POINTS points, with x and y in alternate lanes.
 *
 *   points      such a vector
 *   fetchp      loads the first n vertices at p, any n > 0, and repeats the first in the
 *               remaining lanes; all of ET_VERTICES can be read
 *   xy          the value x in the lanes of x, y in those of y
 *   swap        x and y of each point exchanged
 *   padd, pmul  of each lane
 *   pmin, pmax  a < b ? a : b and a > b ? a : b
 *   odd         not zero if a lane is not finite
 *   fold        the least x and y of a, and the greatest of b
 */
#ifndef EVERTICK_RIGID_BOUNDS_LANES_H
#define EVERTICK_RIGID_BOUNDS_LANES_H

#include "../lanes.h"

/* A box, as MinX, MinY, MaxX, MaxY: four floats in a vector of any CPU that has them. */
typedef float quad __attribute__((vector_size(16)));

enum { c_POINTS = 1 };
typedef struct {
	float x, y;
} c_points;
HELPER(c) c_points c_xy(float x, float y) { return (c_points){x, y}; }
HELPER(c) c_points c_fetchp(const float *p, uint32_t n) {
	(void)n;
	return c_xy(p[0], p[1]);
}
HELPER(c) c_points c_swap(c_points a) { return c_xy(a.y, a.x); }
HELPER(c) c_points c_padd(c_points a, c_points b) { return c_xy(a.x + b.x, a.y + b.y); }
HELPER(c) c_points c_pmul(c_points a, c_points b) { return c_xy(a.x * b.x, a.y * b.y); }
HELPER(c) c_points c_pmin(c_points a, c_points b) { return c_xy(c_min(a.x, b.x), c_min(a.y, b.y)); }
HELPER(c) c_points c_pmax(c_points a, c_points b) { return c_xy(c_max(a.x, b.x), c_max(a.y, b.y)); }
HELPER(c) uint32_t c_odd(c_points a) { return (a.x - a.x != 0) | (a.y - a.y != 0); }
HELPER(c) quad c_fold(c_points a, c_points b) { return (quad){a.x, a.y, b.x, b.y}; }

#if X86_VECTORS
enum { avx2_POINTS = 4 };
typedef __m256 avx2_points;
HELPER(avx2) avx2_points avx2_xy(float x, float y) { return _mm256_setr_ps(x, y, x, y, x, y, x, y); }
HELPER(avx2) avx2_points avx2_fetchp(const float *p, uint32_t n) {
	const __m256i lane = _mm256_setr_epi32(0, 0, 1, 1, 2, 2, 3, 3);
	const __m256i in = _mm256_cmpgt_epi32(_mm256_set1_epi32((int32_t)n), lane);
	const __m256 a = _mm256_loadu_ps(p);
	const __m256 first = _mm256_castpd_ps(_mm256_broadcastsd_pd(_mm_castps_pd(_mm256_castps256_ps128(a))));
	return _mm256_blendv_ps(first, a, _mm256_castsi256_ps(in));
}
HELPER(avx2) avx2_points avx2_swap(avx2_points a) { return _mm256_permute_ps(a, 0xb1); }
HELPER(avx2) avx2_points avx2_padd(avx2_points a, avx2_points b) { return _mm256_add_ps(a, b); }
HELPER(avx2) avx2_points avx2_pmul(avx2_points a, avx2_points b) { return _mm256_mul_ps(a, b); }
HELPER(avx2) avx2_points avx2_pmin(avx2_points a, avx2_points b) { return _mm256_min_ps(a, b); }
HELPER(avx2) avx2_points avx2_pmax(avx2_points a, avx2_points b) { return _mm256_max_ps(a, b); }
HELPER(avx2) uint32_t avx2_odd(avx2_points a) {
	const __m256 none = _mm256_sub_ps(a, a);
	return avx2_unordered(none, none);
}
HELPER(avx2) quad avx2_fold(avx2_points a, avx2_points b) {
	const __m128 a2 = _mm_min_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
	const __m128 b2 = _mm_max_ps(_mm256_castps256_ps128(b), _mm256_extractf128_ps(b, 1));
	const __m128 a1 = _mm_min_ps(a2, _mm_movehl_ps(a2, a2));
	const __m128 b1 = _mm_max_ps(b2, _mm_movehl_ps(b2, b2));
	return (quad)_mm_movelh_ps(a1, b1);
}

enum { avx512_POINTS = 8 };
typedef __m512 avx512_points;
HELPER(avx512) avx512_points avx512_xy(float x, float y) {
	return _mm512_castpd_ps(_mm512_broadcastsd_pd(_mm_castps_pd(_mm_unpacklo_ps(_mm_set_ss(x), _mm_set_ss(y)))));
}
HELPER(avx512) avx512_points avx512_fetchp(const float *p, uint32_t n) {
	const __m512d a = _mm512_castps_pd(_mm512_loadu_ps(p));
	const __mmask8 behind = (__mmask8)(0xffu << n);
	return _mm512_castpd_ps(_mm512_mask_broadcastsd_pd(a, behind, _mm512_castpd512_pd128(a)));
}
HELPER(avx512) avx512_points avx512_swap(avx512_points a) { return _mm512_permute_ps(a, 0xb1); }
HELPER(avx512) avx512_points avx512_padd(avx512_points a, avx512_points b) { return _mm512_add_ps(a, b); }
HELPER(avx512) avx512_points avx512_pmul(avx512_points a, avx512_points b) { return _mm512_mul_ps(a, b); }
HELPER(avx512) avx512_points avx512_pmin(avx512_points a, avx512_points b) { return _mm512_min_ps(a, b); }
HELPER(avx512) avx512_points avx512_pmax(avx512_points a, avx512_points b) { return _mm512_max_ps(a, b); }
HELPER(avx512) uint32_t avx512_odd(avx512_points a) {
	const __m512 none = _mm512_sub_ps(a, a);
	return avx512_unordered(none, none);
}
HELPER(avx512) quad avx512_fold(avx512_points a, avx512_points b) {
	const __m256 a4 = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(a), 1));
	const __m256 b4 = _mm256_castpd_ps(_mm512_extractf64x4_pd(_mm512_castps_pd(b), 1));
	return avx2_fold(_mm256_min_ps(_mm512_castps512_ps256(a), a4), _mm256_max_ps(_mm512_castps512_ps256(b), b4));
}
#endif

#if defined(__aarch64__)
enum { neon_POINTS = 2 };
typedef float32x4_t neon_points;
HELPER(neon) neon_points neon_xy(float x, float y) { return vcombine_f32(vset_lane_f32(y, vdup_n_f32(x), 1), vset_lane_f32(y, vdup_n_f32(x), 1)); }
HELPER(neon) neon_points neon_fetchp(const float *p, uint32_t n) {
	const float32x2_t first = vld1_f32(p);
	return vcombine_f32(first, n > 1 ? vld1_f32(p + 2) : first);
}
HELPER(neon) neon_points neon_swap(neon_points a) { return vrev64q_f32(a); }
HELPER(neon) neon_points neon_padd(neon_points a, neon_points b) { return vaddq_f32(a, b); }
HELPER(neon) neon_points neon_pmul(neon_points a, neon_points b) { return vmulq_f32(a, b); }
HELPER(neon) neon_points neon_pmin(neon_points a, neon_points b) { return neon_min(a, b); }
HELPER(neon) neon_points neon_pmax(neon_points a, neon_points b) { return neon_max(a, b); }
HELPER(neon) uint32_t neon_odd(neon_points a) {
	const float32x4_t none = vsubq_f32(a, a);
	return neon_unordered(none, none);
}
HELPER(neon) quad neon_fold(neon_points a, neon_points b) {
	const float32x4_t least = neon_min(a, vextq_f32(a, a, 2)), most = neon_max(b, vextq_f32(b, b, 2));
	return (quad)vcombine_f32(vget_low_f32(least), vget_low_f32(most));
}
#endif

#endif
