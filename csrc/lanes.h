/* The vocabulary in which kernels are written: the same few operations on a
 * vector of LANES floats, per level. A template says V(add)(a, b); LEVEL turns
 * it into c_add, avx2_add, avx512_add or neon_add.
 *
 *   f, u             a vector of floats, of uint32
 *   mask             one bit per lane, lane 0 lowest
 *   load, loadu      from memory, any alignment
 *   fetch, fetchu    p[i] for the i of each lane, which is below 2^31
 *   store, storeu    to memory, any alignment, all lanes
 *   storesome        to memory, any alignment, the lanes of the mask; the others keep
 *                    their bits, of a signalling NaN too
 *   set1, set1u      the same value in every lane
 *   ramp             n, n + 1, n + 2 ... from lane 0 on
 *   add, sub, mul    IEEE 754, rounded to nearest even, never fused
 *   div, sqrt        rounded to nearest even
 *   abs              without the sign, of a NaN too
 *   negate           with the other sign
 *   floor            the largest whole number that is not above; NaN, infinities
 *                    and zeros as they are
 *   min, max         a < b ? a : b and a > b ? a : b, so b where either is NaN
 *   truncu           to uint32, toward zero, of 0 <= a < 2^31
 *   tof              of a uint32 below 2^31, rounded to nearest even
 *   addu, subu, mulu modulo 2^32
 *   minu             the smaller, of numbers below 2^31
 *   oru              a | b
 *   keep, keepu      a in the lanes of the mask, 0 in the others
 *   select           a in the lanes of the mask, b in the others
 *   pick             x where a > b, y elsewhere
 *   le, lt           masks of a <= b and of a < b; false where either is NaN
 *   unordered        mask of the lanes where either is NaN
 *   leu, gtu         mask of a <= b and of a > b, of numbers below 2^31
 *   nequ             mask of a != b
 *   anyu             mask of (a & b) != 0
 *   asu, asf         the bits of a vector of floats as integers, and back
 *   member           mask of the lanes a whose bit of the bitmap is set: bit a % 64
 *                    of word a / 64
 *   marked           the same of a bitmap of words of 32 bits
 *   first            mask of the lanes below n
 *   pack, packu      the lanes in the mask moved to the front, in order; what
 *                    is after them is unspecified
 *   count            lanes in the mask
 *   tally            n + 1 in the lanes where a > b, n in the others; a and b are
 *                    below 2^31
 *   tied             n + 1 in the lanes where a == b and c > d, n in the others; c
 *                    and d are below 2^31
 *   split            to[i] = from + (i << 32) + (bits >> i * width) % (1 << width)
 *                    for all i below 64 / width, which is 4 or 8
 *
 * SUM3 and NORM2, of any level, are (a + b) + c and (x*x + y*y) + z*z: the order
 * in which the oracle adds.
 */
#ifndef EVERTICK_LANES_H
#define EVERTICK_LANES_H

#include <string.h>

#include "base.h"

#define V(name) CAT(CAT(LEVEL, _), name)
#define SUM3(a, b, c) V(add)(V(add)(a, b), c)
#define NORM2(x, y, z) SUM3(V(mul)(x, x), V(mul)(y, y), V(mul)(z, z))

/* sqrtf may set errno, so the compiler emits a call of the library, for which csrc.go links libm. The others are
 * one instruction. */
#if defined(__x86_64__)
#if X86_VECTORS
#include <immintrin.h>
#else
#include <xmmintrin.h>
#endif
#define SQRT(a) _mm_cvtss_f32(_mm_sqrt_ss(_mm_set_ss(a)))
#elif defined(__aarch64__)
#include <arm_neon.h>
#define SQRT(a) vget_lane_f32(vsqrt_f32(vdup_n_f32(a)), 0)
#else
#include <math.h>
#define SQRT(a) sqrtf(a)
#endif

