#include "compose_lanes.h"
#include "reduce.h"
#include "rows.h"

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

/* Matrices of all lanes are made; those of named rows are copied from a vector of
 * which only some are. */
HELPER(LEVEL) void put_some(float *out, const V(matrices) *m, int32_t by_row, uint32_t rows) {
	float all[16 * V(LANES)];
	put_matrices(all, m, by_row);
	for (; rows; rows &= rows - 1) {
		const int row = 16 * __builtin_ctz(rows);
		memcpy(out + row, all + row, 16 * sizeof *out);
	}
}

KERNEL(void, compose, float *out, int32_t by_row, const float *px, const float *py, const float *pz,
       const float *qx, const float *qy, const float *qz, const float *qw,
       const float *sx, const float *sy, const float *sz, const uint64_t *live, int64_t n) {
	SHORT(n, et_compose_c(out, by_row, px, py, pz, qx, qy, qz, qw, sx, sy, sz, live, n));
	const V(f) zero = V(set1)(0), one = V(set1)(1);
	EACH_ROW(live, n, {
		const V(f) x = V(load)(qx + i), y = V(load)(qy + i), z = V(load)(qz + i), w = V(load)(qw + i);
		const V(f) x2 = V(add)(x, x), y2 = V(add)(y, y), z2 = V(add)(z, z);
		const V(f) xx = V(mul)(x, x2), yy = V(mul)(y, y2), zz = V(mul)(z, z2);
		const V(f) xy = V(mul)(x, y2), xz = V(mul)(x, z2), yz = V(mul)(y, z2);
		const V(f) wx = V(mul)(w, x2), wy = V(mul)(w, y2), wz = V(mul)(w, z2);
		const V(f) a = V(load)(sx + i), b = V(load)(sy + i), c = V(load)(sz + i);
		const V(matrices) m = {{
			{V(mul)(V(sub)(one, V(add)(yy, zz)), a), V(mul)(V(sub)(xy, wz), b), V(mul)(V(add)(xz, wy), c), V(load)(px + i)},
			{V(mul)(V(add)(xy, wz), a), V(mul)(V(sub)(one, V(add)(xx, zz)), b), V(mul)(V(sub)(yz, wx), c), V(load)(py + i)},
			{V(mul)(V(sub)(xz, wy), a), V(mul)(V(add)(yz, wx), b), V(mul)(V(sub)(one, V(add)(xx, yy)), c), V(load)(pz + i)},
			{zero, zero, zero, one},
		}};
		if (whole)
			put_matrices(out + 16 * i, &m, by_row);
		else
			put_some(out + 16 * i, &m, by_row, (uint32_t)rows);
	});
}

#ifdef DISPATCH
void et_compose(int32_t level, float *out, int32_t by_row, const float *px, const float *py, const float *pz,
                const float *qx, const float *qy, const float *qz, const float *qw,
                const float *sx, const float *sy, const float *sz, const uint64_t *live, int64_t n) {
	DISPATCH(level, compose, out, by_row, px, py, pz, qx, qy, qz, qw, sx, sy, sz, live, n);
}
#endif
