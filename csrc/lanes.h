/* The vocabulary in which kernels are written: the same dozen operations on a
 * vector of LANES floats, per level. A template says V(add)(a, b); LEVEL turns
 * it into c_add, avx2_add, avx512_add or neon_add.
 *
 *   f, u             a vector of floats, of uint32
 *   mask             one bit per lane, lane 0 lowest
 *   load, loadu      from memory, any alignment
 *   store, storeu    to memory, any alignment, all lanes
 *   set1, set1u      the same value in every lane
 *   add, sub, mul    IEEE 754, rounded to nearest even, never fused
 *   clamp            a moved into [lo, hi]: lo below it or where a is NaN, hi above
 *   le               mask of a <= b; false where either is NaN
 *   nequ             mask of a != b
 *   gtu              mask of a > b; a and b are below 2^31
 *   first            mask of the lanes below n
 *   pack, packu      the lanes in the mask moved to the front, in order; what
 *                    is left behind them is unspecified
 *   count            lanes in the mask
 *   tally            n + 1 in the lanes where a > b, n in the others; a and b are
 *                    below 2^31
 */
#ifndef EVERTICK_LANES_H
#define EVERTICK_LANES_H

#include "base.h"

#define V(name) CAT(CAT(LEVEL, _), name)

/* One lane: portable C. */
enum { c_LANES = 1 };
typedef float c_f;
typedef uint32_t c_u;
typedef uint32_t c_mask;
HELPER(c) c_f c_load(const float *p) { return *p; }
HELPER(c) c_u c_loadu(const uint32_t *p) { return *p; }
HELPER(c) void c_store(float *p, c_f a) { *p = a; }
HELPER(c) void c_storeu(uint32_t *p, c_u a) { *p = a; }
HELPER(c) c_f c_set1(float a) { return a; }
HELPER(c) c_u c_set1u(uint32_t a) { return a; }
HELPER(c) c_f c_add(c_f a, c_f b) { return a + b; }
HELPER(c) c_f c_sub(c_f a, c_f b) { return a - b; }
HELPER(c) c_f c_mul(c_f a, c_f b) { return a * b; }
HELPER(c) c_f c_clamp(c_f a, c_f lo, c_f hi) {
	a = a > lo ? a : lo;
	return a < hi ? a : hi;
}
HELPER(c) c_mask c_le(c_f a, c_f b) { return a <= b; }
HELPER(c) c_mask c_nequ(c_u a, c_u b) { return a != b; }
HELPER(c) c_mask c_gtu(c_u a, c_u b) { return a > b; }
HELPER(c) c_mask c_first(uint32_t n) { return n > 0; }
HELPER(c) c_f c_pack(c_f a, c_mask m) { (void)m; return a; }
HELPER(c) c_u c_packu(c_u a, c_mask m) { (void)m; return a; }
HELPER(c) uint32_t c_count(c_mask m) { return m; }
HELPER(c) c_u c_tally(c_u n, c_u a, c_u b) { return n + (a > b); }

#if defined(__x86_64__)
#include <immintrin.h>

/* Lane numbers that pack() moves to the front, a byte each, for each mask of
 * eight lanes: lane i goes to the place given by the number of lanes below it
 * in the mask. */
#define PACK_LANE(m, i) ((uint64_t)((m) >> (i) & 1u) * (i) << 8 * __builtin_popcount((m) & ((1u << (i)) - 1u)))
#define PACK1(m) (PACK_LANE(m, 1) | PACK_LANE(m, 2) | PACK_LANE(m, 3) | PACK_LANE(m, 4) | \
                  PACK_LANE(m, 5) | PACK_LANE(m, 6) | PACK_LANE(m, 7))
#define PACK4(m) PACK1(m), PACK1((m) + 1u), PACK1((m) + 2u), PACK1((m) + 3u)
#define PACK16(m) PACK4(m), PACK4((m) + 4u), PACK4((m) + 8u), PACK4((m) + 12u)
#define PACK64(m) PACK16(m), PACK16((m) + 16u), PACK16((m) + 32u), PACK16((m) + 48u)
static const uint64_t avx2_pack_lanes[256] = {PACK64(0u), PACK64(64u), PACK64(128u), PACK64(192u)};

