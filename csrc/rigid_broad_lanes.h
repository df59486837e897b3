/* What the broad phase adds to the vocabulary of lanes.h.
 *
 *   overlap   mask of the lanes whose box overlaps p; columns of boxes are stride
 *             elements apart, and at is the place of the first in the first
 *   proper    mask of the lanes whose box is finite and not inverted
 *   putfew    the first n lanes to p, and perhaps the others; where n is small, as it
 *             mostly is, fewer bytes are stored, which seldom cross a cache line
 */
#ifndef EVERTICK_RIGID_BROAD_LANES_H
#define EVERTICK_RIGID_BROAD_LANES_H

#include <float.h>

#include "lanes.h"

typedef struct {
	float x0, y0, x1, y1;
} box;

HELPER(c) c_mask c_overlap(const float *at, int64_t stride, const box *p) {
	return (at[0] <= p->x1) & (at[stride] <= p->y1) & (p->x0 <= at[2 * stride]) & (p->y0 <= at[3 * stride]);
}
HELPER(c) c_mask c_proper(c_f x0, c_f y0, c_f x1, c_f y1) {
	return (-FLT_MAX <= x0) & (x0 <= x1) & (x1 <= FLT_MAX) & (-FLT_MAX <= y0) & (y0 <= y1) & (y1 <= FLT_MAX);
}
HELPER(c) void c_putfew(uint32_t *p, c_u a, uint32_t n) {
	(void)n;
	*p = a;
}

#if defined(__x86_64__)
HELPER(avx2) __m256 avx2_atmost(__m256 a, __m256 b) { return _mm256_cmp_ps(a, b, _CMP_LE_OQ); }
HELPER(avx2) avx2_mask avx2_overlap(const float *at, int64_t stride, const box *p) {
	const __m256 left = avx2_atmost(avx2_load(at), avx2_set1(p->x1));
	const __m256 below = avx2_atmost(avx2_load(at + stride), avx2_set1(p->y1));
	const __m256 right = avx2_atmost(avx2_set1(p->x0), avx2_load(at + 2 * stride));
	const __m256 above = avx2_atmost(avx2_set1(p->y0), avx2_load(at + 3 * stride));
	return (uint32_t)_mm256_movemask_ps(_mm256_and_ps(_mm256_and_ps(left, below), _mm256_and_ps(right, above)));
}
HELPER(avx2) avx2_mask avx2_proper(avx2_f x0, avx2_f y0, avx2_f x1, avx2_f y1) {
	const __m256 most = avx2_set1(FLT_MAX), least = avx2_set1(-FLT_MAX);
	const __m256 x = _mm256_and_ps(_mm256_and_ps(avx2_atmost(least, x0), avx2_atmost(x0, x1)), avx2_atmost(x1, most));
	const __m256 y = _mm256_and_ps(_mm256_and_ps(avx2_atmost(least, y0), avx2_atmost(y0, y1)), avx2_atmost(y1, most));
	return (uint32_t)_mm256_movemask_ps(_mm256_and_ps(x, y));
}
HELPER(avx2) void avx2_putfew(uint32_t *p, avx2_u a, uint32_t n) {
	_mm_storeu_si128((__m128i *)(void *)p, _mm256_castsi256_si128(a));
	if (__builtin_expect(n > 4, 0))
		_mm_storeu_si128((__m128i *)(void *)(p + 4), _mm256_extracti128_si256(a, 1));
}

HELPER(avx512) avx512_mask avx512_andle(avx512_mask m, avx512_f a, avx512_f b) {
	return _mm512_mask_cmp_ps_mask(m, a, b, _CMP_LE_OQ);
}
HELPER(avx512) avx512_mask avx512_overlap(const float *at, int64_t stride, const box *p) {
	avx512_mask m = avx512_le(avx512_load(at), avx512_set1(p->x1));
	m = avx512_andle(m, avx512_load(at + stride), avx512_set1(p->y1));
	m = avx512_andle(m, avx512_set1(p->x0), avx512_load(at + 2 * stride));
	return avx512_andle(m, avx512_set1(p->y0), avx512_load(at + 3 * stride));
}
HELPER(avx512) avx512_mask avx512_proper(avx512_f x0, avx512_f y0, avx512_f x1, avx512_f y1) {
	const avx512_f most = avx512_set1(FLT_MAX), least = avx512_set1(-FLT_MAX);
	const avx512_mask x = avx512_andle(avx512_andle(avx512_le(least, x0), x0, x1), x1, most);
	return avx512_andle(avx512_andle(avx512_andle(x, least, y0), y0, y1), y1, most);
}
HELPER(avx512) void avx512_putfew(uint32_t *p, avx512_u a, uint32_t n) {
	_mm_storeu_si128((__m128i *)(void *)p, _mm512_castsi512_si128(a));
	if (__builtin_expect(n > 4, 0))
		avx512_storeu(p, a);
}
#endif

#if defined(__aarch64__)
HELPER(neon) neon_mask neon_overlap(const float *at, int64_t stride, const box *p) {
	const uint32x4_t left = vcleq_f32(vld1q_f32(at), vdupq_n_f32(p->x1));
	const uint32x4_t below = vcleq_f32(vld1q_f32(at + stride), vdupq_n_f32(p->y1));
	const uint32x4_t right = vcleq_f32(vdupq_n_f32(p->x0), vld1q_f32(at + 2 * stride));
	const uint32x4_t above = vcleq_f32(vdupq_n_f32(p->y0), vld1q_f32(at + 3 * stride));
	return neon_bits(vandq_u32(vandq_u32(left, below), vandq_u32(right, above)));
}
HELPER(neon) neon_mask neon_proper(neon_f x0, neon_f y0, neon_f x1, neon_f y1) {
	const float32x4_t most = vdupq_n_f32(FLT_MAX), least = vdupq_n_f32(-FLT_MAX);
	const uint32x4_t x = vandq_u32(vandq_u32(vcleq_f32(least, x0), vcleq_f32(x0, x1)), vcleq_f32(x1, most));
	const uint32x4_t y = vandq_u32(vandq_u32(vcleq_f32(least, y0), vcleq_f32(y0, y1)), vcleq_f32(y1, most));
	return neon_bits(vandq_u32(x, y));
}
HELPER(neon) void neon_putfew(uint32_t *p, neon_u a, uint32_t n) {
	(void)n;
	neon_storeu(p, a);
}
#endif

#endif
