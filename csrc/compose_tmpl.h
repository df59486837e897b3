#include "ops.h"
#include "rows.h"

/* An operation that only matrices need, beyond those of lanes.h.
 *
 *   quads   to[16*i], to[16*i+1], to[16*i+2], to[16*i+3] = lane i of a, b, c, d, for
 *           all lanes i
 */
HELPER(c) void c_quads(float *to, c_f a, c_f b, c_f c, c_f d) {
	to[0] = a;
	to[1] = b;
	to[2] = c;
	to[3] = d;
}

#if X86_VECTORS
/* Combines pairs of a and b with pairs of c and d, from lanes 0 and 1 or 2 and 3 of each 128 bits, into
 * quadruples. */
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

typedef struct {
	V(f) e[4][4]; /* row, column */
} V(matrices);

HELPER(LEVEL) void put_matrices(float *out, const V(matrices) *m, int32_t by_row) {
	for (int k = 0; k < 4; k++) {
		if (by_row)
			V(quads)(out + 4 * k, m->e[k][0], m->e[k][1], m->e[k][2], m->e[k][3]);
		else
			V(quads)(out + 4 * k, m->e[0][k], m->e[1][k], m->e[2][k], m->e[3][k]);
	}
}

/* Computes the matrices of all lanes, and stores those of named rows. A vector with only some named rows is copied
 * from a buffer. */
HELPER(LEVEL) void put_some(float *out, const V(matrices) *m, int32_t by_row, uint32_t rows) {
	float all[16 * V(LANES)];
	put_matrices(all, m, by_row);
	for (; rows; rows &= rows - 1) {
		const int row = 16 * __builtin_ctz(rows);
		memcpy(out + row, all + row, 16 * sizeof *out);
	}
}

KERNEL(void, compose, float *out, int32_t by_row, et_vec3 pos, et_quat rot, et_vec3 scale, const uint64_t *live,
       int64_t n) {
	SHORT(n, et_compose_c(out, by_row, pos, rot, scale, live, n));
	const V(f) zero = V(set1)(0), one = V(set1)(1);
	EACH_ROW(live, n, {
		const V(f) x = V(load)(rot.x + i), y = V(load)(rot.y + i), z = V(load)(rot.z + i), w = V(load)(rot.w + i);
		const V(f) x2 = V(add)(x, x), y2 = V(add)(y, y), z2 = V(add)(z, z);
		const V(f) xx = V(mul)(x, x2), yy = V(mul)(y, y2), zz = V(mul)(z, z2);
		const V(f) xy = V(mul)(x, y2), xz = V(mul)(x, z2), yz = V(mul)(y, z2);
		const V(f) wx = V(mul)(w, x2), wy = V(mul)(w, y2), wz = V(mul)(w, z2);
		const V(f) a = V(load)(scale.x + i), b = V(load)(scale.y + i), c = V(load)(scale.z + i);
		const V(matrices) m = {{
			{V(mul)(V(sub)(one, V(add)(yy, zz)), a), V(mul)(V(sub)(xy, wz), b), V(mul)(V(add)(xz, wy), c), V(load)(pos.x + i)},
			{V(mul)(V(add)(xy, wz), a), V(mul)(V(sub)(one, V(add)(xx, zz)), b), V(mul)(V(sub)(yz, wx), c), V(load)(pos.y + i)},
			{V(mul)(V(sub)(xz, wy), a), V(mul)(V(add)(yz, wx), b), V(mul)(V(sub)(one, V(add)(xx, yy)), c), V(load)(pos.z + i)},
			{zero, zero, zero, one},
		}};
		if (whole)
			put_matrices(out + 16 * i, &m, by_row);
		else
			put_some(out + 16 * i, &m, by_row, (uint32_t)rows);
	});
}

#ifdef DISPATCH
void et_compose(int32_t level, float *out, int32_t by_row, et_vec3 pos, et_quat rot, et_vec3 scale, const uint64_t *live,
                int64_t n) {
	DISPATCH(level, compose, out, by_row, pos, rot, scale, live, n);
}
#endif
