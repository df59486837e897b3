/* Operations that only the index builder needs, beyond those of lanes.h:
 * they turn columns into records and back, and count.
 *
 *   among       p[i] for the i of each lane, below 2 * LANES; reads all of p[0, 2 * LANES)
 *   scan        exclusive prefix sum: each lane becomes carry plus the lanes below it, and carry grows
 *               by all of them
 *   point       a register with x, y, z and slot of one point
 *   weave       splits the lanes into single points
 *   putrecord   stores a point to memory, as a record
 *   unweave     loads LANES records from memory
 */
#ifndef EVERTICK_BUILD_LANES_H
#define EVERTICK_BUILD_LANES_H

#include "../lanes.h"

/* A point. It may alias the memory of blocks that it lies in. */
typedef struct __attribute__((may_alias)) {
	float x, y, z;
	uint32_t slot;
} record;

_Static_assert(ET_BLOCK * sizeof(record) == sizeof(et_block), "a block has room for its points as records");

HELPER(c) c_f c_among(const float *p, c_u i) { return p[i]; }
HELPER(c) c_u c_scan(c_u a, c_u *carry) {
	const c_u below = *carry;
	*carry += a;
	return below;
}
typedef record c_point;
HELPER(c) void c_weave(c_point *p, c_f x, c_f y, c_f z, c_u slot) { *p = (record){x, y, z, slot}; }
HELPER(c) void c_putrecord(record *to, c_point p) { *to = p; }
HELPER(c) void c_unweave(const record *p, c_f *x, c_f *y, c_f *z, c_u *slot) {
	*x = p->x;
	*y = p->y;
	*z = p->z;
	*slot = p->slot;
}

#if X86_VECTORS
HELPER(avx2) avx2_f avx2_among(const float *p, avx2_u i) {
	const __m256 low = _mm256_permutevar8x32_ps(avx2_load(p), i), high = _mm256_permutevar8x32_ps(avx2_load(p + 8), i);
	return _mm256_blendv_ps(low, high, _mm256_castsi256_ps(_mm256_slli_epi32(i, 28)));
}
HELPER(avx2) avx2_u avx2_scan(avx2_u a, avx2_u *carry) {
	__m256i s = _mm256_add_epi32(a, _mm256_slli_si256(a, 4));
	s = _mm256_add_epi32(s, _mm256_slli_si256(s, 8));
	const __m256i low = _mm256_permute2x128_si256(s, s, 0x08); /* the halves become 0 and the lower half */
	s = _mm256_add_epi32(s, _mm256_shuffle_epi32(low, 0xff));
	const __m256i below = _mm256_add_epi32(*carry, _mm256_sub_epi32(s, a));
	*carry = _mm256_add_epi32(*carry, _mm256_permutevar8x32_epi32(s, _mm256_set1_epi32(7)));
	return below;
}
typedef __m128 avx2_point;
HELPER(avx2) void avx2_halves(avx2_point *low, avx2_point *high, __m256d a) {
	*low = _mm256_castps256_ps128(_mm256_castpd_ps(a));
	*high = _mm256_extractf128_ps(_mm256_castpd_ps(a), 1);
}
HELPER(avx2) void avx2_weave(avx2_point *p, avx2_f x, avx2_f y, avx2_f z, avx2_u slot) {
	const __m256 s = _mm256_castsi256_ps(slot);
	const __m256d xy0 = _mm256_castps_pd(_mm256_unpacklo_ps(x, y)), zs0 = _mm256_castps_pd(_mm256_unpacklo_ps(z, s));
	const __m256d xy2 = _mm256_castps_pd(_mm256_unpackhi_ps(x, y)), zs2 = _mm256_castps_pd(_mm256_unpackhi_ps(z, s));
	avx2_halves(p, p + 4, _mm256_unpacklo_pd(xy0, zs0));
	avx2_halves(p + 1, p + 5, _mm256_unpackhi_pd(xy0, zs0));
	avx2_halves(p + 2, p + 6, _mm256_unpacklo_pd(xy2, zs2));
	avx2_halves(p + 3, p + 7, _mm256_unpackhi_pd(xy2, zs2));
}
HELPER(avx2) void avx2_putrecord(record *to, avx2_point p) { _mm_storeu_ps((float *)(void *)to, p); }
HELPER(avx2) void avx2_unweave(const record *p, avx2_f *x, avx2_f *y, avx2_f *z, avx2_u *slot) {
	const float *const from = (const float *)(const void *)p;
	const __m256 r01 = avx2_load(from), r23 = avx2_load(from + 8);
	const __m256 r45 = avx2_load(from + 16), r67 = avx2_load(from + 24);
	const __m256 r04 = _mm256_permute2f128_ps(r01, r45, 0x20), r15 = _mm256_permute2f128_ps(r01, r45, 0x31);
	const __m256 r26 = _mm256_permute2f128_ps(r23, r67, 0x20), r37 = _mm256_permute2f128_ps(r23, r67, 0x31);
	const __m256d xy0 = _mm256_castps_pd(_mm256_unpacklo_ps(r04, r15)), zs0 = _mm256_castps_pd(_mm256_unpackhi_ps(r04, r15));
	const __m256d xy2 = _mm256_castps_pd(_mm256_unpacklo_ps(r26, r37)), zs2 = _mm256_castps_pd(_mm256_unpackhi_ps(r26, r37));
	*x = _mm256_castpd_ps(_mm256_unpacklo_pd(xy0, xy2));
	*y = _mm256_castpd_ps(_mm256_unpackhi_pd(xy0, xy2));
	*z = _mm256_castpd_ps(_mm256_unpacklo_pd(zs0, zs2));
	*slot = _mm256_castpd_si256(_mm256_unpackhi_pd(zs0, zs2));
}

