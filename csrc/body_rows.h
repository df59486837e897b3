/* Rows of four or eight floats, one for each lane, turned into vectors and back. The row of lane i is at
 * p + stride * index[i].
 *
 *   rows8, rows4   load: v[k] becomes float k of the row of each lane
 *   put8, put4     store: float k of the row of each lane of the mask becomes v[k]
 */
#ifndef EVERTICK_BODY_ROWS_H
#define EVERTICK_BODY_ROWS_H

#include "lanes.h"

/* The index of rows that lie next to each other. */
static const uint32_t side_by_side[16] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15};

HELPER(c) void c_rows4(const float *p, const uint32_t *index, uint32_t stride, c_f v[4]) {
	memcpy(v, p + (size_t)stride * index[0], 4 * sizeof *v);
}
HELPER(c) void c_rows8(const float *p, const uint32_t *index, uint32_t stride, c_f v[8]) {
	memcpy(v, p + (size_t)stride * index[0], 8 * sizeof *v);
}
HELPER(c) void c_put4(float *p, const uint32_t *index, uint32_t stride, const c_f v[4], uint32_t mask) {
	if (mask & 1)
		memcpy(p + (size_t)stride * index[0], v, 4 * sizeof *v);
}
HELPER(c) void c_put8(float *p, const uint32_t *index, uint32_t stride, const c_f v[8], uint32_t mask) {
	if (mask & 1)
		memcpy(p + (size_t)stride * index[0], v, 8 * sizeof *v);
}

#define ROW(i) (p + (size_t)stride * index[i])

#if X86_VECTORS
HELPER(avx2) void avx2_turn(__m256 *a, __m256 *b, __m256 *c, __m256 *d) {
	const __m256 ab = _mm256_unpacklo_ps(*a, *b), ab2 = _mm256_unpackhi_ps(*a, *b);
	const __m256 cd = _mm256_unpacklo_ps(*c, *d), cd2 = _mm256_unpackhi_ps(*c, *d);
	*a = _mm256_shuffle_ps(ab, cd, 0x44);
	*b = _mm256_shuffle_ps(ab, cd, 0xee);
	*c = _mm256_shuffle_ps(ab2, cd2, 0x44);
	*d = _mm256_shuffle_ps(ab2, cd2, 0xee);
}
HELPER(avx2) void avx2_rows4(const float *p, const uint32_t *index, uint32_t stride, avx2_f v[4]) {
	for (int i = 0; i < 4; i++)
		v[i] = _mm256_insertf128_ps(_mm256_castps128_ps256(_mm_loadu_ps(ROW(i))), _mm_loadu_ps(ROW(i + 4)), 1);
	avx2_turn(&v[0], &v[1], &v[2], &v[3]);
}
HELPER(avx2) void avx2_rows8(const float *p, const uint32_t *index, uint32_t stride, avx2_f v[8]) {
	avx2_rows4(p, index, stride, v);
	avx2_rows4(p + 4, index, stride, v + 4);
}
HELPER(avx2) void avx2_put4(float *p, const uint32_t *index, uint32_t stride, const avx2_f v[4], uint32_t mask) {
	__m256 r[4] = {v[0], v[1], v[2], v[3]};
	if (!(mask & 0xff))
		return;
	avx2_turn(&r[0], &r[1], &r[2], &r[3]);
	if ((mask & 0xff) == 0xff) {
		for (int i = 0; i < 4; i++) {
			_mm_storeu_ps(ROW(i), _mm256_castps256_ps128(r[i]));
			_mm_storeu_ps(ROW(i + 4), _mm256_extractf128_ps(r[i], 1));
		}
		return;
	}
	for (int i = 0; i < 4; i++) {
		if (mask >> i & 1)
			_mm_storeu_ps(ROW(i), _mm256_castps256_ps128(r[i]));
		if (mask >> (i + 4) & 1)
			_mm_storeu_ps(ROW(i + 4), _mm256_extractf128_ps(r[i], 1));
	}
}
HELPER(avx2) void avx2_put8(float *p, const uint32_t *index, uint32_t stride, const avx2_f v[8], uint32_t mask) {
	__m256 r[8] = {v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]};
	if (!(mask & 0xff))
		return;
	avx2_turn(&r[0], &r[1], &r[2], &r[3]);
	avx2_turn(&r[4], &r[5], &r[6], &r[7]);
	for (int i = 0; i < 4; i++) {
		const __m256 row = _mm256_insertf128_ps(r[i], _mm256_castps256_ps128(r[i + 4]), 1);
		r[i + 4] = _mm256_permute2f128_ps(r[i], r[i + 4], 0x31);
		r[i] = row;
	}
	if ((mask & 0xff) == 0xff) {
		for (int i = 0; i < 8; i++)
			_mm256_storeu_ps(ROW(i), r[i]);
		return;
	}
	for (int i = 0; i < 8; i++)
		if (mask >> i & 1)
			_mm256_storeu_ps(ROW(i), r[i]);
}

