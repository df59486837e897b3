/* Operations on whole numbers that only the lanes of clients need, beyond those of lanes.h.
 *
 *   round      the nearest whole number, ties to even; NaN and infinities as they are
 *   whole      round as an int32, of -2^31 < a < 2^31
 *   orzero     a, but 0 where it is NaN
 *   ifnan      x where a is NaN, y elsewhere
 *   xoru       a ^ b
 *   shift      a vector of numbers of bits; shifts(n) is n, 0 <= n <= 32, in every lane
 *   shl, shr   shifted by that many bits; 32 give 0
 *   sar        the same to the right, of an int32: keeps the sign; 32 give 0 or -1
 */
#ifndef EVERTICK_QUANTISE_LANES_H
#define EVERTICK_QUANTISE_LANES_H

#include "lanes.h"

/* Floats from 2^23 on are whole. Below, adding 2^23 rounds away all that is not. */
HELPER(c) c_f c_round(c_f a) {
	const c_f size = c_abs(a), whole = (size + 0x1p23f) - 0x1p23f;
	return size < 0x1p23f ? __builtin_copysignf(whole, a) : a;
}
HELPER(c) c_u c_whole(c_f a) { return (uint32_t)(int32_t)c_round(a); }
HELPER(c) c_f c_orzero(c_f a) { return a == a ? a : 0; }
HELPER(c) c_u c_ifnan(c_f a, c_u x, c_u y) { return a == a ? y : x; }
HELPER(c) c_u c_xoru(c_u a, c_u b) { return a ^ b; }
typedef uint32_t c_shift;
HELPER(c) c_shift c_shifts(uint32_t n) { return n; }
HELPER(c) c_u c_shl(c_u a, c_shift n) { return (uint32_t)((uint64_t)a << n); }
HELPER(c) c_u c_shr(c_u a, c_shift n) { return (uint32_t)((uint64_t)a >> n); }
HELPER(c) c_u c_sar(c_u a, c_shift n) { return (uint32_t)((int64_t)(int32_t)a >> n); }

#if X86_VECTORS
HELPER(avx2) avx2_f avx2_round(avx2_f a) { return _mm256_round_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC); }
HELPER(avx2) avx2_u avx2_whole(avx2_f a) { return _mm256_cvtps_epi32(a); }
HELPER(avx2) avx2_f avx2_orzero(avx2_f a) { return _mm256_and_ps(a, _mm256_cmp_ps(a, a, _CMP_ORD_Q)); }
HELPER(avx2) avx2_u avx2_ifnan(avx2_f a, avx2_u x, avx2_u y) {
	return _mm256_blendv_epi8(y, x, _mm256_castps_si256(_mm256_cmp_ps(a, a, _CMP_UNORD_Q)));
}
HELPER(avx2) avx2_u avx2_xoru(avx2_u a, avx2_u b) { return _mm256_xor_si256(a, b); }
typedef __m128i avx2_shift;
HELPER(avx2) avx2_shift avx2_shifts(uint32_t n) { return _mm_cvtsi32_si128((int32_t)n); }
HELPER(avx2) avx2_u avx2_shl(avx2_u a, avx2_shift n) { return _mm256_sll_epi32(a, n); }
HELPER(avx2) avx2_u avx2_shr(avx2_u a, avx2_shift n) { return _mm256_srl_epi32(a, n); }
HELPER(avx2) avx2_u avx2_sar(avx2_u a, avx2_shift n) { return _mm256_sra_epi32(a, n); }

HELPER(avx512) avx512_f avx512_round(avx512_f a) {
	return _mm512_roundscale_ps(a, _MM_FROUND_TO_NEAREST_INT | _MM_FROUND_NO_EXC);
}
HELPER(avx512) avx512_u avx512_whole(avx512_f a) { return _mm512_cvtps_epi32(a); }
HELPER(avx512) avx512_f avx512_orzero(avx512_f a) { return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(a, a, _CMP_ORD_Q), a); }
HELPER(avx512) avx512_u avx512_ifnan(avx512_f a, avx512_u x, avx512_u y) {
	return _mm512_mask_mov_epi32(y, _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q), x);
}
HELPER(avx512) avx512_u avx512_xoru(avx512_u a, avx512_u b) { return _mm512_xor_si512(a, b); }
typedef __m128i avx512_shift;
HELPER(avx512) avx512_shift avx512_shifts(uint32_t n) { return _mm_cvtsi32_si128((int32_t)n); }
HELPER(avx512) avx512_u avx512_shl(avx512_u a, avx512_shift n) { return _mm512_sll_epi32(a, n); }
HELPER(avx512) avx512_u avx512_shr(avx512_u a, avx512_shift n) { return _mm512_srl_epi32(a, n); }
HELPER(avx512) avx512_u avx512_sar(avx512_u a, avx512_shift n) { return _mm512_sra_epi32(a, n); }
#endif

#if defined(__aarch64__)
HELPER(neon) neon_f neon_round(neon_f a) { return vrndnq_f32(a); }
HELPER(neon) neon_u neon_whole(neon_f a) { return vreinterpretq_u32_s32(vcvtnq_s32_f32(a)); }
HELPER(neon) neon_f neon_orzero(neon_f a) {
	return vreinterpretq_f32_u32(vandq_u32(vreinterpretq_u32_f32(a), vceqq_f32(a, a)));
}
HELPER(neon) neon_u neon_ifnan(neon_f a, neon_u x, neon_u y) { return vbslq_u32(vceqq_f32(a, a), y, x); }
HELPER(neon) neon_u neon_xoru(neon_u a, neon_u b) { return veorq_u32(a, b); }
typedef int32x4_t neon_shift;
HELPER(neon) neon_shift neon_shifts(uint32_t n) { return vdupq_n_s32((int32_t)n); }
HELPER(neon) neon_u neon_shl(neon_u a, neon_shift n) { return vshlq_u32(a, n); }
HELPER(neon) neon_u neon_shr(neon_u a, neon_shift n) { return vshlq_u32(a, vnegq_s32(n)); }
HELPER(neon) neon_u neon_sar(neon_u a, neon_shift n) {
	return vreinterpretq_u32_s32(vshlq_s32(vreinterpretq_s32_u32(a), vnegq_s32(n)));
}
#endif

#endif