/* One lane: portable C. */
enum { c_LANES = 1 };
typedef float c_f;
typedef uint32_t c_u;
typedef uint32_t c_mask;
HELPER(c) c_f c_load(const float *p) { return *p; }
HELPER(c) c_u c_loadu(const uint32_t *p) { return *p; }
HELPER(c) c_f c_fetch(const float *p, c_u i) { return p[i]; }
HELPER(c) c_u c_fetchu(const uint32_t *p, c_u i) { return p[i]; }
HELPER(c) void c_store(float *p, c_f a) { *p = a; }
HELPER(c) void c_storeu(uint32_t *p, c_u a) { *p = a; }
HELPER(c) void c_storesome(float *p, c_mask m, c_f a) {
	if (m)
		*p = a;
}
HELPER(c) c_f c_set1(float a) { return a; }
HELPER(c) c_u c_set1u(uint32_t a) { return a; }
HELPER(c) c_u c_ramp(uint32_t n) { return n; }
HELPER(c) c_f c_add(c_f a, c_f b) { return a + b; }
HELPER(c) c_f c_sub(c_f a, c_f b) { return a - b; }
HELPER(c) c_f c_mul(c_f a, c_f b) { return a * b; }
HELPER(c) c_f c_sqrt(c_f a) { return SQRT(a); }
HELPER(c) c_f c_div(c_f a, c_f b) { return a / b; }
HELPER(c) c_f c_abs(c_f a) { return __builtin_fabsf(a); }
HELPER(c) c_f c_negate(c_f a) { return -a; }
/* SSE2 cannot round. Floats from 2^23 on are whole; below, the conversion truncates toward zero. */
HELPER(c) c_f c_floor(c_f a) {
	if (!(c_abs(a) < 0x1p23f))
		return a;
	const c_f cut = (c_f)(int32_t)a;
	return cut == a ? a : cut > a ? cut - 1 : cut;
}
HELPER(c) c_f c_min(c_f a, c_f b) { return a < b ? a : b; }
HELPER(c) c_f c_max(c_f a, c_f b) { return a > b ? a : b; }
HELPER(c) c_u c_truncu(c_f a) { return (uint32_t)(int32_t)a; }
HELPER(c) c_f c_tof(c_u a) { return (float)(int32_t)a; }
HELPER(c) c_u c_addu(c_u a, c_u b) { return a + b; }
HELPER(c) c_u c_subu(c_u a, c_u b) { return a - b; }
HELPER(c) c_u c_mulu(c_u a, c_u b) { return a * b; }
HELPER(c) c_u c_minu(c_u a, c_u b) { return a < b ? a : b; }
HELPER(c) c_u c_oru(c_u a, c_u b) { return a | b; }
HELPER(c) c_f c_keep(c_f a, c_mask m) { return m ? a : 0; }
HELPER(c) c_u c_keepu(c_u a, c_mask m) { return m ? a : 0; }
HELPER(c) c_f c_select(c_mask m, c_f a, c_f b) { return m ? a : b; }
HELPER(c) c_f c_pick(c_f a, c_f b, c_f x, c_f y) { return a > b ? x : y; }
HELPER(c) c_mask c_le(c_f a, c_f b) { return a <= b; }
HELPER(c) c_mask c_lt(c_f a, c_f b) { return a < b; }
HELPER(c) c_mask c_unordered(c_f a, c_f b) { return (a != a) | (b != b); }
HELPER(c) c_mask c_leu(c_u a, c_u b) { return a <= b; }
HELPER(c) c_mask c_anyu(c_u a, c_u b) { return (a & b) != 0; }
HELPER(c) c_mask c_nequ(c_u a, c_u b) { return a != b; }
HELPER(c) c_mask c_first(uint32_t n) { return n > 0; }
HELPER(c) c_f c_pack(c_f a, c_mask m) { (void)m; return a; }
HELPER(c) c_u c_packu(c_u a, c_mask m) { (void)m; return a; }
HELPER(c) uint32_t c_count(c_mask m) { return m; }
HELPER(c) c_u c_tally(c_u n, c_u a, c_u b) { return n + (a > b); }

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
HELPER(c) c_u c_tied(c_u n, c_u a, c_u b, c_u c, c_u d) { return n + ((a == b) & (c > d)); }
HELPER(c) c_mask c_member(const uint64_t *bitmap, c_u a) { return bitmap[a / 64] >> a % 64 & 1; }
HELPER(c) c_mask c_marked(const uint32_t *bitmap, c_u a) { return bitmap[a / 32] >> a % 32 & 1; }
static inline void scalar_split(uint64_t *to, uint64_t from, uint64_t bits, uint32_t width) {
	for (uint32_t i = 0; i < 64 / width; i++)
		to[i] = from + ((uint64_t)i << 32) + (bits >> i * width & ((1u << width) - 1));
}
HELPER(c) void c_split(uint64_t *to, uint64_t from, uint64_t bits, uint32_t width) { scalar_split(to, from, bits, width); }

