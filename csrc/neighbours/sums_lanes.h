/* The words in which sums over neighbours are written, per level. A pair holds PAIR_LANES values of a record twice:
 * as they are and, after pair_weigh, weighted. A vector of sixteen lanes holds both.
 *
 *   pair_set     x in every lane
 *   pair_load    from a record
 *   pair_weigh   multiplies the weighted values by w
 *   pair_sub, pair_add, pair_min, pair_max   as sub, add, min and max of lanes.h
 *   pair_share   divides by n the values in the mask plain and the weighted values in the mask weighted
 *   pair_store   the values to plain and the weighted values to weighted; the constants with_plain and
 *                with_weighted choose
 */
#ifndef EVERTICK_SUMS_LANES_H
#define EVERTICK_SUMS_LANES_H

#include "../lanes.h"

#define PAIR(level)                                                                                                   \
	typedef struct {                                                                                              \
		level##_f plain, weighted;                                                                            \
	} level##_pair;                                                                                               \
	enum { level##_PAIR_LANES = level##_LANES };                                                                  \
	HELPER(level) level##_pair level##_pair_set(float x) {                                                        \
		const level##_pair p = {level##_set1(x), level##_set1(x)};                                            \
		return p;                                                                                             \
	}                                                                                                             \
	HELPER(level) level##_pair level##_pair_load(const float *record) {                                           \
		const level##_pair p = {level##_load(record), level##_load(record)};                                  \
		return p;                                                                                             \
	}                                                                                                             \
	HELPER(level) level##_pair level##_pair_weigh(level##_pair p, float w) {                                      \
		p.weighted = level##_mul(p.weighted, level##_set1(w));                                                \
		return p;                                                                                             \
	}                                                                                                             \
	HELPER(level) level##_pair level##_pair_share(level##_pair p, float n, uint32_t plain, uint32_t weighted) {           \
		const uint32_t lanes = (1u << level##_LANES) - 1u;                                                     \
		const level##_f by = level##_set1(n);                                                                 \
		p.plain = level##_select(plain & lanes, level##_div(p.plain, by), p.plain);                           \
		p.weighted = level##_select(weighted & lanes, level##_div(p.weighted, by), p.weighted);               \
		return p;                                                                                             \
	}                                                                                                             \
	PAIR_OF(level, sub) PAIR_OF(level, add) PAIR_OF(level, min) PAIR_OF(level, max)                               \
	HELPER(level) void level##_pair_store(level##_pair p, float *plain, float *weighted, int with_plain,          \
	                                      int with_weighted) {                                                    \
		if (with_plain)                                                                                       \
			level##_store(plain, p.plain);                                                                \
		if (with_weighted)                                                                                    \
			level##_store(weighted, p.weighted);                                                          \
	}

#define PAIR_OF(level, op)                                                                                            \
	HELPER(level) level##_pair level##_pair_##op(level##_pair a, level##_pair b) {                                \
		const level##_pair p = {level##_##op(a.plain, b.plain), level##_##op(a.weighted, b.weighted)};        \
		return p;                                                                                             \
	}

PAIR(c)

#if X86_VECTORS
PAIR(avx2)

/* The weighted values are lanes 8 to 15. */
typedef __m512 avx512_pair;
enum { avx512_PAIR_LANES = 8 };
HELPER(avx512) avx512_pair avx512_pair_set(float x) { return _mm512_set1_ps(x); }
HELPER(avx512) avx512_pair avx512_pair_load(const float *record) {
	return _mm512_castpd_ps(_mm512_broadcast_f64x4(_mm256_castps_pd(_mm256_loadu_ps(record))));
}
HELPER(avx512) avx512_pair avx512_pair_weigh(avx512_pair p, float w) {
	return _mm512_mask_mul_ps(p, 0xff00, p, _mm512_set1_ps(w));
}
HELPER(avx512) avx512_pair avx512_pair_share(avx512_pair p, float n, uint32_t plain, uint32_t weighted) {
	return _mm512_mask_div_ps(p, (__mmask16)(plain | weighted << 8), p, _mm512_set1_ps(n));
}
HELPER(avx512) avx512_pair avx512_pair_sub(avx512_pair a, avx512_pair b) { return avx512_sub(a, b); }
HELPER(avx512) avx512_pair avx512_pair_add(avx512_pair a, avx512_pair b) { return avx512_add(a, b); }
HELPER(avx512) avx512_pair avx512_pair_min(avx512_pair a, avx512_pair b) { return avx512_min(a, b); }
HELPER(avx512) avx512_pair avx512_pair_max(avx512_pair a, avx512_pair b) { return avx512_max(a, b); }
HELPER(avx512) void avx512_pair_store(avx512_pair p, float *plain, float *weighted, int with_plain, int with_weighted) {
	if (with_plain)
		_mm256_storeu_ps(plain, _mm512_castps512_ps256(p));
	if (with_weighted)
		_mm256_storeu_pd((double *)(void *)weighted, _mm512_extractf64x4_pd(_mm512_castps_pd(p), 1));
}
#endif

#if defined(__aarch64__)
PAIR(neon)
#endif

#undef PAIR
#undef PAIR_OF

#endif