HELPER(avx512) avx512_f avx512_among(const float *p, avx512_u i) {
	return _mm512_permutex2var_ps(avx512_load(p), i, avx512_load(p + 16));
}
HELPER(avx512) avx512_u avx512_scan(avx512_u a, avx512_u *carry) {
	const __m512i zero = _mm512_setzero_si512();
	__m512i s = _mm512_add_epi32(a, _mm512_alignr_epi32(a, zero, 15));
	s = _mm512_add_epi32(s, _mm512_alignr_epi32(s, zero, 14));
	s = _mm512_add_epi32(s, _mm512_alignr_epi32(s, zero, 12));
	s = _mm512_add_epi32(s, _mm512_alignr_epi32(s, zero, 8));
	const __m512i below = _mm512_add_epi32(*carry, _mm512_sub_epi32(s, a));
	*carry = _mm512_add_epi32(*carry, _mm512_permutexvar_epi32(_mm512_set1_epi32(15), s));
	return below;
}
typedef __m128 avx512_point;
HELPER(avx512) void avx512_quarters(avx512_point *p, __m512d a) {
	const __m512 f = _mm512_castpd_ps(a);
	p[0] = _mm512_castps512_ps128(f);
	p[1] = _mm512_extractf32x4_ps(f, 1);
	p[2] = _mm512_extractf32x4_ps(f, 2);
	p[3] = _mm512_extractf32x4_ps(f, 3);
}
HELPER(avx512) void avx512_weave(avx512_point *p, avx512_f x, avx512_f y, avx512_f z, avx512_u slot) {
	const __m512i low = _mm512_setr_epi32(0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
	const __m512i high = _mm512_setr_epi32(8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
	const __m512i low2 = _mm512_setr_epi64(0, 8, 1, 9, 2, 10, 3, 11), high2 = _mm512_setr_epi64(4, 12, 5, 13, 6, 14, 7, 15);
	const __m512 s = _mm512_castsi512_ps(slot);
	const __m512d xy0 = _mm512_castps_pd(_mm512_permutex2var_ps(x, low, y)), zs0 = _mm512_castps_pd(_mm512_permutex2var_ps(z, low, s));
	const __m512d xy8 = _mm512_castps_pd(_mm512_permutex2var_ps(x, high, y)), zs8 = _mm512_castps_pd(_mm512_permutex2var_ps(z, high, s));
	avx512_quarters(p, _mm512_permutex2var_pd(xy0, low2, zs0));
	avx512_quarters(p + 4, _mm512_permutex2var_pd(xy0, high2, zs0));
	avx512_quarters(p + 8, _mm512_permutex2var_pd(xy8, low2, zs8));
	avx512_quarters(p + 12, _mm512_permutex2var_pd(xy8, high2, zs8));
}
HELPER(avx512) void avx512_putrecord(record *to, avx512_point p) { _mm_storeu_ps((float *)(void *)to, p); }
HELPER(avx512) void avx512_unweave(const record *p, avx512_f *x, avx512_f *y, avx512_f *z, avx512_u *slot) {
	const __m512i xy = _mm512_setr_epi32(0, 4, 8, 12, 16, 20, 24, 28, 1, 5, 9, 13, 17, 21, 25, 29);
	const __m512i zs = _mm512_setr_epi32(2, 6, 10, 14, 18, 22, 26, 30, 3, 7, 11, 15, 19, 23, 27, 31);
	const float *const from = (const float *)(const void *)p;
	const __m512 r0 = avx512_load(from), r4 = avx512_load(from + 16);
	const __m512 r8 = avx512_load(from + 32), r12 = avx512_load(from + 48);
	const __m512 xy0 = _mm512_permutex2var_ps(r0, xy, r4), xy8 = _mm512_permutex2var_ps(r8, xy, r12);
	const __m512 zs0 = _mm512_permutex2var_ps(r0, zs, r4), zs8 = _mm512_permutex2var_ps(r8, zs, r12);
	*x = _mm512_shuffle_f32x4(xy0, xy8, 0x44);
	*y = _mm512_shuffle_f32x4(xy0, xy8, 0xee);
	*z = _mm512_shuffle_f32x4(zs0, zs8, 0x44);
	*slot = _mm512_castps_si512(_mm512_shuffle_f32x4(zs0, zs8, 0xee));
}
#endif

#if defined(__aarch64__)
HELPER(neon) neon_f neon_among(const float *p, neon_u i) {
	const uint8x16x2_t all = {{vreinterpretq_u8_f32(vld1q_f32(p)), vreinterpretq_u8_f32(vld1q_f32(p + 4))}};
	const uint32x4_t bytes = vmlaq_u32(vdupq_n_u32(0x03020100), i, vdupq_n_u32(0x04040404));
	return vreinterpretq_f32_u8(vqtbl2q_u8(all, vreinterpretq_u8_u32(bytes)));
}
HELPER(neon) neon_u neon_scan(neon_u a, neon_u *carry) {
	const uint32x4_t zero = vdupq_n_u32(0);
	uint32x4_t s = vaddq_u32(a, vextq_u32(zero, a, 3));
	s = vaddq_u32(s, vextq_u32(zero, s, 2));
	const uint32x4_t below = vaddq_u32(*carry, vsubq_u32(s, a));
	*carry = vaddq_u32(*carry, vdupq_laneq_u32(s, 3));
	return below;
}
typedef float32x4_t neon_point;
HELPER(neon) void neon_weave(neon_point *p, neon_f x, neon_f y, neon_f z, neon_u slot) {
	const float32x4_t s = vreinterpretq_f32_u32(slot);
	const float64x2_t xy0 = vreinterpretq_f64_f32(vzip1q_f32(x, y)), zs0 = vreinterpretq_f64_f32(vzip1q_f32(z, s));
	const float64x2_t xy2 = vreinterpretq_f64_f32(vzip2q_f32(x, y)), zs2 = vreinterpretq_f64_f32(vzip2q_f32(z, s));
	p[0] = vreinterpretq_f32_f64(vzip1q_f64(xy0, zs0));
	p[1] = vreinterpretq_f32_f64(vzip2q_f64(xy0, zs0));
	p[2] = vreinterpretq_f32_f64(vzip1q_f64(xy2, zs2));
	p[3] = vreinterpretq_f32_f64(vzip2q_f64(xy2, zs2));
}
HELPER(neon) void neon_putrecord(record *to, neon_point p) { vst1q_f32((float *)(void *)to, p); }
HELPER(neon) void neon_unweave(const record *p, neon_f *x, neon_f *y, neon_f *z, neon_u *slot) {
	const float32x4x4_t r = vld4q_f32((const float *)(const void *)p);
	*x = r.val[0];
	*y = r.val[1];
	*z = r.val[2];
	*slot = vreinterpretq_u32_f32(r.val[3]);
}
#endif

#endif