#if X86_VECTORS
/* Lane numbers that pack() moves to the front, one byte each, for each mask of eight lanes. Lane i goes to the
 * place that equals the number of mask lanes below it. */
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
HELPER(avx2) avx2_f avx2_fetch(const float *p, avx2_u i) { return _mm256_i32gather_ps(p, i, 4); }
HELPER(avx2) avx2_u avx2_fetchu(const uint32_t *p, avx2_u i) {
	return _mm256_i32gather_epi32((const int *)(const void *)p, i, 4);
}
HELPER(avx2) void avx2_store(float *p, avx2_f a) { _mm256_storeu_ps(p, a); }
HELPER(avx2) void avx2_storeu(uint32_t *p, avx2_u a) { _mm256_storeu_si256((__m256i *)(void *)p, a); }
HELPER(avx2) avx2_f avx2_set1(float a) { return _mm256_set1_ps(a); }
HELPER(avx2) avx2_u avx2_set1u(uint32_t a) { return _mm256_set1_epi32((int32_t)a); }
HELPER(avx2) avx2_u avx2_ramp(uint32_t n) {
	return _mm256_add_epi32(avx2_set1u(n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
HELPER(avx2) avx2_f avx2_add(avx2_f a, avx2_f b) { return _mm256_add_ps(a, b); }
HELPER(avx2) avx2_f avx2_sub(avx2_f a, avx2_f b) { return _mm256_sub_ps(a, b); }
HELPER(avx2) avx2_f avx2_mul(avx2_f a, avx2_f b) { return _mm256_mul_ps(a, b); }
HELPER(avx2) avx2_f avx2_sqrt(avx2_f a) { return _mm256_sqrt_ps(a); }
HELPER(avx2) avx2_f avx2_div(avx2_f a, avx2_f b) { return _mm256_div_ps(a, b); }
HELPER(avx2) avx2_f avx2_abs(avx2_f a) { return _mm256_andnot_ps(_mm256_set1_ps(-0.0f), a); }
HELPER(avx2) avx2_f avx2_negate(avx2_f a) { return _mm256_xor_ps(a, _mm256_set1_ps(-0.0f)); }
HELPER(avx2) avx2_f avx2_floor(avx2_f a) { return _mm256_floor_ps(a); }
HELPER(avx2) avx2_f avx2_min(avx2_f a, avx2_f b) { return _mm256_min_ps(a, b); }
HELPER(avx2) avx2_f avx2_max(avx2_f a, avx2_f b) { return _mm256_max_ps(a, b); }
HELPER(avx2) avx2_u avx2_truncu(avx2_f a) { return _mm256_cvttps_epi32(a); }
HELPER(avx2) avx2_f avx2_tof(avx2_u a) { return _mm256_cvtepi32_ps(a); }
HELPER(avx2) avx2_u avx2_addu(avx2_u a, avx2_u b) { return _mm256_add_epi32(a, b); }
HELPER(avx2) avx2_u avx2_subu(avx2_u a, avx2_u b) { return _mm256_sub_epi32(a, b); }
HELPER(avx2) avx2_u avx2_mulu(avx2_u a, avx2_u b) { return _mm256_mullo_epi32(a, b); }
HELPER(avx2) avx2_u avx2_minu(avx2_u a, avx2_u b) { return _mm256_min_epi32(a, b); }
HELPER(avx2) avx2_u avx2_oru(avx2_u a, avx2_u b) { return _mm256_or_si256(a, b); }
HELPER(avx2) __m256i avx2_ones(avx2_mask m) {
	const __m256i bit = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128);
	return _mm256_cmpeq_epi32(_mm256_and_si256(_mm256_set1_epi32((int32_t)m), bit), bit);
}
HELPER(avx2) avx2_f avx2_keep(avx2_f a, avx2_mask m) { return _mm256_and_ps(a, _mm256_castsi256_ps(avx2_ones(m))); }
HELPER(avx2) avx2_u avx2_keepu(avx2_u a, avx2_mask m) { return _mm256_and_si256(a, avx2_ones(m)); }
/* The sign bits of the lanes, as a mask. */
HELPER(avx2) avx2_mask avx2_bits(__m256i a) { return (uint32_t)_mm256_movemask_ps(_mm256_castsi256_ps(a)); }
HELPER(avx2) avx2_mask avx2_leu(avx2_u a, avx2_u b) { return 0xffu ^ avx2_bits(_mm256_cmpgt_epi32(a, b)); }
HELPER(avx2) avx2_mask avx2_anyu(avx2_u a, avx2_u b) {
	return 0xffu ^ avx2_bits(_mm256_cmpeq_epi32(_mm256_and_si256(a, b), _mm256_setzero_si256()));
}
HELPER(avx2) avx2_f avx2_select(avx2_mask m, avx2_f a, avx2_f b) {
	return _mm256_blendv_ps(b, a, _mm256_castsi256_ps(avx2_ones(m)));
}
HELPER(avx2) avx2_f avx2_pick(avx2_f a, avx2_f b, avx2_f x, avx2_f y) {
	return _mm256_blendv_ps(y, x, _mm256_cmp_ps(a, b, _CMP_GT_OQ));
}
/* The asm hides the old values from the compiler. Otherwise it may turn m ? x * y : x into x * (m ? y : 1), which
 * alters a signalling NaN. A masked store would take a dozen cycles on Zen 4. */
HELPER(avx2) void avx2_storesome(float *p, avx2_mask m, avx2_f a) {
	avx2_f old = avx2_load(p);
	__asm__("" : "+x"(old));
	avx2_store(p, avx2_select(m, a, old));
}
HELPER(avx2) avx2_mask avx2_le(avx2_f a, avx2_f b) {
	return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LE_OQ));
}
HELPER(avx2) avx2_mask avx2_lt(avx2_f a, avx2_f b) {
	return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_LT_OQ));
}
HELPER(avx2) avx2_mask avx2_unordered(avx2_f a, avx2_f b) {
	return (uint32_t)_mm256_movemask_ps(_mm256_cmp_ps(a, b, _CMP_UNORD_Q));
}
HELPER(avx2) avx2_mask avx2_nequ(avx2_u a, avx2_u b) {
	return 0xffu ^ avx2_bits(_mm256_cmpeq_epi32(a, b));
}
HELPER(avx2) avx2_mask avx2_first(uint32_t n) { return n >= 8u ? 0xffu : (1u << n) - 1u; }
HELPER(avx2) __m256i avx2_pack_index(avx2_mask m) {
	return _mm256_cvtepu8_epi32(_mm_loadl_epi64((const __m128i *)(const void *)&avx2_pack_lanes[m]));
}
HELPER(avx2) avx2_f avx2_pack(avx2_f a, avx2_mask m) { return _mm256_permutevar8x32_ps(a, avx2_pack_index(m)); }
HELPER(avx2) avx2_u avx2_packu(avx2_u a, avx2_mask m) { return _mm256_permutevar8x32_epi32(a, avx2_pack_index(m)); }
HELPER(avx2) uint32_t avx2_count(avx2_mask m) { return (uint32_t)__builtin_popcount(m); }
HELPER(avx2) avx2_u avx2_tally(avx2_u n, avx2_u a, avx2_u b) { return _mm256_sub_epi32(n, _mm256_cmpgt_epi32(a, b)); }

