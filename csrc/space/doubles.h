/* Lanes of doubles: half as many as of floats, and one at level c.
 *
 *   widen            floats at p, as doubles
 *   wset, wstore     one number in all lanes; stores them
 *   wload, wnarrow   doubles at p; stores them rounded to floats
 *   wadd, wsub, wmul, wdiv, wnegate, wabs, wsqrt
 *   wless            a < b; false where either is NaN
 *   wboth, wunless   a & b, a & ~b
 *   wbits            a bit for each lane
 *   wchoose          a in the lanes where t is true, b in the others
 */
#ifndef EVERTICK_SPACE_DOUBLES_H
#define EVERTICK_SPACE_DOUBLES_H

#include "../lanes.h"
#include "vec64.h"

enum { c_WIDE = 1 };
typedef double c_w;
typedef uint32_t c_wtruth;
HELPER(c) c_w c_widen(const float *p) { return (double)*p; }
HELPER(c) c_w c_wset(double a) { return a; }
HELPER(c) void c_wstore(double *p, c_w a) { *p = a; }
HELPER(c) c_w c_wload(const double *p) { return *p; }
HELPER(c) void c_wnarrow(float *p, c_w a) { *p = (float)a; }
HELPER(c) c_w c_wsqrt(c_w a) { return SQRT64(a); }
HELPER(c) c_w c_wadd(c_w a, c_w b) { return a + b; }
HELPER(c) c_w c_wsub(c_w a, c_w b) { return a - b; }
HELPER(c) c_w c_wmul(c_w a, c_w b) { return a * b; }
HELPER(c) c_w c_wdiv(c_w a, c_w b) { return a / b; }
HELPER(c) c_w c_wnegate(c_w a) { return -a; }
HELPER(c) c_w c_wabs(c_w a) { return __builtin_fabs(a); }
HELPER(c) c_wtruth c_wless(c_w a, c_w b) { return a < b; }
HELPER(c) c_wtruth c_wboth(c_wtruth a, c_wtruth b) { return a & b; }
HELPER(c) c_wtruth c_wunless(c_wtruth a, c_wtruth b) { return a & ~b; }
HELPER(c) uint32_t c_wbits(c_wtruth a) { return a; }
HELPER(c) c_w c_wchoose(c_wtruth t, c_w a, c_w b) { return t ? a : b; }

#if X86_VECTORS
enum { avx2_WIDE = 4 };
typedef __m256d avx2_w;
typedef __m256d avx2_wtruth;
HELPER(avx2) avx2_w avx2_widen(const float *p) { return _mm256_cvtps_pd(_mm_loadu_ps(p)); }
HELPER(avx2) avx2_w avx2_wset(double a) { return _mm256_set1_pd(a); }
HELPER(avx2) void avx2_wstore(double *p, avx2_w a) { _mm256_storeu_pd(p, a); }
HELPER(avx2) avx2_w avx2_wload(const double *p) { return _mm256_loadu_pd(p); }
HELPER(avx2) void avx2_wnarrow(float *p, avx2_w a) { _mm_storeu_ps(p, _mm256_cvtpd_ps(a)); }
HELPER(avx2) avx2_w avx2_wsqrt(avx2_w a) { return _mm256_sqrt_pd(a); }
HELPER(avx2) avx2_w avx2_wadd(avx2_w a, avx2_w b) { return _mm256_add_pd(a, b); }
HELPER(avx2) avx2_w avx2_wsub(avx2_w a, avx2_w b) { return _mm256_sub_pd(a, b); }
HELPER(avx2) avx2_w avx2_wmul(avx2_w a, avx2_w b) { return _mm256_mul_pd(a, b); }
HELPER(avx2) avx2_w avx2_wdiv(avx2_w a, avx2_w b) { return _mm256_div_pd(a, b); }
HELPER(avx2) avx2_w avx2_wnegate(avx2_w a) { return _mm256_xor_pd(a, _mm256_set1_pd(-0.0)); }
HELPER(avx2) avx2_w avx2_wabs(avx2_w a) { return _mm256_andnot_pd(_mm256_set1_pd(-0.0), a); }
HELPER(avx2) avx2_wtruth avx2_wless(avx2_w a, avx2_w b) { return _mm256_cmp_pd(a, b, _CMP_LT_OQ); }
HELPER(avx2) avx2_wtruth avx2_wboth(avx2_wtruth a, avx2_wtruth b) { return _mm256_and_pd(a, b); }
HELPER(avx2) avx2_wtruth avx2_wunless(avx2_wtruth a, avx2_wtruth b) { return _mm256_andnot_pd(b, a); }
HELPER(avx2) uint32_t avx2_wbits(avx2_wtruth a) { return (uint32_t)_mm256_movemask_pd(a); }
HELPER(avx2) avx2_w avx2_wchoose(avx2_wtruth t, avx2_w a, avx2_w b) { return _mm256_blendv_pd(b, a, t); }

