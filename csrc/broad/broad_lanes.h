/* Operations of the broad phase, beyond those of lanes.h.
 *
 *   boxat     the box at one place, in every lane
 *   spanat    the interval at one place of a column of lower ends, in every lane
 *   overlap   mask of the lanes whose box overlaps p; columns of boxes are stride
 *             elements apart, and at is the place of the first in the first
 *   meet      mask of the lanes of m whose interval overlaps p, likewise
 *   proper    mask of the lanes whose box is finite and not inverted
 *   putfew    stores the first n lanes to p and q, and perhaps the others; if n is small, as it
 *             mostly is, it stores fewer bytes, which seldom cross a cache line
 */
#ifndef EVERTICK_BROAD_LANES_H
#define EVERTICK_BROAD_LANES_H

#include <float.h>

#include "../lanes.h"
#include "cells.h"

/* The interval and its other end are columns that follow each other. */
_Static_assert(SPAN_MAX == SPAN_MIN + 1, "columns of an interval");

/* A box, in every lane. */
#define BOX(level)                                         \
	typedef struct {                                   \
		CAT(level, _f) x0, y0, x1, y1;             \
	} CAT(level, _box);                                \
	HELPER(level) CAT(level, _box) CAT(level, _boxat)(const float *at, int64_t stride) { \
		return (CAT(level, _box)){CAT(level, _set1)(at[0]), CAT(level, _set1)(at[stride]), \
		                          CAT(level, _set1)(at[2 * stride]), CAT(level, _set1)(at[3 * stride])}; \
	}

/* An interval, in every lane. */
#define SPAN(level)                            \
	typedef struct {                       \
		CAT(level, _f) least, most;    \
	} CAT(level, _span);                   \
	HELPER(level) CAT(level, _span) CAT(level, _spanat)(const float *at, int64_t stride) { \
		return (CAT(level, _span)){CAT(level, _set1)(at[0]), CAT(level, _set1)(at[stride])}; \
	}

BOX(c)
SPAN(c)
HELPER(c) c_mask c_meet(c_mask m, const float *at, int64_t stride, const c_span *p) {
	return m & (at[0] <= p->most) & (p->least <= at[stride]);
}
HELPER(c) c_mask c_overlap(const float *at, int64_t stride, const c_box *p) {
	return (at[0] <= p->x1) & (at[stride] <= p->y1) & (p->x0 <= at[2 * stride]) & (p->y0 <= at[3 * stride]);
}
HELPER(c) c_mask c_proper(c_f x0, c_f y0, c_f x1, c_f y1) {
	return (-FLT_MAX <= x0) & (x0 <= x1) & (x1 <= FLT_MAX) & (-FLT_MAX <= y0) & (y0 <= y1) & (y1 <= FLT_MAX);
}
HELPER(c) void c_putfew(uint32_t *p, uint32_t *q, c_u a, c_u b, uint32_t n) {
	(void)n;
	*p = a;
	*q = b;
}

#if X86_VECTORS
BOX(avx2)
BOX(avx512)
SPAN(avx2)
SPAN(avx512)

HELPER(avx2) __m256 avx2_atmost(__m256 a, __m256 b) { return _mm256_cmp_ps(a, b, _CMP_LE_OQ); }
HELPER(avx2) avx2_mask avx2_overlap(const float *at, int64_t stride, const avx2_box *p) {
	const __m256 left = avx2_atmost(avx2_load(at), p->x1);
	const __m256 below = avx2_atmost(avx2_load(at + stride), p->y1);
	const __m256 right = avx2_atmost(p->x0, avx2_load(at + 2 * stride));
	const __m256 above = avx2_atmost(p->y0, avx2_load(at + 3 * stride));
	return (uint32_t)_mm256_movemask_ps(_mm256_and_ps(_mm256_and_ps(left, below), _mm256_and_ps(right, above)));
}
HELPER(avx2) avx2_mask avx2_meet(avx2_mask m, const float *at, int64_t stride, const avx2_span *p) {
	const __m256 under = avx2_atmost(avx2_load(at), p->most), over = avx2_atmost(p->least, avx2_load(at + stride));
	return m & (uint32_t)_mm256_movemask_ps(_mm256_and_ps(under, over));
}
HELPER(avx2) avx2_mask avx2_proper(avx2_f x0, avx2_f y0, avx2_f x1, avx2_f y1) {
	const __m256 most = avx2_set1(FLT_MAX), least = avx2_set1(-FLT_MAX);
	const __m256 x = _mm256_and_ps(_mm256_and_ps(avx2_atmost(least, x0), avx2_atmost(x0, x1)), avx2_atmost(x1, most));
	const __m256 y = _mm256_and_ps(_mm256_and_ps(avx2_atmost(least, y0), avx2_atmost(y0, y1)), avx2_atmost(y1, most));
	return (uint32_t)_mm256_movemask_ps(_mm256_and_ps(x, y));
}
HELPER(avx2) void avx2_putfew(uint32_t *p, uint32_t *q, avx2_u a, avx2_u b, uint32_t n) {
	if (__builtin_expect(n > 4, 0)) {
		avx2_storeu(p, a);
		avx2_storeu(q, b);
		return;
	}
	_mm_storeu_si128((__m128i *)(void *)p, _mm256_castsi256_si128(a));
	_mm_storeu_si128((__m128i *)(void *)q, _mm256_castsi256_si128(b));
}