HELPER(avx2) avx2_u avx2_asu(avx2_f a) { return _mm256_castps_si256(a); }
HELPER(avx2) avx2_f avx2_asf(avx2_u a) { return _mm256_castsi256_ps(a); }
HELPER(avx2) avx2_mask avx2_gtu(avx2_u a, avx2_u b) {
	return avx2_bits(_mm256_cmpgt_epi32(a, b));
}
HELPER(avx2) avx2_u avx2_tied(avx2_u n, avx2_u a, avx2_u b, avx2_u c, avx2_u d) {
	return _mm256_sub_epi32(n, _mm256_and_si256(_mm256_cmpeq_epi32(a, b), _mm256_cmpgt_epi32(c, d)));
}
HELPER(avx2) avx2_mask avx2_member(const uint64_t *bitmap, avx2_u a) {
	const __m256i word = avx2_fetchu((const uint32_t *)(const void *)bitmap, _mm256_srli_epi32(a, 5));
	const __m256i bit = _mm256_sllv_epi32(_mm256_set1_epi32(1), _mm256_and_si256(a, _mm256_set1_epi32(31)));
	return avx2_anyu(word, bit);
}
/* Eight loads are a little faster than a gather where the bitmap is in the cache. */
HELPER(avx2) avx2_mask avx2_marked(const uint32_t *bitmap, avx2_u a) {
	uint32_t w[8];
	avx2_storeu(w, _mm256_srli_epi32(a, 5));
	const __m256i word = _mm256_setr_epi32((int32_t)bitmap[w[0]], (int32_t)bitmap[w[1]], (int32_t)bitmap[w[2]],
	                                       (int32_t)bitmap[w[3]], (int32_t)bitmap[w[4]], (int32_t)bitmap[w[5]],
	                                       (int32_t)bitmap[w[6]], (int32_t)bitmap[w[7]]);
	const __m256i left = _mm256_andnot_si256(a, _mm256_set1_epi32(31));
	return avx2_bits(_mm256_sllv_epi32(word, left));
}
HELPER(avx2) void avx2_split(uint64_t *to, uint64_t from, uint64_t bits, uint32_t width) {
	const __m256i number = _mm256_setr_epi64x(0, (int64_t)1 << 32, (int64_t)2 << 32, (int64_t)3 << 32);
	const __m256i shift = _mm256_setr_epi64x(0, width, 2 * width, 3 * width);
	for (uint32_t i = 0; i < 64 / width; i += 4) {
		const __m256i some = _mm256_srlv_epi64(_mm256_set1_epi64x((int64_t)(bits >> i * width)), shift);
		const __m256i low = _mm256_and_si256(some, _mm256_set1_epi64x((1 << width) - 1));
		const __m256i numbered = _mm256_add_epi64(_mm256_set1_epi64x((int64_t)(from + ((uint64_t)i << 32))), number);
		_mm256_storeu_si256((__m256i *)(void *)(to + i), _mm256_or_si256(numbered, low));
	}
}

