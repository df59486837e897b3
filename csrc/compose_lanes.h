/* A word that only matrices have use for, beyond those of lanes.h.
 *
 *   quads   to[16*i], to[16*i+1], to[16*i+2], to[16*i+3] = lane i of a, b, c, d, for
 *           all lanes i
 */
#ifndef EVERTICK_COMPOSE_LANES_H
#define EVERTICK_COMPOSE_LANES_H

#include "lanes.h"

HELPER(c) void c_quads(float *to, c_f a, c_f b, c_f c, c_f d) {
	to[0] = a;
	to[1] = b;
	to[2] = c;
	to[3] = d;
}

#if defined(__x86_64__)
/* Pairs of a and b and pairs of c and d, of lanes 0 and 1 or 2 and 3 of each 128
 * bits, make quadruples. */
HELPER(avx2) void avx2_quads2(float *to, __m256 ab, __m256 cd) {
	const __m256 even = _mm256_shuffle_ps(ab, cd, 0x44), odd = _mm256_shuffle_ps(ab, cd, 0xee);
	_mm_storeu_ps(to, _mm256_castps256_ps128(even));
	_mm_storeu_ps(to + 16, _mm256_castps256_ps128(odd));
	_mm_storeu_ps(to + 64, _mm256_extractf128_ps(even, 1));
	_mm_storeu_ps(to + 80, _mm256_extractf128_ps(odd, 1));
}
HELPER(avx2) void avx2_quads(float *to, avx2_f a, avx2_f b, avx2_f c, avx2_f d) {
	avx2_quads2(to, _mm256_unpacklo_ps(a, b), _mm256_unpacklo_ps(c, d));
	avx2_quads2(to + 32, _mm256_unpackhi_ps(a, b), _mm256_unpackhi_ps(c, d));
}

HELPER(avx512) void avx512_spread(float *to, __m512 quads) {
	_mm_storeu_ps(to, _mm512_castps512_ps128(quads));
	_mm_storeu_ps(to + 64, _mm512_extractf32x4_ps(quads, 1));
	_mm_storeu_ps(to + 128, _mm512_extractf32x4_ps(quads, 2));
	_mm_storeu_ps(to + 192, _mm512_extractf32x4_ps(quads, 3));
}
HELPER(avx512) void avx512_quads(float *to, avx512_f a, avx512_f b, avx512_f c, avx512_f d) {
	const __m512 ab = _mm512_unpacklo_ps(a, b), cd = _mm512_unpacklo_ps(c, d);
	const __m512 ab2 = _mm512_unpackhi_ps(a, b), cd2 = _mm512_unpackhi_ps(c, d);
	avx512_spread(to, _mm512_shuffle_ps(ab, cd, 0x44));
	avx512_spread(to + 16, _mm512_shuffle_ps(ab, cd, 0xee));
	avx512_spread(to + 32, _mm512_shuffle_ps(ab2, cd2, 0x44));
	avx512_spread(to + 48, _mm512_shuffle_ps(ab2, cd2, 0xee));
}
#endif

#if defined(__aarch64__)
HELPER(neon) void neon_quads(float *to, neon_f a, neon_f b, neon_f c, neon_f d) {
	const float32x4x2_t ac = vzipq_f32(a, c), bd = vzipq_f32(b, d);
	const float32x4x2_t low = vzipq_f32(ac.val[0], bd.val[0]), high = vzipq_f32(ac.val[1], bd.val[1]);
	vst1q_f32(to, low.val[0]);
	vst1q_f32(to + 16, low.val[1]);
	vst1q_f32(to + 32, high.val[0]);
	vst1q_f32(to + 48, high.val[1]);
}
#endif

#endif