HELPER(avx512) void avx512_turn(__m512 *a, __m512 *b, __m512 *c, __m512 *d) {
	const __m512 ab = _mm512_unpacklo_ps(*a, *b), ab2 = _mm512_unpackhi_ps(*a, *b);
	const __m512 cd = _mm512_unpacklo_ps(*c, *d), cd2 = _mm512_unpackhi_ps(*c, *d);
	*a = _mm512_shuffle_ps(ab, cd, 0x44);
	*b = _mm512_shuffle_ps(ab, cd, 0xee);
	*c = _mm512_shuffle_ps(ab2, cd2, 0x44);
	*d = _mm512_shuffle_ps(ab2, cd2, 0xee);
}
HELPER(avx512) void avx512_rows4(const float *p, const uint32_t *index, uint32_t stride, avx512_f v[4]) {
	for (int i = 0; i < 4; i++) {
		v[i] = _mm512_castps128_ps512(_mm_loadu_ps(ROW(i)));
		v[i] = _mm512_insertf32x4(v[i], _mm_loadu_ps(ROW(i + 4)), 1);
		v[i] = _mm512_insertf32x4(v[i], _mm_loadu_ps(ROW(i + 8)), 2);
		v[i] = _mm512_insertf32x4(v[i], _mm_loadu_ps(ROW(i + 12)), 3);
	}
	avx512_turn(&v[0], &v[1], &v[2], &v[3]);
}
HELPER(avx512) __m512 avx512_two_rows(const float *p, const float *q) {
	const __m512d low = _mm512_castps_pd(_mm512_castps256_ps512(_mm256_loadu_ps(p)));
	return _mm512_castpd_ps(_mm512_insertf64x4(low, _mm256_castps_pd(_mm256_loadu_ps(q)), 1));
}
HELPER(avx512) void avx512_rows8(const float *p, const uint32_t *index, uint32_t stride, avx512_f v[8]) {
	for (int i = 0; i < 4; i++) {
		const __m512 ab = avx512_two_rows(ROW(i), ROW(i + 4)), cd = avx512_two_rows(ROW(i + 8), ROW(i + 12));
		v[i] = _mm512_shuffle_f32x4(ab, cd, 0x88);
		v[i + 4] = _mm512_shuffle_f32x4(ab, cd, 0xdd);
	}
	avx512_turn(&v[0], &v[1], &v[2], &v[3]);
	avx512_turn(&v[4], &v[5], &v[6], &v[7]);
}
HELPER(avx512) void avx512_put4(float *p, const uint32_t *index, uint32_t stride, const avx512_f v[4], uint32_t mask) {
	__m512 r[4] = {v[0], v[1], v[2], v[3]};
	if (!(mask & 0xffff))
		return;
	avx512_turn(&r[0], &r[1], &r[2], &r[3]);
	if ((mask & 0xffff) == 0xffff) {
		for (int i = 0; i < 4; i++) {
			_mm_storeu_ps(ROW(i), _mm512_castps512_ps128(r[i]));
			_mm_storeu_ps(ROW(i + 4), _mm512_extractf32x4_ps(r[i], 1));
			_mm_storeu_ps(ROW(i + 8), _mm512_extractf32x4_ps(r[i], 2));
			_mm_storeu_ps(ROW(i + 12), _mm512_extractf32x4_ps(r[i], 3));
		}
		return;
	}
	for (int i = 0; i < 4; i++) {
		if (mask >> i & 1)
			_mm_storeu_ps(ROW(i), _mm512_castps512_ps128(r[i]));
		if (mask >> (i + 4) & 1)
			_mm_storeu_ps(ROW(i + 4), _mm512_extractf32x4_ps(r[i], 1));
		if (mask >> (i + 8) & 1)
			_mm_storeu_ps(ROW(i + 8), _mm512_extractf32x4_ps(r[i], 2));
		if (mask >> (i + 12) & 1)
			_mm_storeu_ps(ROW(i + 12), _mm512_extractf32x4_ps(r[i], 3));
	}
}
HELPER(avx512) void avx512_put8(float *p, const uint32_t *index, uint32_t stride, const avx512_f v[8], uint32_t mask) {
	__m512 r[8] = {v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7]};
	if (!(mask & 0xffff))
		return;
	avx512_turn(&r[0], &r[1], &r[2], &r[3]);
	avx512_turn(&r[4], &r[5], &r[6], &r[7]);
	const __m512i low = _mm512_setr_epi64(0, 1, 8, 9, 2, 3, 10, 11), high = _mm512_setr_epi64(4, 5, 12, 13, 6, 7, 14, 15);
	for (int i = 0; i < 4; i++) {
		const __m512d a = _mm512_castps_pd(r[i]), b = _mm512_castps_pd(r[i + 4]);
		const __m512d rows[2] = {_mm512_permutex2var_pd(a, low, b), _mm512_permutex2var_pd(a, high, b)};
		for (int k = 0; k < 2; k++) {
			const int lane = i + 8 * k;
			if (mask >> lane & 1)
				_mm256_storeu_ps(ROW(lane), _mm256_castpd_ps(_mm512_castpd512_pd256(rows[k])));
			if (mask >> (lane + 4) & 1)
				_mm256_storeu_ps(ROW(lane + 4), _mm256_castpd_ps(_mm512_extractf64x4_pd(rows[k], 1)));
		}
	}
}
#endif