/* pack() compresses into a register: compressing straight to memory is ten times slower on Zen 4. */
enum { avx512_LANES = 16 };
typedef __m512 avx512_f;
typedef __m512i avx512_u;
typedef __mmask16 avx512_mask;
HELPER(avx512) avx512_f avx512_load(const float *p) { return _mm512_loadu_ps(p); }
HELPER(avx512) avx512_u avx512_loadu(const uint32_t *p) { return _mm512_loadu_si512(p); }
HELPER(avx512) avx512_f avx512_fetch(const float *p, avx512_u i) { return _mm512_i32gather_ps(i, p, 4); }
HELPER(avx512) avx512_u avx512_fetchu(const uint32_t *p, avx512_u i) { return _mm512_i32gather_epi32(i, p, 4); }
HELPER(avx512) void avx512_store(float *p, avx512_f a) { _mm512_storeu_ps(p, a); }
HELPER(avx512) void avx512_storeu(uint32_t *p, avx512_u a) { _mm512_storeu_si512(p, a); }
HELPER(avx512) avx512_f avx512_set1(float a) { return _mm512_set1_ps(a); }
HELPER(avx512) avx512_u avx512_set1u(uint32_t a) { return _mm512_set1_epi32((int32_t)a); }
HELPER(avx512) avx512_u avx512_ramp(uint32_t n) {
	return _mm512_add_epi32(avx512_set1u(n), _mm512_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15));
}
HELPER(avx512) avx512_f avx512_add(avx512_f a, avx512_f b) { return _mm512_add_ps(a, b); }
HELPER(avx512) avx512_f avx512_sub(avx512_f a, avx512_f b) { return _mm512_sub_ps(a, b); }
HELPER(avx512) avx512_f avx512_mul(avx512_f a, avx512_f b) { return _mm512_mul_ps(a, b); }
HELPER(avx512) avx512_f avx512_sqrt(avx512_f a) { return _mm512_sqrt_ps(a); }
HELPER(avx512) avx512_f avx512_div(avx512_f a, avx512_f b) { return _mm512_div_ps(a, b); }
HELPER(avx512) avx512_f avx512_abs(avx512_f a) { return _mm512_abs_ps(a); }
HELPER(avx512) avx512_f avx512_negate(avx512_f a) {
	return _mm512_castsi512_ps(_mm512_xor_si512(_mm512_castps_si512(a), _mm512_set1_epi32(INT32_MIN)));
}
HELPER(avx512) avx512_f avx512_floor(avx512_f a) { return _mm512_floor_ps(a); }
HELPER(avx512) avx512_f avx512_min(avx512_f a, avx512_f b) { return _mm512_min_ps(a, b); }
HELPER(avx512) avx512_f avx512_max(avx512_f a, avx512_f b) { return _mm512_max_ps(a, b); }
HELPER(avx512) avx512_u avx512_truncu(avx512_f a) { return _mm512_cvttps_epi32(a); }
HELPER(avx512) avx512_f avx512_tof(avx512_u a) { return _mm512_cvtepi32_ps(a); }
HELPER(avx512) avx512_u avx512_addu(avx512_u a, avx512_u b) { return _mm512_add_epi32(a, b); }
HELPER(avx512) avx512_u avx512_subu(avx512_u a, avx512_u b) { return _mm512_sub_epi32(a, b); }
HELPER(avx512) avx512_u avx512_mulu(avx512_u a, avx512_u b) { return _mm512_mullo_epi32(a, b); }
HELPER(avx512) avx512_u avx512_minu(avx512_u a, avx512_u b) { return _mm512_min_epi32(a, b); }
HELPER(avx512) avx512_u avx512_oru(avx512_u a, avx512_u b) { return _mm512_or_si512(a, b); }
HELPER(avx512) avx512_f avx512_keep(avx512_f a, avx512_mask m) { return _mm512_maskz_mov_ps(m, a); }
HELPER(avx512) avx512_u avx512_keepu(avx512_u a, avx512_mask m) { return _mm512_maskz_mov_epi32(m, a); }
HELPER(avx512) avx512_mask avx512_leu(avx512_u a, avx512_u b) { return _mm512_cmple_epi32_mask(a, b); }
HELPER(avx512) avx512_mask avx512_anyu(avx512_u a, avx512_u b) { return _mm512_test_epi32_mask(a, b); }
HELPER(avx512) avx512_f avx512_select(avx512_mask m, avx512_f a, avx512_f b) {
	return _mm512_mask_blend_ps(m, b, a);
}
HELPER(avx512) avx512_f avx512_pick(avx512_f a, avx512_f b, avx512_f x, avx512_f y) {
	return _mm512_mask_blend_ps(_mm512_cmp_ps_mask(a, b, _CMP_GT_OQ), y, x);
}
HELPER(avx512) void avx512_storesome(float *p, avx512_mask m, avx512_f a) { _mm512_mask_storeu_ps(p, m, a); }
HELPER(avx512) avx512_mask avx512_le(avx512_f a, avx512_f b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
HELPER(avx512) avx512_mask avx512_lt(avx512_f a, avx512_f b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
HELPER(avx512) avx512_mask avx512_unordered(avx512_f a, avx512_f b) { return _mm512_cmp_ps_mask(a, b, _CMP_UNORD_Q); }
HELPER(avx512) avx512_mask avx512_nequ(avx512_u a, avx512_u b) { return _mm512_cmpneq_epi32_mask(a, b); }
HELPER(avx512) avx512_mask avx512_first(uint32_t n) { return (__mmask16)(n >= 16u ? 0xffffu : (1u << n) - 1u); }
HELPER(avx512) avx512_f avx512_pack(avx512_f a, avx512_mask m) { return _mm512_maskz_compress_ps(m, a); }
HELPER(avx512) avx512_u avx512_packu(avx512_u a, avx512_mask m) { return _mm512_maskz_compress_epi32(m, a); }
HELPER(avx512) uint32_t avx512_count(avx512_mask m) { return (uint32_t)__builtin_popcount(m); }
HELPER(avx512) avx512_u avx512_tally(avx512_u n, avx512_u a, avx512_u b) {
	return _mm512_mask_add_epi32(n, _mm512_cmpgt_epi32_mask(a, b), n, _mm512_set1_epi32(1));
}
HELPER(avx512) avx512_u avx512_asu(avx512_f a) { return _mm512_castps_si512(a); }
HELPER(avx512) avx512_f avx512_asf(avx512_u a) { return _mm512_castsi512_ps(a); }
HELPER(avx512) avx512_mask avx512_gtu(avx512_u a, avx512_u b) { return _mm512_cmpgt_epi32_mask(a, b); }
HELPER(avx512) avx512_u avx512_tied(avx512_u n, avx512_u a, avx512_u b, avx512_u c, avx512_u d) {
	const __mmask16 m = _mm512_mask_cmpgt_epi32_mask(_mm512_cmpeq_epi32_mask(a, b), c, d);
	return _mm512_mask_add_epi32(n, m, n, _mm512_set1_epi32(1));
}
HELPER(avx512) avx512_mask avx512_marked(const uint32_t *bitmap, avx512_u a) {
	const __m512i word = avx512_fetchu(bitmap, _mm512_srli_epi32(a, 5));
	return _mm512_test_epi32_mask(_mm512_rorv_epi32(word, a), _mm512_set1_epi32(1));
}
HELPER(avx512) avx512_mask avx512_member(const uint64_t *bitmap, avx512_u a) {
	return avx512_marked((const uint32_t *)(const void *)bitmap, a);
}
HELPER(avx512) void avx512_split(uint64_t *to, uint64_t from, uint64_t bits, uint32_t width) {
	avx2_split(to, from, bits, width);
}
#endif

#if defined(__aarch64__)
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
HELPER(neon) neon_f neon_fetch(const float *p, neon_u i) {
	float32x4_t v = vdupq_n_f32(p[vgetq_lane_u32(i, 0)]);
	v = vld1q_lane_f32(p + vgetq_lane_u32(i, 1), v, 1);
	v = vld1q_lane_f32(p + vgetq_lane_u32(i, 2), v, 2);
	return vld1q_lane_f32(p + vgetq_lane_u32(i, 3), v, 3);
}
HELPER(neon) neon_u neon_fetchu(const uint32_t *p, neon_u i) {
	uint32x4_t v = vdupq_n_u32(p[vgetq_lane_u32(i, 0)]);
	v = vld1q_lane_u32(p + vgetq_lane_u32(i, 1), v, 1);
	v = vld1q_lane_u32(p + vgetq_lane_u32(i, 2), v, 2);
	return vld1q_lane_u32(p + vgetq_lane_u32(i, 3), v, 3);
}
HELPER(neon) void neon_store(float *p, neon_f a) { vst1q_f32(p, a); }
HELPER(neon) void neon_storeu(uint32_t *p, neon_u a) { vst1q_u32(p, a); }
HELPER(neon) neon_f neon_set1(float a) { return vdupq_n_f32(a); }
HELPER(neon) neon_u neon_set1u(uint32_t a) { return vdupq_n_u32(a); }
HELPER(neon) neon_u neon_ramp(uint32_t n) {
	static const uint32_t lanes[4] = {0, 1, 2, 3};
	return vaddq_u32(vdupq_n_u32(n), vld1q_u32(lanes));
}
HELPER(neon) neon_f neon_add(neon_f a, neon_f b) { return vaddq_f32(a, b); }
HELPER(neon) neon_f neon_sub(neon_f a, neon_f b) { return vsubq_f32(a, b); }
HELPER(neon) neon_f neon_mul(neon_f a, neon_f b) { return vmulq_f32(a, b); }
HELPER(neon) neon_mask neon_bits(uint32x4_t all_ones) {
	static const uint32_t weights[4] = {1, 2, 4, 8};
	return vaddvq_u32(vandq_u32(all_ones, vld1q_u32(weights)));
}
HELPER(neon) neon_f neon_sqrt(neon_f a) { return vsqrtq_f32(a); }
HELPER(neon) neon_f neon_div(neon_f a, neon_f b) { return vdivq_f32(a, b); }
HELPER(neon) neon_f neon_abs(neon_f a) { return vabsq_f32(a); }
HELPER(neon) neon_f neon_negate(neon_f a) { return vnegq_f32(a); }
HELPER(neon) neon_f neon_floor(neon_f a) { return vrndmq_f32(a); }
HELPER(neon) neon_f neon_min(neon_f a, neon_f b) { return vbslq_f32(vcltq_f32(a, b), a, b); }
HELPER(neon) neon_f neon_max(neon_f a, neon_f b) { return vbslq_f32(vcgtq_f32(a, b), a, b); }
HELPER(neon) neon_u neon_truncu(neon_f a) { return vcvtq_u32_f32(a); }
HELPER(neon) neon_f neon_tof(neon_u a) { return vcvtq_f32_u32(a); }
HELPER(neon) neon_u neon_addu(neon_u a, neon_u b) { return vaddq_u32(a, b); }
HELPER(neon) neon_u neon_subu(neon_u a, neon_u b) { return vsubq_u32(a, b); }
HELPER(neon) neon_u neon_mulu(neon_u a, neon_u b) { return vmulq_u32(a, b); }
HELPER(neon) neon_u neon_minu(neon_u a, neon_u b) { return vminq_u32(a, b); }
HELPER(neon) neon_u neon_oru(neon_u a, neon_u b) { return vorrq_u32(a, b); }
HELPER(neon) uint32x4_t neon_ones(neon_mask m) {
	static const uint32_t weights[4] = {1, 2, 4, 8};
	return vtstq_u32(vdupq_n_u32(m), vld1q_u32(weights));
}
HELPER(neon) neon_f neon_keep(neon_f a, neon_mask m) {
	return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(a), neon_ones(m)));
}
HELPER(neon) neon_u neon_keepu(neon_u a, neon_mask m) { return vandq_u32(a, neon_ones(m)); }
HELPER(neon) neon_mask neon_leu(neon_u a, neon_u b) { return neon_bits(vcleq_u32(a, b)); }
HELPER(neon) neon_mask neon_anyu(neon_u a, neon_u b) { return neon_bits(vtstq_u32(a, b)); }
HELPER(neon) neon_f neon_select(neon_mask m, neon_f a, neon_f b) { return vbslq_f32(neon_ones(m), a, b); }
HELPER(neon) neon_f neon_pick(neon_f a, neon_f b, neon_f x, neon_f y) { return vbslq_f32(vcgtq_f32(a, b), x, y); }
HELPER(neon) void neon_storesome(float *p, neon_mask m, neon_f a) {
	neon_f old = neon_load(p);
	__asm__("" : "+w"(old)); /* as in avx2_storesome */
	neon_store(p, neon_select(m, a, old));
}
HELPER(neon) neon_mask neon_le(neon_f a, neon_f b) { return neon_bits(vcleq_f32(a, b)); }
HELPER(neon) neon_mask neon_lt(neon_f a, neon_f b) { return neon_bits(vcltq_f32(a, b)); }
HELPER(neon) neon_mask neon_unordered(neon_f a, neon_f b) {
	return neon_bits(vmvnq_u32(vandq_u32(vceqq_f32(a, a), vceqq_f32(b, b))));
}
HELPER(neon) neon_mask neon_nequ(neon_u a, neon_u b) { return neon_bits(vmvnq_u32(vceqq_u32(a, b))); }
HELPER(neon) neon_mask neon_first(uint32_t n) { return n >= 4u ? 0xfu : (1u << n) - 1u; }
HELPER(neon) neon_u neon_packu(neon_u a, neon_mask m) {
	return vreinterpretq_u32_u8(vqtbl1q_u8(vreinterpretq_u8_u32(a), vld1q_u8(neon_pack_bytes[m])));
}
HELPER(neon) neon_f neon_pack(neon_f a, neon_mask m) {
	return vreinterpretq_f32_u32(neon_packu(vreinterpretq_u32_f32(a), m));
}
HELPER(neon) uint32_t neon_count(neon_mask m) { return (uint32_t)__builtin_popcount(m); }
HELPER(neon) neon_u neon_tally(neon_u n, neon_u a, neon_u b) { return vsubq_u32(n, vcgtq_u32(a, b)); }
HELPER(neon) neon_u neon_asu(neon_f a) { return vreinterpretq_u32_f32(a); }
HELPER(neon) neon_f neon_asf(neon_u a) { return vreinterpretq_f32_u32(a); }
HELPER(neon) neon_mask neon_gtu(neon_u a, neon_u b) { return neon_bits(vcgtq_u32(a, b)); }
HELPER(neon) neon_u neon_tied(neon_u n, neon_u a, neon_u b, neon_u c, neon_u d) {
	return vsubq_u32(n, vandq_u32(vceqq_u32(a, b), vcgtq_u32(c, d)));
}
HELPER(neon) neon_mask neon_member(const uint64_t *bitmap, neon_u a) {
	const uint32_t words[4] = {c_member(bitmap, vgetq_lane_u32(a, 0)), c_member(bitmap, vgetq_lane_u32(a, 1)),
	                           c_member(bitmap, vgetq_lane_u32(a, 2)), c_member(bitmap, vgetq_lane_u32(a, 3))};
	return neon_bits(vtstq_u32(vld1q_u32(words), vdupq_n_u32(1)));
}
HELPER(neon) neon_mask neon_marked(const uint32_t *bitmap, neon_u a) {
	const uint32x4_t word = neon_fetchu(bitmap, vshrq_n_u32(a, 5));
	const int32x4_t right = vnegq_s32(vreinterpretq_s32_u32(vandq_u32(a, vdupq_n_u32(31))));
	return neon_bits(vtstq_u32(vshlq_u32(word, right), vdupq_n_u32(1)));
}
HELPER(neon) void neon_split(uint64_t *to, uint64_t from, uint64_t bits, uint32_t width) {
	scalar_split(to, from, bits, width);
}
#endif

#endif