HELPER(avx512) avx512_mask avx512_andle(avx512_mask m, avx512_f a, avx512_f b) {
	return _mm512_mask_cmp_ps_mask(m, a, b, _CMP_LE_OQ);
}
HELPER(avx512) avx512_mask avx512_overlap(const float *at, int64_t stride, const avx512_box *p) {
	avx512_mask m = avx512_le(avx512_load(at), p->x1);
	m = avx512_andle(m, avx512_load(at + stride), p->y1);
	m = avx512_andle(m, p->x0, avx512_load(at + 2 * stride));
	return avx512_andle(m, p->y0, avx512_load(at + 3 * stride));
}
HELPER(avx512) avx512_mask avx512_meet(avx512_mask m, const float *at, int64_t stride, const avx512_span *p) {
	return avx512_andle(avx512_andle(m, avx512_load(at), p->most), p->least, avx512_load(at + stride));
}
HELPER(avx512) avx512_mask avx512_proper(avx512_f x0, avx512_f y0, avx512_f x1, avx512_f y1) {
	const avx512_f most = avx512_set1(FLT_MAX), least = avx512_set1(-FLT_MAX);
	const avx512_mask x = avx512_andle(avx512_andle(avx512_le(least, x0), x0, x1), x1, most);
	return avx512_andle(avx512_andle(avx512_andle(x, least, y0), y0, y1), y1, most);
}
HELPER(avx512) void avx512_putfew(uint32_t *p, uint32_t *q, avx512_u a, avx512_u b, uint32_t n) {
	if (__builtin_expect(n > 4, 0)) {
		avx512_storeu(p, a);
		avx512_storeu(q, b);
		return;
	}
	_mm_storeu_si128((__m128i *)(void *)p, _mm512_castsi512_si128(a));
	_mm_storeu_si128((__m128i *)(void *)q, _mm512_castsi512_si128(b));
}
#endif

#if defined(__aarch64__)
BOX(neon)
SPAN(neon)
HELPER(neon) neon_mask neon_meet(neon_mask m, const float *at, int64_t stride, const neon_span *p) {
	return m & neon_bits(vandq_u32(vcleq_f32(vld1q_f32(at), p->most), vcleq_f32(p->least, vld1q_f32(at + stride))));
}

HELPER(neon) neon_mask neon_overlap(const float *at, int64_t stride, const neon_box *p) {
	const uint32x4_t left = vcleq_f32(vld1q_f32(at), p->x1);
	const uint32x4_t below = vcleq_f32(vld1q_f32(at + stride), p->y1);
	const uint32x4_t right = vcleq_f32(p->x0, vld1q_f32(at + 2 * stride));
	const uint32x4_t above = vcleq_f32(p->y0, vld1q_f32(at + 3 * stride));
	return neon_bits(vandq_u32(vandq_u32(left, below), vandq_u32(right, above)));
}
HELPER(neon) neon_mask neon_proper(neon_f x0, neon_f y0, neon_f x1, neon_f y1) {
	const float32x4_t most = vdupq_n_f32(FLT_MAX), least = vdupq_n_f32(-FLT_MAX);
	const uint32x4_t x = vandq_u32(vandq_u32(vcleq_f32(least, x0), vcleq_f32(x0, x1)), vcleq_f32(x1, most));
	const uint32x4_t y = vandq_u32(vandq_u32(vcleq_f32(least, y0), vcleq_f32(y0, y1)), vcleq_f32(y1, most));
	return neon_bits(vandq_u32(x, y));
}
HELPER(neon) void neon_putfew(uint32_t *p, uint32_t *q, neon_u a, neon_u b, uint32_t n) {
	(void)n;
	neon_storeu(p, a);
	neon_storeu(q, b);
}
#endif

#endif