#if defined(__aarch64__)
HELPER(neon) float32x4_t neon_pairs(float32x4_t a, float32x4_t b, int high) {
	const float64x2_t x = vreinterpretq_f64_f32(a), y = vreinterpretq_f64_f32(b);
	return vreinterpretq_f32_f64(high ? vtrn2q_f64(x, y) : vtrn1q_f64(x, y));
}
HELPER(neon) void neon_turn(float32x4_t v[4]) {
	const float32x4_t even = vtrn1q_f32(v[0], v[1]), odd = vtrn2q_f32(v[0], v[1]);
	const float32x4_t even2 = vtrn1q_f32(v[2], v[3]), odd2 = vtrn2q_f32(v[2], v[3]);
	v[0] = neon_pairs(even, even2, 0);
	v[1] = neon_pairs(odd, odd2, 0);
	v[2] = neon_pairs(even, even2, 1);
	v[3] = neon_pairs(odd, odd2, 1);
}
HELPER(neon) void neon_rows4(const float *p, const uint32_t *index, uint32_t stride, neon_f v[4]) {
	for (int i = 0; i < 4; i++)
		v[i] = vld1q_f32(ROW(i));
	neon_turn(v);
}
HELPER(neon) void neon_rows8(const float *p, const uint32_t *index, uint32_t stride, neon_f v[8]) {
	neon_rows4(p, index, stride, v);
	neon_rows4(p + 4, index, stride, v + 4);
}
HELPER(neon) void neon_put4(float *p, const uint32_t *index, uint32_t stride, const neon_f v[4], uint32_t mask) {
	float32x4_t r[4] = {v[0], v[1], v[2], v[3]};
	neon_turn(r);
	for (int i = 0; i < 4; i++)
		if (mask >> i & 1)
			vst1q_f32(ROW(i), r[i]);
}
HELPER(neon) void neon_put8(float *p, const uint32_t *index, uint32_t stride, const neon_f v[8], uint32_t mask) {
	neon_put4(p, index, stride, v, mask);
	neon_put4(p + 4, index, stride, v + 4, mask);
}
#endif

#undef ROW

#endif