enum { avx2_LANES = 8 };
typedef __m256 avx2_f;
typedef __m256i avx2_u;
typedef uint32_t avx2_mask;
HELPER(avx2) avx2_f avx2_load(const float *p) { return _mm256_loadu_ps(p); }
HELPER(avx2) avx2_u avx2_loadu(const uint32_t *p) { return _mm256_loadu_si256((const __m256i *)(const void *)p); }
HELPER(avx2) void avx2_store(float *p, avx2_f a) { _mm256_storeu_ps(p, a); }
HELPER(avx2) void avx2_storeu(uint32_t *p, avx2_u a) { _mm256_storeu_si256((__m256i *)(void *)p, a); }
HELPER(avx2) avx2_f avx2_set1(float a) { return _mm256_set1_ps(a); }
HELPER(avx2) avx2_u avx2_set1u(uint32_t a) { return _mm256_set1_epi32((int32_t)a); }
HELPER(avx2) avx2_f avx2_add(avx2_f a, avx2_f b) { return _mm256_add_ps(a, b); }
HELPER(avx2) avx2_f avx2_sub(avx2_f a, avx2_f b) { return _mm256_sub_ps(a, b); }
HELPER(avx2) avx2_f avx2_mul(avx2_f a, avx2_f b) { return _mm256_mul_ps(a, b); }
HELPER(avx2) avx2_f avx2_clamp(avx2_f a, avx2_f lo, avx2_f hi) {
	return _mm256_min_ps(_mm256_max_ps(a, lo), hi);
}
HELPER(avx2) avx2_mask avx2_le(avx2_f a, avx2_f b) {
	return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LE_OQ));
}
HELPER(avx2) avx2_mask avx2_nequ(avx2_u a, avx2_u b) {
	return 0xffu ^ (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpeq_epi32(a, b)));
}
HELPER(avx2) avx2_mask avx2_gtu(avx2_u a, avx2_u b) {
	return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(_mm256_cmpgt_epi32(a, b)));
}
HELPER(avx2) avx2_mask avx2_first(uint32_t n) { return n >= 8u ? 0xffu : (1u << n) - 1u; }
HELPER(avx2) __m256i avx2_pack_index(avx2_mask m) {
	return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)&avx2_pack_lanes[m]));
}
HELPER(avx2) avx2_f avx2_pack(avx2_f a, avx2_mask m) { return _mm256_permutevar8x32_ps(a, avx2_pack_index(m)); }
HELPER(avx2) avx2_u avx2_packu(avx2_u a, avx2_mask m) { return _mm256_permutevar8x32_epi32(a, avx2_pack_index(m)); }
HELPER(avx2) uint32_t avx2_count(avx2_mask m) { return (uint32_t)__builtin_popcount(m); }
HELPER(avx2) avx2_u avx2_tally(avx2_u n, avx2_u a, avx2_u b) { return _mm256_sub_epi32(n, _mm256_cmpgt_epi32(a, b)); }

/* pack() goes through a register: compressing straight to memory is ten times
 * slower on Zen 4. */