enum { avx512_WIDE = 8 };
typedef __m512d avx512_w;
typedef __mmask8 avx512_wtruth;
HELPER(avx512) avx512_w avx512_widen(const float *p) { return _mm512_cvtps_pd(_mm256_loadu_ps(p)); }
HELPER(avx512) avx512_w avx512_wset(double a) { return _mm512_set1_pd(a); }
HELPER(avx512) void avx512_wstore(double *p, avx512_w a) { _mm512_storeu_pd(p, a); }
HELPER(avx512) avx512_w avx512_wload(const double *p) { return _mm512_loadu_pd(p); }
HELPER(avx512) void avx512_wnarrow(float *p, avx512_w a) { _mm256_storeu_ps(p, _mm512_cvtpd_ps(a)); }
HELPER(avx512) avx512_w avx512_wsqrt(avx512_w a) { return _mm512_sqrt_pd(a); }
HELPER(avx512) avx512_w avx512_wadd(avx512_w a, avx512_w b) { return _mm512_add_pd(a, b); }
HELPER(avx512) avx512_w avx512_wsub(avx512_w a, avx512_w b) { return _mm512_sub_pd(a, b); }
HELPER(avx512) avx512_w avx512_wmul(avx512_w a, avx512_w b) { return _mm512_mul_pd(a, b); }
HELPER(avx512) avx512_w avx512_wdiv(avx512_w a, avx512_w b) { return _mm512_div_pd(a, b); }
HELPER(avx512) avx512_w avx512_wnegate(avx512_w a) {
	return _mm512_castsi512_pd(_mm512_xor_epi64(_mm512_castpd_si512(a), _mm512_castpd_si512(_mm512_set1_pd(-0.0))));
}
HELPER(avx512) avx512_w avx512_wabs(avx512_w a) { return _mm512_abs_pd(a); }
HELPER(avx512) avx512_wtruth avx512_wless(avx512_w a, avx512_w b) { return _mm512_cmp_pd_mask(a, b, _CMP_LT_OQ); }
HELPER(avx512) avx512_wtruth avx512_wboth(avx512_wtruth a, avx512_wtruth b) { return (avx512_wtruth)(a & b); }
HELPER(avx512) avx512_wtruth avx512_wunless(avx512_wtruth a, avx512_wtruth b) { return (avx512_wtruth)(a & ~b); }
HELPER(avx512) uint32_t avx512_wbits(avx512_wtruth a) { return a; }
HELPER(avx512) avx512_w avx512_wchoose(avx512_wtruth t, avx512_w a, avx512_w b) { return _mm512_mask_blend_pd(t, b, a); }
#endif

#if defined(__aarch64__)
enum { neon_WIDE = 2 };
typedef float64x2_t neon_w;
typedef uint64x2_t neon_wtruth;
HELPER(neon) neon_w neon_widen(const float *p) { return vcvt_f64_f32(vld1_f32(p)); }
HELPER(neon) neon_w neon_wset(double a) { return vdupq_n_f64(a); }
HELPER(neon) void neon_wstore(double *p, neon_w a) { vst1q_f64(p, a); }
HELPER(neon) neon_w neon_wload(const double *p) { return vld1q_f64(p); }
HELPER(neon) void neon_wnarrow(float *p, neon_w a) { vst1_f32(p, vcvt_f32_f64(a)); }
HELPER(neon) neon_w neon_wsqrt(neon_w a) { return vsqrtq_f64(a); }
HELPER(neon) neon_w neon_wadd(neon_w a, neon_w b) { return vaddq_f64(a, b); }
HELPER(neon) neon_w neon_wsub(neon_w a, neon_w b) { return vsubq_f64(a, b); }
HELPER(neon) neon_w neon_wmul(neon_w a, neon_w b) { return vmulq_f64(a, b); }
HELPER(neon) neon_w neon_wdiv(neon_w a, neon_w b) { return vdivq_f64(a, b); }
HELPER(neon) neon_w neon_wnegate(neon_w a) { return vnegq_f64(a); }
HELPER(neon) neon_w neon_wabs(neon_w a) { return vabsq_f64(a); }
HELPER(neon) neon_wtruth neon_wless(neon_w a, neon_w b) { return vcltq_f64(a, b); }
HELPER(neon) neon_wtruth neon_wboth(neon_wtruth a, neon_wtruth b) { return vandq_u64(a, b); }
HELPER(neon) neon_wtruth neon_wunless(neon_wtruth a, neon_wtruth b) { return vbicq_u64(a, b); }
HELPER(neon) uint32_t neon_wbits(neon_wtruth a) {
	return (uint32_t)(vgetq_lane_u64(a, 0) & 1u) | (uint32_t)(vgetq_lane_u64(a, 1) & 2u);
}
HELPER(neon) neon_w neon_wchoose(neon_wtruth t, neon_w a, neon_w b) { return vbslq_f64(t, a, b); }
#endif

#endif