enum { avx512_LANES = 16 };
typedef __m512 avx512_f;
typedef __m512i avx512_u;
typedef uint32_t avx512_mask;
HELPER(avx512) avx512_f avx512_load(const float *p) { return _mm512_loadu_ps(p); }
HELPER(avx512) avx512_u avx512_loadu(const uint32_t *p) { return _mm512_loadu_si512(p); }
HELPER(avx512) void avx512_store(float *p, avx512_f a) { _mm512_storeu_ps(p, a); }
HELPER(avx512) void avx512_storeu(uint32_t *p, avx512_u a) { _mm512_storeu_si512(p, a); }
HELPER(avx512) avx512_f avx512_set1(float a) { return _mm512_set1_ps(a); }
HELPER(avx512) avx512_u avx512_set1u(uint32_t a) { return _mm512_set1_epi32((int32_t)a); }
HELPER(avx512) avx512_f avx512_add(avx512_f a, avx512_f b) { return _mm512_add_ps(a, b); }
HELPER(avx512) avx512_f avx512_sub(avx512_f a, avx512_f b) { return _mm512_sub_ps(a, b); }
HELPER(avx512) avx512_f avx512_mul(avx512_f a, avx512_f b) { return _mm512_mul_ps(a, b); }
HELPER(avx512) avx512_f avx512_clamp(avx512_f a, avx512_f lo, avx512_f hi) {
	return _mm512_min_ps(_mm512_max_ps(a, lo), hi);
}
HELPER(avx512) avx512_mask avx512_le(avx512_f a, avx512_f b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
HELPER(avx512) avx512_mask avx512_nequ(avx512_u a, avx512_u b) { return _mm512_cmpneq_epi32_mask(a, b); }
HELPER(avx512) avx512_mask avx512_gtu(avx512_u a, avx512_u b) { return _mm512_cmpgt_epi32_mask(a, b); }
HELPER(avx512) avx512_mask avx512_first(uint32_t n) { return n >= 16u ? 0xffffu : (1u << n) - 1u; }
HELPER(avx512) avx512_f avx512_pack(avx512_f a, avx512_mask m) { return _mm512_maskz_compress_ps((__mmask16)m, a); }
HELPER(avx512) avx512_u avx512_packu(avx512_u a, avx512_mask m) { return _mm512_maskz_compress_epi32((__mmask16)m, a); }
HELPER(avx512) uint32_t avx512_count(avx512_mask m) { return (uint32_t)__builtin_popcount(m); }
HELPER(avx512) avx512_u avx512_tally(avx512_u n, avx512_u a, avx512_u b) {
	return _mm512_mask_add_epi32(n, _mm512_cmpgt_epi32_mask(a, b), n, _mm512_set1_epi32(1));
}
#endif

#if defined(__aarch64__)
#include <arm_neon.h>

/* Byte numbers that pack() moves to the front, for each mask of four lanes. */
#define PACK_BYTES(lane) 4 * (lane), 4 * (lane) + 1, 4 * (lane) + 2, 4 * (lane) + 3
#define PACK_ROW(a, b, c, d) {PACK_BYTES(a), PACK_BYTES(b), PACK_BYTES(c), PACK_BYTES(d)}
static const uint8_t neon_pack_bytes[16][16] = {
	PACK_ROW(0, 0, 0, 0), PACK_ROW(0, 0, 0, 0), PACK_ROW(1, 0, 0, 0), PACK_ROW(0, 1, 0, 0),
	PACK_ROW(2, 0, 0, 0), PACK_ROW(0, 2, 0, 0), PACK_ROW(1, 2, 0, 0), PACK_ROW(0, 1, 2, 0),
	PACK_ROW(3, 0, 0, 0), PACK_ROW(0, 3, 0, 0), PACK_ROW(1, 3, 0, 0), PACK_ROW(0, 1, 3, 0),
	PACK_ROW(2, 3, 0, 0), PACK_ROW(0, 2, 3, 0), PACK_ROW(1, 2, 3, 0), PACK_ROW(0, 1, 2, 3),
};

enum { neon_LANES = 4 };
typedef float32x4_t neon_f;
typedef uint32x4_t neon_u;
typedef uint32_t neon_mask;
HELPER(neon) neon_f neon_load(const float *p) { return vld1q_f32(p); }
HELPER(neon) neon_u neon_loadu(const uint32_t *p) { return vld1q_u32(p); }
HELPER(neon) void neon_store(float *p, neon_f a) { vst1q_f32(p, a); }
HELPER(neon) void neon_storeu(uint32_t *p, neon_u a) { vst1q_u32(p, a); }
HELPER(neon) neon_f neon_set1(float a) { return vdupq_n_f32(a); }
HELPER(neon) neon_u neon_set1u(uint32_t a) { return vdupq_n_u32(a); }
HELPER(neon) neon_f neon_add(neon_f a, neon_f b) { return vaddq_f32(a, b); }
HELPER(neon) neon_f neon_sub(neon_f a, neon_f b) { return vsubq_f32(a, b); }
HELPER(neon) neon_f neon_mul(neon_f a, neon_f b) { return vmulq_f32(a, b); }
HELPER(neon) neon_f neon_clamp(neon_f a, neon_f lo, neon_f hi) {
	a = vbslq_f32(vcgtq_f32(a, lo), a, lo);
	return vbslq_f32(vcltq_f32(a, hi), a, hi);
}
HELPER(neon) neon_mask neon_bits(uint32x4_t all_ones) {
	static const uint32_t weights[4] = {1, 2, 4, 8};
	return vaddvq_u32(vandq_u32(all_ones, vld1q_u32(weights)));
}
HELPER(neon) neon_mask neon_le(neon_f a, neon_f b) { return neon_bits(vcleq_f32(a, b)); }
HELPER(neon) neon_mask neon_nequ(neon_u a, neon_u b) { return neon_bits(vmvnq_u32(vceqq_u32(a, b))); }
HELPER(neon) neon_mask neon_gtu(neon_u a, neon_u b) { return neon_bits(vcgtq_u32(a, b)); }
HELPER(neon) neon_mask neon_first(uint32_t n) { return n >= 4u ? 0xfu : (1u << n) - 1u; }
HELPER(neon) neon_u neon_packu(neon_u a, neon_mask m) {
	return vreinterpretq_u32_u8(vqtbl1q_u8(vreinterpretq_u8_u32(a), vld1q_u8(neon_pack_bytes[m])));
}
HELPER(neon) neon_f neon_pack(neon_f a, neon_mask m) {
	return vreinterpretq_f32_u32(neon_packu(vreinterpretq_u32_f32(a), m));
}
HELPER(neon) uint32_t neon_count(neon_mask m) { return (uint32_t)__builtin_popcount(m); }
HELPER(neon) neon_u neon_tally(neon_u n, neon_u a, neon_u b) { return vsubq_u32(n, vcgtq_u32(a, b)); }
#endif

#endif
